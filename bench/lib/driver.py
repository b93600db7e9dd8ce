# SPDX-License-Identifier: MIT
"""driver.py - the rounds: which process measures what, and when.

Idea         A round measures every cell once.  Within a round the groups (workload, bytes) come in shuffled order, and
             within a group the kinds of process come one right after the other, shuffled too: those who are compared
             are measured within seconds of each other, and whatever disturbs the machine for a minute hits all of them,
             in one round.
Kinds        plain     all subjects but those below
             dpdk      dpdk-*, since DPDK takes over the process that it is in
Invariants   D1  one repetition of a cell per process (R1 in results.py).
             D2  only whole rounds are kept.
             D3  a subject that fails takes no other with it: its companions are measured again, each alone.
"""
from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import Callable

from . import results
from .program import ProcessFailed, Program, Row

KEPT_CONTEXT = ("compiler", "flags", "build", "pinning", "clock")


def alone(workload: str) -> bool:
	"""Does each subject need a process of its own, since what others left behind would be measured with it?"""
	return workload == "memory" or workload.startswith("create-")


@dataclass
class Kind:
	name: str
	rows: list[Row]


@dataclass
class Options:
	rounds: int
	min_time: float
	seed: int
	budget: float | None = None


@dataclass
class Driver:
	program: Program
	options: Options
	say: Callable[[str], None]  # for the user, a line each
	progress: Callable[[str], None]  # one line that overwrites itself
	kinds: list[Kind] = field(default_factory=list)
	cells: dict[Row, list[dict]] = field(default_factory=dict)
	subjects: dict[str, dict] = field(default_factory=dict)
	workloads: dict[str, str] = field(default_factory=dict)
	skipped: dict[str, str] = field(default_factory=dict)
	context: dict[str, str] = field(default_factory=dict)
	failures: list[str] = field(default_factory=list)
	round_seconds: list[float] = field(default_factory=list)

	# ---- What there is ----

	def discover(self) -> None:
		"""Fills `kinds`; raises ProcessFailed if the program itself is of no use."""
		rows = self.program.rows()
		self.kinds = [Kind("plain", [row for row in rows if not row.subject.startswith("dpdk-")]),
			Kind("dpdk", [row for row in rows if row.subject.startswith("dpdk-")])]

	def choose(self, wanted: Callable[[Row], bool]) -> int:
		"""Leaves only these rows; returns how many."""
		for kind in self.kinds:
			kind.rows = [row for row in kind.rows if wanted(row)]
		self.kinds = [kind for kind in self.kinds if kind.rows]
		return sum(len(kind.rows) for kind in self.kinds)

	def rows(self) -> list[Row]:
		return [row for kind in self.kinds for row in kind.rows]

	# ---- Rounds ----

	def run(self, after_round: Callable[[], None]) -> None:
		lots = random.Random(self.options.seed)
		start = time.monotonic()
		for number in range(1, self.options.rounds + 1):
			spent = time.monotonic() - start
			longest = max(self.round_seconds, default=0)
			if self.options.budget is not None and number > 1 and spent + longest > self.options.budget:
				self.say(f"{number - 1} of {self.options.rounds} rounds: another one would not fit into the budget of"
					f" {self.options.budget:g} s ({spent:.0f} s spent, {longest:.0f} s a round)")
				break
			measured = self._round(number, lots)
			for row, repetition in measured.items():
				self.cells.setdefault(row, []).append({"round": number, **repetition})
			self.round_seconds.append(time.monotonic() - start - spent)
			after_round()
		if self.options.budget is not None and time.monotonic() - start > self.options.budget:
			self.say(f"took {time.monotonic() - start:.0f} s, more than the budget of {self.options.budget:g} s")

	def _round(self, number: int, lots: random.Random) -> dict[Row, dict]:
		groups = sorted({(row.workload, row.bytes) for row in self.rows()})
		lots.shuffle(groups)
		measured: dict[Row, dict] = {}
		for position, (workload, bytes) in enumerate(groups, 1):
			kinds = list(self.kinds)
			lots.shuffle(kinds)
			for kind in kinds:
				self.progress(f"round {number} of {self.options.rounds}, {position} of {len(groups)}:"
					f" {workload}/{bytes} {kind.name}")
				rows = [row for row in kind.rows if (row.workload, row.bytes) == (workload, bytes)]
				for batch in self._batches(workload, rows, lots):
					measured.update(self._measure(kind, batch, number))
		return measured

	@staticmethod
	def _batches(workload: str, rows: list[Row], lots: random.Random) -> list[list[Row]]:
		if not alone(workload):
			return [rows] if rows else []
		subjects = sorted({row.subject for row in rows})
		lots.shuffle(subjects)
		return [[row for row in rows if row.subject == subject] for subject in subjects]

	def _measure(self, kind: Kind, rows: list[Row], number: int) -> dict[Row, dict]:
		try:
			measured, context = self.program.measure(rows, self.options.min_time)
		except ProcessFailed as failure:
			return self._recover(kind, rows, number, failure)
		self._learn(context)
		return measured

	def _recover(self, kind: Kind, rows: list[Row], number: int, failure: ProcessFailed) -> dict[Row, dict]:
		"""D3.  A subject that fails alone as well is left out of this group from now on."""
		subjects = sorted({row.subject for row in rows})
		where = f"{rows[0].workload}/{rows[0].bytes}"
		if len(subjects) > 1:
			self._report(f"{where}, kind {kind.name}, round {number}: {failure.reason}; again, each subject alone",
				failure.output)
			measured: dict[Row, dict] = {}
			for subject in subjects:
				measured.update(self._measure(kind, [row for row in rows if row.subject == subject], number))
			return measured
		name = f"{where}/{subjects[0]}"
		self.skipped[name] = f"failed in round {number}: {failure.reason}"
		self._report(f"{name}, round {number}: {failure.reason}; skipped from now on", failure.output)
		kind.rows = [row for row in kind.rows if row not in set(rows)]
		return {}

	def _report(self, text: str, output: str) -> None:
		self.failures.append(text)
		self.say(f"FAILED {text}" + "".join(f"\n    | {line}" for line in output.splitlines()))

	def _learn(self, context: dict) -> None:
		for key, value in context.items():
			kind, _, name = key.partition(".")
			if kind == "subject" and name:
				group, what, version = (str(value).split("|") + ["", ""])[:3]
				self.subjects[name] = {"group": group, "what": what, "version": version}
			elif kind == "workload" and name:
				self.workloads[name] = str(value)
			elif kind == "skipped" and name:
				self.skipped.setdefault(name, str(value))
			elif key in KEPT_CONTEXT:
				self.context[key] = str(value)

	# ---- The file ----

	def document(self, machine: dict, method: dict) -> dict:
		cells = []
		for row in sorted(self.cells, key=lambda row: (row.workload, row.bytes, row.subject, row.threads)):
			# D2, also when an interruption comes between the end of a round and its being counted.
			whole = [repetition for repetition in self.cells[row] if repetition["round"] <= len(self.round_seconds)]
			if whole:
				cells.append(results.Cell(row.workload, row.bytes, row.subject, row.threads, whole))
		measured = {cell.subject for cell in cells}
		unknown = {"group": "unknown", "what": "", "version": ""}
		return {
			"format": results.FORMAT,
			"machine": machine,
			"method": {**method, **self.context, "rounds": len(self.round_seconds),
				"round_seconds": [round(seconds, 1) for seconds in self.round_seconds]},
			"subjects": {name: self.subjects.get(name, unknown) for name in sorted(measured)},
			"skipped": {name: reason for name, reason in sorted(self.skipped.items()) if name not in measured},
			"failures": self.failures,
			"workloads": {name: self.workloads.get(name, "") for name in sorted({cell.workload for cell in cells})},
			"noise": results.noise(cells),
			"cells": [{"workload": cell.workload, "bytes": cell.bytes, "subject": cell.subject, "threads": cell.threads,
				"spread": cell.spread(), "repetitions": cell.repetitions} for cell in cells],
		}
