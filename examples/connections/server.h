/* SPDX-License-Identifier: MIT */
/*
 * server.h - a small echo server on threads of this process, with habits that clients must be careful about.
 *
 * The server greets a new connection with WELCOME, or, when full, with FULL, and then closes it.  A connection may ask
 * a limited number of questions (8 bytes each, sent back unchanged). Then the server closes it: every second one
 * right after the last answer, the others at the next question, which gets no answer.  When the client closes first,
 * the server closes too.
 */
#ifndef EXAMPLE_SERVER_H
#define EXAMPLE_SERVER_H

#include <stdint.h>

#define SERVER_WELCOME '+'
#define SERVER_FULL '-'

/* Starts the server on a port of 127.0.0.1 that the system chooses, and returns the port.  Ends the program if the
 * system refuses. */
uint16_t server_start(unsigned questions_per_connection);

/* Sets the number of connections that the server takes at once. */
void server_limit(unsigned connections);

/* Stops the server.  All clients must have closed their connections. */
void server_stop(void);

#endif
