"""Statements that Keystone cannot encode: iced-x86's encoder does, and no program runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend import assemble as frontend
from cyclelens.analyzer.frontend.assemblers import external, gnu_backend
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Request
from cyclelens.analyzer.model.source import AssembledFile
from testkit.gnu_as import AS

CASES = [
    ("vaddps %zmm1, %zmm2, %zmm3", "vaddps zmm3, zmm2, zmm1", "62f16c4858d9"),
    ("vaddps %ymm17, %ymm2, %ymm3", "vaddps ymm3, ymm2, ymm17", "62b16c2858d9"),
    ("vaddps 64(%rsi), %zmm2, %zmm3{%k1}{z}", "vaddps zmm3{k1}{z}, zmm2, [rsi + 64]", "62f16cc9585e01"),
    (
        "vaddps (%rax){1to16}, %zmm1, %zmm2 {%k1}",
        "vaddps zmm2{k1}, zmm1, dword ptr [rax]{1to16}",
        "62f174595810",
    ),
    ("vaddpd 8(%rax){1to8}, %zmm1, %zmm2", "vaddpd zmm2, zmm1, qword bcst [rax + 8]", "62f1f558585001"),
    ("vaddps {rz-sae}, %zmm1, %zmm2, %zmm3", "vaddps zmm3, zmm2, zmm1, {rz-sae}", "62f16c7858d9"),
    ("vdivps {rn-sae}, %zmm16, %zmm17, %zmm17", "vdivps zmm17, zmm17, zmm16, {rn-sae}", "62a174105ec8"),
    ("vmovups %zmm0, (%rdi,%rcx)", "vmovups [rdi + rcx], zmm0", "62f17c4811040f"),
    ("vpternlogd $3, %ymm0, %ymm1, %ymm2", "vpternlogd ymm2, ymm1, ymm0, 3", "62f3752825d003"),
    ("vpcmpltd %zmm1, %zmm2, %k3", "vpcmpltd k3, zmm2, zmm1", "62f36d481fd901"),
    ("vgatherdps (%rax,%zmm1,4), %zmm2{%k1}", "vgatherdps zmm2{k1}, [rax + zmm1*4]", "62f27d49921488"),
    (
        "vgatherqps (,%ymm19), %xmm1{%k1}",
        "vgatherqps xmm1 {k1}, xmmword ptr [ymm19]",
        "62f27d21930c1d00000000",
    ),
    ("kmovw %k1, %eax", "kmovw eax, k1", "c5f893c1"),
    ("{vex} vpdpbusd %ymm1, %ymm2, %ymm3", "{vex} vpdpbusd ymm3, ymm2, ymm1", "c4e26d50d9"),
    ("{evex} vaddps %ymm1, %ymm2, %ymm3", "{evex} vaddps ymm3, ymm2, ymm1", "62f16c2858d9"),
    ("vgf2p8mulb %ymm1, %ymm2, %ymm3", "vgf2p8mulb ymm3, ymm2, ymm1", "c4e26dcfd9"),
    ("mov %fs:(%rax), %zmm0", "mov zmm0, fs:[rax]", ""),
    ("vmovups %fs:(%rax), %zmm0", "vmovups zmm0, zmmword ptr fs:[rax]", "6462f17c481000"),
    ("tdpbssd %tmm0, %tmm1, %tmm2", "tdpbssd tmm2, tmm1, tmm0", "c4e27b5ed1"),
    ("tilezero %tmm7", "tilezero tmm7", "c4e27b49f8"),
]


@pytest.mark.parametrize(("att", "intel", "expected"), CASES, ids=[case[0] for case in CASES])
def test_what_keystone_lacks_is_encoded(
    region: Callable[..., AssembledFile],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    att: str,
    intel: str,
    expected: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for text, syntax in ((att, "att"), (intel, "intel")):
        result = region(f"nop\n{text}\nnop", syntax)
        if not expected:
            assert [(p.line, p.code) for p in result.problems] == [(2, "unsupported-instruction")]
            continue
        assert result.problems == (), text
        lines = result.regions[0].lines
        assert lines[1].code.hex() == expected
        # Keystone knows these few.
        assert lines[1].backend == "iced-x86" or text.startswith(("kmovw", "vmovups"))
        assert lines[0].backend == "cyclelens"


def test_the_encoder_of_a_line_is_reported(region: Callable[..., AssembledFile]) -> None:
    result = region("add %rax, %rbx\nvaddps %zmm0, %zmm1, %zmm2\njmp away")
    assert [line.backend for line in result.regions[0].lines] == ["keystone", "iced-x86", "cyclelens"]


def test_no_program_is_run(region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(external.subprocess, "Popen", fail)
    result = region("vaddps %zmm0, %zmm1, %zmm2\nvfrobnicate %zmm0\nadd $1, (%rax)", external=True)
    assert [(p.line, p.code) for p in result.problems] == [
        (2, "unsupported-instruction"),
        (3, "missing-suffix"),
    ]
    assert result.regions[0].code.hex() == "62f1744858d0" + "830001"


def test_a_text_that_is_given_up_is_not_completed() -> None:
    given_up: list[bool] = []

    class Silent(AssemblerClient):
        def encode(
            self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
        ) -> dict[Request, bytes]:
            given_up.append(True)
            return dict.fromkeys(requests, b"")

    text = "# cyclelens-begin\n    add $1, %rax\n# cyclelens-end\n"
    answer = frontend.assemble(text, client=Silent(), cancel=lambda: bool(given_up))
    assert given_up
    assert "internal-error" not in [problem.code for problem in answer.problems]


@pytest.fixture
def fresh() -> Iterator[None]:
    """Programs are searched for anew."""
    gnu_backend._tested.cache_clear()
    yield
    gnu_backend._tested.cache_clear()


needs_gnu_as = pytest.mark.skipif(AS is None, reason="GNU as is not installed")
needs_shell = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


@needs_shell
@needs_gnu_as
@pytest.mark.usefixtures("fresh")
def test_a_gnu_as_for_another_processor_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "as").write_text("#!/bin/sh\necho unrecognized option --64 >&2\nexit 1\n")
    (tmp_path / "as").chmod(0o755)
    real = external.find_program("as")
    assert real is not None
    (tmp_path / "x86_64-elf-as").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gnu_backend.gnu_as() == str(tmp_path / "x86_64-elf-as")


@pytest.mark.usefixtures("fresh")
def test_a_program_in_the_current_folder_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("as", "as.exe"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for path in (".", "", str(tmp_path)):
        monkeypatch.setenv("PATH", path)
        assert external.find_program("as") is None
    assert gnu_backend.gnu_as() is None


@needs_shell
@pytest.mark.usefixtures("fresh")
def test_a_program_that_hangs_or_answers_wrongly_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.environ["PATH"]
    monkeypatch.setattr(gnu_backend, "TIMEOUT", 0.2)
    for number, script in enumerate(("exec sleep 60", "echo 1 0000 90", "exit 1")):
        program = tmp_path / str(number) / "as"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{usual}")
        gnu_backend._tested.cache_clear()
        found = gnu_backend.gnu_as()
        assert found != str(program)


@needs_gnu_as
@pytest.mark.usefixtures("fresh")
def test_that_it_was_killed_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise external.KilledError

    with monkeypatch.context() as patched:
        patched.setattr(external, "run", killed)
        assert gnu_backend.gnu_as() is None
    assert gnu_backend.gnu_as() == external.find_program("as")
