/* SPDX-License-Identifier: MIT */
/*
 * retired.pml - one shard of retired objects: push(), begin(), end(), ask() and lfpool_drain() of
 * src/retire/retired.c.
 *
 * Idea         RETIRERS users repeat without end: acquire a free slot, make it reachable, unlink it, retire it.
 *              READERS enter, may look at something reachable, leave.  ASKERS poll the scheme, or TELLERS of the
 *              scheme reclaim due batches.  A batch is due when the readers that were inside when it began have left.
 *              DRAINERS drain; after that no process reads.  The word is {phase, top, count} and compared as such,
 *              without a tag.
 * Parameters   RETIRERS=2 READERS=1 ASKERS=0 TELLERS=0 DRAINERS=0
 * Checked      no slot is released or handed out while a reader looks at it;
 *              R1  released slots were retired, each once; their number is the count, and the list ends there;
 *              R2  an idle shard has an empty stack;
 *              R3  one process at a time works on the batch;
 *              slots retired before a drain began are free when it ends;
 *              PROGRESS (ltl reclaimed, weakly fair) a retired slot becomes free.
 * Not here     Memory orders (explore), several shards, bulk, the pool behind put(), a process that stops for ever
 *              (step).
 * Broken       IDLE_UNLOOKED: it becomes idle whatever is on the stack;
 *              IDLE_DROPS: and forgets that;
 *              IDLE_BY_STORE;
 *              PUT_BACK_LATE: the objects are released after the shard was let go;
 *              BEGIN_BEFORE_TAKE: the next batch begins, then the stack is taken;
 *              ASK_UNHELD: a process polls without holding;
 *              BEGUN_AT_ONCE: a batch may be polled before it has begun;
 *              KEEPS_HOLD: an unready batch is not let go;
 *              PUSH_BY_STORE;
 *              LINK_ONCE: the link is not written again when the CAS fails;
 *              LET_GO_BY_STORE;
 *              DRAIN_ONE: a drain waits for one batch.
 */

#define IDLE 0
#define BEGUN 1
#define HELD 2

#define FREE 0
#define REACHABLE 1
#define OUT 2

#define SLOTS 2
#define NOT_RETIRED (SLOTS + 1)

#if ASKERS && !defined(BEGUN_AT_ONCE)
#define BEGINNING HELD
#else
#define BEGINNING BEGUN
#endif

byte phase, top, count;         /* the word                             */
byte link[SLOTS + 1];           /* NOT_RETIRED, or the slot below */
byte batch_first, batch_count;
bit with_scheme, inside[READERS], waits_for[READERS];
byte reading[READERS];

/* Ghosts. */
byte where[SLOTS + 1];
bit retired[SLOTS + 1];         /* its retirement is complete           */
bit before[SLOTS + 1];          /* and was already when the drain began */
byte ended_since;               /* since the drainer read `ended`; 2 for more */
bit drained;                    /* a drain has ended                    */
byte at_work;                   /* on the batch                         */

#define IS_READ(s) (reading[0] == s || reading[READERS - 1] == s)
#define WAITS (waits_for[0] || waits_for[READERS - 1])

#define LOAD p = phase; t = top; n = count
#define UNCHANGED (phase == p && top == t && count == n)
#define TO(new_phase, new_top, new_count) phase = new_phase; top = new_top; count = new_count; \
	assert(phase != IDLE || top == 0)
#define FORGET p = 0; t = 0; n = 0

/* let_go() */
inline let_go()
{
	atomic { LOAD };
	do
#ifdef LET_GO_BY_STORE
	:: atomic { TO(BEGUN, t, n); FORGET; break }
#else
	:: atomic { UNCHANGED -> TO(BEGUN, t, n); FORGET; break }
	:: atomic { else -> LOAD }
#endif
	od
}

/* scheme.begin() */
inline scheme_begins()
{
	atomic {
		assert(!with_scheme);
		with_scheme = 1;
		for (r : 0 .. READERS - 1) {
			waits_for[r] = inside[r]
		}
		r = 0
	}
}

/* begin() */
inline begin(first, total)
{
	atomic { at_work++; assert(at_work == 1); batch_first = first };
	batch_count = total;
#ifdef BEGIN_BEFORE_TAKE
	if
	:: !early -> at_work--; scheme_begins()
	:: else -> at_work--; early = 0; with_scheme = 1
	fi;
#else
	at_work--;
	scheme_begins();
#endif
#if ASKERS
	let_go();
#endif
}

/* put_back() */
inline put_back()
{
	atomic { at_work++; assert(at_work == 1); s = batch_first; left = batch_count };
	do
	:: left > 0 ->
		atomic { assert(link[s] != NOT_RETIRED); below = link[s]; link[s] = NOT_RETIRED };
		atomic {
			assert(where[s] == OUT);
			assert(!IS_READ(s));
			where[s] = FREE;
			retired[s] = 0;
			before[s] = 0;
			s = below;
			below = 0;
			left--
		}
	:: else -> break
	od;
	atomic { assert(s == 0); at_work-- }
}

/* end() of retired.c */
inline end_batch()
{
#ifndef PUT_BACK_LATE
	put_back();
#endif
	/* store_release(&shard->ended, ended + 1) */
	atomic { ended_since = (ended_since < 2 -> ended_since + 1 : 2) };
	atomic { LOAD };
	do
	:: true ->
#ifdef BEGIN_BEFORE_TAKE
		if
		:: t != 0 && !early -> scheme_begins(); atomic { with_scheme = 0; early = 1 }
		:: else
		fi;
#endif
		if
#ifdef IDLE_UNLOOKED
		:: atomic { UNCHANGED -> TO(IDLE, t, n); t = 0; break }
#elif defined(IDLE_DROPS)
		:: atomic { UNCHANGED -> TO(IDLE, 0, 0); t = 0; break }
#elif defined(IDLE_BY_STORE)
		:: atomic { t == 0 -> TO(IDLE, 0, 0); break }
		:: atomic { t != 0 && UNCHANGED -> TO(BEGINNING, 0, 0); break }
#else
		:: atomic { t == 0 && UNCHANGED -> TO(IDLE, 0, 0); break }
		:: atomic { t != 0 && UNCHANGED -> TO(BEGINNING, 0, 0); break }
#endif
		:: atomic { else -> LOAD }
		fi
	od;
#ifdef PUT_BACK_LATE
	put_back();
#endif
	if
	:: t != 0 -> begin(t, n)
	:: else
	fi;
	atomic { FORGET }
}

/* push() of one slot */
inline push(slot)
{
	atomic { LOAD };
#ifdef LINK_ONCE
	link[slot] = t;
#endif
	do
	:: true ->
#ifndef LINK_ONCE
		link[slot] = (p == IDLE -> 0 : t);
#endif
		if
		:: atomic { p == IDLE && UNCHANGED -> TO(BEGINNING, 0, 0); retired[slot] = 1; break }
#ifdef PUSH_BY_STORE
		:: atomic { p != IDLE -> TO(p, slot, n + 1); retired[slot] = 1; break }
#else
		:: atomic { p != IDLE && UNCHANGED -> TO(p, slot, n + 1); retired[slot] = 1; break }
#endif
		:: atomic { else -> LOAD }
		fi
	od;
	if
	:: p == IDLE -> begin(slot, 1)
	:: else
	fi;
	atomic { FORGET }
}

proctype retirer(byte me)
{
	byte mine, p, t, n, r;
	bit early;

end:	do
	:: atomic {
		if
		:: where[1] == FREE -> mine = 1
		:: where[2] == FREE -> mine = 2
		fi;
		assert(!IS_READ(mine));
		where[mine] = REACHABLE };
		where[mine] = OUT;
		push(mine);
		mine = 0
	od
}

#if !DRAINERS
proctype reader(byte me)
{
end:	do
	:: inside[me] = 1;
		if
		:: atomic { where[1] == REACHABLE -> reading[me] = 1 }
		:: atomic { where[2] == REACHABLE -> reading[me] = 2 }
		:: true
		fi;
		reading[me] = 0;
		atomic { inside[me] = 0; waits_for[me] = 0 }
	od
}
#endif

#if ASKERS
proctype asker(byte me)
{
	byte s, below, left, p, t, n, r;
	bit early;

end:	do
	:: atomic { phase == BEGUN -> LOAD };
		/* ask() */
#ifndef ASK_UNHELD
		if
		:: atomic { UNCHANGED -> TO(HELD, t, n); FORGET }
		:: atomic { else -> FORGET; goto end }
		fi;
#else
		atomic { FORGET };
#endif
		/* scheme.ready() */
		if
		:: atomic { !WAITS -> assert(with_scheme); with_scheme = 0 };
			end_batch()
		:: atomic { else ->
#ifdef KEEPS_HOLD
			goto end
#endif
			};
			let_go()
		fi
	od
}
#endif

#if TELLERS
proctype teller(byte me)
{
	byte s, below, left, p, t, n, r;
	bit early;

end:	do
	:: atomic { with_scheme && !WAITS -> with_scheme = 0 };
		end_batch()
	od
}
#endif

#if DRAINERS
proctype drainer()
{
	byte i;

end:	do
	:: atomic {
		for (i : 1 .. SLOTS) {
			before[i] = retired[i]
		}
		i = 0 };
		if
		:: phase == IDLE -> skip
		:: else ->
			ended_since = 0;
#ifdef DRAIN_ONE
			(ended_since >= 1 || phase == IDLE)
#else
			(ended_since >= 2 || phase == IDLE)
#endif
		fi;
		atomic {
			for (i : 1 .. SLOTS) {
				assert(!before[i])
			}
			i = 0
		};
		drained = !drained
	od
}
#endif

init
{
	byte i;

	atomic {
		for (i : 1 .. SLOTS) {
			link[i] = NOT_RETIRED
		}
		for (i : 1 .. RETIRERS) {
			run retirer(i)
		}
#if !DRAINERS
		for (i : 1 .. READERS) {
			run reader(i - 1)
		}
#endif
#if ASKERS
		for (i : 1 .. ASKERS) {
			run asker(i)
		}
#endif
#if TELLERS
		for (i : 1 .. TELLERS) {
			run teller(i)
		}
#endif
#if DRAINERS
		run drainer();
#endif
		i = 0
	}
}

#ifdef PROGRESS
ltl reclaimed { [] (retired[1] -> <> !retired[1]) }
#endif
