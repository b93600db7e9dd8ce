/* SPDX-License-Identifier: MIT */
/*
 * workload.h - the list of workloads: which loop, with how many objects, on which threads; or a function that is no
 * loop under the clock.  And what the loops over pools that evict, and over nodes that are deferred, are about.
 */
#ifndef LFPOOL_BENCH_WORKLOAD_H
#define LFPOOL_BENCH_WORKLOAD_H

#include "subject.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which thread meets which.  The three in the middle are the hand-off. */
enum pattern { ALONE, ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, EXCHANGE, GRAPH };

struct cell;

struct workload {
	const char *name;
	size_t loop; /* offset of a loop in struct loops; what it is called for, or a subject must have for `run` */
	enum pattern pattern;
	size_t count;    /* objects of a worker's array                                          */
	size_t held;     /* the most objects that one thread has out at once; 0: count           */
	size_t chunk;    /* pairs between two looks at the clock                                 */
	unsigned needs;  /* traits that a subject must have                                      */
	size_t bytes;    /* of an object; 0: 64                                                  */
	size_t pools;    /* by turns, each opened with the plan; 0: one pool                     */
	bool sized;      /* objects of any size                                                  */
	bool shuffled;   /* a burst is released in random order, else the newest object first    */
	bool divided;    /* `count` is for all threads together                                  */
	bool timed;      /* has histograms                                                       */
	bool levels;     /* these are of levels, not of calls                                    */
	size_t work_ns;  /* of work on each object                                               */
	bool churns;     /* each `count` objects by a thread that was just started               */
	bool emptied;    /* before the start, everything is acquired; the pool has no reserve    */
	unsigned stale;  /* of 100 handles that a thread begins with                             */
	unsigned evicts; /* of 100 operations, in pools that evict; 0: a workload of the others  */
	bool retires;    /* of subjects that defer                                               */
	bool reads;      /* each other thread only reads                                         */

	/* Memory, creation, what is in flight, walks, pages, waiting: runs once, and starts its threads itself.  A row
	 * of these should have a process of its own, as bench/run gives it: what an allocator has kept from earlier
	 * rows, the next pool would get for free, and the greatest resident memory is that of the process. */
	void (*run)(const struct cell *cell);
	unsigned threads; /* that the row is named for                               */
	const char *only; /* the one subject, where it is not about subjects         */
	unsigned times;   /* create; walk: one in so many slots is active, 0: none   */
	uint32_t flags;   /* pages                                                   */
	size_t rate;      /* backlog: updates a second; 0: no limit                  */
	bool stalls;      /* backlog: a thread reads, and does not come to an end    */
};

#define WORKLOAD_COUNT 67
extern const struct workload workloads[WORKLOAD_COUNT];

/* ---- Use of an object ---- */

/* Works on an object of 64 bytes or more.  Each round multiplies a word of it into the sum, and waits for the round
 * before it: so the work takes its time, and only other things can be done meanwhile. */
static inline uint64_t object_work(void *object, size_t rounds, uint64_t sum)
{
	uint64_t *words = (uint64_t *)object;

	for (size_t i = 0; i < rounds; i++)
		sum = (sum ^ words[i % 8]) * UINT64_C(0x9e3779b97f4a7c15);
	words[1] = sum;
	__asm__ __volatile__("" : : "r"(object) : "memory");
	return sum;
}

/* The largest object of set-mixed. */
#define MIXED_BYTES ((size_t)65536)

/* Many small ones and a few large ones: 17 bytes to MIXED_BYTES, with each doubling half as often as the one before,
 * and all sizes within it equally often. */
static inline size_t mixed_bytes(uint64_t lot)
{
	const size_t least = (size_t)16 << __builtin_ctzll(lot | 1 << 11);

	return least + 1 + (lot >> 12) % least;
}

/* Its size is at both ends. */
static inline void mixed_write(void *object, size_t bytes)
{
	const uint64_t mark = UINT64_MAX - bytes;

	memcpy(object, &mark, sizeof(mark));
	memcpy((char *)object + bytes - sizeof(mark), &mark, sizeof(mark));
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

/* Objects from before the loop have small numbers. */
static inline bool mixed_is_whole(const void *object)
{
	uint64_t first, last;

	memcpy(&first, object, sizeof(first));
	if (first < UINT64_MAX - MIXED_BYTES)
		return true;
	memcpy(&last, (const char *)object + (UINT64_MAX - first) - sizeof(last), sizeof(last));
	return first == last;
}

/* boundary: pairs at each level, each time it is passed. */
#define AROUND_PAIRS 32

/* Sorts them. */
double median(uint64_t *values, size_t count);
void create_run(const struct cell *cell);
void memory_run(const struct cell *cell);
void handoff_memory_run(const struct cell *cell);
void backlog_run(const struct cell *cell);
void walk_run(const struct cell *cell);
void pages_run(const struct cell *cell);
void queue_run(const struct cell *cell);

/* Objects for one worker of `threads`. */
size_t workload_count(const struct workload *workload, unsigned threads);
/* The loop of that workload, compiled for that subject; NULL: it has none. */
loop_fn *workload_loop(const struct workload *workload, const struct subject *subject);
/* Whether this cell makes sense, and fits into memory. */
bool workload_fits(const struct workload *workload, const struct subject *subject, size_t object_bytes,
		   unsigned threads);
/* What the pool must have for it. */
struct plan workload_plan(const struct workload *workload, size_t object_bytes, unsigned threads);
/* One of the three hand-offs. */
bool is_handoff(const struct workload *workload);

/* ---- Pools that evict ---- */

/* Objects of no other size: they are filled once each time they are acquired, and copying is not what is compared. */
#define EVICTING_BYTES 64

/* See evicting.h; for tests. */
struct evicting_calls {
	void *(*acquire)(void *hand, uint64_t priority, uint64_t *handle_out);
	bool (*update)(void *hand, uint64_t handle, uint64_t priority);
	bool (*release)(void *hand, uint64_t handle);
};

/* All of a new object.  Nobody looks at it, which the compiler must not guess. */
static inline void object_fill(void *object, uint64_t value)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(value); i++)
		((uint64_t *)object)[i] = value;
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

/* ---- Nodes that are deferred ---- */

#define RETIRE_BYTES 64
#define RETIRE_TABLE 1024
/* Objects of a pool, of which a run touches as many as are in flight. */
#define RETIRE_CAPACITY ((size_t)1 << 22)

/* 64 bytes; in the middle there is room for what call_rcu() and ck_epoch_call() want in an object. */
struct node {
	uint64_t stamp;
	unsigned char room[40] __attribute__((aligned(16)));
	uint64_t check; /* the complement of the stamp */
};

struct retiring_calls {
	void (*section_begin)(void *hand), (*section_end)(void *hand);
	/* Blocks until all is free that was deferred: each thread calls it; `first` is true for one of them. */
	void (*settle)(void *hand, bool first);
	/* Deferred and not yet free, of so many that were deferred since open().  A snapshot. */
	size_t (*in_flight)(void *shared, size_t deferred);
};

/* Deferred minus freed.  A thread that defers adds to its count after the fact. */
static inline size_t not_yet(size_t deferred, size_t freed)
{
	return deferred > freed ? deferred - freed : 0;
}

static inline bool node_is_whole(const struct node *node)
{
	return __atomic_load_n(&node->stamp, __ATOMIC_RELAXED) == ~__atomic_load_n(&node->check, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif

#endif
