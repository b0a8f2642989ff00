#!/usr/bin/python3
"""tools/bench on tiny pictures: that it measures every line and makes a table, a plot and JSON of them. Never how fast.

usage: test_bench.py BUILD
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
try:
    import numpy  # noqa: F401
    import PIL  # noqa: F401
except ImportError as missing:
    print(f"test_bench: {missing}; skipped")
    sys.exit(77)

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools")
sys.path.insert(0, TOOLS)
import bench_lines as lines
from bench_sections import FORMAT_NAMES

failures = checks = 0


def check(right, *what):
    global failures, checks
    checks += 1
    if not right:
        failures += 1
        print("FAIL", *what)


def expected():
    """Section and name of every line."""
    for line in lines.MEMORY:
        for form in line.formats:
            yield "memory", f"{line.name}, {FORMAT_NAMES[form]}"
            yield "threads", f"{line.name}, {FORMAT_NAMES[form]}"
    yield "memory", lines.FUSED[0]
    for kind, table in (("PNG", lines.FILES), ("JPEG", lines.FILES_JPEG)):
        for line in table:
            yield "files", f"{line.name}, {kind}"
    for content in lines.SIZES:
        yield "sizes", f"size of a {content.replace('blurred', 'blurred photograph')}, against libpng level 6"
    yield "start-up", "--version, milliseconds"
    for line in lines.FOLDERS:
        yield "folders", line.name
    for name in lines.FLAT_MEMORY:
        yield "folders", name


def run(build, folder, *options):
    command = [os.path.join(TOOLS, "bench_run.py"), "--build", build, "--cache", os.path.join(folder, "cache"), "--out",
               os.path.join(folder, "out"), "--tiny", *options]
    done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(done.returncode == 0, "exit status", done.returncode, done.stderr[-2000:])
    return done.stdout


def read(folder, name):
    with open(os.path.join(folder, "out", name), encoding="utf-8") as file:
        return file.read()


def test_all(build, folder):
    printed = run(build, folder)
    found = json.loads(read(folder, "bench.json"))
    records = {(r["section"], r["name"]): r for r in found["records"]}
    for line in expected():
        check(line in records, "missing", line)
    for what in ("date", "cpu", "cpus", "system", "versions"):
        check(found["machine"].get(what), "machine:", what)
    for (section, name), r in records.items():
        # A line that could not be run says why; what needs no other program must have run.
        check(r["ratio"] is not None or r.get("why"), section, name, "neither measured nor explained")
        if section in ("threads", "sizes", "start-up"):
            check(r["ratio"] is not None and r["ratio"] > 0, section, name, r.get("why"))
        if r["ratio"] is not None and r["goal"] is not None:
            check(r["reached"] == (r["ratio"] >= r["goal"] if r["sense"] == "at least" else r["ratio"] <= r["goal"]), section, name)
    check(read(folder, "bench.md").strip() == printed.strip(), "the table that is printed and the one in the file")
    for section, name in records:
        check(f"| {name} |" in printed, "no row for", section, name)
    plot = xml.etree.ElementTree.fromstring(read(folder, "bench.svg"))
    texts = [element.text for element in plot.iter("{http://www.w3.org/2000/svg}text")]
    for (section, name), r in records.items():
        check(r["goal"] is None or r["ratio"] is None or name in texts, "not in the plot:", section, name)


def test_only(build, folder):
    run(build, folder, "--files", "--only", "histogram")
    records = json.loads(read(folder, "bench.json"))["records"]
    check(records and all("histogram" in r["name"] for r in records), "--only histogram:", [r["name"] for r in records])


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_all(sys.argv[1], folder)
        test_only(sys.argv[1], folder)
    print(f"{checks} checks, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
