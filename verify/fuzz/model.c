/* SPDX-License-Identifier: MIT */
/* model.c - the calls, each with its conditions before and after. */
#include "model.h"

#include "lfpool/inline.h"
#include "lfpool/buffer.h"
#include "lfpool/debug.h"
#include "lfpool/handle.h"
#include "lfpool/report.h"
#include "lfpool/wait.h"
#include "lfpool/walk.h"

#include <string.h>

/* ---- Cells ------------------------------------------------------------------------------------------------- */

/* The index of `address`, if present or inserted. */
static size_t place_of(const struct model *m, uintptr_t address)
{
	size_t low = 0, high = m->cells;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->cell[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct cell *model_cell(const struct model *m, const void *pointer)
{
	size_t place = place_of(m, (uintptr_t)pointer);

	if (place == m->cells || m->cell[place].address != (uintptr_t)pointer)
		return NULL;
	return (struct cell *)(uintptr_t)&m->cell[place];
}

struct cell *model_pick(const struct model *m, size_t from, bool held)
{
	for (size_t i = 0; i < m->cells; i++) {
		const struct cell *cell = &m->cell[(from + i) % m->cells];

		if (cell->held == held)
			return (struct cell *)(uintptr_t)cell;
	}
	return NULL;
}

/* A new address: it must not overlap another object, or exceed the number of objects. */
static struct cell *cell_insert(struct model *m, uintptr_t address)
{
	const size_t size = m->config.object_size;
	size_t place = place_of(m, address);

	REQUIRE(m->cells < m->reserved);
	REQUIRE(place == 0 || address - m->cell[place - 1].address >= size);
	REQUIRE(place == m->cells || m->cell[place].address - address >= size);
	memmove(&m->cell[place + 1], &m->cell[place], (m->cells - place) * sizeof(*m->cell));
	m->cells++;
	m->cell[place] = (struct cell){.address = address};
	return &m->cell[place];
}

/* A released object keeps its cell, except with malloc, where the address may become anything. */
void model_released(struct model *m, struct cell *cell)
{
	cell->held = false;
	cell->handle = 0;
	m->held--;
	if (!m->exact) {
		size_t place = (size_t)(cell - m->cell);

		m->cells--;
		memmove(cell, cell + 1, (m->cells - place) * sizeof(*cell));
	}
}

/* ---- Contents ---------------------------------------------------------------------------------------------- */

/* Large objects are stamped at both ends only: the aim is to find mix-ups, not single bits. */
#define STAMPED_BYTES 64

static unsigned char stamp_byte(uint64_t stamp, size_t i)
{
	const uint64_t mixed = (stamp >> i % 7 * 8) + i * 37 + 1;

	return (unsigned char)(stamp ? mixed : 0);
}

void stamp_write(void *object, size_t size, uint64_t stamp)
{
	unsigned char *bytes = object;

	for (size_t i = 0; i < size && i < STAMPED_BYTES; i++) {
		bytes[i] = stamp_byte(stamp, i);
		bytes[size - 1 - i] = stamp_byte(stamp, size - 1 - i);
	}
}

/* Stamp 0 is an object that was never written: zero bytes.  `or_zero`: any byte may also be zero. */
static void require_stamp(const void *object, size_t size, size_t from, uint64_t stamp, bool or_zero)
{
	const unsigned char *bytes = object;

	for (size_t i = 0; i < size && i < STAMPED_BYTES; i++) {
		const size_t k = size - 1 - i;

		if (i >= from)
			REQUIRE(bytes[i] == stamp_byte(stamp, i) || (or_zero && !bytes[i]));
		if (k >= from)
			REQUIRE(bytes[k] == stamp_byte(stamp, k) || (or_zero && !bytes[k]));
	}
}

void stamp_require(const void *object, size_t size, uint64_t stamp)
{
	require_stamp(object, size, 0, stamp, false);
}

static void require_fresh_contents(const struct model *m, const struct cell *cell)
{
	const size_t size = m->config.object_size;
	const unsigned char *object = (const unsigned char *)cell->address;

	if (m->plan.zeroes) {
		/* Each byte equals the one before it. */
		REQUIRE(object[0] == 0 && memcmp(object, object + 1, size - 1) == 0);
	} else if (m->plan.overwrites || m->strange) {
		return;
	} else if (m->config.backend == LFPOOL_BACKEND_LOCKFREE) {
		require_stamp(object, size, 0, cell->stamp, cell->trimmed);
	} else if (m->config.backend == LFPOOL_BACKEND_MUTEX) {
		require_stamp(object, size, sizeof(void *), cell->stamp, cell->trimmed);
	}
}

static void require_held_contents(const struct model *m, const struct cell *cell)
{
	stamp_require((const void *)cell->address, m->config.object_size, cell->stamp);
}

void model_check_contents(const struct model *m)
{
	for (size_t i = 0; i < m->cells; i++)
		if (m->cell[i].held || m->cell[i].retired)
			require_held_contents(m, &m->cell[i]);
}

/* ---- Acquire ----------------------------------------------------------------------------------------------- */

struct cell *model_found(struct model *m, void *object)
{
	size_t alignment = m->config.object_alignment ? m->config.object_alignment : _Alignof(max_align_t);
	struct cell *cell = model_cell(m, object);

	REQUIRE((uintptr_t)object % alignment == 0);
	if (!cell)
		cell = cell_insert(m, (uintptr_t)object);
	REQUIRE(!cell->held && !cell->retired);
	cell->held = true;
	m->held++;
	if (m->most < m->held + m->retired)
		m->most = m->held + m->retired;
	return cell;
}

void model_acquired(struct model *m, void *object)
{
	struct cell *cell = model_found(m, object);

	require_fresh_contents(m, cell);
	cell->trimmed = false;
	cell->stamp = ++m->stamps;
	stamp_write(object, m->config.object_size, cell->stamp);
}

/* The library's functions, where lfpool/inline.h has inlined ones with these names. */
static void *(*volatile const acquire_outside)(lfpool_t *pool) = lfpool_acquire;
static lfpool_status_t (*volatile const release_outside)(lfpool_t *pool, void *object) = lfpool_release;
static void *(*volatile const cache_acquire_outside)(lfpool_cache_t *cache) = lfpool_cache_acquire;
static lfpool_status_t (*volatile const cache_release_outside)(lfpool_cache_t *cache,
							       void *object) = lfpool_cache_release;

static void *acquire_by(struct model *m, struct door door)
{
	if (door.cache)
		return door.inlined ? lfpool_cache_acquire(door.cache) : cache_acquire_outside(door.cache);
	if (!door.inlined)
		return acquire_outside(m->pool);
	return m->plan.way && m->plan.way->acquire ? m->plan.way->acquire(m) : lfpool_acquire(m->pool);
}

static lfpool_status_t release_by(struct model *m, struct door door, void *object)
{
	if (door.cache)
		return door.inlined ? lfpool_cache_release(door.cache, object)
				    : cache_release_outside(door.cache, object);
	if (!door.inlined)
		return release_outside(m->pool, object);
	return m->plan.way && m->plan.way->release ? m->plan.way->release(m, object) : lfpool_release(m->pool, object);
}

void model_require_got(struct model *m, void *object)
{
	const bool dry = !model_unheld(m) && !model_grow_by_itself(m);

	REQUIRE(object ? !dry : dry || m->refused);
	if (object)
		model_acquired(m, object);
}

void *model_acquire(struct model *m, struct door door)
{
	m->refused = 0;

	void *object = acquire_by(m, door);

	model_require_got(m, object);
	return object;
}

/* All or none, in one call. */
static void acquire_all_or_none(struct model *m, size_t count)
{
	void *objects[MODEL_BULK_MAX];
	const lfpool_status_t status = lfpool_acquire_bulk_wait(m->pool, NULL, objects, count, 0);

	if (count > m->reserved) {
		REQUIRE(status == LFPOOL_E_ARGUMENT);
		return;
	}
	while (model_unheld(m) < count && model_grow_by_itself(m))
		;
	REQUIRE(status == (model_unheld(m) < count ? LFPOOL_E_EXHAUSTED : LFPOOL_OK));
	for (size_t i = 0; status == LFPOOL_OK && i < count; i++)
		model_acquired(m, objects[i]);
}

void model_acquire_bulk(struct model *m, size_t count)
{
	void *objects[MODEL_BULK_MAX];

	/* Sometimes the other way. */
	if (m->stamps % 2 && !m->plan.refuses) {
		acquire_all_or_none(m, count);
		return;
	}

	m->refused = 0;

	size_t got = lfpool_acquire_bulk(m->pool, objects, count), left;

	/* After a hook's refusal it has got others, or has not asked for the rest. */
	while ((left = model_unheld(m)) < (m->refused ? got : count) && model_grow_by_itself(m))
		;
	REQUIRE(m->refused ? got <= count && got <= left : got == (count < left ? count : left));
	if (m->refused && !m->owed && lfpool_capacity(m->pool) != m->capacity)
		REQUIRE(model_grow_by_itself(m));
	for (size_t i = 0; i < got; i++)
		model_acquired(m, objects[i]);
}

/* ---- Release ----------------------------------------------------------------------------------------------- */

lfpool_status_t model_status_of(const struct model *m, const void *object, bool foreign)
{
	const struct cell *cell = model_cell(m, object);

	if (!object || (cell && cell->held))
		return LFPOOL_OK;
	if (cell || (!foreign && lfpool_owns(m->pool, object)))
		return LFPOOL_E_NOT_IN_USE;
	if (foreign)
		return LFPOOL_E_FOREIGN;
	/* Between two objects of the pool there are only objects; the model does not know where the pool ends. */
	if (m->cells && (uintptr_t)object - m->cell[0].address <
				m->cell[m->cells - 1].address + m->config.object_size - m->cell[0].address)
		return LFPOOL_E_INTERIOR;
	return STATUS_OUTSIDE;
}

/* Does the header define the outcome?  A wrong release with malloc may do anything. */
bool model_is_defined(const struct model *m, lfpool_status_t status)
{
	return status == LFPOOL_OK || m->exact;
}

bool model_foresee(struct model *m, const void *object, lfpool_status_t status)
{
	struct cell *cell = model_cell(m, object);

	if (status != LFPOOL_OK) {
		REQUIRE(m->expected_count < MODEL_BULK_MAX);
		m->expected[m->expected_count++] = (struct refusal){object, status};
		return false;
	}
	if (!object)
		return false;
	require_held_contents(m, cell);
	model_released(m, cell);
	return true;
}

void model_require_status(lfpool_status_t status, lfpool_status_t expected)
{
	if (expected == STATUS_OUTSIDE)
		REQUIRE(status == LFPOOL_E_FOREIGN || status == LFPOOL_E_INTERIOR);
	else
		REQUIRE(status == expected);
}

void model_settle(struct model *m)
{
	model_settle_serving(m);
	REQUIRE(m->reported_count == m->expected_count);
	m->misuses += m->expected_count;
	m->expected_count = m->reported_count = 0;
	REQUIRE(lfpool_quick_stats(m->pool).misuses == m->misuses);
}

void model_release(struct model *m, struct door door, void *object, bool foreign)
{
	lfpool_status_t expected = model_status_of(m, object, foreign);

	if (!model_is_defined(m, expected))
		return;
	model_foresee_serving(m, model_foresee(m, object, expected), false);

	model_require_status(release_by(m, door, object), expected);
	model_settle(m);
}

void model_release_otherwise(struct model *m, void *object, bool by_handle)
{
	if (!object || !m->exact)
		return;

	const lfpool_handle_t handle = lfpool_handle_of(m->pool, object);

	if (!by_handle)
		REQUIRE(lfpool_of(object) == (m->plan.in_buffer ? NULL : m->pool));
	model_foresee_serving(m, model_foresee(m, object, LFPOOL_OK), false);
	if (by_handle)
		REQUIRE(lfpool_release_handle(m->pool, handle) == LFPOOL_OK);
	else
		REQUIRE((m->plan.in_buffer ? lfpool_release(m->pool, object) : lfpool_release_self(object)) ==
			LFPOOL_OK);
	model_settle(m);
	REQUIRE(lfpool_resolve(m->pool, handle) != object);
}

void model_release_inside(struct model *m, void *object)
{
	model_released(m, model_cell(m, object));
	REQUIRE(lfpool_release(m->pool, object) == LFPOOL_OK);
}

void model_release_bulk(struct model *m, void *const *objects, size_t count)
{
	void *defined[MODEL_BULK_MAX];
	size_t kept = 0, back = 0;

	/* The header does not say how many it releases at once, so neither whether a pool with a pending shrink grows
	 * in between. */
	if (m->owed && m->waiters && m->config.growth_step && count > 1)
		count = 1;
	for (size_t i = 0; i < count; i++) {
		lfpool_status_t status = model_status_of(m, objects[i], false);

		/* An object that is free now may have a new holder by then. */
		if (!model_is_defined(m, status) || (m->waiters && status == LFPOOL_E_NOT_IN_USE))
			continue;
		back += model_foresee(m, objects[i], status);
		defined[kept++] = objects[i];
	}
	model_foresee_serving(m, back, false);
	REQUIRE(lfpool_release_bulk(m->pool, defined, kept) == back);
	model_settle(m);
}

/* ---- Caches, questions ------------------------------------------------------------------------------------- */

void model_cache_create(struct model *m)
{
	if (m->caches == MODEL_CACHES_MAX)
		return;

	lfpool_cache_t *cache = lfpool_cache_create(m->pool);
	const size_t in_buffer = m->config.buffer_caches ? m->config.buffer_caches : LFPOOL_BUFFER_CACHES;

	if (m->plan.in_buffer && m->caches == in_buffer * 3 / 4) {
		REQUIRE(!cache);
		return;
	}
	REQUIRE(cache);
	for (size_t i = 0; i < m->caches; i++)
		REQUIRE(cache != m->cache[i]);
	m->cache[m->caches++] = cache;
}

void model_cache_destroy(struct model *m, size_t which)
{
	lfpool_cache_destroy(m->cache[which]);
	m->cache[which] = m->cache[--m->caches];
}

void model_ask(const struct model *m, const void *pointer, bool foreign)
{
	const struct cell *cell = model_cell(m, pointer);
	bool owns = lfpool_owns(m->pool, pointer), in_use = lfpool_in_use(m->pool, pointer);

	if (!m->exact) {
		REQUIRE(owns == (cell && (cell->held || cell->retired)) && in_use == (cell && cell->held));
		return;
	}
	if (cell || foreign || !pointer)
		REQUIRE(owns == (cell != NULL));
	REQUIRE(in_use == (cell && cell->held));

	const lfpool_handle_t handle = lfpool_handle_of(m->pool, pointer);

	REQUIRE((handle != 0) == in_use);
	REQUIRE(!handle || lfpool_resolve(m->pool, handle) == pointer);
}

static bool require_held(void *context, void *object)
{
	const struct cell *cell = model_cell(context, object);

	REQUIRE(cell && cell->held);
	return true;
}

/* Never below the most held; every third check resets it. */
static void check_high_water(struct model *m)
{
	lfpool_stats_t stats;

	REQUIRE(lfpool_stats(m->pool, &stats) == LFPOOL_OK);
	REQUIRE(stats.high_water >= m->most && stats.high_water <= m->reserved);
	REQUIRE(stats.unaccounted == 0 && stats.active == m->held && stats.retired == m->retired);
	REQUIRE(stats.active + stats.retired + stats.cached + stats.shared + stats.untouched == stats.capacity);
	REQUIRE(stats.waiting == m->waiters && stats.owed == m->owed && stats.misuses == m->misuses);
	if (++m->checks % 3 == 0) {
		lfpool_high_water_reset(m->pool);
		m->most = m->held + m->retired;
	}
}

void model_check_counts(struct model *m)
{
	check_high_water(m);
	REQUIRE(lfpool_active_count(m->pool) == m->held + m->retired);
	REQUIRE(lfpool_available_count(m->pool) == model_unheld(m));
	REQUIRE(lfpool_capacity(m->pool) == m->capacity && lfpool_quick_stats(m->pool).max_capacity == m->maximum);
	REQUIRE(lfpool_quick_stats(m->pool).owed == m->owed);
	REQUIRE(lfpool_quick_stats(m->pool).misuses == m->misuses);
	REQUIRE(lfpool_quick_stats(m->pool).backend == m->config.backend);
	if (m->exact)
		REQUIRE(lfpool_for_each_active(m->pool, require_held, (void *)(uintptr_t)m) == m->held);
	REQUIRE(!lfpool_check(m->pool, NULL));
}
