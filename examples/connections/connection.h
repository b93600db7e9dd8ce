/* SPDX-License-Identifier: MIT */
/*
 * connection.h - connections to a server.  A new one is expensive, so a pool keeps them for the next use.
 *
 * Callers see only an opaque type, so they can neither make nor copy a connection, nor forget to close one:
 * connection.c opens and closes connections when the pool asks for it.  LFPOOL_DECLARE declares these functions, and
 * a few more that lfpool/hidden.h lists:
 *
 *     struct connection *connection_acquire(void);         NULL: all are in use, or the server refused a new one
 *     lfpool_status_t connection_release(struct connection *connection);
 *     size_t connection_active_count(void);
 */
#ifndef EXAMPLE_CONNECTION_H
#define EXAMPLE_CONNECTION_H

#include "lfpool/hidden.h"

#include <stdatomic.h>

LFPOOL_DECLARE(connection, struct connection);

/* Counts the calls of each hook by result.  Exact once all threads have been joined. */
extern struct connection_calls {
	_Atomic(uint64_t) created, create_refused;
	_Atomic(uint64_t) dead; /* found by validate */
	_Atomic(uint64_t) activated;
	_Atomic(uint64_t) kept, unfit; /* results of deactivate */
	_Atomic(uint64_t) destroyed;
} connection_calls;

/* Opens the pool: at most `capacity` connections to this port of 127.0.0.1, each made when it is first needed. */
lfpool_status_t connections_open(uint16_t port, size_t capacity);
size_t connections_free(void);

/* Closes all connections.  Returns the number that were still in use. */
size_t connections_close(void);

/* Sends the question and receives it as the answer.  Returns false if the connection broke: release it, and try again
 * with another one. */
bool connection_ask(struct connection *connection, uint64_t question, uint64_t *answer_out);

#endif
