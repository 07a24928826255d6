"""Runs external assemblers for statements that Keystone cannot encode, where running programs is allowed.

They only see statements rendered from parsed operands, never the user's text, and run in their own folder, so
no directive can make them read or write anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from cyclelens.analyzer.common.recent import Recent
from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.assemblers.assembler_client import Failure, Reply, Request
from msgspec import Struct

BATCH = 512
"""Maximum statements per run."""
DIALECTS = ("att", "intel")
_SELF_TEST: Mapping[Request, str] = {
    ("att", "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}"): "62f174c9585701",
    ("intel", "vaddps zmm2{k1}{z},zmm1,zmmword ptr [rdi+0x40]"): "62f174c9585701",
}
_FLEETING = (Failure.UNAVAILABLE, Failure.TIMEOUT)
"""Failures that say nothing about the next run."""
_NEVER_ASKED = Reply(failure=Failure.CANCELLED)


class Assembler(Struct, frozen=True):
    """A kind of external assembler."""

    title: str
    programs: tuple[str, ...]
    """Names of the program, the usual one first. A program for another processor fails the self-test."""
    run: Callable[[str, str, Sequence[str]], Mapping[int, bytes]]
    """(program path, dialect, statements) -> bytes of the accepted statements by index. Raises OSError and
    ``external.HungError``."""


class ProgramClient:
    """Encodes batches of statements with an external program. Safe to use from several threads."""

    def __init__(self, assembler: Assembler, program: str | None = None) -> None:
        """``program``: path of the program; by default the first one on PATH that works."""
        self._assembler = assembler
        self._given = program
        self._program: str | None = None
        self._works: bool | None = None
        self._cache: Recent[Request, Reply] = Recent(100_000)
        self._lock = threading.Lock()

    @property
    def available(self) -> bool:
        """Whether a program passes the self-test. Checked once, unless the test could not be run."""
        return self.program is not None

    @property
    def program(self) -> str | None:
        """Path of the program in use; None if none works."""
        if self._works is None:
            names = self._assembler.programs
            found = [self._given] if self._given else [external.find_program(name) for name in names]
            self._works = False
            for program in filter(None, found):
                self._program = program
                replies = self._run_all(list(_SELF_TEST), lambda: False)
                if any(reply.failure in _FLEETING for reply in replies.values()):
                    self._works = None
                    return None
                if all(replies[asked].code.hex() == code for asked, code in _SELF_TEST.items()):
                    self._works = True
                    break
        return self._program if self._works else None

    def encode(
        self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
    ) -> Mapping[Request, Reply]:
        """A reply for every request. Repeated and cached requests cost nothing."""
        wanted = list(dict.fromkeys(requests))
        with self._lock:
            if wanted and not self.available:
                reason = f"{self._assembler.title} is not on PATH"
                return dict.fromkeys(wanted, Reply(failure=Failure.UNAVAILABLE, reason=reason))
            self._cache.next_text()
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
        for dialect in DIALECTS:
            statements = [statement for asked, statement in requests if asked == dialect]
            for first in range(0, len(statements), BATCH):
                if cancel():
                    return results
                for statement, reply in self._batch(dialect, statements[first : first + BATCH]).items():
                    results[dialect, statement] = reply
        return results

    def _batch(self, dialect: str, statements: list[str]) -> dict[str, Reply]:
        """Replies of one run. A batch that hangs the assembler is halved until the culprit stands alone."""
        assert self._program is not None
        title = self._assembler.title
        try:
            found = self._assembler.run(self._program, dialect, statements)
        except external.KilledError:
            return dict.fromkeys(statements, Reply(failure=Failure.UNAVAILABLE, reason=f"{title} was killed"))
        except external.HungError:
            if len(statements) == 1:
                return {statements[0]: Reply(failure=Failure.TIMEOUT, reason=f"{title} hung on it")}
            half = len(statements) // 2
            return self._batch(dialect, statements[:half]) | self._batch(dialect, statements[half:])
        except OSError as error:
            return dict.fromkeys(statements, Reply(failure=Failure.UNAVAILABLE, reason=str(error)))
        refused = Reply(failure=Failure.REFUSED, reason=f"{title} refuses it")
        return {
            statement: Reply(found[index]) if index in found else refused
            for index, statement in enumerate(statements)
        }
