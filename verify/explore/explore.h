/* SPDX-License-Identifier: MIT */
/*
 * explore.h - the interfaces between the parts of the explorer.
 *
 *   engine.c      fibers                                          choose.c   the next thread, and replay strings
 *   verbs.h       replaces <stdatomic.h> for the library          memory.c   values that a load may read; data races
 *   os.c          plays the operating system                      scenario.c small programs on a pool
 *   table.c       all programs                                    oracle.c   the rules for each execution
 *   operations.c  the programs' letters                           hooks.c    hooks, for programs that have them
 *   litmus.c      the memory model's own tests                    holds.c    the rules for walks and handles
 *   parts.c       programs on parts of the library alone          main.c     the command line
 *   retires.c, retires_judge.c, retires_scheme.c                             programs that retire
 *
 * Words        An operation is one atomic access or fence, or the start of a call.  An execution is one run of a
 *              scenario to its end; a search runs many, each with different choices.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MAX 4
/* The most locations that two threads access and one of them writes. */
#define SHARED_MAX 92
#define VIEW (SHARED_MAX + THREADS_MAX)

enum strategy { DEPTH_FIRST, RANDOM, PCT, REPLAY };
enum decision { SWITCH = 's', STALE = 'r', SPURIOUS = 'f' };

struct search {
	enum strategy strategy;
	bool weak;            /* memory.c with histories; otherwise sequentially consistent */
	unsigned preemptions; /* depth-first: the most per execution */
	unsigned stale;       /* depth-first: the most loads of old values */
	unsigned spurious;    /* depth-first: the most spurious failures of a weak CAS */
	unsigned depth;       /* PCT: the number of ordering constraints that the bug needs */
	uint64_t seed;
	uint64_t executions_max; /* random, PCT: the number of executions; depth-first: its limit */
	const char *replay;
};

/* A scenario, for the engine. */
struct program {
	unsigned threads;
	void (*reset)(void *context); /* restores the state before the first operation */
	void (*run)(void *context, unsigned thread);
	void (*finish)(void *context); /* the last checks, after all threads have ended */
	void *context;
};

struct result {
	bool failed;
	bool exhausted; /* depth-first: no other execution exists within the bounds */
	uint64_t executions;
	uint64_t operations;
	char message[512];
	char replay[32768];
};

/* A moment in one thread: its place among the operations, and the events that happen before it. */
struct moment {
	uint64_t operation;
	unsigned thread;
	int16_t clock[THREADS_MAX];
};

/* ---- engine.c ---- */

void engine_search(const struct search *search, const struct program *program, struct result *result_out);
/* The running thread; whether threads are running at all (if not, reset() or finish() is). */
unsigned engine_thread(void);
bool engine_running(void);
unsigned engine_threads(void);
/* Before each operation: counts it; if `shared`, another thread may run first. */
void engine_point(bool shared);
/* Chooses one of 0 .. options - 1.  0 is the usual case; the search bounds the others by their kind. */
unsigned engine_choose(unsigned options, enum decision kind);
/* The number of the last operation. */
uint64_t engine_now(void);
/* The execution has failed.  Does not return while threads are running. */
void engine_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A location has turned out to be shared: discards the results and restarts.  Does not return. */
void engine_relearn(void) __attribute__((noreturn));
bool engine_weak(void);
/* The running thread sleeps: others run until it is woken, or its deadline passes. */
void engine_fall_asleep(void);

/* ---- choose.c: which of its possible executions a program runs next ----
 *
 * Strategies   Depth-first with a bound on preemptions (Musuvathi and Qadeer 2007): all executions with few
 *              preemptions, in order; ends with "exhausted". Random walk; one execution in four runs in strict turns
 *              of a few operations: two threads that can disturb each other for ever then do so.  PCT (Burckhardt and
 *              others 2010): random priorities, changed at d - 1 random places, which finds a bug of depth d with a
 *              stated probability.
 * Replay       The unusual choices, by number of operation: "12s1,31r2,40f": before operation 12 thread 1 runs, the
 *              load at 31 reads the last value but two, the CAS at 40 fails spuriously.
 * Sleep        A sleeper can be chosen only if it has a deadline: then the deadline has passed.  The choice costs as
 *              much as any switch: nothing when the running thread ends or falls asleep, otherwise a preemption.
 */

/* Before a search of a program with `threads` threads.  Failures' replay strings go to `replay_out`. */
void choose_open(const struct search *search, unsigned threads, char *replay_out, size_t replay_bytes);
/* Before each execution, with its number; after it, with the number of its operations. */
void choose_begin(uint64_t execution);
void choose_end(uint64_t operations);
/* Depth-first: moves to the next execution, false if there is none; moves back to the first. */
bool choose_advance(void);
void choose_again(void);
/* Chooses the next thread among the `ready` threads and the `dozing` ones, whose deadline may pass: one bit each.
 * `running` ran so far; `gone`: `running` has ended or sleeps, so a switch is not a preemption. */
unsigned choose_thread(unsigned running, bool gone, unsigned ready, unsigned dozing);

/* ---- os.c: sleep and the clock ---- */

/* Before an execution. */
void sleep_begin(void);
/* The sleeping threads, one bit each; or only those with a deadline. */
unsigned sleepers(bool with_deadline);
/* Advances the clock to the thread's deadline, and wakes it. */
void sleep_time_over(unsigned thread);
/* A call of the running thread begins; has the thread's deadline passed in this call, and since when? */
void sleep_call(void);
bool sleep_was_late(struct moment *since_out);
/* Does the thread sleep on a word that has not been written since it fell asleep? */
bool sleep_unserved(unsigned thread, struct moment *since_out);

/* ---- memory.c ---- */

/* Before a search; before an execution. */
void memory_forget(void);
void memory_begin(void);

struct moment memory_moment(void);
/* SC: by the order of operations.  Weak: by happens-before. */
bool moment_before(const struct moment *a, const struct moment *b);
/* Reads like the kernel: the last store.  An operation; ordered as a relaxed load. */
uint64_t memory_newest(const void *address, unsigned bytes);
/* A copy of the running thread's view.  A thread that receives the copy sees no older values, but no event happens
 * before it: so a tool sees the order of code that it does not know. */
struct glimpse {
	int16_t at[SHARED_MAX];
};
void memory_glimpse(struct glimpse *glimpse_out);
void memory_glimpsed(const struct glimpse *glimpse);
/* membarrier(2): a full fence in each thread, one after the other. */
void memory_barrier_everywhere(void);

/* ---- os.c ---- */

/* The running thread will use this memory: is it committed, as far as the thread knows? */
void os_play_use(const void *address);
/* From now on no memory can be committed; after the next call it can again. */
void os_play_refuse(void);
/* From here on memory is mapped after the existing memory; os_play_restore() restores the saved contents and notes. */
void os_play_open(bool asymmetric);
void os_play_keep(void *notes, size_t bytes);
void os_play_save(void);
void os_play_restore(void);

/* ---- litmus.c ---- */

int litmus_run(bool verbose);

#endif
