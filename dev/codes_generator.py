"""Makes ``codes.txt``: what the installed version of iced-x86 says of each of its codes. Run once per
version::

    python dev/codes_generator.py
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from cyclelens.analyzer.isa.codes import CODES_PATH, asked, enum_names, text_of
from iced_x86 import Code, CodeSize, Instruction

PSEUDO = frozenset({Code.INVALID, Code.DECLAREBYTE, Code.DECLAREWORD, Code.DECLAREDWORD, Code.DECLAREQWORD})
"""Codes of no instruction."""


def sample(code: int) -> Instruction:
    """An instruction with this code."""
    instruction = Instruction.create(code)  # type: ignore[arg-type]
    instruction.code_size = CodeSize.CODE64
    return instruction


def lines() -> list[str]:
    """The table, with the version in its first line."""
    codes = sorted(enum_names(Code).keys() - PSEUDO)
    header = f"# Made by dev/codes_generator.py. What is said by iced-x86 {version('iced-x86')}"
    return [header, *(text_of(code, asked(sample(code))) for code in codes)]


def main() -> None:
    """Write the table of the package."""
    made = lines()
    Path(CODES_PATH).write_text("\n".join(made) + "\n", encoding="ascii")
    print(f"{len(made) - 1} codes written to {CODES_PATH}")


if __name__ == "__main__":
    main()
