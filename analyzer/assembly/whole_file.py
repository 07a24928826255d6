"""Whole files through the user's assembler: everything is its own, macros, layout and encoding.

Lines that it refuses are taken out and the rest is tried again: one mistake must not hide all figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cyclelens.analyzer.assembly import external, includes, listings
from cyclelens.analyzer.assembly.elf import ObjectFile, ObjectFileError
from cyclelens.analyzer.assembly.expansion import Note
from cyclelens.analyzer.assembly.listings import Listing
from cyclelens.analyzer.model.source import Origin

TIMEOUT = 10.0
"""Seconds for one run, which takes some milliseconds, with macro packages up to some seconds."""
_MAXIMUM_RUNS = 6
_CACHE_SIZE = 8
_SAFE_STUB = re.compile(r"(?!.*(?:^|/)\.\.(?:/|$))[\w+-][\w./+-]{0,200}")
_GNU_MESSAGE = re.compile(r"(?:\S+?):(\d+): (Error|Fatal error): (.*)")
_GNU_USE = re.compile(r"(?:\S+?):(\d+): +Info: macro invoked from here")
_NASM_MESSAGE = re.compile(r"(\S+?):(\d+): (?:error|fatal): (.*)")
_STUB = "%warning not there\n"
_NASM_STUB = re.compile(r"^stubs/(.+):1: warning: not there", re.MULTILINE)
_X86INC_DEFINES = (
    "ARCH_X86_64=1",
    "ARCH_X86_32=0",
    "PIC=1",
    "STACK_ALIGNMENT=16",
    "FORCE_VEX_ENCODING=0",
    "private_prefix=asm",
)
"""What builds of projects with x86inc.asm define for 64-bit Linux, on the command line or in a file that the
build makes; the user's own definitions and such a file win."""
_UNWANTED = re.compile(r"\s*\.(?:addrsig(?:_sym)?|file|loc)\b")
"""Without bytes: what GNU as does not know, and names of sources, which it would count as files it read."""
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class Assembled:
    """What became of a file. ``refused``: a message for every line that has no bytes because of a mistake."""

    backend: str
    listing: Listing = field(default_factory=Listing)
    refused: dict[int, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    failure: str = ""
    """Why there is nothing at all."""


Run = Callable[[str, Origin, set[str], Callable[[], bool]], Assembled]
"""The text, its place, the included files that are nowhere, and whether to stop."""
_cache: dict[tuple[object, ...], Assembled] = {}


def assemble_file(name: str, text: str, origin: Origin, cancel: Callable[[], bool]) -> Assembled:
    """Assemble a text with the assembler of this name. Never raises; remembers the latest answers."""
    language = "nasm" if name == "nasm" else "gas"
    found = includes.look(text, language, origin)
    if found.refusals:
        notes = [Note(refusal.line, "include-not-read", refusal.message) for refusal in found.refusals]
        return Assembled(BACKENDS[name], notes=notes, failure="An included file may not be read.")
    key = (name, text, origin, tuple(found.state))
    if key not in _cache:
        try:
            assembled = ASSEMBLERS[name](text, origin, found.missing, cancel)
        except external.HungError:
            assembled = Assembled(BACKENDS[name], failure=f"{name} took too long, or died.")
            if cancel():
                return assembled
        except OSError as error:
            return Assembled(BACKENDS[name], failure=f"{name} cannot be run: {error.strerror or error}.")
        if len(_cache) >= _CACHE_SIZE:
            del _cache[next(iter(_cache))]
        _cache[key] = assembled
    # The caller may change it.
    return replace(_cache[key], notes=list(_cache[key].notes))


def _gas(text: str, origin: Origin, _missing: set[str], cancel: Callable[[], bool]) -> Assembled:
    program = external.find_program("as")
    if program is None:
        return Assembled("gnu as", failure="GNU as is not on PATH.")
    result = Assembled("gnu as")
    options = ["--64", "-alcmn=listing", "--listing-lhs-width=8", "--listing-rhs-width=4000"]
    options += ["--listing-cont-lines=200", "--MD", "read", "-o", "out.o"]
    folders = [part for folder in includes.search_path(origin) for part in ("-I", folder)]
    lines = ["" if _UNWANTED.match(line) else line for line in _LINE_END.split(text)]
    for _ in range(_MAXIMUM_RUNS):
        done = external.run(
            [program, *options, *folders, "input.s"],
            timeout=TIMEOUT,
            given={"input.s": "\n".join([*lines, ""])},
            wanted=("listing", "read", "out.o"),
            cancel=cancel,
        )
        if not _only_allowed(done.files.get("read", b""), origin):
            result.failure = "A file outside of the workspace is included."
            return result
        if done.status == 0:
            break
        mistakes = _gnu_mistakes(done.errors, len(lines))
        if not mistakes.keys() - result.refused.keys():
            result.failure = f"GNU as gave up: {next(iter(mistakes.values()), done.errors.strip()[:200])}"
            return result
        result.refused.update(mistakes)
        for line in mistakes:
            lines[line] = ""
    else:
        result.failure = "GNU as finds more and more mistakes."
        return result
    result.listing = listings.read_gnu(done.files.get("listing", b"").decode("utf-8", "replace"))
    listings.lines_of_repetitions(result.listing, lines)
    _fill_in_addresses(result.listing, done.files.get("out.o", b""))
    return result


def _gnu_mistakes(errors: str, lines: int) -> dict[int, str]:
    """Message by line; what is wrong within a macro is put down to the line that uses it, and what is wrong
    behind the end (a block that is never closed) to the last line."""
    found: dict[int, str] = {}
    line, message = -1, ""
    for text in errors.splitlines():
        if match := _GNU_MESSAGE.match(text):
            if line >= 0:
                found.setdefault(min(line, lines - 1), message)
            line, message = int(match[1]) - 1, match[3]
        elif match := _GNU_USE.match(text):
            line = int(match[1]) - 1
    if line >= 0:
        found.setdefault(min(line, lines - 1), message)
    return found


def _nasm(text: str, origin: Origin, missing: set[str], cancel: Callable[[], bool]) -> Assembled:
    program = external.find_program("nasm")
    if program is None:
        return Assembled("nasm", failure="NASM is not on PATH.")
    result = Assembled("nasm")
    # A slash at the end: old versions put folder and name together as they are.
    folders = [part for folder in includes.search_path(origin) for part in ("-I", f"{folder}/")]
    usual = _X86INC_DEFINES if "x86inc" in text else ()
    defines = [part for define in (*usual, *origin.defines) for part in ("-D", define)]
    options = ["-f", "elf64", "-l", "listing", "-o", "out.o", "-w-all", "-w+user"]
    lines = _LINE_END.split(text)
    # A missing file is taken as empty, and says so if it is needed.
    stubs = {f"stubs/{name}": _STUB for name in sorted(missing) if _SAFE_STUB.fullmatch(name)}
    for _ in range(_MAXIMUM_RUNS):
        done = external.run(
            [program, *options, *folders, "-I", "stubs/", *defines, "input.asm"],
            timeout=TIMEOUT,
            given={"input.asm": "\n".join([*lines, ""]), "stubs/.empty": "", **stubs},
            wanted=("listing", "out.o"),
            cancel=cancel,
        )
        if done.status == 0:
            break
        mistakes: dict[int, str] = {}
        for match in _NASM_MESSAGE.finditer(done.errors):
            if match[1] == "input.asm":
                # What is wrong behind the end is a block that is never closed.
                mistakes.setdefault(min(int(match[2]), len(lines)) - 1, match[3])
        if not mistakes.keys() - result.refused.keys():
            first = _NASM_MESSAGE.search(done.errors)
            result.failure = f"NASM gave up: {first[0] if first else done.errors.strip()[:200]}"
            return result
        result.refused.update(mistakes)
        for line in mistakes:
            lines[line] = ""
    else:
        result.failure = "NASM finds more and more mistakes."
        return result
    for name in dict.fromkeys(_NASM_STUB.findall(done.errors)):
        line = next((number for number, content in enumerate(lines) if name in content), 0)
        message = f"'{name}' is not found and taken as empty; name its folder as an include path."
        result.notes.append(Note(line, "include-not-read", message))
    listing = done.files.get("listing", b"")
    if b"<bin " in listing and "incbin" not in text.lower():
        # Put together by macros, so that nobody could see which file it is.
        result.failure = "A file is included in a way that cannot be checked."
        return result
    result.listing = listings.read_nasm(listing)
    _fill_in_addresses(result.listing, done.files.get("out.o", b""))
    return result


def _fill_in_addresses(listing: Listing, data: bytes) -> None:
    """Take the code from the object: every symbol has an address of its own there, and none in a listing."""
    try:
        file = ObjectFile(data)
    except ObjectFileError:
        return
    sections = {name: file.section(name) for name in listing.code_sections}
    for listed in listing.statements:
        code = sections.get(listed.section, b"")[listed.address : listed.address + len(listed.code)]
        if len(code) == len(listed.code):
            listed.code = code


def _only_allowed(read: bytes, origin: Origin) -> bool:
    """Are all files that GNU as says it read its input, or files it may read?"""
    text = read.decode("utf-8", "replace").replace("\\\n", " ").partition(":")[2]
    names = (name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", text))
    return all(name == "input.s" or includes.may_read(name, origin) for name in names)


ASSEMBLERS: Mapping[str, Run] = {"gas": _gas, "nasm": _nasm}
"""By the name that users choose."""
BACKENDS = {"gas": "gnu as", "nasm": "nasm"}
"""What a line's encoder is called."""
