"""Measures how the time of a simulation grows: ``python benchmarks/growth.py``.

Waiting uops should cost nothing, so the time should grow with the simulated uops, not with cycles times
waiting uops. Every case runs in full (at least 500 cycles and 10 rounds, no early stop) with its figures per
instruction; the time is the least of several runs, without decoding and expansion.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.uops import Block
from cyclelens.analyzer.simulator.core import simulate
from cyclelens.analyzer.simulator.run_request import RunRequest
from cyclelens.analyzer.uops.block import build_block
from measuring import describe, print_table

ADD, IMUL, DIV, DIVPS, LOAD, STORE, VECTOR = (
    "4801d8",
    "480fafc1",
    "48f7f1",
    "0f5ec1",
    "488b3e",
    "488906",
    "0f58d1",
)
MIX = (ADD, LOAD, VECTOR, IMUL, STORE, "4901c9", "4983c208", "0f28da")
"""Eight instructions of different kinds; two of them continue chains."""


def mixed(count: int) -> str:
    """``count`` instructions of ``MIX`` in turn."""
    return "".join(MIX[number % len(MIX)] for number in range(count))


CASES: dict[str, tuple[str, bool]] = {
    "chain of 4 ADD": (ADD * 4, True),
    "chain of 4 DIV": (DIV * 4, True),
    "chain of 4 DIVPS": (DIVPS * 4, True),
    "chain of 64 DIVPS, scheduler full": (DIVPS * 64, True),
    "loop of 8": (mixed(8), True),
    "loop of 130": (mixed(130), True),
    "loop of 1,300": (mixed(1300), True),
    "unrolled, 8": (mixed(8), False),
    "unrolled, 128": (mixed(128), False),
    "unrolled, 4,096": (mixed(4096), False),
}
SWEEP = mixed(24)


def main() -> None:
    parser = argparse.ArgumentParser(description="What the time of a simulation grows with.")
    parser.add_argument("--arch", default="SKL")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    options = parser.parse_args()
    describe()
    model = registry.get(options.arch)
    store = open_store()
    caches = store.caches

    def block(code: str, loop: bool, alignment: int = 0) -> Block:
        instructions = decode(bytes.fromhex(code), caches)
        if loop:
            instructions += decode(loop_end(instructions) or b"", caches)
        return build_block(instructions, model, store, loop=loop, alignment=alignment)

    rows = []
    for name, (code, loop) in CASES.items():
        built = block(code, loop)
        simulation = simulate(built, model, request=RunRequest(trace=True))
        assert simulation.trace is not None
        uops = sum(row.executed is not None for row in simulation.trace.rows)
        seconds = least(options.runs, partial(simulate, built, model, caches=caches))
        rows.append(
            [
                name,
                f"{uops:,}",
                f"{simulation.simulated_cycles:,}",
                f"{1e3 * seconds:.2f}",
                f"{1e9 * seconds / uops:.0f}",
                f"{1e9 * seconds / simulation.simulated_cycles:.0f}",
            ]
        )
    print_table(["case", "executed uops", "cycles", "ms", "ns per uop", "ns per cycle"], rows)

    blocks = [block(SWEEP, True, alignment) for alignment in range(0, 64, 4)]
    one = least(
        options.runs, lambda: simulate(blocks[0], model, request=RunRequest(details=False), caches=caches)
    )
    every = least(
        options.runs,
        lambda: [simulate(each, model, request=RunRequest(details=False), caches=caches) for each in blocks],
    )
    print(
        f"\n16 alignments of a loop of 24: {1e3 * every:.2f} ms, {every / one:.1f} times one of them "
        "(stopping when the state repeats)"
    )


def least(runs: int, work: Callable[[], object]) -> float:
    """Least processor time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    main()
