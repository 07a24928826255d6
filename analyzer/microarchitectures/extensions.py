"""Decides how a core treats instructions of extensions that it lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.instruction import Instruction
from cyclelens.analyzer.model.result import MissingPrediction

_IGNORED = frozenset(["CET_IBT", "CET_SS", "MPX", "PREFETCHW", "PREFETCHWT1", "PREFETCHITI", "CLDEMOTE"])
"""Instructions in the space of NOPs: a core without the extension runs them as NOPs."""
_OLDER_MEANING = {"tzcnt": "bsf", "lzcnt": "bsr"}
"""A core without these ignores their prefix and runs the other instruction."""

_WITH_VEX = {
    **dict.fromkeys(("vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds"), "AVX_VNNI"),
    **dict.fromkeys(("vpmadd52luq", "vpmadd52huq"), "AVX_IFMA"),
    "vcvtneps2bf16": "AVX_NE_CONVERT",
}
"""Extensions with the VEX forms of instructions that assemblers encode for AVX-512 unless told otherwise."""
_NAMES = {"AVX512F": "AVX-512", "D3NOW": "3DNow!", "HLE_OR_RTM": "RTM", "SSE4A": "SSE4a", "CX8": "CMPXCHG8B"}


def missing(
    instructions: Sequence[Instruction], microarchitectures: Iterable[str]
) -> tuple[MissingPrediction, ...]:
    """The cores that cannot run these instructions, and why. Raises ``UnknownMicroarchitecture``."""
    found = []
    for name in microarchitectures:
        has = registry.get(name).extensions
        absent = {
            index: titles
            for index, instruction in enumerate(instructions)
            if not instruction.extensions <= has and (titles := absent_from(has, instruction))
        }
        if absent:
            every = dict.fromkeys(title for titles in absent.values() for title in titles)
            first = instructions[next(iter(absent))]
            with_vex = first.mnemonic if _has_vex_form(first, has) else ""
            found.append(MissingPrediction(name, tuple(every), tuple(absent), with_vex=with_vex))
    return tuple(found)


def _has_vex_form(instruction: Instruction, has: frozenset[str]) -> bool:
    wide = instruction.mask or any((each.register or "").startswith("ZMM") for each in instruction.operands)
    return not wide and _WITH_VEX.get(instruction.mnemonic) in has


def absent_from(has: frozenset[str], instruction: Instruction) -> tuple[str, ...]:
    """What an instruction needs beyond these extensions, as usually written; empty if it can run without,
    maybe with an older meaning."""
    absent = instruction.extensions - has - _IGNORED
    if not absent or instruction.mnemonic in _OLDER_MEANING:
        return ()
    if "AVX512F" not in has:
        # Other parts of AVX-512 exist only together with AVX512F.
        absent = frozenset("AVX512F" if name.startswith("AVX512") else name for name in absent)
    return tuple(sorted(_title(name) for name in absent))


def older_meaning(instruction: Instruction, microarchitecture: str) -> str:
    """What the core runs instead of an instruction that it does not know; empty if it knows it."""
    older = _OLDER_MEANING.get(instruction.mnemonic, "")
    return older if older and not instruction.extensions <= registry.get(microarchitecture).extensions else ""


def _title(name: str) -> str:
    """The usual spelling: ``AVX-512 VNNI`` for ``AVX512_VNNI``, ``AVX-VNNI`` for ``AVX_VNNI``."""
    if name in _NAMES:
        return _NAMES[name]
    if name.startswith("AVX512"):
        return f"AVX-512 {name.removeprefix('AVX512').removeprefix('_')}"
    return name.replace("_", "-")
