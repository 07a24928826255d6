"""Runs every core, model and mode (loop, unrolled, one pass) on examples, kernels and generated blocks, and
on one instruction of every form in the tables if asked to.

Counts the runs that end with a figure, with a stated reason, and with an internal error, of which there must
be none. The kernels are those of ``tests/tables``.

    python benchmarks/every_core.py --forms
    python benchmarks/every_core.py --generated 200 --arch SKL GNR ZEN5
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from testkit.core_answers import (
    EXAMPLES,
    MODELS,
    WAYS,
    generated,
    instances,
    internal_errors,
    kernels,
    of_blocks,
    of_example,
)

_BATCH = 500
_AFTER_THE_KIND = re.compile(r"(unknown instruction|unsupported).*|[`'\"].*?[`'\"]|\d+")
"""The variable part of a reason, which is ignored when reasons are grouped."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--generated", type=int, default=2000, metavar="N", help="generated blocks")
    parser.add_argument("--forms", action="store_true", help="one instruction of every form, too")
    parser.add_argument("--arch", nargs="+", default=registry.names(), metavar="CORE")
    options = parser.parse_args()

    usual = [*kernels(), *generated(options.generated)]
    ends: Counter[str] = Counter()
    began = time.monotonic()
    with closing(open_store()) as store:
        for core in options.arch:
            blocks = [*usual, *(instances(core, store) if options.forms else ())]
            for model in MODELS:
                for way in WAYS:
                    for first in range(0, len(blocks), _BATCH):
                        found = of_blocks(blocks[first : first + _BATCH], core, model, way, store)
                        for defect in internal_errors(found):
                            print(f"{core} {model} {way}: {defect}", flush=True)
                        ends += found
            print(f"{core}: {ends.total()} runs so far, {time.monotonic() - began:.0f} s", flush=True)
        for model in MODELS:
            for path in EXAMPLES:
                ends += of_example(path, model, store, options.arch)
    kinds: Counter[str] = Counter()
    for reason, count in ends.items():
        kinds[_AFTER_THE_KIND.sub(lambda found: found[1] or "...", reason)] += count
    print(f"{ends.total()} runs")
    for kind, count in kinds.most_common():
        print(f"{count:9}  {kind}")
    defects = sum(ends[reason] for reason in internal_errors(ends))
    print(f"{defects:9}  internal errors")
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
