# SPDX-License-Identifier: MIT
"""page.py - the generated blocks of docs/performance.md and README.md, each between two comments.  The text around them, and the
reasons for missed goals and losses, are written by hand and stay."""
from __future__ import annotations

import math
import re

from . import judge, text
from .judge import Loss, Tally, peers_of
from .results import BadResults, EPOCH, EVICTING, INLINED, LIBRARY, LISTS, RETIRING, Cell, Results, figures_of, shown_name

SHOWN = 10  # rows of losses for each subject
BUSY = 0.05  # of the processors' time, taken by other programs
USERS = {INLINED: "a program that can include lfpool/inline.h", LIBRARY: "a program that calls the library",
	EVICTING: "a pool that evicts", RETIRING: "readers that use RCU", EPOCH: "readers that use epochs"}
END = "<!-- the end of what bench/report made -->"


def put_into(path: str, blocks: dict[str, list[str]]) -> None:
	"""Fills the blocks for which the document has a place."""
	with open(path, encoding="utf-8") as file:
		whole = file.read()
	for name, lines in blocks.items():
		before, begin, rest = whole.partition(f"<!-- made by bench/report: {name} -->\n")
		_, end, after = rest.partition(END)
		if begin and end:
			whole = before + begin + "\n" + "\n".join(lines).strip() + "\n\n" + END + after
	if END not in whole:
		raise BadResults(f"{path}: no place for a block")
	with open(path, "w", encoding="utf-8") as file:
		file.write(whole)


def explained(path: str) -> dict[str, str]:
	"""For each goal and workload explained by a paragraph "**KEY, KEY**: why": the paragraph's first key, by which it is cited."""
	with open(path, encoding="utf-8") as file:
		paragraphs = re.findall(r"^\*\*([^*]+)\*\*:", file.read(), re.MULTILINE)
	return {key: keys.split()[0].strip(",") for keys in paragraphs for key in re.split(r",\s+", keys)}


def facts_of(results: Results) -> dict[str, str]:
	where, method = results.machine, results.method
	return {
		"processor": where["cpu"], "cores": str(where["cores"]), "caches": where.get("caches", ""),
		"memory": f"{where.get('memory_mib', 0) / 1024:.1f} GiB", "virtual machine": where.get("virtual", "?"),
		"transparent huge pages": where.get("transparent_hugepages", "?"), "kernel": where.get("kernel", "?"),
		"C library": where.get("c_library", "?"), "compiler": method.get("compiler", "?"), "build": method.get("build", "?"),
		"library": where["library"], "date": where["date"], "rounds": str(method["rounds"]), "seed": str(method.get("seed")),
		"quiet": ("BUSY, so the figures are no good" if method["others"] > BUSY else "quiet")
			+ f" (other programs took {100 * max(method['others'], 0):.1f} % of the processors)",
	}


def measured(facts: dict[str, str]) -> list[str]:
	return [f"{facts['processor']}, {facts['cores']} cores, {facts['compiler']}, {text.plural(int(facts['rounds']), 'round')}, {facts['date']}, lfpool"
		f" {facts['library']}:\n{facts['quiet']}."]


def goals(verdicts: list[judge.Verdict]) -> list[str]:
	return text.table(["goal", "asks for", "", "measured"], [[verdict.id, verdict.asks,
		f"**{verdict.state}**" if verdict.state == judge.NOT_MET else verdict.state, verdict.figures] for verdict in verdicts], 4)


def ranged(cell: Cell, key: str) -> str:
	values = cell.values(key)
	return f"{text.number(cell.median(key))} ({text.number(min(values))} to {text.number(max(values))})"


def row_of(workload: str, of: list[Loss], reasons: dict[str, str]) -> list[str]:
	worst, what = of[0], figures_of(workload)[of[0].key]
	return [workload + (f": {what}" if what else ""), str(len(of)), f"{worst.mine.bytes}, {worst.mine.threads}",
		ranged(worst.mine, worst.key), f"{worst.best.subject} {ranged(worst.best, worst.key)}", text.ratio(worst.ratio),
		f"see {reasons[workload]}" if workload in reasons else "not explained"]


def losses(tallies: dict[str, Tally], reasons: dict[str, str]) -> list[str]:
	lines = []
	for subject, tally in tallies.items():
		of: dict[str, list[Loss]] = {}
		for loss in tally.losses:
			of.setdefault(loss.mine.workload, []).append(loss)
		behind = len(tally.losses) + tally.losses_within_noise
		lines += [f"### {subject}: {USERS[subject]}", "", f"{text.plural(tally.ahead + behind, 'figure')} compared: ahead of every peer in"
			f" {tally.ahead} (of them {tally.ahead_within_noise} within the noise of\nsome peer), behind in {behind} (of them"
			f" {tally.losses_within_noise} within the noise)."
			+ (f" The {SHOWN} greatest of {len(of)} workloads:" if len(of) > SHOWN else ""), ""]
		rows = [row_of(workload, losses, reasons) for workload, losses in list(of.items())[:SHOWN]]
		lines += text.table(["workload", "cells", "bytes, threads", "lfpool", "best peer", "ratio", "why"], rows) if rows else []
	return lines


def beside(results: Results, subject: str, rival: str, head: str) -> list[str]:
	"""Each workload of both, side by side; 64-byte objects."""
	rows = []
	for workload in dict.fromkeys(cell.workload for cell in results.cells if cell.subject == rival):
		for key, what in figures_of(workload).items():
			both = [[results.cell(workload, 64, threads, name, key) for name in (subject, rival)] for threads in (1, 2, 4)]
			row = [f"**{text.number(mine.median(key))}** / {text.number(other.median(key))}" if mine and other else "" for mine, other in both]
			if any(row):
				rows.append([workload + (f": {what}" if what else ""), *row])
	return text.table([head, "1 thread", "2 threads", "4 threads"], rows)


def lists(results: Results) -> list[str]:
	return beside(results, INLINED, LISTS, "**lfpool, inlined** / a list per thread")


def evicting(results: Results) -> list[str]:
	return beside(results, EVICTING, "heap-mutex", "**lfpool** / a heap under a mutex")


# ---- The table of README.md ----

# Subjects separated by |: the least figure counts.
ROWS = (
	("the same object again and again, inlined", "pair", INLINED), ("the same object, by a call", "pair", LIBRARY),
	("bursts of 256, in random order, inlined", "burst-256-shuffled", INLINED),
	("a table of 1000, tables exchanged between threads, inlined", "larson", INLINED), ("32 in one call", "bulk-32", INLINED),
	("handed from thread to thread, through a ring", "handoff-1-1", INLINED),
	("a million objects in random order", "random-1m", INLINED),
	("one list under a mutex, the faster of two pools", "pair", "free-list|mutex"),
	("a list per thread, batches under a mutex: no checks, NULL not exact", "pair", LISTS),
	("a private list without synchronisation: the limit", "pair", "limit"),
)


def shown(value: float) -> str:
	"""Rounded from the figure in pairs.csv, so that the two agree."""
	value = float(f"{value:.4g}")
	return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def _closest(results: Results, workload: str, threads: int, subject: str) -> str:
	cells = [cell for name in subject.split("|") if (cell := results.cell(workload, 64, threads, name))]
	if not cells:
		return ""
	mine = min(cells, key=lambda cell: cell.median())
	if results.group(mine.subject) != "lfpool":
		return shown(mine.median())
	best = min(peers_of(results, subject).get(mine.place, []), key=lambda cell: cell.median(), default=None)
	return f"**{shown(mine.median())}**" + (f" / {shown(best.median())} {best.subject}" if best else "")


def scaling(results: Results) -> list[str]:
	"""Each workload of each variant of lfpool, for all thread counts."""
	threads = sorted({cell.threads for cell in results.cells})
	rows = [[f"{workload}, {subject}", *(_closest(results, workload, count, subject) for count in threads)]
		for workload in dict.fromkeys(cell.workload for cell in results.cells) for subject in (INLINED, LIBRARY, EVICTING)]
	return text.table(["ns: **lfpool** / the peer that comes closest", *(text.plural(count, "thread") for count in threads)],
		[row for row in rows if any(row[1:])])


def speed(results: Results, instructions: dict) -> list[str]:
	lines = ["| **lfpool** / the peer that comes closest | 1 thread | 2 threads | 4 threads | instructions |", "|---|---|---|---|---|"]
	for what, workload, subject in ROWS:
		cells = [_closest(results, workload, threads, subject) for threads in (1, 2, 4)]
		count = instructions.get(workload, {}).get(subject) if subject.startswith("lfpool") else None
		if any(cells):
			lines.append(f"| {what} | {' | '.join(cells)} | {math.ceil(count) if count else ''} |")
	return lines


# ---- A document of a part of the measurements ----


def columns(results: Results) -> list[str]:
	"""The subjects: lfpool first, the limits last."""
	groups = ("lfpool", *sorted({results.group(name) for name in results.subjects} - {"lfpool", "limit"}), "limit")
	return sorted(results.subjects, key=lambda name: groups.index(results.group(name)))


def every_median(results: Results, subjects: list[str]) -> list[str]:
	"""A row for each figure and place, a column for each subject."""
	rows = []
	for workload, bytes, threads in dict.fromkeys(cell.place for cell in results.cells):
		for key, what in figures_of(workload).items():
			cells = [results.cell(workload, bytes, threads, name, key) for name in subjects]
			if any(cells):
				rows.append([workload + (f": {what}" if what else ""), str(bytes), str(threads),
					*(text.number(cell.median(key)) if cell else "" for cell in cells)])
	return text.table(["workload", "bytes", "threads", *map(shown_name, subjects)], rows)


def comparison(results: Results, facts: dict[str, str], picture: str | None) -> list[str]:
	"""The measured table first, and last the peers that were not measured.  No goals: they compare with peers that may be missing."""
	subjects = columns(results)
	lines = ["# lfpool and its peers", "", *measured(facts), "", "Nanoseconds of processor time for each pair of acquire and release, unless"
		" the row names another figure: medians.", "", *every_median(results, subjects)]
	if picture:
		lines += [f"![The same as operations a second, against threads]({picture})", ""]
	lines += [f"* **{shown_name(name)}** ({name}): {results.subjects[name].get('what', '')}" for name in subjects]
	lines += ["", "bench/README.md describes the workloads. docs/performance.md has the goals, and the cases in which lfpool loses."]
	if results.skipped:
		lines += ["", "## Not measured", "", *text.table(["subject", "reason"], [[name, reason] for name, reason in sorted(results.skipped.items())], 2)]
	return lines
