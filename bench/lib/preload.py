# SPDX-License-Identifier: MIT
"""preload.py - the allocators that take malloc over when they are preloaded: where their libraries are.

Idea         The same program with the same subject `malloc`, once for each library; it reports under the name that it
             finds in LFPOOL_BENCH_MALLOC.  The library is found as the loader would (ldconfig -p), then in the usual
             folders.
"""
from __future__ import annotations

import glob
import os
import re
import subprocess
from dataclasses import dataclass

FOLDERS = ("/usr/lib/*-linux-gnu*", "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64", "/lib")


@dataclass(frozen=True)
class Allocator:
	name: str
	pattern: str  # of the file's name
	package: str  # of Debian


ALLOCATORS = (
	Allocator("mimalloc", r"libmimalloc\.so(\.[0-9.]+)?", "libmimalloc2.0"),
	Allocator("jemalloc", r"libjemalloc\.so(\.[0-9.]+)?", "libjemalloc2"),
	Allocator("tcmalloc", r"libtcmalloc(_minimal)?\.so(\.[0-9.]+)?", "libtcmalloc-minimal4"),
)


def _known_to_loader() -> list[str]:
	for program in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
		try:
			said = subprocess.run([program, "-p"], capture_output=True, text=True, check=True).stdout
		except (OSError, subprocess.CalledProcessError):
			continue
		return re.findall(r"=> (/\S+)$", said, re.MULTILINE)
	return []


def candidates(allocator: Allocator, first: str | None = None) -> list[str]:
	"""Paths of its library, best first; none need be for this processor.  With `first`, only those in that folder."""
	if first is not None:
		paths = sorted(glob.glob(os.path.join(first, "*.so*")))
	else:
		paths = _known_to_loader() + [path for folder in FOLDERS for path in sorted(glob.glob(folder + "/*.so*"))]
	pattern = re.compile(allocator.pattern + "$")
	return list(dict.fromkeys(path for path in paths if pattern.match(os.path.basename(path)) and os.path.exists(path)))


def environment(allocator: Allocator, path: str) -> dict[str, str]:
	return {"LD_PRELOAD": path, "LFPOOL_BENCH_MALLOC": allocator.name}
