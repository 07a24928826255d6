"""Hostile code is contained: it ends, it changes nothing outside, and the next measurement is right."""

import contextlib
import os
import shutil
import struct
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.harness import PROGRAM
from cyclelens.analyzer.measuring.refusals import refusal, refused_kind
from cyclelens.analyzer.measuring.requests import Measurement, MeasurementRequest
from cyclelens.analyzer.model.choices import Clocks
from iced_x86 import Code, CpuidFeature, Instruction, Mnemonic, OpCodeInfo

pytestmark = pytest.mark.timed

CONTEXT, CODE = 0x0FFFFF0000, 0x1000000000

HOSTILE = {
    "getpid": "mov eax, 39; syscall",
    "create a file": "lea rsi, [rip+9f]; mov edi, -100; mov edx, 0x41; mov r10d, 0x1ff; mov eax, 257; "
    'syscall; jmp 8f; 9: .asciz "pwned"; 8: nop',
    "fork": "mov eax, 57; syscall",
    "count of context switches": "mov eax, 98; xor edi, edi; mov rsi, rsp; syscall",
    "vfork": "mov eax, 58; syscall",
    "clone3": "mov eax, 435; syscall",
    "exec": "mov eax, 59; syscall",
    "ptrace": "mov eax, 101; syscall",
    "kill the parent": "mov eax, 110; syscall; mov edi, eax; mov esi, 9; mov eax, 62; syscall",
    "socket": "mov eax, 41; mov edi, 2; mov esi, 1; xor edx, edx; syscall",
    "io_uring": "mov eax, 425; mov edi, 8; syscall",
    "executable memory": "xor edi, edi; mov esi, 4096; mov edx, 7; mov r10d, 0x22; mov r8, -1; xor r9d, r9d; "
    "mov eax, 9; syscall",
    "mprotect the code": f"movabs rdi, {CODE}; mov esi, 4096; mov edx, 7; mov eax, 10; syscall",
    "write to standard output": "mov eax, 1; mov edi, 1; lea rsi, [rip]; mov edx, 64; syscall",
    "prctl": "mov eax, 157; mov edi, 4; mov esi, 1; syscall",
    "exit with a code of its own": "mov eax, 231; xor edi, edi; syscall",
    "32-bit system call": "mov eax, 20; int 0x80",
    "sysenter": "sysenter",
    "x32 system call": "mov eax, 0x40000027; syscall",
    "forged signal frame": "mov eax, 15; syscall",
    "endless loop": "1: jmp 1b",
    "endless loop with pause": "1: pause; jmp 1b",
    "hlt": "hlt",
    "cli": "cli",
    "in": "in al, dx",
    "out": "out dx, al",
    "rdpmc": "xor ecx, ecx; rdpmc",
    "rdmsr": "mov ecx, 0x10; rdmsr",
    "wrmsr": "mov ecx, 0x10; wrmsr",
    "write cr0": "mov cr0, rax",
    "read cr3": "mov rax, cr3",
    "debug register": "mov dr7, rax",
    "lgdt": "lgdt [rsi]",
    "ltr": "ltr ax",
    "wbinvd": "wbinvd",
    "invd": "invd",
    "swapgs": "swapgs",
    "vmcall": "vmcall",
    "vmmcall": "vmmcall",
    "vmxoff": "vmxoff",
    "enclu": "enclu",
    "ud2": "ud2",
    "int3": "int3",
    "icebp": ".byte 0xf1",
    "divide by zero": "xor ecx, ecx; div ecx",
    "no stack": "xor esp, esp; push rax",
    "stack that never ends": "1: push rax; sub rsp, 4088; jmp 1b",
    "return to anywhere": "push rax; ret",
    "jump to no address": "mov rax, 0x8000000000000000; jmp rax",
    "call null": "xor eax, eax; call rax",
    "jump into data": "jmp rax",
    "far return": "push 0x23; push rax; retfq",
    "write to its own code": "lea rdi, [rip]; mov byte ptr [rdi], 0x90",
    "write to the code's first bytes": f"movabs rdi, {CODE}; mov dword ptr [rdi], 0xcccccccc",
    "overwrite the harness's page": f"movabs rdi, {CONTEXT}; mov ecx, 64; 1: mov qword ptr [rdi], -1; "
    "add rdi, 8; dec ecx; jnz 1b",
    "write where programs are": "movabs rdi, 0x555555554000; mov qword ptr [rdi], 0",
    "write over the libraries": "movabs rdi, 0x7ffff7000000; 1: mov qword ptr [rdi], 0; add rdi, 4096; "
    "jmp 1b",
    "take all memory": "1: mov [rdi], rax; add rdi, 0x200000; jmp 1b",
    "read the kernel": "mov rax, 0xffffffff81000000; mov rbx, [rax]",
    "vsyscall": "mov rax, 0xffffffffff600000; call rax",
    "single step": "pushfq; or qword ptr [rsp], 0x100; popfq; nop",
    "alignment check": "pushfq; or qword ptr [rsp], 0x40000; popfq; mov rax, [rsi+1]",
    "direction flag": "std",
    "fs base": "mov rax, 0x1234; wrfsbase rax",
    "fs base that is no address": "mov rax, 0x8000000000000000; wrfsbase rax",
    "deny all memory by keys": "xor ecx, ecx; xor edx, edx; mov eax, -1; wrpkru",
    "floating-point exceptions": "push 0; ldmxcsr [rsp]; xorps xmm0, xmm0; divps xmm0, xmm0",
    "null pointer": "xor eax, eax; mov rbx, [rax]",
    "lock across two lines": "lock add qword ptr [rsi+60], rax",
    "lock across two lines, found at run time": "lea rdi, [rsi+rbx*8+61]; lock xadd [rdi], rax",
    "forged keys": "xor edx, edx; mov eax, 512; xrstor [rsi]",
    "shadow stack": "incsspq rax",
    "secure mode": "xor eax, eax; getsec",
    "hypervisor call of TDX": ".byte 0x66, 0x0f, 0x01, 0xcc",
    "tile without permission": ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0",
    "monitor": "monitor",
    "transaction that aborts for ever": "1: xbegin 1b; xabort 1; jmp 1b",
}

CONTROLS = 10
PATIENCE_SECONDS = 30
CONTROL = MeasurementRequest(code=bytes.fromhex("4801d8"), instructions=1, loop=True)


def right(harness):
    """Nothing, or what the control read wrong each time: a busy machine spoils measurements for seconds. What
    a block has spoiled stays wrong however often the control is read. The test is skipped if the machine is
    too busy for any."""
    found: list[object] = []
    end = time.monotonic() + PATIENCE_SECONDS
    while len(found) < CONTROLS or time.monotonic() < end:
        measured = harness.measure(CONTROL)
        if measured.cycles is not None and abs(measured.cycles - 1) < 0.03:
            return []
        if "busy" not in measured.problem:
            found.append(measured)
        elif time.monotonic() > end:
            pytest.skip("the machine is too busy to measure anything")
    return found


def test_every_hostile_block_is_contained(confined, encode, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = set(os.listdir(tmp_path))
    wrong = []
    for name, statements in HOSTILE.items():
        code = encode(statements)
        answer = confined.measure(MeasurementRequest(code=code, instructions=4, loop=True))
        control = right(confined)
        if control:
            wrong.append((name, answer, control))
    assert not wrong
    assert set(os.listdir(tmp_path)) - before <= {"block.s", "block.o", "block.bin"}
    children = f"/proc/{confined._process.pid}/task/{confined._process.pid}/children"
    assert Path(children).read_text().split() == []


def test_what_reaches_outside_is_refused_before_it_runs(encode):
    for name in (
        *("getpid", "fork", "sysenter", "hlt", "cli", "in", "out", "rdmsr", "wrmsr", "lgdt", "ltr", "wbinvd"),
        *("invd", "swapgs", "vmcall", "vmmcall", "vmxoff", "enclu", "monitor"),
        "32-bit system call",
        "write cr0",
        "debug register",
        "single step",
        "deny all memory by keys",
        "forged keys",
        "shadow stack",
        "secure mode",
        "hypervisor call of TDX",
        "fs base",
        "lock across two lines",
        "lock across two lines, found at run time",
        "tile without permission",
    ):
        assert refusal(decode(encode(HOSTILE[name]))), name


EXTENSIONS = {
    *("VMX", "SVM", "SGX1", "CET_SS", "PKU", "SMX", "SEAM", "TDX", "UINTR", "MONITOR", "MONITORX", "WAITPKG"),
    *(
        "AMX_TILE",
        "AMX_BF16",
        "AMX_INT8",
        "AMX_FP16",
        "AMX_COMPLEX",
        "ENQCMD",
        "PCONFIG",
        "INVPCID",
        "SEV_ES",
    ),
    *("SEV_SNP", "INVLPGB", "HRESET"),
}
"""Virtual machines, enclaves, shadow stacks, protection keys, and what else reaches beyond a process."""


def test_every_form_of_the_refused_extensions_is_refused():
    """By the decoder's own list of instructions: a new one is noticed."""
    names = {value: name.lower() for name, value in vars(Mnemonic).items() if isinstance(value, int)}
    features = {value: name for name, value in vars(CpuidFeature).items() if isinstance(value, int)}
    codes: list[Any] = [value for value in vars(Code).values() if isinstance(value, int)]
    passed, seen = set(), set()
    for code in codes:
        about, instruction = OpCodeInfo(code), Instruction()
        instruction.code = code
        found = {features[each] for each in instruction.cpuid_features()} & EXTENSIONS
        if not (about.is_instruction and about.mode64 and found):
            continue
        seen |= found
        if not instruction.is_privileged and refused_kind(names[about.mnemonic]) is None:
            passed.add(names[about.mnemonic])
    assert not passed
    assert seen > {"VMX", "SGX1", "CET_SS", "PKU", "AMX_TILE"}


@pytest.mark.parametrize(
    "statements",
    [
        "vmovups ymm0, [rsi]",
        "vmulps xmm0, xmm1, xmm2",
        "vmaskmovps xmm0,xmm1,[rsi]",
        "lock add [rsi+8], rax",
        "lock xadd [rdi], rax; add rdi, 64",
        "lock inc dword ptr [rsi+60]",
        "push rax; lock inc qword ptr [rsp+8]; pop rax",
        "xchg rax, rbx",
    ],
)
def test_ordinary_code_is_not_refused(encode, statements):
    assert refusal(decode(encode(statements))) == ""


@pytest.mark.parametrize(
    "statements",
    [
        "lock add [rsi+57], rax",
        "xchg [rdi+4], rax; add rdi, 4",
        "mov rdi, [rsi]; lock inc qword ptr [rdi]",
        "lock inc qword ptr [rsi+rcx]; inc rcx",
        "pop rsp; lock inc qword ptr [rsp]",
        "lock inc qword ptr [esi]",
    ],
)
def test_a_lock_that_may_cross_a_line_is_refused(encode, statements):
    assert "it may lock two cache lines" in refusal(decode(encode(statements)))


HIDDEN = {
    "a branch into a constant": "eb0248b8f0015e3d90eb0190",
    "a branch backwards into a constant": "48b8f0015e3d90eb019090ebf5",
    "a computed branch": "ffe048b8f0015e3d90909090",
    "a return": "48b8f0015e3d90909090c3",
    "a call into a constant": "e80200000048b8f0015e3d90909090",
}


@pytest.mark.parametrize("code", HIDDEN.values(), ids=HIDDEN.keys())
def test_what_a_branch_into_the_middle_of_an_instruction_runs_is_refused(code):
    """``lock add [rsi+61], ebx`` within a constant."""
    instructions = decode(bytes.fromhex(code))
    assert not any(instruction.text.startswith("lock") for instruction in instructions)
    assert "it may lock two cache lines" in refusal(instructions)


@pytest.mark.parametrize(
    "code", ["48b8f0015e3d90909090", "eb0a48b8f0015e3d90909090", "48b8f0015e3d90909090ebf4"]
)
def test_a_constant_that_no_branch_leads_into_is_one(code):
    assert refusal(decode(bytes.fromhex(code))) == ""


def test_the_initial_registers_decide_the_address_of_a_lock(encode):
    code = decode(encode("lock add [rsi], rax"))
    assert refusal(code, {"RSI": 0x10038}) == ""
    assert "two cache lines" in refusal(code, {"RSI": 0x10039})


def test_requests_that_cannot_be_read_are_answered(any_clock):
    lines = (
        b"nonsense\nmode=loop code=zz instructions=1\nmode=loop code=90\n\nmode=loop instructions=1 code=90\n"
    )
    done = subprocess.run([PROGRAM, "--time-stamps"], input=lines, capture_output=True, check=True)
    answers = done.stdout.decode().splitlines()[1:]
    assert [answer.split()[0] for answer in answers[:-1]] == ["status=unreadable"] * 4
    assert answers[-1].startswith(("status=ok", "status=busy"))


MOST_TABLES = 40 << 10
"""KiB: two tables for each of the 4,096 pages that code may touch, and what a process has anyway."""
PLACES = 60_000
"""Places 1 GB apart, each of which needs two tables of its own: 480 MB."""


def _addresses(pid: int, *names: str) -> list[int]:
    """Where symbols of the harness lie in a process of it."""
    listed = subprocess.run(["nm", PROGRAM], check=True, capture_output=True, text=True).stdout.splitlines()
    offsets = {words[-1]: int(words[0], 16) for line in listed if len(words := line.split()) == 3}
    if not set(names) <= offsets.keys():
        pytest.skip("the harness has no table of symbols")
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    base = min(int(line.split("-")[0], 16) for line in maps if line.endswith(str(PROGRAM.resolve())))
    return [base + offsets[name] for name in names]


def _most_tables(pid: int, thread: threading.Thread) -> int:
    """KiB of page tables that the children of a process had at most while a thread ran."""
    most = 0
    while thread.is_alive():
        with contextlib.suppress(OSError):
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                status = Path(f"/proc/{child}/status").read_text()
                sizes = [int(line.split()[1]) for line in status.splitlines() if "VmPTE" in line]
                most = max(most, *sizes) if sizes else most
        time.sleep(0.01)
    return most


def test_the_page_tables_of_measured_code_are_bounded(open_harness, encode):
    """Code that has found the harness's own mmap maps pages far from each other by it."""
    if shutil.which("nm") is None:
        pytest.skip("nm is needed")
    with open_harness(clock=Clocks.NONE, milliseconds=2000) as harness:
        pid = harness._process.pid
        mapped, data = _addresses(pid, "sandbox_mapped", "data")
        # The system call is the instruction before that place; what follows returns to the caller.
        code = encode(
            f"xor ebx, ebx; movabs r13, {mapped - 2}; 1: mov rdi, rbx; shl rdi, 30; "
            f"movabs rax, 0x100000000000; add rdi, rax; mov r12, rdi; mov esi, 4096; mov edx, 3; "
            f"mov r10d, 0x100001; movabs rax, {data}; mov r8d, [rax]; xor r9d, r9d; mov eax, 9; call r13; "
            f"test rax, rax; js 2f; mov byte ptr [r12], 1; inc ebx; cmp ebx, {PLACES}; jb 1b; 2: jmp 2b"
        )
        answers: list[Measurement] = []
        request = MeasurementRequest(code=code, instructions=22, loop=True)
        thread = threading.Thread(target=lambda: answers.append(harness.measure(request)))
        thread.start()
        most = _most_tables(pid, thread)
        thread.join()
        assert answers[0].cycles is None, answers
        # It did get at the mapping, and no further than it may.
        assert 8 << 10 < most < MOST_TABLES, answers


def test_a_figure_that_the_code_forges_is_none(open_harness, encode):
    """Code that has found the page of results writes them there itself, and ends the process as if done."""
    if shutil.which("nm") is None:
        pytest.skip("nm is needed")
    with open_harness(clock=Clocks.NONE, milliseconds=2000) as harness:
        result, leave = _addresses(harness._process.pid, "result", "sandbox_exit")

        def forged(figure: float) -> Measurement:
            (bits,) = struct.unpack("<q", struct.pack("<d", figure))
            # The stage DONE, 8 samples, and their cycles.
            code = encode(
                f"movabs rax, {result}; mov rdi, [rax]; mov dword ptr [rdi], 3; mov dword ptr [rdi+32], 8; "
                f"movabs rax, {bits}; add rdi, 40; mov ecx, 8; 1: mov [rdi], rax; add rdi, 8; dec ecx; "
                f"jnz 1b; xor edi, edi; movabs rax, {leave}; call rax"
            )
            return harness.measure(MeasurementRequest(code=code, instructions=14, loop=True))

        # Nothing but the limit tells such a figure from a true one.
        assert forged(7.5).cycles == 7.5
        for figure in (1e308, 1e11, -1e11, float("inf"), float("nan")):
            found = forged(figure)
            assert found.cycles is None, figure
            assert "changes what times it" in found.problem
