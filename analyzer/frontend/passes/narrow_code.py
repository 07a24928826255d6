"""Reports a region that looks like 32-bit code in a text that may hold code for several modes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.source.other_languages import says_64_bits
from cyclelens.analyzer.frontend.statements.registers import GENERAL_32, GENERAL_64
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.model.source import Problem, Region, Severity

_ADDRESS = re.compile(r"[\[(][ \t]*%?e(?:[abcd]x|[sd]i|[bs]p)\b", re.IGNORECASE)
_ADDRESS_SIZE = re.compile(r"\b(?:addr32|a32)\b", re.IGNORECASE)
_MESSAGE = (
    "This looks like 32-bit code: its addresses are in 32-bit registers, and no register has 64 bits. It is "
    "analysed as 64-bit code; if it is that, write .code64 above it (NASM: BITS 64)."
)


def remark_narrow_code(run: AssemblyRun, regions: Iterable[Region]) -> None:
    """Report the first such region."""
    if not run.source.has(_ADDRESS.search) or run.source.has(_ADDRESS_SIZE.search) or says_64_bits(run.text):
        return
    for region in regions:
        if region.lines and _is_narrow(region.code, run):
            line = region.lines[0]
            place = line.line, line.column, line.end_column
            run.problems.append(Problem(*place, "not-supported", _MESSAGE, Severity.WARNING))
            return


def _is_narrow(code: bytes, run: AssemblyRun) -> bool:
    named: set[str] = set()
    addressed: set[str] = set()
    for instruction in decode(code, run.memory.caches):
        for operand in instruction.operands:
            addressed.update(name.lower() for name in (operand.base, operand.index) if name)
            named.update(name.lower() for name in (operand.register,) if name)
    return not addressed.isdisjoint(GENERAL_32) and GENERAL_64.isdisjoint(addressed | named)
