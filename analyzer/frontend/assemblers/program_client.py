"""Assemblers of the machine, asked for what Keystone cannot encode, where they may be run.

They only ever get statements that the front end has rendered from parsed operands, never the user's text, in
a folder of their own, so that no directive can make them read or write anything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.recent import Recent
from cyclelens.analyzer.frontend.assemblers import external
from cyclelens.analyzer.frontend.assemblers.assembler_client import Failure, Reply, Request

BATCH = 512
"""Statements of one run."""
DIALECTS = ("att", "intel")
_SELF_TEST: Mapping[Request, str] = {
    ("att", "vaddps 0x40(%rdi),%zmm1,%zmm2{%k1}{z}"): "62f174c9585701",
    ("intel", "vaddps zmm2{k1}{z},zmm1,zmmword ptr [rdi+0x40]"): "62f174c9585701",
}
_FLEETING = (Failure.UNAVAILABLE, Failure.TIMEOUT)
"""What says nothing about the next run."""
_NEVER_ASKED = Reply(failure=Failure.CANCELLED)


@dataclass(frozen=True, slots=True)
class Assembler:
    """One kind of assembler."""

    title: str
    programs: tuple[str, ...]
    """What it may be called, the usual name first. One that assembles for another processor fails the
    self-test."""
    run: Callable[[str, str, Sequence[str]], Mapping[int, bytes]]
    """From its path, a dialect and statements to the bytes of those that it takes, by their index. Raises
    OSError and ``external.HungError``."""


class ProgramClient:
    """Encodes batches of statements. Safe to use from several threads."""

    def __init__(self, assembler: Assembler, program: str | None = None) -> None:
        """``program``: its path, by default the first on PATH that works."""
        self._assembler = assembler
        self._given = program
        self._program: str | None = None
        self._works: bool | None = None
        self._cache: Recent[Request, Reply] = Recent(100_000)
        self._lock = threading.Lock()

    @property
    def available(self) -> bool:
        """Is there one that passes the self-test? Looked for once, unless it could not be run."""
        return self.program is not None

    @property
    def program(self) -> str | None:
        """The path of the one that is used."""
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
        """A reply for every request; repeated and already known ones cost nothing."""
        wanted = list(dict.fromkeys(requests))
        with self._lock:
            if wanted and not self.available:
                reason = f"{self._assembler.title} is not on PATH"
                return dict.fromkeys(wanted, Reply(failure=Failure.UNAVAILABLE, reason=reason))
            self._cache.next_text()
            missing = [request for request in wanted if self._cache[request] is None]
            found = self._run_all(missing, cancel)
            for request, reply in found.items():
                if reply.failure is not Failure.UNAVAILABLE:
                    self._cache[request] = reply
            return {request: found.get(request) or self._cache[request] or _NEVER_ASKED for request in wanted}

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
        """Replies of one run; a batch that it cannot cope with is halved until the culprit stands alone."""
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
