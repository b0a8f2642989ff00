"""Runs over many images: what is kept, done again, reported, and which part is whose."""
import json
import os
import re
import resource
import shutil
import subprocess
import threading
import time

from folders import found, holds, tree
from harness import LONGEST, PROGRAM, Tally, check, environment, expect, on_terminal, png, read, run, write


def touch(name, seconds):
    os.utime(name, ns=(os.stat(name).st_mtime_ns + int(seconds * 1e9),) * 2)


def test_kept():
    tree("in/a.png", "in/b.png")
    os.mkdir("out")
    write("out/a.png", b"mine")
    result = expect(1, "in", "-f", "gray", "out", says="1 of 2 images done, 1 kept")
    check("kept: 'out/a.png'" in result.err, "the summary does not name what was kept:", result)
    check(read("out/a.png") == b"mine", "an existing output was replaced")
    expect(1, "in", "-f", "gray", "out", "--overwrite", "never", says="0 of 2 images done, 2 kept")
    expect(0, "in", "-f", "gray", "out", "--overwrite", "always", says="all 2")
    check(read("out/a.png") != b"mine", "--overwrite always kept it")


def report(name):
    return [json.loads(line) for line in read(name).splitlines()]


def test_older():
    tree("in/a.png", "in/b.png")
    expect(0, "in", "-f", "gray", "out/", says="all 2")
    before = read("out/a.png"), read("out/b.png")
    write("in/a.png", png(9, 9))
    touch("in/a.png", 100)
    # What is up to date is not kept against the user's wish: nothing is missing.
    expect(0, "in", "-f", "invert", "out/", "--overwrite", "older", says="1 of 2 images done, 1 up to date")
    check(read("out/a.png") != before[0] and read("out/b.png") == before[1], "--overwrite older took the wrong ones")
    expect(0, "in.png", "-f", "gray", "one.png", "--overwrite", "older")
    before = read("one.png")
    expect(0, "in.png", "-f", "invert", "one.png", "--overwrite", "older", says="no older than 'in.png': nothing to do")
    expect(0, "-q", "in.png", "-f", "invert", "one.png", "--overwrite", "older")
    check(read("one.png") == before, "what is up to date was written")
    touch("in/a.png", -1000)
    result = expect(0, "in", "-f", "invert", "out/", "--overwrite", "older", "--report", "r",
                    says="0 of 2 images done, 2 up to date.*: nothing to do")
    check("all" not in result.err and [line["status"] for line in report("r")[1:-1]] == ["skipped"] * 2, result)
    expect(0, "in", "-f", "invert", "out/", "--overwrite", "older", "--dry-run", says="2 up to date")
    expect(1, "in", "-f", "hist=pass", "out/", "--overwrite", "older", "--merge-hist", "h.json",
           says="lacks 2 images that the run left out")
    touch("one.png", -1e6)
    expect(0, "in.png", "-f", "invert", "one.png", "--overwrite", "older")


def redone(args, want):
    """Which outputs a resumed run wrote."""
    before = {name: os.stat(os.path.join("out", name)).st_ino for name in found("out")}
    result = expect(0, *args, "--resume", says="images? done")
    after = {name: os.stat(os.path.join("out", name)).st_ino for name in found("out")}
    wrote = sorted(name for name in after if before.get(name) != after[name])
    check(wrote == sorted(want), "--resume wrote", wrote, "instead of", sorted(want), result)


def test_resume():
    tree("in/a.png", "in/b.png", "in/c.png")
    args = ("in", "-f", "gray", "out/")
    expect(0, *args, says="all 3")
    redone(args, [])
    touch("in/a.png", 5)
    redone(args, ["a.png"])
    redone(args, [])
    write("out/b.png", read("out/b.png"))
    touch("out/b.png", 9)
    redone(args, ["b.png"])
    os.remove("out/c.png")
    redone(args, ["c.png"])
    write("out/c.png", b"another")
    redone(args, ["c.png"])
    for more in (("--level", "9"), ("--depth", "16"), ("--strip",)):
        redone((*args, *more), ["a.png", "b.png", "c.png"])
        redone((*args, *more), [])
    redone(("in", "-f", "invert", "out/"), ["a.png", "b.png", "c.png"])
    redone((os.path.abspath("in"), "-f", "invert", "out/"), [])
    redone(("in", "-f", "invert", "-j1", "--memory", "1G", "out/"), [])
    write("mask", b"0 1 0")
    redone(("in", "-f", "conv=@mask", "out/"), ["a.png", "b.png", "c.png"])
    redone(("in", "-f", "conv=@mask", "out/"), [])
    write("mask", b"1 1 1")
    redone(("in", "-f", "conv=@mask", "out/"), ["a.png", "b.png", "c.png"])
    shutil.rmtree("out/.imgpipe")
    redone(("in", "-f", "conv=@mask", "out/"), ["a.png", "b.png", "c.png"])
    write("out/.imgpipe/" + [n for n in os.listdir("out/.imgpipe")][0], b"\0\xff torn")
    redone(("in", "-f", "conv=@mask", "out/"), ["a.png", "b.png", "c.png"])
    expect(2, "in", "--no-output", "--resume", "-f", "hist=data={stem}.csv", says="--resume needs")
    expect(2, "in.png", "--resume", "-f", "gray", "x.png", says="--resume needs a folder")


def test_records_stay_few():
    tree("in/a.png", "in/b.png")
    for number in range(22):
        touch("in/a.png", 1)
        expect(0, "in", "-f", "gray", "out/", "--resume", says="all 2")
    count = len(os.listdir("out/.imgpipe"))
    check(count <= 18, "there are", count, "files of records")
    redone(("in", "-f", "gray", "out/"), [])


def test_dry_run():
    tree("in/a.png", "in/s/b.png")
    result = run("-r", "in", "-f", "gray", "--dry-run", "out/")
    check(result.status == 0 and result.out == b"in/a.png\tout/a.png\nin/s/b.png\tout/s/b.png\n", result, result.out)
    check(not os.path.exists("out"), "--dry-run made something")
    result = run("in.png", "-f", "gray", "--dry-run", "x.png")
    check(result.status == 0 and result.out == b"in.png\tx.png\n" and not os.path.exists("x.png"), result, result.out)
    expect(2, "-r", "in", "-f", "blr", "--dry-run", "out/", says="blur")
    os.makedirs("out")
    write("out/a.png", b"mine")
    result = run("-r", "in", "-f", "gray", "--dry-run", "out/")
    check(result.status == 1 and result.out == b"in/s/b.png\tout/s/b.png\n", result, result.out)
    with open("/dev/full", "wb") as full:
        expect(4, "-r", "in", "-f", "gray", "--dry-run", "new/", stdout=full, says="No space")


def test_report():
    tree("in/a.png", "in/b.png")
    write("in/c.png", read("in/a.png")[:-30])
    write("in/d.txt", b"text")
    os.mkdir("out")
    write("out/b.png", b"mine")
    expect(1, "in", "-f", "gray", "out", "--report", "report", says="1 failed, 1 kept")
    lines = [json.loads(line) for line in read("report").splitlines()]
    check(set(lines[0]) == {"version", "chain", "device"} and lines[0]["chain"] == "gray" and "cpu" in lines[0]["device"], lines[0])
    status = {line["input"]: line["status"] for line in lines[1:-1]}
    check(status == {"in/a.png": "ok", "in/b.png": "kept", "in/c.png": "failed", "in/d.txt": "ignored"}, status)
    ok = [line for line in lines if line.get("status") == "ok"][0]
    steps = ["read", "decode", "upload", "compute", "download", "encode", "write", "total"]
    check(list(ok) == ["input", "output", "status", "error", "width", "height", "channels", "type", "bytes_in", "bytes_out", "seconds"] and
          list(ok["seconds"]) == steps, ok)
    check((ok["width"], ok["height"], ok["channels"], ok["type"], ok["error"]) == (6, 5, 3, "u8", None), ok)
    check(ok["bytes_in"] == os.path.getsize("in/a.png") and ok["bytes_out"] == os.path.getsize("out/a.png"), ok)
    failed = [line for line in lines if line.get("status") == "failed"][0]
    check("truncated" in failed["error"] or "ends" in failed["error"], failed)
    total = lines[-1]["total"]
    check([total[key] for key in ("images", "ok", "kept", "skipped", "ignored", "failed")] == [3, 1, 1, 0, 1, 1], total)
    expect(1, "in", "-f", "gray", "out", "--resume", "--report", "report", says="1 failed")
    check("skipped" in [json.loads(line).get("status") for line in read("report").splitlines()], "no line says skipped")
    expect(0, "in.png", "-f", "gray", "x.png", "--report", "one")
    check([json.loads(line).get("status") for line in read("one").splitlines()] == [None, "ok", None], read("one"))
    expect(2, "in", "-f", "gray", "new/", "--report", "in/a.png", says="is an input")
    expect(2, "in", "-f", "gray", "new/", "--report", "new/a.png", says="is an output")
    expect(4, "in", "-f", "gray", "new2/", "--report", "no/where", says="--report")
    check(not os.path.exists("new") and not os.path.exists("new2"), "a refused run made its folder")
    expect(1, "in", "-f", "gray,hist=pass", "made/", "--report", "made/r", "--merge-hist", "made/h", says="1 failed")
    check(len(report("made/r")) == 6 and read("made/h"), "files in a new OUT")
    expect(4, "in", "-f", "gray", "new3/", "--report", "/dev/full", says="No space")


def test_report_of_what_was_not_reached():
    tree("in/a.png", "in/b.png", "in/c.png")
    write("in/0.png", png(60, 60)[:-20])
    os.utime("in/0.png")
    expect(1, "in", "-f", "gray", "-j1", "--fail-fast", "--report", "r", "out/", says="1 failed, [0-9] not done")
    lines = report("r")
    status = {line["input"]: line["status"] for line in lines[1:-1]}
    check(sorted(status) == [f"in/{n}.png" for n in "0abc"] and status["in/0.png"] == "failed", status)
    check(list(status.values()).count("not_done") == lines[-1]["total"]["not_done"] == 3 - len(found("out")), status)
    expect(4, "in", "-f", "gray", "--report", "r", "/proc/new/", says="cannot make the folder")
    check([line.get("status") for line in report("r")] == [None] + ["not_done"] * 4 + [None], read("r"))
    check(report("r")[-1]["total"]["not_done"] == 4, read("r"))


def test_report_of_any_name():
    """A name that is no UTF-8 can be got back from the report."""
    names = [b"in/\xff\xfe.png", "in/ä.png".encode(), b"in/a\xc3.png"]
    os.mkdir("in")
    for name in names:
        write(name, png(4, 4))
    expect(0, "in", "-f", "gray", "--report", "r", "out/", says="all 3")
    lines = report("r")[1:-1]
    for field, folder in (("input", b"in/"), ("output", b"out/")):
        back = [bytes.fromhex(line[field + "_bytes"]) if field + "_bytes" in line else line[field].encode() for line in lines]
        check(sorted(back) == sorted(name.replace(b"in/", folder) for name in names), lines)


def test_report_on_a_full_disk():
    tree("in/a.png", "in/b.png")
    result = expect(4, "in", "-f", "gray", "--report", "/dev/full", "out/", says="report: No space left")
    check(result.err.count("report") == 1, "it is told once, with the right reason:", result)
    for args in (("in", "-f", "gray", "full/"), ("in/a.png", "-f", "gray", "full.png")):
        process = subprocess.run([PROGRAM, *args, "--report", "r"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=LONGEST,
                                 env=environment(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        check(process.returncode == 4 and b"report" in process.stderr, args, process)
        check(not os.path.exists("r"), "an empty report is left of", args)


def test_out_that_takes_no_files():
    """Where the right to write is there, for root, and yet no file can be made."""
    tree("in/a.png", "in/b.png")
    for out in ("/proc/", "/sys/kernel/"):
        result = expect(4, "in", "-f", "gray", "-q", out, says=f"cannot write into the folder '{out}'")
        check(len(result.err.splitlines()) == 1, "it is told once for each image:", result)
    os.mkdir("cc")
    write("cc/.imgpipe", b"")
    expect(4, "in", "-f", "gray", "cc/", says="'cc/.imgpipe' is no folder")
    expect(0, "in", "-f", "gray", "out/", says="all 2")
    check(sorted(os.listdir("out")) == [".imgpipe", "a.png", "b.png"], os.listdir("out"))


def test_timings_of_all():
    tree("in/a.png", "in/b.png")
    expect(0, "in", "-f", "gray", "out/", "--timings", says="images +2, ")
    result = expect(0, "in", "-f", "gray", "out/", "--overwrite", "always", "--timings", "--json", says="total")
    total = json.loads(result.err.splitlines()[0])["total"]
    check(total["ok"] == 2 and total["seconds"]["total"] > 0, total)


def test_side_data():
    tree("in/a.png", "in/s/b.png")
    expect(0, "-r", "in", "-f", "hist=data={relpath}.csv", "--no-output", says="all 2")
    check(os.path.exists("a.png.csv") and os.path.exists("s/b.png.csv"), os.listdir("."))
    expect(0, "-r", "in", "-f", "hist=data='data/{index:03}.json'", "out/", says="all 2")
    check(json.loads(read("data/002.json"))["width"] == 6, os.listdir("data"))
    holds("out", "a.png", "s/b.png")
    os.remove("data/001.json")
    expect(0, "-r", "in", "-f", "hist=data='data/{index:03}.json'", "out/", "--resume", says="1 by earlier runs")
    check(os.path.exists("data/001.json"), "side data that were lost are not made again")
    for name in ("all.csv", "-", "{nope}.csv"):
        expect(2, "-r", "in", "-f", f"hist=data={name}", "out2/", says="data: |field")
    tree("in/s/a.png")
    expect(2, "-r", "in", "-f", "hist=data={stem}.csv", "--no-output", says="both be written to 'a.csv'")
    check(not os.path.exists("out2") and not os.path.exists("a.csv"), "a refused run made something")


def test_notices_are_counted():
    os.mkdir("in")
    for number in range(8):
        write(f"in/{number}.png", png(4, 4, color=6))
    result = expect(0, "in", "-f", "invert", "--format", "ppm", "out/", says="5 more times: pnm has no alpha")
    check(len(re.findall("^imgpipe: .*alpha", result.err, re.M)) == 4, "a notice is shown how often:", result)
    named = re.findall(r"^imgpipe: 'in/\d.png': pnm has no alpha", result.err, re.M)
    check(len(named) == 3, "a notice does not begin with a file's name:", result)
    write("in/0.png", png(4, 4)[:-4])
    expect(0, "in", "-f", "invert", "--format", "pam", "out4/", says="^imgpipe: 'in/0.png': warning: what follows")
    result = expect(0, "-q", "in", "-f", "invert", "--format", "ppm", "out2/")
    check(result.err == "", "-q is not quiet:", result)
    text = on_terminal("in", "-f", "invert", "--format", "ppm", "out3/", "--progress", "always", TERM="xterm").decode()
    check("all 8 images done" in text, "the summary on a terminal:", text)


def feed(wait, *names):
    """Writes an image into each named pipe once somebody reads it, into the first only so many seconds later."""
    def work():
        for name in names:
            with open(name, "wb") as pipe:  # waits for its reader
                time.sleep(wait if name == names[0] else 0)
                pipe.write(png(8, 8))
    threading.Thread(target=work, daemon=True).start()


def test_progress_of_a_run():
    """Named pipes make a run take time: the line tells how much is done, and makes way for messages."""
    for pipe in ("1.png", "2.png", "3.png"):
        os.mkfifo(pipe)
    write("cut.png", png(60, 60)[:-20])
    feed(1.1, "1.png", "2.png")
    text = on_terminal("cut.png", "1.png", "2.png", "-j1", "-f", "gray", "out/", TERM="xterm").decode()
    shown = re.findall(r"\r\x1b\[K(\d) of 3, [\d.]+ images/s, [\d.]+ MB/s(?:, [\d.]+ s left)?, 1 failed", text)
    check("2" in shown, "the progress line:", text)
    cleared = re.search(r"\r\x1b\[K(\x1b\[1m)?imgpipe:(\x1b\[0m)? failed: 'cut.png'", text)
    check(cleared, "the progress line is not cleared for a message:", text)
    if Tally.long:
        feed(5.5, "1.png", "2.png")
        expect(1, "cut.png", "1.png", "2.png", "-j1", "-f", "gray", "out2/", "--progress", "always",
               says=r"\nimgpipe: 2 of 3, [\d.]+ images/s, [\d.]+ MB/s, [\d.]+ s left, 1 failed\n")
    feed(1.1, "3.png")
    result = expect(0, "3.png", "in.png", "-j1", "-f", "gray", "out3/", says="all 2")
    check(result.err.count("\n") == 1, "a short run whose messages go to a file shows more than the summary:", result)


# ---------------------------------------------------------------------------------------------------- shards


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in os.fsencode(text):
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return value


def test_shards():
    names = [f"s{n % 3}/{n}.png" for n in range(20)]
    tree(*(f"in/{name}" for name in names))
    union = []
    for part in range(1, 5):
        expect(0, "-r", "in", "-f", "gray", f"out{part}/", "--shard", f"{part}/4", "--name", "{index:02}/{relpath}", says=f"part {part} of 4")
        inside = [name.split("/", 1)[1] for name in (found(f"out{part}") if os.path.exists(f"out{part}") else [])]
        check(inside == [] or all(fnv(name) % 4 == part - 1 for name in inside), "part", part, "did", inside)
        union += found(f"out{part}") if os.path.exists(f"out{part}") else []
    expect(0, "-r", "in", "-f", "gray", "all/", "--name", "{index:02}/{relpath}", says="all 20")
    check(sorted(union) == found("all"), "the parts are not the whole, or {index} differs")
    write("single/a.png", png(2, 2)) if os.path.isdir("single") else tree("single/a.png")
    statuses = [run("single", "-f", "gray", "one/", "--shard", f"{part}/3").status for part in (1, 2, 3)]
    check(statuses == [0, 0, 0] and found("one") == ["a.png"], "empty parts:", statuses)
    for text in ("0/4", "5/4", "1", "1/0", "a/b", "-1/4", "1/4x", "", "1/", "auto/", "auto/x", "auto/0", "auto8"):
        expect(2, "-r", "in", "-f", "gray", "no/", "--shard", text, says="--shard")
    check(not os.path.exists("no"), "a refused run made its folder")


def part_of(says_part=None, of=None, text="auto", refused=None, **env):
    args = ("in", "-f", "gray", "--dry-run", "none/", "--shard", text)
    if refused:
        result = run(*args, **env)
        check(result.status == 2 and re.search(refused, result.err) and not result.out, "not refused with", env, result)
    else:
        result = run(*args, **env)
        wanted = f"part {says_part} of {of}: " in result.err if of > 1 else "part" not in result.err
        check(result.status == 0 and wanted, "not part", says_part, "of", of, "with", env, result)


def test_shard_auto():
    tree("in/a.png", "in/b.png")
    part_of(refused="MPI, Slurm or Kubernetes")
    part_of(3, 8, OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="8")
    part_of(3, 8, OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="8", PMI_RANK="0", PMI_SIZE="2", SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4")
    part_of(refused="auto/N", OMPI_COMM_WORLD_RANK="2")
    part_of(3, 5, text="auto/5", OMPI_COMM_WORLD_RANK="2")
    part_of(refused="leave out the count", text="auto/5", OMPI_COMM_WORLD_RANK="2", OMPI_COMM_WORLD_SIZE="8")
    part_of(refused="no number", OMPI_COMM_WORLD_RANK="x", OMPI_COMM_WORLD_SIZE="8")
    part_of(refused="part 9 of 8", OMPI_COMM_WORLD_RANK="8", OMPI_COMM_WORLD_SIZE="8")
    part_of(1, 2, PMI_RANK="0", PMI_SIZE="2")
    part_of(2, 4, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="4", SLURM_NTASKS="8")
    array = {"SLURM_ARRAY_TASK_ID": "14", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "18", "SLURM_ARRAY_TASK_STEP": "2",
             "SLURM_ARRAY_TASK_COUNT": "5"}
    part_of(3, 5, **array)
    part_of(3, 5, SLURM_PROCID="0", SLURM_NTASKS="1", **array)
    part_of(6, 10, SLURM_PROCID="1", SLURM_STEP_NUM_TASKS="2", SLURM_NTASKS="2", **array)
    part_of(refused="srun", SLURM_PROCID="0", SLURM_NTASKS="4", **array)
    part_of(refused="srun", SLURM_PROCID="0", SLURM_NTASKS="4")
    part_of(1, 1, SLURM_PROCID="0", SLURM_NTASKS="1")
    part_of(refused="gaps", **{**array, "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_TASK_COUNT": "3"})
    part_of(refused="MIN", SLURM_ARRAY_TASK_ID="1")
    part_of(refused="auto/N", SLURM_ARRAY_TASK_ID="1", SLURM_ARRAY_TASK_MIN="0")
    part_of(2, 3, text="auto/3", SLURM_ARRAY_TASK_ID="1", SLURM_ARRAY_TASK_MIN="0")
    part_of(refused="auto/N", JOB_COMPLETION_INDEX="1")
    part_of(2, 6, text="auto/6", JOB_COMPLETION_INDEX="1")
    part_of(refused="part 7 of 6", text="auto/6", JOB_COMPLETION_INDEX="6")
