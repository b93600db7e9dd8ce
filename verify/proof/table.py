#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the table of moves, whose head explains its lines."""
import ast
import re

LETTERS = {"c": "cache", "d": "cache", "m": "magazine", "n": "magazine", "s": "stack", "g": "region", "o": "slot", "q": "slot",
           "p": "number", "k": "number"}


class Wrong(Exception):
    """The table itself is wrong."""


def split(text):
    """`A => B` is (A, B); an expression without an arrow at the top is (None, it)."""
    depth = 0
    for at, letter in enumerate(text):
        depth += letter in "(["
        depth -= letter in ")]"
        if not depth and text.startswith(" => ", at):
            return text[:at], text[at + 4:]
    return None, text


def parse(text):
    """Python's tree of an expression, an arrow as a call of `implies`."""
    if text.startswith("all "):
        names, body = text[4:].split(": ", 1)
        return ast.Call(ast.Name("all"), [ast.Constant(names.split(", ")), parse(body)], [])
    premise, rest = split(text.strip())
    if premise is not None:
        return ast.Call(ast.Name("implies"), [parse(premise), parse(rest)], [])
    tree = ast.parse(rest.strip(), mode="eval").body
    if any(isinstance(node, ast.Compare) and len(node.ops) > 1 for node in ast.walk(tree)):
        raise Wrong(f"two comparisons in a row: {rest}")
    return tree


def names_in(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


class Move:
    def __init__(self, name, parameters):
        self.name, self.parameters = name, parameters
        self.guards, self.claims, self.updates, self.rows = [], [], [], {}
        self.texts = []  # of the guards


class Table:
    """The text, parsed."""

    def __init__(self, text):
        self.enums, self.words, self.defs, self.sums, self.axioms = {}, {}, {}, {}, []
        self.moves, self.kinds, self.constants, self.init, self.births = {}, {}, {}, [], []
        self.groups = {"inv": {}, "step": {}, "theorem": {}, "reading": {}, "collect": {}, "room": {}}
        self.invariants, self.steps = self.groups["inv"], self.groups["step"]
        move = None
        for number, line in enumerate(text.split("\n"), 1):
            line = re.sub(r"(^|\s\s+)#.*", "", line).rstrip()
            if not line:
                continue
            try:
                head, rest = line.split(None, 1)
                if line.startswith("  "):
                    self.add_to(move, head, rest, line.strip())
                elif head == "move":
                    name, parameters = re.fullmatch(r"(\w+)\((.*)\)", rest.strip()).groups()
                    move = self.moves[name] = Move(name, parameters.split(", "))
                else:
                    self.declare(head, rest)
            except (ValueError, AttributeError, SyntaxError, KeyError) as error:
                raise Wrong(f"line {number}: {line}: {error}") from error

    def declare(self, head, rest):
        if head == "enum":
            name, *values = rest.split()
            self.enums[name] = values
            self.constants |= {value: place for place, value in enumerate(values)}
        elif head in ("word", "local", "ghost", "const"):
            name, arguments, result = re.match(r"(\w+)(?:\(([^)]*)\))? +(\w+)", rest).groups()
            self.words[name] = ([LETTERS[a[0]] for a in arguments.split(", ")] if arguments else [], LETTERS.get(result, result))
            self.kinds[name] = head
        elif head == "def":
            name, arguments, body = re.match(r"(\w+)\(([^)]*)\) = (.*)", rest).groups()
            self.defs[name] = (arguments.split(", "), parse(body))
        elif head == "sum":
            name, arguments, over, body = re.match(r"(\w+)(?:\(([^)]*)\))? +over (\w) = (.*)", rest).groups()
            self.sums[name] = (arguments.split(", ") if arguments else [], over, parse(body))
            self.words[name] = ([LETTERS[a] for a in self.sums[name][0]], "number")
            self.kinds[name] = "sum"
        elif head in ("axiom", "init", "birth"):
            {"axiom": self.axioms, "init": self.init, "birth": self.births}[head].append(parse(rest))
        else:
            name, body = rest.split(None, 1)
            self.groups[head][name] = parse(body)

    @staticmethod
    def add_to(move, head, rest, line):
        if head == "when":
            move.guards.append(parse(rest))
            move.texts.append(rest.strip())
        elif head == "claim":
            move.claims.append(parse(rest))
        elif head == "alone":
            move.rows[re.match(r"\w+", rest)[0]] = (parse(rest).args[0], None)
        elif head == "same":
            row, other = rest.split(" as ")
            move.rows[re.match(r"\w+", row)[0]] = (parse(row).args[0], other)
        else:
            left, right = line.split(" := ")
            left = parse(left)
            arguments = [a.id for a in left.args] if isinstance(left, ast.Call) else []
            move.updates.append((left.func.id if arguments else left.id, arguments, parse(right)))

    def uses(self, tree):
        """The words that an expression depends on, also by way of definitions and sums."""
        found, todo = set(), [tree]
        while todo:
            for name in names_in(todo.pop()) - found:
                found.add(name)
                if name in self.defs:
                    todo.append(self.defs[name][1])
                elif name in self.sums:
                    todo.append(self.sums[name][2])
        return found
