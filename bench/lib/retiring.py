# SPDX-License-Identifier: MIT
"""retiring.py - deferred release beside what people do today: its tables.

Idea         Two workloads, with updates alone and with as many readers as updaters, each in three figures: what who updates
             sees, the same until all is free, and processor time.  Then what is in flight, by the rate of updates.
"""
from __future__ import annotations

from . import text
from .results import EPOCH, EPOCH_PEERS, RETIRING, Cell, Results, natural
from .tables import by_group

BYTES = 64
UPDATING, READING = "retire", "retire-read"
WORKLOADS = (UPDATING, READING)
# Of both, updaters and all threads: as many readers as updaters.
THREADS = {UPDATING: [1, 2, 4, 8], READING: [2, 4, 8, 16]}
FIGURES = (("ns_per_update", "ns per update"), ("settled_ns", "ns per update, until all is free"),
	("cpu_ns", "ns of processor time per update, of all threads"))
BACKLOG = "backlog-"
FLIGHT = "most_objects"
# The capacity in backlog-bounded, bench/retire/backlog.h: the table's nodes, and those that can be in flight.
BOUNDED_OBJECTS = 1024 + 16384


def there(results: Results) -> bool:
	return any(name in WORKLOADS or name.startswith(BACKLOG) for name in results.workload_names())


def base_of(name: str) -> str:
	"""Whose figure this subject's is divided by."""
	return EPOCH if name in (EPOCH, *EPOCH_PEERS) else RETIRING


def cells(results: Results, workload: str, subject: str) -> dict[int, Cell]:
	"""By the number of threads."""
	found = {threads: results.cell(workload, BYTES, subject, threads) for threads in results.threads(workload=workload)}
	return {threads: cell for threads, cell in found.items() if cell}


def tables(results: Results) -> list[str]:
	lines: list[str] = []
	for workload in (name for name in WORKLOADS if name in results.workload_names()):
		what = "updates alone" if workload == UPDATING else "as many readers as updaters"
		lines += [f"### {text.sentence(what)}", ""]
		for key, unit in FIGURES:
			if key == "cpu_ns" and workload == READING:
				continue  # who reads does so all the time
			lines += [f"{text.sentence(unit)}:", "", *_table(results, workload, key)]
	flight = _flight(results)
	return lines + (["### In flight", "", *flight] if flight else [])


def _table(results: Results, workload: str, key: str) -> list[str]:
	threads = results.threads(workload=workload)
	header = ["", *(f"{count // 2} + {count // 2}" if workload == READING else text.plural(count, "thread")
		for count in threads), "spread", "waits", *(["sections"] if workload == READING else [])]
	names = by_group(results, results.names(workload=workload), lambda name: 0)
	rows = []
	for name in names:
		own = cells(results, workload, name)
		spreads = [spread for spread in (cell.spread() for cell in own.values()) if spread is not None]
		waits = [cell.median("waits") for cell in own.values() if cell.has("waits")]
		rows.append([name, *(_figure(results, workload, name, count, key) for count in threads),
			text.percent(max(spreads, default=None)), f"{100 * max(waits):.2f} %" if waits else "",
			*([text.span((cell.median("sections") for cell in own.values() if cell.has("sections")), text.number)]
				if workload == READING else [])])
	return text.table(header, rows)


def _figure(results: Results, workload: str, name: str, threads: int, key: str) -> str:
	"""Bold: the best of those that defer."""
	cell = results.cell(workload, BYTES, name, threads, key)
	if not cell:
		return ""
	others = [other for other in (results.cell(workload, BYTES, subject, threads, key)
		for subject in results.names(workload=workload) if results.group(subject) != "limit") if other]
	best = min((other.median(key) for other in others), default=None)
	figure = text.number(cell.median(key))
	if results.group(name) != "limit" and best is not None and figure == text.number(best):
		figure = f"**{figure}**"
	base = results.cell(workload, BYTES, base_of(name), threads, key)
	return figure if name == base_of(name) or not base else f"{figure} ({text.ratio(cell.median(key) / base.median(key))})"


def backlogs(results: Results) -> list[str]:
	"""Those that were measured, by rate."""
	rates = sorted((name for name in results.workload_names() if name.startswith(BACKLOG)), key=natural)
	order = {f"{BACKLOG}{what}": number for number, what in enumerate(("unlimited", "stalled", "bounded"))}
	return sorted(rates, key=lambda name: order.get(name, -1))


def _flight(results: Results) -> list[str]:
	rows = []
	for workload in backlogs(results):
		names = by_group(results, results.names(workload=workload), lambda name: 0)
		for number, name in enumerate(names):
			cell = next(iter(cells(results, workload, name).values()))
			rows.append([_rate(workload) if number == 0 else "", name, f"{cell.median('most_objects_early'):,.0f}",
				f"{cell.median(FLIGHT):,.0f}", text.number(cell.median("most_resident_bytes") / 2**20),
				text.number(cell.median("updates_per_second") / 1e6), f"{100 * cell.median('waits'):.2f} %"])
	header = ["", "", "objects, first half", "objects", "resident MiB", "million updates/s", "waits"]
	return text.table(header, rows, 2) if rows else []


def _rate(workload: str) -> str:
	what = workload.removeprefix(BACKLOG)
	return f"{int(what):,}/s" if what.isdigit() else what
