"""GNU as as a second assembler: asked for what Keystone cannot encode, if it is there and may be run.

It only ever gets statements that the front end has rendered from parsed operands, never the user's text, in a
folder of its own, so that no directive can make it read or write anything. Its listing says which bytes each
line became; what it refuses has none.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from cyclelens.analyzer.assembly import external
from cyclelens.analyzer.assembly.assembler_client import Failure, Reply, Request
from cyclelens.analyzer.recent import Recent

BATCH = 512
"""Statements of one run."""
TIMEOUT = 3.0
"""Seconds for one run, which usually takes some milliseconds."""
_HEADERS = {"att": ".att_syntax prefix", "intel": ".intel_syntax noprefix"}
_OPTIONS = ("--64", "-aln", "--listing-lhs-width=8", "--listing-cont-lines=20", "-o", "out.o", "-")
_SELF_TEST: Mapping[Request, str] = {
    ("att", "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}"): "62f174c9585701",
    ("intel", "vaddps zmm2{k1}{z},zmm1,zmmword ptr [rdi+0x40]"): "62f174c9585701",
}
_LISTED = re.compile(r"\s*(\d+) (?:[0-9a-f]{4,}|\?{4,}) ([0-9A-F]+(?: [0-9A-F]+)*)(?=\s|$)")
_CONTINUED = re.compile(r"\s*(\d+)\s+([0-9A-F]{2,})\s*$")
_UNAVAILABLE = Reply(failure=Failure.UNAVAILABLE, reason="GNU as is not on PATH")
_FLEETING = (Failure.UNAVAILABLE, Failure.TIMEOUT)
"""What says nothing about the next run."""
_NEVER_ASKED = Reply(failure=Failure.CANCELLED)


class GnuClient:
    """Encodes batches of statements. Safe to use from several threads."""

    def __init__(self, program: str | None = None) -> None:
        """``program``: path of GNU as, by default the one on PATH."""
        self._program = program
        self._works: bool | None = None
        self._cache: Recent[Request, Reply] = Recent(100_000)
        self._lock = threading.Lock()

    @property
    def available(self) -> bool:
        """Is there a GNU as that passes the self-test? Looked for once, unless it could not be run."""
        if self._works is None:
            self._program = self._program or external.find_program("as")
            if self._program is None:
                self._works = False
            else:
                replies = self._run_all(list(_SELF_TEST), lambda: False)
                if any(reply.failure in _FLEETING for reply in replies.values()):
                    return False
                self._works = all(replies[asked].code.hex() == code for asked, code in _SELF_TEST.items())
        return self._works

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
    ) -> Mapping[Request, Reply]:
        """A reply for every request; repeated and already known ones cost nothing."""
        wanted = list(dict.fromkeys(requests))
        with self._lock:
            if wanted and not self.available:
                return dict.fromkeys(wanted, _UNAVAILABLE)
            self._cache.next_batch()
            missing = [request for request in wanted if self._cache.get(request) is None]
            found = self._run_all(missing, cancel)
            for request, reply in found.items():
                if reply.failure is not Failure.UNAVAILABLE:
                    self._cache[request] = reply
            return {
                request: found.get(request) or self._cache.get(request) or _NEVER_ASKED for request in wanted
            }

    def _run_all(self, requests: list[Request], cancel: Callable[[], bool]) -> dict[Request, Reply]:
        results: dict[Request, Reply] = {}
        for dialect in _HEADERS:
            statements = [statement for asked, statement in requests if asked == dialect]
            for first in range(0, len(statements), BATCH):
                if cancel():
                    return results
                for statement, reply in self._batch(dialect, statements[first : first + BATCH]).items():
                    results[dialect, statement] = reply
        return results

    def _batch(self, dialect: str, statements: list[str]) -> dict[str, Reply]:
        """Replies of one run; a batch that it cannot cope with is halved until the culprit stands alone."""
        try:
            lines = self._run(dialect, statements)
        except external.KilledError:
            return dict.fromkeys(statements, Reply(failure=Failure.UNAVAILABLE, reason="GNU as was killed"))
        except external.HungError:
            if len(statements) == 1:
                return {statements[0]: Reply(failure=Failure.TIMEOUT, reason="GNU as hung on it")}
            half = len(statements) // 2
            return self._batch(dialect, statements[:half]) | self._batch(dialect, statements[half:])
        except OSError as error:
            return dict.fromkeys(statements, Reply(failure=Failure.UNAVAILABLE, reason=str(error)))
        return {
            statement: Reply(lines[number])
            if number in lines
            else Reply(failure=Failure.REFUSED, reason="GNU as refuses it")
            for number, statement in enumerate(statements, 2)
        }

    def _run(self, dialect: str, statements: list[str]) -> dict[int, bytes]:
        """Bytes by line of the listing. Raises OSError, external.HungError."""
        assert self._program is not None
        text = "\n".join([_HEADERS[dialect], *statements, ""])
        done = external.run([self._program, *_OPTIONS], text, timeout=TIMEOUT)
        return parse_listing(done.output.decode("ascii", "replace"))


def parse_listing(listing: str) -> dict[int, bytes]:
    """What every line (counted from 1) of an assembly text became, from GNU as's listing."""
    digits: dict[int, str] = defaultdict(str)
    for line in listing.splitlines():
        match = _LISTED.match(line) or _CONTINUED.fullmatch(line)
        if match:
            digits[int(match[1])] += match[2].replace(" ", "")
    return {line: bytes.fromhex(text) for line, text in digits.items()}


_shared = GnuClient()


def shared_gnu_client() -> GnuClient:
    """The client of this process."""
    return _shared
