# SPDX-License-Identifier: MIT
"""The model as manual pages: section 3 for what the headers declare, section 7 for what they explain.

A page of section 3 is about one comment, and so about one function or several; the others' pages are links to it.
"""
import re

TITLES = {"returns": "RETURN VALUE", "owner": "OWNERSHIP", "source": "SOURCES"}


class Manual:
    def __init__(self, headers):
        self.headers = headers
        text = "".join(header.source for header in headers)
        self.version = ".".join(re.search(rf"LFPOOL_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))
        self.pages, self.links = {}, {}  # (name, section) -> Item or Header; (name, section) -> (name, section)
        for header in headers:
            self.pages[concept(header), 7] = header
            for item in header.items:
                first = item.declarations[0][0]
                self.pages[first, 3] = item
                others = [name for name, _, _ in item.declarations[1:]] + item.members()
                for other in others:
                    self.links[other, 3] = (first, 3)
        for (name, section) in list(self.pages):
            short = name.removesuffix("_t")
            if name.startswith("LFPOOL_PREFAULT"):
                self.links["lfpool_flags", 3] = (name, section)
            if section == 3 and short not in ("lfpool", name) and not self.has(short):
                self.links[short, 3] = (name, section)

    def has(self, name, section=3):
        return (name, section) in self.pages or (name, section) in self.links

    def write(self, folder):
        files = {("lfpool", 3): self.overview()}
        for page, about in self.pages.items():
            files[page] = self.concept(about) if page[1] == 7 else self.reference(about)
        for page, (name, section) in self.links.items():
            files[page] = f".so man{section}/{name}.{section}\n"
        for (name, section), text in files.items():
            (folder / f"man{section}").mkdir(parents=True, exist_ok=True)
            (folder / f"man{section}" / f"{name}.{section}").write_text(text)
        return len(files)

    # ---- Pages ----

    def begin(self, names, section, summary):
        return f'.TH {names[0]} {section} "" "lfpool {self.version}" "lfpool"\n.SH NAME\n' \
            f'{", ".join(names)} \\- {escape(summary.rstrip(".?"))}\n.nh\n'

    def reference(self, item):
        names = [name for name, _, _ in item.declarations]
        out = self.begin(names, 3, item.summary)
        out += f".SH LIBRARY\n{item.library()}\n.SH SYNOPSIS\n.nf\n\\fB#include <lfpool/{item.include}>\\fP\n.PP\n"
        for text in item.synopsis():
            out += "\n".join(f"\\fB{code(line)}\\fP" if line else "" for line in text.split("\n")) + "\n"
        out += ".fi\n.SH DESCRIPTION\n"
        out += self.blocks([("text", item.summary[0].upper() + item.summary[1:])] + item.prose())
        for parameter, blocks in getattr(item, "inputs", {}).items():
            out += f".TP\n\\fI{parameter}\\fP\n{self.blocks(blocks, True)}"
        shown = set(getattr(item, "inputs", {}))
        for _, labels, blocks in item.fields() + item.inherited():
            if not shown.issuperset(labels):
                if item.kind in ("function", "macro"):
                    title = ", ".join(TITLES.get(label.lower(), label.upper()) for label in labels)
                    out += f".SH {title}\n{self.blocks(blocks)}"
                else:
                    out += f".TP\n\\fB{', '.join(labels)}\\fP\n{self.blocks(blocks, True)}"
        return out + self.see_also(out, names, item.header, [("lfpool", 7)])

    def concept(self, header):
        about = header.about
        out = self.begin([concept(header)], 7, about.summary)
        out += f".SH SYNOPSIS\n\\fB#include <lfpool/{header.include()}>\\fP\n.SH DESCRIPTION\n"
        out += self.blocks([("text", about.summary[0].upper() + about.summary[1:])] + about.blocks)
        for blocks in header.explanations():
            out += ".PP\n" + self.blocks(blocks)
        others = [("lfpool", 3)] + sorted(page for page in self.pages if page[1] == 7 and page[0] != "lfpool")
        see_also = self.see_also(out, [name for item in header.items for name, _, _ in item.declarations], "lfpool.h",
                                 others if concept(header) == "lfpool" else [("lfpool", 7)])
        for title, kinds in (("FUNCTIONS", ("function", "macro")), ("TYPES", ("type", "callback")), ("CONSTANTS", ("constant",))):
            items = [item for item in header.items if item.kind in kinds]
            if items:
                out += f".SH {title}\n" + "".join(self.line(item) for item in items)
        return out + see_also

    def overview(self):
        out = self.begin(["lfpool"], 3, "the functions of a thread-safe, lock-free object pool")
        out += ".SH DESCRIPTION\nEvery function, by the header that declares it.\n"
        for header in self.headers:
            functions = [item for item in header.items if item.kind in ("function", "macro")]
            if functions:
                out += f".SS lfpool/{header.name}: {self.reference_to(concept(header), 7)}\n"
                out += "".join(self.line(item) for item in functions)
        return out + ".SH SEE ALSO\n\\fBlfpool\\fP(7)\n"

    def line(self, item):
        names = ", ".join(self.reference_to(name, 3) for name, _, _ in item.declarations)
        return f".TP\n{names}\n{self.inline(item.summary)}\n"

    def see_also(self, out, names, header, last):
        found = sorted(set(re.findall(r"\\fB(\w+)\\fP\(3\)", out)) - set(names))
        pages = [(name, 3) for name in found] + [(f"lfpool_{header[:-2]}", 7)] * (header != "lfpool.h")
        return ".SH SEE ALSO\n" + ",\n".join(self.reference_to(*page) for page in pages + last) + "\n"

    # ---- Text ----

    def reference_to(self, name, section):
        return f"\\fB{name}\\fP({section})"

    def inline(self, text):
        out = ""
        for i, part in enumerate(text.split("`")):
            if i % 2:
                out += f"\\fB{code(part)}\\fP"
            else:
                part = re.sub(r"\*(\w+)\*", r"\1", part)
                out += re.sub(r"\b(lfpool_\w+)(?:\(\)|(?<=_t)\b)|\bLFPOOL_[A-Z_]+\b", self.named, escape(part))
        return "\\&" + out if out[:1] in (".", "'") else out

    def named(self, found):
        if found[1]:
            return self.reference_to(found[1], 3) if self.has(found[1]) else found[0]
        return f"\\fB{found[0]}\\fP"

    def blocks(self, blocks, in_list=False):
        """Paragraphs; those after the first of a list's entry are indented with it."""
        out = ""
        for i, block in enumerate(blocks):
            if block[0] == "text":
                out += ("" if i == 0 else ".IP\n" if in_list else ".PP\n") + self.inline(block[1]) + "\n"
            elif block[0] == "heading":
                out += f".SS {escape(block[1])}\n"
            elif block[0] == "code":
                lines = "\n".join(guard(code(line)) for line in block[1].split("\n"))
                out += f".RS\n{'.sp' if out else '.'}\n.EX\n{lines}\n.EE\n.RE\n"
            elif block[0] == "item":
                out += f".IP \"{escape(block[1])}\" 4\n{self.blocks(block[2], True)}"
            else:
                names = ", ".join(f"\\fB{label}\\fP" for label in block[1])
                body = self.blocks(block[2], True)
                out += f".RS\n.TP\n{names}\n{body}.RE\n" if in_list else f".TP\n{names}\n{body}"
        return out


def concept(header):
    return "lfpool" if header.name == "lfpool.h" else f"lfpool_{header.name[:-2]}"


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def code(text):
    text = escape(text).replace("\t", "        ")
    return text.replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")


def guard(line):
    return "\\&" + line if line[:1] in (".", "'") else line
