# SPDX-License-Identifier: MIT
"""text.py - Markdown: tables, figures with as many digits as they deserve, paragraphs of 120 columns."""
from __future__ import annotations

import textwrap
from typing import Iterable

WIDTH = 118


def number(value: float) -> str:
	for limit, form in ((0.01, "{:.1e}"), (0.0995, "{:.3f}"), (9.995, "{:.2f}"), (99.95, "{:.1f}")):
		if 0 < abs(value) < limit:
			return form.format(value).replace("e-0", "e-")
	return f"{value:,.0f}"


def ratio(value: float) -> str:
	return f"{value:.2f}" if value < 9.995 else f"{value:,.0f}"


def percent(value: float | None) -> str:
	return "" if value is None else f"{100 * value:.0f} %"


def time(ns: float) -> str:
	for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "us"), (1e9, 1e6, "ms")):
		if ns < limit:
			return f"{number(ns / divisor)} {unit}"
	return f"{number(ns / 1e9)} s"


def listing(items: Iterable) -> str:
	items = [str(item) for item in items]
	return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def plural(count: int, word: str) -> str:
	return f"{count} {word}{'' if count == 1 else 's'}"


def table(header: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
	"""The first `left` columns are words, the others figures."""
	rule = ["---" if column < left else "---:" for column in range(len(header))]
	lines = [header, rule, *rows]
	return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines] + [""]


def paragraph(text: str) -> list[str]:
	return [*textwrap.wrap(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False), ""]
