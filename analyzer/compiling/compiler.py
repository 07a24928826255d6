"""Runs the user's own compiler commands and passes their messages through."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from cyclelens.analyzer.common import temporary
from cyclelens.analyzer.common.regular_files import AT_ONCE, read_regular
from cyclelens.analyzer.compiling.commands import CommandError, CompileStep, steps
from msgspec import Struct


class CompilationError(Exception):
    """The compiler made no object file; the message is for the user."""


class CompiledObject(Struct, frozen=True):
    """Content of an object file and the source that it was compiled from."""

    source: str
    """The source as the command names it; empty if it does not."""
    data: bytes


def compile_as_told(words: Sequence[str]) -> list[CompiledObject]:
    """Run a command and return the object files that it makes. They are not kept on disk, the command's usual
    outputs are not written, and its messages are shown. Raises CompilationError."""
    with temporary.folder() as folder:
        try:
            return [CompiledObject(step.source, _run(step, folder)) for step in steps(words, folder)]
        except CommandError as error:
            raise CompilationError(str(error)) from None


def _run(step: CompileStep, folder: str) -> bytes:
    words, own = step.words, dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)
    try:
        # The compiler's output goes to stderr, so the report on stdout stays clean.
        done = subprocess.run(words, stdout=2, env={**os.environ, **own})
    except OSError as error:
        raise CompilationError(f"{words[0]} cannot be run: {error.strerror or error}") from None
    if done.returncode:
        raise CompilationError(f"{words[0]} ended with {done.returncode}")
    try:
        return read_regular(step.target, AT_ONCE)
    except FileNotFoundError:
        raise CompilationError(f"{words[0]} made no object file") from None
    except OSError as error:
        raise CompilationError(f"the object file of {words[0]} cannot be read: {error.strerror}") from None
