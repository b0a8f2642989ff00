#!/usr/bin/python3
"""The part of tools/bench that measures; tools/bench builds and installs first, and gives the options on.

usage: bench_run.py --build FOLDER --cache FOLDER --out FOLDER [--programs FOLDER] [--wallpapers FOLDER] [--quick] [--tiny]
                    [--memory] [--files] [--folders] [--gpu] [--only PATTERN]

FOLDER of --build holds imgpipe, bench_memory and bench_time, that of --programs bench_opencv if there is one. --tiny, for the
suite, takes tiny pictures: every line is run, and no figure means anything.
"""
import argparse
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bench_auto
import bench_folders
import bench_material
import bench_plot
import bench_report
import bench_sections
from bench_measure import Runner, record

SECTIONS = {"memory": bench_sections.memory, "files": bench_sections.files, "folders": bench_folders.folders}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("build", "cache", "out"):
        parser.add_argument("--" + name, required=True)
    for name in ("programs", "wallpapers"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--only", default="")
    for name in ("quick", "tiny", "gpu", *SECTIONS):
        parser.add_argument("--" + name, action="store_true")
    return parser.parse_args()


def find_programs(given):
    """Paths of everything that is run; what is not there is left out."""
    found = {name: shutil.which(name) for name in ("vips", "gm", "ffmpeg")}
    found.update({name: os.path.join(given.programs, "bench_" + name.removeprefix("bench_")) for name in ("opencv", "bench_vips", "bench_jpeg")})
    for name in ("imgpipe", "bench_memory", "bench_time"):
        found[name] = os.path.join(given.build, name)
    there = {name: path for name, path in found.items() if path and os.access(path, os.X_OK)}
    for name in found:
        if name not in there:
            say(f"{name} is not there; its figures will be missing")
    return there


def gpu(given):
    """The records of tests/bench_gpu --json: a list of {name, ratio, low, high, goal, sense, peer, detail}, the last two texts."""
    program = os.path.join(given.build, "tests", "bench_gpu")
    if not os.access(program, os.X_OK):
        say("there is no tests/bench_gpu in this build; nothing is measured on the GPU")
        return
    done = subprocess.run([program, "--json"] + (["--quick"] if given.quick or given.tiny else []), stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        say("no GPU here")
        return
    for line in json.loads(done.stdout):
        ratio = (line["ratio"], line.get("low", line["ratio"]), line.get("high", line["ratio"]))
        yield record("gpu", line["name"], ratio, line.get("goal"), line.get("sense", "at least"), peer=line.get("peer", ""),
                     detail=line.get("detail", ""))
    if not given.tiny:
        yield from bench_auto.choices(os.path.join(given.build, "imgpipe"), 2 if given.quick else 5, say)


def main():
    given = arguments()
    wanted = lambda name: not given.only or given.only.lower() in name.lower() or fnmatch.fnmatch(name, given.only)
    programs = find_programs(given)
    for name in ("imgpipe", "bench_memory", "bench_time"):
        if name not in programs:
            sys.exit(f"bench: {os.path.join(given.build, name)} is missing; build it first")
    sections = [name for name in SECTIONS if getattr(given, name)]
    if not sections and not given.gpu:
        sections = list(SECTIONS)
    os.makedirs(given.out, exist_ok=True)
    material = bench_material.make(given.cache, given.wallpapers, given.tiny, say)
    about = bench_report.machine(programs, material)
    records = []
    rounds, patience = (1, 0) if given.tiny else (2, 4) if given.quick else (5, 15)
    with tempfile.TemporaryDirectory(prefix="imgpipe-bench-", dir=given.cache) as work:
        bench = bench_sections.Bench(programs, Runner(programs["bench_time"]), material, rounds, patience, wanted, work, say)
        for name in sections:
            for found in SECTIONS[name](bench):
                records.append(found)
                bench_report.write(given.out, records, about)  # so that what was measured is kept if this is stopped
    if given.gpu:
        records += gpu(given)
    bench_report.write(given.out, records, about)
    with open(os.path.join(given.out, "bench.svg"), "w", encoding="utf-8") as file:
        file.write(bench_plot.svg(records, about))
    print(bench_report.markdown(records, about))
    say(f"{bench_report.summary(records)}; see {os.path.join(given.out, 'bench.md')}, bench.svg and bench.json")


if __name__ == "__main__":
    main()
