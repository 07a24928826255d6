"""The body of a loop as text: whole-loop rewrites read it and write a new one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from cyclelens.analyzer.frontend.source.lexer import is_empty, leading_labels
from cyclelens.analyzer.insight.loop_steps import UnrolledLoop
from cyclelens.analyzer.model.choices import Mode
from cyclelens.analyzer.model.uops import InstructionTemplate
from cyclelens.analyzer.rewrites.proposal import Replacement
from cyclelens.analyzer.rewrites.site import SCRATCH, Site, resized
from cyclelens.analyzer.uops.registers import canonical, is_general_purpose
from msgspec import Struct
from msgspec.structs import replace

MOST_INSTRUCTIONS = 100
"""Longer loops are not rewritten as a whole."""

_ALIGNMENT = re.compile(r"\s*\.?(?:p2|b)?align\b", re.IGNORECASE)
_BITS = (64, 32, 16, 8)
WORDS = {2: "two", 3: "three", 4: "four", 8: "eight"}


class Item(Struct, frozen=True):
    """A statement of the new body."""

    origin: int
    """Index of the old instruction that it comes from."""
    text: str


class Body(Struct, frozen=True, dict=True):
    """A loop with one statement per line, its label first and its conditional jump last."""

    site: Site
    """Site of the first instruction."""

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        count = len(self.site.prediction.instructions)
        return tuple(replace(self.site, index=index) for index in range(count))

    @cached_property
    def templates(self) -> tuple[InstructionTemplate, ...]:
        return self.site.prediction.instructions

    @cached_property
    def loop(self) -> UnrolledLoop:
        return UnrolledLoop(self.templates)

    @property
    def last(self) -> int:
        """Index of the jump."""
        return self.loop.last

    @property
    def items(self) -> list[Item]:
        """The original body."""
        return [Item(index, site.statement.text) for index, site in enumerate(self.sites)]

    def edit(self, items: Sequence[Item]) -> Replacement:
        """Replace the body by other statements. A comment stays with the first copy of its statement."""
        site = self.site
        first, last = site.statement.line, self.sites[-1].statement.line
        indent = re.sub(r"\S", " ", site.lines[first][: site.statement.column])
        lines: list[str] = []
        if site.lines[first][: site.statement.column].strip():
            lines.append(site.lines[first][: site.statement.column].rstrip())
        known: set[int] = set()
        for item in items:
            index, text = item.origin, item.text
            statement = self.sites[index].statement
            comment = site.lines[statement.line][statement.end_column :]
            if index in known:
                lines.append(indent + text)
                continue
            known.add(index)
            above = self.sites[index - 1].statement.line + 1 if index else statement.line
            lines += site.lines[above : statement.line]
            room = max(statement.end_column - statement.column - len(text), 0)
            lines.append(f"{indent}{text}{' ' * room if comment.strip() else ''}{comment}".rstrip())
        return Replacement(first, 0, last, len(site.lines[last]), "\n".join(lines))

    def in_front(self, *statements: str) -> Replacement:
        """Insert statements on lines of their own in front of the region and its alignment directives."""
        line = self.site.analysis.region.first_line
        while line and _ALIGNMENT.match(self.site.lines[line - 1]):
            line -= 1
        indent = re.sub(r"\S", " ", self.site.lines[self.site.statement.line][: self.site.statement.column])
        return Replacement(line, 0, line, 0, "".join(f"{indent}{statement}\n" for statement in statements))

    def behind(self, *statements: str) -> Replacement:
        """Insert statements on lines of their own after the region."""
        line = self.site.analysis.region.last_line
        indent = re.sub(r"\S", " ", self.site.lines[self.site.statement.line][: self.site.statement.column])
        end = len(self.site.lines[line])
        return Replacement(
            line, end, line, end, "".join(f"\n{indent}{statement}" for statement in statements)
        )

    @property
    def words_around(self) -> frozenset[str]:
        """Words of the function around the loop, in lower case."""
        return self.site.written.words_around

    def touched(self, index: int) -> frozenset[str]:
        """Canonical registers that an instruction reads or writes, explicitly or implicitly."""
        return self.loop.touched[index]

    def written(self, index: int) -> set[str]:
        """Canonical registers that an instruction writes."""
        return self.loop.written(index)

    def free(self, like: str) -> list[str]:
        """Free registers of the same kind as ``like``, a canonical name.

        They are caller-saved (System V ABI), and neither the loop nor the function around it names them."""
        used = set[str]().union(*(self.touched(index) for index in range(len(self.templates))))
        if is_general_purpose(like):
            return [
                name
                for name in SCRATCH
                if name not in used
                and self.words_around.isdisjoint({resized(name, bits).lower() for bits in _BITS})
                and f"{name[1]}h".lower() not in self.words_around
            ]
        names = {
            canonical(operand.register)
            for template in self.templates
            for operand in template.instruction.operands
            if operand.register
        }
        free = [f"XMM{number}" for number in range(16)]
        taken = used | names
        return [
            name
            for name in free
            if name not in taken
            and self.words_around.isdisjoint({f"{letter}mm{name[3:]}" for letter in "xyz"})
        ]


def body_of(site: Site) -> Body | None:
    """The loop that begins at a site.

    None if it cannot be rewritten as a whole: it comes from macros, has other labels or jumps, or contains an
    unknown instruction."""
    region = site.analysis.region
    templates = site.prediction.instructions
    body = Body(site)
    if (
        site.index
        or site.prediction.mode is not Mode.LOOP
        or not region.ends_in_jump_to_start
        or site.is_block
        or len(templates) > MOST_INSTRUCTIONS
        or len(templates) < 2
        or len(region.lines) != len(templates)
    ):
        return None
    if not all(each.usable for each in body.sites):
        return None
    if any(each.is_branch for each in templates[:-1]) or not templates[-1].flag_inputs:
        return None
    if any(each.facts is None or each.rsp_change or each.instruction.repeat for each in templates):
        return None
    return body if _is_plain(body) else None


def _is_plain(body: Body) -> bool:
    """Whether the body is plain text.

    That is: one statement per line, only comments in between, and the jump's label right above the first
    statement, within the region."""
    site = body.site
    numbers = [each.statement.line for each in body.sites]
    if numbers != sorted(set(numbers)):
        return False
    for each in body.sites:
        line, statement = site.lines[each.statement.line], each.statement
        if not is_empty(line[statement.end_column :]):
            return False
        if each.index and line[: statement.column].strip():
            return False
    between = set(range(numbers[0], numbers[-1])) - set(numbers)
    if not all(is_empty(site.lines[number]) for number in between):
        return False
    target = (
        body.sites[-1].operands[-1].removesuffix("b")
        if body.sites[-1].operands[-1][:1].isdigit()
        else (body.sites[-1].operands[-1])
    )
    region = site.analysis.region
    head = [*site.lines[region.first_line : numbers[0]], site.lines[numbers[0]][: site.statement.column]]
    return any(match[1] == target for line in head for match in leading_labels(line)[0])


def renamed(text: str, old: str, new: str) -> str:
    """Rename a register, at every width, in a statement; both names are canonical."""
    if is_general_purpose(old):
        for bits in _BITS:
            text = re.sub(rf"\b{resized(old, bits)}\b", resized(new, bits).lower(), text, flags=re.IGNORECASE)
        return text
    return re.sub(rf"\b([xyz])mm{old[3:]}\b", rf"\g<1>mm{new[3:]}", text, flags=re.IGNORECASE)


def replaced_memory(site: Site, new: str) -> str | None:
    """The statement at a site with its memory operand replaced by ``new``.

    A register replaces the size prefix too. None if the spelling is not recognised."""
    memory = site.memory()
    if memory is None:
        return None
    old = next(operand for operand in site.operands if memory[0] in operand)
    if "[" in new and not site.att:
        old = memory[0]
    return site.statement.text.replace(old, new) if site.statement.text.count(old) == 1 else None


def moved(site: Site, displacement: int) -> str | None:
    """The statement at a site with ``displacement`` bytes added to its address.

    None if the spelling is not recognised."""
    text = site.statement.text
    if not displacement:
        return text
    opening = "(" if site.att else "["
    found = [operand for operand in site.operands if opening in operand]
    if len(found) != 1 or text.count(found[0]) != 1 or ":" in found[0]:
        return None
    new = (_moved_att if site.att else _moved_intel)(found[0], displacement)
    return None if new is None else text.replace(found[0], new)


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _moved_att(operand: str, displacement: int) -> str | None:
    before, _, inner = operand.partition("(")
    known = _number(before) if before else 0
    if known is not None:
        return f"{known + displacement or ''}({inner}"
    if not re.fullmatch(r"[\w.$@+-]+", before):
        return None
    return f"{before}{displacement:+d}({inner}"


def _moved_intel(operand: str, displacement: int) -> str | None:
    match = re.fullmatch(r"([^\[\]]*)\[([^\[\]]*)\]", operand)
    if match is None:
        return None
    head, inner = match[1], match[2].rstrip()
    last = re.fullmatch(r"(.*\S)\s*([+-])\s*(0x[0-9a-fA-F]+|\d+)", inner)
    tight = " " not in inner
    if last is not None and not last[1].endswith("*"):
        value = _number(last[3])
        if value is None:
            return None
        inner, displacement = last[1], (value if last[2] == "+" else -value) + displacement
    if displacement:
        sign = "-" if displacement < 0 else "+"
        inner += f"{sign}{abs(displacement)}" if tight else f" {sign} {abs(displacement)}"
    return f"{head}[{inner}]"
