/* SPDX-License-Identifier: MIT */
/*
 * workload.c - the list, see workload.h.
 */
#include "workload.h"

#include "graph.h"
#include "ring.h"
#include "team.h"

#include <lfpool/config.h>

#include <string.h>

#define LOOP(name) .loop = offsetof(struct loops, name)
/* Pairs in a chunk: enough that a read of the clock and an indirect call do not show. */
#define CHUNK 4096
/* Objects beyond those that are out at once: idle ones in caches. */
#define RESERVE 65536
/* A cell whose objects take more memory than this is left out. */
#define BYTES_MAX ((size_t)512 << 20)

#define EXHAUSTED_CAPACITY 1024

/* clang-format off */
#define BURST(n)                                                                                                       \
	{"burst-" #n "-lifo", LOOP(burst), .count = n, .chunk = CHUNK, .sized = (n) == 256},                           \
	{"burst-" #n "-shuffled", LOOP(burst), .count = n, .chunk = CHUNK, .shuffled = true}
#define BULK(n) {"bulk-" #n, LOOP(bulk), .count = n, .chunk = CHUNK}
#define KEEP(n) {"keep-" #n, LOOP(keep), .count = n, .chunk = CHUNK}
#define WORK(ns) {"work-" #ns, LOOP(work), .held = 1, .chunk = CHUNK / 8, .work_ns = ns}
#define TURNS(n) {"turns-" #n, LOOP(turns), .count = 1, .held = 1, .chunk = CHUNK, .needs = TRAIT_POOL, .pools = n}
#define HANDOFF(suffix, sides, ...)                                                                                    \
	{"handoff-" suffix, LOOP(consume), .pattern = sides, .held = RING_CAPACITY + 2, .chunk = CHUNK, __VA_ARGS__}
/* `lost`: of 100 handles, the stale ones in the steady state of a run with one thread. */
#define EVICT(share, n, lost)                                                                                          \
	{"evict-" #share "-" #n, LOOP(evict), .count = n, .chunk = CHUNK / 8, .divided = true, .evicts = share, .stale = lost}
#define RETIRE(name, ...)                                                                                              \
	{name, LOOP(retire), .count = RETIRE_TABLE, .chunk = CHUNK, .divided = true, .retires = true, __VA_ARGS__}
/* A pool of n objects; at most one is out at a time. */
#define CREATE(n, its_times)                                                                                           \
	{"create-" #n, LOOP(pair), .count = n, .held = 1, .needs = TRAIT_POOL, .run = create_run, .threads = 1, .times = its_times}
#define BACKLOG(name, its_rate, ...) RETIRE("backlog-" name, .run = backlog_run, .threads = 2, .rate = its_rate, __VA_ARGS__)
/* Measurements of lfpool alone. */
#define OURS(name, n, its_run, size, ...)                                                                              \
	{name, LOOP(pair), .count = n, .held = 1, .bytes = size, .run = its_run, .threads = 1, .only = "lfpool-library", __VA_ARGS__}
#define WALK(name, one_in) OURS("walk-" name, 0, walk_run, 64, .times = one_in)
#define PAGES(name, its_flags)                                                                                         \
	OURS("pages-" name, 10000000, pages_run, 64, .flags = its_flags), OURS("pages-" name, 256, pages_run, 4096, .flags = its_flags)
#define QUEUE(n) OURS("queue-" #n, n, queue_run, 64, .times = 10001)

const struct workload workloads[WORKLOAD_COUNT] = {
	{"pair", LOOP(pair), .held = 1, .chunk = CHUNK, .sized = true},
	BURST(32),
	BURST(256),
	BURST(4096),
	HANDOFF("1-1", ONE_TO_ONE, .sized = true),
	HANDOFF("1-n", ONE_TO_MANY, ),
	HANDOFF("n-1", MANY_TO_ONE, ),
	{"larson", LOOP(larson), .pattern = EXCHANGE, .count = 1000, .held = 2001, .chunk = CHUNK},
	{"set-mixed", LOOP(mixed), .pattern = EXCHANGE, .count = 1000, .held = 2001, .chunk = CHUNK},
	{"jobs", LOOP(jobs), .pattern = GRAPH, .held = TREE_JOBS + 1, .chunk = 64 * TREE_JOBS},
	WORK(10),
	WORK(30),
	WORK(100),
	WORK(300),
	WORK(1000),
	{"boundary", LOOP(boundary), .count = 1024, .held = 1026, .chunk = CHUNK, .timed = true, .levels = true},
	{"churn", LOOP(pair), .count = 64, .held = 128, .chunk = CHUNK / 8, .churns = true},
	BULK(8),
	BULK(32),
	BULK(256),
	KEEP(32),
	KEEP(512),
	KEEP(4096),
	TURNS(1),
	TURNS(2),
	TURNS(4),
	TURNS(16),
	TURNS(64),
	{"random-1m", LOOP(burst), .count = 1000000, .chunk = 1, .shuffled = true, .divided = true},
	{"exhausted", LOOP(exhausted), .count = EXHAUSTED_CAPACITY, .held = EXHAUSTED_CAPACITY, .chunk = CHUNK / 4, .needs = TRAIT_BOUNDED,
	 .emptied = true},
	{"latency", LOOP(latency), .count = 1024, .chunk = CHUNK, .timed = true},
	EVICT(5, 32, 6),
	EVICT(5, 1024, 6),
	EVICT(5, 65536, 6),
	EVICT(100, 32, 0),
	EVICT(100, 1024, 0),
	EVICT(100, 65536, 0),
	RETIRE("retire",),
	RETIRE("retire-read", .reads = true),
	/* From one thread to another. */
	{"memory", LOOP(pair), .pattern = EXCHANGE, .held = 1000000, .run = memory_run, .threads = 2},
	{"handoff-memory", LOOP(consume), .pattern = ONE_TO_ONE, .count = 1 << 20, .held = RING_CAPACITY + 2,
	 .run = handoff_memory_run, .threads = 2},
	CREATE(1000, 101),
	CREATE(10000000, 5),
	BACKLOG("1000000", 1000000, .needs = TRAIT_BACKLOG),
	BACKLOG("unlimited", 0, .needs = TRAIT_BACKLOG),
	BACKLOG("bounded", 1000000, .needs = TRAIT_BACKLOG | TRAIT_BOUNDED, .stalls = true),
	WALK("none", 0),
	WALK("tenth", 10),
	WALK("all", 1),
	PAGES("small", 0),
	PAGES("plain-stride", LFPOOL_PLAIN_STRIDE),
	PAGES("prefaulted", LFPOOL_PREFAULT),
	PAGES("huge", LFPOOL_HUGE_PAGES),
	PAGES("huge-prefaulted", LFPOOL_HUGE_PAGES | LFPOOL_PREFAULT),
	QUEUE(1),
	QUEUE(8),
	QUEUE(100),
	QUEUE(1000),
	QUEUE(16000),
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

loop_fn *workload_loop(const struct workload *workload, const struct subject *subject)
{
	return *(loop_fn *const *)(const void *)((const char *)&subject->loops + workload->loop);
}

bool workload_fits(const struct workload *workload, const struct subject *subject, size_t object_bytes,
		   unsigned threads)
{
	const bool handed = workload->pattern != ALONE && threads > 1;
	const bool rings = is_handoff(workload);

	if ((subject->traits & workload->needs) != workload->needs || !workload_loop(workload, subject))
		return false;
	if (workload->only && strcmp(workload->only, subject->name) != 0)
		return false;
	if (workload->run && threads != workload->threads)
		return false;
	if (!workload->sized && object_bytes != (workload->bytes ? workload->bytes : 64))
		return false;
	if ((subject->traits & TRAIT_64_BYTES) && object_bytes != 64)
		return false;
	if (workload->reads && threads % 2)
		return false;
	if ((subject->traits & TRAIT_NOTHING) && (!rings || workload->run))
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
	const size_t reserve = workload->retires                       ? RETIRE_CAPACITY
			       : workload->emptied || workload->evicts ? 0
								       : RESERVE;

	return (struct plan){
		.object_bytes = object_bytes,
		.capacity = all_held(workload, threads) + reserve,
		.held = held_by_each(workload, threads),
		.threads = threads + (workload->emptied ? RESTING_THREADS : 0),
	};
}
