#!/usr/bin/env python3
"""What `meson install` puts where, and whether programs in C and C++ can be built against it.

usage: test_install.py BUILD_FOLDER
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <imgpipe.h>
#include <stdio.h>
#include <string.h>

/* A white dot in the middle of black: blurred it is symmetric, and its weights sum up to about 255. */
int main(void) {
    unsigned char in[15 * 15], out[15 * 15];
    imgpipe_context *context = NULL;
    imgpipe_chain *chain = NULL;
    imgpipe_error error;
    imgpipe_context_options options = imgpipe_context_options_default();
    imgpipe_image image, result;
    int sum = 0;
    memset(in, 0, sizeof in);
    in[7 * 15 + 7] = 255;
    memset(&image, 0, sizeof image);
    image.info.width = image.info.height = 15;
    image.info.format.channels = 1;
    image.pixels = in;
    image.stride = 15;
    options.device = "cpu";
    options.threads = 2;
    if (imgpipe_context_new(&options, &context, &error) || imgpipe_chain_parse("blur=1.5", &chain, &error)) return puts(error.message), 1;
    result = image;
    result.pixels = out;
    if (imgpipe_chain_output(context, chain, &image.info, NULL, &result.info, &error)) return puts(error.message), 1;
    if (imgpipe_run_image(context, chain, &image, &result, NULL, NULL, &error)) return puts(error.message), 1;
    for (int i = 0; i < 15 * 15; i++) {
        sum += out[i];
        if (out[i] != out[15 * 15 - 1 - i]) return puts("not symmetric"), 1;
    }
    if (out[7 * 15 + 7] < 17 || out[7 * 15 + 7] > 19 || out[0] != 0 || sum < 240 || sum > 270) return printf("sum %d\n", sum), 1;
    imgpipe_chain_free(&chain);
    imgpipe_context_free(&context);
    puts("blurred");
    return 0;
}
"""


def run(*command, **env):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **env})
    if result.returncode:
        sys.exit(f"FAIL {' '.join(command)}: exit status {result.returncode}\n{result.stdout}")
    return result.stdout


def check(right, what):
    if not right:
        sys.exit(f"FAIL {what}")
    print("ok  ", what)


def find(root, name):
    found = glob.glob(f"{root}/**/{name}", recursive=True)
    check(len(found) == 1, f"{name} is installed once")
    return found[0]


def defined(*nm):
    """The names of a library that others see."""
    return {line.split()[-1].split("@")[0] for line in run(*nm).splitlines() if len(line.split()) >= 3}


def test_symbols(library, archive, header):
    symbols = defined("nm", "-D", "--defined-only", library)
    foreign = sorted(s for s in symbols if not s.startswith("imgpipe_"))
    check(not foreign, f"the library exports only names that begin with imgpipe_ {foreign[:10]}")
    check(symbols == defined("nm", "-g", "--defined-only", archive), "the static library exports the same")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "symbols.txt"), encoding="utf-8") as file:
        listed = set(file.read().split())
    added, gone = sorted(symbols - listed), sorted(listed - symbols)
    if added or gone:
        print(f"new: {added} (add them to tests/symbols.txt); gone: {gone} (raise the soversion, and take them out)")
    check(not added and not gone, "they are those of tests/symbols.txt")
    with open(header, encoding="utf-8") as file:
        text = file.read()
    declared = set(re.findall(r"^IMGPIPE_API [^(;]*?(imgpipe_\w+)\(", text, re.M))
    check(len(declared) > 15 and declared == symbols,
          f"it exports the {len(declared)} functions of the header {sorted(declared ^ symbols)}")
    macros = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    check(macros and all(m.startswith("IMGPIPE_") for m in macros), f"the header's {len(macros)} macros begin with IMGPIPE_")


def test_version(root, library, header):
    """One version everywhere, and the name by which a program finds the library again."""
    with open(header, encoding="utf-8") as file:
        version = re.search(r'^#define IMGPIPE_VERSION "(.*)"', file.read(), re.M)[1]
    said = run(find(root, "bin/imgpipe"), "--version").split()[1], flags(root, "--modversion")[0]
    check(said == (version, version), f"header, command and pkg-config say {version} {said}")
    name = re.search(r"SONAME +(\S+)", run("objdump", "-p", library))[1]
    check(re.fullmatch(r"libimgpipe\.so\.\d+", name) and os.path.exists(os.path.join(os.path.dirname(library), name)),
          f"programs ask for {name}, which is there")


# What would print, end the program, or change its state for others. An assertion of stb's is for what it holds impossible.
NEVER = {"exit", "_exit", "_Exit", "abort", "atexit", "on_exit", "quick_exit", "signal", "sigaction", "sigprocmask", "pthread_sigmask", "printf",
         "vprintf", "puts", "putchar", "perror", "psignal", "stdout", "stderr", "stdin", "setlocale", "setenv", "putenv", "chdir", "umask",
         "system", "popen", "fork", "srand", "rand", "random", "strtok", "strerror_l"}


def test_manners(archive):
    called = {line.split()[-1] for line in run("nm", "-u", archive).splitlines() if line.split()[:1] == ["U"]}
    if "__cudaRegisterFatBinary" in called:  # what nvcc writes around kernels takes its leave so
        called -= {"atexit", "exit"}
    check(len(called) > 50 and not called & NEVER, f"of {len(called)} functions that it calls none prints, ends the program or changes it "
                                                   f"for others {sorted(called & NEVER)}")
    held = [line.split() for line in run("objdump", "-t", archive).splitlines()]
    held = {line[-1] for line in held if len(line) > 4 and line[-3] in (".data", ".bss") and int(line[-2], 16) > 0}
    held = sorted(name for name in held if not name.startswith("_"))  # nvcc's own, too
    check(not held, f"it keeps no state outside its objects {held}")


def test_header(folder, header):
    """The header by itself, with every warning and nothing before it."""
    for compiler, language, standard in (("cc", "c", "c11"), ("g++", "c++", "c++17")):
        if shutil.which(compiler):
            empty = os.path.join(folder, "empty." + language)
            with open(empty, "w", encoding="utf-8") as file:
                file.write(f'#include "{header}"\nint imgpipe_is_there;\n')
            run(compiler, "-x", language, "-std=" + standard, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", empty)
            check(True, f"the header compiles alone as {standard}")


def flags(root, *options):
    """What pkg-config says of the installed copy."""
    config = find(root, "imgpipe.pc")
    prefix = root + re.search(r"^prefix=(.*)$", open(config, encoding="utf-8").read(), re.M).group(1)
    said = run("pkg-config", f"--define-variable=prefix={prefix}", *options, "imgpipe", PKG_CONFIG_PATH=os.path.dirname(config))
    return said.split()


def static_flags(root):
    """The static library by name, as both kinds lie in one folder."""
    return ["-l:libimgpipe.a" if f == "-limgpipe" else f for f in flags(root, "--static", "--cflags", "--libs")]


def test_programs(root, folder, libraries):
    """By pkg-config, as a user would."""
    for compiler, suffix, standard in (("cc", "c", "c11"), ("g++", "cpp", "c++17")):
        if not shutil.which(compiler):
            print(f"skip {standard}: there is no {compiler}")
            continue
        source, program = os.path.join(folder, "program." + suffix), os.path.join(folder, suffix)
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        strict = [compiler, "-std=" + standard, "-Wall", "-Wextra", "-pedantic", "-Werror", source, "-o", program]
        run(*strict, *flags(root, "--cflags", "--libs"))
        check(run(program, LD_LIBRARY_PATH=libraries) == "blurred\n", f"a {standard} program runs with the shared library")
        run(*strict, *static_flags(root))
        check(run(program) == "blurred\n", f"a {standard} program runs with the static library")


def main(build):
    with tempfile.TemporaryDirectory(prefix="imgpipe-install-") as folder:
        root = os.path.join(folder, "root")
        run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
        library, header = find(root, "libimgpipe.so"), find(root, "imgpipe.h")
        archive = find(root, "libimgpipe.a")
        test_symbols(library, archive, header)
        test_version(root, library, header)
        test_manners(archive)
        test_header(folder, header)
        test_programs(root, folder, os.path.dirname(library))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
