# SPDX-License-Identifier: MIT
"""goals.py - what lfpool is meant to reach, and whether it did.

Idea         A goal is a few checks of medians.  One check that fails and the goal is not met, however many others
             hold.  One that could not be made leaves it open: "met as far as measured".  64-byte objects, unless it
             says otherwise.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from . import evicting, retiring, text
from .losses import overlap
from .results import DEFAULT, EPOCH, EVICTING, LIBRARY, RETIRING, Cell, Results, figures_of

BYTES = 64
MEMORY_OBJECTS = 1000000
MEMORY_CACHES = 2  # thread A acquires, thread B releases

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


def _verdict(id: str, asks: str, *checks: Check) -> Verdict:
	if any(check.ok is False for check in checks):
		state = NOT_MET
	elif all(check.ok is None for check in checks):
		state = UNMEASURED
	elif any(check.ok is None or not check.complete for check in checks):
		state = OPEN
	else:
		state = MET
	return Verdict(id, asks, state, [check.figure for check in checks])


def _threads(counts) -> str:
	counts = list(counts)
	return f"{text.listing(counts)} thread{'' if counts == [1] else 's'}"


def _missing(missing: list[int]) -> str:
	return f" (not measured: {text.listing(missing)})" if missing else ""


def _at_most(results: Results, workload: str, subject: str, factor: float, threads: list[int] | None = None) -> Check:
	"""The subject's median is at most `factor` that of the list without synchronisation."""
	# The limit belongs to one thread in some workloads: there the others have nothing to be related to.
	wanted = threads or results.threads(workload=workload, bytes=BYTES, subject="limit")
	found: dict[int, float] = {}
	for count in wanted:
		mine, limit = (results.cell(workload, BYTES, name, count) for name in (subject, "limit"))
		if mine and limit:
			found[count] = mine.median() / limit.median()
	if not found:
		return Check(None, f"{workload}: {subject} beside limit was not measured", False)
	missing = [count for count in wanted if count not in found]
	figure = ", ".join(text.ratio(value) for value in found.values())
	return Check(max(found.values()) <= factor, f"{workload}: {figure} x limit on {_threads(found)}"
		+ _missing(missing), not missing)


def _ahead(results: Results, workload: str, subject: str, rival: Callable[[str], bool],
		threads: list[int] | None = None, key: str | None = None) -> Check:
	"""The subject's median is below each rival's, of the main figure or another."""
	figure = next((figure for figure in figures_of(workload) if figure.key == key), figures_of(workload)[0])
	title = f"{workload}, {figure.what}" if key else workload
	wanted = threads or results.threads(workload=workload, bytes=BYTES, subject=subject)
	found: dict[int, tuple[float, Cell]] = {}
	for count in wanted:
		mine = results.cell(workload, BYTES, subject, count, figure.key)
		cells = [results.cell(workload, BYTES, name, count, figure.key) for name in results.names(workload=workload) if rival(name)]
		rivals = [cell for cell in cells if cell]
		if mine and rivals:
			best = min(rivals, key=lambda cell: cell.median(figure.key))
			found[count] = (best.median(figure.key) / mine.median(figure.key), best)
	if not found:
		return Check(None, f"{title}: {subject} beside others was not measured", False)
	missing = [count for count in wanted if count not in found]
	closest = min(found, key=lambda count: found[count][0])
	lead, best = found[closest]
	mine = results.cell(workload, BYTES, subject, closest)
	how = f"{text.ratio(lead)} x ahead of the closest," if lead > 1 else f"{text.ratio(1 / lead)} x behind"
	noise = ", within the noise" if mine and overlap(mine, best, figure.key) else ""
	return Check(lead > 1, f"{title}: {how} {best.subject} on {text.plural(closest, 'thread')}{noise};"
		f" compared on {text.listing(found)}" + _missing(missing), not missing)


def _faster(results: Results, other: str, one: float, more: float) -> Check:
	found: dict[int, float] = {}
	for count in results.threads(workload="pair", bytes=BYTES, subject=DEFAULT):
		mine, rival = (results.cell("pair", BYTES, name, count) for name in (DEFAULT, other))
		if mine and rival:
			found[count] = rival.median() / mine.median()
	if not found:
		return Check(None, f"{other} was not measured", False)
	figure = ", ".join(text.ratio(value) for value in found.values())
	ok = all(value >= (one if count == 1 else more) for count, value in found.items())
	return Check(ok, f"{figure} x on {_threads(found)}", 1 in found and len(found) > 1)


def _instructions(instructions: dict, subject: str, most: float) -> Check:
	pair = instructions.get("pair", {})
	if subject not in pair:
		return Check(None, f"{subject}: not counted", False)
	loop = f" (of them the loop, as in limit: {pair['limit']:g})" if "limit" in pair else ""
	return Check(pair[subject] <= most, f"{subject} {pair[subject]:g}{loop}")


def _usual(results: Results, cell: Cell) -> bool:
	"""lfpool as one would use it: magazines of one object are there to measure the depot."""
	return results.group(cell.subject) == "lfpool" and cell.subject != "lfpool-depot"


def _memory(results: Results) -> Check:
	"""`bytes_per_object` is what the subject takes for an object, the object included."""
	most = 8 + 4096 * MEMORY_CACHES / MEMORY_OBJECTS
	side: dict[str, float] = {}
	for cell in results.cells.values():
		if cell.workload == "memory" and _usual(results, cell) and cell.has("bytes_per_object"):
			side[f"{cell.subject}, {cell.bytes} bytes"] = cell.median("bytes_per_object") - cell.bytes
	if not side:
		return Check(None, "memory was not measured", False)
	if min(side.values()) < 0:
		return Check(None, "bytes_per_object is less than the object: the figure is not understood", False)
	worst = max(side, key=lambda name: side[name])
	return Check(side[worst] <= most, f"at most {text.number(side[worst])} bytes ({worst})")


def _once(results: Results, workload: str, key: str, below: float, threads: int | None = None) -> Check:
	"""A figure of every lfpool variant that has it is below."""
	found = {cell.subject: cell.median(key) for cell in results.cells.values() if cell.workload == workload
		and cell.bytes == BYTES and _usual(results, cell) and cell.has(key)
		and (threads is None or cell.threads == threads)}
	if not found:
		return Check(None, f"{workload} was not measured", False)
	worst = max(found, key=lambda name: found[name])
	return Check(found[worst] < below, f"at most {text.time(found[worst])} ({worst})")


def _evicting(results: Results, rival: str, factor: float, threads: tuple[int, ...]) -> Check:
	"""The evicting pool's median is below `factor` times the rival's, in every case."""
	found: dict[str, tuple[float, str]] = {}
	for case in evicting.ALL_CASES:
		for count in threads:
			mine, other = (results.cell(case.workload, evicting.BYTES, name, count) for name in (EVICTING, rival))
			if mine and other:
				noise = ", within the noise" if overlap(mine, other, evicting.FIGURE) else ""
				found[f"{case.workload} on {text.plural(count, 'thread')}"] = (mine.median() / other.median(), noise)
	wanted = len(evicting.ALL_CASES) * len(threads)
	if not found:
		return Check(None, f"{EVICTING} beside {rival} was not measured", False)
	worst = max(found, key=lambda name: found[name][0])
	ratio, noise = found[worst]
	held = sum(value < factor for value, _ in found.values())
	return Check(ratio < factor, f"{text.ratio(min(found.values())[0])} to {text.ratio(ratio)} x {rival}, most in {worst}"
		f"{noise}; below {factor:g} x in {held} of {len(found)} cases"
		+ (f" (not measured: {wanted - len(found)})" if len(found) < wanted else ""), len(found) == wanted)


def _deferring(results: Results, subject: str, rival: str) -> list[Check]:
	"""Ahead in both workloads, for who updates and until all is free, on each number of threads."""
	return [_ahead(results, workload, subject, lambda name: name == rival, retiring.THREADS[workload], key)
		for workload in retiring.WORKLOADS for key in (None, "settled_ns")]


def _bounded(results: Results, subject: str) -> Check:
	"""As a pool of that capacity takes when all of it is in use: the objects, and less than a third beside them."""
	cell = results.cell("backlog-bounded", retiring.BYTES, subject, 2, "most_resident_bytes")
	if not cell:
		return Check(None, f"backlog-bounded: {subject} was not measured", False)
	most, objects = max(cell.values("most_resident_bytes")), retiring.BOUNDED_OBJECTS * retiring.BYTES
	return Check(most < objects * 4 / 3, f"{subject}: {text.number(most / 2**20)} MiB, {text.ratio(most / objects)} x its"
		" objects")


def evaluate(results: Results, instructions: dict) -> list[Verdict]:
	def peer(name: str) -> bool:
		return results.is_peer(name)

	def allocator(name: str) -> bool:
		"""Called, as lfpool-thread is."""
		return results.group(name) == "allocator" and not name.endswith(("-inlined", "-thread"))

	tracked = [1, 2, 4, 8]
	# The threads that rest in `exhausted` have the 16 caches; the fewest that ask at once are the plain case.
	asking = min(results.threads(workload="exhausted", bytes=BYTES), default=None)
	return [
		_verdict("W1-tracked", "pair, lfpool-inlined: at most 2 x limit on 1, 2, 4, 8 threads, and ahead of every peer",
			_at_most(results, "pair", DEFAULT, 2, tracked), _ahead(results, "pair", DEFAULT, peer, tracked)),
		_verdict("W1-library", "pair, lfpool-thread: ahead of every allocator on every number of threads",
			_ahead(results, "pair", LIBRARY, allocator)),
		_verdict("W2", "burst-256-lifo, burst-4096-lifo: ahead of every peer, at most 1.5 x limit",
			*(check for workload in ("burst-256-lifo", "burst-4096-lifo") for check in (
				_at_most(results, workload, DEFAULT, 1.5), _ahead(results, workload, DEFAULT, peer)))),
		_verdict("W3", "handoff-1-1: ahead of every peer on 2, 4, 8 threads",
			_ahead(results, "handoff-1-1", DEFAULT, peer, [2, 4, 8])),
		_verdict("W4", "larson: ahead of every peer, at most 1.3 x limit",
			_at_most(results, "larson", DEFAULT, 1.3), _ahead(results, "larson", DEFAULT, peer)),
		_verdict("MUTEX", "pair: 10 x ahead of mutex on one thread, 50 x on two or more",
			_faster(results, "mutex", 10, 50)),
		_verdict("INSTR", "at most 50 instructions per hot pair, 46 typed, the loop included",
			_instructions(instructions, DEFAULT, 50), _instructions(instructions, "lfpool-typed", 46)),
		_verdict("MEMORY", "at most 8 bytes of side memory per object, and 4 KiB per cache", _memory(results)),
		_verdict("CREATE", "creation with capacity 10,000,000 in less than 2 ms",
			_once(results, "create-10000000", "create_ns", 2e6)),
		_verdict("EXHAUSTED", "an acquire that says NULL in less than 200 ns, with 16 caches",
			_once(results, "exhausted", "acquire_ns", 200, asking)),
		_verdict("EVICT-MUTEX", "evict-*: ahead of one mutex around a heap, on two threads or more, at every size",
			_evicting(results, "heap-mutex", 1, evicting.THREADS[1:])),
		_verdict("EVICT-FLOOR", "evict-*: less than 2 x a heap without synchronisation, on one thread",
			_evicting(results, "heap-unlocked", 2, evicting.THREADS[:1])),
		_verdict("RETIRE-CALL-RCU", "retire, retire-read: lfpool-rcu ahead of malloc and call_rcu(), on 1, 2, 4, 8"
			" updaters, also until all is free", *_deferring(results, RETIRING, "call-rcu-malloc")),
		_verdict("RETIRE-MUTEX", "the same: ahead of a pool with a mutex and call_rcu()",
			*_deferring(results, RETIRING, "call-rcu-mutex")),
		_verdict("RETIRE-EPOCH", "the same: lfpool-epoch ahead of malloc and ck_epoch_call()",
			*_deferring(results, EPOCH, "ck-epoch-malloc")),
		_verdict("RETIRE-BOUND", "backlog-bounded: memory grows by less than 4/3 of the pool's objects",
			_bounded(results, RETIRING), _bounded(results, EPOCH)),
	]
