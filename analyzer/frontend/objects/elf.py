"""ELF files for x86-64: functions, their code and source lines. The only place that knows pyelftools.

A relocatable file (.o) is laid out as a linker would do it, one section behind the other, so that every byte
of code has an address of its own; what is shown are the offsets within the section.

pyelftools reads the line information and the tables for unwinding. Headers and symbols are read here: it
gives a file up at its first bad section, and takes seconds for the symbols of a large program.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.objects.elf_format import (
    FUNCTION,
    NOTYPE,
    OBJECT,
    SYMBOL,
    Function,
    Header,
    LinePlace,
    ObjectFileError,
    Section,
    Symbol,
    check_header,
    damaged,
    function_of,
    section_headers,
    symbol_entry,
    text_at,
    unnamed_function,
    whole_entries,
)
from cyclelens.analyzer.frontend.objects.line_tables import look_up_places
from cyclelens.analyzer.model.source import LINE_BYTES

if TYPE_CHECKING:
    from elftools.dwarf.dwarfinfo import DWARFInfo

MAXIMUM_DEBUG_BYTES = 1 << 29
"""Decompressed size of one section of line information."""
_FIRST_ADDRESS = 0x400000
"""Of an object's sections, as linkers have it: the small numbers among its data are no addresses of code."""

_CODE, _SYMBOLS, _RELOCATIONS, _NO_BYTES, _EXPORTED = 1, 2, 4, 8, 11
"""Types of sections: SHT_PROGBITS, SYMTAB, RELA, NOBITS, DYNSYM."""
_ALLOCATED, _EXECUTABLE, _COMPRESSED = 0x2, 0x4, 0x800
_RELOCATION = struct.Struct("<QQq")
_EXTERN_DISTANCE = 0x1000

_FILLED_IN = frozenset([6, 7])
"""R_X86_64_GLOB_DAT, JUMP_SLOT: the loader writes the address of a symbol there."""
_RELATIVE_32 = frozenset([2, 4, 9, 19, 20, 22, 34, 41, 42])
"""R_X86_64_PC32, PLT32, and the offsets to entries of the GOT, whose order nobody knows yet."""
_ABSOLUTE_32 = frozenset([10, 11])
_ABSOLUTE_64 = 1


class ObjectFile:
    """An object, a program or a shared library. Raises ``ObjectFileError`` if it is none for x86-64.

    Everything else that is wrong raises ``ObjectFileError`` where it is needed: files may be damaged in any
    way, and what one function needs may be whole.
    """

    def __init__(self, data: bytes) -> None:
        check_header(data)
        self.is_relocatable = int.from_bytes(data[16:18], "little") == 1
        """Is it an object, whose addresses a linker fills in?"""
        self._image = bytearray(data)
        self._bases: dict[int, int] = {}
        """Of the sections of a relocatable file, by number."""
        self.caches = Caches()
        """What is remembered of its code."""
        self._loaded: dict[int, bytes] = {}
        """What was read of sections, by number."""
        try:
            self._headers = list(section_headers(data))
            self._symbols = list(self._read_symbols())
            self._sections = {section.index: section for section in self._lay_out()}
        except ObjectFileError:
            raise
        except Exception as error:  # pyelftools raises whatever Python raises when a file lies
            raise damaged(error) from None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All functions with a name, by address; those with several names come once for each."""
        found: list[Function] = []
        for section in self._sections.values():
            symbols = [symbol for symbol in self._symbols if symbol.section == section.index]
            entries = [symbol for symbol in symbols if symbol.is_entry]
            # Assembly files whose author declared nothing: every label may be a function.
            entries = entries or [symbol for symbol in symbols if symbol.kind == NOTYPE]
            ends = {symbol.value + symbol.size for symbol in entries if symbol.size}
            borders = sorted(ends | {symbol.value for symbol in entries})
            found += [function_of(symbol, section, borders) for symbol in entries]
        unique = {(function.address, function.name): function for function in found if function.size}
        return tuple(unique[key] for key in sorted(unique))

    @cached_property
    def data(self) -> tuple[tuple[int, int], ...]:
        """What symbols declare as data within code: the first address and the one behind the last of each."""
        return tuple(
            (symbol.value, symbol.value + symbol.size)
            for symbol in self._symbols
            if symbol.kind == OBJECT and symbol.size and symbol.section in self._sections
        )

    @cached_property
    def named(self) -> dict[str, int]:
        """The addresses in code of symbols, those alone that no other place is called."""
        found: dict[str, set[int]] = {}
        for symbol in self._symbols:
            if symbol.name and symbol.kind != OBJECT and symbol.section in self._sections:
                found.setdefault(symbol.name, set()).add(symbol.value)
        return {name: at.pop() for name, at in found.items() if len(at) == 1}

    @cached_property
    def entries(self) -> dict[int, str]:
        """Names by address of what is a function by its own symbol, not for want of a better one."""
        return {
            symbol.value: symbol.name
            for symbol in self._symbols
            if symbol.is_entry and symbol.section in self._sections
        }

    def marks(self, function: Function) -> list[tuple[str, int, int]]:
        """What the macros of ``cyclelens.h`` mark in a function: name, first address, and the one behind."""
        begun: list[tuple[str, int]] = []
        found: list[tuple[str, int, int]] = []
        for symbol in sorted(self._symbols, key=lambda symbol: symbol.value):
            word, _, rest = symbol.name.removeprefix("cyclelens.").partition(".")
            if not symbol.name.startswith("cyclelens.") or not (
                function.address <= symbol.value <= function.end
            ):
                continue
            if word == "begin":
                begun.append((rest.rpartition(".")[0] or rest, symbol.value))
            elif word == "end" and begun:
                name, first = begun.pop()
                found.append((name, first, symbol.value))
        return sorted(found, key=lambda mark: mark[1])

    @property
    def sections(self) -> tuple[Function, ...]:
        """Every section with code as if it were one function."""
        return tuple(
            unnamed_function(section.address, len(section.code), section)
            for section in self._sections.values()
            if section.code
        )

    def find(self, name: str) -> Function:
        """The function of a name, or the one that an address (``0x1139``) lies in."""
        same = [function for function in self.functions if function.name == name]
        if len({function.address for function in same}) > 1:
            places = ", ".join(f"{function.address - function.origin:#x}" for function in same)
            raise ObjectFileError(f"there are {len(same)} functions '{name}'; choose by address: {places}")
        if same:
            return same[0]
        if (address := _number(name)) is not None:
            return self._at(address)
        label = self._label(name)
        if label is not None:
            return label
        raise ObjectFileError(self._missing(name))

    def code(self, function: Function) -> bytes:
        """The bytes of a function; addresses that only a linker knows are stand-ins."""
        section = self._section_of(function.address)
        if section is None:
            raise ObjectFileError(f"the code of '{function.name}' is not in the file")
        start = function.address - section.address
        return section.code[start : start + function.size]

    def section(self, name: str) -> tuple[bytes, int]:
        """The bytes of the section with code of this name, as ``code`` gives them, and its alignment; nothing
        and 1 if there is none, or more than one."""
        found = [section for section in self._sections.values() if section.name == name]
        return (found[0].code, found[0].alignment) if len(found) == 1 else (b"", 1)

    @property
    def names_of_code(self) -> tuple[str, ...]:
        """The names of the sections with code."""
        return tuple(dict.fromkeys(section.name for section in self._sections.values() if section.code))

    def symbol_at(self, address: int) -> str:
        """A symbol that stands for this address, or whose address the loader writes there; else nothing."""
        return self._symbols_by_address.get(address, "")

    def read(self, address: int, size: int) -> bytes:
        """Bytes of a section that is loaded, with addresses filled in; fewer where it ends."""
        for number, header in enumerate(self._headers):
            start = self._bases.get(number, 0) if self.is_relocatable else header.address
            if header.flags & _ALLOCATED and start <= address < start + header.size:
                if number not in self._loaded:
                    content = self._content(header)
                    self._loaded[number] = (
                        self._relocated(number, start, content) if self.is_relocatable else content
                    )
                return self._loaded[number][address - start : address - start + size]
        return b""

    def is_code(self, address: int) -> bool:
        """Does a section with code hold this address?"""
        return self._section_of(address) is not None

    def address_of_offset(self, offset: int) -> int | None:
        """The address of a byte of the file, if it is code."""
        for section in self._sections.values():
            start = self._headers[section.index].offset
            if start <= offset < start + len(section.code):
                return section.address + offset - start
        return None

    def base(self, name: str) -> int | None:
        """The address of the section with code of this name, if there is one and no other."""
        found = [section for section in self._sections.values() if section.name == name]
        return found[0].address if len(found) == 1 else None

    def places(self, function: Function, addresses: Sequence[int]) -> list[LinePlace | None]:
        """Where in the sources the instructions at these addresses of a function come from; None where the
        file does not say. Of what is inlined from the system's or the compiler's own files, as intrinsics
        are, the line that asked for it."""
        dwarf = self._dwarf
        try:
            return look_up_places(dwarf, function, addresses) if dwarf else [None] * len(addresses)
        except Exception:  # damaged line information: the code itself can be analysed without
            return [None] * len(addresses)

    # Sections and symbols

    @cached_property
    def _symbols_by_address(self) -> dict[int, str]:
        named = {
            symbol.value: symbol.name for symbol in self._symbols if symbol.name and symbol.kind <= FUNCTION
        }
        for header in self._headers:
            if self.is_relocatable or header.kind != _RELOCATIONS:
                continue
            symbols = self._headers[header.link]
            names = self._content(self._headers[symbols.link]) if symbols.kind == _EXPORTED else b""
            for place, info, _ in _RELOCATION.iter_unpack(whole_entries(self._content(header), _RELOCATION)):
                if info & 0xFFFFFFFF in _FILLED_IN and names:
                    named[place] = text_at(names, symbol_entry(self._image, symbols, info >> 32)[0])
        return named

    def _read_symbols(self) -> Iterator[Symbol]:
        for header in self._headers:
            if header.kind not in (_SYMBOLS, _EXPORTED):
                continue
            names = self._content(self._headers[header.link])
            content = self._content(header)
            for name, info, _, section, value, size in SYMBOL.iter_unpack(whole_entries(content, SYMBOL)):
                # Section 0: defined elsewhere. Mapping symbols and sections have no name.
                yield Symbol(text_at(names, name), info & 15, info >> 4, section, value, size)

    def _name(self, header: Header) -> str:
        names = self._headers[int.from_bytes(self._image[0x3E:0x40], "little")]
        return text_at(self._content(names), header.name)

    def _content(self, header: Header) -> bytes:
        """The bytes of a section; raises ObjectFileError if the file ends before."""
        start, size = header.offset, header.size
        if header.kind == _NO_BYTES:
            return b""
        if start + size > len(self._image):
            raise ObjectFileError("the file is damaged: it ends within a section; is the copy complete?")
        return bytes(self._image[start : start + size])

    def _lay_out(self) -> Iterator[Section]:
        """The sections with code; those of a relocatable file get addresses, and so do all symbols."""
        bases = self._bases
        if self.is_relocatable:
            next_address = _FIRST_ADDRESS
            for number, header in enumerate(self._headers):
                if header.flags & _ALLOCATED:
                    step = max(min(header.alignment, 1 << 20), LINE_BYTES)
                    bases[number] = next_address = -(-next_address // step) * step
                    next_address += header.size
            self._move_symbols(bases, next_address)
        for number, header in enumerate(self._headers):
            if header.flags & _EXECUTABLE and header.kind == _CODE:
                base = bases.get(number, 0)
                address = base if self.is_relocatable else header.address
                code = self._content(header)
                if self.is_relocatable:
                    code = self._relocated(number, base, code)
                alignment = max(header.alignment, 1) if self.is_relocatable else LINE_BYTES
                yield Section(number, self._name(header), address, base, alignment, code)

    def _move_symbols(self, bases: Mapping[int, int], end: int) -> None:
        """Write the addresses of the layout into the image: what reads it, reads one address space."""
        for header in self._headers:
            if header.kind != _SYMBOLS:
                continue
            for number in range(header.size // SYMBOL.size):
                place = header.offset + number * SYMBOL.size
                name, info, other, section, value, size = SYMBOL.unpack_from(self._image, place)
                if section == 0:
                    # Stand-ins for what other files define, far from each other.
                    value = end + number * _EXTERN_DISTANCE
                value = (value + bases.get(section, 0)) % (1 << 64)
                SYMBOL.pack_into(self._image, place, name, info, other, section, value, size)
        self._symbols = list(self._read_symbols())

    def _relocated(self, section: int, base: int, content: bytes) -> bytes:
        """The code with the addresses of the layout filled in."""
        code = bytearray(content)
        for header in self._headers:
            if header.kind != _RELOCATIONS or header.info != section:
                continue
            symbols = self._headers[header.link]
            entries = self._content(header)
            for offset, info, addend in _RELOCATION.iter_unpack(whole_entries(entries, _RELOCATION)):
                target = symbol_entry(self._image, symbols, info >> 32)[4] + addend
                kind = info & 0xFFFFFFFF
                width = 8 if kind == _ABSOLUTE_64 else 4
                if kind in _RELATIVE_32:
                    target -= base + offset
                elif kind not in _ABSOLUTE_32 and kind != _ABSOLUTE_64:
                    continue
                if offset + width <= len(code):
                    code[offset : offset + width] = (target % (1 << 8 * width)).to_bytes(width, "little")
        return bytes(code)

    def _section_of(self, address: int) -> Section | None:
        return next(
            (section for section in self._sections.values() if section.address <= address < section.end), None
        )

    # Which function is meant

    def _at(self, address: int) -> Function:
        """The function around an address as other programs show it; without symbols, the stretch of code that
        the tables for unwinding tell of."""
        for function in (*self.functions, *self._unwound):
            if function.address <= address + function.origin < function.end:
                return function
        raise ObjectFileError(f"no function is known at {address:#x}")

    def _label(self, name: str) -> Function | None:
        """From a label that is no function to the end of the function around it."""
        for symbol in self._symbols:
            section = self._sections.get(symbol.section)
            if symbol.name == name and section is not None and section.address <= symbol.value < section.end:
                starts = sorted(function.address for function in self.functions)
                return function_of(symbol, section, starts)
        return None

    def unnamed(self) -> tuple[Function, ...]:
        """Functions that no symbol tells of, called as their addresses."""
        ordered = sorted(self.functions, key=lambda function: function.address)
        starts = [function.address for function in ordered]

        def is_new(address: int) -> bool:
            at = bisect_right(starts, address) - 1
            return at < 0 or address >= ordered[at].end

        return tuple(function for function in self._unwound if is_new(function.address))

    @cached_property
    def _unwound(self) -> tuple[Function, ...]:
        """What `.eh_frame` tells of, which stripped programs have too; a section of which nothing tells is
        taken for one function."""
        found: dict[int, Function] = {}
        try:
            for address, size in self._unwinding_entries():
                section = self._section_of(address)
                if section is not None and size and address + size <= section.end:
                    found[address] = unnamed_function(address, size, section)
        except Exception:  # damaged tables tell of nothing
            found.clear()
        known = [*self.functions, *found.values()]
        for whole in self.sections:
            if not any(whole.address <= one.address < whole.end for one in known):
                found[whole.address] = whole
        return tuple(found[address] for address in sorted(found))

    def _unwinding_entries(self) -> Iterator[tuple[int, int]]:
        from elftools.dwarf.callframe import FDE

        dwarf = self._dwarf
        # What a linker has yet to fill in cannot be told without relocations: `strip` takes those away too.
        if dwarf is None or (self.is_relocatable and not self._is_there(_RELOCATIONS)):
            return
        for entry in dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else ():
            if isinstance(entry, FDE):
                yield entry["initial_location"], entry["address_range"]

    def _is_there(self, kind: int) -> bool:
        return any(header.kind == kind for header in self._headers)

    def _missing(self, name: str) -> str:
        names = sorted({function.name for function in self.functions})
        if not names:
            return (
                f"there is no function '{name}': the file has no symbols (it is stripped); give an address "
                "such as 0x1139, or a file with symbols"
            )
        # A mangled name has the plain one in it.
        close = get_close_matches(name, names) + [other for other in names if name.lower() in other.lower()]
        hint = "; --list-functions lists all"
        if close:
            hint = f"; did you mean {' or '.join(list(dict.fromkeys(close))[:3])}?"
        stripped = (
            ""
            if self._is_there(_SYMBOLS)
            else " (the file is stripped: only functions that it exports have names)"
        )
        return f"there is no function '{name}'{stripped}{hint}"

    # Line information

    @cached_property
    def _dwarf(self) -> DWARFInfo | None:
        try:
            return self._read_dwarf()
        except Exception:  # damaged: the code itself can be analysed without
            return None

    def _read_dwarf(self) -> DWARFInfo | None:
        for header in self._headers:
            if not self._name(header).startswith((".debug_", ".zdebug_", ".eh_frame")):
                continue
            size = header.size
            if header.flags & _COMPRESSED:
                size = int.from_bytes(self._content(header)[8:16], "little")
            if size > MAXIMUM_DEBUG_BYTES:
                return None
        # Here, because assembly language starts faster without it.
        from elftools.elf.elffile import ELFFile

        return ELFFile(BytesIO(bytes(self._image))).get_dwarf_info(follow_links=False)


def _number(text: str) -> int | None:
    try:
        return int(text, 16) if text.lower().startswith("0x") else None
    except ValueError:
        return None
