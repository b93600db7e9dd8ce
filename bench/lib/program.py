# SPDX-License-Identifier: MIT
"""program.py - lfpool-bench as a process.  The names of its rows are the interface: WORKLOAD/BYTES/SUBJECT/.../threads:N."""
from __future__ import annotations

import json
import math
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass

# The fields of Google Benchmark in every row, in addition to the counters.
NOT_COUNTERS = {"family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
	"real_time", "cpu_time"}
# Variables of a user's shell that would affect only some subjects.
TAINTED = re.compile(r"LD_PRELOAD|GLIBC_TUNABLES|MALLOC_|MIMALLOC_|TCMALLOC_|_RJEM_|LFPOOL_")


class Failed(Exception):
	"""The text has the reason, and the program's last output."""


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


def _run(path: str, arguments: list[str], timeout: float) -> str:
	clean = {name: value for name, value in os.environ.items() if not TAINTED.match(name)}
	try:
		done = subprocess.run([path, *arguments], env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout, check=False)
	except OSError as error:
		raise Failed(f"cannot be started: {error.strerror}") from error
	except subprocess.TimeoutExpired as error:
		raise Failed(f"did not end within {timeout:.0f} s") from error
	if done.returncode:
		raise Failed("\n".join([f"ended with status {done.returncode}", *done.stdout.splitlines()[-10:]]))
	return done.stdout


def rows(path: str) -> list[Row]:
	"""Everything it can measure."""
	found = [row for row in map(parse_row, _run(path, ["--benchmark_list_tests=true"], 60).split()) if row]
	if not found:
		raise Failed("lists no row of the form WORKLOAD/BYTES/SUBJECT/.../threads:N")
	return found


def measure(path: str, asked: list[Row], min_time: float) -> tuple[dict[Row, dict], dict]:
	"""One process, one repetition of each row: their counters, and the JSON context."""
	with tempfile.TemporaryDirectory() as folder:
		out = os.path.join(folder, "out.json")
		# A different order of rows in each process: no subject always follows the same one.
		_run(path, [f"--benchmark_filter={exact_filter(asked)}", f"--benchmark_min_time={min_time:g}", f"--benchmark_out={out}",
			"--benchmark_out_format=json", "--benchmark_enable_random_interleaving=true"],
			120 + len(asked) * max(5, 50 * min_time))
		with open(out, encoding="utf-8") as file:
			data = json.load(file)
	found = {entry["run_name"]: {key: value for key, value in entry.items() if key not in NOT_COUNTERS and isinstance(value, float)}
		for entry in data["benchmarks"]}
	for row in asked:
		if not found.get(row.name) or not all(map(math.isfinite, found[row.name].values())):
			raise Failed(f"{row.name}: missing in the report, or a figure is not a number")
	return {row: found[row.name] for row in asked}, data["context"]
