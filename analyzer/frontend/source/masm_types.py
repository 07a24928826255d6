"""Types of MASM's data: structures with the places of their fields, and sizes of variables.

In MASM an operand has the size of the variable or field that it names; GNU as must be told. Rules are those
of the Microsoft Macro Assembler reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.frontend.source.masm_bodies import WORD
from cyclelens.analyzer.frontend.source.masm_values import NAME, NotConstant, arguments, value
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from msgspec import Struct, field

SIZES = {
    **dict.fromkeys(("byte", "sbyte", "db"), 1),
    **dict.fromkeys(("word", "sword", "dw"), 2),
    **dict.fromkeys(("dword", "sdword", "real4", "dd"), 4),
    **dict.fromkeys(("fword", "df"), 6),
    **dict.fromkeys(("qword", "sqword", "real8", "mmword", "dq", "ptr"), 8),
    **dict.fromkeys(("tbyte", "real10", "dt"), 10),
    **dict.fromkeys(("xmmword", "oword"), 16),
    "ymmword": 32,
    "zmmword": 64,
}
"""Bytes of the types that MASM has, in 64-bit code."""
_NAMES = {1: "BYTE", 2: "WORD", 4: "DWORD", 6: "FWORD", 8: "QWORD", 10: "TBYTE"}
_NAMES |= {16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD"}
_OPENING = rf"(?is)\s*(?:({NAME})\s+)?(struct?|union)\b\s*(\w*)\s*(?:,.*)?$"
_CLOSING = rf"(?is)\s*(?:({NAME})\s+)?ends\s*$"
_TYPEDEF = rf"(?is)\s*({NAME})\s+typedef\s+({NAME})"
_ASSUMED = rf"(?i)\b(\w+)\s*:\s*(?:ptr\s+({NAME})|nothing)"
_DATUM = rf"(?is)\s*(?:({NAME})\s+)?({NAME})\s+(?!ptr\b)(.*)"
_LABEL = rf"(?is)\s*({NAME})\s+label\s+({NAME})\s*$"
_EXTERNAL = r"(?is)\s*(?:extern|extrn|externdef|comm)\s+(.*)"
_COPIES = r"(?is)(.+?)\s*\bdup\s*\((.*)\)\s*$"
_PATH = rf"(?:\s*\.\s*\(?\s*{NAME}\b\s*\)?)+"
_OF_TYPE = rf"(?i)\(\s*({NAME})\s+ptr\s*(\[[^\[\]]*\])\s*\)(?={_PATH})"
_OF_ADDRESS = rf"\[([^\[\]]*)\]({_PATH})"
_OF_NAME = rf"(?<![\w@?$.])({NAME}(?:\.{NAME})+)"
_MEASURE = rf"(?i)\b(sizeof|lengthof|type)\s+({NAME}(?:\.{NAME})*)"
_LENGTH = rf"(?<![\w@?$])\$\s*-\s*({NAME})"
_STATEMENT = (
    rf"(?is)(\s*(?:{NAME}\s*::?\s*)*(?:(?:lock|rep|repn?[ez])\s+)?)({NAME})(\s+)(?!(?:equ|proc|endp)\b)(.*)"
)
_SIZED = r"(?i)\b(?:ptr|offset|imagerel|lroffset|short)\b"
_REGISTER = r"(?i)[a-z]{1,4}\d{0,2}[bwd]?|st\s*\(\d\)"
_OWN_SIZE = (
    r"(?i)movzx|movsxd?|v?cvtu?si2s[sd]|v?cvtusi2s[sd]|sh[lr]|sa[lr]|ro[lr]|rc[lr]|crc32|call|jmp|push|pop"
)
"""Instructions whose operand in memory may have another size than their register."""


class _MasmField(Struct, frozen=True):
    offset: int
    """In its structure; of a variable, in the data since the last other statement."""
    size: int
    """Of one element."""
    count: int = 1
    structure: str = ""
    stretch: int = 0
    """Of a variable: the stretch of data that it lies in."""


class _MasmStructure(Struct):
    name: str
    alignment: int
    is_union: bool
    fields: dict[str, _MasmField] = field(default_factory=dict)
    size: int = 0
    largest: int = 1

    def add(self, name: str, size: int, count: int, structure: str, alignment: int) -> int:
        """Add a field. Returns its offset."""
        step = min(self.alignment, max(alignment, 1))
        offset = 0 if self.is_union else -(-self.size // step) * step
        self.size = max(self.size, offset + size * count)
        self.largest = max(self.largest, step)
        if name:
            self.fields[name] = _MasmField(offset, size, count, structure)
        return offset


class MasmTypes:
    """Structures, types and variables that a text has defined so far."""

    def __init__(self) -> None:
        self._structures: dict[str, _MasmStructure] = {}
        self._open: list[_MasmStructure] = []
        self._sizes = dict(SIZES)
        self._variables: dict[str, _MasmField] = {}
        self._assumed: dict[str, str] = {}
        self._stretch, self._position = 0, 0

    def takes(self, text: str) -> bool:
        """Read a definition; False for any other statement. Variables are noted, and remain to be made.
        Raises NotConstant."""
        if match := re.match(_OPENING, text):
            self._opened(match)
        elif self._open:
            if match := re.match(_CLOSING, text):
                self._closed()
            elif match := re.match(_DATUM, text):
                self._field(match)
            elif re.match(r"(?i)\s*(?:org|align|even)\b", text):
                raise NotConstant("ORG and ALIGN in a structure are not followed.")
        elif match := re.match(_TYPEDEF, text):
            size = self._sizes.get(match[2].lower()) or self._size_of(match[2].lower())
            self._sizes[match[1].lower()] = size
        elif re.match(r"(?i)\s*assume\b", text):
            for register, structure in re.findall(_ASSUMED, text):
                self._assumed[register.lower()] = structure.lower()
        else:
            self._note(text)
            return False
        return True

    def _opened(self, match: re.Match[str]) -> None:
        outer = self._open[-1] if self._open else None
        name, given = (match[1] or "").lower(), match[3].lower()
        if outer is not None:
            name, given = given or name, ""
        alignment = value(given, {}) if given else outer.alignment if outer else 1
        self._open.append(_MasmStructure(name, alignment, match[2].lower() == "union"))

    def _closed(self) -> None:
        found = self._open.pop()
        step = min(found.alignment, found.largest)
        found.size = -(-found.size // step) * step
        if not self._open:
            self._structures[found.name] = found
            return
        outer = self._open[-1]
        key = f"{outer.name}.{found.name}"
        self._structures[key] = found
        offset = outer.add(found.name, found.size, 1, key, found.largest)
        if not found.name:
            for name, each in found.fields.items():
                outer.fields[name] = _MasmField(offset + each.offset, each.size, each.count, each.structure)

    def _field(self, match: re.Match[str]) -> None:
        name, kind, rest = (match[1] or "").lower(), match[2].lower(), match[3]
        structure = kind if kind in self._structures else ""
        size = self._size_of(kind)
        alignment = self._structures[kind].largest if structure else size
        self._open[-1].add(name, size, _count(rest), structure, alignment)

    def _note(self, text: str) -> None:
        """Note the variables of a statement."""
        if (match := re.match(_DATUM, text)) and (kind := match[2].lower()) in {
            *self._sizes,
            *self._structures,
        }:
            try:
                found = self._variable(kind, _count(match[3]))
                self._position += found.size * found.count
            except NotConstant:
                found = self._variable(kind, 0)
                self._stretch += 1
            if match[1]:
                self._variables[match[1].lower()] = found
            return
        self._stretch += bool(text.strip())
        if match := re.match(_EXTERNAL, text):
            for each in arguments(match[1]):
                name, _, kind = (part.strip().lower() for part in each.partition(":"))
                if kind in self._sizes or kind in self._structures:
                    self._variables[name.split()[-1]] = self._variable(kind, 1)
        elif (match := re.match(_LABEL, text)) and match[2].lower() in self._sizes:
            self._variables[match[1].lower()] = self._variable(match[2].lower(), 1)

    def _variable(self, kind: str, count: int) -> _MasmField:
        structure = kind if kind in self._structures else ""
        return _MasmField(self._position, self._size_of(kind), count, structure, self._stretch)

    def _size_of(self, kind: str) -> int:
        if kind in self._structures:
            return self._structures[kind].size
        if kind not in self._sizes:
            raise NotConstant(f"'{kind}' is not a known type.")
        return self._sizes[kind]

    # What names stand for

    def replaced(self, text: str) -> str:
        """The text with places of fields and sizes of what is known as numbers."""
        text = re.sub(_LENGTH, self._length, re.sub(_MEASURE, self._measured, text))
        if not self._structures or "." not in text:
            return text
        text = re.sub(_OF_TYPE, lambda match: f"{match[2]}.{match[1]}", text)
        text = re.sub(_OF_ADDRESS, self._of_address, text)
        return re.sub(_OF_NAME, self._of_name, text)

    def _measured(self, match: re.Match[str]) -> str:
        how, names = match[1].lower(), match[2].lower().split(".")
        if len(names) == 1 and (names[0] in self._structures or names[0] in self._sizes):
            return "1" if how == "lengthof" else str(self._size_of(names[0]))
        found = self._variables.get(names[0]) if len(names) == 1 else self._place(names)
        if found is None or not found.count:
            return match[0]
        return str({"type": found.size, "lengthof": found.count}.get(how, found.size * found.count))

    def _length(self, match: re.Match[str]) -> str:
        found = self._variables.get(match[1].lower())
        is_known = found is not None and found.stretch == self._stretch
        return str(self._position - found.offset) if found is not None and is_known else match[0]

    def _place(self, names: list[str]) -> _MasmField | None:
        """The field that a path leads to; its first name is a structure or a variable of one."""
        known = self._variables.get(names[0])
        structure = known.structure if known is not None else names[0]
        found = _MasmField(0, 0, structure=structure)
        for name in names[1:]:
            fields = self._structures[found.structure].fields if found.structure in self._structures else {}
            if name not in fields:
                return None
            step = fields[name]
            found = _MasmField(found.offset + step.offset, step.size, step.count, step.structure)
        return found if len(names) > 1 else None

    def _of_address(self, match: re.Match[str]) -> str:
        names = re.findall(NAME, match[2].lower())
        if names[0] not in self._structures:
            base = re.match(r"\s*(\w+)", match[1])
            names.insert(0, self._assumed.get(base[1].lower(), "") if base else "")
        found = self._place(names)
        if found is None:
            return match[0]
        is_sized = re.search(r"(?i)\bptr\s*$", match.string[: match.start()]) is not None
        size = "" if is_sized or found.size not in _NAMES else f"{_NAMES[found.size]} PTR "
        return f"{size}[{match[1].strip()} + {found.offset}]"

    def _of_name(self, match: re.Match[str]) -> str:
        names = match[1].lower().split(".")
        if names[0] in self._structures and (found := self._place(names)) is not None:
            return str(found.offset)
        if names[0] in self._variables and (found := self._place(names)) is not None:
            is_sized = match.string[: match.start()].rstrip().lower().endswith(("ptr", "[", "+", "offset"))
            size = "" if is_sized or found.size not in _NAMES else f"{_NAMES[found.size]} PTR "
            return f"{size}{match[1].split('.')[0]}+{found.offset}"
        if names[1] in self._structures and (found := self._place(names[1:])) is not None:
            return f"{match[1].split('.')[0]} + {found.offset}"
        return match[0]

    def sized(self, made: Iterable[RawStatement]) -> list[RawStatement]:
        """Statements with the sizes of the variables that they name, where nothing else gives a size."""
        if not self._variables:
            return list(made)
        found = []
        for each in made:
            text = self._sized(self.replaced(each.text))
            place = each.place or _range(each)
            found.append(each if text == each.text else RawStatement(each.start, text, place, each.refusal))
        return found

    def _sized(self, text: str) -> str:
        match = re.fullmatch(_STATEMENT, text)
        if match is None or match[2].lower() in self._sizes or self._is_datum(text):
            return text
        listed = arguments(match[4])
        has_register = any(self._is_register(each) for each in listed)
        if has_register and not re.fullmatch(_OWN_SIZE, match[2]):
            return text
        parts = [self._with_size(each) for each in listed]
        return text if parts == listed else f"{match[1]}{match[2]}{match[3]}{', '.join(parts)}"

    def _is_datum(self, text: str) -> bool:
        match = re.match(_DATUM, text)
        return match is not None and match[2].lower() in self._sizes and match[1] is not None

    def _is_register(self, operand: str) -> bool:
        return re.fullmatch(_REGISTER, operand) is not None and operand.lower() not in self._variables

    def _with_size(self, operand: str) -> str:
        if re.search(_SIZED, operand):
            return operand
        sizes = {
            self._variables[word.lower()].size
            for word in WORD.findall(operand)
            if word.lower() in self._variables
        }
        size = _NAMES.get(sizes.pop()) if len(sizes) == 1 else None
        return operand if size is None else f"{size} PTR {operand}"


def _count(text: str) -> int:
    """Elements of an initial value: ``1, 2``, ``4 dup (?)``, ``'text'``. Raises NotConstant."""
    count = 0
    for each in arguments(text):
        if match := re.match(_COPIES, each):
            count += value(match[1], {}) * _count(match[2])
        elif each[:1] in "'\"" and each[-1:] == each[:1] and len(each) > 1:
            count += len(each) - 2
        else:
            count += 1
    return count


def _range(statement: RawStatement) -> tuple[int, int]:
    text = statement.text
    return statement.start + len(text) - len(text.lstrip()), statement.start + len(text.rstrip())
