/* SPDX-License-Identifier: MIT */
/*
 * load.c - a client that keeps a memcached on this machine busy, and measures it.
 *
 *     load PORT PID WORKLOAD THREADS CONNECTIONS MILLISECONDS
 *
 * prints requests per second, and microseconds of the server's processor time (that of process PID) per request.  Each
 * thread has so many connections; it sends on all of them, then reads from all of them.
 *
 * get       One get of a value of 100 bytes per connection.
 * burst     16 of them in one write.
 * connect   Connect, one get, close.
 */
#include "harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VALUE_SIZE 100
#define BURST 16
#define MOST_THREADS 16
#define MOST_CONNECTIONS 256

static const char request[] = "get key\r\n";
static const char head[] = "VALUE key 0 100\r\n";
static struct sockaddr_in server = {.sin_family = AF_INET};
static unsigned long connections = 1;
static int stop;

struct client {
	pthread_t thread;
	unsigned long requests;
};

static void must(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(3);
	}
}

static int open_connection(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0, "socket");
	must(connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0, "connect");
	must(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0, "setsockopt");
	return fd;
}

/* Without TIME_WAIT, for which there are not enough ports. */
static void close_connection(int fd)
{
	struct linger at_once = {1, 0};

	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0, "setsockopt");
	close(fd);
}

static void say(int fd, const char *text, size_t bytes)
{
	must(write(fd, text, bytes) == (ssize_t)bytes, "write");
}

/* Reads `count` answers to the request, and looks whether they are that. */
static void hear(int fd, size_t count)
{
	char text[BURST * 256];
	size_t one = sizeof(head) - 1 + VALUE_SIZE + sizeof("\r\nEND\r\n") - 1, got = 0;

	while (got < count * one) {
		ssize_t now = read(fd, text + got, sizeof(text) - got);

		must(now > 0, "read");
		got += (size_t)now;
	}
	for (size_t i = 0; i < count; i++) {
		if (got != count * one || memcmp(text + i * one, head, sizeof(head) - 1) != 0) {
			fprintf(stderr, "load: not the answer that was expected: %.*s\n", (int)got, text);
			exit(3);
		}
	}
}

static bool running(void)
{
	/* relaxed: it is only a sign to end. */
	return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void talk(struct client *client, size_t at_once)
{
	char text[BURST * sizeof(request)];
	int fds[MOST_CONNECTIONS];

	for (size_t i = 0; i < at_once; i++)
		memcpy(text + i * (sizeof(request) - 1), request, sizeof(request) - 1);
	for (unsigned long i = 0; i < connections; i++)
		fds[i] = open_connection();
	for (; running(); client->requests += connections * at_once) {
		for (unsigned long i = 0; i < connections; i++)
			say(fds[i], text, at_once * (sizeof(request) - 1));
		for (unsigned long i = 0; i < connections; i++)
			hear(fds[i], at_once);
	}
	for (unsigned long i = 0; i < connections; i++)
		close_connection(fds[i]);
}

static void *get(void *client)
{
	talk(client, 1);
	return NULL;
}

static void *burst(void *client)
{
	talk(client, BURST);
	return NULL;
}

static void *connect_each_time(void *argument)
{
	struct client *client = argument;
	int fds[MOST_CONNECTIONS];

	for (; running(); client->requests += connections) {
		for (unsigned long i = 0; i < connections; i++) {
			fds[i] = open_connection();
			say(fds[i], request, sizeof(request) - 1);
		}
		for (unsigned long i = 0; i < connections; i++) {
			hear(fds[i], 1);
			close_connection(fds[i]);
		}
	}
	return NULL;
}

static void set_value(void)
{
	char text[64 + VALUE_SIZE] = "set key 0 0 100\r\n", answer[16];
	size_t bytes = strlen(text);
	int fd = open_connection();

	memset(text + bytes, 'x', VALUE_SIZE);
	memcpy(text + bytes + VALUE_SIZE, "\r\n", 2);
	say(fd, text, bytes + VALUE_SIZE + 2);
	must(read(fd, answer, sizeof(answer)) == 8 && memcmp(answer, "STORED\r\n", 8) == 0, "set");
	close_connection(fd);
}

static double processor_us(clockid_t clock)
{
	struct timespec t;

	must(clock_gettime(clock, &t) == 0, "clock_gettime");
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	static struct client clients[MOST_THREADS];
	void *(*run)(void *) = NULL;
	unsigned long port = 0, pid = 0, threads = 0, milliseconds = 0, requests = 0;
	clockid_t clock;
	size_t count;

	if (argc == 7)
		run = !strcmp(argv[3], "get")       ? get
		      : !strcmp(argv[3], "burst")   ? burst
		      : !strcmp(argv[3], "connect") ? connect_each_time
						    : NULL;
	if (!run || !parse_numbers(argv[1], 1, 65535, &port, 1, &count) ||
	    !parse_numbers(argv[2], 1, 1ul << 22, &pid, 1, &count) ||
	    !parse_numbers(argv[4], 1, MOST_THREADS, &threads, 1, &count) ||
	    !parse_numbers(argv[5], 1, MOST_CONNECTIONS, &connections, 1, &count) ||
	    !parse_numbers(argv[6], 1, 600000, &milliseconds, 1, &count)) {
		fprintf(stderr, "usage: load PORT PID get|burst|connect THREADS CONNECTIONS MILLISECONDS\n");
		return 2;
	}
	server.sin_port = htons((uint16_t)port);
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(clock_getcpuclockid((pid_t)pid, &clock) == 0, "clock_getcpuclockid");
	set_value();
	const double used = processor_us(clock);
	const uint64_t began = now_ns();
	for (unsigned long i = 0; i < threads; i++)
		thread_start(&clients[i].thread, run, &clients[i]);
	nanosleep(&(struct timespec){(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000}, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(clients[i].thread, NULL);
		requests += clients[i].requests;
	}
	printf("%.0f %.3f\n", (double)requests * 1e9 / (double)(now_ns() - began),
	       (processor_us(clock) - used) / (double)requests);
	return 0;
}
