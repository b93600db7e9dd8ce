# SPDX-License-Identifier: MIT
"""results.py - the file that bench/run writes and bench/report reads.

Idea         A cell is one (workload, bytes, subject, threads).  It keeps every repetition with all its counters:
             medians and ranges are made by whoever reads, so that nothing is averaged away before.
Invariants   R1  one process gives a cell at most one repetition; so repetitions differ in everything that a new process
                 draws by lot (addresses, pages, which processor).
             R2  lower is better in every figure that figures_of() names.
"""
from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass, field

FORMAT = 1

# The order in which groups and subjects are shown.  A subject that is not listed comes last in its group.
GROUPS = ("lfpool", "limit", "allocator", "lock-free", "own")
DEFAULT = "lfpool-inlined"  # what a user takes who can include lfpool/inline.h
LIBRARY = "lfpool-thread"  # what a user takes who calls the library
EVICTING = "lfpool-priority"  # what a user takes whose pool is to evict
RETIRING = "lfpool-rcu"  # what a user takes whose readers use RCU
EPOCH = "lfpool-epoch"  # and epochs
EPOCH_PEERS = ("ck-epoch-malloc",)
WORKLOADS = ("pair", "burst-32-lifo", "burst-256-lifo", "burst-4096-lifo", "burst-32-shuffled", "burst-256-shuffled",
	"burst-4096-shuffled", "handoff-1-1", "handoff-1-n", "handoff-n-1", "larson", "jobs", "churn", "bulk-8", "bulk-32",
	"bulk-256", "keep-32", "keep-512", "keep-4096", "keep-32768", "random-1m", "latency", "exhausted", "memory")


class BadResults(Exception):
	"""A file that is not what it should be; the text says which and why."""


@dataclass(frozen=True)
class Figure:
	key: str  # the counter's name
	unit: str
	what: str  # in a table's heading


PAIR = Figure("ns_per_pair", "ns", "acquire and release")
LATENCIES = tuple(Figure(f"{call}_ns_p{percentile}", "ns", f"{call} p{percentile}")
	for call in ("acquire", "release") for percentile in ("50", "99", "99.9"))
CREATE = (Figure("create_ns", "ns", "create"), Figure("destroy_ns", "ns", "destroy"))
MEMORY = (Figure("bytes_per_object", "bytes per object", "in use"),
	Figure("resident_bytes_per_object_released", "bytes per object", "released"))
EVICT = (Figure("ns_per_operation", "ns", "operation"),)
RETIRE = (Figure("ns_per_update", "ns", "update"), Figure("settled_ns", "ns", "update, until all is free"))
BACKLOG = (Figure("most_objects", "objects", "in flight"),)
EXHAUSTED = (Figure("acquire_ns", "ns", "acquire that says NULL"),)


def figures_of(workload: str) -> tuple[Figure, ...]:
	"""What is compared in this workload; the first is the main one."""
	if workload == "latency":
		return LATENCIES
	if workload.startswith("create-"):
		return CREATE
	if workload.startswith("evict-"):
		return EVICT
	if workload.startswith("backlog-"):
		return BACKLOG
	if workload in ("retire", "retire-read"):
		return RETIRE
	return {"memory": MEMORY, "exhausted": EXHAUSTED}.get(workload, (PAIR,))


def median(values: list[float]) -> float:
	ordered = sorted(values)
	middle = len(ordered) // 2
	return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def spread(values: list[float]) -> float | None:
	"""(greatest - least) / median; None where there is nothing to compare."""
	if len(values) < 2 or median(values) <= 0:
		return None
	return (max(values) - min(values)) / median(values)


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

	def has(self, key: str) -> bool:
		return bool(self.values(key))

	def median(self, key: str | None = None) -> float:
		return median(self.values(key))

	def spread(self) -> float | None:
		return spread(self.values())


def noise(cells: list[Cell]) -> dict:
	"""How much repetitions of one cell differ: (greatest - least) / median; of `limit` in `pair`, which nothing but the
	machine can disturb, and of all cells.  Nothing without a second round."""
	limit = [{"bytes": cell.bytes, "threads": cell.threads, "spread": cell.spread()} for cell in cells
		if cell.workload == "pair" and cell.subject == "limit" and cell.spread() is not None]
	every = sorted(spread for spread in (cell.spread() for cell in cells) if spread is not None)
	if not every:
		return {}
	return {"limit_in_pair": limit, "all_cells": {"median": median(every),
		"p90": every[int(0.9 * (len(every) - 1))], "greatest": every[-1]}}


@dataclass
class Subject:
	group: str
	what: str
	version: str


def natural(name: str) -> list:
	"""A key that sorts create-1000 before create-100000."""
	return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", name) if part]


class Results:
	"""The cells of one file, or of several of the same machine and version."""

	def __init__(self, data: dict):
		self.machine: dict = data["machine"]
		self.method: dict = data["method"]
		self.skipped: dict[str, str] = data["skipped"]
		self.descriptions: dict[str, str] = data["workloads"]
		self.subjects = {name: Subject(s["group"], s.get("what", ""), s.get("version", ""))
			for name, s in data["subjects"].items()}
		self.cells: dict[tuple, Cell] = {}
		self._known: dict[tuple, list] = {}  # answers of _distinct()
		for cell in data["cells"]:
			self._add(Cell(cell["workload"], cell["bytes"], cell["subject"], cell["threads"],
				list(cell["repetitions"])))

	def _add(self, cell: Cell) -> None:
		self._known.clear()
		key = (cell.workload, cell.bytes, cell.subject, cell.threads)
		if key in self.cells:
			self.cells[key].repetitions += cell.repetitions
		else:
			self.cells[key] = cell

	def merge(self, other: Results) -> None:
		for cell in other.cells.values():
			self._add(cell)
		self.subjects = {**other.subjects, **self.subjects}
		self.descriptions = {**other.descriptions, **self.descriptions}
		measured = {cell.subject for cell in self.cells.values()}
		self.skipped = {name: reason for name, reason in {**other.skipped, **self.skipped}.items()
			if name not in measured}

	def cell(self, workload: str, bytes: int, subject: str, threads: int, key: str | None = None) -> Cell | None:
		"""The cell, if it was measured and has that figure."""
		cell = self.cells.get((workload, bytes, subject, threads))
		return cell if cell and cell.values(key) else None

	def group(self, subject: str) -> str:
		if subject in self.subjects:
			return self.subjects[subject].group
		return "lfpool" if subject.startswith("lfpool") else "limit" if subject in ("limit", "ring") else "unknown"

	def is_peer(self, subject: str) -> bool:
		return self.group(subject) not in ("lfpool", "limit")

	def workload_names(self) -> list[str]:
		names = set(self._distinct("workload"))
		known = [name for name in WORKLOADS if name in names]
		return known + sorted(names - set(known), key=natural)

	def _distinct(self, attribute: str, **wanted) -> list:
		question = (attribute, *sorted(wanted.items()))
		if question not in self._known:
			self._known[question] = sorted({getattr(cell, attribute) for cell in self.cells.values()
				if all(getattr(cell, name) == value for name, value in wanted.items())})
		return list(self._known[question])

	def sizes(self, **wanted) -> list[int]:
		return self._distinct("bytes", **wanted)

	def threads(self, **wanted) -> list[int]:
		return self._distinct("threads", **wanted)

	def names(self, **wanted) -> list[str]:
		return self._distinct("subject", **wanted)

	def peers(self, **wanted) -> list[str]:
		return [name for name in self.names(**wanted) if self.is_peer(name)]

	def main_bytes(self, workload: str) -> int:
		"""64, or the least there is."""
		sizes = self.sizes(workload=workload)
		return 64 if 64 in sizes else sizes[0]


# ---- The file ----


def save(path: str, data: dict) -> None:
	"""Whole or not at all: a reader never sees half a file."""
	with open(path + ".part", "w", encoding="utf-8") as file:
		json.dump(data, file, indent=1, allow_nan=False)
		file.write("\n")
	os.replace(path + ".part", path)


def check(data) -> None:
	"""Raises BadResults with the reason unless `data` is what bench/run writes."""
	if not isinstance(data, dict) or "format" not in data or "cells" not in data:
		raise BadResults("not a results file of bench/run")
	if data["format"] != FORMAT:
		raise BadResults(f"format {data['format']!r}, but this program reads format {FORMAT}")
	for key in ("machine", "method", "subjects", "skipped", "workloads"):
		if not isinstance(data.get(key), dict):
			raise BadResults(f"{key} is missing or is no object")
	for name, subject in data["subjects"].items():
		if not isinstance(subject, dict) or not isinstance(subject.get("group"), str):
			raise BadResults(f"subject {name} has no group")
	if not isinstance(data["cells"], list) or not data["cells"]:
		raise BadResults("it has no cells")
	for number, cell in enumerate(data["cells"]):
		_check_cell(number, cell)


def _check_cell(number: int, cell) -> None:
	shape = {"workload": str, "bytes": int, "subject": str, "threads": int, "repetitions": list}
	if not isinstance(cell, dict) or any(not isinstance(cell.get(key), kind) for key, kind in shape.items()):
		raise BadResults(f"cell {number} lacks one of {', '.join(shape)}")
	name = f"{cell['workload']}/{cell['bytes']}/{cell['subject']}/threads:{cell['threads']}"
	if not cell["repetitions"]:
		raise BadResults(f"{name} has no repetitions")
	for repetition in cell["repetitions"]:
		if not isinstance(repetition, dict):
			raise BadResults(f"{name}: a repetition is no object")
		for key, value in repetition.items():
			if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
				raise BadResults(f"{name}: {key} is no number: {value!r}")


def load(paths: list[str]) -> Results:
	"""One Results of all files; raises BadResults."""
	whole = None
	for path in paths:
		try:
			with open(path, encoding="utf-8") as file:
				data = json.load(file)
			check(data)
		except OSError as error:
			raise BadResults(f"{path}: {error.strerror}") from error
		except ValueError as error:
			raise BadResults(f"{path}: not JSON: {error}") from error
		except BadResults as error:
			raise BadResults(f"{path}: {error}") from error
		results = Results(data)
		if whole is None:
			whole = results
			continue
		for key in ("cpu", "cores", "kernel", "library"):
			if whole.machine.get(key) != results.machine.get(key):
				raise BadResults(f"{path}: {key} is {results.machine.get(key)!r}, but {whole.machine.get(key)!r}"
					f" in {paths[0]}: make a document of each")
		whole.merge(results)
	assert whole is not None
	return whole
