# SPDX-License-Identifier: MIT
"""goals.py - what lfpool is meant to reach, and whether it did.

Idea         A goal is a few checks of medians, as ratios within one run.  One check that fails and the goal is not met,
             however many others hold.  One that could not be made, or a peer that did not run, leaves it open: "met as
             far as measured".  64-byte objects, unless it says otherwise.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterable

from . import text
from .losses import overlap
from .results import EPOCH, EVICTING, INLINED, LIBRARY, RETIRING, SHARED, TYPED, Cell, Results, figures_of

BYTES = 64
IN_ORDER = ("burst-32-lifo", "burst-256-lifo", "burst-4096-lifo")
AT_RANDOM = ("burst-32-shuffled", "burst-256-shuffled", "burst-4096-shuffled")
KEEP = ("keep-32", "keep-512", "keep-4096")
CALLED = ("pair", *IN_ORDER, *AT_RANDOM, "larson")  # what callers of the library compare
SNMALLOC, RPMALLOC = "snmalloc-inlined", "rpmalloc-inlined"
DPDK = ("dpdk-ring", "dpdk-stack")
EVICT = tuple(f"evict-{share}-{capacity}" for share in (5, 50, 100) for capacity in (32, 1024, 65536))
RETIRE = {"retire": [1, 2, 4], "retire-read": [2, 4]}  # on so many threads
BOUNDED_BYTES = (1024 + 16384) * 64  # of the objects in backlog-bounded, bench/retire/backlog.h

MET, NOT_MET, OPEN, UNMEASURED = "met", "not met", "met as far as measured", "not measured"


@dataclass
class Check:
	ok: bool | None  # None: not measured
	figure: str
	complete: bool = True


@dataclass
class Verdict:
	id: str
	asks: str
	state: str
	figures: list[str]


def _verdict(id: str, asks: str, checks: Iterable[Check]) -> Verdict:
	checks = list(checks)
	if any(check.ok is False for check in checks):
		state = NOT_MET
	elif all(check.ok is None for check in checks):
		state = UNMEASURED
	elif any(check.ok is None or not check.complete for check in checks):
		state = OPEN
	else:
		state = MET
	return Verdict(id, asks, state, [check.figure for check in checks])


def _unmeasured(what: str) -> Check:
	return Check(None, f"not measured: {what}", False)


def _found(results: Results, workload: str, subject: str, rivals: Iterable[str], bytes: int = BYTES, key: str | None = None,
		threads: Iterable[int] | None = None) -> dict[int, tuple[Cell, Cell]]:
	"""By the number of threads: the subject's cell, and the best of the rivals that were measured."""
	key = key or figures_of(workload)[0].key
	found = {}
	for count in threads or results.threads(workload, bytes, subject):
		mine = results.cell(workload, bytes, subject, count, key)
		cells = [cell for cell in (results.cell(workload, bytes, name, count, key) for name in rivals) if cell]
		if mine and cells:
			found[count] = (mine, min(cells, key=lambda cell: cell.median(key)))
	return found


def _within(results: Results, workload: str, subject: str, factor: float, rivals: Iterable[str], bytes: int = BYTES,
		key: str | None = None, threads: list[int] | None = None) -> Check:
	"""The subject's median is at most `factor` times that of the best rival; below it where `factor` is 1."""
	rivals = list(rivals)
	key = key or figures_of(workload)[0].key
	title = workload if key == figures_of(workload)[0].key else f"{workload}, {key}"
	found = _found(results, workload, subject, rivals, bytes, key, threads)
	if not found:
		return _unmeasured(title)
	ratios = {count: mine.median(key) / best.median(key) for count, (mine, best) in found.items()}
	worst = max(ratios, key=lambda count: ratios[count])
	mine, best = found[worst]
	noise = ", within the noise" if overlap(mine, best, key) else ""
	missing = [count for count in threads or [] if count not in found]
	said = (f"{title}: {text.ratio(ratios[worst])} x {best.subject} on {text.plural(worst, 'thread')}{noise}"
		+ (f" (not measured: {text.listing(missing)})" if missing else ""))
	return Check(ratios[worst] < 1 if factor == 1 else ratios[worst] <= factor, said, not missing)


def _said(check: Check) -> Check:
	"""A ratio that no goal asks for."""
	return Check(None if check.ok is None else True, check.figure + ", for comparison")


def _worst(checks: Iterable[Check]) -> list[Check]:
	"""Those that fail; of those that hold, and of those that were not made, a line each."""
	checks = list(checks)
	held = [check for check in checks if check.ok]
	unmeasured = [check.figure.removeprefix("not measured: ") for check in checks if check.ok is None]
	return ([check for check in checks if check.ok is False]
		+ ([Check(True, "; ".join(check.figure for check in held), all(check.complete for check in held))] if held else [])
		+ ([_unmeasured(text.listing(unmeasured))] if unmeasured else []))


def _absent(results: Results, names: Iterable[str]) -> list[Check]:
	"""Peers that did not run at all."""
	absent = [name for name in names if name not in {cell.subject for cell in results.cells.values()}]
	return [Check(None, f"did not run: {text.listing(absent)}", False)] if absent else []


def _instructions(instructions: dict, subject: str, most: float) -> Check:
	pair = instructions.get("pair", {})
	if subject not in pair:
		return _unmeasured(subject)
	loop = f" (of them the loop, as in limit: {pair['limit']:g})" if "limit" in pair else ""
	return Check(pair[subject] <= most, f"{subject} {pair[subject]:g}{loop}")


def _handoff(results: Results, bytes: int, most: float) -> Check:
	found = _found(results, "handoff-1-1", INLINED, ["ring"], bytes, threads=[2])
	if not found:
		return _unmeasured(f"{bytes} bytes")
	more = {count: mine.median() - ring.median() for count, (mine, ring) in found.items()}
	return Check(max(more.values()) <= most, f"{bytes} bytes: the ring and "
		+ ", ".join(f"{value:.1f}" for value in more.values()) + f" ns on {text.listing(more)} threads")


def _most(results: Results, workload: str, key: str, most: float, show: Callable[[float], str], less: float = 0,
		subjects: tuple[str, ...] = (INLINED, LIBRARY), threads: tuple[int, ...] = (1, 2)) -> Check:
	"""A figure of lfpool, less some, in the worst of its cells."""
	found = {f"{cell.subject} on {text.plural(cell.threads, 'thread')}": cell.median(key) - less
		for cell in results.cells.values() if (cell.workload, cell.bytes) == (workload, BYTES) and cell.values(key)
		and cell.subject in subjects and cell.threads in threads}
	if not found:
		return _unmeasured(workload)
	worst = max(found, key=lambda name: found[name])
	return Check(0 <= found[worst] <= most, f"at most {show(found[worst])} ({worst})")


def _deferring(results: Results, subject: str, rival: str) -> list[Check]:
	"""Ahead in both workloads, for updaters and until all is free, on each number of threads."""
	return [_within(results, workload, subject, 1, [rival], key=key, threads=threads)
		for workload, threads in RETIRE.items() for key in ("ns_per_update", "settled_ns")]


def _hits(results: Results, instructions: dict) -> list[Verdict]:
	peers = [name for name in results.subjects if results.is_peer(name)]
	near = _absent(results, (SNMALLOC, RPMALLOC, "mimalloc", "tcmalloc", "jemalloc", *DPDK))

	def ahead(id: str, what: str, workloads: Iterable[str]) -> Verdict:
		return _verdict(id, f"{what}, lfpool-inlined: ahead of every peer on every number of threads", [
			*_worst(_within(results, workload, INLINED, 1, peers) for workload in workloads), *near])

	return [
		_verdict("HIT", "pair, lfpool-inlined: at most 1.2 x snmalloc, inlined", [
			_within(results, "pair", INLINED, 1.2, [SNMALLOC]), _said(_within(results, "pair", INLINED, 1, ["snmalloc-thread"]))]),
		_verdict("HIT-TYPED", "pair, lfpool-typed: ahead of snmalloc, inlined", [
			_within(results, "pair", TYPED, 1, [SNMALLOC]), _said(_within(results, "pair", TYPED, 1, ["snmalloc-thread"]))]),
		ahead("BURST", "bursts in order", IN_ORDER), ahead("RANDOM-BURST", "bursts at random", AT_RANDOM),
		ahead("KEEP", "keep", KEEP), ahead("LARSON", "larson", ["larson"]),
		_verdict("INSTR", "instructions of a hot pair, the loop's included: at most 50, typed 46",
			[_instructions(instructions, INLINED, 50), _instructions(instructions, TYPED, 46)]),
	]


def _calls(results: Results) -> list[Verdict]:
	libraries, close = ("tcmalloc", "jemalloc", "malloc"), ("rpmalloc-called", "mimalloc")
	return [
		_verdict("CALL", "pair, bursts, larson, lfpool-thread: ahead of tcmalloc, jemalloc and glibc's malloc on every number"
			" of threads", [*_worst(_within(results, workload, LIBRARY, 1, libraries) for workload in CALLED),
			*_absent(results, libraries)]),
		_verdict("CALL-CLOSE", "the same: at most 1.1 x rpmalloc, called, and mimalloc",
			[*_worst(_within(results, workload, LIBRARY, 1.1, close) for workload in CALLED), *_absent(results, close)]),
		_verdict("CALL-INLINED", "the same, with lfpool/inline.h: at most 1.25 x an explicit cache",
			_worst(_within(results, workload, LIBRARY + "-inlined", 1.25, [INLINED]) for workload in CALLED)),
		_verdict("SHARED", "pair, bursts, larson: the shared library at most 1.15 x the static one",
			_worst(_within(results, workload, SHARED, 1.15, [LIBRARY]) for workload in CALLED)),
	]


def _beyond(results: Results) -> list[Verdict]:
	return [
		_verdict("BULK", "bulk-32, bulk-256: at most 2 x DPDK's, the faster of ring and stack",
			[*(_within(results, workload, INLINED, 2, DPDK) for workload in ("bulk-32", "bulk-256")), *_absent(results, DPDK)]),
		_verdict("HANDOFF", "handoff-1-1, two threads: the ring alone and at most 4 ns with 64 bytes, 8 ns with 4096",
			[_handoff(results, 64, 4), _handoff(results, 4096, 8)]),
		_verdict("RANDOM-1M", "random-1m: ahead of DPDK, ring and stack", [_within(results, "random-1m", INLINED, 1, DPDK),
			*_absent(results, DPDK)]),
		_verdict("EXHAUSTED", "an acquire that says NULL in less than 100 ns, with 16 caches, on one thread",
			[_most(results, "exhausted", "acquire_ns", 100, text.time, threads=(1,))]),
		_verdict("MUTEX", "pair: at most 0.1 x a mutex with the same checks on one thread, 0.02 x on 2 and 4",
			[_within(results, "pair", INLINED, 0.1, ["mutex"], threads=[1]),
				_within(results, "pair", INLINED, 0.02, ["mutex"], threads=[2, 4])]),
		_verdict("MEMORY", "at most 9.6 bytes of side memory per object: its state, its place in a magazine, the caches",
			[_most(results, "memory", "bytes_per_object", 9.6, lambda value: f"{text.number(value)} bytes", BYTES)]),
		_verdict("CREATE", "creation with capacity 10,000,000 in less than 2 ms",
			[_most(results, "create-10000000", "create_ns", 2e6, text.time)]),
	]


def _others(results: Results) -> list[Verdict]:
	return [
		_verdict("EVICT-MUTEX", "evict-*: ahead of one mutex around a heap, on 2 and 4 threads, at every size",
			_worst(_within(results, workload, EVICTING, 1, ["heap-mutex"], threads=[2, 4]) for workload in EVICT)),
		_verdict("EVICT-FLOOR", "evict-*: at most 2 x a heap without synchronisation, on one thread",
			_worst(_within(results, workload, EVICTING, 2, ["heap-unlocked"], threads=[1]) for workload in EVICT)),
		_verdict("RETIRE-CALL-RCU", "retire, retire-read: lfpool-rcu ahead of malloc and call_rcu(), on 1, 2 and 4 threads, also"
			" until all is free", _worst(_deferring(results, RETIRING, "call-rcu-malloc"))),
		_verdict("RETIRE-MUTEX", "the same: ahead of a pool with a mutex and call_rcu()",
			_worst(_deferring(results, RETIRING, "call-rcu-mutex"))),
		_verdict("RETIRE-EPOCH", "the same: lfpool-epoch ahead of malloc and ck_epoch_call()",
			_worst(_deferring(results, EPOCH, "ck-epoch-malloc"))),
		_verdict("RETIRE-BOUND", "backlog-bounded: memory grows by less than 4/3 of the pool's objects",
			[_most(results, "backlog-bounded", "most_resident_bytes", BOUNDED_BYTES * 4 / 3, lambda value:
				f"{text.number(value / 2**20)} MiB, {text.ratio(value / BOUNDED_BYTES)} x its objects", subjects=(RETIRING, EPOCH))]),
	]


def evaluate(results: Results, instructions: dict) -> list[Verdict]:
	return [*_hits(results, instructions), *_calls(results), *_beyond(results), *_others(results)]
