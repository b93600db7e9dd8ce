/* SPDX-License-Identifier: MIT */
/*
 * server.c - see server.h: one thread, poll(2), an array of connections.
 */
#include "server.h"

#include "harness.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 256

struct peer {
	bool hasty;        /* is closed after the last answer, not at the next question */
	unsigned answered; /* questions so far             */
	unsigned bytes;    /* of the next one that came    */
	unsigned char part[8];
};

struct server {
	_Atomic(unsigned) limit;
	unsigned questions;
	uint16_t port;
	pthread_t thread;
	struct server_report report;
	/* [0] listens, [1] is the order to end; connections follow. */
	struct pollfd fds[2 + CONNECTIONS_MAX];
	struct peer peers[2 + CONNECTIONS_MAX];
	nfds_t count;
};

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(3);
}

static void welcome(struct server *server)
{
	int fd = accept(server->fds[0].fd, NULL, NULL);

	if (fd < 0)
		return;
	bool full = server->count - 2 >= atomic_load(&server->limit);
	char greeting = full ? SERVER_FULL : SERVER_WELCOME;

	/* Counted before the client can know. */
	if (full) {
		server->report.refused++;
	} else {
		server->report.accepted++;
		server->fds[server->count] = (struct pollfd){.fd = fd, .events = POLLIN};
		server->peers[server->count++] = (struct peer){.hasty = server->report.accepted % 2};
	}
	(void)send(fd, &greeting, 1, MSG_NOSIGNAL);
	if (full)
		close(fd);
}

/* The last one takes its place. */
static void forget(struct server *server, nfds_t i)
{
	int fd = server->fds[i].fd;

	server->count--;
	server->fds[i] = server->fds[server->count];
	server->peers[i] = server->peers[server->count];
	/* The client sees the end of the connection only now, when there is room for the next one. */
	close(fd);
}

/* False: the connection is gone. */
static bool listen_to(struct server *server, nfds_t i)
{
	struct peer *peer = &server->peers[i];
	ssize_t got = recv(server->fds[i].fd, peer->part + peer->bytes, sizeof(peer->part) - peer->bytes, 0);

	if (got <= 0) {
		server->report.left++;
		forget(server, i);
		return false;
	}
	peer->bytes += (unsigned)got;
	if (peer->bytes < sizeof(peer->part))
		return true;
	if (peer->answered < server->questions) {
		server->report.answered++;
		peer->answered++;
		peer->bytes = 0;
		(void)send(server->fds[i].fd, peer->part, sizeof(peer->part), MSG_NOSIGNAL);
		if (peer->answered < server->questions || !peer->hasty)
			return true;
	}
	server->report.dropped++;
	forget(server, i);
	return false;
}

static void *serve(void *argument)
{
	struct server *server = argument;

	for (;;) {
		require(poll(server->fds, server->count, -1) > 0 || errno == EINTR, "poll");
		if (server->fds[1].revents)
			return NULL;
		for (nfds_t i = 2; i < server->count;)
			if (!server->fds[i].revents || listen_to(server, i))
				i++;
		if (server->fds[0].revents)
			welcome(server);
	}
}

struct server *server_start(unsigned questions_per_connection)
{
	struct server *server = calloc(1, sizeof(*server));
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), order = eventfd(0, EFD_CLOEXEC);

	require(server && fd >= 0 && order >= 0, "server");
	require(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, CONNECTIONS_MAX) == 0 &&
			getsockname(fd, (struct sockaddr *)&address, &bytes) == 0,
		"server on 127.0.0.1");
	server->port = ntohs(address.sin_port);
	server->questions = questions_per_connection;
	server->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
	server->fds[1] = (struct pollfd){.fd = order, .events = POLLIN};
	server->count = 2;
	thread_start(&server->thread, serve, server);
	return server;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

void server_limit(struct server *server, unsigned limit)
{
	atomic_store(&server->limit, limit < CONNECTIONS_MAX ? limit : CONNECTIONS_MAX);
}

struct server_report server_stop(struct server *server)
{
	uint64_t one = 1;

	require(write(server->fds[1].fd, &one, sizeof(one)) == sizeof(one), "server");
	pthread_join(server->thread, NULL);
	struct server_report report = server->report;

	for (nfds_t i = 0; i < server->count; i++)
		close(server->fds[i].fd);
	free(server);
	return report;
}
