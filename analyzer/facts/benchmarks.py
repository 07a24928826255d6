"""Reads results of ibench and asmbench, as OSACA's ``--import`` does.

Both name a form ``MNEMONIC-OP_OP``. Operands are OSACA's letters in AT&T order, the destination last (``r``,
``x``, ``y``, ``z``, ``i``, and ``m`` with letters for the parts of the address), or names in Intel's order
(``r64``, ``xmm``, ``mem``, ``imd``). ``r`` is a general register of any width.

ibench writes a line per figure, ``NAME-TP: 0.251 (...)`` or ``NAME-LT: 4.013 (...)``, with the unit in
parentheses; asmbench the name, ``Latency: 4.013 cy``, ``Throughput: 0.251 cy`` and an empty line. Formats:
OSACA's documents and test inputs (https://github.com/RRZE-HPC/OSACA).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cyclelens.analyzer.facts.collector import DescribedMeasurement, DescribedVariant
from cyclelens.analyzer.facts.rules import ASMBENCH, IBENCH
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.model.facts import InstructionFacts, OperandFacts
from msgspec import Struct

_IBENCH = re.compile(r"(\S+)-(TP|LT):\s+(\d+(?:\.\d+)?) \(clock c\w+\)")
_ASMBENCH = re.compile(r"(Latency|Throughput): (\d+(?:\.\d+)?) cy(?:cles)?")
_WHOLE = 0.05
"""A latency is a whole number of cycles; a figure further from one, as a share, is not a latency."""
_VARIANT = re.compile(r"(?:\{\w+\} )?(\w+) \(([^()]*)\)")
_SUFFIXES = {"B": "8l", "W": "16", "L": "32", "Q": "64"}
"""AT&T's suffixes of mnemonics, and the width of the general registers."""
_LETTERS = {
    "r": r"R(?:8l|16|32|64)",
    "x": "XMM",
    "y": "YMM",
    "z": "ZMM",
    "k": "K",
    "i": r"I\d+",
}
_NAMES = {
    "r8": "R8l",
    "r16": "R16",
    "r32": "R32",
    "r64": "R64",
    "xmm": "XMM",
    "ymm": "YMM",
    "zmm": "ZMM",
    "imd": r"I\d+",
    "imm": r"I\d+",
    "mem": r"M\d+",
}
_EVEX = "_EVEX"
_ADDRESS = re.compile("mb?o?i?s?")


class Result(Struct, frozen=True):
    """Figures of one form, in cycles."""

    form: str
    provenance: str
    latency: float | None = None
    throughput: float | None = None


class Found(Struct, frozen=True):
    """Variants of the tables that results are about."""

    variants: tuple[DescribedVariant, ...]
    unknown: tuple[str, ...]
    """Forms that the tables have in no variant."""
    without_latency: tuple[str, ...]
    """Forms whose latency was left out: it is no whole number, or leads from no register to another."""


def is_benchmark(text: str) -> bool:
    """Whether a file's beginning looks like the output of one of the programs."""
    return any(_IBENCH.match(line) or _ASMBENCH.fullmatch(line.strip()) for line in text.splitlines())


def results(text: str) -> list[Result]:
    """The figures of a file, by form. Raises ValueError if it has none."""
    found: dict[str, Result] = {}
    name = ""
    for line in map(str.strip, text.splitlines()):
        if each := _IBENCH.match(line):
            name, what, provenance = each[1], each[2], IBENCH
        elif each := _ASMBENCH.fullmatch(line):
            what, provenance = ("LT" if each[1] == "Latency" else "TP"), ASMBENCH
        else:
            name = line if "-" in line else ""
            continue
        if not name:
            raise ValueError(f"'{line}' stands below no form")
        old = found.get(name, Result(name, provenance))
        latency = float(each[each.re.groups]) if what == "LT" else old.latency
        throughput = float(each[each.re.groups]) if what == "TP" else old.throughput
        found[name] = Result(name, provenance, latency, throughput)
    if not found:
        raise ValueError("no results of ibench or asmbench")
    return list(found.values())


def find(given: Sequence[Result], store: FactsStore, microarchitecture: str) -> Found:
    """The results as measurements of a core's variants."""
    by_mnemonic: dict[str, list[InstructionFacts]] = {}
    wanted = {name for result in given for name in _mnemonics(result.form)}
    for core in (microarchitecture, *store.microarchitectures()):
        for form in store.forms():
            if form.partition("_")[0] in wanted:
                for facts in store.candidates(core, form):
                    known = by_mnemonic.setdefault(_split(facts.name)[0], [])
                    if all(facts.name != other.name for other in known):
                        known.append(facts)
    variants: list[DescribedVariant] = []
    unknown, without_latency = [], []
    for result in given:
        matching = list(_matching(result.form, by_mnemonic))
        if not matching:
            unknown.append(result.form)
        latencies = [_latencies(result, facts.operands) for facts in matching]
        if matching and result.latency is not None and not any(latencies):
            without_latency.append(result.form)
        for facts, pairs in zip(matching, latencies, strict=True):
            figures = {"provenance": result.provenance}
            if result.throughput is not None:
                figures |= {"TP_loop": f"{result.throughput:.2f}", "throughput": f"{result.throughput:.2f}"}
            attributes = {"string": facts.name, "iform": facts.iform, "category": facts.category}
            attributes |= {"extension": facts.extension, **facts.attributes}
            measurement = DescribedMeasurement(microarchitecture, figures, pairs)
            variants.append(DescribedVariant(attributes, facts.operands, [measurement]))
    return Found(tuple(variants), tuple(unknown), tuple(without_latency))


def _split(variant: str) -> tuple[str, list[str]]:
    """Mnemonic and operands of a variant's name in the tables."""
    found = _VARIANT.fullmatch(variant)
    if found is None:
        return re.split("[ _]", variant)[0], []
    return found[1].partition("_")[0], [each.strip() for each in found[2].split(",")]


def _mnemonics(form: str) -> tuple[str, ...]:
    mnemonic = form.partition("-")[0].upper()
    return (mnemonic, mnemonic[:-1]) if mnemonic[-1:] in _SUFFIXES else (mnemonic,)


def _matching(form: str, by_mnemonic: dict[str, list[InstructionFacts]]) -> Iterator[InstructionFacts]:
    patterns = _patterns(form)
    for mnemonic in _mnemonics(form):
        width = (
            ""
            if mnemonic == form.partition("-")[0].upper()
            else _SUFFIXES[form.partition("-")[0][-1].upper()]
        )
        found = [
            facts for facts in by_mnemonic.get(mnemonic, ()) if _fits(_split(facts.name)[1], patterns, width)
        ]
        if found:
            # An assembler takes the longer encoding only for what needs it.
            yield from [facts for facts in found if _EVEX not in facts.name] or found
            return


def _patterns(form: str) -> list[re.Pattern[str]] | None:
    """A pattern for each operand, in Intel's order; None if an operand is not known."""
    words = [word for word in form.partition("-")[2].split("_") if word]
    if all(word in _NAMES for word in words):
        return [re.compile(_NAMES[word]) for word in words]
    texts = [r"M\d+" if _ADDRESS.fullmatch(word) else _LETTERS.get(word) for word in reversed(words)]
    return None if None in texts else [re.compile(text) for text in texts if text is not None]


def _fits(operands: Sequence[str], patterns: Sequence[re.Pattern[str]] | None, width: str) -> bool:
    if patterns is None or len(operands) != len(patterns):
        return False
    general = [operand for operand in operands if re.fullmatch(_LETTERS["r"], operand)]
    return all(pattern.fullmatch(operand) for pattern, operand in zip(patterns, operands, strict=True)) and (
        not width or all(operand == f"R{width}" for operand in general)
    )


def _latencies(result: Result, operands: Sequence[OperandFacts]) -> list[dict[str, str]]:
    """The latency from every named register that is read to every one that is written."""
    if result.latency is None or abs(result.latency - round(result.latency)) > _WHOLE * result.latency:
        return []
    registers = [each for each in operands if each.kind == "reg" and not (each.suppressed or each.opmask)]
    return [
        {"start_op": str(source.index), "target_op": str(target.index), "cycles": str(round(result.latency))}
        for source in registers
        if source.read
        for target in registers
        if target.written
    ]
