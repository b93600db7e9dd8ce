/* SPDX-License-Identifier: MIT */
/*
 * stack.pml - the depot's stack of magazines: stack_push() and stack_pop() of src/core/depot.h, the words of
 * src/core/tagged.h.
 *
 * Idea         PROCESSES workers play ROUNDS rounds (0: without end): pop; perhaps pop again; push back in either
 *              order.  Each label names the line of depot.h for the step; between two steps anything may happen.
 * Parameters   PROCESSES=2 ROUNDS=2 MAGAZINES=3 TAGS=0 LOCK=0 DEATHS=0
 * Checked      A popped magazine had no owner, and the head that pop installs is the magazine below it now (with
 *              sequential steps these two make it a stack); at the end every magazine is in it exactly once.
 * Tags         TAGS = n: the tag counts modulo n.  TAGS = 0: a tag that never wraps.  Of such a tag a CAS only needs
 *              to know whether the head has changed since this process loaded it.  So one bit per process represents
 *              it, and the states stay finite for any number of rounds.
 * Lock-freedom (ltl progress) Rounds without end, and up to DEATHS processes stop for ever, at any point.  In every
 *              run infinitely many rounds are completed.  Spurious failures of the weak CAS are left out (an x86
 *              processor has none); so is back_off().
 * Broken       TAGS too small: ABA. LOCK = 1: behind a spin lock; LOCK = 2: behind a lock that sleeps.
 */
#include "when.inc"

byte head_number, head_tag;
byte next[MAGAZINES + 1]; /* struct lfpool_magazine's `next`                  */
bit held[MAGAZINES + 1];  /* ghost: some process has popped it                */
bit moved[PROCESSES];     /* TAGS = 0: the head changed since the last load   */
bit locked;               /* LOCK                                             */
bit dead[PROCESSES];
byte finished;            /* processes that have played all their rounds      */
byte died;                /* processes that stopped earlier */
bit round;                /* flips with every round that is completed         */

#if TAGS
#define UNCHANGED (head_number == number && head_tag == tag)
#define LOADED tag = head_tag
#define FORGET tag = 0
#define ADVANCE head_tag = (head_tag + 1) % TAGS
#else
#define UNCHANGED (head_number == number && !moved[me])
#define LOADED moved[me] = 0
#define FORGET moved[me] = 1
#define ADVANCE for (q : 0 .. PROCESSES - 1) { moved[q] = 1 } q = 0
#endif

#if LOCK == 1
#define ENTER do :: atomic { !locked -> locked = 1; break } :: locked -> skip od
#define LEAVE locked = 0
#elif LOCK == 2
#define ENTER atomic { !locked -> locked = 1 }
#define LEAVE locked = 0
#else
#define ENTER skip
#define LEAVE skip
#endif

/* stack_pop(): result = the magazine or 0. */
inline pop(result)
{
	ENTER;
	/* uint64_t head = load_acquire(&s->head) */
	atomic { number = head_number; LOADED }
	do
	:: number == 0 ->
		break
	:: else ->
		/* below = load_relaxed(&magazines_at(ms, number)->next) */
		below = next[number];
		/* cas_weak_acq_rel(&s->head, &head, tagged_next(head, below)); on failure `head` is the fresh one */
		if
		:: atomic { UNCHANGED ->
			assert(!held[number]);
			assert(below == next[number]);
			head_number = below;
			ADVANCE;
			held[number] = 1;
			break }
		:: d_step { else -> number = head_number; LOADED; below = 0 }
		fi
	od;
	atomic { result = number; number = 0; below = 0; FORGET }
	LEAVE
}

/* stack_push(). */
inline push(given)
{
	ENTER;
	/* uint64_t head = load_relaxed(&s->head) */
	atomic { number = head_number; LOADED }
	do
	:: true ->
		/* store_relaxed(&m->next, tagged_number(head)) */
		next[given] = number;
		/* cas_weak_release(&s->head, &head, tagged_next(head, m->number)) */
		if
		:: atomic { UNCHANGED ->
			held[given] = 0;
			head_number = given;
			ADVANCE;
			break }
		:: d_step { else -> number = head_number; LOADED }
		fi
	od;
	atomic { given = 0; number = 0; FORGET }
	LEAVE
}

proctype worker(byte me) provided (!dead[me])
{
	byte first, second, number, below, played, q;
#if TAGS
	byte tag;
#endif

	do
	:: ROUNDS == 0 || played < ROUNDS ->
		pop(first);
		if
		:: first != 0 -> pop(second)
		:: true -> skip
		fi;
		if
		:: first != 0 -> push(first)
		:: second != 0 -> push(second)
		:: else -> skip
		fi;
		if
		:: first != 0 -> push(first)
		:: second != 0 -> push(second)
		:: else -> skip
		fi;
		d_step { round = !round; if :: ROUNDS != 0 -> played++ :: else -> skip fi }
	:: else ->
		break
	od;
	finished++
}

/* Stops processes for ever, at any point. */
proctype fate()
{
	do
	:: atomic { died < DEATHS && !dead[0] -> dead[0] = 1; died++ }
	:: atomic { died < DEATHS && !dead[1] -> dead[1] = 1; died++ }
#if PROCESSES > 2
	:: atomic { died < DEATHS && !dead[2] -> dead[2] = 1; died++ }
#endif
	:: break
	od
}

init
{
	byte i, found;

	atomic {
		for (i : 1 .. MAGAZINES) {
			next[i] = i - 1
		}
		head_number = MAGAZINES;
		for (i : 0 .. PROCESSES - 1) {
			moved[i] = 1;
			run worker(i)
		}
		i = 0;
		WHEN(DEATHS > 0, run fate())
	}
	finished == PROCESSES;
	/* All popped magazines were pushed back: each is there once. */
	d_step {
		i = head_number;
		do
		:: i != 0 ->
			assert(!held[i]);
			held[i] = 1;
			found++;
			i = next[i]
		:: else -> break
		od;
		assert(found == MAGAZINES)
	}
}

#ifdef PROGRESS
ltl progress { ([] <> round) && ([] <> !round) }
#endif
