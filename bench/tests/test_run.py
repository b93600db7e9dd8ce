#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_run - test of bench/run against fake-bench: does it start the right processes, in the right order, with the
right environment, and does its file hold what they said?  Says nothing about speed.

    bench/tests/test_run.py
"""
import collections
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
# bench/run and fake-bench start by way of env, some hundred times: with the interpreter that runs this, and no wrapper around it.
os.environ["PATH"] = os.path.dirname(os.path.realpath(sys.executable)) + os.pathsep + os.environ["PATH"]
sys.path.insert(0, os.path.dirname(HERE))

from lib import program, results  # noqa: E402

SMALL = ("--workload", "pair|larson", "--threads", "1,2", "--bytes", "64", "--rounds", "2", "--min-time", "0.01")
FEW = (*SMALL, "--subject", "limit|mutex|spin|lfpool-inlined")


class Run(unittest.TestCase):
	def setUp(self):
		self.folder = tempfile.TemporaryDirectory()
		self.addCleanup(self.folder.cleanup)
		self.log = os.path.join(self.folder.name, "log")
		self.out = os.path.join(self.folder.name, "results", "out.json")

	def run_it(self, *arguments, status=0, **environment):
		"""Its output; the starts are in self.starts, the file in self.document."""
		if os.path.exists(self.log):
			os.remove(self.log)
		command = [os.path.join(HERE, "../run"), "--program", os.path.join(HERE, "fake-bench"), "--out", self.out, *arguments]
		done = subprocess.run(command, env={**os.environ, "FAKE_LOG": self.log, **environment}, capture_output=True,
			text=True, check=False)
		self.said = done.stdout + done.stderr
		self.assertEqual(done.returncode, status, self.said)
		self.starts = []
		if os.path.exists(self.log):
			with open(self.log, encoding="utf-8") as log:
				self.starts = [start for start in map(json.loads, log) if start["rows"] is not None]
		self.document = None
		if os.path.exists(self.out):
			with open(self.out, encoding="utf-8") as file:
				self.document = json.load(file)
		return self.said

	@staticmethod
	def groups(start):
		return {tuple(row.split("/")[:2]) for row in start["rows"]}

	@staticmethod
	def subjects(start):
		return {row.split("/")[2] for row in start["rows"]}

	def kind(self, start):
		return "dpdk" if all(name.startswith("dpdk-") for name in self.subjects(start)) else "plain"

	def cell(self, name):
		found = [cell for cell in self.document["cells"]
			if f"{cell['workload']}/{cell['bytes']}/{cell['subject']}/{cell['threads']}" == name]
		self.assertEqual(len(found), 1, name)
		return found[0]

	# ---- Order ----

	def test_kinds_of_a_group_follow_each_other(self):
		self.run_it(*SMALL, "--seed", "7")
		shared = [(self.groups(start), self.kind(start)) for start in self.starts]
		self.assertEqual(len(shared), 2 * 2 * 2)
		orders = set()
		for first in range(0, len(shared), 2):
			together = shared[first:first + 2]
			self.assertEqual(len({frozenset(groups) for groups, _ in together}), 1, "one group at a time")
			self.assertEqual({kind for _, kind in together}, {"plain", "dpdk"})
			orders.add(tuple(kind for _, kind in together))
		self.assertGreater(len(orders), 1, "the order of the kinds is never shuffled")

	def test_round_is_whole_before_the_next(self):
		self.run_it(*SMALL)
		seen = collections.Counter()
		total = len({row for start in self.starts for row in start["rows"]})
		for start in self.starts:
			seen.update(start["rows"])
			self.assertEqual(max(seen[row] for row in start["rows"]), min(seen[row] for row in start["rows"]))
			if 2 in seen.values():
				self.assertEqual(len(seen), total, "round 2 begins before round 1 is over")
		self.assertEqual(set(seen.values()), {2})

	def test_seed_decides_the_order(self):
		orders = []
		for seed in ("1", "1", "2"):
			self.assertIn(f"seed {seed}", self.run_it(*SMALL, "--seed", seed))
			orders.append([start["rows"] for start in self.starts])
		self.assertEqual(orders[0], orders[1])
		self.assertNotEqual(orders[0], orders[2])

	def test_memory_has_a_process_for_each_subject(self):
		self.run_it("--workload", "memory|create-1000", "--subject", "mutex|spin|dpdk-ring|mimalloc", "--rounds", "1")
		self.assertEqual(len(self.starts), 2 * 4)
		for start in self.starts:
			self.assertEqual(len(self.subjects(start)), 1)
			self.assertEqual(len(start["rows"]), 1)

	# ---- What the processes are told ----

	def test_environment(self):
		# What the shell says must reach no process.
		self.run_it(*SMALL, LD_LIBRARY_PATH="/nowhere", MALLOC_ARENA_MAX="1", LFPOOL_BACKEND="mutex", GLIBC_TUNABLES="")
		for start in self.starts:
			self.assertEqual(set(start["environment"]), {"LD_LIBRARY_PATH"})

	def test_flags(self):
		self.run_it(*SMALL)
		for start in self.starts:
			self.assertIn("--benchmark_min_time=0.01", start["arguments"])
			self.assertIn("--benchmark_repetitions=1", start["arguments"])
			interleaved = "--benchmark_enable_random_interleaving=true" in start["arguments"]
			self.assertEqual(interleaved, len(start["rows"]) > 1)

	def test_filter_is_exact(self):
		rows = [program.parse_row("pair/64/a.b+c/manual_time/threads:1"),
			program.parse_row("pair/64/(x|y)/manual_time/threads:2")]
		expression = re.compile(program.exact_filter(rows))
		for row in rows:
			self.assertTrue(expression.search(row.name))
		for name in ("pair/64/aXb+c/manual_time/threads:1", "pair/64/a.b+c/manual_time/threads:16",
				"xpair/64/a.b+c/manual_time/threads:1", "pair/64/x/manual_time/threads:2"):
			self.assertFalse(expression.search(name), name)

	def test_choice(self):
		self.run_it("--workload", "burst-.*", "--subject", "malloc|lfpool-inlined", "--threads", "2,4", "--bytes", "16",
			"--rounds", "1")
		self.assertEqual({name for start in self.starts for name in self.subjects(start)}, {"malloc", "lfpool-inlined"})
		self.assertEqual(len(self.document["cells"]), 6 * 2 * 2)
		self.assertEqual({cell["bytes"] for cell in self.document["cells"]}, {16})

	def test_short_and_full(self):
		def measured(*arguments):
			self.run_it("--rounds", "1", *arguments)
			return {(cell["workload"], cell["bytes"], cell["threads"]) for cell in self.document["cells"]}
		self.assertEqual({cell for cell in measured("--subject", "mutex") if cell[0] == "pair"},
			{("pair", 64, threads) for threads in (1, 2, 4)})
		self.assertEqual(self.document["method"]["rounds_asked"], 1)
		found = measured("--full", "--subject", "mimalloc")
		self.assertEqual({cell for cell in found if cell[0] == "handoff-1-1"},
			{*(("handoff-1-1", 64, threads) for threads in (2, 4)), *(("handoff-1-1", bytes, 2) for bytes in (16, 256, 4096))})
		self.assertEqual({threads for _, _, threads in found}, {1, 2, 4})
		self.assertEqual(self.document["method"]["mode"], "full")
		# Each part has a budget, and says what it took.
		parts = {part["what"]: part for part in self.document["method"]["parts"]}
		self.assertIn("other sizes", parts)
		for part in parts.values():
			self.assertGreater(part["budget"], 0)
			self.assertIn("seconds", part)
		self.assertEqual(measured("--workload", "keep-32768", "--threads", "8", "--subject", "mutex"), {("keep-32768", 64, 8)})

	def test_full_is_twenty_minutes(self):
		"""With what comes before and after bench/run."""
		run = runpy.run_path(os.path.join(HERE, "../run"))
		seconds = 7 * sum(part.seconds for part in run["PARTS"])
		self.assertLessEqual(seconds, run["BUDGET"]["full"])
		self.assertEqual(run["ROUNDS"]["full"], 7)

	def test_pools_of_other_kinds(self):
		def measured(*arguments):
			self.run_it("--rounds", "1", *arguments)
			return {(cell["workload"], cell["threads"]) for cell in self.document["cells"]}
		self.assertEqual(measured("--full", "--subject", "heap-mutex"), {(f"evict-{share}-{capacity}", threads)
			for share in (5, 50, 100) for capacity in (32, 1024, 65536) for threads in (1, 2, 4)})
		self.assertEqual({self.kind(start) for start in self.starts}, {"plain"}, "no allocator is in their loop")
		self.assertIsNotNone(self.document["cells"][0]["repetitions"][0]["ns_per_operation"])
		self.assertEqual(measured("--full", "--subject", "lfpool-rcu"), {*(("retire", threads) for threads in (1, 2, 4)),
			("retire-read", 2), ("retire-read", 4), ("backlog-1000000", 2), ("backlog-unlimited", 2), ("backlog-bounded", 2)})

	def test_what_other_programs_take(self):
		self.run_it(*SMALL)
		self.assertTrue(0 <= self.document["method"]["others"] <= 1.1, self.document["method"])

	# ---- The file ----

	def test_content(self):
		self.run_it("--workload", "pair|memory", "--threads", "1,2", "--rounds", "2", "--seed", "5",
			"--subject", "limit|lfpool-inlined|ck-stack|.*emalloc|mimalloc")
		document = self.document
		results.load(self.out)
		self.assertEqual(document["format"], 1)
		cell = self.cell("pair/64/lfpool-inlined/2")
		self.assertEqual([repetition["round"] for repetition in cell["repetitions"]], [1, 2])
		for key in ("ns_per_pair", "pairs", "fairness", "misses_per_pair", "retries_per_pair"):
			self.assertIn(key, cell["repetitions"][0])
		self.assertNotIn("real_time", cell["repetitions"][0])
		figures = [repetition["ns_per_pair"] for repetition in cell["repetitions"]]
		self.assertAlmostEqual(cell["spread"], (max(figures) - min(figures)) / (sum(figures) / 2))
		self.assertIn("resident_bytes_per_object_released", self.cell("memory/64/jemalloc/2")["repetitions"][1])
		self.assertEqual(document["subjects"]["mimalloc"],
			{"group": "allocator", "what": "what mimalloc is", "version": "1.0"})
		self.assertEqual(document["subjects"]["ck-stack"]["group"], "lock-free")
		self.assertEqual(document["workloads"]["pair"], "what pair does")
		self.assertEqual(document["method"]["seed"], 5)
		self.assertEqual(document["method"]["rounds"], 2)
		self.assertEqual(document["method"]["pinning"], "one CPU each")
		self.assertEqual({cell["threads"] for cell in document["noise"]["limit_in_pair"]}, {1, 2})
		self.assertGreaterEqual(document["noise"]["all_cells"]["greatest"], document["noise"]["all_cells"]["median"])

	def test_machine_without_names(self):
		self.run_it(*SMALL)
		for key in ("cpu", "cores", "kernel", "library", "date", "load_average", "memory_mib"):
			self.assertIn(key, self.document["machine"])
		with open(self.out, encoding="utf-8") as file:
			text = file.read()
		for secret in ("secret", os.uname().nodename, self.folder.name, HERE):
			self.assertNotIn(f"{secret}", text)

	def test_skipped_peers(self):
		self.run_it(*SMALL)
		skipped = self.document["skipped"]
		self.assertEqual(set(skipped), {"absent-peer"})
		self.assertIn("libabsent-dev", skipped["absent-peer"])
		self.assertIn("skipped absent-peer: not installed", self.said)

	# ---- Failures ----

	def failing(self, reason, *arguments, **environment):
		said = self.run_it(*FEW, *arguments, status=1, **environment)
		self.assertRegex(said, f"FAILED pair/64/spin, round 1: {reason}")
		self.assertRegex(self.document["skipped"]["pair/64/spin"], f"^failed in round 1: {reason}")
		self.assertEqual(len(self.cell("larson/64/spin/2")["repetitions"]), 2, "another workload has it still")
		self.assertEqual(len(self.cell("pair/64/mutex/2")["repetitions"]), 2, "its companions are measured")
		self.assertNotIn(("pair", "spin"), {(cell["workload"], cell["subject"]) for cell in self.document["cells"]})
		asked = [start for start in self.starts if any(row.startswith("pair/64/spin/") for row in start["rows"])]
		self.assertEqual(len(asked), 2, "tried with others and alone, and then no more")
		return said

	def test_failing_process(self):
		said = self.failing("ended with status 134", FAKE_FAIL="^pair/64/spin/")
		self.assertIn("fake-bench: told to fail", said)
		self.assertTrue(self.document["failures"])

	def test_row_left_out(self):
		self.failing("did not report pair/64/spin/", FAKE_OMIT="^pair/64/spin/")

	def test_row_with_an_error(self):
		self.failing("pair/64/spin/.*: told to report an error", FAKE_ERROR="^pair/64/spin/")

	def test_row_that_is_no_number(self):
		self.failing("pair/64/spin/.*: a counter is missing or no number", FAKE_NAN="^pair/64/spin/.*:2$")

	def test_hanging_process(self):
		self.failing("did not end within 2 s", "--timeout", "2", FAKE_HANG="^pair/64/spin/")

	def test_interrupted_run_keeps_whole_rounds(self):
		command = [os.path.join(HERE, "../run"), "--program", os.path.join(HERE, "fake-bench"), "--out", self.out,
			"--workload", "pair", "--subject", "mutex", "--rounds", "100000"]
		with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
			while not os.path.exists(self.out):
				self.assertIsNone(running.poll(), "ended by itself")
				time.sleep(0.01)
			running.send_signal(signal.SIGINT)
			said = running.communicate()[0]
		self.assertEqual(running.returncode, 130, said)
		with open(self.out, encoding="utf-8") as file:
			document = json.load(file)
		rounds = document["method"]["rounds"]
		self.assertGreaterEqual(rounds, 1)
		self.assertEqual({len(cell["repetitions"]) for cell in document["cells"]}, {rounds})
		self.assertIn(f"interrupted; {rounds} whole rounds are in", said)
		self.assertNotIn("Traceback", said)

	def test_interrupted_at_each_line(self):
		"""Where a process is waited for: the wait ends, nothing hangs, and no child is left."""
		functions = {"wait_for", "wait", "_wait", "_try_wait", "_handle_exitstatus"}
		files = {program.__file__, subprocess.__file__}
		lines_left = 0
		def trace(frame, event, _):
			nonlocal lines_left
			if frame.f_code.co_name not in functions or frame.f_code.co_filename not in files:
				return None
			lines_left -= event == "line"
			if lines_left == 0:
				raise KeyboardInterrupt
			return trace
		def interrupted(line):
			nonlocal lines_left
			lines_left = line
			signal.alarm(60)
			sys.settrace(trace)
			try:
				program.Program("/bin/sleep")._start(["0.02"], 30, subprocess.DEVNULL)
				return False
			except KeyboardInterrupt:
				return True
			finally:
				sys.settrace(None)
				signal.alarm(0)
				self.assertRaises(ChildProcessError, os.waitpid, -1, os.WNOHANG)
		line = 1
		while interrupted(line):
			line += 1
		self.assertGreater(line, 10)

	def test_useless_program(self):
		self.assertIn("ended with status 1", self.run_it("--program", "/bin/false", status=2))
		self.assertIn("lists nothing", self.run_it("--program", "/bin/true", status=2))
		self.assertIn("cannot be started", self.run_it("--program", "/nowhere", status=2))

	# ---- Budget ----

	def test_budget_trims_rounds(self):
		said = self.run_it("--workload", "pair", "--subject", "mutex", "--rounds", "50", "--budget", "3",
			FAKE_SECONDS="0.5")
		rounds = self.document["method"]["rounds"]
		self.assertTrue(1 <= rounds < 50)
		self.assertIn(f"{rounds} of 50 rounds: another one would not fit into the budget of 3 s", said)
		self.assertEqual(len(self.cell("pair/64/mutex/1")["repetitions"]), rounds)
		self.assertEqual(self.document["method"]["rounds_asked"], 50)

	def test_budget_leaves_one_round(self):
		said = self.run_it("--workload", "pair", "--subject", "mutex", "--budget", "0.001")
		self.assertEqual(self.document["method"]["rounds"], 1)
		self.assertIn("more than the budget", said)
		self.assertEqual(self.document["noise"], {}, "one round says nothing about noise")

	# ---- Command line ----

	def test_bad_arguments(self):
		for arguments in (("--rounds", "0"), ("--threads", "1,x"), ("--bytes", "0"), ("--workload", "("),
				("--budget", "-1"), ("--min-time", "nan"), ("--nonsense",), ("argument",), ("--threads", "2")):
			self.assertRegex(self.run_it(*arguments, status=2), "error: ")
		said = self.run_it("--workload", "nobody", status=2)
		self.assertRegex(said, "no cell was chosen[^$]*burst-32-lifo[^$]*mutex")
		self.assertIsNone(self.document)


if __name__ == "__main__":
	unittest.main()
