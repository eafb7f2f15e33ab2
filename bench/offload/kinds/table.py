#!/usr/bin/env python3
"""Joins what a program with directives and its CUDA sibling printed into a table in Markdown.

    ./first > first.txt; ./first_cuda > first_cuda.txt; ./table.py first.txt first_cuda.txt [first_clang.txt]

The third is the same program with directives built by another compiler; it may lack kernels. The second may also be such
a program: then there is one column of it. Fails if a kernel is missing on one side or a sum differs. Sums of whole
numbers must be the same to the last digit; rounded ones, which have five digits (as in 1.2345e+06), within 1 in 5000.
"""
import math
import re
import sys


def same(a, b):
    if a == b:
        return True
    rounded = re.compile(r"-?\d\.\d{4}e[+-]\d+$")
    return bool(rounded.match(a) and rounded.match(b)) and math.isclose(float(a), float(b), rel_tol=2e-4)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def read(file):
    """Kernel → how → (microseconds, sum); `how` is "" where a program has one kind only."""
    kernels = {}
    for line in open(file):
        name, *how, time, total = line.split()
        kernels.setdefault(name, {})[how[0] if how else ""] = float(time), total
    return kernels


def main(directives, other, clang=None):
    ours, theirs = read(directives), read(other)
    further = read(clang) if clang else {}
    kinds = [""] if theirs and all("" in how for how in theirs.values()) else ["naive", "tuned"]
    labels = {"": "other", "naive": "naive CUDA", "tuned": "tuned CUDA", "clang": "clang"}
    columns = kinds + (["clang"] if clang else [])
    faults = [f"{name}: only on one side" for name in ours.keys() ^ theirs.keys()]
    ratios = {column: [] for column in columns}
    shorts = {column: column or "other" for column in columns}
    print("| kernel | Ferry | " + " | ".join([labels[c] for c in columns] + [f"to {shorts[c]}" for c in columns]) + " |")
    print("|---|" + "---:|" * (1 + 2 * len(columns)))
    for name in ours:
        if not set(kinds) <= theirs.get(name, {}).keys():
            if name in theirs:
                faults.append(f"{name}: not all of {', '.join(kinds)}")
            continue
        time, total = ours[name][""]
        figures = {kind: theirs[name][kind] for kind in kinds}
        if name in further:
            figures["clang"] = further[name][""]
        for column, (figure, _) in figures.items():
            ratios[column].append(max(time, 0.1) / max(figure, 0.1))
        cells = [f"{figures[c][0]:.0f}" if c in figures else "–" for c in columns]
        cells += [f"{ratios[c][-1]:.2f}" if c in figures else "–" for c in columns]
        print(f"| {name} | {time:.0f} | " + " | ".join(cells) + " |")
        for column, (_, sum) in figures.items():
            if not same(total, sum):
                faults.append(f"{name}: sums {total}, {sum} ({labels[column]})")
    if any(ratios.values()):
        means = [f"{mean(ratios[c]):.2f}" if ratios[c] else "–" for c in columns]
        print("| geometric mean | |" + " |" * len(columns) + " " + " | ".join(means) + " |")
    for fault in sorted(faults):
        print(fault, file=sys.stderr)
    return 1 if faults or not any(ratios.values()) else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
