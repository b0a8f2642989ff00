#!/usr/bin/env python3
"""Follows README.md on adding filters to the letter, in a copy of the tree: its shell blocks with tools/newfilter are run.

usage: test_newfilter.py
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def main():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        blocks = [b for b in re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S) if "tools/newfilter" in b]
    if len(blocks) != 2:
        sys.exit(f"FAIL README.md has {len(blocks)} blocks that run tools/newfilter, not 2")
    with tempfile.TemporaryDirectory(prefix="imgpipe-newfilter-") as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git"))
        commands = ["set -e", "meson setup build -Dcuda=disabled -Dwerror=true >setup.log || { cat setup.log; exit 1; }"] + blocks
        # The prover must prove, and not merely find nothing to do; what is there already must not be overwritten.
        commands += ["build/imgpipe --list", "! tools/newfilter offset", "! tools/newfilter --window blur", "! tools/newfilter 3x"]
        result = subprocess.run(["bash", "-c", "\n".join(commands)], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        shown = re.sub(r"^\[\d+/\d+\].*\n", "", result.stdout, flags=re.M)
        print(shown)
        proved = set(re.findall(r"^ok +prover/(\w+) +[1-9]\d* passed", shown, re.M))
        pictures = [p for p in ("brighter.png", "blocks.png") if os.path.exists(os.path.join(tree, p))]
        right = result.returncode == 0 and proved == {"offset", "maximum"} and len(pictures) == 2 and "warning:" not in shown
        right = right and all(re.search(rf"^  {name} ", shown, re.M) for name in proved)
        print("ok" if right else f"FAIL exit status {result.returncode}, proved {proved}, made {pictures}")
        return not right


if __name__ == "__main__":
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    sys.exit(main())
