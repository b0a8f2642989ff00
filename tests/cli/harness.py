"""Running the command and judging what it did."""
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import time
import zlib

# A signal that this script was started with as ignored would be ignored by the program as well.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

PROGRAM = os.path.abspath(sys.argv[1])

# Seconds that nothing takes, however busy the machine: only what would wait for ever is ended by it.
LONGEST = 240


class Tally:
    """How many checks there were and failed, and the test that is running."""
    failures = 0
    checks = 0
    current = ""
    long = False  # the runs that take long, too


def check(right, *what):
    Tally.checks += 1
    if not right:
        Tally.failures += 1
        print("FAIL", Tally.current, *what)


def png(width, height, value=None, color=2):
    """A PNG file's bytes: RGB (color 2), gray (0) or RGBA (6) with a pattern, or of one value."""
    channels = {0: 1, 2: 3, 6: 4}[color]
    rows = b""
    for y in range(height):
        row = bytes((value if value is not None else (x * 7 + y * 13) & 255) for x in range(width * channels))
        rows += b"\0" + row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def environment(**more):
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM", "LC_ALL")}
    env.update(TERM="dumb", LC_ALL="C.UTF-8")
    env.update(more)
    return env


class Result:
    def __init__(self, process, args):
        self.status, self.out, self.args = process.returncode, process.stdout, args
        self.err = process.stderr.decode("utf-8", "replace") if process.stderr is not None else ""

    def __str__(self):
        return f"{self.args} -> {self.status}: {self.err.strip()[:300]!r}"


def run(*args, stdin=subprocess.DEVNULL, data=None, stdout=subprocess.PIPE, **env):
    how = {"input": data} if data is not None else {"stdin": stdin}
    process = subprocess.run([PROGRAM, *args], stdout=stdout, stderr=subprocess.PIPE, env=environment(**env), timeout=LONGEST, **how)
    return Result(process, args)


def expect(status, *args, says=None, lacks=None, **how):
    """Runs, and checks the status and that standard error matches the pattern `says`."""
    result = run(*args, **how)
    check(result.status == status, f"status is not {status}:", result)
    if says:
        check(re.search(says, result.err), f"standard error lacks {says!r}:", result)
    if lacks:
        check(not re.search(lacks, result.err), f"standard error has {lacks!r}:", result)
    if status not in (0, 130, 143):
        check(not result.out, "something is on standard output:", result)
    if status == 0 and not says:
        check(not result.err, "a success is not silent:", result)
    return result


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def is_png(data):
    return data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND"


def left(*names):
    """Checks that the folder holds these files and no others, hidden ones included."""
    found = sorted(os.listdir("."))
    check(found == sorted(names), "in the folder:", found, "instead of", sorted(names))


# ------------------------------------------------------------------------------- processes that are at work


def start(*args, **how):
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "env": environment(), **how}
    return subprocess.Popen([PROGRAM, *args], **how)


def wait_until(condition, process):
    """Waits until the condition holds; false if the process ends before, or it never does."""
    end = time.monotonic() + LONGEST
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def wait_for_handler(process):
    """Until the process has come as far as to catch signals: before, any would just end it. SIGHUP is the last of those that it takes."""
    def catches():
        with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
            return int(re.search(r"^SigCgt:\s*(\w+)", status.read(), re.M)[1], 16) >> (signal.SIGHUP - 1) & 1
    check(wait_until(catches, process), "it never catches signals")


def finish(process):
    """What it writes to standard error until it ends."""
    try:
        return process.communicate(timeout=LONGEST)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        check(False, process.args, "does not end")
        return ""


def freeze(process):
    """Stops the process where it is, until SIGCONT; false if it has ended."""
    if process.poll() is not None:
        return False
    process.send_signal(signal.SIGSTOP)
    return os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED


def on_terminal(*args, **env):
    """What the program writes to a standard error that is a terminal."""
    leader, follower = pty.openpty()
    env = environment(**env)
    process = subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower, env=env)
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(leader)
    process.wait()
    return text
