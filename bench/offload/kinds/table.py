#!/usr/bin/env python3
"""Joins what a program with directives and its CUDA sibling printed into a table in Markdown.

    ./first > first.txt; ./first_cuda > first_cuda.txt; ./table.py first.txt first_cuda.txt

Fails if a kernel is missing on one side or a sum differs. Sums of whole numbers must be the same to the last digit;
rounded ones, which have five digits (as in 1.2345e+06), within 1 in 5000.
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


def main(directives, cuda):
    ours, theirs = {}, {}
    for line in open(directives):
        name, time, total = line.split()
        ours[name] = float(time), total
    for line in open(cuda):
        name, how, time, total = line.split()
        theirs.setdefault(name, {})[how] = float(time), total
    faults = [f"{name}: only on one side" for name in ours.keys() ^ theirs.keys()]
    to_naive, to_tuned = [], []
    print("| kernel | Ferry | naive CUDA | tuned CUDA | to naive | to tuned |\n|---|---:|---:|---:|---:|---:|")
    for name in ours:
        if not {"naive", "tuned"} <= theirs.get(name, {}).keys():
            faults.append(f"{name}: not both naive and tuned")
            continue
        time, total = ours[name]
        (naive, naive_sum), (tuned, tuned_sum) = (theirs[name][how] for how in ("naive", "tuned"))
        to_naive.append(time / naive)
        to_tuned.append(time / tuned)
        print(f"| {name} | {time:.0f} | {naive:.0f} | {tuned:.0f} | {to_naive[-1]:.2f} | {to_tuned[-1]:.2f} |")
        if not (same(total, naive_sum) and same(total, tuned_sum)):
            faults.append(f"{name}: sums {total}, {naive_sum} (naive), {tuned_sum} (tuned)")
    if to_tuned:
        print(f"| geometric mean | | | | {mean(to_naive):.2f} | {mean(to_tuned):.2f} |")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults or not to_tuned else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
