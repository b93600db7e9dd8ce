/* SPDX-License-Identifier: MIT */
/*
 * main.c - clients of a server share a few connections, which break now and then, and of which the server refuses some.
 *
 *     connections [--clients N] [--capacity N] [--questions N]
 *
 * First one thread meets both reasons for which connection_acquire() says NULL: the server takes no more connections,
 * or all are in use.  Neither loses anything.  Then the clients ask their questions, each with any connection that is
 * free; a connection that the server closed is released like any other, and replaced when it is next needed.  In the
 * end both sides have counted the same.  Start with connection.h, then connection.c.
 *
 * Exit status  0: all counts agree.  1: not so.  2: wrong usage.  3: the system refused a socket, a thread or memory.
 */
#include "connection.h"

#include "command_line.h"
#include "server.h"

#include <inttypes.h>
#include <sched.h>

#define QUESTIONS_PER_CONNECTION 100
#define CLIENTS_MAX 64
#define CONNECTIONS_MAX 200

struct options {
	unsigned long clients, capacity, questions;
};

struct client {
	pthread_t thread;
	struct random random;
	unsigned long questions;
	uint64_t answered, wrong, broke, found_none, ns;
};

static unsigned failures;

static void expect(const char *what, uint64_t actual, uint64_t expected)
{
	if (actual == expected)
		return;
	printf("FAILED: %s: %" PRIu64 ", expected %" PRIu64 "\n", what, actual, expected);
	failures++;
}

static void expect_intact(void)
{
	const char *violated = connections_check();

	if (!violated)
		return;
	printf("FAILED: %s\n", violated);
	failures++;
}

/* ---- One thread: the two reasons for NULL ------------------------------------------------------------------ */

static unsigned long acquire_until_null(struct connection **connections, unsigned long count)
{
	unsigned long more = 0;

	while ((connections[count + more] = connection_acquire()) != NULL)
		more++;
	return more;
}

static void meet_the_limits(struct server *server, unsigned long capacity)
{
	struct connection *connections[CONNECTIONS_MAX + 1];
	unsigned long limit = capacity / 2;

	server_limit(server, (unsigned)limit);
	unsigned long count = acquire_until_null(connections, 0);
	printf("server takes %lu: %lu connections, then NULL: %zu in use + %zu free\n", limit, count, connection_active_count(),
	       connections_free());
	expect("connections up to the server's limit", count, limit);
	expect("creates refused", connections_calls().create_refused, 1);
	expect("in use", connection_active_count(), limit);
	expect("free", connections_free(), capacity - limit);

	server_limit(server, CONNECTIONS_MAX);
	count += acquire_until_null(connections, count);
	printf("server takes more: %lu connections, then NULL: %zu in use + %zu free\n", count, connection_active_count(),
	       connections_free());
	expect("connections up to the pool's capacity", count, capacity);
	expect("creates refused", connections_calls().create_refused, 1);
	for (unsigned long i = 0; i < count; i++)
		expect("release", connection_release(connections[i]) == LFPOOL_OK, true);
	expect("created", connections_calls().created, capacity);
	expect("in use", connection_active_count(), 0);
	expect_intact();
}

/* ---- Clients ----------------------------------------------------------------------------------------------- */

/* False: try again. */
static bool ask(struct client *client, uint64_t question)
{
	struct connection *connection = connection_acquire();
	uint64_t answer = 0;

	if (!connection) {
		client->found_none++;
		sched_yield();
		return false;
	}
	bool answered = connection_ask(connection, question, &answer);

	connection_release(connection);
	client->broke += !answered;
	client->answered += answered;
	client->wrong += answered && answer != question;
	return answered;
}

static void *be_client(void *argument)
{
	struct client *client = argument;
	uint64_t start = now_ns();

	for (unsigned long i = 0; i < client->questions; i++) {
		uint64_t question = random_next(&client->random);

		/* Ends: a new connection answers, and one is free as soon as another client is answered. */
		while (!ask(client, question))
			;
	}
	client->ns = now_ns() - start;
	return NULL;
}

static struct client run_clients(const struct options *options)
{
	static struct client clients[CLIENTS_MAX];
	struct client sum = {.questions = options->questions * options->clients};

	for (unsigned i = 0; i < options->clients; i++) {
		clients[i].random = random_for(1, i);
		clients[i].questions = options->questions;
		thread_start(&clients[i].thread, be_client, &clients[i]);
	}
	for (unsigned i = 0; i < options->clients; i++) {
		pthread_join(clients[i].thread, NULL);
		sum.answered += clients[i].answered;
		sum.wrong += clients[i].wrong;
		sum.broke += clients[i].broke;
		sum.found_none += clients[i].found_none;
		sum.ns += clients[i].ns;
	}
	return sum;
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

static void settle(const struct client *sum, const struct server_report *server, unsigned long capacity)
{
	struct connection_calls calls = connections_calls();

	printf("hooks      create %" PRIu64 ", refused %" PRIu64 "; validate, dead %" PRIu64 "; activate %" PRIu64
	       "; deactivate %" PRIu64 ", unfit %" PRIu64 "; destroy %" PRIu64 "\n",
	       calls.created, calls.create_refused, calls.dead, calls.activated, calls.kept + calls.unfit, calls.unfit,
	       calls.destroyed);
	printf("server     accepted %" PRIu64 ", refused %" PRIu64 "; answered %" PRIu64 ", dropped %" PRIu64
	       "; left by clients %" PRIu64 "\n",
	       server->accepted, server->refused, server->answered, server->dropped, server->left);
	expect("answers", sum->answered, sum->questions);
	expect("wrong answers", sum->wrong, 0);
	/* One use: activate, then deactivate.  `capacity` of them were those of the first part. */
	expect("activate", calls.activated, capacity + sum->answered + sum->broke);
	expect("deactivate", calls.kept + calls.unfit, calls.activated);
	expect("unfit", calls.unfit, sum->broke);
	expect("destroy", calls.destroyed, calls.created);
	/* The server saw the same. */
	expect("accepted", server->accepted, calls.created);
	expect("refused", server->refused, calls.create_refused);
	expect("answered", server->answered, sum->answered);
	/* Some may have been dropped while they lay idle until the end. */
	expect("dropped unnoticed", server->dropped < calls.unfit + calls.dead, false);
	expect("dropped and left", server->dropped + server->left, calls.created);
	/* Each of them was used up before it was dropped. */
	expect("dropped too early", server->dropped > sum->answered / QUESTIONS_PER_CONNECTION, false);
}

static void tell_times(const struct client *sum)
{
	struct connection_calls calls = connections_calls();
	double create_us = (double)calls.create_ns / 1e3 / (double)(calls.created + calls.create_refused);

	printf("times      %.1f us for a connection, %.1f us for a question; %" PRIu64 " acquires found none free\n", create_us,
	       (double)sum->ns / 1e3 / (double)sum->answered, sum->found_none);
}

/* ---- Options ----------------------------------------------------------------------------------------------- */

static struct options parse_options(int argc, char **argv)
{
	struct options options = {.clients = 6, .capacity = 4, .questions = 2000};
	const struct option_row rows[] = {OPTION_NUMBER("clients", &options.clients, 1, CLIENTS_MAX),
					  OPTION_NUMBER("capacity", &options.capacity, 1, CONNECTIONS_MAX),
					  OPTION_NUMBER("questions", &options.questions, 1, 1000000000), OPTIONS_END};

	(void)command_line("connections", rows, NULL, argc, argv);
	return options;
}

int main(int argc, char **argv)
{
	struct options options = parse_options(argc, argv);
	struct server *server = server_start(QUESTIONS_PER_CONNECTION);
	lfpool_status_t status = connections_open(server_port(server), options.capacity);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "connections: no pool: %s\n", lfpool_status_string(status));
		return 1;
	}
	meet_the_limits(server, options.capacity);
	struct client sum = run_clients(&options);

	expect_intact();
	expect("in use at the end", connection_active_count(), 0);
	expect("closed while in use", connections_close(), 0);
	struct server_report report = server_stop(server);

	settle(&sum, &report, options.capacity);
	tell_times(&sum);
	puts(failures ? "FAILED" : "all counts agree, no connection was lost");
	return failures ? 1 : 0;
}
