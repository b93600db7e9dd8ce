# SPDX-License-Identifier: MIT
"""text.py - Markdown tables, and figures with a sensible number of digits."""
from __future__ import annotations


def number(value: float) -> str:
	for limit, form in ((0.0995, "{:.3f}"), (9.995, "{:.2f}"), (99.95, "{:.1f}")):
		if 0 < abs(value) < limit:
			return form.format(value)
	return f"{value:,.0f}"


def ratio(value: float) -> str:
	return f"{value:.2f}" if value < 9.995 else f"{value:,.0f}"


def plural(count: int, word: str) -> str:
	return f"{count} {word}{'' if count == 1 else 's'}"


def table(header: list[str], rows: list[list[str]], left: int = 1) -> list[str]:
	"""The first `left` columns are text, the others figures."""
	rule = ["---" if column < left else "---:" for column in range(len(header))]
	return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in [header, rule, *rows]] + [""]
