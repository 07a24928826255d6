"""Asks GNU as for the bytes of single statements."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence

_HEADERS = {"att": ".att_syntax prefix", "intel": ".intel_syntax noprefix"}
_OPTIONS = ("--64", "-aln", "--listing-lhs-width=8", "--listing-cont-lines=20", "-o", "/dev/null", "-")
_LISTED = re.compile(r"\s*(\d+) (?:[0-9a-f]{4,}|\?{4,}) ([0-9A-F]+(?: [0-9A-F]+)*)(?=\s|$)")
_CONTINUED = re.compile(r"\s*(\d+)\s+([0-9A-F]{2,})\s*$")
_ERROR = re.compile(r"^\{standard input\}:(\d+): Error: (.*)", re.MULTILINE)
_BATCH = 2000

AS = shutil.which("as")


def assembled(dialect: str, statements: Sequence[str]) -> dict[str, bytes]:
    """Bytes by statement; empty for those that GNU as rejects."""
    assert AS is not None
    found: dict[str, bytes] = {}
    for first in range(0, len(statements), _BATCH):
        batch = statements[first : first + _BATCH]
        text = "\n".join([_HEADERS[dialect], *batch, ""])
        done = subprocess.run([AS, *_OPTIONS], input=text, capture_output=True, text=True, check=False)
        digits: dict[int, str] = defaultdict(str)
        for line in done.stdout.splitlines():
            if match := _LISTED.match(line) or _CONTINUED.fullmatch(line):
                digits[int(match[1]) - 2] += match[2].replace(" ", "")
        found |= {text: bytes.fromhex(digits[number]) for number, text in enumerate(batch)}
    return found


def refused(dialect: str, statements: Sequence[str]) -> dict[str, str]:
    """The statements for which GNU as reports an error and ends with a failure, with its message."""
    assert AS is not None
    text = "\n".join([_HEADERS[dialect], *statements, ""])
    command = [AS, "--64", "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    found = {statements[int(number) - 2]: said for number, said in _ERROR.findall(done.stderr)}
    assert bool(found) == bool(done.returncode)
    return found
