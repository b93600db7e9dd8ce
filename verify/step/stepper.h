/* SPDX-License-Identifier: MIT */
/*
 * stepper.h - stops a thread before the n-th instruction of a piece of code, for every n.
 *
 * Idea         STEP_BEGIN and STEP_END are breakpoint instructions (int3), with only the tested code between them.
 *              First the code is recorded: with the processor's trap flag set each instruction ends in a trap, which
 *              Linux delivers to the thread as SIGTRAP, and the handler notes the address.  Then, to stop before
 *              instruction n, the handler of STEP_BEGIN plants a breakpoint in the code itself, at or shortly before
 *              the n-th instruction; the rest is stepped.  There the thread remains in the handler, with its registers
 *              and half-done stores, for as long as necessary.
 * Stepping     all the way is too slow: a trap costs 10 to 28 microseconds in a virtual machine, so walking to each n
 *              from the beginning takes minutes; a breakpoint costs 4.
 * ptrace       is slower still: a tracing process stops a thread no better, but pays two switches of process for each
 *              step (17 to 54 microseconds, milliseconds on a busy machine), and is forbidden in many containers.
 * System calls are executed whole.  The kernel reports the trap after the instruction that follows `syscall`, so one
 *              of the two places just behind a system call is skipped.
 * Concurrency  While a breakpoint is planted only the stepped thread may run this code: the others wait for their
 *              turn.  It is removed before the thread parks.  It is never planted in the stubs that lead to libc,
 *              which the handler and waiting threads use.
 */
#ifndef LFPOOL_VERIFY_STEPPER_H
#define LFPOOL_VERIFY_STEPPER_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Whose turn it is: one word that two threads pass back and forth ----
 *
 * The driver writes an order, the other thread acts and writes an answer.  It is a futex, because waiting must be
 * possible inside a signal handler and must not occupy a processor that the others need.  Each change is a release,
 * each end of a wait an acquire: a thread sees what the other did in its turn.
 */

enum turn_of {
	TURN_IDLE,    /* answer: nothing to do                              */
	TURN_GO,      /* order: act                                         */
	TURN_PARKED,  /* answer: stopped before the instruction asked for   */
	TURN_RESUME,  /* order: continue normally */
	TURN_ABANDON, /* order: never finish the operation                  */
	TURN_QUIT     /* order: end the thread                              */
};

struct turn {
	_Atomic(uint32_t) word;
};

/* Leaves errno alone, as a signal handler must: a wait that comes too late gives EAGAIN. */
static inline void turn_futex(struct turn *t, int operation, uint32_t value)
{
	const int errno_before = errno;

	(void)syscall(SYS_futex, &t->word, operation, value, NULL, NULL, 0);
	errno = errno_before;
}

static inline void turn_wake(struct turn *t)
{
	turn_futex(t, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static inline void turn_give(struct turn *t, enum turn_of next)
{
	atomic_store_explicit(&t->word, next, memory_order_release);
	turn_wake(t);
}

/* If two threads may give an order to one that waits in `from`: false if the other was first. */
static inline bool turn_give_first(struct turn *t, enum turn_of from, enum turn_of next)
{
	uint32_t word = from;

	if (!atomic_compare_exchange_strong_explicit(&t->word, &word, next, memory_order_release, memory_order_relaxed))
		return false;
	turn_wake(t);
	return true;
}

/* Waits while the word is `now`; returns the next value. */
static inline enum turn_of turn_wait(struct turn *t, enum turn_of now)
{
	uint32_t word;

	/* A loop because of spurious returns; a wait ends when the other side gives the turn. */
	while ((word = atomic_load_explicit(&t->word, memory_order_acquire)) == now)
		turn_futex(t, FUTEX_WAIT_PRIVATE, now);
	return word;
}

static inline void turn_wait_idle(struct turn *t)
{
	enum turn_of now = atomic_load_explicit(&t->word, memory_order_acquire);

	while (now != TURN_IDLE)
		now = turn_wait(t, now);
}

/* ---- The stepper ---- */

/* Only the two instructions: the compiler keeps the code between them there. */
#define STEP_BEGIN() __asm__ __volatile__("int3" ::: "memory")
#define STEP_END() __asm__ __volatile__("int3" ::: "memory")
/* A call between the two, with a result. */
#define STEP(call)                                \
	__extension__({                           \
		STEP_BEGIN();                     \
		__auto_type step_result = (call); \
		STEP_END();                       \
		step_result;                      \
	})
/* A call between the two, without a result. */
#define STEP_VOID(call)       \
	do {                  \
		STEP_BEGIN(); \
		call;         \
		STEP_END();   \
	} while (0)

#define STEPS_MAX 65536

struct stepper {
	struct turn turn;
	sigjmp_buf way_out; /* where an abandoned thread goes                                         */
	/* From the recording. */
	long length;    /* instructions from STEP_BEGIN to STEP_END                      */
	long locked;    /* the number of locking ones: LOCK prefix, xchg with memory */
	long locked_at; /* the last of those */
	unsigned char *trace[STEPS_MAX];
	/* The plan, made by the driver before it gives the turn. */
	long stop_at; /* park before this instruction; length = before STEP_END         */
	long anchor;  /* the instruction to plant at; 0 = step all the way              */
	long passes;  /* number of earlier executions of the anchor */
	bool recording;
	/* Called at the place instead of parking; NULL: the thread parks. */
	void (*interrupt)(void);
	/* Used by the handler. */
	bool inside; /* between STEP_BEGIN and STEP_END                                */
	bool planted, passing;
	unsigned char displaced; /* the byte that the breakpoint replaces */
	long steps;              /* instructions executed since STEP_BEGIN                         */
	unsigned char *place;    /* the next instruction                                           */
	bool strayed;            /* it took another path than in the recording */
};

/* Installs the handler, makes the program's code writable; once per process.  Ends the program when that fails. */
void stepper_open(void);
/* The calling thread is stepped by `s` from now on. */
void stepper_attach(struct stepper *s);
/* Plans the next run. */
void stepper_plan_recording(struct stepper *s);
void stepper_plan_stop(struct stepper *s, long at);
/* In the recording: is instruction `at` in the program, not in a shared library? */
bool stepper_in_program(const struct stepper *s, long at);
/* In the recording: can other threads distinguish a thread stopped before instruction `at` from one stopped before the
 * previous instruction?  Not if that instruction changes only registers: then memory is the same, and the thread will
 * do the same.  With LFPOOL_DEEP=1 every place counts. */
bool stepper_is_another(const struct stepper *s, long at);
/* Neither: the markers have no effect. */
void stepper_plan_nothing(struct stepper *s);

/* A place in the program as a command that prints function and source line.  Always terminated; not for handlers. */
void where(char *text, size_t room, const void *place);

#endif
