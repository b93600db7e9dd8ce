# SPDX-License-Identifier: MIT
"""losses.py - where lfpool loses: every cell in which a variant that a user would take is not ahead of every peer.

Idea         Medians say which is ahead; the ranges, least to greatest repetition, say whether that can be told: where
             they overlap, or the medians are as good as equal, it is within the noise, on either side.  With a single
             round there is no range.
"""
from __future__ import annotations

from dataclasses import dataclass, field

from .results import EPOCH, LIBRARY, RETIRING, SHARED, Cell, Figure, Results, figures_of

TIE = 0.005  # of a figure: clocks that were calibrated by two processes do not agree by more


@dataclass
class Loss:
	figure: Figure
	mine: Cell
	best: Cell  # the peer that is furthest ahead
	ahead: int  # peers that are not behind
	within_noise: bool

	@property
	def ratio(self) -> float:
		"""How many times the best peer's figure."""
		best = self.best.median(self.figure.key)
		return self.mine.median(self.figure.key) / best if best > 0 else float("inf")


@dataclass
class Tally:
	ahead: int = 0
	ahead_within_noise: int = 0
	losses: list[Loss] = field(default_factory=list)

	@property
	def behind(self) -> list[Loss]:
		return [loss for loss in self.losses if not loss.within_noise]


def overlap(one: Cell, other: Cell, key: str) -> bool:
	a, b = one.values(key), other.values(key)
	tie = abs(one.median(key) - other.median(key)) <= TIE * other.median(key)
	return tie or (len(a) > 1 and len(b) > 1 and min(a) <= max(b) and min(b) <= max(a))


def is_choice(subject: str, peer: str, group: str) -> bool:
	"""Calls are compared with calls, epochs with epochs, and RCU with RCU."""
	if subject in (LIBRARY, SHARED):
		return group == "allocator" and not peer.endswith(("-inlined", "-thread"))
	return subject not in (RETIRING, EPOCH) or peer.startswith("ck-epoch-") == (subject == EPOCH)


def compare(results: Results, subject: str) -> Tally:
	tally = Tally()
	# By case, to look each of them up once.
	peers: dict[tuple, list[Cell]] = {}
	for cell in results.cells.values():
		if results.is_peer(cell.subject) and is_choice(subject, cell.subject, results.group(cell.subject)):
			peers.setdefault((cell.workload, cell.bytes, cell.threads), []).append(cell)
	for mine in (cell for cell in results.cells.values() if cell.subject == subject):
		for figure in figures_of(mine.workload):
			beside = peers.get((mine.workload, mine.bytes, mine.threads), [])
			rivals = [cell for cell in beside if cell.values(figure.key)]
			if mine.values(figure.key) and rivals:
				_count(tally, figure, mine, rivals)
	tally.losses.sort(key=lambda loss: (loss.within_noise, -loss.ratio))
	return tally


def _count(tally: Tally, figure: Figure, mine: Cell, rivals: list[Cell]) -> None:
	key = figure.key
	best = min(rivals, key=lambda cell: cell.median(key))
	if mine.median(key) < best.median(key):
		tally.ahead += 1
		tally.ahead_within_noise += any(overlap(mine, rival, key) for rival in rivals)
		return
	ahead = sum(rival.median(key) <= mine.median(key) for rival in rivals)
	tally.losses.append(Loss(figure, mine, best, ahead, overlap(mine, best, key)))
