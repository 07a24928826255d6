"""Files of well-known projects: every line is encoded, and the loops are those of the assembled object.

A sample; `dev/corpora` measures all of them. The sources come from Debian and are kept in a cache, not here.
"""

from __future__ import annotations

import shutil

import corpora
import pytest
from cyclelens.analyzer.engine.workspace import Workspace

SAMPLE = {
    "gmp": ("coreisbr-mul_1.s", "fastsse-com.s", "coreihwl-addmul_2.s", "x86_64-mode1o.s", "core2-lshift.s"),
    "openblas": ("dgemm_kernel_4x4_haswell.S",),
    "dav1d": ("ipred_avx512.asm", "msac.asm"),
    "x264": ("cabac-a.asm",),
}
"""Small ones of each way to write: plain, C preprocessor, NASM with macros; AVX-512 among them."""


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package in SAMPLE for name in SAMPLE[package]]
)
def test_a_file_is_read_as_its_own_assembler_reads_it(package: str, name: str) -> None:
    for program in ("cc", "as", "nasm"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    try:
        sources = {source.name: source for source in corpora.PACKAGES[package]()}
    except corpora.Unavailable as error:
        pytest.skip(f"the sources of {package} cannot be had: {error}")
    measured = corpora.measure(sources[name], Workspace())
    assert measured is not None, "its own assembler refuses it"
    assert measured.encoded >= 0.99 * measured.lines, measured.failures
    assert measured.found >= measured.loops > 0
    assert measured.same == measured.equal == measured.loops, measured.failures
