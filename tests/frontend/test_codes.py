"""Facts about iced-x86's codes, as the decoder uses them."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.isa.codes import encoding_form_of, enum_names
from iced_x86 import Code, CodeSize, Instruction

PSEUDO = frozenset({Code.INVALID, Code.DECLAREBYTE, Code.DECLAREWORD, Code.DECLAREDWORD, Code.DECLAREQWORD})
"""Codes of no instruction."""


def sample(code: int) -> Instruction:
    """An instruction with this code."""
    instruction = Instruction.create(code)  # type: ignore[arg-type]
    instruction.code_size = CodeSize.CODE64
    return instruction


def test_every_code_has_a_name_extensions_and_operands_in_their_order() -> None:
    for code in enum_names(Code).keys() - PSEUDO:
        said = encoding_form_of(sample(code))
        assert said.mnemonic and said.mnemonic == said.mnemonic.lower(), said
        assert said.extensions and "" not in said.extensions, said
        assert list(said.visible) == sorted(set(said.visible)), said
        assert said.escape_bytes <= 2, said


@pytest.mark.parametrize(
    ("code", "mnemonic", "extensions", "visible", "escape_bytes", "modrm", "default_64", "force_64"),
    [
        (Code.ADD_RM64_R64, "add", {"X64"}, (0, 1), 0, True, False, False),
        (Code.PUSH_R64, "push", {"X64"}, (0,), 0, False, True, False),
        (Code.CALL_REL32_64, "call", {"X64"}, (0,), 0, False, True, True),
        (Code.PSHUFB_XMM_XMMM128, "pshufb", {"SSSE3"}, (0, 1), 2, True, False, False),
        (Code.CMOVE_R32_RM32, "cmovz", {"CMOV"}, (0, 1), 1, True, False, False),
        (Code.D3NOW_PFADD_MM_MMM64, "pfadd", {"D3NOW"}, (0, 1), 1, True, False, False),
        (Code.MASKMOVDQU_RDI_XMM_XMM, "maskmovdqu", {"SSE2"}, (1, 2), 1, True, False, False),
        (Code.MOVSB_M8_M8, "movsb", {"INTEL8086"}, (), 0, False, False, False),
        (
            *(Code.EVEX_VPADDD_YMM_K1Z_YMM_YMMM256B32, "vpaddd", {"AVX512VL", "AVX512F"}, (0, 1, 2)),
            *(1, True, False, False),
        ),
    ],
)
def test_the_facts_of_one_code(
    code: int,
    mnemonic: str,
    extensions: set[str],
    visible: tuple[int, ...],
    escape_bytes: int,
    modrm: bool,
    default_64: bool,
    force_64: bool,
) -> None:
    said = encoding_form_of(sample(code))
    assert (said.mnemonic, said.extensions, said.visible) == (mnemonic, extensions, visible)
    assert (said.escape_bytes, said.has_modrm) == (escape_bytes, modrm)
    assert (said.default_64, said.force_64) == (default_64, force_64)
