# Numeric addresses: follows registers and memory far enough to know which accesses overlap.
#
# Numbers are kept modulo 2 to the 62, so that a sum of two fits into 64 bits.

cdef long long _MASK = 4611686018427387903
cdef long long _SIGN = 2305843009213693952
cdef long long _LOW = 4294967295
cdef long long _LOW_SIGN = 2147483648  # Sign bit of 32-bit values.
cdef enum:
    _REGISTERS = 16
    _PATTERN = 36847616  # Value of every register and word if all registers point to the same memory.

cdef long long _CODE = 68719476736
# Distance between the memory areas of registers that point to different ones.
cdef long long _AREA_DISTANCE = 17592186044416
cdef enum:
    _WORDS = 1 << 12
    _PAGE_WORDS = 512

cdef long long _MULTIPLIER = 25214903917
cdef enum:
    _INCREMENT = 11

cdef long long _SEED_MASK = 281474976710655
cdef enum:
    EFFECT_NOTHING = 0
    EFFECT_COPY = 1
    EFFECT_CONSTANT = 2
    EFFECT_ADDRESS = 3
    EFFECT_OPERATE = 4
    EFFECT_LOAD = 5
    EFFECT_STORE = 6
    EFFECT_IN_MEMORY = 7
    EFFECT_ANY = 8
    EFFECT_ANY_WORD = 9
    OPERATION_ADD = 0
    OPERATION_SUB = 1
    OPERATION_AND = 2
    OPERATION_OR = 3
    OPERATION_XOR = 4
    OPERATION_SHL = 5
    OPERATION_SHR = 6
    OPERATION_SAR = 7
    OPERATION_IMUL = 8
    OPERATION_NOT = 9
    OPERATION_NEG = 10


@cython.final
cdef class Emulator:
    """Sixteen registers, and the words that stores have changed."""

    cdef Tables tables
    cdef Program program
    cdef Operations operations
    cdef bint _same
    cdef bint _stack_apart
    cdef long long _word_mask  # Maps a word number to its place in physical memory.
    cdef long long[::1] register
    cdef long long[::1] _keys
    cdef long long[::1] _words
    cdef int[::1] _written  # The emulation in which each slot was last written.
    cdef int _emulation
    cdef long long _seed
    cdef int _size
    cdef long long load_address
    cdef long long store_address
    cdef int _count

    def __init__(self, Tables tables, Operations operations, pointers, harness):
        self.tables = tables
        self.program = tables.program
        self.operations = operations
        self._same = pointers is not Pointers.DIFFERENT
        self._stack_apart = pointers is Pointers.STACK
        self._word_mask = _PAGE_WORDS - 1 if harness is MeasuredIn.ONE_PAGE else _MASK
        self.register = longs(_REGISTERS)
        self._keys = longs(_WORDS)
        self._words = longs(_WORDS)
        self._written = ints(_WORDS)
        self._emulation = 0

    cdef void follow(self) noexcept nogil:
        """Find the registers and words that the addresses of a block depend on, directly or through loads.
        Nothing else is tracked."""
        cdef BlockUop *block_uop
        cdef bint words
        registers = 0
        for static in range(self.program.uops):
            block_uop = &self.program.uop[static]
            if block_uop.has_address:
                registers |= self._bit(block_uop.base) | self._bit(block_uop.index)
        words = False
        before = -1
        while before != registers:
            before = registers
            for i in range(self.program.instructions):
                if self._bit(self.operations.m_pair_target[i]) & registers:
                    registers |= self._bit(self.operations.m_pair_source[i])
                if self._writes_word(self.operations.e_kind[i]):
                    if words:
                        registers |= self._bit(self.operations.e_source[i])
                elif self._bit(self.operations.e_target[i]) & registers:
                    registers |= self._bit(self.operations.e_source[i])
                    registers |= self._bit(self.operations.e_index[i])
                    if self.operations.e_memory[i] >= 0 and not words:
                        words = True
                        before = -1
        self.operations.still = self.program.loop
        for i in range(self.program.instructions):
            written = self._bit(self.operations.e_target[i]) | self._bit(self.operations.m_pair_target[i])
            self.operations.e_followed[i] = written & registers != 0 or (
                words and self._writes_word(self.operations.e_kind[i])
            )
            for place in range(4 * i, 4 * i + 4):
                written |= self._bit(self.operations.e_unknown[place])
            if self.program.instruction[i].rsp_step:
                written |= self._bit(self.program.rsp)
            if written & registers:
                self.operations.still = False

    cdef int _bit(self, int key) noexcept nogil:
        """A register as a set of one; empty for other keys."""
        return 1 << key if 0 <= key < _REGISTERS else 0

    cdef bint _writes_word(self, int kind) noexcept nogil:
        """Whether an effect of this kind writes memory: all kinds from stores on, except new registers."""
        return kind >= EFFECT_STORE and kind != EFFECT_ANY

    cdef void start(self) noexcept nogil:
        """Reset: registers point where the policy says, and no word has been written."""
        for number in range(_REGISTERS):
            self.register[number] = _PATTERN if self._same else (number + 1) * _AREA_DISTANCE
        if self._stack_apart:
            self.register[self.program.rsp] = 2 * _AREA_DISTANCE
            self.register[self.program.rbp] = 3 * _AREA_DISTANCE
        self._seed = 1
        self._size = len(self._keys)
        self._forget()
        self.load_address = 0
        self.store_address = 0

    cdef long long address(self, int static, int i, int instance) noexcept nogil:
        """First byte of the access of a uop of this instance of an instruction, with the current register
        values."""
        cdef BlockUop *block_uop = &self.program.uop[static]
        cdef long long address
        base = block_uop.base
        index = block_uop.index
        address = block_uop.displacement + block_uop.stack_offset
        if base == self.operations.instruction_pointer:
            address += self._after(i, instance)
        elif 0 <= base < _REGISTERS:
            address += self.register[base]
        if 0 <= index < _REGISTERS:
            address += self.register[index] * block_uop.scale
        return address & _MASK

    cdef long long _after(self, int i, int instance) noexcept nogil:
        """Address of the next instruction."""
        return _CODE + self.tables.address_of(instance) + self.program.instruction[i].length

    cdef void execute(self, int i, int instance) noexcept nogil:
        """Apply the effect of an instruction. Its addresses must have been read before."""
        cdef Instruction *instruction = &self.program.instruction[i]
        kind = self.operations.e_kind[i]
        if self.operations.e_followed[i]:
            if self.operations.m_pair_source[i] >= 0:
                self._copy(self.operations.m_pair_source[i], self.operations.m_pair_target[i])
            if kind != EFFECT_NOTHING:
                self._execute(i, instance, kind)
        elif kind == EFFECT_ANY_WORD:
            # New values do not depend on what is tracked.
            self._any_word(i)
        if instruction.rsp_step:
            self.register[self.program.rsp] = (
                self.register[self.program.rsp] + instruction.rsp_step
            ) & _MASK
        place = 4 * i
        while place < 4 * i + 4 and self.operations.e_unknown[place] >= 0:
            self.register[self.operations.e_unknown[place]] = self._unknown()
            place += 1

    cdef long long _any_word(self, int i) noexcept nogil:
        """The value that a store writes if its data are not in a general-purpose register."""
        return _PATTERN if self._same and self.operations.e_operation[i] else self._unknown()

    cdef void _copy(self, int source, int target) noexcept nogil:
        """Execute a move that was the first half of a pair. If the pair has 32 bits, its second half
        truncates the value."""
        if 0 <= source < _REGISTERS and 0 <= target < _REGISTERS:
            self.register[target] = self.register[source]

    cdef void _execute(self, int i, int instance, int kind) noexcept nogil:
        cdef long long value, old, target
        source = self.operations.e_source[i]
        value = self.operations.e_constant[i]
        if kind == EFFECT_STORE:
            if source >= 0:
                value = self.register[source]
            self._write(self.store_address, self.operations.e_memory_bits[i], value)
            return
        if kind == EFFECT_ANY_WORD:
            value = self._any_word(i)
            self._write(self.store_address, self.operations.e_memory_bits[i], value)
            return
        if kind == EFFECT_IN_MEMORY:
            if source >= 0:
                value = self.register[source]
            old = self._read(self.store_address, self.operations.e_memory_bits[i])
            value = self._operate(self.operations.e_operation[i], old, value, 64)
            self._write(self.store_address, self.operations.e_memory_bits[i], value)
            return
        if kind == EFFECT_ANY:
            return
        if kind == EFFECT_COPY:
            value = self.register[source]
            if self.operations.e_memory_bits[i] < 64:
                value = self._narrow(value, self.operations.e_memory_bits[i], self.operations.e_operation[i])
        elif kind == EFFECT_LOAD:
            value = self._read(self.load_address, self.operations.e_memory_bits[i])
            value = self._narrow(value, self.operations.e_memory_bits[i], self.operations.e_operation[i])
        elif kind == EFFECT_ADDRESS:
            if source >= 0:
                value += self.register[source]
            if self.operations.e_index[i] >= 0:
                value += self.register[self.operations.e_index[i]] * self.operations.e_scale[i]
            if self.operations.e_relative[i]:
                value += self._after(i, instance)
        elif kind == EFFECT_OPERATE:
            if self.operations.e_memory[i] >= 0:
                value = self._read(self.load_address, self.operations.e_memory_bits[i])
            elif source >= 0:
                value = self.register[source]
            target = self.register[self.operations.e_target[i]]
            value = self._operate(
                self.operations.e_operation[i], target, value, self.operations.e_target_bits[i]
            )
        self._set(
            self.operations.e_target[i],
            self.operations.e_target_bits[i],
            self.operations.e_high[i] != 0,
            value & _MASK,
        )

    cdef long long _operate(self, int operation, long long one, long long other, int bits) noexcept nogil:
        if bits == 32:
            one = one & _LOW
        if operation == OPERATION_ADD:
            return (one + other) & _MASK
        if operation == OPERATION_SUB:
            return (one - other) & _MASK
        if operation == OPERATION_AND:
            return one & other
        if operation == OPERATION_OR:
            return one | other
        if operation == OPERATION_XOR:
            return one ^ other
        if operation == OPERATION_SHL:
            return (one << (other & 63)) & _MASK if (other & 63) < 62 else 0
        if operation == OPERATION_SHR:
            return one >> (other & 63)
        if operation == OPERATION_SAR:
            if bits == 32 and one & _LOW_SIGN:
                one = one | (_MASK - _LOW)
            if one & _SIGN:
                return ((one - _MASK - 1) >> (other & 63)) & _MASK
            return one >> (other & 63)
        if operation == OPERATION_IMUL:
            return ((one & 0x7FFFFFFF) * (other & 0x7FFFFFFF)) & _MASK
        if operation == OPERATION_NOT:
            return ~one & _MASK
        return -one & _MASK

    cdef long long _narrow(self, long long value, int bits, int sign) noexcept nogil:
        cdef long long one
        one = 1  # as wide as addresses
        if bits >= 64:
            return value
        value = value & ((one << bits) - 1)
        if sign and value >> (bits - 1) & 1:
            value = value | (_MASK ^ ((one << bits) - 1))
        return value

    cdef void _set(self, int target, int bits, bint high, long long value) noexcept nogil:
        cdef long long one, mask
        if not 0 <= target < _REGISTERS:
            return
        if bits == 64:
            self.register[target] = value
        elif bits == 32:
            self.register[target] = value & _LOW
        else:
            one = 1
            shift = 8 if high else 0
            mask = ((one << bits) - 1) << shift
            self.register[target] = (self.register[target] & ~mask) | ((value << shift) & mask)

    cdef long long _unknown(self) noexcept nogil:
        """A number far from all others; the sequence is the same in every run."""
        self._seed = (self._seed * _MULTIPLIER + _INCREMENT) & _SEED_MASK
        return (self._seed >> 9 << 3) | _AREA_DISTANCE << 3

    cdef long long _read(self, long long address, int bits) noexcept nogil:
        cdef long long one, word, value
        cdef int shift
        one = 1
        shift = address & 7
        word = address >> 3
        value = self._word(word) >> (8 * shift)
        if shift and 8 * shift + bits > 64:
            value = value | (self._word(word + 1) << (64 - 8 * shift)) & _MASK
        return value & _MASK if bits >= 62 else value & ((one << bits) - 1)

    cdef void _write(self, long long address, int bits, long long value) noexcept nogil:
        cdef long long one, byte, before, mask, part
        cdef int place
        if bits > 64:
            for offset in range(0, bits // 8, 8):
                self._put((address + offset) >> 3, value)
            return
        if address & 7 == 0 and bits >= 62:
            self._put(address >> 3, value)
            return
        one = 1
        done = 0
        while done < bits:
            byte = (address + done // 8) & _MASK
            place = 8 * (byte & 7)
            before = self._word(byte >> 3)
            room = min(8, 62 - place)
            mask = ((one << room) - 1) << place
            part = (value >> done) & ((one << room) - 1)
            self._put(byte >> 3, (before & ~mask) | (part << place))
            done += 8

    cdef void _forget(self) noexcept nogil:
        """Forget all words."""
        self._emulation += 1
        self._count = 0

    cdef int _slot(self, long long word) noexcept nogil:
        """The slot of a word, or the slot where it would be stored."""
        cdef int slot
        mask = self._size - 1
        slot = (word ^ word >> 9 ^ word >> 20) & mask
        while self._written[slot] == self._emulation and self._keys[slot] != word:
            slot = (slot + 1) & mask
        return slot

    cdef long long _word(self, long long number) noexcept nogil:
        cdef long long word
        word = number & self._word_mask
        slot = self._slot(word)
        if self._written[slot] == self._emulation:
            return self._words[slot]
        if self._same:
            return _PATTERN
        # A value of its own, always the same for the same word.
        return (((word & 0x3FFFFFFF) * _MULTIPLIER + (word >> 30)) & _SEED_MASK) << 3 | _AREA_DISTANCE << 4

    cdef void _put(self, long long number, long long value) noexcept nogil:
        cdef long long word
        word = number & self._word_mask
        slot = self._slot(word)
        if self._written[slot] != self._emulation:
            if 2 * self._count >= self._size:
                # An access pattern that covers so much memory does not return soon.
                self._forget()
                slot = self._slot(word)
            self._written[slot] = self._emulation
            self._keys[slot] = word
            self._count += 1
        self._words[slot] = value & _MASK
