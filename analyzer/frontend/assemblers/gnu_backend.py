"""Finds the machine's GNU as for x86-64."""

from __future__ import annotations

from cyclelens.analyzer.frontend.assemblers import external

TIMEOUT = 3.0
"""Seconds for the self-test, which usually takes some milliseconds."""
_NAMES = ("as", "x86_64-linux-gnu-as", "x86_64-elf-as")
"""Where the machine is not x86-64, ``as`` targets another processor and fails the self-test."""
_SELF_TEST = "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}\n"
_LISTED = b"62F174C9 585701"
_OPTIONS = ("--64", "-aln", "--listing-lhs-width=8", "-o", "out.o", "-")


class GnuAs:
    """The first program on PATH that is GNU as for x86-64."""

    def __init__(self, program: str | None = None) -> None:
        """``program``: path of the program; by default those on PATH are tried."""
        self._given = program
        self._found: str | None = None
        self._is_known = False

    @property
    def program(self) -> str | None:
        """Path of the program; None if none works. Found once, unless a test could not be run."""
        if not self._is_known:
            named = [self._given] if self._given else [external.find_program(name) for name in _NAMES]
            try:
                self._found = next((each for each in named if each is not None and _works(each)), None)
            except (OSError, external.HungError):
                return None
            self._is_known = True
        return self._found


def _works(program: str) -> bool:
    done = external.run(external.ProgramRun([program, *_OPTIONS], TIMEOUT, _SELF_TEST))
    return _LISTED in b" ".join(done.output.split())


_shared = GnuAs()


def shared_gnu_as() -> GnuAs:
    """This process's search."""
    return _shared
