"""Reads object files for x86-64: functions, their code and source lines. ``formats.py`` turns COFF and
Mach-O into ELF first.

A relocatable file (.o) is laid out as a linker would, section after section, so that every byte of code has a
unique address; users see offsets within the section.

pyelftools reads the line information and the unwind tables (``line_tables.py``). Headers and symbols are
read here, because pyelftools gives up at the first bad section and takes seconds for the symbols of a large
program.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.objects.conversion import as_elf
from cyclelens.analyzer.frontend.objects.elf_format import (
    FOR_LINK_TIME,
    FUNCTION,
    NOTYPE,
    OBJECT,
    SYMBOL,
    ElfSection,
    Function,
    Header,
    LinePlace,
    ObjectFileError,
    Symbol,
    check_header,
    damaged,
    function_of,
    no_such_function,
    section_headers,
    symbol_entry,
    text_at,
    unnamed_function,
    whole_entries,
)
from cyclelens.analyzer.model.source import LINE_BYTES

if TYPE_CHECKING:
    from cyclelens.analyzer.frontend.objects.line_tables import DebugInfo

MAXIMUM_DEBUG_BYTES = 1 << 29
"""Maximum decompressed size of one section of line information."""
_FIRST_ADDRESS = 0x400000
"""Address of an object's first section, as linkers choose it: small numbers in its data then cannot look like
addresses of code."""

_CODE, _SYMBOLS, _RELOCATIONS, _NO_BYTES, _EXPORTED = 1, 2, 4, 8, 11
"""Section types: SHT_PROGBITS, SYMTAB, RELA, NOBITS, DYNSYM."""
_ALLOCATED, _EXECUTABLE, _COMPRESSED = 0x2, 0x4, 0x800
_RELOCATION = struct.Struct("<QQq")
_EXTERN_DISTANCE = 0x1000

_FILLED_IN = frozenset([6, 7])
"""R_X86_64_GLOB_DAT, JUMP_SLOT: the loader writes a symbol's address there."""
_RELATIVE_32 = frozenset([2, 4, 9, 19, 20, 22, 34, 41, 42])
"""R_X86_64_PC32, PLT32, and offsets of GOT entries, whose order is not known yet."""
_ABSOLUTE_32 = frozenset([10, 11])
_ABSOLUTE_64 = 1


class ObjectFile:
    """An object, a program or a shared library. Raises ``ObjectFileError`` if the file is not one for x86-64.

    Other defects raise ``ObjectFileError`` where the damaged part is needed: a file may be damaged in any
    way, while what one function needs is intact.
    """

    def __init__(self, data: bytes) -> None:
        data = as_elf(data)
        check_header(data)
        self.is_relocatable = int.from_bytes(data[16:18], "little") == 1
        """The file is an object, whose addresses a linker fills in."""
        self._image = bytearray(data)
        self._bases: dict[int, int] = {}
        """Base addresses of a relocatable file's sections, by number."""
        self.caches = Caches()
        """Caches about its code."""
        self._loaded: dict[int, bytes] = {}
        """Sections that were read, by number."""
        try:
            self._headers = list(section_headers(data))
            self._symbols = list(self._read_symbols())
            self._sections = {section.index: section for section in self._lay_out()}
        except ObjectFileError:
            raise
        except Exception as error:  # pyelftools raises any exception on wrong data
            raise damaged(error) from None

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """All named functions, by address; a function with several names has one entry for each."""
        found: list[Function] = []
        for section in self._sections.values():
            symbols = [symbol for symbol in self._symbols if symbol.section == section.index]
            entries = [symbol for symbol in symbols if symbol.is_entry]
            # Assembly files without declarations: every label may be a function.
            entries = entries or [symbol for symbol in symbols if symbol.kind == NOTYPE]
            ends = {symbol.value + symbol.size for symbol in entries if symbol.size}
            borders = sorted(ends | {symbol.value for symbol in entries})
            found += [function_of(symbol, section, borders) for symbol in entries]
        unique = {(function.address, function.name): function for function in found if function.size}
        return tuple(unique[key] for key in sorted(unique))

    @cached_property
    def data(self) -> tuple[tuple[int, int], ...]:
        """Ranges in code that symbols declare as data: first address, and the address after the last."""
        return tuple(
            (symbol.value, symbol.value + symbol.size)
            for symbol in self._symbols
            if symbol.kind == OBJECT and symbol.size and symbol.section in self._sections
        )

    @cached_property
    def named(self) -> dict[str, int]:
        """Addresses of code symbols whose names are unique."""
        found: dict[str, set[int]] = {}
        for symbol in self._symbols:
            if symbol.name and symbol.kind != OBJECT and symbol.section in self._sections:
                found.setdefault(symbol.name, set()).add(symbol.value)
        return {name: at.pop() for name, at in found.items() if len(at) == 1}

    @property
    def is_for_link_time(self) -> bool:
        """GCC wrote the file for link-time optimization, without machine code."""
        return any(symbol.name == "__gnu_lto_slim" for symbol in self._symbols)

    @cached_property
    def entries(self) -> dict[int, str]:
        """Names by address of the symbols that are functions themselves, without labels used for lack of
        functions."""
        return {
            symbol.value: symbol.name
            for symbol in self._symbols
            if symbol.is_entry and symbol.section in self._sections
        }

    def marks(self, function: Function) -> list[tuple[str, int, int]]:
        """Regions that the macros of ``cyclelens.h`` mark in a function: name, first address, end address."""
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
        """Every section with code, as if it were one function."""
        return tuple(
            unnamed_function(section.address, len(section.code), section)
            for section in self._sections.values()
            if section.code
        )

    def find(self, name: str) -> Function:
        """The function with this name, or the one that contains an address (``0x1139``). Raises
        ObjectFileError if there is none."""
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
        if self.is_for_link_time:
            raise ObjectFileError(f"this is {FOR_LINK_TIME}")
        raise ObjectFileError(
            no_such_function(
                name, [each.name for each in self.functions], has_symbols=self._is_there(_SYMBOLS)
            )
        )

    def code(self, function: Function) -> bytes:
        """Bytes of a function; addresses that only a linker knows are placeholders. Raises ObjectFileError if
        they are not in the file."""
        section = self._section_of(function.address)
        if section is None:
            raise ObjectFileError(f"the code of '{function.name}' is not in the file")
        start = function.address - section.address
        return section.code[start : start + function.size]

    def section(self, name: str) -> tuple[bytes, int]:
        """Bytes of the code section with this name, like ``code``, and its alignment; (b"", 1) unless there
        is exactly one."""
        found = [section for section in self._sections.values() if section.name == name]
        return (found[0].code, found[0].alignment) if len(found) == 1 else (b"", 1)

    @property
    def names_of_code(self) -> tuple[str, ...]:
        """Names of the sections with code."""
        return tuple(dict.fromkeys(section.name for section in self._sections.values() if section.code))

    def symbol_at(self, address: int) -> str:
        """Symbol at this address, or symbol whose address the loader writes there; empty if there is none."""
        return self._symbols_by_address.get(address, "")

    def read(self, address: int, size: int) -> bytes:
        """Bytes of a loaded section, with addresses filled in; fewer at its end."""
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
        """Whether a section with code contains this address."""
        return self._section_of(address) is not None

    def address_of_offset(self, offset: int) -> int | None:
        """Address of the byte at a file offset; None if it is not code."""
        for section in self._sections.values():
            start = self._headers[section.index].offset
            if start <= offset < start + len(section.code):
                return section.address + offset - start
        return None

    def base(self, name: str) -> int | None:
        """Address of the code section with this name; None unless there is exactly one."""
        found = [section for section in self._sections.values() if section.name == name]
        return found[0].address if len(found) == 1 else None

    def places(self, function: Function, addresses: Sequence[int]) -> list[LinePlace | None]:
        """Source places of the instructions at these addresses of a function; None where unknown. Code
        inlined from the system's or the compiler's own files, such as intrinsics, has the place of its call.
        """
        info = self._debug_info
        try:
            return info.places(function, addresses) if info else [None] * len(addresses)
        except Exception:  # damaged line information is not needed to analyse the code
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
            symbols = self._header(header.link)
            names = self._content(self._header(symbols.link)) if symbols.kind == _EXPORTED else b""
            for place, info, _ in _RELOCATION.iter_unpack(whole_entries(self._content(header), _RELOCATION)):
                if info & 0xFFFFFFFF in _FILLED_IN and names:
                    named[place] = text_at(names, symbol_entry(self._image, symbols, info >> 32)[0])
        return named

    def _read_symbols(self) -> Iterator[Symbol]:
        for header in self._headers:
            if header.kind not in (_SYMBOLS, _EXPORTED):
                continue
            names = self._content(self._header(header.link))
            content = self._content(header)
            for name, info, _, section, value, size in SYMBOL.iter_unpack(whole_entries(content, SYMBOL)):
                # Section 0 means defined elsewhere. Mapping symbols and sections have no name.
                yield Symbol(text_at(names, name), info & 15, info >> 4, section, value, size)

    def _header(self, number: int) -> Header:
        """The section header with this number. Raises ObjectFileError if there is none."""
        if number >= len(self._headers):
            raise ObjectFileError("the file is damaged: a section refers to a missing section")
        return self._headers[number]

    def _name(self, header: Header) -> str:
        names = self._header(int.from_bytes(self._image[0x3E:0x40], "little"))
        return text_at(self._content(names), header.name)

    def _content(self, header: Header) -> bytes:
        """Bytes of a section. Raises ObjectFileError if the file ends before them."""
        start, size = header.offset, header.size
        if header.kind == _NO_BYTES:
            return b""
        if start + size > len(self._image):
            raise ObjectFileError("the file is damaged: it ends within a section; is the copy complete?")
        return bytes(self._image[start : start + size])

    def _lay_out(self) -> Iterator[ElfSection]:
        """The sections with code. In a relocatable file they get addresses, and so do all symbols."""
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
                yield ElfSection(number, self._name(header), address, base, alignment, code)

    def _move_symbols(self, bases: Mapping[int, int], end: int) -> None:
        """Write the addresses of the layout into the image, so that all readers see one address space."""
        for header in self._headers:
            if header.kind != _SYMBOLS:
                continue
            for number in range(header.size // SYMBOL.size):
                place = header.offset + number * SYMBOL.size
                name, info, other, section, value, size = SYMBOL.unpack_from(self._image, place)
                if section == 0:
                    # Placeholders for symbols that other files define, far from each other.
                    value = end + number * _EXTERN_DISTANCE
                value = (value + bases.get(section, 0)) % (1 << 64)
                SYMBOL.pack_into(self._image, place, name, info, other, section, value, size)
        self._symbols = list(self._read_symbols())

    def _relocated(self, section: int, base: int, content: bytes) -> bytes:
        """Code with the addresses of the layout filled in."""
        code = bytearray(content)
        for header in self._headers:
            if header.kind != _RELOCATIONS or header.info != section:
                continue
            symbols = self._header(header.link)
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

    def _section_of(self, address: int) -> ElfSection | None:
        return next(
            (section for section in self._sections.values() if section.address <= address < section.end), None
        )

    # Finding the function that is meant

    def _at(self, address: int) -> Function:
        """The function around an address as other programs show it; without symbols, the range of code in the
        unwind tables."""
        for function in (*self.functions, *self._unwound):
            if function.address <= address + function.origin < function.end:
                return function
        raise ObjectFileError(f"no function is known at {address:#x}")

    def _label(self, name: str) -> Function | None:
        """A label that is not a function, up to the end of the function around it."""
        for symbol in self._symbols:
            section = self._sections.get(symbol.section)
            if symbol.name == name and section is not None and section.address <= symbol.value < section.end:
                starts = sorted(function.address for function in self.functions)
                return function_of(symbol, section, starts)
        return None

    def unnamed(self) -> tuple[Function, ...]:
        """Functions without symbols, named by their addresses."""
        ordered = sorted(self.functions, key=lambda function: function.address)
        starts = [function.address for function in ordered]

        def is_new(address: int) -> bool:
            at = bisect_right(starts, address) - 1
            return at < 0 or address >= ordered[at].end

        return tuple(function for function in self._unwound if is_new(function.address))

    @cached_property
    def _unwound(self) -> tuple[Function, ...]:
        """Functions in `.eh_frame`, which stripped programs have, too. A section without any known function
        counts as one function."""
        found: dict[int, Function] = {}
        try:
            for address, size in self._unwinding_entries():
                section = self._section_of(address)
                if section is not None and size and address + size <= section.end:
                    found[address] = unnamed_function(address, size, section)
        except Exception:  # damaged tables count as empty
            found.clear()
        known = [*self.functions, *found.values()]
        for whole in self.sections:
            if not any(whole.address <= one.address < whole.end for one in known):
                found[whole.address] = whole
        return tuple(found[address] for address in sorted(found))

    def _unwinding_entries(self) -> Iterator[tuple[int, int]]:
        info = self._debug_info
        # Fields that a linker fills in need relocations, which `strip` may have removed.
        if info is not None and (not self.is_relocatable or self._is_there(_RELOCATIONS)):
            yield from info.unwinding_entries()

    def _is_there(self, kind: int) -> bool:
        return any(header.kind == kind for header in self._headers)

    # Line information

    @cached_property
    def _debug_info(self) -> DebugInfo | None:
        try:
            return self._read_debug_info()
        except Exception:  # damaged line information is not needed to analyse the code
            return None

    def _read_debug_info(self) -> DebugInfo | None:
        for header in self._headers:
            if not self._name(header).startswith((".debug_", ".zdebug_", ".eh_frame")):
                continue
            size = header.size
            if header.flags & _COMPRESSED:
                size = int.from_bytes(self._content(header)[8:16], "little")
            if size > MAXIMUM_DEBUG_BYTES:
                return None
        # Texts have none, and loading pyelftools would be a tenth of a text's analysis.
        from cyclelens.analyzer.frontend.objects.line_tables import DebugInfo

        return DebugInfo(bytes(self._image))


def _number(text: str) -> int | None:
    try:
        return int(text, 16) if text.lower().startswith("0x") else None
    except ValueError:
        return None
