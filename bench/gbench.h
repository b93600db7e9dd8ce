/* SPDX-License-Identifier: MIT */
/*
 * gbench.h - what the benchmarks need of Google Benchmark (https://github.com/google/benchmark, 1.7.1), for C.
 *
 * Idea         A benchmark is a name, a function and a context.  Google Benchmark calls the function in one or more threads
 *              at once, each with a state of its own.  The function loops until gbench_next() says false, says how long that
 *              took, and sets counters.
 * Words        row  one benchmark with one number of threads: a line of the report.
 *              run  the function called once by each thread of a row.  To find out how many iterations take long enough, the
 *                   library makes several runs and reports the last; each further repetition is one more run.
 * The report   iterations and counters are sums over the threads; the time is the mean over the threads of what
 *              gbench_set_iteration_time() said.
 */
#ifndef LFPOOL_BENCH_GBENCH_H
#define LFPOOL_BENCH_GBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbench gbench_t;             /* a registered benchmark; the library's, for the life of the process */
typedef struct gbench_state gbench_state_t; /* one thread's view of one run                                       */
typedef void gbench_fn(gbench_state_t *state, void *context);

/* A new benchmark; its name is made as printf(3) does it.  The context must live until gbench_main() returns. */
__attribute__((format(printf, 3, 4))) gbench_t *gbench_register(gbench_fn *run, void *context, const char *format, ...);
/* Threads of a run, >= 1; each call adds a row. */
void gbench_threads(gbench_t *benchmark, int threads);
/* Exactly so many iterations for each thread, >= 1, in a single run.  Without: until a run has taken long enough. */
void gbench_iterations(gbench_t *benchmark, int64_t iterations);

/* True: do `count` more iterations (>= 1), which may be more than were asked for and are counted all.  The first call waits
 * for all threads, and so does the one that says false, which is the last. */
bool gbench_next(gbench_state_t *state, size_t count);
int gbench_state_threads(const gbench_state_t *state);
int gbench_state_thread_index(const gbench_state_t *state); /* 0 .. threads - 1 */
/* Adds to this thread's time. */
void gbench_set_iteration_time(gbench_state_t *state, double seconds);
/* This thread's part of a counter.  Again with the same name: replaces it. */
void gbench_counter(gbench_state_t *state, const char *name, double value);

/* A pair for the "context" of the report. */
void gbench_add_context(const char *key, const char *value);
/* Runs, or lists, the rows that match --benchmark_filter.  Once in a process.  The exit status: 0, done; 1, no benchmark matched,
 * or (the library's exit) the file of --benchmark_out cannot be written; 2, an argument is not understood. */
int gbench_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
