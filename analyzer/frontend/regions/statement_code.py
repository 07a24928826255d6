"""Turns statements into code: parses them, asks Keystone, and completes what it cannot encode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Failure, Reply
from cyclelens.analyzer.frontend.control_flow.blocks import Made
from cyclelens.analyzer.frontend.encoding.instructions import Encoded, prepare
from cyclelens.analyzer.frontend.encoding.requests import EncodingRequest, complete, finish
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.chunks import Versions
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directives import Alignment, Repeated, Sized
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.operand_types import OperandError, UnsupportedError
from cyclelens.analyzer.frontend.statements.refusals import refused
from msgspec import Struct
from msgspec.structs import replace

MAXIMUM_ENCODED = 300_000
"""Maximum encoded statements of all sections together."""
MAXIMUM_STATEMENT = 2_000
"""Maximum characters of an instruction statement; data directives may be longer."""

_NASM_FILL = b"\x90"
"""NASM's padding where GNU as uses long NOPs."""

Content = Encoded | EncodingRequest | Jump | Alignment | Repeated | Sized


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
    stop: Callable[[], bool]
    memory: EncodingCache

    @property
    def circumstances(self) -> tuple[object, ...]:
        """Facts besides the text that decide how statements are encoded."""
        return self.memory, self.program.has_register_names

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
    ) -> list[dict[int, Encoded | Refused]]:
        """Bytes and encoder of the statements of one or more regions. All are requested together, and each
        request is sent once."""
        different = {id(question): question for each in questions for question in each.values()}
        found = self._codes(different)
        return [{index: found[id(question)] for index, question in each.items()} for each in questions]

    def _codes(self, questions: Mapping[int, EncodingRequest]) -> dict[int, Encoded | Refused]:
        """Answers by number. Keystone gets all requests; what it cannot encode is completed here."""
        requests = [question.request for question in questions.values() if question.request is not None]
        replies = self.client.encode(requests, self.stop)
        encoded: dict[int, Encoded | Refused] = {}
        for index, question in questions.items():
            reply = replies[question.request] if question.request is not None else None
            answer: Encoded | Refused
            if reply is not None and reply.failure is None:
                try:
                    answer = Encoded(finish(question, reply.code, self.memory.caches), "keystone")
                except OperandError as error:
                    answer = self._completed(question, Refused("assembler-mismatch", str(error)))
            else:
                answer = self._completed(question, _refusal(question, reply))
            if question.key is not None and isinstance(answer, Encoded):
                self.memory.contents[question.key] = answer
            encoded[index] = answer
        return encoded

    def _completed(self, question: EncodingRequest, why: Refused) -> Encoded | Refused:
        """A statement that Keystone cannot encode, or gets wrong."""
        if self.stop():
            return why
        try:
            chosen = complete(question, self.memory.caches)
        except OperandError as error:
            return Refused("syntax-error", str(error))
        if chosen is not None:
            return Encoded(chosen.code, "iced-x86", chosen.shortened)
        if question.narrower is not None:
            return self._completed(question.narrower, why)
        return why


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


def _refusal(question: EncodingRequest, reply: Reply | None) -> Refused:
    """The problem of a statement that Keystone does not encode, unless it is completed."""
    mnemonic = question.mnemonic
    if reply is None or reply.failure is not Failure.REFUSED or "MNEMONICFAIL" in reply.reason:
        message = question.reason or refused(mnemonic, question.operands, "The built-in assembler")
        return Refused("unsupported-instruction", message)
    if reply.reason == "empty" or "MISSINGFEATURE" in reply.reason:
        message = f"The built-in assembler cannot encode '{mnemonic}' with these operands."
        return Refused("unsupported-instruction", message)
    return Refused("syntax-error", f"These operands do not fit '{mnemonic}'.")
