/* SPDX-License-Identifier: MIT */
/* workload.h - the list of workloads: the loop, the number of objects, the threads; or a function without a timed
 * loop.  Also the objects of evicting pools and the deferred nodes. */
#ifndef LFPOOL_BENCH_WORKLOAD_H
#define LFPOOL_BENCH_WORKLOAD_H

#include "subject.h"

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which threads exchange objects.  The three in the middle are the hand-off. */
enum pattern { ALONE, ONE_TO_ONE, ONE_TO_MANY, MANY_TO_ONE, EXCHANGE, GRAPH };

struct cell;

struct workload {
	const char *name;
	size_t loop; /* offset in struct loops: the workload's loop; with `run`, a loop that the subject must have */
	enum pattern pattern;
	size_t count;    /* objects in a worker's array */
	size_t held;     /* the most objects that one thread has out at once; 0: count           */
	size_t chunk;    /* pairs between two looks at the clock                                 */
	unsigned needs;  /* traits that a subject must have                                      */
	size_t bytes;    /* size of an object; 0: 64 */
	size_t pools;    /* pools used by turns, each opened with the plan; 0: one pool */
	bool sized;      /* runs with objects of every size */
	bool shuffled;   /* a burst is released in random order; otherwise the newest object first */
	bool divided;    /* `count` is shared by all threads */
	bool timed;      /* has histograms                                                       */
	bool levels;     /* the histograms are per level, not per call */
	size_t work_ns;  /* duration of the work on each object */
	bool churns;     /* a new thread for every `count` objects */
	bool emptied;    /* before the start everything is acquired; the pool has no reserve */
	unsigned stale;  /* how many of 100 handles are stale when a thread begins */
	unsigned evicts; /* evicting pools: acquires of 100 operations; 0: for other subjects */
	bool retires;    /* for subjects that defer */
	bool reads;      /* every second thread only reads */

	/* Memory, creation, objects in flight, walks, pages, waiting: runs once, and starts its threads.  Such a
	 * row needs a separate process, as in bench/run: otherwise its pool would get memory that an allocator kept
	 * from earlier rows, and the greatest resident memory would be that of all rows. */
	void (*run)(const struct cell *cell);
	unsigned threads; /* number in the name of the row */
	const char *only; /* the only subject that it measures; or NULL */
	unsigned times;   /* create; walk: one slot in this many is active, 0: none */
	uint32_t flags;   /* pages                                                   */
	size_t rate;      /* backlog: updates a second; 0: no limit                  */
	bool stalls;      /* backlog: a thread stays in one section */
};

#define WORKLOAD_COUNT 67
extern const struct workload workloads[WORKLOAD_COUNT];

/* ---- Use of an object ---- */

/* Works on an object of 64 bytes or more.  Each round multiplies a word of it into the sum, and depends on the round
 * before.  So the work has a fixed duration, which is not shortened by doing two rounds at once. */
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

/* Many small sizes and a few large ones, 17 bytes to MIXED_BYTES: each doubling is half as likely as the one before;
 * within a doubling all sizes are equally likely. */
static inline size_t mixed_bytes(uint64_t lot)
{
	const size_t least = (size_t)16 << __builtin_ctzll(lot | 1 << 11);

	return least + 1 + (lot >> 12) % least;
}

/* Writes the size at both ends. */
static inline void mixed_write(void *object, size_t bytes)
{
	const uint64_t mark = UINT64_MAX - bytes;

	memcpy(object, &mark, sizeof(mark));
	memcpy((char *)object + bytes - sizeof(mark), &mark, sizeof(mark));
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

/* Objects acquired before the loop have small numbers. */
static inline bool mixed_is_whole(const void *object)
{
	uint64_t first, last;

	memcpy(&first, object, sizeof(first));
	if (first < UINT64_MAX - MIXED_BYTES)
		return true;
	memcpy(&last, (const char *)object + (UINT64_MAX - first) - sizeof(last), sizeof(last));
	return first == last;
}

/* boundary: pairs at each level, on each pass. */
#define AROUND_PAIRS 32

/* The median; sorts the values. */
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
/* The workload's loop, compiled for the subject; NULL: it has none. */
loop_fn *workload_loop(const struct workload *workload, const struct subject *subject);
/* Does this cell make sense, and fit into memory? */
bool workload_fits(const struct workload *workload, const struct subject *subject, size_t object_bytes,
		   unsigned threads);
/* The pool that the workload needs. */
struct plan workload_plan(const struct workload *workload, size_t object_bytes, unsigned threads);
/* Is it one of the three hand-offs? */
bool is_handoff(const struct workload *workload);

/* ---- Evicting pools ---- */

/* The only object size: objects are filled on each acquire, and the speed of filling is not compared. */
#define EVICTING_BYTES 64

/* The calls of evicting.h, for tests. */
struct evicting_calls {
	void *(*acquire)(void *hand, uint64_t priority, uint64_t *handle_out);
	bool (*update)(void *hand, uint64_t handle, uint64_t priority);
	bool (*release)(void *hand, uint64_t handle);
};

/* Fills all of a new object.  The compiler must not notice that the object is never read. */
static inline void object_fill(void *object, uint64_t value)
{
	for (size_t i = 0; i < EVICTING_BYTES / sizeof(value); i++)
		((uint64_t *)object)[i] = value;
	__asm__ __volatile__("" : : "r"(object) : "memory");
}

/* ---- Deferred nodes ---- */

#define RETIRE_BYTES 64
#define RETIRE_TABLE 1024
/* Objects of a pool; a run touches only as many as are in flight. */
#define RETIRE_CAPACITY ((size_t)1 << 22)

/* 64 bytes; in the middle is room for the fields of call_rcu() and ck_epoch_call(). */
struct node {
	uint64_t stamp;
	unsigned char room[40] __attribute__((aligned(16)));
	uint64_t check; /* the complement of the stamp */
};

struct retiring_calls {
	void (*section_begin)(void *hand), (*section_end)(void *hand);
	/* Blocks until all deferred nodes are free: each thread calls it; `first` is true for one of them. */
	void (*settle)(void *hand, bool first);
	/* The nodes deferred and not yet free, a snapshot; `deferred`: all nodes deferred since open(). */
	size_t (*in_flight)(void *shared, size_t deferred);
};

/* Deferred minus freed, at least 0: a thread counts a node only after deferring it. */
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
