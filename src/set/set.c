/* SPDX-License-Identifier: MIT */
/*
 * set.c - acquire and release by size and by address; questions.  See pool_set.h.
 */
#include "base/probes.h"
#include "pool/misuse.h"
#include "pool/threads.h"
#include "set/pool_set.h"

/* The calling thread's cache of the class's pool; NULL: it has none yet, or there is no pool. */
static inline struct cache_head *set_cache(const lfpool_set_t *set, size_t class_number)
{
	return thread_find(set_id(set, class_number));
}

/* ---- From an address to its pool ---- */

/* With the malloc backend: through the label before the object. */
static NOINLINE lfpool_t *pool_of_heap(const lfpool_set_t *set, const void *pointer)
{
	lfpool_t *pool = lfpool_of(pointer);

	if (!pool)
		return NULL;

	const size_t number = class_of(&set->classes, pool->object_size);

	return number < set->classes.count && set_pool(set, number) == pool ? pool : NULL;
}

/* The number of the window in which the address lies; no such number: it lies in none. */
static inline uintptr_t window_of(const lfpool_set_t *set, const void *pointer)
{
	return ((uintptr_t)pointer - set->base) >> set->window_shift;
}

/* The pool in whose window the address lies; NULL: it lies in none, or in that of a pool that is not made yet. */
static inline lfpool_t *pool_of(const lfpool_set_t *set, const void *pointer)
{
	const uintptr_t window = window_of(set, pointer);

	if (window < set->windows)
		return set_pool(set, window);
	return set->windows ? NULL : pool_of_heap(set, pointer);
}

/* NULL: none of the set's pools. */
static lfpool_t *pool_that_owns(const lfpool_set_t *set, const void *pointer)
{
	lfpool_t *pool = set->windows ? pool_of(set, pointer) : NULL;

	if (set->windows)
		return pool && lfpool_owns(pool, pointer) ? pool : NULL;
	/* With the malloc backend the address says nothing: each is asked. */
	for (size_t number = 0; number < set->classes.count; number++)
		if ((pool = set_pool(set, number)) && lfpool_owns(pool, pointer))
			return pool;
	return NULL;
}

static COLD lfpool_status_t refuse(lfpool_set_t *set, const void *object)
{
	lfpool_misuse_t misuse = {
		.pool_name = set->name,
		.object = object,
		.status = LFPOOL_E_FOREIGN,
		/* relaxed: a statistic, and who came first. */
		.count = fetch_add_relaxed(&set->misuses, (size_t)1) + 1,
		.index = SIZE_MAX,
		.detail = "",
	};

	probe_misuse(NULL, set->name, object, LFPOOL_E_FOREIGN);
	misuse_say("set", &set->config.hooks, &misuse);
	return misuse.status;
}

/* ---- One object.  Hits end in the cache's own, inlined: a pair costs what a pool's does, and the look-ups ---- */

/* From this class on, as far as config.larger says; pools that are not there are made.  No class: NULL. */
static NOINLINE void *acquire_on(lfpool_set_t *set, size_t number)
{
	const size_t count = set->classes.count;

	for (size_t tried = 0; tried <= set->larger && number < count; tried++, number++) {
		lfpool_t *pool = set_pool_made(set, number);
		void *object = pool ? lfpool_acquire(pool) : NULL;

		if (object)
			return object;
	}
	return NULL;
}

void *lfpool_set_acquire(lfpool_set_t *set, size_t size)
{
	const size_t number = class_of(&set->classes, size);
	struct cache_head *head = likely(number < set->classes.count) ? set_cache(set, number) : NULL;

	if (likely(head && !set->larger))
		return lfpool_cache_acquire_inline(&head->face);

	void *object = acquire_on(set, number);

	KEEP_FRAME();
	return object;
}

/* It lies in no window, or in that of a pool that is not made yet. */
static NOINLINE lfpool_status_t release_elsewhere(lfpool_set_t *set, void *object)
{
	lfpool_t *pool = pool_of(set, object);

	if (pool)
		return lfpool_release(pool, object);
	return object ? refuse(set, object) : LFPOOL_OK;
}

lfpool_status_t lfpool_set_release(lfpool_set_t *set, void *object)
{
	const uintptr_t window = window_of(set, object);
	struct cache_head *head = likely(window < set->windows) ? set_cache(set, window) : NULL;

	if (likely(head))
		return lfpool_cache_release_inline(&head->face, object);

	const lfpool_status_t status = release_elsewhere(set, object);

	KEEP_FRAME();
	return status;
}

lfpool_status_t lfpool_set_release_if_owned(lfpool_set_t *set, void *object)
{
	lfpool_t *pool = set->windows ? pool_of(set, object) : pool_that_owns(set, object);

	/* The rest of a window is nobody's. */
	if (pool && (!set->windows || arena_spans(&pool->core.arena, object)))
		return lfpool_release(pool, object);
	return object ? LFPOOL_E_FOREIGN : LFPOOL_OK;
}

/* ---- Many ---- */

size_t lfpool_set_acquire_bulk(lfpool_set_t *set, size_t size, void **objects_out, size_t count)
{
	size_t number = class_of(&set->classes, size), done = 0;

	for (size_t tried = 0; done < count && tried <= set->larger && number < set->classes.count; tried++, number++) {
		lfpool_t *pool = set_pool_made(set, number);

		done += pool ? lfpool_acquire_bulk(pool, objects_out + done, count - done) : 0;
	}
	return done;
}

size_t lfpool_set_release_bulk(lfpool_set_t *set, void *const *objects, size_t count)
{
	size_t released = 0, first = 0;

	while (first < count) {
		lfpool_t *pool = pool_of(set, objects[first]);
		size_t end = first + 1;

		/* As many as lie in the same pool. */
		while (pool && end < count && pool_of(set, objects[end]) == pool)
			end++;
		if (pool)
			released += lfpool_release_bulk(pool, objects + first, end - first);
		else if (objects[first])
			(void)refuse(set, objects[first]);
		first = end;
	}
	return released;
}

/* ---- Classes ---- */

size_t lfpool_set_class_count(const lfpool_set_t *set)
{
	return set->classes.count;
}

size_t lfpool_set_class_size(const lfpool_set_t *set, size_t class_number)
{
	return class_number < set->classes.count ? class_size(&set->classes, class_number) : 0;
}

size_t lfpool_set_class_of(const lfpool_set_t *set, size_t size)
{
	const size_t number = class_of(&set->classes, size);

	return number < set->classes.count ? number : SIZE_MAX;
}

lfpool_t *lfpool_set_pool(lfpool_set_t *set, size_t class_number)
{
	return class_number < set->classes.count ? set_pool_made(set, class_number) : NULL;
}

lfpool_t *lfpool_set_peek(const lfpool_set_t *set, size_t class_number)
{
	return class_number < set->classes.count ? set_pool(set, class_number) : NULL;
}

/* ---- Questions ---- */

bool lfpool_set_owns(const lfpool_set_t *set, const void *pointer)
{
	return pool_that_owns(set, pointer) != NULL;
}

size_t lfpool_set_usable_size(const lfpool_set_t *set, const void *pointer)
{
	const lfpool_t *pool = pool_that_owns(set, pointer);

	return pool ? pool->object_size : 0;
}
