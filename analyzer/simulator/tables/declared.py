"""Declares every column of the simulator, once. ``dev/declarations.py`` generates from it the classes that
hold, grow and fill the columns (``column_classes``) and their C declarations."""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """One column: an integer for every row."""

    name: str
    first: str = ""
    """Initial value of a new row, as Python text; empty if the code that creates the row sets it."""
    long: bool = False
    """Whether the column has 64 bits instead of 32."""


class Table(NamedTuple):
    """Columns of the same length."""

    rows: str
    """What a row stands for."""
    prefix: str
    """Prefix of the attributes' names."""
    fields: tuple[Field, ...]
    """For a table of a block: the fields of a flat instruction, in this order."""
    more: tuple[Field, ...] = ()
    """For a table of a block: columns that are computed once all instructions are known."""


# -- in flight -----------------------------------------------------------------------------------------------

INSTANCES = Table(
    "instances",
    "",
    (
        Field("instance_uop0"),  # its first uop
        Field("place"),  # of its instruction within the round
        Field("address"),
        Field("predecoded", "UNKNOWN"),  # cycle
        Field("removed", "UNKNOWN"),  # cycle in which it left the instruction queue
    ),
)

UOPS = Table(
    "uops",
    "",
    (
        # The most used columns come first, and those with the same initial value are side by side.
        Field("instance"),  # the dynamic instruction that it belongs to
        Field("position"),  # of that instruction within the round
        Field("static"),  # its row of the block's uops
        Field("next_uop"),  # next in the list that the uop is in
        Field("issued", "UNKNOWN"),  # cycles
        Field("ready", "UNKNOWN"),
        Field("dispatched", "UNKNOWN"),
        Field("executed", "UNKNOWN"),
        Field("port", "NONE"),  # or ELIMINATED
        Field("store", "NONE"),  # row of the store that it is part of, or that it forwards from
        Field("latency_bonus", "0"),  # cycles by which a load is faster
        Field("blocked", "0"),  # a load that waits until its store has left: BLOCKED, MISTAKEN
        Field("first_input"),  # rows of inputs and values
        Field("first_result"),
        Field("pending"),  # number of inputs that are not known yet
        Field("latest"),  # first cycle in which all other inputs are ready
        Field("added", "UNKNOWN"),  # cycle in which it entered the IDQ
        Field("retired", "UNKNOWN"),  # cycle
        Field("source", "NO_SOURCE"),  # part of the front end that delivered it
        Field("held", "0"),  # what last kept it back although its inputs were ready: HELD_BY_...
        # Only for loads:
        Field("renamed"),  # it takes over a stored value
        Field("collided"),  # it had to wait because two others read the same word
        Field("words"),  # which words of a line it reads
        Field("late_by"),  # uop of a store that its result had to wait for, NONE if there was none
        # Only for recorded runs:
        Field("queued", "0"),  # what a ready uop waited for last: QUEUED_FOR_...
        Field("behind"),  # the uop that it waited for, NONE if that is not known
        Field("allowed"),  # first cycle in which a uop that was issued then can leave
        Field("last_input"),  # row of the input that arrived last, NONE if it waited for none
        Field("inputs_ready"),  # first cycle that the inputs allow
    ),
)

INPUTS = Table("inputs", "", (Field("input_value"), Field("input_uop"), Field("input_next")))

VALUES = Table(
    "values",
    "",
    (
        Field("value_ready", "FOREVER"),  # first cycle in which it can be used
        Field("value_uop", "NONE"),  # the uop that makes it
        Field("value_latency", "0"),
        Field("value_zero", "0"),  # made by an instruction without uops
        Field("value_waiters", "NONE"),  # first of the inputs that wait for it
    ),
)

STORES = Table(
    "stores",
    "",
    (
        Field("store_address", "UNKNOWN"),  # cycles in which these are known
        Field("store_data", "UNKNOWN"),
        Field("store_waiters", "NONE"),  # first of the loads that wait for it
        Field("store_scale"),  # the address as an expression of symbolic values
        Field("store_displacement"),
        Field("store_bytes"),
        Field("store_uop", "NONE"),  # the uop that writes the data
        Field("store_last", "NONE"),  # the uop of its address or data whose result is known later
        Field("store_left", "UNKNOWN"),  # cycle in which it left the store buffer
        Field("store_value", "NONE"),  # row of the value that it stores
        Field("store_late", "0"),  # steps by which forwarding is later than for a loaded word
        Field("store_base", long=True),
        Field("store_index", long=True),
    ),
)

CYCLES = Table(
    "cycles",
    "",
    (
        Field("refusal"),  # why the renamer left slots empty: REFUSALS
        # The uop that caused it; for the front end, the place of the late instruction, because
        # its uops may not exist yet.
        Field("refused_by"),
        # The uop that keeps others from retiring; NONE if only the width does, or nothing.
        Field("unfinished"),
    ),
)

FLIGHT = (INSTANCES, UOPS, INPUTS, VALUES, STORES, CYCLES)

# -- the block -----------------------------------------------------------------------------------------------

INSTRUCTIONS = Table(
    "instructions",
    "i_",
    (
        Field("length"),  # bytes
        Field("opcode"),  # bytes before it
        Field("lcp"),
        Field("branch"),
        Field("jump"),  # always taken
        Field("second"),  # of a macro-fused pair
        Field("first"),
        Field("fusible"),
        Field("complex"),
        Field("simple_decoders"),
        Field("mite_uops"),
        Field("ms_uops"),
        Field("extra_slot"),  # of a DSB line
        Field("jcc"),
        Field("idq_count"),
        Field("decoded_count"),
        Field("uop_count"),
        Field("rsp_change"),
        Field("rsp_step"),  # change of RSP after it: 0 for a call that returns
        Field("rsp_explicit"),
        Field("rsp_written"),
        Field("high8_written"),
        Field("no_uops"),
        Field("eliminable"),
        Field("move_source"),
        Field("move_target"),
        Field("move_32"),
        Field("adds"),  # the renamer can carry it out (V9)
        Field("added"),
        Field("offset_key0"),  # registers that must not have a constant owed, or NO_KEY
        Field("offset_key1"),
        Field("takes_over"),  # its load can take over a stored value (W6)
        Field("joins"),  # a move without an issue slot
        Field("serializing"),
        Field("load_fence"),
        Field("store_fence"),
        Field("tp"),  # cycles for which it occupies its unit
        Field("symbol_source"),
        Field("pointer_load"),
        Field(
            "wait"
        ),  # no ready time lies further ahead of its cause than these cycles and the pipeline's own
        # Sizes of the other parts of a flat instruction.
        Field("outputs_count"),
        Field("merge_count"),
        Field("fused_count"),
        Field("operands_count"),
        Field("results_count"),
    ),
    (
        Field("offset"),  # bytes behind the block's beginning
        Field("idq0"),  # rows of its parts
        Field("uop0"),
        Field("outputs0"),
        Field("merge0"),
        Field("tp_name"),
        Field("symbol_delta", long=True),
        # Hardware model only: how its result is made (values).
        Field("value_kind"),
        Field("value_base"),
        Field("value_index"),
        Field("value_scale"),
        Field("value_delta", long=True),
    ),
)

BLOCK_UOPS = Table(
    "uops",
    "u_",
    (
        Field("kind"),
        Field("port_mask"),
        Field("divider"),  # cycles
        Field("first"),  # of its instruction
        Field("last"),
        Field("in_count"),
        Field("out_count"),
        Field("has_address"),
        Field("base"),
        Field("index"),
        Field("scale"),
        Field("displacement"),
        Field("pointer_chasing"),
        Field("wide"),  # 256 bits
        Field("bytes"),
        Field("stack_offset"),
    ),
    (Field("in0"), Field("out0"), Field("instruction")),
)

OPERANDS = Table("operands", "in_", (Field("internal"), Field("key")))
RESULTS = Table("results", "out_", (Field("internal"), Field("key"), Field("latency")))
IDQ_UOPS = Table(
    "idq_uops", "q_", (Field("fused_count"),), (Field("fused0"), Field("instruction"), Field("uop0"))
)
FUSED_UOPS = Table("fused_uops", "f_", (Field("uop_count"),), (Field("uop0"),))
OUTPUTS = Table("outputs", "output_", (Field("key"),))
MERGES = Table("merges", "merge_", (Field("key"),))

BLOCK = (INSTRUCTIONS, OUTPUTS, MERGES, IDQ_UOPS, FUSED_UOPS, BLOCK_UOPS, OPERANDS, RESULTS)
