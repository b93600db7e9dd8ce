/* SPDX-License-Identifier: MIT */
/*
 * bounds.pml - the lower bound over a block of candidates: node_lower(), node_raise() and node_bound() of
 * src/evict/order.c.
 *
 * Idea         A node has SLOTS candidates below it, each with an owner that repeats CHANGES times: pin, store
 *              another priority, unpin, lower.  RAISERS raise the bound, RAISES times each, whether it is too low or
 *              not.  A searcher reads the bound at any time.  Each load, store and CAS is a step; all are seq_cst, so
 *              steps have one order.  The stamp of slot s is s + 1; a bound is two words, lowered and stored one
 *              after the other.
 * Parameters   SLOTS=2 CHANGES=1 RAISERS=2 RAISES=1
 * Checked      EV2: a bound that the searcher trusts is at most the rank of each candidate whose unpin had returned
 *              when the searcher began, and that did not change until it ended; at the end it is at most each rank.
 * Not here     Levels above the first, which read bounds instead of words; memory orders (explore); threads that stop
 *              for ever, which block no step of another thread.
 * Broken       NO_MISS: an unpin does not report that a raise has missed it;
 *              IGNORES: a raise ends as if no unpin had reported that;
 *              KEEPS: a raise that was notified keeps the bound that it has stored;
 *              TRUSTING: the searcher does not check the version;
 *              NO_FLAG: raisers do not exclude each other;
 *              LOWER_FIRST: an owner lowers before it unpins;
 *              KEY_ONLY: an owner lowers only the priority.
 */

#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#ifndef RAISERS
#define RAISERS 2
#endif
#ifndef RAISES
#define RAISES 1
#endif

#define KEYS 2
#define NONE (KEYS + 1)
#define STAMP_NONE (SLOTS + 1)

byte key[SLOTS];
bit candidate[SLOTS];
byte bound_key, bound_stamp; /* 0, 0: unknown */
byte version;                /* 4 for each raise */

#define RAISING 1
#define MISSED 2

/* Ghosts. */
bit settled[SLOTS]; /* the unpin has returned */
byte changes[SLOTS];
byte done;

#define BEFORE(k1, s1, k2, s2) ((k1) < (k2) || ((k1) == (k2) && (s1) < (s2)))

/* node_lower(): EV3.  The two words are read one after the other, and lowered one after the other. */
inline lower(rank_key, rank_stamp)
{
	v = version;
#ifdef NO_MISS
	v = 0;
#endif
	do
	:: v % 2 == 0 || v / MISSED % 2 -> break
	:: else ->
		atomic {
			if
			:: version == v -> version = v | MISSED; v = v | MISSED
			:: else -> v = version
			fi
		}
	od;
	if
	:: v % 2 == 0 ->
		k = bound_key;
		s = bound_stamp;
		if
		:: BEFORE(rank_key, rank_stamp, k, s) ->
			do
			:: rank_key < k ->
				atomic {
					if
					:: bound_key == k -> bound_key = rank_key; k = rank_key
					:: else -> k = bound_key
					fi
				}
			:: else -> break
			od;
#ifndef KEY_ONLY
			do
			:: rank_stamp < s ->
				atomic {
					if
					:: bound_stamp == s -> bound_stamp = rank_stamp; s = rank_stamp
					:: else -> s = bound_stamp
					fi
				}
			:: else -> break
			od
#endif
		:: else
		fi
	:: else
	fi;
	atomic { k = 0; s = 0; v = 0 }
}

proctype owner(byte me)
{
	byte k, s, v, i, new;

	for (i : 1 .. CHANGES) {
		atomic { candidate[me] = 0; settled[me] = 0; changes[me]++ }
		select(new : 1 .. KEYS);
		key[me] = new;
#ifdef LOWER_FIRST
		lower(new, me + 1);
		candidate[me] = 1;
#else
		candidate[me] = 1;
		lower(new, me + 1);
#endif
		settled[me] = 1
	}
	done++
}

/* scan_block(): the word, then the rank. */
inline scan()
{
	least_key = NONE;
	least_stamp = STAMP_NONE;
	at = 0;
	do
	:: at < SLOTS ->
		if
		:: candidate[at] ->
			found = key[at];
			if
			:: BEFORE(found, at + 1, least_key, least_stamp) -> least_key = found; least_stamp = at + 1
			:: else
			fi
		:: else
		fi;
		at++
	:: else -> break
	od;
	atomic { at = 0; found = 0 }
}

/* node_raise(): EV4. */
proctype raiser()
{
	byte i, at, found, least_key, least_stamp, was;

	for (i : 1 .. RAISES) {
		was = version;
		atomic {
			if
#ifdef NO_FLAG
			:: true
#else
			:: was % 2 == 0 && version == was -> version = was + RAISING
			:: else -> was = 1
#endif
			fi
		};
		if
		:: was % 2 == 0 ->
			scan();
			bound_key = least_key;
			bound_stamp = least_stamp;
			atomic {
				if
#ifdef NO_FLAG
				:: true -> was = 1
#elif defined(IGNORES)
				:: true -> version = was + 4; was = 1
#else
				:: version == was + RAISING -> version = was + 4; was = 1
				:: else
#endif
				fi
			};
			if
			:: was % 2 == 0 ->
#ifndef KEEPS
				bound_key = 0;
				bound_stamp = 0;
#endif
				version = was + 4
			:: else
			fi
		:: else
		fi;
		atomic { least_key = 0; least_stamp = 0; was = 0 }
	}
	done++
}

/* node_bound(): EV5. */
active proctype searcher()
{
	byte k, s, was, i;
	bit stays[SLOTS];
	byte since[SLOTS];

	atomic {
		i = 0;
		do
		:: i < SLOTS -> stays[i] = settled[i]; since[i] = changes[i]; i++
		:: else -> break
		od
	};
	was = version;
	k = bound_key;
	s = bound_stamp;
#ifdef TRUSTING
	was = 0;
#endif
	atomic {
		if
#ifdef TRUSTING
		:: true ->
#else
		:: was % 2 == 0 && version == was ->
#endif
			i = 0;
			do
			:: i < SLOTS ->
				assert(!(stays[i] && since[i] == changes[i]) || !BEFORE(key[i], i + 1, k, s));
				i++
			:: else -> break
			od
		:: else
		fi
	}
}

init
{
	byte i;

	atomic {
		for (i : 1 .. SLOTS) { run owner(i - 1) };
		for (i : 1 .. RAISERS) { run raiser() }
	};
	done == SLOTS + RAISERS;
	for (i : 1 .. SLOTS) {
		assert(!BEFORE(key[i - 1], i, bound_key, bound_stamp))
	}
}
