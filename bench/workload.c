/* SPDX-License-Identifier: MIT */
/*
 * workload.c - the list, see workload.h.
 */
#include "workload.h"

#include "graph.h"
#include "ring.h"
#include "team.h"

#define LOOP(name) .loop = offsetof(struct loops, name)
/* Pairs in a chunk: a look at the clock, and a call through a pointer, then cost nothing that could be seen. */
#define CHUNK 4096
/* Objects beyond those that are out at once: what rests in caches. */
#define RESERVE 65536
/* A cell whose objects take more than this is left out. */
#define BYTES_MAX ((size_t)512 << 20)

#define EXHAUSTED_CAPACITY 1024

/* clang-format off */
#define BURST(n)                                                                                                   \
	{.name = "burst-" #n "-lifo", .what = "acquire " #n ", release them, the newest first", LOOP(burst), .count = n,    \
	 .chunk = CHUNK},                                                                                              \
	{.name = "burst-" #n "-shuffled", .what = "acquire " #n ", release them in random order", LOOP(burst), .count = n,  \
	 .chunk = CHUNK, .shuffled = true}
#define BULK(n)                                                                                                    \
	{.name = "bulk-" #n, .what = "acquire " #n " in one call where there is one, release them in one", LOOP(bulk),     \
	 .count = n, .chunk = CHUNK}
#define KEEP(n)                                                                                                    \
	{.name = "keep-" #n, .what = "up and down between 0 and " #n " objects, to random levels", LOOP(keep), .count = n, \
	 .chunk = CHUNK}
#define HANDOFF(suffix, how, sides)                                                                                \
	{.name = "handoff-" suffix, .what = how " through rings; the rings are included", LOOP(consume),               \
	 .pattern = sides, .held = RING_CAPACITY + 2, .chunk = CHUNK}

/* The last: how many handles are stale when it has gone on for long, in a run of one thread. */
#define EVICT(share, n, lost)                                                                                          \
	{.name = "evict-" #share "-" #n, .what = #share " of 100 operations acquire, in a full pool of " #n "; the others update", \
	 LOOP(evict), .count = n, .chunk = CHUNK / 8, .divided = true, .evicts = share, .stale = lost}

const struct workload workloads[WORKLOAD_COUNT] = {
	{.name = "pair", .what = "acquire, write, release: the hot pair", LOOP(pair), .held = 1, .chunk = CHUNK},
	BURST(32),
	BURST(256),
	BURST(4096),
	HANDOFF("1-1", "one thread acquires, another releases,", ONE_TO_ONE),
	HANDOFF("1-n", "one thread acquires, all others release,", ONE_TO_MANY),
	HANDOFF("n-1", "all but one thread acquire, one releases,", MANY_TO_ONE),
	{.name = "larson", .what = "random objects of a table of 1000 replaced, tables exchanged between threads", LOOP(larson),
	 .pattern = EXCHANGE, .count = 1000, .held = 2001, .chunk = CHUNK},
	{.name = "jobs", .what = "trees of jobs that fan out over the workers and join; half the releases or more are remote", LOOP(jobs),
	 .pattern = GRAPH, .held = TREE_JOBS + 1, .chunk = 64 * TREE_JOBS},
	{.name = "churn", .what = "threads that live for 64 pairs; their start and end are included", LOOP(churn), .held = CHURN_OBJECTS,
	 .chunk = CHURN_OBJECTS},
	BULK(8),
	BULK(32),
	BULK(256),
	KEEP(32),
	KEEP(512),
	KEEP(4096),
	KEEP(32768),
	{.name = "random-1m", .what = "a million objects, acquired and released in random order", LOOP(burst), .count = 1000000,
	 .chunk = 1, .shuffled = true, .divided = true},
	{.name = "exhausted", .what = "every object is out, 16 threads that used the pool rest: one acquire that says NULL", LOOP(exhausted),
	 .count = EXHAUSTED_CAPACITY, .held = EXHAUSTED_CAPACITY, .chunk = CHUNK / 4, .needs = TRAIT_BOUNDED, .emptied = true},
	{.name = "latency", .what = "up and down between 0 and 1024 objects, every call timed", LOOP(latency), .count = 1024,
	 .chunk = CHUNK, .timed = true},
	EVICT(5, 32, 6),
	EVICT(5, 1024, 6),
	EVICT(5, 65536, 6),
	EVICT(50, 32, 27),
	EVICT(50, 1024, 27),
	EVICT(50, 65536, 27),
	EVICT(100, 32, 0),
	EVICT(100, 1024, 0),
	EVICT(100, 65536, 0),
	{.name = "retire", .what = "a random entry of a table gets a new node, the old one is deferred", LOOP(retire), .count = RETIRE_TABLE,
	 .chunk = CHUNK, .divided = true, .retires = true},
	{.name = "retire-read", .what = "the same by half of the threads, while the others read", LOOP(retire), .count = RETIRE_TABLE,
	 .chunk = CHUNK, .divided = true, .retires = true, .reads = true},
};
/* clang-format on */

size_t workload_count(const struct workload *workload, unsigned threads)
{
	return workload->divided ? (workload->count + threads - 1) / threads : workload->count;
}

/* The most objects that one thread has out at once. */
static size_t held_by_each(const struct workload *workload, unsigned threads)
{
	return workload->held ? workload->held : workload_count(workload, threads);
}

static size_t all_held(const struct workload *workload, unsigned threads)
{
	size_t each = held_by_each(workload, threads);

	return workload->emptied ? each : each * threads;
}

bool is_handoff(const struct workload *workload)
{
	return workload->pattern == ONE_TO_ONE || workload->pattern == ONE_TO_MANY || workload->pattern == MANY_TO_ONE;
}

bool workload_fits(const struct workload *workload, const struct subject *subject, size_t object_bytes, unsigned threads)
{
	const bool handed = workload->pattern != ALONE && threads > 1;
	const bool rings = is_handoff(workload);

	if ((subject->traits & workload->needs) != workload->needs)
		return false;
	if ((subject->traits & TRAIT_64_BYTES) && object_bytes != 64)
		return false;
	if (!workload->evicts != !subject->loops.evict || (workload->evicts && object_bytes != EVICTING_BYTES))
		return false;
	if (workload->retires != (subject->loops.retire != NULL) || (workload->retires && object_bytes != RETIRE_BYTES))
		return false;
	if (workload->reads && threads % 2)
		return false;
	if ((subject->traits & TRAIT_ONE_THREAD) && threads > 1)
		return false;
	if ((subject->traits & TRAIT_NOTHING) && !rings)
		return false;
	if ((subject->traits & TRAIT_PRIVATE) && handed)
		return false;
	if ((subject->traits & TRAIT_NOT_PREEMPTIBLE) && threads > cpus())
		return false;
	if (rings && (threads < 2 || (workload->pattern == ONE_TO_ONE && threads % 2)))
		return false;
	return all_held(workload, threads) * object_bytes <= BYTES_MAX;
}

struct plan workload_plan(const struct workload *workload, size_t object_bytes, unsigned threads)
{
	const size_t reserve = workload->retires ? RETIRE_CAPACITY : workload->emptied || workload->evicts ? 0 : RESERVE;

	return (struct plan){
		.object_bytes = object_bytes,
		.capacity = all_held(workload, threads) + reserve,
		.held = held_by_each(workload, threads),
		.threads = threads + (workload->emptied ? RESTING_THREADS : 0),
	};
}
