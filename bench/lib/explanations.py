# SPDX-License-Identifier: MIT
"""explanations.py - the hand-written reasons that the report copies: bench/explanations.md.

Idea         Each heading "## KEY" names a goal (W1-tracked), or a case: WORKLOAD, WORKLOAD/BYTES or
             WORKLOAD/BYTES/THREADS. What stands below it, up to the next heading, is the text.  The closest case
             wins.
"""
from __future__ import annotations

import re

from .results import BadResults


class Explanations:
	def __init__(self, text: str = "", path: str = "explanations"):
		self.texts: dict[str, str] = {}
		# What is in a comment is for those who write the file.
		parts = re.split(r"^## +(.+?) *$", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL), flags=re.MULTILINE)
		for key, body in zip(parts[1::2], parts[2::2]):
			if key in self.texts:
				raise BadResults(f"{path}: {key} is explained twice")
			if not body.strip():
				raise BadResults(f"{path}: nothing is said about {key}")
			self.texts[key] = body.strip()

	def key_of_case(self, workload: str, bytes: int, threads: int) -> str | None:
		for key in (f"{workload}/{bytes}/{threads}", f"{workload}/{bytes}", workload):
			if key in self.texts:
				return key
		return None

	def unknown(self, goals: list[str], workloads: list[str]) -> list[str]:
		"""Keys that can never be used: mistyped, or the case is gone."""
		return [key for key in self.texts if key not in goals and key.split("/")[0] not in workloads]


def load(path: str) -> Explanations:
	try:
		with open(path, encoding="utf-8") as file:
			return Explanations(file.read(), path)
	except FileNotFoundError:
		return Explanations()
	except (OSError, UnicodeDecodeError) as error:
		raise BadResults(f"{path}: {error}") from error
