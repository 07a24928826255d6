"""What an analysis can be told to do: names, types, defaults and checks, for every way in which it is said.

The editors' settings are these and their own (``cyclelens.server.settings``), a project's file has these
(``cyclelens.analyzer.project``), and the command line has an option for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.registry import NATIVE, UnknownMicroarchitecture
from cyclelens.analyzer.suggestions import among


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as users see it."""

    name: str
    """Dots stand for nesting: ``hints.ports``."""
    type: str
    """``names`` (of microarchitectures), ``texts``, ``choice``, ``integer``, ``boolean`` or ``text``."""
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    meanings: tuple[str, ...] = ()
    """What each choice means, in the order of ``choices``."""


ANALYSIS: tuple[Setting, ...] = (
    Setting(
        "microarchitectures",
        "names",
        ("SKL",),
        "Microarchitectures to analyse for; native is that of this machine. The first one is shown in the "
        "text, hovers show all of them.",
    ),
    Setting(
        "syntax",
        "choice",
        "auto",
        "Assembly dialect; auto looks at the text and obeys .intel_syntax and .att_syntax.",
        choices=("auto", "att", "intel"),
        meanings=("As the text looks and its directives say", "AT&T: add %rax, %rbx", "Intel: add rbx, rax"),
    ),
    Setting(
        "mode",
        "choice",
        "auto",
        "Whether a region is a loop or is repeated end to end; auto takes one that jumps back to its start "
        "for a loop.",
        choices=("auto", "loop", "unroll"),
        meanings=("A loop if it jumps back to its start", "Always a loop", "Always repeated end to end"),
    ),
    Setting(
        "alignment",
        "integer",
        None,
        "Where every region starts within a 64-byte cache line, in bytes; null: where its text puts it.",
        maximum=63,
    ),
    Setting(
        "regions",
        "choice",
        "auto",
        "What to analyse: auto takes marked regions, or the innermost loops of a file without markers; "
        "markers takes marked regions only, loops all loops, both the marked regions and the other loops.",
        choices=("auto", "markers", "loops", "both"),
        meanings=(
            "Marked regions; the innermost loops of a file without markers",
            "Marked regions only",
            "All innermost loops",
            "Marked regions and the other innermost loops",
        ),
    ),
    Setting(
        "model",
        "choice",
        "reference",
        "The published model of the pipeline, or the one with better rules for memory and limited buffers.",
        choices=("reference", "hardware"),
        meanings=(
            "The published model (uiCA)",
            "With rules for stores that are not forwarded, and limited buffers and register files",
        ),
    ),
    Setting(
        "assembler",
        "choice",
        "auto",
        "gas or nasm leave the whole file to GNU as or NASM; auto does so only for NASM files with macros.",
        choices=("auto", "gas", "nasm"),
        meanings=(
            "Cyclelens itself; NASM for NASM files with macros",
            "GNU as assembles the whole file",
            "NASM assembles the whole file",
        ),
    ),
    Setting(
        "includePaths",
        "texts",
        (),
        "Folders to look for included files in besides the file's own and the workspace's; relative ones are "
        "those of the workspace. No other files are read.",
    ),
    Setting("defines", "texts", (), "NAME or NAME=VALUE for the C preprocessor and NASM."),
    Setting(
        "preIncludes",
        "texts",
        (),
        "Files that the C preprocessor (-include) and NASM (-P) read before the text, a configuration for "
        "example; relative ones are looked for in the workspace's folders and in those of includePaths.",
    ),
)


def checked(setting: Setting, value: object, microarchitectures: Sequence[str]) -> object:
    """The value in its final form. Raises ValueError with a sentence on anything else."""
    if setting.type == "boolean":
        if isinstance(value, bool):
            return value
        raise ValueError(f"{value!r} is neither true nor false.")
    if setting.type == "integer":
        # JSON clients may send 150.0; true is an int to Python and a mistake here.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number = isinstance(value, int) and not isinstance(value, bool)
        if number and setting.minimum <= value <= setting.maximum:  # type: ignore[operator]
            return value
        raise ValueError(f"{value!r} is not a whole number from {setting.minimum} to {setting.maximum}.")
    if setting.type == "choice":
        if value in setting.choices:
            return value
        raise ValueError(f"{value!r} is not one of {', '.join(setting.choices)}.")
    if setting.type == "text":
        if isinstance(value, str):
            return value.strip()
        raise ValueError(f"{value!r} is not a text.")
    if setting.type == "texts":
        if isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
            return tuple(dict.fromkeys(text.strip() for text in value if text.strip()))
        raise ValueError(f"{value!r} is not a list of texts.")
    return _names(value, microarchitectures)


def _names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not given or not all(isinstance(name, str) for name in given):
        raise ValueError(f"{value!r} is not a list of microarchitecture names.")
    names = tuple(
        dict.fromkeys(_native() if registry.is_native(name) else name.strip().upper() for name in given)
    )
    for name in names:
        if name not in known:
            raise ValueError(f"'{name}' is not a known microarchitecture{among(name, known)}.")
    return names


def _native() -> str:
    """The name of this machine's microarchitecture. Raises ValueError if it is not simulated."""
    try:
        return registry.get(NATIVE).name
    except UnknownMicroarchitecture as unknown:
        message = str(unknown)
        raise ValueError(f"{message[0].upper()}{message[1:]}.") from None
