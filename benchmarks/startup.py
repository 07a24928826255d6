"""Cold start of the command line: ``python benchmarks/startup.py [--imports]``.

Commands take turns with a Python that does nothing. Wall time and user and system time are listed; what a
command costs beyond the bare interpreter is the difference of the medians. Bytecode is cached, in a folder of
the benchmark's own, as pip does when it installs the package.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import CYCLELENS, ROOT, cpu_seconds, describe, print_table, spread, with_bytecode

BLOCK = "c5fc100e c4e275b807 4883c620 4883c720".replace(" ", "")
EXAMPLE = ROOT / "examples" / "dot_product.s"


def main() -> None:
    parser = argparse.ArgumentParser(description="Cold start of the command line.")
    parser.add_argument("--turns", type=int, default=20, metavar="N")
    parser.add_argument("--imports", action="store_true", help="list the slowest imports of a prediction")
    options = parser.parse_args()
    describe()
    with tempfile.TemporaryDirectory() as folder:
        block = Path(folder) / "block.hex"
        block.write_text(f"{BLOCK}\n")
        predict = [*CYCLELENS, "predict", "--arch", "SKL", "--mode", "loop"]
        if options.imports:
            print_imports(predict[1:], block)
            return
        cached = with_bytecode(folder)
        commands: dict[str, tuple[list[str], Path | None]] = {
            "python -c pass": ([sys.executable, "-c", "pass"], None),
            "cyclelens --version": ([*CYCLELENS, "--version"], None),
            "cyclelens predict, one block": (predict, block),
            "cyclelens analyze, one loop": ([*CYCLELENS, "analyze", str(EXAMPLE)], None),
        }
        for command, stdin in commands.values():
            cpu_seconds(command, stdin, cached)
        wall: dict[str, list[float]] = {name: [] for name in commands}
        cpu: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(options.turns):
            for name, (command, stdin) in commands.items():
                started = time.perf_counter()
                cpu[name].append(1e3 * cpu_seconds(command, stdin, cached))
                wall[name].append(1e3 * (time.perf_counter() - started))
    bare = statistics.median(cpu["python -c pass"])
    print_table(
        ["ms, median (min..max)", "wall", "user + system", "beyond the interpreter"],
        [
            [name, spread(wall[name], 0), spread(cpu[name], 0), f"{statistics.median(cpu[name]) - bare:.0f}"]
            for name in commands
        ],
    )


def print_imports(arguments: list[str], block: Path) -> None:
    """The modules whose own import takes longest, least of five runs."""
    least: dict[str, int] = {}
    for _ in range(5):
        with block.open() as stdin:
            run = subprocess.run(
                [sys.executable, "-X", "importtime", *arguments],
                stdin=stdin,
                capture_output=True,
                text=True,
                check=True,
            )
        for own, name in re.findall(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", run.stderr):
            least[name] = min(int(own), least.get(name, int(own)))
    slowest = sorted(least.items(), key=lambda item: -item[1])
    print_table(["module", "own ms"], [[name, f"{own / 1000:.1f}"] for name, own in slowest[:30]])
    print(f"\nall {len(least)} modules: {sum(least.values()) / 1000:.0f} ms")


if __name__ == "__main__":
    main()
