/* SPDX-License-Identifier: MIT */
/*
 * plain.c - see plain.h.
 */
#include "priority/plain.h"

#include "base/probes.h"
#include "os/os.h"
#include "priority/plain_heap.h"

#include <string.h>

typedef lfpool_priority_t pool_t;

static bool allocates(const pool_t *pool)
{
	return pool->backend == LFPOOL_BACKEND_MALLOC;
}

static void lock(const pool_t *pool)
{
	os_mutex_lock((os_mutex_t *)(uintptr_t)&pool->plain.mutex);
}

static void unlock(const pool_t *pool)
{
	os_mutex_unlock((os_mutex_t *)(uintptr_t)&pool->plain.mutex);
}

/* ---- Objects ---- */

void *plain_object(const pool_t *pool, uint32_t slot)
{
	return allocates(pool) ? plain_slot_at(pool, slot)->object : object_of(pool, slot);
}

/* Outside of the mutex: the slot is the caller's.  False: a hook, or the allocator, refused. */
static bool begin(pool_t *pool, uint32_t slot)
{
	void *object = allocates(pool) ? os_heap_aligned(pool->object_alignment, pool->object_size) : object_of(pool, slot);

	if (allocates(pool) && !(plain_slot_at(pool, slot)->object = object))
		return false;
	/* What hooks.create is promised. */
	if (pool->lifecycle ? allocates(pool) : pool->flags & LFPOOL_ZERO)
		memset(object, 0, pool->object_size);
	if (!pool->lifecycle || lifecycle_begin(pool->lifecycle, allocates(pool) ? SLOT_NONE : slot, object) == BEGIN_OK)
		return true;
	if (allocates(pool))
		os_heap_free(object);
	return false;
}

static void end(pool_t *pool, uint32_t slot)
{
	void *object = plain_object(pool, slot);

	if (pool->lifecycle)
		(void)lifecycle_end(pool->lifecycle, allocates(pool) ? SLOT_NONE : slot, object);
	if (allocates(pool))
		os_heap_free(object);
}

/* Locked, and in no heap: free from here on, and unlocked. */
static void give_back(pool_t *pool, uint32_t slot, bool used)
{
	if (used && (pool->lifecycle || allocates(pool))) {
		plain_slot_at(pool, slot)->life = TAKEN;
		unlock(pool);
		end(pool, slot);
		lock(pool);
	}
	plain_slot_at(pool, slot)->life = FREE;
	plain_heap(pool)[pool->tournament.count + ++pool->plain.free_count] = slot;
	unlock(pool);
}

/* Locked: what the handle names, if its life is one of these; SLOT_NONE. */
static uint32_t slot_of(const pool_t *pool, lfpool_handle_t handle, unsigned lives)
{
	const uint32_t slot = (uint32_t)(handle & LOW_BITS(HANDLE_SLOT_BITS)) + 1;

	return slot <= pool->tournament.count && plain_slot_at(pool, slot)->life & lives &&
			       handle >> HANDLE_SLOT_BITS == (plain_slot_at(pool, slot)->stamp & HANDLE_STAMP_MASK)
		       ? slot
		       : SLOT_NONE;
}

/* ---- Life ---- */

bool plain_open(pool_t *pool)
{
	if (!os_mutex_open(&pool->plain.mutex))
		return false;
	pool->plain.free_count = pool->tournament.count;
	for (uint32_t slot = pool->tournament.count; slot; slot--)
		plain_heap(pool)[2 * pool->tournament.count + 1 - slot] = slot;
	return true;
}

void plain_close(pool_t *pool)
{
	os_mutex_close(&pool->plain.mutex);
}

/* ---- Calls ---- */

/* Locked: the youngest object, its slot taken before. */
static struct contender make_new(pool_t *pool, uint32_t slot, uint64_t priority)
{
	struct plain_slot *s = plain_slot_at(pool, slot);

	s->priority = priority;
	s->stamp = next_stamp(pool);
	s->life = NEW;
	return plain_contender(pool, slot);
}

void *plain_acquire(pool_t *pool, uint64_t priority, void *owner, lfpool_handle_t *handle_out)
{
	struct contender victim = {.slot = SLOT_NONE}, mine;
	uint32_t slot = SLOT_NONE;

	lock(pool);
	if (pool->plain.free_count) {
		slot = plain_heap(pool)[pool->tournament.count + pool->plain.free_count--];
	} else if (pool->plain.heap_count) {
		victim = plain_contender(pool, plain_heap(pool)[1]);
		if (gives_way(pool, victim.key, priority))
			plain_heap_remove(pool, slot = victim.slot);
	}
	/* What a hook acquires in between is older, as in the lock-free pool. */
	const bool calls = pool->lifecycle || (victim.slot && pool->on_evict);

	if (slot)
		*plain_slot_at(pool, slot) = (struct plain_slot){.object = plain_slot_at(pool, slot)->object, .life = TAKEN};
	if (slot && !calls)
		mine = make_new(pool, slot, priority);
	unlock(pool);
	if (slot && slot == victim.slot) {
		tell_evicted(pool, &victim, plain_object(pool, slot));
		end(pool, slot);
	}
	if (slot && begin(pool, slot)) {
		if (calls) {
			lock(pool);
			mine = make_new(pool, slot, priority);
			unlock(pool);
		}
		pool->owners[slot - 1] = owner;
		*handle_out = handle_of(&mine);
		return plain_object(pool, slot);
	}
	if (slot) {
		lock(pool);
		give_back(pool, slot, false);
	}
	tally_shared(&pool->refused, 1);
	probe_refuse(pool, pool->name, priority);
	return NULL;
}

lfpool_status_t plain_publish(pool_t *pool, lfpool_handle_t handle)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, NEW);

	if (slot) {
		plain_slot_at(pool, slot)->life = ACTIVE;
		plain_heap_insert(pool, slot);
	}
	unlock(pool);
	return slot ? LFPOOL_OK : LFPOOL_E_STALE;
}

lfpool_status_t plain_release(pool_t *pool, lfpool_handle_t handle)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, NEW | ACTIVE);

	if (slot && plain_slot_at(pool, slot)->at)
		plain_heap_remove(pool, slot);
	if (slot && !plain_slot_at(pool, slot)->pins) {
		give_back(pool, slot, true);
		return LFPOOL_OK;
	}
	if (slot)
		plain_slot_at(pool, slot)->life = RELEASED;
	unlock(pool);
	return slot ? LFPOOL_OK : LFPOOL_E_STALE;
}

lfpool_status_t plain_update(pool_t *pool, lfpool_handle_t handle, uint64_t priority)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, ACTIVE);

	if (slot) {
		plain_slot_at(pool, slot)->priority = priority;
		if (plain_slot_at(pool, slot)->at)
			plain_heap_settle(pool, plain_slot_at(pool, slot)->at, slot);
	}
	unlock(pool);
	return slot ? LFPOOL_OK : LFPOOL_E_STALE;
}

/* Locked. */
static bool pin(pool_t *pool, uint32_t slot)
{
	struct plain_slot *s = plain_slot_at(pool, slot);

	if (s->life != ACTIVE || s->pins >= PINS_MAX)
		return false;
	if (s->at)
		plain_heap_remove(pool, slot);
	s->pins++;
	return true;
}

void *plain_pin(pool_t *pool, lfpool_handle_t handle)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, ACTIVE);
	const bool pinned = slot && pin(pool, slot);

	unlock(pool);
	return pinned ? plain_object(pool, slot) : NULL;
}

lfpool_handle_t plain_pin_slot(pool_t *pool, uint32_t slot, uint64_t *priority_out)
{
	lock(pool);
	const bool pinned = pin(pool, slot);
	const struct contender c = plain_contender(pool, slot);

	unlock(pool);
	*priority_out = c.key;
	return pinned ? handle_of(&c) : 0;
}

lfpool_status_t plain_unpin(pool_t *pool, lfpool_handle_t handle)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, ACTIVE | RELEASED);
	struct plain_slot *s = slot ? plain_slot_at(pool, slot) : NULL;
	const lfpool_status_t status = !s ? LFPOOL_E_STALE : s->pins ? LFPOOL_OK : LFPOOL_E_NOT_PINNED;

	if (status == LFPOOL_OK && !--s->pins && s->life == RELEASED) {
		give_back(pool, slot, true);
		return LFPOOL_OK;
	}
	if (status == LFPOOL_OK && !s->pins)
		plain_heap_insert(pool, slot);
	unlock(pool);
	return status;
}

size_t plain_release_min(pool_t *pool, size_t count)
{
	size_t released = 0;

	for (; released < count; released++) {
		lock(pool);
		const uint32_t slot = pool->plain.heap_count ? plain_heap(pool)[1] : SLOT_NONE;

		if (!slot) {
			unlock(pool);
			break;
		}
		const struct contender victim = plain_contender(pool, slot);

		plain_heap_remove(pool, slot);
		plain_slot_at(pool, slot)->life = TAKEN;
		unlock(pool);
		tell_evicted(pool, &victim, plain_object(pool, slot));
		lock(pool);
		give_back(pool, slot, true);
	}
	return released;
}

/* ---- Questions ---- */

lfpool_handle_t plain_peek_min(pool_t *pool, uint64_t *priority_out)
{
	struct contender first = {.slot = SLOT_NONE};

	lock(pool);
	if (pool->plain.heap_count)
		first = plain_contender(pool, plain_heap(pool)[1]);
	unlock(pool);
	if (first.slot && priority_out)
		*priority_out = first.key;
	return first.slot ? handle_of(&first) : 0;
}

bool plain_find(const pool_t *pool, lfpool_handle_t handle, struct contender *out)
{
	lock(pool);
	const uint32_t slot = slot_of(pool, handle, ACTIVE);

	if (slot)
		*out = plain_contender(pool, slot);
	unlock(pool);
	return slot;
}

size_t plain_count(const pool_t *pool)
{
	lock(pool);
	const size_t count = pool->tournament.count - pool->plain.free_count;

	unlock(pool);
	return count;
}

uint64_t plain_state(const pool_t *pool, uint32_t slot)
{
	lock(pool);
	const struct plain_slot s = *plain_slot_at(pool, slot);

	unlock(pool);
	switch (s.life) {
	case TAKEN: return STATE_TAKEN;
	case NEW: return STATE_NEW;
	default: return (s.life == ACTIVE ? STATE_ACTIVE : 0) | s.pins * STATE_PIN;
	}
}

const char *plain_check(const pool_t *pool, size_t *where_out)
{
	size_t free = 0, heap = 0;

	*where_out = SIZE_MAX;
	for (uint32_t slot = 1; slot <= pool->tournament.count; slot++) {
		const struct plain_slot *s = plain_slot_at(pool, slot);

		free += s->life == FREE;
		heap += s->at != 0;
		*where_out = slot - 1;
		if ((s->at != 0) != (s->life == ACTIVE && !s->pins))
			return "PN1: a slot is in the heap and does not contend, or contends and is not there";
		if (s->at && (s->at > pool->plain.heap_count || plain_heap(pool)[s->at] != slot))
			return "PN1: a slot is not in the heap where it says";
		if (s->at > 1 && plain_before(pool, slot, plain_heap(pool)[s->at / 2]))
			return "PN1: a slot in the heap goes before the one above it";
	}
	*where_out = SIZE_MAX;
	if (free != pool->plain.free_count || heap != pool->plain.heap_count)
		return "PN2: there are not as many slots free, or in the heap, as are counted";
	return NULL;
}
