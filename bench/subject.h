/* SPDX-License-Identifier: MIT */
/*
 * subject.h - what is compared: one `struct subject` for each way to get hold of an object.  C11 and C++20.
 *
 * Idea         A subject brings its own copy of the loops, compiled with its own acquire and release in them (see
 *              workloads.h).  So an inlined path is really inlined, and no subject pays an indirect call that another
 *              does not: the pointers below are followed once in some thousand pairs.
 * To add one   One file in subjects/, which defines acquire() and release(), includes workloads.h and fills in a
 *              struct; its name in subjects.c, and in CMakeLists.txt or peers.cmake.
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
	size_t object_bytes; /* 16 or more, a power of two; objects are aligned to min(object_bytes, 64)         */
	size_t capacity;     /* objects: all that are out at once, and a reserve for what rests in caches          */
	size_t held;         /* objects that one thread has out at once                                            */
	unsigned threads;    /* that will use it at once                                                           */
};

struct ring;
struct histogram;
struct graph;
struct evicting;
struct evicting_calls;
struct retiring;
struct retiring_calls;
struct subject;

/* What a loop works with: one per thread. */
struct worker {
	void *hand; /* the subject's: what join() returned                                     */
	const struct subject *subject;
	void *shared;            /* the subject's: what open() returned                                     */
	unsigned index, threads; /* of this worker among how many                                           */
	struct random random;
	void **objects;        /* room for `count` objects                                                */
	const uint32_t *order; /* in which a burst is released: a permutation of 0 .. count - 1           */
	size_t count;          /* objects: the burst, the depth, the table                                */
	size_t held;           /* of them out now, in workloads that keep some from chunk to chunk        */
	struct ring **rings;   /* hand-off: those it pushes into, or pops from                            */
	unsigned ring_count;
	void ***mailbox;           /* larson: where tables are exchanged; one word, all threads               */
	struct graph *graph;       /* jobs                                                                    */
	struct evicting *evicting; /* evict: priority/evicting.h                                              */
	struct retiring *retiring; /* retire: retire/retiring.h                                               */
	struct histogram *acquire_times, *release_times; /* latency                                              */
};

/* Runs about `pairs` pairs; returns how many exactly. */
typedef size_t loop_fn(struct worker *worker, size_t pairs);

/* One for each workload, and what they need before and after. */
struct loops {
	loop_fn *pair, *burst, *bulk, *keep, *produce, *consume, *larson, *jobs, *churn, *exhausted, *latency;
	loop_fn *evict;         /* of pools that evict, which have none of those above; NULL in all others           */
	loop_fn *retire, *read; /* of subjects that defer, likewise: retire/retiring.h                       */
	loop_fn *fill;          /* acquires up to `pairs` objects more into objects[held ...]; says how many it got */
	loop_fn *drain;         /* releases the last `pairs` of them                                                 */
	const struct evicting_calls *calls;     /* of pools that evict, for tests                                */
	const struct retiring_calls *deferring; /* of subjects that defer                                    */
};

enum trait {
	TRAIT_BOUNDED = 1, /* says NULL when `capacity` objects are out, exactly                                    */
	TRAIT_POOL = 2,    /* open() builds a pool for `capacity` objects, so its time is of interest               */
	TRAIT_PRIVATE = 4, /* a thread's objects must come back to the same thread: no hand-off, no jobs            */
	TRAIT_NOTHING = 8, /* acquires nothing at all: the hand-off alone                                           */
	/* A call waits, spinning, for calls of others to be complete, and if they do not run, for a time slice.  Not with more
	 * threads than CPUs. */
	TRAIT_NOT_PREEMPTIBLE = 16,
	TRAIT_ONE_THREAD = 32, /* synchronises nothing, and has no objects apart for each thread                     */
	TRAIT_BACKLOG = 64,    /* of those that defer: what it has in flight is of interest, retire/backlog.h        */
	TRAIT_64_BYTES = 128,  /* its objects have 64 bytes and no other size                                 */
};

struct subject {
	const char *name;
	const char *group;            /* lfpool, limit, own, lock-free or allocator */
	const char *what;             /* in one line                                */
	const char *(*version)(void); /* of the peer; NULL: it is ours     */
	const char *(*absent)(void);  /* asked first: why it cannot be measured; or NULL, also the answer: it can */
	unsigned traits;
	size_t most_objects; /* that it can have; 0: as many as memory has.  Then `capacity` is never more than that */

	/* What the threads share.  Never NULL: what cannot be opened ends the program, saying why. */
	void *(*open)(const struct plan *plan);
	void (*close)(void *shared);
	/* What one thread has of its own; called by that thread. */
	void *(*join)(void *shared);
	void (*leave)(void *hand);
	/* lfpool alone: slow paths and failed CASes so far, by its own counters; or NULL. */
	void (*counters)(void *shared, uint64_t *misses, uint64_t *retries);

	struct loops loops;
};

/* `pointer`, unless it is NULL: then ends the program, saying that there was no memory. */
void *must(void *pointer);

#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
/* Ends the program: the subject did what it must not, so the figures would be about something else. */
void give_up(const char *subject, const char *why);

/* Into random order (Fisher and Yates 1938, Durstenfeld 1964). */
static inline void shuffle(void **objects, size_t count, struct random *random)
{
	for (size_t i = count; i > 1; i--) {
		const size_t other = random_below(random, (uint32_t)i);
		void *object = objects[i - 1];

		objects[i - 1] = objects[other];
		objects[other] = object;
	}
}

/* For subjects that share nothing but how large an object is; free() closes it. */
struct size {
	size_t object_bytes;
};
void *open_size(const struct plan *plan);
/* For subjects whose threads share nothing but what each needs; likewise. */
struct plan *open_plan(const struct plan *plan);
/* For subjects whose threads have nothing of their own, and for those that share nothing. */
void *join_shared(void *shared);
void leave_nothing(void *hand);
/* version(), of a text that is known at compile time. */
#define VERSION_IS(text)                        \
	static inline const char *version(void) \
	{                                       \
		return text;                    \
	}
/* The last members of a subject; and of one whose threads have nothing of their own. */
#define FOR_EACH_THREAD(its_open, its_close, its_join, its_leave, ...) \
	.open = its_open, .close = its_close, .join = its_join, .leave = its_leave, .counters = NULL, .loops = __VA_ARGS__
#define SHARED_BY_ALL(its_open, its_close, ...) FOR_EACH_THREAD(its_open, its_close, join_shared, leave_nothing, __VA_ARGS__)

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
