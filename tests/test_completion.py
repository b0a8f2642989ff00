#!/usr/bin/env python3
"""What bash and zsh make of a line when the tab key is pressed, with the completion of an installed copy.

usage: test_completion.py BUILD_FOLDER
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

from test_install import check, find, run

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILTERS = ["gray", "blur", "box", "conv", "median", "hist", "invert", "levels", "threshold"]

# Lines, and what they are after one tab. Where several words fit, the line grows by what they share.
LINES = {
    "imgpipe -f gra": "imgpipe -f gray",
    "imgpipe a.png -f gray,med": "imgpipe a.png -f gray,median",
    "imgpipe a.png -f gray,blur=bo": "imgpipe a.png -f gray,blur=border=",
    "imgpipe a.png -f blur=2:border=cl": "imgpipe a.png -f blur=2:border=clamp",
    "imgpipe a.png -f blur=sig": "imgpipe a.png -f blur=sigma",
    "imgpipe --filters=inv": "imgpipe --filters=invert",
    "imgpipe --filters=hist=scale=li": "imgpipe --filters=hist=scale=linear",
    "imgpipe --merge": "imgpipe --merge-hist",
    "imgpipe --strip=a": "imgpipe --strip=all",
    "imgpipe --strip a.p": "imgpipe --strip a.png",
    "imgpipe --depth f": "imgpipe --depth f32",
    "imgpipe --overwrite=old": "imgpipe --overwrite=older",
    "imgpipe --device cu": "imgpipe --device cuda",
    "imgpipe --device cuda:a": "imgpipe --device cuda:all",
    "imgpipe --format jp": "imgpipe --format jpeg",
    "imgpipe --format gi": "imgpipe --format gi",  # is not written
    "imgpipe --help thr": "imgpipe --help threshold",
    "imgpipe --isa avx5": "imgpipe --isa avx512",
    "imgpipe a.png -f conv=sob": "imgpipe a.png -f conv=sobel_",
    "imgpipe a.png -f conv=mask=emb": "imgpipe a.png -f conv=mask=emboss",
    "imgpipe --check-filter conv=sha": "imgpipe --check-filter conv=sharpen",
    # Open quotes stay open for the value.
    "imgpipe a.png -f 'gray,blur=bo": "imgpipe a.png -f 'gray,blur=border=",
    "imgpipe a.png -f 'gray,blur=va": "imgpipe a.png -f 'gray,blur=value=",
    # The filters of plug-ins, where there are some.
    "imgpipe a.png -f spr": "imgpipe a.png -f spr",
    "imgpipe --plugin ./lib/spread.so a.png -f gray,spr": "imgpipe --plugin ./lib/spread.so a.png -f gray,spread",
    "imgpipe --plugin=./lib/spread.so -f spread=bo": "imgpipe --plugin=./lib/spread.so -f spread=border=",
    "imgpipe --plugin ./lib/spread.so --help spr": "imgpipe --plugin ./lib/spread.so --help spread",
    "imgpipe --report rep": "imgpipe --report report.json",
    "imgpipe --level a": "imgpipe --level a",  # a number is no file
    "imgpipe a.p": "imgpipe a.png",
}


# zsh says that a value belongs to the option.
ZSH = {"imgpipe --merge": "imgpipe --merge-hist="}


def called(script, line, words, **environment):
    """COMPREPLY of the function for a line, the cursor at its end."""
    ask = ('source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; shift 2; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _imgpipe imgpipe "${@: -1}" "";'
           ' printf "%s\\n" "${COMPREPLY[@]}"')
    return run("bash", "--norc", "-c", ask, "bash", script, line, *words, **environment).split()


def isas(script, command):
    """All instruction sets that the command takes here."""
    refused = subprocess.run([command, "--isa", "none", "a.png", "-f", "gray", "b.png"], stderr=subprocess.PIPE, text=True).stderr
    here = refused.strip().rsplit(" are ", 1)[-1].split(", ")
    offered = called(script, "imgpipe --isa ", ["imgpipe", "--isa", ""])
    check("baseline" in here and set(here) <= set(offered), f"{here} are offered as instruction sets")


def functions(script, command):
    """The bash function by itself: all that it offers."""
    options = called(script, "imgpipe -", ["imgpipe", "-"])
    said = subprocess.run([command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    check(len(options) > 50 and all(o in said for o in options) and "--auto-orient" in options, f"{len(options)} options are offered")
    check(called(script, "imgpipe -f ", ["imgpipe", "-f", ""])[: len(FILTERS)] == FILTERS, "all filters are offered")
    check(called(script, "imgpipe -f gray,b", ["imgpipe", "-f", "gray,b"]) == ["gray,blur", "gray,box"], "two that begin with b")
    words = ["imgpipe", "-f", "blur", "=", "1", ":", "border", "=", ""]
    check(called(script, "imgpipe -f blur=1:border=", words) == ["clamp", "reflect", "mirror", "wrap", "constant"], "all borders")
    check(called(script, "imgpipe -f 'conv=abs=", ["imgpipe", "-f", "'conv=abs="]) == ["conv=abs=yes", "conv=abs=no"], "inside a quote")
    check(called(script, "imgpipe a.png ", ["imgpipe", "a.png", ""]) == [], "operands are left to the shell")


class Shell:
    """A shell on a terminal. Control-T writes the line that is being edited into a file, and empties it."""

    def __init__(self, folder, bin_folder, arguments, setup):
        self.line = os.path.join(folder, "line")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, {"PATH": bin_folder + os.pathsep + os.environ["PATH"], "HOME": folder, "TERM": "dumb",
                                                 "LC_ALL": "C.UTF-8", "LINE": self.line})
        self.send("\n".join(setup) + "\n")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def after_tab(self, typed):
        """The line after this was typed, and the tab key pressed."""
        self.send(typed + "\t\x14")
        until = time.monotonic() + 120
        while not os.path.exists(self.line) and time.monotonic() < until:
            if select.select([self.terminal], [], [], 0.01)[0]:
                os.read(self.terminal, 65536)
        if not os.path.exists(self.line):
            return None
        with open(self.line, encoding="utf-8") as file:
            text = file.read()
        os.unlink(self.line)
        return text.rstrip()

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def terminal(name, lines, folder, bin_folder, arguments, setup):
    shell = Shell(folder, bin_folder, arguments, setup)
    for typed, expected in lines.items():
        found = shell.after_tab(typed)
        check(found == expected, f"{name}: '{typed}' becomes '{found}'" + ("" if found == expected else f", not '{expected}'"))
    shell.end()


def main(build):
    with tempfile.TemporaryDirectory(prefix="imgpipe-completion-") as folder:
        root, work = os.path.join(folder, "root"), os.path.join(folder, "work")
        run("meson", "install", "-C", build, "--no-rebuild", DESTDIR=root)
        os.makedirs(os.path.join(work, "lib"))
        for name in ("a.png", "report.json"):
            open(os.path.join(work, name), "w", encoding="utf-8").close()
        script, function = find(root, "bash-completion/completions/imgpipe"), find(root, "zsh/site-functions/_imgpipe")
        command = find(root, "bin/imgpipe")
        places = work, os.path.dirname(command)
        run("cc", "-shared", "-fPIC", "-I" + os.path.join(ROOT, "src"), os.path.join(ROOT, "docs", "spread.c"), "-o",
            os.path.join(work, "lib", "spread.so"))
        functions(script, command)
        isas(script, command)
        found = called(script, "imgpipe -f spr", ["imgpipe", "-f", "spr"], IMGPIPE_PLUGINS=os.path.join(work, "lib"),
                       PATH=places[1] + os.pathsep + os.environ["PATH"])
        check(found == ["spread"], f"plug-ins of the environment {found}")
        # The line moves out of the way in one step, so that the file is complete once it is there.
        terminal("bash", LINES, *places, ["bash", "--norc", "-i"], [
            f"source {script}", "bind 'set bell-style none'", "show() { printf %s \"$READLINE_LINE\" >t; mv t \"$LINE\"; READLINE_LINE=; }",
            "bind -x '\"\\C-t\": show'"])
        if not shutil.which("zsh"):
            print("skip zsh: it is not there; install the package zsh")
            return
        terminal("zsh", {**LINES, **ZSH}, *places, ["zsh", "-f", "-i"], [
            f"fpath=({os.path.dirname(function)} $fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep no_list_ambiguous",
            "show() { printf %s \"$BUFFER\" >t; mv t \"$LINE\"; BUFFER=; }; zle -N show; bindkey '^T' show; bindkey '^I' complete-word"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(os.path.abspath(sys.argv[1]))
