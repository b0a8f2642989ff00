#!/usr/bin/env python3
"""The manual pages of an installed copy: no warning from what formats them, their examples run, their programs are built and run.

usage: test_manual.py BUILD_FOLDER
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from test_install import check, find, flags, run, static_flags

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ("man1/imgpipe.1", "man7/imgpipe-filters.7", "man3/libimgpipe.3")
SIGNS = {"\\e": "\\", "\\-": "-", "\\&": "", "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\(dq": '"'}


def plain(text):
    """A page's source without the escapes of troff."""
    return re.sub(r"\\([e&-]|\((?:aq|ga|ha|ti|dq)|f[BIR])", lambda sign: SIGNS.get(sign[0], ""), text)


def blocks(text):
    """What stands between .EX and .EE."""
    return [plain(block) for block in re.findall(r"^\.EX\n(.*?)^\.EE$", text, re.M | re.S)]


def formatted(path, text):
    """Each formatter that is here takes the page without a word, and shows the programs in it as they are."""
    commands = {"mandoc": ["mandoc", "-Tlint", "-Wwarning"], "groff": ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=78n"],
                "man": ["man", "--warnings", "-l"]}
    name = os.path.basename(path)
    long_tags = [tag for tag in re.findall(r"^\.T[PQ]\n(.*)", text, re.M) if len(plain(tag)) > 64]
    check(not long_tags, f"the tags of {name} fit into a line {long_tags[:3]}")
    for program, command in commands.items():
        if not shutil.which(program):
            print(f"skip {program}: it is not there")
            continue
        done = subprocess.run([*command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = done.stderr + (done.stdout if program == "mandoc" else "")
        check(done.returncode == 0 and not said, f"{program} has nothing to say about {name} {said[:400]}")
        if program == "groff":
            shown = {line.strip() for line in done.stdout.splitlines()}
            lost = [line for block in blocks(text) for line in block.splitlines() if line.strip() not in shown]
            check(not lost, f"{program} shows the examples of {name} as they are {lost[:3]}")
            odd = [line for line in done.stdout.splitlines() if len(line) > 80 or "\\&" in line]
            check(not odd, f"{program} keeps {name} within 80 columns, without escapes {odd[:3]}")


def complete(command, texts):
    """Nothing that the command knows is left out."""
    said = json.loads(run(command, "--help", "--json"))
    filters = [f for f in said["filters"] if not f["plugin"]]
    names = [[f"--{o['name']}" for o in said["options"]], [f["name"] for f in filters] + [p["name"] for f in filters for p in f["parameters"]]]
    for page, wanted in zip(PAGES, names):
        shown = {plain(name) for name in re.findall(r"\\fB(.*?)\\fR", texts[page])}
        check(len(wanted) > 20 and set(wanted) <= shown, f"{page} has all of {len(wanted)} names {sorted(set(wanted) - shown)}")


def environment(text):
    """Every variable that the sources ask for is on the page."""
    asked = set()
    for source in glob.glob(os.path.join(ROOT, "src", "*.c")) + glob.glob(os.path.join(ROOT, "tools", "*.c")):
        with open(source, encoding="utf-8") as file:
            code = file.read()
        asked |= set(re.findall(r'getenv\("(\w+)"\)', code))
        if source.endswith("shard.c"):
            asked |= set(re.findall(r'"([A-Z][A-Z_]+_[A-Z]+)"', code))
    missing = sorted(name for name in asked if f"\\fB{name}\\fR" not in text)
    check(len(asked) > 10 and not missing, f"the page has the {len(asked)} variables of the environment {missing}")


def examples(text, folder, command):
    """The commands behind `$ `, one after another, print what stands below them."""
    os.makedirs(os.path.join(folder, "photos", "old"))
    os.symlink(os.path.dirname(command), os.path.join(folder, "bin"))
    for name, source in (("in.png", "astronaut"), ("photos/a.png", "chelsea"), ("photos/old/b.png", "coffee")):
        shutil.copy(os.path.join(ROOT, "samples", source + ".png"), os.path.join(folder, name))
    count = 0
    for block in blocks(text):
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env={**os.environ, "PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]})
            check(done.stdout == expected, f"$ {line}: {done.stdout}")
            count += 1
    check(count >= 6, f"{count} examples were run")
    made = [name for name in ("histogram.png", "sharp.png", "out.jpg", "painted/a.png", "painted/old/b.png")
            if not os.path.exists(os.path.join(folder, name))]
    check(not made, f"they made their files {made}")


def strict(source, program, *options):
    run("cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", source, "-o", program, *options)


def programs(text, root, folder, command):
    """What a reader of the page would type in."""
    for name, code in zip(("camera.c", "spread.c"), blocks(text)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(code)
    source, program = os.path.join(folder, "camera.c"), os.path.join(folder, "camera")
    strict(source, program, *static_flags(root))
    shown = re.findall(r"^frame (\d+): (\d+) at the edge, (\d+) in the middle$", run(program), re.M)
    check(len(shown) == 10 and shown[0] == ("0", "255", "255") and all(130 < int(edge) < 150 and middle == "255" for _, edge, middle in shown[1:]),
          f"the camera's frames are blurred {shown[:2]}")
    plugin = os.path.join(folder, "spread.so")
    strict(os.path.join(folder, "spread.c"), plugin, "-shared", "-fPIC", "-ffp-contract=off", *flags(root, "--cflags"))
    image = b"P5\n5 1\n255\n" + bytes([10, 10, 50, 50, 90])
    done = subprocess.run([command, "--plugin", plugin, "-", "-f", "spread", "--format", "pnm", "-o", "-"], input=image,
                          stdout=subprocess.PIPE, check=True).stdout
    check(done.endswith(bytes([0, 40, 40, 40, 40])), "the plug-in computes what it says")
    check("spread: proved in " in run(command, "--plugin", plugin, "--check-filter", "spread"), "the plug-in keeps to the rules")


def main(build):
    with tempfile.TemporaryDirectory(prefix="imgpipe-manual-") as folder:
        root = os.path.join(folder, "root")
        run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
        command = find(root, "bin/imgpipe")
        texts = {}
        for page in PAGES:
            path = find(root, page)
            with open(path, encoding="utf-8") as file:
                texts[page] = file.read()
            check(not re.search(r"^@|@$", texts[page], re.M), f"every part of {page} is filled in")
            formatted(path, texts[page])
        complete(command, texts)
        environment(texts[PAGES[0]])
        examples(texts[PAGES[0]], os.path.join(folder, "examples"), command)
        programs(texts[PAGES[2]], root, folder, command)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
