"""Measures gathers and scatters by chains that keep all indices zero and refill every mask.

A chain must keep the dependence and restore the operand's value: AND with zeros turns gathered data into an
index, OR with ones turns it into a mask. Idioms write the registers with these constants, so no instance
waits for them.
"""

from __future__ import annotations

from cyclelens.analyzer.characterizing.instances import (
    ADDRESS,
    ONES,
    SPARE,
    VECTOR_INDEX,
    EncodableVariant,
    family,
    vector,
)
from cyclelens.analyzer.characterizing.latency import COPIES, MeasuredLatency, Pair
from cyclelens.analyzer.characterizing.links import (
    BASE,
    CONTENTS,
    INDEXED,
    REGISTER,
    ClosingStep,
    Links,
    OperandPlace,
    moved,
)
from cyclelens.analyzer.characterizing.machines import Machine
from cyclelens.analyzer.isa.encoder import EncoderMemory, encodings

_CARRIER, _ZEROS = "V12", "V14"
"""Vector registers that no instance uses."""
_WIDTHS = {128: "XMM", 256: "YMM", 512: "ZMM"}
_HERE = EncoderMemory(ADDRESS)
"""Address of all elements."""
_EXACT = 0.35
_MORE = 24
"""Additional links in a longer chain."""
_ACROSS = 1
"""Least cycles of a move to another register class or through memory."""


class Gathers:
    """Measures gathers and scatters on a machine."""

    def __init__(self, machine: Machine, links: Links) -> None:
        self._machine, self._links = machine, links

    def latencies(self, variant: EncodableVariant) -> dict[Pair, MeasuredLatency]:
        """Latencies by source and destination."""
        chosen = variant.choose()
        memory = variant.memory
        if chosen is None or memory is None:
            return {}
        registers = [OperandPlace(each, REGISTER, chosen[each.index]) for each in variant.registers]
        targets = [each for each in registers if each.operand.written]
        targets += [OperandPlace(memory, CONTENTS)] * memory.written
        sources = [each for each in registers if each.operand.read]
        sources += [OperandPlace(memory, BASE), OperandPlace(memory, INDEXED)] + [
            OperandPlace(memory, CONTENTS)
        ] * memory.read
        return {
            (source.operand.index, target.operand.index, source.part): self._pair(
                variant, chosen, source, target
            )
            for source in sources
            for target in targets
        }

    def _pair(
        self, variant: EncodableVariant, chosen: dict[int, str], source: OperandPlace, target: OperandPlace
    ) -> MeasuredLatency:
        code, steps = variant.encode(chosen), self._closing(variant, source, target)
        if code is None or steps is None:
            return MeasuredLatency(None, "no known instruction closes the chain")
        before = _constants() + self._prepared(variant, chosen, source) + code
        others = sum(step.cycles for step in steps)
        behind = b"".join(step.code for step in steps)
        # A longer chain: otherwise an instruction of many uops would show its throughput.
        result = target.register or vector("XMM", _CARRIER)
        more = self._links.more(variant, OperandPlace(target.operand, REGISTER, result))
        first = steps[0].code if target.part == CONTENTS else b""
        links = [(before + behind, others)]
        if more is not None:
            longer = before + first + more[0] * _MORE + behind.removeprefix(first)
            links.append((longer, others + more[1] * _MORE))
        found = []
        for link, cycles in links:
            run = self._machine.run(link * COPIES)
            if isinstance(run, str):
                return MeasuredLatency(None, run)
            found.append(run.cycles / COPIES - cycles)
        least = min(found)
        if least > _EXACT and abs(least - round(least)) > _EXACT:
            return MeasuredLatency(None, f"the chain takes {least:.2f} cycles, which is not a latency")
        return MeasuredLatency(max(round(least), 0), upper_bound=not all(step.known for step in steps))

    @staticmethod
    def _prepared(variant: EncodableVariant, chosen: dict[int, str], source: OperandPlace) -> bytes:
        """Instructions that set index and mask, except the one in the chain."""
        indices = b"" if source.part == INDEXED else variant.zero_indices()
        return indices + (b"" if source.operand is variant.mask else variant.full_mask(chosen))

    def _closing(
        self, variant: EncodableVariant, source: OperandPlace, target: OperandPlace
    ) -> list[ClosingStep] | None:
        steps: list[ClosingStep | None] = []
        result = target.register
        if target.part == CONTENTS:
            result = vector("XMM", _CARRIER)
            steps.append(_least(moved(variant, target.operand, _CARRIER, _HERE, store=False)))
        if source.part == CONTENTS and result.startswith("K"):
            return None
        if source.part == CONTENTS:
            steps.append(_least(moved(variant, source.operand, family(result), _HERE, store=True)))
        elif source.part == BASE:
            across = "kmovq" if result.startswith("K") else "vmovq"
            steps.append(_least(_first(across, SPARE, _named("XMM", result))))
            steps.append(self._known(_first("xor", ADDRESS, SPARE), 2))
        elif source.part == INDEXED:
            steps += self._masked(variant, result, vector(variant.index_width, VECTOR_INDEX), "vpand", _ZEROS)
        elif source.register == result:
            if source.operand is variant.mask:
                steps.append(self._refilled(result))
        elif source.operand is variant.mask and source.register.startswith("K"):
            width = _WIDTHS[max(each.width for each in variant.registers if each is not variant.mask)]
            zeros = vector(width, _ZEROS)
            steps.append(_least(_first("vptestnmd", source.register, _named(width, result), zeros)))
        elif source.operand is variant.mask:
            steps += self._masked(variant, result, source.register, "vpor", ONES)
        else:
            steps += self._masked(variant, result, source.register, "vpor", _ZEROS)
        return None if None in steps else [step for step in steps if step is not None]

    def _masked(
        self, variant: EncodableVariant, result: str, source: str, operation: str, constant: str
    ) -> list[ClosingStep | None]:
        """Step from a result to a vector register, by AND or OR with a constant."""
        steps: list[ClosingStep | None] = []
        width = source[:3]
        if result.startswith("K"):
            steps.append(_least(_first("vpmovm2d", source, result)))
            result = source
        name = f"{operation}d" if width == "ZMM" else operation
        code = _first(name, source, _named(width, result), vector(width, constant))
        alone = _first(name, source, source, vector(width, constant))
        steps.append(self._known(alone, 1, code))
        return steps

    def _refilled(self, mask: str) -> ClosingStep | None:
        """Step that refills an empty mask."""
        if mask.startswith("K"):
            return self._known(_first("knotw", mask, mask), 1)
        return self._known(_first("vpor", mask, mask, vector(mask[:3], ONES)), 1)

    def _known(self, alone: bytes | None, times: int, code: bytes | None = None) -> ClosingStep | None:
        """Step of ``times`` instructions whose latency a chain of their own shows."""
        cycles = None if alone is None else self._links.alone(alone)
        if alone is None or cycles is None:
            return None
        return ClosingStep((code or alone) * times, cycles * times)


def _constants() -> bytes:
    ones, zeros = vector("YMM", ONES), vector("XMM", _ZEROS)
    return next(encodings("vpcmpeqd", (ones, ones, ones))) + next(encodings("vpxor", (zeros, zeros, zeros)))


def _least(code: bytes | None) -> ClosingStep | None:
    return None if code is None else ClosingStep(code, _ACROSS, known=False)


def _first(mnemonic: str, *operands: str) -> bytes | None:
    return next(encodings(mnemonic, operands), None)


def _named(width: str, register: str) -> str:
    """A vector register's name at this width; other registers unchanged."""
    full = family(register)
    return vector(width, full) if full.startswith("V") else register
