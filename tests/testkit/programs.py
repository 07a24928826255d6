"""Random programs for GNU as, in both of its syntaxes, and for NASM: code with labels, jumps, alignments,
symbols, expressions and sections, in regions that :mod:`differential` compares."""

from __future__ import annotations

import random

from msgspec import Struct

from testkit.gas_programs import Gas
from testkit.nasm_programs import Nasm, NasmMacros

LANGUAGES = ("att", "intel", "nasm")
"""As programs are counted."""


class Program(Struct, frozen=True):
    """``language``: ``gas`` or ``nasm``; ``syntax``: ``att`` or ``intel`` for ``gas``, else ``auto``."""

    text: str
    language: str
    syntax: str
    needs_programs: bool = False
    """Only with other programs there is a figure."""


def random_program(source: random.Random) -> Program:
    """A program in any of the languages."""
    kind = source.random()
    if kind < 0.03:
        return Program("\n".join([*NasmMacros(source).lines(), ""]), "nasm", "auto", True)
    if kind < 0.3:
        return Program("\n".join([*Nasm(source).lines(), ""]), "nasm", "auto")
    syntax = source.choice(("att", "intel"))
    return Program("\n".join([*Gas(source, syntax).lines(), ""]), "gas", syntax)
