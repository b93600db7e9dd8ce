/* SPDX-License-Identifier: MIT */
/*
 * arena.c - layout of the address range, see arena.h.
 */
#include "arena.h"

#include "os.h"

/* The inverse of an odd number modulo 2^64: Newton's iteration doubles the right bits, from 5. */
static uint64_t inverse_of_odd(uint64_t odd)
{
	uint64_t inverse = odd * 3 ^ 2;

	for (int right_bits = 5; right_bits < 64; right_bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

void *arena_open(struct arena *arena_out, const struct arena_plan *plan)
{
	const size_t page = os_page_bytes();
	size_t least = plan->object_size < plan->stride_minimum ? plan->stride_minimum : plan->object_size;
	size_t stride = round_up(plan->front_bytes + least + plan->back_bytes, plan->object_alignment);
	const size_t front = round_up(plan->front_bytes, plan->object_alignment);
	size_t state_bytes = 0, touched, before, object_bytes, mapped_bytes;

	/* The room and the state words; the epochs, from a page of their own; a page without access. */
	touched = round_up(plan->room_bytes, CACHE_LINE_PAIR);
	if ((plan->tracked && __builtin_mul_overflow(plan->capacity + 1, sizeof(uint32_t), &state_bytes)) ||
	    __builtin_add_overflow(touched, state_bytes, &touched) ||
	    __builtin_add_overflow(touched, page - 1, &touched))
		return NULL;
	touched &= ~(page - 1);
	if (__builtin_add_overflow(touched, state_bytes, &before) ||
	    __builtin_add_overflow(before, 2 * page - 1, &before) ||
	    __builtin_mul_overflow(plan->capacity, stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, front, &object_bytes))
		return NULL;
	before &= ~(page - 1);
	if (__builtin_add_overflow(before, object_bytes, &mapped_bytes) ||
	    __builtin_add_overflow(mapped_bytes, 2 * page - 1, &mapped_bytes))
		return NULL;
	mapped_bytes &= ~(page - 1);

	char *room = os_map(mapped_bytes);

	if (!room)
		return NULL;
	if (!os_guard(room + before - page, page) || !os_guard(room + mapped_bytes - page, page) ||
	    (plan->prefault && (!os_prefault(room, touched) ||
				!os_prefault(room + before, mapped_bytes - page - before)))) {
		os_unmap(room, mapped_bytes);
		return NULL;
	}

	unsigned shift = (unsigned)__builtin_ctzll(stride);

	arena_out->mapped_bytes = mapped_bytes;
	arena_out->face = (struct lfpool_cache){
		.state = NULL,
		.zero = (uintptr_t)(room + before) + front - stride,
		.inverse = inverse_of_odd((uint64_t)stride >> shift),
		.slots = plan->capacity,
		.stride = (uint32_t)stride,
		.shift = shift,
	};
	arena_out->front = plan->front_bytes;
	arena_out->epoch = NULL;
	/* relaxed: the arena is not yet anybody else's. */
	store_relaxed(&arena_out->epochs, 0);
	if (plan->tracked) {
		arena_out->face.state = (void *)(room + round_up(plan->room_bytes, CACHE_LINE_PAIR));
		arena_out->epoch = (void *)(room + touched);
	}
	return room;
}

uint32_t arena_next_epoch(struct arena *arena, uint32_t slot)
{
	/* relaxed, both: the fence publishes them, before the state word says the same as long ago (A3). */
	store_relaxed(&arena->epoch[slot], load_relaxed(&arena->epoch[slot]) + 1);
	store_relaxed(&arena->epochs, 1);
	os_heavy_fence();
	return 0;
}

void arena_close(void *room, size_t mapped_bytes)
{
	os_unmap(room, mapped_bytes);
}

lfpool_status_t arena_refuse(const struct arena *arena, const void *object)
{
	const struct lfpool_cache *face = &arena->face;
	const uintptr_t first = face->zero + face->stride;

	return (uintptr_t)object - first < (uintptr_t)(face->slots * face->stride) ? LFPOOL_E_INTERIOR
										 : LFPOOL_E_FOREIGN;
}
