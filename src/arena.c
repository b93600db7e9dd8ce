/* SPDX-License-Identifier: MIT */
/*
 * arena.c - layout of the address range, see arena.h.
 */
#include "arena.h"

#include "backing.h"
#include "os.h"

#include <string.h>

/* The inverse of an odd number modulo 2^64: Newton's iteration doubles the right bits, from 5. */
static uint64_t inverse_of_odd(uint64_t odd)
{
	uint64_t inverse = odd * 3 ^ 2;

	for (int right_bits = 5; right_bits < 64; right_bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* Bytes from the first page of the objects that slots 1 .. count take, in whole pages. */
static size_t bytes_of_slots(size_t stride, size_t front, size_t count)
{
	return round_up(front + count * stride, os_page_bytes());
}

/* What it takes to align objects, more than a buffer is. */
static size_t slack_of(const struct arena_plan *plan)
{
	return plan->object_alignment > CACHE_LINE_PAIR ? plan->object_alignment - CACHE_LINE_PAIR : 0;
}

/* The parts of the range, in bytes. */
struct layout {
	size_t stride, front;
	size_t touched; /* the room and the state words                                            */
	size_t gone;    /* where the bytes of the pages begin, after the epochs                    */
	size_t opened;  /* all those, from a page of their own the epochs                          */
	size_t before;  /* and pages without access, one at least                                  */
	size_t objects; /* in whole pages                                                          */
	size_t mapped;  /* all of it, with a page without access behind the objects                */
};

/* The sizes of a slot, and of what comes before the epochs, in multiples of `grain`; false when there is no such number
 * of bytes. */
static bool lay_out_front(struct layout *l, const struct arena_plan *plan, size_t grain, size_t *state_bytes_out)
{
	const size_t least = plan->object_size < plan->stride_minimum ? plan->stride_minimum : plan->object_size;
	size_t state_bytes = 0;

	l->stride = round_up(plan->front_bytes + least + plan->back_bytes, plan->object_alignment);
	l->front = round_up(plan->front_bytes, plan->object_alignment);
	l->touched = round_up(plan->room_bytes, CACHE_LINE_PAIR);
	if ((plan->tracked && __builtin_mul_overflow(plan->reserved + 1, sizeof(uint32_t), &state_bytes)) ||
	    __builtin_add_overflow(l->touched, state_bytes, &l->touched) ||
	    __builtin_add_overflow(l->touched, grain - 1, &l->touched))
		return false;
	l->touched &= ~(grain - 1);
	*state_bytes_out = state_bytes;
	return !__builtin_add_overflow(l->touched, state_bytes, &l->gone);
}

/* False when there is no such number of bytes. */
static bool lay_out(struct layout *l, const struct arena_plan *plan)
{
	const size_t page = os_page_bytes(), grain = plan->backing & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : page;
	size_t state_bytes, object_bytes;

	if (!lay_out_front(l, plan, page, &state_bytes) ||
	    __builtin_mul_overflow(plan->reserved, l->stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, l->front + page, &object_bytes))
		return false;
	l->objects = bytes_of_slots(l->stride, l->front, plan->reserved);
	if (__builtin_add_overflow(l->gone, l->objects / page + 2 * page + grain, &l->before))
		return false;
	l->opened = round_up(l->gone + l->objects / page, page);
	l->before = round_up(l->opened + page, grain);
	if (plan->objects_at) {
		l->mapped = l->before;
		return l->objects <= plan->objects_at_bytes;
	}
	return !__builtin_add_overflow(l->before + page, l->objects, &l->mapped);
}

/* The same in a buffer: no pages, nothing is given back, and all of it is `mapped`. */
static bool lay_out_in_buffer(struct layout *l, const struct arena_plan *plan)
{
	size_t state_bytes;

	if (!lay_out_front(l, plan, CACHE_LINE_PAIR, &state_bytes) ||
	    __builtin_add_overflow(l->gone, CACHE_LINE_PAIR - 1 + slack_of(plan), &l->before) ||
	    __builtin_mul_overflow(plan->reserved, l->stride, &l->objects) ||
	    __builtin_add_overflow(l->objects, l->front, &l->objects))
		return false;
	/* Where the objects begin at the latest. */
	l->before = round_up(l->gone, CACHE_LINE_PAIR) + slack_of(plan);
	return !__builtin_add_overflow(l->before, l->objects, &l->mapped);
}

size_t arena_buffer_bytes(const struct arena_plan *plan)
{
	struct layout l;

	return lay_out_in_buffer(&l, plan) ? l.mapped : 0;
}

/* With huge pages the room begins with one, and so do the objects. */
static char *map_range(const struct layout *l, bool huge)
{
	const size_t slack = huge ? HUGE_PAGE_BYTES : 0;
	size_t bytes;
	char *mapped = __builtin_add_overflow(l->mapped, slack, &bytes) ? NULL : os_map(bytes);

	if (!mapped || !huge)
		return mapped;

	const size_t ahead = -(uintptr_t)mapped & (HUGE_PAGE_BYTES - 1);

	if (ahead)
		os_unmap(mapped, ahead);
	os_unmap(mapped + ahead + l->mapped, slack - ahead);
	return mapped + ahead;
}

/* Access to what can be used, and to nothing else. */
static bool set_access(const struct arena *arena, char *room, const struct layout *l, const struct arena_plan *plan)
{
	const size_t opened = bytes_of_slots(l->stride, l->front, plan->capacity);

	if (!os_guard(room + l->opened, l->before - l->opened))
		return false;
	if (plan->backing & LFPOOL_HUGE_PAGES) {
		/* Those without access too: for when they have. */
		os_wish_huge(room, l->opened);
		os_wish_huge(arena->objects, l->objects);
	}
	return plan->objects_at ? os_open(arena->objects, opened)
				: os_guard(arena->objects + opened, l->objects - opened + os_page_bytes());
}

static void describe(struct arena *arena_out, const struct arena_plan *plan, const struct layout *l, char *room,
		     char *objects)
{
	const unsigned shift = (unsigned)__builtin_ctzll(l->stride);

	*arena_out = (struct arena){
		.face = {
			.zero = (uintptr_t)objects + l->front - l->stride,
			.inverse = inverse_of_odd((uint64_t)l->stride >> shift),
			.slots = plan->reserved,
			.stride = (uint32_t)l->stride,
			.shift = (uint8_t)shift,
		},
		.front = plan->front_bytes,
		.objects = objects,
		.touched = l->touched,
		.backing = plan->backing,
		.in_buffer = plan->in_buffer,
	};
	if (plan->tracked) {
		arena_out->face.state = (void *)(room + round_up(plan->room_bytes, CACHE_LINE_PAIR));
		arena_out->epoch = (void *)(room + l->touched);
	}
}

static void *open_in_buffer(struct arena *arena_out, const struct arena_plan *plan)
{
	char *room = plan->buffer, *objects;
	struct layout l;

	if (!lay_out_in_buffer(&l, plan))
		return NULL;
	/* All that there is reads as zero, the objects too. */
	memset(room, 0, l.mapped);
	objects = room + l.before - slack_of(plan);
	objects += -(uintptr_t)objects & (plan->object_alignment - 1);
	describe(arena_out, plan, &l, room, objects);
	return room;
}

void *arena_open(struct arena *arena_out, const struct arena_plan *plan)
{
	struct layout l;

	if (plan->in_buffer)
		return open_in_buffer(arena_out, plan);

	char *room = lay_out(&l, plan) ? map_range(&l, plan->backing & LFPOOL_HUGE_PAGES) : NULL;

	if (!room)
		return NULL;
	describe(arena_out, plan, &l, room, plan->objects_at ? plan->objects_at : room + l.before);
	arena_out->mapped_bytes = l.mapped;
	arena_out->gone = plan->backing & LFPOOL_LOCK ? NULL : (void *)(room + l.gone);
	if (!set_access(arena_out, room, &l, plan)) {
		os_unmap(room, l.mapped);
		return NULL;
	}
	return room;
}

/* From the page on which the objects begin to the first one. */
static size_t first_object_at(const struct arena *arena)
{
	return (size_t)(arena->face.zero + arena->face.stride - (uintptr_t)arena->objects);
}

lfpool_status_t arena_back(const struct arena *arena, void *room, size_t capacity)
{
	if (arena->in_buffer)
		return LFPOOL_OK;

	const lfpool_status_t status = backing_give(arena->backing, room, arena->touched);

	return status != LFPOOL_OK ? status
				   : backing_give(arena->backing, arena->objects,
						  bytes_of_slots(arena->face.stride, first_object_at(arena), capacity));
}

bool arena_extend(const struct arena *arena, size_t from, size_t to)
{
	const size_t stride = arena->face.stride, had = bytes_of_slots(stride, first_object_at(arena), from);
	const size_t more = bytes_of_slots(stride, first_object_at(arena), to) - had;

	return !more || (os_open(arena->objects + had, more) &&
			 backing_give(arena->backing, arena->objects + had, more) == LFPOOL_OK);
}

size_t arena_fill_pages(const struct arena *arena, size_t slots)
{
	const size_t stride = arena->face.stride, front = first_object_at(arena);

	if (!(arena->backing & LFPOOL_HUGE_PAGES))
		return slots;
	return (round_up(front + slots * stride, HUGE_PAGE_BYTES) - front + stride - 1) / stride;
}

uint32_t arena_next_epoch(struct arena *arena, uint32_t slot)
{
	/* relaxed, both: the fence publishes them, before the state word says the same as long ago (A3). */
	store_relaxed(&arena->epoch[slot], load_relaxed(&arena->epoch[slot]) + 1);
	store_relaxed(&arena->epochs, 1);
	arena_heavy_fence(arena);
	return 0;
}

void arena_heavy_fence(const struct arena *arena)
{
	if (arena->in_buffer)
		full_fence();
	else
		os_heavy_fence();
}

void arena_close(void *room, size_t mapped_bytes)
{
	if (mapped_bytes)
		os_unmap(room, mapped_bytes);
}

lfpool_status_t arena_refuse(const struct arena *arena, const void *object)
{
	const struct lfpool_cache *face = &arena->face;
	const uintptr_t first = face->zero + face->stride;

	return (uintptr_t)object - first < (uintptr_t)(face->slots * face->stride) ? LFPOOL_E_INTERIOR
										 : LFPOOL_E_FOREIGN;
}

bool arena_object_bytes(const struct arena_plan *plan, size_t *bytes_out)
{
	struct layout l;

	if (!lay_out(&l, plan))
		return false;
	*bytes_out = l.objects;
	return true;
}
