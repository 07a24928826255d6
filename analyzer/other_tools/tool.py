"""Description of a tool, and how to run it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cyclelens.analyzer.frontend.assemblers.external import (
    HungError,
    ProgramResult,
    ProgramRun,
    find_program,
    run,
)
from msgspec import Struct

_PATIENCE = 20.0
"""CPU seconds for one run."""
_LISTING = "kernel.s"
_VERSION = re.compile(rb"\d+\.\d+[.\w]*")
_LONGEST_MESSAGE = 160


class ToolError(Exception):
    """The tool has no figure; the message is a short sentence that says why."""


class Tool(Struct, frozen=True):
    """A tool that reads a file in AT&T syntax and treats its content as a loop body."""

    name: str
    program: str
    """Program name on PATH."""
    means: str
    """Meaning of its figure, in a few words."""
    cores: Mapping[str, str]
    """Core -> the tool's name of it; cores without a model are missing."""
    runs: Callable[[str], Sequence[Sequence[str]]]
    """Options of each run that the figure needs, for the tool's name of a core."""
    figure: Callable[[Sequence[ProgramResult]], float]
    """Cycles per iteration from the output of the runs. Raises ``ToolError``."""

    def version(self) -> str | None:
        """The tool's version; None if it is not on this machine."""
        program = find_program(self.program)
        if program is None:
            return None
        try:
            found = _VERSION.search(run(ProgramRun([program, "--version"], timeout=_PATIENCE)).output)
        except (OSError, HungError):
            return None
        return found[0].decode() if found else "unknown version"

    def cycles(self, listing: str, core: str, cancel: Callable[[], bool]) -> float:
        """Cycles per iteration of the loop in ``listing`` on a core (Cyclelens's name). Raises
        ``ToolError``."""
        program = find_program(self.program)
        if program is None:
            raise ToolError("It is not installed.")
        if core not in self.cores:
            raise ToolError(f"It has no model of {core}.")
        try:
            done = [
                run(
                    ProgramRun(
                        [program, *options, _LISTING],
                        timeout=_PATIENCE,
                        given={_LISTING: listing},
                        cancel=cancel,
                    )
                )
                for options in self.runs(self.cores[core])
            ]
        except (OSError, HungError) as error:
            raise ToolError(str(error)) from None
        return self.figure(done)


def first_words(message: str) -> str:
    """The first line of a message, truncated to fit a table."""
    line = next((line.strip() for line in message.splitlines() if line.strip()), "It gives no reason.")
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}..."
