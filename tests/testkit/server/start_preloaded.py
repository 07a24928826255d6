"""The program that is started instead of the command: it passes its streams on to ``preloaded.py``, and ends
as the command ends. It imports little, since each test starts it."""

from __future__ import annotations

import json
import os
import socket
import sys

STREAMS = (0, 1, 2)


def main(address: str, *words: str) -> int:
    """Have the command run on the streams of this process; return its exit status."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"."], STREAMS)
        told = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
        connection.sendall(json.dumps(told).encode() + b"\n")
        # From here on the command alone keeps them open.
        for stream in STREAMS:
            os.close(stream)
        return int(connection.makefile().readline() or 1)


if __name__ == "__main__":
    os._exit(main(*sys.argv[1:]))
