/* SPDX-License-Identifier: MIT */
/*
 * evicting.h - what an evicting pool is: slots with a state word each, a stack of the free ones, a tournament among the
 * active ones.
 *
 * Idea         A slot's state word (tournament.h) says whether it is active, how often it is pinned, and which record
 *              its priority stands in; every step of its life is one CAS of that word:
 *
 *                  free           on the stack; inactive, no pins
 *                  taken          in the hands of one call: popped off the stack, or evicted
 *                  new            acquired, and not published yet: nobody but its holder gets at it
 *                  contending     active, no pins: the tree may name it
 *                  pinned         active, 1 .. PINS_MAX pins
 *                  released       inactive, pins left: its last unpin makes it free
 *
 *              A handle is {stamp:44, slot:20}: the stamp, how many objects were acquired before it, stands in the
 *              record; so a CAS that expects the state whose record had the stamp expects the handle.
 * Invariants   P1  only contending slots are taken from a holder, by a CAS of the state that the tree named: so at most
 *                  once for each version, and with the handle stale from that instant.
 *              P2  a slot that is taken is changed only by the call that has it; one that is free only by the
 *                  call that pops it; one that is new only by calls with its handle.
 *              P3  a slot's record is written only while the slot is taken, and a state of it that a call might still
 *                  expect is gone (F1).
 *              P4  while no call is under way: no slot is taken; those on the stack, and in the quarantine, are those whose
 *                  state is free; one in use has a record, and in it a stamp that an acquire took.
 * Quarantine   With that debug mode there are so many slots more than the capacity, and these fill the ring of
 *              quarantine.h from the start: what is put in takes another out.  So outside of it there are always as many
 *              slots as the capacity says, and nothing takes from it: P1 to P3, and what NULL means, are as without.
 * Edges        HOLD: what the holder did to the object and its slot -> the call that pins, or takes it: release by the CAS that
 *              publishes or unpins, acquire by the CAS that pins or takes.
 */
#ifndef LFPOOL_EVICTING_H
#define LFPOOL_EVICTING_H

#include "base/widths.h"
#include "object/lifecycle.h"
#include "os/os.h"
#include "pool/pool.h"
#include "priority/free_slots.h"
#include "priority/tournament.h"

#include "lfpool/priority.h"

#define HANDLE_SLOT_BITS SLOTS_SHIFT_MAX
#define HANDLE_STAMP_MASK LOW_BITS(HANDLE_STAMP_BITS)

struct lfpool_priority {
	/* Fixed at creation. */
	struct tournament tournament;
	char *objects; /* of slot n: at (n - 1) * stride */
	void **owners; /* of slot n: [n - 1]; written by who has it taken */
	size_t stride;
	void (*on_evict)(void *context, const lfpool_evicted_t *evicted);
	void *context;
	struct lifecycle *lifecycle; /* NULL: neither hooks nor debug modes that need it */
	uint32_t held_back;          /* slots that are in quarantine, at all times */
	bool evict_equal;
	lfpool_backend_t backend; /* LFPOOL_BACKEND_LOCKFREE; else plain.h */
	size_t mapped_bytes;      /* of all this */
	char name[NAME_BYTES];
	/* For reports. */
	size_t object_size, object_alignment;
	uint32_t flags;
	lfpool_hooks_t hooks;
	struct debug_modes modes;
	/* Anybody. */
	struct free_slots free;
	_Alignas(CACHE_LINE_PAIR) _Atomic(uint64_t) stamps; /* objects acquired so far */
	_Atomic(uint64_t) evicted, refused;
	_Atomic(size_t) misuses; /* what the debug modes found */
	struct {
		_Alignas(CACHE_LINE_PAIR) os_mutex_t mutex;
		uint32_t heap_count, free_count;
	} plain; /* plain.h */
};

/* ---- Slots ---- */

static inline struct place *place_of(const lfpool_priority_t *pool, uint32_t slot)
{
	return tournament_slot(&pool->tournament, slot);
}

static inline void *object_of(const lfpool_priority_t *pool, uint32_t slot)
{
	return pool->objects + (size_t)(slot - 1) * pool->stride;
}

static inline lfpool_handle_t handle_of(const struct contender *c)
{
	return (c->stamp & HANDLE_STAMP_MASK) << HANDLE_SLOT_BITS | (c->slot - 1);
}

static inline bool is_active(uint64_t state)
{
	return state & STATE_ACTIVE;
}

static inline bool is_new(uint64_t state)
{
	return (state & (STATE_ACTIVE | STATE_PINS_MASK)) == STATE_NEW;
}

static inline bool is_active_or_new(uint64_t state)
{
	return is_active(state) || is_new(state);
}

/* Also if it was released meanwhile and is still pinned. */
static inline bool is_pinned_or_active(uint64_t state)
{
	return is_active(state) || (state & STATE_PINS_MASK && state_pins(state) <= PINS_MAX);
}

/* ---- Acquiring ---- */

/* Does one of priority `key` give way to a newcomer of this priority? */
static inline bool gives_way(const lfpool_priority_t *pool, uint64_t key, uint64_t priority)
{
	const struct tournament *t = &pool->tournament;

	if (pool->evict_equal)
		return t->before ? !t->before(t->context, priority, key) : key <= priority;
	return t->before ? t->before(t->context, key, priority) : key < priority;
}

/* Another one for each object that is acquired, and none whose handle could be 0. */
static inline uint64_t next_stamp(lfpool_priority_t *pool)
{
	uint64_t stamp;

	do
		/* relaxed: that no two are the same is all. */
		stamp = fetch_add_relaxed(&pool->stamps, 1) + 1;
	while (unlikely(!(stamp & HANDLE_STAMP_MASK)));
	return stamp;
}

/* It was taken from its holder; nobody else has it. */
void tell_evicted(lfpool_priority_t *pool, const struct contender *victim, void *object);

#endif
