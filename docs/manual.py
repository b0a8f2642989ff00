#!/usr/bin/env python3
"""Writes a manual page from its template and from what the command says of itself.

usage: manual.py TEMPLATE PAGE VERSION [IMGPIPE]

In a template `@VERSION@` is the version. A line that is one of these names between signs of @ becomes a part of the page:

OPTIONS    the options by their groups         STATUSES   the exit statuses
FILTERS    all about every filter              FORMATS    the kinds of files
C FILE     the program FILE, beside the template
"""
import json
import os
import re
import subprocess
import sys
import textwrap

TYPES = {"u8": "8 bit", "u16": "16 bit", "f32": "float"}
SIGNS = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def literal(text):
    """Text that is shown, and can be copied, sign by sign; in one line or several."""
    text = re.sub(r"[\\\-'`^~]", lambda sign: SIGNS[sign[0]], text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def prose(text):
    """Running text: a sentence a line, as troff wants it."""
    return re.sub(r"(?<=[a-z)\]][.:]) +(?=[A-Z])", "\n", literal(text))


def bold(text):
    return f"\\fB{literal(text)}\\fR"


def tagged(tag, text):
    return f".TP\n{tag}\n{prose(text)}\n"


def option(o):
    names = ", ".join(bold(name) for name in (o["letter"], "--" + o["name"]) if name)
    if o["value"]:
        return f"{names} \\fI{literal(o['value'])}\\fR"
    return names + (f"[=\\fI{literal('|'.join(o['choices']))}\\fR]" if o["choices"] else "")


def options(said):
    group = None
    for o in said["options"]:
        if o["group"] != group:
            group = o["group"]
            yield f".SS {literal(group)}\n"
        yield tagged(option(o), o["help"])


def statuses(said):
    for status in said["statuses"]:
        yield tagged(bold(status["number"]), status["meaning"])


def filters(said):
    for f in said["filters"]:
        parameters = f["parameters"]
        yield f".SS {literal(f['name'])}\n{prose(f['summary'])}\n"
        form = ":".join(p["name"] for p in parameters)
        yield f".PP\n{bold(f['name'])}" + (f"[={literal(form)}]\n" if form else "\n")
        # A paragraph, or lines of it that are to stay apart.
        for paragraph in (f["description"] or "").split("\n\n"):
            yield ".PP\n" + "\n.br\n".join(prose(line.strip()) for line in paragraph.split("\n")) + "\n"
        for p in parameters:
            yield tagged(bold(p["name"]), f"{p['help']}") + f"({prose(p['values'])})\n"


def formats(said):
    for f in said["formats"]:
        written = f"written with {', '.join(TYPES[t] for t in f['types'].split())}" if f["writes"] else "not written"
        read = ("read by rows" if f["streams"] else "read as a whole") if f["reads"] else "not read"
        lacking = f". This build lacks the library of the package {f['package']}" if f["package"] else ""
        extensions = " ".join("." + e for e in f["extensions"].split())
        yield tagged(f"{bold(f['name'])} ({literal(extensions)})", f"{f['about']}; {read}, {written}{lacking}")


PARTS = {"OPTIONS": options, "STATUSES": statuses, "FILTERS": filters, "FORMATS": formats}


def ask(program):
    """What there is, in one dictionary."""
    answers = [json.loads(subprocess.run([program, what, "--json"], check=True, stdout=subprocess.PIPE).stdout)
               for what in ("--help", "--list-formats")]
    # Not the filters of plug-ins that happen to be there.
    filters_of_build = [f for f in answers[0]["filters"] if not f["plugin"]]
    return {**answers[0], "filters": filters_of_build, "formats": answers[1]}


def program_text(path):
    with open(path, encoding="utf-8") as file:
        return f".EX\n{literal(file.read())}.EE\n"


def wrapped(text):
    """Long lines cut at spaces, as pages are best read in an editor; not those of programs and forms."""
    as_it_is = False
    for line in text.splitlines():
        as_it_is = line in (".EX", ".nf") or as_it_is and line not in (".EE", ".fi")
        cut = [line]
        if not (as_it_is or line.startswith(".")):
            cut = textwrap.wrap(line, 80, break_long_words=False, break_on_hyphens=False) or [line]
        yield from (re.sub(r"^(?=[.'])", r"\\&", part) if at else part for at, part in enumerate(cut))


def main(template, page, version, program=None):
    said = ask(program) if program else {}
    with open(template, encoding="utf-8") as file:
        text = file.read().replace("@VERSION@", version)
    text = re.sub(r"^@C (.*)@\n", lambda m: program_text(os.path.join(os.path.dirname(template), m[1])), text, flags=re.M)
    text = re.sub(r"^@([A-Z]+)@\n", lambda m: "".join(PARTS[m[1]](said)), text, flags=re.M)
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(wrapped(text)) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
