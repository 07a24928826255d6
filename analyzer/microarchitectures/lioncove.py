"""Lion Cove: eighteen units, eight-wide rename; approximate.

Widths are per cycle, sizes are capacities; ``cyclelens arch show ARL`` has the sources. Nothing was measured
for this project: uops.info's records name classes of units, reviews give widths and sizes, and the rest is
taken from Redwood Cove.

    ARL: Arrow Lake

      32 bytes -> 8 instructions -> queue 64 -> 8 decoders --+
      op cache: 6 lines of 8 per 64 bytes -> 12 uops --------+
      microcode -> 4 uops -----------------------------------+
        +----------------------------------------------------+
        v
      uop queue 192
        |
        v
      renamer 8 --> reorder buffer 576 --> retires 12
        |
        +-- load buffer 192, store buffer 114
        |
        +-- scheduler 314
              +-- P0    ALU, shift, branch
              +-- P1    ALU, high-byte merge, slow LEA, multiply, divide
              +-- P2    ALU, shift, branch
              +-- P3    ALU, high-byte merge, slow LEA, multiply, divide
              +-- P4    ALU, shift, branch
              +-- P5    ALU, high-byte merge, slow LEA, multiply, divide
              +-- V0    vector, FP multiply, FP divide, transfer
              +-- V1    vector, FP multiply, FP divide
              +-- V2    vector, shuffle, FP add
              +-- V3    vector, shuffle, FP add
              +-- LD0   load
              +-- LD1   load
              +-- LD2   load
              +-- STA0  store address
              +-- STA1  store address
              +-- STA2  store address
              +-- STD0  store data
              +-- STD1  store data
"""

from __future__ import annotations

from cyclelens.analyzer.microarchitectures.goldencove import METEOR_LAKE
from cyclelens.analyzer.microarchitectures.instruction_sets import LION_COVE
from cyclelens.analyzer.microarchitectures.literature import UOPS_INFO, same_as
from cyclelens.analyzer.model.microarchitecture import Policies, UpperHalfRule, derived
from cyclelens.analyzer.model.provenance import Certainty, Source
from cyclelens.analyzer.model.units import NO_UNITS, Divider, Units, UopKind, unit

_LOAD = "load"
_SHIFTING = "ALU, shift, branch"
_SLOW = "ALU, high-byte merge, slow LEA, multiply, divide"
_INTEGER = ("P0", "P1", "P2", "P3", "P4", "P5")
_VECTOR = ("V0", "V1", "V2", "V3")
_UNITS = Units(
    (
        unit("P0", _SHIFTING),
        unit("P1", _SLOW),
        unit("P2", _SHIFTING),
        unit("P3", _SLOW),
        unit("P4", _SHIFTING),
        unit("P5", _SLOW),
        unit("V0", "vector, FP multiply, FP divide, transfer"),
        unit("V1", "vector, FP multiply, FP divide"),
        unit("V2", "vector, FP add, shuffle"),
        unit("V3", "vector, FP add, shuffle"),
        unit("LD0", _LOAD),
        unit("LD1", _LOAD),
        unit("LD2", _LOAD),
        unit("STA0", "store address"),
        unit("STA1", "store address"),
        unit("STA2", "store address"),
        unit("STD0", "store data"),
        unit("STD1", "store data"),
    ),
    letters={},
    sets={
        "ALU": (UopKind.COMPUTE, " ".join(_INTEGER)),
        "SHIFT": (UopKind.COMPUTE, "P0 P2 P4"),
        "JMP": (UopKind.COMPUTE, "P0 P2 P4"),
        "SLOW": (UopKind.COMPUTE, "P1 P3 P5"),
        "INT_OTHER": (UopKind.COMPUTE, "P1 P3 P5"),
        "V01": (UopKind.COMPUTE, "V0 V1"),
        "V23": (UopKind.COMPUTE, "V2 V3"),
        "UNKNOWN": (UopKind.COMPUTE, " ".join(_VECTOR)),
        "LD": (UopKind.LOAD, "LD0 LD1 LD2"),
        "STA": (UopKind.STORE_ADDRESS, "STA0 STA1 STA2"),
        "STD": (UopKind.STORE_DATA, "STD0 STD1"),
    },
)
_REVIEW = Source(
    Certainty.PUBLISHED,
    "Chips and Cheese",
    "chipsandcheese.com, Lion Cove: Intel's P-Core Roars (2024), measured",
)
_LLVM = Source(
    Certainty.INFERRED, "LLVM", "The scheduling model of Lunar Lake in LLVM names the units of each class"
)
_UNKNOWN = Source(
    Certainty.ASSUMED,
    "unknown",
    "Not published; Redwood Cove's rule, or enough room for the core's width",
)

_RECOVERY = Source(
    Certainty.ASSUMED,
    "unknown",
    "Intel's manual says that recovery from a misprediction is faster than on Redwood Cove, "
    "and not by how much",
)

_ARROW_LAKE = derived(
    METEOR_LAKE,
    name="ARL",
    title="Arrow Lake",
    products="Core Ultra series 2 (desktop)",
    sources={
        _REVIEW: "decoders dsb_width idq_size issue_width reorder_buffer_size load_latency",
        _LLVM: "units reservation_station_size schedulers schedulers_take_whole_groups dividers",
        UOPS_INFO: "closed_by_512_bit",
        _UNKNOWN: "instruction_queue_size predecode_width lsd_enabled taken_branch_units retire_width "
        "policies chained_addition_cycles upper_halves upper_half_switch_cycles shared_integer_results "
        "shared_vector_results target_dependencies",
        _RECOVERY: "misprediction_penalty",
    },
    inherited=same_as("Redwood Cove"),
    misprediction_penalty=None,
    facts_name="Lion Cove",
    extensions=LION_COVE,
    instruction_queue_size=64,
    predecode_width=8,
    decoders=8,
    dsb_width=12,
    idq_size=192,
    lsd_enabled=False,
    issue_width=8,
    taken_branch_units=NO_UNITS,
    reorder_buffer_size=576,
    retire_width=12,
    reservation_station_size=314,
    schedulers=(),
    schedulers_take_whole_groups=False,
    policies=Policies(
        binding="fewest_waiting",
        addition="owed_constants",
        memory_renaming="learnt_pairs",
        store_commit="one_line",
    ),
    units=_UNITS,
    dividers=(Divider(_INTEGER, through="P1"), Divider(_VECTOR, through="V0")),
    closed_by_512_bit=NO_UNITS,
    shared_integer_results=NO_UNITS,
    shared_vector_results=NO_UNITS,
    chained_addition_cycles=0,
    target_dependencies=(),
    upper_halves=UpperHalfRule.UNKNOWN,
    upper_half_switch_cycles=0,
    load_latency=4,
)

MODELS = (
    derived(
        _ARROW_LAKE,
        name="LNL",
        title="Lunar Lake",
        products="Core Ultra series 2 (200V)",
    ),
    _ARROW_LAKE,
)
