"""Listings, options, and the marks under faulty chains."""
import json
import os
import re
import subprocess

from harness import PROGRAM, check, environment, expect, is_png, left, read, run, write


def test_listings():
    result = expect(0, "--version")
    check(re.fullmatch(rb"imgpipe \d+\.\d+\.\d+\nreads and writes png, .*", result.out, re.S), result.out)
    result = expect(0, "--help")
    for word in (b"--overwrite", b"blur", b"Exit status", b"-f, --filters CHAIN", b"--max-pixels"):
        check(word in result.out, "--help lacks", word)
    check(max(len(line) for line in result.out.decode().splitlines()) <= 110, "--help has lines that are too long")
    check(expect(0, "-h").out == result.out, "-h is not --help")
    result = expect(0, "--list")
    for name in (b"gray", b"blur", b"hist"):
        check(name in result.out, "--list lacks", name)
    result = expect(0, "--help", "blur")
    for word in (b"sigma", b"1000", b"border", b"default 2"):
        check(word in result.out, "--help blur lacks", word)
    check(expect(0, "--help=blur").out == result.out, "--help=blur differs")
    expect(2, "--help", "blr", says="did you mean blur")
    check(b"png" in expect(0, "--list-formats").out, "--list-formats lacks png")
    check(b"cpu" in expect(0, "--list-devices", says="|").out, "--list-devices lacks cpu")
    expect(2, "--list", "extra", says="extra")
    expect(2, "--json", "a.png", "b.png", says="--timings")


def test_json():
    filters = json.loads(expect(0, "--list", "--json").out)
    blur = [f for f in filters if f["name"] == "blur"][0]
    sigma = blur["parameters"][0]
    check(sigma["name"] == "sigma" and sigma["default"] == "2" and sigma["max"] == 1000, sigma)
    border = [p for p in blur["parameters"] if p["name"] == "border"][0]
    check("mirror" in border["choices"], border)
    check(json.loads(expect(0, "--help", "blur", "--json").out) == blur, "--help blur --json is not the row of --list")
    check(json.loads(expect(0, "--json", "--help").out)["filters"] == filters, "--help --json")
    kinds = json.loads(expect(0, "--list-formats", "--json").out)
    check(any(k["name"] == "png" and k["reads"] and k["writes"] for k in kinds), kinds)
    devices = json.loads(expect(0, "--list-devices", "--json").out)
    check(devices["devices"][0]["name"] == "cpu" and "why_no_gpu" in devices, devices)
    check(json.loads(expect(0, "--version", "--json").out)["name"] == "imgpipe", "--version --json")


def test_standard_output_of_listings():
    with open("/dev/full", "wb") as full:
        expect(4, "--list", stdout=full, says="No space")
    reader, writer = os.pipe()
    os.close(reader)
    result = expect(4, "--help", stdout=writer)
    os.close(writer)
    check(result.err == "", "a closed pipe is not quiet:", result)
    process = subprocess.run(f"'{PROGRAM}' --list >&-", shell=True, stderr=subprocess.PIPE, env=environment())
    check(process.returncode == 4, "closed standard output:", process)


# ------------------------------------------------------------------------------------------------- options


def test_usage():
    expect(2, says="--help")
    expect(2, "in.png", says="output is missing")
    expect(2, "-f", "gray", says="missing")
    expect(2, "-f", "gray", "in.png", says="missing")
    expect(2, "-o", "out.png", says="input is missing")
    expect(2, "in.png", "-f", "gray", "-f", "blur", "out.png", says="-f: .*twice")
    expect(2, "in.png", "-f", "gray", "a.png", "b.png", says="b.png")
    expect(2, "in.png", "in2.png", "-f", "gray", "out", says="2 inputs are named.*write 'out/'")
    expect(2, "in.png", "in2.png", "-f", "gray", "-o", "in.png", says="is no folder")
    expect(2, "in.png", "--no-output", "-o", "x.png", says="contradict")
    expect(2, "", "-f", "gray", "out.png", says="empty")
    expect(2, "in.png", "-f", says="missing")
    os.mkdir("folder")
    expect(2, "folder", "-f", "gray", "out", says="the input 'folder' is a folder.*write 'out/'")
    left("in.png", "folder")


def test_forgotten():
    expect(2, "a.png", "gray,blur", "b.png", says="'gray,blur' is a chain; put -f before it")
    expect(2, "a.png", "blur=2", says="put -f before it")
    expect(2, "a.png", "-f", "gray", "--no-output", "b.png", says="leave out 'b.png'")


def test_unknown_options():
    expect(2, "--outptu", "x", says="did you mean --output")
    expect(2, "--over", "always", says="did you mean --overwrite")
    expect(2, "-output", "x.png", says="did you mean --output")
    expect(2, "-z", says="-z: there is no such option")
    expect(2, "--qqqqqqqq", says="--help")
    expect(2, "--timings=3", says="takes no value")
    expect(2, "--depth", says="missing")
    left("in.png")


def test_option_values():
    for option, values in {
        "-j": ("0", "-1", "x", "1.5", "1e3", "99999999999999999999999", "nan", "", "0x2", "2000"),
        "--level": ("10", "-1", "best"),
        "--quality": ("0", "101"),
        "--memory": ("x", "0", "-1", "5X", "99999999999G", "18446744073709551616", "K", "1KB", "nan"),
        "--gpu-memory": ("1.5G",),
        "--strip-rows": ("0", "9999999999"),
        "--max-pixels": ("-1", "many", "9999999999999999999999"),
        "--depth": ("12", "32", "u8"),
        "--background": ("red", "#12", "#gggggg", "ffffff", "#1234567"),
        "--color": ("sometimes",),
        "--device": ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999999", "cuda:al", "cuda:all:1", "cpu:all"),
        "--overwrite": ("yes",),
        "--isa": ("z80",),
        "--format": ("xyz", "gif"),
        "--page": ("0", "-1", "two"),
        "--alpha": ("maybe", "1"),
        "--subsampling": ("411", "4:2:0", "0"),
        "--strip=": ("x", "al", "none"),
    }.items():
        for value in values:
            written = (option + value,) if option.endswith("=") else (option, value)
            expect(2, "in.png", *written, "-f", "gray", "out.png", says="imgpipe: .")
    expect(2, "in.png", "--color", "alwasy", "-f", "gray", "out.png", says="did you mean always")
    expect(2, "in.png", "--format", "pgn", "-f", "gray", "-o", "-", says="did you mean png")
    left("in.png")
    for option in (("-j1",), ("-j", "2"), ("--level=0",), ("--level", "9"), ("--memory", "512m"), ("--memory=1G",), ("-q",),
                   ("--strip-rows", "1"), ("--max-pixels", "0"), ("--depth", "16"), ("--background", "#00ff7F"),
                   ("--device", "cpu"), ("--isa", "baseline"), ("--color=never",), ("--progress", "always"), ("--gpu-memory", "64M"),
                   ("--quality", "50"), ("--page", "1"), ("--alpha", "yes"), ("--alpha=no",), ("--subsampling", "420"), ("--strip",),
                   ("--strip=all",), ("--auto-orient",), ("--allow-truncated",)):
        expect(0, *option, "in.png", "-f", "gray", "out.png")
        expect(0, "in.png", "-f", "gray", *option, "out.png")
        check(is_png(read("out.png")), "out.png with", option)
    left("in.png", "out.png")


def test_same_result():
    expect(0, "in.png", "-f", "gray,blur=3", "want.png")
    for option in (("-j1",), ("-j4",), ("--strip-rows", "1"), ("--strip-rows", "7"), ("--isa", "baseline"), ("--memory", "64M")):
        expect(0, "in.png", *option, "-f", "gray,blur=3", "out.png")
        check(read("out.png") == read("want.png"), "another result with", option)


def test_max_pixels():
    expect(1, "in.png", "--max-pixels", "10", "-f", "gray", "out.png", says="in.png")
    left("in.png")


# ---------------------------------------------------------------------------------------------- chain errors


def marks(chain, *more, want, says=""):
    """The mark must stand under `want` in the line that shows the chain."""
    result = expect(2, "in.png", "-f", chain, *more, "out.png", says=says)
    lines = result.err.splitlines()
    if len(lines) != 3:
        check(False, "not three lines:", result)
        return
    shown, mark = lines[1], lines[2]
    check(re.fullmatch(r" *\^~*", mark), "the mark is", repr(mark))
    start, length = len(mark) - len(mark.lstrip()), len(mark.strip())
    check(shown[start:start + length] == want, f"marked is {shown[start:start + length]!r}, not {want!r}:", result)


def test_chain_errors():
    marks("gray,blr,hist", want="blr", says="did you mean blur")
    marks("blr", want="blr")
    marks("gray,blur=0x8", want="0x8", says="write blur=8")
    marks("blur=1,5", want="1,5", says="1.5")
    marks("median=4", want="4", says="3 or 5")
    marks("gray,,blur", want=",")
    marks("blur=2:border=clmp", want="clmp", says="did you mean clamp")
    marks("gray,blur='x", want="'x", says="quote")
    marks("hist=data='ä ö',blr", want="blr")
    marks("hist=data='a\nb',blr", want="blr")
    marks("hist=data=\t\tx,blr", want="blr")
    marks("hist=data=" + "a" * 500 + ",blr,gray", want="blr")
    marks("gray," * 100 + "blr", want="blr")
    marks("blr," + "gray," * 100 + "gray", want="blr")
    marks("blur=" + "9" * 60, want="9" * 60)
    left("in.png")


def test_wide_characters():
    result = expect(2, "in.png", "-f", "hist=data='日本',blr", "out.png")
    mark = result.err.splitlines()[2]
    # Each of the two characters takes two columns of the terminal.
    check(mark == "  " + " " * (len("hist=data='日本',") + 2) + "^~~", "wide characters:", repr(mark))
    result = expect(2, "in.png", "-f", "hist=data='e\u0301',blr", "out.png")
    check(result.err.splitlines()[2] == "  " + " " * len("hist=data='e',") + "^~~", "combining characters:", result)
    result = run("in.png", "-f", b"hist=data='\xff\xfe',blr", "out.png")
    check(result.status == 2 and len(result.err.splitlines()) == 3, "bytes that are no UTF-8:", result)


def test_control_characters():
    for args in (("in.png", "-f", "bl\x1b[2Jr", "out.png"), ("no\x1b[2J\nfile.png", "-f", "gray", "out.png"), ("--\x1b[2J",)):
        result = run(*args)
        check("\x1b" not in result.err, "an escape reaches the terminal:", result)
        check(result.status in (1, 2), result)
        check("\\x1b" in result.err, "the escape is not shown:", result)


def test_chain_file():
    write("chain.txt", b"\xef\xbb\xbf# first of all\r\ngray  # one channel\r\n\r\n\n  blur=2   \n")
    expect(0, "in.png", "-f", "@chain.txt", "out.png")
    expect(0, "in.png", "-f", "gray,blur=2", "want.png")
    check(read("out.png") == read("want.png"), "@chain.txt differs from gray,blur=2")
    for text in (b"gray,\nblur=2", b"gray\n,blur=2", b"gray\n,\nblur=2\n", b"\n\ngray,blur=2", b"gray\nblur=2 # x ' y\n"):
        write("chain.txt", text)
        expect(0, "in.png", "-f", "@chain.txt", "out.png")
        check(read("out.png") == read("want.png"), "another result from", text)
    write("chain.txt", b"# nothing\n\n")
    expect(0, "in.png", "-f", "@chain.txt", "out.png")
    write("chain.txt", b"gray # colour\nblur=2\n  blr # no\nhist\n")
    result = expect(2, "in.png", "-f", "@chain.txt", "out.png", says=r"chain\.txt:3: ")
    lines = result.err.splitlines()
    check(lines[1:] == ["    blr # no", "    ^~~"], "the place in the file:", result)
    write("chain.txt", b"gray,\n,blur\n")
    expect(2, "in.png", "-f", "@chain.txt", "out.png", says=r"chain\.txt:1: ")
    expect(2, "in.png", "-f", "@none.txt", "out.png", says="none.txt.*No such file")
    expect(2, "in.png", "-f", "@.", "out.png", says="folder")
    expect(2, "in.png", "-f", "@in.png", "out.png", says="no text")


def test_empty_chain():
    expect(0, "in.png", "-o", "a.png")
    expect(0, "in.png", "-f", "", "b.png")
    expect(0, "in.png", "c.png")
    check(read("a.png") == read("b.png") == read("c.png"), "the three plain conversions differ")
    expect(0, "in.png", "-o", "a.ppm")
    check(read("a.ppm")[:2] == b"P6", "the extension of OUT does not name its kind")
