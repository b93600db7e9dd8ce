/* SPDX-License-Identifier: MIT */
/*
 * options.h - what the command line asked for.  Read once, constant afterwards.
 */
#ifndef STRESS_OPTIONS_H
#define STRESS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lfpool/lfpool.h"

#define THREADS_MAX 256
#define THREAD_COUNTS_MAX 32

/* Exit status: the verdict of the whole run. */
enum { EXIT_CLEAN, EXIT_VIOLATIONS, EXIT_USAGE, EXIT_STUCK };

/* Faults that the harness commits on purpose, so that its oracle can fail (faults.h). */
/* clang-format off */
#define FAULTS(X)                                                                                                       \
	X(NONE, "none") X(DOUBLE_GRANT, "double-grant") X(LOST_OBJECT, "lost-object")                                   \
	X(SPURIOUS_NULL, "spurious-null") X(QUIET_NULL, "quiet-null") X(TORN_PAYLOAD, "torn-payload")                   \
	X(HANG, "hang") X(CRASH, "crash") X(LEAK, "leak") X(STALE_HANDLE, "stale-handle") X(LOST_PIN, "lost-pin")                         \
	X(LOST_UPDATE, "lost-update") X(EVICTED_TWICE, "evicted-twice") X(WRONG_VICTIM, "wrong-victim")                 \
	X(WRONG_LEAST, "wrong-least") X(NO_DEFERRAL, "no-deferral") X(EARLY_RELEASE, "early-release")                   \
	X(NO_SECTION, "no-section") X(LATE_WRITE, "late-write") X(LOST_COUNT, "lost-count")                             \
	X(MISPLACED, "misplaced") X(LOW_MARK, "low-mark") X(LATE_WAIT, "late-wait") X(WRONG_TURN, "wrong-turn") \
	X(NOT_SERVED, "not-served")
/* clang-format on */

#define FAULT_CONSTANT(name, text) FAULT_##name,
enum fault { FAULTS(FAULT_CONSTANT) };

extern struct options {
	const char *program;             /* argv[0], for the replay command */
	const char *build;               /* of the library in this program: "plain", "chaos", ... */
	char *next;                      /* the program to run once this program's cells have run; NULL = none */
	bool continues;                  /* an earlier program has become this program */
	unsigned long before[2];         /* cells that passed and failed in earlier programs */
	lfpool_backend_t backend;        /* set by main()                                     */
	const struct scenario *scenario; /* NULL = all                                        */
	unsigned long threads[THREAD_COUNTS_MAX]; /* the thread counts                                 */
	size_t thread_counts;
	double seconds;  /* of the whole run, in all its programs; 0: one second for each cell */
	double patience; /* seconds without progress that count as a hang     */
	uint64_t seed;
	uint64_t round; /* the only round to run, if one_round               */
	bool one_round;
	bool history;         /* log every call, check the log after each round    */
	bool history_only;    /* only the log is checked: for testing that check */
	bool sanitizer_only;  /* the oracle is silent: for testing a sanitizer */
	const char *csv;      /* a file for the matrix; NULL = no file */
	const char *soak_out; /* a file for the samples of `soak`; NULL = no file */
	enum fault fault;
} options;

/* Reads the command line.  Ends the program after --help, --list and bad usage; becomes another program if
 * --build demands that. */
void options_read(int argc, char **argv);

/* Becomes the program options.next, with arguments `argv`. */
_Noreturn void options_become_next(char **argv);

/* The name of a fault as --break takes it. */
const char *fault_name(enum fault fault);

#endif
