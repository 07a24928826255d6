"""textDocument/prepareRename and rename: labels, symbols and macros in the whole file, registers within a
region.

A register keeps its widths: renaming ``rax`` to ``r8`` turns ``eax`` into ``r8d``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cyclelens.analyzer.frontend.source.lexer import SYMBOL
from cyclelens.analyzer.rewrites.site import resized
from cyclelens.analyzer.uops.registers import HIGH8, canonical, is_general_purpose, width
from cyclelens.server.display import messages
from cyclelens.server.documents.session import Snapshot
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.labels import Names
from cyclelens.server.texts.tokens import TokenKind
from cyclelens.server.texts.words import Word, words
from lsprotocol import types
from msgspec.structs import replace
from pygls.exceptions import JsonRpcInvalidParams

_NAME = re.compile(SYMBOL)
_VECTOR = re.compile(r"[XYZ]MM(\d|[12]\d|3[01])")
_IMPLICIT = {
    "RAX": r"i?mul|i?div|c[wdq][dqo]e?|clt[dq]|cqto|cw[dt]l|(lods|stos|scas)\w*|cpuid|rdtscp?|xgetbv",
    "RDX": r"i?mul|i?div|c[dq][oq]|cltd|cqto|cpuid|rdtscp?|xgetbv",
    "RCX": r"rep\w*|loop\w*|j[er]?cxz|cpuid|rdtscp|xgetbv",
    "RBX": r"cpuid|xlat\w*",
    "RSI": r"rep\w*|movs[bwdq]?|lods\w*|cmps[bwdq]?",
    "RDI": r"rep\w*|movs[bwdq]?|(stos|scas)\w*|cmps[bwdq]?",
}
"""Instructions with fewer than two operands that use a register without naming it."""
_ALWAYS_IMPLICIT = {"RAX": r"cmpxchg\w*", "RDX": r"mulx[lq]?|cmpxchg\d+b", "RBX": r"cmpxchg\d+b"}
_BY_CL = re.compile(r"sh[lr]d?[bwlq]?|sa[lr][bwlq]?|r[co][lr][bwlq]?")


def register(server: CyclelensServer) -> None:
    """Register the requests."""

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare(params: types.PrepareRenameParams) -> types.Range | None:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, params.position)
        found = _register_at(snapshot, line, column) or _name_at(server.session.names(snapshot), line, column)
        if found is None:
            return None
        return server.converter.range(snapshot.lines, found.line, found.column, found.end_column)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, params.position)
        new = params.new_name.strip()
        place = _register_at(snapshot, line, column)
        if place is not None:
            changes = list(_register_edits(snapshot, place, new.lstrip("%").upper()))
        else:
            changes = list(_name_edits(server.session.names(snapshot), line, column, new))
        edits = [
            types.TextEdit(
                server.converter.range(snapshot.lines, each.line, each.column, each.end_column), each.text
            )
            for each in changes
        ]
        return types.WorkspaceEdit(changes={snapshot.uri: edits}) if edits else None


def _register_at(snapshot: Snapshot, line: int, column: int) -> Word | None:
    """The renamable register at a position within a region; None if there is none."""
    if snapshot.region_at(line) is None:
        return None
    for place, kind in words(snapshot.lines, line):
        if kind is TokenKind.REGISTER and place.column - 1 <= column <= place.end_column:
            name = canonical(place.text.upper())
            return place if is_general_purpose(name) or _VECTOR.fullmatch(place.text.upper()) else None
    return None


def _name_at(names: Names, line: int, column: int) -> Word | None:
    name = names.at(line, column)
    if name is None or names.definition_of(name) is None:
        return None
    return Word(name.line, name.column, name.end_column, name.text)


def _name_edits(names: Names, line: int, column: int, new: str) -> Iterator[Word]:
    target = names.definition_at(line, column)
    if target is None:
        raise JsonRpcInvalidParams(messages.NOTHING_TO_RENAME)
    if not _NAME.fullmatch(new):
        raise JsonRpcInvalidParams(messages.no_label(new))
    if new in names.index:
        raise JsonRpcInvalidParams(messages.defined_already(new))
    for each in (target, *names.references_to(target)):
        yield Word(each.line, each.column, each.end_column, new)


def _register_edits(snapshot: Snapshot, place: Word, new: str) -> Iterator[Word]:
    """All uses of a register in the innermost region around a place."""
    region = snapshot.region_at(place.line)
    assert region is not None
    old, target = canonical(place.text.upper()), canonical(new)
    if is_general_purpose(old) != is_general_purpose(target) or not (
        is_general_purpose(target) or _VECTOR.fullmatch(new)
    ):
        raise JsonRpcInvalidParams(messages.no_substitute(new.lower(), place.text))
    if "RSP" in (old, target):
        raise JsonRpcInvalidParams(messages.STACK_POINTER)
    for line in range(region.result.first_line, region.result.last_line + 1):
        found = list(words(snapshot.lines, line))
        for word, kind in found:
            if kind is TokenKind.INSTRUCTION:
                for name in (old, target):
                    if _uses_implicitly(name, word.text.lower(), snapshot.lines[line][word.end_column :]):
                        raise JsonRpcInvalidParams(messages.used_implicitly(line, word.text, name.lower()))
            if kind is not TokenKind.REGISTER:
                continue
            name = word.text.upper()
            if canonical(name) == target != old:
                raise JsonRpcInvalidParams(messages.used_already(new.lower(), line))
            if canonical(name) == old:
                if name in HIGH8:
                    raise JsonRpcInvalidParams(messages.without_equal(line, word.text))
                yield replace(word, text=_in_width(name, target, word.text))


def _uses_implicitly(register: str, mnemonic: str, operands: str) -> bool:
    """Whether an instruction uses a register implicitly."""
    if register == "RCX" and _BY_CL.fullmatch(mnemonic):
        return re.search(r"\bcl\b", operands.lower()) is not None
    pattern = _ALWAYS_IMPLICIT.get(register)
    if pattern and re.fullmatch(pattern, mnemonic):
        return True
    pattern = _IMPLICIT.get(register)
    return bool(pattern and "," not in operands and re.fullmatch(pattern, mnemonic))


def _in_width(name: str, target: str, written: str) -> str:
    """``target`` in the width of the register ``name``, in capitals if ``written`` is."""
    found = resized(target, width(name)) if is_general_purpose(target) else f"{name[0]}MM{target[3:]}"
    return found if written.isupper() else found.lower()
