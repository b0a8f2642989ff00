#!/usr/bin/env python3
"""The plug-ins of samples/plugin, built outside of the tree as their README says: against an installed copy, by hand and by Meson,
and with imgpipe as a subproject. They run in the command, and in programs that have the library in each of the ways there are.

usage: test_plugin_samples.py BUILD_FOLDER [NVCC]
With NVCC only what runs on a GPU is tested; exit status 77 without one.
"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from test_camera import mark, pixels
from test_install import check, find, flags, run, static_flags

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLES = os.path.join(ROOT, "samples", "plugin")
PROGRAM = r"""
#include <imgpipe.h>
#include <stdio.h>

/* Loads a plug-in, runs a chain with a stage of it from file to file, and frees everything in an unlikely order. */
int main(int count, char **arguments) {
    imgpipe_registry *registry = NULL;
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    imgpipe_status failed = count == 5 ? imgpipe_registry_new(&registry, &error) : IMGPIPE_ERROR_ARGUMENT;
    if (!failed) failed = imgpipe_registry_load(registry, arguments[1], &error);
    if (!failed) failed = imgpipe_chain_parse_with(registry, arguments[2], &chain, &error);
    imgpipe_registry_free(&registry);
    if (!failed) failed = imgpipe_context_new(NULL, &context, &error);
    if (!failed) failed = imgpipe_run_file(context, chain, arguments[3], arguments[4], NULL, NULL, &error);
    if (failed) fprintf(stderr, "%s\n", error.message);
    imgpipe_context_free(&context);
    imgpipe_chain_free(&chain);
    return failed != IMGPIPE_OK;
}
"""


def installed(build, folder):
    """An installed copy, and the environment in which pkg-config and the shell find it."""
    root = os.path.join(folder, "root")
    run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
    command = find(root, "bin/imgpipe")
    config = os.path.join(folder, "pkgconfig")
    os.mkdir(config)
    with open(find(root, "imgpipe.pc"), encoding="utf-8") as file:
        text = re.sub(r"^prefix=", "prefix=" + root, file.read(), flags=re.M)
    with open(os.path.join(config, "imgpipe.pc"), "w", encoding="utf-8") as file:
        file.write(text)
    path = os.path.dirname(command) + os.pathsep + os.environ["PATH"]
    return root, {"PKG_CONFIG_PATH": config, "IMGPIPE_PLUGINS": "", "PATH": path}


def copy_samples(folder):
    """The samples, with the image that their README names beside them."""
    place = os.path.join(folder, "samples", "plugin")
    shutil.copytree(SAMPLES, place)
    shutil.copy(os.path.join(ROOT, "samples", "astronaut.png"), os.path.dirname(place))
    return place


def shell(lines, place, env):
    done = subprocess.run(["bash", "-ec", lines], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **env})
    check(done.returncode == 0, f"{lines.strip().splitlines()[0]} …" if done.returncode == 0 else f"{lines}{done.stdout}")
    return done.stdout


def by_readme(place, env):
    with open(os.path.join(SAMPLES, "README.md"), encoding="utf-8") as file:
        by_hand, by_meson = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
    said = shell(by_hand.replace("cc -shared", "cc -std=c11 -Wall -Wextra -pedantic -Werror -shared"), place, env)
    check("dilate: proved in " in said, "--check-filter proves dilate")
    for name in ("dilate.so", "exposure.so", "crisp.so"):
        needed = run("readelf", "-d", os.path.join(place, name))
        symbols = run("nm", "-D", os.path.join(place, name)).splitlines()
        public = [line.split()[-1] for line in symbols if "imgpipe" in line]
        check("libimgpipe" not in needed and public == ["imgpipe_plugin"], f"{name} needs no imgpipe, and exports one name")
    with open(os.path.join(place, "extremes.json"), encoding="utf-8") as file:
        found = json.load(file)
    check(len(found) == 3 and all(low <= high <= 255 for low, high in found), f"extremes.json has a pair for each channel {found}")
    check(all(os.path.exists(os.path.join(place, name)) for name in ("dilated.png", "crisp.png")), "images were made")
    # The command knows the folder by the prefix that it was configured for, where it does not lie here.
    lines = by_meson.replace("meson setup build", "meson setup build --prefix $PWD/unused -Dcuda=disabled -Dwerror=true")
    lines = lines.replace("imgpipe --help", "IMGPIPE_PLUGINS=$(pkg-config --variable=pluginsdir imgpipe) imgpipe --help")
    check("From the plug-in crisp 1.0, " in shell(lines, place, env), "what Meson installs is found")
    folder = run("pkg-config", "--variable=pluginsdir", "imgpipe", **env).strip()
    check(sorted(os.listdir(folder)) == ["crisp.so", "dilate.so", "exposure.so"], f"they are installed into {folder}")



def in_programs(root, place, folder):
    """The library shared, static, and opened at run time: the plug-in finds what it calls in each."""
    source, libraries = os.path.join(folder, "program.c"), os.path.dirname(find(root, "libimgpipe.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    image = os.path.join(place, "..", "astronaut.png")
    made = []
    for kind, options in (("shared", flags(root, "--cflags", "--libs")), ("static", static_flags(root))):
        program, out = os.path.join(folder, kind), os.path.join(folder, kind + ".ppm")
        run("cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", source, "-o", program, *options)
        run(program, os.path.join(place, "dilate.so"), "dilate=9,invert", image, out, LD_LIBRARY_PATH=libraries)
        made.append(open(out, "rb").read())
        said = subprocess.run([program, "dilate.so", "dilate", image, out], stderr=subprocess.PIPE, text=True, cwd=place,
                              env={**os.environ, "LD_LIBRARY_PATH": libraries})
        check(said.returncode == 1 and "write ./dilate.so" in said.stderr, "a name without a path is refused")
    out = os.path.join(folder, "opened.ppm")
    opened = ctypes.CDLL(find(root, "libimgpipe.so.0"))
    registry, context, chain = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    failed = opened.imgpipe_registry_new(ctypes.byref(registry), None)
    failed = failed or opened.imgpipe_registry_load(registry, os.path.join(place, "dilate.so").encode(), None)
    failed = failed or opened.imgpipe_chain_parse_with(registry, b"dilate=9,invert", ctypes.byref(chain), None)
    failed = failed or opened.imgpipe_context_new(None, ctypes.byref(context), None)
    failed = failed or opened.imgpipe_run_file(context, chain, image.encode(), out.encode(), None, None, None)
    opened.imgpipe_chain_free(ctypes.byref(chain))
    opened.imgpipe_registry_free(ctypes.byref(registry))
    opened.imgpipe_context_free(ctypes.byref(context))
    check(failed == 0, "a library that was opened at run time loads it")
    made.append(open(out, "rb").read())
    check(made[0] == made[1] == made[2] and len(made[0]) > 786432, "all make the same image")


def as_subproject(folder):
    """Without anything installed: only the header is compiled, so this takes seconds."""
    place = os.path.join(folder, "subproject")
    shutil.copytree(SAMPLES, place)
    os.mkdir(os.path.join(place, "subprojects"))
    os.symlink(ROOT, os.path.join(place, "subprojects", "imgpipe"))
    made = os.path.join(place, "build")
    run("meson", "setup", "--force-fallback-for=imgpipe", "-Dcuda=disabled", "-Dimgpipe:cuda=disabled", made, place)
    run("ninja", "-C", made, "dilate.so", "exposure.so", "crisp.so")
    check(os.path.exists(os.path.join(made, "crisp.so")), "they are built with imgpipe as a subproject")


def in_graph(place, env, nvcc, root):
    """The camera of samples/embed with crisp in place of the median: a plan captured into a graph, with three CUDA runtimes in one
    process, that of the program, that of the library and that of the plug-in."""
    with open(os.path.join(ROOT, "samples", "embed", "camera.cu"), encoding="utf-8") as file:
        code = file.read()
    parse = 'check(imgpipe_chain_parse("median=3,hist=pass", &chain, &error), error);'
    load = f"""imgpipe_registry *registry = NULL;
    check(imgpipe_registry_new(&registry, &error), error);
    check(imgpipe_registry_load(registry, "{place}/crisp.so", &error), error);
    check(imgpipe_chain_parse_with(registry, "crisp=2,hist=pass", &chain, &error), error);
    imgpipe_registry_free(&registry);"""
    check(code.count(parse) == 1, "camera.cu parses its chain in one place")
    source, program = os.path.join(place, "camera.cu"), os.path.join(place, "camera")
    with open(source, "w", encoding="utf-8") as file:
        file.write(code.replace(parse, load))
    run(nvcc, "-cudart", "shared", source, "-o", program, *flags(root, "--cflags", "--libs"))
    toolkit = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "lib64")
    names = [os.path.join(place, name) for name in ("frame.ppm", "result.ppm", "crisp.ppm")]
    said = run(program, *names[:2], LD_LIBRARY_PATH=os.path.dirname(find(root, "libimgpipe.so")) + ":" + toolkit)
    levels = re.findall(r"^frame \d: green from (\d+) on is marked$", said, re.M)
    shell(f"imgpipe --device cpu --plugin ./crisp.so {names[0]} -f crisp=2 {names[2]}", place, env)
    level, want = mark(pixels(names[2]))
    check(len(levels) == 4 and int(levels[3]) == level, f"a launch of the graph is a frame {said}")
    check(pixels(names[1]) == want, "it makes the command's image")


def on_gpu(place, env, nvcc, root):
    with open(os.path.join(SAMPLES, "README.md"), encoding="utf-8") as file:
        build, prove = re.search(r"^```\n(nvcc .*)\n(imgpipe .*)\n```$", file.read(), re.M).groups()
    env = {**env, "PATH": env["PATH"] + os.pathsep + os.path.dirname(nvcc)}
    shell(build, place, env)
    shell("meson setup build && ninja -C build", place, env)
    if "cuda:" not in run("imgpipe", "--list-devices", **env):
        print("SKIP: there is no GPU")
        sys.exit(77)
    check("crisp: proved in " in shell(prove, place, env), "crisp is proved on the GPU")
    shell(prove.replace("./", "build/"), place, env)
    for device in ("cpu", "cuda"):
        shell(f"imgpipe --plugin ./crisp.so --device {device} ../astronaut.png -f blur=2,crisp=2,median=5 {device}.ppm", place, env)
    images = [open(os.path.join(place, name + ".ppm"), "rb").read() for name in ("cpu", "cuda")]
    check(images[0] == images[1], "among other stages it makes the same image on the GPU as on the CPU")
    in_graph(place, env, nvcc, root)
    with open(os.path.join(place, "crisp.cu"), encoding="utf-8") as file:
        code = file.read()
    with open(os.path.join(place, "crisp.cu"), "w", encoding="utf-8") as file:
        file.write(code.replace("y - 1, info.height", "y - 2, info.height"))
    shell(build, place, env)
    said = subprocess.run(["bash", "-c", prove], cwd=place, stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
    check(said.returncode == 1 and "not proved: crisp" in said.stderr, f"a wrong kernel is found out {said.stderr}")


def main(build, nvcc=None):
    with tempfile.TemporaryDirectory(prefix="imgpipe-plugin-samples-") as folder:
        root, env = installed(build, folder)
        place = copy_samples(folder)
        if nvcc:
            on_gpu(place, env, nvcc, root)
            return
        by_readme(place, env)
        in_programs(root, place, folder)
        as_subproject(folder)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
