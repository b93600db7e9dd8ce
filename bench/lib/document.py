# SPDX-License-Identifier: MIT
"""document.py - docs/performance.md: bench/performance.in, filled in.  What was asked and whether it was reached, where
lfpool loses and why, on what machine, and how to measure it again.  The figures lie beside it: figures.py."""
from __future__ import annotations

import re
from dataclasses import dataclass

from . import goals, losses, text
from .explanations import Explanations
from .losses import Loss, Tally
from .results import EPOCH, EVICTING, INLINED, LIBRARY, RETIRING, Cell, Results, noise

SHOWN = 10  # rows of losses for each subject
BUSY = 0.05  # of the processors' time, taken by other programs
USERS = {INLINED: "a program that can include lfpool/inline.h", LIBRARY: "a program that calls the library",
	EVICTING: "a pool that evicts", RETIRING: "readers that use RCU", EPOCH: "readers that use epochs"}
PINNING = "each is pinned to a processor of its own if there are enough; otherwise the scheduler places them"


def quiet(results: Results) -> str:
	others, where = results.method.get("others"), results.machine
	if others is None:
		busy, said = where.get("load_average", 0) > 0.5 * where.get("cores", 1), f"load average {where.get('load_average', '?')}"
	else:
		busy, said = others > BUSY, f"other programs took {100 * others:.1f} % of the processors"
	return ("BUSY, so the figures are no good" if busy else "quiet") + f" ({said})"


def facts(results: Results) -> dict[str, str]:
	where, method = results.machine, results.method
	yes_no = {True: "yes", False: "no"}
	found = {
		"processor": where.get("cpu", "?"), "cores": where.get("cores", "?"), "NUMA nodes": where.get("numa_nodes"),
		"two threads per core": yes_no.get(where.get("smt")), "caches": "; ".join(where.get("caches", [])),
		"memory": f"{where['memory_mib'] / 1024:.1f} GiB" if "memory_mib" in where else None,
		"virtual machine": yes_no.get(where.get("virtual")), "transparent huge pages": where.get("transparent_hugepages"),
		"kernel": where.get("kernel"), "C library": where.get("c_library"), "compiler": method.get("compiler", "?"),
		"build": method.get("build"), "library": where.get("library", "?"), "date": where.get("date", "?")[:10],
		"rounds": method.get("rounds", "?"), "quiet": quiet(results),
	}
	return {name: str(value) for name, value in found.items() if value not in (None, "")}


def ranged(cell: Cell, key: str) -> str:
	values = cell.values(key)
	return f"{text.number(cell.median(key))} ({text.number(min(values))} to {text.number(max(values))})"


@dataclass
class Document:
	results: Results
	instructions: dict
	explanations: Explanations

	def __post_init__(self) -> None:
		self.verdicts = goals.evaluate(self.results, self.instructions)
		self.tallies = {subject: losses.compare(self.results, subject) for subject in USERS}
		self.used: dict[str, None] = {}  # the explanations that the tables refer to

	def lost(self) -> list[tuple[Loss, str]]:
		"""Each with the key of its explanation, or nothing."""
		return [(loss, self.reason(loss)) for tally in self.tallies.values() for loss in tally.losses]

	def reason(self, loss: Loss) -> str:
		return self.explanations.key_of_case(loss.mine.workload, loss.mine.bytes, loss.mine.threads) or ""

	def goals(self) -> list[str]:
		rows = [[verdict.id, verdict.asks, f"**{verdict.state}**" if verdict.state == goals.NOT_MET else verdict.state,
			"<br>".join(verdict.figures)] for verdict in self.verdicts]
		return text.table(["goal", "asks for", "", "measured"], rows, 4)

	def reasons(self) -> list[str]:
		"""Of the goals that are missed, and of the cases that are shown."""
		lines, missed = [], [verdict.id for verdict in self.verdicts if verdict.state == goals.NOT_MET]
		for key in dict.fromkeys([*(self.explanations.first.get(id, id) for id in missed), *self.used]):
			also = [id for id in missed if self.explanations.first.get(id) == key and id != key]
			lines += text.paragraph(f"**{', '.join([key, *also])}**: {self.explanations.texts.get(key, 'not explained.')}")
		return lines

	def lost_by(self, subject: str, tally: Tally) -> list[str]:
		behind: dict[str, list[Loss]] = {}
		for loss in tally.behind:
			behind.setdefault(loss.mine.workload, []).append(loss)
		more = f" The {SHOWN} greatest of {len(behind)} workloads:" if len(behind) > SHOWN else ""
		lines = [f"### {subject}: {USERS[subject]}", "", *text.paragraph(
			f"{text.plural(tally.ahead + len(tally.losses), 'figure')} compared: ahead of every peer in {tally.ahead} (of them"
			f" {tally.ahead_within_noise} within the noise of some peer), behind in {len(tally.losses)} (of them"
			f" {len(tally.losses) - len(tally.behind)} within the noise).{more}")]
		rows = [self.row(of[0], len(of)) for of in list(behind.values())[:SHOWN]]
		header = ["workload", "cells", "bytes, threads", "lfpool", "best peer", "ratio", "why"]
		return lines + (text.table(header, rows) if rows else [])

	def row(self, worst: Loss, cells: int) -> list[str]:
		mine, key, reason = worst.mine, worst.figure.key, self.reason(worst)
		self.used.update({reason: None} if reason else {})
		what = f": {worst.figure.what}" if worst.figure.what else ""
		return [mine.workload + what, str(cells), f"{mine.bytes}, {mine.threads}", ranged(mine, key),
			f"{worst.best.subject} {ranged(worst.best, key)}", text.ratio(worst.ratio),
			f"see {reason}" if reason else "not explained"]

	def skipped(self) -> list[str]:
		named = [f"{name} ({why})" for name, why in sorted(self.results.skipped.items())]
		return text.paragraph(f"Not measured: {'; '.join(named) or 'nothing'}.")

	def noise(self) -> str:
		spreads = noise(list(self.results.cells.values()))
		if not spreads:
			return "with a single round nothing can be said"
		every = [text.percent(spreads["all_cells"][name]) for name in ("median", "p90", "greatest")]
		limit = [f"{text.percent(cell['spread'])} on {cell['threads']}" for cell in spreads["limit_in_pair"] if cell["bytes"] == 64]
		return "{} in the median cell, {} in one of ten, {} in the worst".format(*every) + (
			f"; of limit in pair, which only the machine can disturb, {text.listing(limit)} threads" if limit else "")

	def whole(self, frame: str, folder: str, made: list[str], command: str) -> str:
		"""Of what lies in `folder`, only what was made is named."""
		parts = {"goals": self.goals(), "losses": [line for subject, tally in self.tallies.items()
			for line in self.lost_by(subject, tally)], "machine": text.table(["", ""], list(map(list, facts(self.results).items())), 2),
			"skipped": self.skipped()}
		parts["reasons"] = self.reasons()
		rounds, asked = self.results.method.get("rounds", 1), self.results.method.get("rounds_asked", 0)
		parts["rounds"] = [text.plural(rounds, "round") + (f" ({asked} were asked for)" if asked > rounds else "")]
		filled = frame.format(**facts(self.results) | {name: "\n".join(part) for name, part in parts.items()},
			noise=self.noise(), folder=folder, command=command, seed=self.results.method.get("seed", "N"),
			pinning=self.results.method.get("pinning", PINNING))
		lines = [line for line in filled.splitlines() if not (link := re.match(rf"[-!] ?\[.*\]\({folder}/(.*)\)", line))
			or link[1] in made]
		return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"
