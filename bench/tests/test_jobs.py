#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_jobs - test of bench/jobs, on schedulers with invented figures, and on those that were built.  Says nothing about speed.

    bench/tests/test_jobs.py [FOLDER]

FOLDER: examples/schedulers of a build.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
BUILT = sys.argv.pop(1) if len(sys.argv) > 1 else None

# Invented seconds for 1000 nodes, by allocator; half of the nodes inline when there are few records.
FAKE = """#!/bin/sh
seconds_lfpool="{lfpool}" seconds_mutex="{mutex}" seconds_malloc="{malloc}" inline=0
while [ $# -gt 0 ]; do
	case $1 in
	--allocator) allocator=$2; shift ;;
	--workers) workers=$2; shift ;;
	--capacity) inline=500; shift ;;
	esac
	shift
done
# Each run takes the next of the numbers.
for seconds in $(eval echo \\$seconds_$allocator); do
	[ ! -e "{log}.$allocator.$workers.$inline.$seconds" ] || continue
	: >"{log}.$allocator.$workers.$inline.$seconds"
	break
done
status=0
{more}
echo "memory    $((2048 + inline * 1024)) KiB resident at the most"
echo "inline    $inline nodes for want of a record"
echo "{name} $allocator $workers workers: $((1000 - inline)) jobs in $seconds s: 1 jobs/s"
exit $status
"""


class Jobs(unittest.TestCase):
	def setUp(self):
		folder = tempfile.TemporaryDirectory()
		self.addCleanup(folder.cleanup)
		self.folder = folder.name
		self.programs = os.path.join(self.folder, "programs")
		os.mkdir(self.programs)

	def fake(self, name, lfpool, mutex, malloc, more=""):
		path = os.path.join(self.programs, f"scheduler-{name}")
		with open(path, "w", encoding="utf-8") as file:
			file.write(FAKE.format(name=name, lfpool=lfpool, mutex=mutex, malloc=malloc, more=more,
				log=os.path.join(self.folder, name)))
		os.chmod(path, 0o755)

	def run_it(self, *arguments, status=0, programs=None):
		"""The rows; the rest is in self.said and self.errors."""
		out = os.path.join(self.folder, "tables", "jobs.csv")
		done = subprocess.run([sys.executable, os.path.join(HERE, "../jobs"), "--programs", programs or self.programs,
			"--out", out, *arguments], capture_output=True, text=True, check=False)
		self.assertEqual(done.returncode, status, done.stdout + done.stderr)
		self.errors, self.said = done.stderr, done.stdout
		if not os.path.exists(out):
			return []
		with open(out, encoding="utf-8", newline="") as file:
			return list(csv.DictReader(file))

	def test_figures(self):
		self.fake("won", "0.010 0.011 0.012", "0.020 0.021 0.022", "0.030 0.033 0.036")
		self.fake("lost", "0.020 0.021 0.022", "0.021 0.019 0.025", "0.010 0.011 0.012")
		lost, _, _, won = rows = self.run_it("--workers", "1,8", "--rounds", "3")
		self.assertEqual([(row["scheduler"], row["workers"], row["rounds"]) for row in rows],
			[("lost", "1", "3"), ("lost", "8", "3"), ("won", "1", "3"), ("won", "8", "3")])
		# Millions of 1000 nodes in 0.021 s; in 0.020 s; in 0.022 s.
		self.assertEqual([lost[f"lfpool{part}"] for part in ("", "_greatest", "_least")], ["0.048", "0.050", "0.045"])
		self.assertEqual([(row["lfpool_by_malloc"], row["lfpool_by_mutex"]) for row in (lost, won)],
			[("0.52", "1.00"), ("3.00", "1.91")])
		# 500 of 1000 nodes inline when there are few records.
		self.assertEqual([lost[name] for name in ("bounded_inline", "lfpool_mib", "malloc_mib", "bounded_mib")],
			["0.50", "2", "2", "502"])
		self.assertIn("Against malloc: 2 won, 2 lost: lost with 1 worker (0.52), lost with 8 workers (0.52); in 0 of 4", self.said)
		self.assertIn("Against mutex: 2 won, 0 lost; in 2 of 4", self.said)
		self.assertNotIn("Not for all nodes", self.said)

	def test_failure(self):
		self.fake("good", "0.010", "0.020", "0.030")
		self.fake("bad", "0.010", "0.020", "0.030", more='[ $allocator != mutex ] || { echo "FAILED    7 nodes"; status=1; }')
		rows = self.run_it("--workers", "2", "--rounds", "1", status=1)
		self.assertEqual([row["scheduler"] for row in rows], ["good"])
		self.assertIn("status 1: FAILED    7 nodes", self.errors)

	def test_says_something_else(self):
		self.fake("silent", "0.010", "0.020", "0.030", more="exit 0")
		self.assertEqual(self.run_it("--rounds", "1", status=2), [])
		self.assertIn("scheduler-silent", self.errors)

	def test_inline_everywhere(self):
		self.fake("narrow", "0.010", "0.020", "0.030", more="inline=100")
		self.run_it("--rounds", "1", "--workers", "1")
		self.assertIn("Not for all nodes was there a record: narrow.", self.said)

	def test_budget(self):
		self.fake("slow", "0.010 0.011", "0.020 0.021", "0.030 0.031", more="sleep 0.1")
		self.assertEqual([row["rounds"] for row in self.run_it("--workers", "1", "--budget", "0.1")], ["1"])

	def test_nothing(self):
		self.assertEqual(self.run_it(status=2), [])
		self.assertIn("no scheduler-*", self.errors)

	def test_usage(self):
		for arguments in (["--workers", "0"], ["--rounds", "none"], ["--round", "1"], ["out.csv"]):
			self.run_it(*arguments, status=2)
			self.assertIn("usage:", self.errors)

	@unittest.skipUnless(BUILT, "without the folder of a build")
	def test_built(self):
		names = sorted(name.removeprefix("scheduler-") for name in os.listdir(BUILT)
			if re.fullmatch(r"scheduler-[a-z]+", name))
		rows = self.run_it("--small", "--rounds", "2", "--workers", "1,2", programs=BUILT)
		self.assertTrue(names)
		self.assertEqual([(row["scheduler"], row["workers"]) for row in rows], [(name, workers) for name in names for workers in "12"])
		self.assertNotIn("Not for all nodes", self.said)


if __name__ == "__main__":
	unittest.main()
