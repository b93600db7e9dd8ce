/* SPDX-License-Identifier: MIT */
/*
 * handle.c - handles and indices, and a pool from an address; see lfpool/handle.h.
 *
 * Idea         A handle is {the slot's generation + the pool's salt, slot}.  The generation counts the uses of the slot
 *              for which a handle was made; other uses cost nothing.  A use with a handle is marked: the slot's state
 *              (arena.h) is LFPOOL_MARKED_, and the slot's word is {generation, pins, live}.  The release of a marked
 *              object changes that word.  The slot number takes the lower b bits of the handle; b is large enough for
 *              every slot of the pool.  The other 64 - b bits are the sum of the generation and the upper 64 - b bits
 *              of the salt, modulo 2^(64 - b).  Slot numbers start at 1, so no handle is 0.
 * Invariants   N1  a call returns a handle only if it found the word live, and after that the state marked.  So by A3
 *                  (arena.h) the handle is stale already, or the release of the object will make it stale.  No two
 *                  marked uses of a slot have a live word with the same generation.  So a stale handle matches no later
 *                  use, except after the wrap that lfpool/handle.h computes.
 *              N2  a release by handle, a pin, an unpin, and each release of a marked object is a CAS that expects a
 *                  word with the matching generation.  So only one of several concurrent releases succeeds.  No call
 *                  changes a later use, because a later use has another generation.
 *              N3  the n-th pool of the process has the salt n * SALT_STEP modulo 2^64.  The salts of pools n and n + d
 *                  differ by more than 2^64 / (5d) in either direction.  The reason is that no partial quotient of the
 *                  continued fraction of SALT_STEP / 2^64 is above 3 (tests/api/unit_handle.c).  So a handle of one
 *                  pool can name an object of the other only if a slot in one of the two pools had more than 2^(61-b)/d
 *                  uses with a handle.
 * Races        If a program makes a handle of an object while another thread releases the object, the program gets 0,
 *              or a handle that is stale at once.  There is a third case if the release is not a CAS (A2, arena.h): a
 *              release that read the state before it was marked ends the use without changing the word.  Then the
 *              handle stays live until a use with a handle ends in this slot.  Until then the handle names the slot's
 *              present object, as the old pointer does.  While the state is not marked, a release by this handle is
 *              refused, and makes the handle stale.
 * Progress     Wait-free, except that a release by handle, a pin and an unpin are lock-free.
 * Edges        TELL (arena.h): the writes of hooks.activate are visible to the thread that resolves the handle.
 */
#include "api/api.h"
#include "core/arena.h"
#include "evict/order.h"
#include "pool/handles.h"
#include "pool/live_pools.h"
#include "pool/threads.h"
#include "retire/retired.h"
#include "waiting/waiters.h"

#include "lfpool/handle.h"

lfpool_handle_t lfpool_handle_of(const lfpool_t *pool, const void *object)
{
	uint32_t slot;

	if (!object || pool_locate(pool, object, &slot) != LFPOOL_OK)
		return 0;
	return handle_live(pool, slot, arena_mark(&pool->core.arena, slot, GENERATION_LIVE));
}

void *lfpool_resolve(const lfpool_t *pool, lfpool_handle_t handle)
{
	uint64_t word;

	const uint32_t slot = handle_find(pool, handle, &word);

	return slot ? pool_object(pool, slot) : NULL;
}

/* Refuses and reports a handle that names no object of the pool. */
static COLD lfpool_status_t handle_refuse(lfpool_t *pool, lfpool_handle_t handle)
{
	const uint64_t slot = handle_slot(pool, handle);
	lfpool_misuse_t misuse = {.handle = handle, .status = LFPOOL_E_STALE};

	if (slot - 1 >= pool->core.arena.slots) {
		misuse.detail = "This pool has no such slot.";
	} else {
		misuse.object = pool_in_place(pool) ? arena_object(&pool->core.arena, (uint32_t)slot) : NULL;
		misuse.detail = arena_is_active(&pool->core.arena, (uint32_t)slot)
					? "The slot holds another object now."
					: "The slot is free.";
	}
	return misuse_tell(pool, &misuse);
}

/* In an evicting pool a stale handle is no misuse, because an eviction may have made it stale. */
lfpool_status_t handle_refuse_evicted(lfpool_t *pool, lfpool_handle_t handle)
{
	const bool may_be_evicted = !EMBEDDED && pool->order && handle_slot(pool, handle) - 1 < pool->core.arena.slots;

	return may_be_evicted ? LFPOOL_E_STALE : handle_refuse(pool, handle);
}

lfpool_status_t lfpool_release_handle(lfpool_t *pool, lfpool_handle_t handle)
{
	uint64_t word;

	const uint32_t slot = handle_find(pool, handle, &word);
	const enum leave leave = slot ? arena_leave(&pool->core.arena, slot, word, GENERATION_RELEASED) : LEAVE_REFUSED;

	if (leave == LEAVE_REFUSED)
		return handle_refuse_evicted(pool, handle);
	if (leave == LEAVE_NOW)
		waiters_put(pool, thread_cache(pool), slot, pool_object(pool, slot));
	return LFPOOL_OK;
}

/* ---- Pins ---- */

void *lfpool_pin(lfpool_t *pool, lfpool_handle_t handle)
{
	uint64_t word;

	const uint32_t slot = handle_find(pool, handle, &word);

	return slot && arena_pin(&pool->core.arena, slot, word) ? pool_object(pool, slot) : NULL;
}

static COLD lfpool_status_t not_pinned(lfpool_t *pool, lfpool_handle_t handle, uint32_t slot)
{
	lfpool_misuse_t misuse = {
		.handle = handle,
		.status = LFPOOL_E_NOT_PINNED,
		.object = pool_object(pool, slot),
		.detail = "The object is active, and has no pin.",
	};

	return misuse_tell(pool, &misuse);
}

lfpool_status_t handle_unpin(lfpool_t *pool, lfpool_handle_t handle, uint32_t slot, uint64_t word)
{
	bool ended;
	const uint64_t before = arena_unpin(&pool->core.arena, slot, word, &ended);

	if (handle_with(pool, slot, before) != handle || !(generation_pins(before) || generation_is_live(before)))
		return handle_refuse(pool, handle);
	if (!generation_pins(before))
		return not_pinned(pool, handle, slot);
	if (!EMBEDDED && generation_pins(before) == 1 && generation_phase(before) == GENERATION_CANDIDATE)
		order_lower(pool->order, slot);
	if (!EMBEDDED && ended && generation_phase(before) == GENERATION_RETIRED)
		retired_push(pool, slot);
	else if (ended)
		waiters_put(pool, thread_cache(pool), slot, pool_object(pool, slot));
	return LFPOOL_OK;
}

lfpool_status_t lfpool_unpin(lfpool_t *pool, lfpool_handle_t handle)
{
	uint64_t word;

	const uint32_t slot = handle_find_use(pool, handle, &word);

	return slot ? handle_unpin(pool, handle, slot, word) : handle_refuse(pool, handle);
}

/* ---- Places ---- */

NOINLINE size_t lfpool_index_of_slow_(const lfpool_t *pool, const void *object)
{
	uint32_t slot;

	return object && pool_locate(pool, object, &slot) == LFPOOL_OK ? slot - 1 : SIZE_MAX;
}

NOINLINE void *lfpool_object_at_slow_(const lfpool_t *pool, size_t index)
{
	const uint64_t slots = pool_in_place(pool) ? pool->core.arena.slots : slots_used(pool);

	return index < slots ? pool_object(pool, (uint32_t)index + 1) : NULL;
}

size_t lfpool_index_of(const lfpool_t *pool, const void *object)
{
	/* An embedded build prefers small code. */
	return EMBEDDED ? lfpool_index_of_slow_(pool, object) : lfpool_index_of_inline_(pool, object);
}

void *lfpool_object_at(const lfpool_t *pool, size_t index)
{
	return EMBEDDED ? lfpool_object_at_slow_(pool, index) : lfpool_object_at_inline_(pool, index);
}

void *lfpool_object_start(const lfpool_t *pool, const void *address)
{
	const struct arena *arena = &pool->core.arena;

	if (!pool_in_place(pool))
		return lfpool_owns(pool, address) ? (void *)(uintptr_t)address : NULL;
	if (!arena_spans(arena, address))
		return NULL;

	const uintptr_t inside = ((uintptr_t)address - arena->zero) % arena->stride;

	return inside < pool->object_size ? (void *)((uintptr_t)address - inside) : NULL;
}

/* ---- Without knowing the pool ---- */

lfpool_t *lfpool_of(const void *pointer)
{
	lfpool_t *pool = EMBEDDED ? NULL : live_pools_find_by_address(pointer);
	uint32_t slot;

	if (!EMBEDDED && !pool && pointer && pool_any_heap()) {
		/* In malloc mode the object's label is the address of its slot.  That address leads to the pool, which
		 * checks the pointer. */
		pool = live_pools_find_by_address(heap_label(pointer));
		return pool && !pool_in_place(pool) && pool_locate(pool, pointer, &slot) == LFPOOL_OK ? pool : NULL;
	}
	return pool && pool_in_place(pool) ? pool : NULL;
}
