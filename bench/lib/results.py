# SPDX-License-Identifier: MIT
"""results.py - the file that bench/run writes and bench/report reads.

Idea         A cell is one (workload, bytes, subject, threads).  It keeps every repetition with all its counters.
             The reader computes medians and ranges, so nothing is averaged away earlier.
Invariants   R1  one process gives a cell at most one repetition; so repetitions differ in everything that is random in a
                 new process (addresses, pages, processor).
             R2  lower is better in every figure that figures_of() names.
"""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from statistics import median

FORMAT = 1

INLINED = "lfpool-inlined"  # for a user who can include lfpool/inline.h
TYPED = "lfpool-typed"  # for one whose object type is known too
LIBRARY = "lfpool-thread"  # for a user who calls the library
SHARED = "lfpool-shared"  # as a shared library
EVICTING = "lfpool-evicting"  # for a user whose pool evicts
RETIRING, EPOCH = "lfpool-rcu", "lfpool-epoch"  # for a user whose readers use RCU, or epochs
LISTS = "cached-list"  # no peer: it checks nothing, and its NULL is not exact, so it has a table of its own


# The names in tables and pictures for readers who do not know lfpool-bench.
NAMES = {INLINED: "lfpool, inlined", LIBRARY: "lfpool, called", TYPED: "lfpool, typed", SHARED: "lfpool, shared library",
	EVICTING: "lfpool, evicting", RETIRING: "lfpool, RCU", EPOCH: "lfpool, epochs", "mutex": "mutex pool"}


def shown_name(subject: str) -> str:
	return NAMES.get(subject, subject)


class BadResults(Exception):
	"""An invalid file; the text has its name and the reason."""


# The compared counters, by the beginning of the workload's name; with name and unit if there are several.  The first is the
# main one.
FIGURES = {
	"latency": {f"{call}_ns_p{percentile}": f"{call} p{percentile}, ns"
		for call in ("acquire", "release") for percentile in ("50", "99", "99.9")},
	"create-": {"create_ns": "create, ns", "destroy_ns": "destroy, ns"},
	"memory": {"bytes_per_object": "in use, bytes", "resident_bytes_per_object_released": "released, bytes",
		"first_ns": "first acquire, ns"},
	"handoff-memory": {"distinct_objects": "distinct objects"},
	"boundary": {"worst_ns": "at the worst level", "ns_per_pair": "on the average"},
	"evict-": {"ns_per_operation": ""},
	"retire": {"ns_per_update": "", "settled_ns": "until all is free"},
	"backlog-": {"most_objects": "objects in flight"},
	"exhausted": {"acquire_ns": ""},
	"walk-": {"for_each_ns": ""},
	"pages-": {"read_ns": ""},
	"queue-": {"ask_ns": "ask, ns", "serve_ns": "serve, ns"},
	"": {"ns_per_pair": ""},
}


def figures_of(workload: str) -> dict[str, str]:
	return next(figures for start, figures in FIGURES.items() if workload.startswith(start))


@dataclass
class Cell:
	workload: str
	bytes: int
	subject: str
	threads: int
	repetitions: list[dict] = field(default_factory=list)

	@property
	def place(self) -> tuple:
		"""Cells with equal places are compared."""
		return self.workload, self.bytes, self.threads

	def values(self, key: str | None = None) -> list[float]:
		key = key or next(iter(figures_of(self.workload)))
		return [repetition[key] for repetition in self.repetitions if key in repetition]

	def median(self, key: str | None = None) -> float:
		return median(self.values(key))


class Results:
	"""The cells of one file, in the order in which lfpool-bench lists them."""

	def __init__(self, data: dict):
		self.machine: dict = data["machine"]
		self.method: dict = data["method"]
		self.skipped: dict[str, str] = data["skipped"]
		self.subjects: dict[str, dict] = data["subjects"]
		self.cells = [Cell(found["workload"], found["bytes"], found["subject"], found["threads"], found["repetitions"])
			for found in data["cells"]]
		self._at = {(*cell.place, cell.subject): cell for cell in self.cells}

	def cell(self, workload: str, bytes: int, threads: int, subject: str, key: str | None = None) -> Cell | None:
		"""The cell, if it was measured and has this figure."""
		cell = self._at.get((workload, bytes, threads, subject))
		return cell if cell and cell.values(key) else None

	def group(self, subject: str) -> str:
		return self.subjects.get(subject, {}).get("group", "unknown")

	def is_peer(self, subject: str) -> bool:
		return self.group(subject) not in ("lfpool", "limit") and subject != LISTS

	def threads(self, workload: str, bytes: int, subject: str) -> list[int]:
		return sorted(cell.threads for cell in self.cells
			if (cell.workload, cell.bytes, cell.subject) == (workload, bytes, subject))


def save(path: str, data: dict) -> None:
	"""Replaces the file at once: a reader never sees half a file."""
	with open(path + ".part", "w", encoding="utf-8") as file:
		json.dump(data, file, indent=1, allow_nan=False)
		file.write("\n")
	os.replace(path + ".part", path)


def load(path: str) -> Results:
	try:
		with open(path, encoding="utf-8") as file:
			data = json.load(file)
		if data["format"] != FORMAT or not data["cells"]:
			raise BadResults(f"{path}: it has no cells, or its format is not {FORMAT}")
		return Results(data)
	except (ValueError, KeyError, TypeError) as error:
		raise BadResults(f"{path}: not written by bench/run: {error!r}") from error
