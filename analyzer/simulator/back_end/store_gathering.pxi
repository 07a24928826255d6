# Stores are gathered by chunks on their way to the cache (M28).

cdef enum:
    _MOST_CHUNKS = 16  # Chunks in the queue, and chunks on their way to the cache that are remembered.
    _RECENT_STORES = 4
    _READ = 2  # Of these recent stores, so many were read: then stores leave singly.


cdef struct GatheredChunk:
    long long number  # Address over the size of a chunk.
    int partial  # A store wrote a part of a group of bytes.
    int merged  # The first of these stores.
    int groups  # Mask of the groups written.
    int store  # The store that began it.
    int sent  # Cycle in which it went to the cache, counted by the rule.


@cython.final
cdef class GatheredStores(TwoStores):
    """Stores leave the store queue two per cycle for a short queue of chunks, whose youngest takes further
    stores; one chunk per cycle goes to the cache. A chunk that was written in part waits if the same place is
    on its way."""

    cdef int _chunk_bytes
    cdef int _chunks
    cdef int _in_flight
    cdef int _restart
    cdef GatheredChunk _queue[_MOST_CHUNKS]
    cdef GatheredChunk _sent[_MOST_CHUNKS]  # A ring, with the latest one at ``_latest``.
    cdef int _head
    cdef int _count
    cdef int _latest
    cdef bint _held  # Whether the oldest chunk has to wait for others on their way.
    cdef int _time  # Cycles since the start.

    def __init__(self, Tables tables, microarchitecture, InFlight in_flight):
        super().__init__(tables, microarchitecture, in_flight)
        rules = microarchitecture.macro_ops
        assert rules is not None
        if rules.store_gathering is None:
            raise ValueError(f"{microarchitecture.name} gathers stores, but has no rules for it")
        self._chunk_bytes = rules.store_chunk_bytes or CODE_LINE
        self._chunks = rules.store_gathering.chunks
        self._in_flight = rules.store_gathering.in_flight
        self._restart = rules.store_gathering.restart
        if self._chunks > _MOST_CHUNKS:
            raise ValueError(f"stores are gathered in {self._chunks} chunks; at most {_MOST_CHUNKS} fit")

    cdef void start(self) noexcept nogil:
        """Reset: no store has left."""
        TwoStores.start(self)
        self._head = self._count = self._latest = 0
        self._time = 0
        self._held = False
        for place in range(_MOST_CHUNKS):
            self._sent[place].sent = -LONG_AGO

    cdef void next_cycle(self) noexcept nogil:
        """A cycle begins: the oldest chunk goes to the cache, unless it has to wait."""
        TwoStores.next_cycle(self)
        self._send()

    cdef void _send(self) noexcept nogil:
        self._time += 1
        if self._count == 0 or self._busy:
            return
        if not self._held and self._queue[self._head].partial and self._is_on_its_way():
            self._held = True
            self.tables.uop[self.tables.store[self._queue[self._head].merged].uop].collided = 1
        if self._held and self._time < self._sent[self._latest].sent + self._restart:
            return
        self._held = False
        self._latest = (self._latest + 1) % _MOST_CHUNKS
        self._sent[self._latest] = self._queue[self._head]
        self._sent[self._latest].sent = self._time
        self._head = (self._head + 1) % _MOST_CHUNKS
        self._count -= 1

    cdef bint _is_on_its_way(self) noexcept nogil:
        """Whether bytes of the oldest chunk were sent to the cache a short time ago."""
        cdef GatheredChunk *oldest = &self._queue[self._head]
        for place in range(_MOST_CHUNKS):
            if (
                self._sent[place].sent > self._time - self._in_flight
                and self._sent[place].number == oldest.number
                and self._sent[place].groups & oldest.groups
            ):
                return True
        return False

    cdef void pass_by(self, int cycles) noexcept nogil:
        """Skip this many cycles, in which no store could leave."""
        for _ in range(min(cycles, _MOST_CHUNKS * (self._restart + 1) + self._busy)):
            self._busy = max(0, self._busy - 1)
            self._send()
            cycles -= 1
        self._time += cycles
        self._busy = max(0, self._busy - cycles)

    cdef bint may_leave(self, int store) noexcept nogil:
        """Whether the next store in program order leaves in this cycle; if so, it counts as gone."""
        cdef long long first, last, number, address
        cdef int needed
        if self._left == 0 or (self._left < self._width and self._was_read(store)):
            return False
        address = self.tables.store[store].base
        end = self.tables.store[store].bytes - 1
        first, last = address // self._chunk_bytes, (address + end) // self._chunk_bytes
        needed = not self._joins(first)
        needed += <int>(last - first)
        if self._count + needed > self._chunks:
            return False
        start = address % self._chunk_bytes
        end += start
        self._gather(store, first, start, min(end, self._chunk_bytes - 1))
        self._left -= 1
        for number in range(first + 1, last + 1):
            last_byte = end % self._chunk_bytes if number == last else self._chunk_bytes - 1
            self._gather(store, number, 0, last_byte)
            self._left = 0
        if self.flight.s_crosses[store & self.flight.store_mask] > 1:
            self._left = 0
            self._busy = self._page_crossing - 1
        return True

    cdef bint _joins(self, long long number) noexcept nogil:
        """Whether the youngest chunk of the queue is this one."""
        return self._count > 0 and self._queue[(self._head + self._count - 1) % _MOST_CHUNKS].number == number

    cdef void _gather(self, int store, long long number, int start, int end) noexcept nogil:
        """Put bytes of a chunk into the queue, from the offset ``start`` up to ``end``."""
        cdef GatheredChunk *chunk
        if not self._joins(number):
            self._count += 1
            chunk = &self._queue[(self._head + self._count - 1) % _MOST_CHUNKS]
            chunk.number = number
            chunk.partial = chunk.groups = 0
            chunk.store = store
        chunk = &self._queue[(self._head + self._count - 1) % _MOST_CHUNKS]
        if not chunk.partial and (start % MERGED != 0 or (end + 1) % MERGED != 0):
            chunk.partial = 1
            chunk.merged = store
        for group in range(start // MERGED, end // MERGED + 1):
            chunk.groups |= 1 << group

    cdef bint _was_read(self, int store) noexcept nogil:
        """Whether loads read many of the latest stores before they left."""
        read = 0
        for earlier in range(max(0, store - _RECENT_STORES + 1), store + 1):
            read += self.flight.s_read[earlier & self.flight.store_mask]
        return read >= _READ

    cdef int record(self, Record state) except -1 nogil:
        """Record this part of the pipeline's state."""
        TwoStores.record(self, state)
        state.add(2 * self._count + self._held)
        for place in range(self._count):
            self._record_chunk(state, &self._queue[(self._head + place) % _MOST_CHUNKS])
        for place in range(_MOST_CHUNKS):
            chunk = (self._latest - place) & (_MOST_CHUNKS - 1)
            age = self._time - self._sent[chunk].sent
            if age >= max(self._in_flight, self._restart):
                break
            state.add(age)
            self._record_chunk(state, &self._sent[chunk])
        for store in range(max(0, self.flight.oldest_store - _RECENT_STORES), self.tables.stores):
            state.add(self.flight.s_read[store & self.flight.store_mask])

    cdef int _record_chunk(self, Record state, GatheredChunk *chunk) except -1 nogil:
        state.add(self.tables.stores - chunk.store)
        state.add(2 * <long long> chunk.groups + chunk.partial)
