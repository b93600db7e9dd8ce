# SPDX-License-Identifier: MIT
"""prose.py - what docs/performance.md says in every edition; {names} are filled in by document.py.

Edges        The text is unwrapped and wrapped again; a line break here means nothing.
"""

MADE = """
Made by `{command}` from what `bench/run` measured on {date} with lfpool {version}. Do not edit; reasons are in
`bench/explanations.md`.
"""

METHOD = (
	"""
	A figure is the median over the rounds; where a range is given, it is from the least to the greatest. There
	were {rounds}. In a round each cell is measured once, in a process that was just started: a subject's rounds differ
	in addresses, in pages, and in what else happens on the machine.
	""", """
	A round goes through the workloads and sizes in shuffled order. Those who are compared with each other are measured
	within seconds of each other. The order in a process is shuffled, too. bench/run's order was drawn from seed {seed}.
	""", """
	**ns per pair** is elapsed time x min(threads, processors) / pairs of one acquire and its release: the processor
	time that there was for each. It stays comparable when there are more threads than processors. In the hand-off it
	holds all threads and the rings.
	""", """
	Every subject runs the same loops, compiled once for each, so that what can be inlined is inlined. Each object is
	written to.
	""", """
	Threads: {pinning}.
	""", """
	A repetition takes at least {min_time} s.
	""", """
	mimalloc, jemalloc, tcmalloc, snmalloc-called and rpmalloc-called are called through their own libraries, malloc
	through the C library; none takes it over from another. DPDK has processes of its own. In memory and create-*
	each subject has.
	""")

PINNING = """
each is pinned to a processor of its own if there are enough; with more threads than processors the scheduler places
them
"""

NOISE = """
**Noise**, (greatest - least) / median over the rounds: {median} in the median cell, {p90} in one of ten, {greatest} in
the worst.
"""
NOISE_OF_LIMIT = "Of limit in pair, which nothing but the machine can disturb: {limit} threads."
NO_NOISE = "**With a single round nothing can be said about noise.**"
BUSY = "**The machine was busy with something else when this was begun. The figures are no good.**"

AGAIN = """
`{command}` installs what is missing, builds, measures, and makes this document. The order of the processes can be had
again by `bench/run --seed {seed}`, the figures cannot.
"""

LOSSES = """
A cell is a workload, an object size and a number of threads. lfpool loses it if its median is not below that of every
peer. Where the ranges of its rounds and of the best peer's overlap, or the medians are less than half a percent apart,
that is within the noise.
"""
LOST_BY = """
{compared} compared: ahead of every peer in {ahead} (of them {ahead_within_noise} within the noise of some peer), behind
in {behind} (of them {within_noise} within the noise).
"""

WORKLOADS = """
ns per pair. Bold: the best of lfpool and its peers. **x limit** and **x best peer**: the figure divided by that of
limit and of the best peer (below 1: ahead of it), least to greatest over the thread counts. **spread**: (greatest -
least) / median over the rounds, in the worst of the row's cells.
"""
EVICTING = """
A pool of N objects that is full all the time, 64 bytes each: of 100 operations so many acquire, and take the least
object from its holder; the others change the priority of one that the thread acquired. Priorities are now + random, as in
a cache that ages. ns per operation, elapsed time x min(threads, processors) / operations; in parentheses the figure
divided by that of lfpool-priority (below 1: ahead of it). Bold: the best that threads can share. heap-unlocked is no such, it
is for one thread: what all cost without synchronisation. loop-alone is no pool: what is contained in every figure. **refused**: acquires that got NULL, since their priority was
behind the time; **stale**: updates that were refused, since the object had been evicted; both as shares, the greatest
of the row. **spread**: (greatest - least) / median over the rounds, in the worst of the row's cells. tbb-queue may evict
another than the least while somebody changes one (`bench/priority/tbb_queue.cpp`).
"""
RETIRING = """
An update makes an object of 64 bytes, exchanges it for the one that a random entry of a table of 1,024 points to, and
defers the old one, which readers may still be looking at; who reads looks at four random entries within one section.
**ns per update**: elapsed time x min(threads, processors) / updates, what who updates sees. **Until all is free**:
the same, but the clock runs until everything that was deferred is free, so that a backlog which is only put off is
paid. **Processor time**: of the whole process until then, that of liburcu's worker included. In parentheses the
figure divided by that of lfpool-rcu, or, for those that use ck_epoch, of lfpool-epoch (below 1: ahead of it). Bold:
the best of those that defer. released-at-once is no such, and no program may do that: the loop and the pool alone.
**waits**: updates that found the pool empty, the greatest share of the row; **sections**: of who reads, per update.
**spread**: (greatest - least) / median of ns per update over the rounds, in the worst of the row's cells. Under "In
flight": two threads update so many times a second, or as fast as they can, for a second: the most objects that were
deferred and not yet free, in the first half of it and in all, and by how much resident memory grew. stalled:
1,000,000 updates a second, and in the first half somebody is inside one section; bounded: the same in a pool of
16,384 objects beside the table's, and who finds none waits. lfpool's count has a batch in it until all of it is free,
and so may have an object twice, that was used again meanwhile.
"""
LATENCY = "{what}. Medians over the rounds of each percentile."
FAIRNESS = "The slowest thread's time / the mean thread's time: 1 is fair. The worst over the thread counts."
MEMORY = """
A million objects, acquired by one thread, then all released by another: resident memory per object, in bytes, the
object included.
"""
EXHAUSTED = "One acquire that says NULL, ns: {what}."
COUNTERS = """
lfpool's own counters, of lfpool-inlined: how often the thread's cache could not serve a call itself, and how often a
compare-and-swap had to be repeated, per pair.
"""
INSTRUCTIONS = """
For one acquire, one write and one release, on one thread, by callgrind (`bench/instructions`); the loop is contained.
An instruction is not a nanosecond: a locked one counts as one, too.
"""

GROUPS = {
	"lfpool": "the ways to call it",
	"limit": "no pools: a list without any synchronisation or check; in the hand-off, the ring alone; of pools that evict,"
		" a heap for one thread",
	"allocator": "they take any size at any time, and have no capacity",
	"lock-free": "pools, stacks and rings of others",
	"own": "written for the comparison: what one would write without a library",
	"unknown": "the program did not say what they are",
}
