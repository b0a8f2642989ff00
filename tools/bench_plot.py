"""The plot of tools/bench: how far each line is from its goal, as SVG made by hand, readable on light and on dark pages."""
import math
from xml.sax.saxutils import escape

from bench_report import TITLES, number, summary

PLOT, FIGURES, ROW, TOP = 420, 190, 20, 96
LETTER = 6.7  # about the width of one at 13 pixels; the longest label decides where the bars begin
STYLE = """
  svg { font: 13px system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; background: #fff; }
  text { fill: #24292f; } .faint { fill: #656d76; } .title { font-size: 18px; font-weight: 600; } .section { font-weight: 600; paint-order: stroke; stroke: #fff; stroke-width: 4px; }
  .grid { stroke: #d8dee4; } .goal { stroke: #24292f; stroke-width: 1.5; } .spread { stroke: #24292f; stroke-opacity: .55; }
  .yes { fill: #2da44e; } .no { fill: #cf6a32; } .none { fill: #8c959f; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .faint { fill: #8d96a0; } .grid { stroke: #30363d; }
    .section { stroke: #0d1117; } .goal { stroke: #e6edf3; } .spread { stroke: #e6edf3; } .yes { fill: #3fb950; } .no { fill: #e08b55; } .none { fill: #6e7681; }
  }
"""


def score(r, value):
    """1 at the goal, more if better, whichever way the goal points."""
    value = max(value, 1e-6)
    return value / r["goal"] if r["sense"] == "at least" else r["goal"] / value


def axis(scores):
    """The range, powers of two around everything and around the goal, and its ticks."""
    low = min(-1, math.floor(math.log2(max(min(scores, default=1), 1 / 64))))
    high = max(1, math.ceil(math.log2(min(max(scores, default=1), 64))))
    step = 1 if high - low <= 8 else 2
    return low, high, range(low, high + 1, step)


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def tick_name(power):
    return f"{2 ** power}×" if power >= 0 else f"1/{2 ** -power}"


def bar(r, y, place, right):
    value, one = place(score(r, r["ratio"])), place(1)
    kind = "yes" if r["reached"] else "no"
    parts = [f'<rect x="{min(value, one):.1f}" y="{y + 4}" width="{abs(value - one) + 0.5:.1f}" height="{ROW - 8}" rx="2" class="{kind}"/>']
    if r["low"] != r["high"]:
        ends = sorted(place(score(r, r[end])) for end in ("low", "high"))
        parts.append(f'<line x1="{ends[0]:.1f}" y1="{y + ROW / 2}" x2="{ends[1]:.1f}" y2="{y + ROW / 2}" class="spread"/>')
    sense = "≥" if r["sense"] == "at least" else "≤"
    parts.append(text(right + 12, y + 14.5, f"{number(r['ratio'])}  (goal {sense} {r['goal']:g})", "faint"))
    return parts


def svg(records, about):
    shown = [r for r in records if r["goal"] is not None and r["ratio"] is not None]
    low, high, ticks = axis([score(r, r["ratio"]) for r in shown])
    left = 28 + LETTER * max((len(r["name"]) for r in shown), default=40)
    right = left + PLOT
    width = round(right + FIGURES)

    def place(value):
        power = min(max(math.log2(value), low), high)
        return left + PLOT * (power - low) / (high - low)

    rows, y = [], TOP
    for section, title in TITLES.items():
        found = [r for r in shown if r["section"] == section]
        if not found:
            continue
        rows.append(text(16, y + 19, title, "section"))
        y += ROW + 8
        for r in found:
            rows.append(text(left - 12, y + 14.5, r["name"], anchor="end"))
            rows += bar(r, y, place, right)
            y += ROW
        y += 10
    height = y + 30
    grid = []
    for power in ticks:
        x, kind = place(2.0 ** power), "goal" if power == 0 else "grid"
        grid.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{y}" class="{kind}"/>')
        grid.append(text(x, TOP - 12, "goal" if power == 0 else tick_name(power), "" if power == 0 else "faint", "middle"))
    where = f"{about['cpu']}, {about['cpus']} CPUs ({about['instructions']}), {about['date']}"
    head = [text(16, 30, f"imgpipe: {summary(records)}", "title"),
            text(16, 52, where + ". To the right of the goal is better; thin lines: least and greatest of the runs.", "faint")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">\n'
            f"<style>{STYLE}</style>\n" + "\n".join(head + grid + rows) + "\n</svg>\n")
