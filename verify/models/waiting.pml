/* SPDX-License-Identifier: MIT */
/*
 * waiting.pml - calls that wait, continuations, a pending shrink, and the calls that serve them:
 * src/waiting/waiters.c.
 *
 * Idea         WAITERS calls wait (the first TIMED of them may time out), RELEASERS users release RELEASES objects
 *              together, ACQUIRERS take one each and so overtake, TRIMMERS hold a free slot for a while and put it
 *              back, ASYNC queues a continuation, which CANCEL may cancel, DEBT objects are pending for a shrink.
 *              All of them serve.  At first USED slots are outside and the rest are free.
 * The end      Every run ends: each process has finished, sleeps, or has stopped.  Then init checks (Spin's
 *              `timeout`: no process can take a step).
 * Parameters   WAITERS=0 TIMED=0 RELEASERS=0 RELEASES=RELEASERS ACQUIRERS=0 TRIMMERS=0 ASYNC=0 CANCEL=0 DEBT=0 STOPS=0
 *              USED=RELEASERS SLOTS=USED
 * Checked      no lost wake-up: no process waits while a slot is free; none sleeps that was given one;
 *              conservation: each slot is in one place;
 *              the continuation runs at most once, and not if it was cancelled;
 *              the shrink: withdrawn + owed = DEBT, and nothing is owed while a slot is free;
 *              `wanted` is the number of waiters, plus 1 if something is owed, and never below 0;
 *              ORDER a slot is given to a cell only if none with a smaller ticket has waited all the time since the
 *                   server began to search;
 *              STOPS of the processes stop for ever, anywhere.  When nothing moves, one more object is released
 *                   (LAST_RELEASE).  Then none waits while a slot is free, and none sleeps that was given one, except
 *                   the one that a stopped server was about to wake;
 *              QUIET (ltl) no run loops in serve() for ever.
 * Sleeping     The futex compares and sleeps in one step, may wake spuriously, and at any time if it is timed.  A
 *              server's wake-up may come late, and to a cell's next owner.  (HELP_TO_WAKE: servers wake processes
 *              that were given a slot and still sleep: then LATE_WAKE holds.)
 * Not here     How a search finds the oldest by bounds, without reading each cell: oldest.pml shows that the result
 *              is the same.  The take itself (verify/proof): see queue.inc.  The wake-up of a call that has itself
 *              stopped.  Tickets that wrap.  Lots of cells.  Whether a plain acquire may return NULL while a server
 *              holds a slot: NULL_IS_EXACT shows that it does.
 * Broken       NO_HEAVY_FENCE, NO_LIGHT_FENCE (of the FALLBACK);
 *              DEMAND_FIRST: the releaser looks before it pushes;
 *              NO_LOOK_AGAIN after a slot was put back; BLIND_TRIM: the same, by a trim;
 *              NO_SERVE: the waiter only sleeps;
 *              BLIND_SLEEP: it sleeps whatever the word is;
 *              TRUSTING: it takes any wake-up for a slot;
 *              TIMEOUT_BY_STORE, CANCEL_BY_STORE, DEBT_WITHOUT_CAS;
 *              WAKE_FORGOTTEN; ANY_CELL: not the oldest;
 *              THEN_AFTER_CAS: the server checks for a continuation when the cell may already have another owner;
 *              ORDER_NOW: not promised: a cell that began to wait behind the server's search is passed over;
 *              LATE_WAKE: not promised: another release wakes the one that a stopped server was about to wake.
 */
#if WAITERS + ASYNC > 2
#define CELLS (WAITERS + ASYNC)
#else
#define CELLS 2
#endif
#if DEBT
#define SHRINKERS 1
#else
#define SHRINKERS 0
#endif
#define LAST (WAITERS + RELEASERS + ACQUIRERS + TRIMMERS + ASYNC + CANCEL + SHRINKERS) /* init */
#define PROCESSES (LAST + 1)

#if STOPS
#define CAN_STOP provided (!dead[me])
#else
#define CAN_STOP
#endif
#define OF_A_SERVER byte c, q, best, oldest, debt; bit has, continues

#include "queue.inc"

byte releases;

/* A processor writes its stores to memory at any time. */
proctype processor(byte me)
{
end:	do
	:: atomic { pushed[me] > 0 -> pushed[me]--; visible++ }
	:: atomic { announced[me] -> announced[me] = 0; phase[mine[me]] = WAITING }
	od
}

#if WAITERS
/* waiters_wait_for(), after an acquire that found nothing. */
proctype waiter(byte me) CAN_STOP
{
	OF_A_SERVER;
	bit got;

	enlist(0);
#ifndef NO_SERVE
	serve();
#endif
	/* sleep_in().  A spurious wake-up is another round. */
	do
	:: atomic { phase[mine[me]] == GIVEN -> got = 1; break }
#ifdef BLIND_SLEEP
	:: phase[mine[me]] == WAITING -> asleep[mine[me]] = 1;
#else
	:: atomic { phase[mine[me]] == WAITING -> asleep[mine[me]] = 1 };
#endif
end_asleep:	!asleep[mine[me]]
#ifdef TRUSTING
	:: atomic { phase[mine[me]] == WAITING -> got = 1; break }
#endif
	/* cas(&cell->word, waiting, claimed), at the timeout */
#ifdef TIMEOUT_BY_STORE
	:: atomic { me < TIMED && phase[mine[me]] == WAITING -> skip };
		atomic { phase[mine[me]] = CLAIMED; LEAVES_QUEUE(mine[me]); break }
#else
	:: atomic { me < TIMED && phase[mine[me]] == WAITING -> phase[mine[me]] = CLAIMED; LEAVES_QUEUE(mine[me]); break }
#endif
	od;
	vacate(mine[me], got)
}
#endif

proctype releaser(byte me) CAN_STOP
{
	OF_A_SERVER;

end:	do
	:: atomic { releases < RELEASES && outside > 0 ->
		releases++;
		BEGINS_RELEASE;
#ifndef DEMAND_FIRST
		outside--;
		pushed[me]++ };
		LIGHT_FENCE
		serve_if_wanted();
#else
		debt = wanted };
		atomic { outside--; pushed[me]++ };
		WHEN(debt > 0, debt = 0; serve());
#endif
		ENDS_RELEASE
	od
}

#if ACQUIRERS
proctype acquirer(byte me) CAN_STOP
{
#ifdef NULL_IS_EXACT
	byte q;

#endif
	if
	:: atomic { visible > 0 -> visible--; outside++ }
	:: atomic { visible == 0 -> skip
#ifdef NULL_IS_EXACT
		for (q : 0 .. LAST) {
			null_meanwhile = null_meanwhile || (releasing == 0 && hand[q])
		}
#endif
		}
	fi
}
#endif

#if TRIMMERS
/* Holds a free slot, like lfpool_trim(), and makes it free again. */
proctype trimmer(byte me) CAN_STOP
{
	OF_A_SERVER;

	take();
	if
	:: has ->
		put_free();
		LIGHT_FENCE
#ifndef BLIND_TRIM
		serve_if_wanted()
#endif
	:: else -> skip
	fi
}
#endif

#if DEBT
/* lfpool_shrink() by DEBT, when nothing is free. */
proctype shrinker(byte me) CAN_STOP
{
	OF_A_SERVER;

	/* debt_add() */
	wanted++;
	owed = owed + DEBT;
	heavy_fence();
	serve()
}
#endif

#if ASYNC
/* lfpool_acquire_async(), after an acquire that found nothing. */
proctype async(byte me) CAN_STOP
{
	OF_A_SERVER;

	enlist(1);
	serve()
}
#endif

#if CANCEL
/* lfpool_cancel(): does nothing unless the continuation waits. */
proctype canceller(byte me) CAN_STOP
{
	byte cell, q;

	if
	:: atomic { async_ticket != 0 && phase[async_cell] == WAITING && ticket[async_cell] == async_ticket ->
		cell = async_cell };
		if
#ifdef CANCEL_BY_STORE
		:: atomic { phase[cell] = CLAIMED; cancelled++; assert(ran + cancelled <= 1); LEAVES_QUEUE(cell) };
			vacate(cell, 0)
#else
		:: atomic { phase[cell] == WAITING && ticket[cell] == async_ticket ->
			phase[cell] = CLAIMED;
			cancelled++;
			assert(ran + cancelled <= 1);
			LEAVES_QUEUE(cell) };
			vacate(cell, 0)
		:: !(phase[cell] == WAITING && ticket[cell] == async_ticket)
#endif
		fi
	:: true
	fi
}
#endif

#if STOPS
proctype fate()
{
	byte p, stopped;

	do
	:: atomic { stopped < STOPS ->
		do
		:: p < LAST - 1 -> p++
		:: break
		od;
		dead[p] = 1;
		stopped++;
		p = 0 }
	:: break
	od
}
#endif

#define START(count, role) for (c : 1 .. count) { run role(me); me++ }

/* No process can take another step. */
inline check()
{
	bit lost_wake_up, asleep_with_a_slot, in_dead_hands;
	byte sum, waiting;

	d_step {
		sum = outside + visible + withdrawn;
		for (q : 0 .. LAST) {
			assert(!pushed[q] && !announced[q]);
			assert(!hand[q] || dead[q]);
			sum = sum + hand[q]
		}
		for (c : 0 .. CELLS - 1) {
			if
			:: phase[c] == GIVEN -> sum++
			:: phase[c] == WAITING -> waiting++
			:: else -> skip
			fi;
			in_dead_hands = 0;
			for (q : 0 .. LAST - 1) {
				if
				:: dead[q] && mine[q] == c && q < WAITERS -> in_dead_hands = 1
#ifndef LATE_WAKE
				:: dead[q] && must_wake[q] == c + 1 -> in_dead_hands = 1
#endif
				:: else -> skip
				fi
			}
			lost_wake_up = lost_wake_up || (phase[c] == WAITING && visible > 0);
			asleep_with_a_slot = asleep_with_a_slot || (phase[c] == GIVEN && asleep[c] && !in_dead_hands)
		}
		assert(!lost_wake_up);
		assert(!asleep_with_a_slot);
		assert(sum == SLOTS);
		assert(owed + withdrawn == DEBT || (STOPS && owed + withdrawn == 0));
		assert(owed == 0 || visible == 0);
		assert(STOPS || wanted == (owed > 0) + waiting)
	}
}

init
{
	OF_A_SERVER;
	byte me;

	atomic {
		outside = USED;
		visible = SLOTS - USED;
#ifdef LAST_RELEASE
		visible--;
		hand[LAST] = 1;
#endif
#if WAITERS
		START(WAITERS, waiter);
#endif
		START(RELEASERS, releaser);
#if ACQUIRERS
		START(ACQUIRERS, acquirer);
#endif
#if TRIMMERS
		START(TRIMMERS, trimmer);
#endif
#if SHRINKERS
		START(SHRINKERS, shrinker);
#endif
#if ASYNC
		START(ASYNC, async);
#endif
#if CANCEL
		START(CANCEL, canceller);
#endif
		for (c : 0 .. LAST) {
			run processor(c)
		}
		c = 0;
#if STOPS
		run fate()
#endif
	}
#ifdef LAST_RELEASE
	timeout;
	put_free();
	LIGHT_FENCE
	serve_if_wanted();
#endif
	timeout;
	check()
}

#ifdef QUIET
ltl quiet { !(([] <> turn) && ([] <> !turn)) }
#endif
