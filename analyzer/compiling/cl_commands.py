"""Rewrites commands of Microsoft's ``cl`` and of ``clang-cl``, whose options begin with a slash or a hyphen
("MSVC Compiler Options", Microsoft; "clang-cl" in Clang's user's manual)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.compiling.compile_step import CommandError, CompileStep

_NAME = re.compile(r"(?:clang-)?cl(?:-[\d.]+)?", re.IGNORECASE)
_SOURCE = re.compile(r".+\.(?:c|cc|cpp|cxx|c\+\+|ixx)", re.IGNORECASE)
_LINKED = re.compile(r".+\.(?:obj|lib|res|def|o)", re.IGNORECASE)
_NAMES_SOURCE = re.compile(r"[-/]T([cp])(.*)")
_WITH_VALUE = re.compile(
    r"[-/](?:[IDU]|FI|AI|FU|imsvc|winsysroot|external:I|headerUnit|reference)|-(?:Xclang|mllvm|isystem|target)"
)
"""Options whose value may be the next word."""
_ATTACHED = re.compile(r"/(?:D|I|FI|external:).+")
"""Options that may end like the name of a source."""
_WRITTEN = re.compile(r"[-/](?:sourceDependencies(?::directives)?|scanDependencies|ifcOutput|o|doc)")
"""Options that are removed together with the next word, which names an output."""
_LEFT_OUT = re.compile(
    # What is written and where, debug information in a separate file, and code that only the linker makes.
    r"[-/](?:c|E|EP|P|F[adeimopRrS].*|FS|MP\d*|Z[7iIs]|GL|LDd?|LN|Y[cudX].*|showIncludes.*|analyze.*"
    r"|sourceDependencies.+|doc.+|o:.+|nologo|diagnostics:.*)"
    r"|-flto(?:[=-].*)?|-gcodeview"
)


def is_cl(name: str) -> bool:
    """Whether a program of this name takes cl's options."""
    return _NAME.fullmatch(name) is not None


def name_of(word: str) -> str:
    """The name of a program, by its path, without ``.exe``."""
    return re.sub(r"(?i)\.exe$", "", re.split(r"[/\\]", word)[-1])


def of_cl(before: tuple[str, ...], rest: Sequence[str], folder: str) -> Iterator[CompileStep]:
    """Commands that make the object files of cl's command in ``folder``, with lines inside (``/Z7``). Raises
    CommandError."""
    kept: list[str] = []
    sources: list[tuple[str, str]] = []
    """Each with the option that says its language, or without."""
    words = iter(rest)
    for word in words:
        if word.lower() in ("/link", "-link"):
            break
        if word.startswith("@"):
            raise CommandError(f"options in a file ({word}) are not read: write them out")
        if match := _NAMES_SOURCE.fullmatch(word):
            # /Tc FILE and /TcFILE; /TC and /TP are for all files.
            sources.append((f"/T{match[1]}", match[2] or next(words, "")))
        elif _WRITTEN.fullmatch(word):
            next(words, None)
        elif _WITH_VALUE.fullmatch(word):
            kept += [word, next(words, "")]
        elif _LEFT_OUT.fullmatch(word):
            continue
        elif word[:1] in "-/" and (
            word[0] == "-" or _ATTACHED.fullmatch(word) or not _SOURCE.fullmatch(word)
        ):
            kept.append(word)
        elif _SOURCE.fullmatch(word):
            sources.append(("", word))
        elif not _LINKED.fullmatch(word):
            kept.append(word)
    if not sources:
        raise CommandError("the command compiles nothing: it names no source file")
    for number, (language, source) in enumerate(sources, 1):
        target = f"{folder}/{number}.obj"
        yield CompileStep(
            (*before, *kept, "/Z7", "/c", f"{language}{source}", f"/Fo{target}"), target, source
        )
