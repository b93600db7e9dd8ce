#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""test_plots - each line of a picture has its name beside it, no name covers another, and only lfpool is blue.

It runs with the system's python3, as bench/report does."""
import colorsys
import os
import sys
import unittest
import unittest.mock

from matplotlib import colors, text

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from lib import plots, results  # noqa: E402

OURS = ("lfpool, inlined", "lfpool, called")


def invented(figures):
	"""The results of `pair` on 1 and 2 threads: the nanoseconds of each subject."""
	cells = [{"workload": "pair", "bytes": 64, "subject": name, "threads": threads, "repetitions": [{"ns_per_pair": ns}, {"ns_per_pair": ns + 1}]}
		for threads in (1, 2) for name, ns in figures.items()]
	return results.Results({"machine": {}, "method": {}, "skipped": {}, "subjects": {name: {} for name in figures}, "cells": cells})


class Plots(unittest.TestCase):
	def test_places_keep_their_order_and_distance(self):
		for wanted, apart in (([], 0.1), ([0.5], 0.1), ([0.5, 0.5, 0.5], 0.1), ([1, 0.99, 0, 0.98], 0.05), ([0, 0.01, 1], 0.2)):
			places = plots.spread(wanted, apart)
			order = sorted(range(len(wanted)), key=lambda i: wanted[i])
			self.assertTrue(all(places[above] - places[below] >= apart - 1e-9 for below, above in zip(order, order[1:])), places)
			self.assertTrue(all(-1e-9 <= place <= 1 + 1e-9 for place in places), places)
		self.assertEqual(plots.spread([0.2, 0.7, 0.4], 0.1), [0.2, 0.7, 0.4])

	def test_lines_have_their_names_beside_them(self):
		figures = {"lfpool-inlined": 2, "lfpool-thread": 4, "mutex": 30, "cached-list": 2, "malloc": 2, "limit": 2, "unknown": 2}
		done = []
		with unittest.mock.patch.object(plots, "finish", lambda results, figure, path: done.append((results, figure))):
			plots.PICTURES["throughput"](invented(figures), "it.png")
		((found, figure),) = done
		plots.arrange(found, figure)
		axes, shown = figure.axes[0], figure.axes[0].texts
		boxes = [text.Text.get_window_extent(one) for one in shown]  # without their lines
		self.assertEqual({one.get_text() for one in shown}, {*OURS, "mutex pool", "cached-list", "malloc", "limit"})
		self.assertFalse([1 for i, box in enumerate(boxes) for other in boxes[:i] if box.overlaps(other)], "names overlap")
		self.assertTrue(all(axes.get_window_extent().x1 <= box.x0 and box.x1 <= figure.bbox.x1 for box in boxes), "names beside the plot")
		self.assertFalse(figure.legends or axes.get_legend())

	def test_only_lfpool_is_blue(self):
		def blue(colour):
			hue, saturation, _ = colorsys.rgb_to_hsv(*colors.to_rgb(colour))
			return 0.5 < hue < 0.7 and saturation > 0.3
		self.assertEqual([name for name, colour in plots.OURS.items() if not blue(colour)], [])
		self.assertEqual([name for name, colour in plots.PEERS.items() if blue(colour)], [])


if __name__ == "__main__":
	unittest.main()
