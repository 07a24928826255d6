"""Rewrites a compiler's command so that it makes object files with line information in a folder of our
choice; everything else is unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.compiling.cl_commands import is_cl, name_of, of_cl
from cyclelens.analyzer.compiling.compile_step import CommandError, CompileStep

__all__ = ["CommandError", "CompileStep", "steps"]

LAUNCHERS = frozenset({"ccache", "sccache", "distcc"})
_C = re.compile(r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|icx|icpx)(?:-[\d.]+)?")
_SOURCE = re.compile(r".+\.(?:c|i|cc|ii|cpp|cxx|cp|c\+\+|C|CPP|m|mm|s|S|sx)")
_LINKED = re.compile(r".+\.(?:o|a|so(?:\.[\d.]+)?|lo|la)")
_WITH_VALUE = re.compile(
    r"-(?:[IDUBTuzAx]|include|imacros|isystem|iquote|idirafter|isysroot|iprefix|iwithprefix|target|Xclang|mllvm"
    r"|Xpreprocessor|Xassembler)"
)
"""Options of C compilers whose value may be the next word."""
_WRITTEN = frozenset(
    {
        *("-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-L", "-l", "-o", "--output", "-aux-info"),
        *("-dumpdir", "-dumpbase", "-dumpbase-ext", "-dependency-file"),
        *("-serialize-diagnostics", "--serialize-diagnostics"),
    }
)
"""Options that are removed together with their value, because the value names an output or a library."""
_LEFT_OUT = re.compile(
    r"-[cSE]|-M(?:D|MD|P|G|M)?|-o.+|-M[FTQJ].+|-[lL].+|-Wl,.*|-f(?:no-)?lto(?:[=-].*)?|-save-temps.*"
    r"|-fsyntax-only"
    # Options that write other files, at a given place or beside the source.
    r"|--output=.+|-aux-info=.+|-d[a-zA-Z]+|-fdump-.+|-fopt-info.*=.+|-fsave-optimization-record.*"
    r"|-foptimization-record-file=.+|-ftime-trace.*|-fdiagnostics-(?:format=.+-file|add-output=.+|set-output=.+)"
    r"|-fcallgraph-info.*|-fstack-usage|-fmodule-output.*|-fdeps-.+|-fcrash-diagnostics.*|-fprofile-note=.+"
    r"|-Wp,-M.*|-Wa,(?:.*,)?(?:-a[a-z]*=|--MD).*"
)
_LINES = re.compile(r"-g(?:[123]|gdb\d?|dwarf.*|line-tables-only)?")
_RUST_LINES = re.compile(r"(?:debuginfo|(?:-C|--codegen=)debuginfo)=.*|-g")


def steps(words: Sequence[str], folder: str) -> list[CompileStep]:
    """Commands that make the object files of a compiler's command in ``folder``. Raises CommandError."""
    at = next((at for at, word in enumerate(words) if name_of(word) not in LAUNCHERS), len(words))
    if at == len(words):
        raise CommandError("no compiler command is given, such as: cyclelens cc -- gcc -O3 -c x.c")
    before, rest = tuple(words[: at + 1]), words[at + 1 :]
    name = name_of(words[at])
    if name == "cargo":
        return [_of_cargo(before, rest, folder)]
    if name == "rustc":
        return [_of_rustc(before, rest, folder)]
    if is_cl(name):
        return list(of_cl(before, rest, folder))
    if _C.fullmatch(name):
        return list(_of_c(before, rest, folder))
    raise CommandError(
        f"'{name}' is not a known compiler: gcc, g++, clang, clang++, clang-cl, cl, rustc, cargo rustc"
    )


def _of_c(before: tuple[str, ...], rest: Sequence[str], folder: str) -> Iterator[CompileStep]:
    kept: list[str] = []
    sources: list[str] = []
    words = iter(rest)
    for word in words:
        if word in _WRITTEN:
            next(words, None)
        elif _WITH_VALUE.fullmatch(word):
            kept += [word, next(words, "")]
        elif word == "-" or (not word.startswith("-") and _SOURCE.fullmatch(word)):
            sources.append(word)
        elif not _LEFT_OUT.fullmatch(word) and (word.startswith("-") or not _LINKED.fullmatch(word)):
            kept.append(word)
    if not sources:
        raise CommandError("the command compiles nothing: it names no source file")
    # Line information changes the code of neither gcc nor clang.
    lines = () if any(map(_LINES.fullmatch, kept)) else ("-g",)
    for number, source in enumerate(sources, 1):
        target = f"{folder}/{number}.o"
        own = "" if source == "-" else source
        yield CompileStep((*before, *kept, *lines, "-c", source, "-o", target), target, own)


def _of_rustc(before: tuple[str, ...], rest: Sequence[str], folder: str) -> CompileStep:
    kept: list[str] = []
    words = iter(rest)
    for word in words:
        if word in ("-o", "--out-dir", "--emit"):
            next(words, None)
        elif not word.startswith(("--out-dir=", "--emit=")):
            kept.append(word)
    source = next((word for word in kept if word.endswith(".rs")), "")
    if not source:
        raise CommandError("the command compiles nothing: it names no .rs file")
    target = f"{folder}/1.o"
    return CompileStep((*before, *kept, *_rust_options(kept, target)), target, source)


def _of_cargo(before: tuple[str, ...], rest: Sequence[str], folder: str) -> CompileStep:
    if "rustc" not in rest:
        raise CommandError(
            "use cargo rustc instead of another cargo command: it compiles one crate as cargo build does"
        )
    target = f"{folder}/1.o"
    given = list(rest)
    own = given[given.index("--") + 1 :] if "--" in given else []
    if "--" not in given:
        given.append("--")
    return CompileStep((*before, *given, *_rust_options(own, target)), target, "")


def _rust_options(given: Sequence[str], target: str) -> Iterator[str]:
    """Options for a single object file with line information; with several codegen units only the last would
    be found."""
    yield f"--emit=obj={target}"
    yield "-Ccodegen-units=1"
    if not any(map(_RUST_LINES.fullmatch, given)):
        yield "-Cdebuginfo=2"
