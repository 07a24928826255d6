# What a block and a run consist of: one struct for each row of a table.
#
# Times are numbers of cycles, and rows are named by their index; NONE stands for no row.

cdef struct Instance:
    int uop0  # its first uop
    int place  # of its instruction within the round
    int address
    int predecoded  # cycle
    int removed  # cycle in which it left the instruction queue


cdef struct Uop:
    # The most used members come first, and those with the same initial value are side by side.
    int instance  # the dynamic instruction that it belongs to
    int position  # of that instruction within the round
    int static  # its row of the block's uops
    int next_uop  # next in the list that the uop is in
    int issued  # cycle; so are the next three
    int ready
    int dispatched
    int executed
    int port  # or ELIMINATED
    int store  # row of the store that it is part of, or that it forwards from
    int latency_bonus  # cycles by which a load is faster
    int blocked  # a load that waits until its store has left: BLOCKED, MISTAKEN
    int first_input  # rows of inputs and values
    int first_result
    int pending  # number of inputs that are not known yet
    int latest  # first cycle in which all other inputs are ready
    int added  # cycle in which it entered the IDQ
    int retired  # cycle
    int source  # part of the front end that delivered it
    int held  # what last kept it back although its inputs were ready: HELD_BY_...
    # Whether a load had to wait because two others read the same word, or a store because it has to be merged
    # with bytes on their way to the cache.
    int collided
    # Only for loads:
    int renamed  # it takes over a stored value
    int words  # which words of a line it reads
    int late_by  # uop of a store that its result had to wait for, NONE if there was none
    # Only for recorded runs:
    int queued  # what a ready uop waited for last: QUEUED_FOR_...
    int behind  # the uop that it waited for, NONE if that is not known
    int allowed  # first cycle in which a uop that was issued then can leave
    int last_input  # row of the input that arrived last, NONE if it waited for none
    int inputs_ready  # first cycle that the inputs allow


cdef struct UopInput:
    int value  # row of the value that it reads
    int uop  # the uop that waits for it
    int next  # next input that waits for the same value


cdef struct Value:
    int ready  # first cycle in which it can be used
    int uop  # the uop that makes it
    int latency  # cycles from the dispatch of its uop
    int zero  # made by an instruction without uops
    int waiters  # first of the inputs that wait for it


cdef struct StoreEntry:
    int address  # cycles in which these are known
    int data
    int waiters  # first of the loads that wait for it
    int scale  # the address as an expression of symbolic values
    int displacement
    int bytes
    int uop  # the uop that writes the data
    int last  # the uop of its address or data whose result is known later
    int left  # cycle in which it left the store buffer
    int value  # row of the value that it stores
    int late  # steps by which forwarding is later than for a loaded word
    long long base
    long long index


cdef struct CycleRecord:
    int refusal  # why the renamer left slots empty: REFUSALS
    # The uop that caused it; for the front end, the place of the late instruction, because
    # its uops may not exist yet.
    int refused_by
    # The uop that keeps others from retiring; NONE if only the width does, or nothing.
    int unfinished


cdef struct Instruction:
    int length  # bytes
    int opcode  # bytes before it
    int lcp
    int branch
    int jump  # always taken
    int second  # of a macro-fused pair
    int first
    int fusible
    int complex_decoder
    int simple_decoders
    int mite_uops
    int ms_uops
    int extra_slot  # of a DSB line
    int jcc
    int idq_count
    int decoded_count
    int uop_count
    int rsp_change
    int rsp_step  # change of RSP after it: 0 for a call that returns
    int rsp_explicit
    int rsp_written
    int high8_written
    int no_uops
    int eliminable
    int move_source
    int move_target
    int move_32
    int adds  # the renamer can carry it out (V9)
    int added
    int offset_key0  # registers that must not have a constant owed, or NO_KEY
    int offset_key1
    int takes_over  # its load can take over a stored value (W6)
    int stands_alone  # and nothing else goes into its result
    int joins  # a move without an issue slot
    int serializing
    int load_fence
    int store_fence
    int tp  # cycles for which it occupies its unit
    int tp_after_wait  # the same if it had to wait for the unit
    int symbol_source
    int pointer_load
    int wait
    # Sizes of the other parts of a flat instruction.
    int outputs_count
    int merge_count
    int fused_count
    int operands_count
    int results_count
    int offset  # bytes behind the block's beginning
    int idq0  # rows of its parts
    int uop0
    int outputs0
    int merge0
    int tp_name
    int makes_address  # whether its results can become part of an address
    # Hardware model only: how its result is made (values).
    int value_kind
    int value_base
    int value_index
    int value_scale
    long long symbol_delta
    long long value_delta


cdef struct RegisterOutput:
    int key


cdef struct RegisterMerge:
    int key


cdef struct IdqUop:
    int fused_count
    int fused0
    int instruction
    int uop0


cdef struct FusedUop:
    int uop_count
    int uop0


cdef struct BlockUop:
    int kind
    int port_mask
    int divider  # cycles
    int first  # of its instruction
    int last
    int in_count
    int out_count
    int has_address
    int base
    int index
    int scale
    int displacement
    int pointer_chasing
    int wide  # 256 bits
    int result  # where its result goes: INTEGER_RESULT ...
    int bytes
    int stack_offset
    int in0
    int out0
    int instruction


cdef struct Operand:
    int internal
    int key


cdef struct Result:
    int internal
    int key
    int latency
