/* SPDX-License-Identifier: MIT */
/*
 * tournament.h - which object would be evicted first: a tournament tree that any number of threads change at once.
 *
 * Idea         Each slot has a state word.  Its slot contends while it is active and not pinned; what it contends with
 *              (its key, and when it was acquired) stands in a record that the state names and nobody changes.  Over
 *              the slots stands a tree whose nodes each have FAN children; a node names the contender that goes first
 *              among those below it: by a record too (place.h), which says the slot, the version of its state, and
 *              what it contends with.  A name is current while the slot contends with that version.  The root names
 *              the victim.
 *                 A call that has given a slot a new state climbs from its leaf to the root (offer), and makes sure that
 *              each node on the way has a current name that does not come after its own slot: mostly by looking,
 *              which disturbs no one.  Where it is not so it collects the names of the node's children, and swaps in
 *              the first among them by one CAS.  If that fails twice, another has done it meanwhile, and looked after
 *              the climber came (Jayanti's double refresh; f-arrays, 2002).  So a climb makes at most two collects on
 *              each level.
 *                 A slot that stops contending (pinned, released, taken) makes the names of it stale, everywhere, by
 *              its state alone.  A call that finds such a name where it needs a current one repairs it first.
 * Invariants   F1  a state in which the slot contends never comes back: it has a version, which advances whenever the
 *                  slot begins to contend, or contends with something else.  (Of 2^35 versions; that many changes of
 *                  one object take half an hour of nothing else, and the thread that is misled must have slept
 *                  through exactly so many.)
 *              F2  the word of a node never comes back: it is a tagged word (tagged.h).
 *              F3  a call that replaces a name that was current before it looked at the children replaces it by one that
 *                  goes before it.
 *              F4  once an offer of slot i has done with node v (its CAS succeeded, or it saw a current name there that
 *                  does not come after i), and until i's state changes: what v names never comes after i.
 *              F5  so a root that is current names a first one: nobody whose offer is complete goes before it.  And a
 *                  root that names nobody says that nobody contends.
 *              F6  a node names a slot below it; a current name says what the slot's record says.
 *              Why F4 follows from F1 to F3: docs/priority.md.
 * Progress     lock-free; a retry means that a word has changed.  offer and withdraw collect at most twice on a level.
 * Order        What makes a slot contend or stop, the swaps of nodes, and the loads that the argument for F4 speaks of are
 *              seq_cst: it needs one order of all of them.  i gives its slot a state, and sees that w, which the node
 *              names, is current; w gives its slot another state, and collects; of these two one must see the other,
 *              and they write different words.  (A load is no dearer for it, nor is a CAS, on x86 and AArch64.)
 * Edges        RECORD, REUSE (place.h).
 */
#ifndef LFPOOL_TOURNAMENT_H
#define LFPOOL_TOURNAMENT_H

#include "base/widths.h"
#include "core/tagged.h"
#include "priority/place.h"

#ifndef FAN_SHIFT /* a test build has a smaller one */
#define FAN_SHIFT 4
#endif
#define FAN (1u << FAN_SHIFT)
#define SLOTS_SHIFT_MAX 20
#define LEVELS_MAX ((SLOTS_SHIFT_MAX + FAN_SHIFT - 1) / FAN_SHIFT)

/* ---- States: {version:35, active:1, pins:7, record:21} ---- */

#define STATE_RECORD_BITS 21
#define STATE_PINS_BITS 7
#define STATE_PIN (UINT64_C(1) << STATE_RECORD_BITS)
#define STATE_ACTIVE (STATE_PIN << STATE_PINS_BITS)
#define STATE_VERSION (STATE_ACTIVE << 1)
#define STATE_VERSION_MASK (LOW_BITS(STATE_VERSION_BITS) * STATE_VERSION)
#define STATE_RECORD_MASK (STATE_PIN - 1)
#define STATE_PINS_MASK (STATE_ACTIVE - STATE_PIN)
/* In place of pins, of a slot that is not active: a call has it; a holder has it, and has not published it yet. */
#define STATE_TAKEN STATE_PINS_MASK
#define STATE_NEW (STATE_TAKEN - STATE_PIN)
#define PINS_MAX (STATE_NEW / STATE_PIN - 1)

static inline uint32_t state_record(uint64_t state)
{
	return (uint32_t)(state & STATE_RECORD_MASK);
}

static inline uint32_t state_pins(uint64_t state)
{
	return (uint32_t)((state & STATE_PINS_MASK) / STATE_PIN);
}

static inline bool state_contends(uint64_t state)
{
	return (state & (STATE_ACTIVE | STATE_PINS_MASK)) == STATE_ACTIVE;
}

/* The next version, with everything else new. */
static inline uint64_t state_next(uint64_t state, uint64_t active_and_pins, uint32_t record)
{
	return (((state & ~(STATE_VERSION - 1)) + STATE_VERSION) & STATE_VERSION_MASK) | active_and_pins | record;
}

/* ---- Contenders ---- */

/* What a record says, copied; and of a name the slot and version apart. */
struct contender {
	uint64_t key, stamp;
	uint64_t state; /* of the slot, when it was last looked at      */
	uint64_t name;  /* {version:35, slot:21} of that state          */
	uint32_t slot;  /* SLOT_NONE: nobody                            */
};

#define NAME_SLOT_BITS (SLOTS_SHIFT_MAX + 1)

static inline uint64_t name_of(uint32_t slot, uint64_t state)
{
	return state / STATE_VERSION << NAME_SLOT_BITS | slot;
}

static inline uint32_t name_slot(uint64_t name)
{
	return (uint32_t)(name & ((UINT64_C(1) << NAME_SLOT_BITS) - 1));
}

/* ---- The tree ---- */

struct tournament {
	struct place *slots; /* of slot n: slots[n - 1]; the word is its state                         */
	struct place *nodes; /* level by level, the parents of slots first; the word is a tagged one   */
	uint32_t level_at[LEVELS_MAX];
	uint32_t levels, count; /* of levels; of slots */
	struct spares spares;
	bool (*before)(void *context, uint64_t a, uint64_t b); /* NULL: a < b */
	void *context;
};

/* How many nodes there are over so many slots; sets levels, count and level_at. */
uint32_t tournament_measure(struct tournament *t, uint32_t count);

static inline struct place *tournament_slot(const struct tournament *t, uint32_t slot)
{
	return &t->slots[slot - 1];
}

/* Does `a` go before `b`?  Nobody comes after everybody. */
static inline bool goes_before(const struct tournament *t, const struct contender *a, const struct contender *b)
{
	if (!a->slot || !b->slot)
		return a->slot != SLOT_NONE;
	if (t->before) {
		if (t->before(t->context, a->key, b->key))
			return true;
		if (t->before(t->context, b->key, a->key))
			return false;
	} else if (a->key != b->key) {
		return a->key < b->key;
	}
	return a->stamp < b->stamp;
}

/* Fills record `number` of a place, taken by the caller, with what `c` says. */
void tournament_fill(const struct tournament *t, const struct place *p, uint32_t number, const struct contender *c);

/* Reads what the slot contends with, or did when it was last active, as of `state`.  False: its state is another by
 * now, and what was read means nothing. */
bool tournament_look(const struct tournament *t, uint32_t slot, uint64_t state, struct contender *out);

/* The slot that `mine` says has the state that `mine` says, by the caller's doing, and contends. */
void tournament_offer(struct tournament *t, const struct contender *mine);
/* The slot has stopped contending: names of it are replaced from its leaf upwards, as far as there are some.  Nothing
 * depends on it; it saves others a repair. */
void tournament_withdraw(struct tournament *t, uint32_t slot);
/* The first contender at some moment during the call; nobody: nobody contended then (F5). */
struct contender tournament_first(struct tournament *t);

#endif
