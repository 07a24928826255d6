"""Programs whose path through their code is known, instruction by instruction, and the output that `perf`
would write."""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import Struct

from testkit import perf_data

SOURCE = """\
__attribute__((noinline)) long walk(const long *a, long n) {
    long s = 1;
    for (long i = 0; i < n; i++) {
        if (a[i] & 1) { s = s * a[i] * 3; s *= a[i]; __asm__ volatile("" : "+r"(s)); }
        else { s += a[i]; __asm__ volatile("" : "+r"(s)); }
    }
    return s;
}
__attribute__((noinline)) long chain(const long *a, long n) {
    long s = 0;
    for (long i = 0; i < n; i++) { s = s * 5 + a[i]; __asm__ volatile("" : "+r"(s)); }
    return s;
}
int main(void) {
    static long a[100];
    for (int i = 0; i < 100; i++) a[i] = i % 4 == 3;
    return (walk(a, 100) + walk(a, 100) + walk(a, 100) + chain(a, 100)) == 0;
}
"""
MAIN = """\
long walk(const long *a, long n);
long chain(const long *a, long n);
""" + SOURCE[SOURCE.index("int main") :]
NASM = """\
default rel
section .text
global walk
global chain
spare:
    lea rax, [far_away]
    jmp far_away
align 16
walk:
    mov eax, 1
    test rsi, rsi
    jle .done
    lea rdx, [rdi+rsi*8]
.loop:
    mov rcx, [rdi]
    test cl, 1
    jz .even
    imul rax, rcx
    lea rax, [rax+rax*2]
    jmp .next
.even:
    add rax, rcx
.next:
    add rdi, 8
    cmp rdi, rdx
    jne .loop
.done:
    ret
    times 200 nop
far_away:
    ret
align 32
chain:
    xor eax, eax
.again:
    imul rax, rax, 5
    add rax, [rdi]
    add rdi, 8
    dec rsi
    jnz .again
    ret
section .note.GNU-stack noalloc noexec nowrite progbits
"""
"""The same two functions by hand, with jumps of both sizes before them."""
GNU = """\
    .text
    .globl walk, chain
    .type walk, @function
spare:
    jmp far_away
    .p2align 4
walk:
    movl $1, %eax
    testq %rsi, %rsi
    jle 2f
    leaq (%rdi,%rsi,8), %rdx
    # cyclelens-begin walking
0:  movq (%rdi), %rcx
    testb $1, %cl
    jz 1f
    imulq %rcx, %rax
    leaq (%rax,%rax,2), %rax
    jmp 3f
1:  addq %rcx, %rax
3:  addq $8, %rdi
    cmpq %rdx, %rdi
    jne 0b
    # cyclelens-end
2:  ret
    .size walk, .-walk
    .fill 200, 1, 0x90
far_away:
    ret
    .p2align 5
chain:
    xorl %eax, %eax
    # cyclelens-begin chaining
0:  imulq $5, %rax, %rax
    addq (%rdi), %rax
    addq $8, %rdi
    decq %rsi
    jnz 0b
    # cyclelens-end
    ret
    .section .note.GNU-stack,"",@progbits
"""
ODD = 0.25
"""Of the elements."""
WALKED, CHAINED = 300, 100
"""Iterations."""
DEPTH = 32
"""Branches that a processor remembers."""


class Run(Struct):
    """A program and the addresses that it executed."""

    path: Path
    code: str
    """The line of the program in ``/proc/PID/maps``."""
    addresses: list[int]
    functions: list[tuple[int, int, str]]
    """First address, the one behind the last, and name; in their order."""
    base: int
    """What the loader added to the file's addresses."""

    def branches(self) -> Iterator[tuple[int, int]]:
        """The branches that jumped."""
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", self.path], check=True, capture_output=True, text=True
        ).stdout
        known = sorted(int(found[1], 16) for found in re.finditer(r"^\s*([0-9a-f]+):", listing, re.MULTILINE))
        following = dict(pairwise(known))
        for here, there in pairwise(self.addresses):
            if following.get(here - self.base) != there - self.base:
                yield here, there

    def symbol(self, address: int) -> str:
        """An address in the form that ``perf`` writes."""
        at = bisect_right(self.functions, (address - self.base, 1 << 64, "")) - 1
        first, end, name = self.functions[at]
        if first <= address - self.base < end:
            return f"{name}+{address - self.base - first:#x}"
        return "[unknown]"

    def script(self, *, symbols: bool) -> str:
        """Every branch, as ``perf`` writes them, in samples as deep as a processor's memory of them.
        Neighbours share a branch, so that no run is lost and none is counted twice."""

        def place(address: int) -> str:
            return self.symbol(address) if symbols else f"{address:#x}"

        lines = []
        for sample in self.samples():
            entries = " ".join(f"{place(a)}/{place(b)}/P/-/-/2" for a, b in sample)
            lines.append(f"prog  4711 1.000: 1000003 branches:u:  {entries} ")
        return "\n".join(lines) + "\n"

    def samples(self) -> Iterator[list[tuple[int, int]]]:
        """The samples of ``script`` as addresses, newest first."""
        found = list(self.branches())
        for start in range(0, len(found), DEPTH - 1):
            yield found[start : start + DEPTH][::-1]

    def printed(self, fields: str, *options: str) -> str:
        """What ``perf script -F`` itself prints of a recording of these branches."""
        data = self.path.with_name("perf.data")
        perf_data.write(data, self.code, self.samples())
        command = ["perf", "script", "-i", str(data), "-F", fields, *options]
        try:
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"perf prints nothing here: {error}")

    def mapping(self) -> str:
        """The line that ``perf script --show-mmap-events`` writes for a mapping."""
        span, _, offset, device, inode, path = self.code.split()
        first, end = (int(part, 16) for part in span.split("-"))
        return (
            f"prog  4711 0.000: PERF_RECORD_MMAP2 4711/4711: [{first:#x}({end - first:#x}) @ "
            f"{int(offset, 16):#x} {device} {inode} 0]: r-xp {path}\n"
        )


def steps(folder: Path) -> Path:
    """A program that follows others, built in a folder."""
    source = Path(__file__).with_name("steps.c")
    built = folder / "steps"
    subprocess.run(["gcc", "-O1", "-Wall", "-o", built, source], check=True)
    return built


def follow(folder: Path, steps: Path, *options: str) -> Run:
    """Build ``SOURCE`` and run it."""
    source, program = folder / "prog.c", folder / "prog"
    source.write_text(SOURCE)
    subprocess.run(
        ["gcc", "-O2", "-g", "-fno-if-conversion", *options, "-o", program, source], check=True, cwd=folder
    )
    return _followed(steps, program, is_fixed="-no-pie" in options)


def follow_kernel(folder: Path, steps: Path, kernel: Path) -> Run:
    """Build a program around an assembly file and run it."""
    main, built, program = folder / "main.c", folder / "kernel.o", folder / "prog"
    main.write_text(MAIN)
    assembler = ["nasm", "-f", "elf64"] if kernel.suffix == ".asm" else ["as"]
    subprocess.run([*assembler, "-o", built, kernel], check=True)
    subprocess.run(["gcc", "-O1", "-static-pie", "-o", program, main, built], check=True, cwd=folder)
    return _followed(steps, program, is_fixed=False)


def _followed(steps: Path, program: Path, *, is_fixed: bool) -> Run:
    try:
        told = subprocess.run(
            [steps, program], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"programs cannot be followed here: {error}")
    names = subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True).stdout
    symbols = re.findall(r"^([0-9a-f]+) [TtWw] (\S+)$", names, re.MULTILINE)
    starts = sorted({int(first, 16): name for first, name in symbols}.items())
    functions = [
        (first, behind, name)
        for (first, name), (behind, _) in pairwise([*starts, (starts[-1][0] + 0x1000, "")])
    ]
    (code,) = (line for line in told if line.endswith(str(program)))
    span, _, offset, *_ = code.split()
    base = 0 if is_fixed else int(span.split("-")[0], 16) - int(offset, 16)
    addresses = [int(line, 16) for line in told if " " not in line]
    # The C library's own loops, before main and behind it, would be analysed by every test, too.
    first, behind = next((first + base, behind + base) for first, behind, name in functions if name == "main")
    begin = addresses.index(first)
    end = max(place for place, address in enumerate(addresses) if first <= address < behind)
    return Run(program, code, addresses[begin : end + 1], functions, base)
