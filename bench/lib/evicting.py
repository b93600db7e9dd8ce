# SPDX-License-Identifier: MIT
"""evicting.py - the evicting pool beside what people do today: which cases there are, and their tables.

Idea         A workload evict-P-N is P acquires in 100 operations, in a full pool of N objects.  There is one table for each
             P, a part of it for each N.  Everything is related to lfpool: its figure alone has no ratio.
"""
from __future__ import annotations

import re
from dataclasses import dataclass

from . import text
from .results import EVICTING, Cell, Results, natural
from .tables import by_group

BYTES = 64
SHARES, CAPACITIES, THREADS = (5, 50, 100), (32, 1024, 65536), (1, 2, 4, 8, 16)
NAME = re.compile(r"evict-(\d+)-(\d+)")
FIGURE = "ns_per_operation"
LOOP = "loop-alone"  # which is contained in all others


@dataclass(frozen=True)
class Case:
	share: int  # of acquires, of 100 operations
	capacity: int

	@property
	def workload(self) -> str:
		return f"evict-{self.share}-{self.capacity}"


ALL_CASES = [Case(share, capacity) for share in SHARES for capacity in CAPACITIES]


def cases(results: Results) -> list[Case]:
	"""Those that were measured."""
	found = (NAME.fullmatch(name) for name in sorted(results.workload_names(), key=natural))
	return [Case(int(match[1]), int(match[2])) for match in found if match]


def cells(results: Results, case: Case, subject: str) -> dict[int, Cell]:
	"""By the number of threads."""
	found = {threads: results.cell(case.workload, BYTES, subject, threads)
		for threads in results.threads(workload=case.workload)}
	return {threads: cell for threads, cell in found.items() if cell}


def tables(results: Results) -> list[str]:
	lines: list[str] = []
	measured = cases(results)
	for share in dict.fromkeys(case.share for case in measured):
		of = [case for case in measured if case.share == share]
		others = "all" if share == 100 else f"{share} of 100"
		lines += [f"### {text.sentence(others)} operations acquire", "", *_table(results, of)]
	return lines


def _table(results: Results, of: list[Case]) -> list[str]:
	threads = sorted({count for case in of for count in results.threads(workload=case.workload)})
	header = ["objects", "", *(text.plural(count, "thread") for count in threads), "refused", "stale", "spread"]
	rows = []
	for case in of:
		names = by_group(results, results.names(workload=case.workload), lambda name: 0)
		for number, name in enumerate(names):
			rows.append([f"{case.capacity:,}" if number == 0 else "", name, *_row(results, case, name, threads)])
	return text.table(header, rows, 2)


def _row(results: Results, case: Case, name: str, threads: list[int]) -> list[str]:
	own = cells(results, case, name)
	shown = [_figure(results, case, name, count) for count in threads]
	spreads = [spread for spread in (cell.spread() for cell in own.values()) if spread is not None]
	return [*shown, _share(own, "refused"), _share(own, "stale"), text.percent(max(spreads, default=None))]


def _figure(results: Results, case: Case, name: str, threads: int) -> str:
	"""Bold: the best of those that several threads can share."""
	cell = results.cell(case.workload, BYTES, name, threads)
	if not cell:
		return ""
	shared = [other for other in (results.cell(case.workload, BYTES, subject, threads)
		for subject in results.names(workload=case.workload) if results.group(subject) != "limit") if other]
	best = min((other.median() for other in shared), default=None)
	figure = text.number(cell.median())
	if results.group(name) != "limit" and best is not None and figure == text.number(best):
		figure = f"**{figure}**"
	mine = results.cell(case.workload, BYTES, EVICTING, threads)
	return figure if name in (EVICTING, LOOP) or not mine else f"{figure} ({text.ratio(cell.median() / mine.median())})"


def _share(own: dict[int, Cell], key: str) -> str:
	"""The greatest over the numbers of threads."""
	found = [cell.median(key) for cell in own.values() if cell.has(key)]
	return f"{100 * max(found):.2f} %" if found else ""
