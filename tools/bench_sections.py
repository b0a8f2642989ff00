"""The sections of tools/bench: each turns lines of bench_lines.py into records."""
import os

import bench_lines as lines
from bench_measure import Failed, Worker, best, in_turn, median, ratios, record

FORMAT_NAMES = {lines.RGB8: "RGB8", lines.GRAY8: "gray8", lines.RGB16: "RGB16", lines.GRAY16: "gray16"}


class Bench:
    """What all sections need: programs, pictures, how often, which lines."""

    def __init__(self, programs, runner, material, rounds, patience, wanted, work, say):
        self.programs, self.runner, self.material = programs, runner, material
        self.rounds, self.patience, self.wanted, self.work, self.say = rounds, patience, wanted, work, say

    def out(self, program, extension):
        return os.path.join(self.work, f"{program.replace(' ', '-')}.{extension}")


# ------------------------------------------------------------------------------------------------ memory

def slower_content(bench, workers, line, form):
    """Runs a line on natural and on random content; the results of the slower of the two, by its ratio."""
    worst = None
    for content in ("photograph", "random"):
        raw = bench.material.raw(content, *form)
        runs = {}
        for name, worker in workers.items():
            worker.load(raw)
            worker.ask("run", line.chain)  # makes pools and touches memory
            runs[name] = lambda worker=worker: worker.seconds("run", line.chain)
        results, failed = in_turn(runs, bench.rounds, bench.patience)
        if "imgpipe" not in results:
            raise Failed(failed.get("imgpipe", "it did not run"))
        peer = best(results)
        ratio = ratios(results[peer], results["imgpipe"]) if peer else None
        if worst is None or (ratio and ratio[0] < worst[1][0]):
            worst = (content, ratio, results, peer)
    return worst


def bandwidth(bench, worker, raw):
    """Bytes a second of a copy, read and written."""
    worker.load(raw)
    worker.ask("copy")
    size = raw[0] * raw[1] * raw[2] * raw[3]
    return 2 * size / min(worker.seconds("copy") for _ in range(5))


def memory_line(bench, workers, line, form, copied):
    name = f"{line.name}, {FORMAT_NAMES[form]}"
    bench.say(name)
    content, ratio, results, peer = slower_content(bench, {k: w for k, w in workers.items() if k != "two"}, line, form)
    width, height, channels, size, _ = bench.material.raw(content, *form)
    took = median(results["imgpipe"])
    written = 0 if line.chain == "hist" else 1 if line.chain == "gray" else channels
    share = width * height * size * (channels + written) / took / copied
    rates = {program: width * height / median(times) / 1e6 for program, times in results.items()}
    yield record("memory", name, ratio, line.goal, "at least", peer=peer, content=content, rates=rates, bandwidth_share=share,
                 **({} if peer else {"why": "no OpenCV to compare with"}))
    one, two = workers["imgpipe"], workers["two"]
    two.load(bench.material.raw(content, *form))
    one.load(two.loaded)
    two.ask("run", line.chain)
    results, _ = in_turn({"imgpipe": lambda: two.seconds("run", line.chain), "one thread": lambda: one.seconds("run", line.chain)},
                         bench.rounds, bench.patience)
    bound = share > lines.MEMORY_BOUND
    yield record("threads", name, ratios(results["one thread"], results["imgpipe"]), None if bound else lines.TWO_THREADS, "at least",
                 peer="one thread", bandwidth_share=share, **({"why": "limited by memory"} if bound else {}))


def memory(bench):
    workers = {"imgpipe": Worker(bench.programs["bench_memory"], "1"), "two": Worker(bench.programs["bench_memory"], "2")}
    for name, program in (("OpenCV", "opencv"), ("vips", "bench_vips")):
        if bench.programs.get(program):
            workers[name] = Worker(bench.programs[program], "memory", "1")
    copied = bandwidth(bench, workers["imgpipe"], bench.material.raw("photograph", *lines.RGB8))
    for line in lines.MEMORY:
        for form in line.formats:
            if bench.wanted(f"{line.name}, {FORMAT_NAMES[form]}"):
                try:
                    yield from memory_line(bench, workers, line, form, copied)
                except Failed as error:
                    yield record("memory", f"{line.name}, {FORMAT_NAMES[form]}", None, line.goal, "at least", why=str(error))
    name, several, single, goal = lines.FUSED
    if bench.wanted(name):
        worker = workers["imgpipe"]
        worker.load(bench.material.raw("photograph", *lines.RGB8))
        for chain in (several, single):
            worker.ask("run", chain)
        results, _ = in_turn({chain: lambda chain=chain: worker.seconds("run", chain) for chain in (several, single)},
                             3 * bench.rounds, bench.patience)
        yield record("memory", name, ratios(results[several], results[single]), goal, "at most", peer="gray alone")
    for worker in workers.values():
        worker.close()


# ------------------------------------------------------------------------------------------------- files

KIND_NAMES = {"png": "PNG", "jpg": "JPEG"}


def medians(results):
    """Of wall time, CPU time and peak memory, for every program."""
    return {p: {what: median(found, what) for what in ("wall", "cpu", "memory")} for p, found in results.items()}


def commands(bench, line, extension):
    """The command lines of every program that is there and can do this line, with names left to fill in."""
    programs = bench.programs
    options = "--no-output" if line.decode else "{out}"
    chain = f"-f '{line.chain}'" if line.chain else ""
    found = {"imgpipe": f"{{imgpipe}} -q {{in}} {chain} {options}"}
    if line.vips and programs.get("vips"):
        found["vips"] = line.vips.replace("{out}", "{out}[Q=90]") if extension == "jpg" else line.vips
        if line.fast and extension == "png":
            found["vips, fast"] = line.vips.replace("{out}", "{out}" + lines.VIPS_FAST)
    if line.gm and programs.get("gm"):
        found["gm"] = line.gm.replace("{out}", "-quality 90 {out}") if extension == "jpg" else line.gm
    if line.ffmpeg and programs.get("ffmpeg"):
        found["ffmpeg"] = "ffmpeg -y -v error -i {in} " + ("" if line.ffmpeg.startswith("-") else "-vf ") + line.ffmpeg + (
            "" if line.decode else " {out}")
    if programs.get("opencv"):
        found["OpenCV"] = "{opencv} file '" + line.chain + "' {in} " + ("" if line.decode else "{out}")
    return found


def write_mask(bench, rows):
    path = os.path.join(bench.work, "mask.mat")
    if rows:
        rows = rows.split(";")
        weights = [float(word) for row in rows for word in row.split()]
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{len(rows[0].split())} {len(rows)} {sum(weights):g} 0\n" + "\n".join(rows) + "\n")
    return path


def file_line(bench, line, extension):
    name = f"{line.name}, {KIND_NAMES[extension]}"
    bench.say(name)
    given = bench.material.path("photograph." + extension)
    mask = write_mask(bench, line.mask)
    runs = {}
    for program, command in commands(bench, line, extension).items():
        names = {**bench.programs, "in": given, "out": bench.out(program, extension), "tmp": os.path.join(bench.work, "between"),
                 "mask": mask}
        runs[program] = lambda command=command, names=names: bench.runner.once(command, **names)
    results, failed = in_turn(runs, bench.rounds, bench.patience)
    sizes = {p: os.path.getsize(bench.out(p, extension)) for p in results if not line.decode and os.path.exists(bench.out(p, extension))}
    figures = medians(results)
    detail = {"figures": figures, "sizes": sizes, "failed": failed}
    ours = results.get("imgpipe")
    usual = {p: found for p, found in results.items() if p != "vips, fast"}
    peer = best(usual)
    if not ours or not peer:
        yield record("files", name, None, line.goal, "at least", why=failed.get("imgpipe", "nothing to compare with"), **detail)
        return
    yield record("files", name, ratios(results[peer], ours), line.goal, "at least", peer=peer, **detail)
    if "vips, fast" in results:
        yield record("files", f"{name}, vips told to be fast", ratios(results["vips, fast"], ours), line.fast, "at least", peer="vips, fast")
    if "vips" in results:
        share = figures["imgpipe"]["memory"] / figures["vips"]["memory"]
        yield record("peak memory", name, share, lines.PEAK_MEMORY if line.goal else None, "at most", peer="vips",
                     bytes={p: figures[p]["memory"] for p in figures})


def files(bench):
    for extension, table in (("png", lines.FILES), ("jpg", lines.FILES_JPEG)):
        for line in table:
            if bench.wanted(f"{line.name}, {KIND_NAMES[extension]}"):
                yield from file_line(bench, line, extension)
    yield from sizes(bench)
    yield from startup(bench)


def sizes(bench):
    """Sizes of PNG files of four kinds of content."""
    for content, goal in lines.SIZES.items():
        name = f"size of a {content.replace('blurred', 'blurred photograph')}"
        if not bench.wanted(name):
            continue
        bench.say(name)
        given, found = bench.material.path(content + ".png"), {}
        try:
            for program, command in (("imgpipe", "{imgpipe} -q {in} -o {out}"), ("OpenCV", "{opencv} file '' {in} {out}")):
                if bench.programs.get(program.lower()):
                    out = bench.out(program + "-size", "png")
                    bench.runner.once(command, **{**bench.programs, "in": given, "out": out})
                    found[program] = os.path.getsize(out)
            found["libpng level 6"] = libpng_size(bench, content)
        except Failed as error:
            yield record("sizes", name, None, goal, "at most", why=str(error))
            continue
        for peer, most in (("OpenCV", 1.0), ("libpng level 6", goal)):
            if peer in found:
                yield record("sizes", f"{name}, against {peer}", found["imgpipe"] / found[peer], most, "at most", peer=peer, bytes=found)


def libpng_size(bench, content):
    """It takes many seconds, and depends on the picture and the library alone: kept beside the picture."""
    kept = bench.material.path(f"{content}.level6")
    if not os.path.exists(kept):
        worker = Worker(bench.programs["bench_memory"], "1")
        worker.load((*bench.material.sizes[content], 3, 1, bench.material.path(content + ".raw")))
        size = worker.ask("png", 6)
        worker.close()
        with open(kept, "w", encoding="utf-8") as file:
            file.write(size)
    with open(kept, encoding="utf-8") as file:
        return int(file.read())


def startup(bench):
    if not bench.wanted("start-up"):
        return
    bench.say("start-up")
    there = {p: c for p, c in lines.STARTUP.items() if bench.programs.get(p)}
    results, failed = in_turn({p: lambda c=c: bench.runner.once(c, **bench.programs) for p, c in there.items()}, 7 * bench.rounds, 1e9)
    took = {p: 1e3 * median(found) for p, found in results.items()}
    each = sorted(1e3 * run["wall"] for run in results.get("imgpipe", []))
    yield record("start-up", "--version, milliseconds", (took["imgpipe"], each[0], each[-1]) if each else None, lines.STARTUP_MS, "at most",
                 peer="", milliseconds=took, why=failed.get("imgpipe", ""))
