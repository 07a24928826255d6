"""Runs compilers. The commands are the user's own: they see what they would see if the user ran them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.compiling.commands import CommandError, CompileStep, steps


class CompilationError(Exception):
    """There is no object file; the message is for the user."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """An object file's content and the source that it was made of."""

    source: str
    """As the command names it; empty if it does not."""
    data: bytes


def compile_as_told(words: Sequence[str]) -> list[Compiled]:
    """The object files that a command makes. They are not kept, and what the command would have written is
    not written; what it says is said. Raises CompilationError."""
    with temporary.folder() as folder:
        try:
            return [Compiled(step.source, _run(step, folder)) for step in steps(words, folder)]
        except CommandError as error:
            raise CompilationError(str(error)) from None


def _run(step: CompileStep, folder: str) -> bytes:
    words, own = step.words, dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
    try:
        # What is printed stays apart from the report.
        done = subprocess.run(words, stdout=2, env={**os.environ, **own})
    except OSError as error:
        raise CompilationError(f"{words[0]} cannot be run: {error.strerror or error}") from None
    if done.returncode:
        raise CompilationError(f"{words[0]} ended with {done.returncode}")
    try:
        return Path(step.target).read_bytes()
    except OSError:
        raise CompilationError(f"{words[0]} made no object file") from None
