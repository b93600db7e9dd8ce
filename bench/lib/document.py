# SPDX-License-Identifier: MIT
"""document.py - the whole of docs/performance.md, and a page of tables for each further object size.

Idea         For a reader who does not believe us: first what was asked and whether it was reached, then where lfpool
             loses, and only then the tables; on what machine, how, and with which command to do it again.
"""
from __future__ import annotations

from dataclasses import dataclass, field

from . import evicting, goals, losses, prose, retiring, tables, text
from .explanations import Explanations
from .results import DEFAULT, EPOCH, EVICT, EVICTING, LIBRARY, PAIR, RETIRE, RETIRING, Cell, Results, noise

FOLDED = 40  # losses; more are folded away
YES_NO = {True: "yes", False: "no"}


@dataclass
class Document:
	results: Results
	instructions: dict
	explanations: Explanations
	command: str  # that made it
	pictures: list[tuple[str, str]] = field(default_factory=list)  # where, relative to the document; what it shows
	sizes: dict[int, str] = field(default_factory=dict)  # where the page of a size is, relative to the document

	def __post_init__(self) -> None:
		self.verdicts = goals.evaluate(self.results, self.instructions)
		self.workloads = self.results.workload_names()

	# ---- The front ----

	def made(self) -> list[str]:
		where = self.results.machine
		return [f"<!-- Made by: {self.command} - do not edit. -->", "", *text.paragraph(prose.MADE.format(
			command=self.command, date=where.get("date", "an unknown date")[:10],
			version=where.get("library", "of unknown version")))]

	def picture(self, what: str) -> list[str]:
		return [line for path, name in self.pictures if name == what for line in (f"![{name}]({path})", "")]

	def machine(self) -> list[str]:
		where, method = self.results.machine, self.results.method
		facts = [
			("processor", where.get("cpu")),
			("cores that the process may use", where.get("cores")),
			("processor time allowed", f"{where['cpu_quota']:g} processors" if "cpu_quota" in where else None),
			("sockets / NUMA nodes", f"{where.get('sockets', '?')} / {where.get('numa_nodes', '?')}"),
			("two threads per core", YES_NO.get(where.get("smt"))),
			("caches", "; ".join(where.get("caches", []))),
			("memory", f"{where['memory_mib'] / 1024:.1f} GiB" if "memory_mib" in where else None),
			("virtual machine", YES_NO.get(where.get("virtual"))),
			("frequency governor", where.get("governor", "not shown by the system")),
			("transparent huge pages", where.get("transparent_hugepages")),
			("kernel", where.get("kernel")),
			("C library", where.get("c_library")),
			("compiler", " ".join(filter(None, (method.get("compiler"), method.get("flags"))))),
			("build", method.get("build")),
			("load average at the start", where.get("load_average")),
		]
		lines = text.table(["", ""], [[name, str(value)] for name, value in facts if value not in (None, "")], 2)
		if where.get("load_average", 0) > 0.5 * where.get("cores", 1):
			lines += text.paragraph(prose.BUSY)
		if not str(method.get("build", "optimised")).startswith("optimised"):
			lines += text.paragraph(f"**The program was {method['build']}.**")
		return lines

	def method(self) -> list[str]:
		method = self.results.method
		counts = [len(cell.repetitions) for cell in self.results.cells.values()]
		rounds, fewest = max(counts), min(counts)
		asked = method.get("rounds_asked", rounds)
		facts = {
			"rounds": (f"{fewest} to " if fewest < rounds else "") + text.plural(rounds, "round")
				+ (", depending on the cell" if fewest < rounds else "")
				+ (f" ({asked} were asked for)" if asked > rounds else ""),
			"seed": method.get("seed", "?"), "min_time": method.get("min_time", "?"),
			"pinning": method.get("pinning", prose.PINNING.strip()),
		}
		return [*text.bullets(item.format(**facts) for item in prose.METHOD), *self.noise()]

	def noise(self) -> list[str]:
		spreads = noise(list(self.results.cells.values()))
		if not spreads:
			return text.paragraph(prose.NO_NOISE)
		said = prose.NOISE.format(**{name: text.percent(value) for name, value in spreads["all_cells"].items()})
		limit = [f"{text.percent(cell['spread'])} on {cell['threads']}" for cell in spreads["limit_in_pair"]
			if cell["bytes"] == 64]
		return text.paragraph(said + (prose.NOISE_OF_LIMIT.format(limit=text.listing(limit)) if limit else ""))

	def again(self) -> list[str]:
		command = "scripts/bench" + (" --full" if self.results.method.get("mode") == "full" else "")
		return text.paragraph(prose.AGAIN.format(command=command, seed=self.results.method.get("seed", "N")))

	def goals(self) -> list[str]:
		rows = [[verdict.id, verdict.asks, f"**{verdict.state}**" if verdict.state == goals.NOT_MET else verdict.state,
			"<br>".join(verdict.figures)] for verdict in self.verdicts]
		lines = text.table(["goal", "asks for", "", "measured"], rows, 4)
		for verdict in self.verdicts:
			if verdict.state == goals.NOT_MET:
				reason = self.explanations.texts.get(verdict.id, "not explained.")
				lines += [f"**{verdict.id}** is not met: {reason}", ""]
		return lines

	# ---- Where lfpool loses ----

	def losses(self) -> list[str]:
		lines = text.paragraph(prose.LOSSES)
		used: list[str] = []
		for subject, who in ((DEFAULT, "what a user takes who can include lfpool/inline.h"),
				(LIBRARY, "what a user takes who calls the library"),
				(EVICTING, "what a user takes whose pool is to evict"),
				(RETIRING, "what a user takes whose readers use RCU"), (EPOCH, "what a user takes whose readers use epochs")):
			lines += [f"### {subject}: {who}", "", *self.lost_by(subject, used)]
		for key in used:
			lines += [f"**{key}.** {self.explanations.texts[key]}", ""]
		return lines

	def lost_by(self, subject: str, used: list[str]) -> list[str]:
		"""Adds to `used` the explanations that the table refers to."""
		tally = losses.compare(self.results, subject)
		if not tally.compared:
			return text.paragraph(f"{subject} was not measured beside a peer.")
		lines = text.paragraph(prose.LOST_BY.format(compared=text.plural(tally.compared, "figure"), ahead=tally.ahead,
			ahead_within_noise=tally.ahead_within_noise, behind=len(tally.losses),
			within_noise=len(tally.losses) - len(tally.behind)))
		if not tally.losses:
			return lines
		shown = text.table(["workload", "bytes", "threads", f"{subject} (range)", "best peer (range)", "peers ahead",
			"x best peer", ""], [self.loss(loss, used) for loss in tally.losses])
		if len(tally.losses) <= FOLDED:
			return lines + shown
		return lines + self.summary(tally) + text.details(f"All {len(tally.losses)}, the greatest loss first", shown)

	def loss(self, loss: losses.Loss, used: list[str]) -> list[str]:
		mine, key = loss.mine, loss.figure.key
		reason = self.explanations.key_of_case(mine.workload, mine.bytes, mine.threads)
		if reason and reason not in used:
			used.append(reason)
		state = "within the noise" if loss.within_noise else "" if reason else "not explained"
		figure = "" if loss.figure in (PAIR, *EVICT, RETIRE[0]) else f": {loss.figure.what} ({loss.figure.unit})"
		return [mine.workload + figure, str(mine.bytes), str(mine.threads), self.ranged(mine, key),
			f"{loss.best.subject} {self.ranged(loss.best, key)}", str(loss.ahead), text.ratio(loss.ratio),
			"; ".join(filter(None, (state, reason and f"see {reason}")))]

	@staticmethod
	def ranged(cell: Cell, key: str) -> str:
		values = cell.values(key)
		return f"{text.number(cell.median(key))} ({text.number(min(values))} to {text.number(max(values))})"

	@staticmethod
	def summary(tally: losses.Tally) -> list[str]:
		"""By workload, when there are too many to be read one by one."""
		rows = []
		for name in dict.fromkeys(loss.mine.workload for loss in tally.losses):
			of = [loss for loss in tally.losses if loss.mine.workload == name]
			within_noise = sum(loss.within_noise for loss in of)
			worst = max(of, key=lambda loss: loss.ratio)
			rows.append([name, str(len(of) - within_noise), str(within_noise), text.ratio(worst.ratio),
				f"{worst.best.subject}, {worst.mine.bytes} bytes, {text.plural(worst.mine.threads, 'thread')}"])
		return text.table(["workload", "behind", "within the noise", "at worst x best peer", "which is"], rows)

	# ---- The tables ----

	def workload(self, name: str) -> list[str]:
		bytes = self.results.main_bytes(name)
		what = self.results.descriptions.get(name, "")
		lines = [f"### {name}", ""] + (text.paragraph(text.sentence(what) + ".") if what else [])
		lines += tables.comparison(self.results, name, bytes)
		others = [f"[{size} bytes]({path}#{name})" for size, path in self.sizes.items()
			if size != bytes and size in self.results.sizes(workload=name)]
		return lines + (["Other sizes: " + ", ".join(others), ""] if others else [])

	def further(self) -> list[str]:
		lines: list[str] = []

		def section(title: str, words: str, *content: list[str]) -> None:
			lines.extend([f"## {title}", "", *text.paragraph(words), *(line for part in content for line in part)])

		def what(name: str) -> str:
			return self.results.descriptions.get(name) or name

		if evicting.cases(self.results):
			section("The evicting pool", prose.EVICTING, self.picture("the evicting pool"),
				evicting.tables(self.results))
		if retiring.there(self.results):
			section("Deferred release", prose.RETIRING, self.picture("deferred release"),
				retiring.tables(self.results))
		if "latency" in self.workloads:
			section("Latency", prose.LATENCY.format(what=text.sentence(what("latency"))), self.picture("latency"),
				tables.latency(self.results))
		if any(cell.has("fairness") and tables.is_comparison(cell.workload) for cell in self.results.cells.values()):
			section("Fairness", prose.FAIRNESS, tables.fairness(self.results))
		if "memory" in self.workloads:
			section("Memory", prose.MEMORY, tables.memory(self.results))
		if any(name.startswith("create-") for name in self.workloads):
			section("Creation and destruction", "By capacity, in objects.", tables.creation(self.results))
		if "exhausted" in self.workloads:
			section("Exhausted", prose.EXHAUSTED.format(what=what("exhausted")),
				tables.comparison(self.results, "exhausted", self.results.main_bytes("exhausted")))
		counted = tables.counters(self.results)
		if counted:
			section("Misses and retries", prose.COUNTERS, counted)
		if self.instructions:
			section("Instructions", prose.INSTRUCTIONS, tables.instructions(self.instructions, self.results))
		return lines

	def subjects(self) -> list[str]:
		known, skipped = self.results.subjects, self.results.skipped
		names = tables.by_group(self.results, self.results.names(), lambda name: 0)
		rows = tables.with_group(self.results, names, lambda name: [known[name].what, known[name].version]
			if name in known else ["", ""])
		groups = dict.fromkeys(self.results.group(name) for name in names)
		lines = text.table(["", "", "what", "version"], rows, 4)
		lines += text.bullets(f"**{group}**: {prose.GROUPS.get(group, '')}" for group in groups)
		if skipped:
			lines += ["Not measured:", "", *text.bullets(f"{name}: {skipped[name]}" for name in sorted(skipped))]
		return lines

	# ---- All of it ----

	def whole(self) -> str:
		lines = ["# Performance", "", *self.made()]
		lines += ["## Goals", "", *self.goals(), *self.picture("lfpool beside its peers, on two threads")]
		lines += ["## Where lfpool loses", "", *self.losses()]
		lines += ["## The machine", "", *self.machine(), "## How it was measured", "", *self.method()]
		lines += ["## Do it again", "", *self.again(), "## What is compared", "", *self.subjects()]
		compared = [name for name in self.workloads if tables.is_comparison(name)]
		if compared:
			lines += ["## Workloads", "", *text.paragraph(prose.WORKLOADS), *self.picture("throughput")]
		for name in compared:
			lines += self.workload(name)
		return "\n".join([*lines, *self.further()]).rstrip("\n") + "\n"

	def page(self, bytes: int, back: str) -> str:
		lines = [f"# Performance with {bytes}-byte objects", "", *self.made(), f"The rest is in [{back}]({back}).", ""]
		for name in self.workloads:
			if tables.is_comparison(name) and bytes in self.results.sizes(workload=name):
				lines += [f"## {name}", "", *tables.comparison(self.results, name, bytes)]
		return "\n".join(lines).rstrip("\n") + "\n"
