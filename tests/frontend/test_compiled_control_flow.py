"""The loops found in compiled C and Rust are those of the source."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import regions_of
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from testkit.loop_shapes import in_object, loops, loops_of_object

pytestmark = pytest.mark.skipif(shutil.which("as") is None, reason="GNU as is not installed")


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
    in_text = loops(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
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
    in_text = loops(assemble(text, SourceOptions(regions=Regions.LOOPS)).regions)
    assert sorted(in_text) == sorted(loops_of_object(file))
    assert len(in_text) == sum(known.values())
