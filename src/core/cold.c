/* SPDX-License-Identifier: MIT */
/*
 * cold.c - the counts and the bits of the cold store, and how it grows; see cold.h.
 */
#include "core/cold.h"

#include "os/os.h"

/* Pages that need no backing are opened in steps of at least OPEN_BYTES, because each step costs a system call. */
#define OPEN_BYTES ((size_t)1 << 20)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- The word `counts` ---- */

static uint64_t counts_of(uint64_t capacity, int64_t balance)
{
	return capacity << 32 | (uint32_t)balance;
}

/* Like counts_of(), but limits the number of owed objects to the capacity. */
static uint64_t counts_within(uint64_t capacity, int64_t balance)
{
	return counts_of(capacity, balance < -(int64_t)capacity ? -(int64_t)capacity : balance);
}

/* `slots` objects become cold.  They leave the pool as far as objects are owed; the rest becomes allowed. */
static uint64_t counts_put(uint64_t now, uint64_t slots)
{
	const uint64_t capacity = cold_capacity_in(now), paid = least(slots, cold_owed_in(now));

	return counts_of(capacity - paid, cold_balance_in(now) + (cold_closed_in(now) ? 0 : (int64_t)slots));
}

static uint64_t counts_withdraw(uint64_t now, uint64_t slots)
{
	const uint64_t capacity = cold_capacity_in(now) - slots;

	return cold_closed_in(now) ? counts_of(capacity, COLD_CLOSED) : counts_within(capacity, cold_balance_in(now));
}

/* `slots` objects must leave: allowed slots leave at once, and the other objects are owed. */
static uint64_t counts_owe(uint64_t now, uint64_t slots)
{
	if (cold_closed_in(now))
		return now;
	slots = least(slots, cold_capacity_in(now));
	return counts_within(cold_capacity_in(now) - least(slots, cold_allowed_in(now)),
			     cold_balance_in(now) - (int64_t)slots);
}

/* Adds to the demand word, which each release checks. */
static void want(const struct cold *c, uint32_t more)
{
	/* relaxed: the caller fences after its change (W1, waiters.h). */
	(void)fetch_add_relaxed(c->arena->wanted, more);
}

/* Changes the word `counts` from *now to `to`.  After a failure *now is the current word. */
static bool change(struct cold *c, uint64_t *now, uint64_t to)
{
	uint64_t found = *now;

	/* acquire, edge SHOW: sees the bits and the pages; after a failure too.  release: publishes the bits and the
	 * pages, and the removal of the slots from their former magazine or chunk. */
	if (!cas_weak_acq_rel(&c->counts, &found, to)) {
		*now = found;
		return false;
	}
	if (cold_owes_in(*now) && !cold_owes_in(to))
		want(c, -UINT32_C(1));
	return true;
}

/* ---- Beginning ---- */

void cold_open(struct cold *c, const struct arena *arena, size_t initial, size_t capacity, size_t reserved,
	       void *memory)
{
	c->initial = initial;
	c->reserved = reserved;
	c->arena = arena;
	c->bits = memory;
	/* relaxed, all: no other thread has the pool yet. */
	store_relaxed(&c->counts, counts_of(capacity, (int64_t)(capacity - initial)));
	store_relaxed(&c->maximum, reserved);
	store_relaxed(&c->opened, capacity);
	store_relaxed(&c->room, COLD_ROOM);
	store_relaxed(&c->least_room, COLD_ROOM);
}

/* Records that `change` more slots are out (`room`).  Returns the room that is left. */
static uint32_t change_out(struct cold *c, int change)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t room = load_relaxed(&c->room);

	/* acquire and release: a thread that changes `room` after a reset sees the open mark (low_water.h).  Repeats
	 * only when another thread changed the word. */
	while (!cas_weak_acq_rel(&c->room, &room, room - (uint64_t)(int64_t)change))
		;
	room -= (uint64_t)(int64_t)change;
	/* `room` is 0 .. 2^32, because there are at most 2^31 slots.  (If all 2^31 slots are cold, `room` is 2^32,
	 * which does not fit in 32 bits, and the result of cold_most_out() is then one too high.) */
	return (uint32_t)least(room, UINT32_MAX);
}

void cold_reset_most(struct cold *c)
{
	const uint64_t open = low_water_open(&c->least_room);

	low_water_note(&c->least_room, change_out(c, 0));
	low_water_close(&c->least_room, open);
}

/* ---- Counts ---- */

void cold_allowed_add(struct cold *c, uint32_t added)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->counts);

	/* Repeats only when another thread changed the word. */
	while (!change(c, &now, counts_put(now, added)))
		;
}

void cold_give_back(struct cold *c, uint32_t borrowed)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->counts);

	/* Repeats only when another thread changed the word. */
	while (!change(c, &now, counts_withdraw(now, borrowed)))
		;
}

uint32_t cold_allowed_take(struct cold *c, size_t wanted)
{
	/* acquire, edge SHOW: sees the bits and the pages; after a failure too. */
	uint64_t now = load_acquire(&c->counts), taken;

	do {
		taken = least(wanted, cold_allowed_in(now));
		if (!taken)
			return 0;
		/* Repeats only when another thread changed the word. */
	} while (!change(c, &now, now - taken));
	return (uint32_t)taken;
}

uint32_t cold_borrow(struct cold *c, uint32_t wanted)
{
	/* acquire, edge SHOW: sees the bits and the pages; after a failure too. */
	uint64_t now = load_acquire(&c->counts), more;

	do {
		/* relaxed: edge SHOW of `counts` makes `opened` at least as new as `now`. */
		more = least(wanted, load_relaxed(&c->opened) - cold_capacity_in(now));
		if (!more)
			return 0;
		/* Repeats only when another thread changed the word. */
	} while (!change(c, &now, now + (more << 32)));
	return (uint32_t)more;
}

/* ---- Shrinking ---- */

size_t cold_forbid(struct cold *c, size_t wanted)
{
	/* relaxed: only the numbers matter. */
	uint64_t now = load_relaxed(&c->counts), gone;

	do {
		gone = least(wanted, cold_allowed_in(now));
		/* Repeats only when another thread changed the word. */
	} while (gone && !change(c, &now, counts_owe(now, gone)));
	return (size_t)gone;
}

size_t cold_owe(struct cold *c, size_t count)
{
	/* relaxed: only the numbers matter. */
	uint64_t now = load_relaxed(&c->counts), to;

	/* `wanted` rises before another call can complete the shrink, so that it is never too low. */
	want(c, 1);
	/* Repeats only when another thread changed the word. */
	do {
		to = counts_owe(now, count);
	} while (!change(c, &now, to));
	/* All owed objects together add only 1 to `wanted` (O5). */
	if (cold_owes_in(now) || !cold_owes_in(to))
		want(c, -UINT32_C(1));
	return cold_capacity_in(now) - cold_capacity_in(to);
}

size_t cold_forgive(struct cold *c)
{
	/* relaxed: only the numbers matter. */
	uint64_t now = load_relaxed(&c->counts);

	/* Repeats only when another thread changed the word. */
	while (cold_owes_in(now) && !cold_closed_in(now))
		if (change(c, &now, counts_of(cold_capacity_in(now), 0)))
			return cold_owed_in(now);
	return 0;
}

void cold_close(struct cold *c)
{
	/* relaxed: only the numbers matter. */
	uint64_t now = load_relaxed(&c->counts);

	/* `wanted` rises first, as in cold_owe(). */
	want(c, 1);
	/* Repeats only when another thread changed the word. */
	while (!change(c, &now, counts_of(cold_capacity_in(now) - cold_allowed_in(now), COLD_CLOSED)))
		;
	if (cold_owes_in(now))
		want(c, -UINT32_C(1));
}

/* ---- One slot ---- */

uint32_t cold_take_slow(struct cold *c)
{
	if (!cold_allowed_take(c, 1))
		return SLOT_NONE;

	const uint32_t slot = cold_take_any(c);

	low_water_note(&c->least_room, change_out(c, 1));
	return slot;
}

static void give_bit(struct cold *c, uint32_t slot)
{
	cold_give_bits(c, (slot - 1) / 64, UINT64_C(1) << (slot - 1) % 64);
}

void cold_put(struct cold *c, uint32_t slot)
{
	pages_mark(c, slot);
	give_bit(c, slot);
	cold_allowed_add(c, 1);
	(void)change_out(c, -1);
}

void cold_withdraw(struct cold *c, uint32_t slot)
{
	pages_mark(c, slot);
	give_bit(c, slot);
	cold_give_back(c, 1);
	(void)change_out(c, -1);
}

/* ---- Growing ---- */

/* Opens the pages of slots 1 .. wanted, or of fewer slots; returns the number of accessible slots. */
static uint64_t open_pages(struct cold *c, uint64_t wanted)
{
	/* relaxed: only the number matters; a call that takes a slot on the pages acquires edge OPEN. */
	uint64_t from = load_relaxed(&c->opened);
	const bool backed = c->arena->backing & (LFPOOL_PREFAULT | LFPOOL_LOCK);
	const uint64_t step = backed ? 1 : OPEN_BYTES / c->arena->stride;

	/* Repeats only when another thread opened pages, or the system granted only a part. */
	while (from < wanted) {
		const uint64_t some = wanted - from < step ? from + step : wanted;
		uint64_t to = least(arena_fill_pages(c->arena, (size_t)some), c->reserved);

		/* If the system refuses the whole request, it may still grant a part. */
		while (from < to && !arena_extend(c->arena, (size_t)from, (size_t)to))
			to = from + (to - from) / 2;
		if (from == to)
			break;
		/* release, edge OPEN: publishes the pages.  Fails if another thread has opened these pages too, or
		 * more. */
		if (cas_release(&c->opened, &from, to))
			from = to;
	}
	return from;
}

/* The caller has added `more` slots, and so raised the capacity to `capacity`, which was within the maximum.  If
 * lfpool_limit() has lowered the maximum since, removes the surplus; returns its number. */
static size_t limit_again(struct cold *c, uint64_t capacity, uint64_t more)
{
	/* O4: our new capacity is visible before we load the maximum. */
	full_fence();
	/* relaxed: after the fence. */
	const uint64_t maximum = load_relaxed(&c->maximum);

	/* The surplus is computed from the smaller of our capacity and the present one, so that slots that a trim has
	 * borrowed since do not count. */
	capacity = least(capacity, cold_capacity(c));
	if (likely(capacity <= maximum))
		return 0;
	more = least(more, capacity - maximum);
	(void)cold_owe(c, (size_t)more);
	/* The fence of W1 (waiters.h).  The caller of cold_grow() then serves the queue. */
	arena_heavy_fence(c->arena);
	return (size_t)more;
}

size_t cold_grow(struct cold *c, size_t wanted, size_t from)
{
	/* acquire, edge SHOW: sees the pages; after a failure too. */
	uint64_t now = load_acquire(&c->counts), forgiven, more;

	do {
		const uint64_t capacity = cold_capacity_in(now);
		/* relaxed: only the number matters; limit_again() checks it again. */
		const uint64_t maximum = load_relaxed(&c->maximum);

		if (from != COLD_ANY && capacity != from)
			return COLD_CHANGED;
		if (cold_closed_in(now) || (from != COLD_ANY && cold_owes_in(now)))
			return 0;
		forgiven = least(wanted, cold_owed_in(now));
		more = least(wanted - forgiven, capacity < maximum ? maximum - capacity : 0);
		if (more)
			more = least(more, open_pages(c, capacity + more) - capacity);
		if (!more && !forgiven)
			return 0;
		/* Repeats only when another thread changed the word. */
	} while (!change(c, &now,
			 counts_of(cold_capacity_in(now) + more, cold_balance_in(now) + (int64_t)(forgiven + more))));

	const size_t surplus = more ? limit_again(c, cold_capacity_in(now) + more, more) : 0;

	return surplus && from != COLD_ANY ? COLD_CHANGED : (size_t)(forgiven + more) - surplus;
}

/* ---- The bits ---- */

/* A mask of the inverted bits in this word.  These bits belong to slots beyond `initial`, where a 0 means cold. */
static uint64_t inverted(const struct cold *c, uint64_t word)
{
	if ((word + 1) * 64 <= c->initial)
		return 0;
	return word * 64 >= c->initial ? UINT64_MAX : UINT64_MAX << c->initial % 64;
}

uint64_t cold_look(const struct cold *c, uint64_t word)
{
	/* relaxed: a snapshot; a slot is taken by CAS. */
	return load_relaxed(&c->bits[word]) ^ inverted(c, word);
}

void cold_give_bits(struct cold *c, uint64_t word, uint64_t bits)
{
	/* relaxed: a stale word costs one failed CAS. */
	uint64_t now = load_relaxed(&c->bits[word]);

	/* release, edge COLD: publishes the holder's accesses to the slot.  Repeats only when another thread changed
	 * the word.  (Flipping the bits makes the slots cold, because they are not cold while the caller holds
	 * them.) */
	while (!cas_weak_release(&c->bits[word], &now, now ^ bits))
		;
}

bool cold_take_bits(struct cold *c, uint64_t word, uint64_t bits)
{
	const uint64_t flip = inverted(c, word);
	/* relaxed: the CAS checks the value. */
	uint64_t now = load_relaxed(&c->bits[word]);

	while (((now ^ flip) & bits) == bits)
		/* acquire, edge COLD: sees the last holder's accesses.  Repeats only when another thread changed the
		 * word. */
		if (cas_acquire(&c->bits[word], &now, now ^ bits))
			return true;
	return false;
}

/* For the holder of the slot: raises `reached`. */
static void reach(struct cold *c, uint64_t slot)
{
	/* relaxed, both: a thread learns of the object by a later edge. */
	uint64_t reached = load_relaxed(&c->reached);

	/* Repeats only when another thread raised `reached`. */
	while (slot > c->initial && slot > reached && !cas_weak_relaxed(&c->reached, &reached, slot))
		;
}

uint32_t cold_take_any(struct cold *c)
{
	/* relaxed: a hint. */
	uint64_t word = load_relaxed(&c->hint);

	/* Repeats only when other threads changed bits (O1). */
	for (;; word++) {
		/* Loaded in each round: other threads may have taken the slots that were accessible when we lowered the
		 * count, and the remaining cold slots may be on pages that were opened since.  acquire, edge OPEN: sees
		 * those pages. */
		const uint64_t opened = load_acquire(&c->opened);

		if (word >= (opened + 63) / 64)
			word = 0;

		uint64_t bits = cold_look(c, word);

		if (word == opened / 64)
			bits &= (UINT64_C(1) << opened % 64) - 1;
		if (!bits || !cold_take_bits(c, word, bits & -bits))
			continue;
		/* relaxed: a hint. */
		store_relaxed(&c->hint, word);

		const uint64_t slot = word * 64 + (unsigned)__builtin_ctzll(bits) + 1;

		reach(c, slot);
		return (uint32_t)slot;
	}
}

#if EMBEDDED
/* In a buffer pages are never returned. */
void pages_mark(struct cold *c, uint32_t slot)
{
	(void)c, (void)slot;
}
#else
/* ---- Pages and slots ---- */

/* The bytes from the first page of the objects to the beginning of slot 1. */
static size_t lead(const struct arena *a)
{
	return (size_t)(a->zero + a->stride - a->front - (uintptr_t)a->objects);
}

static size_t page_of(size_t offset)
{
	return offset / os_page_bytes();
}

/* The slot that contains the byte at this offset, or the next slot if the byte is in none. */
static size_t slot_at(const struct arena *a, size_t offset)
{
	return offset < lead(a) ? 1 : (offset - lead(a)) / a->stride + 1;
}

/* A mask of the bits of slots `slot` .. `last` that are in the same word as the bit of `slot`. */
static uint64_t mask_of(size_t slot, size_t last)
{
	const size_t first_bit = (slot - 1) % 64, more = last - slot < 63 - first_bit ? last - slot : 63 - first_bit;

	return (more == 63 ? UINT64_MAX : (UINT64_C(1) << (more + 1)) - 1) << first_bit;
}

/* ---- Finding ---- */

/* Can the page be returned: is it dirty, and are all of its slots cold? */
static bool page_is_cold(const struct cold *c, size_t page, size_t opened)
{
	const struct arena *a = c->arena;
	const size_t bytes = os_page_bytes(), last = slot_at(a, (page + 1) * bytes - 1);

	/* relaxed, here and below: a hint; a call that takes the slots checks them again. */
	if (!load_relaxed(&a->dirty[page]) || (last > opened && opened < c->reserved))
		return false;
	for (size_t slot = slot_at(a, page * bytes), end = last < opened ? last : opened; slot <= end;
	     slot = ((slot - 1) / 64 + 1) * 64 + 1) {
		const uint64_t mask = mask_of(slot, end);

		if ((cold_look(c, (slot - 1) / 64) & mask) != mask)
			return false;
	}
	return true;
}

size_t pages_end(const struct cold *c)
{
	return page_of(lead(c->arena) + cold_opened(c) * c->arena->stride - 1) + 1;
}

bool pages_next_run(const struct cold *c, size_t *at, size_t most, size_t looks, struct page_run *run_out)
{
	const size_t bytes = os_page_bytes(), opened = cold_opened(c);
	const size_t end = pages_end(c);
	size_t page = *at;

	*run_out = (struct page_run){.from = page, .first_page = page};
	if (page >= end)
		return false;
	while (page < end && page - run_out->from < looks && !page_is_cold(c, page, opened))
		page++;
	run_out->first_page = page;
	while (page < end && run_out->pages < most && page - run_out->from < looks && page_is_cold(c, page, opened)) {
		run_out->pages++;
		page++;
	}
	*at = page;
	if (run_out->pages) {
		const size_t last = slot_at(c->arena, page * bytes - 1);

		run_out->first_slot = (uint32_t)slot_at(c->arena, run_out->first_page * bytes);
		run_out->last_slot = (uint32_t)(last < opened ? last : opened);
	}
	return true;
}

/* ---- Holding ---- */

/* Takes slots `first` .. `last`, word by word, up to a word with a slot that is not cold.  Returns the first slot not
 * taken. */
static uint32_t take_slots(struct cold *c, uint32_t first, uint32_t last)
{
	size_t slot = first;

	while (slot <= last && cold_take_bits(c, (slot - 1) / 64, mask_of(slot, last)))
		slot = ((slot - 1) / 64 + 1) * 64 + 1;
	return slot <= last ? (uint32_t)slot : last + 1;
}

static void give_slots(struct cold *c, uint32_t first, uint32_t end)
{
	for (size_t slot = first; slot < end; slot = ((slot - 1) / 64 + 1) * 64 + 1)
		cold_give_bits(c, (slot - 1) / 64, mask_of(slot, end - 1));
}

bool pages_hold(struct cold *c, const struct page_run *run, struct page_hold *hold_out)
{
	const uint32_t wanted = run->last_slot - run->first_slot + 1;
	uint32_t end;

	/* Borrows room to grow first, because acquires cannot use that room. */
	*hold_out = (struct page_hold){.first_slot = run->first_slot, .last_slot = run->last_slot};
	hold_out->borrowed = cold_borrow(c, wanted);
	hold_out->allowed = cold_allowed_take(c, wanted - hold_out->borrowed);
	end = run->first_slot;
	if (hold_out->borrowed + hold_out->allowed == wanted) {
		end = take_slots(c, run->first_slot, run->last_slot);
		if (end > run->last_slot)
			return true;
	}
	hold_out->last_slot = end - 1;
	pages_let_go(c, hold_out);
	return false;
}

void pages_let_go(struct cold *c, const struct page_hold *hold)
{
	/* Gives back the bits before the counts (O1). */
	give_slots(c, hold->first_slot, hold->last_slot + 1);
	if (hold->borrowed)
		cold_give_back(c, hold->borrowed);
	if (hold->allowed)
		cold_allowed_add(c, hold->allowed);
}

void pages_mark_clean(struct cold *c, const struct page_run *run)
{
	for (size_t page = run->first_page; page < run->first_page + run->pages; page++)
		/* relaxed: the slots' bits order this store. */
		store_relaxed(&c->arena->dirty[page], 0);
}

void pages_mark(struct cold *c, uint32_t slot)
{
	const struct arena *a = c->arena;
	const size_t first = lead(a) + (slot - 1) * (size_t)a->stride;

	if (!a->dirty)
		return;
	for (size_t page = page_of(first); page <= page_of(first + a->stride - 1); page++)
		/* relaxed, both: we hold a slot on the page, so no call returns the page.  Other threads can only store
		 * the same value. */
		if (!load_relaxed(&a->dirty[page]))
			store_relaxed(&a->dirty[page], 1);
}
#endif
