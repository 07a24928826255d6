"""Control flow of a text, from its jumps, calls, labels and jump tables."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cyclelens.analyzer.frontend.control_flow import control_flow
from cyclelens.analyzer.frontend.control_flow.control_flow import Code, Transfer, TransferKind
from cyclelens.analyzer.frontend.programs.program import Label, Program, Statement, StatementKind
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME, letters
from cyclelens.analyzer.frontend.statements import directives, registers
from cyclelens.analyzer.frontend.statements.names import function_of, shown, symbol_of
from cyclelens.analyzer.isa.decoder import decode
from msgspec import Struct, field

_BEGINNINGS = frozenset(
    first + second
    for letter, following in {
        "j": "abcegjlmnoprsz",
        "l": "ojr",
        "c": "ads",
        "d": "as",
        "{": "deln",
        **dict(zip("abefgnrisux", "dnsssoerydb", strict=True)),
    }.items()
    for first in (letter, letter.upper())
    for second in following + following.upper()
)
"""First two characters of control transfer instructions and of their prefixes."""
_INSTRUCTION = re.compile(
    r"((?:(?:bnd|notrack|lock|data16|addr32|re[px][\w.]*|[c-g]s)\s+|\{\w+\}\s*)*)"
    r"([a-z]\w*)(?:\.(?:s|d8|d32)\b)?(?:,p[nt]\b)?\s*(.*)",
    re.IGNORECASE | re.DOTALL,
)
_DIRECT = re.compile(
    rf"(?:(?:short|near(?:\s+ptr)?|strict)\s+)*({QUOTED_NAME}(?:@\w+)?|{letters('_.$?@', digits=True)}+)",
    re.IGNORECASE,
)
_BY_TABLE = re.compile(r"@(?:plt|got\w*)$", re.IGNORECASE)
"""Suffix of a function that is called through one of the linker's tables."""
_PLAIN_NAME = f"{letters('_.?', digits=False)}{letters('_.$?', digits=True)}*"
_SYMBOL = rf"{QUOTED_NAME}|(?<![\w.$%@])(?:{_PLAIN_NAME}|\d{{1,9}}[bf](?!\w))"
"""A name, or a numeric label."""
_IN_TABLE = rf"({QUOTED_NAME}|[A-Za-z_.][\w.$]*)@GOT\w*"
_NEAR_SYMBOL = r"(?i)[(\[].*\brip\b|\brel\b"
_PADDING = r"(?i)(?:(?:data16|cs|ds|rep)\s+)*(?:nop[wlq]?|int3|xchgw?\s+%?ax\s*,\s*%?ax)(?![\w.])"
_BYTES = r"(?i)[\s,0-9a-fx]{1,80}"
_RETURN, _RETURN_AND_POP = b"\xc3", b"\xc2"
_NOT_FOLLOWED = (".debug", ".gcc_except_table", ".eh_frame", ".note", ".stab")
"""Sections whose code addresses are not jump tables."""


class PartFlow(Struct, frozen=True):
    """What the statements of a part say about control flow, with indices relative to the part. It is kept
    with the part: an edit changes few of them."""

    transfers: list[tuple[int, TransferKind, str]] = field(default_factory=list)
    """Instructions from which control does not only continue, and the symbols that they go to."""
    returns: list[int] = field(default_factory=list)
    """Returns that are written as bytes."""
    addresses: list[tuple[int, str]] = field(default_factory=list)
    """Statements that take addresses of code, and their texts."""
    functions: list[tuple[int, str]] = field(default_factory=list)
    """Symbols that ``.type`` declares as functions."""


def flow_of(statements: Sequence[Statement]) -> PartFlow:
    """The control flow of a part's statements, for ``ParsedText.ask``."""
    found = PartFlow()
    for index, statement in enumerate(statements):
        if statement.kind is StatementKind.INSTRUCTION:
            beginning = statement.text[:2]
            if beginning in _BEGINNINGS:
                if (left := _read_instruction(statement.text, statement.dialect.is_att)) is not None:
                    found.transfers.append((index, *left))
            elif beginning in ("le", "LE", "Le") and re.search(_NEAR_SYMBOL, statement.text):
                found.addresses.append((index, statement.text))
        elif statement.kind is StatementKind.DIRECTIVE:
            if statement.name == "byte" and _returns(statement.arguments):
                found.returns.append(index)
            elif statement.name == "type" and (name := function_of(statement.arguments)):
                found.functions.append((index, name))
    return found


def transfers_of(program: Program) -> dict[int, tuple[TransferKind, str]]:
    """How control leaves each instruction from which it does not only continue, and the symbol it goes to."""
    return {
        first + index: (kind, name)
        for first, part in zip(program.firsts, program.parts, strict=True)
        for index, kind, name in part.ask(flow_of).transfers
    }


class ProgramFlow:
    """Control flow of a text. A place is a statement that becomes bytes, numbered section by section in
    address order. Each section ends with one extra place without a statement."""

    def __init__(self, program: Program, size: Callable[[int], int | None]) -> None:
        """``size``: bytes of a statement, None if unknown."""
        self._program = program
        self._size = size
        self._find_sections()
        self._functions: dict[int, str] = {}
        """Names by place."""
        self._labels: dict[int, tuple[Label, str]] = {}
        """Labels and their names by place, of transfer targets."""
        self._transfers: list[Transfer] = []
        self._with_code: set[str] = set()
        """Sections with control transfers."""
        self._named: list[tuple[int, str]] = []
        """Indices of statements and texts that take addresses of code."""
        for name in program.declared:
            if (label := program.find_label(name, 0)) is not None:
                self._functions[self._place(label.index)] = name
        self._read()
        self._transfers.sort(key=lambda transfer: transfer.place)

    def code(self) -> Code:
        """Control flow facts for all of the text's code."""
        switches: dict[int, list[int]] = {
            transfer.place: [] for transfer in self._transfers if transfer.kind is TransferKind.SWITCH
        }
        taken = set()
        for name, label in self._taken(with_tables=bool(switches)):
            if not self._is_table(self._place(label.index)):
                taken.add(self._place(label.index))
            self._labels.setdefault(self._place(label.index), (label, name))
        functions = sorted(self._functions)
        entries = control_flow.give_to_switches(switches, taken, self._functions)
        entries += control_flow.entries_of(self._functions)
        if not self._functions:
            # A piece of code alone: it may begin with instructions that are written as bytes.
            entries += [first for first in self._sections[:-1] if self._begins_code(first)]
        section = partial(bisect_right, self._sections)
        return Code(self._sections, self._transfers, functions, entries, switches, self._is_code, section)

    def statement(self, place: int) -> int:
        """Index of the statement at a place."""
        return self._statements[place]

    def label(self, place: int) -> tuple[Label, str]:
        """The label at a place and its name; without one, a stand-in with an empty name."""
        known = self._labels.get(place)
        if known is not None:
            return known[0], shown(known[1])
        index = self.statement(place)
        return Label(index, self._program.statements[index].section, *self._program.span(index)), ""

    # Statements and places

    def _find_sections(self) -> None:
        """Number the places. A section's statements need not be contiguous, but its places are numbered
        consecutively."""
        by_section: dict[str, dict[int, list[int]]] = {}
        for index, statement in enumerate(self._program.statements):
            by_section.setdefault(statement.section, {}).setdefault(statement.subsection, []).append(index)
        self._statements: list[int] = []
        """Statement of each place."""
        self._places = [0] * len(self._program.statements)
        """For each statement its place, or that of the next statement that becomes bytes."""
        self._sections = [0]
        for section, subsections in by_section.items():
            has_code = self._program.is_code(section)
            last = 0
            for _, indices in sorted(subsections.items()):
                for last in indices:
                    self._places[last] = len(self._statements)
                    if self._becomes_bytes(last, has_code=has_code):
                        self._statements.append(last)
            self._statements.append(last)
            self._sections.append(len(self._statements))
        self._ends = frozenset(end - 1 for end in self._sections)

    def _becomes_bytes(self, index: int, *, has_code: bool) -> bool:
        statement = self._program.statements[index]
        if statement.kind is not StatementKind.DIRECTIVE:
            return statement.kind is StatementKind.INSTRUCTION
        if statement.name not in directives.ALIGNMENTS and not directives.makes_data(statement.name):
            return False
        # An alignment may need no padding, and only places of labels within code matter.
        return not has_code or self._size(index) != 0

    def _place(self, index: int) -> int:
        return self._places[index]

    def _begins_code(self, first: int) -> bool:
        return first not in self._ends and self._program.is_code(
            self._program.statements[self.statement(first)].section
        )

    def _is_code(self, first: int, end: int) -> bool:
        for place in range(first, end):
            if place in self._ends:
                continue
            statement = self._program.statements[self.statement(place)]
            if statement.kind is StatementKind.INSTRUCTION:
                if not re.match(_PADDING, statement.text):
                    return True
            elif statement.name != "nops" and directives.makes_data(statement.name):
                return False
        return False

    # What statements say

    def _read(self) -> None:
        for first, part in zip(self._program.firsts, self._program.parts, strict=True):
            flow = part.ask(flow_of)
            for index, kind, name in flow.transfers:
                self._add(first + index, kind, name)
            self._transfers += (
                Transfer(self._place(first + index), TransferKind.LEAVE) for index in flow.returns
            )
            self._named += ((first + index, text) for index, text in flow.addresses)
            for index, name in flow.functions:
                if (label := self._program.find_label(name, first + index)) is not None:
                    self._functions[self._place(label.index)] = name

    def _add(self, index: int, kind: TransferKind, name: str) -> None:
        self._with_code.add(self._program.statements[index].section)
        place = self._place(index)
        label = self._program.find_label(name, index) if name else None
        target = -1 if label is None else self._place(label.index)
        if label is not None and target not in self._ends:
            self._labels.setdefault(target, (label, name))
            self._transfers.append(Transfer(place, kind, target))
        elif kind is not TransferKind.CALL and not name:
            self._transfers.append(Transfer(place, kind))
        elif control_flow.never_returns(name):
            self._transfers.append(
                Transfer(place, TransferKind.STOP if kind is not TransferKind.BRANCH else kind)
            )
        elif kind is not TransferKind.CALL:
            self._transfers.append(Transfer(place, TransferKind.LEAVE if kind is TransferKind.JUMP else kind))

    def _is_table(self, place: int) -> bool:
        """Whether there is data with the address of code, as between the instructions of a function."""
        if place in self._ends:
            return False
        index = self.statement(place)
        statement = self._program.statements[index]
        return statement.kind is StatementKind.DIRECTIVE and any(
            (label := self._program.find_label(symbol_of(name), index)) is not None
            and label.section in self._with_code
            for name in re.findall(_SYMBOL, statement.arguments)
        )

    def _taken(self, *, with_tables: bool) -> Iterator[tuple[str, Label]]:
        """Labels whose addresses are taken, also by tables, with their names."""
        named = list(self._named)
        if with_tables:
            for index, statement in enumerate(self._program.statements):
                if (
                    statement.kind is StatementKind.DIRECTIVE
                    and directives.makes_data(statement.name)
                    and not statement.section.startswith(_NOT_FOLLOWED)
                ):
                    named.append((index, statement.arguments))
        for index, text in named:
            for name in re.findall(_SYMBOL, text):
                label = self._program.find_label(symbol_of(name), index)
                if label is not None and label.section in self._with_code:
                    yield name, label


def is_padding(text: str) -> bool:
    """Whether an instruction is only padding."""
    return re.match(_PADDING, text) is not None


def _read_instruction(text: str, is_att: bool) -> tuple[TransferKind, str] | None:
    """How control leaves an instruction and the symbol it goes to; None if it continues."""
    match = _INSTRUCTION.match(text)
    kind = control_flow.kind_of(match[2].lower()) if match else None
    if match is None or kind is None:
        return None
    target = match[3].strip()
    direct = _DIRECT.fullmatch(target)
    if direct and not (target.lower() in registers.REGISTERS and not is_att):
        return kind, symbol_of(_BY_TABLE.sub("", direct[1]))
    if kind in (TransferKind.CALL, TransferKind.JUMP):
        # Call or jump through the linker's table to a function in another file.
        symbol = re.search(_IN_TABLE, target)
        if symbol is None and kind is TransferKind.JUMP:
            return (TransferKind.LEAVE if "rip" in target.lower() else TransferKind.SWITCH), ""
        return kind, symbol_of(symbol[1]) if symbol else ""
    return kind, ""


def _returns(arguments: str) -> bool:
    """Whether instructions written as bytes end in a return, such as ``.byte 0xf3, 0xc3``."""
    if not re.fullmatch(_BYTES, arguments):
        return False
    try:
        code = bytes(int(value, 0) for value in arguments.split(","))
    except ValueError:
        return False
    may_return = code.endswith(_RETURN) or code[-3:-2] == _RETURN_AND_POP
    return may_return and decode(code)[-1].mnemonic == "ret"
