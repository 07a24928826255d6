"""Writes files in the format of `perf record -e branches:u -b` from a list of branches, for the real
`perf script` to print. The layout is that of `tools/perf/Documentation/perf.data-file-format.txt` and of
`perf_event_open(2)`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

_HEADER_SIZE, _ATTRIBUTE_SIZE = 104, 112
_IP, _THREAD, _TIME, _PERIOD, _BRANCHES = 1, 2, 4, 1 << 8, 1 << 11
_COMMAND, _SAMPLE, _MAPPING = 3, 9, 10
_USER = 2
_HARDWARE, _BRANCH_INSTRUCTIONS = 0, 4
_EVERY = 1_000_003
"""Branches of which one becomes a sample."""
_USER_BRANCHES, _ANY_BRANCH = 1, 8
_PREDICTED = 2
_THREADS = struct.pack("<II", 4711, 4711)


def write(path: Path, mapping: str, samples: Iterable[Sequence[tuple[int, int]]]) -> None:
    """``mapping``: the line of the program's code in ``/proc/PID/maps``; ``samples``: branches from and to,
    the newest first."""
    span, _, offset, device, inode, name = mapping.split()
    first, end = (int(part, 16) for part in span.split("-"))
    major, minor = (int(part, 16) for part in device.split(":"))
    place = struct.pack("<QQQ", first, end - first, int(offset, 16))
    file = struct.pack("<IIQQII", major, minor, int(inode), 0, 5, 2)
    data = _event(_COMMAND, _THREADS + _text("prog")) + _event(
        _MAPPING, _THREADS + place + file + _text(name)
    )
    for number, branches in enumerate(samples, 1):
        entries = b"".join(struct.pack("<QQQ", *branch, _PREDICTED | 3 << 4) for branch in branches)
        body = struct.pack("<Q", branches[0][0]) + _THREADS + struct.pack("<QQ", number * 1000, _EVERY)
        data += _event(_SAMPLE, body + struct.pack("<Q", len(branches)) + entries)
    attribute = struct.pack(
        "<IIQQQQQIIQQQ",
        *(_HARDWARE, _ATTRIBUTE_SIZE, _BRANCH_INSTRUCTIONS, _EVERY),
        *(_IP | _THREAD | _TIME | _PERIOD | _BRANCHES, 0, 0, 0, 0, 0, 0),
        _USER_BRANCHES | _ANY_BRANCH,
    ).ljust(_ATTRIBUTE_SIZE, b"\0") + struct.pack("<QQ", 0, 0)
    behind = _HEADER_SIZE + len(attribute)
    header = struct.pack("<8sQQ", b"PERFILE2", _HEADER_SIZE, len(attribute))
    header += struct.pack("<6Q", _HEADER_SIZE, len(attribute), behind, len(data), 0, 0)
    path.write_bytes(header.ljust(_HEADER_SIZE, b"\0") + attribute + data)


def _event(kind: int, body: bytes) -> bytes:
    return struct.pack("<IHH", kind, _USER, len(body) + 8) + body


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return data.ljust(-(-len(data) // 8) * 8, b"\0")
