/* SPDX-License-Identifier: MIT */
/*
 * cold.c - see cold.h.
 */
#include "cold.h"

#include "cold_counts.h"
#include "pages.h"

/* Pages are opened in steps of so many bytes at least: each costs a system call. */
#define OPEN_BYTES ((size_t)1 << 20)

void cold_open(struct cold *c, const struct arena *arena, size_t capacity, size_t reserved, void *memory)
{
	c->initial = capacity;
	c->reserved = reserved;
	c->arena = arena;
	c->bits = memory;
	/* relaxed, all: the pool is not yet anybody else's. */
	store_relaxed(&c->capacity, capacity);
	store_relaxed(&c->maximum, reserved);
	store_relaxed(&c->opened, capacity);
}

/* ---- Counts ---- */

/* The word after `allowed` with `count` in it (O4). */
static uint64_t allowed_next(uint64_t allowed, uint32_t count)
{
	return ((allowed >> 32) + 1) << 32 | count;
}

void cold_allowed_add(struct cold *c, size_t count)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->allowed);

	/* release, edge SHOW: who sees the count sees the bits, and that the slots are gone where they were.  Goes round only
	 * when another thread changed it. */
	while (!cas_weak_release(&c->allowed, &now, allowed_next(now, cold_count(now) + (uint32_t)count)))
		;
}

/* Up to `count` of them. */
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
	} while (!cas_weak_acq_rel(&c->allowed, &now, allowed_next(now, cold_count(now) - taken)));
	return taken;
}

void cold_spare_add(struct cold *c, size_t count)
{
	/* relaxed: a stale count costs one failed CAS. */
	uint64_t now = load_relaxed(&c->spare);

	/* release, edge SHOW: who takes from the count sees the bits.  Goes round only when another thread changed it. */
	while (!cas_weak_release(&c->spare, &now, now + count))
		;
}

size_t cold_spare_take(struct cold *c, size_t count)
{
	/* acquire, edge SHOW: the bits; on failure too. */
	uint64_t now = load_acquire(&c->spare), taken;

	do {
		taken = count < now ? count : now;
		if (!taken)
			return 0;
		/* Goes round only when another thread changed it. */
	} while (!cas_weak_acq_rel(&c->spare, &now, now - taken));
	return (size_t)taken;
}

/* ---- Bits ---- */

void cold_set_bits(struct cold *c, uint64_t word, uint64_t bits)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->bits[word]);

	/* release, edge COLD: what its holder did with the slot.  Goes round only when another thread changed the word. */
	while (!cas_weak_release(&c->bits[word], &now, now | bits))
		;
}

/* Who has taken a count finds a bit (O1). */
static uint32_t take_bit(struct cold *c)
{
	/* relaxed, both: where to look first. */
	const uint64_t words = (load_relaxed(&c->opened) + 63) / 64;
	uint64_t word = load_relaxed(&c->hint);

	for (;; word++) {
		if (word >= words)
			word = 0;
		/* relaxed: a look. */
		uint64_t bits = load_relaxed(&c->bits[word]);

		while (bits) {
			const unsigned lowest = (unsigned)__builtin_ctzll(bits);

			/* acquire, edge COLD.  On failure, which another thread's success has caused, the word is fresh. */
			if (!cas_acquire(&c->bits[word], &bits, bits & (bits - 1)))
				continue;
			/* relaxed: a hint. */
			store_relaxed(&c->hint, word);
			return (uint32_t)(word * 64 + lowest + 1);
		}
	}
}

/* ---- Take and give ---- */

uint32_t cold_take_allowed(struct cold *c)
{
	if (!cold_allowed_take(c, 1))
		return SLOT_NONE;

	const uint32_t slot = take_bit(c);

	pages_unmark(c, slot);
	return slot;
}

void cold_put(struct cold *c, uint32_t slot)
{
	cold_set_bits(c, (slot - 1) / 64, UINT64_C(1) << (slot - 1) % 64);
	cold_allowed_add(c, 1);
}

void cold_withdraw(struct cold *c, uint32_t slot)
{
	cold_set_bits(c, (slot - 1) / 64, UINT64_C(1) << (slot - 1) % 64);
	/* relaxed: nobody gains by seeing it early; lfpool_grow() races for the same word. */
	(void)fetch_add_relaxed(&c->capacity, UINT64_MAX);
	cold_spare_add(c, 1);
}

size_t cold_forbid(struct cold *c, size_t count)
{
	const uint32_t taken = cold_allowed_take(c, count);

	if (taken) {
		/* relaxed: as in cold_withdraw(). */
		(void)fetch_add_relaxed(&c->capacity, -(uint64_t)taken);
		cold_spare_add(c, taken);
	}
	return taken;
}

/* ---- Growing ---- */

/* Opens the pages of about `count` more slots, which are spare then; false when there are no more, or the system refuses
 * memory. */
static bool open_more(struct cold *c, uint64_t count)
{
	/* relaxed: what is behind it comes with the counts. */
	uint64_t from = load_relaxed(&c->opened);
	const uint64_t step = c->arena->prefault ? 1 : OPEN_BYTES / c->arena->face.stride;
	uint64_t to = from + (count > step ? count : step);

	if (to > c->reserved)
		to = c->reserved;
	if (from == to || !arena_extend(c->arena, (size_t)from, (size_t)to))
		return false;
	/* Whoever has opened it before us counts it.  relaxed: cold_used(). */
	if (!cas_relaxed(&c->opened, &from, to))
		return true;
	for (uint64_t slot = from; slot < to; slot = (slot / 64 + 1) * 64) {
		const uint64_t left = to - slot, in_word = 64 - slot % 64;
		const uint64_t ones = left < in_word ? (UINT64_C(1) << left) - 1 : UINT64_MAX;

		cold_set_bits(c, slot / 64, ones << slot % 64);
	}
	cold_spare_add(c, (size_t)(to - from));
	return true;
}

/* Raises the capacity by up to `count`, as far as the maximum allows, from `from`; says by how much. */
static size_t capacity_raise(struct cold *c, size_t count, size_t from)
{
	/* relaxed, both: numbers; the slots have edges of their own. */
	const uint64_t maximum = load_relaxed(&c->maximum);
	uint64_t now = load_relaxed(&c->capacity), more;

	do {
		more = now < maximum ? maximum - now : 0;
		more = count < more ? count : more;
		if (!more || (from != COLD_ANY && now != from))
			return 0;
		/* Goes round only when another thread changed it. */
	} while (!cas_weak_relaxed(&c->capacity, &now, now + more));
	return (size_t)more;
}

size_t cold_allow(struct cold *c, size_t count, size_t from)
{
	const size_t wanted = capacity_raise(c, count, from);
	size_t got = cold_spare_take(c, wanted);

	while (got < wanted && open_more(c, wanted - got))
		got += cold_spare_take(c, wanted - got);
	if (got < wanted)
		/* relaxed: as capacity_raise(). */
		(void)fetch_add_relaxed(&c->capacity, -(uint64_t)(wanted - got));
	if (got)
		cold_allowed_add(c, got);
	return got;
}
