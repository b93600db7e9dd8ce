#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_report - test of bench/report: does the document say of fixture.py's figures what is true of them, do its links
lead somewhere, and is input that is no results file refused?  And do README.md and docs/performance have one set of figures?

    bench/tests/test_report.py
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import fixture  # noqa: E402
from lib import document, explanations, figures, goals, losses, results, text  # noqa: E402

REASONS = """# Explanations

<!--
## W9

not a key
-->

## BURST, burst-256-lifo/64

The magazine is emptied 8 times.

Second paragraph.

## CREATE

It is met: never shown.
"""
INSTRUCTIONS = {"instructions": {"pair": {"limit": 12, "lfpool-inlined": 49.5, "lfpool-typed": 47}}}


class Case(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = folder.name

	def path(self, *names):
		return os.path.join(self.folder, *names)

	def write(self, name, content):
		with open(self.path(name), "w", encoding="utf-8") as file:
			file.write(content if isinstance(content, str) else json.dumps(content))
		return self.path(name)

	def read(self, *names):
		with open(self.path(*names), encoding="utf-8") as file:
			return file.read()

	def report(self, *arguments, status=0, interpreter=()):
		done = subprocess.run([*interpreter, os.path.join(HERE, "../report"), *arguments], capture_output=True, text=True,
			check=False, cwd=self.folder)
		self.assertEqual(done.returncode, status, done.stdout + done.stderr)
		return done.stdout + done.stderr


class Document(Case):
	"""Made once; looked at by each test."""
	made = None

	@classmethod
	def setUpClass(cls):
		cls.kept = tempfile.TemporaryDirectory()
		cls.addClassCleanup(cls.kept.cleanup)
		case = cls()
		case.folder = cls.kept.name
		readme = case.write("README.md", f"before\n{figures.BEGIN}\nold\n{figures.END}\nafter\n")
		cls.said = case.report(case.write("results.json", fixture.results()), "--out", case.path("docs", "performance.md"),
			"--explanations", case.write("reasons.md", REASONS), "--instructions",
			case.write("instructions.json", INSTRUCTIONS), "--readme", readme)
		cls.made = case.read("docs", "performance.md")

	def setUp(self):
		self.folder = self.kept.name

	def rows(self, name):
		with open(self.path("docs", "performance", f"{name}.csv"), encoding="utf-8", newline="") as file:
			return list(csv.DictReader(file))

	def row(self, name, **wanted):
		found = [row for row in self.rows(name) if all(row[key] == value for key, value in wanted.items())]
		self.assertEqual(len(found), 1, wanted)
		return found[0]

	def verdict(self, name):
		return next([cell.strip() for cell in line.strip("|").split("|")][2:] for line in self.made.splitlines()
			if line.startswith(f"| {name} |"))

	# ---- Figures ----

	def test_medians_and_ranges(self):
		row = self.row("pairs", workload="pair", bytes="64", subject="lfpool-inlined", threads="2")
		self.assertEqual([row[key] for key in ("group", "rounds", "ns_per_pair", "ns_per_pair_least", "ns_per_pair_greatest",
			"misses_per_pair")], ["lfpool", "3", "1.9", "1.8", "3.4", "0.002"])
		# Of two repetitions the median is between them.
		self.assertEqual(self.row("pairs", workload="pair", subject="mimalloc", threads="1")["ns_per_pair"], "6.05")

	def test_families(self):
		self.assertEqual(self.row("latency", subject="malloc")["acquire_ns_p99"], "47")
		self.assertEqual(self.row("memory", subject="lfpool-inlined")["resident_bytes_per_object_released"], "60")
		self.assertEqual(self.row("creation", subject="malloc", workload="create-1000")["destroy_ns"], "450")
		self.assertEqual(self.row("exhausted", threads="1")["acquire_ns"], "80")
		self.assertEqual(self.row("evicting", workload="evict-5-32", subject="tbb-queue", threads="2")["refused"], "0.0002")
		self.assertEqual(self.row("retire", workload="retire", subject="lfpool-rcu", threads="8")["settled_ns"], "120")
		self.assertEqual(self.row("backlog", workload="backlog-unlimited")["updates_per_second"], "5000000")
		self.assertEqual(self.row("instructions", subject="lfpool-typed")["pair"], "47")
		self.assertIn("libjemalloc2", self.row("subjects", subject="jemalloc")["not measured"])

	def test_losses(self):
		row = self.row("losses", subject="lfpool-inlined", workload="burst-256-lifo")
		self.assertEqual([row[key] for key in ("threads", "median", "least", "greatest", "peer", "peer_median", "peer_least",
			"peer_greatest", "ratio", "peers_ahead", "within_noise", "explained")],
			["2", "5", "4.9", "5.1", "mimalloc", "4", "3.9", "4.1", "1.25", "1", "no", "BURST"])
		self.assertIn("| burst-256-lifo | 1 | 64, 2 | 5.00 (4.90 to 5.10) | mimalloc 4.00 (3.90 to 4.10) | 1.25 | see BURST |", self.made)
		self.assertEqual(self.row("losses", subject="lfpool-inlined", workload="larson")["within_noise"], "yes")
		self.assertNotIn("| larson |", self.made, "what is within the noise is counted, not listed")
		self.assertRegex(self.made, r"lfpool-inlined: [^#]*behind\s+in\s+\d+\s+\(of\s+them\s+\d+\s+within\s+the\s+noise\)")
		# Each by the one with the same readers.
		self.assertEqual({row["peer"] for row in self.rows("losses") if row["subject"] == "lfpool-epoch"}, {"ck-epoch-malloc"})

	# ---- Verdicts ----

	def test_goals(self):
		states = {name: self.verdict(name)[0].strip("*") for name in re.findall(r"^\| ([A-Z][A-Z0-9-]+) \|", self.made, re.M)}
		self.assertEqual(states, {
			"HIT": "not met",  # 2.3 on 8 threads
			"HIT-TYPED": "met as far as measured",  # no snmalloc-thread
			"BURST": "not met",  # mimalloc on 2 threads
			"RANDOM-BURST": "not measured", "KEEP": "not measured",
			"LARSON": "not met",  # malloc, by a hair
			"INSTR": "not met",  # typed
			"CALL": "met as far as measured",  # no jemalloc
			"CALL-CLOSE": "not met",  # mimalloc on 4 threads
			"CALL-INLINED": "not measured", "SHARED": "not measured",
			"BULK": "not met",  # 2.5 x
			"HANDOFF": "not met",  # 10 ns
			"RANDOM-1M": "not measured",
			"EXHAUSTED": "met", "MUTEX": "met", "MEMORY": "met",
			"CREATE": "not met",  # 3.6 ms
			"EVICT-MUTEX": "not met",  # 4 threads
			"EVICT-FLOOR": "not met",  # 2.5 x
			"RETIRE-CALL-RCU": "met", "RETIRE-MUTEX": "met as far as measured",
			"RETIRE-EPOCH": "not met",  # 1 thread
			"RETIRE-BOUND": "met",
		})
		for name, figure in (("HIT", "pair: 1.44 x snmalloc-inlined on 8 threads"), ("LARSON", "larson: 1.02 x malloc on 1 thread,"
				" within the noise"), ("LARSON", "did not run: rpmalloc-inlined, tcmalloc, jemalloc and dpdk-stack"),
				("CALL", "did not run: tcmalloc and jemalloc"), ("CALL-CLOSE", "pair: 1.11 x mimalloc on 4 threads"),
				("INSTR", "lfpool-typed 47 (of them the loop, as in limit: 12)"), ("BULK", "bulk-32: 2.50 x dpdk-ring on 2 threads"),
				("HANDOFF", "64 bytes: the ring and 10.0 ns on 2 threads"),
				("HANDOFF", "not measured: 4096 bytes"), ("MEMORY", "4.50 bytes"),
				("EVICT-MUTEX", "evict-5-32: 1.12 x heap-mutex on 4 threads, within the noise<br>evict-50-1024: 0.33 x heap-mutex on 2"
				" threads (not measured: 4); evict-100-1024: 0.25 x heap-mutex on 2 threads (not measured: 4)"
				"<br>not measured: evict-5-1024"), ("RETIRE-MUTEX", "(not measured: 4)"),
				("RETIRE-BOUND", "at most 1.33 MiB, 1.25 x its objects (lfpool-rcu on 2 threads)")):
			self.assertIn(figure, self.verdict(name)[1], name)
		self.assertRegex(self.said, "HIT +not met: ")

	def test_explanations(self):
		self.assertIn("**BURST**: The magazine is emptied 8 times. Second paragraph.", self.made)
		self.assertIn("**LARSON**: not explained.", self.made)
		self.assertNotIn("W9", self.made + self.said)

	# ---- The rest ----

	def test_front(self):
		said = " ".join(self.made.split())
		for words in ("Test CPU", "gcc 12", "2.0 GiB", "3 rounds (5 were asked for)", "seed 42", "`scripts/bench --full`",
				"jemalloc (library not found (Debian: libjemalloc2))", "v1-2-gabc", "20 % on 1, 20 % on 2, 20 % on 4 and 20 % on 8",
				"Made by bench/report results.json --out performance.md", "**quiet (other programs took 1.0 % of the processors)**"):
			self.assertIn(words, said)
		self.assertNotIn(self.folder, self.made)
		self.assertLessEqual(self.made.count("\n"), 250)

	def test_links_and_pictures(self):
		links = re.findall(r"!?\[[^\]]*\]\(([^)]+)\)", self.made)
		self.assertEqual(sum(link.endswith(".png") for link in links), 4)
		self.assertEqual(sum(link.endswith(".csv") for link in links), len(figures.FAMILIES) + 4)
		for link in links:
			if not link.startswith("../"):
				self.assertGreater(os.path.getsize(self.path("docs", link)), 50, link)

	def test_readme(self):
		readme = self.read("README.md")
		self.assertTrue(readme.startswith("before\n") and readme.endswith("after\n") and "old" not in readme)
		self.assertIn("| the same object again and again, inlined | **1.9** / 1.6 snmalloc-inlined |"
			" **1.9** / 1.6 snmalloc-inlined | **1.9** / 1.6 snmalloc-inlined | 50 |", readme)
		# Calls are compared with calls; the ring is no peer.
		self.assertIn("| the same, by a call | **5.0** / 6.0 mimalloc | **5.0** / 6.0 mimalloc | **5.0** / 4.5 mimalloc |  |", readme)
		self.assertIn("| handed from thread to thread, through a ring |  | **50.0** / 70.0 malloc | **50.0** / 70.0 malloc |  |", readme)
		self.assertIn("| the ring alone |  | 40.0 | 40.0 |  |", readme)


class Kept(unittest.TestCase):
	"""What is in the repository."""

	def test_readme_has_the_figures_of_the_tables(self):
		with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
			table = file.read().split(figures.BEGIN)[1].split(figures.END)[0]
		self.assertEqual(table.strip().splitlines(), figures.speed(os.path.join(ROOT, "docs/performance")))

	def test_document_is_short(self):
		with open(os.path.join(ROOT, "docs/performance.md"), encoding="utf-8") as file:
			self.assertLessEqual(len(file.readlines()), 250)

	def test_every_goal_is_explained(self):
		known = explanations.Explanations(os.path.join(ROOT, "bench/explanations.md"))
		ids = {verdict.id for verdict in goals.evaluate(results.Results(fixture.results()), {})}
		self.assertLessEqual(set(filter(str.isupper, known.texts)), ids)


class Parts(Case):
	def results(self, **changes):
		return results.Results({**fixture.results(), **changes})

	def test_what_is_missing_is_not_met(self):
		cells = [cell for cell in fixture.results()["cells"] if cell["workload"] == "pair" and cell["subject"] == "limit"]
		self.assertEqual({verdict.state for verdict in goals.evaluate(self.results(cells=cells), {})}, {goals.UNMEASURED})

	def test_evicting_goals(self):
		def judged(factor, cases):
			cells = [fixture.cell(case, 64, subject, threads, figure, figure, key="ns_per_operation") for case in cases
				for threads in (1, 2, 4) for subject, figure in (("lfpool-priority", 10.0 * factor), ("heap-mutex", 10.0),
					("heap-unlocked", 6.0))]
			verdicts = {verdict.id: verdict for verdict in goals.evaluate(self.results(cells=cells), {})}
			return verdicts["EVICT-MUTEX"].state, verdicts["EVICT-FLOOR"].state
		self.assertEqual(judged(0.9, goals.EVICT), (goals.MET, goals.MET))
		self.assertEqual(judged(0.9, goals.EVICT[1:]), (goals.OPEN, goals.OPEN), "a size is missing")
		self.assertEqual(judged(1.0, goals.EVICT), (goals.NOT_MET, goals.MET), "as good as is not ahead")
		self.assertEqual(judged(1.3, goals.EVICT), (goals.NOT_MET, goals.NOT_MET))

	def test_one_round_excuses_nothing(self):
		data = fixture.results()
		for cell in data["cells"]:
			del cell["repetitions"][1:]
		found = losses.compare(results.Results(data), "lfpool-inlined")
		self.assertEqual([loss.mine.workload for loss in found.losses if loss.within_noise], ["memory"], "a tie")
		self.assertEqual(found.ahead_within_noise, 0)
		self.assertEqual(results.noise(list(results.Results(data).cells.values())), {})

	def test_memory_that_is_not_understood(self):
		data = fixture.results()
		for cell in data["cells"]:
			if cell["workload"] == "memory":
				cell["repetitions"][0]["bytes_per_object"] = 5.0
		verdict = next(verdict for verdict in goals.evaluate(results.Results(data), {}) if verdict.id == "MEMORY")
		self.assertEqual(verdict.state, goals.NOT_MET)

	def test_busy(self):
		for method, load, said in (({"others": 0.06}, 0, "BUSY"), ({"others": 0.04}, 9, "quiet"), ({}, 1.5, "BUSY"), ({}, 0.2, "quiet")):
			machine = {**fixture.results()["machine"], "load_average": load}
			self.assertTrue(document.quiet(self.results(method=method, machine=machine)).startswith(said), (method, load))

	def test_closest_explanation(self):
		found = explanations.Explanations(self.write("reasons.md", "## larson\na\n## HIT, larson/64\nb\n## larson/64/2\nc\n"))
		self.assertEqual([found.key_of_case("larson", 64, 2), found.key_of_case("larson", 64, 4), found.key_of_case("larson", 16, 4)],
			["larson/64/2", "HIT", "larson"])
		self.assertIsNone(found.key_of_case("pair", 16, 4))

	def test_numbers(self):
		for value, shown in ((0, "0"), (0.00012, "1.2e-4"), (0.015, "0.015"), (1.234, "1.23"), (12.34, "12.3"),
				(99.97, "100"), (1234.5, "1,234"), (9.996, "10.0")):
			self.assertEqual(text.number(value), shown)


class Refusals(Case):
	def refused(self, reason, *files, arguments=(), status=2, **more):
		said = self.report(*files, "--out", self.path("out.md"), *arguments, status=status, **more)
		self.assertRegex(said, reason)
		self.assertNotIn("Traceback", said)
		self.assertFalse(os.path.exists(self.path("out.md")))

	def changed(self, change):
		data = fixture.results()
		change(data)
		return self.write("results.json", data)

	def test_broken_results(self):
		self.refused("nowhere.json: No such file", self.path("nowhere.json"))
		self.refused("results.json: not JSON", self.write("results.json", "{\"format\": 1, "))
		self.refused("results.json: not a results file of bench/run", self.write("results.json", []))
		self.refused("format 2, but this program reads format 1", self.changed(lambda data: data.update(format=2)))
		self.refused("it has no cells", self.changed(lambda data: data.update(cells=[])))
		self.refused("results.json: not what bench/run writes", self.changed(lambda data: data.pop("machine")))
		self.refused("results.json: not what bench/run writes", self.changed(lambda data: data["cells"][3].pop("threads")))

	def test_broken_companions(self):
		good = self.write("results.json", fixture.results())
		self.refused("instructions.json: not what bench/instructions", good,
			arguments=("--instructions", self.write("instructions.json", {"instructions": {}})))
		self.refused("none.json: No such file", good, arguments=("--instructions", self.path("none.json")))
		self.refused("HIT is explained twice", good,
			arguments=("--explanations", self.write("twice.md", "## HIT\na\n## W5, HIT\nb\n")))
		self.refused("nothing is said about HIT", good,
			arguments=("--explanations", self.write("empty.md", "## HIT\n\n")))
		self.refused("required: RESULTS.json")

	def test_no_place(self):
		path = self.write("README.md", "no place")
		self.assertRaisesRegex(results.BadResults, "README.md: no place for the table", figures.put_into, path, [])

	def test_no_matplotlib(self):
		# -S: without what is installed beside the standard library.
		self.refused("python3-matplotlib", self.write("results.json", fixture.results()), status=3, interpreter=(sys.executable, "-S"))


if __name__ == "__main__":
	unittest.main()
