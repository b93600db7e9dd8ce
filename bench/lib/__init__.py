# SPDX-License-Identifier: MIT
"""What bench/run and bench/report are made of.

run:     program.py (lfpool-bench as a process), driver.py (the rounds),
         machine.py (where it was measured)
report:  tables.py, goals.py, losses.py, plots.py, explanations.py (the sections), document.py (the whole)
both:    results.py (the file between them)
"""
