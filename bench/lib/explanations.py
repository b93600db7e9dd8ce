# SPDX-License-Identifier: MIT
"""explanations.py - the hand-written reasons that the report copies: bench/explanations.md.

Idea         A heading "## KEY, KEY..." names goals (HIT), or cases: WORKLOAD, WORKLOAD/BYTES or WORKLOAD/BYTES/THREADS.
             What stands below it, up to the next heading, is the text of them all; the closest case wins.
"""
from __future__ import annotations

import re

from .results import BadResults


class Explanations:
	def __init__(self, path: str):
		with open(path, encoding="utf-8") as file:
			text = file.read()
		self.texts: dict[str, str] = {}
		self.first: dict[str, str] = {}  # of a key, the first of its heading, by which it is cited
		# What is in a comment is for those who write the file.
		parts = re.split(r"^## +(.+?) *$", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL), flags=re.MULTILINE)
		for keys, body in zip(parts[1::2], parts[2::2]):
			if not body.strip():
				raise BadResults(f"{path}: nothing is said about {keys}")
			for key in keys.split(", "):
				if key in self.texts:
					raise BadResults(f"{path}: {key} is explained twice")
				self.texts[key], self.first[key] = body.strip(), keys.split(", ")[0]

	def key_of_case(self, workload: str, bytes: int, threads: int) -> str | None:
		for key in (f"{workload}/{bytes}/{threads}", f"{workload}/{bytes}", workload):
			if key in self.texts:
				return self.first[key]
		return None
