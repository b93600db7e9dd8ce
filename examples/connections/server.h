/* SPDX-License-Identifier: MIT */
/*
 * server.h - a small echo server on threads of this process, with the habits that make clients careful.
 *
 * It greets a new connection with WELCOME, or with FULL when it has as many as it takes, and closes that one.  A
 * connection may ask so many questions (8 bytes each, sent back as they came).  Then the server closes it: every second
 * one right after the last answer, the others at the next question, which gets no answer.  When the client closes
 * first, it closes too.
 */
#ifndef EXAMPLE_SERVER_H
#define EXAMPLE_SERVER_H

#include <stdint.h>

#define SERVER_WELCOME '+'
#define SERVER_FULL '-'

/* Starts it, on a port of 127.0.0.1 that the system chooses: returns the port.  Ends the program if it is refused. */
uint16_t server_start(unsigned questions_per_connection);

/* How many connections it takes at once. */
void server_limit(unsigned connections);

/* All clients have closed their connections. */
void server_stop(void);

#endif
