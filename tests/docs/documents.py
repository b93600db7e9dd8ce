# SPDX-License-Identifier: MIT
"""The documents: every Markdown file of the repository, and the blocks of code in them.

A fence (see CONTRIBUTING.md) has a language, a text, and the directives in the HTML comments right before it.  A directive is
"word: text" or a word.  "commands tested by: path" applies to all fences of the document that are neither C nor C++.
"""
import os
import pathlib
import re

DIRECTIVES = ("given", "file scope", "needs", "not run", "tested by", "commands tested by")


class Fence:
    def __init__(self, line, language, directives):
        self.line, self.language, self.directives = line, language, directives
        self.text = ""
        self.after = None  # the fence that follows

    def excused(self):
        return "not run" in self.directives or "tested by" in self.directives

    def bad_excuse(self, root):
        """Why this fence may not be skipped; empty if it may."""
        path = self.directives.get("tested by")
        if not self.excused():
            return f"a fence of {self.language!r} needs a directive: see CONTRIBUTING.md"
        return f"tested by {path}, which does not exist" if path and not (root / path).exists() else ""


class Document:
    def __init__(self, root, path):
        self.path, self.name = path, str(path.relative_to(root))
        self.text = path.read_text()
        self.fences, self.indented, self.prose, self.wrong = [], [], [], []
        self.read()

    def read(self):
        """Fences; indented lines; and the prose, in which both are empty lines."""
        fence, directives, comment, before, others = None, {}, None, "", None
        for number, line in enumerate(self.text.split("\n"), 1):
            rest = ""
            if fence is None and comment is None and re.match(r"```", line):
                fence = Fence(number, line[3:].strip(), directives)
                if self.fences:
                    self.fences[-1].after = fence
                self.fences.append(fence)
                directives = {}
            elif fence is not None:
                if line == "```":
                    fence = None
                else:
                    fence.text += line + "\n"
            elif comment is not None or line.startswith("<!--"):
                comment = (comment or "") + line + "\n"
                if line.endswith("-->"):
                    directives.update(self.directive(number, comment.strip()[4:-3].strip()))
                    others = directives.pop("commands tested by", others)
                    comment = None
            elif re.match(r"( {4}|\t)", line) and (not before.strip() or re.match(r"( {4}|\t)", before)):
                self.indented.append((number, line.strip()))
            elif line.strip():
                directives, rest = {}, line
            self.prose.append(rest)
            before = line
        for fence_of_others in self.fences if others else []:
            if fence_of_others.language not in ("", "c", "cpp"):
                fence_of_others.directives.setdefault("tested by", others)
        if fence or comment:
            self.wrong.append(f"{self.name}: the last fence or comment has no end")

    def directive(self, number, text):
        word, _, value = text.partition(":")
        if word in DIRECTIVES:
            if word != "file scope" and not value.strip():
                self.wrong.append(f"{self.name}:{number}: {word}: has no text")
            return {word: value.strip()}
        # Probably a misspelt directive, which would have no effect.
        if re.match(r"(not|given|needs|tested|commands|file)\b", text):
            self.wrong.append(f"{self.name}:{number}: the directives are {', '.join(DIRECTIVES)}, not {word!r}")
        return {}


def documents(root):
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and
                            (folder != str(root) or name not in ("build", "out")) and
                            not os.path.exists(os.path.join(folder, name, "CMakeCache.txt")))
        found += [Document(root, pathlib.Path(folder, name)) for name in sorted(files) if name.endswith(".md")]
    return found
