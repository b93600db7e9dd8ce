/* SPDX-License-Identifier: MIT */
/*
 * connection.h - connections to a server, which are expensive to make and are therefore kept.
 *
 * Callers see only an opaque type and the way to get one.  They cannot make a connection, copy one, or forget to
 * close one: connection.c does that when the pool asks for it.  The functions that LFPOOL_DECLARE declares are listed
 * in lfpool/hidden.h:
 *
 *     struct connection *connection_acquire(void);         NULL: all are in use, or the server takes no more
 *     lfpool_status_t connection_release(struct connection *connection);
 *     size_t connection_active_count(void);                and some more
 */
#ifndef EXAMPLE_CONNECTION_H
#define EXAMPLE_CONNECTION_H

#include "lfpool/hidden.h"

#include <stdatomic.h>

LFPOOL_DECLARE(connection, struct connection);

/* How often each hook was called, with which result.  Exact when the threads have been joined. */
extern struct connection_calls {
	_Atomic(uint64_t) created, create_refused;
	_Atomic(uint64_t) dead; /* found by validate */
	_Atomic(uint64_t) activated;
	_Atomic(uint64_t) kept, unfit; /* results of deactivate */
	_Atomic(uint64_t) destroyed;
} connection_calls;

/* At most `capacity` connections, all to that port of 127.0.0.1. Each is made when it is first needed. */
lfpool_status_t connections_open(uint16_t port, size_t capacity);
size_t connections_free(void);

/* Closes all of them.  Returns the number still in use. */
size_t connections_close(void);

/* Sends the question, and gets it back.  False: the connection broke; release it, and try again with another one. */
bool connection_ask(struct connection *connection, uint64_t question, uint64_t *answer_out);

#endif
