#!/usr/bin/python3
"""What --device auto chooses, beside what it could have chosen: whole commands on PPM images of several sizes through chains of little and
of much work, with all threads and with two.

usage: bench_auto.py IMGPIPE [ROUNDS]      prints a line for each; exit status 77 without a GPU
"""
import json
import os
import subprocess
import sys
import tempfile
import time

from bench_measure import record

SIZES = {"1 MP": (1200, 800), "24 MP": (6000, 4000), "96 MP": (12000, 8000)}
CHAINS = ("gray", "blur=10", "gray,blur,median=5", "median=15", "median=41")
GOAL = 1.1


def has_gpu(imgpipe):
    listed = subprocess.run([imgpipe, "--list-devices", "--json"], stdout=subprocess.PIPE, check=True)
    return len(json.loads(listed.stdout)["devices"]) > 1


def seconds(imgpipe, given, chain, device, threads, out):
    command = [imgpipe, "-q", given, "-f", chain, "-o", out, "--device", device, *(["-j", str(threads)] if threads else [])]
    start = time.monotonic()
    subprocess.run(command, check=True)
    return time.monotonic() - start


def line(imgpipe, given, chain, threads, rounds, out):
    """The best time of each device; they take turns, each of them behind each other, since what a process had of a GPU is torn down
    for a while after its end."""
    best = {}
    for turn in range(rounds):
        for device in (("cpu", "cuda", "auto"), ("auto", "cuda", "cpu"))[turn % 2]:
            took = seconds(imgpipe, given, chain, device, threads, out)
            best[device] = min(took, best.get(device, took))
            time.sleep(0.1)
    return best


def choices(imgpipe, rounds, say):
    """A record for each size, chain and number of threads: the time of auto over that of the better of the others."""
    with tempfile.TemporaryDirectory(prefix="imgpipe-auto-") as work:
        for size, (width, height) in SIZES.items():
            given = os.path.join(work, "in.ppm")
            with open(given, "wb") as file:
                file.write(b"P6\n%d %d\n255\n" % (width, height))
                file.write(os.urandom(3 * width * height))
            for chain in CHAINS:
                for threads in (0, 2):
                    name = f"auto, {size}, {chain}, {'two' if threads else 'all'} threads"
                    say(name)
                    took = line(imgpipe, given, chain, threads, rounds, os.path.join(work, "out.ppm"))
                    peer = min("cpu", "cuda", key=took.get)
                    yield record("gpu", name, took["auto"] / took[peer], GOAL, "at most", peer=peer,
                                 detail=", ".join(f"{device} {took[device]:.2f} s" for device in took))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not has_gpu(sys.argv[1]):
        print("SKIP: no GPU here")
        sys.exit(77)
    found = list(choices(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3, lambda name: None))
    for each in found:
        print(f"{each['name']:50} {each['ratio']:5.2f} of {each['peer']:4}  {each['detail']}{'' if each['reached'] else '   ABOVE'}")
    print(f"{sum(each['reached'] for each in found)} of {len(found)} at most {GOAL} times the better of cpu and cuda")


if __name__ == "__main__":
    main()
