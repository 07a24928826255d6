"""Assembles whole files with the user's assembler, including macros, layout and encoding.

Rejected lines are removed and the rest is assembled again, so one mistake does not hide all figures.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence

from cyclelens.analyzer.common.recent import Caches
from cyclelens.analyzer.frontend.assemblers import confinement, external
from cyclelens.analyzer.frontend.assemblers.gnu_backend import gnu_as
from cyclelens.analyzer.frontend.files import includes, listings, nasm_macros
from cyclelens.analyzer.frontend.files.expansion import ExpansionNote
from cyclelens.analyzer.frontend.files.includes import Included
from cyclelens.analyzer.frontend.files.listings import Listing
from cyclelens.analyzer.frontend.files.nasm_macros import INPUT, RESULT, ExpandedText
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.source.chunks import LINE_END
from cyclelens.analyzer.model.choices import Assembler
from cyclelens.analyzer.model.source import Origin
from msgspec import Struct, field
from msgspec.structs import replace

TIMEOUT = 60.0
"""Seconds for one run, which takes some milliseconds; up to one second with x86inc, and ten for the
largest."""
OUTSIDE = "A file outside of the workspace is included."
_MAXIMUM_RUNS = 6
_MOST_KEPT = 8
_GNU_INPUT = "input.s"
_GNU_MESSAGE = r"(.+?):(\d+): (?:Error|Fatal error): (.*)"
_GNU_USE = rf"{re.escape(_GNU_INPUT)}:(\d+): +Info: macro invoked from here"
_NASM_OVERFLOW = r"(\S+?):(\d+): warning: .* exceeds bounds"
_NASM_MESSAGE = r"(\S+?):(\d+): (?:error|fatal): (.*)"
_GNU_CONTINUED = 200
"""Continuation lines per statement in a listing."""
_GNU_LISTED_BYTES = 8 * 4 * _GNU_CONTINUED
"""Longer statements are not listed completely."""
_PLACE = r"(?m)^((?:[^:\n]++|:(?!\d+:\s|\s))++):\d+:\s"
"""File that a message is about."""
_ANY_ERROR = r"(?im)^.*\b(?:error|fatal)\b.*$"
_STUB = "%warning not there\n"
_NASM_STUB = r"(?m)^stubs/(.+):1: warning: not there"
_X86INC_DEFINES = {
    "ARCH_X86_64": 1,
    "ARCH_X86_32": 0,
    "PIC": 1,
    "STACK_ALIGNMENT": 16,
    "FORCE_VEX_ENCODING": 0,
    "private_prefix": "asm",
}
"""Definitions that builds of projects with x86inc.asm make for 64-bit Linux, on the command line or in a
generated file. The user's own definitions and such a file take precedence."""
_UNWANTED = r"\s*(?:\.(?:addrsig(?:_sym)?|(?:app)?file|loc|line(?:file)?)\b|#\s*(?:line\s+)?\d+\s+\")"
"""Lines without bytes: directives that GNU as does not know, and source file names, which it would report as
files that it read and use instead of the text's name."""


class Assembled(Struct):
    """An assembled file. ``refused``: message by line for lines without bytes because of a mistake."""

    backend: str
    listing: Listing = field(default_factory=Listing)
    refused: dict[int, str] = field(default_factory=dict)
    shortened: list[int] = field(default_factory=list)
    """Lines with a number that NASM truncates."""
    notes: list[ExpansionNote] = field(default_factory=list)
    failure: str = ""
    """Why there is no result at all."""
    failure_line: int = 0
    """Zero-based line of the reason."""
    gave_up: bool = False
    """The program has read the text and rejects it."""


class _GaveUpError(Exception):
    """The text cannot be passed to the program, because of a (zero-based) line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class _OutsideError(Exception):
    """The program read a file that it may not read, or does not report which files it read."""


def has_nasm() -> bool:
    """Whether NASM is on PATH."""
    return external.find_program("nasm") is not None


WholeFileAssembler = Callable[[str, Origin, Included, Callable[[], bool]], Assembled]
"""(text, origin, its includes, whether to stop) -> result."""


class _LatestAssemblies:
    """Latest results of the assemblers."""

    def __init__(self, _caches: Caches) -> None:
        self.answers: dict[tuple[object, ...], Assembled] = {}


def assemble_file(
    name: Assembler, text: str, origin: Origin, cancel: Callable[[], bool], caches: Caches
) -> Assembled:
    """Assemble a text with the named assembler. Never raises; the latest results are cached."""
    language = "nasm" if name == "nasm" else "gas"
    found = includes.look(text, language, origin, caches)
    if found.refusals:
        notes = [
            ExpansionNote(refusal.line, "include-not-read", refusal.message) for refusal in found.refusals
        ]
        return Assembled(BACKENDS[name], notes=notes, failure="An included file may not be read.")
    key = (name, text, origin, tuple(found.contents.items()))
    known = caches.of(_LatestAssemblies).answers
    if key not in known:
        try:
            assembled = ASSEMBLERS[name](text, origin, found, cancel)
        except external.HungError as error:
            assembled = Assembled(BACKENDS[name], failure=str(error))
            if cancel():
                return assembled
        except OSError as error:
            return Assembled(BACKENDS[name], failure=f"{name} cannot be run: {error.strerror or error}.")
        if len(known) >= _MOST_KEPT:
            del known[next(iter(known))]
        known[key] = assembled
    # The caller may change it.
    return replace(known[key], notes=list(known[key].notes))


def _gas(text: str, origin: Origin, _found: Included, cancel: Callable[[], bool]) -> Assembled:
    program = gnu_as()
    if program is None:
        return Assembled("gnu as", failure="GNU as is not on PATH.")
    result = Assembled("gnu as")
    options = ["--64", "-alcmn=listing", "--listing-lhs-width=8", "--listing-rhs-width=4000"]
    options += [f"--listing-cont-lines={_GNU_CONTINUED}", "--MD", "read", "-o", "out.o"]
    folders = [part for folder in includes.search_path(origin) for part in ("-I", folder)]
    lines = ["" if re.match(_UNWANTED, line) else line for line in LINE_END.split(text)]
    call = _Call([program, *options, *folders], _GNU_INPUT, {}, origin, cancel)
    done = _accepted(result, "GNU as", lines, call, _gnu_mistakes)
    if done is None:
        return result
    result.listing = listings.read_gnu(done.files.get("listing", b"").decode("utf-8", "replace"))
    listings.lines_of_repetitions(result.listing, lines)
    _fill_in_addresses(result.listing, _object(done))
    return result


class _Call(Struct):
    """Call of an assembler, which writes `listing`, `out.o` and (to `read`) the files that it read."""

    command: Sequence[str]
    input: str
    """File name of the text."""
    given: Mapping[str, str]
    """Other files in the same folder."""
    origin: Origin
    cancel: Callable[[], bool]

    def run(self, lines: Sequence[str]) -> external.ProgramResult:
        """Run the assembler. Raises OSError, HungError, and _OutsideError if it read a file that it may not
        read."""
        return self.assemble([], self.input, lines, _WRITTEN)

    def assemble(
        self,
        options: Sequence[str],
        name: str,
        lines: Sequence[str],
        wanted: Sequence[str],
        file_limit: int = external.FILE_LIMIT,
    ) -> external.ProgramResult:
        """Run the assembler with further options. Raises like ``run``."""
        job = external.ProgramRun(
            [*self.command, *options, name],
            timeout=TIMEOUT,
            readable=includes.readable(self.origin),
            given={name: "\n".join([*lines, ""]), **self.given},
            wanted=wanted,
            file_limit=file_limit,
            cancel=self.cancel,
        )
        done = external.run(job)
        rule = done.files.get("read", b"")
        if done.status == 0 and not rule:
            raise _OutsideError
        named = {match[1] for match in re.finditer(_PLACE, done.errors)} | includes.named_in_rule(rule)
        others = named - {name, *self.given}
        if not all(os.path.isabs(other) and includes.may_read(other, self.origin) for other in others):
            raise _OutsideError
        return done


def _accepted(
    result: Assembled,
    title: str,
    lines: list[str],
    call: _Call,
    mistakes_of: Callable[[str, int], Mapping[int, str]],
) -> external.ProgramResult | None:
    """Assemble the text, and again without the rejected lines, which are emptied, until it succeeds. None,
    with a reason in the result, if it never does."""
    for _ in range(_MAXIMUM_RUNS):
        try:
            done = call.run(lines)
        except _OutsideError:
            result.failure = OUTSIDE
            return None
        except _GaveUpError as error:
            result.failure, result.failure_line = str(error), error.line
            return None
        if done.status == 0:
            return done
        mistakes = mistakes_of(done.errors, len(lines))
        other_error = re.search(_ANY_ERROR, done.errors)
        other = (other_error[0] if other_error else done.errors.strip())[:200]
        line, reason = next(iter(mistakes.items()), (0, other))
        if not mistakes.keys() - result.refused.keys():
            break
        result.refused.update(mistakes)
        for number in mistakes:
            lines[number] = ""
    result.failure, result.failure_line, result.gave_up = f"{title} gave up: {reason}", line, True
    return None


def _gnu_mistakes(errors: str, lines: int) -> dict[int, str]:
    """Messages by line. Errors in a macro belong to the line that uses it; errors after the end (an open
    block) belong to the last line."""
    found: dict[int, str] = {}
    line, message = -1, ""
    for text in errors.splitlines():
        if match := re.match(_GNU_MESSAGE, text):
            if line >= 0:
                found.setdefault(min(line, lines - 1), message)
            # An error in another file belongs to the line that uses it, if that is known.
            line, message = int(match[2]) - 1 if match[1] == _GNU_INPUT else -1, match[3]
        elif match := re.match(_GNU_USE, text):
            line = int(match[1]) - 1
    if line >= 0:
        found.setdefault(min(line, lines - 1), message)
    return found


def _nasm(text: str, origin: Origin, found: Included, cancel: Callable[[], bool]) -> Assembled:
    program = external.find_program("nasm")
    if program is None:
        return Assembled("nasm", failure="NASM is not on PATH.")
    result = Assembled("nasm")
    # The trailing slash is needed because old versions concatenate folder and name.
    folders = [part for folder in includes.search_path(origin) for part in ("-I", f"{folder}/")]
    usual = _X86INC_DEFINES if "x86inc" in text else {}
    constants = nasm_macros.constants(found.texts)
    # A name that stands for a number cannot be defined again; `%define` in a file overrides it anyway.
    guessed = (f"{name}={value}" for name, value in usual.items() if name not in constants)
    defines = [part for define in (*guessed, *origin.defines) for part in ("-D", define)]
    defines += [part for path in origin.pre_includes for part in ("-P", path)]
    folded = [part for name, value in constants.items() if value for part in ("-D", f"{name}={value}")]
    warnings = ["-w-all", "-w+user", "-w+orphan-labels", "-w+number-overflow"]
    command = [program, "-f", "elf64", *warnings, *folders, "-I", "stubs/"]
    lines = LINE_END.split(text)
    # A missing file is replaced by one that warns if it is used.
    stubs = {
        f"stubs/{name}": _STUB for name in sorted(found.missing) if re.fullmatch(includes.SAFE_STUB, name)
    }
    smart = "smartalign" in found.packages
    given = {"stubs/.empty": "", **stubs}
    call = _NasmCall(command, INPUT, given, origin, cancel, defines, folded, smart, found.hidden)
    done = _accepted(result, "NASM", lines, call, _nasm_mistakes)
    if done is None:
        return result
    result.shortened = sorted(
        {int(line) - 1 for file, line in re.findall(_NASM_OVERFLOW, done.errors) if file == INPUT}
    )
    for name in dict.fromkeys(re.findall(_NASM_STUB, done.errors)):
        line = next((number for number, content in enumerate(lines) if name in content), 0)
        message = f"'{name}' is not found and read as empty; add its folder to the include paths."
        result.notes.append(ExpansionNote(line, "include-not-read", message))
    file = _object(done)
    result.listing = listings.read_nasm(done.files.get("listing", b""), file)
    if call.made is not None:
        call.made.place(result.listing)
    _fill_in_addresses(result.listing, file)
    return result


class _NasmCall(_Call):
    """Runs NASM's preprocessor first and assembles its result. If macros ask for addresses, NASM does both at
    once."""

    defines: Sequence[str] = ()
    """Options for the preprocessor."""
    folded: Sequence[str] = ()
    """Options that define numbers which otherwise only the assembler knows."""
    smart_alignment: bool = False
    hidden: bool = False
    """The text may include files that the search cannot see."""
    made: ExpandedText | None = None
    """Expansion of the latest text, if the preprocessor ran separately."""

    def run(self, lines: Sequence[str]) -> external.ProgramResult:
        self.made = None
        marked = nasm_macros.mark(lines, smart_alignment=self.smart_alignment)
        if marked is not None:
            options = [*self.defines, *self.folded, "-E", "-MD", "read", "-o", RESULT]
            try:
                limit = nasm_macros.MAXIMUM_RESULT
                followed = self.assemble(options, INPUT, marked.text, (RESULT, "read"), limit)
            except external.TooMuchError as error:
                line = nasm_macros.last_line(error.written[RESULT])
                reason = f"Its macros expand this line, or those around it, to more than {limit >> 20} MB."
                raise _GaveUpError(line, reason) from None
            if followed.status == 0:
                text = followed.files.get(RESULT, b"").decode("utf-8", "replace")
                self.made = nasm_macros.follow(text, marked, lines, smart_alignment=self.smart_alignment)
                if directives := self.made.directives():
                    return external.ProgramResult(1, b"", directives)
                done = self.assemble(_LISTED, RESULT, self.made.text, _WRITTEN)
                if words := nasm_macros.half_typed(done.errors, self.made.text, self.made.lines, lines):
                    return external.ProgramResult(1, b"", words)
                return replace(done, errors=followed.errors + self.made.messages(done.errors))
            if nasm_macros.NEEDS_ASSEMBLER not in followed.errors:
                return replace(followed, errors=marked.messages(followed.errors))
        done = self.assemble([*self.defines, *_LISTED], INPUT, lines, _WRITTEN)
        if words := nasm_macros.half_typed(done.errors, lines, range(len(lines)), lines):
            return external.ProgramResult(1, b"", words)
        if done.status == 0 and self.hidden and not confinement.version():
            # NASM 2.16 does not report which files it included while assembling. Its preprocessor does, if it
            # succeeds.
            asked = self.assemble([*self.defines, "-M", "-MF", "read"], INPUT, lines, ("read",))
            if asked.status:
                raise _OutsideError
        return done


_WRITTEN = ("listing", "read", "out.o")
_LISTED = ("-l", "listing", "-MD", "read", "-o", "out.o")


def _nasm_mistakes(errors: str, lines: int) -> dict[int, str]:
    """Messages by line; an error after the end is a block that is not closed."""
    found: dict[int, str] = {}
    for match in re.finditer(_NASM_MESSAGE, errors):
        if match[1] == INPUT:
            found.setdefault(min(int(match[2]), lines) - 1, match[3])
    return found


def _object(done: external.ProgramResult) -> ObjectFile | None:
    """The assembled object, if it can be read."""
    try:
        return ObjectFile(done.files.get("out.o", b""))
    except ObjectFileError:
        return None


def _fill_in_addresses(listing: Listing, file: ObjectFile | None) -> None:
    """Take the code from the object, where symbols have addresses; a listing has none. Takes the sections'
    alignments, too."""
    listing.object = file
    if file is None:
        return
    sections = {name: file.section(name) for name in listing.code_sections}
    listing.alignments = {name: alignment for name, (_, alignment) in sections.items()}
    behind = {name: len(whole) for name, (whole, _) in sections.items()}
    for listed in reversed(listing.statements):
        whole, _ = sections.get(listed.section, (b"", 1))
        end = listed.address + len(listed.code)
        if len(listed.code) >= _GNU_LISTED_BYTES:
            end = max(end, behind.get(listed.section, 0))
        code = whole[listed.address : end]
        if code:
            listed.code = code
        behind[listed.section] = listed.address


ASSEMBLERS: Mapping[Assembler, WholeFileAssembler] = {Assembler.GAS: _gas, Assembler.NASM: _nasm}
"""The assemblers that users may choose."""
BACKENDS = {Assembler.GAS: "gnu as", Assembler.NASM: "nasm"}
"""Name of a line's encoder."""
