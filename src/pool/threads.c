/* SPDX-License-Identifier: MIT */
/*
 * threads.c - each thread's table of its caches, with one cache per pool.  A thread gives its caches back when it
 * exits.
 *
 * Idea         A thread's table is indexed by a pool's index among the live pools, and has entries {pool id, cache}.
 *              Ids are never used twice, so an entry of a destroyed pool never matches, and the next pool with that
 *              index overwrites the entry.  A new thread has the table `nothing`, which no pool matches.  At thread
 *              exit hand_back() gives back the caches of live pools.  Later calls, from other destructors, find the
 *              table `gone`, and each of them borrows a cache.
 * Invariants   L1  a table has mask + 1 entries.  This number is a power of two, at least TABLE_ENTRIES_MIN, and
 *                  greater than the index of any entry in use.  (Exception: `nothing` and `gone` have the mask 0.)
 *              L2  after a thread was refused a cache, the thread's next PATIENCE - 1 calls on that pool do not ask for
 *                  one.  During these calls, the pool's entry is {calls left + 1, generation of the pool's id}.
 *              L3  no thread looks up a pool with the id 0: no entry matches this id, and attach() is not called.
 * Progress     Look-up: wait-free.  First use by a thread: may enter the kernel.  Exit: takes the lock of the live
 *              pools.
 */
#include "pool/threads.h"

#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/slots.h"

/* An unused entry.  It has no calls left, so the first call on a new pool may ask for a cache (L2). */
#define VACANT {.pool_id = 1}
#define VACANT_8 VACANT, VACANT, VACANT, VACANT, VACANT, VACANT, VACANT, VACANT
#define VACANT_64 VACANT_8, VACANT_8, VACANT_8, VACANT_8, VACANT_8, VACANT_8, VACANT_8, VACANT_8
/* Two tables, one for new threads and one for exiting threads.  They match no pool's id, nor, at any offset, the id 0
 * (Y4 in set_inline.h). */
static struct lfpool_entry_ no_entries[] = {{0}, VACANT_64};
static struct lfpool_entry_ gone_entries[] = {{0}, VACANT_64};
_Static_assert(sizeof(no_entries) == (1 + TABLE_ENTRIES_MIN) * sizeof(*no_entries), "each has all entries of a table");
#define nothing (&no_entries[1])
#define gone (&gone_entries[1])
/* True: the system has no usable key for a destructor, so no thread can have a cache. */
static bool keyless;
/* The calls left that do not ask for a table, because the system has refused one.  All threads share this number. */
static _Atomic(uint32_t) patience;

static THREAD_LOCAL struct serving *serving;
/* The attribute `used` is needed because link-time optimisation does not see the assembly in lfpool/inline.h. */
__attribute__((used)) THREAD_LOCAL struct lfpool_thread_ lfpool_thread_ = {.last = VACANT, .table = nothing};

static struct lfpool_entry_ *table_here(void)
{
	return os_of_thread(lfpool_thread_).table;
}

static bool table_set(struct lfpool_entry_ *table)
{
	if (table != gone && !os_set_exit_value(table))
		return false;
	/* A signal handler may read the table, so the entries are written before the table is visible. */
	light_barrier();
	os_of_thread(lfpool_thread_).table = table;
	return true;
}

struct serving *thread_serving(void)
{
	return os_of_thread(serving);
}

void thread_serve(struct serving *innermost)
{
	os_of_thread(serving) = innermost;
}

/* Runs at the exit of a thread, with the thread's table. */
static void hand_back(void *memory)
{
	struct lfpool_entry_ *table = memory;

	/* From now on this thread's calls find `gone`, and borrow a cache. */
	(void)table_set(gone);
	os_of_thread(lfpool_thread_).last.pool_id = 1;
	live_pools_lock();
	for (uint64_t i = 0; i <= table[-1].pool_id; i++) {
		const struct lfpool_entry_ *e = &table[i];
		lfpool_t *pool = live_pools_generation(e->pool_id) ? live_pools_find(e->pool_id) : NULL;

		if (pool)
			slots_cache_destroy((struct cache_head *)e->cache);
	}
	live_pools_unlock();
	os_heap_free(&table[-1]);
}

bool threads_notice_exits(bool keys_usable)
{
	keyless = !keys_usable;
	return keyless || os_at_thread_exit(hand_back);
}

bool threads_keep_caches(void)
{
	return !keyless;
}

uint32_t thread_hint(void)
{
	uint64_t address = os_thread_self();

	/* Fibonacci hashing, because these addresses are at regular distances. */
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* Returns this thread's table, and first grows it if it has no entry at index `place` (L1).  NULL: the thread cannot
 * have such a table now. */
static struct lfpool_entry_ *table_ensure(size_t place)
{
	struct lfpool_entry_ *before = table_here();
	size_t had = before == nothing ? 0 : (size_t)before[-1].pool_id + 1;
	size_t wanted = had ? had : TABLE_ENTRIES_MIN;

	if (before == gone || place < had)
		return before == gone ? NULL : before;
	while (wanted <= place)
		wanted *= 2;

	/* relaxed, here and below: only the number matters, and lost decrements do no harm. */
	const uint32_t calls = load_relaxed(&patience);

	if (calls) {
		store_relaxed(&patience, calls - 1);
		return NULL;
	}

	struct lfpool_entry_ *head = os_heap_resize(NULL, (1 + wanted) * sizeof(*head));

	if (!head) {
		store_relaxed(&patience, PATIENCE);
		return NULL;
	}

	struct lfpool_entry_ *grown = head + 1;

	*head = (struct lfpool_entry_){.pool_id = wanted - 1};
	for (size_t i = 0; i < wanted; i++)
		grown[i] = i < had ? before[i] : (struct lfpool_entry_)VACANT;
	if (!table_set(grown)) {
		os_heap_free(head);
		store_relaxed(&patience, PATIENCE);
		return NULL;
	}
	if (had)
		os_heap_free(&before[-1]);
	return grown;
}

/* L2: is this one of the calls that must not ask the system for a cache?  If so, counts it. */
static bool is_patient(struct lfpool_entry_ *e, const lfpool_cache_t *generation)
{
	/* The count never becomes 0, which would match the id 0 (L3). */
	if (live_pools_generation(e->pool_id) || e->cache != generation || e->pool_id <= 1)
		return false;
	e->pool_id--;
	return true;
}

/* L4: the entry has no pool while its cache changes. */
static void entry_set(struct lfpool_entry_ *e, uint64_t id, lfpool_cache_t *cache)
{
	*e = (struct lfpool_entry_)VACANT;
	light_barrier();
	e->cache = cache;
	light_barrier();
	e->pool_id = id;
}

/* The calling thread's cache of this pool, created if missing.  NULL: the thread cannot have one now. */
static NOINLINE struct cache_head *attach(lfpool_t *pool)
{
	struct lfpool_entry_ *table = table_ensure(live_pools_place(pool->head.id));

	if (!table)
		return NULL;

	struct lfpool_entry_ *e = &table[live_pools_place(pool->head.id)];
	lfpool_cache_t *const generation = (lfpool_cache_t *)(uintptr_t)live_pools_generation(pool->head.id);

	/* thread_find() does not find pools whose index is TABLE_ENTRIES_MIN or higher. */
	if (e->pool_id == pool->head.id)
		return (struct cache_head *)e->cache;
	if (is_patient(e, generation))
		return NULL;

	struct cache_head *head = slots_cache_create(pool);

	entry_set(e, head ? pool->head.id : PATIENCE, head ? &head->face : generation);
	return head;
}

struct cache_head *thread_cache(lfpool_t *pool)
{
	lfpool_cache_t *cache;

	if (thread_find(pool, &cache))
		return (struct cache_head *)cache;
	/* No thread looks up a pool with the id 0 (L3). */
	return pool->head.id ? attach(pool) : NULL;
}

struct cache_head *thread_cache_if_any(const lfpool_t *pool)
{
	/* No thread looks up a pool with the id 0 (L3). */
	if (!pool->head.id)
		return NULL;

	const struct lfpool_entry_ *table = table_here();
	const size_t place = live_pools_place(pool->head.id);

	/* By L1 the table has this entry if the index is not above the mask.  `nothing` and `gone` have no match. */
	return place <= table[-1].pool_id && table[place].pool_id == pool->head.id
		       ? (struct cache_head *)table[place].cache
		       : NULL;
}

/* Not inlined, so that the call orders both stores to `last` before the asm of lfpool/inline.h, which names no memory.
 * The function is in this file because an access by another TLS model could allocate. */
NOINLINE struct cache_head *thread_cache_remembered(lfpool_t *pool)
{
	struct cache_head *head = thread_cache(pool);

	if (head)
		os_of_thread(lfpool_thread_).last = (struct lfpool_entry_){pool->head.id, &head->face};
	return head;
}
