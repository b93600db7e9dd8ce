# SPDX-License-Identifier: MIT
"""tables.py - the figures as CSV.

Idea         A table for each family of workloads: a row is a place (workload, figure, bytes, threads), a column a subject, an
             entry the median over the rounds.  All repetitions are in the file of bench/run.
"""
from __future__ import annotations

import csv
import os

from .results import Results, figures_of

# File: the beginnings of its workloads, and figures shown in addition to the compared ones.  The last file has the rest.
FAMILIES = {
	"latency": ("latency", [f"{call}_ns_p{percentile}" for call in ("acquire", "release") for percentile in ("90", "99.99")]),
	"memory": ("memory", ["resident_bytes_per_object_finished", "resident_bytes_per_object_closed"]),
	"creation": ("create-", []),
	"exhausted": ("exhausted", []),
	"evicting": ("evict-", []),
	"retire": ("retire", ["cpu_ns", "waits", "sections"]),
	"backlog": ("backlog-", ["most_objects_early", "most_resident_bytes", "updates_per_second", "waits"]),
	"pairs": ("", []),
}


def short(value: float) -> str:
	return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def write(folder: str, name: str, header: list[str], rows: list[list]) -> str:
	path = os.path.join(folder, f"{name}.csv")
	with open(path, "w", encoding="utf-8", newline="") as file:
		csv.writer(file, lineterminator="\n").writerows([header, *rows])
	return path


def family(results: Results, workloads: list[str], more: list[str]) -> tuple[list[str], list[list]]:
	cells = [cell for cell in results.cells if cell.workload in workloads]
	subjects = list(dict.fromkeys(cell.subject for cell in cells))
	rows = []
	for workload in workloads:
		for place in sorted({cell.place for cell in cells if cell.workload == workload}):
			_, bytes, threads = place
			for key in (*figures_of(workload), *more):
				found = [results.cell(workload, bytes, threads, subject, key) for subject in subjects]
				if any(found):
					rows.append([workload, key, bytes, threads, *(short(cell.median(key)) if cell else "" for cell in found)])
	return ["workload", "figure", "bytes", "threads", *subjects], rows


def write_all(results: Results, instructions: dict, facts: dict[str, str], folder: str) -> list[str]:
	"""Returns the files that it wrote."""
	of: dict[str, list[str]] = {}
	for workload in dict.fromkeys(cell.workload for cell in results.cells):
		of.setdefault(next(name for name, (start, _) in FAMILIES.items() if workload.startswith(start)), []).append(workload)
	made = [write(folder, name, *family(results, workloads, FAMILIES[name][1])) for name, workloads in of.items()]
	made.append(write(folder, "machine", ["what", "is"], list(map(list, facts.items()))))
	if instructions:
		names = dict.fromkeys(name for counts in instructions.values() for name in counts)
		made.append(write(folder, "instructions", ["subject", *instructions],
			[[name, *(counts.get(name, "") for counts in instructions.values())] for name in names]))
	subjects = [[name, subject["group"], subject.get("what", ""), subject.get("version", ""), ""]
		for name, subject in results.subjects.items()]
	subjects += [[name, "", "", "", reason] for name, reason in sorted(results.skipped.items())]
	return [*made, write(folder, "subjects", ["subject", "group", "what", "version", "not measured"], subjects)]
