/* SPDX-License-Identifier: MIT */
/*
 * soak_log.c - see soak_log.h.
 */
#include "soak_log.h"

#include "common/resident.h"
#include "common/sanitizers.h"
#include "round.h"

#include <string.h>

static const char *const kinds[TIMED_KINDS] = {"acquire", "release", "wait"};
static const double fractions[] = {0.5, 0.99, 0.999, 1};
static const char *const fraction_names[] = {"p50", "p99", "p99.9", "max"};
#define FRACTIONS (sizeof(fractions) / sizeof(fractions[0]))

/* ---- The file ---- */

struct soak_log *soak_log_open(const char *path)
{
	struct soak_log *log = round_memory(1, sizeof(*log));

	log->start_ns = now_ns();
	log->trimmed = round_memory(SOAK_CYCLES_MAX, sizeof(*log->trimmed));
	(void)pthread_mutex_init(&log->lock, NULL);
	(void)clock_tick_ns();
	if (!path)
		return log;
	log->file = fopen(path, "w");
	if (!log->file) {
		say("lfpool-stress: %s: %s\n", path, strerror(errno));
		exit(EXIT_USAGE);
	}
	fprintf(log->file, "seconds,cycle,phase,resident_kib,capacity,active,waiting");
	for (int kind = 0; kind < TIMED_KINDS; kind++) {
		fprintf(log->file, ",%s_calls", kinds[kind]);
		for (size_t i = 0; i < FRACTIONS; i++)
			fprintf(log->file, ",%s_%s_ns", kinds[kind], fraction_names[i]);
	}
	fprintf(log->file, "\n");
	return log;
}

void soak_log_close(struct soak_log *log)
{
	if (log->file && fclose(log->file) != 0)
		say("lfpool-stress: the samples could not be written: %s\n", strerror(errno));
	(void)pthread_mutex_destroy(&log->lock);
	free(log->trimmed);
	free(log);
}

/* ---- Samples ---- */

static void merge(struct timing *sum, const struct timing *other)
{
	for (int kind = 0; kind < TIMED_KINDS; kind++)
		histogram_merge(&sum->of[kind], &other->of[kind]);
}

void soak_log_add(struct soak_log *log, struct soak_timing *timing)
{
	/* relaxed: soon is enough. */
	const unsigned samples = atomic_load_explicit(&log->samples, memory_order_relaxed);

	if (samples == timing->samples)
		return;
	timing->samples = samples;
	pthread_mutex_lock(&log->lock);
	merge(&log->interval, &timing->timing);
	pthread_mutex_unlock(&log->lock);
	memset(&timing->timing, 0, sizeof(timing->timing));
}

double soak_log_sample(struct soak_log *log, const lfpool_t *pool, size_t cycle, const char *phase)
{
	const double resident = resident_bytes();
	lfpool_stats_t stats = LFPOOL_STATS_INIT;
	struct timing interval;

	(void)lfpool_stats(pool, &stats);
	pthread_mutex_lock(&log->lock);
	interval = log->interval;
	memset(&log->interval, 0, sizeof(log->interval));
	pthread_mutex_unlock(&log->lock);
	/* relaxed: see soak_log_add(). */
	(void)atomic_fetch_add_explicit(&log->samples, 1, memory_order_relaxed);
	merge(&log->all, &interval);
	if (!log->file)
		return resident;
	fprintf(log->file, "%.3f,%zu,%s,%.0f,%zu,%zu,%zu", (double)(now_ns() - log->start_ns) / 1e9, cycle, phase,
		resident / 1024, stats.capacity, stats.active, stats.waiting);
	for (int kind = 0; kind < TIMED_KINDS; kind++) {
		fprintf(log->file, ",%llu", (unsigned long long)interval.of[kind].count);
		for (size_t i = 0; i < FRACTIONS; i++)
			/* Empty if there was no call. */
			if (interval.of[kind].count)
				fprintf(log->file, ",%.0f",
					histogram_quantile(&interval.of[kind], fractions[i]) * clock_tick_ns());
			else
				fputc(',', log->file);
	}
	fputc('\n', log->file);
	/* A long run can be looked at while it runs. */
	(void)fflush(log->file);
	return resident;
}

void soak_log_trimmed(struct soak_log *log, double resident)
{
	if (log->cycles < SOAK_CYCLES_MAX)
		log->trimmed[log->cycles++] = resident;
}

/* ---- The verdict ---- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, size_t count)
{
	double *sorted = round_memory(count, sizeof(*sorted)), middle;

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	middle = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
	free(sorted);
	return middle;
}

void soak_log_judge(const struct soak_log *log)
{
	const char *why_not = NULL;
	double first, last, allowed;
	size_t third;

	for (int kind = 0; kind < TIMED_KINDS; kind++) {
		const struct histogram *h = &log->all.of[kind];

		char text[256];
		size_t at = (size_t)snprintf(text, sizeof(text), "soak: %-8s%12llu calls", kinds[kind],
					     (unsigned long long)h->count);

		for (size_t i = 0; i < FRACTIONS && h->count; i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "   %s %.0f ns", fraction_names[i],
					       histogram_quantile(h, fractions[i]) * clock_tick_ns());
		say("%s\n", text);
	}
	if (log->cycles < SOAK_CYCLES_MIN)
		why_not = "too few cycles";
	else if (UNDER_TSAN || UNDER_ASAN)
		why_not = "a sanitizer has memory of its own";
	else if (lfpool_backend(current.pool) == LFPOOL_BACKEND_MALLOC)
		why_not = "the malloc backend is not trimmed";
	if (why_not) {
		say("soak: %zu cycles; the memory is not judged: %s\n", log->cycles, why_not);
		return;
	}
	/* Without the first cycle. */
	third = (log->cycles - 1) / 3;
	first = median(log->trimmed + 1, third);
	last = median(log->trimmed + log->cycles - third, third);
	allowed = SOAK_SLACK_BYTES + first / 100;
	say("soak: %zu cycles; resident after the trim %.0f KiB in the first third of them and %.0f KiB in the last (medians; "
	    "%.0f KiB more are allowed)\n",
	    log->cycles, first / 1024, last / 1024, allowed / 1024);
	if (last > first + allowed)
		violation("the resident memory grows: %.0f KiB after the trim in the first third of %zu cycles, %.0f in the last",
			  first / 1024, log->cycles, last / 1024);
}
