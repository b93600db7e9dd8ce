# SPDX-License-Identifier: MIT
"""results.py - the file that bench/run writes and bench/report reads.

Idea         A cell is one (workload, bytes, subject, threads).  It keeps every repetition with all its counters:
             the reader makes medians and ranges, so that nothing is averaged away before.
Invariants   R1  one process gives a cell at most one repetition; so repetitions differ in everything that a new process
                 draws by lot (addresses, pages, which processor).
             R2  lower is better in every figure that figures_of() names.
"""
from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from statistics import median

FORMAT = 1

# The order in which groups are shown.
GROUPS = ("lfpool", "limit", "allocator", "lock-free", "own")
INLINED = "lfpool-inlined"  # for a user who can include lfpool/inline.h
TYPED = "lfpool-typed"  # and whose type is known
LIBRARY = "lfpool-thread"  # for a user who calls the library
SHARED = "lfpool-shared"  # as a shared library
EVICTING = "lfpool-priority"  # for a user whose pool evicts
RETIRING, EPOCH = "lfpool-rcu", "lfpool-epoch"  # for a user whose readers use RCU, or epochs
WORKLOADS = ("pair", "burst-32-lifo", "burst-256-lifo", "burst-4096-lifo", "burst-32-shuffled", "burst-256-shuffled",
	"burst-4096-shuffled", "keep-32", "keep-512", "keep-4096", "keep-32768", "larson", "bulk-8", "bulk-32", "bulk-256",
	"handoff-1-1", "handoff-1-n", "handoff-n-1", "jobs", "churn", "random-1m", "exhausted", "latency", "memory")


class BadResults(Exception):
	"""A file that is not what it should be; the text says which and why."""


@dataclass(frozen=True)
class Figure:
	key: str  # the counter's name
	what: str = ""  # with its unit; nothing where there is only one


FIGURES = {
	"latency": tuple(Figure(f"{call}_ns_p{percentile}", f"{call} p{percentile}, ns")
		for call in ("acquire", "release") for percentile in ("50", "99", "99.9")),
	"create-": (Figure("create_ns", "create, ns"), Figure("destroy_ns", "destroy, ns")),
	"memory": (Figure("bytes_per_object", "in use, bytes"), Figure("resident_bytes_per_object_released", "released, bytes")),
	"evict-": (Figure("ns_per_operation"),),
	"retire": (Figure("ns_per_update"), Figure("settled_ns", "until all is free")),
	"backlog-": (Figure("most_objects", "objects in flight"),),
	"exhausted": (Figure("acquire_ns"),),
	"": (Figure("ns_per_pair"),),
}


def figures_of(workload: str) -> tuple[Figure, ...]:
	"""What is compared in this workload; the first is the main one."""
	return next(figures for start, figures in FIGURES.items() if workload.startswith(start))


@dataclass
class Cell:
	workload: str
	bytes: int
	subject: str
	threads: int
	repetitions: list[dict] = field(default_factory=list)

	def values(self, key: str | None = None) -> list[float]:
		key = key or figures_of(self.workload)[0].key
		return [repetition[key] for repetition in self.repetitions if key in repetition]

	def median(self, key: str | None = None) -> float:
		return median(self.values(key))

	def spread(self) -> float | None:
		"""(greatest - least) / median; None where there is nothing to compare."""
		values = self.values()
		return (max(values) - min(values)) / median(values) if len(values) > 1 and median(values) > 0 else None


def noise(cells: list[Cell]) -> dict:
	"""How much repetitions of one cell differ: of `limit` in `pair`, which only the machine can disturb, and of all
	cells.  Nothing without a second round."""
	limit = [{"bytes": cell.bytes, "threads": cell.threads, "spread": cell.spread()} for cell in cells
		if cell.workload == "pair" and cell.subject == "limit" and cell.spread() is not None]
	every = sorted(spread for spread in (cell.spread() for cell in cells) if spread is not None)
	if not every:
		return {}
	return {"limit_in_pair": limit, "all_cells": {"median": median(every),
		"p90": every[int(0.9 * (len(every) - 1))], "greatest": every[-1]}}


def natural(name: str) -> list:
	"""A key that sorts create-1000 before create-100000."""
	return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


def by_workload(name: str) -> tuple:
	"""A key: first those of the list, in its order."""
	return (WORKLOADS.index(name), []) if name in WORKLOADS else (len(WORKLOADS), natural(name))


class Results:
	"""The cells of one file."""

	def __init__(self, data: dict):
		self.machine: dict = data["machine"]
		self.method: dict = data["method"]
		self.skipped: dict[str, str] = data["skipped"]
		self.subjects: dict[str, dict] = data["subjects"]
		self.cells: dict[tuple, Cell] = {}
		for found in data["cells"]:
			cell = Cell(found["workload"], found["bytes"], found["subject"], found["threads"], found["repetitions"])
			self.cells[(cell.workload, cell.bytes, cell.subject, cell.threads)] = cell

	def cell(self, workload: str, bytes: int, subject: str, threads: int, key: str | None = None) -> Cell | None:
		"""The cell, if it was measured and has that figure."""
		cell = self.cells.get((workload, bytes, subject, threads))
		return cell if cell and cell.values(key) else None

	def group(self, subject: str) -> str:
		return self.subjects.get(subject, {}).get("group", "unknown")

	def is_peer(self, subject: str) -> bool:
		return self.group(subject) not in ("lfpool", "limit")

	def workloads(self) -> list[str]:
		return sorted({cell.workload for cell in self.cells.values()}, key=by_workload)

	def threads(self, workload: str, bytes: int, subject: str) -> list[int]:
		return sorted(cell.threads for cell in self.cells.values()
			if (cell.workload, cell.bytes, cell.subject) == (workload, bytes, subject))


# ---- The file ----


def save(path: str, data: dict) -> None:
	"""Whole or not at all: a reader never sees half a file."""
	with open(path + ".part", "w", encoding="utf-8") as file:
		json.dump(data, file, indent=1, allow_nan=False)
		file.write("\n")
	os.replace(path + ".part", path)


def load(path: str) -> Results:
	try:
		with open(path, encoding="utf-8") as file:
			data = json.load(file)
	except OSError as error:
		raise BadResults(f"{path}: {error.strerror}") from error
	except ValueError as error:
		raise BadResults(f"{path}: not JSON: {error}") from error
	if not isinstance(data, dict) or "format" not in data:
		raise BadResults(f"{path}: not a results file of bench/run")
	if data["format"] != FORMAT:
		raise BadResults(f"{path}: format {data['format']!r}, but this program reads format {FORMAT}")
	if not data.get("cells"):
		raise BadResults(f"{path}: it has no cells")
	try:
		return Results(data)
	except (KeyError, TypeError, AttributeError) as error:
		raise BadResults(f"{path}: not what bench/run writes: {error!r}") from error
