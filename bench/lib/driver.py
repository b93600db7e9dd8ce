# SPDX-License-Identifier: MIT
"""driver.py - the rounds: which process measures what, and when.

Idea         A round measures every cell once.  Within a round the groups (workload, bytes) come in shuffled order, and
             the processes of a group one right after the other, shuffled too: subjects that are compared are measured
             within seconds of each other, and what disturbs the machine for a minute hits all of them, in one round.
             DPDK has a process of its own, since it takes over the one that it is in.
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


@dataclass
class Driver:
	program: Program
	times: dict[Row, float]  # what is measured, with the seconds of a repetition
	say: Callable[[str], None]  # for the user, a line each
	progress: Callable[[str], None]  # one line that overwrites itself
	cells: dict[Row, list[dict]] = field(default_factory=dict)
	subjects: dict[str, dict] = field(default_factory=dict)
	workloads: dict[str, str] = field(default_factory=dict)
	skipped: dict[str, str] = field(default_factory=dict)
	context: dict[str, str] = field(default_factory=dict)
	failures: list[str] = field(default_factory=list)
	round_seconds: list[float] = field(default_factory=list)
	spent: dict[tuple, float] = field(default_factory=dict)  # seconds by (workload, bytes), over all rounds

	def run(self, rounds: int, seed: int, budget: float, after_round: Callable[[], None]) -> None:
		lots, start = random.Random(seed), time.monotonic()
		for number in range(1, rounds + 1):
			spent, longest = time.monotonic() - start, max(self.round_seconds, default=0)
			if number > 1 and spent + longest > budget:
				self.say(f"{number - 1} of {rounds} rounds: another one would not fit into the budget of {budget:g} s"
					f" ({spent:.0f} s spent, {longest:.0f} s a round)")
				break
			for row, repetition in self._round(number, lots).items():
				self.cells.setdefault(row, []).append({"round": number, **repetition})
			self.round_seconds.append(time.monotonic() - start - spent)
			after_round()
		if time.monotonic() - start > budget:
			self.say(f"took {time.monotonic() - start:.0f} s, more than the budget of {budget:g} s")

	def _round(self, number: int, lots: random.Random) -> dict[Row, dict]:
		groups = sorted({(row.workload, row.bytes) for row in self.times})
		lots.shuffle(groups)
		measured: dict[Row, dict] = {}
		for position, group in enumerate(groups, 1):
			self.progress(f"round {number}, {position} of {len(groups)}: {group[0]}/{group[1]}")
			start = time.monotonic()
			for batch in self._batches(group, lots):
				measured.update(self._measure(batch, number))
			self.spent[group] = self.spent.get(group, 0) + time.monotonic() - start
		return measured

	def _batches(self, group: tuple[str, int], lots: random.Random) -> list[list[Row]]:
		"""A process each."""
		# What other subjects left behind would be measured, too.
		alone = group[0] == "memory" or group[0].startswith("create-")
		found: dict[str | bool, list[Row]] = {}
		for row in self.times:
			if (row.workload, row.bytes) == group:
				found.setdefault(row.subject if alone else row.subject.startswith("dpdk-"), []).append(row)
		batches = list(found.values())
		lots.shuffle(batches)
		return batches

	def _measure(self, rows: list[Row], number: int) -> dict[Row, dict]:
		try:
			measured, context = self.program.measure(rows, self.times[rows[0]])
		except ProcessFailed as failure:
			return self._recover(rows, number, failure)
		self._learn(context)
		return measured

	def _recover(self, rows: list[Row], number: int, failure: ProcessFailed) -> dict[Row, dict]:
		"""D3.  A subject that fails alone as well is left out of this group from now on."""
		subjects = sorted({row.subject for row in rows})
		where = f"{rows[0].workload}/{rows[0].bytes}"
		if len(subjects) > 1:
			self._report(f"{where}, round {number}: {failure.reason}; again, each subject alone", failure.output)
			measured: dict[Row, dict] = {}
			for subject in subjects:
				measured.update(self._measure([row for row in rows if row.subject == subject], number))
			return measured
		name = f"{where}/{subjects[0]}"
		self.skipped[name] = f"failed in round {number}: {failure.reason}"
		self._report(f"{name}, round {number}: {failure.reason}; skipped from now on", failure.output)
		for row in rows:
			del self.times[row]
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

	def document(self, machine: dict, method: dict) -> dict:
		"""What is written."""
		cells = []
		for row in sorted(self.cells, key=lambda row: (row.workload, row.bytes, row.subject, row.threads)):
			# D2, also when an interruption comes between the end of a round and its being counted.
			whole = [repetition for repetition in self.cells[row] if repetition["round"] <= len(self.round_seconds)]
			if whole:
				cells.append(results.Cell(row.workload, row.bytes, row.subject, row.threads, whole))
		measured = {cell.subject for cell in cells}
		return {
			"format": results.FORMAT,
			"machine": machine,
			"method": {**method, **self.context, "rounds": len(self.round_seconds),
				"round_seconds": [round(seconds, 1) for seconds in self.round_seconds]},
			"subjects": {name: self.subjects.get(name, {"group": "unknown"}) for name in sorted(measured)},
			"skipped": {name: reason for name, reason in sorted(self.skipped.items()) if name not in measured},
			"failures": self.failures,
			"workloads": {name: self.workloads.get(name, "") for name in sorted({cell.workload for cell in cells})},
			"noise": results.noise(cells),
			"cells": [{"workload": cell.workload, "bytes": cell.bytes, "subject": cell.subject, "threads": cell.threads,
				"spread": cell.spread(), "repetitions": cell.repetitions} for cell in cells],
		}
