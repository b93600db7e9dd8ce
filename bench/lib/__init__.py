# SPDX-License-Identifier: MIT
"""What bench/run and bench/report are made of.

run:     program.py (lfpool-bench as a process), driver.py (the rounds), machine.py (where it was measured)
report:  goals.py, losses.py, explanations.py, plots.py (the parts), figures.py (CSV, and the table of README.md),
         document.py (docs/performance.md)
both:    results.py (the file between them), text.py
"""
