/* SPDX-License-Identifier: MIT */
/*
 * live.c - see live.h.
 *
 * Idea         One thread checks fifty times a second: is a table due, was a signal sent, is it the end?  (With a
 *              trace, a thousand times.)  The signal's handler only sets a flag, which is safe in a handler.  Rates
 *              are the differences from the previous table, divided by the time since.
 * Concurrency  The mutex protects the list of pools: while it is held, no pool is forgotten, and so none is
 *              destroyed.  lfpool_stats() and lfpool_dump() may be called at any time.
 */
#include "live.h"

#include "harness.h"

#include "lfpool/report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define POOLS_MAX 64
#define HOME_AND_CLEAR "\033[H\033[J"

struct watched {
	const lfpool_t *pool;
	const char *name;
	size_t object_size;
	lfpool_stats_t before; /* at the last table */
	uint64_t before_ns;
};

static struct {
	pthread_mutex_t mutex;
	struct watched pools[POOLS_MAX];
	size_t count;
	_Atomic(bool) stopping, wanted;
	unsigned top_ms;
	FILE *trace; /* NULL: none */
	uint64_t began_ns;
	pthread_t thread;
} live = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- The table --------------------------------------------------------------------------------------------- */

/* 0.5, 950, 1.2k, 34M: a rate per second. */
static void put_rate(FILE *out, uint64_t before, uint64_t now, double seconds)
{
	double rate = seconds > 0 ? (double)(now - before) / seconds : 0;
	const char *unit = " kMG";

	for (; rate >= 999.5 && *unit != 'G'; unit++)
		rate /= 1000;
	fprintf(out, " %8.*f%c", rate > 0 && rate < 9.95 ? 1 : 0, rate, *unit);
}

static void put_row(FILE *out, struct watched *w)
{
	lfpool_stats_t s;

	(void)lfpool_stats(w->pool, &s);

	const uint64_t now = now_ns();
	const double seconds = (double)(now - w->before_ns) / 1e9;

	/* The objects: capacity = active + retired + cached + shared + untouched + unaccounted. */
	fprintf(out, "%-16s %7zu %9zu %9zu %9zu %9zu %9zu %9zu %6" PRId64 " %9zu", w->name, w->object_size, s.capacity,
		s.active, s.retired, s.cached, s.shared, s.untouched, s.unaccounted, s.high_water);
	put_rate(out, w->before.acquires, s.acquires, seconds);
	put_rate(out, w->before.refills + w->before.drains, s.refills + s.drains, seconds);
	put_rate(out, w->before.steals, s.steals, seconds);
	put_rate(out, w->before.exhausted, s.exhausted, seconds);
	fprintf(out, " %6" PRIu64 "\n", s.misuses);
	w->before = s;
	w->before_ns = now;
}

/* Called under the mutex. */
static void put_table(FILE *out)
{
	fprintf(out, "%-16s %7s %9s %9s %9s %9s %9s %9s %6s %9s %9s %9s %9s %9s %6s\n", "pool", "bytes", "capacity",
		"active", "retired", "cached", "shared", "untouched", "unacc.", "high", "acq/s", "miss/s", "steal/s",
		"exhst/s", "misuse");
	for (size_t i = 0; i < live.count; i++)
		put_row(out, &live.pools[i]);
}

static void draw(void)
{
	const bool terminal = isatty(STDOUT_FILENO);

	fputs(terminal ? HOME_AND_CLEAR : "", stdout);
	pthread_mutex_lock(&live.mutex);
	put_table(stdout);
	pthread_mutex_unlock(&live.mutex);
	fputs(terminal ? "" : "\n", stdout);
	fflush(stdout);
}

/* ---- The dump ---------------------------------------------------------------------------------------------- */

static void dump(FILE *out)
{
	static char text[1 << 16]; /* private to this thread; text that does not fit is cut off */

	pthread_mutex_lock(&live.mutex);
	put_table(out);
	for (size_t i = 0; i < live.count; i++) {
		lfpool_dump(live.pools[i].pool, LFPOOL_TEXT, text, sizeof(text));
		fprintf(out, "\n%s", text);
	}
	pthread_mutex_unlock(&live.mutex);
	fflush(out);
}

/* ---- The trace --------------------------------------------------------------------------------------------- */

/* Counter events of the Trace Event Format, in an array whose last bracket may be missing. */
static void trace(void)
{
	const double now_us = (double)(now_ns() - live.began_ns) / 1e3;

	pthread_mutex_lock(&live.mutex);
	for (size_t i = 0; i < live.count; i++) {
		lfpool_stats_t s;

		(void)lfpool_stats(live.pools[i].pool, &s);
		fprintf(live.trace,
			"{\"name\":\"%s\",\"ph\":\"C\",\"pid\":1,\"ts\":%.1f,"
			"\"args\":{\"active\":%zu,\"cached\":%zu,\"waiting\":%" PRIu32 "}},\n",
			live.pools[i].name, now_us, s.active, s.cached, s.waiting);
	}
	pthread_mutex_unlock(&live.mutex);
}

bool live_trace(const char *path)
{
	live.trace = fopen(path, "w");
	live.began_ns = now_ns();
	return live.trace && fputs("[\n", live.trace) >= 0;
}

/* ---- The thread -------------------------------------------------------------------------------------------- */

static void on_signal(int number)
{
	live.wanted = true;
	/* Windows resets the handler when it calls it. */
	(void)signal(number, on_signal);
}

static void *watch(void *argument)
{
	const struct timespec nap = {.tv_nsec = live.trace ? 1000000 : 20000000};
	const uint64_t interval = (uint64_t)live.top_ms * 1000000;
	uint64_t due = now_ns() + interval;

	(void)argument;
	while (!live.stopping) {
		(void)nanosleep(&nap, NULL);
		if (live.trace)
			trace();
		if (atomic_exchange(&live.wanted, false))
			dump(stderr);
		if (interval && now_ns() >= due) {
			draw();
			due += interval;
		}
	}
	return NULL;
}

bool live_start(unsigned top_ms)
{
	live.top_ms = top_ms;
	live.stopping = false;
	return signal(LIVE_SIGNAL, on_signal) != SIG_ERR && pthread_create(&live.thread, NULL, watch, NULL) == 0;
}

void live_stop(void)
{
	live.stopping = true;
	pthread_join(live.thread, NULL);
	if (live.top_ms)
		draw();
	if (live.trace)
		(void)fclose(live.trace);
	live.trace = NULL;
}

/* ---- The pools --------------------------------------------------------------------------------------------- */

void live_watch(const lfpool_t *pool, const char *name, size_t object_size)
{
	pthread_mutex_lock(&live.mutex);
	if (live.count < POOLS_MAX) {
		struct watched *w = &live.pools[live.count++];

		*w = (struct watched){.pool = pool, .name = name, .object_size = object_size};
		(void)lfpool_stats(pool, &w->before);
		w->before_ns = now_ns();
	}
	pthread_mutex_unlock(&live.mutex);
}

void live_forget(const lfpool_t *pool)
{
	pthread_mutex_lock(&live.mutex);
	for (size_t i = 0; i < live.count; i++)
		if (live.pools[i].pool == pool) {
			live.count--;
			memmove(&live.pools[i], &live.pools[i + 1], (live.count - i) * sizeof(live.pools[0]));
			break;
		}
	pthread_mutex_unlock(&live.mutex);
}
