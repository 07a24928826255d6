"""GNU as as a fallback assembler. Its listing has the bytes of each line; a rejected line has none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.assemblers.program_client import Assembler, ProgramClient

TIMEOUT = 3.0
"""Seconds for one run, which usually takes some milliseconds."""
_HEADERS = {"att": ".att_syntax prefix", "intel": ".intel_syntax noprefix"}
_OPTIONS = ("--64", "-aln", "--listing-lhs-width=8", "--listing-cont-lines=20", "-o", "out.o", "-")
_LISTED = re.compile(r"\s*(\d+) (?:[0-9a-f]{4,}|\?{4,}) ([0-9A-F]+(?: [0-9A-F]+)*)(?=\s|$)")
_CONTINUED = re.compile(r"\s*(\d+)\s+([0-9A-F]{2,})\s*$")


def run(program: str, dialect: str, statements: Sequence[str]) -> Mapping[int, bytes]:
    """See ``Assembler.run``."""
    text = "\n".join([_HEADERS[dialect], *statements, ""])
    done = external.run(external.Job([program, *_OPTIONS], TIMEOUT, text))
    listed = parse_listing(done.output.decode("ascii", "replace"))
    return {line - 2: code for line, code in listed.items()}


def parse_listing(listing: str) -> dict[int, bytes]:
    """Bytes by line (from 1) in GNU as's listing of a text."""
    digits: dict[int, str] = defaultdict(str)
    for line in listing.splitlines():
        match = _LISTED.match(line) or _CONTINUED.fullmatch(line)
        if match:
            digits[int(match[1])] += match[2].replace(" ", "")
    return {line: bytes.fromhex(text) for line, text in digits.items()}


GNU_AS = Assembler("GNU as", ("as", "x86_64-linux-gnu-as", "x86_64-elf-as"), run)
"""Where the machine is not x86-64, ``as`` targets another processor."""

_shared = ProgramClient(GNU_AS)


def shared_gnu_client() -> ProgramClient:
    """This process's client."""
    return _shared
