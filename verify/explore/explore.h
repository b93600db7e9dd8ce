/* SPDX-License-Identifier: MIT */
/*
 * explore.h - what the parts of the explorer know of each other.
 *
 *   engine.c    fibers; choose.c, what runs next, and replay strings      verbs.h   what the library is compiled
 *   against memory.c    what a load may read; races on plain data                os.c      the operating system, played
 *   scenario.c  small programs on a pool; table.c, all of them           oracle.c  what must hold for each execution
 *   operations.c  what their letters do hooks.c     the hooks of those that have some                         litmus.c
 *   the memory model's own tests holds.c     who held what when: walks and handles                     parts.c
 *   programs on parts of the library alone main.c      the command line retires.c   programs that retire;
 *   retires_judge.c; retires_scheme.c
 *
 * Words       An operation is one atomic access or fence, or the start of a call.  An execution is one run of a
 *             scenario to its end; a search runs many, each with other choices.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MAX 4
/* Locations that two threads access and one writes. */
#define SHARED_MAX 92
#define VIEW (SHARED_MAX + THREADS_MAX)

enum strategy { DEPTH_FIRST, RANDOM, PCT, REPLAY };
enum decision { SWITCH = 's', STALE = 'r', SPURIOUS = 'f' };

struct search {
	enum strategy strategy;
	bool weak;            /* memory.c with histories; else sequentially consistent          */
	unsigned preemptions; /* depth-first: at most so many per execution                     */
	unsigned stale;       /* depth-first: at most so many loads of old values               */
	unsigned spurious;    /* depth-first: at most so many failures of a weak CAS for no reason */
	unsigned depth;       /* PCT: the bug needs so many ordering constraints                */
	uint64_t seed;
	uint64_t executions_max; /* random, PCT: how many; depth-first: give up after so many      */
	const char *replay;
};

/* A scenario as the engine sees it. */
struct program {
	unsigned threads;
	void (*reset)(void *context); /* everything as it was before the first operation      */
	void (*run)(void *context, unsigned thread);
	void (*finish)(void *context); /* alone, after all threads: the last checks            */
	void *context;
};

struct result {
	bool failed;
	bool exhausted; /* depth-first: there is no other execution within the bounds */
	uint64_t executions;
	uint64_t operations;
	char message[512];
	char replay[32768];
};

/* A moment in one thread: where it stands among the operations, and what happens before it. */
struct moment {
	uint64_t operation;
	unsigned thread;
	int16_t clock[THREADS_MAX];
};

/* ---- engine.c ---- */

void engine_search(const struct search *search, const struct program *program, struct result *result_out);
/* The running thread; whether threads are running at all (else reset or finish is). */
unsigned engine_thread(void);
bool engine_running(void);
unsigned engine_threads(void);
/* Before each operation: counts it, and if `shared`, another thread may run first. */
void engine_point(bool shared);
/* One of `options`; 0 is the usual case, the others are bounded by kind. */
unsigned engine_choose(unsigned options, enum decision kind);
/* Number of the last operation. */
uint64_t engine_now(void);
/* The execution is wrong.  Does not return while threads are running. */
void engine_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A location has turned out to be shared: what was found so far does not count, begin again.  Does not return. */
void engine_relearn(void) __attribute__((noreturn));
bool engine_weak(void);
/* The running thread sleeps: others run until it is awake again, or its time is over. */
void engine_fall_asleep(void);

/* ---- choose.c: which of its possible executions a program runs next ----
 *
 * Strategies   Depth-first with a bound on preemptions (Musuvathi and Qadeer 2007): all executions with few of them, in
 *              order; ends with "exhausted".  Random walk, one in four of them in strict turns of a few operations,
 *              which is where two threads disturb each other for ever if they can.  PCT (Burckhardt and others 2010):
 *              random priorities, changed at d - 1 random places, which finds a bug of depth d with a stated
 *              probability.
 * Replay       What was chosen against the usual, by number of operation: "12s1,31r2,40f": before operation 12 thread 1
 *              runs, the load at 31 reads the last but two, the CAS at 40 fails for no reason.
 * Sleep        A sleeper can be chosen only if it has a deadline: then its time is over.  To choose it costs what
 *              another switch costs: nothing when the running thread ends or falls asleep, else a preemption.
 */

/* Before a search of a program with so many threads.  Failures' replay strings go to `replay_out`. */
void choose_open(const struct search *search, unsigned threads, char *replay_out, size_t replay_bytes);
/* Before each execution, with its number; after it, with its operations. */
void choose_begin(uint64_t execution);
void choose_end(uint64_t operations);
/* Depth-first: on to the next execution, false when there is none; or from the first again. */
bool choose_advance(void);
void choose_again(void);
/* Which thread runs next, of those that are ready and those whose time may be over, one bit each.  `running` did so
 * far; `gone`: it has ended or sleeps, so that a switch is not a preemption. */
unsigned choose_thread(unsigned running, bool gone, unsigned ready, unsigned dozing);

/* ---- os.c: sleep and the clock ---- */

/* Before an execution. */
void sleep_begin(void);
/* Which threads sleep, one bit each; or only those with a deadline. */
unsigned sleepers(bool with_deadline);
/* The clock goes on to the thread's deadline, and it wakes. */
void sleep_time_over(unsigned thread);
/* A call of the running thread begins; since when in this call its deadline has been over, if it has. */
void sleep_call(void);
bool sleep_was_late(struct moment *since_out);
/* Does the thread sleep, and was the word that it sleeps on not written? */
bool sleep_unserved(unsigned thread, struct moment *since_out);

/* ---- memory.c ---- */

/* Before a search; before an execution. */
void memory_forget(void);
void memory_begin(void);

struct moment memory_moment(void);
/* SC: by the order of operations.  Weak: by happens-before. */
bool moment_before(const struct moment *a, const struct moment *b);
/* As the kernel reads: the last store.  An operation; order as a relaxed load. */
uint64_t memory_newest(const void *address, unsigned bytes);
/* What the running thread can no longer see older than it is; a thread that is told sees nothing older either.  Nothing
 * happens before that did not already: so looks, to a tool, the order of code that it does not know. */
struct glimpse {
	int16_t at[SHARED_MAX];
};
void memory_glimpse(struct glimpse *glimpse_out);
void memory_glimpsed(const struct glimpse *glimpse);
/* membarrier(2): a full fence in each thread in turn. */
void memory_barrier_everywhere(void);

/* ---- os.c ---- */

/* The running thread will use memory there: is it open, for all it knows? */
void os_play_use(const void *address);
/* os.c: from now on no memory can be opened; or it can again. */
void os_play_refuse(void);
/* From here on memory is mapped after what is there; os_play_restore() brings back what was there when it was saved,
 * and what these notes said. */
void os_play_open(bool asymmetric);
void os_play_keep(void *notes, size_t bytes);
void os_play_save(void);
void os_play_restore(void);

/* ---- litmus.c ---- */

int litmus_run(bool verbose);

#endif
