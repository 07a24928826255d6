# Made by dev/declarations.py; do not edit.
cimport cython

cdef int _READY
cdef int _SPECIAL


@cython.final
cdef class PairQueue:
    cdef public int mask
    cdef public int head
    cdef public int count
    cdef public int[::1] firsts
    cdef public int[::1] seconds
    cdef int start(self, int capacity) except -1
    cdef void _cut(self, int[::1] table, int size) noexcept
    cdef inline void push(self, int first, int second) noexcept:
        position = self.head + self.count & self.mask
        self.firsts[position] = first
        self.seconds[position] = second
        self.count += 1
    cdef inline void append(self, PairQueue other) noexcept:
        place = self.head + self.count
        mask = self.mask
        for index in range(other.head, other.head + other.count):
            self.firsts[place & mask] = other.firsts[index & other.mask]
            self.seconds[place & mask] = other.seconds[index & other.mask]
            place += 1
        self.count += other.count
    cdef inline void pop(self) noexcept:
        self.head = self.head + 1 & self.mask
        self.count -= 1
    cdef inline void drop(self, int pairs) noexcept:
        self.head = self.head + pairs & self.mask
        self.count -= pairs
    cdef inline void clear(self) noexcept:
        self.head = 0
        self.count = 0


@cython.final
cdef class SequenceQueues:
    cdef int _capacity
    cdef int[::1] _items
    cdef int[::1] _firsts
    cdef public int[::1] counts
    cdef int start(self, int capacity) except -1
    cdef inline void push(self, int queue, int item) noexcept:
        if self.counts[queue] > 0:
            self._insert(queue, item)
            return
        self.counts[queue] = 1
        self._firsts[queue] = 2 * queue * self._capacity
        self._items[self._firsts[queue]] = item
    cdef void _insert(self, int queue, int item) noexcept
    cdef inline int oldest(self, int queue) noexcept:
        return self._items[self._firsts[queue]]
    cdef inline int pop(self, int queue) noexcept:
        first = self._firsts[queue]
        self._firsts[queue] = first + 1
        self.counts[queue] -= 1
        return self._items[first]


@cython.final
cdef class Record:
    cdef public long long[::1] items
    cdef int _room
    cdef public int count
    cdef public bint differs
    cdef Record _other
    cdef public int cycle
    cdef public int round
    cdef public int instance
    cdef public int uop
    cdef inline void start(self, int cycle, int round_number, int instance, int uop) noexcept:
        self.count = 0
        self.differs = False
        self.cycle = cycle
        self.round = round_number
        self.instance = instance
        self.uop = uop
    cdef inline int add(self, long long item) except -1:
        if self.count < self._room:
            self.items[self.count] = item
            self.count += 1
        elif self._other is not None:
            self._compare(item)
        else:
            self._lengthen(item)
    cdef int _lengthen(self, long long item) except -1
    cdef void _compare(self, long long item) noexcept
    cdef inline int add_time(self, long long cycle, int oldest) except -1:
        self.add(self.time(cycle, oldest))
    cdef inline long long time(self, long long cycle, int oldest) noexcept:
        if cycle < 0:
            return cycle - 1073741824
        return cycle - self.cycle if cycle - self.cycle > -oldest else -oldest
    cdef inline void compare_with(self, Record other) noexcept:
        self._other = other
        self._room = 0
    cdef inline bint equals_other(self) noexcept:
        return not self.differs and self._other is not None and (self.count == self._other.count)
