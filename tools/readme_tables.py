#!/usr/bin/env python3
"""Writes the tables of README.md from what the command says of itself, and from tools/format_table.py.

usage: readme_tables.py IMGPIPE [--check]      --check: changes nothing; exit status 1 if README.md is not up to date

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`.
"""
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import format_table

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "README.md")
TYPES = {"u8": "8 bit", "u16": "16 bit", "f32": "float"}


def ask(program, what):
    return json.loads(subprocess.run([program, what, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def cell(text):
    return text.replace("|", "\\|")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(map(cell, line)) + " |\n" for line in lines)


def parameter(p):
    """As it may be written: name=default, or the name alone where there is no default."""
    return f"`{p['name']}={p['default']}`" if p["default"] is not None and p["type"] != "bool" else f"`{p['name']}`"


def filters(program):
    rows = [[f"`{f['name']}`", f["summary"], ", ".join(map(parameter, f["parameters"])) or "none"] for f in ask(program, "--list")
            if not f["plugin"]]
    return table(["filter", "what it does", "parameters with their defaults, in order"], rows)


def formats(program):
    rows = []
    for f in ask(program, "--list-formats"):
        writes = ", ".join(TYPES[t] for t in f["types"].split()) if f["writes"] else "no"
        extensions = " ".join(f"`.{e}`" for e in f["extensions"].split())
        rows.append([f"`{f['name']}`", extensions, f["about"], "yes" if f["reads"] else "no", writes, "yes" if f["streams"] else "no"])
    return table(["kind", "extensions", "what", "read", "written with", "read by rows"], rows)


def option(o):
    """As it may be written: its letter if it has one, its name, and its value."""
    value = f" {o['value']}" if o["value"] else f"[={'|'.join(o['choices'])}]" if o["choices"] else ""
    return (f"`{o['letter']}`, " if o["letter"] else "") + f"`--{o['name']}{value}`"


def options(program, many):
    rows = [[option(o), o["help"]] for o in ask(program, "--help")["options"] if o["group"].startswith("Many images") == many]
    return table(["option", "meaning"], rows)


def statuses(program):
    return table(["exit status", "meaning"], [[s["number"], s["meaning"]] for s in ask(program, "--help")["statuses"]])


def kept(_program):
    return table(["kind", *format_table.COLUMNS], format_table.rows())


TABLES = {"filters": filters, "formats": formats, "kept": kept, "many": lambda program: options(program, True),
          "options": lambda program: options(program, False), "statuses": statuses}


def filled(text, program):
    """The text of the README with its tables as the command would have them."""
    for name, make in TABLES.items():
        mark = re.compile(f"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->\n)", re.S)
        if len(mark.findall(text)) != 1:
            sys.exit(f"README.md has no place for the table '{name}'")
        made = make(program)
        text = mark.sub(lambda _, made=made: made, text)
    return text


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    with open(README, encoding="utf-8") as file:
        text = file.read()
    new = filled(text, os.path.abspath(arguments[0]))
    if arguments[1:]:
        return int(new != text)
    with open(README, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
