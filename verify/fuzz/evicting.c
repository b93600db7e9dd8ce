/* SPDX-License-Identifier: MIT */
/*
 * evicting.c - objects with priorities, and pins.  Calls do not overlap, so the victim is known exactly.
 *
 * Idea         The cell of an object that was acquired by priority has its handle, priority and age.  The model finds
 *              the victim before the call, and hooks.evict must be called for that object only.  Each operation
 *              removes its pins, so the other operations do not have to know about pins.
 */
#include "model.h"

#include "lfpool/handle.h"

static bool is_before(const struct model *m, const struct cell *a, const struct cell *b)
{
	if (a->priority == b->priority)
		return a->age < b->age;
	return m->config.before ? m->config.before(m->config.before_context, a->priority, b->priority)
				: a->priority < b->priority;
}

/* The object that must be evicted next, or NULL. */
static struct cell *least(struct model *m)
{
	struct cell *found = NULL;

	for (size_t i = 0; i < m->cells; i++) {
		struct cell *cell = &m->cell[i];

		if (cell->held && cell->handle && (!found || is_before(m, cell, found)))
			found = cell;
	}
	return found;
}

static bool gives_way(const struct model *m, const struct cell *cell, uint64_t priority)
{
	const struct cell newcomer = {.priority = priority,
				      .age = m->config.evict == LFPOOL_EVICT_LESS_OR_EQUAL ? UINT64_MAX : 0};

	return is_before(m, cell, &newcomer);
}

void model_evicted(void *context, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct model *m = context;
	struct cell *cell = least(m);

	REQUIRE(m->evictions && cell && cell->address == (uintptr_t)object);
	REQUIRE(cell->handle == handle && cell->priority == priority && !lfpool_resolve(m->pool, handle));
	stamp_require(object, m->config.object_size, cell->stamp);
	m->evictions--;
	m->stale = handle;
	model_released(m, cell);
}

/* Acquired with this priority: it is pinned, and then published. */
static void publish(struct model *m, void *object, lfpool_handle_t handle, uint64_t priority)
{
	struct cell *cell = model_cell(m, object);
	uint64_t found;

	REQUIRE(handle && lfpool_resolve(m->pool, handle) == object && lfpool_handle_of(m->pool, object) == handle);
	/* Before the unpin it cannot be evicted. */
	REQUIRE(lfpool_least(m->pool, NULL) == (least(m) ? least(m)->handle : 0));
	cell->handle = handle;
	cell->priority = priority;
	cell->age = m->stamps;
	REQUIRE(lfpool_unpin(m->pool, handle) == LFPOOL_OK);
	REQUIRE(lfpool_get_priority(m->pool, handle, &found) && found == priority);
}

void model_acquire_evicting(struct model *m, uint64_t priority)
{
	/* The contract leaves open whether a victim completes a shrink or goes to a waiter. */
	if (m->owed || m->waiters)
		return;

	const bool dry = !model_unheld(m) && !model_grow_by_itself(m),
		   evicts = dry && least(m) && gives_way(m, least(m), priority);
	lfpool_handle_t handle = 1;

	m->refused = 0;
	m->evictions = evicts;
	void *object = lfpool_acquire_evicting(m->pool, priority, &handle);

	REQUIRE(m->evictions == 0 && (object ? !dry || evicts : m->refused || (dry && !evicts)));
	if (object) {
		model_acquired(m, object);
		publish(m, object, handle, priority);
	} else {
		REQUIRE(handle == 0);
	}
}

void model_release_least(struct model *m, size_t count)
{
	size_t ranked = 0;

	if (m->waiters || m->owed)
		return;
	for (size_t i = 0; i < m->cells; i++)
		ranked += m->cell[i].held && m->cell[i].handle;
	m->evictions = count < ranked ? count : ranked;
	REQUIRE(lfpool_release_least(m->pool, count) == (count < ranked ? count : ranked) && m->evictions == 0);
}

static void refuse_stale(struct model *m, lfpool_handle_t handle)
{
	uint64_t priority;

	REQUIRE(!lfpool_pin(m->pool, handle) && !lfpool_resolve(m->pool, handle) &&
		!lfpool_get_priority(m->pool, handle, &priority));
}

/* The object of a cell, or a stale one. */
void model_set_priority(struct model *m, struct cell *cell, uint64_t priority)
{
	uint64_t found = 0;

	if (!cell || !cell->handle) {
		refuse_stale(m, m->stale);
		return;
	}
	REQUIRE(lfpool_set_priority(m->pool, cell->handle, priority) == LFPOOL_OK);
	cell->priority = priority;
	REQUIRE(lfpool_get_priority(m->pool, cell->handle, &found) && found == priority);
	cell = least(m);
	REQUIRE(lfpool_least(m->pool, &found) == cell->handle && found == cell->priority);
}

/* Pins and releases any object, which stays until the last unpin. */
void model_release_pinned(struct model *m, struct cell *cell, unsigned pins)
{
	if (!cell || !m->exact)
		return;

	void *object = (void *)cell->address;
	const lfpool_handle_t handle = lfpool_handle_of(m->pool, object);

	for (unsigned i = 0; i < pins; i++)
		REQUIRE(lfpool_pin(m->pool, handle) == object);
	/* While pinned it is not a candidate. */
	if (cell->handle && least(m) == cell)
		REQUIRE(lfpool_least(m->pool, NULL) != handle);
	REQUIRE((pins % 2 ? lfpool_release_handle(m->pool, handle) : lfpool_release(m->pool, object)) == LFPOOL_OK);
	refuse_stale(m, handle);
	REQUIRE(lfpool_active_count(m->pool) == m->held + m->retired);
	stamp_require(object, m->config.object_size, cell->stamp);
	for (unsigned i = 1; i < pins; i++)
		REQUIRE(lfpool_unpin(m->pool, handle) == LFPOOL_OK);
	model_foresee_serving(m, model_foresee(m, object, LFPOOL_OK), false);
	REQUIRE(lfpool_unpin(m->pool, handle) == LFPOOL_OK);
	model_settle(m);
}
