"""The server of ``soak.py`` with its documents: random edits, questions, and what it shows in the end."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from editor_client import SERVER, _frame
from msgspec import Struct

LOOP = "# cyclelens-begin\n.L1:\naddps %xmm0, %xmm1\nmov (%rsi), %eax\ndec %ecx\njnz .L1\n# cyclelens-end\n"
NASM = ".l: addps xmm0, xmm1\nmov eax, [rsi]\ndec ecx\njnz .l\n"
TEXTS = {
    ".s": (LOOP, LOOP * 20),
    ".S": ("#define N 4\n" + LOOP.replace("%eax", "%ebx"),),
    ".asm": (NASM, "%macro q 0\nnop\n%endmacro\n" + NASM.replace("dec", "q\ndec")),
    ".c": ("void f(float *a, int n) {\nfor (int i = 0; i < n; i++)\na[i] *= 2;\n}\n",),
}
"""Suffix of a document -> texts that it may begin with."""
LINES = (
    "mov (%rs",
    "vaddps %ymm0, %ymm1,",
    '.include "fifo"',
    '.incbin "/dev/zero"',
    '.include "../outside.inc"',
    '#include "fifo"',
    '%include "fifo"',
    "%rep 100000",
    "%define a a a a",
    ".rept 1000000\nnop\n.endr",
    ".macro m\nm\nm\n.endm\nm",
    ".irp x,1,2,3\nadd $\\x, %eax\n.endr",
    "imul %rax, %rbx",
    "vaddps %zmm1, %zmm2, %zmm3",
    "imul rax, rbx",
    "a[i] += a[i] * 3;",
    "int x = a[",
    '"a b": jmp "a b"',
    '"\0": jmp "',
    ".set \U00013000, 5\nmov $\U00013000, %eax",
    "x = y\ny = x\nmov $x, %eax",
    ".skip 0x7fffffffffffffff",
    ".org 1 << 62",
    ".fill 1 << 40, 8, 1",
    "mov $" + "(" * 3000 + "1" + ")" * 3000 + ", %eax",
    "# " + "x" * 100_000,
    "jmp " + "a" * 50_000,
    "# cyclelens-begin",
    "# cyclelens-end",
    "/*",
    "*/",
    ";" * 5_000,
    "\ud7ff\u202e\u0007",
    "",
)
REQUESTS = (
    "textDocument/documentSymbol",
    "textDocument/codeLens",
    "textDocument/semanticTokens/full",
    "textDocument/foldingRange",
)
LONGEST = 400
"""Lines above which a document starts again."""
INTERNAL = (-32603, -32001)
"""JSON-RPC's codes of an error within the server."""


class Shown(Struct, frozen=True):
    """What a server shows of a document, without what it keeps of earlier texts."""

    regions: tuple[tuple[str, int, str], ...]
    """Name, first line and figures of those that have figures."""
    problems: tuple[tuple[int, str, str], ...]
    hints: tuple[tuple[int, int, str], ...]


class SoakedServer:
    """One server, its documents, and an editor that does everything at random."""

    def __init__(self, folder: Path, log: Path, names: tuple[str, ...], chance: random.Random) -> None:
        """
        :param folder: the workspace.
        :param log: takes what the server writes to standard error.
        """
        self.edits = self.answers = 0
        self.failed: Counter[str] = Counter()
        """Internal errors."""
        self.told: Counter[str] = Counter()
        """Messages to the user."""
        self._folder, self._log, self._names, self._chance = folder, log, names, chance
        self._open: dict[str, list[str]] = {}
        self._version = self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._process: asyncio.subprocess.Process

    @property
    def pid(self) -> int:
        """Process id of the server, which is the number of its session, too."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    @property
    def texts(self) -> dict[str, str]:
        """The open documents."""
        return {name: "\n".join(lines) for name, lines in self._open.items()}

    async def start(self, settings: Mapping[str, object], environment: Mapping[str, str]) -> None:
        """Start the server in a session of its own. ``environment`` is added to this process's."""
        with self._log.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                *SERVER,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        self._reader = asyncio.create_task(self._read())
        root = {"processId": os.getpid(), "rootUri": self._folder.as_uri(), "capabilities": {}}
        await self._ask("initialize", {**root, "initializationOptions": settings})
        self._send({"method": "initialized", "params": {}})

    def step(self) -> None:
        """One thing that an editor does."""
        name, what = self._chance.choice(self._names), self._chance.random()
        if name not in self._open:
            self.open(name, self._chance.choice(TEXTS[Path(name).suffix]))
        elif what < 0.02:
            del self._open[name]
            self._tell("textDocument/didClose", name)
        elif what < 0.25:
            span = {"start": {"line": 0, "character": 0}, "end": {"line": 60, "character": 0}}
            self._request("textDocument/inlayHint", name, range=span)
            self._request(self._chance.choice(REQUESTS), name)
            self._request("textDocument/hover", name, position={"line": 3, "character": 1})
        else:
            self._edit(name)

    def open(self, name: str, text: str) -> None:
        """Open a document."""
        self._open[name] = text.split("\n")
        self._tell("textDocument/didOpen", name, languageId="asm", version=self._version, text=text)

    def configure(self, settings: Mapping[str, object]) -> None:
        """Change the settings."""
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": settings}})

    def touch_all(self) -> None:
        """Open what is closed, and edit every document once more: where the server has given up an analysis,
        it has said that the next edit tries again."""
        for name in self._names:
            if name not in self._open:
                self.open(name, TEXTS[Path(name).suffix][0])
            last = len(self._open[name]) - 1
            self._replace(name, last, "", self._open[name][last] == "")

    async def shown(self, name: str, patience: float) -> Shown | None:
        """What is shown once the analysis of the present text is complete; None if that takes longer than
        ``patience`` seconds."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    found = await self._request("cyclelens/analysis", name)
                    if found["upToDate"]:
                        span = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
                        return _shown(found, await self._request("textDocument/inlayHint", name, range=span))
            await asyncio.sleep(0.1)
        return None

    async def end(self, patience: float = 30.0) -> int | None:
        """Shut the server down. Returns its exit code; None if it does not end."""
        for name in list(self._open):
            self._tell("textDocument/didClose", name)
        self._open.clear()
        try:
            async with asyncio.timeout(patience):
                await self._ask("shutdown", None)
                self._send({"method": "exit"})
                return await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            return None

    def _edit(self, name: str) -> None:
        lines, chance = self._open[name], self._chance
        self.edits += 1
        if len(lines) > LONGEST or chance.random() < 0.25:
            text = chance.choice(TEXTS[Path(name).suffix])
            self._open[name] = text.split("\n")
            self._change(name, {"text": text})
            return
        new = chance.choice(LINES)
        if name.endswith(".c") and "fifo" in new:
            new = ""  # a compiler is not confined: it waits for a FIFO as long as it may run
        if chance.random() < 0.5:
            new = new[: chance.randrange(len(new) + 1)]
        self._replace(name, chance.randrange(len(lines)), new)

    def _replace(self, name: str, at: int, new: str, longer: bool = False) -> None:
        """Replace a line; ``longer`` adds an empty one behind it."""
        lines = self._open[name]
        end = {"line": at, "character": len(lines[at].encode("utf-16-le")) // 2}
        text = new + "\n" * longer
        self._change(name, {"range": {"start": {"line": at, "character": 0}, "end": end}, "text": text})
        lines[at : at + 1] = text.split("\n")

    def _change(self, name: str, change: Mapping[str, object]) -> None:
        self._version += 1
        document = {"uri": self._uri(name), "version": self._version}
        params = {"textDocument": document, "contentChanges": [change]}
        self._send({"method": "textDocument/didChange", "params": params})

    def _uri(self, name: str) -> str:
        return (self._folder / name).as_uri()

    def _tell(self, method: str, name: str, **document: object) -> None:
        params = {"textDocument": {"uri": self._uri(name), **document}}
        self._send({"method": method, "params": params})

    def _request(self, method: str, name: str, **more: object) -> asyncio.Future[Any]:
        return self._ask(method, {"textDocument": {"uri": self._uri(name)}, **more})

    def _ask(self, method: str, params: object) -> asyncio.Future[Any]:
        self._number += 1
        self._waiting[self._number] = answer = asyncio.get_running_loop().create_future()
        self._send({"id": self._number, "method": method, "params": params})
        return answer

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(_frame(message))

    async def _read(self) -> None:
        """Take in messages until the server ends."""
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self._process.stdout.readuntil(b"\r\n\r\n")
                fields = dict(line.split(b": ") for line in head.split(b"\r\n") if line)
                self._take(json.loads(await self._process.stdout.readexactly(int(fields[b"Content-Length"]))))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            if "id" in message:
                self._send({"id": message["id"], "result": None})
            elif message["method"] == "window/showMessage":
                self.told[str(message["params"]["message"])[:200]] += 1
            elif message["method"] == "window/logMessage" and "Traceback" in message["params"]["message"]:
                self.failed[str(message["params"]["message"])[-2000:]] += 1
            return
        self.answers += 1
        if (message.get("error") or {}).get("code") in INTERNAL:
            self.failed[str(message["error"].get("message"))[:200]] += 1
        answer = self._waiting.pop(message["id"], None)
        if answer is not None and not answer.done():
            answer.set_result(message.get("result"))


def _shown(analysis: dict[str, Any], hints: list[dict[str, Any]] | None) -> Shown:
    """A region without a figure keeps the hints of its last one, which a fresh server cannot know."""
    regions, kept = [], set[int]()
    for region in analysis["regions"]:
        if region["stale"] or not region["complete"]:
            kept.update(range(region["firstLine"], region["lastLine"] + 1))
        else:
            regions.append((region["name"], region["firstLine"], region["headline"]))
    problems = [(each["line"], each["code"], each["message"]) for each in analysis["problems"]]
    return Shown(tuple(sorted(regions)), tuple(sorted(problems)), tuple(sorted(_places(hints or [], kept))))


def _places(hints: list[dict[str, Any]], without: set[int]) -> Iterator[tuple[int, int, str]]:
    for hint in hints:
        place = hint["position"]
        if place["line"] not in without:
            yield place["line"], place["character"], str(hint["label"]).strip()
