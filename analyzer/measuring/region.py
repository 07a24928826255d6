"""Compares a region's prediction with a measurement on this machine, and explains differences."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.layout import leaving
from cyclelens.analyzer.measuring.loops import measurable, with_data
from cyclelens.analyzer.measuring.refusals import refusal, split_lock
from cyclelens.analyzer.measuring.repeated import repeated
from cyclelens.analyzer.measuring.requests import REGISTERS, Measurement, MeasurementRequest
from cyclelens.analyzer.model.choices import Pointers
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions
from cyclelens.analyzer.uops.upper_halves import mixes_for_certain
from msgspec import Struct
from msgspec.structs import replace

RUNS = 3
"""Processes per figure."""
TOLERANCE = 0.03
"""Largest relative difference of an agreeing prediction: 2 % measurement error, and rounding."""
_LEFT = 0.25
"""An assumption explains a difference if it leaves at most this share of it."""
_LINE = 64
_UNRELIABLE = 0.1
"""From this spread on a figure of a single steady state says more about the machine than about the code."""

Predict = Callable[[bytes, bool, int, ModelOptions], float | None]
"""Predicts cycles per iteration from code, whether it is a loop, its offset in a line, and options.

Returns None if this machine has no model."""


class Comparison(Struct, frozen=True):
    """One region, predicted and measured."""

    predicted: float | None
    """Predicted cycles per iteration of ``code``; None if this machine has no model."""
    measured: Measurement
    code: bytes
    """The measured code, as far as control reaches it: the region, or a loop with a counter in place of its
    own end."""
    note: str = ""
    """How ``code`` differs from the region."""
    causes: tuple[str, ...] = ()
    """Explanations of the difference; empty if there is no difference or no known explanation."""

    @property
    def agrees(self) -> bool:
        """True if prediction and measurement differ by at most the spread or a small tolerance, or without a
        prediction; False without a measurement."""
        if self.measured.cycles is None:
            return False
        return self.predicted is None or _near(self.predicted, self.measured)

    @property
    def verdict(self) -> str:
        """How prediction and measurement compare, in a few words; empty without both."""
        measured = self.measured
        if measured.cycles is None or measured.cycles <= 0:
            return ""
        if measured.spread > _UNRELIABLE and len(measured.states) < 2:
            spread = measured.spread * 100
            return f"unreliable, as the runs differ by {spread:.0f} %; repeat on a quiet machine"
        if self.predicted is None:
            return ""
        if self.agrees:
            return "prediction and measurement agree"
        apart = self.predicted / measured.cycles - 1
        return f"the prediction is {abs(apart) * 100:.0f} % too {'high' if apart > 0 else 'low'}"


def _near(cycles: float, measured: Measurement) -> bool:
    if measured.cycles is None or measured.cycles <= 0:
        return True
    return abs(cycles - measured.cycles) <= max(TOLERANCE, measured.spread) * measured.cycles


def measure_region(
    harness: Harness, region: MeasurementRequest, predict: Predict, runs: int = RUNS, reached: bytes = b""
) -> Comparison:
    """Measure a region and explain its difference from the prediction, if any. Raises ``CannotMeasure``.

    ``reached``: the part of the code that control reaches, which is predicted; by default all of it."""
    code, loop, offset, inputs = region.code, region.loop, region.offset, region.inputs
    instructions = decode(code)
    reached = reached or code
    reason = refusal(instructions, inputs.registers) or ("" if loop else leaving(code))
    note = ""
    request = replace(region, loop=False)
    if loop and not reason:
        found = measurable(code, inputs)
        if isinstance(found, str):
            reason = found
        else:
            note = found.note
            # The counter's start depends on the number of rounds.
            starts = (
                {REGISTERS[found.counter.register]: found.counter.base + found.counter.factor * rounds}
                for rounds in range(_LINE)
            )
            reason = next(
                filter(None, (split_lock(instructions, {**inputs.registers, **s}) for s in starts)), ""
            )
            request = replace(request, code=found.code, loop=True, closed=found.closed, counter=found.counter)
    if reason:
        return Comparison(None, Measurement(None, reason), code)
    ran = reached
    if loop and not request.closed:
        *body, _ = decode(reached)
        ran = b"".join(each.code for each in body) + (loop_end(body) or b"")
    if loop:
        moved = with_data(request.code, offset)
        if moved != request.code:
            note = "; ".join(filter(None, (note, "RIP-relative data lie in lines of their own")))
            request = replace(request, code=moved)
    request = replace(request, vector_bits=vector_bits(code))
    measured = repeated(harness, request, runs)
    predicted = predict(ran, loop, offset, DEFAULT)
    comparison = Comparison(predicted, measured, ran, note)
    if measured.cycles is None or comparison.agrees:
        return comparison
    return replace(comparison, causes=tuple(_causes(harness, request, comparison, loop, predict)))


def vector_bits(code: bytes) -> int:
    """Width in bits of the widest vector register in the code, at least 128."""
    names = {operand.register or "" for each in decode(code) for operand in each.operands}
    if any(name.startswith("ZMM") or (name[:1] == "K" and name[1:].isdecimal()) for name in names):
        return 512
    return 256 if any(name.startswith("YMM") for name in names) else 128


def _causes(
    harness: Harness, request: MeasurementRequest, comparison: Comparison, loop: bool, predict: Predict
) -> list[str]:
    """Assumptions of the prediction that explain the difference."""
    measured = comparison.measured
    assert measured.cycles is not None
    causes = []

    def explains(cycles: float | None) -> bool:
        if cycles is None or measured.cycles is None:
            return False
        left = abs(cycles - measured.cycles)
        return _near(cycles, measured) or left <= _LEFT * abs((comparison.predicted or 0) - measured.cycles)

    mixes = mixes_for_certain(decode(comparison.code))
    if mixes and measured.cycles > (comparison.predicted or 0):
        kept = "SSE/AVX mix: legacy SSE beside 256-bit code has to keep upper halves of vector registers"
        causes.append(f"{kept}; its cost here is not known")
    for text, options in (
        (
            "addresses: with registers that point to the same memory it would be {:.2f}",
            ModelOptions(assume=Pointers.SAME),
        ),
        (
            "addresses: with registers that point to the same memory, not to the stack, it would be {:.2f}",
            ModelOptions(assume=Pointers.STACK),
        ),
    ):
        cycles = predict(comparison.code, loop, request.offset, options)
        if cycles is not None and explains(cycles) and not mixes:
            causes.append(text.format(cycles))
    offsets = {}
    for offset in range(_LINE):
        cycles = predict(comparison.code, loop, offset, DEFAULT)
        if cycles is not None and explains(cycles):
            offsets[offset] = cycles
    if offsets:
        offset, cycles = next(iter(offsets.items()))
        causes.append(
            f"alignment: at {len(offsets)} of {_LINE} offsets, {offset} among them, it would be {cycles:.2f}"
        )
    if not loop:
        other = harness.measure(replace(request, cached=not request.cached))
        predicted = comparison.predicted
        if other.cycles is not None and predicted is not None and _near(predicted, other):
            source = "the decoders" if request.cached else "the uop cache"
            causes.append(f"front end: out of {source} it takes {other.cycles:.2f}")
    if len(measured.states) > 1:
        causes.append(
            f"steady states: the runs keep one of {len(measured.states)} paces; the figure is their median"
        )
    return causes
