/* SPDX-License-Identifier: MIT */
/*
 * tournament.pml - the tournament tree of an evicting pool: src/priority/tournament.c, and its callers in src/priority/evicting.c.
 *
 * Idea         SLOTS slots under a tree of LEVELS levels (two: fan 2; one: a root over all slots).  PROCESSES users
 *              make slots stop contending (pin, release), contend again, or contend with another key (publish, unpin,
 *              update), ask for the first (peek), and take it (evict, release_min).  As often as they like, or CALLS
 *              calls all together.  Any user changes any slot, so several calls may be at one object.
 * Contenders   {key, slot} is one number, its rank.  The smaller goes first: of equal keys the smaller slot, instead of
 *              the stamp.
 * Versions     never wrap (F1).  All that is asked of one is whether its slot still contends with it.  So a name has a
 *              bit instead, `fresh`, wherever it stands, in a node or in somebody's hands: cleared when its slot gets
 *              another state, and never set again.
 * Parameters   PROCESSES=2 SLOTS=3 LEVELS=2 KEYS=2 CALLS=0
 *              What the users may do, a bit for each: CHANGERS=255 EVICTORS=255
 * Tags         never wrap (F2).  `watch` says whether the node has changed since this process read it.
 * Steps        One for each load and CAS of a state or of a node's word.  What is merged: word, record, and word again
 *              (what was read through an unchanged word stood there all the time: place.h); in the calls of evicting.c
 *              the load of a state with the CAS that follows (a failed CAS equals a later load); what a process decides
 *              by itself with the step before or after.
 * Checked      F4   once an offer of slot i has done with node v, and until i's state changes: what v names never comes
 *                   after i.  (settled[i]: of how many nodes that can be said.)
 *              F5   when first() reads the root: if that is current, no slot goes before it whose offer is complete; if
 *                   it names nobody, no such slot contends;
 *              settle() gives up only if its own contender is no more;
 *              what is taken is what the root named, so once at most for each version;
 *              CALLS when all is done one more first() names the true first;
 *              PROGRESS (ltl) in every run infinitely many calls return: lock-freedom.
 * Stopping     No step waits for anybody.  So a process that stops for ever is one that is not scheduled again: every
 *              search has those runs, at every point.
 * Not here     records and their reuse (place.h); orders weaker than seq_cst; free slots, and promise 1's "every object
 *              was in use"; the retries inside a collect and node_read(), which a merged read does not need.
 * Files        tree.inc, climb.inc.
 * Broken       ONE_TRY;
 *              CHECK_LATE, REPAIR_CHECK_LATE, WITHDRAW_CHECK_LATE: the collect comes before the look whether the name is
 *              current;
 *              NO_CHECK: a current name is replaced by whatever was collected (F3);
 *              LOSE_TO_STALE: an offer rests at a name that goes before it, current or not;
 *              EARLY_STOP: it ends at the first node where it loses;
 *              NO_VERSION: a name is current while its slot contends, even with another key; ROOT_UNCHECKED: the same,
 *              for first() alone;
 *              UNTAGGED: a node's word is the number of one of its two records;
 *              NO_DESCENT: a repair takes a stale name from below;
 *              TAKE_BY_STORE;
 *              SAME_KEY: an update that finds its key there already returns at once, while the offer of that key is
 *              still under way in another call.  (SAME_KEY_OFFERED holds: it offers that contender too.)
 *              NO_WITHDRAW, CLIMB_ON (these two hold): nobody withdraws; an offer does not ask after itself.
 */
#define MAY(set) ((set >> me) & 1)

#include "tree.inc"
#include "climb.inc"

/* ---- Calls ---- */

#if CALLS
#define MAY_BEGIN(set) (MAY(set) && calls < CALLS)
#define BEGINS calls++
#else
#define MAY_BEGIN(set) MAY(set)
#define BEGINS skip
#endif

inline returns()
{
	drop(MINE);
	let_go();
	v = 0;
	leaves = 0;
	RETURNS
}

inline begin_offer()
{
	fresh[MINE] = 1;
	v = PARENT(SLOT_OF(name[MINE]))
}

inline leave()
{
	leaves = 1;
#ifdef NO_WITHDRAW
	v = OVER
#else
	v = PARENT(SLOT_OF(name[MINE]))
#endif
}

/* change(pool, &mine, next): the slot contends with this key, or stops if that is what it contends with. */
inline change_some_slot()
{
	do
	:: slot < SLOTS - 1 -> slot++
	:: break
	od;
	do
	:: key < KEYS - 1 -> key++
	:: break
	od;
	name[MINE] = RANK(key, slot);
	if
	:: name[SLOT_AT(slot)] == name[MINE] -> d_step { set_state(slot, NOBODY); leave() }
	:: name[SLOT_AT(slot)] != name[MINE] -> d_step { set_state(slot, name[MINE]); begin_offer() }
#ifdef SAME_KEY
	:: name[SLOT_AT(slot)] == name[MINE] ->
		settled[slot] = LEVELS;
		v = OVER
#endif
#ifdef SAME_KEY_OFFERED
	:: name[SLOT_AT(slot)] == name[MINE] ->
		begin_offer()
#endif
	fi;
	slot = 0;
	key = 0
}

/* change(pool, &first, taken(&first)).  An eviction leaves the names, release_min() withdraws. */
#ifdef TAKE_BY_STORE
#define CAN_TAKE true
#else
#define CAN_TAKE fresh[NAMED]
#endif
inline take()
{
	is_another = (name[SLOT_AT(SLOT_OF(name[NAMED]))] != name[NAMED]);
	assert(!is_another);
	name[MINE] = name[NAMED];
	let_go();
	set_state(SLOT_OF(name[MINE]), NOBODY);
	v = OVER
}

proctype user(byte me)
{
	byte v, c, p, slot, key;
	bit again, up, leaves, t4_broken, t5_broken, is_another;

end:	do
	::
		if
		/* publish, update, unpin; pin, release */
		:: atomic { MAY_BEGIN(CHANGERS) -> BEGINS; change_some_slot() }
		/* take_slot(), release_min(), peek_min() */
		:: atomic { MAY_BEGIN(EVICTORS) -> BEGINS };
			do
			::
				first();
				if
				:: atomic { v = OVER; break }
				:: atomic { name[NAMED] != NOBODY && CAN_TAKE -> d_step { take() }; break }
				:: atomic { name[NAMED] != NOBODY && CAN_TAKE -> d_step { take(); leave() }; break }
				:: atomic { name[NAMED] != NOBODY && !CAN_TAKE -> d_step { let_go() } }
				fi
			od
		fi;
		climb()
#if CALLS
	:: atomic { calls == CALLS -> break }
#endif
	od;
	finished++
}

#if CALLS
/* All is done. */
inline first_at_the_end()
{
	first();
	atomic {
		least = NOBODY;
		for (i : 0 .. SLOTS - 1) {
			least = (BEFORE(name[SLOT_AT(i)], least) -> name[SLOT_AT(i)] : least)
		}
		assert(name[NAMED] == least)
	}
}
#endif

init
{
	byte v;
#if CALLS
	byte me = PROCESSES, c, least;
	bit t4_broken, t5_broken;
#endif
	byte p, i;

	atomic {
#ifdef START
		/* Some slots contend with some key, and all offers are complete. */
		for (i : 0 .. SLOTS - 1) {
			if
			:: true
			:: set_state(i, RANK(0, i))
#if KEYS > 1
			:: set_state(i, RANK(1, i))
#endif
			fi;
			settled[i] = (CONTENDS(i) -> LEVELS : 0)
		}
		for (i : 1 .. NODES + SLOTS - 1) {
			v = NODES + SLOTS - i;
			WHEN(BEFORE(name[v], name[(v - 1) / FAN]), copy((v - 1) / FAN, v))
		}
		v = 0;
#endif
		for (i : 0 .. PROCESSES - 1) {
			run user(i)
		}
		i = 0
	}
#if CALLS
	finished == PROCESSES;
	first_at_the_end()
#endif
}

#ifdef PROGRESS
ltl progress { ([] <> returned) && ([] <> !returned) }
#endif
