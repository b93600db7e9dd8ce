/* SPDX-License-Identifier: MIT */
/*
 * soak_log.c - see soak_log.h.
 */
#include "soak_log.h"

#include "common/resident.h"
#include "common/sanitizers.h"
#include "round.h"

#include <string.h>

static struct {
	FILE *file; /* NULL: none                                  */
	uint64_t start_ns;
	_Atomic(unsigned) samples; /* taken                                       */
	pthread_mutex_t lock;      /* of `interval`                               */
	struct timing interval, all;
	double trimmed[SOAK_CYCLES_MAX]; /* resident bytes after each cycle's trim      */
	size_t cycles;
} soak_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const kinds[TIMED_KINDS] = {"acquire", "release", "wait"};
static const double fractions[] = {0.5, 0.99, 0.999, 1};
static const char *const fraction_names[] = {"p50", "p99", "p99.9", "max"};
#define FRACTIONS (sizeof(fractions) / sizeof(fractions[0]))

/* ---- The file ---- */

void soak_log_open(const char *path)
{
	soak_log.start_ns = now_ns();
	(void)clock_tick_ns();
	if (!path)
		return;
	soak_log.file = fopen(path, "w");
	if (!soak_log.file) {
		say("lfpool-stress: %s: %s\n", path, strerror(errno));
		exit(EXIT_USAGE);
	}
	fprintf(soak_log.file, "seconds,cycle,phase,resident_kib,capacity,active,waiting");
	for (int kind = 0; kind < TIMED_KINDS; kind++) {
		fprintf(soak_log.file, ",%s_calls", kinds[kind]);
		for (size_t i = 0; i < FRACTIONS; i++)
			fprintf(soak_log.file, ",%s_%s_ns", kinds[kind], fraction_names[i]);
	}
	fprintf(soak_log.file, "\n");
}

void soak_log_close(void)
{
	if (soak_log.file && fclose(soak_log.file) != 0)
		say("lfpool-stress: the samples could not be written: %s\n", strerror(errno));
}

/* ---- Samples ---- */

static void merge(struct timing *sum, const struct timing *other)
{
	for (int kind = 0; kind < TIMED_KINDS; kind++)
		histogram_merge(&sum->of[kind], &other->of[kind]);
}

void soak_log_add(struct soak_timing *timing)
{
	/* relaxed: soon is enough. */
	const unsigned samples = load_relaxed(&soak_log.samples);

	if (samples == timing->samples)
		return;
	timing->samples = samples;
	pthread_mutex_lock(&soak_log.lock);
	merge(&soak_log.interval, &timing->timing);
	pthread_mutex_unlock(&soak_log.lock);
	memset(&timing->timing, 0, sizeof(timing->timing));
}

static void write_latencies(const struct histogram *h)
{
	fprintf(soak_log.file, ",%llu", (unsigned long long)h->count);
	for (size_t i = 0; i < FRACTIONS; i++) {
		fputc(',', soak_log.file);
		/* Empty if there was no call. */
		if (h->count)
			fprintf(soak_log.file, "%.0f", histogram_quantile(h, fractions[i]) * clock_tick_ns());
	}
}

double soak_log_sample(const lfpool_t *pool, size_t cycle, const char *phase)
{
	const double resident = resident_bytes();
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	struct timing interval;

	(void)lfpool_stats(pool, &stats);
	pthread_mutex_lock(&soak_log.lock);
	interval = soak_log.interval;
	memset(&soak_log.interval, 0, sizeof(soak_log.interval));
	pthread_mutex_unlock(&soak_log.lock);
	/* relaxed: see soak_log_add(). */
	add_relaxed(&soak_log.samples, 1);
	merge(&soak_log.all, &interval);
	if (!soak_log.file)
		return resident;
	fprintf(soak_log.file, "%.3f,%zu,%s,%.0f,%zu,%zu,%zu", (double)(now_ns() - soak_log.start_ns) / 1e9, cycle, phase,
		resident / 1024, stats.capacity, stats.active, stats.waiting);
	for (int kind = 0; kind < TIMED_KINDS; kind++)
		write_latencies(&interval.of[kind]);
	fputc('\n', soak_log.file);
	/* A long run can be looked at while it runs. */
	(void)fflush(soak_log.file);
	return resident;
}

void soak_log_trimmed(double resident)
{
	if (soak_log.cycles < SOAK_CYCLES_MAX)
		soak_log.trimmed[soak_log.cycles++] = resident;
}

/* ---- The verdict ---- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of `count` values, which it sorts. */
static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void say_latencies(const char *kind, const struct histogram *h)
{
	struct text text = {.used = 0};

	text_add(&text, "soak: %-8s%12llu calls", kind, (unsigned long long)h->count);
	for (size_t i = 0; i < FRACTIONS && h->count; i++)
		text_add(&text, "   %s %.0f ns", fraction_names[i], histogram_quantile(h, fractions[i]) * clock_tick_ns());
	say("%s\n", text.characters);
}

void soak_log_judge(void)
{
	const char *why_not = NULL;
	/* Without the first cycle. */
	const size_t cycles = soak_log.cycles, third = (cycles - 1) / 3;
	double first, last, allowed;

	for (int kind = 0; kind < TIMED_KINDS; kind++)
		say_latencies(kinds[kind], &soak_log.all.of[kind]);
	if (cycles < SOAK_CYCLES_MIN)
		why_not = "too few cycles";
	else if (UNDER_TSAN || UNDER_ASAN)
		why_not = "a sanitizer has memory of its own";
	else if (lfpool_backend(current.pool) == LFPOOL_BACKEND_MALLOC)
		why_not = "the malloc backend is not trimmed";
	if (why_not) {
		say("soak: %zu cycles; the memory is not judged: %s\n", cycles, why_not);
		return;
	}
	first = median(soak_log.trimmed + 1, third);
	last = median(soak_log.trimmed + cycles - third, third);
	allowed = SOAK_SLACK_BYTES + first / 100;
	say("soak: %zu cycles; resident after the trim %.0f KiB in the first third of them and %.0f KiB in the last (medians; "
	    "%.0f KiB more are allowed)\n",
	    cycles, first / 1024, last / 1024, allowed / 1024);
	expect(last <= first + allowed,
	       "the resident memory grows: %.0f KiB after the trim in the first third of %zu cycles, %.0f in the last",
	       first / 1024, cycles, last / 1024);
}
