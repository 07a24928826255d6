"""Runs a server under hostile edits for a long time and reports growth and leftovers.

    python benchmarks/soak.py [--minutes 20] [--seed 1] [--pause 0.5]

Documents of all kinds are opened, edited at random (half-typed lines, unexpected names, files that do not
end, macro bombs, very long lines), queried and closed again. Every minute one line shows the server's memory,
open descriptors, child processes and temporary files; the last lines compare the first minute with the last.
The exit code tells whether the server survived, shut down properly and left nothing behind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from editor_client import SERVER, _frame
from msgspec import Struct

LOOP = "# cyclelens-begin\n.L1:\naddps %xmm0, %xmm1\nmov (%rsi), %eax\ndec %ecx\njnz .L1\n# cyclelens-end\n"
NASM = ".l: addps xmm0, xmm1\nmov eax, [rsi]\ndec ecx\njnz .l\n"
TEXTS = {
    "a.s": LOOP,
    "b.s": LOOP * 20,
    "c.S": "#define N 4\n" + LOOP.replace("%eax", "%ebx"),
    "d.asm": NASM,
    "e.asm": "%macro q 0\nnop\n%endmacro\n" + NASM.replace("dec", "q\ndec"),
    "f.c": "void f(float *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }\n",
}
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


class Sample(Struct, frozen=True):
    """The server at one moment."""

    seconds: float
    memory: int
    """MiB that are resident, of the server alone."""
    tree: int
    """The same, of the server and all processes below it."""
    descriptors: int
    processes: int
    left: int
    """Files and folders in the temporary folder."""
    edits: int


def _children(pid: int) -> list[int]:
    found = []
    with suppress(OSError, ValueError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += [int(child), *_children(int(child))]
    return found


def _memory(pid: int) -> int:
    with suppress(OSError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 >> 20
    return 0


class Soak:
    """One server and its documents."""

    def __init__(self, folder: Path, temporary: Path, chance: random.Random) -> None:
        self._folder, self._temporary, self._chance = folder, temporary, chance
        self._open: dict[str, list[str]] = {}
        self._versions: dict[str, int] = {}
        self._number = self.edits = self.answers = 0
        self.failed: list[str] = []
        self._process: asyncio.subprocess.Process

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *SERVER,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=(self._folder / "stderr").open("wb"),
            env={**os.environ, "TMPDIR": str(self._temporary)},
        )
        self._reader = asyncio.create_task(self._read())
        settings = {"debounceMs": 50, "timeoutMs": 3000}
        root = {"processId": os.getpid(), "rootUri": self._folder.as_uri(), "capabilities": {}}
        self._ask("initialize", {**root, "initializationOptions": settings})
        self._send({"method": "initialized", "params": {}})

    def step(self) -> None:
        """One thing that an editor does."""
        name, what = self._chance.choice(list(TEXTS)), self._chance.random()
        document = {"uri": (self._folder / name).as_uri()}
        if name not in self._open:
            self._open[name] = TEXTS[name].split("\n")
            self._versions[name] = 1
            text = {"languageId": "asm", "version": 1, "text": TEXTS[name], **document}
            self._send({"method": "textDocument/didOpen", "params": {"textDocument": text}})
        elif what < 0.05:
            del self._open[name]
            self._send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        elif what < 0.25:
            end = {"line": 60, "character": 0}
            span = {"start": {"line": 0, "character": 0}, "end": end}
            self._ask("textDocument/inlayHint", {"textDocument": document, "range": span})
            self._ask(self._chance.choice(REQUESTS), {"textDocument": document})
            self._ask(
                "textDocument/hover", {"textDocument": document, "position": {"line": 3, "character": 1}}
            )
        else:
            self._edit(name, document)

    def _edit(self, name: str, document: dict[str, Any]) -> None:
        lines = self._open[name]
        self.edits += 1
        self._versions[name] += 1
        at = self._chance.randrange(len(lines))
        if len(lines) > 400 or self._chance.random() < 0.1:
            change: dict[str, Any] = {"text": TEXTS[name]}
            self._open[name] = TEXTS[name].split("\n")
        else:
            new = self._chance.choice(LINES)
            if self._chance.random() < 0.5:
                new = new[: self._chance.randrange(len(new) + 1)]
            end = {"line": at, "character": len(lines[at].encode("utf-16-le")) // 2}
            change = {"range": {"start": {"line": at, "character": 0}, "end": end}, "text": new}
            lines[at : at + 1] = new.split("\n")
        changed = {**document, "version": self._versions[name]}
        params = {"textDocument": changed, "contentChanges": [change]}
        self._send({"method": "textDocument/didChange", "params": params})

    def sample(self, seconds: float) -> Sample:
        below = _children(self._process.pid)
        left = sum(len(folders) + len(files) for _, folders, files in os.walk(self._temporary))
        return Sample(
            seconds,
            _memory(self._process.pid),
            sum(map(_memory, (self._process.pid, *below))),
            len(os.listdir(f"/proc/{self._process.pid}/fd")),
            1 + len(below),
            left,
            self.edits,
        )

    async def rest(self) -> None:
        """Close everything, and give the server time to clear up."""
        for name in list(self._open):
            document = {"uri": (self._folder / name).as_uri()}
            self._send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        self._open.clear()
        await asyncio.sleep(15)

    async def end(self) -> int | None:
        """The exit code; None for a server that does not end."""
        self._ask("shutdown", None)
        self._send({"method": "exit"})
        try:
            return await asyncio.wait_for(self._process.wait(), 30)
        except TimeoutError:
            self._process.kill()
            return None

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    def _ask(self, method: str, params: object) -> None:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(_frame(message))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self._process.stdout.readuntil(b"\r\n\r\n")
                fields = dict(line.split(b": ") for line in head.split(b"\r\n") if line)
                message = json.loads(await self._process.stdout.readexactly(int(fields[b"Content-Length"])))
                self.answers += "id" in message and "method" not in message
                if "method" in message and "id" in message:
                    self._send({"id": message["id"], "result": None})
                error = message.get("error")
                if error is not None and error.get("code") in (-32603, -32001):
                    self.failed.append(str(error.get("message"))[:200])


async def soak(minutes: float, seed: int, pause: float) -> int:
    """Run it and print what there is to see. Returns the exit code."""
    with tempfile.TemporaryDirectory() as place:
        folder, temporary = Path(place, "workspace"), Path(place, "temporary")
        folder.mkdir()
        temporary.mkdir()
        os.mkfifo(folder / "fifo")
        for name, text in TEXTS.items():
            (folder / name).write_text(text)
        run, samples = Soak(folder, temporary, random.Random(seed)), []
        await run.start()
        begun, told = time.monotonic(), 0.0
        print(" minute  server MiB  tree MiB  descriptors  processes  left files  edits", flush=True)
        while (passed := time.monotonic() - begun) < 60 * minutes and run.is_alive:
            run.step()
            await asyncio.sleep(pause)
            if passed >= told:
                told += 60
                samples.append(run.sample(passed))
                _tell(samples[-1])
        if not run.is_alive:
            print("the server has died")
            return 1
        await run.rest()
        samples.append(run.sample(time.monotonic() - begun))
        _tell(samples[-1])
        code = await run.end()
        left = sorted(str(path.relative_to(temporary)) for path in temporary.rglob("*"))
        size = (folder / "stderr").stat().st_size
        print(
            f"{run.edits} edits, {run.answers} answers, {len(run.failed)} internal errors {set(run.failed)}"
        )
        print(f"exit {code}; left {left}; {size} bytes on standard error")
        return int(code != 0 or bool(left) or bool(run.failed))


def _tell(sample: Sample) -> None:
    print(
        f"{sample.seconds / 60:7.1f}{sample.memory:12}{sample.tree:10}{sample.descriptors:13}"
        f"{sample.processes:11}{sample.left:12}{sample.edits:7}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two steps")
    options = parser.parse_args()
    sys.exit(asyncio.run(soak(options.minutes, options.seed, options.pause)))


if __name__ == "__main__":
    main()
