/* SPDX-License-Identifier: MIT */
/*
 * connection.c - see connection.h.
 *
 * Idea         Five hooks, which the pool calls, define a connection's life:
 *
 *                  create --> activate --> (in use) --> deactivate -- fit --> (free, still connected)
 *                                ^                           |                        |
 *                                +------ validate -- good ---|------------------------+
 *                                           |                |
 *                                           +-- dead         +-- unfit --> destroy --> (create, when needed)
 *
 *              An object's first use does the handshake with the server, and a release keeps the connection open.  If
 *              the server has closed an idle connection, validate notices, and create replaces it before an acquire
 *              returns it.  If a connection breaks in use, its user notices, and deactivate refuses it.
 * Concurrency  Hooks run on the threads that acquire and release, so their counters must be atomic.  The connection
 *              itself belongs only to the hook's caller.
 */
#include "connection.h"

#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

struct connection {
	int fd;
	bool broken;
};

struct connection_calls connection_calls;
static uint16_t server_port;

/* relaxed: no other data depends on a counter. */
static void count(_Atomic(uint64_t) *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- The five hooks ---------------------------------------------------------------------------------------- */

static int dial(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	char greeting = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && recv(fd, &greeting, 1, 0) == 1 &&
	    greeting == SERVER_WELCOME && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool create(void *port, struct connection *connection)
{
	connection->fd = dial(*(const uint16_t *)port);
	count(connection->fd >= 0 ? &connection_calls.created : &connection_calls.create_refused);
	return connection->fd >= 0;
}

/* No data yet: the connection is open.  The end of the stream: the server has closed it. */
static bool validate(void *port, struct connection *connection)
{
	char nothing;
	const bool open = recv(connection->fd, &nothing, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
			  (errno == EAGAIN || errno == EWOULDBLOCK);

	(void)port;
	connection->broken = !open;
	if (!open)
		count(&connection_calls.dead);
	return open;
}

static bool activate(void *port, struct connection *connection)
{
	(void)port;
	connection->broken = false;
	count(&connection_calls.activated);
	return true;
}

static bool deactivate(void *port, struct connection *connection)
{
	(void)port;
	count(connection->broken ? &connection_calls.unfit : &connection_calls.kept);
	return !connection->broken;
}

static void destroy(void *port, struct connection *connection)
{
	char nothing;

	(void)port;
	/* Say goodbye, and wait until the server has noticed: then the server has room for another one. */
	if (!connection->broken && shutdown(connection->fd, SHUT_WR) == 0)
		while (recv(connection->fd, &nothing, 1, 0) > 0)
			;
	close(connection->fd);
	count(&connection_calls.destroyed);
}

LFPOOL_HOOKS(connection, struct connection);
static const struct connection_hooks hooks = {
	.create = create, .validate = validate, .activate = activate, .deactivate = deactivate, .destroy = destroy};
LFPOOL_DEFINE_HIDDEN_WITH(connection, struct connection, hooks);

/* ---- The pool ---------------------------------------------------------------------------------------------- */

lfpool_status_t connections_open(uint16_t port, size_t capacity)
{
	lfpool_config_t config = LFPOOL_CONFIG_INIT;

	server_port = port;
	config.name = "connections";
	config.capacity = capacity;
	config.hooks.context = &server_port;
	return connection_hidden_pool_create(&connection_hidden, &config);
}

size_t connections_free(void)
{
	return lfpool_available_count(connection_hidden.untyped);
}

size_t connections_close(void)
{
	return connection_hidden_pool_destroy(connection_hidden);
}

/* ---- Use --------------------------------------------------------------------------------------------------- */

bool connection_ask(struct connection *connection, uint64_t question, uint64_t *answer_out)
{
	const ssize_t bytes = sizeof(question);

	connection->broken = connection->broken ||
			     send(connection->fd, &question, sizeof(question), MSG_NOSIGNAL) != bytes ||
			     recv(connection->fd, answer_out, sizeof(*answer_out), MSG_WAITALL) != bytes;
	return !connection->broken;
}
