/* SPDX-License-Identifier: MIT */
/*
 * table.c - the scenarios: for each invariant of the library a program that would break it.
 */
#include "scenario.h"

#include "lfpool/lfpool.h"

/* What a row leaves out is none, or the usual. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

const struct scenario scenarios[] = {
	/* The depot: D1, S1. */
	{"depot-2", "pops and pushes of three magazines in both orders", 1, 3, "3aaarrrd", {"<><>", "<<>>"}, 0, 0},
	{"depot-order-2", "the same, the oldest back first", 1, 3, "3aaarrrd", {"<>", "<<^^"}, 0, 0},
	{"depot-3", "three at the stack", 1, 3, "3aaarrrd", {"<>", "<<>>", "<^"}, 0, 0},

	/* Never-used chunks. */
	{"carve-2", "two carve; there is one for each", 1, 2, "", {"a", "a"}, 0, 0},
	{"carve-3", "three carve; there is one for each", 1, 3, "", {"a", "a", "a"}, 0, 0},
	{"carve-flight-2", "a chunk of two on its way into a cache: one is always free", 2, 2, "", {"a", "a"}, 0, 0},

	/* Owner against thief: H3, H6. */
	{"owner-none-2", "the owner releases its only object, the other acquires", 2, 1, "0a", {"r", "a"}, 0, 0},
	{"owner-one-2", "the owner works on one object, the other wants it", 2, 1, "0ar", {"arar", "ar"}, 0, 0},
	{"owner-two-2", "the owner works on two objects, the other wants one", 2, 2, "0aarr", {"aarr", "ar"}, 0, 0},
	{"owner-ring-2", "a ring that runs over its end under the thief's eyes", 4, 3, "0aaarrr", {"aarrar", "a"}, 0, 0},
	{"owner-fresh-2", "the owner releases two objects and acquires one; a thief", 2, 2, "0aa", {"rra", "a"}, 0, 0},
	{"owner-thieves-3", "an owner and two thieves", 2, 2, "0aarr", {"ar", "a", "a"}, 0, 0},
	{"thief-thief-2", "two thieves at one idle cache", 2, 2, "3aarr", {"a", "a"}, 0, 0},
	{"thief-thief-3", "three thieves, two objects", 2, 2, "3aarr", {"a", "a", "a"}, 0, 0},
	{"previous-2", "two at an idle cache with current and previous", 1, 2, "3aarr", {"ar", "ar"}, 0, 0},
	{"previous-3", "three at an idle cache with current and previous", 1, 2, "3aarr", {"a", "a", "a"}, 0, 0},
	{"previous-owner-2", "the owner swaps back and over, its previous is robbed", 1, 2, "0aarr", {"aarr", "ar"}, 0, 0},

	/* Several at once. */
	{"bulk-owner-2", "the owner takes two of three, a thief wants one", 4, 3, "0aaarrr", {"b", "a"}, 0, 0},
	{"bulk-all-2", "the owner takes all there is, a thief wants one of it", 2, 2, "0aarr", {"b", "ar"}, 0, 0},
	{"bulk-robbed-2", "the owner takes three, a thief takes what it can", 4, 3, "0aaarrr", {"t", "aar"}, 0, 0},
	{"bulk-thieves-3", "the owner takes two of three, two thieves", 4, 3, "0aaarrr", {"b", "a", "a"}, 0, 0},
	{"bulk-short-2", "two wanted, and there is one", 2, 1, "0ar", {"b", "ar"}, 0, 0},
	{"bulk-both-2", "both want two of three", 2, 3, "", {"bB", "b"}, 0, 0},
	{"bulk-release-2", "two come back at once, another wants both", 4, 2, "0aa", {"B", "aa"}, 0, 0},
	{"bulk-ring-2", "a ring that runs over its end under the thief's eyes", 4, 3, "0aaarrr", {"bBb", "a"}, 0, 0},
	{"bulk-fresh-2", "two come back, one goes, a thief wants the other", 4, 2, "0aa", {"rre", "a"}, 0, 0},
	{"bulk-wander-2", "one put where the survey was, the last taken where it goes", 1, 2, "1aar", {"a", "Re"}, 0, 0},
	{"bulk-wander-more-2", "the same, and not the last", 2, 3, "1aaarr", {"aa", "Re"}, 0, 0},
	{"bulk-wander-put-2", "put by a call for many, taken by one for one", 1, 2, "1a3A3R", {"a", "BA"}, 0, 0},
	{"bulk-again-2", "released and acquired again under the survey's eyes", 2, 2, "0a1a0r0a", {"aa", "BeBe"}, 0, 0},
	{"bulk-room-2", "more come back than the magazine holds", 2, 4, "0aaaa", {"rB", "a"}, 0, 0},
	{"bulk-untracked-2", "no state words", 4, 3, "0aaarrr", {"bB", "a"}, LFPOOL_UNTRACKED, 0},

	/* A depot of two shards. */
	{"shard-full-2", "a full magazine goes into one shard, another thread wants it", 1, 2, "0aar", {"r", "ra"}, 0, 2},
	{"shard-fetch-2", "both want the one magazine, which lies in the first", 2, 2, "3aarrd", {"a", "a"}, 0, 2},
	{"shard-wander-2", "one put where the survey was, one taken where it goes", 1, 2, "1a3A3R", {"a", "rA"}, 0, 2},
	{"shard-partial-3", "a cache gives up a partial magazine, two want it", 4, 2, "1aarr", {"a", "d", "a"}, 0, 2},
	{"shard-given-up-2", "the only object goes into the other shard under a survey's eyes", 2, 1, "1ar", {"a", "d"}, 0, 2},
	{"shard-drain-2", "drained into either; two objects are always free", 1, 4, "0aa1aarr", {"rr", "aa"}, 0, 2},
	{"shard-room-2", "two release more than their caches hold", 1, 6, "0aaa1aaa", {"rrr", "rrr"}, 0, 2},
	{"shard-room-thief-3", "and a third robs them", 1, 4, "0aaa1a", {"rrr", "r", "a"}, 0, 3},

	/* NULL only when it is true: C1, the collect. */
	{"last-2", "one object, two threads", 1, 1, "", {"ar", "ar"}, 0, 0},
	{"last-hit-3", "a hit meets the last object, two others want it", 2, 1, "0ar", {"a", "a", "a"}, 0, 0},
	{"last-3", "one object, three threads", 1, 1, "", {"ar", "ar", "a"}, 0, 0},
	{"exhausted-2", "nothing is free, and both say so", 1, 1, "3a", {"aa", "aa"}, 0, 0},
	{"exhausted-3", "and three", 1, 1, "3a", {"a", "a", "a"}, 0, 0},
	{"wander-2", "one object put where the survey was, one taken where it goes", 1, 2, "1a3A3R", {"a", "rA"}, 0, 0},
	{"wander-inverse-2", "the same, the other way round", 1, 2, "1a3ar", {"a", "Ra"}, 0, 0},
	{"wander-again-2", "the same, after an acquire that failed rightly", 1, 2, "1aa", {"aa", "RrA"}, 0, 0},
	{"wander-3", "two look while one object is always free", 2, 2, "1a3A3R", {"a", "rA", "a"}, 0, 0},
	{"again-2", "released and acquired again under the survey's eyes", 2, 2, "0a1a0r0a", {"aa", "rara"}, 0, 0},
	{"flight-full-2", "a full magazine on its way from the depot", 2, 2, "3aarrd", {"a", "a"}, 0, 0},
	{"flight-partial-2", "a partial magazine on its way from the depot", 4, 2, "3aarrd", {"a", "a"}, 0, 0},
	{"flight-partial-3", "a cache gives up a partial magazine, two want it", 4, 2, "0aarr", {"d", "a", "a"}, 0, 0},
	{"flight-rob-2", "a previous of two on its way into a thief's cache", 2, 4, "3aaaarrrraa", {"a", "a"}, 0, 0},
	{"flight-drain-2", "a release that drains; two objects are always free", 1, 3, "0aaarr", {"r", "aa"}, 0, 0},
	{"flight-swap-2", "swap back and swap over; one object is always free", 1, 2, "0aarr", {"ara", "a"}, 0, 0},
	{"flight-3", "refill, drain and look at once", 1, 3, "0aaarr", {"r", "a", "a"}, 0, 0},

	/* Release never fails. */
	{"room-2", "two release more than their caches hold", 1, 6, "0aaa1aaa", {"rrr", "rrr"}, 0, 0},
	{"room-thief-3", "and a third robs them", 1, 4, "0aaa1a", {"rrr", "r", "a"}, 0, 0},

	/* Caches come and go: CLAIM, LOT. */
	{"destroy-2", "a cache is given up while it is robbed", 2, 2, "0aarr", {"d", "aa"}, 0, 0},
	{"destroy-previous-2", "the same, with a previous", 1, 2, "0aarr", {"d", "aa"}, 0, 0},
	{"exit-2", "the last release and the end of a thread", 2, 1, "0a", {"rd", "a"}, 0, 0},
	{"claim-2", "two want the one cache that was given up, objects and all", 1, 2, "3aarrd", {"ca", "ca"}, 0, 0},
	{"claim-3", "a cache changes hands while it is robbed", 2, 2, "0aarr", {"d", "ca", "a"}, 0, 0},
	{"borrow-2", "single calls side by side", 1, 2, "", {"AR", "AR"}, 0, 0},
	{"borrow-cache-2", "single calls beside a cache", 1, 2, "3A3R", {"AR", "aa"}, 0, 0},
	{"lot-2", "two need the seventeenth cache", 1, 2, "3CCCCCCCCCCC", {"c", "c"}, 0, 0},
	{"lot-look-2", "one is made under the eyes of a survey", 1, 1, "3aCCCCCCCCCC", {"c", "a"}, 0, 0},
	{"lot-survey-2", "an object moves into the seventeenth cache", 1, 1, "1ar3CCCCCCCCCC", {"car", "a"}, 0, 0},

	{"count-lot-2", "the count while the seventeenth is made", 1, 2, "3aCCCCCCCCCC", {"c", "n"}, 0, 0},
	{"stats-lot-2", "the statistics while the seventeenth is made", 1, 2, "3aCCCCCCCCCC", {"c", "s"}, 0, 0},
	{"stats-extra-2", "the same while its magazines move", 1, 4, "0aaaa3CCCCCCCCC", {"Crrrr", "s"}, 0, 0},
	{"count-2", "the count while a cache is made", 1, 2, "3a", {"c", "n"}, 0, 0},

	/* Payload: GIVE, PUT, SHOW carry what was written. */
	{"mail-2", "acquired here, released there, acquired again", 2, 1, "", {"apa", "qr"}, 0, 0},
	{"mail-3", "and a third who wants it", 2, 1, "0a", {"pa", "qr", "a"}, 0, 0},

	/* Misuse. */
	{"double-release-2", "one object released by two at once, CHECK_RACES", 1, 1, "3a", {"x", "x"}, LFPOOL_CHECK_RACES, 0},
	{"double-release-3", "and by three", 2, 1, "3a", {"x", "x", "x"}, LFPOOL_CHECK_RACES, 0},

	/* Hooks: K1, K2. */
	{"hooks-2", "two at two objects", 2, 2, "", {"arar", "ar"}, 0, 0, ""},
	{"hooks-last-2", "two at one object that is built already", 1, 1, "3ar", {"ar", "ar"}, 0, 0, ""},
	{"hooks-create-2", "the first create refuses", 2, 2, "", {"ar", "ar"}, 0, 0, "C"},
	{"hooks-activate-2", "the first activate refuses", 2, 2, "3ar", {"ar", "ar"}, 0, 0, "A"},
	{"hooks-unfit-2", "the first deactivate refuses", 2, 1, "0a", {"ra", "ar"}, 0, 0, "D"},
	{"hooks-release-2", "one object released by two at once; one deactivates it", 1, 1, "3a", {"x", "x"}, 0, 0, "D"},
	{"hooks-nested-2", "activate uses the pool", 2, 4, "", {"ar", "a"}, 0, 0, "n"},
	{"hooks-borrow-2", "the same through borrowed caches, and activate refuses once", 1, 4, "", {"AR", "A"}, 0, 0, "An"},
	{"hooks-3", "three at two objects, everything refuses once", 1, 2, "", {"ar", "ar", "a"}, 0, 0, "CAD"},

	/* The high-water mark. */
	{"mark-2", "two take from a stack of four and put back", 1, 4, "3aaaarrrrdz", {"aarr", "ar"}, 0, 0},
	{"mark-wide-2", "the same, two in each", 2, 6, "3aaaaaarrrrrrdz", {"aaarrr", "ar"}, 0, 0},
	{"mark-robbed-2", "one takes all there is, the other robs it", 1, 2, "3aarrdz", {"aarr", "ar"}, 0, 0},
	{"mark-short-2", "the full one that lies there was robbed", 2, 6, "0aaaaaa", {"rrrrraaa", "az"}, 0, 0},
	{"mark-reset-2", "reset while magazines go and come", 1, 3, "3aaarrrd", {"aarr", "z"}, 0, 0},
	{"mark-reset-more-2", "reset while they come and go", 1, 5, "3aaaaarrrrr0aaa", {"rrraa", "z"}, 0, 0},
	{"mark-resets-3", "two resets at once", 1, 2, "3aarrd", {"a", "z", "z"}, 0, 0},
	{"mark-unnoted-2", "who robs the magazine of a pop that is not over", 1, 2, "3aarrdz", {"a", "aarrs"}, 0, 0},
	{"mark-shards-2", "two shards", 1, 3, "3aaarrrdz", {"aarr", "ar"}, 0, 2},

	/* Quarantine: Q1, Q2, KEEP. */
	{"quarantine-last-2", "the only object goes into quarantine, another wants it", 1, 1, "0a", {"r", "a"}, 0, 0, NULL,
	 "quarantine=1"},
	{"quarantine-both-2", "two at one object", 1, 1, "", {"ar", "ar"}, 0, 0, NULL, "poison,quarantine=1"},
	{"quarantine-turn-2", "one goes in and another out; one is always free", 1, 2, "1aar", {"a", "ra"}, 0, 0, NULL,
	 "quarantine=1"},
	{"quarantine-wander-2", "one put where the look was, one taken where it goes", 1, 2, "1aar", {"a", "ra"}, 0, 0, NULL,
	 "quarantine=2"},
	{"quarantine-wander-more-2", "the same, round the ring", 1, 3, "1aaarr", {"aa", "rara"}, 0, 0, NULL, "quarantine=3"},
	{"quarantine-again-2", "released and acquired again under the eyes of the look", 1, 2, "0a1a0r0a", {"aa", "rara"}, 0, 0,
	 NULL, "quarantine=2"},
	{"quarantine-place-2", "two puts into one place", 1, 4, "0aa1aa", {"rra", "rra"}, 0, 0, NULL, "poison,quarantine=1"},
	{"quarantine-borrow-2", "single calls", 1, 2, "", {"ARA", "AR"}, 0, 0, NULL, "poison,quarantine=2"},
	{"quarantine-count-2", "the count while a cache is made", 1, 3, "3aaarr", {"c", "n"}, 0, 0, NULL, "quarantine=1"},
	{"quarantine-hooks-2", "activate refuses what was taken out of the ring", 1, 2, "3aarr", {"ar", "ar"}, 0, 0, "A",
	 "poison,quarantine=2"},
	{"quarantine-3", "three at two objects", 1, 2, "", {"ar", "ar", "a"}, 0, 0, NULL, "quarantine=2"},
	{"quarantine-wander-3", "two look while one object is always free", 1, 3, "1aar3a", {"a", "ra", "a"}, 0, 0, NULL,
	 "quarantine=2"},

	/* Walks: W1, W2, W3. */
	{"walk-release-2", "two active, one of them released under the walk's eyes", 2, 2, "0aa", {"r", "w"}, 0, 0},
	{"walk-last-2", "the last slot active throughout, the others released", 2, 3, "0aaa", {"oo", "w"}, 0, 0},
	{"walk-acquire-2", "one active, another acquired under the walk's eyes", 2, 2, "0a", {"a", "ww"}, 0, 0},
	{"walk-again-2", "one released and acquired again, one active throughout", 2, 2, "0a3a", {"rar", "ww"}, 0, 0},
	{"walk-mail-2", "what the walker was told of is there", 2, 2, "3a", {"ap", "qw"}, 0, 0},
	{"walk-carve-2", "the same, of a chunk that is just carved", 1, 2, "3a", {"ap", "qw"}, 0, 0},
	{"walk-walks-3", "two walks beside a release and an acquire", 2, 2, "0aa", {"ra", "w", "w"}, 0, 0},
	{"walk-slots-2", "all slots, one of them released", 2, 2, "0aa", {"r", "W"}, 0, 0},
	{"walk-hooks-2", "what activate wrote is visible to a walk", 2, 2, "", {"aa", "w"}, SCENARIO_HOOKS, 0},
	{"walk-hooks-slots-2", "and to a walk over all slots", 2, 2, "", {"aa", "W"}, SCENARIO_HOOKS, 0},

	/* Handles: N1, N2. */
	{"handle-release-2", "resolved while its object is released", 1, 1, "0ah", {"r", "HH"}, 0, 0},
	{"handle-again-2", "released and acquired again while it is resolved", 1, 1, "0ah", {"rar", "HH"}, 0, 0},
	{"handle-other-2", "another thread acquires the slot", 1, 1, "0ah", {"rH", "aH"}, 0, 0},
	{"handle-mail-2", "released by one who passed it on: stale for certain", 1, 2, "0ah0a", {"op", "qH"}, 0, 0},
	{"handle-epoch-2", "the slot's generation comes round while it is resolved: A3", 1, 1, "0ahry", {"arar", "HH"}, 0, 0},
	{"handle-epoch-hit-2", "and by hits, whose stores carry nothing", 2, 2, "0aahory", {"arar", "HH"}, 0, 0},
	{"handle-epoch-3", "comes round in one thread, is acquired by another, resolved by a third", 1, 1, "0ahry",
	 {"ar", "a", "H"}, 0, 0},
	{"handle-epoch-bulk-3", "the same by a call for many", 1, 1, "0arahry", {"ar", "are", "H"}, 0, 0},
	{"handle-hooks-2", "what activate wrote is visible to who resolves", 1, 1, "0ahrm", {"a", "HH"}, SCENARIO_HOOKS, 0},
	{"handle-twice-2", "released by handle by two", 1, 1, "3a", {"g", "g"}, 0, 0},
	{"handle-twice-3", "and by three, one of whom acquires again", 1, 1, "3a", {"g", "ga", "g"}, 0, 0},
	{"handle-reused-3", "by two, and a third acquires the slot meanwhile", 1, 1, "3a", {"g", "g", "a"}, 0, 0},
	{"handle-pointer-2", "by one, by pointer by another", 1, 1, "3a", {"g", "x"}, LFPOOL_CHECK_RACES, 0},

	/* lfpool_release_all(). */
	{"all-acquire-2", "beside an acquire", 2, 2, "3a", {"l", "aa"}, 0, 0},
	{"all-acquire-3", "beside two", 1, 2, "3a", {"l", "a", "a"}, 0, 0},
	{"all-release-2", "beside a release of one of two", 2, 2, "3aa", {"l", "x"}, LFPOOL_CHECK_RACES, 0},
	{"all-all-2", "twice at once", 2, 2, "3aa", {"l", "l"}, 0, 0},
	{"all-handle-2", "beside a release by handle", 2, 2, "3aa", {"l", "g"}, 0, 0},

	/* Ranges: G1, G2. */
	{"find-2", "two ranges come, one looks", 1, 1, "", {"+*", "?"}, 0, 0},
	{"find-gone-2", "they go", 1, 1, "0+*", {"/-", "?"}, 0, 0},
	{"find-both-2", "one goes, another comes", 1, 1, "0+", {"-*+", "?"}, 0, 0},
	{"find-3", "and two look", 1, 1, "", {"*+", "?", "?"}, 0, 0},

	/* The pool of a class in a set: Y1. */
	{"class-2", "made while another looks, by size and by address", 1, 1, "", {"M", "Ii"}, 0, 0},
	{"class-3", "and two look", 1, 1, "", {"M", "Ii", "iI"}, 0, 0},

	/* Growing: O1, O4. */
	{"grow-2", "one grows, another wants what was added", 1, 1, "1a", {"G", "a"}, .max_capacity = 2},
	{"grow-both-2", "two grow, there is room for one", 1, 1, "1a", {"Ga", "Ga"}, .max_capacity = 2},
	{"grow-look-2", "grown under the eyes of a survey; then one is always free", 1, 1, "1a", {"Ga", "aa"},
	 .max_capacity = 3},
	{"grow-instead-2", "grown, and then the one that was free goes: one always was", 1, 1, "1ar", {"a", "Ga"}, .max_capacity = 2},
	{"grow-3", "one grows, two want it", 1, 1, "0a", {"J", "a", "a"}, .max_capacity = 3},
	{"grow-self-max-2", "the same, and there is room for one", 1, 1, "0a", {"a", "a"},
	 .max_capacity = 2, .growth_step = 1},
	{"grow-self-release-2", "while another releases", 1, 1, "0a", {"ra", "a"}, .max_capacity = 2, .growth_step = 1},

	{"grow-self-2", "two find nothing, and it grows by itself", 1, 1, "3a", {"a", "a"},
	 .max_capacity = 3, .growth_step = 1},
	{"grow-self-two-2", "by two, and one of them is always free", 1, 1, "0a", {"a", "a"},
	 .max_capacity = 3, .growth_step = 2},
	{"grow-self-3", "three find nothing, there is room for two", 1, 1, "0a", {"a", "a", "a"},
	 .max_capacity = 3, .growth_step = 2},
	{"cold-2", "the bit that one looks for goes to another, whose own is in a new word", 1, 1, "0[", {"}", "{}"}},
	{"cold-again-2", "put back, and taken", 1, 1, "0{{", {"}[}", "}["}},
	{"cold-withdraw-2", "withdrawn, and allowed again", 1, 1, "0{}", {"]", "{}"}},
	{"cold-forbid-2", "forbidden, and allowed again", 1, 1, "0{{", {"_{", "}]"}},
	{"cold-settle-2", "a growth is finished by another, long after", 1, 1, "0{_", {"{", "{_{_{"}},
	{"cold-settle-take-2", "and what it added is taken", 1, 1, "0{_", {"{}", "{}]{}]{}"}},
	{"cold-3", "two grow, all take", 1, 1, "0[", {"{}", "{}", "}"}},

	/* Shrinking. */
	{"shrink-release-2", "owed, and paid by a release", 1, 1, "0a", {"r", "S"}, .max_capacity = 1},
	{"shrink-hit-2", "the same by a hit", 2, 2, "0aa", {"rr", "S"}, .max_capacity = 2},
	{"shrink-acquire-2", "one goes, another wants one", 1, 2, "", {"a", "S"}, .max_capacity = 2},
	{"shrink-cancel-2", "forgiven while it is paid", 1, 1, "0a", {"r", "SK"}, .max_capacity = 1},
	{"shrink-cancel-3", "forgiven by a third", 1, 1, "0a", {"ra", "S", "K"}, .max_capacity = 1},
	{"shrink-both-2", "two shrink, one object for both", 1, 2, "0a", {"rS", "S"}, .max_capacity = 2},
	{"shrink-over-2", "two ask for all there is", 1, 2, "0a1a", {"Z", "Z"}, .max_capacity = 2},
	{"shrink-over-release-2", "and one comes back", 1, 2, "0a1a", {"Zr", "Z"}, .max_capacity = 2},
	{"shrink-two-2", "two owed, two released", 2, 2, "0a1a", {"rZ", "r"}, .max_capacity = 2},
	{"shrink-grow-2", "grows back what is owed", 1, 1, "0a", {"rS", "G"}, .max_capacity = 2},
	{"shrink-grow-take-2", "one goes, another comes and is taken", 1, 2, "0a", {"S", "Ga"}, .max_capacity = 2},
	{"shrink-3", "shrink, release, acquire", 1, 2, "0a", {"r", "S", "a"}, .max_capacity = 2},

	/* Waiting: W1 .. W4 (demand.h). */
	{"wait-hit-2", "one waits, a hit releases", 2, 1, "0a", {"r", "u"}},
	{"wait-general-2", "the same, released on the general path", 1, 1, "0a", {"r", "u"}},
	{"wait-hits-2", "two released", 2, 2, "0aa", {"rr", "uu"}},
	{"wait-both-2", "both wait for the other's", 2, 2, "0a1a", {"ur", "rur"}},
	{"wait-one-3", "two wait for one object", 1, 1, "0a", {"r", "ur", "ur"}},
	{"wait-two-3", "two wait, two come back", 2, 2, "0aa", {"rr", "u", "u"}},
	{"wait-turn-3", "two releasers, one waits", 1, 2, "0a1a", {"r", "r", "u"}},
	{"wait-overtaken-3", "an acquire that does not wait overtakes", 2, 1, "0a", {"r", "u", "ar"}},
	{"wait-time-2", "the time is over while it is given", 1, 1, "0a", {"r", "v"}},
	{"wait-time-hit-2", "the same by a hit, which acquires again", 2, 1, "0a", {"ra", "v"}},
	{"wait-time-3", "one waits for ever, one not", 1, 1, "0a", {"r", "ur", "vr"}},
	{"wait-times-3", "two do not wait for ever", 1, 1, "0a", {"ra", "v", "v"}},
	{"wait-grow-2", "the pool grows", 1, 1, "0a", {"G", "u"}, .max_capacity = 2},
	{"wait-grow-3", "grows for two", 1, 1, "0a", {"J", "u", "u"}, .max_capacity = 3},
	{"wait-shrink-2", "one owed, one waits, two come back", 1, 2, "0aa", {"rr", "Su"}, .max_capacity = 2},
	{"wait-shrink-3", "shrink, wait, release", 1, 2, "0aa", {"rr", "S", "u"}, .max_capacity = 2},
	{"wait-cancel-3", "a debt is forgiven while it is paid, another waits", 1, 2, "0aa", {"rr", "SK", "u"},
	 .max_capacity = 2},
	{"wait-bulk-2", "two come back at once", 4, 2, "0aa", {"B", "uu"}},
	{"wait-bulk-3", "the same, and two wait", 4, 2, "0aa", {"B", "u", "u"}},
	{"wait-quarantine-2", "released into quarantine", 1, 1, "0a", {"r", "u"}, .debug = "quarantine=1"},
	{"wait-quarantine-3", "by two", 1, 2, "0a1a", {"r", "r", "u"}, .debug = "quarantine=2"},
	{"wait-thief-3", "a thief and a server at one cache", 2, 2, "0aa", {"rr", "u", "a"}},
	{"wait-mail-2", "what the releaser wrote", 2, 2, "0a1a", {"rp", "uq"}},
	{"wait-handle-2", "released by handle", 1, 1, "3a", {"g", "u"}},
	{"wait-exit-2", "the last release and the end of a thread", 2, 1, "0a", {"rd", "u"}},

	{"wait-regrow-3", "what was owed is gone, and it may grow again", 1, 2, "0a3a", {"r", "S", "u"},
	 .max_capacity = 2, .growth_step = 1},
	{"wait-regrow-2", "forgiven, and it may grow again", 1, 1, "0a", {"SK", "u"}, .max_capacity = 2, .growth_step = 1},

	/* Continuations. */
	{"then-2", "released for a continuation", 1, 1, "0a", {"r", "f"}},
	{"then-hit-2", "by a hit", 2, 1, "0a", {"r", "f"}},
	{"then-again-2", "which releases for the next", 1, 1, "0a", {"r", "FF"}},
	{"then-cancel-2", "cancelled while it is called", 1, 1, "0a", {"r", "fk"}},
	{"then-cancel-wait-3", "the same, and another waits", 1, 1, "0a", {"r", "Fk", "u"}},
	{"then-wait-3", "one continues, one waits", 1, 1, "0a", {"r", "F", "u"}},
	{"then-both-3", "two continue, two release", 1, 2, "0a1a", {"rF", "r", "f"}},
	{"then-claim-2", "two come at once", 1, 1, "0a", {"Fr", "F"}},
	{"then-cancel-late-2", "cancelled after it was called, its place is another's", 1, 1, "0a", {"rf", "fk"}},
	{"then-lot-2", "two need the seventeenth place", 1, 1, "3affffffffffffffff", {"f", "f"}},
	{"then-lot-look-2", "one is made while all are looked at", 1, 1, "0a3FFFFFFFFFFFFFFFF", {"r", "F"}},
	{"then-serve-2", "who continued another releases again", 1, 1, "0a", {"rar", "Fu"}},
	{"then-cell-2", "its place is used again while it is looked at", 1, 1, "0a", {"r", "fkf"}},

	/* Trimming: Q1, Q2 (trim.c). */
	{"trim-acquire-2", "acquired, written, released while its page goes", 1, 2, "0aarr", {"T", "ara"}},
	{"trim-cold-2", "out of the cold store, and in again", 1, 2, "0aarrT", {"T", "ara"}},
	{"trim-again-2", "given back, used and given back again", 1, 2, "0aarrT", {"TT", "arT"}},
	{"trim-both-2", "two trim the same page", 1, 2, "0aarr", {"T", "T"}},
	{"trim-pages-2", "objects that lie on two pages", 1, 3, "0aaarrrT", {"T", "aara"}, .object_bytes = 3072},
	{"trim-pages-3", "and two use them", 1, 3, "0aaarrrT", {"T", "ar", "ara"}, .object_bytes = 3072},
	{"trim-wait-2", "one waits for what is being trimmed", 1, 1, "0ar", {"T", "ur"}},
	{"trim-wait-3", "and another releases", 1, 2, "0ar1a", {"T", "ur", "ur"}},
	{"trim-shrink-2", "a shrink takes what is being trimmed", 1, 2, "0aarr", {"T", "S"}, .max_capacity = 2},
	{"trim-regrow-2", "one waits, and the room to grow is being trimmed", 1, 2, "0aS", {"T", "u"}, .max_capacity = 2,
	 .growth_step = 1, .object_bytes = 8192},
	{"trim-owe-2", "all is owed, and more is being trimmed", 1, 2, "0aS", {"T", "Z"}, .max_capacity = 2, .object_bytes = 8192},
	{"trim-hold-3", "one waits for what was taken out for a trim that failed", 1, 3, "0aaarr", {"T", "a", "u"},
	 .object_bytes = 3072},
	{"trim-poison-2", "poisoned", 1, 2, "0aarr", {"T", "ara"}, .debug = "poison"},
	{"trim-hooks-2", "built", 1, 2, "0aarr", {"T", "ara"}, .hooks = ""},

	/* Evicting: T3, T4, P1; the language is that of evicts.h. */
	{"evict-2", "two newcomers, two objects", 1, 1, "a1a2", {"a5", "a6"}, .evicting = 2},
	{"evict-update-2", "the least is updated while a newcomer evicts", 1, 1, "a1a3a5", {"a9", "u04"}, .evicting = 3},
	{"evict-update-down-2", "another goes below the least", 1, 1, "a2a3a5", {"a9", "u21"}, .evicting = 3},
	{"evict-only-2", "the only object goes up and down: the newcomer is never refused", 1, 1, "a1", {"a9", "u02u01"}, .evicting = 1},
	{"evict-release-2", "released while it is evicted", 1, 1, "a1a2", {"a5", "r0"}, .evicting = 2},
	{"evict-release-other-2", "another is released: nobody need be evicted then", 1, 1, "a1a2", {"a5", "r1"}, .evicting = 2},
	{"evict-pin-2", "pinned while it is evicted", 1, 1, "a1a2", {"a5", "i0o0"}, .evicting = 2},
	{"evict-pinned-2", "the other way to run: everything is pinned", 1, 1, "a1", {"a5", "i0o0"}, .evicting = 1},
	{"evict-pin-release-2", "released while it is pinned", 1, 1, "a1a2", {"i0r0o0", "a5"}, .evicting = 2},
	{"evict-last-pin-2", "two unpin a released one", 1, 1, "a1a2", {"i0r0o0", "i0o0"}, .evicting = 2},
	{"evict-new-2", "what is new is nobody's", 1, 1, "a1", {"n5q", "a6"}, .evicting = 1},
	{"evict-peek-2", "looked at while it changes", 1, 1, "a1a3a5", {"kk", "u06"}, .evicting = 3},
	{"evict-min-2", "two release the least", 1, 1, "a1a2a3", {"m", "m"}, .evicting = 3},
	{"evict-min-update-2", "the least is released, another goes below it", 1, 1, "a2a3a4", {"m", "u21"}, .evicting = 3},
	{"evict-walk-2", "walked over", 1, 1, "a1a2", {"w", "a5"}, .evicting = 2},
	{"evict-both-update-2", "two update one object", 1, 1, "a1a5", {"u03", "u07"}, .evicting = 2},
	{"evict-spare-2", "two update one whose own records are being filled", 1, 1, "a1a5x0", {"u03", "u07"}, .evicting = 2},
	{"evict-lose-2", "one comes that loses to one that goes", 1, 1, "a2a7a8a4", {"u13", "u09"}, .evicting = 4},
	{"evict-lose-again-2", "and comes again", 1, 1, "a2a7a8a4", {"u13k", "u09u01"}, .evicting = 4},
	{"evict-3", "three newcomers, two objects", 1, 1, "a1a2", {"a5", "a6", "a7"}, .evicting = 2},
	{"evict-refresh-3", "two change below one node, a third looks", 1, 1, "a2a7a4", {"u09", "u13", "k"}, .evicting = 3},
	{"evict-refresh-all-3", "three change below one root", 1, 1, "a2a7a4a5", {"u09", "u13", "u31"}, .evicting = 4},
	{"evict-late-3", "one goes up, one comes down, a late collector", 1, 1, "a2a9a5", {"u08", "u13", "u26"}, .evicting = 3},
	{"evict-release-3", "evicted, released, updated", 1, 1, "a1a2a3", {"a5", "r0", "u14"}, .evicting = 3},
	{"evict-pin-3", "evicted, pinned, evicted", 1, 1, "a1a2", {"a5", "i0o0", "a6"}, .evicting = 2},

	/* Other paths. */
	{"general-2", "no hits (LFPOOL_ZERO): only the general path", 2, 2, "0aarr", {"aarr", "ar"}, LFPOOL_ZERO, 0},
	{"untracked-2", "no state words", 2, 2, "0aarr", {"aarr", "ar"}, LFPOOL_UNTRACKED, 0},
};
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
