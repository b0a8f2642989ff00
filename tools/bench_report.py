"""What tools/bench found, as Markdown and JSON, and the machine that it was found on."""
import json
import os
import platform
import re
import subprocess
import time

TITLES = {
    "memory": "In memory, one thread: times as fast as the best of the others, on the slower of natural and random content",
    "threads": "Two threads against one",
    "files": "Whole commands, file to file: times as fast as the best of the others at their usual settings",
    "peak memory": "Peak memory of whole commands, compared with vips'",
    "sizes": "Size of PNG files, compared",
    "start-up": "Start-up",
    "folders": "Folders of pictures",
    "gpu": "On the GPU",
}
VERSIONS = {"vips": "vips --version", "gm": "gm version", "ffmpeg": "ffmpeg -version", "opencv": "pkg-config --modversion opencv4",
            "imgpipe": "{imgpipe} --version"}


def first_line(command):
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        return said.splitlines()[0].strip() if said else ""
    except OSError:
        return ""


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def machine(programs, material):
    """Everything that a figure depends on."""
    cpu = re.search(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.M)
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', read("/etc/os-release"), re.M)
    flags = read("/proc/cpuinfo")
    versions = {name: first_line([word.replace("{imgpipe}", programs["imgpipe"]) for word in command.split()])
                for name, command in VERSIONS.items() if programs.get(name)}
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cpus": len(os.sched_getaffinity(0)),
        "instructions": "AVX-512" if "avx512bw" in flags else "AVX2" if "avx2" in flags else "baseline",
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{system.group(1) if system else platform.system()}, Linux {platform.release()}",
        "load": os.getloadavg()[0],
        "photograph": material.source,
        "versions": versions,
    }


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread(r):
    return "" if r["low"] is None or r["low"] == r["high"] else f"{number(r['low'])} … {number(r['high'])}"


def details(r):
    """The figures behind a ratio, in a few words."""
    if "rates" in r:
        rates = ", ".join(f"{name} {number(rate)}" for name, rate in r["rates"].items())
        return f"{rates} Mpix/s; {100 * r['bandwidth_share']:.0f} % of a copy's bandwidth; {r['content']}"
    if r.get("figures"):
        text = ", ".join(f"{name} {number(f['wall'])} s ({number(f['cpu'])} s of CPU, {number(f['memory'] / 1e6)} MB)"
                         for name, f in r["figures"].items())
        sizes = ", ".join(f"{name} {number(size / 1e6)}" for name, size in r.get("sizes", {}).items())
        failed = "".join(f"; {why}" for name, why in r["failed"].items() if name != "imgpipe")
        return text + (f"; MB written: {sizes}" if sizes else "") + failed
    if "bytes" in r:
        return ", ".join(f"{name} {number(size / 1e6)} MB" for name, size in r["bytes"].items())
    if "milliseconds" in r:
        return ", ".join(f"{name} {number(ms)} ms" for name, ms in r["milliseconds"].items())
    return r.get("detail", "")


def row(r):
    goal = "" if r["goal"] is None else f"{'≥' if r['sense'] == 'at least' else '≤'} {r['goal']:g}"
    reached = {True: "yes", False: "**no**", None: "" if r["goal"] is None or r["ratio"] is not None else "not measured"}[r["reached"]]
    said = "; ".join(text for text in (details(r), r.get("why", "")) if text)
    cells = (r["name"], number(r["ratio"]), spread(r), goal, reached, r.get("peer") or "", said)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def summary(records):
    judged = [r for r in records if r["reached"] is not None]
    return f"{sum(r['reached'] for r in judged)} of {len(judged)} goals reached"


def markdown(records, about):
    versions = "; ".join(f"{name}: {version}" for name, version in about["versions"].items())
    out = ["# Benchmark of imgpipe", "",
           f"{about['date']}. {about['cpu']}, {about['cpus']} CPUs ({about['instructions']}), {about['memory_bytes'] / 2**30:.0f} GiB; "
           f"{about['system']}; load {about['load']:.1f} at the beginning. {versions}.", "",
           f"Photograph: {about['photograph']}. Every ratio is the median over runs that took turns, beside it the least and the greatest. "
           "`tools/bench` makes this page.", "", f"**{summary(records)}.**", "", "![goals](bench.svg)", ""]
    for section, title in TITLES.items():
        found = [r for r in records if r["section"] == section]
        if found:
            out += [f"## {title}", "", "| line | ratio | spread | goal | reached | against | figures |", "| --- | --- | --- | --- | --- | --- | --- |"]
            out += [row(r) for r in found] + [""]
    return "\n".join(out)


def write(folder, records, about):
    with open(os.path.join(folder, "bench.md"), "w", encoding="utf-8") as file:
        file.write(markdown(records, about))
    with open(os.path.join(folder, "bench.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": about, "records": records}, file, indent=1, ensure_ascii=False)
