#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""generate.py --layout TABLE WRONG - translates the lines about unused pools to C, for layout.c.

generate.py TABLE STRENGTHENED - translates the moves to C, for follow.c: each function checks the preconditions of its move, and changes
the words; another checks all invariants.  A move also checks the line of `strengthened` whose index is in `strong`.

The C code has only those words that a precondition or invariant reads, or that such words depend on.
"""
import ast
import pathlib
import sys

from table import LETTERS, Table, Wrong, names_in, parse

KINDS = ("cache", "magazine", "stack", "slot", "region")
SIZES = {kind: kind.upper() + "S" for kind in KINDS} | {"number": "POSITIONS_KEPT"}
COUNTS = {kind: f"size_now.{kind}s" for kind in KINDS}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
         ast.Gt: ">", ast.GtE: ">="}


def type_of(kind):
    return {"number": "int64_t", "bool": "bool"}.get(kind, "int32_t")


class Writer:
    def __init__(self, table, strengthened):
        self.table, self.strengthened = table, strengthened
        asked = [tree for m in table.moves.values() for tree in m.guards + m.claims] + list(table.invariants.values())
        self.kept = set().union(*(table.uses(tree) for tree in asked + [tree for _, _, tree in strengthened]))
        while True:
            more = set().union(*(table.uses(right) for m in table.moves.values() for name, _, right in m.updates if name in self.kept))
            if more <= self.kept:
                break
            self.kept |= more
        self.kept = {n for n in self.kept if n in table.words and n not in table.sums}

    def place(self, name, arguments):
        kinds = self.table.words[name][0]
        return f"w.{name}" + "".join(f"[({a}) % {SIZES[k]}]" if k == "number" else f"[{a}]" for a, k in zip(arguments, kinds))

    def text(self, node):
        go = self.text
        if isinstance(node, ast.Constant):
            return str(node.value).lower()
        if isinstance(node, ast.Name):
            name = node.id
            return "0" if name == "none" else f"{name}()" if name in self.table.sums else f"w.{name}" if name in self.table.words else name
        if isinstance(node, ast.Call):
            name, arguments = node.func.id, [go(a) for a in node.args]
            if name == "implies":
                return f"(!({arguments[0]}) || ({arguments[1]}))"
            if name in self.table.defs or name in self.table.sums:
                return f"{name}({', '.join(arguments)})"
            return self.place(name, arguments)
        if isinstance(node, ast.BoolOp):
            return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(go(v) for v in node.values) + ")"
        if isinstance(node, ast.UnaryOp):
            return ("!" if isinstance(node.op, ast.Not) else "-") + f"({go(node.operand)})"
        if isinstance(node, ast.IfExp):
            return f"({go(node.test)} ? {go(node.body)} : {go(node.orelse)})"
        if isinstance(node, ast.BinOp):
            return f"({go(node.left)} {SIGNS[type(node.op)]} {go(node.right)})"
        if isinstance(node, ast.Compare):
            left, right = go(node.left), node.comparators[0]
            if isinstance(node.ops[0], ast.In):
                return "(" + " || ".join(f"{left} == {go(e)}" for e in right.elts) + ")"
            return f"({left} {SIGNS[type(node.ops[0])]} {go(right)})"
        raise Wrong(ast.dump(node))

    def parameters(self, names):
        return ", ".join(f"{type_of(LETTERS[n])} {n}" for n in names) or "void"

    def loop(self, name, body=None):
        kind = LETTERS[name]
        if kind != "number":
            return f"for (int32_t {name} = 0; {name} < {COUNTS[kind]}; {name}++)"
        low, high = body.args[0].values[:2]  # all p: p >= A and p < B ...
        return f"for (int64_t {name} = {self.text(low.comparators[0])}; {name} < {self.text(high.comparators[0])}; {name}++)"

    @staticmethod
    def all_of(guard):
        """(quantified names, body) of a guard."""
        is_all = isinstance(guard, ast.Call) and getattr(guard.func, "id", "") == "all"
        return (guard.args[0].value, guard.args[1]) if is_all else ([], guard)

    @staticmethod
    def free(tree, bound=()):
        """The free variables of a tree.  Numbers depend on a magazine, so they come last."""
        return sorted({n for n in names_in(tree) if n in LETTERS and n not in bound}, key=lambda n: (LETTERS[n] == "number", n))

    def ask(self, names, tree, text):
        """Checks a tree for all values of these names.  Parts of a premise about the first names are checked before the inner loops."""
        premise, lines = tree.args[0] if isinstance(tree, ast.Call) and tree.func.id == "implies" and tree.args else None, []
        parts = premise.values if isinstance(premise, ast.BoolOp) and isinstance(premise.op, ast.And) else [premise] if premise else []
        for at, name in enumerate(names):
            lines.append(f"\t{self.loop(name, tree)} {{")
            early = [p for p in parts if name in names_in(p) and not names_in(p) & set(names[at + 1:])] if at + 1 < len(names) else []
            lines += [f"\tif (!{self.text(part)})\n\t\tcontinue;" for part in early]
        lines.append(f"\tif (!{self.text(tree)})\n\t\treturn \"{text}\";")
        return "\n".join(lines) + "\n\t" + "}" * len(names)

    def move(self, move):
        yield f"\n/* {move.name} */"
        yield f"static inline const char *move_{move.name}({self.parameters(move.parameters)})\n{{"
        for guard, text in zip(move.guards, move.texts):
            yield self.ask(*self.all_of(guard), f"when {text}")
        for number, (name, of, guard) in enumerate(self.strengthened):
            if of == move.name:
                yield f"\tif (strong == {number}) {{\n{self.ask(*self.all_of(guard), name)}\n\t}}"
        for claim in move.claims:
            yield self.ask(self.free(claim, move.parameters), claim, f"claim {ast.unparse(claim)}")
        late = []
        for number, (name, left, right) in enumerate(move.updates):
            if name not in self.kept:
                continue
            free = [a for a in left if a not in move.parameters]
            kind, value = type_of(self.table.words[name][1]), f"new_{number}"
            at = "".join(f"[{SIZES[LETTERS[f]]}]" for f in free), "".join(f"[{f}]" for f in free)
            loops = "".join(f"\t{self.loop(f)}\n" for f in free)
            yield f"\t{'static ' if free else ''}{kind} {value}{at[0]};\n{loops}\t{value}{at[1]} = {self.text(right)};"
            late.append(f"{loops}\t{self.place(name, left)} = {value}{at[1]};")
        yield from late
        yield f"\tmoves_made[MOVE_{move.name}]++;\n\treturn NULL;\n}}"

    def all(self):
        table = self.table
        yield "/* Written by generate.py. */"
        for values in table.enums.values():
            yield f"enum {{ {', '.join(values)} }};"
        yield "struct words {"
        for name in sorted(self.kept):
            arguments, result = table.words[name]
            yield f"\t{type_of(result)} {name}" + "".join(f"[{SIZES[a]}]" for a in arguments) + ";"
        yield "};\nstatic struct words w;"
        yield f"enum {{ {', '.join('MOVE_' + m for m in table.moves)}, MOVES }};"
        yield f"static const char *const move_names[] = {{ {', '.join(chr(34) + m + chr(34) for m in table.moves)} }};"
        yield "static uint64_t moves_made[MOVES];"
        asked = set().union(*(table.uses(tree) for m in table.moves.values()
                              for tree in m.guards + m.claims + [u[2] for u in m.updates if u[0] in self.kept]),
                            *(table.uses(tree) for tree in table.invariants.values()))
        yield "static int strong = -1;"
        yield f"static const char *const strong_names[] = {{ {', '.join(chr(34) + name + chr(34) for name, _, _ in self.strengthened)} }};"
        for name, (names, body) in table.defs.items():
            if name in asked:
                yield f"static int64_t {name}({self.parameters(names)})\n{{\n\treturn {self.text(body)};\n}}"
        for name, (names, over, body) in table.sums.items():
            if name in asked:
                yield f"static int64_t {name}({self.parameters(names)})\n{{\n\tint64_t sum = 0;\n\n\t{self.loop(over)}\n\t\tsum += {self.text(body)};\n\treturn sum;\n}}"
        for move in table.moves.values():
            yield from self.move(move)
        yield "\n/* A violated sentence, or NULL. */\nstatic const char *sentence_broken(void)\n{"
        for name, tree in table.invariants.items():
            yield self.ask(self.free(tree), tree, name)
        yield "\treturn NULL;\n}"


class Layout(Writer):
    """For layout.c: words are functions that read the pool."""

    def __init__(self, table, wrong):
        self.table, self.wrong = table, wrong

    def place(self, name, arguments):
        return f"now_{name}({', '.join(arguments)})"

    def text(self, node):
        if isinstance(node, ast.Name) and node.id in self.table.words:
            return self.place(node.id, [])
        return super().text(node)

    def all(self):
        table = self.table
        facts = [(ast.unparse(tree), tree) for tree in table.axioms + table.births]
        used = set().union(*(table.uses(tree) for _, tree in facts + self.wrong))
        yield "/* Written by generate.py. */"
        for values in table.enums.values():
            yield f"enum {{ {', '.join(values)} }};"
        for name in sorted(n for n in used if n in table.words):
            arguments, result = table.words[name]
            yield f"static {type_of(result)} now_{name}({', '.join(type_of(a) for a in arguments) or 'void'});"
        for name, (names, body) in table.defs.items():
            if name in used:
                yield f"static int64_t {name}({self.parameters(names)})\n{{\n\treturn {self.text(body)};\n}}"
        yield "/* `pairs`: also the lines about two magazines. */\nstatic const char *layout_broken(bool pairs)\n{"
        for text, tree in facts:
            names = self.free(tree)
            asks = self.ask(names, tree, text)
            yield f"\tif (pairs) {{\n{asks}\n\t}}" if "m" in names and "n" in names else asks
        yield "\treturn NULL;\n}\nstatic const char *wrong_broken(const char *name)\n{"
        for name, tree in self.wrong:
            yield f"\tif (!strcmp(name, \"{name}\")) {{\n{self.ask(self.free(tree), tree, name)}\n\t}}"
        yield "\treturn NULL;\n}"


def main():
    if sys.argv[1] == "--layout":
        lines = [line.split("|") for line in pathlib.Path(sys.argv[3]).read_text().splitlines() if line and line[0] != "#"]
        print("\n".join(Layout(Table(pathlib.Path(sys.argv[2]).read_text()), [(n.strip(), parse(e.strip())) for n, e in lines]).all()))
        return
    lines = [line.split("|") for line in pathlib.Path(sys.argv[2]).read_text().splitlines() if line and line[0] != "#"]
    strengthened = [(name.strip(), move.strip(), parse(guard.strip())) for name, move, guard, _ in lines]
    print("\n".join(Writer(Table(pathlib.Path(sys.argv[1]).read_text()), strengthened).all()))


if __name__ == "__main__":
    main()
