# SPDX-License-Identifier: MIT
"""A header in Doxygen's words: its comments as commands, and of the code only what they are about."""
import html
import re

ESCAPED = str.maketrans({each: "\\" + each for each in "\\@#%$"})


def page(header):
    out = f"/**\n@file lfpool/{header.name}\n@brief {inline(header.about.summary)}\n\n{blocks(header.about.blocks)}"
    out += "".join("\n" + blocks(each) for each in header.explanations()) + "*/\n"
    for item in header.items:
        for name, declaration, inputs in item.declarations:
            out += entry(item, name, declaration, inputs)
    return out


def entry(item, name, declaration, inputs):
    own = item.field(name) if item.kind == "constant" else None
    if own:
        return f"/**\n@brief {blocks(own)}*/\n{declaration}\n"
    out = f"/**\n@brief {inline(item.summary[0].upper() + item.summary[1:])}\n\n{blocks(item.prose())}"
    for parameter, _ in inputs:
        out += f"\n@param {parameter} {blocks(item.inputs[parameter]).strip()}\n"
    described = set(item.inputs)
    for _, labels, text in item.fields() + item.inherited():
        if described.issuperset(labels):
            continue
        if item.kind not in ("function", "macro"):
            out += f"\n@par {', '.join(labels)}\n{blocks(text)}"
            continue
        if "Returns" in labels and not re.match(r"void (?!\*)", declaration):
            out += f"\n@return {blocks(text).strip()}\n"
            labels = labels[1:]
        if labels and labels != ["Returns"]:
            out += f"\n@par {', '.join(labels).capitalize()}\n{blocks(text)}"
    code = f"#define {declaration} implementation" if item.kind == "macro" else declaration
    return out + "*/\n" + members(code) + (";" if item.kind == "function" else "") + "\n"


def members(code):
    """The comments inside a struct or an enum."""
    def comment(match):
        behind = code[:match.start()].rsplit("\n", 1)[-1].strip()
        text = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in match[1].split("\n"))
        return f"/**{'<' if behind else ''} {inline(text)} */"
    return re.sub(r"/\*(.*?)\*/", comment, code, flags=re.S)


def inline(text):
    return "".join(f"<tt>{escape(part)}</tt>" if i % 2 else escape(part) for i, part in enumerate(text.split("`")))


def escape(text):
    return html.escape(text, False).translate(ESCAPED).replace("*/", "*&zwj;/")


def blocks(them):
    out = ""
    for block in them:
        if block[0] == "text":
            out += ("\n" if out else "") + inline(block[1]) + "\n"
        elif block[0] == "heading":
            out += f"\n<b>{escape(block[1])}</b>\n"
        elif block[0] == "code":
            out += f"<pre>{html.escape(block[1], False).translate(ESCAPED)}</pre>\n"
        elif block[0] == "item":
            out += f"<dl><dt>{escape(block[1])}</dt><dd>{blocks(block[2]).strip()}</dd></dl>\n"
        else:
            out += f"<dl><dt>{escape(', '.join(block[1]))}</dt><dd>{blocks(block[2]).strip()}</dd></dl>\n"
    return out
