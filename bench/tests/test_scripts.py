#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_scripts - bench/run, bench/report and bench/pack write the measured figures, name and omit a subject that fails, and judge
invented figures correctly.  Nothing here depends on speed.

    bench/tests/test_scripts.py LFPOOL-BENCH
"""
import csv
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))

from lib import judge, page, program, results  # noqa: E402

PROGRAM = sys.argv.pop(1)


def invented(cells):
	"""WORKLOAD THREADS: SUBJECT FIGURE..., 64 bytes."""
	groups = {"mimalloc": "allocator", "snmalloc-inlined": "allocator", "heap-mutex": "own", "limit": "limit"}
	data = {"machine": {}, "method": {}, "skipped": {}, "cells": [], "subjects": {}}
	for place, subjects in (line.split(": ") for line in cells.strip().splitlines()):
		workload, threads = place.split()
		key = next(iter(results.figures_of(workload)))
		for subject, *figures in map(str.split, subjects.split(", ")):
			data["subjects"][subject] = {"group": groups.get(subject, "lfpool")}
			data["cells"].append({"workload": workload, "bytes": 64, "subject": subject, "threads": int(threads),
				"repetitions": [{key: float(figure)} for figure in figures]})
	return results.Results(data)


class Scripts(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder, self.out = folder.name, os.path.join(folder.name, "out.json")

	def script(self, name, *arguments, status=0):
		done = subprocess.run([os.path.join(HERE, "..", name), *arguments], capture_output=True, text=True, check=False)
		self.assertEqual(done.returncode, status, done.stdout + done.stderr)
		return done.stdout + done.stderr

	def measure(self, program=PROGRAM, status=0):
		said = self.script("run", "--program", program, "--out", self.out, "--workload", "pair|larson|work-30", "--subject",
			"limit|lfpool-inlined|lfpool-thread|malloc", "--threads", "1,2", "--rounds", "3", "--min-time", "0.0005", status=status)
		with open(self.out, encoding="utf-8") as file:
			return said, json.load(file)

	def test_run_and_report(self):
		_, data = self.measure()
		self.assertEqual({len(cell["repetitions"]) for cell in data["cells"]}, {3})
		self.assertEqual(len(data["cells"]), 3 * 4 * 2 - 1, "limit has no larson on two threads")
		self.assertNotIn(os.uname().nodename, json.dumps(data))
		readme, document = (os.path.join(self.folder, name) for name in ("README.md", "it.md"))
		shutil.copy(os.path.join(ROOT, "README.md"), readme)
		said = self.script("report", self.out, "--out", document, "--readme", readme)
		self.assertRegex(said, r"HIT +not measured")
		self.assertLessEqual({"throughput.png", "peers.png", "work.png"}, set(os.listdir(os.path.join(self.folder, "it"))))
		with open(os.path.join(self.folder, "it", "pairs.csv"), encoding="utf-8", newline="") as file:
			rows = {(row["workload"], row["threads"]): row for row in csv.DictReader(file)}
		of = {(cell["workload"], str(cell["threads"]), cell["subject"]): [one["ns_per_pair"] for one in cell["repetitions"]]
			for cell in data["cells"]}
		for (workload, threads, subject), figures in of.items():
			self.assertAlmostEqual(float(rows[workload, threads][subject]) / statistics.median(figures), 1, delta=0.001)
		with open(readme, encoding="utf-8") as file:
			shown = page.shown(statistics.median(of["pair", "1", "lfpool-inlined"]))
			self.assertIn(f"| the same object again and again, inlined | **{shown}** / ", file.read())
		with open(document, encoding="utf-8") as file:
			made = file.read()
		self.assertIn("### lfpool-inlined: a program that can include", made)
		self.assertNotIn("79d1156", made, "the old text remains")

	def test_an_archive_needs_no_git(self):
		tools = os.path.join(self.folder, "tools")
		os.mkdir(tools)
		os.symlink(sys.executable, os.path.join(tools, "python3"))
		for copy in ("no-git", "in-git"):
			shutil.copytree(os.path.dirname(HERE), os.path.join(self.folder, copy, "bench"))
		subprocess.run(["git", "init", "-q", self.folder], check=True)
		subprocess.run(["git", "-C", self.folder, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x", "--allow-empty"], check=True)
		for name, path in (("no-git", tools), ("in-git", os.environ["PATH"])):
			done = subprocess.run([os.path.join(self.folder, name, "bench", "run"), "--program", PROGRAM, "--out", self.out, "--workload",
				"pair", "--subject", "limit", "--threads", "1", "--rounds", "1", "--min-time", "0.0005"], check=False,
				capture_output=True, text=True, env=os.environ | {"PATH": path})
			self.assertEqual(done.returncode, 0, done.stderr)
			with open(self.out, encoding="utf-8") as file:
				self.assertEqual(json.load(file)["machine"]["library"], "unknown")

	def test_comparison_opens_with_what_was_measured(self):
		said, data = self.measure()
		left_out = [line for line in said.splitlines() if any(name in line.split() for name in data["skipped"])]
		self.assertEqual(len(left_out), min(1, len(data["skipped"])), "the peers that are not installed are on one line")
		document = os.path.join(self.folder, "it.md")
		self.script("report", self.out, "--out", document, "--comparison")
		with open(document, encoding="utf-8") as file:
			made = file.read()
		table = [line.strip("| ").split(" | ") for line in made.split("| --- ")[0].splitlines() if line.startswith("|")]
		self.assertEqual(table, [["workload", "bytes", "threads", "lfpool, inlined", "lfpool, called", "malloc", "limit"]])
		rows = {tuple(cells[:3]): cells[3:] for line in made.split("![")[0].splitlines()
			if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 7 and cells[1].isdigit()}
		self.assertEqual(set(rows), {(cell["workload"], "64", str(cell["threads"])) for cell in data["cells"]})
		for cell in data["cells"]:
			column = ["lfpool-inlined", "lfpool-thread", "malloc", "limit"].index(cell["subject"])
			shown = float(rows[cell["workload"], "64", str(cell["threads"])][column].replace(",", ""))
			self.assertAlmostEqual(shown / statistics.median(one["ns_per_pair"] for one in cell["repetitions"]), 1, delta=0.06)
		self.assertIn("](it/throughput.png)", made)
		self.assertNotIn("not m", made.split("## Not measured")[0], "a goal that was missed, or not measured")
		for name, reason in data["skipped"].items():
			self.assertIn(f"| {name} | {reason} |", made)
		self.script("report", self.out, "--comparison", status=2)

	def test_a_pack_needs_nothing_of_this_machine(self):
		packed = os.path.join(self.folder, "it.tar.gz")
		self.script("pack", PROGRAM, packed)
		subprocess.run(["tar", "-C", self.folder, "-xf", packed], check=True)
		pack = os.path.join(self.folder, "lfpool-scale")
		said = self.script(os.path.join(pack, "scripts/bench"), "--scale", "--rounds", "1", "--min-time", "0.0005", "--subject",
			"limit|ring|lfpool-(inlined|thread|evicting)|heap-mutex|(mi)?malloc")
		for workload in ("pair", "burst-4096-shuffled", "keep-512", "larson", "jobs", "handoff-1-1", "exhausted"):
			self.assertRegex(said, rf"\| {workload}, lfpool-inlined \|.*\| \*\*[\d.]+\*\*.*\|\n")
		self.assertRegex(said, r"\| evict-5-1024, lfpool-evicting \| \*\*[\d.]+\*\* / [\d.]+ heap-mutex \|")
		self.assertLessEqual({"results.json", "pairs.csv", "exhausted.csv", "evicting.csv", "scale.png", "evicting.png"},
			set(os.listdir(os.path.join(pack, "out/scale"))))
		loaded = subprocess.run(["ldd", os.path.join(pack, "build/release/bench/lfpool-bench")], capture_output=True, text=True, check=True)
		elsewhere = re.findall(r"(\S+) => (?!%s)" % re.escape(os.path.realpath(pack)), loaded.stdout)
		self.assertLessEqual(set(elsewhere), {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"})
		self.assertIn("usage", self.script(os.path.join(pack, "scripts/bench"), "--nothing", status=2))

	def test_a_failure_is_named_and_left_out(self):
		broken = os.path.join(self.folder, "broken")
		with open(broken, "w", encoding="utf-8") as file:
			file.write(f'#!/bin/sh\ncase "$*" in *pair/64/malloc*) echo told to; exit 7 ;; esac\nexec {PROGRAM} "$@"\n')
		os.chmod(broken, 0o755)
		said, data = self.measure(broken, status=1)
		self.assertRegex(said, "FAILED pair/64/malloc: ended with status 7\ntold to")
		self.assertIn("pair/64/malloc", data["skipped"])
		cells = {(cell["workload"], cell["subject"]) for cell in data["cells"]}
		self.assertEqual((("pair", "limit") in cells, ("pair", "malloc") in cells, ("larson", "malloc") in cells), (True, False, True))
		self.assertIn("no cell matches", self.script("run", "--program", PROGRAM, "--workload", "nobody", status=2))
		self.assertIn("ended with status 1", self.script("run", "--program", "/bin/false", status=2))

	def test_rows_are_chosen_by_their_names(self):
		found = re.compile(program.exact_filter([program.parse_row("pair/64/a.b+c/manual_time/threads:1")]))
		self.assertEqual([bool(found.search(name)) for name in ("pair/64/a.b+c/manual_time/threads:1", "pair/64/aXb+c/manual_time/threads:1",
			"pair/64/a.b+c/manual_time/threads:16", "repair/64/a.b+c/manual_time/threads:1")], [True, False, False, False])

	def test_goals_and_losses(self):
		for ours, state, noise in (("2.3", judge.MET, False), ("2.6", judge.NOT_MET, False), ("2.6 1.9 2.7", judge.NOT_MET, True)):
			found = invented(f"pair 1: lfpool-inlined {ours}, snmalloc-inlined 2 2.1 1.9, limit 1")
			verdict = next(one for one in judge.goals(found, {}) if one.id == "HIT")
			self.assertEqual((verdict.state, "noise" in verdict.figures), (state, noise))
			tally = judge.losses(found, "lfpool-inlined")
			self.assertEqual((len(tally.losses), tally.losses_within_noise, tally.ahead), (0, 1, 0) if noise else (1, 0, 0))
		found = {one.id: one for one in judge.goals(invented("evict-5-32 2: lfpool-evicting 9, heap-mutex 10"), {})}
		self.assertEqual((found["EVICT-5"].state, found["KEEP"].state), (judge.OPEN, judge.UNMEASURED))
		self.assertIn("evict-5-32: 0.90 x heap-mutex on 2 threads (not measured: 1, 4)", found["EVICT-5"].figures)
		goals = {one.id for one in judge.goals(invented("pair 1: limit 1"), {})}
		explained = set(page.explained(os.path.join(ROOT, "docs/performance.md")))
		self.assertLessEqual(set(filter(str.isupper, explained)), goals, "explains a goal that does not exist")

	def test_readme_has_the_figures_of_the_tables(self):
		with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
			table = file.read().split("bench/report: speed -->")[1].split(page.END)[0]
		with open(os.path.join(ROOT, "docs/performance/pairs.csv"), encoding="utf-8", newline="") as file:
			pairs = {(row["workload"], row["bytes"], row["threads"]): row for row in csv.DictReader(file)}
		rows = []
		for what, workload, subject in page.ROWS:
			found = [[float(figure) for name in subject.split("|") if (figure := pairs.get((workload, "64", threads), {}).get(name))]
				for threads in "124"]
			rows += [[what, *(page.shown(min(figures)) if figures else "" for figures in found)]] if any(found) else []
		lines = [line.split(" | ") for line in re.findall(r"^\| (?!\*)(.*)$", table, re.M)]
		self.assertEqual([[what, *(re.match(r"[*]*([\d.]*)", cell)[1] for cell in cells[:3])] for what, *cells in lines], rows)


if __name__ == "__main__":
	unittest.main()
