/* SPDX-License-Identifier: MIT */
/*
 * arena.c - the address range, made and extended; see arena.h.
 */
#include "core/arena.h"

#include "core/layout.h"
#include "os/backing.h"
#include "os/os.h"

#include <string.h>

_Atomic(uint8_t) *arena_no_state(void)
{
	static _Atomic(uint8_t) never_active;

	return &never_active;
}

/* All of it can be used from the start: its tail is guarded.  Else what can be used is opened, since what never had access is in
 * no account (mlockall(2), strict overcommit); but Valgrind goes through every byte of that. */
static bool is_whole(const struct arena_plan *plan)
{
	return plan->capacity == plan->reserved && !plan->window.at;
}

/* With huge pages the room begins with one, and so do the objects. */
static char *map_range(const struct layout *l, const struct arena_plan *plan)
{
	const size_t huge = plan->backing & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : 0;
	const size_t alignment = plan->window.at || plan->object_alignment < huge ? huge : plan->object_alignment;

	return os_map_aligned(l->mapped, l->before, alignment, is_whole(plan));
}

/* Access to what can be used, and to nothing else. */
static bool set_access(const struct arena *arena, char *room, const struct layout *l, const struct arena_plan *plan)
{
	const size_t opened = layout_slots_bytes(l->stride, l->front, plan->capacity);

	const bool granted = is_whole(plan) ? os_guard(room + l->opened, l->before - l->opened) &&
						      os_guard(arena->objects + opened, l->objects - opened + os_page_bytes())
					    : os_open(room, l->opened) && (plan->window.lent || os_open(arena->objects, opened));

	if (granted && plan->backing & LFPOOL_HUGE_PAGES) {
		os_wish_huge(room, l->opened);
		/* Those without access too: for when they have. */
		if (!plan->window.lent)
			os_wish_huge(arena->objects, l->objects);
	}
	return granted;
}

static void describe(struct arena *arena_out, const struct arena_plan *plan, const struct layout *l, char *room, char *objects)
{
	*arena_out = (struct arena){
		/* clang-format off */
		.face = {
			.zero = (uintptr_t)objects + l->front - l->stride,
			.inverse = layout_inverse(l->stride),
			.slots = plan->reserved,
			.stride = (uint32_t)l->stride,
			.shift = (uint8_t)__builtin_ctzll(l->stride),
		},
		/* clang-format on */
		.front = plan->front_bytes,
		.objects = objects,
		.touched = l->touched,
		.backing = plan->backing,
		.in_buffer = plan->window.whole,
		.fenced = plan->fenced,
		.lent = plan->window.lent,
	};
	arena_out->wanted = (void *)(room + l->states - LFPOOL_WANTED_BEFORE);
	arena_out->face.state = (void *)(room + l->states);
	arena_out->generation = (void *)(room + l->generations);
}

static void *open_in_buffer(struct arena *arena_out, const struct arena_plan *plan)
{
	char *room = plan->window.at, *objects;
	struct layout l;

	if (!lay_out_in_buffer(&l, plan))
		return NULL;
	/* All that there is reads as zero, the objects too. */
	memset(room, 0, l.mapped);
	objects = room + l.before - layout_slack(plan);
	objects += -(uintptr_t)objects & (plan->object_alignment - 1);
	describe(arena_out, plan, &l, room, objects);
	return room;
}

void *arena_open(struct arena *arena_out, const struct arena_plan *plan)
{
	struct layout l;

	if (plan->window.whole)
		return open_in_buffer(arena_out, plan);

	char *room = lay_out(&l, plan) ? map_range(&l, plan) : NULL;

	if (!room)
		return NULL;
	describe(arena_out, plan, &l, room, plan->window.at ? plan->window.at : room + l.before);
	arena_out->mapped_bytes = l.mapped;
	arena_out->gone = plan->window.lent || plan->backing & LFPOOL_LOCK ? NULL : (void *)(room + l.gone);
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

	return status != LFPOOL_OK || arena->lent
		       ? status
		       : backing_give(arena->backing, arena->objects,
				      layout_slots_bytes(arena->face.stride, first_object_at(arena), capacity));
}

bool arena_extend(const struct arena *arena, size_t from, size_t to)
{
	const size_t stride = arena->face.stride, had = layout_slots_bytes(stride, first_object_at(arena), from);
	const size_t more = layout_slots_bytes(stride, first_object_at(arena), to) - had;

	return !more || arena->lent ||
	       (os_open(arena->objects + had, more) && backing_give(arena->backing, arena->objects + had, more) == LFPOOL_OK);
}

size_t arena_fill_pages(const struct arena *arena, size_t slots)
{
	const size_t stride = arena->face.stride, front = first_object_at(arena);

	if (!(arena->backing & LFPOOL_HUGE_PAGES))
		return slots;
	return (round_up(front + slots * stride, HUGE_PAGE_BYTES) - front + stride - 1) / stride;
}

/* The state first: from then on the use ends by arena_unmark(), which changes the word, whether that is live by then or not. */
uint64_t arena_mark(const struct arena *arena, uint32_t slot)
{
	/* relaxed, here and below, of the state: A3 needs its order only against the word. */
	uint8_t state = load_relaxed(&arena->face.state[slot]);

	if (state == LFPOOL_ACTIVE && cas_relaxed(&arena->face.state[slot], &state, LFPOOL_MARKED))
		state = LFPOOL_MARKED;
	if (state != LFPOOL_MARKED)
		return 0;
	uint64_t word = arena_generation(arena, slot);

	/* release, edge TELL: what hooks.activate wrote, for who resolves the handle.  acquire, edge MARK; on failure too: another
	 * has made it live, or another thread releases the object. */
	if (generation_phase(word) == GENERATION_DEAD && cas_acq_rel(&arena->generation[slot], &word, word | GENERATION_LIVE))
		word |= GENERATION_LIVE;
	/* Marked with this word live, the use is the handle's.  Else what we marked was released meanwhile; and if it was before we
	 * made the word live, nobody has got a handle with it, and the next to be made may have it. */
	return load_relaxed(&arena->face.state[slot]) == LFPOOL_MARKED ? word : 0;
}

bool arena_unmark(const struct arena *arena, uint32_t slot, uint64_t word)
{
	const uint64_t next = word - generation_phase(word) + GENERATION_ONE;
	uint8_t state = LFPOOL_MARKED;

	/* relaxed: the load that brought the word was an acquire.  Nothing to release: what the slot's next holder must see goes
	 * with the free lists. */
	if (generation_phase(word) == GENERATION_LEAVING ||
	    !cas_relaxed(&arena->generation[slot], &word, next | GENERATION_LEAVING))
		return false;
	/* relaxed: the word is ours.  Fails only if it was released by who did not see the mark, while it was made. */
	const bool ours = cas_relaxed(&arena->face.state[slot], &state, 0);

	/* release, edge MARK: that the state was not marked any more. */
	store_release(&arena->generation[slot], next);
	return ours;
}

bool arena_release_marked(const struct arena *arena, uint32_t slot)
{
	const uint64_t word = arena_generation(arena, slot);

	/* relaxed: after the word, edge MARK.  So the use that is marked is the word's. */
	if (load_relaxed(&arena->face.state[slot]) != LFPOOL_MARKED)
		return false;
	/* A second time only if a handle was made meanwhile: from dead to live. */
	return arena_unmark(arena, slot, word) ||
	       (generation_phase(word) == GENERATION_DEAD && arena_unmark(arena, slot, word | GENERATION_LIVE));
}

void arena_heavy_fence(const struct arena *arena)
{
	if (arena->fenced)
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
	return arena_spans(arena, object) ? LFPOOL_E_INTERIOR : LFPOOL_E_FOREIGN;
}
