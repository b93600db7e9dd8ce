/* SPDX-License-Identifier: MIT */
/*
 * main.c - clients share a few connections to a server.  The server closes connections, and refuses some.
 *
 *     connections [--clients N] [--capacity N] [--questions N]
 *
 * connection_acquire() returns NULL for two reasons: the server refuses a connection, or all connections are in use.
 * First one thread shows both reasons, and that no connection is lost.  Then the clients ask their questions, each over
 * any free connection.  A connection that the server closed is released as usual, and replaced when it is next needed.
 * At the end the counts of the clients and of the hooks must agree.  Start with connection.h, then connection.c.
 *
 * Exit status  0: all counts agree.  1: they do not.  2: wrong usage.  3: the system refused a socket or a thread.
 */
#include "connection.h"

#include "command_line.h"
#include "server.h"

#include <inttypes.h>
#include <sched.h>

#define QUESTIONS_PER_CONNECTION 100
#define CLIENTS_MAX 64
#define CONNECTIONS_MAX 200

static unsigned long client_count = 6, capacity = 4, questions = 2000;
static unsigned failures;

static void expect(const char *what, uint64_t actual, uint64_t expected)
{
	if (actual == expected)
		return;
	printf("FAILED: %s: %" PRIu64 ", expected %" PRIu64 "\n", what, actual, expected);
	failures++;
}

/* ---- One thread: the two reasons for NULL ------------------------------------------------------------------ */

static struct connection *held[CONNECTIONS_MAX + 1];
static size_t held_count;

static void acquire_until_null(const char *server, size_t expected)
{
	while ((held[held_count] = connection_acquire()) != NULL)
		held_count++;
	printf("server takes %s: %zu connections, then NULL: %zu in use + %zu free\n", server, held_count,
	       connection_active_count(), connections_free());
	expect("connections", held_count, expected);
	expect("creates refused", connection_calls.create_refused, 1);
	expect("in use", connection_active_count(), expected);
	expect("free", connections_free(), capacity - expected);
}

static void meet_the_limits(void)
{
	server_limit((unsigned)(capacity / 2));
	acquire_until_null("half", capacity / 2);
	server_limit(CONNECTIONS_MAX);
	acquire_until_null("more", capacity);
	while (held_count)
		expect("release", connection_release(held[--held_count]) == LFPOOL_OK, true);
	expect("created", connection_calls.created, capacity);
	expect("in use", connection_active_count(), 0);
}

/* ---- Clients ----------------------------------------------------------------------------------------------- */

struct client {
	pthread_t thread;
	struct random random;
	uint64_t answered, wrong, broke;
};

/* False: the caller tries again. */
static bool ask(struct client *client, uint64_t question)
{
	struct connection *connection = connection_acquire();
	uint64_t answer = 0;

	if (!connection) {
		sched_yield();
		return false;
	}
	const bool answered = connection_ask(connection, question, &answer);

	connection_release(connection);
	client->broke += !answered;
	client->answered += answered;
	client->wrong += answered && answer != question;
	return answered;
}

static void *be_client(void *argument)
{
	struct client *client = argument;

	for (unsigned long i = 0; i < questions; i++) {
		const uint64_t question = random_next(&client->random);

		/* This loop ends: a new connection always answers, and every client soon releases its connection. */
		while (!ask(client, question))
			;
	}
	return NULL;
}

static struct client run_clients(void)
{
	static struct client clients[CLIENTS_MAX];
	struct client sum = {.answered = 0};

	for (unsigned i = 0; i < client_count; i++) {
		clients[i].random = random_for(1, i);
		thread_start(&clients[i].thread, be_client, &clients[i]);
	}
	for (unsigned i = 0; i < client_count; i++) {
		pthread_join(clients[i].thread, NULL);
		sum.answered += clients[i].answered;
		sum.wrong += clients[i].wrong;
		sum.broke += clients[i].broke;
	}
	return sum;
}

/* ---- The accounts ------------------------------------------------------------------------------------------ */

static void settle(const struct client *sum)
{
	const struct connection_calls *calls = &connection_calls;

	printf("hooks      create %" PRIu64 ", refused %" PRIu64 "; validate, dead %" PRIu64 "; activate %" PRIu64
	       "; deactivate %" PRIu64 ", unfit %" PRIu64 "; destroy %" PRIu64 "\n",
	       calls->created, calls->create_refused, calls->dead, calls->activated, calls->kept + calls->unfit,
	       calls->unfit, calls->destroyed);
	expect("answers", sum->answered, questions * client_count);
	expect("wrong answers", sum->wrong, 0);
	/* Each use of a connection is one activate and one deactivate.  meet_the_limits() had `capacity` uses. */
	expect("activate", calls->activated, capacity + sum->answered + sum->broke);
	expect("deactivate", calls->kept + calls->unfit, calls->activated);
	expect("unfit", calls->unfit, sum->broke);
	expect("destroy", calls->destroyed, calls->created);
}

int main(int argc, char **argv)
{
	const struct option_row rows[] = {OPTION_NUMBER("clients", &client_count, 1, CLIENTS_MAX),
					  OPTION_NUMBER("capacity", &capacity, 1, CONNECTIONS_MAX),
					  OPTION_NUMBER("questions", &questions, 1, 1000000000), OPTIONS_END};

	(void)command_line("connections", rows, NULL, argc, argv);

	const lfpool_status_t status = connections_open(server_start(QUESTIONS_PER_CONNECTION), capacity);

	if (status != LFPOOL_OK) {
		fprintf(stderr, "connections: no pool: %s\n", lfpool_status_string(status));
		return 1;
	}
	meet_the_limits();

	const struct client sum = run_clients();

	expect("in use at the end", connection_active_count(), 0);
	expect("closed while in use", connections_close(), 0);

	server_stop();
	settle(&sum);
	puts(failures ? "FAILED" : "all counts agree, no connection was lost");
	return failures ? 1 : 0;
}
