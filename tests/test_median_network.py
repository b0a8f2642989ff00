#!/usr/bin/env python3
"""Proves the networks of kernels/median_network.h, and that the header is what tools/median_network.py makes.

By the 0-1 principle a network of minima and maxima gives a certain rank of any input if it gives it for every input of zeros and
ones. Each network is tried on all 0-1 inputs that keep the order it may rely on. Then the networks are put together as the kernels
do it, and both medians compared: for 3 x 3 on all 4096 inputs, for larger windows on random inputs with every share of ones and
on inputs made of an image by a threshold. Only the header's text is used here, nothing of its generator.
"""
import itertools
import os
import random
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEADER = os.path.join(ROOT, "kernels", "median_network.h")
GENERATOR = os.path.join(ROOT, "tools", "median_network.py")
SIZES = (3, 5, 7, 9)
BY_ROWS = (3, 5)


def read(path):
    """{macro: [(name, numbers)]} of every macro, and {macro: number} of the constants."""
    with open(path) as file:
        text = file.read().replace("\\\n", " ")
    calls, constants = {}, {}
    for name, arguments, body in re.findall(r"^#define (MEDIAN_\w+)(\([^)]*\))? *(.*)$", text, re.M):
        if arguments:
            found = re.findall(r"(\w+)\(([\d, ]+)\)", body)
            assert re.sub(r"\w+\([\d, ]+\)", "", body).strip() == "", name
            calls[name] = [(call, tuple(int(n) for n in numbers.split(","))) for call, numbers in found]
        elif body:
            constants[name] = int(body)
    return calls, constants


class Networks:
    """The networks of one size. Values are integers whose bits are independent 0-1 inputs: & is min, | is max."""

    def __init__(self, path, size):
        calls, constants = read(path)
        self.size, self.group = size, constants["MEDIAN_GROUP_%d" % size]
        self.calls = {name[len("MEDIAN_"):-len("_%d" % size)]: body for name, body in calls.items() if name.endswith("_%d" % size)}

    def run(self, name, values):
        wires = dict(enumerate(values))
        for call, (a, b) in self.calls[name]:
            low, high = wires[a] & wires[b], wires[a] | wires[b]
            # An output that is not used any more is taken away, so that using it is an error.
            if call in ("MM", "MIN"):
                wires[a] = low
            else:
                del wires[a]
            if call in ("MM", "MAX"):
                wires[b] = high
            else:
                del wires[b]
        if name + "_OUT" not in self.calls:
            return [wires[0]]
        places = [numbers for _, numbers in self.calls[name + "_OUT"]]
        assert [place for place, _ in places] == list(range(len(places)))
        return [wires[wire] for _, wire in places]

    def gather(self, name, joined, columns):
        sources = {"JOINED": joined, "COLUMN": columns}
        items = self.calls[name + "_IN"]
        assert [numbers[0] for _, numbers in items] == list(range(len(items)))
        return [sources[kind][dx][place] for kind, (_, dx, place) in items]

    def medians(self, samples):
        """samples[row][column], size + 1 rows, as the kernels take them: the medians of the upper and the lower window."""
        size = self.size
        assert [n for _, (n,) in self.calls["EACH_COLUMN"]] == list(range(size - 1))
        assert [n for _, (n,) in self.calls["EACH_ROW"]] == list(range(size))
        columns = [self.run("COLUMN", [samples[1 + k][x] for k in range(size - 1)]) for x in range(size)]
        joined = {}
        if "JOIN" in self.calls:
            for x in range(size - self.group + 1):
                joined[x] = self.run("JOIN", self.gather("JOIN", None, columns[x:x + self.group]))
        middle = self.run("CORE", self.gather("CORE", joined, columns))
        return [self.run("PICK", middle + self.run("ROW", samples[row]))[0] for row in (0, size)]

    def medians_by_rows(self, samples):
        """The same where it is done by rows."""
        size = self.size
        rows = [self.run("ROW", samples[k]) for k in range(size + 1)]
        shared = rows[1:size]
        if "PAIR" in self.calls:
            shared = [self.run("PAIR", rows[k] + rows[k + 1]) for k in range(1, size, 2)]
        middle = self.run("MIDDLE", sum(shared, []))
        return [self.run("PICK", middle + rows[row])[0] for row in (0, size)]


def pack(cases):
    """From a list of 0-1 inputs to one integer a wire."""
    return [int("".join(str(bit) for bit in reversed(wire)), 2) for wire in zip(*cases)]


def ordered(lengths):
    """All 0-1 inputs made of ascending lists of these lengths."""
    lists = [[[0] * (n - ones) + [1] * ones for ones in range(n + 1)] for n in lengths]
    return [list(itertools.chain(*choice)) for choice in itertools.product(*lists)]


def expected(cases, low, high):
    return pack([sorted(case)[low:high] for case in cases])


def check_stages(networks):
    size, group = networks.size, networks.group
    column, half = size - 1, (size * size - 1) // 2
    joins = size // group if "JOIN" in networks.calls else 0
    stages = [("COLUMN", [1] * column, 0, column), ("ROW", [1] * size, 0, size), ("PICK", [size + 1, size], size, size + 1),
              ("CORE", [column * group] * joins + [column] * (size - group * joins), half - size, half + 1)]
    if joins:
        stages.append(("JOIN", [column] * group, 0, column * group))
    if "PAIR" in networks.calls:
        stages.append(("PAIR", [size] * 2, 0, size * 2))
    if size in BY_ROWS:
        stages.append(("MIDDLE", [size * 2] * (column // 2) if size > 3 else [size] * column, half - size, half + 1))
    for name, lengths, low, high in stages:
        cases = ordered(lengths)
        assert networks.run(name, pack(cases)) == expected(cases, low, high), "%s_%d is wrong" % (name, size)


def windows(size, rng):
    """0-1 inputs for (size + 1) x size samples."""
    count = (size + 1) * size
    if size == 3:
        return [list(bits) for bits in itertools.product((0, 1), repeat=count)]
    cases = []
    for ones in range(count + 1):
        for _ in range(20):
            case = [1] * ones + [0] * (count - ones)
            rng.shuffle(case)
            cases.append(case)
    for _ in range(40):
        slope_x, slope_y, noise = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.choice((0, 0.5, 3))
        image = [slope_x * x + slope_y * y + noise * rng.random() for y in range(size + 1) for x in range(size)]
        cases += [[int(v >= limit) for v in image] for limit in image]
    return cases


def check_whole(networks, rng):
    size = networks.size
    cases = windows(size, rng)
    wires = pack(cases)
    half = size * size // 2
    for medians in [networks.medians] + ([networks.medians_by_rows] if size in BY_ROWS else []):
        upper, lower = medians([wires[row * size:(row + 1) * size] for row in range(size + 1)])
        assert [upper] == expected([case[:size * size] for case in cases], half, half + 1), "upper window of %d is wrong" % size
        assert [lower] == expected([case[size:] for case in cases], half, half + 1), "lower window of %d is wrong" % size
    return len(cases)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1  # what every change must pass is the same each time
    print("seed %d" % seed)
    subprocess.run([sys.executable, GENERATOR, "--check", HEADER], check=True)
    rng = random.Random(seed)
    for size in SIZES:
        networks = Networks(HEADER, size)
        check_stages(networks)
        print("%d x %d: every network proved, %d whole windows tried" % (size, size, check_whole(networks, rng)))


if __name__ == "__main__":
    main()
