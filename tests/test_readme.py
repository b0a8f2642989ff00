#!/usr/bin/env python3
"""README.md holds what is true: its examples are run, its tables compared, and its file names and options looked up.

usage: test_readme.py IMGPIPE      IMGPIPE_CODECS in the environment names the codecs of the build (default: all of them)
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
import readme_tables

failures = checks = 0


def check(right, *what):
    global failures, checks
    checks += 1
    if not right:
        failures += 1
        print("FAIL", *what)


def blocks(text):
    """The ```console blocks that run imgpipe, each as a list of [command, expected output]."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S):
        commands = []
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append([line[2:], ""])
            else:
                commands[-1][1] += line + "\n"
        if any(command.startswith("imgpipe ") for command, _ in commands):
            yield commands


def run_blocks(text, program):
    """All commands of a block run in one shell, so that `echo $?` sees the one before; standard error is shown too."""
    count = 0
    with tempfile.TemporaryDirectory(prefix="imgpipe-readme-") as folder:
        os.makedirs(os.path.join(folder, "bin"))
        os.symlink(program, os.path.join(folder, "bin", "imgpipe"))
        os.symlink(os.path.join(os.path.abspath(ROOT), "samples"), os.path.join(folder, "samples"))
        env = {**os.environ, "PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"], "TERM": "dumb"}
        for commands in blocks(text):
            mark = "==== next"
            script = "".join(f"{command}\nstatus=$?\necho '{mark}'\n(exit $status)\n" for command, _ in commands)
            shown = subprocess.run(["bash", "-c", script], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, text=True).stdout.split(mark + "\n")
            check(len(shown) == len(commands) + 1, f"the block of '{commands[0][0]}' ended early")
            for (command, expected), found in zip(commands, shown):
                check(found == expected, f"$ {command}\n--- README.md says:\n{expected}--- it shows:\n{found}---")
                count += command.startswith("imgpipe ")
        for name in re.findall(r"^\$ imgpipe samples/\S+ -f .* (\w+\.png)$", text, re.M):
            wrong = name in ("out.png",)
            check(os.path.exists(os.path.join(folder, name)) != wrong, f"{name} is {'there' if wrong else 'missing'}")
    check(count >= 10, f"only {count} commands were found in console blocks")


def check_names(text, program):
    """Files that the text names in backticks exist; options are in --help, of imgpipe or of the tools."""
    paths = set(re.findall(r"`((?:src|kernels|filters|tests|tools|samples)/[\w./*-]*)(?:[ `])", text))
    check(len(paths) > 30, f"only {len(paths)} file names were found")
    made = {"filters/offset.c", *(f"{p}" for p in paths if "/maximum" in p)}
    for path in sorted(paths - made):
        check(glob.glob(os.path.join(ROOT, path)), f"there is no {path}")
    known = subprocess.run([program, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout + "--window --long --version --help"
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"<!--.*?-->", "", text, flags=re.S)))
    check(len(options) > 15, f"only {len(options)} options were found")
    for option in sorted(options):
        check(re.search(re.escape(option) + r"(?![a-z-])", known), f"there is no option {option}")


def main(program):
    with open(readme_tables.README, encoding="utf-8") as file:
        text = file.read()
    if os.environ.get("IMGPIPE_CODECS", "all") == "all":
        check(readme_tables.filled(text, program) == text, "the tables are not up to date: run tools/readme_tables.py IMGPIPE")
    else:  # a build without some library has fewer kinds of files, or reads them otherwise
        for name in ("filters", "many", "options", "statuses"):
            check(readme_tables.TABLES[name](program) in text, f"the table of {name} is not up to date")
    run_blocks(text, program)
    check_names(text, program)
    print(f"{checks} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1])))
