"""Measures the memory of the server and its workers: ``python benchmarks/memory.py [--edits N]``.

A real server over stdio gets distinct edits of one instruction, each after the hints of the previous one, and
requests for colours, symbols and lenses after each. Resident memory of the server and all its worker
processes comes from /proc (Linux).
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from editor_client import Editor
from editor_latency import edits
from measuring import ROOT, describe, print_table

SAMPLES = 10
ASKED = ("semanticTokens/full", "documentSymbol", "codeLens")
"""Requests of editors after an edit, besides hints."""


async def measure(path: Path, count: int) -> list[list[str]]:
    """Edits so far, and MiB of the server and of its workers."""
    editor = Editor(path.read_text(encoding="utf-8"), 1, ["SKL"])
    await editor.open()
    rows = []
    _, line, texts = next(iter(edits(editor.lines, count)))
    for number, text in enumerate(texts):
        if number % (count // SAMPLES) == 0:
            rows.append(row(number, editor.pid))
        await editor.edit(line, text)
        for method in ASKED:
            await editor.ask(f"textDocument/{method}")
    rows.append(row(count, editor.pid))
    await editor.close()
    return rows


def row(edits_so_far: int, server: int) -> list[str]:
    workers = [process for process in descendants(server) if process != server]
    return [
        f"{edits_so_far:,}",
        f"{resident(server):.1f}",
        f"{sum(map(resident, workers)):.1f}",
        str(len(workers)),
    ]


def children(process: int) -> list[int]:
    names = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for name in names for child in name.read_text().split()]


def descendants(process: int) -> list[int]:
    return [process, *(below for child in children(process) for below in descendants(child))]


def resident(process: int) -> float:
    """Resident memory of a process in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory of the server during edits.")
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "examples" / "dot_product.s")
    parser.add_argument("--edits", type=int, default=1000, metavar="N")
    options = parser.parse_args()
    describe()
    rows = asyncio.run(measure(options.file, max(options.edits, SAMPLES)))
    print_table(["edits", "server, MiB", "workers, MiB", "worker processes"], rows)


if __name__ == "__main__":
    main()
