"""Vendors' names for the parts of a core, for reports and hints.

Analyses use one set of names, so that programs can compare cores: ``DSB``, ``RS``, ``Issue``. Only text for
people uses the vendor's words. AMD swaps issue and dispatch: what this project calls issue, from the renamer
into the schedulers, is AMD's dispatch; AMD's issue is from a scheduler to a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import digits

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.account import Area, Cause
from cyclelens.analyzer.model.microarchitecture import Maker
from cyclelens.analyzer.model.units import Role, Unit
from msgspec import Struct
from msgspec.structs import replace


class Vocabulary(Struct, frozen=True, kw_only=True):
    """The words of one vendor."""

    parts: Mapping[str, str]
    """Front-end sources, buffers and causes of lost slots that the vendor names differently."""
    limits: Mapping[str, str]
    """Bounds and bottlenecks that the vendor names differently."""
    bound_by: Mapping[str, str]
    """Bottleneck -> the word before ``-bound``."""
    explanations: dict[str, str]
    """Bottleneck -> a sentence on what it means."""
    slots: str
    """The slots of which the renamer has ``issue_width`` per cycle."""
    uop: str
    """Plural of what takes such a slot."""
    issued: str
    """Participle for a uop that took a slot."""
    unit: str
    """The unit that executes a uop."""
    unit_name: str
    """Pattern that names a single unit in a sentence."""
    events: tuple[tuple[str, str], ...]
    """(letter, words) for predecoded, added, issued, ready, dispatched, executed and retired."""
    waits: Mapping[str, str]
    """Cause of a wait -> words; ``{uop}`` and ``{value}`` are those of the wait."""
    spans: Mapping[str, str]
    """What the time between two events is spent on, if the vendor names it differently."""
    legend: tuple[str, ...]
    """Explains the columns of a table, one by one."""

    def part(self, name: str) -> str:
        """The name of a front-end source, a buffer or a cause."""
        return self.parts.get(name, name)

    def limit(self, name: str) -> str:
        """The name of a bound or a bottleneck."""
        return self.limits.get(name, name)

    def cause(self, cause: Cause) -> str:
        """A cause of lost slots: ``front end: predecoder``, ``back end: RS full, dependency``."""
        what = self.part(cause.what)
        if cause.area is Area.BACK_END:
            return f"{cause.area}: {what} full, {self.part(cause.why)}"
        return f"{self.part(cause.area)}: {what}"

    def one_unit(self, label: str) -> str:
        """A unit in a sentence: ``port 5``, ``ALU2``."""
        return self.unit_name.format(label)

    @property
    def translations(self) -> Mapping[str, str]:
        """All differing names, for programs: ``DSB`` -> ``op cache``."""
        return {**self.limits, **self.parts}

    @property
    def timeline_legend(self) -> str:
        """The letters of a timeline and their meaning."""
        return ", ".join(f"{letter} {words}" for letter, words in self.events)


_WAITS = {
    "decode": "in the instruction queue, until a decoder takes it",
    "full": "for room in the {value}, whose oldest uop is {uop}",
    "slots": "for an issue slot, behind {uop}",
    "renamer": "for the renamer, which issues it alone or after others are done",
    "delay": "on the way into the scheduler",
    "input": "for {value}, made by {uop}",
    "unit": "for the unit, still busy with the same instruction",
    "fence": "for a fence",
    "port": "for port {value}, taken by {uop}",
    "divider": "for the divider, busy with {uop}",
    "pair": "for port {value}, which may not start it together with {uop}",
    "result": "for port {value}, whose result of {uop} arrives first",
    "execution": "executing",
    "store": "for what {uop} stores",
    "order": "to retire, behind {uop}",
    "width": "to retire, because the retirement width is used up",
}

_EXPLANATIONS = {
    "Predecoder": "The predecoder cannot find the instruction boundaries any faster.",
    "Decoder": "The decoders cannot turn the instructions into uops any faster.",
    "DSB": "The DSB (uop cache) cannot deliver the uops any faster.",
    "LSD": "The loop stream detector cannot deliver the uops any faster.",
    "Issue": "The renamer's issue width is used up.",
    "Ports": "The execution ports that these uops need are busy all the time.",
    "Scheduling": "One port is busy all the time because the uops are spread unevenly over the ports.",
    "Divider": "The divider is busy all the time.",
    "Loads": "Loads read the same four bytes of a cache line: only two of them can start per cycle.",
    "Stores": "Stores can write only one cache line per cycle.",
    "Dependencies": "A chain of dependent instructions runs from one iteration into the next.",
    "Throughput": "One instruction starts only every so many cycles, whatever units its uops need.",
    "Upper halves": "Legacy SSE and 256-bit AVX take turns, and each time the core moves all upper halves.",
}

_BOUND_BY = {
    "Predecoder": "predecoder",
    "Decoder": "decoder",
    "DSB": "DSB",
    "LSD": "LSD",
    "Issue": "issue",
    "Ports": "port",
    "Loads": "load",
    "Stores": "store",
    "Scheduling": "scheduling",
    "Divider": "divider",
    "Dependencies": "latency",
    "Throughput": "throughput",
    "Upper halves": "SSE/AVX-mix",
}

_INTEL = Vocabulary(
    parts={},
    limits={},
    bound_by=_BOUND_BY,
    explanations=_EXPLANATIONS,
    slots="issue slots",
    uop="uops",
    issued="issued",
    unit="port",
    unit_name="port {}",
    events=(
        ("P", "predecoded"),
        ("Q", "added to the IDQ"),
        ("I", "issued"),
        ("r", "ready"),
        ("D", "dispatched"),
        ("E", "executed"),
        ("R", "retired"),
    ),
    waits=_WAITS,
    spans={},
    legend=(
        "source: front-end source of the uops (DSB: uop cache, MITE: decoders, LSD: loop buffer, "
        "MS: microcode)",
        "issued: uops that take an issue slot",
        "exec.: uops that run on a port, and p0 ...: on each port",
        "div: cycles in the divider",
        "lost: cycles in which issue slots stay empty because of this instruction. All per iteration. For "
        "the instruction by itself: lat.: cycles from an input to a result",
        "alone: cycles per independent instance.",
    ),
)

_AMD = Vocabulary(
    parts={
        "DSB": "op cache",
        "MITE": "decoders",
        "MS": "microcode",
        "predecoder": "instruction fetch",
        "decoder": "decoders",
        "DSB switch": "switch to the op cache",
        "MS switch": "switch to microcode",
        "issue group": "dispatch group",
        "IQ": "instruction byte buffer",
        "IDQ": "op queue",
        "RS": "schedulers",
        "ROB": "retire queue",
        "load buffer": "load queue",
        "store buffer": "store queue",
        "RS integer": "integer scheduler",
        "RS address": "address scheduler",
        "RS vector": "FP scheduler",
        "RS store queue": "store queue",
        "renamer": "dispatch",
        "port": "busy unit",
        "unit": "unit in use",
    }
    | {f"RS integer {number}": f"integer scheduler {number}" for number in range(4)}
    | {f"RS vector {number}": f"FP scheduler {number}" for number in range(2)},
    limits={
        "Predecoder": "Fetch",
        "Decoder": "Decoders",
        "DSB": "Op cache",
        "Issue": "Dispatch",
        "Ports": "Units",
    },
    bound_by=_BOUND_BY | {"Predecoder": "fetch", "DSB": "op-cache", "Issue": "dispatch", "Ports": "unit"},
    explanations=_EXPLANATIONS
    | {
        "Predecoder": "The instruction cache cannot deliver the code any faster.",
        "Decoder": "The decoders cannot take the instructions any faster.",
        "DSB": "The op cache cannot deliver the macro-ops any faster.",
        "Issue": "The dispatch width is used up.",
        "Ports": "The units that these operations need{units} are busy all the time.",
        "Scheduling": "One unit is busy all the time because the operations are spread unevenly.",
    },
    slots="dispatch slots",
    uop="macro-ops",
    issued="dispatched",
    unit="unit",
    unit_name="{}",
    events=(
        ("P", "fetched"),
        ("Q", "added to the op queue"),
        ("D", "dispatched to a scheduler"),
        ("r", "ready"),
        ("I", "issued to a unit"),
        ("E", "executed"),
        ("R", "retired"),
    ),
    waits=_WAITS
    | {
        "decode": "in front of the decoders",
        "slots": "for a dispatch slot, behind {uop}",
        "renamer": "for dispatch, which takes it alone or after others are done",
        "port": "for {value}, taken by {uop}",
        "pair": "for {value}, which may not start it together with {uop}",
        "result": "for {value}, whose result of {uop} arrives first",
    },
    spans={"queue": "waits for dispatch", "port": "waits for its unit"},
    legend=(
        "source: front-end source of the macro-ops (op cache, decoders or microcode)",
        "dispatched: macro-ops that take a dispatch slot",
        "exec.: operations that run on a unit, and ALU0 ...: on each unit{units}",
        "div: cycles in the divider",
        "lost: cycles in which dispatch slots stay empty because of this instruction. All per iteration. For "
        "the instruction by itself: lat.: cycles from an input to a result",
        "alone: cycles per independent instance.",
    ),
)

_UNITS = "{units}"
"""Stands for the units of the core in AMD's words, in parentheses."""
_WORKS = {
    "ALU": "integer",
    "BR": "branches",
    "AGU": "loads and store addresses",
    "SA": "store addresses",
    "SD": "store data",
    "FP": "vector pipes",
}
"""What units do, by the letters that their names begin with."""


def of(microarchitecture: str) -> Vocabulary:
    """The words for a microarchitecture. Raises ``UnknownMicroarchitecture``."""
    core = registry.get(microarchitecture)
    return _INTEL if core.maker is Maker.INTEL else _with_units(core.units.all)


def _with_units(units: Iterable[Unit]) -> Vocabulary:
    works: dict[str, str] = {}
    for each in units:
        name = each.name.rstrip(digits)
        loads = "loads and store addresses" if Role.STORE_ADDRESS in each.roles else "loads"
        if name in _WORKS or name == "LD":
            works.setdefault(name, _WORKS.get(name, loads))
    names = " or ".join(", ".join(works).rsplit(", ", 1))
    both = ", ".join(f"{name}: {work}" for name, work in works.items())
    busy = _AMD.explanations["Ports"].replace(_UNITS, f" ({names})" if names else "")
    return replace(
        _AMD,
        explanations=_AMD.explanations | {"Ports": busy},
        legend=tuple(part.replace(_UNITS, f" ({both})" if both else "") for part in _AMD.legend),
    )
