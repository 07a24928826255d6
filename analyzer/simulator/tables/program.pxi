# A block laid out in tables: everything that the stages need and that never changes in a run.

_MERGED = ("RAX", "RBX", "RCX", "RDX")
_MERGE_KEYS = [KEYS.register(name) for name in _MERGED]


cdef struct Parts:
    # Numbers of parts that the tables hold.
    int outputs
    int merges
    int idq_uops
    int fused_uops
    int uops
    int operands
    int results


@cython.final
cdef class Program:
    """Tables of instructions and their parts, and arrays over rename keys; all flags are 0 or 1.

    A program can be filled again and again; tables are as long as the longest block needed them.
    """

    cdef Instruction *instruction
    cdef RegisterOutput *output
    cdef RegisterMerge *merge
    cdef IdqUop *idq_uop
    cdef FusedUop *fused_uop
    cdef BlockUop *uop
    cdef Operand *operand
    cdef Result *result
    cdef int _instructions_room
    cdef int _outputs_room
    cdef int _merges_room
    cdef int _idq_uops_room
    cdef int _fused_uops_room
    cdef int _uops_room
    cdef int _operands_room
    cdef int _results_room
    cdef int keys
    cdef int rsp
    cdef int rip
    cdef int rbp
    cdef object _core
    cdef object _options
    # Uops outside any instruction, behind those of the block: the stack synchronisation and the merges.
    cdef list _singles
    cdef int[::1] _row  # The integers of one instruction.
    cdef int[::1] _merged
    cdef bint _counts_uops  # Whether the core counts uops; others follow addresses with an ``Emulator``.
    # Of the core: ``exact_memory`` and ``exact_values`` if a block has stores, and ``lines_matter``.
    cdef bint _by_bytes
    cdef bint _by_values
    cdef bint _lines_matter
    cdef bint loop
    cdef int alignment
    cdef int instructions
    cdef int first_instruction
    cdef int key_instruction
    # Whether accesses are compared by the bytes that they touch (``memory``).
    cdef bint exact_memory
    # Whether addresses are compared with known sums and stack-pointer moves taken into account.
    cdef bint exact_values
    cdef bint simple_front_end
    cdef int[::1] key_class
    cdef long long[::1] key_bit
    cdef int[::1] merge_uop
    cdef int[::1] used_key
    cdef int[::1] address_key
    cdef int[::1] _used
    cdef int registers
    cdef int merges
    cdef int all_idq_uops
    cdef int all_fused_uops
    cdef int all_uops
    cdef int inputs
    cdef int outputs
    cdef int size
    cdef int uops
    cdef int idq_uops
    cdef int most_fused  # Uops in the largest fused uop.
    cdef int sync_idq
    cdef int has_fences
    cdef int has_moves  # Whether any move may be eliminated.
    # Whether any instruction cannot issue with those before it: it needs a merge uop first, or it
    # serializes.
    cdef int holds_issue
    cdef int moves_stack  # Whether the stack engine moves RSP for any instruction.
    cdef int has_joins  # Whether any instruction's issue slots depend on the source of its uops.
    cdef int most_merges
    cdef int has_special
    cdef int longest_wait
    # Whether uops are added to those of the instructions (stack synchronisation, merges). They are
    # numbered when they are created, and not in code order.
    cdef int adds_uops
    cdef int tp_names
    cdef bint compares_addresses  # Whether address expressions matter.
    cdef int used_keys
    cdef int address_keys

    def __dealloc__(self):
        free(self.instruction)
        free(self.output)
        free(self.merge)
        free(self.idq_uop)
        free(self.fused_uop)
        free(self.uop)
        free(self.operand)
        free(self.result)

    def __init__(self):
        self.keys = 0
        self.rsp = KEYS.register("RSP")
        self.rip = KEYS.register("RIP")
        self.rbp = KEYS.register("RBP")
        self._core = None
        self._options = None
        self._singles = []
        self._row = ints(0)
        self._merged = column(_MERGE_KEYS)

    cdef int fill(self, object block, object microarchitecture, object options) except -1:
        """Lay out a block; nothing of an earlier one remains."""
        cdef Instruction *instruction
        cdef FlatInstruction flat
        flats = [flatten(entry) for entry in block.entries]
        if microarchitecture is not self._core or options is not self._options:
            self._choose(microarchitecture, options)
        # The simple front end has no code layout: it delivers unrolled code, whatever the mode.
        self.loop = block.loop and not self.simple_front_end
        self.alignment = block.alignment
        self.instructions = len(flats)
        self._choose_comparison(flats)
        # Before keys are counted: this may add new ones.
        values = []
        if self.exact_values:
            for flat in flats:
                values.append(flat.value())
        self._reserve_keys()
        self._reserve(flats)
        self._collect(flats)
        self._number()
        self._find_used_keys()
        # Halves of pairs have no uops.
        self.first_instruction = 0
        while (
            self.first_instruction < self.instructions - 1
            and not self.instruction[self.first_instruction].idq_count
        ):
            self.first_instruction += 1
        self.key_instruction = self.instructions - 1
        while self.key_instruction > 0 and not self.instruction[self.key_instruction].idq_count:
            self.key_instruction -= 1
        self._sum_up(flats)
        check_program(self, microarchitecture)
        for i, value in enumerate(values):
            instruction = &self.instruction[i]
            instruction.value_kind, instruction.value_base, instruction.value_index = value[:3]
            instruction.value_scale, instruction.value_delta = value[3:]
        self._find_address_keys()

    cdef int _choose(self, object microarchitecture, object options) except -1:
        """Set what is the same for all blocks of a core."""
        self._core, self._options = microarchitecture, options
        merged = [merge_uop(microarchitecture, name) for name in _MERGED]
        self._singles = [FlatUop(uop) for uop in (sync_uop(microarchitecture), *merged)]
        self._counts_uops = microarchitecture.macro_ops is None
        self._by_bytes = self._counts_uops and options.hardware
        self._by_values = self._counts_uops and (options.hardware or microarchitecture.tracks_values)
        self._lines_matter = lines_matter(microarchitecture)
        self.simple_front_end = options.simple_front_end

    cdef int _choose_comparison(self, list flats) except -1:
        """Find how addresses are compared. They decide which loads overlap which stores and, if lines matter,
        which loads read the same word; a block with neither needs no comparison."""
        cdef FlatInstruction flat
        cdef bint stores = False, accesses = False
        for flat in flats:
            stores = stores or flat.like.stores
            accesses = accesses or flat.like.address_count > 0
        self.exact_memory = self._by_bytes and stores
        self.exact_values = self._by_values and (stores or (accesses and self._lines_matter))
        self.compares_addresses = self.exact_values or (self._counts_uops and stores)

    cdef int _reserve_keys(self) except -1:
        keys = len(KEYS.classes)
        if keys != self.keys:
            self.keys = keys
            self.key_class = column(KEYS.classes)
            self.key_bit = longs(keys)
            for key in range(keys):
                self.key_bit[key] = 1LL << key if self.key_class[key] >= 0 else 0
            self.merge_uop = ints(keys)
            self.used_key = ints(keys)
            self.address_key = ints(keys)
            self._used = ints(keys)

    cdef int _reserve(self, list flats) except -1:
        """Count all parts, and make room for them."""
        cdef FlatOriginal like
        self.registers = self.merges = self.all_idq_uops = self.all_fused_uops = 0
        self.all_uops = self.inputs = self.outputs = 0
        longest = 0
        for flat in flats:
            like = (<FlatInstruction> flat).like
            self._count(like)
            longest = max(longest, like.length)
        for like in self._singles:
            self._count(like)
        if longest > len(self._row):
            self._row = ints(2 * longest)
        self.instruction = <Instruction *> with_room(
            self.instruction, &self._instructions_room, self.instructions, sizeof(Instruction)
        )
        self.output = <RegisterOutput *> with_room(
            self.output, &self._outputs_room, self.registers, sizeof(RegisterOutput)
        )
        self.merge = <RegisterMerge *> with_room(
            self.merge, &self._merges_room, self.merges, sizeof(RegisterMerge)
        )
        self.idq_uop = <IdqUop *> with_room(
            self.idq_uop, &self._idq_uops_room, self.all_idq_uops, sizeof(IdqUop)
        )
        self.fused_uop = <FusedUop *> with_room(
            self.fused_uop, &self._fused_uops_room, self.all_fused_uops, sizeof(FusedUop)
        )
        self.uop = <BlockUop *> with_room(self.uop, &self._uops_room, self.all_uops, sizeof(BlockUop))
        self.operand = <Operand *> with_room(self.operand, &self._operands_room, self.inputs, sizeof(Operand))
        self.result = <Result *> with_room(self.result, &self._results_room, self.outputs, sizeof(Result))

    cdef void _count(self, FlatOriginal like) noexcept nogil:
        cdef Instruction *head = <Instruction *> like.ints
        self.registers += head.outputs_count
        self.merges += head.merge_count
        self.all_idq_uops += head.idq_count
        self.all_fused_uops += head.fused_count
        self.all_uops += head.uop_count
        self.inputs += head.operands_count
        self.outputs += head.results_count

    cdef int _collect(self, list flats) except -1:
        """Copy all parts into the tables."""
        cdef FlatInstruction flat
        cdef FlatOriginal like
        cdef Parts parts
        memset(&parts, 0, sizeof(parts))
        for i in range(self.instructions):
            flat = flats[i]
            flat.lay(&self._row[0])
            memcpy(&self.instruction[i], &self._row[0], sizeof(Instruction))
            self._append(&parts, &self._row[0])
        for like in self._singles:
            self._append(&parts, like.ints)

    cdef void _append(self, Parts *parts, int *ints) noexcept nogil:
        """Append the parts of an instruction to the tables."""
        cdef Instruction *head = <Instruction *> ints
        ints += _INSTRUCTION_INTS
        for _ in range(head.outputs_count):
            self.output[parts.outputs].key = ints[0]
            parts.outputs += 1
            ints += 1
        for _ in range(head.merge_count):
            self.merge[parts.merges].key = ints[0]
            parts.merges += 1
            ints += 1
        for _ in range(head.idq_count):
            self.idq_uop[parts.idq_uops].fused_count = ints[0]
            parts.idq_uops += 1
            ints += 1
        for _ in range(head.fused_count):
            self.fused_uop[parts.fused_uops].uop_count = ints[0]
            parts.fused_uops += 1
            ints += 1
        memcpy(&self.uop[parts.uops], ints, head.uop_count * sizeof(BlockUop))
        parts.uops += head.uop_count
        ints += head.uop_count * _UOP_INTS
        memcpy(&self.operand[parts.operands], ints, head.operands_count * sizeof(Operand))
        parts.operands += head.operands_count
        ints += 2 * head.operands_count
        memcpy(&self.result[parts.results], ints, head.results_count * sizeof(Result))
        parts.results += head.results_count

    cdef void _number(self) noexcept nogil:
        """Number the parts of every instruction and uop."""
        offset = idq = uop = outputs = merges = 0
        for i in range(self.instructions):
            self.instruction[i].offset = offset
            self.instruction[i].idq0 = idq
            self.instruction[i].uop0 = uop
            self.instruction[i].outputs0 = outputs
            self.instruction[i].merge0 = merges
            for position in range(idq, idq + self.instruction[i].idq_count):
                self.idq_uop[position].instruction = i
            for number in range(uop, uop + self.instruction[i].uop_count):
                self.uop[number].instruction = i
            offset += self.instruction[i].length
            idq += self.instruction[i].idq_count
            uop += self.instruction[i].uop_count
            outputs += self.instruction[i].outputs_count
            merges += self.instruction[i].merge_count
        self.size = offset
        self.uops = uop
        self.idq_uops = idq
        first_input = first_output = 0
        for number in range(self.all_uops):
            self.uop[number].in0 = first_input
            self.uop[number].out0 = first_output
            first_input += self.uop[number].in_count
            first_output += self.uop[number].out_count
        fused = 0
        for q in range(self.all_idq_uops):
            self.idq_uop[q].fused0 = fused
            fused += self.idq_uop[q].fused_count
        uop = 0
        self.most_fused = 1
        for f in range(self.all_fused_uops):
            self.most_fused = max(self.most_fused, self.fused_uop[f].uop_count)
            self.fused_uop[f].uop0 = uop
            uop += self.fused_uop[f].uop_count
        for q in range(self.idq_uops):
            uop0 = self.instruction[self.idq_uop[q].instruction].uop0
            self.idq_uop[q].uop0 = self.fused_uop[self.idq_uop[q].fused0].uop0 - uop0
        self.sync_idq = self.idq_uops
        for number in range(len(self._merged)):
            self.merge_uop[self._merged[number]] = self.uops + 1 + number

    cdef int _sum_up(self, list flats) except -1:
        """Set the properties of the block as a whole."""
        cdef dict names
        cdef FlatInstruction flat
        self.has_fences = 0
        self.has_moves = 0
        self.holds_issue = 0
        self.moves_stack = 0
        self.has_joins = 0
        self.most_merges = 0
        self.has_special = 0
        self.longest_wait = 64
        names = {}
        for i in range(self.instructions):
            self.longest_wait = max(self.longest_wait, 64 + 2 * self.instruction[i].wait)
            flat = flats[i]
            if self.instruction[i].symbol_source >= 0:
                self.instruction[i].symbol_delta = flat.symbol_delta
            if self.instruction[i].tp:
                self.has_special = 1
                self.instruction[i].tp_name = names.setdefault(flat.like.tp_name, len(names))
            if self.instruction[i].merge_count or self.instruction[i].serializing:
                self.holds_issue = 1
            if self.instruction[i].rsp_change:
                self.moves_stack = 1
            if self.instruction[i].joins:
                self.has_joins = 1
            if self.instruction[i].eliminable:
                self.has_moves = 1
            if self.instruction[i].merge_count > self.most_merges:
                self.most_merges = self.instruction[i].merge_count
            if self.instruction[i].load_fence or self.instruction[i].store_fence:
                self.has_fences = 1
                self.has_special = 1
        if STORE_ORDER in names:
            # Between store fences and locked accesses one store at a time reaches the cache (D9).
            for i in range(self.instructions):
                flat = flats[i]
                if flat.like.stores and not self.instruction[i].tp:
                    self.instruction[i].tp = self.instruction[i].tp_after_wait = 1
                    self.instruction[i].tp_name = names[STORE_ORDER]
        self.adds_uops = 1 if self.moves_stack or self.most_merges else 0
        self.tp_names = len(names)

    cdef void _find_used_keys(self) noexcept nogil:
        """Find every rename key that the block reads or writes, including addresses."""
        used = self._used
        for key in range(self.keys):
            used[key] = 0
        for output in range(self.registers):
            self._mark(self.output[output].key)
        for merge in range(self.merges):
            self._mark(self.merge[merge].key)
        self._mark_addresses()
        for i in range(self.instructions):
            self._mark(self.instruction[i].move_source)
            self._mark(self.instruction[i].move_target)
            self._mark(self.instruction[i].symbol_source)
        for operand in range(self.inputs):
            if not self.operand[operand].internal:
                used[self.operand[operand].key] = 1
        for operand in range(self.outputs):
            if not self.result[operand].internal:
                used[self.result[operand].key] = 1
        self.used_keys = 0
        for key in range(self.keys):
            if used[key]:
                self.used_key[self.used_keys] = key
                self.used_keys += 1

    cdef void _find_address_keys(self) noexcept nogil:
        """Find every rename key that addresses are made from, directly or through other registers, and the
        instructions that write one of them."""
        self.address_keys = 0
        if not self.compares_addresses:
            return
        used = self._used
        for key in range(self.keys):
            used[key] = 0
        self._mark_addresses()
        while self._mark_sources():
            pass
        for key in range(self.keys):
            if used[key]:
                self.address_key[self.address_keys] = key
                self.address_keys += 1
        for i in range(self.instructions):
            # The published model lets a synchronisation write RSP for its instruction.
            self.instruction[i].makes_address = self._makes_marked(i) or not self.exact_values

    cdef int _mark_sources(self) noexcept nogil:
        """Mark the sources of marked keys; returns the number of keys added."""
        added = 0
        for i in range(self.instructions):
            if self._makes_marked(i):
                added += self._mark(self.instruction[i].move_source)
                if self.exact_values:
                    added += self._mark(self.instruction[i].value_base)
                    added += self._mark(self.instruction[i].value_index)
                else:
                    added += self._mark(self.instruction[i].symbol_source)
        return added

    cdef bint _makes_marked(self, int i) noexcept nogil:
        """Whether an instruction writes a marked key."""
        outputs0 = self.instruction[i].outputs0
        for output in range(outputs0, outputs0 + self.instruction[i].outputs_count):
            if self._used[self.output[output].key]:
                return True
        return False

    cdef int _mark(self, int key) noexcept nogil:
        """Mark a key; returns 1 if that is new."""
        if key < 0 or self._used[key]:
            return 0
        self._used[key] = 1
        return 1

    cdef void _mark_addresses(self) noexcept nogil:
        for uop in range(self.all_uops):
            self._mark(self.uop[uop].base)
            self._mark(self.uop[uop].index)
