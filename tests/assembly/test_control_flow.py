"""Which loops there are in a program: the same ones in its text, in a listing and in its object."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from cyclelens.analyzer.assembly.frontend import assemble
from cyclelens.analyzer.assembly.objects.elf import ObjectFile
from cyclelens.analyzer.assembly.objects.machine_code import outermost, regions_of
from cyclelens.analyzer.assembly.text.markers import MAXIMUM_REGIONS
from cyclelens.analyzer.decoding.decoder import decode
from cyclelens.analyzer.model.choices import Assembler, Regions
from cyclelens.analyzer.model.result import AnalysisOptions
from cyclelens.analyzer.model.source import Region

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not installed")

FUNCTION = ".globl f\n.type f, @function\nf:\n"
PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "a block out of line that jumps back": (
        """\
        test %rdi, %rdi
        js .Lnegative
    .Lback:
        mov %rdi, %rax
        ret
    .Lnegative:
        neg %rdi
        jmp .Lback
        """,
        [],
    ),
    "a loop with its test at the end, entered there": (
        """\
        jmp .Ltest
        .p2align 4
    .Lbody:
        add (%rdi), %rax
        add $8, %rdi
    .Ltest:
        cmp %rsi, %rdi
        jne .Lbody
        ret
        """,
        ["add add cmp jnz"],
    ),
    "a loop in two pieces": (
        """\
    .Ltop:
        add (%rdi), %rax
        jmp .Lrest
    .Lout:
        ret
    .Lrest:
        add $8, %rdi
        cmp %rsi, %rdi
        jne .Ltop
        jmp .Lout
        """,
        ["add jmp add cmp jnz"],
    ),
    "a loop entered in its middle and at its top": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
    .Lmiddle:
        add $2, %rax
        dec %rsi
        jne .Ltop
        ret
        """,
        ["add add dec jnz"],
    ),
    "a cycle entered in two places that has two ways around": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
        jc .Lmiddle
        add $2, %rax
    .Lmiddle:
        dec %rsi
        jne .Ltop
        ret
        """,
        [],
    ),
    "a loop in a cycle that is entered twice": (
        """\
        test %rdi, %rdi
        js .Lmiddle
    .Ltop:
        add $1, %rax
    .Lmiddle:
        dec %rdx
        jne .Lmiddle
        dec %rsi
        jne .Ltop
        ret
        """,
        ["dec jnz"],
    ),
    "nested loops": (
        """\
    .Louter:
        mov %rdx, %rcx
    .Linner:
        dec %rcx
        jne .Linner
    .Lsecond:
        inc %rcx
        cmp %rdx, %rcx
        jb .Lsecond
        dec %rdi
        jne .Louter
        ret
        """,
        ["mov | dec jnz", "dec jnz", "inc cmp jb"],
    ),
    "numeric labels": (
        """\
    1:  dec %rdi
        jne 1b
    1:  dec %rsi
        jne 1b
        jmp 1f
    1:  ret
        """,
        ["dec jnz", "dec jnz"],
    ),
    "a counting loop instruction": (
        "mov $7, %ecx\n.Ltop: add %rdi, %rax\nloop .Ltop\n1: sub $1, %rcx\njrcxz 2f\njmp 1b\n2: ret\n",
        ["add loop", "sub jrcxz jmp"],
    ),
    "a function that jumps to its own beginning": ("dec %rdi\njne f\nret\n", ["dec jnz"]),
    "two functions that jump to each other": (
        "dec %rdi\njne g\nret\n.globl g\ng: sub $2, %rdi\njne f\nret\n",
        [],
    ),
    "two ways around": (
        """\
    .Ltop:
        add $8, %rdi
        cmp $5, (%rdi)
        je .Ltop
        inc %rax
        cmp %rsi, %rdi
        jne .Ltop
        ret
        """,
        ["add cmp jz | inc cmp jnz"],
    ),
    "a jump table within a loop": (
        """\
        lea .Ltable(%rip), %r8
    .Ltop:
        movslq (%r8,%rdi,4), %rax
        add %r8, %rax
        jmp *%rax
    .Lone:
        inc %rsi
        jmp .Lnext
    .Ltwo:
        dec %rsi
    .Lnext:
        dec %rdx
        jne .Ltop
        ret
        .section .rodata
        .p2align 2
    .Ltable:
        .long .Lone-.Ltable
        .long .Ltwo-.Ltable
        .text
        """,
        ["movsxd add jmp | inc jmp | dec | dec jnz"],
    ),
    "a table that leads into the middle of a loop": (
        """\
        jmp *.Ltable(,%rdi,8)
    .Ltop:
        inc %rax
    .Lmiddle:
        inc %rax
        dec %rsi
        jne .Ltop
        ret
        .section .rodata
    .Ltable:
        .quad .Ltop
        .quad .Lmiddle
        .text
        """,
        ["inc inc dec jnz"],
    ),
    "a table of addresses that a load reads for the jump": (
        """\
    .Ltop:
        mov .Ltable(,%rdi,8), %rax
        jmp *%rax
    .Lone:
        inc %rsi
        jmp .Lnext
    .Ltwo:
        dec %rsi
    .Lnext:
        dec %rdx
        jne .Ltop
        ret
        .section .rodata
    .Ltable:
        .quad .Lone
        .quad .Ltwo
        .text
        """,
        ["mov jmp | inc jmp | dec | dec jnz"],
    ),
    "small numbers in the data of a function with a tail call": (
        """\
        push %rbx
        lea counts(%rip), %rdi
        mov 8(%rdi), %rax
        test %rsi, %rsi
        je .Lnext
        inc %rdi
    .Lnext:
        pop %rbx
        jmp *%rax
        .data
    counts:
        .quad 1, 2, 3
        .text
        """,
        [],
    ),
    "a tail call in a function whose address is taken": (
        """\
        mov (%rdi), %rax
        test %rsi, %rsi
        je .Lnext
        inc %rdi
    .Lnext:
        jmp *%rax
        .data
        .quad f
        .text
        """,
        [],
    ),
    "a call that does not return, in front of a loop": (
        """\
        mov %rsi, %rcx
        test %rdi, %rdi
        jne .Lmiddle
        call abort
        .p2align 4
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        ret
        """,
        ["inc dec jnz"],
    ),
    "a function of the file that does not return": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        call give_up
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        ret
        .type give_up, @function
    give_up:
        push %rdi
        call *exit@GOTPCREL(%rip)
        """,
        ["inc dec jnz"],
    ),
    "a function that does return": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        call helper
    .Ltop:
        inc %rax
    .Lmiddle:
        js .Lnext
        inc %rax
    .Lnext:
        dec %rcx
        jne .Ltop
        ret
        .type helper, @function
    helper:
        mov %rdi, %rax
        ret
        """,
        [],
    ),
    "a return that is written as bytes": (
        """\
        test %rdi, %rdi
        jne .Lmiddle
        .byte 0xf3,0xc3
    .Ltop:
        inc %rax
    .Lmiddle:
        dec %rcx
        jne .Ltop
        .byte 0xf3,0xc3
        """,
        ["inc dec jnz"],
    ),
    "the next instruction as a target": (
        "call .Lnext\n.Lnext: pop %rax\n1: dec %rdi\njne 1b\nret\n",
        ["dec jnz"],
    ),
    "stubs of a linker": (
        """\
        ret
        .section .plt, "ax"
    .Lfirst:
        push 8(%rip)
        jmp *16(%rip)
        nopl 0(%rax)
        jmp *24(%rip)
        push $0
        jmp .Lfirst
        jmp *32(%rip)
        push $1
        jmp .Lfirst
        .text
        """,
        [],
    ),
    "two labels at one address, and an alignment that fills nothing": (
        """\
    .Ltop:
    .Lagain:
        .p2align 4
    .Lhere:
        dec %rdi
        jne .Ltop
        dec %rsi
        jne .Lagain
        dec %rdx
        jne .Lhere
        ret
        """,
        ["dec jnz | dec jnz | dec jnz"],
    ),
    "a jump to the next instruction": (
        """\
    .Ltop:
        inc %rax
        je .Lnext
    .Lnothing:
    .Lnext:
        dec %rdi
        jne .Ltop
        ret
        """,
        ["inc jz dec jnz"],
    ),
    "a loop that begins with what fills an alignment": (
        """\
        nop
    .Ltop:
        .p2align 3
        dec %rdi
        jne .Ltop
        ret
        """,
        ["nop dec jnz"],
    ),
    "jumps with GNU as's endings": (
        """\
    .Ltop:
        dec %rdi
        jne.d32 .Ltop
        jmp.d32 g
        nop
        .globl g
    g:
        dec %rdi
        jne.s g
        ret
        """,
        ["dec jnz", "dec jnz"],
    ),
    "constants between functions": (
        """\
    .Ltop:
        dec %rdi
        jne .Ltop
        ret
        .quad 0x3ff0000000000000, 0x243f6a8885a308d3, 0x9e3779b97f4a7c15
        .globl g
    g:
        dec %rdi
        jne g
        ret
        """,
        ["dec jnz", "dec jnz"],
    ),
}


def loops(regions: Iterable[Region]) -> list[str]:
    """The mnemonics of every loop; where it has several blocks, with bars between them."""
    found: dict[str, list[str]] = {}
    for region in regions:
        stem, dot, number = region.name.rpartition(".")
        name = stem if dot and number.isdecimal() else region.name
        found.setdefault(name, []).append(" ".join(one.mnemonic for one in decode(region.code)))
        # A loop of a single block ends in the jump to its start, and nothing else is called a loop.
        assert region.ends_in_jump_to_start or name != region.name or len(found[name]) > 1
    return [" | ".join(blocks) for blocks in found.values()]


def in_object(text: str, folder: Path) -> ObjectFile:
    (folder / "p.s").write_text(text)
    subprocess.run(["as", "-o", "p.o", "p.s"], cwd=folder, check=True)
    return ObjectFile((folder / "p.o").read_bytes())


def loops_of_object(file: ObjectFile) -> list[str]:
    return loops(regions_of(file, outermost([*file.functions, *file.unnamed()]), Regions.LOOPS).regions)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_loops_of_a_program_are_known(name: str, tmp_path: Path) -> None:
    body, expected = PROGRAMS[name]
    text = FUNCTION + body
    assert loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS)).regions) == expected
    assert (
        loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS, assembler=Assembler.GAS)).regions)
        == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


@pytest.mark.parametrize("first", [".byte 0x0f, 0xca", ".nops 13", ".skip 3, 0x90"])
@pytest.mark.parametrize("before", ["", ".section .rodata\n.long 1\n.text\n", FUNCTION])
def test_a_loop_may_begin_with_instructions_that_a_directive_makes(
    first: str, before: str, tmp_path: Path
) -> None:
    text = f"{before}.L1:\n{first}\ndec %ecx\njnz .L1\nret\n"
    found = assemble(text, AnalysisOptions(regions=Regions.LOOPS)).regions
    assert loops(found) == loops_of_object(in_object(text, tmp_path)) != []


@pytest.mark.parametrize("name", [".L1", "around and around", "-[Loop again:]"])
def test_a_jump_to_a_name_in_quotes_makes_a_loop(name: str) -> None:
    text = f'"{name}": dec %ecx\n jz "out there"\n nop\n jmp "{name}"\n"out there": ret\n'
    found = assemble(text, AnalysisOptions(regions=Regions.LOOPS))
    assert [(region.name, region.incomplete) for region in found.regions] == [(name, False)]
    assert found.problems == ()


def test_what_is_wrong_with_a_name_in_quotes_is_said_as_it_is_written() -> None:
    found = assemble('# cyclelens-begin\n.L1: jmp ".L no where"\n jne .L1\n# cyclelens-end\n')
    assert [problem.message for problem in found.problems] == ["The label '.L no where' is not defined."]


THROUGH_ANOTHER_SECTION = """\
.Ltop:
    dec %rsi
    js .Lcold
.Lnext:
    dec %rdi
    jne .Ltop
    ret
    .section .text.unlikely, "ax"
    .type f.cold, @function
f.cold:
.Lcold:
    neg %rsi
    jmp .Lnext
"""


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_a_way_around_through_another_section_belongs_to_the_loop(
    assembler: Assembler, tmp_path: Path
) -> None:
    text = FUNCTION + THROUGH_ANOTHER_SECTION
    expected = ["dec js | dec jnz | neg jmp"]
    assert (
        loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS, assembler=assembler)).regions) == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_the_only_way_around_may_lead_through_another_section(assembler: Assembler, tmp_path: Path) -> None:
    """How far the sections lie apart is not known: the loop comes as its blocks."""
    text = FUNCTION + THROUGH_ANOTHER_SECTION.replace("js .Lcold", "jmp .Lcold")
    expected = ["dec jmp | dec jnz | neg jmp"]
    assert (
        loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS, assembler=assembler)).regions) == expected
    )
    assert loops_of_object(in_object(text, tmp_path)) == expected


SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned char byte;
struct node { struct node *next, *left, *right; long value; };
/* loops */
/* 1 */ long length(const char *s) { const char *p = s; while (*p) p++; return p - s; }
/* 1 */ void axpy(float *x, float *y, float a, long n) { for (long i = 0; i < n; i++) y[i] += a * x[i]; }
/* 2 */ unsigned crc(unsigned c, const byte *p, long n) {
  while (n--) { c ^= *p++; for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xEDB88320u : c >> 1; }
  return c;
}
/* 1 */ int choose(int *p, long n) {
  int s = 0;
  for (long i = 0; i < n; i++)
    switch (p[i]) {
      case 0: s += 3; break;
      case 1: s -= i; break;
      case 2: s ^= 7; break;
      case 3: s *= 3; break;
      case 4: s += i * i; break;
      case 5: abort();
      case 6: s += p[i + 1];
    }
  return s;
}
/* 1 */ long search(const int *x, long n, int v) {
  long l = 0, h = n;
  while (l < h) { long m = (l + h) / 2; if (x[m] < v) l = m + 1; else h = m; }
  return l;
}
/* 2 */ void sort(int *a, long n) {
  for (long i = 1; i < n; i++) {
    int k = a[i]; long j = i - 1;
    while (j >= 0 && a[j] > k) { a[j + 1] = a[j]; j--; }
    a[j + 1] = k;
  }
}
/* 1 */ long total(struct node *p) { long s = 0; for (; p; p = p->next) s += p->value; return s; }
/* 0 */ long tree(struct node *p) { return p ? tree(p->left) + p->value + tree(p->right) : 0; }
/* 1 */ int order(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a - *b; }
/* 1 */ void reverse(char *s) {
  char *e = s + strlen(s);
  while (s < --e) { char c = *s; *s++ = *e; *e = c; }
}
/* 1 */ long divisor(long a, long b) { while (b) { long t = a % b; a = b; b = t; } return a; }
/* 1 */ int lines(FILE *f) { int c, n = 0; while ((c = getc(f)) != EOF) if (c == '\n') n++; return n; }
/* 0 */ void *memory(size_t n) { void *p = malloc(n); if (!p) { perror("x"); exit(1); } return p; }
static __attribute__((noinline, noreturn)) void die(const char *m) { fputs(m, stderr); exit(2); }
/* 1 */ long positive(const long *x, long n) {
  long s = 0;
  for (long i = 0; i < n; i++) { if (x[i] < 0) die("negative"); s += x[i]; }
  return s;
}
/* 3 */ void multiply(float a[64][64], float b[64][64], float c[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float s = 0;
      for (int k = 0; k < 64; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
/* 1 */ long collatz(long n) {
  long s = 0;
  do { n = n & 1 ? 3 * n + 1 : n / 2; s++; } while (n != 1);
  return s;
}
/* 2 */ void unpack(byte *d, const byte *s, long n) {
  long i = 0;
  while (i < n) {
    byte c = s[i++];
    if (c < 128) *d++ = c; else for (int k = c - 128; k > 0 && i < n; k--) *d++ = s[i];
  }
}
/* 2 */ int primes(int n) {
  int f = 0;
  for (int i = 2; i < n; i++) {
    int p = 1;
    for (int j = 2; j * j <= i; j++) if (i % j == 0) { p = 0; break; }
    if (__builtin_expect(p && n > 100, 0)) f ^= printf("%d\n", i);
    f += p;
  }
  return f;
}
/* 2 */ long number(const char *s) {
  long v = 0;
  for (;;) {
    switch (*s++) {
      case '0' ... '9': v = v * 10 + s[-1] - '0'; continue;
      case ' ': case '\t': continue;
      case '-': v = -v; continue;
      case 'x': while (*s == 'f') s++; continue;
      case 0: return v;
      default: abort();
    }
  }
}
"""
KNOWN = {name: int(count) for count, name in re.findall(r"/\* (\d) \*/.*?(\w+)\(", SOURCE)}


def compiled(compiler: str, options: list[str], folder: Path) -> tuple[str, ObjectFile]:
    """The functions in assembly, and the object that GNU as makes of that: clang fills with other NOPs."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    (folder / "p.c").write_text(SOURCE)
    options = [*options, "-fno-addrsig"] if compiler == "clang" else options
    subprocess.run([compiler, *options, "-w", "-S", "p.c", "-o", "p.s"], cwd=folder, check=True)
    text = (folder / "p.s").read_text()
    return text, in_object(text, folder)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_loops_of_compiled_functions_are_those_of_their_source(compiler: str, tmp_path: Path) -> None:
    _, file = compiled(compiler, ["-O1"], tmp_path)
    assert len(KNOWN) == 19
    found = {name: len(loops(regions_of(file, [file.find(name)], Regions.LOOPS).regions)) for name in KNOWN}
    assert found == KNOWN


@pytest.mark.parametrize("options", [["-O1"], ["-O2"], ["-O3"], ["-O3", "-march=haswell"]], ids=" ".join)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_text_and_object_of_a_compiler_have_the_same_loops(
    compiler: str, options: list[str], tmp_path: Path
) -> None:
    text, file = compiled(compiler, options, tmp_path)
    in_text = loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS)).regions)
    assert sorted(in_text) == sorted(loops_of_object(file))
    assert len(in_text) >= sum(KNOWN.values())


def test_a_linked_program_has_the_loops_of_its_source(tmp_path: Path) -> None:
    """Its stubs have none, and its tables and calls are followed without relocations."""
    _, file = compiled("gcc", ["-O1"], tmp_path)
    (tmp_path / "m.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "p.o", "m.c", "-o", "program"], cwd=tmp_path, check=True)
    program = ObjectFile((tmp_path / "program").read_bytes())
    for name in KNOWN:
        assert loops(regions_of(program, [program.find(name)], Regions.LOOPS).regions) == loops(
            regions_of(file, [file.find(name)], Regions.LOOPS).regions
        )
    subprocess.run(["strip", "program"], cwd=tmp_path, check=True)
    stripped = ObjectFile((tmp_path / "program").read_bytes())
    assert len(loops(regions_of(stripped, stripped.unnamed(), Regions.LOOPS).regions)) == sum(KNOWN.values())


RUST = r"""
#![crate_type = "lib"]
/* loops */
/* 1 */ #[no_mangle] pub fn sum(x: &[u64]) -> u64 {
    let mut s = 0u64;
    for v in x { s = s.wrapping_add(*v); }
    s
}
/* 2 */ #[no_mangle] pub fn crc(mut c: u32, p: &[u8]) -> u32 {
    for b in p {
        c ^= *b as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 != 0 { (c >> 1) ^ 0xEDB88320 } else { c >> 1 };
            k += std::hint::black_box(1);
        }
    }
    c
}
/* 1 */ #[no_mangle] pub fn search(x: &[i32], v: i32) -> usize {
    let (mut l, mut h) = (0, x.len());
    while l < h { let m = (l + h) / 2; if x[m] < v { l = m + 1 } else { h = m } }
    l
}
/* 2 */ #[no_mangle] pub fn sort(a: &mut [i32]) {
    for i in 1..a.len() {
        let mut j = i;
        while j > 0 && a[j - 1] > a[j] { a.swap(j - 1, j); j -= 1; }
    }
}
/* 1 */ #[no_mangle] pub fn choose(x: &[u8]) -> u32 {
    let mut s = 1u32;
    for v in x {
        match *v {
            0 => s += 3, 1 => s ^= 77, 2 => s = s.rotate_left(5), 3 => s = s.wrapping_mul(9),
            4 => panic!("four"), 5 => s |= 0x1000, _ => s = s.wrapping_sub(7)
        }
    }
    s
}
/* 0 */ #[no_mangle] pub fn first(x: &[u64], n: usize) -> u64 { x[n] + x[n + 1] }
/* 1 */ #[no_mangle] pub fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 { let t = a % b; a = b; b = t; }
    a
}
/* 1 */ #[no_mangle] pub fn collatz(mut n: u64) -> u64 {
    let mut s = 0;
    while n != 1 { n = if n & 1 != 0 { 3 * n + 1 } else { n / 2 }; s += 1; }
    s
}
"""


@pytest.mark.parametrize("syntax", ["att", "intel"])
@pytest.mark.parametrize("level", [1, 3])
def test_the_loops_of_rust_are_those_of_its_source(level: int, syntax: str, tmp_path: Path) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "p.rs").write_text(RUST)
    # One loop of the source stays one loop.
    options = ["-Cpanic=abort", "-Ccodegen-units=1", "-Cno-vectorize-loops", "-Cllvm-args=-unroll-count=1"]
    options += [f"-Copt-level={level}", f"-Cllvm-args=-x86-asm-syntax={syntax}", "--emit=asm", "-op.s"]
    subprocess.run(["rustc", "--edition=2021", *options, "p.rs"], cwd=tmp_path, check=True)
    text = (tmp_path / "p.s").read_text()
    file = in_object(text, tmp_path)
    known = {name: int(count) for count, name in re.findall(r"/\* (\d) \*/.*?fn (\w+)\(", RUST)}
    assert {
        name: len(loops(regions_of(file, [file.find(name)], Regions.LOOPS).regions)) for name in known
    } == known
    in_text = loops(assemble(text, AnalysisOptions(regions=Regions.LOOPS)).regions)
    assert sorted(in_text) == sorted(loops_of_object(file))
    assert len(in_text) == sum(known.values())


@pytest.mark.parametrize("assembler", [Assembler.AUTO, Assembler.GAS])
def test_a_text_and_its_object_end_with_the_same_loop_and_say_so(
    assembler: Assembler, tmp_path: Path
) -> None:
    """Loops are counted, not their blocks."""
    loop = "1: dec %rdi\njs 2f\ninc %rax\n2: dec %rsi\njne 1b\n"
    text = FUNCTION + loop * (MAXIMUM_REGIONS + 5) + "ret\n"
    in_text = assemble(text, AnalysisOptions(regions=Regions.LOOPS, assembler=assembler))
    file = in_object(text, tmp_path)
    of_object = regions_of(file, file.functions, Regions.LOOPS)
    assert len(loops(in_text.regions)) == len(loops(of_object.regions)) == MAXIMUM_REGIONS
    for problems, what in ((in_text.problems, "loops"), (of_object.problems, "regions")):
        (problem,) = (problem for problem in problems if problem.code == "too-many-regions")
        assert problem.message.startswith(f"Only the first 1,000 of 1,005 {what} are analysed")
