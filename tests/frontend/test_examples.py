"""The shipped examples and gcc's output: bytes equal to GNU as's, both dialects equal to each other."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.source import Region

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.s"))
_RELATIVE = re.compile(r"\(%rip\)|\[rip\b|\[rip\]", re.IGNORECASE)


def same_as_gnu(region: Region, expected: dict[int, bytes]) -> None:
    """Compare line by line; where an address is filled in by the linker, up to that address."""
    for line in region.lines:
        wanted = expected[line.line]
        if _RELATIVE.search(line.text):
            assert line.code[:-4] == wanted[:-4], line
        else:
            assert line.code == wanted, line
    covered = {line.line for line in region.lines}
    missing = [
        n for n in range(region.first_line + 1, region.last_line) if n in expected and n not in covered
    ]
    assert missing == []


def test_there_are_seven_kernels_in_both_dialects() -> None:
    plain = [name for name in NAMES if not name.endswith("_intel")]
    assert len(plain) >= 7
    assert sorted([*plain, *(f"{name}_intel" for name in plain)]) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("_intel")])
def test_both_dialects_of_an_example_are_the_same_code(name: str) -> None:
    att = assemble((EXAMPLES / f"{name}.s").read_text())
    intel = assemble((EXAMPLES / f"{name}_intel.s").read_text())
    assert (att.problems, intel.problems) == ((), ())
    assert (att.dialect, intel.dialect) == ("att", "intel")
    assert [(r.name, r.code.hex()) for r in att.regions] == [(r.name, r.code.hex()) for r in intel.regions]
    assert att.regions and all(region.code and not region.incomplete for region in att.regions)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_the_bytes_of_gnu_as(name: str, gnu_lines: Callable[[str], dict[int, bytes]]) -> None:
    text = (EXAMPLES / f"{name}.s").read_text()
    expected = gnu_lines(text)
    for region in assemble(text).regions:
        same_as_gnu(region, expected)


def test_the_hazards_of_the_examples_are_where_they_should_be() -> None:
    unrolled, loop = assemble((EXAMPLES / "lcp_stall.s").read_text()).regions
    assert unrolled.code.hex() == "6605341249ffcf"
    assert (unrolled.ends_in_jump_to_start, loop.ends_in_jump_to_start) == (False, True)
    erratum, avoided = assemble((EXAMPLES / "jcc_erratum.s").read_text()).regions
    assert len(erratum.code) == 32
    pair = b"".join(line.code for line in avoided.lines[-2:])
    assert (len(avoided.code) - len(pair)) % 32 == 0


# What gcc 12 -O2 makes of a dot product of integers, with the markers as inline assembly.
GCC = """	.file	"dot.c"
	.text
	.p2align 4
	.globl	dot
	.type	dot, @function
dot:
.LFB0:
	.cfi_startproc
	testq	%rdx, %rdx
	je	.L4
	xorl	%eax, %eax
	xorl	%ecx, %ecx
	.p2align 4,,10
	.p2align 3
.L3:
#APP
# 6 "dot.c" 1
	# LLVM-MCA-BEGIN dot
# 0 "" 2
#NO_APP
	movl	(%rdi,%rax,4), %r8d
	imull	(%rsi,%rax,4), %r8d
	addq	$1, %rax
	addl	%r8d, %ecx
	addl	%ecx, total(%rip)
	cmpq	%rax, %rdx
	jne	.L3
#APP
# 9 "dot.c" 1
	# LLVM-MCA-END
# 0 "" 2
#NO_APP
	movl	%ecx, %eax
	ret
.L4:
	xorl	%ecx, %ecx
	movl	%ecx, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	dot, .-dot
	.comm	total,4,4
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
"""


def test_gcc_style_output(gnu_lines: Callable[[str], dict[int, bytes]]) -> None:
    result = assemble(GCC)
    assert result.problems == ()
    (region,) = result.regions
    assert region.ends_in_jump_to_start
    assert region.name == "dot"
    same_as_gnu(region, gnu_lines(GCC))


C_SOURCE = """
int total;
void kernel(float *restrict a, const float *restrict b, const double *c, long n, int *h) {
    for (long i = 0; i < n; i++) {
        __asm__ volatile("# cyclelens-begin loop");
        a[i] = a[i] * b[i] + (float)c[i];
        if (h[i] > 100) h[i] = (unsigned char)h[i] / 3; else total += h[i] << 2;
    }
    __asm__ volatile("# cyclelens-end");
}
"""


@pytest.mark.parametrize(
    "flags", ["-O1", "-O2", "-O2 -mavx2 -mfma", "-O3 -masm=intel", "-O2 -masm=intel -march=haswell"]
)
def test_what_gcc_writes(flags: str, tmp_path: Path, gnu_lines: Callable[[str], dict[int, bytes]]) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    source = tmp_path / "kernel.c"
    source.write_text(C_SOURCE)
    command = [compiler, *flags.split(), "-fno-pie", "-S", "-o", "-", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"gcc does not take {flags} here")
    result = assemble(done.stdout)
    assert [problem for problem in result.problems if problem.code != "duplicate-region"] == []
    assert result.dialect == ("intel" if "intel" in flags else "att")
    expected = gnu_lines(done.stdout)
    assert result.regions
    for region in result.regions:
        assert not region.incomplete
        same_as_gnu(region, expected)
