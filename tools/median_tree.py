#!/usr/bin/env python3
"""Makes kernels/median_tree.h: the networks by which kernels/median_tree.cuh and, from 11 x 11 on,
kernels/median_tree.c take medians of 7 x 7 to 15 x 15 samples.

    tools/median_tree.py [HEADER]        writes HEADER (default kernels/median_tree.h)
    tools/median_tree.py --check HEADER  exits with 1 if HEADER is not what would be written

After Sugy, "Fast median filtering by hierarchical tiling" (SIGGRAPH 2025), and Adams, "Fast median filters using separable
sorting networks" (SIGGRAPH 2021). A tile of 4 x 2 medians shares a core of size - 3 columns and size - 1 rows. Its columns are sorted
once for all tiles beside each other (COLUMN), and so are the lists of four columns (JOIN); from these come the core's sorted
samples, without those that cannot be a median (CORE). The tile is halved three times, and each part adds to its core what
all its windows have: first two columns, then a row, then a column (HALF, all of it).

Merges are Batcher's, each of two lists, proved and shortened by median_network.py on all 0-1 inputs; a list keeps the ranks that
may still be the median when the samples that are missing all lie below it, or all above.
"""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import median_network  # noqa: E402

SIZES = (7, 9, 11, 13, 15)


@functools.lru_cache(None)
def merging(n, m, low, high):
    return median_network.selecting([n, m], low, high)


@functools.lru_cache(None)
def sorting(n):
    return median_network.sorting(n)


class Program:
    """A list of operations on wires, each (name, number, number ...)."""

    def __init__(self):
        self.ops, self.count = [], 0

    def wires(self, n):
        self.count += n
        return list(range(self.count - n, self.count))

    def load(self, n, name, *numbers):
        """n new wires, loaded by name(wire, numbers ..., place)."""
        wires = self.wires(n)
        self.ops += [(name, wire) + numbers + (place,) for place, wire in enumerate(wires)]
        return wires

    def copy(self, wires):
        new = self.wires(len(wires))
        self.ops += [("COPY", to, wire) for to, wire in zip(new, wires)]
        return new

    def emit(self, network, wires):
        ops, order = network
        self.ops += [(op, wires[a], wires[b]) for op, a, b in ops]
        return [wires[place] for place in order]

    def merge(self, a, b, low=0, high=None):
        return self.emit(merging(len(a), len(b), low, len(a) + len(b) if high is None else high), a + b)

    def sort(self, wires):
        return self.emit(sorting(len(wires)), wires)

    def pick(self, a, b):
        """The median of sorted lists of n + 1 and n wires: the n smallest are i of the one and n - i of the other."""
        best = [a[0]]
        for i, wire in enumerate(reversed(b)):
            self.ops.append(("MAX", wire, a[i]))
        best = list(a)
        while len(best) > 1:
            left = []
            for i in range(0, len(best), 3):
                group = best[i:i + 3]
                if len(group) > 1:
                    self.ops.append(("MIN3",) + tuple(group) if len(group) == 3 else ("MIN",) + tuple(group))
                left.append(group[0])
            best = left
        return best[0]


class Candidates:
    """The samples of a core that may be the median: `wires` hold its ranks from `first` on, of `total`."""

    def __init__(self, size, wires, first, total):
        self.size, self.wires, self.first, self.total = size, wires, first, total

    def add(self, program, wires):
        median = self.size * self.size // 2
        total = self.total + len(wires)
        rest = self.size * self.size - total
        low, high = max(0, median - rest), min(total, median + 1)
        # No sample below those kept can be wanted, so that ranks are counted from them.
        kept = program.merge(self.wires, wires, low - self.first, high - self.first)
        return Candidates(self.size, kept, low, total)


def core(size):
    """From joined lists, and for sizes 9 and 13 from two columns more, to the core of a tile."""
    program, height, joins = Program(), size - 1, (size - 3) // 4
    have = Candidates(size, program.load(4 * height, "JOINED", 0), 0, 4 * height)
    for join in range(1, joins):
        have = have.add(program, program.load(4 * height, "JOINED", join))
    if size % 4 == 1:
        have = have.add(program, program.merge(program.load(height, "COLUMN", size - 2), program.load(height, "COLUMN", size - 1)))
    return program, have


def half(size, have):
    program, height = Program(), size - 1
    have = Candidates(size, program.load(len(have.wires), "CORE"), have.first, have.total)
    # Columns 0 and 1 are those that the half adds to the core, 2 and 3 those of its left and right medians alone.
    have = have.add(program, program.merge(program.load(height, "COLUMN", 0), program.load(height, "COLUMN", 1)))
    for row in (0, 1):
        corners = program.sort(program.wires(2))
        program.ops[-1:] = [("SAMPLE", corners[0], 0, row), ("SAMPLE", corners[1], 1, row)] + program.ops[-1:]
        full = program.merge(program.load(size - 3, "ROW", row), corners)
        upper = Candidates(size, program.copy(have.wires), have.first, have.total).add(program, full)
        for column in (2, 3):
            corner = program.wires(1)
            program.ops.append(("SAMPLE", corner[0], column, row))
            side = program.merge(program.load(height, "COLUMN", column), corner)
            program.ops.append(("OUT", program.pick(program.copy(upper.wires), side), column - 2, row))
    return program


def join(size):
    program = Program()
    columns = [program.load(size - 1, "COLUMN", i) for i in range(4)]
    return program, program.merge(program.merge(columns[0], columns[1]), program.merge(columns[2], columns[3]))


def sort_of(n):
    program = Program()
    return program, program.sort(program.load(n, "SAMPLE"))


def define(name, arguments, ops):
    return median_network.define(name, arguments, ["%s(%s)" % (op[0], ", ".join(map(str, op[1:]))) for op in ops])


def cost(program):
    return sum({"MM": 2, "MIN": 1, "MAX": 1, "MIN3": 1}.get(op[0], 0) for op in program.ops)


def section(size):
    candidates = core(size)
    text = "\n/* ---- %d x %d */\n#define MEDIAN_CORE_%d %d\n" % (size, size, size, len(candidates[1].wires))
    programs = (("COLUMN", "SAMPLE", *sort_of(size - 1)), ("JOIN", "COLUMN", *join(size)), ("ROW", "SAMPLE", *sort_of(size - 3)),
                ("CORE", "JOINED, COLUMN", candidates[0], candidates[1].wires),
                ("HALF", "CORE, COLUMN, ROW, SAMPLE, COPY, MIN3, OUT", half(size, candidates[1]), None))
    for name, loads, program, out in programs:
        ops = program.ops + [("OUT", wire, place) for place, wire in enumerate(out or [])]
        text += "/* %d operations */\n#define MEDIAN_TREE_%s_WIRES_%d %d\n" % (cost(program), name, size, program.count)
        arguments = "MM, MIN, MAX, " + loads + (", OUT" if out else "")
        text += define("MEDIAN_TREE_%s_%d" % (name, size), arguments, ops)
    return text


HEAD = """/* Made by tools/median_tree.py, which explains these networks; do not edit.
 *
 * They work on wires, an array of values. MM(a, b) puts the minimum of wires a and b on a and their maximum on b; MIN(a, b) does only the
 * first (b is not used any more), MAX(a, b) only the second; MIN3(a, b, c) puts the least of three on a; COPY(to, from). Other
 * names put a value on the wire named first, all lists ascending:
 *   COLUMN_SIZE  SAMPLE(wire, place): sorts SIZE - 1 samples, one below the other; OUT(wire, place)
 *   JOIN_SIZE    COLUMN(wire, i, place): merges four sorted columns; OUT(wire, place)
 *   ROW_SIZE     SAMPLE(wire, place): sorts SIZE - 3 samples, one beside the other; OUT(wire, place)
 *   CORE_SIZE    JOINED(wire, i, place): the joined list that starts in column 3 + 4 i of the tile; COLUMN(wire, x, place): its sorted
 *                column x; OUT(wire, place): MEDIAN_CORE_SIZE values
 *   HALF_SIZE    CORE(wire, place); COLUMN(wire, i, place), SAMPLE(wire, i, row): a sorted column and its sample in the row above
 *                (0) or below (1): 0 and 1 are the columns that the half adds to the core, 2 and 3 those of its left and its right
 *                medians alone; ROW(wire, row, place): the sorted row; OUT(wire, x, row) */
#ifndef MEDIAN_TREE_H
#define MEDIAN_TREE_H
"""


def header():
    return HEAD + "".join(section(size) for size in SIZES) + "#endif\n"


if __name__ == "__main__":
    median_network.write(sys.argv[1:], "median_tree", header())
