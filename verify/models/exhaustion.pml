/* SPDX-License-Identifier: MIT */
/*
 * exhaustion.pml - caches, depot and the collect: src/core/cache.c, src/core/steal.c, with src/core/depot.h and src/core/magazine.h below.
 *
 * Idea         CACHES users acquire, and release any object that is outside, as often as they like.  Objects are counted, not told
 *              apart; no user acts as owner of another's magazine.
 * Purpose      Lock-freedom, and that the model is right: exactness in the smallest pool.  For pools of any size and any number of
 *              threads verify/proof has that and C1, and with them what is not here.
 * Parameters   CACHES=2 SLOTS=1 CHUNKS=1 EXTRA=3 (magazines that are born empty, all together)
 *              RELEASERS=3 (which users release, a bit for each)
 * Steps        One for each load, store and CAS that others can tell apart.  What is merged: a push to a stack (only
 *              its CAS is visible); the pop's load of top with the CAS that follows (a failed CAS equals a later load);
 *              a push's load of top with its store of bottom.
 * Words        Tags, tops and the count of pushes never wrap and only grow, so all that the collects' sums and the CASes
 *              ask is whether a word has changed since it was read.  That is one flag for each reading process and
 *              word: KEEPS_WORD, KEEPS_TOP, KEEPS_PUSHES for what `seen[]` names; `watch` for a head.
 * Checked      C3   the owner's operations are done by the owner; a magazine that is taken had no owner;
 *              NULL only if at some moment during the call nothing was free and nothing was in the call's own hands;
 *              ROOM when a release looks for room, `empty` or `partial` has a magazine;
 *              PROGRESS (ltl) in every run infinitely many calls return: lock-freedom.
 * Not here     store buffers, births, calls for many, caches that are given up, the inlined hit, and that a collect reads its own
 *              cache, too, and a cache remembers its last "nothing".
 * Files        words.inc, moves.inc, steal.inc.
 * Broken       SILENT_CARVE: a chunk is taken without the announcement in `in_transit`;
 *              ALWAYS_CLEAR: a vain look in refill() advances the tag of `in_transit`.
 */
#define MAY(set) ((set >> me) & 1)

#define MAGAZINES (CHUNKS + EXTRA)
#define FULL 0
#define PARTIAL 1
#define EMPTY 2
#define HAND 0
#define CURRENT 1
#define PREVIOUS 2
#define SEEN (3 * (CACHES - 1)) /* words that a collect reads in caches */

#include "words.inc"
#include "moves.inc"
#include "steal.inc"

proctype user(byte me)
{
	byte number, m, result, at, p, i;
	bit something, same, home;

end:	do
	:: d_step { call[me] = 1; mark_moment() };
		cache_take(result);
		atomic {
			WHEN(result == 1, outside++);
			assert(result == 1 || call[me] == 2);
			call[me] = 0;
			result = 0;
			returned = !returned
		}
	:: atomic { MAY(RELEASERS) && outside > 0 -> outside-- };
		cache_put();
		atomic { returned = !returned }
	od
}

init
{
	byte i;

	d_step {
		for (i : 1 .. MAGAZINES) {
			count1[i] = (i <= CHUNKS -> SLOTS + 1 : 1)
		}
		for (i : 0 .. CACHES - 1) {
			WORD(i, CURRENT) = CHUNKS + 1 + i;
			owner[CHUNKS + 1 + i] = i + 1
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
