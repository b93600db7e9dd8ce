# SPDX-License-Identifier: MIT
"""machine.py - where it was measured: what bears on the figures, and nothing that names a machine, a user or a folder.

Edges        What a system does not tell is left out; no key is invented.
"""
from __future__ import annotations

import datetime
import glob
import os
import platform
import re
import resource
import subprocess


def _read(path: str) -> str:
	try:
		with open(path, encoding="utf-8", errors="replace") as file:
			return file.read().strip()
	except OSError:
		return ""


def _cpuinfo() -> dict:
	text = _read("/proc/cpuinfo")
	model = re.search(r"^(?:model name|Hardware|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
	flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
	return {"cpu": model[1].strip() if model else platform.machine(), "virtual": "hypervisor" in flags[1].split() if flags else None}


def _caches() -> list[str]:
	found = []
	for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
		level, kind, size = (_read(f"{folder}/{name}") for name in ("level", "type", "size"))
		shared = _read(f"{folder}/shared_cpu_list")
		if level and size:
			letter = {"Data": "d", "Instruction": "i"}.get(kind, "")
			found.append(f"L{level}{letter} {size}" + (f" (CPUs {shared})" if shared else ""))
	return found


def _version(root: str) -> str:
	try:
		return subprocess.run(["git", "-C", root, "describe", "--always", "--dirty", "--tags"], capture_output=True,
			text=True, check=True).stdout.strip()
	except (OSError, subprocess.CalledProcessError):
		return "unknown"


def busy_seconds() -> float | None:
	"""Processor time that all programs, and the host, have taken since the machine was started."""
	match = re.match(r"cpu +(\d+) (\d+) (\d+) \d+ \d+ (\d+) (\d+) (\d+)", _read("/proc/stat"))
	return sum(map(int, match.groups())) / os.sysconf("SC_CLK_TCK") if match else None


def own_seconds() -> float:
	"""Of it, what this program and those that it started have taken."""
	return sum(usage.ru_utime + usage.ru_stime for usage in
		map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def fingerprint(root: str) -> dict:
	memory = re.search(r"^MemTotal:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
	nodes = glob.glob("/sys/devices/system/node/node[0-9]*")
	found = _cpuinfo()
	found["cores"] = len(os.sched_getaffinity(0))
	optional = {
		"numa_nodes": len(nodes),
		"smt": {"1": True, "0": False}.get(_read("/sys/devices/system/cpu/smt/active")),
		"caches": _caches(),
		"memory_mib": int(memory.group(1)) // 1024 if memory else None,
		"transparent_hugepages": "".join(re.findall(r"\[(\w+)\]", _read("/sys/kernel/mm/transparent_hugepage/enabled"))),
		"load_average": round(os.getloadavg()[0], 2),
	}
	found.update({key: value for key, value in optional.items()
		if value not in (None, "", [], 0) or key == "load_average"})
	found["kernel"] = f"{platform.system()} {platform.release()}"
	found["c_library"] = " ".join(platform.libc_ver()).strip()
	found["library"] = _version(root)
	found["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
	return found
