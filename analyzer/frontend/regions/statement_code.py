"""Turns statements into code: parses and encodes them, and asks Keystone for those of regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Request
from cyclelens.analyzer.frontend.control_flow.blocks import Made
from cyclelens.analyzer.frontend.encoding.instructions import Encoded, prepare
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.source.chunks import SourceVersions
from cyclelens.analyzer.frontend.source.dialect import Dialect
from cyclelens.analyzer.frontend.source.lookalikes import misleading
from cyclelens.analyzer.frontend.source.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.directives import Alignment, RepeatedBytes, SizedDirective
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.operand_types import OperandError, UnsupportedError
from cyclelens.analyzer.frontend.statements.refusals import is_known
from cyclelens.analyzer.frontend.statements.registers import REGISTERS
from msgspec import Struct
from msgspec.structs import replace

MAXIMUM_ENCODED = 300_000
"""Maximum encoded statements of all sections together."""
MAXIMUM_STATEMENT = 2_000
"""Maximum characters of an instruction statement; data directives may be longer."""

_NASM_FILL = b"\x90"
"""NASM's padding where GNU as uses long NOPs."""
_EVEX = 0x62
"""First byte of the encodings that Keystone lacks."""
_FOR_KEYSTONE = re.compile(r"[A-Za-z]\w{0,15}(?:[ \t]+[-+*$%.:,()\[\]\w \t]{1,100})?", re.ASCII)
"""Statements that Keystone, whose parser has memory errors, is given."""

Content = Encoded | Jump | Alignment | RepeatedBytes | SizedDirective


class EncodingCache:
    """Encoding results that are reused for later versions of a text."""

    def __init__(self, caches: Caches) -> None:
        self.caches = caches
        """The owner of the caches below."""
        self.versions = SourceVersions()
        self.contents: Recent[tuple[Dialect, str, bool], Content | RefusedStatement] = caches.recent(
            MAXIMUM_ENCODED
        )
        """Content of statements that mean the same everywhere; kept apart for texts in which names may be
        registers."""
        self.regions: Recent[tuple[object, ...], tuple[list[object], Made]] = caches.recent(MAXIMUM_REGIONS)
        """Regions without problems, with the facts that they depend on."""
        self.laid: dict[str, Any] = {}
        """Latest layout of every section (sections.py)."""


class RefusedStatement(ValueError):
    """A statement that cannot be encoded: code and message of its problem."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def misleading_character(program: Program, statement: str) -> str:
    """A message about a character that only looks like a letter of a register, an instruction or a number;
    empty if there is none."""
    if statement.isascii():
        return ""
    return misleading(statement, program.is_declared, lambda word: word in REGISTERS or is_known(word))


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

    def content(self, index: int, scope: StatementScope) -> Content | RefusedStatement | None:
        """Content of a statement; None if it makes no bytes."""
        statement = self.program.statements[index]
        is_plain = statement.kind is StatementKind.INSTRUCTION and not statement.refusal
        if is_plain and (misleading := misleading_character(self.program, statement.text)):
            return RefusedStatement("syntax-error", misleading)
        key = statement.dialect, statement.text, self.program.has_register_names
        if is_plain and (known := self.memory.contents.get(key)) is not None:
            return known
        content: Content | RefusedStatement | None
        try:
            content = _read(statement, scope)
        except OperandError as error:
            content = RefusedStatement("syntax-error", str(error))
        except UnsupportedError as error:
            is_directive = statement.kind is StatementKind.DIRECTIVE
            content = RefusedStatement(
                "not-supported" if is_directive else "unsupported-instruction", str(error)
            )
        except RefusedStatement as error:
            content = error
        if is_plain and content is not None and not (scope.asked or scope.is_fleeting):
            self.memory.contents[key] = content
        return content

    def by_keystone(self, chosen: Mapping[int, Encoded]) -> Collection[int]:
        """The statements for which Keystone has the chosen encoding. It gets all of them together, as they
        are written. Where it has another encoding or none, the chosen one stands."""
        asked: dict[int, Request] = {}
        for index, encoded in chosen.items():
            statement = self.program.statements[index]
            if encoded.code[0] != _EVEX and _FOR_KEYSTONE.fullmatch(statement.text):
                asked[index] = "att" if statement.dialect.is_att else "intel", statement.text
        replies = self.client.encode(asked.values(), self.stop)
        return {index for index, request in asked.items() if replies[request] == chosen[index].code}


def _read(statement: Statement, scope: StatementScope) -> Content | None:
    if statement.kind is StatementKind.NOTHING:
        return None
    if statement.refusal:
        raise RefusedStatement("not-supported", statement.refusal)
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
            raise RefusedStatement("not-supported", f".{name} is not supported here.")
        return None
    if len(statement.text) > MAXIMUM_STATEMENT:
        message = f"Statements of more than {MAXIMUM_STATEMENT} characters are not read."
        raise RefusedStatement("statement-too-long", message)
    return prepare(statement.text, statement.dialect, scope)
