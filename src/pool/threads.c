/* SPDX-License-Identifier: MIT */
/*
 * threads.c - a cache for each thread, found through one table of its own, handed back when the thread exits.
 *
 * Idea         A thread's table is indexed by the pool's place in the registry and holds {pool id, cache}.  Ids are
 *              never used twice, so an entry of a destroyed pool never matches; the next pool in that place
 *              overwrites it.  A fresh thread has the table `nothing`, which no pool matches.  At thread exit a pthread
 *              key's destructor hands the caches of living pools back; calls after that (from other destructors) find
 *              the table `gone` and borrow a cache for each call.
 * Invariants   L1  a table has mask + 1 entries, a power of two, at least TABLE_ENTRIES_MIN, and more than any place that
 *                  has one.  (`nothing` and `gone`: mask 0.)
 *              L2  after a thread was refused a cache, its next PATIENCE calls on that pool do not ask the system.  Until
 *                  then its entry is {calls left, generation of the pool's id}.
 *              L3  no key is used before it is created: of a pool without a table_id no thread looks at its table.
 * Progress     Look-up: wait-free.  First use by a thread: may enter the kernel.  Exit: takes the registry's lock.
 * Edges        SERVER: who vacates a place of those who serve -> who takes it.
 */
#include "pool/threads.h"

#include "os/os.h"
#include "pool/live_pools.h"
#include "pool/pool.h"

/* An entry that is nobody's; for a pool that comes, no call is left to wait for (L2). */
#define VACANT {.pool_id = 1}
/* Match nothing, nor the id 0, which would be the first entry's; the second one is that of a thread which exits. */
static struct thread_entry no_entries[1 + TABLE_ENTRIES_MIN] = {{0}, VACANT};
static struct thread_entry gone_entries[1 + TABLE_ENTRIES_MIN] = {{0}, VACANT};
#define nothing (&no_entries[1])
#define gone (&gone_entries[1])
/* No thread can have a cache of its own, and there is no key. */
static bool keyless;
/* L2, of threads that were refused a table: of all of them, since they have no place for a number of their own. */
static _Atomic(uint32_t) patience;

#ifdef LFPOOL_THREAD_KEY
os_thread_key_t thread_key;

static struct thread_entry *table_here(void)
{
	struct thread_entry *table = os_thread_key_get(thread_key);

	return table ? table : nothing;
}

static bool table_set(struct thread_entry *table)
{
	return os_thread_key_set(thread_key, table);
}

/*
 * Who serves: not by a key, since a key has to be there, and to set it may be refused.  A place is the thread's from the CAS
 * until it is vacated, by the call that took it (`first`): a signal handler of the thread uses the same place meanwhile.
 */
#define SERVERS_MAX 128
static struct server {
	_Atomic(uintptr_t) thread; /* 0: vacant */
	_Atomic(struct serving *) innermost, first;
} servers[SERVERS_MAX];
static _Atomic(uint32_t) server_count; /* places that were ever taken */

static struct server *server_of_thread(void)
{
	/* relaxed, both: only the thread itself stores its own number, and only it reads on. */
	const uint32_t count = load_relaxed(&server_count);

	for (uint32_t i = 0; i < count; i++)
		if (load_relaxed(&servers[i].thread) == os_thread_self())
			return &servers[i];
	return NULL;
}

/* NULL: all places are taken. */
static struct server *server_claim(void)
{
	for (uint32_t i = 0; i < SERVERS_MAX; i++) {
		uintptr_t vacant = 0;
		/* relaxed: a number to begin with. */
		uint32_t count = load_relaxed(&server_count);

		/* relaxed: only this thread looks for its own number.  Repeats only when another thread raised it. */
		while (count <= i && !cas_weak_relaxed(&server_count, &count, i + 1))
			;
		/* acquire, edge SERVER: what its last thread stored comes before. */
		if (!load_relaxed(&servers[i].thread) && cas_acquire(&servers[i].thread, &vacant, os_thread_self()))
			return &servers[i];
	}
	return NULL;
}

static void server_vacate(struct server *s)
{
	/* relaxed, both: see below. */
	store_relaxed(&s->innermost, NULL);
	store_relaxed(&s->first, NULL);
	/* release, edge SERVER: our stores come before those of the place's next thread. */
	store_release(&s->thread, 0);
}

void threads_forget_servers(void)
{
	for (uint32_t i = 0; i < SERVERS_MAX; i++)
		/* relaxed: the child has one thread. */
		if (load_relaxed(&servers[i].thread) != os_thread_self())
			server_vacate(&servers[i]);
}

struct serving *thread_serving(void)
{
	const struct server *s = server_of_thread();

	/* relaxed, here and below: the thread's own, and its signal handlers'. */
	return s ? load_relaxed(&s->innermost) : NULL;
}

/* Where there is no place, a release in a continuation serves as well: deeper, and no worse. */
void thread_serve(struct serving *innermost)
{
	struct server *s = server_of_thread();

	if (!s) {
		s = innermost ? server_claim() : NULL;
		if (!s)
			return;
		store_relaxed(&s->first, innermost);
	} else if (!innermost && load_relaxed(&s->innermost) == load_relaxed(&s->first)) {
		server_vacate(s);
		return;
	}
	store_relaxed(&s->innermost, innermost);
}
#else
/* Its value only brings hand_back() about. */
static os_thread_key_t thread_key;
THREAD_LOCAL struct thread_entry *thread_table = nothing;
static THREAD_LOCAL struct serving *serving;
/* L5.  Read in lfpool/inline.h, by code that an optimiser of whole programs does not see. */
__attribute__((used)) THREAD_LOCAL struct lfpool_last lfpool_last = VACANT;

void threads_forget_servers(void) {}

static struct thread_entry *table_here(void)
{
	return thread_table;
}

static bool table_set(struct thread_entry *table)
{
	if (table != gone && !os_thread_key_set(thread_key, table))
		return false;
	/* For a signal handler, which looks as well: it is written. */
	light_barrier();
	thread_table = table;
	return true;
}

struct serving *thread_serving(void)
{
	return serving;
}

void thread_serve(struct serving *innermost)
{
	serving = innermost;
}
#endif

/* The key's destructor. */
static void hand_back(void *memory)
{
	struct thread_entry *table = memory;

	/* The key's value is NULL while its destructor runs, and each round of destructors comes here again. */
	(void)table_set(gone);
	if (table == gone)
		return;
#ifndef LFPOOL_THREAD_KEY
	lfpool_last.pool_id = 1;
#endif
	live_pools_lock();
	for (uint64_t i = 0; i <= table[-1].pool_id; i++) {
		const struct thread_entry *e = &table[i];
		lfpool_t *pool = live_pools_generation(e->pool_id) ? live_pools_find(e->pool_id) : NULL;

		if (pool)
			pool->backend->cache_destroy(e->cache);
	}
	live_pools_unlock();
	os_heap_free(&table[-1]);
}

bool threads_create_key(bool usable)
{
	keyless = !usable;
	return keyless || os_thread_key_create(&thread_key, hand_back);
}

bool threads_keep_caches(void)
{
	return !keyless;
}

uint32_t thread_hint(void)
{
	uint64_t address = os_thread_self();

	/* Fibonacci hashing: threads lie at regular distances. */
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* A table of this thread's that has room for `place` (L1), or NULL. */
static struct thread_entry *table_ensure(size_t place)
{
	struct thread_entry *before = table_here();
	size_t had = before == nothing ? 0 : (size_t)before[-1].pool_id + 1;
	size_t wanted = had ? had : TABLE_ENTRIES_MIN;

	if (before == gone || place < had)
		return before == gone ? NULL : before;
	while (wanted <= place)
		wanted *= 2;

	/* relaxed, here and below: a number; that threads lose some of each other's counts does no harm. */
	const uint32_t calls = load_relaxed(&patience);

	if (calls) {
		store_relaxed(&patience, calls - 1);
		return NULL;
	}

	struct thread_entry *head = os_heap_resize(NULL, (1 + wanted) * sizeof(*head));

	if (!head) {
		store_relaxed(&patience, PATIENCE);
		return NULL;
	}

	struct thread_entry *grown = head + 1;

	*head = (struct thread_entry){.pool_id = wanted - 1};
	for (size_t i = 0; i < wanted; i++)
		grown[i] = i < had ? before[i] : (struct thread_entry)VACANT;
	if (!table_set(grown)) {
		os_heap_free(head);
		store_relaxed(&patience, PATIENCE);
		return NULL;
	}
	if (had)
		os_heap_free(&before[-1]);
	return grown;
}

/* Was the thread refused a cache of this pool so lately that this call shall not ask (L2)? */
static bool is_patient(struct thread_entry *e, const struct cache_head *generation)
{
	/* Never down to 0, which is the id of pools without one. */
	if (live_pools_generation(e->pool_id) || e->cache != generation || e->pool_id <= 1)
		return false;
	e->pool_id--;
	return true;
}

/* L4: the cache changes while nobody has the entry. */
static void entry_set(struct thread_entry *e, uint64_t id, struct cache_head *head)
{
	*e = (struct thread_entry)VACANT;
	light_barrier();
	e->cache = head;
	light_barrier();
	e->pool_id = id;
}

/* The calling thread's cache of this pool, made if need be; NULL: it cannot have one now. */
static NOINLINE struct cache_head *attach(lfpool_t *pool)
{
	struct thread_entry *table = table_ensure(live_pools_place(pool->table_id));

	if (!table)
		return NULL;

	struct thread_entry *e = &table[live_pools_place(pool->table_id)];
	struct cache_head *const generation = (struct cache_head *)(uintptr_t)live_pools_generation(pool->table_id);

	/* Not in the first places. */
	if (e->pool_id == pool->table_id)
		return e->cache;
	if (is_patient(e, generation))
		return NULL;

	struct cache_head *head = pool->backend->cache_create(pool);

	entry_set(e, head ? pool->table_id : PATIENCE, head ? head : generation);
	return head;
}

struct cache_head *thread_cache(lfpool_t *pool)
{
	struct cache_head *head = thread_find(pool->table_id);

	/* L3 */
	return !head && pool->table_id ? attach(pool) : head;
}

struct cache_head *thread_cache_if_any(const lfpool_t *pool)
{
	/* L3 */
	if (!pool->table_id)
		return NULL;

	const struct thread_entry *table = table_here();
	const size_t place = live_pools_place(pool->table_id);

	/* L1, and of `nothing` and `gone` nothing matches. */
	return place <= table[-1].pool_id && table[place].pool_id == pool->table_id ? table[place].cache : NULL;
}

/* Never inlined: the asm of lfpool/inline.h names no memory, and the return puts both stores before it.  Here and not where it is
 * called, since only this file knows by which model the variable is found: no look at it may allocate. */
NOINLINE struct cache_head *thread_cache_remembered(lfpool_t *pool)
{
	struct cache_head *head = thread_cache(pool);

	/* With a key lfpool/inline.h makes calls. */
#ifndef LFPOOL_THREAD_KEY
	if (head)
		lfpool_last = (struct lfpool_last){pool->table_id, (lfpool_cache_t *)head};
#endif
	return head;
}
