"""Measures the time from an edit to refreshed hints: ``python benchmarks/editor_latency.py [FILE]``.

``--lines 20000`` extends the file to that length: copies with separate labels, every twentieth with its
regions.

A real server over stdio gets 50 edits of each kind in turn. The clock runs from sending the edit's bytes to
receiving the answer to the hint request that follows the server's refresh. The debounce, a deliberate wait,
is stated and subtracted.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from editor_client import Editor

KERNEL = Path(__file__).parent / "matrix_tile.s"
"""A region of 30 instructions."""


def lengthened(text: str, lines: int) -> str:
    """Repeat a text until it has ``lines`` lines."""
    labels = "|".join(re.escape(name) for name in re.findall(r"^\s*([\w.$]+):", text, re.MULTILINE))
    name = re.compile(rf"(?<![\w.$])(?:{labels})(?![\w.$])")
    made: list[str] = []
    while sum(copy.count("\n") for copy in made) < lines:
        number = len(made)
        copy = name.sub(rf"\g<0>_{number}", text)
        if number % 20:
            copy = re.sub(r"^.*cyclelens-(?:begin|end).*$", "", copy, flags=re.MULTILINE)
        made.append(re.sub(r"(cyclelens-begin \w+)", rf"\1_{number}", copy))
    return "".join(made)


def edits(lines: list[str], count: int) -> Iterator[tuple[str, int, list[str]]]:
    """Kind of edit, line, and the successive texts of that line."""
    marker = next(index for index, line in enumerate(lines) if "cyclelens-begin" in line)
    place = next(
        index
        for index in range(marker + 1, len(lines))
        if lines[index][:1].isspace() and lines[index].strip()
    )
    old = lines[place]
    added = "add ${}, %r11" if "%" in "".join(lines[marker:]) else "add r11, {}"
    yield "an instruction changes", place, [f"    {added.format(n + 1)}; {old.strip()}" for n in range(count)]
    yield "a comment changes", marker + 1, [f"{lines[marker + 1]} # {n}" for n in range(count)]


async def measure(path: Path, lines: int, count: int, debounce: int, microarchitectures: list[str]) -> None:
    text = path.read_text(encoding="utf-8")
    editor = Editor(lengthened(text, lines) if lines else text, debounce, microarchitectures)
    cold = await editor.open()
    names = ", ".join(microarchitectures)
    print(f"{path.name}, {len(editor.lines):,} lines, {names}, debounce {debounce} ms (subtracted)")
    print(f"open, cold, from starting the server: {cold * 1000:.0f} ms")
    print(f"{'edits':<26}{'count':>6}{'median ms':>11}{'p95 ms':>9}{'worst ms':>10}")
    for kind, line, texts in edits(editor.lines, count):
        old = editor.lines[line]
        times = [await editor.edit(line, text) * 1000 - debounce for text in texts]
        await editor.edit(line, old)
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"{kind:<26}{len(times):>6}{statistics.median(times):>11.1f}{p95:>9.1f}{max(times):>10.1f}")
    await editor.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Time from an edit to refreshed hints.")
    parser.add_argument(
        "file", nargs="?", type=Path, default=KERNEL, help="assembly file (default: %(default)s)"
    )
    parser.add_argument("--edits", type=int, default=50, help="edits of each kind (default: 50)")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="make the file that long")
    parser.add_argument("--debounce", type=int, default=150, help="milliseconds (default: 150, the server's)")
    parser.add_argument("--arch", default="SKL", help="microarchitectures, separated by commas")
    options = parser.parse_args()
    names = options.arch.split(",")
    asyncio.run(measure(options.file, options.lines, max(options.edits, 2), options.debounce, names))


if __name__ == "__main__":
    main()
