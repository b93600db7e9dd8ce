# SPDX-License-Identifier: MIT
"""program.py - lfpool-bench as a process: what it can measure, and one run of some of it.

Idea         The names of its rows are the interface:  WORKLOAD/BYTES/SUBJECT/manual_time/threads:N.  We ask for the
             list, and choose rows by a regular expression that matches exactly their names and nothing else.
Edges        A process that ends badly, hangs, or leaves out a row raises ProcessFailed, with the last of its output.
"""
from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

# What Google Benchmark puts into every row beside the counters.
NOT_COUNTERS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
	"real_time", "cpu_time"}
LINES_KEPT = 40


class ProcessFailed(Exception):
	def __init__(self, reason: str, output: str = ""):
		super().__init__(reason)
		self.reason = reason
		self.output = "\n".join(output.splitlines()[-LINES_KEPT:])


@dataclass(frozen=True)
class Row:
	name: str
	workload: str
	bytes: int
	subject: str
	threads: int


def parse_row(name: str) -> Row | None:
	match = re.match(r"([^/]+)/(\d+)/([^/]+)(?:/.*?)??(?:/threads:(\d+))?$", name)
	return Row(name, match[1], int(match[2]), match[3], int(match[4] or 1)) if match else None


def exact_filter(rows: list[Row]) -> str:
	"""A POSIX extended regular expression that matches these names and no other."""
	return "^(" + "|".join(re.sub(r"([][.^$*+?(){}|\\])", r"\\\1", row.name) for row in rows) + ")$"


def counters_of(entry: dict) -> dict:
	return {key: value for key, value in entry.items()
		if key not in NOT_COUNTERS and isinstance(value, (int, float)) and not isinstance(value, bool)}


def wait_for(process: subprocess.Popen, timeout: float) -> int:
	"""Popen.wait(timeout), but an interrupt leaves nothing locked behind, on which the next wait would wait for ever."""
	end, pause = time.monotonic() + timeout, 0.001
	while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
		if time.monotonic() >= end:
			raise ProcessFailed(f"did not end within {timeout:.0f} s")
		time.sleep(pause)
		pause = min(2 * pause, 0.05)
	return process.wait()


class Program:
	def __init__(self, path: str, timeout: float | None = None):
		self.path = os.path.abspath(path)
		self.timeout = timeout  # of one process; None: by what it has to do

	def _start(self, arguments: list[str], timeout: float, output) -> int:
		"""Runs it in a process group of its own, so that a hanging one ends with all it started."""
		# Not what a user's shell happens to say: it would reach some subjects and not others.
		tainted = re.compile(r"LD_PRELOAD|GLIBC_TUNABLES|MALLOC_|MIMALLOC_|TCMALLOC_|_RJEM_|LFPOOL_")
		clean = {name: value for name, value in os.environ.items() if not tainted.match(name)}
		process = subprocess.Popen([self.path, *arguments], env=clean, stdin=subprocess.DEVNULL,
			stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
		try:
			return wait_for(process, timeout)
		finally:
			if process.returncode is None:
				with contextlib.suppress(ProcessLookupError):
					os.killpg(process.pid, signal.SIGKILL)
				process.wait()

	def _run(self, arguments: list[str], timeout: float) -> str:
		with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
			def said() -> str:
				output.seek(0)
				return output.read()
			try:
				status = self._start(arguments, timeout, output)
			except OSError as error:
				raise ProcessFailed(f"cannot be started: {error.strerror}") from error
			except ProcessFailed as failure:
				raise ProcessFailed(failure.reason, said()) from None
			if status:
				how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
				raise ProcessFailed(f"ended {how}", said())
			return said()

	def rows(self) -> list[Row]:
		"""Everything it can measure."""
		said = self._run(["--benchmark_list_tests=true"], self.timeout or 60)
		found = [row for row in map(parse_row, said.split()) if row]
		if not found:
			raise ProcessFailed("lists nothing of the form WORKLOAD/BYTES/SUBJECT/.../threads:N", said)
		return found

	def measure(self, rows: list[Row], min_time: float) -> tuple[dict[Row, dict], dict]:
		"""One process, one repetition of each row: their counters, and the JSON context."""
		timeout = self.timeout or 120 + len(rows) * max(5, 50 * min_time)
		with tempfile.TemporaryDirectory() as folder:
			out = os.path.join(folder, "out.json")
			arguments = [f"--benchmark_filter={exact_filter(rows)}", f"--benchmark_min_time={min_time:g}",
				"--benchmark_repetitions=1", f"--benchmark_out={out}", "--benchmark_out_format=json"]
			if len(rows) > 1:
				# The order of the rows differs from process to process: no subject is always the one after some other.
				arguments.append("--benchmark_enable_random_interleaving=true")
			said = self._run(arguments, timeout)
			try:
				with open(out, encoding="utf-8") as file:
					data = json.load(file)
			except (OSError, ValueError) as error:
				raise ProcessFailed(f"left no JSON: {error.__class__.__name__}", said) from error
		return self._read(rows, data, said), data.get("context", {})

	@staticmethod
	def _read(rows: list[Row], data: dict, said: str) -> dict[Row, dict]:
		wanted = {row.name: row for row in rows}
		found: dict[Row, dict] = {}
		for entry in data.get("benchmarks", []):
			row = wanted.get(entry.get("run_name", entry.get("name")))
			if row is None or entry.get("run_type", "iteration") != "iteration":
				continue
			if entry.get("error_occurred"):
				raise ProcessFailed(f"{row.name}: {entry.get('error_message', 'an error without a message')}", said)
			counters = counters_of(entry)
			if not counters or not all(math.isfinite(value) for value in counters.values()):
				raise ProcessFailed(f"{row.name}: a counter is missing or no number", said)
			found[row] = counters
		missing = [row.name for row in rows if row not in found]
		if missing:
			others = f" and {len(missing) - 1} more" if missing[1:] else ""
			raise ProcessFailed(f"did not report {missing[0]}{others}", said)
		return found
