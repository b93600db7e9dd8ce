/* SPDX-License-Identifier: MIT */
/*
 * arena.c - the layout of the address range, its mapping, and the generations; see arena.h.
 */
#include "core/arena.h"

#include "os/os.h"

#include <string.h>

/* ---- The layout ---- */

/* The parts of the range, in bytes. */
struct layout {
	size_t room;                /* offset of the pool's data, less than a page            */
	size_t stride;              /* from object to object                                  */
	size_t front;               /* from the first page of the objects to the first object */
	size_t states, generations; /* their offsets                                                          */
	size_t dirty;               /* offset of the bytes `dirty`, after the generations                     */
	size_t touched;             /* end of the generations, in whole pages                                 */
	size_t opened;              /* end of `dirty`                                                         */
	size_t before;              /* end of the pages without access (at least one) before the objects      */
	size_t objects;             /* size of all objects, in whole pages                                    */
	size_t mapped;              /* size of the range, with one page without access behind the objects     */
};

size_t layout_stride(size_t bytes, size_t alignment, bool plain)
{
	const size_t stride = round_up(bytes, alignment);

	return plain ? stride : LFPOOL_STRIDE_SPREAD_(stride, alignment);
}

/* Newton's iteration: it begins with 5 correct bits, and each step doubles their number. */
uint64_t layout_inverse(uint64_t stride)
{
	const uint64_t odd = stride >> __builtin_ctzll(stride);
	uint64_t inverse = odd * 3 ^ 2;

	for (int right_bits = 5; right_bits < 64; right_bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* H9: the logarithm of the largest power of two that is at most the stride. */
static unsigned layout_grain(size_t stride)
{
	return 63 - (unsigned)__builtin_clzll(stride);
}

/* The bytes from the first page of the objects to the end of slot `count`, in whole pages. */
static size_t layout_slots_bytes(size_t stride, size_t front, size_t count)
{
	return round_up(front + count * stride, os_page_bytes());
}

/* The bytes needed to align the objects in a buffer, if their alignment is larger than the buffer's. */
static size_t layout_slack(const struct arena_plan *plan)
{
	return plan->object_alignment > CACHE_LINE_PAIR ? plan->object_alignment - CACHE_LINE_PAIR : 0;
}

/* A first-level processor cache has only eight to twelve lines for each offset in a page.  Without colours, pools of
 * the same configuration would have their hot data at the same offsets, and would displace each other's lines.  So each
 * pool has a number, its colour.  The pool's data is shifted by `colour` pairs of cache lines, and its first object by
 * `colour` lines, as far as the alignment allows.  A pool in a buffer has colour 0.  In a window, or with
 * LFPOOL_PLAIN_STRIDE, the first object is not shifted. */
#define COLOUR_BYTES 4096

static size_t room_colour(const struct arena_plan *plan)
{
	return plan->colour * CACHE_LINE_PAIR % COLOUR_BYTES;
}

static size_t object_colour(const struct arena_plan *plan)
{
	const size_t line = CACHE_LINE_PAIR / 2;

	return plan->window.at || plan->plain_stride
		       ? 0
		       : plan->colour * line % COLOUR_BYTES & ~(plan->object_alignment - 1);
}

/* Computes the stride, and the offsets up to `dirty`.  The generations begin at a multiple of `unit`.  False on
 * overflow. */
static bool lay_out_front(struct layout *l, const struct arena_plan *plan, size_t unit)
{
	size_t bytes;

	l->stride = layout_stride(plan->front_bytes + plan->object_size + plan->back_bytes, plan->object_alignment,
				  plan->plain_stride);
	l->front = round_up(plan->front_bytes, plan->object_alignment) + object_colour(plan);
	l->room = room_colour(plan);
	/* The states begin at the start of a pair of cache lines. */
	l->states = l->room + round_up(plan->room_bytes, CACHE_LINE_PAIR) + LFPOOL_WANTED_BEFORE_;
	if (__builtin_mul_overflow(plan->reserved - 1, l->stride, &bytes))
		return false;
	/* + 2: the first granule, and another one, because the first object may begin anywhere in its granule. */
	if (__builtin_mul_overflow((bytes >> layout_grain(l->stride)) + 2, sizeof(uintptr_t), &bytes) ||
	    __builtin_add_overflow(bytes, unit - 1, &bytes) ||
	    __builtin_add_overflow(l->states, bytes, &l->generations) ||
	    __builtin_mul_overflow(plan->reserved + 1, sizeof(uint64_t), &bytes))
		return false;
	l->generations &= ~(unit - 1);
	return !__builtin_add_overflow(l->generations, bytes, &l->dirty);
}

/* Computes the layout in pages; false on overflow, or if the window is too small. */
static bool lay_out(struct layout *l, const struct arena_plan *plan)
{
	const size_t page = os_page_bytes(), grain = plan->backing & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : page;
	size_t object_bytes;

	if (!lay_out_front(l, plan, page) || __builtin_mul_overflow(plan->reserved, l->stride, &object_bytes) ||
	    __builtin_add_overflow(object_bytes, l->front + page, &object_bytes))
		return false;
	l->objects = layout_slots_bytes(l->stride, l->front, plan->reserved);
	if (__builtin_add_overflow(l->dirty, l->objects / page + 2 * page + grain, &l->before))
		return false;
	l->touched = round_up(l->dirty, page);
	l->opened = round_up(l->dirty + l->objects / page, page);
	l->before = round_up(l->opened + page, grain);
	if (plan->window.at) {
		l->mapped = l->before;
		return l->objects <= plan->window.bytes;
	}
	return !__builtin_add_overflow(l->before + page, l->objects, &l->mapped);
}

/* Computes the layout in a buffer, which is not divided into pages.  `mapped` is the size of the buffer. */
static bool lay_out_in_buffer(struct layout *l, const struct arena_plan *plan)
{
	if (!lay_out_front(l, plan, CACHE_LINE_PAIR) ||
	    __builtin_add_overflow(l->dirty, CACHE_LINE_PAIR - 1 + layout_slack(plan), &l->before) ||
	    __builtin_mul_overflow(plan->reserved, l->stride, &l->objects) ||
	    __builtin_add_overflow(l->objects, l->front, &l->objects))
		return false;
	l->touched = l->dirty;
	/* Here `before` is the highest offset at which the objects may begin. */
	l->before = round_up(l->dirty, CACHE_LINE_PAIR) + layout_slack(plan);
	return !__builtin_add_overflow(l->before, l->objects, &l->mapped);
}

size_t arena_buffer_bytes(const struct arena_plan *plan)
{
	struct layout l;

	return lay_out_in_buffer(&l, plan) ? l.mapped : 0;
}

bool arena_object_bytes(const struct arena_plan *plan, size_t *bytes_out)
{
	struct layout l;

	if (!lay_out(&l, plan))
		return false;
	*bytes_out = l.objects;
	return true;
}

/* ---- Life ---- */

/* Are all slots usable from the start?  If so, the whole range is mapped with access, because Valgrind takes time for
 * each byte that is opened later.  Then the pages before and behind the objects are protected.  Otherwise the range
 * is mapped without access and the usable part is opened, because the system does not charge memory that never had
 * access (mlockall(2), strict overcommit). */
static bool is_whole(const struct arena_plan *plan)
{
	return plan->capacity == plan->reserved && !plan->window.at;
}

/* With huge pages, both the room and the objects begin at the start of a huge page. */
static char *map_range(const struct layout *l, const struct arena_plan *plan)
{
	if (EMBEDDED)
		return NULL;

	const size_t huge = plan->backing & LFPOOL_HUGE_PAGES ? HUGE_PAGE_BYTES : 0;
	const size_t alignment = plan->window.at || plan->object_alignment < huge ? huge : plan->object_alignment;

	return os_map_aligned(l->mapped, l->before, alignment, is_whole(plan));
}

static bool set_access(const struct arena *arena, char *room, const struct layout *l, const struct arena_plan *plan)
{
	if (EMBEDDED)
		return false;

	const size_t opened = layout_slots_bytes(l->stride, l->front, plan->capacity);

	const bool granted = is_whole(plan)
				     ? os_guard(room + l->opened, l->before - l->opened) &&
					       os_guard(arena->objects + opened, l->objects - opened + os_page_bytes())
				     : os_open(room, l->opened) &&
					       (plan->window.lent || os_open(arena->objects, opened));

	if (granted && plan->backing & LFPOOL_HUGE_PAGES) {
		os_wish_huge(room, l->opened);
		/* Asks for huge pages for all objects, even those that get access later. */
		if (!plan->window.lent)
			os_wish_huge(arena->objects, l->objects);
	}
	return granted;
}

static void describe(struct arena *arena_out, const struct arena_plan *plan, const struct layout *l, char *room,
		     char *objects)
{
	const uintptr_t zero = (uintptr_t)objects + l->front - l->stride;
	const unsigned grain = layout_grain(l->stride);
	const uintptr_t first = (zero + l->stride) >> grain;
	const uintptr_t states = (uintptr_t)room + l->states;

	*arena_out = (struct arena){
		/* clang-format off */
		.face = {
			.state = (void *)states,
			.state_base = states - first * sizeof(uintptr_t),
			.first = first,
			.granules = ((zero + plan->reserved * l->stride) >> grain) - first + 1,
			.grain = (uint8_t)grain,
		},
		/* clang-format on */
		.zero = zero,
		.inverse = layout_inverse(l->stride),
		.slots = plan->reserved,
		.stride = (uint32_t)l->stride,
		.shift = (uint8_t)__builtin_ctzll(l->stride),
		.veil = plan->veiled ? UINTPTR_MAX : 0,
		.front = plan->front_bytes,
		.objects = objects,
		.touched = l->touched,
		.backing = plan->backing,
		.in_buffer = plan->window.whole,
		.fenced = plan->fenced,
		.lent = plan->window.lent,
	};
	arena_out->wanted = (void *)(room + l->states - LFPOOL_WANTED_BEFORE_);
	arena_out->generation = (void *)(room + l->generations);
}

static void *open_in_buffer(struct arena *arena_out, const struct arena_plan *plan)
{
	char *room = plan->window.at, *objects;
	struct layout l;

	if (!lay_out_in_buffer(&l, plan))
		return NULL;
	/* Zeroes the whole buffer, including the objects. */
	memset(room, 0, l.mapped);
	objects = room + l.before - layout_slack(plan);
	objects += -(uintptr_t)objects & (plan->object_alignment - 1);
	describe(arena_out, plan, &l, room, objects);
	return room;
}

void *arena_open(struct arena *arena_out, const struct arena_plan *plan)
{
	struct layout l;

	if (EMBEDDED || plan->window.whole)
		return open_in_buffer(arena_out, plan);

	char *room = lay_out(&l, plan) ? map_range(&l, plan) : NULL;

	if (!room)
		return NULL;
	describe(arena_out, plan, &l, room, plan->window.at ? plan->window.at : room + l.before);
	arena_out->mapped_bytes = l.mapped;
	arena_out->dirty = plan->window.lent || plan->backing & LFPOOL_LOCK ? NULL : (void *)(room + l.dirty);
	if (!set_access(arena_out, room, &l, plan)) {
		os_unmap(room, l.mapped);
		return NULL;
	}
	return room + l.room;
}

static char *mapping_of(void *room)
{
	return (char *)room - ((uintptr_t)room & (os_page_bytes() - 1));
}

/* The bytes from the first page of the objects to the first object. */
static size_t first_object_at(const struct arena *arena)
{
	return (size_t)(arena->zero + arena->stride - (uintptr_t)arena->objects);
}

lfpool_status_t arena_back(const struct arena *arena, void *room, size_t capacity)
{
	if (arena_in_buffer(arena))
		return LFPOOL_OK;

	const lfpool_status_t status = backing_give(arena->backing, mapping_of(room), arena->touched);

	return status != LFPOOL_OK || arena->lent
		       ? status
		       : backing_give(arena->backing, arena->objects,
				      layout_slots_bytes(arena->stride, first_object_at(arena), capacity));
}

bool arena_extend(const struct arena *arena, size_t from, size_t to)
{
	const size_t stride = arena->stride, had = layout_slots_bytes(stride, first_object_at(arena), from);
	const size_t more = layout_slots_bytes(stride, first_object_at(arena), to) - had;

	return EMBEDDED || !more || arena->lent ||
	       (os_open(arena->objects + had, more) &&
		backing_give(arena->backing, arena->objects + had, more) == LFPOOL_OK);
}

size_t arena_fill_pages(const struct arena *arena, size_t slots)
{
	const size_t stride = arena->stride, front = first_object_at(arena);

	if (!(arena->backing & LFPOOL_HUGE_PAGES))
		return slots;
	return (round_up(front + slots * stride, HUGE_PAGE_BYTES) - front + stride - 1) / stride;
}

/* Marks the state first.  From then on the use ends only in the two steps of A3, which change the generation word even
 * if the word is not live yet. */
uint64_t arena_mark(const struct arena *arena, uint32_t slot, uint64_t as)
{
	/* relaxed, here and below: by A3 the generation word orders the accesses to the state. */
	_Atomic(uintptr_t) *const mark = arena_state(arena, slot);
	uintptr_t state = load_relaxed(mark);

	if (state > LFPOOL_MARKED_ && cas_relaxed(mark, &state, LFPOOL_MARKED_))
		state = LFPOOL_MARKED_;
	if (state != LFPOOL_MARKED_)
		return 0;
	uint64_t word = arena_generation(arena, slot);

	/* A word that is already live (memory-model.md, "Marks") changes only if `as` is GENERATION_CANDIDATE.  Repeats
	 * only if another thread has made the word live, or has released the object.  release, edge TELL: publishes the
	 * writes of hooks.activate, for a thread that resolves the handle.  acquire, edge MARK; after a failure too. */
	while (generation_phase(word) < generation_phase(as)) {
		const uint64_t next = word - generation_phase(word) + as;

		if (cas_acq_rel(&arena->generation[slot], &word, next))
			word = next;
	}
	/* If the state is still marked, the handle names our use.  Otherwise another thread has ended our use.  If our
	 * CAS came after that end, the word is now live without a handle, and the first handle of the next use gets
	 * it. */
	return load_relaxed(mark) == LFPOOL_MARKED_ ? word : 0;
}

/* Makes the slot free, after our CAS has set its word to {generation, leaving}. */
static bool clear(const struct arena *arena, uint32_t slot, uint64_t leaving)
{
	uintptr_t state = LFPOOL_MARKED_;
	/* relaxed: the store below publishes the change.  The CAS fails only if a thread that did not see the mark has
	 * released the object. */
	const bool ours = cas_relaxed(arena_state(arena, slot), &state, 0);

	/* release, edge MARK: publishes that the state is no longer marked. */
	store_release(&arena->generation[slot], leaving - GENERATION_LEAVING);
	return ours;
}

static inline uint64_t leaving_after(uint64_t word)
{
	return (word & ~(GENERATION_ONE - 1)) + GENERATION_ONE + GENERATION_LEAVING;
}

bool arena_unmark(const struct arena *arena, uint32_t slot, uint64_t word)
{
	const uint64_t leaving = leaving_after(word);

	/* acquire, edge PIN: other threads may have pinned and unpinned since our load, which restores the word.  No
	 * release, because the free lists publish the slot for its next holder. */
	return cas_acquire(&arena->generation[slot], &word, leaving) && clear(arena, slot, leaving);
}

enum leave arena_leave(const struct arena *arena, uint32_t slot, uint64_t word, enum generation_phase later)
{
	const uint64_t use = word / GENERATION_ONE;

	/* Repeats only after another thread pinned, unpinned, or made the first handle. */
	while (word / GENERATION_ONE == use &&
	       (generation_phase(word) == GENERATION_DEAD || generation_is_live(word))) {
		if (!generation_pins(word)) {
			if (arena_unmark(arena, slot, word))
				return LEAVE_NOW;
		} else if (cas_release(&arena->generation[slot], &word, word - generation_phase(word) + later)) {
			/* release, edge PIN: publishes the caller's writes to the object, for the last unpin. */
			return LEAVE_LATER;
		}
		word = arena_generation(arena, slot);
	}
	return LEAVE_REFUSED;
}

enum leave arena_leave_marked(const struct arena *arena, uint32_t slot, enum generation_phase later)
{
	const uint64_t word = arena_generation(arena, slot);

	/* relaxed: edge MARK orders this load after the load of `word`.  So if the state is marked, the mark belongs to
	 * the use that `word` names. */
	return load_relaxed(arena_state(arena, slot)) == LFPOOL_MARKED_ ? arena_leave(arena, slot, word, later)
									: LEAVE_REFUSED;
}

bool arena_pin(const struct arena *arena, uint32_t slot, uint64_t word)
{
	const uint64_t use = word / GENERATION_ONE;

	/* Repeats only after another thread pinned or unpinned.  acquire, edge PIN; after a failure too. */
	while (word / GENERATION_ONE == use && generation_is_live(word) && generation_pins(word) < GENERATION_PINS_MOST)
		if (cas_acquire(&arena->generation[slot], &word, word + GENERATION_PIN))
			return true;
	return false;
}

uint64_t arena_unpin(const struct arena *arena, uint32_t slot, uint64_t word, bool *ended_out)
{
	const uint64_t use = word / GENERATION_ONE;

	*ended_out = false;
	/* Repeats only after another thread pinned, unpinned or released. */
	while (word / GENERATION_ONE == use && generation_pins(word)) {
		const bool ends = generation_pins(word) == 1 && generation_is_pending(word);
		const uint64_t next = ends ? leaving_after(word) : word - GENERATION_PIN;

		/* seq_cst: acquires and releases edge PIN, and comes before the caller's loads of the bounds (EV3 in
		 * evict/order.h). */
		if (cas_seq_cst(&arena->generation[slot], &word, next)) {
			*ended_out = ends && clear(arena, slot, next);
			return word;
		}
	}
	return word;
}

void arena_heavy_fence(const struct arena *arena)
{
	if (EMBEDDED || arena->fenced)
		full_fence();
	else
		os_heavy_fence();
}

void arena_close(void *room, size_t mapped_bytes)
{
	if (!EMBEDDED && mapped_bytes)
		os_unmap(mapping_of(room), mapped_bytes);
}

lfpool_status_t arena_refuse(const struct arena *arena, const void *object)
{
	return arena_spans(arena, object) ? LFPOOL_E_INTERIOR : LFPOOL_E_FOREIGN;
}
