"""Replacing a register of an instruction."""

import pytest
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.register_use import with_register


@pytest.mark.parametrize(
    ("code", "old", "new", "text"),
    [
        ("c4e275b807", "XMM0", "XMM9", "vfmadd231ps ymm9, ymm1, ymmword ptr [rdi]"),
        ("c5fc5807", "XMM0", "XMM3", "vaddps ymm3, ymm3, ymmword ptr [rdi]"),
        ("f20f58c1", "XMM0", "XMM8", "addsd xmm8, xmm1"),
        ("480fafc1", "RAX", "R9", "imul r9, rcx"),
        ("01c8", "RAX", "R10", "add r10d, ecx"),
        ("480300", "RAX", "RBX", "add rbx, qword ptr [rax]"),
        ("62f17c4958c1", "XMM0", "XMM20", "vaddps zmm20{k1}, zmm20, zmm1"),
    ],
)
def test_the_register_is_exchanged_in_its_width(code, old, new, text):
    (instruction,) = decode(with_register(bytes.fromhex(code), old, new))
    assert instruction.text == text


@pytest.mark.parametrize(("code", "old", "new"), [("c4e275b807", "XMM0", "XMM20"), ("00c8", "RAX", "RSI")])
def test_what_cannot_be_encoded_is_an_error(code, old, new):
    with pytest.raises(ValueError, match=r"8-bit registers are not numbered|is not between"):
        with_register(bytes.fromhex(code), old, new)
