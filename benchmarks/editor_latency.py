"""Time from an edit to refreshed hints, as an editor sees it: ``python benchmarks/editor_latency.py [FILE]``.

``--lines 20000`` makes the file that long: copies of it with labels of their own, every twentieth with its
regions.

A real server over stdio gets 50 edits of each kind, one after the other. The clock runs from sending the edit
to holding the answer to the hint request that follows the server's refresh. The debounce, a wait on purpose,
is stated and subtracted.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

EXAMPLES = Path(__file__).parents[1] / "examples"


class Editor:
    """Sends edits of one document and waits for what the server shows."""

    def __init__(self, text: str, debounce: int, microarchitectures: list[str]) -> None:
        self.lines = text.splitlines()
        self.debounce = debounce
        self.version = 0
        self.uri = "file:///benchmark.s"
        self.settings = {"debounceMs": debounce, "microarchitectures": microarchitectures}
        self.client = LanguageClient("benchmark", "1")
        self.refreshed = asyncio.Event()
        self.published = -1

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published = params.version if params.version is not None else -1

        @self.client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(_params: None) -> None:
            # Diagnostics come first, and say which version this refresh is about.
            if self.published == self.version:
                self.refreshed.set()

    async def open(self) -> float:
        """Start the server and open the document. Returns seconds until its hints are there."""
        started = time.perf_counter()
        await self.client.start_io(sys.executable, "-m", "cyclelens.analyzer.cli", "lsp")
        hints = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
        workspace = types.WorkspaceClientCapabilities(inlay_hint=hints)
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(workspace=workspace),
                initialization_options=self.settings,
            )
        )
        self.client.initialized(types.InitializedParams())
        document = types.TextDocumentItem(self.uri, "asm", 0, "\n".join(self.lines))
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        await self._hints()
        return time.perf_counter() - started

    async def edit(self, line: int, text: str) -> float:
        """Replace a line. Returns seconds until the new hints are there."""
        self.version += 1
        self.refreshed.clear()
        started = time.perf_counter()
        change = types.TextDocumentContentChangePartial(
            range=types.Range(types.Position(line, 0), types.Position(line, len(self.lines[line]))), text=text
        )
        document = types.VersionedTextDocumentIdentifier(version=self.version, uri=self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        self.lines[line] = text
        await self._hints()
        return time.perf_counter() - started

    async def close(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    async def _hints(self) -> None:
        await asyncio.wait_for(self.refreshed.wait(), 120)
        whole = types.Range(types.Position(0, 0), types.Position(len(self.lines), 0))
        hints = await self.client.text_document_inlay_hint_async(
            types.InlayHintParams(types.TextDocumentIdentifier(self.uri), whole)
        )
        if not hints:
            raise SystemExit("no hints: the file has no region that can be analysed")


def lengthened(text: str, lines: int) -> str:
    """Copies of a text below each other until it has so many lines."""
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
    """Kind of edit, line, and the texts that it gets one after the other."""
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
    parser.add_argument("file", nargs="?", type=Path, help="assembly file (default: the first example)")
    parser.add_argument("--edits", type=int, default=50, help="edits of each kind (default: 50)")
    parser.add_argument("--lines", type=int, default=0, metavar="N", help="make the file that long")
    parser.add_argument("--debounce", type=int, default=150, help="milliseconds (default: 150, the server's)")
    parser.add_argument("--arch", default="SKL", help="microarchitectures, separated by commas")
    options = parser.parse_args()
    path = options.file or next(iter(sorted(EXAMPLES.glob("*.[sS]"))), None)
    if path is None:
        parser.error("there is no example; name a file")
    asyncio.run(
        measure(path, options.lines, max(options.edits, 2), options.debounce, options.arch.split(","))
    )


if __name__ == "__main__":
    main()
