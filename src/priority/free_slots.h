/* SPDX-License-Identifier: MIT */
/*
 * free_slots.h - the slots of an evicting pool that are free: a stack, whose head also says whether there are any.
 *
 * Idea         Treiber's stack (1986), its head a tagged word (tagged.h).  Zeroed links read as "the next slot", so
 *              that at first all slots are there in order, and making the stack takes one store.  Each link says how
 *              many slots lie from it down, as the depot's do (D5 in depot.h).
 * Invariants   FS1 a call that reads the same empty head twice knows that the stack was empty all the time between (S1).
 *              FS2 a slot is on the stack at most once, and each link says how many slots lie from there down.
 * Progress     push, pop: lock-free; a retry means that another thread moved the head.
 * Edges        FREE: push -> pop.
 */
#ifndef LFPOOL_FREE_SLOTS_H
#define LFPOOL_FREE_SLOTS_H

#include "core/depot.h"

struct free_slots {
	_Alignas(CACHE_LINE_PAIR) tagged_word head;
	_Atomic(uint64_t) *links; /* of slot n: links[n - 1] */
	uint32_t slots;
};

/* Nobody else knows it yet.  `links`: zeroed. */
static inline void free_slots_open(struct free_slots *f, _Atomic(uint64_t) *links, uint32_t slots)
{
	f->links = links;
	f->slots = slots;
	/* relaxed: ours alone. */
	store_relaxed(&f->head, 1);
}

static inline uint64_t free_slots_link(const struct free_slots *f, uint32_t slot)
{
	/* relaxed: FREE made it visible.  It is stale only if the slot has left, and then the tag has moved (S1). */
	const uint64_t link = load_relaxed(&f->links[slot - 1]);

	if (link)
		return link;
	return link_to(f->slots - slot + 1, slot < f->slots ? slot + 1 : SLOT_NONE);
}

static inline uint32_t free_slots_depth(const struct free_slots *f, uint64_t head)
{
	return tagged_number(head) ? link_depth(free_slots_link(f, tagged_number(head))) : 0;
}

static inline void free_slots_push(struct free_slots *f, uint32_t slot)
{
	unsigned failures = 0;

	for (;;) {
		/* acquire, edge FREE: the link of the top slot. */
		uint64_t head = load_acquire(&f->head);

		/* relaxed: the slot is ours until the CAS publishes it. */
		store_relaxed(&f->links[slot - 1], link_to(free_slots_depth(f, head) + 1, tagged_number(head)));
		/* release, edge FREE: the link, and the slot. */
		if (cas_weak_release(&f->head, &head, tagged_next(head, slot)))
			return;
		back_off(&failures);
	}
}

/* A slot that was free, or SLOT_NONE: *empty_out is then the head that said so. */
static inline uint32_t free_slots_pop(struct free_slots *f, uint64_t *empty_out)
{
	/* acquire, edge FREE: the link of the top slot. */
	uint64_t head = load_acquire(&f->head);
	unsigned failures = 0;

	for (;;) {
		const uint32_t slot = tagged_number(head);

		if (!slot) {
			*empty_out = head;
			return SLOT_NONE;
		}
		/* acquire, edge FREE: on failure the fresh head needs it.  (Who pops the next has FREE from its push: this is
		 * part of that release sequence.) */
		if (cas_acquire(&f->head, &head, tagged_next(head, link_below(free_slots_link(f, slot)))))
			return slot;
		back_off(&failures);
	}
}

/* Is the head still the one that free_slots_pop() found empty (FS1)? */
static inline bool free_slots_still(const struct free_slots *f, uint64_t empty)
{
	/* relaxed: what the tree showed in the meantime was read by loads that acquire. */
	return load_relaxed(&f->head) == empty;
}

/* Any thread: how many there are, exact while no slot comes or goes. */
static inline uint32_t free_slots_count(const struct free_slots *f)
{
	/* acquire, edge FREE: the link. */
	return free_slots_depth(f, load_acquire(&f->head));
}

#endif
