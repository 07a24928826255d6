"""Measures the cost of the issue-slot account: ``python benchmarks/account.py``.

One process predicts the same blocks alternately without and with it, so that a busy machine slows both down
alike. Work that depends on instructions alone is cached beforehand; the rest is the cost of an edit.
"""

from __future__ import annotations

import argparse
import time

from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.insight.explain import explain
from cyclelens.analyzer.insight.findings import find
from cyclelens.analyzer.isa.counted_loop import counted_loop
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.simulator.core import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from measuring import describe, print_table, real_blocks, spread


def main() -> None:
    parser = argparse.ArgumentParser(description="What the account of issue slots costs.")
    parser.add_argument("--blocks", type=int, default=500, metavar="N")
    parser.add_argument("--turns", type=int, default=5, metavar="N")
    parser.add_argument("--arch", default="SKL")
    parser.add_argument("--source", choices=("auto", "corpus", "reference", "examples"), default="auto")
    options = parser.parse_args()
    model, store = registry.get(options.arch), open_store()
    about, blocks = real_blocks(options.blocks, options.source)
    codes = [decode(counted_loop(bytes.fromhex(block)) or b"") for block in blocks]

    def simulating(account: bool) -> float:
        built = [build_block(code, model, store, loop=True) for code in codes]
        started = time.process_time()
        for block in built:
            simulate(block, model, request=RunRequest(account=account), caches=store.caches)
        return time.process_time() - started

    def analysing(account: bool) -> float:
        started = time.process_time()
        for code in codes:
            block = build_block(code, model, store, loop=True)
            find(
                explain(
                    block,
                    model,
                    simulate(block, model, request=RunRequest(account=account), caches=store.caches),
                )
            )
        return time.process_time() - started

    describe()
    print(f"{about}, {options.arch}, loops, {options.turns} turns; median (min..max)\n")
    rows = []
    for name, work in (("simulation with its figures", simulating), ("analysis of a block", analysing)):
        work(True)
        times = [(work(False), work(True)) for _ in range(options.turns)]
        rows.append(
            [
                name,
                *(spread([1e6 * turn[which] / len(codes) for turn in times], 0) for which in (0, 1)),
                spread([with_it / without for without, with_it in times]),
            ]
        )
    print_table(["us per block", "without", "with the account", "ratio"], rows)


if __name__ == "__main__":
    main()
