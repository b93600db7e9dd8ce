/* SPDX-License-Identifier: MIT */
/*
 * soak_log.h - what the scenario soak measures: samples to a file, and a verdict on the memory.
 *
 * Idea         A sample is one line of CSV: time, phase, resident memory, sizes of the pool, and percentiles of the latencies
 *              since the sample before.  Each worker counts latencies for itself, and adds them to the log's own
 *              when it notices that a sample was taken; so no thread is timed while another thread reads.
 *              After the trim of each cycle the resident memory must be what it was: the median of the last third of the
 *              cycles exceeds that of the first third by no more than SOAK_SLACK_BYTES and 1 %.  Medians, because single
 *              samples meet what the C library and the kernel just do; the first cycle does not count, since there
 *              everything is used for the first time.  Latencies are reported, not judged.
 */
#ifndef STRESS_SOAK_LOG_H
#define STRESS_SOAK_LOG_H

#include "worker.h"

#define SOAK_SLACK_BYTES (256.0 * 1024)
#define SOAK_CYCLES_MAX 100000
/* Fewer are not judged. */
#define SOAK_CYCLES_MIN 7

/* A worker's. */
struct soak_timing {
	struct timing timing;
	unsigned samples; /* when it was added to the log's */
};

/* path: NULL: no file.  Ends the program if it cannot be written. */
void soak_log_open(const char *path);
void soak_log_close(void);

/* By each worker, often. */
void soak_log_add(struct soak_timing *timing);
/* One line; returns the resident bytes. */
double soak_log_sample(const lfpool_t *pool, size_t cycle, const char *phase);
/* After a cycle's trim. */
void soak_log_trimmed(double resident);

/* Says the figures; a violation if the memory is not flat. */
void soak_log_judge(void);

#endif
