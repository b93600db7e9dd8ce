/* SPDX-License-Identifier: MIT */
/*
 * subject.h - what is compared: one `struct subject` for each way to get hold of an object.  C11 and C++20.
 *
 * Idea         A subject brings its own copy of the loops, compiled with its own calls in them: loops.h for pools,
 *              evicting.h for pools that evict, retiring.h for subjects that defer.  So an inlined path is really
 *              inlined, and no subject pays an indirect call that another subject does not pay: the pointers below are
 *              followed once in some thousand pairs.
 * To add one   One file in subjects/, which defines the calls, includes the loops and fills in a struct; its name in
 *              subjects.c, and in CMakeLists.txt or peers.cmake.
 */
#ifndef LFPOOL_BENCH_SUBJECT_H
#define LFPOOL_BENCH_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The required pool. */
struct plan {
	size_t object_bytes; /* 16 or more, a power of two; objects are aligned to min(object_bytes, 64)   */
	size_t capacity;     /* the objects out at once, and a reserve for idle ones in caches */
	size_t held;         /* the most objects that one thread has out at once */
	unsigned threads;    /* threads that use the pool at once */
};

struct ring;
struct histogram;
struct graph;
struct subject;

/* A loop's data: one per thread. */
struct worker {
	const struct subject *subject;
	void *hand;   /* the result of the subject's join() */
	void **hands; /* turns: one for each of `pools` pools, the first is `hand` */
	size_t pools;
	void *shared;            /* the result of the subject's open() */
	unsigned index, threads; /* index of this worker; number of workers */
	struct random random;
	void **objects; /* room for `count` objects                                             */
	size_t count;   /* objects in the burst, the depth or the table */
	size_t held;    /* objects out now, in workloads that keep some between chunks */

	const uint32_t *order; /* burst: the order of the releases, a permutation of 0 .. count - 1 */
	struct ring **rings;   /* hand-off: the rings that this worker pushes into, or pops from */
	unsigned ring_count;
	size_t work;         /* work: rounds on each object */
	void ***mailbox;     /* larson: the word through which all threads exchange tables */
	struct graph *graph; /* jobs                                                      */
	struct histogram *acquire_times, *release_times; /* latency; boundary uses acquire_times, per level */

	/* evict: */
	uint64_t *handles; /* room for this thread's share of the objects; `held` of them are set */
	uint64_t *clock;   /* shared by all threads; atomic */
	uint64_t step;     /* operations between two advances of the clock by this thread */
	uint32_t window;   /* priorities are below now + window                                       */
	uint32_t acquires; /* how many of 100 operations */
	uint32_t lost;     /* how many of 100 handles are stale from the beginning */
	uint64_t acquired, refused, updated, stale; /* numbers of operations so far, by outcome */

	/* retire: */
	void **table;     /* shared by all threads: RETIRE_TABLE pointers; atomic */
	uint64_t stamp;   /* the last node's; no other thread uses it */
	uint64_t updates; /* updates that deferred a node; atomic, one writer */
	uint64_t waits, sections;
};

/* Runs about `pairs` pairs; returns the exact number. */
typedef size_t loop_fn(struct worker *worker, size_t pairs);

/* One for each workload, with its preparation and end.  A plain pool has the first line, an evicting pool the second,
 * a subject that defers the third; the others are NULL. */
struct loops {
	loop_fn *pair, *burst, *bulk, *keep, *produce, *consume, *larson, *jobs, *exhausted, *turns, *latency;
	loop_fn *work, *boundary;
	loop_fn *mixed; /* for subjects with objects of all sizes */
	loop_fn *evict;
	loop_fn *retire, *read;
	loop_fn *fill;  /* acquires up to `pairs` more objects into objects[held ...]; returns how many */
	loop_fn *drain; /* releases the last `pairs` objects of objects[0 .. held - 1] */
	/* Single calls, for use outside the timed loops. */
	const struct evicting_calls *evicting;
	const struct retiring_calls *retiring;
};

enum trait {
	TRAIT_BOUNDED = 1, /* returns NULL when exactly `capacity` objects are out */
	TRAIT_POOL = 2,    /* open() builds a pool for `capacity` objects, so the time of open() is measured */
	TRAIT_PRIVATE = 4, /* a thread's objects must return to the same thread: no hand-off, no jobs */
	TRAIT_NOTHING = 8, /* acquires nothing: the hand-off alone */
	/* A call spins until other threads' calls are complete: for a time slice, if those threads do not run.  Such
	 * a subject is not measured with more threads than CPUs. */
	TRAIT_NOT_PREEMPTIBLE = 16,
	TRAIT_BACKLOG = 64,   /* defers, and its objects in flight are counted: backlog.c */
	TRAIT_64_BYTES = 128, /* its objects have exactly 64 bytes */
};

struct subject {
	const char *name;
	const char *group;            /* lfpool, limit, own, lock-free or allocator */
	const char *what;             /* in one line                                */
	const char *(*version)(void); /* of the peer; NULL: it is part of lfpool or of the benchmarks */
	const char *(*absent)(
		void); /* asked first: why the subject cannot be measured; NULL, or a result of NULL: it can */
	unsigned traits;

	/* Opens the data shared by the threads.  Never returns NULL: without it the program ends with the reason. */
	void *(*open)(const struct plan *plan);
	void (*close)(void *shared);
	/* Makes one thread's data; called by that thread. */
	void *(*join)(void *shared);
	void (*leave)(void *hand);

	struct loops loops;
};

/* Ends the program: the subject has failed, so the figures would be meaningless. */
__attribute__((noreturn, cold)) static inline void give_up(const char *subject, const char *why)
{
	fprintf(stderr, "lfpool-bench: %s: %s\n", subject, why);
	exit(3);
}

/* `pointer`; if that is NULL, ends the program. */
static inline void *must(void *pointer)
{
	if (!pointer)
		give_up("an allocation", "out of memory");
	return pointer;
}

/* For subjects that share only the plan; free() closes it. */
static inline void *open_plan(const struct plan *plan)
{
	struct plan *own = (struct plan *)must(malloc(sizeof(*own)));

	*own = *plan;
	return own;
}

/* For subjects whose threads have no data of their own, and for subjects that share nothing. */
static inline void *join_shared(void *shared)
{
	return shared;
}

static inline void leave_nothing(void *hand)
{
	(void)hand;
}

/* version(), from a text known at compile time. */
#define VERSION_IS(text)                        \
	static inline const char *version(void) \
	{                                       \
		return text;                    \
	}
/* A subject's first members; its last members if threads have data; its last members if they have none. */
#define SUBJECT(its_name, its_group, its_what, its_version, its_traits)                                 \
	.name = its_name, .group = its_group, .what = its_what, .version = its_version, .absent = NULL, \
	.traits = its_traits
#define FOR_EACH_THREAD(its_open, its_close, its_join, its_leave, ...) \
	.open = its_open, .close = its_close, .join = its_join, .leave = its_leave, .loops = __VA_ARGS__
#define SHARED_BY_ALL(its_open, its_close, ...) \
	FOR_EACH_THREAD(its_open, its_close, join_shared, leave_nothing, __VA_ARGS__)

#ifdef __cplusplus
}

/* open() and close() of a C++ subject that is constructed from a plan. noexcept: out of memory ends the program. */
template <class T> void *open_new(const struct plan *plan) noexcept
{
	return new T(plan);
}

template <class T> void close_deleted(void *shared)
{
	delete static_cast<T *>(shared);
}
#define NEW_FOR_ALL(type, ...) SHARED_BY_ALL(open_new<type>, close_deleted<type>, __VA_ARGS__)
#endif

#endif
