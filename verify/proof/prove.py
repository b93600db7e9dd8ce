#!/usr/bin/python3 -B
# SPDX-License-Identifier: MIT
"""prove.py [MOVE... | --controls [NAME...]] - proves the table with z3: each move, the beginning, and the theorems.

Each query is one move and one conjunct: all conjuncts before the move, its preconditions, and the conjunct's negation after it.
Conjuncts are instantiated for each thing that the query names, so z3 sees no quantifier and answers in milliseconds.  `unsat` then holds
for any number of caches, magazines, slots and threads; any other answer is a failure.  Last, each conjunct is left out, and some
query must fail.  --controls: the same for the wrong tables of `controls`, with a counterexample for each.
"""
import ast
import itertools
import multiprocessing
import operator
import pathlib
import sys
import time

import z3

from table import LETTERS, Table, Wrong, names_in, parse

HERE = pathlib.Path(__file__).parent
SORTS = {name: z3.DeclareSort(name) for name in ("cache", "magazine", "stack", "slot", "region")}
KINDS = {sort: name for name, sort in SORTS.items()} | {z3.IntSort(): "number"}
SORTS |= {"number": z3.IntSort(), "bool": z3.BoolSort()}
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.Eq: operator.eq,
              ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
# Round 1 instantiates for things that the query names, round 2 for those that the instances of round 1 name.
ROUNDS = 2
TIMEOUT_MS = 300000 # for busy machines; the longest answer takes a second


class Before:
    """A moment in z3: a function for each word.  `mark` distinguishes moments."""

    def __init__(self, table, mark=""):
        self.table, self.functions, self.moments = table, {}, {}
        self.none = z3.Const("none", SORTS["magazine"])
        for name, (arguments, result) in table.words.items():
            sorts = [SORTS[a] for a in arguments] + [SORTS.get(result, z3.IntSort())]
            full = name + (mark if table.kinds[name] != "const" else "")
            self.functions[name] = z3.Function(full, *sorts) if arguments else z3.Const(full, sorts[-1])

    def word(self, name, arguments):
        return self.functions[name](*arguments) if arguments else self.functions[name]

    def call(self, node, names, after):
        name = node.func.id
        if name == "implies":
            return z3.Implies(*[self.value(a, names, after) for a in node.args])
        if name == "after":
            return after.value(node.args[0], names)
        if name in self.moments:
            return self.moments[name].value(node.args[0], names)
        arguments = [self.value(a, names, after) for a in node.args]
        if name in self.table.defs:
            parameters, body = self.table.defs[name]
            return self.value(body, dict(zip(parameters, arguments)), after)
        return self.word(name, arguments)

    def value(self, node, names, after=None):
        """A tree as an expression of z3."""
        def go(part):
            return self.value(part, names, after)
        if isinstance(node, ast.Constant):
            return z3.IntVal(node.value) if type(node.value) is int else z3.BoolVal(node.value)
        if isinstance(node, ast.Name):
            if node.id in names or node.id == "none":
                return names.get(node.id, self.none)
            return z3.IntVal(self.table.constants[node.id]) if node.id in self.table.constants else self.word(node.id, [])
        if isinstance(node, ast.Call):
            return self.call(node, names, after)
        if isinstance(node, ast.BoolOp):
            return (z3.And if isinstance(node.op, ast.And) else z3.Or)([go(v) for v in node.values])
        if isinstance(node, ast.UnaryOp):
            return z3.Not(go(node.operand)) if isinstance(node.op, ast.Not) else -go(node.operand)
        if isinstance(node, ast.IfExp):
            return z3.If(go(node.test), go(node.body), go(node.orelse))
        if isinstance(node, ast.BinOp):
            return OPERATIONS[type(node.op)](go(node.left), go(node.right))
        if isinstance(node, ast.Compare):
            left, right = go(node.left), node.comparators[0]
            if isinstance(node.ops[0], ast.In):
                return z3.Or([left == go(e) for e in right.elts])
            return OPERATIONS[type(node.ops[0])](left, go(right))
        raise Wrong(ast.dump(node))


class After(Before):
    """The moment after a move: each word as a formula over those before it."""

    def __init__(self, before, move, parameters):
        self.table, self.before, self.move, self.parameters, self.none = before.table, before, move, parameters, before.none
        self.written, self.moments = {name for name, _, _ in move.updates}, {}

    def word(self, name, arguments):
        if name in self.table.sums:
            return self.sum(name, arguments)
        value, given = self.before.word(name, arguments), self.parameters | {"none": self.none}
        for word, left, right in self.move.updates:
            if word == name:
                same = [a == given[l] for a, l in zip(arguments, left) if l in given]
                names = self.parameters | {l: a for a, l in zip(arguments, left) if l not in given}
                new = self.before.value(right, names)
                value = z3.If(z3.And(same), new, value) if same else new
        return value

    def summand(self, name, arguments, at):
        parameters, over, body = self.table.sums[name]
        names = dict(zip(parameters, arguments)) | {over: at}
        return self.before.value(body, names), self.value(body, names)

    def touched(self, name):
        """The summands that the move may change: those of its parameters.  `Prover.sums` proves that it changes no others."""
        kind = LETTERS[self.table.sums[name][1]]
        return [v for p, v in self.parameters.items() if LETTERS[p] == kind]

    def sum(self, name, arguments):
        value, seen = self.before.word(name, arguments), []
        if not self.table.uses(self.table.sums[name][2]) & self.written:
            return value
        for at in self.touched(name):
            old, new = self.summand(name, arguments, at)
            value += z3.If(z3.Or([at == s for s in seen]), 0, new - old) if seen else new - old
            seen.append(at)
        if name in self.move.rows:
            row, other = self.move.rows[name]
            row = self.parameters[row.id]
            value = z3.If(arguments[0] == row, self.before.word(other, []) if other else self.summand(name, [row], row)[1], value)
        return value


def things(e):
    """The things that an expression itself names, by kind; numbers only if they are positions or variables."""
    name, sort = e.decl().name(), e.sort()
    if name.startswith("entry"):
        yield "number", e.arg(1)
    if sort == z3.IntSort():
        if name in ("pos", "note") or name.startswith("!"):
            yield "number", e
    elif sort in SORTS.values() and sort != z3.BoolSort() and e.decl().kind() == z3.Z3_OP_UNINTERPRETED:
        yield sort.name(), e


# There is at least one of each kind.
SOME = {kind: {0: z3.Const("some " + kind, sort)} for kind, sort in SORTS.items()}


def constants(names, mark):
    return {n: z3.Const(mark + n, SORTS[LETTERS[n]]) for n in names}


def variables_of(tree, bound=()):
    """The free variables of a tree, which stand for all things of their kind."""
    return sorted(n for n in names_in(tree) if n in LETTERS and n not in bound)


class Prover:
    def __init__(self, table, without=()):
        self.table, self.before = table, Before(table)
        # Number of an expression: the expression (kept, so that z3 does not reuse the number), the numbers of its parts, its things.
        self.parts, self.instances = {}, {}
        self.axioms = [("axiom", *self.general(tree)) for tree in table.axioms]
        self.hypotheses = self.axioms + [(n, *self.general(t)) for n, t in table.invariants.items() if n not in without]

    def general(self, tree, before=None, after=None):
        """(variables, body) of a tree that holds for all values."""
        names = constants(variables_of(tree), "?")
        return list(names.values()), (before or self.before).value(tree, names, after)

    def part(self, e):
        """The number of an expression.  Each part is analysed once, since calls of z3 cost more than a proof."""
        number = e.get_id()
        if number not in self.parts:
            self.parts[number] = e, [], [(kind, thing.get_id(), thing) for kind, thing in things(e)]
            self.parts[number][1].extend(self.part(child) for child in e.children())
        return number

    def terms(self, expressions, seen):
        """The parts of expressions whose numbers are not in `seen`, each with its things."""
        todo = [self.part(e) for e in expressions]
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                e, parts, named = self.parts[number]
                todo += parts
                yield e, named

    def ask(self, facts, goal, hypotheses=None, rounds=ROUNDS):
        """Does the goal follow?  (True, names of the conjuncts used, None) or (False, model or None, the query).
        Sets `self.needed` to the number of rounds."""
        hypotheses = (self.hypotheses if hypotheses is None else hypotheses) + [("when", v, b) for v, b in facts if v]
        solver = z3.Solver()
        solver.set("timeout", TIMEOUT_MS)
        asked = [z3.Not(goal)] + [body for variables, body in facts if not variables]
        solver.add(asked)
        done, seen, named, ground = set(), set(), {}, asked
        literals = {name: z3.Bool("use " + name) for name, _, _ in hypotheses}
        for self.needed in range(1, rounds + 1):
            for kind, number, thing in itertools.chain.from_iterable(found for _, found in self.terms(ground, seen)):
                named.setdefault(kind, {})[number] = thing
            ground = []
            for name, variables, body in hypotheses:
                choices = [named.get(kind) or SOME[kind] for kind in (KINDS[v.sort()] for v in variables)]
                for values in itertools.product(*[choice.items() for choice in choices]):
                    key = (name, body.get_id(), *[number for number, _ in values])
                    if key not in done:
                        done.add(key)
                        said, said_if_used = self.instance(key, literals[name], variables, body, [value for _, value in values])
                        ground.append(said)
                        z3.Z3_solver_assert(solver.ctx.ref(), solver.solver, said_if_used.ast)
            answer = solver.check(list(literals.values()))
            if answer == z3.unsat:
                return True, {str(l)[4:] for l in solver.unsat_core()} - {"axiom", "when"}, None
        return False, solver.model() if answer == z3.sat else None, asked

    def instance(self, key, literal, variables, body, values):
        """A hypothesis with these values, and its implication by `literal`: created once for all queries."""
        if key not in self.instances:
            # z3.substitute() and z3.Implies() without their checks, which take half of the time.
            context, count = body.ctx, len(values)
            here, old, new = context.ref(), (z3.Ast * count)(*[v.ast for v in variables]), (z3.Ast * count)(*[v.ast for v in values])
            said = z3.BoolRef(z3.Z3_substitute(here, body.ast, count, old, new), context)
            # Keep the objects whose numbers are in the key.
            self.instances[key] = said, z3.BoolRef(z3.Z3_mk_implies(here, literal.ast, said.ast), context), body, values
        return self.instances[key][:2]

    def setting(self, move):
        """A move's parameters, its preconditions, and the moment after it."""
        parameters, facts = constants(move.parameters, "!"), []
        for guard in move.guards:
            bound = {}
            if isinstance(guard, ast.Call) and getattr(guard.func, "id", "") == "all":
                bound, guard = constants(guard.args[0].value, "?"), guard.args[1]
            facts.append((list(bound.values()), self.before.value(guard, parameters | bound)))
        return parameters, facts, After(self.before, move, parameters)

    def queries(self, name):
        """(what, hypotheses or None, facts, goal) for each query of a move, or of "beginning" or "theorems"."""
        if name in self.table.moves:
            return ((what, None, facts, goal) for what, facts, goal in self.goals(self.table.moves[name]))
        return self.beginning() if name == "beginning" else self.theorems()

    def goals(self, move):
        """(what, facts, goal) for each query of a move."""
        parameters, facts, after = self.setting(move)
        for number, tree in enumerate(move.claims):
            yield f"claim {number + 1}", facts, self.before.value(tree, parameters | constants(variables_of(tree, parameters), "!!"))
        for what, tree in (self.table.invariants | self.table.steps).items():
            if self.table.uses(tree) & after.written:
                names, moment = constants(variables_of(tree), "!!"), self.before if what in self.table.steps else after
                yield what, facts, moment.value(tree, names, after)
        for what in self.table.sums:
            if self.table.uses(self.table.sums[what][2]) & after.written:
                yield f"sum {what}", facts, self.sums(what, move, parameters, after)

    def sums(self, what, move, parameters, after):
        """A move changes only summands of its parameters; a new row has the summands that the table declares."""
        arguments, over, _ = self.table.sums[what]
        names = constants(arguments + [over], "!!")
        at, row = names[over], [names[a] for a in arguments]
        old, new = after.summand(what, row, at)
        others, more = [at != t for t in after.touched(what)], []
        if what in move.rows:
            index, other = parameters[move.rows[what][0].id], move.rows[what][1]
            others.append(row[0] != index)
            new_row = after.summand(what, [index], at)[1]
            more = [new_row == self.before.value(self.table.sums[other][2], {self.table.sums[other][1]: at}) if other
                    else z3.Implies(at != index, new_row == 0)]
        return z3.And([z3.Implies(z3.And(others), old == new)] + more)

    def possible(self, move):
        """Is there a state that permits the move?"""
        _, facts, _ = self.setting(move)
        return not self.ask(facts, z3.BoolVal(False), rounds=1)[0]

    # ---- Without moves ----

    def beginning(self):
        """(what, hypotheses, facts, goal): each conjunct holds in an unused pool."""
        init = self.axioms + [("init", *self.general(tree)) for tree in self.table.init + self.table.births]
        for what, tree in self.table.invariants.items():
            yield f"init {what}", init, [], self.before.value(tree, constants(variables_of(tree), "!!"))

    def grows(self, before, after, but=()):
        return [(name, *self.general(tree, before, after)) for name, tree in self.table.steps.items()
                if name not in but and name != "hidden.stays"]

    def theorems(self):
        """(what, hypotheses, facts, goal): consequences of the conjuncts and of sequences of moves."""
        for what, tree in self.table.groups["theorem"].items():
            yield what, self.hypotheses, [], self.before.value(tree, constants(variables_of(tree), "!!"))
        moments = {name: Before(self.table, "'" + name) for name in "ABCXYT"}
        a, b, c = (moments[name] for name in "ABC")
        for what, tree in self.table.steps.items():
            if what != "hidden.stays":
                names = constants(variables_of(tree), "!!")
                yield f"no move: {what}", self.axioms, [], a.value(tree, names, a)
                yield f"many moves: {what}", self.axioms + self.grows(a, b) + self.grows(b, c), [], a.value(tree, names, c)
        self.before.moments = moments
        # One magazine: the conjuncts hold at the load of bottom.
        at_b = self.axioms + [(n, *self.general(t, b)) for n, t in self.table.invariants.items()]
        read = [("reading " + n, *self.general(t)) for n, t in self.table.groups["reading"].items()]
        m = constants("m", "!!")
        yield "a reading is of one moment", at_b + read + self.grows(a, b) + self.grows(b, c), [], b.value(parse("bottom(m) <= top(m)"), m)
        # All magazines: the conjuncts hold at T.
        x, y, t = (moments[name] for name in "XYT")
        at_t = self.axioms + [(n, *self.general(self.table.invariants[n], t)) for n in ("W.tags", "H2.at")]
        found = [("collect " + n, *self.general(tree)) for n, tree in self.table.groups["collect"].items()]
        order = self.grows(x, t, ["grows.counted"]) + self.grows(t, y, ["grows.counted"])
        o = constants("o", "!!")
        free, seen = t.value(parse("free(o)"), o), t.value(self.table.groups["theorem"]["C1"], o)
        n = constants("nm", "!")
        yield "there is room", self.hypotheses, [([], self.before.value(tree, n)) for tree in self.table.groups["room"].values()], \
            self.before.value(parse("nroom >= 1"), {})
        yield from ((what, [], [], goal) for what, goal in lemmas())
        yield "nothing is free", at_t + found + order, [([], seen)], z3.Not(free)


def lemmas():
    """(what, goal) about numbers only.  Lemmas about sums are the steps of an induction over the summands."""
    t, u, n, m, a, b, x, y, p, q, k = z3.Ints("t u n m a b x y p q k")
    grown = z3.And(0 <= n, n < 2**24, 0 <= m, m < 2**24, z3.Or(u > t, z3.And(u == t, m == n)))
    yield "a word grows", z3.Implies(grown, t * 2**24 + n <= u * 2**24 + m)
    yield "equal words", z3.Implies(z3.And(grown, t * 2**24 + n == u * 2**24 + m), z3.And(t == u, n == m))
    yield "a sum grows", z3.Implies(z3.And(a <= b, x <= y), a + x <= b + y)
    yield "equal sums", z3.Implies(z3.And(a <= b, x <= y, a + x == b + y), z3.And(a == b, x == y))
    for width, what in ((2**64, "words"), (2**48, "pushes")):
        yield f"a sum of {what} in its width", z3.Implies((a - b) % width == 0, (a + x % width - (b + x)) % width == 0)
        yield f"equal in its width: {what}", z3.Implies(z3.And(a <= b, b - a < width, (b - a) % width == 0), a == b)
    # Positions p and q with the same place in the ring and less than `slots` (n) apart are equal.
    yield "ring", z3.Implies(z3.And(n >= 1, p - q == k * n, p - q < n, q - p < n), p == q)
    # The stored value of bottom, at home: a hit subtracts 1, a push adds 65537.
    word = lambda pushes, position: pushes * 2**16 + position
    home = z3.And(p >= 1, p < 2**16 - 1)
    yield "a pop borrows nothing", z3.Implies(home, z3.And((word(x, p) - 1) / 2**16 == x, (word(x, p) - 1) % 2**16 == p - 1))
    yield "a push carries nothing", z3.Implies(home, z3.And((word(x, p) + 65537) / 2**16 == x + 1, (word(x, p) + 65537) % 2**16 == p + 1))


# ---- Running ----

def print_example(prover, model, asked, say):
    """The words of the query, with their values in the counterexample."""
    names, terms = {}, [e for e, _ in prover.terms(asked, set())]
    for e in terms:
        if e.sort() in SORTS.values() and e.sort() not in (z3.IntSort(), z3.BoolSort()):
            value, kind = str(model.eval(e, True)), e.sort().name()
            if str(model.eval(prover.before.none, True)) == value and kind == "magazine":
                names[value] = "none"
            names.setdefault(value, f"{kind} {chr(65 + sum(n.startswith(kind) for n in names.values()))}")
    lines = set()
    for e in terms:
        full = e.decl().name()
        word = full.split("'")[0]
        if word in prover.table.words and prover.table.kinds[word] != "sum":
            kind, value = prover.table.words[word][1], str(model.eval(e, True))
            options = dict(enumerate(prover.table.enums.get(kind, [])))
            value = options.get(int(value), value) if kind in prover.table.enums else names.get(value, value)
            arguments = [str(model.eval(a, True)) for a in e.children()]
            lines.add(f"{full}({', '.join(names.get(a, a) for a in arguments)}) = {value}")
    parameters = [f"{str(e)[1:]} is {names.get(str(model.eval(e, True)), model.eval(e, True))}" for e in terms
                  if e.num_args() == 0 and str(e).startswith("!") and not str(e).startswith("!!")]
    say("      " + ", ".join(sorted(parameters)))
    for line in sorted(lines):
        say("      " + line)


def run(job):
    """(name, queries, failures, {what: (conjuncts used, rounds)}, lines, seconds) of a move, "beginning" or "theorems"."""
    text, name = job
    prover, queries = Prover(Table(text)), 0
    lines, failures, used, start = [], [], {}, time.time()
    for what, hypotheses, facts, goal in prover.queries(name):
        proved, found, asked = prover.ask(facts, goal, hypotheses)
        queries += 1
        if proved:
            used[what] = found, prover.needed
            continue
        failures.append(what)
        lines.append(f"  {name}: {what} is not proved" + ("" if found is not None else ": no answer"))
        if found is not None:
            print_example(prover, found, asked, lines.append)
    if name in prover.table.moves and not prover.possible(prover.table.moves[name]):
        failures.append("possible")
        lines.append(f"  {name}: no state permits this move")
    return name, queries, failures, used, lines, time.time() - start


def need(job):
    """(conjunct, a query that fails without it, or None)."""
    text, conjunct, places = job
    prover = Prover(Table(text))
    for name, what, rounds in places:
        for query, hypotheses, facts, goal in prover.queries(name):
            if query == what:
                left = [h for h in hypotheses or prover.hypotheses if h[0] != conjunct]
                if not prover.ask(facts, goal, left, rounds)[0]:
                    return conjunct, f"{name}, {what}"
    return conjunct, None


def changed(text, move, out, into):
    """The table with one line replaced."""
    lines, inside, found = [], move == "-", 0
    for line in text.split("\n"):
        if move != "-" and not line.startswith("  "):
            inside = line.startswith(f"move {move}(")
        if inside and line.strip() == out.strip():
            found += 1
            indent = line[:len(line) - len(line.lstrip())]
            lines += [indent + new.strip() for new in into.split(" ; ") if new.strip()]
        else:
            lines.append(line)
    if found != 1:
        raise Wrong(f"{move}: has {found} times, not once: {out}")
    return "\n".join(lines)


def control(job):
    """A wrong table: the query fails, with the number of rounds that the right table needs, and z3 has a counterexample."""
    text, line = job
    name, move, out, into, expected = (part.strip() for part in line.split("|"))
    lines, rounds = [], ROUNDS
    for wrong in (False, True):
        prover = Prover(Table(changed(text, move, out, into) if wrong else text))
        query = [q for q in prover.queries("theorems" if move == "-" else move) if q[0] == expected]
        if wrong and not query:
            raise Wrong(f"{name}: there is no query {expected}")
        for _, hypotheses, facts, goal in query:
            proved, found, asked = prover.ask(facts, goal, hypotheses, rounds)
            rounds = prover.needed
    if not proved and found is not None:
        print_example(prover, found, asked, lines.append)
    return name, f"{'in ' + move + ', ' if move != '-' else ''}{expected}", not proved and found is not None, lines


def controls(text):
    caught, missed, wanted = 0, 0, sys.argv[2:]
    lines = [line for line in (HERE / "controls").read_text().split("\n") if line and not line.startswith("#")]
    lines = [line for line in lines if not wanted or line.split()[0] in wanted]
    with multiprocessing.Pool(2) as pool:
        for name, what, found, example in pool.imap(control, [(text, line) for line in lines]):
            print(f"{name}: {what} is " + ("not proved, for example:" if found else "proved, but must not be"), *example, sep="\n")
            caught, missed = caught + found, missed + (not found)
    print(f"{caught} wrong tables refuted, {missed} missed")
    return missed > 0


def main():
    text = (HERE / "table").read_text()
    if sys.argv[1:2] == ["--controls"]:
        return controls(text)
    names = sys.argv[1:] or ["theorems", "beginning", *Table(text).moves]
    start, queries, failed, places = time.time(), 0, 0, {}
    with multiprocessing.Pool(2) as pool:
        for name, count, failures, used, lines, seconds in pool.imap_unordered(run, [(text, n) for n in names]):
            print(f"{name}: {count - len(failures)} of {count} proved, {seconds:.1f} s", *lines, sep="\n", flush=True)
            queries, failed = queries + count, failed + len(failures)
            for what, (conjuncts, rounds) in used.items():
                for conjunct in conjuncts - {what, "init"}:
                    places.setdefault(conjunct, []).append((name, what, rounds))
        print(f"{queries} queries, {queries - failed} proved, {failed} failed, {time.time() - start:.0f} s")
        if failed or sys.argv[1:]:
            return failed > 0
        conjuncts = sorted(set(places) | set(Table(text).invariants))
        for conjunct, where in pool.imap(need, [(text, c, places.get(c, [])) for c in conjuncts]):
            print(f"{conjunct}: " + (f"without it {where} is not proved" if where else "no query needs it"))
            failed += not where
    print(f"{len(conjuncts)} conjuncts, {failed} not needed, {time.time() - start:.0f} s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
