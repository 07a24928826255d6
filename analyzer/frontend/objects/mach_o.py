"""Reads Mach-O objects, programs and libraries for macOS (``mach-o/loader.h``, ``fat.h``, ``nlist.h`` and
``x86_64/reloc.h`` of Apple's cctools).

Objects have their DWARF in them; that of programs is in the objects or in a ``.dSYM`` bundle, whose file has
the same layout. Of a file for several processors, the part for x86-64 is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError, text_at
from cyclelens.analyzer.frontend.objects.elf_writer import (
    ABSOLUTE_32,
    ABSOLUTE_64,
    RELATIVE_32,
    ForeignRelocation,
    ForeignSection,
    ForeignSymbol,
    elf_object,
)
from msgspec import Struct

_HEADER = struct.Struct("<IIIIIIII")
_COMMAND = struct.Struct("<II")
_SEGMENT = struct.Struct("<16sQQQQiiII")
_SECTION = struct.Struct("<16s16sQQIIIIIIII")
_SYMBOL_TABLE = struct.Struct("<IIII")
_SYMBOL = struct.Struct("<IBBHQ")
_RELOCATION = struct.Struct("<iI")
_DATA_IN_CODE = struct.Struct("<IHH")
_FAT = struct.Struct(">II")
_FAT_PART = struct.Struct(">IIIII")
_X86_64, _OBJECT = 0x01000007, 1
_PROGRAMS = (2, 6, 7, 8, 10, 11)
"""MH_EXECUTE, MH_DYLIB, MH_DYLINKER, MH_BUNDLE, MH_DSYM, MH_KEXT_BUNDLE."""
_LOAD_SEGMENT, _LOAD_SYMBOLS, _LOAD_DATA_IN_CODE = 0x19, 0x2, 0x29
_ZEROED = (0x1, 0xC, 0x12)
"""S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL."""
_INSTRUCTIONS = 0x80000400
"""S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS."""
_DEBUGGING, _KIND, _IN_SECTION, _GLOBAL, _ALTERNATIVE = 0xE0, 0x0E, 0x0E, 0x01, 0x200
_UNSIGNED, _SUBTRACTOR, _THREAD_LOCAL = 0, 5, 9
_BEHIND = {6: 1, 7: 2, 8: 4}
"""SIGNED_1, SIGNED_2, SIGNED_4: bytes between the field and the instruction's end."""
_LONG_NAMES = {"__debug_str_offs": "__debug_str_offsets"}
"""Names that are cut to sixteen characters."""


class _Parts(Struct):
    """What the load commands name."""

    is_program: bool

    sections: list[tuple[ForeignSection, int]] = []
    """Each with its address in the object."""
    relocations: list[tuple[int, int]] = []
    """Place and number of each section's relocations."""
    symbols: list[ForeignSymbol] = []
    data: list[tuple[int, int]] = []
    """Address and size of each piece of data in code."""


def elf_of_mach_o(data: bytes) -> bytes:
    """The object as an ELF object. Raises ``ObjectFileError``."""
    try:
        _, processor, _, kind, count, _, _, _ = _HEADER.unpack_from(data)
        if processor != _X86_64:
            raise ObjectFileError("this is Mach-O code for another processor; only 64-bit x86 is analysed")
        if kind != _OBJECT and kind not in _PROGRAMS:
            raise ObjectFileError("this Mach-O file is neither an object nor a program nor a library")
        parts = _parts(data, count, is_program=kind != _OBJECT)
        relocations = [
            each for number in range(1, len(parts.sections) + 1) for each in _relocations(data, number, parts)
        ]
        if not any(section.content for section, _ in parts.sections if section.is_code):
            raise ObjectFileError(
                "this Mach-O file has no code; if it is a .dSYM, give the program beside it"
            )
    except (struct.error, IndexError):
        raise ObjectFileError(
            "the file is damaged: its load commands, symbols and relocations contradict each other"
        ) from None
    return elf_object([section for section, _ in parts.sections], parts.symbols, relocations)


def x86_64_of(data: bytes) -> bytes:
    """The part for x86-64 of a file for several processors. Raises ``ObjectFileError`` if there is none."""
    try:
        _, count = _FAT.unpack_from(data)
        for number in range(count):
            processor, _, start, size, _ = _FAT_PART.unpack_from(data, _FAT.size + number * _FAT_PART.size)
            if processor == _X86_64:
                return data[start : start + size]
    except struct.error:
        raise ObjectFileError("the file is damaged: it ends within its list of processors") from None
    raise ObjectFileError("this Mach-O file has no code for x86-64")


def _parts(data: bytes, commands: int, *, is_program: bool) -> _Parts:
    parts = _Parts(is_program, [], [], [], [])
    at, tables = _HEADER.size, []
    for _ in range(commands):
        command, size = _COMMAND.unpack_from(data, at)
        if size < _COMMAND.size:
            raise ObjectFileError("the file is damaged: a load command has no length")
        inside = at + _COMMAND.size
        if command == _LOAD_SEGMENT:
            count = _SEGMENT.unpack_from(data, inside)[7]
            for number in range(count):
                _add_section(data, inside + _SEGMENT.size + number * _SECTION.size, parts)
        elif command in (_LOAD_SYMBOLS, _LOAD_DATA_IN_CODE):
            tables.append((command, inside))
        at += size
    for command, inside in tables:
        if command == _LOAD_SYMBOLS:
            parts.symbols += _symbols(data, _SYMBOL_TABLE.unpack_from(data, inside), parts)
    for command, inside in tables:
        if command == _LOAD_DATA_IN_CODE:
            start, size = _COMMAND.unpack_from(data, inside)
            for place in range(start, start + size, _DATA_IN_CODE.size):
                address, length, _ = _DATA_IN_CODE.unpack_from(data, place)
                parts.symbols += _data(address, length, parts)
    return parts


def _add_section(data: bytes, at: int, parts: _Parts) -> None:
    raw, segment, address, size, start, align, relocations, count, flags, *_ = _SECTION.unpack_from(data, at)
    name = raw.rstrip(b"\0").decode("utf-8", "replace")
    is_debug = segment.rstrip(b"\0") == b"__DWARF"
    if is_debug:
        name = _LONG_NAMES.get(name, name).replace("__", ".", 1)
    has_bytes = flags & 0xFF not in _ZEROED
    content = data[start : start + size] if has_bytes else b""
    if has_bytes and len(content) < size:
        raise ObjectFileError("the file is damaged: it ends within a section; is the copy complete?")
    is_code = bool(flags & _INSTRUCTIONS)
    alignment = 1 << min(align, 16)
    place = address if parts.is_program else None
    section = ForeignSection(name, content, size, alignment, is_code, not is_debug, place)
    parts.sections.append((section, address))
    # A program's own relocations are none of its sections'.
    parts.relocations.append((relocations, 0 if parts.is_program else count))


def _symbols(data: bytes, table: tuple[int, ...], parts: _Parts) -> Iterator[ForeignSymbol]:
    start, count, strings_at, strings_size = table
    strings = data[strings_at : strings_at + strings_size]
    for number in range(count):
        name_at, kind, section, details, value = _SYMBOL.unpack_from(data, start + number * _SYMBOL.size)
        # C's names have an underscore in front.
        name = text_at(strings, name_at).removeprefix("_")
        is_here = kind & _KIND == _IN_SECTION and not kind & _DEBUGGING
        if not is_here:
            yield ForeignSymbol("" if kind & _DEBUGGING else name, 0, 0, is_global=True)
            continue
        found, address = parts.sections[section - 1]
        is_label = bool(details & _ALTERNATIVE) or text_at(strings, name_at)[:1] in ("L", "l")
        yield ForeignSymbol(
            name,
            section,
            value if parts.is_program else value - address,
            is_function=found.is_code and not is_label,
            is_global=bool(kind & _GLOBAL),
        )


def _data(address: int, length: int, parts: _Parts) -> Iterator[ForeignSymbol]:
    for number, (section, start) in enumerate(parts.sections, 1):
        if section.is_code and start <= address < start + section.size:
            offset = address if parts.is_program else address - start
            yield ForeignSymbol("", number, offset, length, is_data=True)


def _relocations(data: bytes, number: int, parts: _Parts) -> Iterator[ForeignRelocation]:
    (section, address), (start, count) = parts.sections[number - 1], parts.relocations[number - 1]
    is_difference = False
    for each in range(count):
        offset, packed = _RELOCATION.unpack_from(data, start + each * _RELOCATION.size)
        symbol, is_relative, size = packed & 0xFFFFFF, packed >> 24 & 1, packed >> 25 & 3
        is_symbol, kind = packed >> 27 & 1, packed >> 28
        if is_difference or kind in (_SUBTRACTOR, _THREAD_LOCAL) or size < 2:
            # The second half of a difference follows the first; both sides are mostly in this file.
            is_difference = kind == _SUBTRACTOR
            continue
        width = 1 << size
        inside = int.from_bytes(section.content[offset : offset + width], "little", signed=True)
        if is_relative:
            how, addend = RELATIVE_32, inside - 4
        else:
            how, addend = ABSOLUTE_64 if width == 8 else ABSOLUTE_32, inside
        if is_symbol:
            yield ForeignRelocation(number, offset, how, symbol, addend)
            continue
        # The field holds an address of the object, or the distance to one.
        target = parts.sections[symbol - 1][1]
        if is_relative:
            reached = address + offset + 4 + _BEHIND.get(kind, 0) + inside
            addend = reached - target - 4 - _BEHIND.get(kind, 0)
        else:
            addend = inside - target
        yield ForeignRelocation(number, offset, how, None, addend, symbol)
