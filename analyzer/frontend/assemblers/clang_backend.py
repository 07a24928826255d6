"""clang as an assembler, for machines without GNU as for x86-64, such as Macs with the command line tools.

Each statement is put into its own section, which then holds its bytes. clang reports rejected statements by
line, and the rest is assembled again without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.assemblers.object_code import code_sections
from cyclelens.analyzer.frontend.assemblers.program_client import Assembler, ProgramClient

TIMEOUT = 3.0
"""Seconds for one run, which usually takes some tens of milliseconds."""
_HEADERS = {"att": ".att_syntax prefix", "intel": ".intel_syntax noprefix"}
_OPTIONS = ("--target=x86_64-linux-gnu", "-x", "assembler", "-c", "-o", "out.o", "-")
_REFUSED = re.compile(r"^<stdin>:(\d+):\d+: (?:fatal )?error:", re.MULTILINE)
_MOST_RUNS = 8
"""Maximum runs per batch. clang reports all errors of a text at once, but a removed statement may expose
others."""


def run(program: str, dialect: str, statements: Sequence[str]) -> Mapping[int, bytes]:
    """See ``Assembler.run``."""
    taken = dict(enumerate(statements))
    for _ in range(_MOST_RUNS):
        if not taken:
            break
        # Two lines per statement: the statements themselves are lines 3, 5, 7 ...
        lines = [_HEADERS[dialect]]
        for index, statement in taken.items():
            lines += [f'.section .s{index},"ax",@progbits', statement]
        text = "\n".join([*lines, ""])
        done = external.run(external.Job([program, *_OPTIONS], TIMEOUT, text, wanted=("out.o",)))
        if done.status == 0:
            sections = code_sections(done.files.get("out.o", b""))
            return {index: sections[f".s{index}"] for index in taken if sections.get(f".s{index}")}
        order = list(taken)
        refused = {int(line) // 2 - 1 for line in _REFUSED.findall(done.errors)}
        if not refused:
            break
        for place in refused:
            if 0 <= place < len(order):
                del taken[order[place]]
    return {}


CLANG = Assembler("clang", ("clang",), run)

_shared = ProgramClient(CLANG)


def shared_clang_client() -> ProgramClient:
    """This process's client."""
    return _shared
