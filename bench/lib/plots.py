# SPDX-License-Identifier: MIT
"""plots.py - the pictures: throughput against threads, latencies, and a table of all peers in all workloads.

Idea         A subject looks the same in every picture.  lfpool's lines are thick and blue.  Two dozen lines cannot be
             told apart, so each picture names lfpool's variants, the yardsticks, and those peers of each group that
             do best anywhere in it; all others are drawn, thin and grey.  Colours of a group are kin: allocators
             warm, lock-free structures green.
"""
from __future__ import annotations

import math
import os
import re
import subprocess
from dataclasses import dataclass

from . import evicting, png, retiring, text
from .results import DEFAULT, EPOCH, EVICTING, LIBRARY, RETIRING, Cell, Results
from .tables import best_threads

NAMED_PEERS = {"allocator": 4, "lock-free": 4, "own": 2}  # of each group
PANELS = ("pair", "burst-256-lifo", "handoff-1-1", "larson")
YARDSTICKS = ("limit", "ring", "free-list", "malloc")
OTHERS = ("#c4c4c4", 1, 0, 0)

# Colour, width, point type, dash type.
LOOKS = {
	"lfpool-inlined": ("#0047ab", 4.5, 5, 1), "lfpool-thread": ("#3f8ee8", 3.5, 9, 1),
	"lfpool-library": ("#5577aa", 2, 8, 1),
	"lfpool-races": ("#27408b", 2, 10, 1), "lfpool-typed": ("#0047ab", 2.5, 6, 1), "lfpool-shared": ("#3f8ee8", 2, 11, 1),
	"lfpool-hooks": ("#27408b", 2, 8, 1),
	"limit": ("#555555", 2, 7, 2), "ring": ("#555555", 2, 6, 3),
	"malloc": ("#e69f00", 2, 13, 1), "mimalloc": ("#d55e00", 2, 11, 1), "jemalloc": ("#b22222", 2, 12, 1),
	"tcmalloc": ("#f0647c", 2, 10, 1), "tbb-scalable": ("#a0522d", 2, 8, 1), "tbb-fixed": ("#c68e5a", 2, 6, 1),
	"glib-slice": ("#c9a800", 2, 14, 1), "pmr": ("#8b6914", 2, 15, 1),
	"ck-stack": ("#009e73", 2, 9, 1), "ck-ring": ("#5fbf9f", 2, 8, 1), "urcu-lfstack": ("#2e7d32", 2, 7, 1),
	"urcu-wfstack": ("#8bc34a", 2, 6, 1), "boost-stack-fixed": ("#00695c", 2, 13, 1),
	"boost-stack-dynamic": ("#4db6ac", 2, 12, 1), "boost-pool-mutex": ("#607d3b", 2, 14, 1),
	"moodycamel": ("#1b9e1b", 2, 11, 1), "dpdk-ring": ("#6b8e23", 2, 5, 1), "dpdk-stack": ("#a2b83a", 2, 4, 1),
	"snmalloc-inlined": ("#ff7f0e", 2, 4, 1), "snmalloc-called": ("#ffb470", 2, 5, 1),
	"snmalloc-thread": ("#d08020", 2, 6, 1),
	"rpmalloc-inlined": ("#8c2d04", 2, 9, 1), "rpmalloc-called": ("#cc6633", 2, 7, 1),
	"free-list": ("#b05090", 2, 6, 1), "mutex": ("#cc79a7", 2, 5, 1), "spin": ("#9c5fa8", 2, 4, 1), "treiber": ("#6a3d9a", 2, 15, 1),
	"lfpool-priority": ("#0047ab", 4.5, 5, 1), "heap-unlocked": ("#555555", 2, 7, 2), "heap-mutex": ("#cc79a7", 2, 5, 1),
	"scan-mutex": ("#e69f00", 2, 13, 1), "tbb-queue": ("#a0522d", 2, 8, 1),
	"lfpool-rcu": ("#0047ab", 4.5, 5, 1), "lfpool-rcu-qsbr": ("#3f8ee8", 2.5, 9, 1),
	"lfpool-rcu-mutex": ("#5577aa", 2, 8, 1), "lfpool-rcu-malloc": ("#7cc4f5", 2, 4, 1),
	"lfpool-epoch": ("#00695c", 4.5, 7, 1), "released-at-once": ("#555555", 2, 7, 2),
	"call-rcu-malloc": ("#d55e00", 2, 13, 1), "call-rcu-mutex": ("#cc79a7", 2, 5, 1),
	"call-rcu-lfpool": ("#e69f00", 2, 11, 1), "synchronize-rcu": ("#b22222", 2, 12, 1),
	"ck-epoch-malloc": ("#5fbf9f", 2, 8, 1),
}
UNKNOWN = ("#000000", 2, 1, 1)


class PlotFailed(Exception):
	pass


def quoted(words: str) -> str:
	return '"' + re.sub(r'(["\\])', r"\\\1", words) + '"'


def render(script: str, path: str, size: tuple[int, int]) -> None:
	"""One picture; the file's name says the format."""
	terminal = "pngcairo" if path.endswith(".png") else "svg"
	head = (f'set terminal {terminal} size {size[0]},{size[1]} font "sans,11" background rgb "white" noenhanced\n'
		f"set output {quoted(path)}\n")
	try:
		done = subprocess.run(["gnuplot"], input=head + script, capture_output=True, text=True, check=False)
	except OSError as error:
		raise PlotFailed("gnuplot is missing (Debian, Ubuntu: apt-get install gnuplot-nox)") from error
	if done.returncode != 0 or done.stderr.strip() or not os.path.exists(path) or os.path.getsize(path) < 1000:
		raise PlotFailed(f"gnuplot, {os.path.basename(path)}: {done.stderr.strip() or 'it drew nothing'}")
	if path.endswith(".png"):
		with open(path, "rb") as file:
			small = png.shrink(file.read())
		with open(path, "wb") as file:
			file.write(small)


@dataclass
class Line:
	subject: str
	points: list[tuple]  # x, y, or x, y, low, high


@dataclass
class Panel:
	title: str
	xlabel: str
	ylabel: str
	lines: list[Line]
	axis: str  # of y, for gnuplot


def footer(results: Results) -> str:
	where = results.machine
	return (f"{where.get('cpu', 'unknown processor')}, {text.plural(where.get('cores', 0), 'core')}"
		f" · lfpool {where.get('library', '')} · {where.get('date', '')[:10]} · made by bench/report")


def named(results: Results, closest: dict[str, float]) -> list[str]:
	"""Who gets a colour: the best peers, and those whom everybody asks for; in the order of the key."""
	chosen = {DEFAULT, LIBRARY, *YARDSTICKS} & set(closest)
	for group, count in NAMED_PEERS.items():
		peers = [name for name in closest if results.group(name) == group]
		chosen |= set(sorted(peers, key=lambda name: closest[name])[:count])
	order = list(LOOKS)
	return sorted(chosen, key=lambda name: (order.index(name) if name in order else len(order), name))


def sheet(results: Results, title: str, panels: list[Panel], names: list[str], axes: str, errors: bool,
		columns: int = 2) -> str:
	"""Panels side by side in columns, and one key below."""
	width, height = size_of(len(panels), columns)
	columns = min(columns, len(panels))
	rows = (len(panels) + columns - 1) // columns
	script = [f"set multiplot layout {rows},{columns} margins"
		f" {100 / width},{1 - 30 / width},{150 / height},{1 - 75 / height}"
		f" spacing {110 / width},{90 / height}",
		f'set label 1 {quoted(title)} at screen 0.5,screen {1 - 20 / height} center font ",16"',
		f'set label 2 {quoted(footer(results))} at screen 0.5,screen {14 / height} center font ",9" tc rgb "#555555"',
		"set border 3; set tics nomirror", 'set grid lt 1 lw 1 lc rgb "#e4e4e4"', "unset key", axes]
	for panel in panels:
		script += plot_panel(panel, names, errors) + ["unset label"]
	others = any(line.subject not in names for panel in panels for line in panel.lines)
	return "\n".join([*script, *key(names, height, others), "unset multiplot", ""])


def size_of(panels: int, columns: int = 2) -> tuple[int, int]:
	return (1160, 225 + 700 // columns * ((panels + columns - 1) // columns))


def look(name: str, names: list[str]) -> tuple:
	return LOOKS.get(name, UNKNOWN) if name in names else OTHERS


def plot_panel(panel: Panel, names: list[str], errors: bool) -> list[str]:
	# lfpool last, on top of the others.
	def rank(line: Line) -> tuple:
		return (line.subject in names, line.subject.startswith("lfpool"), line.subject in (DEFAULT, EVICTING, RETIRING, EPOCH))
	script, parts = [], []
	for number, line in enumerate(sorted(panel.lines, key=rank)):
		colour, width, point, dash = look(line.subject, names)
		points = [" ".join(f"{value:.6g}" for value in values) for values in line.points]
		script += [f"$d{number} << END", *points, "END"]
		if errors and line.subject in names:
			parts.append(f'$d{number} using 1:2:3:4 with yerrorbars lc rgb "{colour}" lw 1 pt -1')
		shape = f"with linespoints pt {point} ps 1.1" if point else "with lines"
		parts.append(f'$d{number} using 1:2 {shape} lc rgb "{colour}" lw {width} dt {dash or 1}')
	return script + [f'set title {quoted(panel.title)} font ",12"', f"set xlabel {quoted(panel.xlabel)}",
		f"set ylabel {quoted(panel.ylabel)}", panel.axis, "plot " + ", \\\n\t".join(parts)]


def key(names: list[str], height: int, others: bool) -> list[str]:
	"""A plot of nothing, for its key."""
	parts = []
	for name in names:
		colour, width, point, dash = look(name, names)
		parts.append(f'NaN with linespoints pt {point} ps 1.1 lc rgb "{colour}" lw {width} dt {dash}'
			f" title {quoted(name)}")
	if others:
		parts.append(f'NaN with lines lc rgb "{OTHERS[0]}" lw 2 title "other peers"')
	return ["unset title; unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset logscale; unset"
		" label",
		"set lmargin at screen 0; set rmargin at screen 1; set bmargin at screen 0", f"set tmargin at screen"
			f" {105 / height}",
		"set xrange [0:1]; set yrange [0:1]",
		f"set key at screen 0.5,screen {62 / height} center center horizontal Left reverse samplen 3 width 1 maxrows 3"
		' font ",10"', "plot " + ", \\\n\t".join(parts)]


# ---- Throughput against threads ----


def throughput(results: Results) -> tuple[str, tuple[int, int]] | None:
	panels, closest = [], {}
	counts = sorted({threads for workload in PANELS for threads in results.threads(workload=workload)})
	for workload in (name for name in PANELS if name in results.workload_names()):
		bytes = results.main_bytes(workload)
		lines = []
		for name in results.names(workload=workload, bytes=bytes):
			points = []
			for threads in results.threads(workload=workload, bytes=bytes, subject=name):
				cell = results.cells[(workload, bytes, name, threads)]
				if cell.values():
					points.append((threads, *rates_of(results, cell)))
					closest[name] = min(closest.get(name, 1e9), lead(results, cell))
			if points:
				lines.append(Line(name, points))
		rates = [value for line in lines for point in line.points for value in point[2:]]
		if rates:
			what = results.descriptions.get(workload, "")
			title = workload + (f": {what}" if what and len(what) < 55 else "")
			panels.append(Panel(title, "threads", "million pairs per second", lines,
				logarithmic(min(rates) * 0.8, max(rates) * 1.25)))
	if not panels:
		return None
	title = "Acquire and release, 64-byte objects: higher is better (median; bars: range of the rounds)"
	return sheet(results, title, panels, named(results, closest), by_threads(counts), True), size_of(len(panels))


def by_threads(counts: list[int]) -> str:
	tics = ", ".join(f'"{count}" {count}' for count in counts)
	return (f"set logscale x 2; set logscale y 10; set xtics ({tics}); set xrange"
		f" [{counts[0] / 1.3}:{counts[-1] * 1.3}]")


def rates_of(results: Results, cell: Cell) -> list[float]:
	"""Millions a second, by all threads: the median, the least, the greatest."""
	running = min(cell.threads, results.machine.get("cores", 1))
	return [running * 1000 / value for value in (cell.median(), max(cell.values()), min(cell.values()))]


def logarithmic(low: float, high: float) -> str:
	"""A range, and more figures beside it the narrower it is."""
	steps = (1, 2, 5) if high / low > 8 else (1, 1.5, 2, 3, 4, 5, 7)
	tics = [step * 10.0**power for power in range(-3, 6) for step in steps]
	return f"set yrange [{low}:{high}]; set ytics (" + ", ".join(f"'{tic:g}' {tic:g}" for tic in tics) + ")"


def lead(results: Results, cell: Cell) -> float:
	"""The cell's figure / that of the best peer in the same case."""
	names = results.peers(workload=cell.workload)
	peers = [results.cell(cell.workload, cell.bytes, name, cell.threads) for name in names]
	best = min((peer.median() for peer in peers if peer), default=cell.median())
	return cell.median() / best


# ---- The evicting pool ----


def evict(results: Results) -> tuple[str, tuple[int, int]] | None:
	cases = evicting.cases(results)
	panels, names = [], set()
	for case in cases:
		lines = []
		for name in results.names(workload=case.workload):
			if name == evicting.LOOP:
				continue
			cells = evicting.cells(results, case, name)
			lines.append(Line(name, [(threads, *rates_of(results, cell)) for threads, cell in cells.items()]))
			names.add(name)
		rates = [value for line in lines for point in line.points for value in point[2:]]
		panels.append(Panel(f"{case.capacity:,} objects, {case.share} % acquires", "threads", "million operations per second",
			lines, logarithmic(min(rates) * 0.8, max(rates) * 1.25)))
	if not panels:
		return None
	counts = sorted({threads for case in cases for threads in results.threads(workload=case.workload)})
	columns = max(2, len({case.capacity for case in cases}))
	title = "A full pool that evicts: higher is better (median; bars: range of the rounds)"
	ordered = [name for name in LOOKS if name in names] + sorted(names - set(LOOKS))
	return (sheet(results, title, panels, ordered, by_threads(counts), True, columns), size_of(len(panels), columns))


# ---- Deferred release ----


def retire(results: Results) -> tuple[str, tuple[int, int]] | None:
	panels, names, counts = [], set(), set()
	for workload in (name for name in retiring.WORKLOADS if name in results.workload_names()):
		lines = []
		for name in results.names(workload=workload):
			cells = retiring.cells(results, workload, name)
			lines.append(Line(name, [(threads, *rates_of(results, cell)) for threads, cell in cells.items()]))
			names.add(name)
			counts |= set(cells)
		rates = [value for line in lines for point in line.points for value in point[2:]]
		reading = workload == retiring.READING
		panels.append(Panel("half of the threads read" if reading else "updates alone", "threads",
			"million updates per second", lines, logarithmic(min(rates) * 0.8, max(rates) * 1.25)))
	if retiring.backlogs(results):
		panels.append(flight(results, names))
	if not panels:
		return None
	title = "Deferred release: updates, higher is better; in flight, lower is better (median; bars: range of the rounds)"
	ordered = [name for name in LOOKS if name in names] + sorted(names - set(LOOKS))
	columns = max(2, len(panels))
	script = sheet(results, title, panels, ordered, by_threads(sorted(counts or {1})), True, columns)
	return script, size_of(len(panels), columns)


def flight(results: Results, names: set[str]) -> Panel:
	"""Adds to `names` those that it shows.  Axes of its own, so the last panel."""
	points: dict[str, list[tuple]] = {}
	for workload in retiring.backlogs(results):
		if workload in ("backlog-stalled", "backlog-bounded"):
			continue
		for name in results.names(workload=workload):
			for cell in retiring.cells(results, workload, name).values():
				objects = [max(value, 1) for value in (cell.median(), min(cell.values()), max(cell.values()))]
				points.setdefault(name, []).append((cell.median("updates_per_second"), *objects))
	names |= set(points)
	axis = ("set logscale xy 10; set xrange [5e3:5e7]; set yrange [1:*]; set xtics ('10k' 1e4, '100k' 1e5, '1M' 1e6,"
		" '10M' 1e7); set ytics ('1' 1, '10' 10, '100' 100, '1k' 1e3, '10k' 1e4, '100k' 1e5, '1M' 1e6)")
	lines = [Line(name, sorted(of)) for name, of in points.items()]
	return Panel("in flight", "updates per second", "objects", lines, axis)


# ---- Latencies ----


def latency(results: Results) -> tuple[str, tuple[int, int]] | None:
	if "latency" not in results.workload_names():
		return None
	bytes = results.main_bytes("latency")
	threads = best_threads(results.threads(workload="latency", bytes=bytes))
	panels, closest = [], {}
	for call in ("acquire", "release"):
		lines = []
		for name in results.names(workload="latency", bytes=bytes, threads=threads):
			cell = results.cells[("latency", bytes, name, threads)]
			found = {key for repetition in cell.repetitions for key in repetition if key.startswith(f"{call}_ns_p")}
			points = sorted((1 - float(key.split("_p")[1]) / 100, cell.median(key)) for key in found)
			if points:
				lines.append(Line(name, [(max(ns, 0.1), rest) for rest, ns in reversed(points)]))
				tail = [ns for rest, ns in points if 0.0005 < rest < 0.6]
				closest[name] = min([closest.get(name, 1e18), *tail])
		panels.append(Panel(f"{call}, {text.plural(threads, 'thread')}", "a call takes longer than", "share of calls",
			lines, "set yrange [*:1]"))
	if not any(panel.lines for panel in panels):
		return None
	axes = ("set logscale xy 10; set xtics ('1 ns' 1, '10 ns' 10, '100 ns' 100, '1 us' 1e3, '10 us' 1e4, '100 us' 1e5,"
		" '1 ms' 1e6, '10 ms' 1e7, '100 ms' 1e8)\n"
		"set ytics ('100 %%' 1, '10 %%' 0.1, '1 %%' 0.01, '0.1 %%' 0.001, '0.01 %%' 0.0001, '0.001 %%' 0.00001)")
	title = f"How many calls take longer, {bytes}-byte objects: further left is better; the tail is at the bottom"
	return sheet(results, title, panels, named(results, closest), axes, False), size_of(len(panels))


# ---- All peers in all workloads ----


def heat_colour(ratio: float) -> tuple[int, int]:
	"""Of the cell and of the figure in it: white at 1, blue where lfpool is ahead, orange where it is behind."""
	strength = min(abs(math.log2(ratio)) / 5, 1) ** 0.7
	target = (0x1F, 0x5F, 0xA8) if ratio > 1 else (0xD9, 0x53, 0x0B)
	red, green, blue = (round(255 + (channel - 255) * strength) for channel in target)
	return red << 16 | green << 8 | blue, 0xFFFFFF if strength > 0.75 else 0x202020


def heat(results: Results) -> tuple[str, tuple[int, int]] | None:
	ratios: dict[tuple[str, str], float] = {}
	workloads = []
	for workload in results.workload_names():
		bytes = results.main_bytes(workload)
		mine = results.cell(workload, bytes, DEFAULT, 2, "ns_per_pair")
		if not mine or workload == "latency":
			continue
		workloads.append(workload)
		for name in results.peers(workload=workload, bytes=bytes):
			cell = results.cell(workload, bytes, name, 2, "ns_per_pair")
			if cell:
				ratios[(name, workload)] = cell.median() / mine.median()
	peers = {name for name, _ in ratios}
	if not peers:
		return None
	order = list(LOOKS)
	rows = sorted(peers, key=lambda name: (order.index(name) if name in order else len(order), name))
	# A little room where a group begins.
	height_of, y = {}, 0.0
	for number, name in enumerate(rows):
		y += 1 if number and results.group(name) == results.group(rows[number - 1]) else 1.3
		height_of[name] = -y
	boxes = []
	for (name, workload), ratio in ratios.items():
		x, y = workloads.index(workload), height_of[name]
		fill, ink = heat_colour(ratio)
		boxes.append(f"{x} {y} {x - .5} {x + .5} {y - .5} {y + .5} {fill} {ink} {text.ratio(ratio)}")
	across = 170 + 50 * len(workloads)
	width, height = max(across + 20, 760), 235 + round(26 * -min(height_of.values()))
	script = ["$cells << END", *boxes, "END",
		'set label 2 "A peer\'s time per pair / lfpool-inlined\'s, 64-byte objects, 2 threads" at screen 0.5,screen '
		f'{1 - 18 / height} center font ",15"',
		'set label 3 "blue, above 1: lfpool is ahead      orange, below 1: it is behind"'
		f' at screen 0.5,screen {1 - 42 / height} center font ",11"',
		f'set label 1 {quoted(footer(results))} at screen 0.5,screen {14 / height} center font ",9" tc rgb "#555555"',
		f"set lmargin at screen {170 / width}; set rmargin at screen {across / width}",
		f"set tmargin at screen {1 - 58 / height}; set bmargin at screen {160 / height}",
		"unset key; unset border; set tics scale 0",
		f"set xrange [-0.5:{len(workloads) - 0.5}]; set yrange [{min(height_of.values()) - 0.5}:-0.6]",
		"set xtics rotate by 50 right (" + ", ".join(f"{quoted(name)} {x}" for x, name in enumerate(workloads)) + ")",
		"set ytics (" + ", ".join(f"{quoted(name)} {y}" for name, y in height_of.items()) + ")",
		'plot $cells using 1:2:3:4:5:6:7 with boxxyerror fc rgb variable fs solid border lc rgb "white", \\',
		'\t$cells using 1:2:9:8 with labels tc rgb variable font ",9"', ""]
	return "\n".join(script), (width, height)


# What it shows, as the document asks for it: the file's name, and who draws it.
PICTURES = {
	"lfpool beside its peers, on two threads": ("peers", heat),
	"throughput": ("throughput", throughput),
	"the evicting pool": ("priority", evict),
	"deferred release": ("retire", retire),
	"latency": ("latency", latency),
}


def draw(results: Results, folder: str) -> list[tuple[str, str]]:
	"""Every picture that the results are enough for, as PNG and SVG: (path of the PNG, what it shows)."""
	drawn = []
	for what, (name, make) in PICTURES.items():
		made = make(results)
		if made:
			script, size = made
			for form in ("svg", "png"):
				render(script, os.path.join(folder, f"{name}.{form}"), size)
			drawn.append((os.path.join(folder, f"{name}.png"), what))
	return drawn
