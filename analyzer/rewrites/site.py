"""One instruction in its text: reads its statement and writes replacements in the text's dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from cyclelens.analyzer.frontend.source.chunks import SourceText
from cyclelens.analyzer.frontend.source.dialect import AssemblerStyle, style
from cyclelens.analyzer.frontend.source.lexer import cut_operands, leading_labels, without_comments
from cyclelens.analyzer.frontend.source.surroundings import words_around
from cyclelens.analyzer.isa.register_use import used_registers
from cyclelens.analyzer.model.instruction import DecodedOperand, OperandKind
from cyclelens.analyzer.model.result import Finding, Prediction, RegionAnalysis
from cyclelens.analyzer.model.source import Region, Severity, SourceLine
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.proposal import Replacement
from msgspec import Struct

SCRATCH = ("R11", "R10", "R9", "R8", "RSI", "RDI", "RCX", "RDX", "RAX")
"""Registers that a function need not preserve (System V ABI), the least used first."""

UNUSED = "which the region does not use"
"""What a rewrite says of a register from ``Site.scratch``."""

CLEARED = "its upper part becomes zero"
"""What a rewrite says of a register that it writes as a whole."""

_LEGACY = ("AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP")


def resized(register: str, bits: int) -> str:
    """The name of a general-purpose register at 8, 16, 32 or 64 bits: ``AL``, ``AX`` ...

    Raises ``ValueError`` if ``register`` is no such register; AH to DH are not accepted."""
    match = re.fullmatch(r"R(\d+)[DWB]?", register)
    if match:
        return f"R{match[1]}" + {8: "B", 16: "W", 32: "D", 64: ""}[bits]
    for name in _LEGACY:
        byte = f"{name[0]}L" if name.endswith("X") else f"{name}L"
        if register in (name, f"E{name}", f"R{name}", byte):
            return {8: byte, 16: name, 32: f"E{name}", 64: f"R{name}"}[bits]
    raise ValueError(f"{register} is no general-purpose register")


class MarkedText:
    """A text with a region, and the facts about the surrounding text that rewrites need."""

    def __init__(self, lines: Sequence[str], region: Region) -> None:
        self.lines = tuple(lines)
        self._first, self._last = region.first_line, region.last_line

    @cached_property
    def words_around(self) -> frozenset[str]:
        """Words of the function around the region, in lower case."""
        return words_around(self.lines, self._first, self._last)

    @cached_property
    def named_around(self) -> frozenset[str]:
        """Scratch registers that the function around the region names."""
        words = self.words_around
        return frozenset(
            name
            for name in SCRATCH
            if words.intersection(resized(name, bits).lower() for bits in (8, 16, 32, 64))
            or f"{name[1]}h".lower() in words
        )

    @cached_property
    def is_nasm(self) -> bool:
        """Whether the file is in NASM's language."""
        return style(SourceText("\n".join(self.lines))) is AssemblerStyle.NASM


class Site(Struct, frozen=True):
    """An instruction of a region, with its statement in the text."""

    written: MarkedText
    dialect: str
    analysis: RegionAnalysis
    index: int

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines of the text."""
        return self.written.lines

    @property
    def prediction(self) -> Prediction:
        return self.analysis.predictions[0]

    @property
    def template(self) -> InstructionTemplate:
        return self.prediction.instructions[self.index]

    @property
    def statement(self) -> SourceLine:
        return self.analysis.region.lines[self.analysis.instruction_lines[self.index]]

    @property
    def findings(self) -> frozenset[str]:
        """Codes of the findings at this instruction."""
        return frozenset(finding.code for finding in self._findings())

    @property
    def warnings(self) -> frozenset[str]:
        """Codes of the findings at this instruction that are more than information."""
        return frozenset(
            finding.code for finding in self._findings() if finding.severity is not Severity.INFORMATION
        )

    def _findings(self) -> Iterator[Finding]:
        name = self.prediction.microarchitecture
        for finding in self.analysis.findings:
            if finding.instruction == self.index and finding.microarchitecture in ("", name):
                yield finding

    @property
    def usable(self) -> bool:
        """Whether the statement is exactly this instruction, written at its recorded place.

        Instructions from a macro or a repetition are not, and cannot be rewritten here."""
        statement = self.statement
        position = self.analysis.instruction_lines[self.index]
        if self.analysis.instruction_lines.count(position) != 1 or statement.line >= len(self.lines):
            return False
        place = statement.line, statement.column
        if sum((other.line, other.column) == place for other in self.analysis.region.lines) != 1:
            return False  # repeated by a directive
        written = self.lines[statement.line][statement.column : statement.end_column]
        return written == statement.text and bool(written)

    @property
    def nasm(self) -> bool:
        """Whether the file is in NASM's language."""
        return self.written.is_nasm

    @property
    def alone(self) -> bool:
        """Whether only white space precedes the statement on its line."""
        return not self.lines[self.statement.line][: self.statement.column].strip()

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands as written, in Intel order."""
        _, _, rest = self.statement.text.replace("\t", " ").partition(" ")
        parts = [part.strip() for part in cut_operands(rest)[0]]
        return tuple(reversed(parts)) if self.att else tuple(parts)

    @property
    def att(self) -> bool:
        return self.dialect == "att"

    @property
    def has_other_entries(self) -> bool:
        """Whether code outside the region names a label in it.

        A jump to that label skips statements inserted in front of the region."""
        region = self.analysis.region
        within = self.lines[region.first_line : region.last_line + 1]
        labels = {match[1].strip('"') for line in within for match in leading_labels(line)[0]}
        around = (*self.lines[: region.first_line], *self.lines[region.last_line + 1 :])
        named = {word for line in around for word in re.findall(r"[\w.$?@]+", without_comments(line))}
        return any(named.intersection((label, f"{label}f", f"{label}b")) for label in labels)

    @property
    def is_block(self) -> bool:
        """Whether the region is one of several basic blocks of a region."""
        return bool(self.analysis.region.block_of)

    def scratch(self) -> str | None:
        """A register that neither the region nor the function around it uses, by its 64-bit name."""
        used = set(self.written.named_around)
        for template in self.prediction.instructions:
            used |= used_registers(template.instruction.code)
        return next((name for name in SCRATCH if name not in used), None)

    def register(self, name: str) -> str:
        """A register in the text's syntax."""
        return f"%{name.lower()}" if self.att else name.lower()

    def number(self, value: int) -> str:
        """An immediate in the text's syntax."""
        text = str(value) if abs(value) < 1024 else hex(value)
        return f"${text}" if self.att else text

    def address(self, operand: DecodedOperand, displacement: int) -> str:
        """A memory operand with another displacement in the text's syntax, without a size."""
        base = self.register(operand.base) if operand.base else ""
        index = self.register(operand.index) if operand.index else ""
        if self.att:
            inner = base + (f",{index},{operand.scale}" if index else "")
            return f"{displacement or ''}({inner})"
        parts = [base] if base else []
        parts += [f"{index}*{operand.scale}" if operand.scale > 1 else index] if index else []
        text = " + ".join(parts)
        if displacement:
            text += f" {'-' if displacement < 0 else '+'} {abs(displacement)}"
        return f"[{text}]"

    def write(self, mnemonic: str, *operands: str) -> str:
        """A statement from operands in Intel order, aligned to the columns of this one."""
        ordered = reversed(operands) if self.att else operands
        column = re.match(r"\S+\s+", self.statement.text)
        name = f"{mnemonic} "
        if column and column[0].endswith("\t"):
            name = f"{mnemonic}\t"
        elif column and column[0].endswith("  "):
            name = name.ljust(len(column[0]))
        return f"{name}{', '.join(ordered)}".rstrip()

    def load(self, whole: str, bits: int, source: str) -> str:
        """A zero-extending move of 8 to 64 bits from ``source``, as written, into the register ``whole``."""
        if bits >= 32:
            return self.write("mov", self.register(resized(whole, bits)), source)
        if self.att:
            mnemonic = "movzbl" if bits == 8 else "movzwl"
        else:
            mnemonic = "movzx"
            if "[" in source:
                source = f"{'byte' if bits == 8 else 'word'} ptr {source[source.index('[') :]}"
        return self.write(mnemonic, self.register(resized(whole, 32)), source)

    def insert_before(self, *statements: str) -> Replacement:
        """Insert statements on lines of their own in front of this one."""
        line, column = self.statement.line, self.statement.column
        indent = re.sub(r"\S", " ", self.lines[line][:column])
        text = "".join(f"{statement}\n{indent}" for statement in statements)
        return Replacement(line, column, line, column, text)

    def insert_before_region(self, *statements: str) -> Replacement:
        """Insert statements on lines of their own in front of the region's opening marker."""
        line = self.analysis.region.first_line
        indent = re.sub(r"\S", " ", self.lines[self.statement.line][: self.statement.column])
        return Replacement(line, 0, line, 0, "".join(f"{indent}{statement}\n" for statement in statements))

    def align(self, boundary: int) -> str:
        """The directive that aligns the next statement to ``boundary`` bytes, a power of two."""
        return f"align {boundary}" if self.nasm else f".p2align {boundary.bit_length() - 1}"

    def replace(self, *statements: str) -> Replacement:
        """Replace this statement by others."""
        statement = self.statement
        indent = re.sub(r"\S", " ", self.lines[statement.line][: statement.column])
        text = f"\n{indent}".join(statements)
        return Replacement(statement.line, statement.column, statement.line, statement.end_column, text)

    def replace_operand(self, old: str, new: str) -> Replacement | None:
        """Replace one operand; None if the statement does not contain it exactly once."""
        statement = self.statement
        if statement.text.count(old) != 1:
            return None
        column = statement.column + statement.text.index(old)
        return Replacement(statement.line, column, statement.line, column + len(old), new)

    def memory(self) -> tuple[str, DecodedOperand] | None:
        """The memory operand, as written (without its size) and decoded.

        None unless there is exactly one that another instruction could use: no segment override, no
        indirect jump."""
        decoded = [
            operand for operand in self.template.instruction.operands if operand.kind is OperandKind.MEMORY
        ]
        opening = "(" if self.att else "["
        written = [operand for operand in self.operands if opening in operand]
        if len(decoded) != 1 or len(written) != 1 or ":" in written[0]:
            return None
        text = written[0] if self.att else written[0][written[0].index("[") :]
        return (text, decoded[0]) if not text.startswith("*") else None
