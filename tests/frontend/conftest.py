"""Helpers for the front end's tests: encode a few lines, and ask GNU as for the same."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.source import AssembledFile

_LISTING = re.compile(r"\s*(\d+) (?:[0-9a-f]{4,}|\?{4,}) ([0-9A-F]+(?: [0-9A-F]+)*)(?=\s|$)")
_CONTINUATION = re.compile(r"\s*(\d+)\s+([0-9A-F]{2,})\s*$")


@pytest.fixture
def region() -> Callable[..., AssembledFile]:
    """Assemble a text as one region whose first line is line 1, without help unless asked for."""

    def run(text: str, syntax: str = "att", external: bool = False) -> AssembledFile:
        marked = f"# cyclelens-begin\n{text}\n# cyclelens-end\n"
        return assemble(marked, SourceOptions(syntax=syntax, allow_external_programs=external))

    return run


@pytest.fixture
def code(region: Callable[..., AssembledFile]) -> Callable[..., str]:
    """The bytes of some statements in hexadecimal, of all blocks if they branch; there must be no problem."""

    def run(text: str, syntax: str = "att") -> str:
        result = region(text, syntax)
        assert [problem for problem in result.problems if problem.code != "inner-branch"] == []
        return "".join(part.code.hex() for part in result.regions)

    return run


@pytest.fixture
def gnu_code(tmp_path: Path) -> Callable[[str], bytes]:
    """The bytes of the section .text that GNU as makes of a text."""
    if shutil.which("as") is None or shutil.which("objcopy") is None:
        pytest.skip("GNU as is not installed")

    def run(text: str) -> bytes:
        (tmp_path / "x.s").write_text(text)
        (tmp_path / "x.bin").write_bytes(b"")
        done = subprocess.run(
            ["as", "--64", "-o", "x.o", "x.s"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", "x.o", "x.bin"], cwd=tmp_path, check=True)
        return (tmp_path / "x.bin").read_bytes()

    return run


@pytest.fixture
def gnu_lines(tmp_path: Path) -> Callable[[str], dict[int, bytes]]:
    """What GNU as makes of every (zero-based) line."""
    if shutil.which("as") is None:
        pytest.skip("GNU as is not installed")

    def run(text: str) -> dict[int, bytes]:
        source = tmp_path / "x.s"
        listing = tmp_path / "x.lst"
        source.write_text(text)
        command = ["as", "--64", "-o", str(tmp_path / "x.o"), f"-aln={listing}"]
        command += ["--listing-lhs-width=8", "--listing-cont-lines=1000", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        digits: dict[int, str] = defaultdict(str)
        for line in listing.read_text(errors="replace").splitlines():
            match = _LISTING.match(line) or _CONTINUATION.fullmatch(line)
            if match:
                digits[int(match[1]) - 1] += match[2].replace(" ", "")
        return {line: bytes.fromhex(text) for line, text in digits.items()}

    return run
