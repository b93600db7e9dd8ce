/* SPDX-License-Identifier: MIT */
/*
 * exhaustion.pml - caches, depot and the collect: src/core/cache.c, src/core/steal.c, with src/core/depot.h and src/core/magazine.h below.
 *
 * Idea         CACHES users acquire, release (any object that is outside) and FLUSHES times give their cache up; the
 *              first two as often as they like (or RELEASES times).  Objects are counted, not told apart: who holds which object is the business of
 *              owner_thief.pml, and here nobody acts as owner of a magazine that is not its own.
 * Steps        One for each load, store and CAS that others can tell apart.  What is merged: a push to a stack (only
 *              its CAS is visible); the pop's load of top with the CAS that follows (a failed CAS equals a later load);
 *              a push's load of top with its store of bottom.
 * Words        Tags, tops and the count of pushes never wrap and only grow, so all that the collects' sums and the CASes
 *              ask is whether a word has changed since it was read.  That is one flag for each reading process and
 *              word: KEEPS_WORD, KEEPS_TOP, KEEPS_PUSHES for what `seen[]` names; `watch` for a head.
 * Checked      C1   a magazine that holds something is in `full` or `partial`, never used, or named by a word;
 *              C3   the owner's operations are done by the owner; who takes a magazine takes it from nobody;
 *              NULL only if at some moment during the call nothing was free and nothing was in the call's own hands;
 *              ROOM when a release looks for room, `empty` or `partial` has a magazine;
 *              PROGRESS (ltl) in every run infinitely many calls return: lock-freedom.
 * Not here     store buffers (owner_thief.pml), and so what only they need: that a collect reads its own cache, too (it does so
 *              with OWN, and reads top once more in a step of its own); the inlined hit, which lowers bottom and raises it again before a miss; FORGETFUL leaves out that a
 *              cache remembers its last "nothing".
 * Files        words.inc, moves.inc, steal.inc.
 * Broken       SILENT_POP, SILENT_EXCHANGE, SILENT_ROB, SILENT_CARVE: moves without the announcement in `in_transit`;
 *              ONE_SURVEY; PUSHES_UNCOUNTED; UNTAGGED_WORDS: a word of a cache that comes back to the same number has not
 *              changed; FORGET_HEADS: nor has a head (that one holds); TOP_ONCE: a count of objects from two moments;
 *              COUNT_ONCE: both collects look at as many caches; SHOWS_IT_AGAIN: a call for many puts the last one back before
 *              it is raced for; ALWAYS_CLEAR: a vain look in refill() advances the tag of `in_transit`.
 */
#ifndef CACHES
#define CACHES 2
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef EXTRA
#define EXTRA 4   /* magazines that are born empty, all together */
#endif
/* What the users may do, a bit for each. */
#ifndef ACQUIRERS
#define ACQUIRERS 7
#endif
#ifndef HITTERS
#define HITTERS 0 /* acquire only what is in their current magazine */
#endif
#ifndef BULKERS
#define BULKERS 0 /* the same, two at once */
#endif
#ifndef LATE
#define LATE 0    /* so many caches are born when their users please */
#endif
#if LATE == 0
#define counted CACHES
#endif
#ifndef RELEASERS
#define RELEASERS 7
#endif
#ifndef FLUSHERS
#define FLUSHERS 0
#endif
#ifndef FLUSHES
#define FLUSHES 1 /* all together */
#endif
#ifdef RELEASES   /* all together; without it as many as they like */
#define BOUNDED 1
#else
#define RELEASES 1
#define BOUNDED 0
#endif
#define MAY(set) ((set >> me) & 1)

#define MAGAZINES (CHUNKS + EXTRA)
#define FULL 0
#define PARTIAL 1
#define EMPTY 2
#define HAND 0
#define CURRENT 1
#define PREVIOUS 2
#ifdef OWN
#define SEEN (3 * CACHES) /* words that a collect reads in caches */
#else
#define SEEN (3 * (CACHES - 1))
#endif

#include "words.inc"
#include "moves.inc"
#include "steal.inc"

proctype user(byte me)
{
	byte number, m, given, result, at, p, i, f;
#if LATE
	byte counted;
#endif
	bit something, same, home;

	if
	:: me >= CACHES - LATE ->
		/* claim_at(): the count; give_birth() */
end_unborn:	caches = me + 1;
		d_step { owner[CHUNKS + 1 + me] = me + 1; set_word(me, CURRENT, CHUNKS + 1 + me) }
	:: else -> skip
	fi;
end:	do
	:: MAY(ACQUIRERS) ->
		d_step { call[me] = 1; mark_moment() };
		cache_take(result);
		atomic {
			if
			:: result == 1 -> outside++
#ifndef ONLY_C1
			:: result == 2 -> assert(call[me] == 2)
#endif
			:: else -> skip
			fi;
			call[me] = 0;
			result = 0;
			returned = !returned
		}
	:: atomic { MAY(HITTERS) && count1[MINE(CURRENT)] > 1 -> skip };
		pop_current(result);
		atomic { outside = outside + result; result = 0; returned = !returned }
	:: atomic { MAY(BULKERS) && count1[MINE(CURRENT)] > 2 -> skip };
		pop_two(result);
		atomic { outside = outside + result; result = 0; returned = !returned }
	:: atomic { MAY(RELEASERS) && outside > 0 && releases < RELEASES -> outside--; releases = releases + BOUNDED };
		cache_put();
		atomic { returned = !returned }
	:: atomic { MAY(FLUSHERS) && flushes < FLUSHES -> flushes++ };
		cache_flush();
		d_step { returned = !returned }
	od
}

#define NAMED_BY(c, m) (WORD(c, HAND) == m || WORD(c, CURRENT) == m || WORD(c, PREVIOUS) == m)
#if CACHES > 2
#define NAMED(m) (NAMED_BY(0, m) || NAMED_BY(1, m) || NAMED_BY(2, m))
#else
#define NAMED(m) (NAMED_BY(0, m) || NAMED_BY(1, m))
#endif
#define OUT_OF_SIGHT(m) (count1[m] > 1 && !stored[m] && (m > CHUNKS || m <= carved) && !NAMED(m))

#if MAGAZINES == 4
#define HIDDEN (OUT_OF_SIGHT(1) || OUT_OF_SIGHT(2) || OUT_OF_SIGHT(3) || OUT_OF_SIGHT(4))
#elif MAGAZINES == 5
#define HIDDEN (OUT_OF_SIGHT(1) || OUT_OF_SIGHT(2) || OUT_OF_SIGHT(3) || OUT_OF_SIGHT(4) || OUT_OF_SIGHT(5))
#elif MAGAZINES == 6
#define HIDDEN (OUT_OF_SIGHT(1) || OUT_OF_SIGHT(2) || OUT_OF_SIGHT(3) || OUT_OF_SIGHT(4) || OUT_OF_SIGHT(5) || \
	OUT_OF_SIGHT(6))
#elif MAGAZINES == 7
#define HIDDEN (OUT_OF_SIGHT(1) || OUT_OF_SIGHT(2) || OUT_OF_SIGHT(3) || OUT_OF_SIGHT(4) || OUT_OF_SIGHT(5) || \
	OUT_OF_SIGHT(6) || OUT_OF_SIGHT(7))
#endif

#ifndef NO_C1
/* C1, at every instant: what is out of sight makes a step possible that fails. */
active proctype observer()
{
	bit c1_broken = 1;

end:	do
	:: d_step { HIDDEN -> assert(!c1_broken) }
	od
}
#endif

init
{
	byte i;

	d_step {
		for (i : 1 .. MAGAZINES) {
			count1[i] = (i <= CHUNKS -> SLOTS + 1 : 1)
		}
		for (i : 0 .. CACHES - 1) {
			if
			:: i < CACHES - LATE -> WORD(i, CURRENT) = CHUNKS + 1 + i; owner[CHUNKS + 1 + i] = i + 1
			:: else -> skip
			fi
		}
		for (i : CHUNKS + CACHES + 1 .. MAGAZINES) {
			next[i] = head[EMPTY];
			head[EMPTY] = i
		}
		i = 0
	};
	atomic {
		for (i : 0 .. CACHES - 1) {
			run user(i)
		}
		i = 0
	}
}

#ifdef PROGRESS
ltl progress { ([] <> returned) && ([] <> !returned) }
#endif
