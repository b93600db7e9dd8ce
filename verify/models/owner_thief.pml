/* SPDX-License-Identifier: MIT */
/*
 * owner_thief.pml - one magazine, its owner, its thieves, and the membarrier between them: src/core/magazine.h.
 *
 * Idea         The owner's stores of `bottom` and of entries go through a store buffer of BUFFER places (first in,
 *              first out, as on x86); the processor empties it whenever it likes, a locked instruction waits for that,
 *              and the thief's membarrier empties it.  The owner pops, or pushes any object that is outside; THIEVES
 *              thieves steal; all of them as often as they like.  `top` is written by locked instructions alone.
 *              O1 .. O3 and T1 .. T4 are those of docs/memory-model.md, "Owner and thief".
 * Positions    count modulo POSITIONS.  `top` has 64 bits and never wraps, so "top is what I noted" is a bit for each
 *              process that every change of top clears.  While it is set the noted value is top itself; once it is
 *              clear the CAS to come will fail, whatever else is read.
 * Checked      whoever gets an object is its only holder; whenever the owner is idle and its stores are out,
 *              top .. bottom holds exactly the objects that are not outside.
 * Not here     reordering of loads, and of stores with stores (ARM).  A change of owner: it goes through a CAS, which
 *              empties the buffer.
 * Broken       NO_MEMBARRIER; TOP_AFTER_FENCE: T1 after T2; LAST_WITHOUT_CAS: the owner takes the last object as it
 *              takes any other; LATE_READ: the thief reads the entry after its CAS.  FALLBACK is the other pair of
 *              fences, each side its own, and holds.  (A thief has no stores in flight, so its own fence does nothing
 *              here: NO_MEMBARRIER is also "a fence in the thief alone".)
 */
#define SLOTS 2
#define OBJECTS (SLOTS + 1) /* one more than there is room for */
#ifndef BUFFER
#define BUFFER 2
#endif
#ifndef THIEVES
#define THIEVES 2
#endif
#define POSITIONS 4         /* a multiple of SLOTS, and enough for -1 .. SLOTS objects */
#define OWNER 0             /* thieves are 1 .. THIEVES */
#define BOTTOM SLOTS        /* an address behind those of the entries */

#define STEP(position, by) ((position + POSITIONS + by) % POSITIONS)
/* The signed distance, -1 .. POSITIONS - 2. */
#define COUNT(top, bottom) ((bottom - top + POSITIONS + 1) % POSITIONS - 1)

byte top, bottom = SLOTS; /* what other processors see */
byte entry[SLOTS];
chan stores = [BUFFER] of { byte, byte };

bit same_top[THIEVES + 1]; /* top is what this process has read last */
bit outside[OBJECTS + 1];  /* ghost: somebody holds it */

#define GET(object) assert(object != 0 && !outside[object]); outside[object] = 1

/* The part of a CAS that succeeds. */
inline advance_top()
{
	top = STEP(top, 1);
	for (i : 0 .. THIEVES) {
		same_top[i] = 0
	}
	i = 0
}

inline write_oldest()
{
	stores?address, value;
	if
	:: address == BOTTOM -> bottom = value
	:: else -> entry[address] = value
	fi;
	address = 0;
	value = 0
}

/* The owner's processor writes its stores to memory, one by one, at any time. */
active proctype processor()
{
	byte address, value;
end:
	do
	:: atomic { nempty(stores) -> write_oldest() }
	od
}

/* T2, os_heavy_fence(): a full barrier in the owner's program, wherever that is just now. */
inline membarrier()
{
	atomic {
		do
		:: nempty(stores) -> write_oldest()
		:: empty(stores) -> break
		od
	}
}

/* Nothing is lost, nothing is there twice. */
inline check()
{
	if
#ifndef LATE_READ /* there an object may be in a thief's hands */
	:: empty(stores) ->
		count = 0;
		i = top;
		do
		:: COUNT(i, bottom) > 0 -> assert(!outside[entry[i % SLOTS]]); i = STEP(i, 1); count++
		:: else -> break
		od;
		for (i : 1 .. OBJECTS) {
			count = count + outside[i]
		}
		assert(count == OBJECTS);
		i = 0;
		count = 0
	:: nempty(stores) -> skip
#else
	:: true -> skip
#endif
	fi
}

/* magazine_pop() */
inline pop()
{
	/* O1  store_release(&m->bottom, bottom) */
	atomic { mine = STEP(mine, -1); stores!BOTTOM, mine };
#ifdef FALLBACK
	/* O2  full_fence() */
	empty(stores);
#endif
	/* O3  top = load_relaxed(&m->top); the entry is the owner's own */
	atomic {
		same_top[OWNER] = 1;
		left = COUNT(top, mine) + 1;
		object = written[mine % SLOTS]
	};
	if
	:: left > 1 -> atomic { GET(object); object = 0 }
#ifdef LAST_WITHOUT_CAS
	:: left == 1 -> atomic { GET(object); object = 0 }
	:: left < 1 ->
#else
	:: left == 1 ->
		/* cas_release(&m->top, &top, top + 1) */
		atomic { empty(stores);
			if
			:: same_top[OWNER] -> advance_top(); GET(object)
			:: else -> skip
			fi
		};
		/* store_release(&m->bottom, bottom + 1) */
		atomic { mine = STEP(mine, 1); stores!BOTTOM, mine }
	:: left < 1 ->
#endif
		atomic { mine = STEP(mine, 1); stores!BOTTOM, mine }
	fi;
	atomic { object = 0; left = 0; same_top[OWNER] = 0 }
}

/* magazine_push() of `object`, which is in the hands of this call. */
inline push()
{
	/* load_acquire(&m->top) */
	if
	:: atomic { COUNT(top, mine) >= SLOTS -> outside[object] = 1; object = 0 }
	:: atomic { COUNT(top, mine) < SLOTS -> skip };
		/* store_relaxed(&m->entry[bottom & (slots - 1)], slot) */
		atomic { written[mine % SLOTS] = object; stores!(mine % SLOTS), object };
		/* store_release(&m->bottom, bottom + LFPOOL_PUSHED) */
		atomic { mine = STEP(mine, 1); stores!BOTTOM, mine; object = 0 }
	fi
}

proctype owner()
{
	byte mine = SLOTS;    /* bottom, and the entries, as the owner's processor knows them */
	byte written[SLOTS];
	byte object, left, i, count;

	atomic {
		for (i : 0 .. SLOTS - 1) {
			written[i] = i + 1
		}
		i = 0
	}
	do
	:: d_step { true -> check() } pop()
	:: atomic { outside[1] -> object = 1; outside[1] = 0 }; push()
	:: atomic { outside[2] -> object = 2; outside[2] = 0 }; push()
	:: atomic { outside[3] -> object = 3; outside[3] = 0 }; push()
	od
}

proctype thief(byte me)
{
	byte object, address, value, i;

end:
	do
	:: true ->
#ifdef TOP_AFTER_FENCE
		membarrier();
#endif
		/* T1  load_acquire(&m->top), in collect_magazine() */
		same_top[me] = 1;
#if !defined NO_MEMBARRIER && !defined TOP_AFTER_FENCE && !defined FALLBACK
		/* T2 */
		membarrier();
#endif
		/* T3  magazine_take(): load_acquire(&m->bottom) */
		if
		:: atomic { same_top[me] && COUNT(top, bottom) > 0 -> skip };
#ifndef LATE_READ
			/* slot = load_relaxed(&m->entry[top & (slots - 1)]) */
			atomic {
				if
				:: same_top[me] -> object = entry[top % SLOTS]
				:: else -> skip
				fi
			};
#endif
			/* T4  cas_release(&m->top, &top, top + 1) */
			if
#ifdef LATE_READ
			:: atomic { same_top[me] -> object = top % SLOTS; advance_top() };
				atomic { object = entry[object]; GET(object) }
#else
			:: atomic { same_top[me] -> advance_top(); GET(object) }
#endif
			:: atomic { !same_top[me] -> skip }
			fi
		:: else -> skip
		fi;
		atomic { object = 0; same_top[me] = 0 }
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. SLOTS - 1) {
			entry[i] = i + 1
		}
		outside[OBJECTS] = 1;
		run owner();
		for (i : 1 .. THIEVES) {
			run thief(i)
		}
	}
}
