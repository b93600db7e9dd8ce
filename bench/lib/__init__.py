# SPDX-License-Identifier: MIT
"""What bench/run and bench/report are made of."""
