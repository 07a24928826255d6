"""The queues between the stages; each is one edge of the pipeline."""

from __future__ import annotations

from collections import deque


class InstructionQueue:
    """Predecoded instances waiting for the decoders, in program order."""

    def __init__(self) -> None:
        self.instances: deque[int] = deque()


class CodeQueue:
    """Code on its way to predecoder and DSB: 16-byte blocks as (first instance, end), DSB lines as
    (line number, round)."""

    def __init__(self) -> None:
        self.blocks: deque[tuple[int, int]] = deque()
        self.lines: deque[tuple[int, int]] = deque()


class MicrocodeQueue:
    """IDQ uops handed to the microcode sequencer: (static IDQ uop, end, instance), and the stalls around
    them in cycles."""

    def __init__(self) -> None:
        self.first = 0
        self.end = 0
        self.instance = 0
        self.stall = 0
        self.post_stall = 0

    def hand_over(self, first: int, end: int, instance: int, stall: int, post_stall: int) -> None:
        """Give the sequencer the IDQ uops ``first`` .. ``end`` (possibly none) of an instance (MS1)."""
        self.first, self.end, self.instance = first, end, instance
        self.stall, self.post_stall = stall, post_stall

    @property
    def busy(self) -> bool:
        """MS2."""
        return self.first < self.end or self.stall > 0


class DecodeQueue:
    """The IDQ: (first uop, static IDQ uop) in program order."""

    def __init__(self) -> None:
        self.uops: deque[tuple[int, int]] = deque()


class IssueGroup:
    """Fused uops that the renamer passes on in one cycle: (first uop, number of uops)."""

    def __init__(self) -> None:
        self.fused: list[tuple[int, int]] = []
