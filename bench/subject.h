/* SPDX-License-Identifier: MIT */
/*
 * subject.h - what is compared: one `struct subject` for each way to get hold of an object.  C11 and C++20.
 *
 * Idea         A subject brings its own copy of the loops, compiled with its own calls in them: loops.h for pools,
 *              evicting.h for those that evict, retiring.h for those that defer.  So an inlined path is really inlined,
 *              and no subject pays an indirect call that another does not: the pointers below are followed once in some
 *              thousand pairs.
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

/* What is asked of a pool. */
struct plan {
	size_t object_bytes; /* 16 or more, a power of two; objects are aligned to min(object_bytes, 64)   */
	size_t capacity;     /* objects: all that are out at once, and a reserve for what rests in caches  */
	size_t held;         /* objects that one thread has out at once                                    */
	unsigned threads;    /* that will use it at once                                                   */
};

struct ring;
struct histogram;
struct graph;
struct subject;

/* What a loop works with: one per thread. */
struct worker {
	const struct subject *subject;
	void *hand;   /* the subject's: what join() returned */
	void **hands; /* turns: one for each of `pools` pools, `hand` the first */
	size_t pools;
	void *shared;            /* the subject's: what open() returned */
	unsigned index, threads; /* of this worker among how many       */
	struct random random;
	void **objects; /* room for `count` objects                                             */
	size_t count;   /* objects: the burst, the depth, the table                             */
	size_t held;    /* of them out now, in workloads that keep some from chunk to chunk     */

	const uint32_t *order; /* burst: in which it is released, a permutation of 0 .. count - 1 */
	struct ring **rings;   /* hand-off: those it pushes into, or pops from                    */
	unsigned ring_count;
	size_t work;                                     /* work: rounds of it on each object                         */
	void ***mailbox;                                 /* larson: where tables are exchanged; one word, all threads */
	struct graph *graph;                             /* jobs                                                      */
	struct histogram *acquire_times, *release_times; /* latency; boundary: the first, for a level                 */

	/* evict: */
	uint64_t *handles; /* as many as this thread's share of the objects; `held` of them are there */
	uint64_t *clock;   /* of all threads; atomic                                                  */
	uint64_t step;     /* operations between two advances of it by this thread                    */
	uint32_t window;   /* priorities are below now + window                                       */
	uint32_t acquires; /* of 100 operations                                                       */
	uint32_t lost;     /* of 100 handles, stale from the beginning                                */
	uint64_t acquired, refused, updated, stale; /* what became of the operations so far           */

	/* retire: */
	void **table;     /* of all threads, RETIRE_TABLE pointers, atomic       */
	uint64_t stamp;   /* the last one; no other thread has such              */
	uint64_t updates; /* that it deferred a node in; atomic, written by it   */
	uint64_t waits, sections;
};

/* Runs about `pairs` pairs; returns how many exactly. */
typedef size_t loop_fn(struct worker *worker, size_t pairs);

/* One for each workload, and what they need before and after.  A pool has the first line, one that evicts the second,
 * one that defers the third; the others are NULL. */
struct loops {
	loop_fn *pair, *burst, *bulk, *keep, *produce, *consume, *larson, *jobs, *exhausted, *turns, *latency;
	loop_fn *work, *boundary;
	loop_fn *mixed; /* of those that have objects of all sizes */
	loop_fn *evict;
	loop_fn *retire, *read;
	loop_fn *fill;  /* acquires up to `pairs` objects more into objects[held ...]; says how many it got */
	loop_fn *drain; /* releases the last `pairs` of them                                                */
	/* Single calls, for what is not under the clock. */
	const struct evicting_calls *evicting;
	const struct retiring_calls *retiring;
};

enum trait {
	TRAIT_BOUNDED = 1, /* says NULL when `capacity` objects are out, exactly                              */
	TRAIT_POOL = 2,    /* open() builds a pool for `capacity` objects, so its time is of interest         */
	TRAIT_PRIVATE = 4, /* a thread's objects must come back to the same thread: no hand-off, no jobs      */
	TRAIT_NOTHING = 8, /* acquires nothing at all: the hand-off alone                                     */
	/* A call waits, spinning, for calls of others to be complete, and if they do not run, for a time slice.  Not
	 * with more threads than CPUs. */
	TRAIT_NOT_PREEMPTIBLE = 16,
	TRAIT_BACKLOG = 64,   /* of those that defer: what it has in flight is of interest, backlog.c        */
	TRAIT_64_BYTES = 128, /* its objects have 64 bytes and no other size                                 */
};

struct subject {
	const char *name;
	const char *group;            /* lfpool, limit, own, lock-free or allocator */
	const char *what;             /* in one line                                */
	const char *(*version)(void); /* of the peer; NULL: it is ours              */
	const char *(*absent)(void);  /* asked first: why it cannot be measured; or NULL, also the answer: it can */
	unsigned traits;

	/* What the threads share.  Never NULL: what cannot be opened ends the program, saying why. */
	void *(*open)(const struct plan *plan);
	void (*close)(void *shared);
	/* What one thread has of its own; called by that thread. */
	void *(*join)(void *shared);
	void (*leave)(void *hand);

	struct loops loops;
};

/* Ends the program: the subject did what it must not, so the figures would be about something else. */
__attribute__((noreturn, cold)) static inline void give_up(const char *subject, const char *why)
{
	fprintf(stderr, "lfpool-bench: %s: %s\n", subject, why);
	exit(3);
}

/* `pointer`, unless it is NULL: then ends the program. */
static inline void *must(void *pointer)
{
	if (!pointer)
		give_up("an allocation", "out of memory");
	return pointer;
}

/* For subjects that share nothing but what they were asked for; free() closes it. */
static inline void *open_plan(const struct plan *plan)
{
	struct plan *own = (struct plan *)must(malloc(sizeof(*own)));

	*own = *plan;
	return own;
}

/* For subjects whose threads have nothing of their own, and for those that share nothing. */
static inline void *join_shared(void *shared)
{
	return shared;
}

static inline void leave_nothing(void *hand)
{
	(void)hand;
}

/* version(), of a text that is known at compile time. */
#define VERSION_IS(text)                        \
	static inline const char *version(void) \
	{                                       \
		return text;                    \
	}
/* The members of a subject: the first ones; the last ones; and the last ones if its threads have nothing of their own.
 * */
#define SUBJECT(its_name, its_group, its_what, its_version, its_traits)                                 \
	.name = its_name, .group = its_group, .what = its_what, .version = its_version, .absent = NULL, \
	.traits = its_traits
#define FOR_EACH_THREAD(its_open, its_close, its_join, its_leave, ...) \
	.open = its_open, .close = its_close, .join = its_join, .leave = its_leave, .loops = __VA_ARGS__
#define SHARED_BY_ALL(its_open, its_close, ...) \
	FOR_EACH_THREAD(its_open, its_close, join_shared, leave_nothing, __VA_ARGS__)

#ifdef __cplusplus
}

/* open() and close() of a subject in C++ that is made of a plan.  noexcept: out of memory ends the program. */
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
