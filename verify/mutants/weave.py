#!/usr/bin/env python3
"""weave.py ROOT LIST OUT - writes the library with all seeded bugs of LIST to OUT: src/, include/ and mutant.c, which must be linked too.

The library is compiled once for all bugs, not once for each: a woven file has the original of each function that a bug changes, and a
changed copy, which the original calls if the environment has LFPOOL_MUTANT=NAME when the program starts.

A line of LIST is a bug: NAME | FILE | sed -E script | fields for its users.  A bug that changes a second file has a second line.
FILE `=` is a bug of logic.txt.  A script with MUTANT changes the file itself, also outside of functions; MUTANT becomes an expression
that is true if the bug is on.

  weave.py --tell LIST    prints for CMake the files that LIST changes, and each bug with the fields for its users, NAME|...
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Orders, and the weaker ones that replace them.
WEAKER = {
    "load_acquire": ["load_relaxed"],
    "store_release": ["store_relaxed"],
    "load_seq_cst": ["load_acquire", "load_relaxed"],
    "cas_seq_cst": ["cas_acq_rel"],
    "LFPOOL_LOAD_ACQUIRE_": ["LFPOOL_LOAD_RELAXED_"],
    "LFPOOL_STORE_RELEASE_": ["LFPOOL_STORE_RELAXED_"],
    "cas_acquire": ["cas_relaxed"],
    "cas_release": ["cas_relaxed"],
    "cas_weak_release": ["cas_weak_relaxed"],
    "cas_acq_rel": ["cas_relaxed", "cas_no_acquire", "cas_no_release", "cas_failure_relaxed"],
    "cas_weak_acq_rel": ["cas_weak_relaxed", "cas_weak_no_acquire", "cas_weak_no_release", "cas_weak_failure_relaxed"],
}
VERB = re.compile(r"\b(%s)\(" % "|".join(WEAKER))
HEAD = re.compile(r"^[a-zA-Z_][^;={]*?(\w+)\(")


def parts(text):
    """[(name of a function or None, text)]: a definition begins in the first column and ends with a brace there."""
    found, between, lines = [], [], text.splitlines(keepends=True)
    while lines:
        head = HEAD.match(lines[0])
        brace = next((i for i, line in enumerate(lines) if line[0] == "{" or line.rstrip()[-1:] in (";", "}")), 0)
        if not head or not brace or lines[brace][0] != "{":
            between.append(lines.pop(0))
            continue
        end = next(i for i, line in enumerate(lines) if line[0] == "}") + 1
        found += [(None, "".join(between)), (head[1], "".join(lines[:end]))]
        between, lines = [], lines[end:]
    return found + [(None, "".join(between))]


def weakenings(text):
    """(function, verb, number of its use there, weaker verb, text of the function with it), for each order in a file."""
    for name, body in parts(text):
        code = re.sub(r"/\*.*?\*/", lambda comment: " " * len(comment[0]), body, flags=re.S) if name else ""
        used = {}
        for verb in VERB.finditer(code):
            used[verb[1]] = used.get(verb[1], 0) + 1
            for weaker in WEAKER[verb[1]]:
                yield name, verb[1], used[verb[1]], weaker, body[:verb.start(1)] + weaker + body[verb.end(1):]


def sed(text, script):
    after = subprocess.run(["sed", "-E", script], input=text, capture_output=True, text=True, check=True).stdout
    if after == text:
        raise ValueError(f"changes nothing: {script}")
    return after


def changed(text, script):
    """{function: its text after the sed script}.  Only functions can be woven."""
    before, after = parts(text), parts(sed(text, script))
    if [name for name, _ in before] != [name for name, _ in after]:
        raise ValueError(f"changes more than the bodies of functions: {script}")
    different = {name: new for (name, old), (_, new) in zip(before, after) if old != new}
    if None in different:
        raise ValueError(f"changes text outside of functions: {script}")
    return different


def arguments(head):
    """The names of the parameters of a function."""
    inside, depth, names = head[head.index("(") + 1:head.rindex(")")], 0, [""]
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            names.append("")
        else:
            names[-1] += letter
    return [re.search(r"\(\*(\w+)\)|(\w+)(\[.*\])?\s*$", name).group(1, 2) for name in names if name.strip() != "void"]


def weave(text, mutants):
    """The file with all mutants, {number: {function: text}}."""
    woven = ["extern int mutant;\n"]
    for name, body in parts(text):
        mine = {number: functions[name] for number, functions in mutants.items() if name in functions}
        if not mine:
            woven.append(body)
            continue
        head = body[:body.index("\n{")]
        call = ", ".join(a or b for a, b in arguments(head))
        cases = ""
        woven.append(head + ";\n")
        for number, new in mine.items():
            woven.append(re.sub(rf"\b{name}\(", f"{name}_{number}(", new, count=1))
            cases += f"\tcase {number}: return {name}_{number}({call});\n"
        woven.append(head + "\n{\n\tswitch (mutant) {\n" + cases + "\t}" + body[len(head) + 2:])
    return "".join(woven)


CHOOSE = """#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mutant;
static const char *const names[] = {%s};

__attribute__((constructor)) static void choose(void)
{
	const char *name = getenv("LFPOOL_MUTANT");

	for (size_t i = 0; name && *name && i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			mutant = (int)i + 1;
	/* No such bug: nothing to find. */
	if (name && *name && !mutant)
		_exit(0);
}
"""


def write(root, out, mutants):
    """mutants: [(name, file, script or {function: text})]; names are numbered from 1."""
    names = list(dict.fromkeys(name for name, _, _ in mutants))
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("src", "include"):
        shutil.copytree(f"{root}/{folder}", f"{out}/{folder}")
    for file in {file for _, file, _ in mutants}:
        with open(f"{root}/{file}", encoding="utf-8") as source:
            text, functions = source.read(), {}
        for name, of, change in mutants:
            number = names.index(name) + 1
            if of == file and "MUTANT" in change:
                text = sed(text, change.replace("MUTANT", f"(mutant == {number})"))
            elif of == file:
                functions[number] = change if isinstance(change, dict) else changed(text, change)
        with open(f"{out}/{file}", "w", encoding="utf-8") as woven:
            woven.write(weave(text, functions))
    with open(out + "/mutant.c", "w", encoding="utf-8") as source:
        source.write(CHOOSE % ", ".join(map(json.dumps, names)))


def fields(path):
    with open(path, encoding="utf-8") as lines:
        return [re.split(r" +\| +", line.strip()) for line in lines if line.strip() and line[0] != "#"]


def read(bugs):
    """[(name, file, script)] of a list."""
    logic = {name: (file, " | ".join(script)) for name, _, file, *script in fields(f"{HERE}/logic.txt")}
    return [(name, *logic[name]) if file == "=" else (name, file, script) for name, file, script, *_ in fields(bugs)]


def main():
    if sys.argv[1] == "--tell":
        print(" ".join(sorted({file for _, file, _ in read(sys.argv[2])})))
        print(*("|".join([name, *users]) for name, _, _, *users in fields(sys.argv[2]) if users), sep="\n", end="")
    else:
        write(sys.argv[1], os.path.abspath(sys.argv[3]), read(sys.argv[2]))


if __name__ == "__main__":
    main()
