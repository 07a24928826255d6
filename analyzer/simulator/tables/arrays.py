"""Typed columns: arrays that compiled stages index at C speed and that plain Python can index too."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

Column: TypeAlias = memoryview
"""32-bit integers by index: an array, a slice of one, or in the compiled form a typed view of either."""
Strided: TypeAlias = memoryview
"""A column of a table that is stored row by row: the next number belongs to the next column."""
LongColumn: TypeAlias = memoryview
"""A ``Column`` of 64-bit integers."""
Long: TypeAlias = int
"""An integer that needs 64 bits."""

# Slicing a ready-made array is several times faster than creating one.
_READY = 1 << 14
_ZEROS = array("i", [0]) * _READY
_ONES = array("i", [-1]) * _READY
_LONG_ZEROS = array("q", [0]) * (_READY >> 2)

_SPECIAL = 1 << 30
"""Outside the range of all time differences."""


def ints(size: int) -> Column:
    """A column of 32-bit integers, all 0."""
    return _ZEROS[:size] if size <= _READY else array("i", [0]) * size  # type: ignore[return-value]


def minus_ones(size: int) -> Column:
    """A column of 32-bit integers, all -1."""
    return _ONES[:size] if size <= _READY else array("i", [-1]) * size  # type: ignore[return-value]


def longs(size: int) -> LongColumn:
    """A column of 64-bit integers, all 0."""
    return _LONG_ZEROS[:size] if size <= _READY >> 2 else array("q", [0]) * size  # type: ignore[return-value]


def grown(column: Column, size: int) -> Column:
    """A longer copy of a column; the new rows are 0."""
    view = memoryview(column)
    longer = array(view.format, [0]) * size
    memoryview(longer)[: len(view)] = view
    return longer  # type: ignore[return-value]


class PairQueue:
    """A FIFO queue of pairs of integers in a ring of fixed capacity.

    Pair number ``place``, counted from the oldest at ``head``, is at index ``(head + place) & mask``. The
    caller of ``start`` knows how full the queue can get.
    """

    def __init__(self) -> None:
        self.mask = -1
        self.head = 0
        self.count = 0

    def start(self, capacity: int) -> None:
        """Reset to empty, with room for at least this many pairs."""
        self.clear()
        if capacity > self.mask + 1:
            size = 16
            while size < capacity:
                size *= 2
            self.mask = size - 1
            self._cut(memoryview(ints(2 * size)), size)

    def _cut(self, table: Column, size: int) -> None:
        self.firsts = table[:size]
        self.seconds = table[size:]

    def push(self, first: int, second: int) -> None:
        """Append a pair."""
        position = (self.head + self.count) & self.mask
        self.firsts[position] = first
        self.seconds[position] = second
        self.count += 1

    def append(self, other: PairQueue) -> None:
        """Append all pairs of another queue, which keeps them."""
        place = self.head + self.count
        mask = self.mask
        for index in range(other.head, other.head + other.count):
            self.firsts[place & mask] = other.firsts[index & other.mask]
            self.seconds[place & mask] = other.seconds[index & other.mask]
            place += 1
        self.count += other.count

    def pop(self) -> None:
        """Remove the oldest pair; the queue must not be empty."""
        self.head = (self.head + 1) & self.mask
        self.count -= 1

    def drop(self, pairs: int) -> None:
        """Remove this many of the oldest pairs."""
        self.head = (self.head + pairs) & self.mask
        self.count -= pairs

    def clear(self) -> None:
        """Remove all pairs; the next pair is at index 0."""
        self.head = 0
        self.count = 0


class SequenceQueues:
    """Queues of sequence numbers, each with the smallest first: the oldest uop. Numbers arrive nearly in
    order, so insertion searches from the end."""

    def __init__(self, queues: int) -> None:
        self._capacity = 0
        self._items = ints(0)
        """Items of all queues; each queue has room for twice its maximum."""
        self._firsts = ints(queues)
        """Index of the first item of each queue."""
        self.counts = ints(queues)

    def start(self, capacity: int) -> None:
        """Reset to empty, with room for at least this many numbers in every queue."""
        for queue in range(len(self.counts)):
            self.counts[queue] = 0
        if capacity > self._capacity:
            self._capacity = capacity
            self._items = ints(2 * capacity * len(self.counts))

    def push(self, queue: int, item: int) -> None:
        """Insert a sequence number."""
        if self.counts[queue] > 0:
            self._insert(queue, item)
            return
        self.counts[queue] = 1
        self._firsts[queue] = 2 * queue * self._capacity
        self._items[self._firsts[queue]] = item

    def _insert(self, queue: int, item: int) -> None:
        """Insert a number into a queue that is not empty."""
        first = self._firsts[queue]
        end = first + self.counts[queue]
        if end == 2 * (queue + 1) * self._capacity:
            end = self._firsts[queue] = 2 * queue * self._capacity
            for place in range(first, first + self.counts[queue]):
                self._items[end] = self._items[place]
                end += 1
            first = self._firsts[queue]
        while end > first and self._items[end - 1] > item:
            self._items[end] = self._items[end - 1]
            end -= 1
        self._items[end] = item
        self.counts[queue] += 1

    def oldest(self, queue: int) -> int:
        """The smallest sequence number of a queue that is not empty."""
        return self._items[self._firsts[queue]]

    def pop(self, queue: int) -> int:
        """Remove and return the smallest sequence number of a queue that is not empty."""
        first = self._firsts[queue]
        self._firsts[queue] = first + 1
        self.counts[queue] -= 1
        return self._items[first]


class Record:
    """A list of integers that describes a state; two states are the same if their records are equal.

    A record that is compared with another one only notes whether it differs; the caller may then stop
    filling it.
    """

    def __init__(self) -> None:
        self.items = longs(512)
        self._room = 512
        """Items that can be added without a check; 0 for a record that compares."""
        self.count = 0
        self.differs = False
        self._other: Record | None = None
        # Everything in the record is relative to these, so that equal states at different times agree.
        self.cycle = 0
        self.round = 0
        self.instance = 0
        self.uop = 0

    def start(self, cycle: int, round_number: int, instance: int, uop: int) -> None:
        """Begin a new state; times, rounds, instances and uops are relative to the arguments."""
        self.count = 0
        self.differs = False
        self.cycle = cycle
        self.round = round_number
        self.instance = instance
        self.uop = uop

    def add(self, item: Long) -> None:
        """Append an integer."""
        if self.count < self._room:
            self.items[self.count] = item
            self.count += 1
        elif self._other is not None:
            self._compare(item)
        else:
            self._lengthen(item)

    def _lengthen(self, item: Long) -> None:
        self._room = 2 * self.count
        self.items = grown(self.items, self._room)
        self.add(item)

    def _compare(self, item: Long) -> None:
        other = self._other
        if other is not None and self.count < other.count and other.items[self.count] == item:
            self.count += 1
        else:
            self.differs = True

    def add_time(self, cycle: Long, oldest: int) -> None:
        """Append a cycle as encoded by ``time``."""
        self.add(self.time(cycle, oldest))

    def time(self, cycle: Long, oldest: int) -> Long:
        """A cycle relative to the present. Negative ones stand for themselves. Cycles more than ``oldest``
        before the present count as that old (``oldest`` may be negative: the future)."""
        if cycle < 0:
            return cycle - _SPECIAL
        return cycle - self.cycle if cycle - self.cycle > -oldest else -oldest

    def compare_with(self, other: Record) -> None:
        """Compare all items added from now on with a finished record."""
        self._other = other
        self._room = 0

    def equals_other(self) -> bool:
        """Whether the state equals that of the other record."""
        return not self.differs and self._other is not None and self.count == self._other.count
