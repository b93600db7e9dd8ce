/* SPDX-License-Identifier: MIT */
/*
 * cold.c - the counts of the cold store, and how it grows; see cold.h.
 */
#include "cold.h"

#include "cold_counts.h"
#include "pages.h"

/* Pages are opened in steps of so many bytes at least: each costs a system call. */
#define OPEN_BYTES ((size_t)1 << 20)

#define PARITY_OF_ALLOWED (UINT64_C(1) << 32)
#define CHANGE_OF_ALLOWED (UINT64_C(1) << 33)

static uint64_t shape_of(uint64_t capacity, uint32_t held, uint32_t pending, uint64_t parity)
{
	return capacity << 32 | (uint64_t)held << 15 | (uint64_t)pending << 1 | parity;
}

void cold_open(struct cold *c, const struct arena *arena, size_t capacity, size_t reserved, void *memory)
{
	c->initial = capacity;
	c->reserved = reserved;
	c->arena = arena;
	c->bits = memory;
	/* relaxed, all: the pool is not yet anybody else's. */
	store_relaxed(&c->shape, shape_of(capacity, 0, 0, 0));
	store_relaxed(&c->maximum, reserved);
	store_relaxed(&c->opened, capacity);
}

/* ---- What may be taken ---- */

void cold_allowed_add(struct cold *c, size_t count)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->allowed);

	/* release, edge SHOW: who sees the count sees the bits, and that the slots are gone where they were.  Goes round only
	 * when another thread changed it. */
	while (!cas_weak_release(&c->allowed, &now, now + CHANGE_OF_ALLOWED + count))
		;
}

uint32_t cold_allowed_take(struct cold *c, size_t count)
{
	/* acquire, edge SHOW: the bits; on failure too. */
	uint64_t now = load_acquire(&c->allowed);
	uint32_t taken;

	do {
		taken = count < cold_count(now) ? (uint32_t)count : cold_count(now);
		if (!taken)
			return 0;
		/* release: who sees the slots gone sees what we released before.  Goes round only when another thread
		 * changed it. */
	} while (!cas_weak_acq_rel(&c->allowed, &now, now + CHANGE_OF_ALLOWED - taken));
	return taken;
}

uint32_t cold_take_allowed(struct cold *c)
{
	if (!cold_allowed_take(c, 1))
		return SLOT_NONE;

	const uint32_t slot = cold_take_any(c);

	pages_unmark(c, slot);
	return slot;
}

/* ---- What the pool is ---- */

/* Has the growth that is pending in `shape` been applied to `allowed`? */
static bool is_applied(uint64_t shape, uint64_t allowed)
{
	return (shape & 1) == (allowed / PARITY_OF_ALLOWED & 1);
}

uint64_t cold_settle(struct cold *c)
{
	/* acquire, edge SHOW, here and below: who made it pending had opened the pages. */
	uint64_t shape = load_acquire(&c->shape);

	/* Goes round only after a step of ours, or another thread's. */
	while (cold_shape_pending(shape)) {
		const uint32_t pending = cold_shape_pending(shape);
		/* acquire: what is there since a later growth was applied came after that one was pending: then the next
		 * look at `shape` sees it. */
		uint64_t allowed = load_acquire(&c->allowed);
		const uint64_t settled = shape_of(cold_shape_capacity(shape) + pending, cold_shape_held(shape), 0, shape & 1);

		if (is_applied(shape, allowed)) {
			/* release, edge SHOW; acquire on failure. */
			if (cas_acq_rel(&c->shape, &shape, settled))
				return settled;
			continue;
		}
		const uint64_t again = load_acquire(&c->shape);

		/* The same growth, and `allowed` as it was before it: apply it.  Fails if somebody else did, or took.  release,
		 * edge SHOW. */
		if (again == shape)
			(void)cas_acq_rel(&c->allowed, &allowed, (allowed ^ PARITY_OF_ALLOWED) + CHANGE_OF_ALLOWED + pending);
		shape = load_acquire(&c->shape);
	}
	return shape;
}

/* From a settled shape to another; false, and *shape is settled again, if another thread was first. */
static bool reshape(struct cold *c, uint64_t *shape, uint64_t next)
{
	/* release, edge SHOW: the bits, the pages. */
	if (cas_acq_rel(&c->shape, shape, next))
		return true;
	*shape = cold_settle(c);
	return false;
}

static void capacity_less(struct cold *c, uint64_t count)
{
	uint64_t shape = cold_settle(c);

	/* Goes round only when another thread changed it. */
	while (!reshape(c, &shape, shape - (count << 32)))
		;
}

uint32_t cold_hold(struct cold *c, uint32_t count)
{
	uint64_t shape = cold_settle(c);
	uint64_t more;

	do {
		/* relaxed: it only grows. */
		const uint64_t room = load_relaxed(&c->opened) - cold_shape_capacity(shape) - cold_shape_held(shape);
		const uint32_t free_count = COLD_HELD_MAX - cold_shape_held(shape);

		more = count < room ? count : room;
		more = more < free_count ? more : free_count;
		if (!more)
			return 0;
		/* Goes round only when another thread changed it. */
	} while (!reshape(c, &shape, shape + (more << 15)));
	return (uint32_t)more;
}

void cold_unhold(struct cold *c, uint32_t count)
{
	uint64_t shape = cold_settle(c);

	/* Goes round only when another thread changed it. */
	while (!reshape(c, &shape, shape - ((uint64_t)count << 15)))
		;
}

/* ---- Give ---- */

static void give_bit(struct cold *c, uint32_t slot)
{
	cold_give_bits(c, (slot - 1) / 64, UINT64_C(1) << (slot - 1) % 64);
}

void cold_put(struct cold *c, uint32_t slot)
{
	give_bit(c, slot);
	cold_allowed_add(c, 1);
}

void cold_withdraw(struct cold *c, uint32_t slot)
{
	give_bit(c, slot);
	capacity_less(c, 1);
}

size_t cold_forbid(struct cold *c, size_t count)
{
	const uint32_t taken = cold_allowed_take(c, count);

	if (taken)
		capacity_less(c, taken);
	return taken;
}

/* ---- Growing ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Slots 1 .. wanted, or fewer, have their pages; says how many have. */
static uint64_t open_pages(struct cold *c, uint64_t wanted)
{
	/* relaxed, all: what lies behind it comes with `shape`. */
	uint64_t from = load_relaxed(&c->opened);
	const uint64_t step = c->arena->prefault ? 1 : OPEN_BYTES / c->arena->face.stride;

	while (from < wanted) {
		const uint64_t to = least(wanted - from < step ? from + step : wanted, c->reserved);

		if (!arena_extend(c->arena, (size_t)from, (size_t)to))
			return from;
		/* Fails if another thread did the same, or more. */
		if (cas_relaxed(&c->opened, &from, to))
			return to;
	}
	return from;
}

/* One step from a settled *shape, by up to `count`; says by how many, and *shape is settled again. */
static size_t grow_once(struct cold *c, size_t count, uint64_t *shape)
{
	const uint64_t capacity = cold_shape_capacity(*shape), taken = capacity + cold_shape_held(*shape);
	/* relaxed: a number. */
	const uint64_t maximum = load_relaxed(&c->maximum);
	uint64_t more = least(count, COLD_PENDING_MAX);

	more = least(more, capacity < maximum ? maximum - capacity : 0);
	more = least(more, c->reserved - taken);
	if (more)
		more = least(more, open_pages(c, taken + more) - taken);
	if (!more || !reshape(c, shape, (*shape ^ 1) + (more << 1)))
		return 0;
	*shape = cold_settle(c);
	return (size_t)more;
}

size_t cold_grow(struct cold *c, size_t count)
{
	uint64_t shape = cold_settle(c), before;
	size_t grown = 0, more;

	/* Goes round after each step, and when another thread changed the shape. */
	do {
		before = shape;
		more = grow_once(c, count - grown, &shape);
		grown += more;
	} while (grown < count && (more || shape != before));
	return grown;
}

bool cold_grow_from(struct cold *c, size_t count, uint64_t seen)
{
	uint64_t shape = seen;
	const size_t more = grow_once(c, count, &shape);

	if (more && more < count)
		(void)cold_grow(c, count - more);
	/* Not grown, but changed: the caller looks again. */
	return more || shape != seen;
}
