# Numbers that several stages share.

cdef enum:
    FOREVER = -1  # Ready time of a value from before the simulation began.
    UNKNOWN = -2  # A cycle that is not known yet.
    NONE = -1  # No index.
    NEVER = 1 << 30  # More cycles than any run has.
    # State of a load that needs bytes from more than one store and waits until the store has left.
    BLOCKED = 1
    # State of a load that waits equally long, because it was mistaken for a load of what the store
    # writes.
    MISTAKEN = 2
    ELIMINATED = -2  # As the port of a uop: it was an eliminated move.
    NO_SOURCE = 0
    MITE = 1
    MS = 2
    DSB = 3
    LSD = 4
    STACK_ENGINE = 5

# Names of the front-end sources, by the numbers above.
SOURCE_NAMES = ("", "MITE", "MS", "DSB", "LSD", "SE")
cdef enum:
    # Kinds of uops (``UopKind``). SYNC and MERGE are not in any instruction's own list, and are the largest.
    COMPUTE = 0
    LOAD = 1
    STORE_ADDRESS = 2
    STORE_DATA = 3
    EMPTY = 4
    SYNC = 5
    MERGE = 6
    # Traits of uops (``Trait``).
    VECTOR_TRAIT = 1
    WIDE_TRAIT = 2
    FP_ADD_TRAIT = 4
    TAKES_FP_ADD_TRAIT = 8
    MASK_TRAIT = 16
    OWN_RESULT_TRAIT = 32
    READ_MODIFY_WRITE_TRAIT = 64
    ALONE_TRAIT = 128
    DIVIDES_TRAIT = 256
    IN_FP_TRAIT = 512
    IN_INTEGERS_TRAIT = 1024
    MAKES_FP_TRAIT = 2048
    MAKES_INTEGERS_TRAIT = 4096
    SHARES_ADDRESS_TRAIT = 8192
    THREE_SOURCES_TRAIT = 16384
    TO_FLAGS_TRAIT = 32768
    HELD_BY_UNIT = 1
    HELD_BY_FENCE = 2
    HELD_BY_DIVIDER = 3

# Names by the numbers above. Unit and divider are still busy with the previous instance of the
# instruction. A fence also holds back itself and all uops of its instruction.
HELD_NAMES = ("", "unit", "fence", "unit")
cdef enum:
    # Where the result of a uop goes (``BlockUop.result``).
    NO_RESULT = 0  # Nowhere, or from integer to vector registers or back.
    INTEGER_RESULT = 1
    VECTOR_RESULT = 2
cdef enum:
    QUEUED_FOR_PORT = 1
    QUEUED_FOR_DIVIDER = 2
    QUEUED_FOR_PAIR = 3
    QUEUED_FOR_RESULT = 4

QUEUED_NAMES = ("", "port", "divider", "pair", "result")  # Names by the numbers above.
# The optional resources of the model, by number. ``registers`` is the limit over both register
# files.
RESOURCES = (
    "load buffer",
    "store buffer",
    "branch buffer",
    "integer registers",
    "vector registers",
    "registers",
    "load matrix",
)
cdef enum:
    PREDECODER = 1
    LCP = 2
    DECODER = 3
    LATE_MICROCODE = 4
    MICROCODE_SWITCH = 5
    LATE_DSB = 6
    DSB_SWITCH = 7
    LATE_LSD = 8
    JCC = 9
    ISSUE_GROUP = 10
    REGISTER_MERGE = 11
    SERIALIZATION = 12
    RS_FULL = 13
    ROB_FULL = 14
    RESOURCE_FULL = 15
    STORE_BUFFER_FULL = 16

# Reasons for empty issue slots in a cycle, by the numbers above; the first one means that none
# stayed empty. Up to ``JCC`` the IDQ was empty, and the name says what delayed the front end; from
# ``RS_FULL`` on the named buffer was full. Resource number n is at ``RESOURCE_FULL + n``.
REFUSALS = (
    "",
    "predecoder",
    "LCP",
    "decoder",
    "MS",
    "MS switch",
    "DSB",
    "DSB switch",
    "LSD",
    "JCC erratum",
    "issue group",
    "register merge",
    "serialization",
    "RS",
    "ROB",
    *RESOURCES,
)
cdef enum:
    RETIRING = 32  # Added to the number of a buffer that retirement empties at full speed.
    # Added to ``RS_FULL`` if one of several schedulers is full: once, and once more per scheduler
    # before it.
    SCHEDULERS = 64
    # Register classes of move elimination.
    NO_CLASS = -1
    GPR_CLASS = 0
    SIMD_CLASS = 1
    CODE_LINE = 64
    FETCH_BLOCK = 16  # Size in bytes.
    LINE_WORDS = 16  # Words of four bytes in a line of data.
    # How a result is made of values (``uops/values.py``).
    UNKNOWN_VALUE = 0
    SUM = 1
    LOADED = 2
    PAGE = 4096  # Size in bytes.
    MERGED = 4  # Bytes; the cache merges smaller parts of a store with what it holds.
    EIGHTHS = 8  # Parts of a slot or a cycle that rules count in.
    LONG_AGO = 1 << 20  # Cycles.
    MOST_UNITS = 30  # As in ``model/units.py``.
    NO_KEY = -1  # No register.
