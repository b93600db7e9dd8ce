/* SPDX-License-Identifier: MIT */
/*
 * gbench.h - Google Benchmark for programs in C.
 *
 * Idea         A benchmark is a name, a function and a context.  Google Benchmark calls the function in one or more
 *              threads at once, each with a state of its own; the function loops until the library has seen enough:
 *
 *                  static void copy(gbench_state_t *state, void *context)
 *                  {
 *                          while (gbench_next(state)) {
 *                                  memcpy(target, source, 4096);
 *                                  gbench_clobber();
 *                          }
 *                  }
 *
 *                  int main(int argc, char **argv)
 *                  {
 *                          gbench_register("copy", copy, NULL);
 *                          return gbench_main(argc, argv);
 *                  }
 *
 * Words        benchmark  what gbench_register() makes.
 *              row        one benchmark with one choice of arguments and one number of threads: a line of the report.
 *              run        the function called once by each thread of a row.  To find out how many iterations take
 *                         long enough, the library makes several runs and reports the last; each further repetition
 *                         is one more run.
 *              iteration  what one gbench_next() that says true stands for.
 * Invariants   G1  setup and teardown are called exactly once in each run, by thread 0; setup returns before any
 *                  thread calls the function, teardown is called after all threads have returned from it.
 *              G2  a thread that skips keeps no other thread waiting.
 *              G3  after the loop, gbench_state_iterations() is the number of iterations that the loop was told to do.
 * Errors       What the program does wrong (a NULL, a number out of range, a call in the wrong place) ends it by
 *              abort(3), after one line on stderr that names the function and the benchmark.  So does an exception of
 *              the C++ library, which can only mean that memory ran out: none ever reaches a caller.  When no more
 *              threads can be made, the library itself ends the program, by std::terminate().
 *              What the user does wrong on the command line is said on stderr and in the exit status (gbench_main()).
 * Concurrency  A state belongs to the thread it was given to and dies when the function returns.  Everything that
 *              takes a gbench_t, and everything without either, belongs to one thread, and not during gbench_run().
 * Ownership    Benchmarks belong to the library and live as long as the process.  Strings are copied.  A context is the
 *              caller's and must live until gbench_run() returns.
 * Units        Seconds, as double, wherever there is a time.
 */
#ifndef GBENCH_H
#define GBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbench gbench_t;             /* a registered benchmark          */
typedef struct gbench_state gbench_state_t; /* one thread's view of one run    */

/* The function of a benchmark, or one of its fixtures; `context` is as registered. */
typedef void gbench_fn(gbench_state_t *state, void *context);

/* ---- Before the run: what to measure ---- */

/* A new benchmark, never NULL.  The `name` is the first part of the names of its rows. */
gbench_t *gbench_register(const char *name, gbench_fn *run, void *context);

/*
 * What is done before and after each run, outside the timing, by thread 0 while all others wait.  Either may be NULL.
 * They get thread 0's state: arguments, labels, counters and gbench_skip() work in them, the loop and the rendezvous do
 * not.  If setup skips, no thread calls the function; teardown is called all the same.  Called again: replaces both.
 */
void gbench_fixture(gbench_t *benchmark, gbench_fn *setup, gbench_fn *teardown);

/* Arguments: each call adds one row (gbench_arg, gbench_args) or several.  All rows of a benchmark have the same number
 * of arguments. */
void gbench_arg(gbench_t *benchmark, int64_t value);
void gbench_args(gbench_t *benchmark, const int64_t *values, size_t count);
/* What the arguments are called in the rows' names, e.g. "bytes:64". */
void gbench_arg_names(gbench_t *benchmark, const char *const *names, size_t count);
/* first, the powers of a multiplier in between, last; first <= last.  The multiplier is 8 unless set before, >= 2. */
void gbench_range(gbench_t *benchmark, int64_t first, int64_t last);
void gbench_range_multiplier(gbench_t *benchmark, int multiplier);
/* first, first + step, ... up to last; first <= last, step >= 1. */
void gbench_dense_range(gbench_t *benchmark, int64_t first, int64_t last, int step);

/* Threads of a run, >= 1; each call adds rows.  Without: 1, and the rows' names do not say so. */
void gbench_threads(gbench_t *benchmark, int threads);
/* first, the powers of two in between, last; 1 <= first <= last. */
void gbench_thread_range(gbench_t *benchmark, int first, int last);

enum gbench_unit { GBENCH_NANOSECOND, GBENCH_MICROSECOND, GBENCH_MILLISECOND, GBENCH_SECOND };
/* The unit of the times in the report.  Default: nanoseconds, or what --benchmark_time_unit says. */
void gbench_unit(gbench_t *benchmark, enum gbench_unit unit);

/* A run counts when it took this long, > 0; overrides --benchmark_min_time.  Not with gbench_iterations(). */
void gbench_min_time(gbench_t *benchmark, double seconds);
/* Exactly so many iterations for each thread, >= 1, in a single run.  Not with gbench_min_time(). */
void gbench_iterations(gbench_t *benchmark, int64_t iterations);
/* How often a row is measured, >= 1; overrides --benchmark_repetitions. */
void gbench_repetitions(gbench_t *benchmark, int repetitions);

/*
 * Which clock decides when a run is long enough, and divides rates.  Default: CPU time, the sum over all threads.
 *   real     wall-clock time, the mean over the threads: the right one for more than one thread.
 *   manual   what gbench_set_iteration_time() said, the mean over the threads.  Not with real.
 *   process  CPU time of the whole process instead of the calling threads; may be combined with real or manual.
 */
void gbench_use_real_time(gbench_t *benchmark);
void gbench_use_manual_time(gbench_t *benchmark);
void gbench_process_cpu_time(gbench_t *benchmark);

/* ---- In the function: the loop ---- */

/* True: do one more iteration.  The first call waits for all threads and starts the timing; the call that says false
 * stops it and waits for all threads again.  The function may not return before that, unless it skipped. */
bool gbench_next(gbench_state_t *state);

/*
 * True: do `count` more iterations (>= 1).  The caller's own loop does them, compiled with what it measures, and the
 * call is paid for once in `count`.  The last batch is whole too: up to count - 1 iterations more than asked for are
 * done, and counted.
 */
bool gbench_next_batch(gbench_state_t *state, size_t count);

/* Take this thread out of the timing and back, inside the loop, in pairs.  A pair costs about a microsecond.  Nothing
 * happens after a skip. */
void gbench_pause(gbench_state_t *state);
void gbench_resume(gbench_state_t *state);

/* Adds to this thread's manual time, >= 0.  Once per iteration or once per run: only the sum counts. */
void gbench_set_iteration_time(gbench_state_t *state, double seconds);

/*
 * Ends this thread's part of the run; the row is reported as an error, with the first reason that was given.  The next
 * gbench_next() says false; returning at once is fine too.  The other threads go on to their end, unless they look at
 * gbench_skipped().  Repetitions of the row that would follow are not run, but reported with the same reason.
 */
void gbench_skip(gbench_state_t *state, const char *why);

/* Has any thread of this run skipped? */
bool gbench_skipped(const gbench_state_t *state);

/*
 * Returns when all threads of this run have called it; what they wrote before is then visible to all.  May be called
 * inside the loop and outside, any number of times, by all threads equally often.  Threads that have skipped or
 * returned are not waited for, and after a skip it returns at once.
 */
void gbench_rendezvous(gbench_state_t *state);

/* ---- In the function: what to know, what to report ---- */

int64_t gbench_state_arg(const gbench_state_t *state, size_t index);
int gbench_state_threads(const gbench_state_t *state);
int gbench_state_thread_index(const gbench_state_t *state); /* 0 .. threads - 1; 0 is the caller of gbench_run() */
/* Of this thread, those that it was told to do so far; 0 before the loop. */
int64_t gbench_state_iterations(const gbench_state_t *state);

/* Printed at the end of the row.  The last one wins. */
void gbench_set_label(gbench_state_t *state, const char *label);
/* Counters items_per_second and bytes_per_second, from this thread's total; the report has the sum over the threads. */
void gbench_set_items(gbench_state_t *state, int64_t items);
void gbench_set_bytes(gbench_state_t *state, int64_t bytes);

/* How the sum of a counter over all threads becomes the figure in the report; flags may be combined. */
enum gbench_counter_flags {
	GBENCH_COUNTER_PLAIN = 0,
	GBENCH_COUNTER_RATE = 1,                 /* divided by the seconds of the run's clock           */
	GBENCH_COUNTER_AVG_THREADS = 2,          /* divided by the number of threads                    */
	GBENCH_COUNTER_ITERATION_INVARIANT = 4,  /* multiplied by the iterations of all threads         */
	GBENCH_COUNTER_PER_ITERATION = 8,        /* divided by the iterations of all threads            */
	GBENCH_COUNTER_INVERT = 16,              /* 1 / figure, after all of the above                  */
	GBENCH_COUNTER_1024 = 32                 /* on the terminal, k is 1024, M is 1024 k, ...         */
};
/* This thread's part of a counter.  Again with the same name: replaces it.  All threads should use the same flags. */
void gbench_counter(gbench_state_t *state, const char *name, double value, unsigned flags);

/* ---- The program ---- */

/*
 * Everything: initialise, run, shut down.  `argv` must live until it returns.  The exit status:
 *   0  done; rows that skipped are errors in the report, not here
 *   1  no benchmark matched the filter, or (the library's exit) the file of --benchmark_out cannot be written
 *   2  an argument is not understood
 */
int gbench_main(int argc, char **argv);

/* The parts of gbench_main(), in their order, for programs with arguments of their own. */

/* Takes the library's arguments out of argv.  Ends the program for --help (status 0) and for a --benchmark_format or
 * --benchmark_out_format that does not exist (status 2). */
void gbench_initialize(int *argc, char **argv);
/* Names on stderr each argument but the first; true if there was any. */
bool gbench_report_unknown(int argc, char **argv);
/* A pair for the "context" of the report; before gbench_run().  A key that is there already is kept, with a warning. */
void gbench_add_context(const char *key, const char *value);
/* Runs, or lists, the rows that match --benchmark_filter; how many there were.  Once in a process. */
size_t gbench_run(void);
/* Gives back what gbench_initialize() and gbench_add_context() took. */
void gbench_shutdown(void);

/* ---- Against the compiler ---- */

/* The compiler must assume that somebody reads and writes what `p` points to: it must be there, and up to date. */
static inline void gbench_use(const void *p)
{
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

/* The compiler must assume that somebody reads and writes all memory that others may know of. */
static inline void gbench_clobber(void)
{
	__asm__ __volatile__("" : : : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
