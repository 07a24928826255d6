"""textDocument/signatureHelp: the operands of an instruction, in the order of the file's syntax, and the cost
of each form.

vfmadd231ps (%rdi), |     vfmadd231ps M256, YMM, YMM    2 uops p01 p23 · latency 4 to 12 · 0.50 cycles · SKL
"""

from __future__ import annotations

from cyclelens.analyzer.isa.meanings import meaning
from cyclelens.server.display.costs import variants
from cyclelens.server.language_server import CyclelensServer
from cyclelens.server.texts.tokens import TokenKind, line_tokens
from lsprotocol import types

_MOST = 12
"""Largest number of forms shown."""


def register(server: CyclelensServer) -> None:
    """Register the request."""

    @server.feature(
        types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=[" ", ","])
    )
    async def help(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        snapshot = server.session.get(params.text_document.uri)
        if snapshot is None:
            return None
        line, column = server.converter.offset(snapshot.lines, params.position)
        mnemonic, operand = _typed(snapshot.lines[line][:column])
        if not mnemonic:
            return None
        name = server.settings_of(snapshot).cores[0]
        signatures = [
            _signature(
                mnemonic,
                cost.operands,
                f"{meaning(mnemonic)}\n{cost.short} · {name}".lstrip(),
                snapshot.dialect == "att",
            )
            for cost in variants(await server.costs.of(name), mnemonic)
            if len(cost.operands) > operand
        ]
        if not signatures:
            return None
        return types.SignatureHelp(signatures[:_MOST], active_signature=0, active_parameter=operand)


def _typed(before: str) -> tuple[str, int]:
    """The mnemonic in front of the cursor and the number of the operand at the cursor; empty elsewhere."""
    found, _ = line_tokens(before, False, False)
    instructions = [token for token in found if token.kind is TokenKind.INSTRUCTION]
    if not instructions or any(token.kind is TokenKind.COMMENT for token in found):
        return "", 0
    last = instructions[-1]
    end = last.column + last.length
    if end == len(before):
        return "", 0
    depth = count = 0
    for letter in before[end:]:
        depth += (letter in "([") - (letter in ")]")
        count += letter == "," and not depth
    return before[last.column : end], count


def _signature(mnemonic: str, operands: tuple[str, ...], cost: str, att: bool) -> types.SignatureInformation:
    # Parameters are given by position, because several may have the same name.
    label, places = f"{mnemonic} ", []
    for number, part in enumerate(operands[::-1] if att else operands):
        label += ", " if number else ""
        places.append((len(label), len(label) + len(part)))
        label += part
    parameters = [types.ParameterInformation(place) for place in places]
    return types.SignatureInformation(label, documentation=cost, parameters=parameters)
