#!/usr/bin/env python3
"""Makes the reference of the library with Doxygen, and fails if that has anything to warn of.

usage: reference.py FOLDER      FOLDER/html/index.html is its first page

Without Doxygen it says so and ends with status 77, which a test counts as skipped.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main(folder):
    if not shutil.which("doxygen"):
        print("skip: doxygen was not found; install the package doxygen")
        return 77
    with open(os.path.join(ROOT, "docs", "Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    with open(os.path.join(ROOT, "src", "imgpipe.h"), encoding="utf-8") as file:
        header = file.read()
    version = re.search(r'#define IMGPIPE_VERSION "(.*)"', header)[1]
    shutil.rmtree(os.path.join(folder, "html"), ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    settings += f'PROJECT_NUMBER = {version}\nOUTPUT_DIRECTORY = "{folder}"\n'
    made = subprocess.run(["doxygen", "-"], input=settings, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    pages = os.path.join(folder, "html", "index.html")
    if made.returncode or made.stdout or not os.path.exists(pages):
        print(f"FAIL doxygen: exit status {made.returncode}\n{made.stdout}", end="")
        return 1
    chapters = len(glob.glob(os.path.join(folder, "html", "group__*.html"))), len(re.findall(r"^/\* -{4,} ", header, re.M))
    if chapters[0] != chapters[1]:
        print("FAIL the reference has %d chapters, the header %d" % chapters)
        return 1
    print(pages)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1])))
