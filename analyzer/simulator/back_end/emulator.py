"""Numeric addresses: follows registers and memory far enough to know which accesses overlap.

Numbers are kept modulo 2 to the 62, so that compiled and plain Python agree without overflow.
"""

from __future__ import annotations

from cyclelens.analyzer.model.choices import MeasuredIn, Pointers
from cyclelens.analyzer.simulator.tables.arrays import Long, ints, longs
from cyclelens.analyzer.simulator.tables.columns import Columns
from cyclelens.analyzer.simulator.tables.operations import Operations

_MASK = (1 << 62) - 1
_SIGN = 1 << 61
_LOW = 0xFFFFFFFF
_LOW_SIGN = 0x80000000
"""Sign bit of 32-bit values."""
_REGISTERS = 16
_PATTERN = 0x2324000
"""Value of every register and word if all registers point to the same memory."""
_CODE = 0x1000000000
_APART = 1 << 44
"""Distance between the memory areas of registers that point to different ones."""
_WORDS = 1 << 12
_PAGE_WORDS = 512
_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 11
_SEED_MASK = (1 << 48) - 1
(_NOTHING, _COPY, _CONSTANT, _ADDRESS, _OPERATE, _LOAD, _STORE, _IN_MEMORY, _ANY, _ANY_WORD) = range(10)
(_ADD, _SUB, _AND, _OR, _XOR, _SHL, _SHR, _SAR, _IMUL, _NOT, _NEG) = range(11)


class Emulator:
    """Sixteen registers, and the words that stores have changed."""

    def __init__(
        self, columns: Columns, operations: Operations, pointers: Pointers, harness: MeasuredIn
    ) -> None:
        self._columns = columns
        self._program = columns.program
        self._operations = operations
        self._same = pointers is not Pointers.DIFFERENT
        self._stack_apart = pointers is Pointers.STACK
        self._word_mask: Long = _PAGE_WORDS - 1 if harness is MeasuredIn.ONE_PAGE else _MASK
        """Maps a word number to its place in physical memory."""
        self.register = longs(_REGISTERS)
        self._keys = longs(_WORDS)
        self._words = longs(_WORDS)
        self._written = ints(_WORDS)
        """The emulation in which each slot was last written."""
        self._emulation = 0

    def follow(self) -> None:
        """Find the registers and words that the addresses of a block depend on, directly or through loads.
        Nothing else is tracked."""
        program = self._program
        operations = self._operations
        registers = 0
        for static in range(program.uops):
            if program.u_has_address[static]:
                registers |= self._bit(program.u_base[static]) | self._bit(program.u_index[static])
        words: bool = False
        before = -1
        while before != registers:
            before = registers
            for i in range(program.instructions):
                if self._bit(operations.m_pair_target[i]) & registers:
                    registers |= self._bit(operations.m_pair_source[i])
                if self._writes_word(operations.e_kind[i]):
                    if words:
                        registers |= self._bit(operations.e_source[i])
                elif self._bit(operations.e_target[i]) & registers:
                    registers |= self._bit(operations.e_source[i]) | self._bit(operations.e_index[i])
                    if operations.e_memory[i] >= 0 and not words:
                        words = True
                        before = -1
        operations.still = program.loop
        for i in range(program.instructions):
            written = self._bit(operations.e_target[i]) | self._bit(operations.m_pair_target[i])
            operations.e_followed[i] = written & registers != 0 or (
                words and self._writes_word(operations.e_kind[i])
            )
            for place in range(4 * i, 4 * i + 4):
                written |= self._bit(operations.e_unknown[place])
            if program.i_rsp_step[i]:
                written |= self._bit(program.rsp)
            if written & registers:
                operations.still = False

    def _bit(self, key: int) -> int:
        """A register as a set of one; empty for other keys."""
        return 1 << key if 0 <= key < _REGISTERS else 0

    def _writes_word(self, kind: int) -> bool:
        """Whether an effect of this kind writes memory: all kinds from stores on, except new registers."""
        return kind >= _STORE and kind != _ANY

    def start(self) -> None:
        """Reset: registers point where the policy says, and no word has been written."""
        for number in range(_REGISTERS):
            self.register[number] = _PATTERN if self._same else (number + 1) * _APART
        if self._stack_apart:
            self.register[self._program.rsp] = 2 * _APART
            self.register[self._program.rbp] = 3 * _APART
        self._seed: Long = 1
        self._size = len(self._keys)
        self._forget()
        self.load_address: Long = 0
        self.store_address: Long = 0

    def address(self, static: int, i: int, instance: int) -> Long:
        """First byte of the access of a uop of this instance of an instruction, with the current register
        values."""
        program = self._program
        base = program.u_base[static]
        index = program.u_index[static]
        address: Long = program.u_displacement[static] + program.u_stack_offset[static]
        if base == self._operations.instruction_pointer:
            address += self._after(i, instance)
        elif 0 <= base < _REGISTERS:
            address += self.register[base]
        if 0 <= index < _REGISTERS:
            address += self.register[index] * program.u_scale[static]
        return address & _MASK

    def _after(self, i: int, instance: int) -> Long:
        """Address of the next instruction."""
        return _CODE + self._columns.address_of(instance) + self._program.i_length[i]

    def execute(self, i: int, instance: int) -> None:
        """Apply the effect of an instruction. Its addresses must have been read before."""
        operations = self._operations
        kind = operations.e_kind[i]
        if operations.e_followed[i]:
            if operations.m_pair_source[i] >= 0:
                self._copy(operations.m_pair_source[i], operations.m_pair_target[i])
            if kind != _NOTHING:
                self._execute(i, instance, kind)
        elif kind == _ANY_WORD:
            # New values do not depend on what is tracked.
            self._any_word(i)
        if self._program.i_rsp_step[i]:
            self.register[self._program.rsp] = (
                self.register[self._program.rsp] + self._program.i_rsp_step[i]
            ) & _MASK
        place = 4 * i
        while place < 4 * i + 4 and operations.e_unknown[place] >= 0:
            self.register[operations.e_unknown[place]] = self._unknown()
            place += 1

    def _any_word(self, i: int) -> Long:
        """The value that a store writes if its data are not in a general-purpose register."""
        return _PATTERN if self._same and self._operations.e_operation[i] else self._unknown()

    def _copy(self, source: int, target: int) -> None:
        """Execute a move that was the first half of a pair. If the pair has 32 bits, its second half
        truncates the value."""
        if 0 <= source < _REGISTERS and 0 <= target < _REGISTERS:
            self.register[target] = self.register[source]

    def _execute(self, i: int, instance: int, kind: int) -> None:
        operations = self._operations
        source = operations.e_source[i]
        value: Long = operations.e_constant[i]
        if kind == _STORE:
            if source >= 0:
                value = self.register[source]
            self._write(self.store_address, operations.e_memory_bits[i], value)
            return
        if kind == _ANY_WORD:
            value = self._any_word(i)
            self._write(self.store_address, operations.e_memory_bits[i], value)
            return
        if kind == _IN_MEMORY:
            if source >= 0:
                value = self.register[source]
            old: Long = self._read(self.store_address, operations.e_memory_bits[i])
            value = self._operate(operations.e_operation[i], old, value, 64)
            self._write(self.store_address, operations.e_memory_bits[i], value)
            return
        if kind == _ANY:
            return
        if kind == _COPY:
            value = self.register[source]
            if operations.e_memory_bits[i] < 64:
                value = self._narrow(value, operations.e_memory_bits[i], operations.e_operation[i])
        elif kind == _LOAD:
            value = self._read(self.load_address, operations.e_memory_bits[i])
            value = self._narrow(value, operations.e_memory_bits[i], operations.e_operation[i])
        elif kind == _ADDRESS:
            if source >= 0:
                value += self.register[source]
            if operations.e_index[i] >= 0:
                value += self.register[operations.e_index[i]] * operations.e_scale[i]
            if operations.e_relative[i]:
                value += self._after(i, instance)
        elif kind == _OPERATE:
            if operations.e_memory[i] >= 0:
                value = self._read(self.load_address, operations.e_memory_bits[i])
            elif source >= 0:
                value = self.register[source]
            target: Long = self.register[operations.e_target[i]]
            value = self._operate(operations.e_operation[i], target, value, operations.e_target_bits[i])
        self._set(
            operations.e_target[i], operations.e_target_bits[i], operations.e_high[i] != 0, value & _MASK
        )

    def _operate(self, operation: int, one: Long, other: Long, bits: int) -> Long:
        if bits == 32:
            one = one & _LOW
        if operation == _ADD:
            return (one + other) & _MASK
        if operation == _SUB:
            return (one - other) & _MASK
        if operation == _AND:
            return one & other
        if operation == _OR:
            return one | other
        if operation == _XOR:
            return one ^ other
        if operation == _SHL:
            return (one << (other & 63)) & _MASK if (other & 63) < 62 else 0
        if operation == _SHR:
            return one >> (other & 63)
        if operation == _SAR:
            if bits == 32 and one & _LOW_SIGN:
                one = one | (_MASK - _LOW)
            if one & _SIGN:
                return ((one - _MASK - 1) >> (other & 63)) & _MASK
            return one >> (other & 63)
        if operation == _IMUL:
            return ((one & 0x7FFFFFFF) * (other & 0x7FFFFFFF)) & _MASK
        if operation == _NOT:
            return ~one & _MASK
        return -one & _MASK

    def _narrow(self, value: Long, bits: int, sign: int) -> Long:
        one: Long = 1  # as wide as addresses in the compiled form, like the other ones below
        if bits >= 64:
            return value
        value = value & ((one << bits) - 1)
        if sign and value >> (bits - 1) & 1:
            value = value | (_MASK ^ ((one << bits) - 1))
        return value

    def _set(self, target: int, bits: int, high: bool, value: Long) -> None:
        if not 0 <= target < _REGISTERS:
            return
        if bits == 64:
            self.register[target] = value
        elif bits == 32:
            self.register[target] = value & _LOW
        else:
            one: Long = 1
            shift = 8 if high else 0
            mask: Long = ((one << bits) - 1) << shift
            self.register[target] = (self.register[target] & ~mask) | ((value << shift) & mask)

    def _unknown(self) -> Long:
        """A number far from all others; the sequence is the same in every run."""
        self._seed = (self._seed * _MULTIPLIER + _INCREMENT) & _SEED_MASK
        return (self._seed >> 9 << 3) | _APART << 3

    # -- memory, by words of eight bytes -------------------------------------------------------------------

    def _read(self, address: Long, bits: int) -> Long:
        one: Long = 1
        shift: int = address & 7
        word: Long = address >> 3
        value: Long = self._word(word) >> (8 * shift)
        if shift and 8 * shift + bits > 64:
            value = value | (self._word(word + 1) << (64 - 8 * shift)) & _MASK
        return value & _MASK if bits >= 62 else value & ((one << bits) - 1)

    def _write(self, address: Long, bits: int, value: Long) -> None:
        if bits > 64:
            for offset in range(0, bits // 8, 8):
                self._put((address + offset) >> 3, value)
            return
        if address & 7 == 0 and bits >= 62:
            self._put(address >> 3, value)
            return
        one: Long = 1
        done = 0
        while done < bits:
            byte: Long = (address + done // 8) & _MASK
            place: int = 8 * (byte & 7)
            if place < 62:
                before: Long = self._word(byte >> 3)
                room = min(8, 62 - place)
                mask: Long = ((one << room) - 1) << place
                part: Long = (value >> done) & ((one << room) - 1)
                self._put(byte >> 3, (before & ~mask) | (part << place))
            done += 8

    def _forget(self) -> None:
        """Forget all words."""
        self._emulation += 1
        self._count = 0

    def _slot(self, word: Long) -> int:
        """The slot of a word, or the slot where it would be stored."""
        mask = self._size - 1
        slot: int = (word ^ word >> 9 ^ word >> 20) & mask
        while self._written[slot] == self._emulation and self._keys[slot] != word:
            slot = (slot + 1) & mask
        return slot

    def _word(self, number: Long) -> Long:
        word: Long = number & self._word_mask
        slot = self._slot(word)
        if self._written[slot] == self._emulation:
            return self._words[slot]
        if self._same:
            return _PATTERN
        # A value of its own, always the same for the same word.
        return (((word & 0x3FFFFFFF) * _MULTIPLIER + (word >> 30)) & _SEED_MASK) << 3 | _APART << 4

    def _put(self, number: Long, value: Long) -> None:
        word: Long = number & self._word_mask
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
