"""Runs over many images: which files are inputs, what outputs are called, what must not be."""
import os
import shutil

from harness import check, expect, is_png, png, read, run, write


def tree(*names, size=(6, 5)):
    """Makes PNG files, each with a value of its own."""
    for number, name in enumerate(names):
        if os.path.dirname(name):
            os.makedirs(os.path.dirname(name), exist_ok=True)
        write(name, png(*size, value=(number * 37 + 11) & 255))


def found(folder):
    """All files below a folder, without imgpipe's own records."""
    names = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".imgpipe"]
        names += [os.path.relpath(os.path.join(place, name), folder) for name in files]
    return sorted(names)


def holds(folder, *names):
    check(found(folder) == sorted(names), folder, "holds", found(folder), "instead of", sorted(names))


def test_folder_and_recursion():
    tree("in/a.png", "in/b.png", "in/sub/c.png", "in/sub/deep/d.png")
    result = expect(0, "in", "-f", "gray", "out/", says="all 2 images done")
    check("1 folder in the input was not entered" in result.err, result)
    holds("out", "a.png", "b.png")
    expect(0, "-r", "in", "-f", "gray", "out2/", says="all 4 images done")
    holds("out2", "a.png", "b.png", "sub/c.png", "sub/deep/d.png")
    expect(0, "in/a.png", "-f", "gray", "want.png")
    check(read("out/a.png") == read("want.png"), "an image in a run differs from the same alone")
    expect(0, "-r", "in/", "-f", "gray", "-j1", "-o", "out3/deep/er/", says="all 4")
    check(all(read(f"out3/deep/er/{name}") == read(f"out2/{name}") for name in found("out2")), "-j1 differs")


def test_several_operands():
    tree("a.png", "x/b.png", "dir/c.png", "dir/s/d.png")
    expect(0, "a.png", "x/b.png", "dir", "-r", "-f", "invert", "out/", says="all 4 images done")
    holds("out", "a.png", "b.png", "c.png", "s/d.png")
    os.mkdir("there")
    expect(0, "-f", "invert", "a.png", "x/b.png", "there", says="all 2 images done")
    holds("there", "a.png", "b.png")
    expect(2, "a.png", "x/b.png", "-f", "gray", "new", says="OUT must be a folder; write 'new/'")
    expect(2, "dir", "-f", "gray", "new.png", says="must be a folder")
    expect(2, "a.png", "-", "-f", "gray", "new/", says="standard input")
    check(not os.path.exists("new"), "something was made before a usage error")


def test_patterns():
    tree("p/a1.png", "p/a2.png", "p/b.png", "p/[x].png")
    expect(0, "p/a*.png", "-f", "gray", "out/", says="all 2 images done")
    holds("out", "a1.png", "a2.png")
    expect(0, "p/[x].png", "-f", "gray", "out2/")
    holds("out2", "[x].png")
    expect(1, "p/a*.png", "p/z*.png", "-f", "gray", "out3/", says="no file matches 'p/z\\*.png'")
    holds("out3", "a1.png", "a2.png")


def test_include_exclude():
    tree("in/a.png", "in/b.png", "in/t/c.png", "in/u/c.png", "in/u/thumb-d.png")
    for args, want in ((("--include", "a*"), ["a.png"]), (("--exclude", "t"), ["a.png", "b.png", "u/c.png", "u/thumb-d.png"]),
                       (("--exclude", "thumb-*", "--exclude=b.png"), ["a.png", "t/c.png", "u/c.png"]),
                       (("--include", "u/*"), ["u/c.png", "u/thumb-d.png"]), (("--include", "a*", "--include", "c.*"),
                                                                             ["a.png", "t/c.png", "u/c.png"])):
        shutil.rmtree("out", ignore_errors=True)
        expect(0, "-r", "in", *args, "-f", "gray", "out/", says="images? done")
        holds("out", *want)


def test_walk_leaves_out():
    tree("in/a.png", "in/.hidden.png", "in/.git/x.png", "far/z.png")
    write("in/notes.txt", b"no image\n")
    write("in/page.svg", b"<svg></svg>")
    shutil.copy("in/a.png", "in/picture")
    os.symlink("../far", "in/link")
    os.symlink("../far/z.png", "in/linked.png")
    os.mkfifo("in/pipe.png")
    result = expect(0, "-r", "in", "-f", "gray", "out/", says="all 3 images done; 3 files that are no images ignored")
    holds("out", "a.png", "linked.png", "picture.png")
    check("notes.txt" not in result.err, result)
    os.symlink("nowhere.png", "in/broken.png")
    write("in/empty.png", b"")
    expect(1, "-r", "in", "-f", "gray", "out2/", says="3 of 5 images done, 2 failed")
    result = expect(1, "in/notes.txt", "in/a.png", "-f", "gray", "out3/", says="1 of 2 images done, 1 failed")
    check("failed: 'in/notes.txt'" in result.err, "the summary does not name what failed:", result)
    write("in/raw.dng2", b"FUJIFILM" + bytes(200))
    expect(1, "in", "--include", "raw*", "-f", "gray", "out4/", says="camera raw")


def test_nothing_found():
    os.mkdir("none")
    expect(1, "none", "-f", "gray", "out/", says="no image was found; check the names\n")
    expect(1, "in.png", "none", "--include", "x*", "-f", "gray", "out/", says="check the names, --include and --exclude")
    for name in ("nnoe", "nnoe/"):
        expect(1, "-r", name, "-f", "gray", "out/", says=f"cannot open '{name}': No such file")
        expect(1, "-r", name, "none", "-f", "gray", "other/", says=f"cannot open '{name}': No such file")
    expect(1, "in.png/", "none", "-f", "gray", "other/", says="cannot open 'in.png/': Not a directory")
    check(not os.path.exists("out"), "a folder was made for nothing")
    expect(1, "in.png", "gone.png", "-f", "gray", "out/", says="'gone.png'")
    holds("out", "in.png")


NAMES = ["space in it.png", "quo'te\".png", "new\nline.png", "ä日本.png", "-dash.png", "a,b=c:d.png", "$HOME;x.png", "back\\slash.png",
         "tab\t.png", "*star?.png", "%s%n.png", "{stem}.png", b"\xff\xfe.png".decode("utf-8", "surrogateescape"), "a" * 200 + ".png"]


def test_any_name():
    os.mkdir("names")
    for name in NAMES:
        write(os.path.join("names", name), png(4, 4))
    expect(0, "names", "-f", "gray", "out/", says=f"all {len(NAMES)} images done")
    holds("out", *NAMES)
    expect(0, "names", "-f", "gray", "--resume", "out/", says=f"{len(NAMES)} by earlier runs")
    os.chdir("names")
    os.mkdir("../out2")
    expect(0, "-f", "gray", "-o", "../out2", "--", *NAMES, says=f"all {len(NAMES)} images done")
    os.chdir("..")
    holds("out2", *NAMES)
    result = run("names", "-f", "gray", "--dry-run", "-0", "out3/")
    pairs = [line.split(b"\t", 1) for line in result.out.split(b"\0") if line.count(b"\t") == 1]
    check(all(os.path.exists(pair[0]) for pair in pairs) and len(pairs) == len(NAMES) - 1, "names of --dry-run -0:", pairs)
    text = run("names", "-f", "gray", "--dry-run", "out3/").out
    check(text.count(b"\n") == len(NAMES) and b"new\\x0aline.png" in text, "a name breaks the lines of --dry-run")


def test_files_from():
    tree("d/a.png", "d/e/b.png", "odd\nname.png")
    write("list", b"d/a.png\n\n./d//e/b.png\n")
    expect(0, "--files-from", "list", "-f", "gray", "out/", says="all 2 images done")
    holds("out", "d/a.png", "d/e/b.png")
    write("list0", b"odd\nname.png\0d/a.png\0")
    expect(0, "--files-from", "list0", "-0", "-f", "gray", "-o", "out0/", says="all 2")
    holds("out0", "d/a.png", "odd\nname.png")
    expect(0, "--files-from", "-", "-f", "gray", "out-/", data=b"d/a.png", says="1 image done")
    holds("out-", "d/a.png")
    os.mkdir("below")
    write("below/list", b"../d/a.png\n" + os.path.abspath("d/e/b.png").encode() + b"\n")
    os.chdir("below")
    expect(0, "--files-from", "list", "-f", "gray", "out/", says="all 2")
    os.chdir("..")
    holds("below/out", "d/a.png", os.path.abspath("d/e/b.png")[1:])
    expect(0, "in.png", "--files-from", "list", "-f", "gray", "out3/", says="all 3")
    holds("out3", "in.png", "d/a.png", "d/e/b.png")
    write("list", b"d/a.png\nd\ngone.png\n")
    expect(1, "--files-from", "list", "-f", "gray", "out4/", says="'d' is a folder")
    holds("out4", "d/a.png")
    # As other systems write lists; a name that ends so is still a name.
    write("list", b"\xef\xbb\xbfd/a.png\r\n\r\nd/e/b.png\r\nodd.png\r\n")
    write("odd.png\r", png(3, 3))
    expect(0, "--files-from", "list", "-f", "gray", "--format", "png", "out6/", says="all 3 images done")
    holds("out6", "d/a.png", "d/e/b.png", "odd.png")
    expect(1, "--files-from", "list", "-0", "-f", "gray", "out7/", says="cannot open")
    expect(2, "--files-from", "nolist", "-f", "gray", "out5/", says="nolist.*No such file")
    expect(2, "--files-from", "list0", "-f", "gray", "out5/", says="add -0")
    expect(2, "in.png", "-0", "-f", "gray", "x.png", says="-0")
    expect(2, "--files-from", "list", "-f", "gray", says="output is missing")


def test_name_template():
    tree("in/a.png", "in/s/b.png", "in/s/c.png")
    for template, want in (("{stem}-x.{ext}", ["a-x.png", "b-x.png", "c-x.png"]), ("{index}.{ext}", ["1.png", "2.png", "3.png"]),
                           ("{index:05}_{stem}.{ext}", ["00001_a.png", "00002_b.png", "00003_c.png"]),
                           ("{dir}/{stem}.{ext}", ["a.png", "s/b.png", "s/c.png"]), ("x/{relpath}", ["x/a.png", "x/s/b.png", "x/s/c.png"]),
                           ("{{{stem}}}.ppm", ["{a}.ppm", "{b}.ppm", "{c}.ppm"])):
        shutil.rmtree("out", ignore_errors=True)
        expect(0, "-r", "in", "--name", template, "-f", "gray,invert" if "ppm" not in template else "gray", "out/", says="all 3")
        holds("out", *want)
    check(read("out/{a}.ppm")[:2] in (b"P5", b"P6"), "the extension of a template does not name the kind")
    for template in ("{stm}.{ext}", "{stem.{ext}", "stem}.{ext}", "{index:5x}.{ext}", "{index:00}.png", "/abs/{stem}.{ext}", "{stem}",
                     "{stem}.gif", "{stem}.xyz"):
        expect(2, "-r", "in", "--name", template, "-f", "gray", "no/", says="imgpipe: .")
    expect(2, "-r", "in", "--name", "{stm}.png", "-f", "gray", "no/", says=r"did you mean \{stem\}")
    for template in ("../{stem}.{ext}", "a/../../{stem}.{ext}", ".imgpipe/{stem}.{ext}"):
        expect(2, "-r", "in", "--name", template, "-f", "gray", "no/", says="not inside 'no/'")
    check(not os.path.exists("no"), "a refused run made its folder")


def test_kinds_of_outputs():
    tree("in/a.png")
    shutil.copy("in/a.png", "in/b.gif")
    shutil.copy("in/a.png", "in/c")
    shutil.copy("in/a.png", "in/d.PNG")
    expect(0, "in", "-f", "gray", "out/", says="all 4")
    holds("out", "a.png", "b.png", "c.png", "d.PNG")
    expect(0, "in", "-f", "gray", "out2/", "--format", "ppm", says="all 4|ppm")
    holds("out2", "a.ppm", "b.ppm", "c.ppm", "d.ppm")
    for template, format, want in (("{stem}-x.{ext}", "pgm", "a-x.pgm"), ("{relpath}", "pnm", "a.pnm"),
                                   ("x/{relpath}", "bmp", "x/a.bmp")):
        expect(0, "in/a.png", "-f", "gray", "--format", format, "--name", template, "named/", says="1 image done")
        check(os.path.exists(f"named/{want}"), "with --format", format, template, "makes", found("named"))
    expect(2, "in", "-f", "gray", "out3/", "--format", "png", "--name", "{stem}.ppm", says="contradicts")


def test_collisions():
    tree("x/a.png", "y/a.png", "y/b.png")
    shutil.copy("y/b.png", "y/b.gif")
    result = expect(2, "x", "y", "-f", "gray", "out/", says="'x/a.png' and 'y/a.png' would both be written to 'out/a.png'")
    check("y/b.gif" in result.err and "nothing was done" in result.err, "a collision is not listed:", result)
    check(not os.path.exists("out"), "something was done despite collisions")
    expect(2, "x/a.png", "y/a.png", "-f", "gray", "out/", says="both")
    expect(0, "x/a.png", "x", "x/a.png", "-f", "gray", "out/", says="1 image done")
    tree("z/n.png", "z/m/k.png")
    expect(2, "-r", "z", "--name", "{dir}.png", "-f", "gray", "out2/", says="not inside|both|extension")
    os.rename("z/n.png", "z/m.png")
    expect(2, "-r", "z", "--name", "{dir}/{stem}", "--format", "png", "-f", "gray", "out2/", says="needs a folder of that name")


def test_inputs_as_outputs():
    tree("d/a.png", "d/b.png")
    before = read("d/a.png")
    expect(2, "d", "-f", "invert", "d", says="--in-place")
    expect(2, "d/a.png", "d/b.png", "-f", "invert", "d", says="--in-place")
    expect(2, "d", "-f", "invert", "d", "--overwrite", "always", says="--in-place")
    expect(2, "d", "-f", "invert", "d", "--name", "{stem}-x.png", says="a later run would take outputs for inputs.*--in-place")
    expect(0, "d", "-f", "invert", "d", "--name", "new/{stem}-x.png", "--in-place", "--dry-run", says="all 2")
    os.symlink("d", "alias")
    expect(2, "d", "-f", "invert", "alias", says="--in-place")
    expect(2, "d/a.png", "d/b.png", "-f", "invert", "d/", "--name", "{stem}x.png", "--dry-run", "--in-place", "--overwrite", "never")
    write("d/ax.png", png(3, 3))
    expect(2, "d/a.png", "d/ax.png", "-f", "invert", "d/", "--name", "{stem}x.png", says="which is an input of this run")
    os.remove("d/ax.png")
    check(read("d/a.png") == before, "an input was changed")
    expect(0, "d", "-f", "invert", "d", "--in-place", says="all 2")
    check(read("d/a.png") != before and is_png(read("d/a.png")), "--in-place replaced nothing")
    expect(0, "d", "-f", "invert", "d", "--in-place", "--resume", says="2 by earlier runs")


def test_outputs_behind_symlinks():
    """Of two images that symlinks lead to one file, one would be lost, or filtered twice."""
    tree("in/a.png", "in/b.png")
    os.symlink("a.png", "in/c.png")
    before = read("in/a.png")
    expect(2, "in", "-f", "invert", "--in-place", "in/", says="in/c.png.*where symlinks lead")
    check(read("in/a.png") == before, "an image was changed although nothing was to be done")
    os.remove("in/c.png")
    os.mkdir("out")
    write("out/a.png", png(2, 2))
    os.symlink("a.png", "out/b.png")
    expect(2, "in", "-f", "invert", "--overwrite", "always", "out/", says="where symlinks lead")
    tree("deep/x/p.png", "deep/y/p.png")
    os.makedirs("out2/x")
    os.symlink("x", "out2/y")
    expect(2, "-r", "deep", "-f", "invert", "out2/", says="where symlinks lead")
    check(found("out2") == [], "an output of what was refused:", found("out2"))
    os.symlink("out2", "out3")
    expect(0, "-q", "in", "-f", "invert", "out3/new/")
    holds("out2/new", "a.png", "b.png")


def test_output_inside_input():
    tree("in/a.png", "in/s/b.png")
    expect(0, "-r", "in", "-f", "gray", "in/out/", says="all 2")
    expect(0, "-r", "in", "-f", "gray", "in/out/", "--overwrite", "always", says="all 2 images done")
    holds("in/out", "a.png", "s/b.png")
    expect(0, "-r", ".", "--exclude", "in.png", "-f", "gray", "in/out/", "--resume", says="images")
    check(not os.path.exists("in/out/in/out"), "outputs became inputs")
