/* SPDX-License-Identifier: MIT */
/*
 * exhaustion.pml - caches, depot and the collect: src/core/cache.c, src/core/steal.c, with src/core/depot.h and
 * src/core/magazine.h below.
 *
 * Idea         CACHES users acquire, and release any outside object, without limit.  Objects are counted, without
 *              identity; no user acts as owner of another's magazine.
 * Purpose      Lock-freedom, and that the model is right: exactness in the smallest pool.  verify/proof has that, and
 *              C1, for pools of any size and any number of threads, with everything that is missing here.
 * Parameters   CACHES=2 SLOTS=1 CHUNKS=1 EXTRA=3 (magazines that are born empty, all together)
 *              CALLS=0 (the most calls of a user; 0: without end)
 *              BOUND=1 (a cache's stacks have at most one magazine; 0: none)
 *              RELEASERS=3 (the users that release, a bit for each)
 * Steps        One for each load, store and CAS that others can distinguish.  Merged are: a push to a stack (only its
 *              CAS is visible); the pop's load of top with the CAS that follows (a failed CAS equals a later load); a
 *              push's load of top with its store of bottom.
 * Words        Tags, tops and the count of pushes never wrap and only grow.  So the collects' sums and the CASes only
 *              ask whether a word has changed since it was read: one flag per reading process and word.  KEEPS_WORD,
 *              KEEPS_TOP, KEEPS_PUSHES are for the words that `seen[]` names; `watch` is for a head.
 * Checked      C3   only the owner does the owner's operations; a magazine that is taken had no owner;
 *              NULL only if at some moment during the call nothing was free and the call itself held nothing;
 *              ROOM when a release looks for room, a stack of empty or partial ones has a magazine;
 *              C6   a stack of a cache has at most BOUND;
 *              PROGRESS (ltl) in every run infinitely many calls return: lock-freedom.
 * Not here     Store buffers, births, bulk calls, caches that are destroyed or flushed, shards, trims, the inlined
 *              hit; that a collect also reads its own cache, and that a cache remembers its last "nothing".
 * Files        words.inc, moves.inc, steal.inc.
 * Broken       SILENT_CARVE: a chunk is taken without the announcement in `in_transit`;
 *              SILENT_POP: a magazine of a stack is taken without it;
 *              INSTALL_FIRST: drain() installs the new magazine before the full one is on a stack;
 *              NO_BOUND: shelve() does not check the number of magazines;
 *              STACKS_UNSEEN: the collect does not read the caches' stacks;
 *              ALWAYS_CLEAR: a vain search in refill() advances the tag of `in_transit`.
 */
#define MAY(set) ((set >> me) & 1)
#if CALLS
#define COUNT calls++
#else
#define COUNT skip
#endif

#define MAGAZINES (CHUNKS + EXTRA)
#define FULL 0
#define PARTIAL 1
#define EMPTY 2
#define OWN_FULL(c) (3 + 2 * (c))
#define OWN_EMPTY(c) (4 + 2 * (c))
#define HAND 0
#define CURRENT 1
#define STACKED 2 /* the head of the cache's own full magazines */
#define SEEN (3 * (CACHES - 1)) /* words that a collect reads in caches */

#include "words.inc"
#include "moves.inc"
#include "steal.inc"

proctype user(byte me)
{
	byte number, m, to, result, at, p, i, calls;
	bit something, same, home;

end:	do
	:: d_step { CALLS == 0 || calls < CALLS -> call[me] = 1; mark_moment(); COUNT };
		cache_take(result);
		atomic {
			WHEN(result == 1, outside++);
			assert(result == 1 || call[me] == 2);
			call[me] = 0;
			result = 0;
			returned = !returned
		}
	:: atomic { MAY(RELEASERS) && outside > 0 && (CALLS == 0 || calls < CALLS) -> outside--; COUNT };
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
