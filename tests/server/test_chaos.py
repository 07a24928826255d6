"""Kills random processes during edits; afterwards every hint is right and no process is left over.

``CYCLELENS_CHAOS_SECONDS`` says for how long (default: 5), ``CYCLELENS_CHAOS_SEED`` which edits and deaths.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import Counter
from typing import Any

import pytest
from lsprotocol import types
from pytest_lsp import ClientServerConfig
from testkit.server.editor import Editor, make_client, small_capabilities
from testkit.server.processes import Process, descendants, eventually, zombies

SERVER = [sys.executable, "-m", "cyclelens.analyzer.cli.main", "lsp"]
SECONDS = float(os.environ.get("CYCLELENS_CHAOS_SECONDS", "5"))
SEED = int(os.environ.get("CYCLELENS_CHAOS_SEED", "1"))
BETWEEN_DEATHS = (0.02, 0.6)
"""Seconds: shorter than a worker takes to start, and long enough for answers."""
BETWEEN_EDITS = (0.02, 0.3)

BODY = ("vmovups (%rsi), %ymm1", "vfmadd231ps (%rdi), %ymm1, %ymm0", "add $32, %rsi", "add $32, %rdi")
TEXTS = {
    # Keystone alone, GNU as, and the C compiler's preprocessor with GNU as behind it.
    "file:///plain.s": BODY,
    "file:///wide.s": (*BODY, "vaddps %zmm1, %zmm2, %zmm3"),
    "file:///macros.S": ("#define STEP 32", *BODY[:2], "add $STEP, %rsi", "vaddps %zmm4, %zmm5, %zmm6"),
}
NEW = ("vpaddd %ymm{}, %ymm{}, %ymm{}", "vmulps %ymm{}, %ymm{}, %ymm{}", "vaddps %zmm{}, %zmm{}, %zmm{}")


def text_of(body: tuple[str, ...]) -> str:
    defines = [line for line in body if line.startswith("#")]
    lines = [f"    {line}" for line in body if not line.startswith("#")]
    return "\n".join(
        [
            *defines,
            "# cyclelens-begin dot",
            ".L1:",
            *lines,
            "    dec %r15",
            "    jnz .L1",
            "# cyclelens-end",
            "",
        ]
    )


class Document(Editor):
    """One of several documents of a client."""

    def __init__(self, client: Any, uri: str) -> None:
        super().__init__(client)
        self.uri = uri

    async def shown(self) -> tuple[dict[int, str], list[tuple[int, int, str]]]:
        """Hints and diagnostics of the present text, once all its results have arrived."""
        await self.complete()
        found = (await self.analysed()).diagnostics
        places = sorted((one.range.start.line, one.range.start.character, one.message) for one in found)
        return await self.labels(), places


async def started(settings: dict[str, object]) -> Any:
    client: Any = await ClientServerConfig(server_command=SERVER, client_factory=make_client).start()
    # What a search finds comes when it comes: two servers would be compared at different moments of it.
    client.set_configuration({"advice": False, **settings}, section="cyclelens")
    await client.initialize_session(types.InitializeParams(capabilities=small_capabilities()))
    return client


async def ended(client: Any) -> None:
    left = list(descendants(client._server.pid))
    await client.shutdown_session()
    assert client._server.returncode == 0
    await client.stop()
    assert await eventually(lambda: not any(one.runs for one in left)), left


async def kill_at_random(server: int, end: float, choose: random.Random) -> list[Process]:
    """Kill descendants of a server until a time. Returns all of them."""
    victims: list[Process] = []
    loop = asyncio.get_running_loop()
    while loop.time() < end:
        # Workers would hardly ever have a child if they died as often as all others.
        alive = list(descendants(server))
        children = [one for one in alive if kind_of(one) not in ("worker", "tracker")]
        if among := children if choose.random() < 0.5 else alive:
            victims.append(choose.choice(among))
            victims[-1].kill()
        await asyncio.sleep(choose.uniform(*BETWEEN_DEATHS))
    return victims


def kind_of(victim: Process) -> str:
    if victim.is_worker:
        return "worker"
    if victim.is_assembler:
        return "keystone"
    if "resource_tracker" in victim.command:
        return "tracker"
    return os.path.basename(victim.command.split(" ")[0])


@pytest.mark.asyncio
async def test_after_any_death_every_hint_is_right_and_no_process_is_left() -> None:
    choose = random.Random(SEED)
    # A fresh server has no older figures to compare with.
    settings = {"debounceMs": 10, "microarchitectures": ["SKX"], "hints": {"change": False}}
    client = await started(settings)
    server = client._server.pid
    documents = [Document(client, uri) for uri in TEXTS]
    for document in documents:
        document.send_open(text_of(TEXTS[document.uri]))
    loop = asyncio.get_running_loop()
    end = loop.time() + SECONDS
    killing = asyncio.ensure_future(kill_at_random(server, end, random.Random(SEED + 1)))
    edits = 0
    while loop.time() < end:
        document = choose.choice(documents)
        instruction = choose.choice(NEW).format(*(choose.randrange(16) for _ in range(3)))
        if edits % 20 == 19:
            document.replace_all(text_of(TEXTS[document.uri]))
        else:
            document.type(document.text.split("\n").index(".L1:") + 1, 0, f"    {instruction}\n")
        edits += 1
        await asyncio.sleep(choose.uniform(*BETWEEN_EDITS))
    victims = await killing
    killed = Counter(map(kind_of, victims))
    print(f"{SECONDS:g} s, {edits} edits, killed: {dict(killed)}, messages: {len(client.messages)}")
    assert killed["worker"]
    # Who was not told that an analysis was given up has its answer without another edit.
    if not any("next edit" in one.message for one in (*client.messages, *client.log_messages)):
        for document in documents:
            await document.shown()
    for document in documents:
        document.type(document.text.count("\n"), 0, "# done")
    shown = [await document.shown() for document in documents]
    # Python collects its own tracker when it needs the next one.
    trackers = {one.pid for one in victims if kind_of(one) == "tracker"}
    assert not set(zombies(server)) - trackers

    fresh = await started(settings)
    for document, expected in zip(documents, shown, strict=True):
        other = Document(fresh, document.uri)
        await other.open(document.text)
        assert await other.shown() == expected
    await ended(fresh)
    await ended(client)
