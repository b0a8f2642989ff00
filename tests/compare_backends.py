#!/usr/bin/python3
"""Compares what the CPU and a CUDA device make of files of every kind: the outputs must be the same bytes.

usage: compare_backends.py IMGPIPE

Inputs are the samples, the PNG suite, and those files of the fuzzers' corpora that can be read. Every kind that can be written
is written. Exit status 77 where there is no GPU.
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CHAINS = ["blur=1,median=3,conv=sharpen", "blur=1.5,median=3", "gray,conv=sobel_x:abs:bias=3,levels=5%:90%", "box=5:border=wrap,invert"]
# Extensions, some with options.
KINDS = ["png", "png --depth 8 --level 9", "ppm", "pam", "pfm", "jpg", "tif", "webp", "webp --quality 100", "bmp", "tga", "hdr"]


def inputs():
    folders = [os.path.join(HERE, "..", "samples"), os.path.join(HERE, "pngsuite")]
    folders += [os.path.join(HERE, "fuzz", "corpus", kind) for kind in ("png", "pnm", "jpeg", "tiff", "webp", "stb")]
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path


def run(program, device, path, chain, out, options):
    command = [program, path, "-f", chain, "-o", out, "--device", device, "-q", "-j", "1", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        return done.returncode, done.stderr
    with open(out, "rb") as file:
        return 0, file.read()


def compare(program, folder, index, path, chain, kind):
    extension, *options = kind.split()
    outs = [os.path.join(folder, "%d-%s.%s" % (index, device, extension)) for device in ("cpu", "cuda")]
    cpu = run(program, "cpu", path, chain, outs[0], options)
    if cpu[0] != 0:
        return None
    cuda = run(program, "cuda", path, chain, outs[1], options)
    for out in outs:
        if os.path.exists(out):
            os.remove(out)
    return cpu == cuda or "%s -f %s to %s: %s" % (
        path, chain, kind, "the bytes differ" if cuda[0] == 0 else "exit status %d, %r" % cuda)


def compare_ranks(program, folder, gpus):
    """One process for each GPU and one more, as Slurm starts them: each takes the GPU of its rank, and what they write together is what
    one process writes on the CPU."""
    given = os.path.join(HERE, "pngsuite", "b*.png")
    outs = [os.path.join(folder, device) for device in ("cpu", "cuda")]
    report = os.path.join(folder, "report")
    common = [program, "-q", given, "-f", "blur=1,median=3"]
    subprocess.run([*common, "--device", "cpu", "-o", outs[0] + "/"], check=True)
    for rank in range(gpus + 1):
        env = dict(os.environ, SLURM_PROCID=str(rank), SLURM_LOCALID=str(rank), SLURM_STEP_NUM_TASKS=str(gpus + 1))
        subprocess.run([*common, "--device", "cuda", "--shard", "auto", "--report", report, "-o", outs[1] + "/"], env=env, check=True)
        with open(report, encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        if len(lines) > 2 and "cuda:%d" % (rank % gpus) not in lines[0]["device"]:  # with images, between the head and the total
            yield "rank %d of %d on %d GPUs works on %s" % (rank, gpus + 1, gpus, lines[0]["device"])
    done = subprocess.run(["diff", "-rq", "-x", ".imgpipe", *outs], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        yield "the parts of %d processes: %s" % (gpus + 1, done.stdout)


def main():
    program = sys.argv[1]
    devices = json.loads(subprocess.run([program, "--list-devices", "--json"], capture_output=True, check=True).stdout)
    if not any(device["name"].startswith("cuda") for device in devices["devices"]):
        print("no GPU here")
        return 77
    formats = json.loads(subprocess.run([program, "--list-formats", "--json"], capture_output=True, check=True).stdout)
    written = [extension for one in formats if one["writes"] for extension in one["extensions"].split()]
    kinds = [kind for kind in KINDS if kind.split()[0] in written]
    jobs = []
    for index, path in enumerate(inputs()):
        # The photographs go to every kind through every chain, other files to one each.
        photo = os.path.dirname(path).endswith("samples")
        for chain in CHAINS if photo else [CHAINS[index % len(CHAINS)]]:
            for kind in kinds if photo else [kinds[index % len(kinds)]]:
                jobs.append((path, chain, kind))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:
        futures = [pool.submit(compare, program, folder, index, *job) for index, job in enumerate(jobs)]
        results = [future.result() for future in futures]
        results += compare_ranks(program, folder, sum(device["name"].startswith("cuda") for device in devices["devices"]))
    same = sum(result is True for result in results)
    wrong = [result for result in results if isinstance(result, str)]
    for line in wrong:
        print("FAILED:", line)
    print("%d pairs of files are the same, %d differ, %d files cannot be read" % (same, len(wrong), results.count(None)))
    return 1 if wrong or same == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
