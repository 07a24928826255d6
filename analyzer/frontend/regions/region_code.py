"""Encodes a region's statements once the layout is known.

Addresses that only a linker knows get placeholders: the same one for the same symbol, far from all others.
Values that only later text determines (distances between labels, constants set further down) are first
encoded with a placeholder, too, and filled in afterwards. So they have the size that GNU as chooses before it
knows them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.encoding.instructions import NARROW, Encoded
from cyclelens.analyzer.frontend.programs.program import StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.regions.sections import SECTION_SIGN, Layouts
from cyclelens.analyzer.frontend.regions.statement_code import Content, Encoder, RefusedStatement
from cyclelens.analyzer.frontend.statements.directives import (
    MAXIMUM_BYTES,
    Alignment,
    RepeatedBytes,
    SizedDirective,
    executed,
    fits,
    leb128,
    nop_fill,
)
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, ExpressionValue
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.layout import Piece
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.isa.decoder import number_field
from msgspec import Struct, field

_FAR = 0x1000
"""Distance between placeholders in bytes."""
UNKNOWN_SIZE = "unknown-size"
_DOUBTFUL = (
    "How many bytes this takes depends on a statement that is not understood, so the region has no figure."
)

_TOO_MUCH = f"More than {MAXIMUM_BYTES} bytes of one statement are not supported inside of a region."


class RegionCode(Struct):
    """A region's statements in one section and subsection."""

    layouts: Layouts
    encoder: Encoder
    section: str
    parts: Sequence[range]
    """Indices of the statements of each part."""
    is_marked: bool = True
    """For a marked region, padding before its first instruction does not belong to it; a detected loop starts
    at its header."""
    contents: dict[int, Content | RefusedStatement] = field(default_factory=dict)
    """Content by statement; statements without bytes are left out."""
    asked: dict[int, object] = field(default_factory=dict)
    """Facts about the rest of the text that a statement used."""
    undefined: dict[int, str] = field(default_factory=dict)
    """Undefined symbol by statement; probably a typo."""
    shortened: dict[int, int] = field(default_factory=dict)
    """Truncated value by statement, for numbers that are too long."""
    divided: set[int] = field(default_factory=set)
    """Statements that divide by zero, which GNU as treats as a division by one."""
    refused: dict[int, RefusedStatement] = field(default_factory=dict)
    """Statements that cannot be encoded."""
    indices: list[int] = field(default_factory=list)
    """Statements that became pieces."""
    _filled_in: dict[int, list[tuple[int, int, bool]]] = field(default_factory=dict)
    """By statement: (placeholder, final value, whether it is an immediate)."""
    _stand_ins: dict[str, int] = field(default_factory=dict)

    def read(self) -> None:
        """Parse the statements into ``contents``."""
        program = self.encoder.program
        first, end = min(part.start for part in self.parts), max(part.stop for part in self.parts)
        plain = self.layouts.plain_contents(self.section, first, end)
        for index in sorted(index for part in self.parts for index in self._together(part.start, part.stop)):
            if (known := plain.get(index)) is not None:
                self.contents[index] = self._checked(index, known) if isinstance(known, Jump) else known
                continue
            scope = StatementScope(program, index, self.layouts.distance, self)
            content = self.encoder.content(index, scope)
            if content is None:
                continue
            if isinstance(content, Jump):
                content = self._checked(index, content)
            self.contents[index] = content
            if scope.divides_by_zero:
                self.divided.add(index)
            if scope.asked or scope.is_fleeting:
                self.asked[index] = content, self._filled_in.get(index), self.undefined.get(index)

    def _together(self, first: int, end: int) -> list[int]:
        """Statements of a part in the section and subsection of its first instruction."""
        statements = self.encoder.program.statements
        found = [index for index in range(first, end) if statements[index].section == self.section]
        subsections = {statements[index].subsection for index in found}
        if len(subsections) < 2:
            return found
        code = (index for index in found if statements[index].kind is StatementKind.INSTRUCTION)
        subsection = statements[next(code, found[0])].subsection
        return [index for index in found if statements[index].subsection == subsection]

    def _checked(self, index: int, jump: Jump) -> Jump | RefusedStatement:
        """The jump if its target is an expression with an address. Labels that can only be local must
        exist."""
        name = jump.target.text.strip()
        try:
            scope = StatementScope(self.encoder.program, index, self.layouts.distance)
            value = scope.evaluate(name)
            if value.later:
                scope.check_target(name)
            final = self.layouts.final(name, index) if value.later else value
        except ExpressionError as error:
            return RefusedStatement("syntax-error", str(error))
        if final.later or final.is_relative:
            return RefusedStatement("syntax-error", f"'{name[:40]}' is not an address plus a number.")
        symbol = value.symbol
        is_local = symbol is not None and (shown(symbol).startswith(".L") or symbol[0].isdigit())
        if symbol is not None and is_local and not self.is_defined(symbol, index):
            hint = did_you_mean(shown(symbol), map(shown, self.encoder.program.label_names()))
            return RefusedStatement(
                "undefined-label", f"The label '{shown(symbol)}' is not defined{hint or '.'}"
            )
        return jump

    def is_defined(self, symbol: str, index: int) -> bool:
        """Whether this file defines the symbol that a statement names."""
        program = self.encoder.program
        return program.find_label(symbol, index) is not None or program.latest(symbol) is not None

    def outside(self) -> list[object]:
        """Everything else that the bytes depend on."""
        laid = self.layouts.laid(self.section)
        found: list[object] = [laid.failure, laid.alignment]
        for index, content in self.contents.items() if not laid.failure else ():
            if len(found) == 2:
                found += (self.layouts.offset(index), self.layouts.modulus(index))
            if isinstance(content, Jump):
                target = self.layouts.target_offset(index, content)
                distance = target and target - self.layouts.offset(index)
                is_known = self.is_defined(symbol_of(content.target.text.strip()), index)
                found += (content, self.layouts.known_size(index), distance, is_known)
            elif isinstance(content, Alignment | SizedDirective):
                found += (content, self.layouts.known_size(index))
            elif index in self.asked:
                found.append(self.asked[index])
        return found

    @property
    def chosen(self) -> dict[int, Encoded]:
        """Instructions with their encodings, by statement."""
        return {
            index: found
            for index, found in self.contents.items()
            if isinstance(found, Encoded) and found.backend == "iced-x86"
        }

    def final(self, text: str, index: int, dot: int = 0) -> ExpressionValue:
        """Final value of an expression. Raises ExpressionError."""
        return self.layouts.certain(text, index, dot)

    def stand_in(self, text: str, value: ExpressionValue, base: int, index: int, immediate: bool) -> int:
        """Placeholder for an expression without a constant value. Raises ExpressionError."""
        program = self.encoder.program
        found = self.layouts.certain(text, index)
        filled_in = None
        if found.is_constant:
            filled_in = found.constant
        elif found.later:
            raise ExpressionError("An expression of several addresses has no constant value here.")
        elif found.is_relative and not immediate and program.statements[index].dialect.is_intel_gnu:
            raise ExpressionError("An address in Intel syntax cannot be a distance to another section.")
        elif (
            base == 0
            and found.symbol == SECTION_SIGN + self.section
            and not program.may_be_replaced(text, index)
        ):
            filled_in = found.constant - self.layouts.end(index)
        elif (
            base
            and found.symbol is not None
            and not (found.symbol.startswith(SECTION_SIGN) or program.is_declared(found.symbol))
        ):
            self.undefined[index] = found.symbol
        symbol = value.symbol if filled_in is None and value.symbol is not None else text.strip()
        beyond = 0 if value.later else value.constant
        number = base + self._stand_ins.setdefault(symbol, _FAR * len(self._stand_ins)) + beyond
        if filled_in is not None:
            self._filled_in.setdefault(index, []).append((number, filled_in, immediate))
        return number

    def pieces(self, by_keystone: Collection[int]) -> list[Piece]:
        """The bytes of all statements, placed; fills in ``refused``. ``by_keystone``: the statements for
        which Keystone has the same bytes."""
        pieces: list[Piece] = []
        for index, content in self.contents.items():
            try:
                piece = self._piece(index, content, index in by_keystone)
            except RefusedStatement as refused:
                self.refused[index] = refused
                continue
            if piece.unreachable:
                message = "This jump only has a short form, and its target is out of its reach."
                self.refused[index] = RefusedStatement("branch-out-of-range", message)
            if pieces or not (self.is_marked and isinstance(content, Alignment)):
                pieces.append(piece)
                self.indices.append(index)
        self._name_causes_only()
        places: dict[int, int] = {}
        for at, piece in enumerate(pieces):
            if piece.code:
                places.setdefault(piece.offset, at)
        for index, piece in zip(self.indices, pieces, strict=True):
            if (
                piece.jump is not None
                and (target := self.layouts.target_offset(index, piece.jump)) is not None
            ):
                piece.target = places.get(target)
        return pieces

    def _name_causes_only(self) -> None:
        """Drop the sizes that nobody knows because another statement of the region has no bytes."""
        causes = {index: each for index, each in self.refused.items() if each.code != UNKNOWN_SIZE}
        if causes:
            self.refused = causes

    def runs(self, parts: Sequence[range]) -> list[range]:
        """Pieces of each part."""
        return [
            range(bisect_left(self.indices, part.start), bisect_left(self.indices, part.stop))
            for part in parts
        ]

    def _piece(self, index: int, content: Content | RefusedStatement, is_keystone: bool) -> Piece:
        if isinstance(content, RefusedStatement):
            raise content
        backend = "cyclelens"
        offset = self.layouts.offset(index)
        if isinstance(content, Encoded):
            code, backend = content.code, "keystone" if is_keystone else content.backend
            if content.shortened is not None:
                self.shortened[index] = content.shortened
            for stand_in, value, is_immediate in self._filled_in.get(index, ()):
                code = _with_number(code, stand_in, value, is_immediate)
        elif isinstance(content, Jump):
            size = self._size(index)
            target = self.layouts.target_offset(index, content)
            distance = 0 if target is None else target - offset - size
            if not fits(distance, 4, is_signed=True):
                raise RefusedStatement("branch-out-of-range", "The target of this jump is out of its reach.")
            is_short = size == content.sizes[0]
            unreachable = is_short and not -128 <= distance <= 127
            return Piece(
                content.encode(size, distance), backend, content, offset=offset, unreachable=unreachable
            )
        elif isinstance(content, Alignment):
            if content.fill is not None and self._size(index) % len(content.fill):
                message = f"GNU as only accepts a fill that is a multiple of {len(content.fill)} bytes."
                raise RefusedStatement("syntax-error", message)
            self._size(index)
            is_code = self.encoder.program.is_code(self.section)
            code = content.padding(offset, is_code)
            if content.fills_with_nops(is_code):
                code = executed(code)
        else:
            code = self._filling(index, content)
        return Piece(code, backend, offset=offset)

    def _size(self, index: int) -> int:
        """Size in bytes of a statement whose size the layout decides. Raises RefusedStatement."""
        size = self.layouts.known_size(index)
        if size is None:
            raise RefusedStatement(UNKNOWN_SIZE, _DOUBTFUL)
        if size > MAXIMUM_BYTES:
            raise RefusedStatement("not-supported", _TOO_MUCH)
        return size

    def _filling(self, index: int, content: RepeatedBytes | SizedDirective) -> bytes:
        if isinstance(content, RepeatedBytes):
            if content.size > MAXIMUM_BYTES:
                raise RefusedStatement("not-supported", _TOO_MUCH)
            return content.unit * content.count
        size = self._size(index)
        if content.name == "nops":
            return executed(nop_fill(size, content.longest))
        if content.name.endswith("leb128"):
            return leb128(content.name, self.layouts.final(content.expression, index).constant)
        return content.fill * (size // len(content.fill))


def _with_number(code: bytes, stand_in: int, number: int, immediate: bool) -> bytes:
    """The bytes of a statement with a placeholder replaced by a number. Raises RefusedStatement."""
    field = number_field(code, immediate=immediate)
    start, size = field.start, field.size
    if immediate:
        stand_in = NARROW.get(size, stand_in)
    if not size or int.from_bytes(code[start : start + size], "little") != stand_in % (1 << 8 * size):
        raise RefusedStatement("assembler-mismatch", f"The encoding has no field for {number}.")
    if not fits(number, size, is_signed=field.is_signed):
        raise RefusedStatement("syntax-error", f"{number} does not fit into {size} bytes.")
    return code[:start] + (number % (1 << 8 * size)).to_bytes(size, "little") + code[start + size :]
