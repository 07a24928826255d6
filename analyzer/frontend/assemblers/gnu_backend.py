"""Finds the machine's GNU as for x86-64."""

from __future__ import annotations

from functools import cache

from cyclelens.analyzer.frontend.assemblers import external

TIMEOUT = 3.0
"""Seconds for the self-test, which usually takes some milliseconds."""
_NAMES = ("as", "x86_64-linux-gnu-as", "x86_64-elf-as")
"""Where the machine is not x86-64, ``as`` targets another processor and fails the self-test."""
_SELF_TEST = "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}\n"
_LISTED = b"62F174C9 585701"
_OPTIONS = ("--64", "-aln", "--listing-lhs-width=8", "-o", "out.o", "-")


def gnu_as() -> str | None:
    """Path of the first program on PATH that is GNU as for x86-64; None if none works. Found once, unless a
    test could not be run."""
    try:
        return _tested()
    except (OSError, external.HungError):
        return None


@cache
def _tested() -> str | None:
    return next(filter(works, filter(None, map(external.find_program, _NAMES))), None)


def works(program: str) -> bool:
    """Whether a program is GNU as for x86-64. Raises OSError and HungError."""
    done = external.run(external.ProgramRun([program, *_OPTIONS], TIMEOUT, _SELF_TEST))
    return _LISTED in b" ".join(done.output.split())
