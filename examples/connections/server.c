/* SPDX-License-Identifier: MIT */
/* server.c - see server.h: a thread that accepts, and one for each connection. */
#include "server.h"

#include "harness.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static _Atomic(unsigned) limit, open_now;
static unsigned questions;
static int listener;
static pthread_t acceptor;

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(3);
}

/* Every second connection is hasty: closed right after the last answer, not at the next question. */
static void *converse(void *argument)
{
	const int fd = (int)(intptr_t)argument >> 1;
	const bool hasty = (intptr_t)argument & 1;
	bool asked = true;
	uint64_t question;

	for (unsigned answered = 0; answered < questions + !hasty && asked; answered++) {
		asked = recv(fd, &question, sizeof(question), MSG_WAITALL) == sizeof(question);
		if (asked && answered < questions)
			(void)send(fd, &question, sizeof(question), MSG_NOSIGNAL);
	}
	/* The client sees the end of the connection only when there is room for the next one. */
	open_now--;
	close(fd);
	return NULL;
}

static void *accept_all(void *nothing)
{
	unsigned accepted = 0;

	for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
		const bool full = open_now >= limit;
		const char greeting = full ? SERVER_FULL : SERVER_WELCOME;
		pthread_t thread;

		/* Counted before the client can know that it is accepted. */
		open_now += !full;
		(void)send(fd, &greeting, 1, MSG_NOSIGNAL);
		if (full) {
			close(fd);
		} else {
			thread_start(&thread, converse, (void *)((intptr_t)fd << 1 | (intptr_t)(++accepted % 2)));
			pthread_detach(thread);
		}
	}
	return nothing;
}

uint16_t server_start(unsigned questions_per_connection)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	require(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			listen(listener, 256) == 0 && getsockname(listener, (struct sockaddr *)&address, &bytes) == 0,
		"server on 127.0.0.1");
	questions = questions_per_connection;
	thread_start(&acceptor, accept_all, NULL);
	return ntohs(address.sin_port);
}

void server_limit(unsigned connections)
{
	limit = connections;
}

void server_stop(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(acceptor, NULL);
	close(listener);
	/* This loop ends, because all clients have closed. */
	while (open_now)
		sched_yield();
}
