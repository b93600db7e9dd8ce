# SPDX-License-Identifier: MIT
"""judge.py - the goals, and whether lfpool meets them; and where it loses.

Idea         A goal is a few checks of medians, as ratios within one run.  One failed check means that the goal is not met.
             A check without figures leaves it open: "met as far as measured".  Peers are those that ran.  64-byte objects,
             unless stated otherwise.
                A loss is a cell in which a variant that a user would choose is not ahead of every peer.
Noise        Medians decide which is ahead.  If the ranges, least to greatest repetition, overlap, or the medians are almost
             equal, the result is within the noise, on either side.  A single round has no range.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterable

from . import text
from .results import EPOCH, EVICTING, INLINED, LIBRARY, RETIRING, SHARED, TYPED, Cell, Results, figures_of

TIE = 0.005  # of a figure: clocks calibrated by two processes differ by up to this
IN_ORDER = ("burst-32-lifo", "burst-256-lifo", "burst-4096-lifo")
AT_RANDOM = ("burst-32-shuffled", "burst-256-shuffled", "burst-4096-shuffled")
KEEP = ("keep-32", "keep-512", "keep-4096")
CALLED = ("pair", *IN_ORDER, *AT_RANDOM, "larson")  # workloads for callers of the library
SNMALLOC, DPDK = "snmalloc-inlined", ("dpdk-ring", "dpdk-stack")
EVICT = tuple(f"evict-{share}-{capacity}" for share in (5, 100) for capacity in (32, 1024, 65536))
RETIRE = {"retire": (1, 2, 4), "retire-read": (2, 4)}  # numbers of threads
BOUNDED_BYTES = (1024 + 16384) * 64  # of the objects in backlog-bounded, bench/backlog.h

MET, NOT_MET, OPEN, UNMEASURED = "met", "not met", "met as far as measured", "not measured"


def overlap(one: Cell, other: Cell, key: str) -> bool:
	a, b = one.values(key), other.values(key)
	tie = abs(one.median(key) - other.median(key)) <= TIE * other.median(key)
	return tie or (len(a) > 1 and len(b) > 1 and min(a) <= max(b) and min(b) <= max(a))


# ---- Goals ----


@dataclass
class Check:
	ok: bool | None  # None: not measured
	figure: str
	complete: bool = True  # for all thread counts that the goal names


@dataclass
class Verdict:
	id: str
	asks: str
	checks: list[Check]

	@property
	def figures(self) -> str:
		"""Failed and missing checks on separate lines; the others on one line."""
		held = "; ".join(check.figure for check in self.checks if check.ok)
		return "<br>".join([*(check.figure for check in self.checks if not check.ok), *([held] if held else [])])

	@property
	def state(self) -> str:
		found = {check.ok for check in self.checks}
		if False in found or not found - {None}:
			return NOT_MET if False in found else UNMEASURED
		return OPEN if None in found or not all(check.complete for check in self.checks) else MET


class Judge:
	"""The kinds of checks."""

	def __init__(self, results: Results, instructions: dict):
		self.results, self.counts = results, instructions.get("pair", {})
		self.peers = [name for name in results.subjects if results.is_peer(name)]

	def within(self, workload: str, subject: str, factor: float, rivals: Iterable[str], threads: Iterable[int] = (),
			key: str | None = None) -> Check:
		"""The subject's median is at most `factor` times the best rival's; below it if `factor` is 1."""
		main = next(iter(figures_of(workload)))
		title, key = f"{workload}, {key}" if key not in (None, main) else workload, key or main
		found, missing = [], []
		for count in threads or self.results.threads(workload, 64, subject):
			mine = self.results.cell(workload, 64, count, subject, key)
			cells = [cell for name in rivals if (cell := self.results.cell(workload, 64, count, name, key))]
			if mine and cells:
				best = min(cells, key=lambda cell: cell.median(key))
				found.append((mine.median(key) / best.median(key), mine, best))
			elif threads:
				missing.append(str(count))
		if not found:
			return Check(None, f"not measured: {title}")
		ratio, mine, best = max(found, key=lambda one: one[0])
		said = (f"{title}: {text.ratio(ratio)} x {best.subject} on {text.plural(mine.threads, 'thread')}"
			+ (", within the noise" if overlap(mine, best, key) else "")
			+ (f" (not measured: {', '.join(missing)})" if missing else ""))
		return Check(ratio < 1 if factor == 1 else ratio <= factor, said, not missing)

	def each(self, workloads: Iterable[str], subject: str, factor: float, rivals: Iterable[str],
			threads: Iterable[int] = ()) -> list[Check]:
		return [self.within(workload, subject, factor, rivals, threads) for workload in workloads]

	def hits(self, subject: str, most: float) -> Check:
		count = self.counts.get(subject)
		return Check(count and count <= most, f"{subject} {count:g}" if count else f"not measured: {subject}")

	def handoff(self, bytes: int, most: float) -> Check:
		mine, ring = (self.results.cell("handoff-1-1", bytes, 2, name) for name in (INLINED, "ring"))
		if not mine or not ring:
			return Check(None, f"not measured: {bytes} bytes")
		more = mine.median() - ring.median()
		return Check(more <= most, f"{bytes} bytes: the ring and {more:.1f} ns on 2 threads")

	def most(self, workload: str, key: str, most: float, less: float = 0, subjects: tuple[str, ...] = (INLINED, LIBRARY),
			threads: tuple[int, ...] = (1, 2)) -> Check:
		"""A figure of lfpool, minus a constant, in the worst of its cells."""
		cells = [cell for name in subjects for count in threads if (cell := self.results.cell(workload, 64, count, name, key))]
		if not cells:
			return Check(None, f"not measured: {workload}")
		cell = max(cells, key=lambda cell: cell.median(key))
		value = cell.median(key) - less
		return Check(0 <= value <= most, f"at most {text.number(value)} ({cell.subject} on {text.plural(cell.threads, 'thread')})")

	def deferring(self, subject: str, rival: str) -> list[Check]:
		"""Ahead in both workloads, for updaters and until all is free, on each number of threads."""
		return [self.within(workload, subject, 1, [rival], threads, key)
			for workload, threads in RETIRE.items() for key in ("ns_per_update", "settled_ns")]


def goals(results: Results, instructions: dict) -> list[Verdict]:
	it = Judge(results, instructions)
	ahead = "lfpool-inlined: ahead of every peer on every number of threads"
	return [Verdict(*goal) for goal in (
		("HIT", "pair, lfpool-inlined: at most 1.2 x snmalloc, inlined", [it.within("pair", INLINED, 1.2, [SNMALLOC])]),
		("HIT-TYPED", "pair, lfpool-typed: ahead of snmalloc, inlined", [it.within("pair", TYPED, 1, [SNMALLOC])]),
		("BURST", f"bursts in order, {ahead}", it.each(IN_ORDER, INLINED, 1, it.peers)),
		("RANDOM-BURST", f"bursts at random, {ahead}", it.each(AT_RANDOM, INLINED, 1, it.peers)),
		("KEEP", f"keep, {ahead}", it.each(KEEP, INLINED, 1, it.peers)),
		("LARSON", f"larson, {ahead}", it.each(["larson"], INLINED, 1, it.peers)),
		("INSTR", "instructions of a hot pair, the loop's included: at most 50, typed 46", [it.hits(INLINED, 50), it.hits(TYPED, 46)]),
		("CALL", "pair, bursts, larson, lfpool-thread: ahead of tcmalloc, jemalloc and glibc's malloc on every number of threads",
			it.each(CALLED, LIBRARY, 1, ("tcmalloc", "jemalloc", "malloc"))),
		("CALL-CLOSE", "the same: at most 1.1 x rpmalloc, called, and mimalloc",
			it.each(CALLED, LIBRARY, 1.1, ("rpmalloc-called", "mimalloc"))),
		("CALL-INLINED", "the same, with lfpool/inline.h: at most 1.25 x an explicit cache",
			it.each(CALLED, LIBRARY + "-inlined", 1.25, [INLINED])),
		("SHARED", "pair, bursts, larson: the shared library at most 1.15 x the static one", it.each(CALLED, SHARED, 1.15, [LIBRARY])),
		("BULK", "bulk-32, bulk-256: at most 2 x DPDK's, the faster of ring and stack",
			it.each(["bulk-32", "bulk-256"], INLINED, 2, DPDK)),
		("HANDOFF", "handoff-1-1, two threads: the ring alone and at most 4 ns with 64 bytes, 8 ns with 4096",
			[it.handoff(64, 4), it.handoff(4096, 8)]),
		("RANDOM-1M", "random-1m: ahead of DPDK, ring and stack", [it.within("random-1m", INLINED, 1, DPDK)]),
		("EXHAUSTED", "an acquire that returns NULL in less than 100 ns, with 16 caches, on one thread",
			[it.most("exhausted", "acquire_ns", 100, threads=(1,))]),
		("MUTEX", "pair: at most 0.1 x a mutex with the same checks on one thread, 0.02 x on 2 and 4",
			[it.within("pair", INLINED, 0.1, ["mutex"], (1,)), it.within("pair", INLINED, 0.02, ["mutex"], (2, 4))]),
		("MEMORY", "at most 17 bytes of side memory per object: its state, its place in a magazine, the caches",
			[it.most("memory", "bytes_per_object", 17, less=64)]),
		("CREATE", "creation with capacity 10,000,000 in less than 2,000,000 ns", [it.most("create-10000000", "create_ns", 2e6)]),
		("EVICT-5", "evict-5-*: ahead of one mutex around a heap, on 1, 2 and 4 threads, at every size",
			it.each(EVICT[:3], EVICTING, 1, ["heap-mutex"], (1, 2, 4))),
		("EVICT-100", "evict-100-32: ahead of one mutex around a heap on one thread",
			it.each(EVICT[3:4], EVICTING, 1, ["heap-mutex"], (1,))),
		("EVICT-100-SHARED", "evict-100-32: at most 3 x one mutex around a heap, on 2 and 4 threads",
			it.each(EVICT[3:4], EVICTING, 3, ["heap-mutex"], (2, 4))),
		("RETIRE-CALL-RCU", "retire, retire-read: lfpool-rcu ahead of malloc and call_rcu(), on 1, 2 and 4 threads, also until all is"
			" free", it.deferring(RETIRING, "call-rcu-malloc")),
		("RETIRE-MUTEX", "the same: ahead of a pool with a mutex and call_rcu()", it.deferring(RETIRING, "call-rcu-mutex")),
		("RETIRE-EPOCH", "the same: lfpool-epoch ahead of malloc and ck_epoch_call()", it.deferring(EPOCH, "ck-epoch-malloc")),
		("RETIRE-BOUND", f"backlog-bounded: memory grows by less than {BOUNDED_BYTES * 4 // 3:,} bytes, 4/3 of the pool's objects",
			[it.most("backlog-bounded", "most_resident_bytes", BOUNDED_BYTES * 4 / 3, subjects=(RETIRING, EPOCH))]),
	)]


# ---- Losses ----


@dataclass
class Loss:
	key: str
	mine: Cell
	best: Cell  # the peer that is furthest ahead

	@property
	def ratio(self) -> float:
		"""The figure divided by the best peer's."""
		best = self.best.median(self.key)
		return self.mine.median(self.key) / best if best > 0 else float("inf")


@dataclass
class Tally:
	ahead: int = 0
	ahead_within_noise: int = 0
	losses: list[Loss] = field(default_factory=list)  # the greatest first
	losses_within_noise: int = 0


def is_choice(subject: str, peer: str, group: str) -> bool:
	"""Calls are compared with calls, epochs with epochs, and RCU with RCU."""
	if subject in (LIBRARY, SHARED):
		return group == "allocator" and not peer.endswith(("-inlined", "-thread"))
	return subject not in (RETIRING, EPOCH) or peer.startswith("ck-epoch-") == (subject == EPOCH)


def peers_of(results: Results, subject: str) -> dict[tuple, list[Cell]]:
	"""Its rivals, by place."""
	found: dict[tuple, list[Cell]] = {}
	for cell in results.cells:
		if results.is_peer(cell.subject) and is_choice(subject, cell.subject, results.group(cell.subject)):
			found.setdefault(cell.place, []).append(cell)
	return found


def losses(results: Results, subject: str) -> Tally:
	tally, peers = Tally(), peers_of(results, subject)
	for mine in (cell for cell in results.cells if cell.subject == subject):
		for key in figures_of(mine.workload):
			rivals = [cell for cell in peers.get(mine.place, []) if cell.values(key)]
			if not mine.values(key) or not rivals:
				continue
			best = min(rivals, key=lambda cell: cell.median(key))
			if mine.median(key) < best.median(key):
				tally.ahead += 1
				tally.ahead_within_noise += any(overlap(mine, rival, key) for rival in rivals)
			elif overlap(mine, best, key):
				tally.losses_within_noise += 1
			else:
				tally.losses.append(Loss(key, mine, best))
	tally.losses.sort(key=lambda loss: -loss.ratio)
	return tally
