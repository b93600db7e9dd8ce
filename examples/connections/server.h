/* SPDX-License-Identifier: MIT */
/*
 * server.h - a small echo server on a thread of this process, with the habits that make clients careful.
 *
 * It greets a new connection with WELCOME, or with FULL when it has as many as it takes, and closes that one.  A
 * connection may ask so many questions (8 bytes each, sent back as they came).  Then the server closes it: every second one right
 * after the last answer, the others at the next question, which gets no answer.  When the client closes first, it closes too.
 */
#ifndef EXAMPLE_SERVER_H
#define EXAMPLE_SERVER_H

#include <stdint.h>

#define SERVER_WELCOME '+'
#define SERVER_FULL '-'

struct server;

/* What the server saw: the other side of what the clients count. */
struct server_report {
	uint64_t accepted, refused;
	uint64_t answered;
	uint64_t dropped; /* closed by the server    */
	uint64_t left;    /* closed by the client                            */
};

/* On a port of 127.0.0.1 that the system chooses.  Ends the program when it refuses. */
struct server *server_start(unsigned questions_per_connection);
uint16_t server_port(const struct server *server);

/* How many connections it takes at once, at most 256. */
void server_limit(struct server *server, unsigned limit);

/* Ends and frees the server. */
struct server_report server_stop(struct server *server);

#endif
