/* SPDX-License-Identifier: MIT */
/*
 * table.c - the scenarios: for each invariant of the library a program that would break it.
 */
#include "scenario.h"

#include "lfpool/lfpool.h"

/* What a row leaves out is none, or the usual. */
/* clang-format off */
const struct scenario scenarios[] = {
	/* The depot: D1, S1. */
	{"depot-2", "pops and pushes of three magazines in both orders", 1, 3, "3aaarrrd", {"<><>", "<<>>"}},
	{"depot-order-2", "the same, the oldest back first", 1, 3, "3aaarrrd", {"<>", "<<^^"}},
	{"depot-3", "three at the stack", 1, 3, "3aaarrrd", {"<>", "<<>>", "<^"}},

	/* Never-used chunks. */
	{"carve-3", "three carve; there is one for each", 1, 3, "", {"a", "a", "a"}},
	{"carve-flight-2", "a chunk of two on its way into a cache: one is always free", 2, 2, "", {"a", "a"}},

	/* Owner against thief: H3, H6. */
	{"owner-none-2", "the owner releases its only object, the other acquires", 2, 1, "0a", {"r", "a"}},
	{"owner-one-2", "the owner works on one object, the other wants it", 2, 1, "0ar", {"arar", "ar"}},
	{"owner-ring-2", "a ring that runs over its end under the thief's eyes", 4, 3, "0aaarrr", {"aarrar", "a"}},
	{"owner-thieves-3", "an owner and two thieves", 2, 2, "0aarr", {"ar", "a", "a"}},
	{"previous-2", "two at an idle cache with current and previous", 1, 2, "3aarr", {"ar", "ar"}},
	{"previous-owner-2", "the owner swaps back and over, its previous is robbed", 1, 2, "0aarr", {"aarr", "ar"}},

	/* Several at once. */
	{"bulk-all-2", "the owner takes all there is, a thief wants one of it", 2, 2, "0aarr", {"b", "ar"}},
	{"bulk-robbed-2", "the owner takes three, a thief takes what it can", 4, 3, "0aaarrr", {"t", "aar"}},
	{"bulk-thieves-3", "the owner takes two of three, two thieves", 4, 3, "0aaarrr", {"b", "a", "a"}},
	{"bulk-both-2", "both want two of three", 2, 3, "", {"bB", "b"}},
	{"bulk-wander-2", "one put where the collect was, the last taken where it goes", 1, 2, "1aar", {"a", "Re"}},
	{"bulk-wander-put-2", "put by a call for many, taken by one for one", 1, 2, "1a3A3R", {"a", "BA"}},
	{"bulk-room-2", "more come back than the magazine holds", 2, 4, "0aaaa", {"rB", "a"}},

	/* A depot of two shards. */
	{"shard-fetch-2", "both want the one magazine, which lies in the first", 2, 2, "3aarrd", {"a", "a"}, .shards = 2},
	{"shard-partial-3", "a cache gives up a partial magazine, two want it", 4, 2, "1aarr", {"a", "d", "a"}, .shards = 2},
	{"shard-given-up-2", "the only object goes into the other shard under a collect's eyes", 2, 1, "1ar", {"a", "d"},
	 .shards = 2},
	{"shard-room-2", "two release more than their caches hold", 1, 6, "0aaa1aaa", {"rrr", "rrr"}, .shards = 2},

	/* NULL only when it is true: C1, the collect. */
	{"last-hit-3", "a hit meets the last object, two others want it", 2, 1, "0ar", {"a", "a", "a"}},
	{"exhausted-3", "nothing is free, and three say so", 1, 1, "3a", {"a", "a", "a"}},
	{"wander-2", "one object put where the collect was, one taken where it goes", 1, 2, "1a3A3R", {"a", "rA"}},
	{"wander-known-2", "the same, the sums of the last NULL are known", 1, 2, "1aaRA0a1R", {"a", "rA"}},
	{"wander-said-2", "the same, after a NULL that was right", 1, 2, "1aa0a1R", {"a", "rA"}},
	{"wander-round-2", "one of two comes and goes, in magazines of one slot", 1, 2, "1ar3A3R", {"a", "ararararararararAR"}},
	{"far-2", "one comes and goes again and again under the collect's eyes; one of two is always free", 2, 2, "1aaRr",
	 {"a", "ararararararararararA"}},
	{"again-2", "released and acquired again under the collect's eyes", 2, 2, "0a1a0r0a", {"aa", "rara"}},
	{"flight-full-2", "a full magazine on its way from the depot", 2, 2, "3aarrd", {"a", "a"}},
	{"flight-partial-3", "a cache gives up a partial magazine, two want it", 4, 2, "0aarr", {"d", "a", "a"}},
	{"flight-rob-2", "a previous of two on its way into a thief's cache", 2, 4, "3aaaarrrraa", {"a", "a"}},
	{"flight-drain-2", "a release that drains; two objects are always free", 1, 3, "0aaarr", {"r", "aa"}},
	{"flight-3", "refill, drain and look at once", 1, 3, "0aaarr", {"r", "a", "a"}},

	/* Release never fails. */
	{"room-thief-3", "two release more than their caches hold, a third robs them", 1, 4, "0aaa1a", {"rrr", "r", "a"}},

	/* Caches come and go: CLAIM, LOT. */
	{"destroy-2", "a cache is given up while it is robbed", 2, 2, "0aarr", {"d", "aa"}},
	{"destroy-previous-2", "the same, with a previous", 1, 2, "0aarr", {"d", "aa"}},
	{"exit-2", "the last release and the end of a thread", 2, 1, "0a", {"rd", "a"}},
	{"claim-2", "two want the one cache that was given up, objects and all", 1, 2, "3aarrd", {"ca", "ca"}},
	{"claim-3", "a cache changes hands while it is robbed", 2, 2, "0aarr", {"d", "ca", "a"}},
	{"borrow-cache-2", "single calls beside a cache", 1, 2, "3A3R", {"AR", "aa"}},
	{"lot-2", "two need the seventeenth cache", 1, 2, "3CCCCCCCCCCC", {"c", "c"}},
	{"lot-look-2", "one is made under the eyes of a collect", 1, 1, "3aCCCCCCCCCC", {"c", "a"}},
	{"lot-collect-2", "an object moves into the seventeenth cache", 1, 1, "1ar3CCCCCCCCCC", {"car", "a"}},

	{"born-2", "one is born beside the first acquire there ever was", 2, 2, "-", {"a", "ca"}},
	{"robbed-again-3", "its owner puts another in its place, and a third looks", 2, 6, "1aaaaaarrrr", {"a", "raaa", "a"}},
	{"bulk-wander-known-3", "the sums of the last NULL are known; two come by one call, two go by another", 2, 4, "1aa2aa0a2B",
	 {"a", "B", "b"}},
	{"robbed-2", "a previous of two is robbed of one, its owner wants the other", 2, 4, "1aaaarrrraa", {"a", "a"}},

	{"count-lot-2", "the count while the seventeenth is made", 1, 2, "3aCCCCCCCCCC", {"c", "n"}},
	{"stats-lot-2", "the statistics while the seventeenth is made", 1, 2, "3aCCCCCCCCCC", {"c", "s"}},
	{"stats-extra-2", "the same while its magazines move", 1, 4, "0aaaa3CCCCCCCCC", {"Crrrr", "s"}},
	{"count-2", "the count while a cache is made", 1, 2, "3a", {"c", "n"}},

	/* Payload: GIVE, PUT, SHOW carry what was written. */
	{"mail-3", "acquired here, released there, and a third wants it", 2, 1, "0a", {"pa", "qr", "a"}},

	/* Misuse. */
	{"double-release-2", "one object released by two at once, CHECK_RACES", 1, 1, "3a", {"x", "x"},
	 .flags = LFPOOL_CHECK_RACES},

	/* Hooks: K1, K2. */
	{"hooks-2", "two at two objects", 2, 2, "", {"arar", "ar"}, .hooks = ""},
	{"hooks-create-2", "the first create refuses", 2, 2, "", {"ar", "ar"}, .hooks = "C"},
	{"hooks-unfit-2", "the first deactivate refuses", 2, 1, "0a", {"ra", "ar"}, .hooks = "D"},
	{"hooks-discard-2", "what is dead cannot be built anew: another is taken", 1, 2, "3aarr", {"ar", "ar"}, .hooks = "CV"},
	{"hooks-release-2", "one object released by two at once; one deactivates it", 1, 1, "3a", {"x", "x"}, .hooks = "D"},
	{"hooks-borrow-2", "activate uses the pool, through borrowed caches, and refuses once", 1, 4, "", {"AR", "A"}, .hooks = "An"},
	{"hooks-3", "three at two objects, everything refuses once", 1, 2, "", {"ar", "ar", "a"}, .hooks = "CAD"},

	/* The high-water mark. */
	{"mark-2", "two take from a stack of four and put back", 1, 4, "3aaaarrrrdz", {"aarr", "ar"}},
	{"mark-short-2", "the full one that lies there was robbed", 2, 6, "0aaaaaa", {"rrrrraaa", "az"}},
	{"mark-reset-2", "reset while magazines go and come", 1, 3, "3aaarrrd", {"aarr", "z"}},
	{"mark-unnoted-2", "the magazine of a pop that is not over is robbed", 1, 2, "3aarrdz", {"a", "aarrs"}},

	/* Quarantine: Q1, Q2, KEEP. */
	{"quarantine-last-2", "the only object goes into quarantine, another wants it", 1, 1, "0a", {"r", "a"},
	 .debug = "quarantine=1"},
	{"quarantine-turn-2", "one goes in and another out; one is always free", 1, 2, "1aar", {"a", "ra"},
	 .debug = "quarantine=1"},
	{"quarantine-wander-2", "one put where the look was, one taken where it goes", 1, 2, "1aar", {"a", "ra"},
	 .debug = "quarantine=2"},
	{"quarantine-wander-more-2", "the same, round the ring", 1, 3, "1aaarr", {"aa", "rara"}, .debug = "quarantine=3"},
	{"quarantine-place-2", "two puts into one place", 1, 4, "0aa1aa", {"rra", "rra"}, .debug = "poison,quarantine=1"},
	{"quarantine-hooks-2", "activate refuses what was taken out of the ring", 1, 2, "3aarr", {"ar", "ar"}, .hooks = "A",
	 .debug = "poison,quarantine=2"},

	/* Walks: WK1, WK2, WK3. */
	{"walk-release-2", "two active, one of them released under the walk's eyes", 2, 2, "0aa", {"r", "w"}},
	{"walk-acquire-2", "one active, another acquired under the walk's eyes", 2, 2, "0a", {"a", "ww"}},
	{"walk-mail-2", "what the walker was told of is there", 2, 2, "3a", {"ap", "qw"}},
	{"walk-walks-3", "two walks beside a release and an acquire", 2, 2, "0aa", {"ra", "w", "w"}},
	{"walk-hooks-2", "what activate wrote is visible to a walk", 2, 2, "", {"aa", "w"}, .flags = SCENARIO_HOOKS},
	{"walk-hooks-slots-2", "and to a walk over all slots", 2, 2, "", {"aa", "W"}, .flags = SCENARIO_HOOKS},

	/* Handles: N1, N2. */
	{"handle-release-2", "resolved while its object is released", 1, 1, "0ah", {"r", "HH"}},
	{"handle-other-2", "another thread acquires the slot", 1, 1, "0ah", {"rH", "aH"}},
	{"handle-mail-2", "released by the thread that passed it on: stale for certain", 1, 2, "0ah0a", {"op", "qH"}},
	{"handle-next-2", "made anew for the next use while an older one is resolved", 1, 1, "0ah", {"rahH", "HH"}},
	{"handle-hooks-2", "what activate wrote is visible to a resolve", 1, 1, "0ahrm", {"ah", "HH"}, .flags = SCENARIO_HOOKS},
	{"handle-bulk-2", "released by a call for many while it is resolved", 2, 2, "0aah", {"BH", "HH"}},
	{"handle-made-2", "two make one of the same object", 1, 1, "3a", {"y", "y"}},
	{"handle-made-again-2", "released then, acquired, and made anew", 1, 1, "3a", {"y", "YahH"}},
	{"handle-made-all-2", "beside a release of all", 1, 1, "3a", {"y", "l"}},
	{"handle-twice-2", "released by handle by two", 1, 1, "3a", {"g", "g"}},
	{"handle-reused-3", "the same, and a third acquires the slot meanwhile", 1, 1, "3a", {"g", "g", "a"}},

	/* lfpool_release_all(). */
	{"all-acquire-3", "beside two acquires", 1, 2, "3a", {"l", "a", "a"}},
	{"all-release-2", "beside a release of one of two", 2, 2, "3aa", {"l", "x"}, .flags = LFPOOL_CHECK_RACES},

	/* Ranges: AR1, AR2. */
	{"find-2", "two ranges come, one looks", 1, 1, "", {"+*", "?"}},
	{"find-gone-2", "they go", 1, 1, "0+*", {"/-", "?"}},
	{"find-both-2", "one goes, another comes", 1, 1, "0+", {"-*+", "?"}},

	/* The pool of a class in a set: Y1. */
	{"class-2", "made while another looks, by size and by address", 1, 1, "", {"M", "Ii"}},

	/* Growing: O1, O4. */
	{"grow-2", "one grows, another wants what was added", 1, 1, "1a", {"G", "a"}, .max_capacity = 2},
	{"grow-both-2", "two grow, there is room for one", 1, 1, "1a", {"Ga", "Ga"}, .max_capacity = 2},
	{"grow-look-2", "grown under the eyes of a collect; then one is always free", 1, 1, "1a", {"Ga", "aa"}, .max_capacity = 3},
	{"grow-instead-2", "grown, and then the one that was free goes: one always was", 1, 1, "1ar", {"a", "Ga"},
	 .max_capacity = 2},
	{"grow-3", "one grows, two want it", 1, 1, "0a", {"J", "a", "a"}, .max_capacity = 3},
	{"grow-self-release-2", "it grows, while another releases", 1, 1, "0a", {"ra", "a"}, .max_capacity = 2, .growth_step = 1},

	{"grow-spare-2", "so many come back that it takes a spare magazine", 1, 1, "-0aJJJaaaaaa", {"rrrrrrr", "caa"}, .max_capacity = 7},

	{"grow-self-two-2", "it grows by two, and one of them is always free", 1, 1, "0a", {"a", "a"}, .max_capacity = 3, .growth_step = 2},
	{"grow-self-3", "three find nothing, there is room for two", 1, 1, "0a", {"a", "a", "a"}, .max_capacity = 3,
	 .growth_step = 2},
	{"cold-2", "the bit that one looks for goes to another, whose own is in a new word", 1, 1, "0[", {"}", "{}"}},
	{"cold-again-2", "put back, and taken", 1, 1, "0{{", {"}[}", "}["}},
	{"cold-withdraw-2", "withdrawn, and allowed again", 1, 1, "0{}", {"]", "{}"}},
	{"cold-forbid-2", "forbidden, and allowed again", 1, 1, "0{{", {"_{", "}]"}},
	{"cold-settle-2", "a growth is finished by another, long after", 1, 1, "0{_", {"{", "{_{_{"}},
	{"cold-borrow-2", "borrowed by a thread that has seen only the count of a growth", 1, 1, "", {"{", "="}},
	{"cold-3", "two grow, all take", 1, 1, "0[", {"{}", "{}", "}"}},

	/* Shrinking. */
	{"shrink-release-2", "owed, and paid by a release", 1, 1, "0a", {"r", "S"}, .max_capacity = 1},
	{"shrink-cancel-2", "forgiven while it is paid", 1, 1, "0a", {"r", "SK"}, .max_capacity = 1},
	{"shrink-cancel-3", "forgiven by a third", 1, 1, "0a", {"ra", "S", "K"}, .max_capacity = 1},
	{"shrink-over-release-2", "two ask for all there is, and one comes back", 1, 2, "0a1a", {"Zr", "Z"}, .max_capacity = 2},
	{"shrink-grow-2", "grows back what is owed", 1, 1, "0a", {"rS", "G"}, .max_capacity = 2},
	{"shrink-grow-take-2", "one goes, another comes and is taken", 1, 2, "0a", {"S", "Ga"}, .max_capacity = 2},
	{"shrink-3", "shrink, release, acquire", 1, 2, "0a", {"r", "S", "a"}, .max_capacity = 2},

	/* Waiting: W1 .. W4 (waiters.h). */
	{"wait-hit-2", "one waits, a hit releases", 2, 1, "0a", {"r", "u"}},
	{"wait-both-2", "both wait for the other's", 2, 2, "0a1a", {"ur", "rur"}},
	{"wait-turn-3", "two releasers, one waits", 1, 2, "0a1a", {"r", "r", "u"}},
	{"wait-overtaken-3", "an acquire that does not wait overtakes", 2, 1, "0a", {"r", "u", "ar"}},
	{"wait-time-2", "the time is over while it is given", 1, 1, "0a", {"r", "v"}},
	{"wait-time-3", "one waits for ever, one not", 1, 1, "0a", {"r", "ur", "vr"}},
	{"wait-grow-2", "the pool grows", 1, 1, "0a", {"G", "u"}, .max_capacity = 2},
	{"wait-grow-refused-2", "the system has no memory for a growth, and then for two", 1, 1, "0aO", {"u", "Oa"},
	 .max_capacity = 3, .growth_step = 2, .object_bytes = 8192},
	{"wait-shrink-3", "shrink, wait, release", 1, 2, "0aa", {"rr", "S", "u"}, .max_capacity = 2},
	{"wait-shrink-wake-3", "owed after one was given, and before its server looks again", 1, 2, "1a2a", {"u", "r", "S"},
	 .max_capacity = 2, .growth_step = 1},
	{"wait-bulk-2", "two come back at once", 4, 2, "0aa", {"B", "uu"}},
	{"wait-bulk-3", "the same, and two wait", 4, 2, "0aa", {"B", "u", "u"}},
	{"wait-quarantine-2", "released into quarantine", 1, 1, "0a", {"r", "u"}, .debug = "quarantine=1"},
	{"wait-thief-3", "a thief and a server at one cache", 2, 2, "0aa", {"rr", "u", "a"}},
	{"wait-mail-2", "what the releaser wrote", 2, 2, "0a1a", {"rp", "uq"}},
	{"wait-exit-2", "the last release and the end of a thread", 2, 1, "0a", {"rd", "u"}},

	{"wait-regrow-3", "what was owed is gone, and it may grow again", 1, 2, "0a3a", {"r", "S", "u"}, .max_capacity = 2,
	 .growth_step = 1},
	{"wait-regrow-2", "forgiven, and it may grow again", 1, 1, "0a", {"SK", "u"}, .max_capacity = 2, .growth_step = 1},
	{"wait-two-each-3", "two that want both, of two", 1, 2, "", {"UB", "UB"}},
	{"wait-two-and-one-3", "one wants both, another one", 1, 2, "0aa", {"rr", "UB", "ur"}},

	/* The pool is closed. */
	{"wait-closed-2", "one waits", 1, 1, "0a", {"E", "u"}},
	{"wait-closed-release-3", "one waits, one comes back", 1, 1, "0a", {"r", "E", "u"}},
	{"wait-closed-take-3", "others take and release", 2, 2, "0a", {"ra", "E", "ar"}},
	{"grow-closed-2", "it grows", 1, 1, "0a", {"E", "G"}, .max_capacity = 2},
	{"grow-closed-self-2", "it grows by itself", 1, 1, "0a", {"E", "a"}, .max_capacity = 2, .growth_step = 1},
	{"shrink-closed-2", "a debt is forgiven", 1, 2, "0aa", {"E", "SK"}},
	{"then-closed-2", "a continuation is handed in", 1, 1, "0a", {"Er", "F"}},

	/* Continuations. */
	{"then-2", "released for a continuation", 1, 1, "0a", {"r", "f"}},
	{"then-ask-2", "which releases, and asks again", 1, 1, "0a", {"r", "j"}},
	{"then-cancel-2", "cancelled while it is called", 1, 1, "0a", {"r", "fk"}},
	{"then-cancel-wait-3", "the same, and another waits", 1, 1, "0a", {"r", "Fk", "u"}},
	{"then-wait-3", "one continues, one waits", 1, 1, "0a", {"r", "F", "u"}},
	{"then-claim-2", "two come at once", 1, 1, "0a", {"Fr", "F"}},
	{"then-vacant-2", "two come, and one place is vacant", 1, 1, "0afk", {"Fr", "F"}},
	{"then-lot-late-2", "one needs the third lot, and has not seen the second", 1, 1, "3a", {"fff", "f"}},
	{"then-cancel-late-2", "cancelled after it was called, its place is another's", 1, 1, "0a", {"rf", "fk"}},
	{"then-cancel-lot-2", "cancelled by a thread that was told its ticket and nothing else", 1, 1, "3af", {"f", "X"}},
	{"then-lot-2", "two need the first place of a lot", 1, 1, "3af", {"f", "f"}},
	{"then-lot-look-2", "one is made while all are looked at", 1, 1, "0a3F", {"r", "F"}},
	{"then-lift-2", "one comes while a bound is raised that another left (W10)", 1, 1, "0a3Ffk", {"r", "F"}},
	{"then-serve-2", "a thread that continued another releases again", 1, 1, "0a", {"rar", "Fu"}},
	{"then-cell-2", "its place is used again while it is looked at", 1, 1, "0a", {"r", "fkf"}},

	/* Trimming: TR1, TR2 (trim.c). */
	{"trim-acquire-2", "acquired, written, released while its page goes", 1, 2, "0aarr", {"T", "ara"}},
	{"trim-again-2", "given back, used and given back again", 1, 2, "0aarrT", {"TT", "arT"}},
	{"trim-pages-3", "two use objects that lie on two pages", 1, 3, "0aaarrrT", {"T", "ar", "ara"}, .object_bytes = 3072},
	{"trim-wait-3", "one waits for what is being trimmed, another releases", 1, 2, "0ar1a", {"T", "ur", "ur"}},
	{"trim-shrink-2", "a shrink takes what is being trimmed", 1, 2, "0aarr", {"T", "S"}, .max_capacity = 2},
	{"trim-regrow-2", "one waits, and the room to grow is being trimmed", 1, 2, "0aS", {"T", "u"}, .max_capacity = 2,
	 .growth_step = 1, .object_bytes = 8192},
	{"trim-owe-2", "all is owed, and more is being trimmed", 1, 2, "0aS", {"T", "Z"}, .max_capacity = 2, .object_bytes = 8192},
	{"trim-hold-3", "one waits for what was taken out for a trim that failed", 1, 3, "0aaarr", {"T", "a", "u"},
	 .object_bytes = 3072},

	/* Evicting: F3, F4, P1; the language is that of evicts.h. */
	{"evict-2", "two newcomers, two objects", 1, 1, "a1a2", {"a5", "a6"}, .evicting = 2},
	{"evict-update-2", "the least is updated while a newcomer evicts", 1, 1, "a1a3a5", {"a9", "u04"}, .evicting = 3},
	{"evict-update-down-2", "another goes below the least", 1, 1, "a2a3a5", {"a9", "u21"}, .evicting = 3},
	{"evict-only-2", "the only object goes up and down: the newcomer is never refused", 1, 1, "a1", {"a9", "u02u01"},
	 .evicting = 1},
	{"evict-release-2", "released while it is evicted", 1, 1, "a1a2", {"a5", "r0"}, .evicting = 2},
	{"evict-release-both-2", "two are released, one after the other: the third need never go", 1, 1, "a1a2a5", {"a9", "r0r1"},
	 .evicting = 3},
	{"evict-get-2", "asked for its priority while its slot goes to another", 1, 1, "a1", {"a5", "g0"}, .evicting = 1},
	{"evict-get-update-2", "and while it changes twice", 1, 1, "a1", {"u02u03u04", "g0"}, .evicting = 1},
	{"evict-pin-2", "pinned while it is evicted", 1, 1, "a1a2", {"a5", "i0o0"}, .evicting = 2},
	{"evict-pin-release-2", "released while it is pinned", 1, 1, "a1a2", {"i0r0o0", "a5"}, .evicting = 2},
	{"evict-last-pin-2", "two unpin a released one", 1, 1, "a1a2", {"i0r0o0", "i0o0"}, .evicting = 2},
	{"evict-new-2", "what is new cannot be evicted", 1, 1, "a1", {"n5q", "a6"}, .evicting = 1},
	{"evict-peek-2", "looked at while it changes", 1, 1, "a1a3a5", {"kk", "u06"}, .evicting = 3},
	{"evict-min-2", "two release the least", 1, 1, "a1a2a3", {"m", "m"}, .evicting = 3},
	{"evict-count-2", "counted while one of three is released", 1, 1, "a1a2a3", {"r0", "c2"}, .evicting = 3},
	{"evict-walk-2", "walked over", 1, 1, "a1a2", {"w", "a5"}, .evicting = 2},
	{"evict-both-update-2", "two update one object", 1, 1, "a1a5", {"u03", "u07"}, .evicting = 2},
	{"evict-same-2", "the second is told that it has the priority already", 1, 1, "a5a3", {"u01", "u01k"}, .evicting = 2},
	{"evict-tie-2", "of equals the older one goes, not that in the lower slot", 1, 1, "a3a3ma3", {"a9", "k"}, .evicting = 2},
	{"evict-spare-2", "two update one whose own records are being filled", 1, 1, "a1a5x0", {"u03", "u07"}, .evicting = 2},
	{"evict-lose-again-2", "one that loses to one that goes comes again", 1, 1, "a2a7a8a4", {"u13k", "u09u01"}, .evicting = 4},
	{"evict-3", "three newcomers, two objects", 1, 1, "a1a2", {"a5", "a6", "a7"}, .evicting = 2},
	{"evict-refresh-all-3", "three change below one root", 1, 1, "a2a7a4a5", {"u09", "u13", "u31"}, .evicting = 4},
	{"evict-late-3", "one goes up, one comes down, a late collector", 1, 1, "a2a9a5", {"u08", "u13", "u26"}, .evicting = 3},
	{"evict-pin-3", "evicted, pinned, evicted", 1, 1, "a1a2", {"a5", "i0o0", "a6"}, .evicting = 2},

	/* Retiring: R1 to R4; the language is that of retires.h. */
	{"retire-2", "two retire in one place", 1, 2, "s0s1", {"t0", "t1"}, .retiring = "r"},
	{"retire-many-2", "two retire two", 2, 4, "s0s1s2s3", {"t0t1", "t2t3"}, .retiring = "r"},
	{"retire-bulk-2", "two retire two in one call, the second time round", 2, 4, "s0s1s2s3", {"b01", "t3t2"}, .retiring = "r"},
	{"retire-bulk-told-2", "two in one call, two one by one, while they are reclaimed", 2, 4, "s0s1s2s3", {"b01y", "t3t2"},
	 .retiring = ""},
	{"retire-double-2", "one object retired by two at once", 1, 1, "s0k0", {"x", "x"}, .retiring = ""},

	/* Reclaiming. */
	{"retire-reclaim-2", "retired while the batch before is reclaimed", 1, 2, "s0s1t0", {"t1", "y"}, .retiring = ""},
	{"retire-reclaim-both-2", "and the next one too", 1, 3, "s0s1s2t0", {"t1t2", "yy"}, .retiring = ""},
	{"retire-again-2", "retired again while it is put back", 1, 1, "s0t0", {"s0t0", "y"}, .retiring = ""},
	{"retire-reclaim-acquire-2", "reclaimed while another wants it", 1, 2, "s0s1t0", {"t1a", "ya"}, .retiring = ""},
	{"retire-poison-2", "poisoned when it is reclaimed, not before", 1, 2, "s0s1", {"t0yt1y", "l1"}, .retiring = "",
	 .debug = "poison"},
	{"retire-asks-1", "each second retire in a place asks", 1, 3, "s0s1s2", {"t0t1t2"}, .retiring = "r"},
	{"retire-round-1", "what begins retires another object", 1, 2, "s0s1", {"t0"}, .retiring = "rn"},
	{"retire-asks-2", "each second retire in a place asks", 1, 3, "s0s1s2t0", {"t1a", "t2a"}, .retiring = "r"},
	{"retire-poll-2", "two ask about one batch, and a third object is retired", 1, 2, "s0s1t0", {"t1p", "p"}, .retiring = "r"},
	{"retire-poll-one-2", "one hears that the other has reclaimed", 1, 1, "s0t0", {"pa", "p"}, .retiring = "ro"},
	{"retire-hook-2", "what is deactivated retires another", 1, 2, "s0s1", {"t0y", "yl1"}, .retiring = "d"},
	{"retire-hook-asked-2", "the same, while its place is held", 1, 2, "s0s1", {"t0pp", "pl1"}, .retiring = "rd"},

	/* Readers. */
	{"retire-read-2", "retired under a reader's eyes, and wanted again", 1, 1, "s0", {"t0a", "l0"}, .retiring = "r"},
	{"retire-follow-2", "two in one batch, one of them read", 1, 3, "s0s1s2t0", {"t1t2pa", "l1l2"}, .retiring = "r"},
	{"retire-read-told-3", "one retires, one reclaims, one reads", 1, 1, "s0", {"t0", "ya", "l0"}, .retiring = ""},
	{"retire-pushed-3", "retired by one, begun by another, read by a third", 1, 2, "s0s1t0", {"t1", "ppa", "l1"},
	 .retiring = "r"},
	{"retire-pushed-told-3", "the same, with a thread of the scheme's", 1, 2, "s0s1t0", {"t1", "yya", "l1"}, .retiring = ""},
	{"retire-three-3", "three retire in one place", 1, 3, "s0s1s2", {"t0", "t1", "t2"}, .retiring = "r"},

	/* A dry pool. */
	{"retire-dry-2", "what it has left is due", 1, 1, "s0t0", {"a", "a"}, .retiring = "r"},
	{"retire-dry-wait-2", "one waits for what another reads", 1, 1, "s0", {"ur", "t0"}, .retiring = "r"},

	/* Draining. */
	{"retire-drain-2", "drained while others retire", 1, 2, "s0s1t0", {"Da", "t1"}, .retiring = "r"},
	{"retire-drain-one-2", "one drains, another asks", 1, 1, "s0t0", {"Da", "p"}, .retiring = "r"},
	{"retire-drain-own-2", "both drain what they have retired", 1, 2, "s0s1", {"t0Da", "t1Da"}, .retiring = "r"},
	{"retire-drain-read-2", "and one reads", 1, 2, "s0s1t0", {"t1Da", "l1"}, .retiring = "r"},
	{"retire-drain-ended-2", "a drain waits for two batches of three", 1, 3, "s0s1s2t0t1", {"Daa", "yt2yy"}, .retiring = "w"},
	{"retire-finish-2", "the pool ends, and a hook retires in a place already looked at", 1, 2, "s0s1t0", {"F", "y"},
	 .retiring = "dh"},
	{"retire-drain-3", "one retires, one drains, one reclaims", 1, 2, "s0s1t0", {"t1Da", "y", "y"}, .retiring = ""},

	/* Other paths. */
	{"general-2", "no hits (LFPOOL_ZERO): only the general path", 2, 2, "0aarr", {"aarr", "ar"}, .flags = LFPOOL_ZERO},
};
/* clang-format on */
const size_t scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
