"""Measures divisions and square roots, whose cycles depend on their values, with few and with many digits.

The method is that of section 5.2.5 of "uops.info: Characterizing Latency, Throughput, and Port Usage of
Instructions on Intel Microarchitectures" (Abel and Reineke, 2019): AND and OR with one constant restore the
value of a register in a chain and keep the dependence. Other operands are loaded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cyclelens.analyzer.characterizing.instances import ADDRESS, LINE, EncodableVariant, family
from cyclelens.analyzer.characterizing.latency import COPIES, MeasuredLatency, Pair, pairs
from cyclelens.analyzer.characterizing.links import (
    BASE,
    CONTENTS,
    FLAGS,
    INDEXED,
    REGISTER,
    Links,
    OperandPlace,
)
from cyclelens.analyzer.characterizing.machines import Machine, RepeatedRun, Start
from cyclelens.analyzer.isa.encoder import EncoderMemory, encodings
from cyclelens.analyzer.model.facts import OperandFacts
from msgspec import Struct
from msgspec.structs import replace

_STEMS = ("DIV", "IDIV", "SQRT")
_CONSTANTS = 2048
"""Bytes from the address register to the constants, which occupy a cache line each."""
_INSTANCES = (1, 2, 4, 6)
_MORE = 40
"""Links of a longer chain."""
_EXACT = 0.35
_ONE = {"H": 0x3C003C003C003C00, "S": 0x3F8000003F800000, "D": 0x3FF0000000000000}
_LONG_DIVIDEND = {"H": 0x3EAB3EAB3EAB3EAB, "S": 0x3FD555553FD55555, "D": 0x3FFAAAAAAAAAAAAB}
_LONG_DIVISOR = {"H": 0x3D553D553D553D55, "S": 0x3FAAAAAB3FAAAAAB, "D": 0x3FF5555555555555}
"""Divisor with many digits, by last letter of the mnemonic; it fills all elements of 16, 32 or 64 bits."""


class _Values(Struct, frozen=True):
    """Values of operands, by operand number, as 64-bit words."""

    words: Mapping[int, int]

    def start(self, chosen: Mapping[int, str], memory: OperandFacts | None) -> Start:
        """Registers and memory with these values."""
        registers = {
            family(chosen[number]): word
            for number, word in self.words.items()
            if number in chosen and family(chosen[number]).startswith("R")
        }
        words = {
            self.place(number) + offset: word
            for number, word in self.words.items()
            for offset in range(0, LINE, 8)
        }
        if memory is not None:
            words |= dict.fromkeys(range(0, LINE, 8), self.words[memory.index])
        return Start(tuple(sorted(registers.items())), tuple(sorted(words.items())))

    def place(self, number: int) -> int:
        """Offset of an operand's constant from the address register, in bytes."""
        return _CONSTANTS + sorted(self.words).index(number) * LINE


def divides(variant: EncodableVariant) -> bool:
    """Whether the variant is a division or square root whose operand values can be chosen."""
    stem = _mnemonic(variant).removeprefix("V")
    return stem.startswith(_STEMS) and not any(each.opmask for each in variant.registers)


class Divisions:
    """Measures divisions on a machine, with values of few and of many digits."""

    def __init__(self, machine: Machine, links: Links) -> None:
        self._machine, self._links = machine, links

    def throughput(self, variant: EncodableVariant, *, many: bool) -> RepeatedRun | str:
        """Fewest cycles per instance among independent ones, or why there is no figure."""
        values = _values(variant, many)
        best: RepeatedRun | str = "no instance could be made"
        for count in _INSTANCES:
            sources: dict[int, str] = {}
            code, used, first = b"", frozenset[str](), None
            for _ in range(count):
                chosen = variant.choose(sources, used)
                made = None if chosen is None else variant.encode(chosen)
                if chosen is None or made is None:
                    return best
                first = first or chosen
                sources = {
                    each.index: family(first[each.index])
                    for each in variant.registers
                    if not each.written and len(each.registers) > 1
                }
                written = [each for each in variant.registers if each.written]
                used |= {family(chosen[each.index]) for each in written}
                again = (each for each in written if each.index in values.words)
                code += b"".join(_loaded(variant, values, each, chosen) for each in again) + made
            assert first is not None
            run = self._run(variant, values, first, code)
            if isinstance(run, str):
                return run
            if isinstance(best, str) or run.cycles / count < best.cycles:
                best = RepeatedRun(run.cycles / count)
        return best

    def latencies(self, variant: EncodableVariant) -> dict[Pair, MeasuredLatency]:
        """Latencies by source and destination: cycles with few digits, ``most`` with many."""
        chosen = variant.choose()
        code = None if chosen is None else variant.encode(chosen)
        if chosen is None or code is None:
            return {}
        found = {}
        for source, target in pairs(variant, chosen):
            kind = REGISTER if source.part == FLAGS else source.part
            few, many = (self._latency(variant, chosen, source, target, many=each) for each in (False, True))
            found[source.operand.index, target.operand.index, kind] = replace(few, most=many.cycles)
        return found

    def _latency(
        self,
        variant: EncodableVariant,
        chosen: dict[int, str],
        source: OperandPlace,
        target: OperandPlace,
        *,
        many: bool,
    ) -> MeasuredLatency:
        values = _values(variant, many)
        closing = self._links.close(variant, target, source, 0)
        code = variant.encode(chosen, indexed=source.part == INDEXED)
        if closing is None or code is None or source.part == CONTENTS:
            return MeasuredLatency(None, "no known instruction closes the chain")
        head, tail = code + b"".join(step.code for step in closing), b""
        others, known = sum(step.cycles for step in closing), all(step.known for step in closing)
        if source.part not in (BASE, INDEXED):
            restored = _restored(variant, values, source)
            alone = (
                None if restored is None else self._run(variant, values, chosen, restored * COPIES, source)
            )
            if restored is None or alone is None or isinstance(alone, str):
                return MeasuredLatency(None, "no known instruction restores the source's value")
            tail, others = restored, others + alone.cycles / COPIES
        for operand in variant.registers:
            if operand.written and operand.index in values.words and operand is not source.operand:
                tail += _loaded(variant, values, operand, chosen)
        # A longer chain: otherwise a latency below the divider's busy time would show the divider.
        more = self._links.more(variant, source)
        best = None
        for middle, added in ((b"", 0.0), *([] if more is None else [(more[0] * _MORE, more[1] * _MORE)])):
            run = self._run(variant, values, chosen, head + middle + tail, source)
            if isinstance(run, str):
                return MeasuredLatency(None, run)
            cycles = run.cycles - others - added
            best = cycles if best is None else min(best, cycles)
        assert best is not None
        if abs(best - round(best)) > _EXACT:
            return MeasuredLatency(None, f"the chain takes {best:.2f} cycles, which is not a latency")
        return MeasuredLatency(max(round(best), 0), upper_bound=not known)

    def _run(
        self,
        variant: EncodableVariant,
        values: _Values,
        chosen: Mapping[int, str],
        code: bytes,
        kept: OperandPlace | None = None,
    ) -> RepeatedRun | str:
        """Run the code after loading the read-only vectors, except the one in the chain."""
        front = b"".join(
            _loaded(variant, values, each, chosen)
            for each in variant.registers
            if not each.written and each.index in values.words and family(chosen[each.index]).startswith("V")
            if kept is None or each is not kept.operand
        )
        return self._machine.run(front + code, values.start(chosen, variant.memory))


def _mnemonic(variant: EncodableVariant) -> str:
    return variant.facts.iform.partition("_")[0]


def _values(variant: EncodableVariant, many: bool) -> _Values:
    return _Values(dict(_words(variant, many)))


def _words(variant: EncodableVariant, many: bool) -> Iterator[tuple[int, int]]:
    """Value of every operand that is read, with its number."""
    mnemonic = _mnemonic(variant)
    sources = [each for each in variant.facts.operands if each.kind in ("reg", "mem") and each.read]
    if ("DIV" in mnemonic and not mnemonic.startswith(("DIV", "IDIV"))) or (
        mnemonic[-1] in _ONE and len(mnemonic) > 4
    ):
        letter = mnemonic[-1]
        for each in sources:
            first = each is sources[0]
            yield each.index, (_LONG_DIVIDEND if first else _LONG_DIVISOR)[letter] if many else _ONE[letter]
        return
    width = next(each.width for each in sources if len(each.registers) != 1)
    divisor = (1 << width - 1) - 1
    for each in sources:
        fixed = family(each.registers[0]) if len(each.registers) == 1 else ""
        if fixed == "RDX":
            yield each.index, divisor >> 2 if many else 0
        elif fixed == "RAX" and width == 8:  # the dividend is AX
            yield each.index, divisor >> 2 << width | (1 << width) - 1 if many else 1
        elif fixed == "RAX":
            yield each.index, (1 << width) - 1 if many else 1
        else:
            yield each.index, divisor if many else 1


def _loaded(
    variant: EncodableVariant, values: _Values, operand: OperandFacts, chosen: Mapping[int, str]
) -> bytes:
    """The instruction that loads an operand's value."""
    memory, name = EncoderMemory(ADDRESS, "", 1, values.place(operand.index)), family(chosen[operand.index])
    if name.startswith("V"):
        return next(encodings("vmovups" if variant.vex else "movups", (chosen[operand.index], memory)))
    return next(encodings("mov", (name, memory)))


def _restored(variant: EncodableVariant, values: _Values, source: OperandPlace) -> bytes | None:
    """Instructions that restore a source's value, whatever it holds, and depend on it."""
    memory, name = EncoderMemory(ADDRESS, "", 1, values.place(source.operand.index)), source.register
    if source.kind == "R":
        made = [next(encodings(each, (family(name), memory)), None) for each in ("and", "or")]
    elif variant.vex:
        made = [next(encodings(each, (name, name, memory)), None) for each in ("vandps", "vorps")]
    else:
        made = [next(encodings(each, (name, memory)), None) for each in ("andps", "orps")]
    return None if None in made else b"".join(each for each in made if each is not None)
