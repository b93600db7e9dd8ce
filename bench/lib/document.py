# SPDX-License-Identifier: MIT
"""document.py - docs/performance.md: what was asked and whether it was reached, where lfpool loses and why, on what
machine, and how to measure it again.  The figures lie beside it: figures.py."""
from __future__ import annotations

import os
from dataclasses import dataclass, field

from . import goals, losses, text
from .explanations import Explanations
from .losses import Loss, Tally
from .results import EPOCH, EVICTING, INLINED, LIBRARY, RETIRING, Cell, Results, noise

SHOWN = 10  # rows of losses for each subject
BUSY = 0.05  # of the processors' time, taken by other programs
USERS = {INLINED: "a program that can include lfpool/inline.h", LIBRARY: "a program that calls the library",
	EVICTING: "a pool that evicts", RETIRING: "readers that use RCU", EPOCH: "readers that use epochs"}
FILES = {
	"pairs": "ns per pair of acquire and release, of all peers in all workloads; how unequally threads were served; lfpool's"
		" misses and retries per pair",
	"latency": "percentiles of single calls in ns, reading the clock included", "memory": "resident bytes per object, the object"
	" included: in use, released, its threads ended, the pool closed", "creation": "creating and destroying a pool",
	"exhausted": "an acquire that says NULL", "evicting": "a full pool that evicts: ns per operation; the greatest shares of"
	" refused acquires and stale updates", "retire": "deferred release: ns per update, until all is free, of processor time",
	"backlog": "deferred release: what is in flight at most, and its memory", "instructions": "for one pair, by callgrind",
	"losses": "every figure in which lfpool is not ahead of every peer", "subjects": "what was compared, and what was not measured",
	"machine": "where it was measured",
}
METHOD = (
	"A figure is the median of {rounds}; a range is from the least to the greatest. In a round each cell is measured once, in a"
	" process that was just started. Subjects that are compared are measured within seconds of each other, in shuffled order"
	" (seed {seed}).",
	"**ns per pair** is elapsed time x min(threads, processors) / pairs: the processor time that there was for each. In the"
	" hand-off it contains all threads and the rings. ns per operation and per update are the same of pools that evict and of"
	" deferred release.",
	"All subjects run the same loops, compiled once for each, so that what can be inlined is inlined. Each object is written to."
	" The [README of bench](../bench/README.md) says what the workloads are and what makes them fair.",
	"Threads: {pinning}.",
)
PINNING = "each is pinned to a processor of its own if there are enough; otherwise the scheduler places them"


def quiet(results: Results) -> str:
	others, where = results.method.get("others"), results.machine
	if others is None:
		busy, said = where.get("load_average", 0) > 0.5 * where.get("cores", 1), f"load average {where.get('load_average', '?')}"
	else:
		busy, said = others > BUSY, f"other programs took {text.number(100 * others)} % of the processors"
	return ("BUSY, so the figures are no good" if busy else "quiet") + f" ({said})"


def facts(results: Results) -> list[tuple[str, str]]:
	where, method = results.machine, results.method
	yes_no = {True: "yes", False: "no"}
	found = [
		("processor", where.get("cpu")), ("cores", where.get("cores")), ("NUMA nodes", where.get("numa_nodes")), ("two threads per core", yes_no.get(where.get("smt"))),
		("caches", "; ".join(where.get("caches", []))),
		("memory", f"{where['memory_mib'] / 1024:.1f} GiB" if "memory_mib" in where else None),
		("virtual machine", yes_no.get(where.get("virtual"))),
		("transparent huge pages", where.get("transparent_hugepages")), ("kernel", where.get("kernel")),
		("C library", where.get("c_library")), ("compiler", method.get("compiler")), ("build", method.get("build")),
		("library", where.get("library")), ("date", where.get("date", "")[:10]), ("rounds", method.get("rounds")),
		("quiet", quiet(results)),
	]
	return [(name, str(value)) for name, value in found if value not in (None, "")]


def ranged(cell: Cell, key: str) -> str:
	values = cell.values(key)
	return f"{text.number(cell.median(key))} ({text.number(min(values))} to {text.number(max(values))})"


@dataclass
class Document:
	results: Results
	instructions: dict
	explanations: Explanations
	command: str  # that made it
	pictures: list[tuple[str, str]] = field(default_factory=list)  # where, relative to the document; what it shows
	tables: list[str] = field(default_factory=list)  # the CSV files, relative to the document

	def __post_init__(self) -> None:
		self.verdicts = goals.evaluate(self.results, self.instructions)
		self.tallies = {subject: losses.compare(self.results, subject) for subject in USERS}

	def lost(self) -> list[tuple[Loss, str]]:
		"""Each with the key of its explanation, or nothing."""
		return [(loss, self.reason(loss) or "") for tally in self.tallies.values() for loss in tally.losses]

	def reason(self, loss: Loss) -> str | None:
		return self.explanations.key_of_case(loss.mine.workload, loss.mine.bytes, loss.mine.threads)

	# ---- Sections ----

	def made(self) -> list[str]:
		where = self.results.machine
		return [f"<!-- Made by {self.command} - do not edit. -->", "", *text.paragraph(
			f"Measured by `bench/run` on {where.get('date', 'an unknown date')[:10]} with lfpool"
			f" {where.get('library', 'of unknown version')} on {where.get('cpu', 'an unknown processor')},"
			f" {text.plural(where.get('cores', 0), 'core')}. The machine was **{quiet(self.results)}**. The reasons are"
			" those of `bench/explanations.md`.")]

	def goals(self) -> list[str]:
		rows = [[verdict.id, verdict.asks, f"**{verdict.state}**" if verdict.state == goals.NOT_MET else verdict.state,
			"<br>".join(verdict.figures)] for verdict in self.verdicts]
		return text.table(["goal", "asks for", "", "measured"], rows, 4)

	def reasons(self, used: list[str]) -> list[str]:
		"""Of the goals that are missed, and of the cases in `used`."""
		lines, missed = [], [verdict.id for verdict in self.verdicts if verdict.state == goals.NOT_MET]
		for key in dict.fromkeys([*(self.explanations.first.get(id, id) for id in missed), *used]):
			also = [id for id in missed if self.explanations.first.get(id) == key and id != key]
			lines += text.paragraph(f"**{', '.join([key, *also])}**: {self.explanations.texts.get(key, 'not explained.')}")
		return lines

	def losses(self) -> list[str]:
		lines = text.paragraph("A cell is a workload, an object size and a number of threads. lfpool loses it if its median is not"
			" below that of every peer. Where the ranges of the rounds overlap, or the medians are less than half a percent"
			" apart, that is within the noise. A row has the worst cell of a workload, in ns where nothing else is said,"
			" and the ranges of the rounds; `losses.csv` has all cells. Calls are compared with calls.")
		used: list[str] = []
		for subject, tally in self.tallies.items():
			lines += self.lost_by(subject, tally, used)
		return [*lines, "### Why", "", *self.reasons(used)]

	def lost_by(self, subject: str, tally: Tally, used: list[str]) -> list[str]:
		"""Adds to `used` the explanations that the table refers to."""
		if not tally.compared:
			return [f"### {subject}: {USERS[subject]}", "", "Not measured beside a peer.", ""]
		behind: dict[str, list[Loss]] = {}
		for loss in tally.behind:
			behind.setdefault(loss.mine.workload, []).append(loss)
		rows = [self.row(of[0], len(of), used) for of in list(behind.values())[:SHOWN]]
		more = f" The {SHOWN} greatest of {len(behind)} workloads:" if len(behind) > SHOWN else ""
		lines = [f"### {subject}: {USERS[subject]}", "", *text.paragraph(
			f"{text.plural(tally.compared, 'figure')} compared: ahead of every peer in {tally.ahead} (of them"
			f" {tally.ahead_within_noise} within the noise of some peer), behind in {len(tally.losses)} (of them"
			f" {len(tally.losses) - len(tally.behind)} within the noise).{more}")]
		return lines + (text.table(["workload", "cells", "bytes, threads", "lfpool", "best peer", "ratio", "why"], rows)
			if rows else [])

	def row(self, worst: Loss, cells: int, used: list[str]) -> list[str]:
		mine, key, reason = worst.mine, worst.figure.key, self.reason(worst)
		used += [reason] if reason else []
		what = f": {worst.figure.what}" if worst.figure.what else ""
		return [mine.workload + what, str(cells), f"{mine.bytes}, {mine.threads}", ranged(mine, key),
			f"{worst.best.subject} {ranged(worst.best, key)}", text.ratio(worst.ratio),
			f"see {reason}" if reason else "not explained"]

	def machine(self) -> list[str]:
		lines = text.table(["", ""], [list(fact) for fact in facts(self.results)], 2)
		if not str(self.results.method.get("build", "optimised")).startswith("optimised"):
			lines += text.paragraph(f"**The program was {self.results.method['build']}.**")
		if self.results.skipped:
			lines += text.paragraph("Not measured: " + "; ".join(f"{name} ({why})" for name, why in sorted(self.results.skipped.items()))
				+ ".")
		return lines

	def method(self) -> list[str]:
		method = self.results.method
		rounds, asked = method.get("rounds", 1), method.get("rounds_asked", 0)
		counted = text.plural(rounds, "round") + (f" ({asked} were asked for)" if asked > rounds else "")
		said = {"rounds": counted, "seed": method.get("seed", "?"), "pinning": method.get("pinning", PINNING)}
		return [*text.bullets(item.format(**said) for item in METHOD), *text.paragraph(self.noise())]

	def noise(self) -> str:
		spreads = noise(list(self.results.cells.values()))
		if not spreads:
			return "**With a single round nothing can be said about noise.**"
		every = {name: text.percent(value) for name, value in spreads["all_cells"].items()}
		limit = [f"{text.percent(cell['spread'])} on {cell['threads']}" for cell in spreads["limit_in_pair"] if cell["bytes"] == 64]
		return (f"**Noise**, (greatest - least) / median over the rounds: {every['median']} in the median cell, {every['p90']} in"
			f" one of ten, {every['greatest']} in the worst." + (" Of limit in pair, which only the machine can disturb:"
			f" {text.listing(limit)} threads." if limit else ""))

	def again(self) -> list[str]:
		full = " --full" if self.results.method.get("mode") == "full" else ""
		return text.paragraph(f"`scripts/bench{full}` installs what is missing, builds, measures, and makes this document, its"
			" pictures and its tables. The order of the processes can be had again by `bench/run --seed"
			f" {self.results.method.get('seed', 'N')}`, the figures cannot.")

	def files(self) -> list[str]:
		named = {os.path.splitext(os.path.basename(path))[0]: path for path in self.tables}
		return text.bullets(f"[{os.path.basename(path)}]({path}): {FILES[name]}" for name, path in named.items())

	def whole(self) -> str:
		lines = ["# Performance", "", *self.made(), "## Goals", "", *self.goals()]
		lines += ["## Where lfpool loses", "", *self.losses()]
		lines += ["## Figures", "", *self.files()]
		lines += [line for path, what in self.pictures for line in (f"![{what}]({path})", "")]
		lines += ["## The machine", "", *self.machine(), "## How it was measured", "", *self.method()]
		return "\n".join([*lines, "## Do it again", "", *self.again()]).rstrip("\n") + "\n"
