# SPDX-License-Identifier: MIT
"""judge.py - where lfpool loses.

Idea         A loss is a cell in which a variant that a user would take is not ahead of every peer.  Peers are those that ran.
Noise        Medians say which is ahead; the ranges, least to greatest repetition, say whether that can be told: where
             they overlap, or the medians are as good as equal, it is within the noise, on either side.  With a single
             round there is no range.
"""
from __future__ import annotations

from dataclasses import dataclass, field

from .results import EPOCH, LIBRARY, RETIRING, SHARED, Cell, Results, figures_of

TIE = 0.005  # of a figure: clocks that were calibrated by two processes do not agree by more


def overlap(one: Cell, other: Cell, key: str) -> bool:
	a, b = one.values(key), other.values(key)
	tie = abs(one.median(key) - other.median(key)) <= TIE * other.median(key)
	return tie or (len(a) > 1 and len(b) > 1 and min(a) <= max(b) and min(b) <= max(a))


@dataclass
class Loss:
	key: str
	mine: Cell
	best: Cell  # the peer that is furthest ahead

	@property
	def ratio(self) -> float:
		"""How many times the best peer's figure."""
		best = self.best.median(self.key)
		return self.mine.median(self.key) / best if best > 0 else float("inf")


@dataclass
class Tally:
	ahead: int = 0
	ahead_within_noise: int = 0
	losses: list[Loss] = field(default_factory=list)  # the greatest first
	losses_within_noise: int = 0


def is_choice(subject: str, peer: str, group: str) -> bool:
	"""Calls are compared with calls, epochs with epochs, and RCU with RCU."""
	if subject in (LIBRARY, SHARED):
		return group == "allocator" and not peer.endswith(("-inlined", "-thread"))
	return subject not in (RETIRING, EPOCH) or peer.startswith("ck-epoch-") == (subject == EPOCH)


def peers_of(results: Results, subject: str) -> dict[tuple, list[Cell]]:
	"""What it is compared with, by place."""
	found: dict[tuple, list[Cell]] = {}
	for cell in results.cells:
		if results.is_peer(cell.subject) and is_choice(subject, cell.subject, results.group(cell.subject)):
			found.setdefault(cell.place, []).append(cell)
	return found


def losses(results: Results, subject: str) -> Tally:
	tally, peers = Tally(), peers_of(results, subject)
	for mine in (cell for cell in results.cells if cell.subject == subject):
		for key in figures_of(mine.workload):
			rivals = [cell for cell in peers.get(mine.place, []) if cell.values(key)]
			if not mine.values(key) or not rivals:
				continue
			best = min(rivals, key=lambda cell: cell.median(key))
			if mine.median(key) < best.median(key):
				tally.ahead += 1
				tally.ahead_within_noise += any(overlap(mine, rival, key) for rival in rivals)
			elif overlap(mine, best, key):
				tally.losses_within_noise += 1
			else:
				tally.losses.append(Loss(key, mine, best))
	tally.losses.sort(key=lambda loss: -loss.ratio)
	return tally
