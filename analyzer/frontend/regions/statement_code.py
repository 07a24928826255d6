"""Turns statements into code: parses them and asks the assemblers in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Failure, Reply
from cyclelens.analyzer.frontend.assemblers.fallbacks import FALLBACKS
from cyclelens.analyzer.frontend.control_flow.blocks import Made
from cyclelens.analyzer.frontend.encoding.instructions import Encoded, prepare
from cyclelens.analyzer.frontend.encoding.requests import EncodingRequest, finish, finish_fallback
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.chunks import Versions
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directives import Alignment, Repeated, Sized
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.operand_types import OperandError, UnsupportedError
from cyclelens.analyzer.frontend.statements.refusals import no_such
from msgspec import Struct
from msgspec.structs import replace

MAXIMUM_ENCODED = 300_000
"""Maximum encoded statements of all sections together."""
MAXIMUM_STATEMENT = 2_000
"""Maximum characters of an instruction statement; data directives may be longer."""

_NASM_FILL = b"\x90"
"""NASM's padding where GNU as uses long NOPs."""

Content = Encoded | EncodingRequest | Jump | Alignment | Repeated | Sized
UNAVAILABLE = frozenset(["assembler-unavailable", "assembler-timeout"])
"""Problem codes of requests that may succeed next time."""


class EncodingCache:
    """Encoding results that are reused for later versions of a text."""

    def __init__(self, caches: Caches) -> None:
        self.caches = caches
        """Where the caches below live."""
        self.versions = Versions()
        self.contents: Recent[tuple[Dialect, str, bool], Content | Refused] = caches.recent(MAXIMUM_ENCODED)
        """Content of statements that mean the same everywhere; kept apart for texts in which names may be
        registers."""
        self.regions: Recent[tuple[object, ...], tuple[list[object], Made]] = caches.recent(MAXIMUM_REGIONS)
        """Regions without problems, with the facts that they depend on."""
        self.laid: dict[str, Any] = {}
        """Latest layout of every section (sections.py)."""


class Refused(ValueError):
    """A statement that cannot be encoded: code and message of its problem."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Encoder(Struct):
    """Encodes the statements of one version of a text."""

    program: Program
    client: AssemblerClient
    may_run: bool
    """External assemblers may be executed."""
    stop: Callable[[], bool]
    memory: EncodingCache

    @property
    def circumstances(self) -> tuple[object, ...]:
        """Facts besides the text that decide how statements are encoded."""
        return self.memory, self.may_run, FALLBACKS, self.program.has_register_names

    def content(self, index: int, scope: StatementScope) -> Content | Refused | None:
        """Content of a statement; None if it makes no bytes."""
        statement = self.program.statements[index]
        is_plain = statement.kind is StatementKind.INSTRUCTION and not statement.refusal
        key = statement.dialect, statement.text, self.program.has_register_names
        if is_plain and (known := self.memory.contents.get(key)) is not None:
            return known
        content: Content | Refused | None
        try:
            content = _read(statement, scope)
        except OperandError as error:
            content = Refused("syntax-error", str(error))
        except UnsupportedError as error:
            is_directive = statement.kind is StatementKind.DIRECTIVE
            content = Refused("not-supported" if is_directive else "unsupported-instruction", str(error))
        except Refused as error:
            content = error
        if is_plain and content is not None and not scope.was_asked:
            if isinstance(content, EncodingRequest):
                content.key = key
            self.memory.contents[key] = content
        return content

    def answers(
        self, questions: Sequence[Mapping[int, EncodingRequest]]
    ) -> list[dict[int, tuple[bytes, str] | Refused]]:
        """Bytes and encoder of the statements of one or more regions. All are requested together, and each
        request is sent once."""
        different = {id(question): question for each in questions for question in each.values()}
        found = self._codes(different)
        return [{index: found[id(question)] for index, question in each.items()} for each in questions]

    def _codes(self, questions: Mapping[int, EncodingRequest]) -> dict[int, tuple[bytes, str] | Refused]:
        """Answers by number. Keystone gets all requests, and the fallbacks get those that it cannot
        encode."""
        requests = [question.request for question in questions.values() if question.request is not None]
        replies = self.client.encode(requests, self.stop)
        encoded: dict[int, tuple[bytes, str] | Refused] = {}
        left: dict[int, EncodingRequest] = {}
        for index, question in questions.items():
            try:
                if question.request is None:
                    raise Refused("unsupported-instruction", question.reason)
                reply = replies[question.request]
                if reply.failure is not None:
                    raise _refusal(question.mnemonic, reply)
                code = finish(question, reply.code, self.memory.caches)
                encoded[index] = code, "keystone"
                if question.key is not None:
                    self.memory.contents[question.key] = Encoded(code, "keystone")
            except OperandError as error:
                encoded[index] = Refused("assembler-mismatch", str(error))
                left[index] = question
            except Refused as refused:
                encoded[index] = refused
                left[index] = question
        if left and not self.stop():
            self._ask_fallbacks(left, encoded)
            narrower = {
                index: question.narrower
                for index, question in left.items()
                if isinstance(encoded[index], Refused) and question.narrower is not None
            }
            if narrower:
                for index, answer in self._codes(narrower).items():
                    if not isinstance(answer, Refused):
                        encoded[index] = answer
        return encoded

    def _ask_fallbacks(
        self, questions: Mapping[int, EncodingRequest], encoded: dict[int, tuple[bytes, str] | Refused]
    ) -> None:
        """Ask the fallback assemblers in turn for what no other could encode."""
        left = {index: question for index, question in questions.items() if question.fallback is not None}
        refusing: dict[int, list[str]] = {index: [] for index in left}
        refused_by_program: set[int] = set()
        for fallback in FALLBACKS:
            if fallback.is_program and not self.may_run:
                continue
            wanted = {
                index: question
                for index, question in left.items()
                if not (fallback.is_program and index in refused_by_program)
            }
            asked = [question.fallback for question in wanted.values() if question.fallback is not None]
            replies = fallback.client().encode(asked, self.stop) if asked else {}
            for index, question in wanted.items():
                assert question.fallback is not None
                reply = replies[question.fallback]
                if reply.failure is None:
                    try:
                        caches = self.memory.caches
                        code = finish_fallback(question, reply.code, cut=fallback.cuts, caches=caches)
                        encoded[index] = code, fallback.name
                        del left[index]
                    except OperandError as error:
                        encoded[index] = Refused("assembler-mismatch", str(error))
                    except UnsupportedError as error:
                        encoded[index] = Refused("unsupported-instruction", str(error))
                        del left[index]
                elif reply.failure is Failure.TIMEOUT:
                    message = f"{fallback.title} hung or crashed on this statement."
                    encoded[index] = Refused("assembler-timeout", message)
                elif reply.failure is Failure.REFUSED:
                    refusing[index].append(fallback.title)
                    if fallback.is_program:
                        refused_by_program.add(index)
        for index, question in left.items():
            refused = encoded[index]
            if question.request is None and getattr(refused, "code", "") == "unsupported-instruction":
                message = question.reason
                if names := " and ".join(refusing[index]):
                    message = no_such(question.mnemonic, names, several=len(refusing[index]) > 1)
                elif self.may_run:
                    message += " GNU as (binutils), clang or LLVM (pip install cyclelens[llvm]) can."
                encoded[index] = Refused("unsupported-instruction", message)


def _read(statement: Statement, scope: StatementScope) -> Content | None:
    if statement.kind is StatementKind.NOTHING:
        return None
    if statement.refusal:
        raise Refused("not-supported", statement.refusal)
    if statement.kind is StatementKind.DIRECTIVE:
        name = statement.name
        if name in directives.ALIGNMENTS:
            found = directives.alignment(name, statement.arguments, scope)
            if statement.dialect.is_nasm and found.fill is None:
                return replace(found, fill=_NASM_FILL, is_literal=True)
            return found
        if directives.makes_data(name):
            made = directives.data(name, statement.arguments, scope)
            return Encoded(made) if isinstance(made, bytes) else made
        if name in directives.UNSUPPORTED:
            raise Refused("not-supported", f".{name} is not supported here.")
        return None
    if len(statement.text) > MAXIMUM_STATEMENT:
        message = f"Statements of more than {MAXIMUM_STATEMENT} characters are not read."
        raise Refused("statement-too-long", message)
    return prepare(statement.text, statement.dialect, scope)


def _refusal(mnemonic: str, reply: Reply) -> Refused:
    """The problem for a failed reply."""
    if reply.failure is Failure.TIMEOUT:
        message = "The assembler hung or crashed on this statement and was restarted."
        return Refused("assembler-timeout", message)
    if reply.failure is not Failure.REFUSED:
        return Refused("assembler-unavailable", f"The built-in assembler cannot be started: {reply.reason}.")
    if "MNEMONICFAIL" in reply.reason:
        message = no_such(mnemonic, "The built-in assembler")
        return Refused("unsupported-instruction", message)
    if reply.reason == "empty" or "MISSINGFEATURE" in reply.reason:
        message = f"The built-in assembler cannot encode '{mnemonic}' with these operands."
        return Refused("unsupported-instruction", message)
    return Refused("syntax-error", f"These operands do not fit '{mnemonic}'.")
