#!/usr/bin/env python3
"""Doxygen's input filter: turns the comments of a header into documentation comments, so that the header itself needs no marks.

usage: doc_comments.py HEADER

The first comment is the main page, its first line the title. A comment in front of a declaration documents it and all that follow
line after line, up to the next comment or empty line; one behind a declaration documents that. A comment that begins with dashes
opens a chapter. The number of lines stays.
"""
import os
import re
import sys

SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\\": "\\\\", "@": "\\@", "#": "\\#", "%": "\\%", "--": "-\\-"}


def plain(text):
    """What Doxygen would take for a command, a tag, a link or a list is plain text in the header."""
    text = re.sub(r'--|[&<>"\\@#%]', lambda sign: SIGNS[sign[0]], text)
    return re.sub(r"^(\s*)-(?=\s)", r"\1&minus;", text, flags=re.M)


def words(comment):
    """The words of a comment, lines kept, as Doxygen must read them. Code stands in backticks, or in paragraphs of its own that are
    indented; there is no other markup."""
    text = re.sub(r"^ *\*(?: |$)", "", re.sub(r"^/\* ?|\s*\*/$", "", comment.strip()), flags=re.M)
    parts = re.split(r"`([^`]*)`", text)
    text = "".join(f"<code>{plain(part)}</code>" if at % 2 else plain(part) for at, part in enumerate(parts))
    return re.sub(r"(?<=\n\n)((?: {4}.*\n)* {4}.*)", r"<pre>\1</pre>", text)


def declared(code):
    """A line cut behind the commas that separate the names which it declares."""
    depth, parts = 0, [""]
    for sign in code:
        depth += (sign == "(") - (sign == ")")
        parts[-1] += sign
        if sign == "," and depth == 0:
            parts.append("")
    return parts if parts[-1].strip() else parts[:-1]


class Filter:
    """Takes the lines of a header one by one. `about` holds what the comment before said, one item for each open brace."""

    def __init__(self, name, lines):
        self.name, self.lines = name, iter(lines)
        self.about, self.fresh, self.complete = [""], False, True
        self.first, self.chapter = True, False

    def to_end(self, text):
        """The text of a comment that begins here, with the lines that follow as far as it goes on."""
        while "*/" not in text:
            text += "\n" + next(self.lines)
        return text

    def comment(self, text):
        bare = re.sub(r"^/\* -{4,} ", "/* ", text)
        said = words(bare)
        if self.first:
            self.first = False
            title, _, text = said.partition("\n")
            return f"/** \\file {self.name} {title} */ /** \\mainpage {title}\n{text} */"
        if bare != text:
            end = "/** \\} */ " if self.chapter else ""
            self.chapter, self.about[-1] = True, ""
            name = re.sub(r"[^a-z]+", "_", said.split("\n")[0])
            return f"{end}/** \\defgroup {name} {said} */ /** \\{{ */"
        self.about[-1], self.fresh = said, True
        return f"/** {said} */"

    def code(self, line):
        code, behind, rest = line.partition("/*")
        begins = self.complete and not re.match(r"\s*[}#]", code)
        self.complete = code.rstrip()[-1:] in tuple(";,{}") or code.startswith("#")
        said = words(self.to_end(behind + rest)) if behind else ""
        flat = " ".join((said or self.about[-1]).split()) if said or begins else ""
        names = declared(code) if flat else [code]
        if not said and not self.fresh and flat:
            names[0] = f"/** {flat} */ {names[0]}"
        # What is in front of a line documents the first name, what is behind a name that one.
        for at in range(0 if said else 1, len(names)):
            names[at] += f" /**< {said if said and at == len(names) - 1 else flat} */"
        code = "".join(names)
        self.fresh = False
        for brace in re.findall(r"[{}]", line.partition("/*")[0]):
            self.about.append("") if brace == "{" else self.about.pop()
        return code

    def filtered(self):
        for line in self.lines:
            if not line.strip():
                self.about[-1] = ""
                yield line
            elif line.lstrip().startswith("/*"):
                yield self.comment(self.to_end(line))
            else:
                yield self.code(line)
        if self.chapter:
            yield "/** \\} */"


def main(path):
    with open(path, encoding="utf-8") as file:
        print("\n".join(Filter(os.path.basename(path), file.read().split("\n")).filtered()), end="")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
