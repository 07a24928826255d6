"""The counter that turns a block into a loop, and the registers that it must avoid."""

import pytest
from cyclelens.analyzer.isa.counted_loop import back, counted_loop, loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.register_use import used_registers


def texts(code):
    return [instruction.text for instruction in decode(code)]


def test_the_counter_is_r15_if_the_block_does_not_use_it():
    assert texts(counted_loop(bytes.fromhex("4801c0")))[1:] == ["dec r15", "jnz .-6"]


@pytest.mark.parametrize("block", ["4d01ff", "4501ff", "664501ff", "4500ff", "4d8b3f", "4d8d3f", "450f1f07"])
def test_a_register_is_used_in_any_width_and_as_an_address(block):
    assert "r14" in texts(counted_loop(bytes.fromhex(block)))[1]


def test_implicit_registers_are_used():
    assert used_registers(bytes.fromhex("48f7e1")) == {"RAX", "RCX", "RDX"}  # mul rcx
    assert used_registers(bytes.fromhex("50")) == {"RAX", "RSP"}  # push rax
    assert used_registers(bytes.fromhex("f3a4")) == {"RCX", "RSI", "RDI"}  # rep movsb


def test_vector_registers_are_no_counters():
    assert used_registers(bytes.fromhex("c5fc58c1")) == set()


# Every register but RSP, from R15 down to RAX: xor reg, reg.
EVERY_REGISTER = [
    *(bytes([0x4D, 0x31, 0xC0 | number << 3 | number]) for number in range(7, -1, -1)),
    *(bytes([0x48, 0x31, 0xC0 | number << 3 | number]) for number in (5, 7, 6, 2, 1, 3, 0)),
]


ORDER = [
    "r15",
    "r14",
    "r13",
    "r12",
    "r11",
    "r10",
    "r9",
    "r8",
    "rbp",
    "rdi",
    "rsi",
    "rdx",
    "rcx",
    "rbx",
    "rax",
]


@pytest.mark.parametrize(("taken", "counter"), list(enumerate(ORDER)))
def test_the_counter_is_the_first_free_register(taken, counter):
    code = b"".join(EVERY_REGISTER[:taken])
    assert f"dec {counter}" in texts(counted_loop(code))


def test_without_a_free_register_there_is_no_loop():
    assert counted_loop(b"".join(EVERY_REGISTER)) is None


@pytest.mark.parametrize(("nops", "jump_bytes"), [(123, 2), (124, 6)])
def test_the_jump_is_short_where_it_reaches(nops, jump_bytes):
    code = counted_loop(b"\x90" * nops)
    assert code is not None
    jump = decode(code)[-1]
    assert jump.length == jump_bytes
    assert jump.branch_displacement == -len(code)


@pytest.mark.parametrize(
    ("branch", "before", "text"),
    [
        ("75f4", 126, "jnz .-126"),
        ("75f4", 127, "jnz .-127"),
        ("0f8500000000", 20, "jnz .-20"),
        ("ebfe", 200, "jmp .-200"),
        ("e900000000", 5, "jmp .-5"),
        ("e2f0", 300, "loop .-14"),  # it has no other form
    ],
)
def test_a_jump_back_has_the_shortest_form_that_reaches(branch, before, text):
    code = back(bytes.fromhex(branch), before)
    assert texts(code) == [text]
    assert len(code) == (2 if before <= 126 or branch == "e2f0" else 5 if text.startswith("jmp") else 6)


@pytest.mark.parametrize(
    "first", ["", "48", "41", "44", "49", "4841", "6641", "c4c1f0", "c4e2b0", "0f", "480f", "8fe970", "f3"]
)
def test_the_counter_is_the_first_register_that_nothing_uses(first):
    """First bytes tell which registers an instruction can use, before it is asked for all of them."""
    order = [f"R{number}" for number in range(15, 7, -1)] + ["RBP", "RDI", "RSI", "RDX", "RCX", "RBX", "RAX"]
    # Of R8 to R15 nothing, the upper half, and all.
    others = [bytes.fromhex(code) for code in ("", "4d01f74d01ec", "4d01f74d01ec4d01d34d01c1")]
    for opcode in range(256):
        for other in others:
            code = other + bytes.fromhex(first) + bytes([opcode, 0x05, 0xC3, 1, 2, 3, 4, 5, 6, 7])
            instruction = decode(code[len(other) :])[0]
            whole = other + instruction.code
            if not instruction.mnemonic:
                continue
            free = next(name for name in order if name not in used_registers(whole))
            assert used_registers((loop_end(decode(whole)) or b"")[:3]) == {free}, whole.hex()
