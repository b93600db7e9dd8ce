# SPDX-License-Identifier: MIT
"""figures.py - all figures as CSV, a file for each family of workloads; and the table of README.md, made of those files.

Idea         A row is a cell.  What is compared comes as the median over the rounds, with the least and the greatest;
             everything else as the median.
"""
from __future__ import annotations

import csv
import math
import os

from . import text
from .losses import Loss, is_choice
from .results import BadResults, GROUPS, INLINED, LIBRARY, SHARED, TYPED, Results, by_workload, figures_of

# File: how its workloads begin, and what is shown beside what is compared.  The last one has the rest.
TAIL = ("50", "90", "99", "99.9", "99.99")
FAMILIES = {
	"latency": ("latency", tuple(f"{call}_ns_p{percentile}" for call in ("acquire", "release") for percentile in TAIL)
		+ ("clock_ns",)),
	"memory": ("memory", ("resident_bytes_per_object_finished", "resident_bytes_per_object_closed")),
	"creation": ("create-", ()),
	"exhausted": ("exhausted", ()),
	"evicting": ("evict-", ("refused", "stale", "fairness")),
	"retire": ("retire", ("cpu_ns", "waits", "sections", "fairness")),
	"backlog": ("backlog-", ("most_objects_early", "most_resident_bytes", "updates_per_second", "waits")),
	"pairs": ("", ("fairness", "misses_per_pair", "retries_per_pair")),
}
BESIDE = ("workload", "bytes", "threads", "group", "subject", "rounds")


def short(value: float) -> str:
	return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def write(path: str, header: list[str], rows: list[list]) -> str:
	with open(path, "w", encoding="utf-8", newline="") as file:
		csv.writer(file, lineterminator="\n").writerows([header, *rows])
	return path


def _family(results: Results, name: str, workloads: list[str], path: str) -> str:
	compared = [figure.key for figure in figures_of(workloads[0])]
	more = [key for key in FAMILIES[name][1] if key not in compared]
	header = [*BESIDE, *(column for key in compared for column in (key, f"{key}_least", f"{key}_greatest")), *more]
	rows = []
	for cell in sorted((cell for cell in results.cells.values() if cell.workload in workloads), key=lambda cell: (
			by_workload(cell.workload), cell.bytes, cell.threads, rank(results.group(cell.subject)), cell.median())):
		row = [cell.workload, cell.bytes, cell.threads, results.group(cell.subject), cell.subject, len(cell.repetitions)]
		for key in compared:
			values = cell.values(key)
			row += [short(value) for value in (cell.median(key), min(values), max(values))] if values else ["", "", ""]
		rows.append(row + [short(cell.median(key)) if cell.values(key) else "" for key in more])
	return write(path, header, rows)


def rank(group: str) -> int:
	return GROUPS.index(group) if group in GROUPS else len(GROUPS)


def _losses(found: list[tuple[Loss, str]], path: str) -> str:
	rows = []
	for loss, reason in found:
		mine, best, key = loss.mine, loss.best, loss.figure.key
		rows.append([mine.subject, mine.workload, key, mine.bytes, mine.threads,
			*(short(value) for value in (mine.median(key), min(mine.values(key)), max(mine.values(key)))), best.subject,
			*(short(value) for value in (best.median(key), min(best.values(key)), max(best.values(key)))),
			short(loss.ratio), loss.ahead, "yes" if loss.within_noise else "no", reason])
	return write(path, ["subject", "workload", "figure", "bytes", "threads", "median", "least", "greatest", "peer",
		"peer_median", "peer_least", "peer_greatest", "ratio", "peers_ahead", "within_noise", "explained"], rows)


def write_all(results: Results, instructions: dict, lost: list[tuple[Loss, str]], facts: dict[str, str],
		folder: str) -> list[str]:
	"""The files that were made."""
	of: dict[str, list[str]] = {}
	for workload in results.workloads():
		of.setdefault(next(name for name, (start, _) in FAMILIES.items() if workload.startswith(start)), []).append(workload)
	made = [_family(results, name, workloads, os.path.join(folder, f"{name}.csv")) for name, workloads in of.items()]
	made.append(_losses(lost, os.path.join(folder, "losses.csv")))
	made.append(write(os.path.join(folder, "machine.csv"), ["what", "is"], list(map(list, facts.items()))))
	if instructions:
		names = list(dict.fromkeys(name for counts in instructions.values() for name in counts))
		made.append(write(os.path.join(folder, "instructions.csv"), ["subject", *instructions],
			[[name, *(counts.get(name, "") for counts in instructions.values())] for name in names]))
	subjects = [[name, subject["group"], subject.get("what", ""), subject.get("version", ""), ""]
		for name, subject in sorted(results.subjects.items(), key=lambda item: (rank(item[1]["group"]), item[0]))]
	subjects += [[name, "", "", "", reason] for name, reason in sorted(results.skipped.items())]
	made.append(write(os.path.join(folder, "subjects.csv"), ["subject", "group", "what", "version", "not measured"], subjects))
	return made


# ---- The table of README.md ----

ROWS = (
	("the same object again and again, inlined", "pair", INLINED), ("the same, its type known", "pair", TYPED),
	("the same, by a call", "pair", LIBRARY), ("the same, by a call of the shared library", "pair", SHARED),
	("bursts of 256, in order, inlined", "burst-256-lifo", INLINED),
	("bursts of 256, in random order, inlined", "burst-256-shuffled", INLINED),
	("bursts of 256, in random order, by a call", "burst-256-shuffled", LIBRARY),
	("up and down between 0 and 512, inlined", "keep-512", INLINED),
	("a table of 1000, tables exchanged between threads, inlined", "larson", INLINED),
	("the same, by a call", "larson", LIBRARY), ("32 in one call", "bulk-32", INLINED),
	("handed from thread to thread, through a ring", "handoff-1-1", INLINED),
	("a million objects in random order", "random-1m", INLINED), ("the ring alone", "handoff-1-1", "ring"),
	("a free list under a mutex", "pair", "free-list"), ("a list of one's own, no synchronisation: the limit", "pair", "limit"),
)
BEGIN, END = "<!-- made by bench/report: speed -->", "<!-- the end of what bench/report made -->"


def read(folder: str, name: str) -> list[dict[str, str]]:
	path = os.path.join(folder, f"{name}.csv")
	if not os.path.exists(path):
		return []
	with open(path, encoding="utf-8", newline="") as file:
		return list(csv.DictReader(file))


def _shown(value: str) -> str:
	return f"{float(value):.1f}" if float(value) < 99.95 else f"{float(value):.0f}"


def _closest(pairs: list[dict[str, str]], workload: str, subject: str, threads: int) -> str:
	here = [row for row in pairs if (row["workload"], row["bytes"], row["threads"]) == (workload, "64", str(threads))]
	mine = next((row for row in here if row["subject"] == subject), None)
	if not mine:
		return ""
	figure = f"**{_shown(mine['ns_per_pair'])}**" if mine["group"] == "lfpool" else _shown(mine["ns_per_pair"])
	peers = [row for row in here if mine["group"] == "lfpool" != row["group"] != "limit" and is_choice(subject, row["subject"], row["group"])]
	best = min(peers, key=lambda row: float(row["ns_per_pair"]), default=None)
	return figure + (f" / {_shown(best['ns_per_pair'])} {best['subject']}" if best else "")


def speed(folder: str) -> list[str]:
	"""What stands in README.md, of the CSV files in that folder."""
	pairs = read(folder, "pairs")
	counts = {row["subject"]: row for row in read(folder, "instructions")}
	facts = {row["what"]: row["is"] for row in read(folder, "machine")}
	lines = [*text.paragraph(f"{facts['processor']}, {facts['cores']} cores, {facts['compiler']}, {facts['rounds']} rounds,"
		f" {facts['date']}, lfpool {facts['library']}: {facts['quiet']}."),
		"| **lfpool** / the peer that comes closest | 1 thread | 2 threads | 4 threads | instructions |",
		"|---|---|---|---|---|"]
	for what, workload, subject in ROWS:
		cells = [_closest(pairs, workload, subject, threads) for threads in (1, 2, 4)]
		count = counts.get(subject, {}).get(workload) if subject.startswith("lfpool") else None
		if any(cells):
			lines.append(f"| {what} | {' | '.join(cells)} | {math.ceil(float(count)) if count else ''} |")
	return lines


def put_into(path: str, lines: list[str]) -> None:
	"""Between the two comments of that document."""
	with open(path, encoding="utf-8") as file:
		before, _, rest = file.read().partition(BEGIN + "\n")
		_, found, after = rest.partition(END + "\n")
	if not found:
		raise BadResults(f"{path}: no place for the table")
	with open(path, "w", encoding="utf-8") as file:
		file.write("\n".join([before + BEGIN, "", *lines, "", END, ""]) + after)
