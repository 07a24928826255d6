"""Typed columns: arrays that compiled stages index at C speed and plain Python indexes as well."""

from __future__ import annotations

from array import array


def ints(size: int, fill: int = 0) -> array[int]:
    """A column of 32-bit integers."""
    return array("i", [fill]) * size


def longs(size: int) -> array[int]:
    """A column of 64-bit integers, all 0."""
    return array("q", [0]) * size


def grown(column: array[int], size: int) -> array[int]:
    """A longer copy of a column; its new part is 0."""
    view = memoryview(column)
    longer = array(view.format, [0]) * size
    memoryview(longer)[: len(view)] = view
    return longer


class PairQueue:
    """A first-in first-out queue of pairs of integers: a ring that doubles when it is full."""

    def __init__(self, capacity: int) -> None:
        size = 16
        while size < capacity:
            size *= 2
        self._firsts = ints(size)
        self._seconds = ints(size)
        self._mask = size - 1
        self._head = 0
        self.count = 0

    def push(self, first: int, second: int) -> None:
        """Append a pair."""
        if self.count > self._mask:
            self._grow()
        position = (self._head + self.count) & self._mask
        self._firsts[position] = first
        self._seconds[position] = second
        self.count += 1

    def pop(self) -> None:
        """Drop the oldest pair; the queue must not be empty."""
        self._head = (self._head + 1) & self._mask
        self.count -= 1

    def first(self, position: int) -> int:
        """The first integer of the pair at this place behind the oldest."""
        return self._firsts[(self._head + position) & self._mask]

    def second(self, position: int) -> int:
        """The second integer of the pair at this place behind the oldest."""
        return self._seconds[(self._head + position) & self._mask]

    def clear(self) -> None:
        """Drop everything."""
        self._head = 0
        self.count = 0

    def _grow(self) -> None:
        size = self._mask + 1
        firsts, seconds = ints(2 * size), ints(2 * size)
        for position in range(self.count):
            firsts[position] = self.first(position)
            seconds[position] = self.second(position)
        self._firsts, self._seconds = firsts, seconds
        self._mask = 2 * size - 1
        self._head = 0


class SequenceHeap:
    """A priority queue of sequence numbers: the smallest is the oldest uop."""

    def __init__(self, capacity: int) -> None:
        self._items = ints(capacity)
        self.count = 0

    def push(self, item: int) -> None:
        """Insert a sequence number."""
        if self.count == len(self._items):
            self._items = grown(self._items, 2 * self.count)
        items = self._items
        place = self.count
        self.count += 1
        while place > 0:
            parent = (place - 1) >> 1
            if items[parent] <= item:
                break
            items[place] = items[parent]
            place = parent
        items[place] = item

    def oldest(self) -> int:
        """The smallest sequence number; the queue must not be empty."""
        return self._items[0]

    def pop(self) -> int:
        """Remove and return the smallest sequence number; the queue must not be empty."""
        items = self._items
        top = items[0]
        self.count -= 1
        item = items[self.count]
        place = 0
        while True:
            child = 2 * place + 1
            if child >= self.count:
                break
            if child + 1 < self.count and items[child + 1] < items[child]:
                child += 1
            if items[child] >= item:
                break
            items[place] = items[child]
            place = child
        items[place] = item
        return top
