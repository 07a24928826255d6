# Arrays of integers, and queues in them.

cdef enum:
    _SPECIAL = 1 << 30  # Outside the range of all time differences.


cdef int[::1] ints(int size):
    """An array of 32-bit integers, all 0."""
    return array("i", bytes(sizeof(int) * size))


cdef long long[::1] longs(int size):
    """An array of 64-bit integers, all 0."""
    return array("q", bytes(sizeof(long long) * size))


cdef int[::1] minus_ones(int size):
    """An array of 32-bit integers, all -1."""
    cdef int[::1] made = ints(size)
    for position in range(size):
        made[position] = -1
    return made


cdef int[::1] column(list numbers):
    """An array of these numbers."""
    cdef int[::1] made = ints(len(numbers))
    for position in range(len(numbers)):
        made[position] = numbers[position]
    return made


cdef int[::1] longer(int[::1] old, int size):
    """A longer copy of an array; the new elements are 0."""
    cdef int[::1] made = ints(size)
    made[: old.shape[0]] = old
    return made


cdef long long[::1] longer_longs(long long[::1] old, int size):
    """The same for 64-bit integers."""
    cdef long long[::1] made = longs(size)
    made[: old.shape[0]] = old
    return made


cdef void *enlarged(void *rows, size_t size, size_t larger) except NULL nogil:
    """The rows, ``size`` bytes, with room for ``larger`` bytes; the new ones are 0. Raises MemoryError."""
    rows = realloc(rows, larger)
    if rows == NULL:
        with gil:
            raise MemoryError
    memset(<char *> rows + size, 0, larger - size)
    return rows


cdef void *with_room(void *rows, int *room, int count, size_t row) except? NULL nogil:
    """The rows, ``room`` of ``row`` bytes each, with room for ``count``."""
    if count > room[0]:
        size = room[0] * row
        room[0] = 64 + 2 * count
        return enlarged(rows, size, room[0] * row)
    return rows


@cython.final
cdef class PairQueue:
    """A FIFO queue of pairs of integers in a ring of fixed capacity.

    Pair number ``place``, counted from the oldest at ``head``, is at index ``(head + place) & mask``. The
    caller of ``start`` knows how full the queue can get.
    """

    cdef int mask
    cdef int head
    cdef int count
    cdef int[::1] firsts
    cdef int[::1] seconds

    def __init__(self):
        self.mask = -1
        self.head = 0
        self.count = 0

    cdef int start(self, int capacity) except -1:
        """Reset to empty, with room for at least this many pairs."""
        self.clear()
        if capacity > self.mask + 1:
            size = 16
            while size < capacity:
                size *= 2
            self.mask = size - 1
            self._cut(ints(2 * size), size)

    cdef void _cut(self, int[::1] table, int size) noexcept nogil:
        self.firsts = table[:size]
        self.seconds = table[size:]

    cdef void push(self, int first, int second) noexcept nogil:
        """Append a pair."""
        position = (self.head + self.count) & self.mask
        self.firsts[position] = first
        self.seconds[position] = second
        self.count += 1

    cdef void append(self, PairQueue other) noexcept nogil:
        """Append all pairs of another queue, which keeps them."""
        place = self.head + self.count
        mask = self.mask
        for index in range(other.head, other.head + other.count):
            self.firsts[place & mask] = other.firsts[index & other.mask]
            self.seconds[place & mask] = other.seconds[index & other.mask]
            place += 1
        self.count += other.count

    cdef int oldest(self) noexcept nogil:
        """The first number of the oldest pair; the queue must not be empty."""
        return self.firsts[self.head]

    cdef void pop(self) noexcept nogil:
        """Remove the oldest pair; the queue must not be empty."""
        self.head = (self.head + 1) & self.mask
        self.count -= 1

    cdef void drop(self, int pairs) noexcept nogil:
        """Remove this many of the oldest pairs."""
        self.head = (self.head + pairs) & self.mask
        self.count -= pairs

    cdef void clear(self) noexcept nogil:
        """Remove all pairs; the next pair is at index 0."""
        self.head = 0
        self.count = 0


@cython.final
cdef class SequenceQueues:
    """Queues of sequence numbers, each with the smallest first: the oldest uop. Numbers arrive nearly in
    order, so insertion searches from the end."""

    cdef int _capacity
    cdef int[::1] _items  # Items of all queues; each queue has room for twice its maximum.
    cdef int[::1] _firsts  # Index of the first item of each queue.
    cdef int[::1] counts

    def __init__(self, queues):
        self._capacity = 0
        self._items = ints(0)
        self._firsts = ints(queues)
        self.counts = ints(queues)

    cdef int start(self, int capacity) except -1:
        """Reset to empty, with room for at least this many numbers in every queue."""
        for queue in range(len(self.counts)):
            self.counts[queue] = 0
        if capacity > self._capacity:
            self._capacity = capacity
            self._items = ints(2 * capacity * len(self.counts))

    cdef void push(self, int queue, int item) noexcept nogil:
        """Insert a sequence number."""
        if self.counts[queue] > 0:
            self._insert(queue, item)
            return
        self.counts[queue] = 1
        self._firsts[queue] = 2 * queue * self._capacity
        self._items[self._firsts[queue]] = item

    cdef void _insert(self, int queue, int item) noexcept nogil:
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

    cdef int oldest(self, int queue) noexcept nogil:
        """The smallest sequence number of a queue that is not empty."""
        return self._items[self._firsts[queue]]

    cdef int item(self, int queue, int place) noexcept nogil:
        """The sequence number at this place of a queue, 0 for the smallest."""
        return self._items[self._firsts[queue] + place]

    cdef int pop(self, int queue) noexcept nogil:
        """Remove and return the smallest sequence number of a queue that is not empty."""
        first = self._firsts[queue]
        self._firsts[queue] = first + 1
        self.counts[queue] -= 1
        return self._items[first]


@cython.final
cdef class Record:
    """A list of integers that describes a state; two states are the same if their records are equal.

    A record that is compared with another one only notes whether it differs; the caller may then stop
    filling it.
    """

    cdef long long[::1] items
    cdef int _room  # Items that can be added without a check; 0 for a record that compares.
    cdef int count
    cdef bint differs
    cdef Record _other
    cdef int cycle
    cdef int round
    cdef int instance
    cdef int uop

    def __init__(self):
        self.items = longs(512)
        self._room = 512
        self.count = 0
        self.differs = False
        self._other = None
        # Everything in the record is relative to these, so that equal states at different times agree.
        self.cycle = 0
        self.round = 0
        self.instance = 0
        self.uop = 0

    cdef void start(self, int cycle, int round_number, int instance, int uop) noexcept nogil:
        """Begin a new state; times, rounds, instances and uops are relative to the arguments."""
        self.count = 0
        self.differs = False
        self.cycle = cycle
        self.round = round_number
        self.instance = instance
        self.uop = uop

    cdef int add(self, long long item) except -1 nogil:
        """Append an integer."""
        if self.count < self._room:
            self.items[self.count] = item
            self.count += 1
        elif self._other is not None:
            self._compare(item)
        else:
            self._lengthen(item)

    cdef int _lengthen(self, long long item) except -1 nogil:
        self._room = 2 * self.count
        with gil:
            self.items = longer_longs(self.items, self._room)
        self.add(item)

    cdef void _compare(self, long long item) noexcept nogil:
        if (
            self._other is not None
            and self.count < self._other.count
            and self._other.items[self.count] == item
        ):
            self.count += 1
        else:
            self.differs = True

    cdef int add_time(self, long long cycle, int oldest) except -1 nogil:
        """Append a cycle as encoded by ``time``."""
        self.add(self.time(cycle, oldest))

    cdef long long time(self, long long cycle, int oldest) noexcept nogil:
        """A cycle relative to the present. Negative ones stand for themselves. Cycles more than ``oldest``
        before the present count as that old (``oldest`` may be negative: the future)."""
        if cycle < 0:
            return cycle - _SPECIAL
        return cycle - self.cycle if cycle - self.cycle > -oldest else -oldest

    cdef void compare_with(self, Record other) noexcept:
        """Compare all items added from now on with a finished record."""
        self._other = other
        self._room = 0

    cdef bint equals_other(self) noexcept nogil:
        """Whether the state equals that of the other record."""
        return not self.differs and self._other is not None and self.count == self._other.count
