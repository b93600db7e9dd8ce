# SPDX-License-Identifier: MIT
"""What bench/run and bench/report are made of.

run:     rounds.py (which process measures what, and when), machine.py (where it was measured)
report:  judge.py (goals and losses), tables.py (CSV, and the table of README.md), plots.py, document.py (docs/performance.md)
both:    results.py (the file between them), text.py
"""
