"""The bytes of a region's statements, once all places are known.

Where an address is asked for that only a linker knows, a stand-in takes its place: the same for the same
symbol, far from all others. What the text itself tells in the end (the distance of two labels, a constant
that is set further down) is asked for with a stand-in, too, and filled in afterwards: so it has the size that
GNU as chose before it knew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.encoding.instructions import NARROW, Encoded
from cyclelens.analyzer.frontend.encoding.requests import EncodingRequest
from cyclelens.analyzer.frontend.encoding.verify import shortened
from cyclelens.analyzer.frontend.programs.program import StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.regions.sections import SECTION_SIGN, Layouts
from cyclelens.analyzer.frontend.regions.statement_code import Content, Encoder, Refused
from cyclelens.analyzer.frontend.statements.directives import (
    MAXIMUM_BYTES,
    Alignment,
    Repeated,
    Sized,
    executed,
    fits,
    leb128,
    nop_fill,
)
from cyclelens.analyzer.frontend.statements.expressions import ExpressionError, Value
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.layout import Piece
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.isa.decoder import number_field

_FAR = 0x1000
"""Bytes from one stand-in to the next."""
_DOUBTFUL = (
    "How many bytes this takes depends on a statement that is not understood, so the region has no figure."
)

_TOO_MUCH = f"More than {MAXIMUM_BYTES} bytes of one statement are not supported inside of a region."

Codes = Mapping[int, tuple[bytes, str] | Refused]
"""What the assemblers answered, by statement."""


@dataclass(slots=True)
class RegionCode:
    """The statements of a region that are in one section, and in one subsection of that."""

    layouts: Layouts
    encoder: Encoder
    section: str
    parts: Sequence[tuple[int, int]]
    """The first statement of each part, and the one behind its last."""
    is_marked: bool = True
    """What is aligned before its first instruction lies in front of it; a loop that was found begins where
    it is come to."""
    contents: dict[int, Content | Refused] = field(default_factory=dict)
    """By statement, without those that become no bytes."""
    asked: dict[int, object] = field(default_factory=dict)
    """By statement, what it was told about the rest of the text."""
    undefined: dict[int, str] = field(default_factory=dict)
    """By statement, a symbol that is probably a slip of the pen."""
    shortened: dict[int, int] = field(default_factory=dict)
    """By statement, what is left of a number that is too long."""
    divided: set[int] = field(default_factory=set)
    """Statements that divide by zero, which GNU as takes for one."""
    refused: dict[int, Refused] = field(default_factory=dict)
    """What cannot become bytes."""
    indices: list[int] = field(default_factory=list)
    """The statements that are pieces."""
    _filled_in: dict[int, list[tuple[int, int, bool]]] = field(default_factory=dict)
    """By statement: stand-ins, what is put in their place, and whether they are immediates."""
    _stand_ins: dict[str, int] = field(default_factory=dict)

    def read(self) -> None:
        """Find the contents."""
        program = self.encoder.program
        for index in sorted(index for part in self.parts for index in self._together(*part)):
            scope = StatementScope(program, index, self.layouts.distance, self)
            content = self.encoder.content(index, scope)
            if content is None:
                continue
            if isinstance(content, Jump):
                content = self._checked(index, content)
            self.contents[index] = content
            if scope.divides_by_zero:
                self.divided.add(index)
            if scope.was_asked:
                self.asked[index] = content, self._filled_in.get(index), self.undefined.get(index)

    def _together(self, first: int, end: int) -> list[int]:
        """The statements of a part that lie where its first instruction does: in the section, and in the same
        subsection of it."""
        statements = self.encoder.program.statements
        found = [index for index in range(first, end) if statements[index].section == self.section]
        subsections = {statements[index].subsection for index in found}
        if len(subsections) < 2:
            return found
        code = (index for index in found if statements[index].kind is StatementKind.INSTRUCTION)
        subsection = statements[next(code, found[0])].subsection
        return [index for index in found if statements[index].subsection == subsection]

    def _checked(self, index: int, jump: Jump) -> Jump | Refused:
        """A jump must go to an expression; labels that can only be of this file must exist."""
        name = jump.target.text.strip()
        try:
            scope = StatementScope(self.encoder.program, index, self.layouts.distance)
            value = scope.evaluate(name)
            if value.later:
                scope.check_target(name)
            final = self.layouts.final(name, index) if value.later else value
        except ExpressionError as error:
            return Refused("syntax-error", str(error))
        if final.later or final.is_relative:
            return Refused("syntax-error", f"'{name[:40]}' is more than an address and a number.")
        symbol = value.symbol
        is_local = symbol is not None and (shown(symbol).startswith(".L") or symbol[0].isdigit())
        if symbol is not None and is_local and not self.is_defined(symbol, index):
            hint = did_you_mean(shown(symbol), map(shown, self.encoder.program.label_names()))
            return Refused("undefined-label", f"The label '{shown(symbol)}' is not defined{hint or '.'}")
        return jump

    def is_defined(self, symbol: str, index: int) -> bool:
        """Does a symbol that a statement names have a place or a value in this file?"""
        program = self.encoder.program
        return program.find_label(symbol, index) is not None or program.latest(symbol) is not None

    def outside(self) -> list[object]:
        """All that the bytes depend on beside the statements themselves."""
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
            elif isinstance(content, Alignment | Sized):
                found += (content, self.layouts.known_size(index))
            elif index in self.asked:
                found.append(self.asked[index])
        return found

    @property
    def questions(self) -> dict[int, EncodingRequest]:
        """What the assemblers have to be asked."""
        return {index: found for index, found in self.contents.items() if isinstance(found, EncodingRequest)}

    def final(self, text: str, index: int, dot: int = 0) -> Value:
        """What an expression is in the end. Raises ExpressionError."""
        return self.layouts.certain(text, index, dot)

    def stand_in(self, text: str, value: Value, base: int, index: int, immediate: bool) -> int:
        """What is put in the place of an expression without a constant value. Raises ExpressionError."""
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

    def pieces(self, codes: Codes) -> list[Piece]:
        """The bytes of all statements in their places, and what is refused."""
        pieces: list[Piece] = []
        for index, content in self.contents.items():
            try:
                piece = self._piece(index, content, codes)
            except Refused as refused:
                self.refused[index] = refused
                continue
            if piece.unreachable:
                message = "This jump only has a short form, and its target is out of its reach."
                self.refused[index] = Refused("branch-out-of-range", message)
            if pieces or not (self.is_marked and isinstance(content, Alignment)):
                pieces.append(piece)
                self.indices.append(index)
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

    def runs(self, parts: Sequence[tuple[int, int]], *, joined: bool) -> list[list[int]]:
        """The pieces of each part, or ``joined`` all of them in the order of the parts."""
        found = [
            list(range(bisect_left(self.indices, first), bisect_left(self.indices, end)))
            for first, end in parts
        ]
        return [[at for run in found for at in run]] if joined else found

    def _piece(self, index: int, content: Content | Refused, codes: Codes) -> Piece:
        if isinstance(content, Refused):
            raise content
        backend = "cyclelens"
        offset = self.layouts.offset(index)
        if isinstance(content, EncodingRequest):
            answer = codes[index]
            if isinstance(answer, Refused):
                raise answer
            code, backend = answer
            if backend != "keystone" and content.fallback is not None:
                number = shortened(content.written(content.fallback), code, self.encoder.memory.caches)
                if number is not None:
                    self.shortened[index] = number
            for stand_in, value, is_immediate in self._filled_in.get(index, ()):
                code = _with_number(code, stand_in, value, is_immediate)
        elif isinstance(content, Jump):
            size = self._size(index)
            target = self.layouts.target_offset(index, content)
            distance = 0 if target is None else target - offset - size
            if not fits(distance, 4, is_signed=True):
                raise Refused("branch-out-of-range", "The target of this jump is out of its reach.")
            is_short = size == content.sizes[0]
            unreachable = is_short and not -128 <= distance <= 127
            return Piece(
                content.encode(size, distance), backend, content, offset=offset, unreachable=unreachable
            )
        elif isinstance(content, Alignment):
            if content.fill is not None and self._size(index) % len(content.fill):
                message = f"GNU as takes no fill that is not a multiple of {len(content.fill)} bytes."
                raise Refused("syntax-error", message)
            self._size(index)
            is_code = self.encoder.program.is_code(self.section)
            code = content.padding(offset, is_code)
            if content.fills_with_nops(is_code):
                code = executed(code)
        elif isinstance(content, Encoded):
            code, backend = content.code, content.backend
        else:
            code = self._filling(index, content)
        return Piece(code, backend, offset=offset)

    def _size(self, index: int) -> int:
        """Bytes of what the layout decides about. Raises Refused."""
        size = self.layouts.known_size(index)
        if size is None:
            raise Refused("unknown-size", _DOUBTFUL)
        if size > MAXIMUM_BYTES:
            raise Refused("not-supported", _TOO_MUCH)
        return size

    def _filling(self, index: int, content: Repeated | Sized) -> bytes:
        if isinstance(content, Repeated):
            if len(content) > MAXIMUM_BYTES:
                raise Refused("not-supported", _TOO_MUCH)
            return content.unit * content.count
        size = self._size(index)
        if content.name == "nops":
            return executed(nop_fill(size, content.longest))
        if content.name.endswith("leb128"):
            return leb128(content.name, self.layouts.final(content.expression, index).constant)
        return content.fill * (size // len(content.fill))


def _with_number(code: bytes, stand_in: int, number: int, immediate: bool) -> bytes:
    """The bytes of a statement with a number in the place of what stands in for it. Raises Refused."""
    start, size, is_signed = number_field(code, immediate=immediate)
    if immediate:
        stand_in = NARROW.get(size, stand_in)
    if not size or int.from_bytes(code[start : start + size], "little") != stand_in % (1 << 8 * size):
        raise Refused("assembler-mismatch", f"There is no place in the bytes where {number} could be put.")
    if not fits(number, size, is_signed=is_signed):
        raise Refused("syntax-error", f"{number} is too long for the {size} bytes that there are for it.")
    return code[:start] + (number % (1 << 8 * size)).to_bytes(size, "little") + code[start + size :]
