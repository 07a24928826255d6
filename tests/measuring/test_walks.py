"""A pass over a working set touches all of it, every array in a buffer of its own, however loops count."""

from itertools import pairwise

import pytest
from cyclelens.analyzer.isa.counted_loop import loop_end
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.requests import DISTINCT, REGISTERS
from cyclelens.analyzer.measuring.walks import ADDRESS, NoWalk, planned
from testkit.blocks import block_of
from testkit.loop_emulator import accessed
from testkit.narrowing import some

SIZE = 64 << 10
LINE = 64

COPY = "1: vmovups ymm0, [rsi]; vmovups [rdi], ymm0; add rsi, 32; add rdi, 32; dec rcx; jnz 1b"
LOOPS = {
    "counts a register down": (COPY, 2),
    "compares a pointer with its end": ("1: vaddps ymm0, ymm0, [rsi]; add rsi, 32; cmp rsi, rdx; jne 1b", 1),
    "compares an index with a limit": (
        "1: vmovupd ymm0, [rsi+rax*8]; vaddpd ymm0, ymm0, [rdx+rax*8]; vmovupd [rdi+rax*8], ymm0; "
        "add rax, 4; cmp rax, rcx; jb 1b",
        3,
    ),
    "compares an index with a constant": ("1: movss xmm0, [rsi+rcx*4]; inc rcx; cmp rcx, 1000; jl 1b", 1),
    "counts a negative index to zero": (
        "1: movups xmm0, [rsi+rcx]; movups [rdi+rcx], xmm0; add rcx, 16; jnz 1b",
        2,
    ),
    "walks downwards": ("1: movups xmm0, [rsi-16]; sub rsi, 16; cmp rsi, rdx; ja 1b", 1),
    "steps over lines": ("1: mov eax, [rsi]; add rsi, 256; dec rcx; jnz 1b", 1),
    "reads neighbours": (
        "1: vmovupd ymm0, [rsi+rcx*8-8]; vaddpd ymm0, ymm0, [rsi+rcx*8+8]; vaddpd ymm0, ymm0, [rdx+rcx*8]; "
        "vmovupd [rdi+rcx*8], ymm0; add rcx, 4; cmp rcx, r9; jl 1b",
        3,
    ),
    "has rows at a distance in a register": (
        "1: movups xmm0, [rsi]; addps xmm0, [rsi+r8]; addps xmm0, [rsi+r8*2]; movups [rdi], xmm0; "
        "add rsi, 16; add rdi, 16; dec rcx; jnz 1b",
        4,
    ),
    "ends by a value that it loads": ("1: movups xmm0, [rsi]; add rsi, 16; test rax, rax; jnz 1b", 1),
}


@pytest.fixture
def plan(encode):
    """Plans the walk of a loop in Intel syntax through a number of bytes."""

    def plan(statements, size=SIZE):
        code = encode(statements)
        return planned(block_of(code.hex(), "SKL").instructions, code, DISTINCT, size)

    return plan


def run(found, memory=None):
    """Addresses of one pass, and the number of iterations."""
    loop, counter = found.loop, found.loop.counter
    registers = dict.fromkeys(REGISTERS, 0) | dict(found.inputs.registers)
    registers[REGISTERS[counter.register]] = (counter.base + counter.factor * found.walk.rounds) % (1 << 64)
    code = loop.code if loop.closed else loop.code + some(loop_end(decode(loop.code)))
    return list(accessed(code, registers, memory))


@pytest.mark.parametrize("statements, arrays", LOOPS.values(), ids=LOOPS.keys())
def test_a_pass_covers_the_working_set(plan, statements, arrays):
    found = plan(statements)
    addresses = run(found)
    assert len(addresses) % found.walk.rounds == 0
    assert min(addresses) >= ADDRESS
    assert max(addresses) < ADDRESS + found.walk.bytes
    assert len(found.arrays) == arrays
    lines = {address // LINE for address in addresses}
    assert abs(len(lines) * LINE - SIZE) <= 3 * arrays * LINE


@pytest.mark.parametrize("statements, arrays", LOOPS.values(), ids=LOOPS.keys())
def test_every_array_has_a_buffer_of_its_own(plan, statements, arrays):
    addresses = sorted({address // LINE for address in run(plan(statements))})
    stride = min(b - a for a, b in pairwise(addresses))
    breaks = sum(b - a > 2 * stride for a, b in pairwise(addresses))
    assert breaks == arrays - 1


def test_arrays_begin_at_the_start_of_a_line(plan):
    found = plan(COPY)
    assert {found.inputs.registers[name] % LINE for name in ("RSI", "RDI")} == {0}


def test_a_chain_leads_through_all_nodes(plan):
    """Links in the order of a chain, as the harness makes one."""
    found = plan("1: add rbx, [rax+24]; mov rax, [rax+8]; test rax, rax; jnz 1b")
    chain = some(found.walk.chain)
    assert (chain.node_bytes, chain.nodes) == (LINE, SIZE // LINE)
    first = chain.first - chain.displacement
    assert found.inputs.registers["RAX"] == first == ADDRESS
    nodes = [first + number * chain.node_bytes for number in range(chain.nodes)]
    memory = {node + 8: after for node, after in zip(nodes, [*nodes[1:], first], strict=True)}
    assert {address // LINE * LINE for address in run(found, memory)} == set(nodes)


def test_a_node_has_room_for_all_that_is_read_of_it(plan):
    chain = some(plan("1: add rbx, [rax+80]; mov rax, [rax]; mov rax, [rax]; dec rcx; jnz 1b").walk.chain)
    assert chain.node_bytes == 2 * LINE
    assert plan("1: mov rax, [rax]; mov rax, [rax]; dec rcx; jnz 1b").walk.rounds == SIZE // LINE // 2


REFUSED = {
    "1: vgatherdps ymm0, [rsi+ymm2*4], ymm1; add rsi, 32; dec rcx; jnz 1b": "a gather or scatter",
    "1: movzx eax, byte ptr [rsi]; add rbx, [rdi+rax*8]; inc rsi; dec rcx; jnz 1b": "does not move by",
    "1: imul rsi, rsi, 5; add rax, [rsi]; dec rcx; jnz 1b": "does not move by a constant",
    "1: mov rsi, [rdi+rsi*8]; dec rcx; jnz 1b": "does not move by a constant",
    "1: add rax, [rsi]; dec rcx; jnz 1b": "no address of the loop moves",
    "1: add rbx, [rsi]; mov rax, [rax]; add rsi, 8; dec rcx; jnz 1b": "follows pointers through other memory",
    "1: add rax, [rsi]; add rax, [rsi*2]; inc rsi; dec rcx; jnz 1b": "depends on the others",
    "1: add rax, [rsi+rdx]; inc rsi; cmp rsi, rdx; jb 1b": "part of an address",
}


@pytest.mark.parametrize("statements, reason", REFUSED.items())
def test_what_walks_through_no_array_is_refused(plan, statements, reason):
    with pytest.raises(NoWalk, match=reason):
        plan(statements)


def test_a_working_set_of_few_iterations_is_refused(plan):
    with pytest.raises(NoWalk, match="960 bytes are too few: one pass over them takes 15 iterations"):
        plan(COPY, 960)
    assert plan(COPY, 1024).walk.rounds == 16


def test_steps_over_lines_count_the_lines_that_they_touch(plan):
    """64 KiB of lines, in 256 KiB of addresses."""
    assert plan("1: mov eax, [rsi]; add rsi, 256; dec rcx; jnz 1b").walk.rounds == SIZE // LINE
