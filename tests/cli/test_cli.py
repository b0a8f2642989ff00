#!/usr/bin/python3
"""The command line: exit statuses, messages and marks, where OUT is, folders, pipes, signals, and what is left on disk.

usage: test_cli.py IMGPIPE [--long] [PATTERN]      prints one line for every failing check; exit status 1 if there is one
"""
import fnmatch
import os
import sys
import tempfile

sys.dont_write_bytecode = True
if len(sys.argv) < 2:
    sys.exit(__doc__)

import breaks
import companion
import damage
import files
import folders
import folders_break
import folders_guard
import folders_resume
import folders_run
import formats
import merge
import messages
import pipes
import usage
from harness import Tally, check, png, read, write


def main():
    arguments = [argument for argument in sys.argv[2:] if argument != "--long"]
    Tally.long = len(arguments) < len(sys.argv) - 2
    pattern = arguments[0] if arguments else "*"
    modules = (usage, files, breaks, damage, formats, pipes, folders, folders_run, folders_resume, folders_break, folders_guard,
               merge, companion, messages)
    for name, test in [item for module in modules for item in vars(module).items()]:
        if not name.startswith("test_") or not fnmatch.fnmatch(name, pattern):
            continue
        Tally.current = name
        home = os.getcwd()
        with tempfile.TemporaryDirectory(prefix="imgpipe-cli-") as folder:
            os.chdir(folder)
            write("in.png", png(40, 30))
            before = read("in.png")
            try:
                test()
                check(read("in.png") == before, "the input was changed")
            except Exception as error:  # a fault of one test must not hide the others
                check(False, f"{type(error).__name__}: {error}")
            os.chdir(home)
    print(f"{Tally.checks} checks, {Tally.failures} failed")
    return 1 if Tally.failures or not Tally.checks else 0


if __name__ == "__main__":
    sys.exit(main())
