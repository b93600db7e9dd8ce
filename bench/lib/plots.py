# SPDX-License-Identifier: MIT
"""plots.py - the pictures, by matplotlib: throughput against threads, and a table of all peers.

Idea         A subject looks the same in every picture: lfpool in shades of blue and thick, known peers each in a fixed
             colour, everything else thin and grey.  Each line has its name at its right end, so there is no legend.
"""
from __future__ import annotations

import math
import os
from functools import partial
from statistics import median

import matplotlib
from PIL import Image

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import NullFormatter, ScalarFormatter  # noqa: E402

from . import text  # noqa: E402
from .results import EPOCH, EVICTING, INLINED, LIBRARY, RETIRING, TYPED, Cell, Results, shown_name  # noqa: E402

OURS = {INLINED: "#0047ab", TYPED: "#00a0e0", LIBRARY: "#3f8ee8", EVICTING: "#0047ab", RETIRING: "#0047ab", EPOCH: "#3f8ee8"}
PEERS = {"limit": "#555555", "ring": "#555555", "free-list": "#b05090", "mutex": "#8e1b5c", "cached-list": "#7a3fa0",
	"malloc": "#e69f00", "mimalloc": "#d55e00",
	"jemalloc": "#b22222", "tcmalloc": "#f0647c", "snmalloc-inlined": "#8c2d04", "rpmalloc-called": "#a0522d",
	"dpdk-ring": "#6b8e23", "dpdk-stack": "#a2b83a", "heap-mutex": "#b05090",
	"released-at-once": "#555555", "call-rcu-malloc": "#d55e00", "call-rcu-mutex": "#b05090",
	"call-rcu-lfpool": "#e69f00", "ck-epoch-malloc": "#5fbf9f"}


NAME_POINTS = 7.5  # size of the names
NAME_AT = 1.07  # where they begin; the plot is 0 .. 1


def spread(wanted: list[float], apart: float) -> list[float]:
	"""Places in the order of the wanted ones, at least `apart` from each other, as close to them as possible, and in 0 .. 1 if there
	is room.  Names that are too close form a block around their mean (isotonic regression, by pooling neighbours)."""
	order, blocks = sorted(range(len(wanted)), key=lambda i: wanted[i]), []
	for rank, i in enumerate(order):
		blocks.append([wanted[i] - rank * apart, 1])
		while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
			(mean, count), block = blocks.pop(), blocks[-1]
			block[:] = (block[0] * block[1] + mean * count) / (block[1] + count), block[1] + count
	lowest = [mean for mean, count in blocks for _ in range(count)]
	places = list(wanted)
	for rank, i in enumerate(order):
		places[i] = max(0, min(lowest[rank], 1 - (len(wanted) - 1) * apart)) + rank * apart
	return places


def name_lines(axes) -> None:
	"""Writes the name of each labelled line next to its right end, in its colour.  The limits of the axes must be final."""
	named = [(handle.lines[0], name) for handle, name in zip(*axes.get_legend_handles_labels())]
	if not named:
		return
	last = max(line.get_xdata()[-1] for line, _ in named)
	ends = [axes.transAxes.inverted().transform(axes.transData.transform((line.get_xdata()[-1], line.get_ydata()[-1]))) for line, _ in named]
	height = axes.get_position().height * axes.figure.get_figheight() * 72
	places = spread([end[1] for end in ends], 1.25 * NAME_POINTS / height)
	for (line, name), end, y in zip(named, ends, places):
		at_end = line.get_xdata()[-1] == last
		axes.annotate(shown_name(name), end, (NAME_AT, y) if at_end else (end[0] + 0.02, end[1]), "axes fraction", "axes fraction",
			color=line.get_color(), fontsize=NAME_POINTS, va="center", fontweight="bold" if name in OURS else "normal",
			annotation_clip=False, bbox=None if at_end else {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
			arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.5, "relpos": (0, 0.5), "shrinkA": 1, "shrinkB": 3})


def arrange(results: Results, figure) -> None:
	where = results.machine
	figure.text(0.5, 0.005, f"{where.get('cpu')}, {where.get('cores')} cores; lfpool {where.get('library')};"
		f" {where.get('date')}; bench/report", ha="center", fontsize=7, color="#555555")
	figure.tight_layout(rect=(0, 0.02, 1, 0.98), w_pad=2)
	for axes in figure.axes:
		name_lines(axes)
	figure.tight_layout(rect=(0, 0.02, 1, 0.98), w_pad=2)  # with the names


def finish(results: Results, figure, path: str) -> None:
	arrange(results, figure)
	figure.savefig(path, dpi=90)
	pyplot.close(figure)
	with Image.open(path) as picture:
		picture.quantize(96).save(path, optimize=True)


def line(axes, name: str, points: dict[int, list[float]]) -> None:
	"""One subject's line: x, and the median of the rounds' values.  With their range, if the subject has a label."""
	label = name if name in OURS or name in PEERS else None
	x, y = sorted(points), [median(points[at]) for at in sorted(points)]
	ranges = [[middle - min(points[at]) for at, middle in zip(x, y)], [max(points[at]) - middle for at, middle in zip(x, y)]]
	axes.errorbar(x, y, ranges if label else None, color=OURS.get(name, PEERS.get(name, "#cccccc")), label=label,
		elinewidth=0.8, markersize=4, linewidth=2.5 if name in OURS else 1.3 if label else 0.8, marker="o" if label else None,
		linestyle="--" if name in ("limit", "ring") else "-", zorder=3 if name in OURS else 2 if label else 1)


def finish_axes(axes, x: list[int], **texts: str) -> None:
	axes.set_xscale("log", base=2)
	axes.set(yscale="log", xticks=x, **texts)
	axes.xaxis.set_major_formatter(ScalarFormatter())
	axes.xaxis.set_minor_formatter(NullFormatter())
	axes.grid(True, color="#e4e4e4", linewidth=0.6)


def by_threads(workloads: tuple[str, ...], columns: int, title: str, unit: str, results: Results, path: str) -> bool:
	of = {workload: [cell for cell in results.cells if (cell.workload, cell.bytes) == (workload, 64) and cell.values()]
		for workload in workloads}
	measured = {workload: cells for workload, cells in of.items() if cells}
	if not measured:
		return False
	rows = (len(measured) + columns - 1) // columns
	figure, panels = pyplot.subplots(rows, columns, figsize=(11 if columns < 3 else 14, 1.2 + 3.3 * rows), squeeze=False)
	figure.suptitle(f"{title}: higher is better (median; bars: range of the rounds)", fontsize=12)
	for unused in panels.flat[len(measured):]:
		unused.set_axis_off()
	for axes, (workload, cells) in zip(panels.flat, measured.items()):
		for name in dict.fromkeys(cell.subject for cell in cells):
			line(axes, name, {cell.threads: [1000 * min(cell.threads, results.machine.get("cores", 1)) / value for value in cell.values()]
				for cell in cells if cell.subject == name})
		finish_axes(axes, sorted({cell.threads for cell in cells}), title=workload, xlabel="threads", ylabel=f"million {unit} a second")
	finish(results, figure, path)
	return True


def work(results: Results, path: str) -> bool:
	"""From which N on does the pool's speed no longer matter?"""
	cells = [cell for cell in results.cells if cell.workload.startswith("work-") and cell.subject != "limit"]
	counts = sorted({cell.threads for cell in cells if results.cell(cell.workload, 64, cell.threads, "limit")})
	if not counts:
		return False
	figure, panels = pyplot.subplots(1, len(counts), figsize=(11, 5), squeeze=False)
	figure.suptitle("N ns of work on each object: time / the limit's, lower is better (median; bars: range of the rounds)", fontsize=12)
	for axes, count in zip(panels.flat, counts):
		limits = {cell.workload: cell.median() for cell in results.cells if (cell.subject, cell.threads) == ("limit", count)}
		of: dict[str, dict[int, list[float]]] = {}
		for cell in cells:
			if cell.threads == count and cell.workload in limits:
				of.setdefault(cell.subject, {})[int(cell.workload[5:])] = [value / limits[cell.workload] for value in cell.values()]
		for name, points in of.items():
			line(axes, name, points)
		finish_axes(axes, sorted({at for points in of.values() for at in points}), title=text.plural(count, "thread"), xlabel="N, ns",
			ylabel="time / the limit's")
	finish(results, figure, path)
	return True


def peers(results: Results, path: str) -> bool:
	"""A peer's time / lfpool-inlined's, on two threads: blue where lfpool is ahead, orange where it is behind."""
	ratios = {}
	for cell in results.cells:
		mine = results.cell(cell.workload, 64, 2, INLINED, "ns_per_pair")
		if mine and (cell.bytes, cell.threads) == (64, 2) and results.is_peer(cell.subject) and cell.workload != "latency":
			ratios[(cell.subject, cell.workload)] = cell.median() / mine.median()
	if not ratios:
		return False
	names, workloads = (list(dict.fromkeys(keys)) for keys in zip(*ratios))
	figure, axes = pyplot.subplots(figsize=(2.2 + 0.55 * len(workloads), 2 + 0.26 * len(names)))
	axes.imshow([[math.log2(ratios.get((name, workload), math.nan)) for workload in workloads] for name in names],
		cmap="RdBu", vmin=-4, vmax=4, aspect="auto")
	for (name, workload), ratio in ratios.items():
		axes.text(workloads.index(workload), names.index(name), f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}", ha="center",
			va="center", fontsize=7, color="white" if abs(math.log2(ratio)) > 2.6 else "black")
	axes.set_xticks(range(len(workloads)), workloads, rotation=50, ha="right", fontsize=8)
	axes.set_yticks(range(len(names)), names, fontsize=8)
	axes.set_title("A peer's time / lfpool-inlined's, 2 threads: blue, above 1: lfpool is ahead", fontsize=10)
	finish(results, figure, path)
	return True


# Keys are file names.
PICTURES = {
	"scale": partial(by_threads, ("pair", "burst-256-shuffled", "burst-4096-shuffled", "keep-512", "keep-4096", "larson", "jobs",
		"handoff-1-1", "exhausted"), 3, "64-byte objects, up to as many threads as processors", "operations"),
	"peers": peers, "work": work,
	"throughput": partial(by_threads, ("pair", "burst-256-shuffled", "handoff-1-1", "larson"), 2, "Acquire and release, 64-byte objects",
		"pairs"),
	"evicting": partial(by_threads, tuple(f"evict-{share}-{capacity}" for share in (5, 100) for capacity in (32, 1024, 65536)), 3,
		"A full pool that evicts", "operations"),
	"retire": partial(by_threads, ("retire", "retire-read"), 2, "Deferred release", "updates"),
}


def draw(results: Results, folder: str) -> list[str]:
	"""Every picture that these results are for, and have the figures for."""
	names = ("scale", "evicting") if results.method.get("scale") else [name for name in PICTURES if name != "scale"]
	paths = {name: os.path.join(folder, f"{name}.png") for name in names}
	return [path for name, path in paths.items() if PICTURES[name](results, path)]
