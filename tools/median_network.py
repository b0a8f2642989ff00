#!/usr/bin/env python3
"""Makes kernels/median_network.h: the networks by which kernels/median.c and kernels/median.cu take medians.

    tools/median_network.py [HEADER]        writes HEADER (default kernels/median_network.h)
    tools/median_network.py --check HEADER  exits with 1 if HEADER is not what would be written

After Adams, "Fast median filters using separable sorting networks" (SIGGRAPH 2021): two outputs, one below the other,
share size - 1 rows of their windows. Every column of these rows is sorted once (COLUMN) and used by all windows it is in; a
few neighbouring columns are joined to one sorted list (JOIN), which again serves several windows; the lists of a window are
merged, keeping only what may still be the median (CORE). Each output then adds its own row, sorted (ROW), and takes the median of
the two sorted lists (PICK).

Small windows are taken the other way round where whole rows of vectors lie in registers: every row of a window is sorted (ROW) and
used by all windows it is in; two neighbouring rows are merged (PAIR) and used by two tiles; what all rows of a tile have but may not be
the median is left out (MIDDLE), and PICK does the rest.

Every network is built from Batcher's odd-even merges. It is then proved, and shortened, by the 0-1 principle: it is
tried on all 0-1 inputs that keep the promised order of its lists. All inputs are tried at once, one bit each of a long integer.
"""
import itertools
import os
import sys

SIZES = (3, 5, 7, 9)
GROUP = {3: 1, 5: 2, 7: 3, 9: 3}  # columns that JOIN makes one list of
BY_ROWS = (3, 5)


def merge(ops, a, b):
    """Batcher's odd-even merge of sorted lists of wires (Knuth 5.3.4); returns the wires in their new order."""
    if not a or not b:
        return a + b
    if len(a) == 1 and len(b) == 1:
        ops.append((a[0], b[0]))
        return a + b
    even = merge(ops, a[0::2], b[0::2])
    odd = merge(ops, a[1::2], b[1::2])
    order = [even[0]]
    for i in range(max(len(odd), len(even) - 1)):
        if i < len(odd) and i + 1 < len(even):
            ops.append((odd[i], even[i + 1]))
        order += odd[i:i + 1] + even[i + 1:i + 2]
    return order


def sort(ops, wires):
    if len(wires) < 2:
        return wires
    half = (len(wires) + 1) // 2
    return merge(ops, sort(ops, wires[:half]), sort(ops, wires[half:]))


def inputs(lists):
    """All 0-1 inputs whose lists are sorted: per wire an integer with one bit an input; and the number of inputs."""
    total = 1
    for wires in lists:
        total *= len(wires) + 1
    value, run = {}, 1
    for wires in lists:
        n = len(wires)
        period = run * (n + 1)  # within a period the list has 0, 1 … n ones, `run` inputs each
        repeat = ((1 << total) - 1) // ((1 << period) - 1)
        for place, wire in enumerate(wires):
            zeros = n - place  # the wire is 1 from `zeros` ones on
            value[wire] = (((1 << period) - 1) >> (zeros * run) << (zeros * run)) * repeat
        run = period
    return value, total


def ranks(value, total):
    """For each rank from 0 on, what the sorted order of the inputs holds there."""
    n = len(value)
    at_least = [(1 << total) - 1] + [0] * n
    for bits in value.values():
        for k in range(n, 0, -1):
            at_least[k] |= at_least[k - 1] & bits
    return [at_least[n - k] for k in range(n)]


def simulate(value, ops):
    value = dict(value)
    for a, b in ops:
        value[a], value[b] = value[a] & value[b], value[a] | value[b]
    return value


def shorten(lists, ops, wanted):
    """Drops operations that are not needed for wanted = {wire: rank}; fails if the network is wrong."""
    value, total = inputs(lists)
    truth = ranks(value, total)

    def right(trial):
        after = simulate(value, trial)
        return all(after[wire] == truth[rank] for wire, rank in wanted.items())

    assert right(ops)
    needed, live = [], set(wanted)
    for a, b in reversed(ops):
        if a in live or b in live:
            needed.insert(0, (a, b))
            live |= {a, b}
    ops, i = needed, 0
    while i < len(ops):
        trial = ops[:i] + ops[i + 1:]
        if right(trial):
            ops = trial
        else:
            i += 1
    return ops


def typed(ops, wanted):
    """MM where both outputs are used, MIN or MAX where one is."""
    live, out = set(wanted), []
    for a, b in reversed(ops):
        if a in live or b in live:
            out.insert(0, ("MM" if a in live and b in live else "MIN" if a in live else "MAX", a, b))
            live |= {a, b}
    return out


def cost(network):
    return sum(2 if op == "MM" else 1 for op, _, _ in network)


def sorting(n):
    wires = list(range(n))
    ops = []
    order = sort(ops, wires)
    wanted = {wire: rank for rank, wire in enumerate(order)}
    return typed(shorten([[w] for w in wires], ops, wanted), wanted), order


def selecting(lengths, low, high):
    """Merges sorted lists, keeping ranks low … high-1; of all orders of merging the cheapest."""
    lists, at = [], 0
    for n in lengths:
        lists.append(list(range(at, at + n)))
        at += n
    best = None
    for order in sorted(set(itertools.permutations(range(len(lists))))):
        ops, have, skipped = [], lists[order[0]], 0
        for i in range(1, len(order)):
            have = merge(ops, have, lists[order[i]])
            rest = sum(len(lists[j]) for j in order[i + 1:])
            first = max(0, low - rest - skipped)
            have = have[first:high - skipped]  # a rank can only grow, and by no more than `rest`
            skipped += first
        wanted = {wire: skipped + k for k, wire in enumerate(have)}
        network = typed(shorten(lists, ops, wanted), wanted)
        if best is None or cost(network) < cost(best[0]):
            best = network, have
    return best


def picking(size):
    """The median of size + 1 sorted values (wires 0 …) and size sorted ones (wires size + 1 …), left on wire 0.

    The smallest k values are some i of the one list and k - i of the other; the k-th is the least of their maxima."""
    row = size + 1
    network = [("MAX", row + size - 1 - i, i) for i in range(size)]
    step = 1
    while step <= size:
        network += [("MIN", i, i + step) for i in range(0, size + 1 - step, 2 * step)]
        step *= 2
    value, total = inputs([list(range(row)), list(range(row, row + size))])
    truth = ranks(value, total)[size]
    for op, a, b in network:
        if op == "MIN":
            value[a] &= value[b]
        else:
            value[b] |= value[a]
    assert value[0] == truth
    return network


def define(name, arguments, items):
    lines = ["#define %s(%s)" % (name, arguments)]
    line = "   "
    for item in items:
        if len(line) + 1 + len(item) > 128:
            lines.append(line)
            line = "   "
        line += " " + item
    lines.append(line)
    width = max(len(text) for text in lines[:-1])
    return "\n".join([text.ljust(width) + " \\" for text in lines[:-1]] + lines[-1:]) + "\n"


def emit(name, size, network, order=None):
    text = "/* %d operations */\n" % cost(network)
    text += define("MEDIAN_%s_%d" % (name, size), "MM, MIN, MAX", ["%s(%d, %d)" % op for op in network])
    if order is not None:
        text += define("MEDIAN_%s_OUT_%d" % (name, size), "F", ["F(%d, %d)" % pair for pair in enumerate(order)])
    return text


HEAD = """/* Made by tools/median_network.py, which explains and proves these networks; do not edit.
 *
 * A network works on wires, an array of values. MM(a, b) puts the minimum of wires a and b on a and their maximum on b; MIN(a, b)
 * does only the first (b is not used any more), MAX(a, b) only the second. x_OUT(F) calls F(place, wire) for the places
 * 0, 1 ... of the result in ascending order. x_IN says where its wires come from: COLUMN(wire, dx, place) is a place in the
 * sorted column dx columns from the window's left edge, JOINED(wire, dx, place) one in the joined list that starts there.
 *
 * For a window of SIZE x SIZE:
 *   COLUMN_SIZE  sorts SIZE - 1 values, wires 0 ...
 *   JOIN_SIZE    merges GROUP sorted columns to a joined list (there is none for GROUP 1)
 *   CORE_SIZE    from joined lists and columns to the SIZE + 1 values amidst
 *   ROW_SIZE     sorts SIZE values, wires 0 ...
 *   PICK_SIZE    on wires 0 ... SIZE the result of CORE, then the result of ROW: the median is left on wire 0
 *   EACH_COLUMN_SIZE, EACH_ROW_SIZE  call F(k) for the wires of COLUMN and ROW
 * And by rows, for windows of 3 x 3 and 5 x 5:
 *   PAIR_5       merges two sorted rows, on wires 0 ... and SIZE ...
 *   MIDDLE_SIZE  from the sorted rows (3 x 3) or pairs (5 x 5) that two windows share, one after the other on wires 0 ..., to the SIZE + 1
 *                values amidst */
#ifndef MEDIAN_NETWORK_H
#define MEDIAN_NETWORK_H
"""


def sources(name, size, joined, columns):
    """Wires in the order of the lists: `joined` and `columns` hold each list's distance from the window's left edge."""
    items, n, group = [], size - 1, GROUP[size]
    for kind, length, starts in (("JOINED", n * group, joined), ("COLUMN", n, columns)):
        for dx in starts:
            for place in range(length):
                items.append("%s(%d, %d, %d)" % (kind, len(items), dx, place))
    return define("MEDIAN_%s_IN_%d" % (name, size), "JOINED, COLUMN", items)


def section(size):
    group, n, middle = GROUP[size], size - 1, (size * size - 1) // 2
    text = "\n/* ---- %d x %d */\n#define MEDIAN_GROUP_%d %d\n" % (size, size, size, group)
    for name, count in (("COLUMN", n), ("ROW", size)):
        text += define("MEDIAN_EACH_%s_%d" % (name, size), "F", ["F(%d)" % k for k in range(count)])
    text += emit("COLUMN", size, *sorting(n))
    joins = size // group if group > 1 else 0
    if joins:
        text += sources("JOIN", size, [], range(group))
        text += emit("JOIN", size, *selecting([n] * group, 0, n * group))
    singles = range(joins * group, size)
    text += sources("CORE", size, range(0, joins * group, group), singles)
    text += emit("CORE", size, *selecting([n * group] * joins + [n] * len(singles), middle - size, middle + 1))
    text += emit("ROW", size, *sorting(size))
    if size in BY_ROWS:
        shared = [size * 2] * (n // 2) if size > 3 else [size] * n
        if size > 3:
            text += emit("PAIR", size, *selecting([size] * 2, 0, size * 2))
        text += emit("MIDDLE", size, *selecting(shared, middle - size, middle + 1))
    return text + emit("PICK", size, picking(size))


def header():
    return HEAD + "".join(section(size) for size in SIZES) + "#endif\n"


def write(arguments, stem, text):
    """Writes kernels/STEM.h, or another file that the arguments name; with --check compares."""
    check = arguments[:1] == ["--check"]
    paths = arguments[1:] if check else arguments
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels", stem + ".h")
    path = paths[0] if paths else default
    if check:
        with open(path) as file:
            if file.read() != text:
                sys.exit("%s is not what tools/%s.py makes; run it again" % (path, stem))
        return
    with open(path, "w") as file:
        file.write(text)


if __name__ == "__main__":
    write(sys.argv[1:], "median_network", header())
