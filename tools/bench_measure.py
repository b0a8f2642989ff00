"""How tools/bench measures: single runs of commands and of workers in memory, in turn, and what is made of their times."""
import json
import os
import shlex
import statistics
import subprocess
import tempfile


class Failed(Exception):
    pass


class Worker:
    """A program that answers a line for each line it is given (bench_memory.c, bench_opencv.cpp)."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.loaded = None

    def ask(self, *words):
        try:
            self.process.stdin.write(" ".join(str(word) for word in words) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
        except OSError as error:
            raise Failed(f"{self.process.args[0]}: {error.strerror}") from error
        if not answer or answer.startswith("error"):
            raise Failed(f"{os.path.basename(self.process.args[0])}: {answer or 'it ended'}")
        return answer

    def load(self, raw):
        if self.loaded != raw:
            self.ask("load", *raw)
            self.loaded = raw

    def seconds(self, *words):
        return float(self.ask(*words))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Runner:
    """Runs whole commands through bench_time."""

    def __init__(self, bench_time):
        self.bench_time = bench_time
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8"}

    def once(self, command, **names):
        """Wall seconds, CPU seconds, peak memory of one run of a command line with {names}."""
        words = [fill(word, names) for word in shlex.split(command)]
        with tempfile.NamedTemporaryFile() as result:
            done = subprocess.run([self.bench_time, result.name, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace", env=self.environment)
            try:
                found = json.load(result)
            except ValueError:
                found = {"status": done.returncode or 1}
        if found["status"] != 0:
            said = done.stderr.strip().splitlines()
            raise Failed(f"{os.path.basename(words[0])}: exit status {found['status']}: {said[-1][:200] if said else 'it said nothing'}")
        return found


def fill(word, names):
    """Only the names that are known: commands have braces of their own."""
    for name, value in names.items():
        word = word.replace("{" + name + "}", str(value))
    return word


def in_turn(runs, rounds, patience):
    """Calls the functions of a dictionary in turn, `rounds` times. One that took longer than `patience` seconds in all is left out
    of further rounds, and one that fails of all. Returns the results of each, and what failed."""
    results, failed = {name: [] for name in runs}, {}
    for _ in range(rounds):
        for name, run in runs.items():
            if name in failed or sum(map(wall, results[name])) > patience:
                continue
            try:
                results[name].append(run())
            except Failed as error:
                failed[name] = str(error)
    return {name: found for name, found in results.items() if found and name not in failed}, failed


def wall(result):
    return result["wall"] if isinstance(result, dict) else result


def median(results, what="wall"):
    return statistics.median(r[what] if isinstance(r, dict) else r for r in results)


def ratios(over, under):
    """Median, least and greatest of the ratios of runs that were neighbours in time; where one side has fewer runs its last
    one stands for the rest."""
    count = max(len(over), len(under))
    each = sorted(wall(over[min(i, len(over) - 1)]) / wall(under[min(i, len(under) - 1)]) for i in range(count))
    return statistics.median(each), each[0], each[-1]


def best(results, ours="imgpipe"):
    """The name of the fastest of the others, or None."""
    others = [name for name in results if name != ours]
    return min(others, key=lambda name: median(results[name]), default=None)


def record(section, name, ratio, goal, sense, **more):
    """One line of the report. `ratio` is a median with its least and greatest, or one number, or None with a `why`."""
    value, low, high = ratio if isinstance(ratio, tuple) else (ratio, ratio, ratio)
    reached = None if goal is None or value is None else value >= goal if sense == "at least" else value <= goal
    return {"section": section, "name": name, "ratio": value, "low": low, "high": high, "goal": goal, "sense": sense,
            "reached": reached, **more}
