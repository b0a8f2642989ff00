"""The section of tools/bench about folders: many images through one chain, beside other programs, and what that takes of memory."""
import os
import shutil
import subprocess
import time

import bench_lines as lines
from bench_measure import Failed, best, in_turn, ratios, record
from bench_sections import medians

NEEDS = {"OpenCV": "opencv", "libjpeg-turbo": "bench_jpeg", "imgpipe -j 1": "imgpipe"}


def folder_line(bench, line):
    bench.say(line.name)
    given = bench.material.path(f"{line.pictures}-{line.ext}")
    runs = {}

    def run(command, out):
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        found = bench.runner.once(command, **{**bench.programs, "dir": given, "outdir": out, "ext": line.ext})
        if "outdir" in command and len(os.listdir(out)) < len(os.listdir(given)):
            raise Failed(f"{len(os.listdir(out))} of {len(os.listdir(given))} pictures were written")
        return found

    for program, command in line.commands.items():
        if bench.programs.get(NEEDS.get(program, program)):
            runs[program] = lambda command=command, out=bench.out(program, "folder"): run(command, out)
    results, failed = in_turn(runs, bench.rounds, bench.patience)
    peer = best(results)
    ratio = None
    if "imgpipe" in results and peer:
        pair = (results["imgpipe"], results[peer])
        ratio = ratios(*pair) if line.sense == "at most" else ratios(*reversed(pair))
    for program in runs:
        shutil.rmtree(bench.out(program, "folder"), ignore_errors=True)
    yield record("folders", line.name, ratio, line.goal, line.sense, peer=peer, figures=medians(results), failed=failed,
                 why=failed.get("imgpipe", "" if peer else "nothing to compare with"))


# ------------------------------------------------------------------------------------------------- memory

def peak_kib(process):
    """The greatest resident memory of a process so far; 0 once it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            return next((int(line.split()[1]) for line in file if line.startswith("VmHWM:")), 0)
    except OSError:
        return 0


def peaks(command, out, count):
    """Peak memory when a fourth, half and all of the outputs are there."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found, now = {}, 0
    while process.poll() is None:
        now = peak_kib(process.pid) or now
        done = len([name for name in os.listdir(out) if not name.startswith(".")])
        for part in (0.25, 0.5):
            if part not in found and done >= part * count:
                found[part] = now
        found[1] = now
        time.sleep(0.02)
    if process.wait() != 0:
        raise Failed(f"imgpipe: exit status {process.returncode}: {process.stderr.read().strip()[-200:]}")
    return [1024 * found.get(part, now) for part in (0.25, 0.5, 1)]


def memory_line(bench, name, pictures):
    bench.say(name)
    given, out = bench.material.path(pictures), bench.out("flat", "folder")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    try:
        quarter, half, whole = peaks([bench.programs["imgpipe"], "-q", "-r", given, "-f", lines.CHAIN, out + "/"], out,
                                    len(os.listdir(given)))
    except Failed as error:
        yield record("folders", name, None, lines.FLAT, "at most", why=str(error))
        return
    shutil.rmtree(out, ignore_errors=True)
    ratio = whole / quarter if quarter else 1.0
    yield record("folders", name, ratio, lines.FLAT, "at most", peer="a fourth of them",
                 bytes={"a fourth": quarter, "half": half, "all": whole})


def folders(bench):
    for line in lines.FOLDERS:
        if bench.wanted(line.name):
            yield from folder_line(bench, line)
    for name, pictures in lines.FLAT_MEMORY.items():
        if bench.wanted(name):
            bench.material.many(bench.say)
            yield from memory_line(bench, name, pictures)
