# SPDX-License-Identifier: MIT
"""tables.py - the figures, in tables.

Idea         Medians over the rounds; one column says how far the rounds lay apart.  Rows come by group, and by speed
             within a group.  Bold is the best of lfpool and its peers, not of `limit` and `ring`, which are no pools.
"""
from __future__ import annotations

import math
from typing import Callable

from . import text
from .results import DEFAULT, GROUPS, Cell, Figure, Results, figures_of, natural

OWN_SECTION = ("latency", "memory", "exhausted", "retire", "retire-read")  # and create-*, evict-*, backlog-*
MEMORY_COLUMNS = (("in use", "bytes_per_object"), ("released", "resident_bytes_per_object_released"),
	("threads ended", "resident_bytes_per_object_finished"), ("pool closed", "resident_bytes_per_object_closed"))
PERCENTILES = ("50", "90", "99", "99.9", "99.99")


def is_comparison(workload: str) -> bool:
	"""Is it shown as subjects x threads in ns per pair?"""
	return workload not in OWN_SECTION and not workload.startswith(("create-", "evict-", "backlog-"))


def by_group(results: Results, names: list[str], value: Callable[[str], float]) -> list[str]:
	def rank(name: str) -> tuple:
		group = results.group(name)
		return (GROUPS.index(group) if group in GROUPS else len(GROUPS), value(name), name)
	return sorted(names, key=rank)


def with_group(results: Results, names: list[str], cells: Callable[[str], list[str]]) -> list[list[str]]:
	"""Rows; the group is named where it begins."""
	rows, last = [], None
	for name in names:
		group = results.group(name)
		rows.append([group if group != last else "", name, *cells(name)])
		last = group
	return rows


def _mean(values: list[float]) -> float:
	"""Geometric; of figures that may be zero."""
	return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values)) if values else math.inf


class Comparison:
	"""One workload at one size: subjects x threads."""

	def __init__(self, results: Results, workload: str, bytes: int, figure: Figure | None = None):
		self.results, self.workload, self.bytes = results, workload, bytes
		self.figure = figure or figures_of(workload)[0]
		self.threads = results.threads(workload=workload, bytes=bytes)
		names = results.names(workload=workload, bytes=bytes)
		self.names = by_group(results, [name for name in names if self.values(name)], lambda name: _mean(
			list(self.values(name).values())))
		self.best = {count: self._least(count, lambda name: results.group(name) != "limit") for count in self.threads}
		self.best_peer = {count: self._least(count, results.is_peer) for count in self.threads}

	def cell(self, name: str, threads: int) -> Cell | None:
		return self.results.cell(self.workload, self.bytes, name, threads, self.figure.key)

	def values(self, name: str) -> dict[int, float]:
		cells = {count: self.cell(name, count) for count in self.threads}
		return {count: cell.median(self.figure.key) for count, cell in cells.items() if cell}

	def _least(self, threads: int, wanted: Callable[[str], bool]) -> float | None:
		values = [self.values(name).get(threads) for name in self.names if wanted(name)]
		return min((value for value in values if value is not None), default=None)

	def ratios(self, name: str, reference: dict) -> str:
		return text.span(value / reference[count] for count, value in self.values(name).items() if reference.get(count))

	def spread(self, name: str) -> str:
		spreads = [cell.spread() for cell in (self.cell(name, count) for count in self.threads) if cell]
		return text.percent(max((spread for spread in spreads if spread is not None), default=None))

	def shown(self, name: str, threads: int, ring: dict[int, float]) -> str:
		value = self.values(name).get(threads)
		if value is None:
			return ""
		figure = text.number(value)
		if self.results.group(name) != "limit":
			figure = f"**{figure}**" if figure == text.number(self.best[threads] or 0) else figure
			figure += f" ({text.number(value - ring[threads])})" if threads in ring else ""
		return figure

	def lines(self) -> list[str]:
		limit, ring = self.values("limit"), self.values("ring")
		header = ["", "", *(f"{text.plural(count, 'thread')}" for count in self.threads)]
		header += (["x limit"] if limit else []) + ["x best peer", "spread"]

		def row(name: str) -> list[str]:
			figures = [self.shown(name, count, ring) for count in self.threads]
			relations = [self.ratios(name, limit)] if limit else []
			peer = self.ratios(name, self.best_peer) if self.results.group(name) != "limit" else ""
			return [*figures, *relations, peer, self.spread(name)]

		return text.table(header, with_group(self.results, self.names, row), 2)


def comparison(results: Results, workload: str, bytes: int) -> list[str]:
	lines = Comparison(results, workload, bytes).lines()
	if workload.startswith("handoff"):
		return [*lines, *text.paragraph("In parentheses: less what the ring alone takes.")]
	return lines


def best_threads(threads: list[int]) -> int:
	return 2 if 2 in threads else threads[-1]


# ---- Those with a form of their own ----


def latency(results: Results) -> list[str]:
	lines: list[str] = []
	bytes = results.main_bytes("latency")
	threads = results.threads(workload="latency", bytes=bytes)
	names = results.names(workload="latency", bytes=bytes)
	first = best_threads(threads)
	for count in sorted(threads, key=lambda count: (count != first, count)):
		part: list[str] = []
		for call in ("acquire", "release"):
			part += [f"{call.capitalize()}, {text.plural(count, 'thread')}, ns:", ""]
			part += _percentiles(results, bytes, names, count, call)
		lines += part if count == first else text.details(f"On {text.plural(count, 'thread')}", part)
	clocks = [cell.median("clock_ns") for cell in results.cells.values() if cell.has("clock_ns")]
	if clocks:
		lines += text.paragraph(f"Each figure contains reading the clock twice, which takes"
			f" {text.span(clocks, text.number)}"
			" ns (median over the subjects' processes).")
	return lines


def _percentiles(results: Results, bytes: int, names: list[str], threads: int, call: str) -> list[str]:
	keys = [f"{call}_ns_p{percentile}" for percentile in PERCENTILES] + [f"{call}_ns_max"]
	cells = {name: cell for name in names if (cell := results.cell("latency", bytes, name, threads, keys[0]))}
	pools = {name: cell for name, cell in cells.items() if results.group(name) != "limit"}
	best = {key: min((cell.median(key) for cell in pools.values() if cell.has(key)), default=None) for key in keys}

	def row(name: str) -> list[str]:
		shown = []
		for key in keys:
			value = cells[name].median(key) if cells[name].has(key) else None
			figure = "" if value is None else text.number(value)
			ahead = name in pools and best[key] is not None and figure == text.number(best[key])
			shown.append(f"**{figure}**" if ahead else figure)
		return shown

	ordered = by_group(results, list(cells), lambda name: cells[name].median(keys[0]))
	return text.table(["", "", *(f"p{percentile}" for percentile in PERCENTILES), "max"],
		with_group(results, ordered, row), 2)


def matrix(results: Results, columns: list[tuple[str, Callable[[str], float | None]]], show) -> list[str]:
	"""Subjects x columns; the first column decides the order."""
	names = [name for name in results.names() if any(value(name) is not None for _, value in columns)]

	def order(name: str) -> float:
		return next((value for value in (column(name) for _, column in columns) if value is not None), math.inf)

	def row(name: str) -> list[str]:
		return ["" if value is None else show(value) for value in (column(name) for _, column in columns)]

	ordered = by_group(results, names, order)
	return text.table(["", "", *(title for title, _ in columns)], with_group(results, ordered, row), 2)


def _median_of(results: Results, workload: str, bytes: int, key: str) -> Callable[[str], float | None]:
	"""Of the fewest threads there are."""
	def value(name: str) -> float | None:
		for threads in results.threads(workload=workload, bytes=bytes, subject=name):
			cell = results.cell(workload, bytes, name, threads, key)
			if cell:
				return cell.median(key)
		return None
	return value


def memory(results: Results) -> list[str]:
	lines: list[str] = []
	main = results.main_bytes("memory")
	for bytes in sorted(results.sizes(workload="memory"), key=lambda size: (size != main, size)):
		columns = [(title, _median_of(results, "memory", bytes, key)) for title, key in MEMORY_COLUMNS
			if any(cell.workload == "memory" and cell.has(key) for cell in results.cells.values())]
		part = matrix(results, columns, text.number)
		lines += part if bytes == main else text.details(f"{bytes}-byte objects", part)
	return lines


def creation(results: Results) -> list[str]:
	names = sorted((name for name in results.workload_names() if name.startswith("create-")), key=natural)
	columns = []
	for what, key in (("create", "create_ns"), ("destroy", "destroy_ns")):
		for name in names:
			capacity = f"{int(name.split('-')[1]):,}"
			columns.append((f"{what} {capacity}", _median_of(results, name, results.main_bytes(name), key)))
	return matrix(results, columns, text.time)


def fairness(results: Results) -> list[str]:
	"""The worst over the thread counts, for each workload in which threads can be unfair to each other."""
	workloads = [name for name in results.workload_names()
		if is_comparison(name) and results.threads(workload=name)[-1] > 1]

	def worst(workload: str) -> Callable[[str], float | None]:
		def value(subject: str) -> float | None:
			cells = (results.cell(workload, results.main_bytes(workload), subject, threads, "fairness")
				for threads in results.threads(workload=workload) if threads > 1)
			return max((cell.median("fairness") for cell in cells if cell), default=None)
		return value

	chosen = [name for name in ("pair", "burst-256-lifo", "handoff-1-1", "handoff-1-n", "handoff-n-1", "larson", "jobs")
		if name in workloads] or workloads[:6]
	return matrix(results, [(name, worst(name)) for name in chosen], text.number)


def counters(results: Results) -> list[str]:
	"""Misses and retries of the default variant: workloads x threads."""
	def shown(cell: Cell | None) -> str:
		if not cell:
			return ""
		retries = text.number(cell.median("retries_per_pair")) if cell.has("retries_per_pair") else "?"
		return f"{text.number(cell.median('misses_per_pair'))} / {retries}"

	rows, threads = [], results.threads(subject=DEFAULT)
	header = ["misses / retries per pair", *(text.plural(count, "thread") for count in threads)]
	for workload in results.workload_names():
		cells = {count: results.cell(workload, results.main_bytes(workload), DEFAULT, count, "misses_per_pair")
			for count in threads}
		if any(cells.values()):
			rows.append([workload, *map(shown, cells.values())])
	return text.table(header, rows) if rows else []


def instructions(counts: dict, results: Results) -> list[str]:
	workloads = list(counts)
	names = {name for workload in workloads for name in counts[workload]}
	first = counts[workloads[0]]
	ordered = by_group(results, sorted(names), lambda name: first.get(name, math.inf))

	def row(name: str) -> list[str]:
		return [f"{counts[workload][name]:.1f}" if name in counts[workload] else "" for workload in workloads]
	return text.table(["", "", *workloads], with_group(results, ordered, row), 2)
