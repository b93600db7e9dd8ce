# SPDX-License-Identifier: MIT
"""The public headers as a model: what they declare, and what their comments say of it.

A comment has one shape.  "name - summary." (or "name, other - summary.") stands above the functions or the function-like macro
that it names; then come paragraphs; then fields, "label   text", where a label is a parameter or one of FIELDS.  Threads, Progress and Cost
may instead be fields of the section ("---- Title ----", then fields) or of the header.  A parameter without a field is
what its type's comment says.  Types, constants, and callbacks have a comment above them, or behind them on their line.

Whatever is public and lacks a part of its contract is a problem, and so is whatever is not understood: headers() raises Problems.
"""
import pathlib
import re

FIELDS = ("Returns", "Owner", "Memory", "Threads", "Progress", "Cost", "Source")
# Of these only what a comment names is public; the rest is the library's own.
NAMED_ONLY = ("inline.h", "set_inline.h", "typed.h", "hidden.h")
NO_INTERFACE = ("LFPOOL_API", "LFPOOL_MUST_USE")
LEFT_OUT = ("#ifdef__cplusplus", "#ifdefLFPOOL_EMBEDDED")  # of what is read
TOKEN = re.compile(r"/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*|[^\s]", re.S | re.M)
FIELD = re.compile(r"^ {0,3}([A-Za-z_]\w*(?:, [a-z]\w*)*)( {2,})(\S.*)$")
LISTED = re.compile(r"^( {0,3})(\d+\.|-) +(\S.*)$")
PROGRESS = re.compile(r"wait-free|lock-free|\block\b|block(s|ing)\b|\bas lfpool_\w+\(\)", re.I)


class Problems(Exception):
    """What is wrong with the headers: one line for each."""


class Item:
    """What one comment is about: functions, a type, constants, callbacks, or a macro with parameters."""

    def __init__(self, kind, header, lines):
        self.kind, self.header = kind, header
        self.about, self.section, self.include, self.callbacks, self.inputs = None, None, header, [], {}
        self.declarations = []  # (name, text, parameters), a parameter is (name, type)
        self.names, self.summary, self.blocks = [], "", parse(lines)
        if self.blocks and self.blocks[0][0] == "text":
            named = re.match(r"^([\w.]+(?:, \w+)*) - (.*)$", self.blocks[0][1], re.S)
            if named:
                self.names = named[1].split(", ")
                self.blocks[0] = ("text", named[2])
            self.summary, rest = first_sentence(self.blocks[0][1])
            self.blocks[:1] = [("text", rest)] if rest else []

    def fields(self):
        return [block for block in self.blocks if block[0] == "field"]

    def prose(self):
        return [block for block in self.blocks if block[0] != "field"]

    def inherited(self):
        """Fields that the section, or else the header, has for all functions in it."""
        found = []
        for label in ("Threads", "Progress", "Cost") if self.kind == "function" else ():
            places = [place for place in (self.section, self.about) if place and place.field(label)]
            if places and not self.field(label):
                found += [block for block in places[0].fields() if label.lower() in map(str.lower, block[1]) and block not in found]
        return found

    def library(self):
        """Which one has it."""
        component = re.search(r"Component (lfpool-\w+)\.", plain(self.about.blocks))
        return f"{component[1]}, lfpool" if component else "lfpool"

    def synopsis(self):
        """Declarations, those of the callbacks they take first."""
        texts = list(self.callbacks)
        for name, text, _ in self.declarations:
            if text.startswith("#define") and "(X)" in text:
                text = text.split(" \\")[0].split("\t")[0]
            texts.append(text + (";" if self.kind == "function" else ""))
        return texts

    def members(self):
        """Names of an enum's constants."""
        return [name for _, text, _ in self.declarations if text.startswith("typedef enum")
                for name in re.findall(r"^\s+(LFPOOL_\w+) =", text, re.M)]

    def field(self, label):
        """The blocks of the field of this label, which may be one of several that share a text; None."""
        for _, labels, blocks in self.fields():
            if label.lower() in [other.lower() for other in labels]:
                return blocks
        return None


class Header:
    def __init__(self, path):
        self.name, self.source = path.name, path.read_text()
        self.about, self.items, self.loose = None, [], []

    def include(self):
        """What a program includes to have it."""
        return "lfpool.h" if "Included by lfpool.h" in " ".join(plain(self.about.blocks).split()) else self.name

    def explanations(self):
        """Blocks of the comments that are about nothing in particular."""
        return [] if self.name in NAMED_ONLY else [parse(lines) for lines in self.loose if not is_ruler(lines)]


def is_ruler(lines):
    return len(lines) == 1 and lines[0].startswith("----")


def begins_section(lines):
    """A ruler, or a comment that begins with one: its fields hold for each function down to the next ruler."""
    return " ".join(lines).lstrip().startswith("----")


def first_sentence(text):
    ended = re.match(r"^(.*?[.?])(?:  (.*))?$", text, re.S)
    return (ended[1], ended[2] or "") if ended else (text, "")


def join(lines):
    """Lines of a paragraph as one; two blanks end a sentence."""
    text = ""
    for line in lines:
        text += ("  " if re.search(r"[.?!]\)?$", text) else " " if text else "") + line.strip()
    return text


def plain(blocks):
    return " ".join(block[-1] if isinstance(block[-1], str) else plain(block[-1]) for block in blocks)


def comment_lines(comment):
    lines = [re.sub(r"^[ \t]*\* ?", "", line) for line in comment[2:-2].rstrip().split("\n")]
    lines[0] = lines[0].lstrip("* ")
    return [line.rstrip() for line in lines]


def indent(line):
    return len(line) - len(line.lstrip())


def parse(lines):
    """Blocks: ("text", t), ("code", t), ("heading", t), ("item", marker, blocks), ("field", labels, blocks)."""
    blocks, i = [], 0

    def taken(width):
        """The lines from i on that are indented by more than `width`, without the indentation of the first."""
        nonlocal i
        found = []
        while i < len(lines) and lines[i] and indent(lines[i]) > width:
            found.append(lines[i])
            i += 1
        return found

    while i < len(lines):
        line = lines[i]
        field, listed = FIELD.match(line), LISTED.match(line)
        if not line:
            i += 1
        elif re.match(r"^-{4,} .* -{4,}$", line):
            blocks.append(("heading", line.strip("- ")))
            i += 1
        elif field or listed:
            i += 1
            width = indent(line) + len(line) - indent(line) - len((field or listed)[3])
            body = [(field or listed)[3]] + [each[min(width, indent(each)):] for each in taken(indent(line))]
            inner = parse(body)
            blocks.append(("field", field[1].split(", "), inner) if field else ("item", listed[2], inner))
        elif indent(line) >= 4:
            code = []
            while i < len(lines) and (not lines[i] or indent(lines[i]) >= 4):
                code.append(lines[i])
                i += 1
            width = min(indent(each) for each in code if each)
            blocks += table(code, width) or [("code", "\n".join(each[width:] for each in code).rstrip())]
        else:
            text = []
            while i < len(lines) and lines[i] and indent(lines[i]) < 4 and not FIELD.match(lines[i]) and \
                    not LISTED.match(lines[i]):
                text.append(lines[i])
                i += 1
            blocks.append(("text", join(text)))
    return blocks


def table(code, width):
    """Indented rows "word   text" as fields; None if it is code."""
    rows = [each[width:] for each in code if each]
    if not FIELD.match(rows[0]) or any(not FIELD.match(row) and indent(row) < 4 for row in rows):
        return None
    return None if any(row.rstrip().endswith((";", "{")) and "(" in row for row in rows) else parse(rows)


def tokens(source):
    """(kind, text, blank line before?, first on its line?) of each comment, directive, and declaration at file scope.

    What is only for C++, or for small targets, is passed over."""
    depth, begin, skipping, found = 0, None, False, []
    previous_end = 0
    source = re.sub(r"^LFPOOL_C_(BEGIN|END)_$", "", source, flags=re.M)
    for match in TOKEN.finditer(source):
        text, start = match[0], match.start()
        gap = source[previous_end:start]
        if text.lstrip().startswith("#") and begin is None:
            word = text.replace(" ", "")
            skipping = word in LEFT_OUT or (skipping and not re.match(r"#(else|endif)", word))
            if word.startswith("#define") and not skipping:
                found.append(("directive", text.lstrip(), gap.count("\n") > 1, True))
            previous_end = match.end()
        elif skipping:
            previous_end = match.end()
        elif text.startswith("/*"):
            if begin is None:
                found.append(("comment", text, gap.count("\n") > 1, "\n" in gap or not found))
                previous_end = match.end()
        else:
            if begin is None:
                begin, blank = start, gap.count("\n") > 1
            depth += (text in "{(") - (text in "})")
            if depth == 0 and (text == ";" or (text == "}" and is_function(source[begin:match.end()]))):
                found.append(("declaration", source[begin:match.end()], blank, True))
                begin, previous_end = None, match.end()
    return found


def is_function(text):
    return not re.match(r"\s*(typedef|struct|enum|union)\b", text) and "(" in text.split("{")[0]


def parameters(text):
    """(name, type) of each parameter of a prototype; a callback's own are passed over."""
    inner = text[text.index("(") + 1:text.rindex(")")]
    found = []
    for each in re.sub(r"\([^()]*\)(?=,|$)", "", inner).split(","):
        named = re.search(r"(\w+)\W*$", each)
        if named and each.strip() != "void":
            found.append((named[1], each[:named.start()].strip()))
    return found


def classify(kind, text):
    """(kind, name, declaration, parameters), or None for what is no interface."""
    if kind == "directive":
        macro = re.match(r"#define (\w+)(\([^)]*\))?", text)
        if not macro or macro[1].endswith(("_", "_H")) or macro[1] in NO_INTERFACE:
            return None
        if macro[2] and macro[2] != "(X)":
            return "macro", macro[1], macro[1] + macro[2], [(each, "") for each in macro[2].strip("()").split(", ")]
        return "constant", macro[1], text, []
    callback = re.match(r"typedef [^{]*\(\*(\w+)\)\(", text)
    if callback:
        return "callback", callback[1], text, []
    if text.startswith("typedef"):
        return "type", re.search(r"(\w+);$", text)[1], text, []
    function = re.match(r"(?:LFPOOL_API |LFPOOL_MUST_USE |LFPOOL_INLINE_ |static inline )*(.*?\b(\w+)\(.*\))\s*[;{]",
                        text.split("{")[0] + ("{" if "{" in text else ""), re.S)
    if not function or text.startswith(("struct", "_Static_assert")):
        return None
    prototype = re.sub(r"\s+", " ", function[1])
    return "function", function[2], prototype, parameters(prototype)


def read(path, problems):
    header = Header(path)
    comment, fresh, item, section = None, False, None, None
    for kind, text, blank, first in tokens(header.source):
        if kind == "comment":
            if "SPDX" in text:
                continue
            if not header.about:
                header.about = Item("header", header.name, comment_lines(text))
            elif not first and item:
                behind = Item(item.kind, header.name, comment_lines(text))  # behind what it describes
                item.summary, item.blocks = behind.summary, behind.blocks
            else:
                if fresh:
                    header.loose.append(comment)
                comment, fresh, item = comment_lines(text), True, None
                if begins_section(comment):
                    section = Item("section", header.name, comment)
            continue
        if blank:
            if fresh:
                header.loose.append(comment)
            comment, fresh, item = None, False, None
        known = classify(kind, text)
        if not known:
            if kind == "directive":
                comment, fresh, item = None, False, None
            continue
        what, name, declaration, inputs = known
        if not item or (item.kind == "type" and what != "constant") or (comment is None and what != "function"):
            item = Item(what, header.name, comment or [])
            item.section = section
            header.items.append(item)
        item.declarations.append((name, declaration, inputs))
        fresh = False
    if header.name in NAMED_ONLY:
        header.items = [item for item in header.items if item.names]
    for item in header.items:
        judge(header, item, problems)
    return header


def judge(header, item, problems):
    """What an item's comment leaves out."""
    declared = [name for name, _, _ in item.declarations]
    where = f"{header.name}: {declared[0]}"
    if not item.summary:
        problems.append(f"{where}: no comment")
    if item.kind in ("function", "macro"):
        if item.names != declared:
            problems.append(f"{where}: the comment names {item.names}, declared are {declared}")
    if item.kind != "function":
        return
    inputs = {name for _, _, each in item.declarations for name, _ in each}
    for _, labels, _ in item.fields():
        for label in labels:
            if label not in inputs and label.capitalize() not in FIELDS:
                problems.append(f"{where}: the field {label} is neither a parameter nor one of {', '.join(FIELDS)}")
    returns = any(not declaration.startswith("void ") or declaration.startswith("void *")
                  for _, declaration, _ in item.declarations)
    if returns and not contract(header, item, "Returns"):
        problems.append(f"{where}: no Returns")
    if not contract(header, item, "Threads"):
        problems.append(f"{where}: no Threads")
    told = plain(contract(header, item, "Threads") or []) + plain(contract(header, item, "Progress") or [])
    if not PROGRESS.search(told):
        problems.append(f"{where}: Threads and Progress say nothing of progress")


def contract(header, item, label):
    """A field of the item's, or else what its section, or the header, says for all that is in it."""
    places = (item, item.section, header.about) if label in ("Threads", "Progress", "Cost") else (item,)
    return next((place.field(label) for place in places if place and place.field(label)), None)


def headers(root):
    problems = []
    found = [read(path, problems) for path in sorted(pathlib.Path(root, "include/lfpool").glob("*.h"))]
    for header in found:
        for item in header.items:
            item.about, item.include = header.about, header.include()
    expand(found)
    types = {name: item for header in found for item in header.items if item.kind in ("type", "callback")
             for name, _, _ in item.declarations}
    for header in found:
        for item in header.items:
            for name, _, inputs in item.declarations:
                for parameter, its_type in inputs:
                    callback = types.get(its_type.split()[-1]) if its_type else None
                    if callback and callback.kind == "callback" and callback.declarations[0][1] not in item.callbacks:
                        item.callbacks.append(callback.declarations[0][1])
                    text = describe(item, parameter, its_type, inputs, types)
                    if text is None:
                        problems.append(f"{header.name}: {name}: nothing is said of {parameter}")
                    item.inputs[parameter] = text
    known = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", " ", " ".join(each.source for each in found), flags=re.S)))
    for header in found:
        for comment in re.findall(r"/\*.*?\*/", header.source, re.S):
            for name in re.findall(r"\b(?:lfpool_\w+(?=\()|LFPOOL_[A-Z_]+\b(?!\*))", comment):
                if name not in known and not name.startswith(("LFPOOL_BACKEND", "LFPOOL_DEBUG")):
                    problems.append(f"{header.name}: a comment names {name}, which is declared nowhere")
    if problems:
        raise Problems("\n".join(problems))
    return found


def expand(found):
    """What X-macros list: as the constants of the enum, and as fields of the macro."""
    rows = {}
    for header in found:
        for item in header.items:
            for name, text, _ in item.declarations:
                if re.match(r"#define \w+\(X\)", text):
                    text = re.sub(r'"\s*\\\n\s*"', "", text)
                    rows[name] = re.findall(r'X\((\w+), (?:"([^"]*)", )?(-?\d+),.*?"([^"]*)"\)', text, re.S)
                    item.blocks += [("field", [word or row], [("text", means)]) for row, word, _, means in rows[name]]
    for header in found:
        for item in header.items:
            for i, (name, text, inputs) in enumerate(item.declarations):
                used = re.search(r"#define \w+\(name.*?\b(LFPOOL_\w+_MAP)\(.*?#undef[^\n]*\n", text, re.S)
                if used:
                    listed = "".join(f"\t{row} = {value}, /* {means} */\n" for row, _, value, means in rows[used[1]])
                    item.declarations[i] = (name, text[:used.start()] + listed + text[used.end():], inputs)


def describe(item, parameter, its_type, inputs, types):
    """Blocks that say what a parameter is: its field, or what its type's comment begins with; None."""
    blocks = item.field(parameter)
    if blocks:
        return blocks
    word = re.search(r"\w+_t\b", its_type)
    if word and word[0] in types and types[word[0]].summary:
        return [("text", types[word[0]].summary[0].upper() + types[word[0]].summary[1:].rstrip(".") + ".")]
    callbacks = [name for name, its in inputs if "_t" in its and its.split()[-1] in types and
                 types[its.split()[-1]].kind == "callback"]
    if parameter == "context" and callbacks:
        return [("text", f"Handed to `{callbacks[0]}`.")]
    return None
