/* SPDX-License-Identifier: MIT */
/*
 * backend_malloc.c - no pool at all: every acquire allocates, every release frees.
 *
 * Idea         What a program would cost without pooling, and what sanitizers see of it, without a rebuild.  The
 *              capacity is kept by one counter, so NULL means the same as elsewhere.  It can tell nothing about a
 *              pointer: wrong releases are the allocator's to find.
 */
#include "os.h"
#include "pool.h"

#include <string.h>

struct malloc_pool {
	struct lfpool head;
	size_t object_size, object_alignment;
	bool zero; /* LFPOOL_ZERO */
	_Alignas(CACHE_LINE_PAIR) _Atomic(size_t) active;
};

static lfpool_t *malloc_open(const lfpool_config_t *config, struct care *care)
{
	struct malloc_pool *pool = os_heap_aligned(_Alignof(struct malloc_pool), sizeof(*pool));

	if (!pool)
		return NULL;
	memset(pool, 0, sizeof(*pool));
	pool->object_size = config->object_size;
	pool->object_alignment = config->object_alignment;
	pool->zero = config->flags & LFPOOL_ZERO;
	pool->head.care = care;
	return &pool->head;
}

static size_t malloc_active_count(const lfpool_t *head)
{
	const struct malloc_pool *pool = (const struct malloc_pool *)head;
	/* relaxed: a statistic. */
	size_t active = load_relaxed(&pool->active);

	return active < head->capacity ? active : head->capacity;
}

static size_t malloc_close(lfpool_t *head)
{
	size_t active = malloc_active_count(head);

	os_heap_free(head);
	return active;
}

static void *malloc_acquire(lfpool_t *head)
{
	struct malloc_pool *pool = (struct malloc_pool *)head;
	/* relaxed: only the count matters; the allocator orders the memory. */
	size_t active = load_relaxed(&pool->active);

	do {
		if (active >= head->capacity)
			return NULL;
		/* Retries only after another thread changed the count. */
	} while (!cas_weak_relaxed(&pool->active, &active, active + 1));

	void *object = os_heap_aligned(pool->object_alignment, pool->object_size);

	if (object && pool->zero)
		memset(object, 0, pool->object_size);
	/* Each object is new: every hook has its turn. */
	if (object && head->care && !care_begin(head->care, SLOT_NONE, object)) {
		os_heap_free(object);
		object = NULL;
	}
	if (!object)
		(void)fetch_add_relaxed(&pool->active, (size_t)-1);
	return object;
}

static lfpool_status_t malloc_release(lfpool_t *head, void *object)
{
	struct malloc_pool *pool = (struct malloc_pool *)head;

	if (head->care)
		care_end(head->care, SLOT_NONE, object);
	os_heap_free(object);
	(void)fetch_add_relaxed(&pool->active, (size_t)-1);
	return LFPOOL_OK;
}

static bool malloc_cannot_tell(const lfpool_t *head, const void *pointer)
{
	(void)head;
	return pointer != NULL;
}

static void malloc_stats(const lfpool_t *head, lfpool_stats_t *stats_out)
{
	stats_out->active = malloc_active_count(head);
	stats_out->untouched = head->capacity - stats_out->active;
}

const struct backend backend_malloc = {
	.open = malloc_open,
	.close = malloc_close,
	.acquire = malloc_acquire,
	.release = malloc_release,
	.owns = malloc_cannot_tell,
	.in_use = malloc_cannot_tell,
	.active_count = malloc_active_count,
	.stats = malloc_stats,
};
