/* SPDX-License-Identifier: MIT */
/*
 * backend_mutex.c - one mutex around one intrusive list: the pool that people write by hand, to compare with.
 *
 * Idea         A free object's first bytes hold the next free one; in a pool with hooks, whose free objects keep what
 *              they hold, a word beside them does.  Never-used objects are a range, so that creation is as cheap as the
 *              lock-free backend's.  Wrong releases are refused by the same range check and state
 *              words.
 * Invariants   M1  the list holds the slots that were used and are free, each once.
 *              M2  used = active + those on the list <= capacity.
 * Progress     Blocking.
 */
#include "check.h"
#include "os.h"
#include "pool.h"

#include <string.h>

/* What lfpool.h promises, on every target; a link fits. */
#define SLOT_BYTES_MINIMUM 8
_Static_assert(SLOT_BYTES_MINIMUM >= sizeof(void *), "a free object holds a link");

struct mutex_pool {
	struct lfpool head;
	struct arena arena;
	bool zero;        /* LFPOOL_ZERO                                                   */
	bool check_races; /* LFPOOL_CHECK_RACES, or there is care                          */
	struct care *care; /* what each acquire and release has to do besides; NULL: nothing */
	pthread_mutex_t mutex;
	void *list;       /* free objects, each linked to the next                         */
	size_t used;      /* slots ever handed out                                         */
	size_t active;    /* not in the list; those in quarantine included                 */
	bool aside;       /* links lie here, since what is in a free object must stay      */
	void *links[];    /* per slot                                                      */
};

static lfpool_t *mutex_open(const lfpool_config_t *config, struct care *care)
{
	struct arena arena;
	struct mutex_pool *pool;
	size_t room_bytes;

	if (__builtin_mul_overflow(config->capacity + 1, sizeof(void *), &room_bytes) ||
	    __builtin_add_overflow(room_bytes, sizeof(*pool), &room_bytes))
		return NULL;

	struct arena_plan plan = {
		.room_bytes = room_bytes,
		.object_size = config->object_size,
		.object_alignment = config->object_alignment,
		.stride_minimum = SLOT_BYTES_MINIMUM,
		.capacity = config->capacity,
		.tracked = !(config->flags & LFPOOL_UNTRACKED),
		.prefault = config->flags & LFPOOL_PREFAULT,
	};

	care_plan(care, &plan);
	pool = arena_open(&arena, &plan);
	if (!pool)
		return NULL;
	pool->arena = arena;
	pool->head.arena = &pool->arena;
	pool->head.care = care;
	pool->aside = care;
	pool->care = care_each_call(care) ? care : NULL;
	pool->check_races = (config->flags & LFPOOL_CHECK_RACES) || pool->care;
	pool->zero = config->flags & LFPOOL_ZERO;
	(void)pthread_mutex_init(&pool->mutex, NULL); /* cannot fail with default attributes */
	return &pool->head;
}

static size_t mutex_active_count(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	(void)pthread_mutex_lock(&pool->mutex);
	const size_t active = pool->active, held_back = care_held_back(pool->care);

	(void)pthread_mutex_unlock(&pool->mutex);
	return active > held_back ? active - held_back : 0;
}

static size_t mutex_close(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	size_t active = mutex_active_count(head);

	(void)pthread_mutex_destroy(&pool->mutex);
	arena_close(pool, pool->arena.mapped_bytes);
	return active;
}

/* ---- The list: under the mutex ---- */

static void *link_of(struct mutex_pool *pool, void *object, uint32_t slot)
{
	return pool->aside ? (void *)&pool->links[slot] : object;
}

/* Somebody may write to free objects from here on: links out of them. */
static void mutex_show(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	(void)pthread_mutex_lock(&pool->mutex);
	for (void *object = pool->aside ? NULL : pool->list, *next; object; object = next) {
		uint32_t slot;

		(void)arena_locate(&pool->arena, object, &slot);
		memcpy(&next, object, sizeof(next));
		pool->links[slot] = next;
	}
	pool->aside = true;
	(void)pthread_mutex_unlock(&pool->mutex);
}

static void *take(struct mutex_pool *pool, uint32_t *slot_out)
{
	void *object = pool->list;

	*slot_out = SLOT_NONE;
	if (object) {
		(void)arena_locate(&pool->arena, object, slot_out);
		memcpy(&pool->list, link_of(pool, object, *slot_out), sizeof(pool->list));
	} else if (pool->used < pool->head.capacity) {
		*slot_out = (uint32_t)++pool->used;
		object = arena_object(&pool->arena, *slot_out);
	}
	pool->active += object != NULL;
	return object;
}

static void push(struct mutex_pool *pool, void *object, uint32_t slot)
{
	memcpy(link_of(pool, object, slot), &pool->list, sizeof(pool->list));
	pool->list = object;
	pool->active--;
}

/* ---- One object ---- */

static void give_back(struct mutex_pool *pool, void *object, uint32_t slot)
{
	(void)pthread_mutex_lock(&pool->mutex);
	push(pool, object, slot);
	(void)pthread_mutex_unlock(&pool->mutex);
}

static void *take_locked(struct mutex_pool *pool, uint32_t *slot_out)
{
	(void)pthread_mutex_lock(&pool->mutex);
	void *object = take(pool, slot_out);

	(void)pthread_mutex_unlock(&pool->mutex);
	return object;
}

/* The list has nothing: what is in quarantine, or NULL. */
static COLD void *take_back(struct mutex_pool *pool, uint32_t *slot_out)
{
	uint64_t seen, versions;

	*slot_out = care_take_back(pool->care, &versions);
	/* Goes round again only after another thread put into the quarantine, or took from it. */
	while (!*slot_out) {
		seen = versions;
		(void)take_locked(pool, slot_out);
		if (!*slot_out)
			*slot_out = care_take_back(pool->care, &versions);
		if (!*slot_out && versions == seen)
			return NULL;
	}
	return arena_object(&pool->arena, *slot_out);
}

static void *mutex_acquire(lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot;
	void *object = take_locked(pool, &slot);

	if (!object && care_quarantines(pool->care))
		object = take_back(pool, &slot);
	if (!object)
		return NULL;
	if (pool->zero && !pool->care)
		memset(object, 0, pool->arena.face.stride);
	/* Hooks run without the mutex. */
	if (pool->care && !care_begin(pool->care, slot, object)) {
		give_back(pool, object, slot);
		return NULL;
	}
	/* Last: whom a walk visits is zeroed, and activated. */
	arena_activate(&pool->arena, slot);
	return object;
}

static void mutex_put(lfpool_t *head, struct handle *handle, uint32_t slot)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;

	(void)handle;
	if (pool->care)
		slot = care_end(pool->care, slot, arena_object(&pool->arena, slot));
	if (slot)
		give_back(pool, arena_object(&pool->arena, slot), slot);
}

static lfpool_status_t mutex_release(lfpool_t *head, void *object)
{
	struct mutex_pool *pool = (struct mutex_pool *)head;
	uint32_t slot;
	lfpool_status_t status = arena_locate(&pool->arena, object, &slot);

	if (status != LFPOOL_OK)
		return status;
	(void)pthread_mutex_lock(&pool->mutex);
	const bool ours = arena_deactivate(&pool->arena, slot, pool->check_races);

	if (ours && !pool->care)
		push(pool, object, slot);
	(void)pthread_mutex_unlock(&pool->mutex);
	/* Hooks run without the mutex. */
	if (ours && pool->care)
		mutex_put(head, NULL, slot);
	return ours ? LFPOOL_OK : LFPOOL_E_NOT_IN_USE;
}

static size_t mutex_used(const lfpool_t *head)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	(void)pthread_mutex_lock(&pool->mutex);
	const size_t used = pool->used;

	(void)pthread_mutex_unlock(&pool->mutex);
	return used;
}

static bool mutex_owns(const lfpool_t *head, const void *pointer)
{
	uint32_t slot;

	return arena_locate(&((const struct mutex_pool *)head)->arena, pointer, &slot) == LFPOOL_OK;
}

static bool mutex_in_use(const lfpool_t *head, const void *object)
{
	const struct arena *arena = &((const struct mutex_pool *)head)->arena;
	uint32_t slot;

	return arena_locate(arena, object, &slot) == LFPOOL_OK && arena_is_active(arena, slot);
}

static void mutex_stats(const lfpool_t *head, lfpool_stats_t *stats_out)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;

	(void)pthread_mutex_lock(&pool->mutex);
	stats_of_slots(&pool->arena, pool->used, stats_out);
	if (!pool->arena.face.state)
		stats_out->active = pool->active;
	/* Active are for the list those in quarantine too. */
	stats_out->shared = pool->used - pool->active + care_held_back(pool->care);
	stats_out->untouched = head->capacity - pool->used;
	(void)pthread_mutex_unlock(&pool->mutex);
}

/* Under the mutex: the list, and what is not on it. */
static const char *check_list(struct mutex_pool *pool, struct check *c)
{
	void *object = pool->list;

	while (object) {
		uint32_t slot;
		const char *violated;

		c->where = SIZE_MAX;
		if (arena_locate(&pool->arena, object, &slot) != LFPOOL_OK)
			return "M1: the list leads to what is no object";
		violated = check_free(c, slot);
		if (violated)
			return violated;
		memcpy(&object, link_of(pool, object, slot), sizeof(object));
	}
	c->where = SIZE_MAX;
	if (c->met + pool->active != pool->used)
		return "M2: used = active + on the list does not hold";

	const char *violated = check_held_back(c, pool->care);

	return violated ? violated : check_rest(c);
}

static const char *mutex_check(const lfpool_t *head, size_t *where_out)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;
	const char *violated = "M2: more slots were used than there are";
	struct check c;

	(void)pthread_mutex_lock(&pool->mutex);
	if (pool->used <= head->capacity) {
		if (check_open(&c, &pool->arena, pool->used, 0)) {
			violated = check_list(pool, &c);
			*where_out = c.where;
			check_close(&c);
		} else {
			violated = CHECK_NO_MEMORY;
		}
	}
	(void)pthread_mutex_unlock(&pool->mutex);
	return violated;
}

const struct backend backend_mutex = {
	.open = mutex_open,
	.close = mutex_close,
	.acquire = mutex_acquire,
	.release = mutex_release,
	.put = mutex_put,
	.used = mutex_used,
	.show = mutex_show,
	.owns = mutex_owns,
	.in_use = mutex_in_use,
	.active_count = mutex_active_count,
	.stats = mutex_stats,
	.check = mutex_check,
};
