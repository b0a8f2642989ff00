#!/usr/bin/env python3
"""Every item of every cell of the README's table of kinds of files (tools/format_table.py), by name, against other programs.

usage: compare_formats.py IMGPIPE [PATTERN]     checks items whose 'kind, column, item' holds PATTERN
Exit status 0; 1 after a failure, where an item has no check or a check no item, and where a check compared nothing although its
programs are there; 77 where nothing could be compared."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import format_table
from format_checks import CHECKS, EXTENSIONS, Skip, Tally, check
import format_reading  # noqa: F401  these register their checks
import format_tiff  # noqa: F401
import format_writing  # noqa: F401


def one(item, folder):
    """Runs one check in a folder of its own."""
    kind = item[0]
    before = Tally.compared
    os.makedirs(folder)
    os.chdir(folder)
    try:
        CHECKS[item](kind)
    except Skip as why:
        Tally.skipped.add(str(why))
        print(f"skipped: {Tally.now}: {why}")
        return
    except (RuntimeError, OSError, ValueError, KeyError, AssertionError) as error:
        check(False, f"{type(error).__name__}: {error}")
        return
    check(Tally.compared > before, "compared with no other program")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Tally.imgpipe = os.path.abspath(sys.argv[1])
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    items = list(format_table.items())
    Tally.now = "the table"
    check(len(set(items)) == len(items), "an item stands twice in a cell")
    check(set(format_table.KINDS) == set(EXTENSIONS), "its kinds are not those of the checks")
    for item in set(items) ^ set(CHECKS):
        check(False, "no check for" if item in items else "no cell for the check of", *item)
    listed = {f["name"]: f for f in json.loads(subprocess.run([Tally.imgpipe, "--list-formats", "--json"], stdout=subprocess.PIPE, check=True).stdout)}
    check(set(listed) == set(format_table.KINDS), "its kinds are not those of --list-formats", set(listed) ^ set(format_table.KINDS))
    with tempfile.TemporaryDirectory(prefix="imgpipe-formats-") as folder:
        for number, item in enumerate(items):
            Tally.now = ", ".join(item)
            if item not in CHECKS or pattern not in Tally.now:
                continue
            if not listed[item[0]]["reads"]:
                print(f"skipped: {Tally.now}: not in this build")
                continue
            one(item, os.path.join(folder, str(number)))
        os.chdir("/")
    print(f"{len(items)} items, {Tally.checks} checks, {Tally.failures} failed, {Tally.compared} comparisons with other programs")
    return 1 if Tally.failures else 0 if Tally.compared else 77


if __name__ == "__main__":
    sys.exit(main())
