# What the stages can count with: the numbers of an instruction lie in ranges, and its parts fit together.
# ``ranges.py`` says the same of cores.

cdef enum:
    _MOST_TIME = 1 << 20  # Longest latency, in cycles: ``UNLIMITED`` of the cores.
    _MOST_PARTS = 1 << 12  # Most uops, inputs and results of one instruction.
    _MOST_STEP = 1 << 20  # Bytes by which an instruction moves the stack pointer.


cdef int check_row(int *row, str name) except -1:
    """Raises ValueError for integers of an instruction (``FlatOriginal``) that no stage can count with."""
    cdef Instruction *head = <Instruction *> row
    cdef int *idq_uops = row + _INSTRUCTION_INTS + head.outputs_count + head.merge_count
    cdef int *fused_uops = idq_uops + head.idq_count
    cdef BlockUop *uops = <BlockUop *> (fused_uops + head.fused_count)
    _check_number(name, "uop count", head.uop_count, 0, _MOST_PARTS)
    _check_number(name, "number of inputs", head.operands_count, 0, _MOST_PARTS)
    _check_number(name, "number of results", head.results_count, 0, _MOST_PARTS)
    _check_number(name, "number of decoded uops", head.mite_uops, 0, _MOST_PARTS)
    _check_number(name, "number of microcode uops", head.ms_uops, 0, _MOST_PARTS)
    _check_number(name, "number of simple decoders", head.simple_decoders, 0, _MOST_PARTS)
    _check_number(name, "throughput", head.tp, 0, _MOST_TIME)
    _check_number(name, "throughput after a wait", head.tp_after_wait, 0, _MOST_TIME)
    _check_number(name, "step of the stack pointer", head.rsp_change, -_MOST_STEP, _MOST_STEP)
    _check_sum(name, "IDQ uops", idq_uops, head.idq_count, head.fused_count)
    _check_sum(name, "fused uops", fused_uops, head.fused_count, head.uop_count)
    if head.length > 0 and head.idq_count > 0 and head.mite_uops == 0:
        raise ValueError(f"{name}: it has IDQ uops, but none is decoded")
    if head.joins and (head.idq_count != 1 or head.fused_count != 1 or head.uop_count != 1):
        raise ValueError(f"{name}: it cannot join the next instruction, for it is no single uop")
    operand = <Operand *> (uops + head.uop_count)
    _check_uops(name, head, uops, operand, <Result *> (operand + head.operands_count))


cdef int _check_uops(
    str name, Instruction *head, BlockUop *uops, Operand *operand, Result *result
) except -1:
    cdef Result *written = result
    cdef bint loads = False
    cdef bint stores = False
    cdef bint shares
    for number in range(head.uop_count):
        _check_number(name, "kind of a uop", uops[number].kind, COMPUTE, MERGE)
        _check_number(name, "time of a divider", uops[number].divider, 0, _MOST_TIME)
        if head.no_uops and LOAD <= uops[number].kind <= STORE_DATA:
            raise ValueError(f"{name}: it accesses memory, but takes no uops")
        if uops[number].has_address and not LOAD <= uops[number].kind <= STORE_DATA:
            raise ValueError(f"{name}: a uop has an address, but accesses no memory")
        loads = loads or uops[number].kind == LOAD
        stores = stores or uops[number].kind == STORE_ADDRESS
        if uops[number].kind == STORE_DATA and not stores:
            raise ValueError(f"{name}: it stores data without an address")
        # The load of its instruction may compute a store's address.
        shares = loads and uops[number].kind == STORE_ADDRESS
        if uops[number].port_mask < (1 if uops[number].kind <= STORE_DATA and not shares else 0):
            raise ValueError(f"{name}: one of its uops has no unit")
        for _ in range(uops[number].in_count):
            if operand.internal and not _is_written(operand.key, written, result):
                raise ValueError(f"{name}: a uop reads the internal value {operand.key} before it is written")
            operand += 1
        for _ in range(uops[number].out_count):
            _check_number(name, "latency", result.latency, 0, _MOST_TIME)
            if result.internal:
                _check_number(name, "number of an internal value", result.key, 0, head.results_count - 1)
            result += 1


cdef bint _is_written(int key, Result *first, Result *end) noexcept:
    """Whether a result before ``end`` is this internal value."""
    while first < end:
        if first.internal and first.key == key:
            return True
        first += 1
    return False


cdef int _check_number(str name, str what, long long number, int least, int most) except -1:
    if not least <= number <= most:
        raise ValueError(f"{name}: the {what} is {number}; it must be {least} to {most}")


cdef int _check_sum(str name, str what, int *sizes, int count, int parts) except -1:
    """The parts are distributed over ``count`` groups with these sizes."""
    cdef long long total = 0
    for number in range(count):
        if sizes[number] < 0:
            raise ValueError(f"{name}: the size of one of its {what} is {sizes[number]}")
        total += sizes[number]
    if total != parts:
        raise ValueError(f"{name}: its {what} have {total} parts, but there are {parts}")


cdef int check_program(Program program, object microarchitecture) except -1:
    """Raises ValueError if half of a fused pair stands alone or both have uops, if a uop names a unit that
    the core has not, or if an instruction joins one that joins another, or one that has a macro-op."""
    cdef int units = len(microarchitecture.units)
    if program.has_joins and microarchitecture.macro_ops is not None:
        raise ValueError(f"{microarchitecture.name}: a move joins the next one; here it has a macro-op")
    for i in range(program.instructions if program.has_joins else 0):
        following = i + 1 if i + 1 < program.instructions else 0
        if program.instruction[i].joins and program.instruction[following].joins:
            raise ValueError(f"instruction {i + 1} of the block joins the next one, which joins another")
    # Cores that count macro-ops have no halves: their pairs are entries of the op cache.
    for i in range(0 if microarchitecture.macro_ops is not None else program.instructions):
        following = i + 1 if i + 1 < program.instructions else 0
        if program.instruction[i].first != program.instruction[following].second:
            raise ValueError(f"instruction {i + 1} of the block: half of a macro-fused pair stands alone")
        if program.instruction[i].second and program.instruction[i].idq_count:
            raise ValueError(f"instruction {i + 1} of the block: the second of a fused pair has uops")
    for number in range(program.all_uops):
        if program.uop[number].port_mask >> units:
            raise ValueError(f"instruction {program.uop[number].instruction + 1}: the core has {units} units")
