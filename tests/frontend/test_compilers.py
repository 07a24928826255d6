"""Compiler output for twenty C kernels: every loop is found, and its bytes are the compiler's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.assemblers.gnu_backend import gnu_as
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import outermost, regions_of
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions

KERNELS = r"""
#include <math.h>
typedef unsigned char byte;
struct node { struct node *next; long value; };
#define EACH for (long i = 0; i < n; i++)
void axpy(float *x, float *y, float a, long n) { EACH y[i] += a * x[i]; }
double dot(double *x, double *y, long n) { double s = 0; EACH s += x[i] * y[i]; return s; }
int sum(int *x, long n) { int s = 0; EACH s += x[i]; return s; }
int largest(int *x, long n) { int m = x[0]; EACH if (x[i] > m) m = x[i]; return m; }
void reverse(byte *d, const byte *s, long n) { EACH d[i] = s[n - 1 - i]; }
long length(const char *s) { const char *p = s; while (*p) p++; return p - s; }
void multiply(float a[64][64], float b[64][64], float c[64][64]) {
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) {
      float s = 0;
      for (int k = 0; k < 64; k++) s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}
void stencil(double *x, double *y, long n) {
  for (long i = 1; i < n - 1; i++) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
void histogram(const byte *x, int *h, long n) { EACH h[x[i]]++; }
unsigned crc(unsigned c, const byte *p, long n) {
  while (n--) { c ^= *p++; for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xEDB88320u : c >> 1; }
  return c;
}
long population(unsigned long *x, long n) { long s = 0; EACH s += __builtin_popcountl(x[i]); return s; }
unsigned long fibonacci(int n) {
  unsigned long a = 0, b = 1;
  while (n--) { unsigned long t = a + b; a = b; b = t; }
  return a;
}
unsigned long divisor(unsigned long a, unsigned long b) {
  while (b) { unsigned long t = a % b; a = b; b = t; }
  return a;
}
long search(const int *x, long n, int v) {
  long l = 0, h = n;
  while (l < h) { long m = (l + h) / 2; if (x[m] < v) l = m + 1; else h = m; }
  return l;
}
double polynomial(double x, const double *c, long n) { double r = 0; EACH r = r * x + c[i]; return r; }
void clamp(short *d, const int *s, long n) {
  EACH d[i] = s[i] > 32767 ? 32767 : s[i] < -32768 ? -32768 : s[i];
}
void mix(byte *a, const byte *b, const byte *c, long n) { EACH a[i] = b[i] ^ c[i]; }
void roots(float *x, long n) { EACH x[i] = 1 / sqrtf(x[i]); }
void gather(double *d, const double *s, const int *ix, long n) { EACH d[i] = s[ix[i]]; }
long total(struct node *p) { long s = 0; for (; p; p = p->next) s += p->value; return s; }
"""
FUNCTIONS = 20


def compiled(folder: Path, compiler: str, chip: str, syntax: str) -> tuple[str, bytes]:
    """The kernels in assembly, and the section of code that the same compiler makes of that."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if gnu_as() is None:
        pytest.skip("GNU as is not on PATH")
    (folder / "k.c").write_text(KERNELS)
    command = [compiler, "-O3", "-ffast-math", f"-march={chip}", f"-masm={syntax}", "-S", "k.c", "-o", "k.s"]
    for step in (
        command,
        [compiler, "-c", "k.s", "-o", "k.o"],
        ["objcopy", "-O", "binary", "-j", ".text", "k.o", "k.bin"],
    ):
        subprocess.run(step, cwd=folder, check=True)
    return (folder / "k.s").read_text(), (folder / "k.bin").read_bytes()


# Every pair of a compiler and a syntax, and of a chip and either.
every_pair = pytest.mark.parametrize(
    ("chip", "compiler", "syntax"),
    [
        ("x86-64", "gcc", "att"),
        ("x86-64", "clang", "intel"),
        ("haswell", "gcc", "intel"),
        ("haswell", "clang", "att"),
        ("skylake-avx512", "gcc", "att"),
        ("skylake-avx512", "clang", "intel"),
    ],
)


@every_pair
def test_every_loop_of_a_compiler_is_found(tmp_path: Path, compiler: str, chip: str, syntax: str) -> None:
    text, code = compiled(tmp_path, compiler, chip, syntax)
    result = assemble(text, SourceOptions(regions=Regions.LOOPS))
    assert [problem for problem in result.problems if problem.severity == "error"] == []
    assert len({region.name.split(".")[1] for region in result.regions}) >= FUNCTIONS
    assert not any(region.incomplete for region in result.regions)
    # What depends on no address stands in the object byte for byte.
    for region in result.regions:
        plain = [line for line in region.lines if "rip" not in line.text and line.backend != "cyclelens"]
        assert all(line.code in code for line in plain), region.name


@every_pair
def test_every_line_of_a_compiler_is_encoded(tmp_path: Path, compiler: str, chip: str, syntax: str) -> None:
    """All functions as one region, against the whole section, but for what a linker fills in."""
    text, code = compiled(tmp_path, compiler, chip, syntax)
    result = assemble(f"# cyclelens-begin\n{text}\n# cyclelens-end\n")
    assert [problem for problem in result.problems if problem.severity == "error"] == []
    statements = [line for region in result.regions for line in region.lines]
    assert len(statements) > 800
    at = 0
    for line in statements:
        made, wanted = line.code, code[at : at + len(line.code)]
        fills_otherwise = compiler == "clang" and "align" in line.text  # as long, with other NOPs
        open_places = [place for place in range(len(wanted)) if not wanted[place]]
        differing = [place for place in range(len(made)) if made[place] != wanted[place]]
        assert fills_otherwise or set(differing) <= set(open_places), (
            line.line,
            line.text,
            made.hex(),
            wanted.hex(),
        )
        at += len(made)
    assert at == len(code)


@pytest.mark.parametrize("syntax", ["att", "intel"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_compiled_loop_has_its_address_in_the_object(
    tmp_path: Path, compiler: str, syntax: str
) -> None:
    text, _ = compiled(tmp_path, compiler, "haswell", syntax)
    file = ObjectFile((tmp_path / "k.o").read_bytes())
    loops = assemble(text, SourceOptions(regions=Regions.LOOPS)).regions
    in_object = regions_of(file, outermost(file.functions), Regions.LOOPS).regions
    assert len(loops) >= FUNCTIONS
    assert [(len(region.code), region.placement) for region in loops] == [
        (len(region.code), region.placement) for region in in_object
    ]
    assert {region.placement.known for region in loops} == {16}
