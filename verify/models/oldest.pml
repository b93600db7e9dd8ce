/* SPDX-License-Identifier: MIT */
/*
 * oldest.pml - bounds over the cells of waiters, and a search that finds the oldest by them: src/core/cells.c.
 *
 * Idea         ASKERS begin to wait, ROUNDS times each, in any vacant cell, with tickets taken before.  The first
 *              LEAVERS of them may leave before they are served.  Those of AGAIN queue once more with the same
 *              ticket, like a call that wants several objects.  SERVERS search LOOKS times each, and give to the
 *              waiter they find, or have nothing to give.  A server may stop for ever before each step: it is then
 *              never scheduled again, and nothing here waits for another process.  TOPS, of GROUPS, of CELLS in all;
 *              tags do not wrap.
 * Parameters   CELLS=4 GROUPS=4 TOPS=2 LEAVERS=0
 * Checked      W10  a lift leaves no cell above its bound whose call was there throughout;
 *              W3   the served waiter is no later than any announced one that has waited since the search began; a search
 *                   that finds none has missed none of these;
 *              W12  a search wakes each waiter that was given an object before it began and was not woken;
 *              QUIET (ltl) no search runs for ever.
 * Not here     The first lot: its cells are searched one by one, like all in queue.inc.  The objects that servers
 *              give, and why no wake-up is lost: waiting.pml, where a search reads the cells one after the other and
 *              keeps the smallest.  It relies only on the properties checked here.
 * Broken       TAG_ONLY_IF_LOWERED;
 *              TOP_FIRST: the top is lowered before the group;
 *              LIFT_BY_STORE;
 *              WORD_LAST: a lift starts from the word read after the search below;
 *              AS_LED_TO: a search takes whatever is where a bound has led it;
 *              NOT_ANNOUNCED: `giving` is not counted;
 *              ANNOUNCED_LATE: it is counted after the gift.
 */
#include "when.inc"

#define GROUP(c) ((c) / (CELLS / GROUPS))
#define TOP(g) ((g) / (GROUPS / TOPS))

byte ticket[CELLS];  /* 0: not waiting */
bit taken[CELLS], given[CELLS];
byte tickets;
/* {bound, tag} of groups, then of tops. */
byte bound[GROUPS + TOPS], tag[GROUPS + TOPS], giving[GROUPS + TOPS];
#define TOP_AT(t) (GROUPS + (t))

/* Ghosts: has the cell's call been there throughout?  A bit for each cell: since the server's search began. */
bit been_below[CELLS], shown[CELLS];
byte early[SERVERS], early_given[SERVERS];
#ifdef QUIET
bit turn;
#define TURN turn = !turn
#else
#define TURN skip
#endif

#define SMALLER(a, b) ((a) && (!(b) || (a) < (b)))

inline leaves_queue(c)
{
	ticket[c] = 0;
	been_below[c] = 0;
	shown[c] = 0;
	for (q : 0 .. SERVERS - 1) {
		early[q] = early[q] & (255 - (1 << (c)))
	}
	q = 0
}

/* The CAS that succeeds. */
inline lower(b, t)
{
#ifdef TAG_ONLY_IF_LOWERED
	WHEN(SMALLER(t, bound[b]), bound[b] = t; tag[b]++)
#else
	bound[b] = (SMALLER(t, bound[b]) -> t : bound[b]);
	tag[b]++
#endif
}

proctype asker(byte me)
{
	byte c, mine, rounds, q;
	bit again;

	do
	:: rounds < ROUNDS ->
		rounds++;
		atomic { tickets++; mine = tickets };
end:		atomic {
			if
			:: !taken[0] -> c = 0
			:: !taken[1] -> c = 1
#if CELLS > 2
			:: !taken[2] -> c = 2
			:: !taken[3] -> c = 3
#endif
			fi;
			taken[c] = 1;
			again = 0
		};
shows:
		ticket[c] = mine;
#ifdef TOP_FIRST
		atomic { lower(TOP_AT(TOP(GROUP(c))), mine) };
		atomic { lower(GROUP(c), mine); been_below[c] = (ticket[c] == mine); shown[c] = been_below[c] };
#else
		atomic { lower(GROUP(c), mine); been_below[c] = (ticket[c] == mine) };
		atomic { lower(TOP_AT(TOP(GROUP(c))), mine); shown[c] = (ticket[c] == mine) };
#endif
		if
		:: atomic { me < LEAVERS && ticket[c] == mine -> leaves_queue(c);
			if
#ifdef AGAIN
			:: !again -> again = 1; goto shows
#endif
			:: taken[c] = 0
			fi }
		:: true
		fi;
		atomic { c = 0; mine = 0 }
	:: else -> break
	od
}

/* Reads the cells of group g, one after the other: wakes, and keeps the oldest. */
inline look_at_group(g)
{
	atomic { best = CELLS; oldest = 0; c = (g) * (CELLS / GROUPS) };
	do
	:: atomic { c < ((g) + 1) * (CELLS / GROUPS) ->
		if
		:: given[c] -> given[c] = 0; taken[c] = 0
		:: SMALLER(ticket[c], oldest) -> best = c; oldest = ticket[c]
		:: else -> skip
		fi;
		c++ }
	:: else -> break
	od
}

/* Reads `count` words from b on: finds the least bound. */
inline least_of(b, count, least, its_bound, its_tag)
{
	atomic { c = 0; least = b; its_bound = 0; its_tag = tag[b] };
	do
	:: atomic { c < count ->
		WHEN(SMALLER(bound[b + c], its_bound), least = b + c; its_bound = bound[b + c]; its_tag = tag[b + c]);
		c++ }
	:: else -> break
	od
}

/* By a CAS from {its_bound, its_tag}. */
inline lift(b, its_bound, its_tag, to)
{
	atomic {
		if
#ifdef LIFT_BY_STORE
		:: true ->
#else
#ifdef WORD_LAST
		:: bound[b] == its_bound ->
#else
		:: bound[b] == its_bound && tag[b] == its_tag ->
#endif
#endif
			bound[b] = to;
			tag[b]++;
			/* W10 */
			for (q : 0 .. CELLS - 1) {
				assert(!(b < GROUPS && GROUP(q) == b && been_below[q] && SMALLER(ticket[q], to)));
				assert(!(b >= GROUPS && TOP_AT(TOP(GROUP(q))) == b && shown[q] && SMALLER(ticket[q], to)))
			}
			q = 0
#ifndef LIFT_BY_STORE
		:: else -> skip
#endif
		fi
	}
}

inline wake_given()
{
	for (t : 0 .. TOPS - 1) {
		if
		:: giving[TOP_AT(t)] ->
			for (g : t * (GROUPS / TOPS) .. (t + 1) * (GROUPS / TOPS) - 1) {
				WHEN(giving[g], look_at_group(g))
			}
		:: else -> skip
		fi
	}
}

inline announce(c, more)
{
#ifndef NOT_ANNOUNCED
	giving[GROUP(c)] = giving[GROUP(c)] + more;
	giving[TOP_AT(TOP(GROUP(c)))] = giving[TOP_AT(TOP(GROUP(c)))] + more
#else
	skip
#endif
}

#ifdef AS_LED_TO
#define LEADS_ON(from, to) ((to) != 0)
#else
#define LEADS_ON(from, to) (!SMALLER(from, to))
#endif

proctype server(byte me)
{
	byte c, q, t, g, best, oldest, looks, top_bound, top_tag, group_bound, group_tag;

	do
	:: looks < LOOKS ->
		atomic {
			looks++;
			early[me] = 0;
			early_given[me] = 0;
			for (q : 0 .. CELLS - 1) {
				early[me] = early[me] | ((shown[q] && ticket[q] -> 1 : 0) << q);
				early_given[me] = early_given[me] | (given[q] << q)
			}
			q = 0
		};
		wake_given();
		do
		:: true ->
			atomic { TURN; best = CELLS; oldest = 0 };
			least_of(GROUPS, TOPS, t, top_bound, top_tag);
			WHEN(top_bound == 0, break);
			least_of((t - GROUPS) * (GROUPS / TOPS), GROUPS / TOPS, g, group_bound, group_tag);
			if
			:: !LEADS_ON(top_bound, group_bound) -> lift(t, top_bound, top_tag, group_bound)
			:: else ->
				look_at_group(g);
				if
				:: !LEADS_ON(group_bound, oldest) -> lift(g, group_bound, group_tag, oldest)
				:: else -> break
				fi
			fi
		od;
		atomic {
			/* W12; without those that were given something since then. */
			for (q : 0 .. CELLS - 1) {
				assert(!((early_given[me] >> q) & 1 && given[q]))
			}
			q = 0;
			assert(best < CELLS || early[me] == 0)
		};
		if
		:: best < CELLS ->
#ifndef ANNOUNCED_LATE
			announce(best, 1);
#endif
			if
			:: atomic { ticket[best] == oldest ->
				/* W3 */
				for (q : 0 .. CELLS - 1) {
					assert(!(early[me] >> q & 1) || ticket[q] >= oldest)
				}
				q = 0;
				leaves_queue(best);
				for (q : 0 .. SERVERS - 1) {
					early_given[q] = early_given[q] & (255 - (1 << best))
				}
				q = 0;
				given[best] = 1 };
#ifdef ANNOUNCED_LATE
				announce(best, 1);
#endif
				atomic { if :: given[best] -> given[best] = 0; taken[best] = 0 :: else -> skip fi };
				announce(best, -1)
			:: atomic { ticket[best] != oldest -> skip };
#ifndef ANNOUNCED_LATE
				announce(best, -1)
#endif
			fi
		:: true /* nothing to give */
		fi;
		atomic { t = 0; g = 0; c = 0; best = 0; oldest = 0; top_bound = 0; top_tag = 0; group_bound = 0; group_tag = 0;
			early[me] = 0; early_given[me] = 0 }
	:: else -> break
	od
}

init
{
	byte me;

	atomic {
		for (me : 0 .. ASKERS - 1) {
			run asker(me)
		}
		for (me : 0 .. SERVERS - 1) {
			run server(me)
		}
	}
}

#ifdef QUIET
ltl quiet { !(([] <> turn) && ([] <> !turn)) }
#endif
