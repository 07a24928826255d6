"""Fuzzes the readers of profiles: random lines must cost a bounded number of instructions per character.

    python benchmarks/profile_budget.py [--count 100] [--seed N]       (needs Valgrind)

A line is a random beginning, a random piece repeated up to 64,000 characters, and a random end. Each is read
at two lengths. Lines whose cost per character grows, or exceeds the budget, are printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from testkit.instruction_counts import MOST_PER_CHARACTER, costs

PIECES = (
    *("a", "+0x1", "/", "P", "-", " ", ":", "1", ".", "<", ">", "(", ")", "0x40", "\t", "f", "é"),
    *("PERF_RECORD_MMAP2 ", "[0x1(0x1) @ 0 ", "]", "Percent", "Samples", "/P/-/-/3", "a/b/P/-/-/3 "),
)
GROWTH = 1.15
"""Cost per character at the greater length, over that at the smaller one; 2 for a quadratic reader."""


def main() -> None:
    """Try the lines; the exit code tells whether any exceeded the budget."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, found, most = random.Random(options.seed), 0, 0.0
    shapes = [
        "|".join("".join(chance.choices(PIECES, k=count)) for count in (chance.randrange(3), 2, 1))
        for _ in range(options.count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        counted = costs(shapes, Path(folder))
    for shape, (short, long) in counted.items():
        most = max(most, long)
        if long > GROWTH * short + 10 or long > MOST_PER_CHARACTER:
            found += 1
            print(f"{shape!r}: {short:.0f} and {long:.0f} instructions per character")
    print(f"{options.count} lines, {found} beyond the budget; at most {most:.0f} instructions per character")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
