/* SPDX-License-Identifier: MIT */
/*
 * check_mutex.c - lfpool_check() for the mutex backend: the list, what is not on it, and that nothing is left over.
 */
#include "backend/backend_mutex.h"
#include "backend/check.h"

#include <string.h>

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
	if (c->met != pool->listed)
		return "M2: the list does not hold as many as were put on it";

	const char *violated = check_held_back(c, pool->lifecycle);

	if (!violated)
		violated = check_retired(c, pool->head.retired);
	if (!violated)
		violated = check_cold(c, &pool->head.cold, pool->used);
	return violated ? violated : check_rest(c);
}

const char *mutex_check(const lfpool_t *head, size_t *where_out)
{
	struct mutex_pool *pool = (struct mutex_pool *)(uintptr_t)head;
	const char *violated = "M2: more slots were used than there are";
	struct check c;

	os_mutex_lock(&pool->mutex);
	if (pool->used <= head->cold.initial) {
		if (check_open(&c, &pool->arena, cold_used(&head->cold, pool->used), 0, NULL)) {
			violated = check_list(pool, &c);
			*where_out = c.where;
			check_close(&c);
		} else {
			violated = CHECK_NO_MEMORY;
		}
	}
	os_mutex_unlock(&pool->mutex);
	return violated;
}
