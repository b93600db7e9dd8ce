/* SPDX-License-Identifier: MIT */
/*
 * backend_mutex.c - one mutex around one intrusive list: the pool that people write by hand, to compare with.
 *
 * Idea         A free object's first bytes hold the next free one; in a pool with hooks, whose free objects keep what
 *              they hold, a word beside them does.  Never-used objects are a range, so that creation is as cheap as the
 *              lock-free backend's.  Wrong releases are refused by the same range check and state
 *              words.
 * Invariants   In backend_mutex.h, beside what they are about.
 * Progress     Blocking.
 */
#include "backend/backend_mutex.h"

#include "backend/stats.h"
#include "base/probes.h"
#include "object/debugging.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/configure.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include <string.h>

/* What lfpool.h promises, on every target; a link fits. */
#define SLOT_BYTES_MINIMUM 8
_Static_assert(SLOT_BYTES_MINIMUM >= sizeof(void *), "a free object holds a link");

static lfpool_t *mutex_open(const lfpool_config_t *config, struct lifecycle *lifecycle, const struct window *window)
{
	struct arena arena;
	struct mutex_pool *pool;
	/* An even number, more than max_capacity: what follows are words of 64 bits. */
	const size_t links = (config->max_capacity | 1) + 1;
	size_t room_bytes;

	if (__builtin_mul_overflow(links, sizeof(void *), &room_bytes) ||
	    __builtin_add_overflow(room_bytes, sizeof(*pool) + cold_bytes(config->max_capacity), &room_bytes))
		return NULL;

	struct arena_plan plan = config_arena_plan(config, window);

	plan.room_bytes = room_bytes;
	plan.stride_minimum = SLOT_BYTES_MINIMUM;
	debug_plan(lifecycle_debug(lifecycle), &plan);
	pool = arena_open(&arena, &plan);
	if (!pool)
		return NULL;
	pool->arena = arena;
	pool->head.arena = &pool->arena;
	cold_open(&pool->head.cold, &pool->arena, config->capacity, config->max_capacity, pool->links + links);
	pool->head.lifecycle = lifecycle;
	pool->aside = lifecycle;
	pool->lifecycle = lifecycle_each_call(lifecycle) ? lifecycle : NULL;
	pool->builds = !pool->lifecycle && lifecycle_builds_all(lifecycle) ? lifecycle : NULL;
	pool->check_races = (config->flags & LFPOOL_CHECK_RACES) || pool->lifecycle;
	pool->zero = config->flags & LFPOOL_ZERO;
	if (!os_mutex_open(&pool->mutex)) {
		arena_close(pool, arena.mapped_bytes);
		return NULL;
	}
	return &pool->head;
}

/* Objects that are free, and not on the list or in quarantine. */
static size_t untouched(const struct mutex_pool *pool)
{
	return (size_t)pool->head.cold.initial - pool->used + cold_allowed(&pool->head.cold);
}

static size_t mutex_active_count(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	os_mutex_lock(&pool->mutex);
	const size_t capacity = cold_capacity(&head->cold);
	const size_t is_free = pool->listed + untouched(pool) + debug_held_back(lifecycle_debug(pool->lifecycle));

	os_mutex_unlock(&pool->mutex);
	return is_free < capacity ? capacity - is_free : 0;
}

static size_t mutex_close(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	size_t active = mutex_active_count(head);

	plain_cache_destroy_all(pool);
	os_mutex_close(&pool->mutex);
	arena_close(pool, pool->arena.mapped_bytes);
	return active;
}

/* ---- The list: under the mutex ---- */

/* Free objects may be written to from here on: links out of them. */
static void mutex_show(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	os_mutex_lock(&pool->mutex);
	for (void *object = pool->aside ? NULL : pool->list, *next; object; object = next) {
		uint32_t slot;

		(void)arena_locate(&pool->arena, object, &slot);
		memcpy(&next, object, sizeof(next));
		pool->links[slot] = next;
	}
	pool->aside = true;
	os_mutex_unlock(&pool->mutex);
}

/* Under the mutex: slots that are neither on the list nor cold nor untouched.  What another thread is just making cold may be
 * taken from there before its count is lowered: it counts twice then, but never as more than there are. */
static void note_most(struct mutex_pool *pool)
{
	const size_t out = (size_t)((int64_t)pool->used + cold_out(&pool->head.cold)) - pool->listed,
		     all = cold_opened(&pool->head.cold);

	if (pool->most < out)
		pool->most = out < all ? out : all;
}

static uint32_t take(struct mutex_pool *pool)
{
	void *object = pool->list;
	uint32_t slot = SLOT_NONE;

	if (object) {
		(void)arena_locate(&pool->arena, object, &slot);
		memcpy(&pool->list, link_of(pool, object, slot), sizeof(pool->list));
		pool->listed--;
	} else {
		slot = pool->used < pool->head.cold.initial ? (uint32_t)++pool->used : cold_take(&pool->head.cold);
	}
	if (slot)
		note_most(pool);
	return slot;
}

static void push(struct mutex_pool *pool, void *object, uint32_t slot)
{
	memcpy(link_of(pool, object, slot), &pool->list, sizeof(pool->list));
	pool->list = object;
	pool->listed++;
}

/* ---- One object ---- */

static void give_back(struct mutex_pool *pool, uint32_t slot, bool cold)
{
	os_mutex_lock(&pool->mutex);
	if (cold)
		cold_put(&pool->head.cold, slot);
	else
		push(pool, arena_object(&pool->arena, slot), slot);
	os_mutex_unlock(&pool->mutex);
}

static uint32_t take_locked(struct mutex_pool *pool)
{
	os_mutex_lock(&pool->mutex);
	const uint32_t slot = take(pool);

	os_mutex_unlock(&pool->mutex);
	return slot;
}

/*
 * The list has nothing: what is in quarantine, or SLOT_NONE.  That is right at the moment when take_locked() got the mutex: while it
 * is held the list does not change, and it was empty; the first look at the ring came before that moment, since its loads
 * acquire, and the second after it, since a lock acquires; so by Q1 (quarantine.h) the ring was empty then as well.  That loads
 * of the second look may be executed while the mutex is still held does no harm: no fence is needed.
 */
static COLD uint32_t take_back(struct mutex_pool *pool)
{
	uint64_t seen, versions;
	uint32_t slot = debug_take_back(lifecycle_debug(pool->lifecycle), &versions);

	/* Repeats only after another thread put into the quarantine, or took from it. */
	while (!slot) {
		seen = versions;
		slot = take_locked(pool);
		if (!slot)
			slot = debug_take_back(lifecycle_debug(pool->lifecycle), &versions);
		if (!slot && versions == seen)
			break;
	}
	return slot;
}

static uint32_t mutex_take(lfpool_t *head, struct cache_head *cache)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	const uint32_t slot = take_locked(pool);

	(void)cache;
	return !slot && debug_quarantines(lifecycle_debug(pool->lifecycle)) ? take_back(pool) : slot;
}

static uint32_t mutex_take_idle(lfpool_t *head, struct cache_head *cache)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot = SLOT_NONE;

	(void)cache;
	os_mutex_lock(&pool->mutex);
	if (pool->list)
		slot = take(pool);
	os_mutex_unlock(&pool->mutex);
	return slot;
}

static size_t mutex_listed(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	os_mutex_lock(&pool->mutex);
	const size_t listed = pool->listed;

	os_mutex_unlock(&pool->mutex);
	return listed;
}

/* A release looks at this after the mutex, a call that waits has changed it before it took it: one of them sees the other (W1,
 * waiters.h). */
static void serve_if_wanted(lfpool_t *head)
{
	/* relaxed: the mutex orders it. */
	if (unlikely(load_relaxed(head->waiters.wanted)))
		waiters_serve(head, NULL);
}

static void mutex_put_free(lfpool_t *head, struct cache_head *cache, uint32_t slot)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	(void)cache;
	give_back(pool, slot, pool->builds && !lifecycle_is_built(pool->builds, slot));
}

static bool mutex_begin(lfpool_t *head, struct cache_head *cache, uint32_t slot, void **object_out)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	void *object = arena_object(&pool->arena, slot);

	enum begun begun = BEGIN_OK;

	*object_out = NULL;
	if (pool->zero && !pool->lifecycle)
		memset(object, 0, pool->arena.face.stride);
	/* Hooks run without the mutex. */
	if (pool->lifecycle)
		begun = lifecycle_begin(pool->lifecycle, slot, object);
	else if (pool->builds && !lifecycle_build(pool->builds, slot, object))
		begun = BEGIN_REFUSED;
	if (begun != BEGIN_OK) {
		if (begun == BEGIN_DISCARDED)
			give_back(pool, slot, true);
		else
			mutex_put_free(head, cache, slot);
		serve_if_wanted(head);
		return begun == BEGIN_REFUSED;
	}
	/* Last: an object that a walk visits is zeroed, and activated. */
	arena_activate(&pool->arena, slot);
	*object_out = object;
	return true;
}

static void *mutex_acquire(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot;
	void *object;

	/* Repeats only after an object that was not good any more was destroyed. */
	while ((slot = mutex_take(head, NULL)) != SLOT_NONE)
		if (mutex_begin(head, NULL, slot, &object))
			return object;
	tally_shared(&pool->exhausted, 1);
	probe_exhausted(head, head->name);
	return head->more ? resize_or_give_up(head, NULL) : NULL;
}

static void mutex_put(lfpool_t *head, struct cache_head *cache, uint32_t slot)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	(void)cache;
	if (pool->lifecycle)
		slot = lifecycle_end(pool->lifecycle, slot, arena_object(&pool->arena, slot));
	os_mutex_lock(&pool->mutex);
	pool->releases++;
	if (slot)
		push(pool, arena_object(&pool->arena, slot), slot);
	os_mutex_unlock(&pool->mutex);
	serve_if_wanted(head);
}

static lfpool_status_t mutex_release(lfpool_t *head, void *object)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot;
	lfpool_status_t status = arena_locate(&pool->arena, object, &slot);

	if (status != LFPOOL_OK)
		return status;
	os_mutex_lock(&pool->mutex);
	const enum leave leave = arena_leave_active(&pool->arena, slot, pool->check_races, GENERATION_RELEASED);
	const bool ours = leave == LEAVE_NOW;

	if (ours && !pool->lifecycle) {
		pool->releases++;
		push(pool, object, slot);
	}
	os_mutex_unlock(&pool->mutex);
	/* Hooks run without the mutex. */
	if (ours && pool->lifecycle)
		mutex_put(head, NULL, slot);
	else if (ours)
		serve_if_wanted(head);
	return leave != LEAVE_REFUSED ? LFPOOL_OK : LFPOOL_E_NOT_IN_USE;
}

static size_t mutex_used(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	os_mutex_lock(&pool->mutex);
	const size_t used = cold_used(&head->cold, pool->used);

	os_mutex_unlock(&pool->mutex);
	return used;
}

static void mutex_stats(const lfpool_t *head, lfpool_stats_t *stats_out)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	os_mutex_lock(&pool->mutex);
	stats_out->retired = retired_count(head->retired, stats_out->capacity);
	stats_out->releases = pool->releases + stats_out->retired;
	stats_of_slots(&pool->arena, cold_used(&head->cold, pool->used), stats_out);
	stats_out->shared = pool->listed + debug_held_back(lifecycle_debug(pool->lifecycle));
	stats_out->untouched = untouched(pool);
	stats_out->high_water = pool->most;
	stats_out->exhausted = tally_read(&pool->exhausted);
	os_mutex_unlock(&pool->mutex);
}

static void mutex_reset(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	os_mutex_lock(&pool->mutex);
	pool->most = 0;
	note_most(pool);
	os_mutex_unlock(&pool->mutex);
}

const struct backend backend_mutex = {
	.open = mutex_open,
	.close = mutex_close,
	.acquire = mutex_acquire,
	.release = mutex_release,
	.put = mutex_put,
	.take = mutex_take,
	.take_idle = mutex_take_idle,
	.listed = mutex_listed,
	.put_free = mutex_put_free,
	.begin = mutex_begin,
	.used = mutex_used,
	.show = mutex_show,
	.active_count = mutex_active_count,
	.stats = mutex_stats,
	.reset = mutex_reset,
	.check = mutex_check,
	.cache_create = plain_cache_create,
	.cache_destroy = plain_cache_destroy,
	.cache_acquire_bulk = plain_cache_acquire_bulk,
	.cache_release_bulk = plain_cache_release_bulk,
};
