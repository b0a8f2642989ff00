#!/usr/bin/env python3
"""Writes the completion of a shell from its template and from what the command says of itself.

usage: completion.py TEMPLATE OUT IMGPIPE
"""
import re
import sys

sys.dont_write_bytecode = True
from manual import ask

FILES = ("FILE", "OUT")
# Not what the CPU that builds has.
ISAS = ["baseline", "avx2", "avx512"]


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def names(option):
    return [name for name in (option["letter"], "--" + option["name"]) if name]


def values(option, said):
    """What may stand behind an option: a list of words, "chain", "filter", "file", or None where there is none."""
    value = option["value"]
    if option["choices"]:
        return option["choices"]
    if value == "CHAIN" or option["name"] == "check-filter":
        return "chain"
    if value in FILES:
        return "file"
    if option["name"] == "isa":
        return ISAS
    if value == "KIND":
        return [f["name"] for f in said["formats"] if f["writes"]]
    if value == "[FILTER]":
        return "filter"
    return None if value is None else [value] if value == "-" else []


def cases(table):
    """The arms of a `case`."""
    return "\n".join(f"    {pattern}) echo {quoted(words)} ;;" for pattern, words in table)


def behind(said):
    for option in said["options"]:
        found = values(option, said)
        if found is not None:
            # A flag with choices is whole without one: only an equals sign can bring it.
            pattern = " | ".join(names(option)) + ("" if option["value"] else "=")
            yield pattern, "@" + found if isinstance(found, str) else " ".join(found)


def parameters(said):
    for f in said["filters"]:
        yield f["name"], " ".join(p["name"] + ("" if p["type"] == "bool" else "=") for p in f["parameters"])


def choices(said):
    for f in said["filters"]:
        for at, p in enumerate(f["parameters"]):
            words = p["choices"] or (["yes", "no"] if p["type"] == "bool" else None)
            if p["type"] == "text" and "a name from the list" in p["help"]:
                words = re.findall(r"^  (\w+): ", f["description"], re.M)
            if words:
                # The first parameter needs no name.
                yield f"{f['name']}={p['name']}" + (f" | {f['name']}=" if at == 0 else ""), " ".join(words)


def about(text):
    """The first words of a help text, in the brackets of zsh."""
    return re.sub(r"([\[\]:\\])", r"\\\1", re.split(r"[;:](?= )| \(|, such", text)[0])


def arguments(said):
    actions = {"chain": "_imgpipe_chain", "filter": "_imgpipe_filters", "file": "_files"}
    for option in said["options"]:
        found, value = values(option, said), re.sub(r"^\[(.*)\]$", r"\1", option["value"] or "value")
        if isinstance(found, str):
            action = actions[found]
        else:
            action = f"({' '.join(found)})".replace(":", "\\:") if found else " "
        optional = ":" if option["value"] is None or option["value"].startswith("[") else ""
        tail = f"[{about(option['help'])}]" + ("" if found is None else f":{optional}{about(value)}:{action}")
        for name in names(option):
            # A flag with choices takes them behind an equals sign alone, an optional value there or as the next word.
            sign = "" if found is None else "=-" if option["value"] is None else "=" if name.startswith("--") else "+"
            yield quoted(f"*{name}{sign}{tail}")


def main(template, out, program):
    said = ask(program)
    every = [name for option in said["options"] for name in names(option)]
    filters = [f["name"] for f in said["filters"]]
    parts = {
        "VALUES": cases(behind(said)), "PARAMETERS": cases(parameters(said)), "CHOICES": cases(choices(said)),
        "FILTERS": " ".join(filters), "ALTERNATIVES": "|".join(filters), "OPTIONS": " ".join(every),
        "DESCRIBED": "\n".join("        " + quoted(f"{f['name']}:{about(f['summary'])}") for f in said["filters"]),
        "ARGUMENTS": "\n".join(f"    {argument} \\" for argument in arguments(said)),
    }
    with open(template, encoding="utf-8") as file:
        text = file.read()
    with open(out, "w", encoding="utf-8") as file:
        file.write(re.sub(r"@([A-Z]+)@", lambda m: parts[m[1]], text))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
