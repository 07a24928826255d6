"""GNU as as the second assembler: what it is asked for, what it may not do, and that nothing is believed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest
from cyclelens.analyzer.frontend import assemble as frontend
from cyclelens.analyzer.frontend.assemblers import external, llvm_backend
from cyclelens.analyzer.frontend.assemblers.assembler_client import AssemblerClient, Failure, Reply, Request
from cyclelens.analyzer.frontend.assemblers.clang_backend import CLANG, shared_clang_client
from cyclelens.analyzer.frontend.assemblers.fallbacks import FALLBACKS, Fallback
from cyclelens.analyzer.frontend.assemblers.gnu_backend import GNU_AS, parse_listing, shared_gnu_client
from cyclelens.analyzer.frontend.assemblers.program_client import ProgramClient
from cyclelens.analyzer.frontend.encoding.instructions import prepare
from cyclelens.analyzer.frontend.encoding.requests import EncodingRequest, MismatchError, finish_fallback
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.programs.scope import StatementScope
from cyclelens.analyzer.frontend.regions import statement_code as encoding
from cyclelens.analyzer.frontend.source.dialect import ATT
from cyclelens.analyzer.model.source import AssembledFile

NOWHERE = StatementScope(Program([Statement(StatementKind.INSTRUCTION, 0, "", ATT, ".text")]), 0)
"""What symbols mean in a text of one statement."""

needs_gnu_as = pytest.mark.skipif(not shared_gnu_client().available, reason="GNU as is not on PATH")

BOTH = [
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
]


@needs_gnu_as
@pytest.mark.parametrize(("att", "intel", "expected"), BOTH, ids=[case[0] for case in BOTH])
def test_what_the_built_in_assembler_lacks_is_encoded(
    region: Callable[..., AssembledFile], att: str, intel: str, expected: str
) -> None:
    for text, syntax in ((att, "att"), (intel, "intel")):
        result = region(f"nop\n{text}\nnop", syntax, external=True)
        if not expected:
            assert [(p.line, p.code) for p in result.problems] == [(2, "unsupported-instruction")]
            continue
        assert result.problems == (), text
        lines = result.regions[0].lines
        assert (lines[1].code.hex(), lines[1].backend) == (expected, "gnu as")
        assert lines[0].backend == "cyclelens"


@needs_gnu_as
def test_which_assembler_made_a_line_is_told(region: Callable[..., AssembledFile]) -> None:
    result = region("add %rax, %rbx\nvaddps %zmm0, %zmm1, %zmm2\njmp away", external=True)
    assert [line.backend for line in result.regions[0].lines] == ["keystone", "gnu as", "cyclelens"]


needs_llvm = pytest.mark.skipif(not llvm_backend.is_installed(), reason="llvmlite is not installed")
needs_clang = pytest.mark.skipif(not shared_clang_client().available, reason="clang is not on PATH")


def only(monkeypatch: pytest.MonkeyPatch, *fallbacks: Fallback) -> None:
    """These are asked."""
    monkeypatch.setattr(encoding, "FALLBACKS", fallbacks)


@pytest.mark.parametrize(
    "name", [pytest.param("llvm", marks=needs_llvm), pytest.param("clang", marks=needs_clang)]
)
@pytest.mark.parametrize(("att", "intel", "expected"), BOTH, ids=[case[0] for case in BOTH])
def test_llvm_and_clang_encode_it_too(
    region: Callable[..., AssembledFile],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    att: str,
    intel: str,
    expected: str,
) -> None:
    only(monkeypatch, *(each for each in FALLBACKS if each.name == name))
    for text, syntax in ((att, "att"), (intel, "intel")):
        result = region(f"nop\n{text}\nnop", syntax, external=True)
        if not expected or "bcst" in text:  # GNU as's own word
            assert [(p.line, p.code) for p in result.problems] == [(2, "unsupported-instruction")]
            continue
        assert result.problems == (), text
        assert [(line.code.hex(), line.backend) for line in result.regions[0].lines][1] == (expected, name)


def _same(client: ProgramClient) -> ProgramClient:
    return client


@needs_clang
def test_clang_is_asked_where_there_is_no_gnu_as_and_only_there(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[Request] = set()

    class Watched(ProgramClient):
        def encode(
            self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
        ) -> Mapping[Request, Reply]:
            asked.update(requests)
            return super().encode(requests, cancel)

    clang = Fallback("clang", "clang", True, lambda: Watched(CLANG))
    for gnu, expected in ((shared_gnu_client(), 0), (ProgramClient(GNU_AS, "/no/as"), 2)):
        monkeypatch.setattr(
            encoding,
            "FALLBACKS",
            (Fallback("gnu as", "GNU as", True, partial(lambda client: client, gnu)), clang),
        )
        asked.clear()
        result = region("vaddps %zmm0, %zmm1, %zmm2\nfrobnicatez %zmm0, %zmm1", external=True)
        assert len(asked) == (expected if shared_gnu_client().available else 2)
        assert result.regions[0].lines[0].code.hex() == "62f1744858d0"


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
@needs_gnu_as
def test_a_gnu_as_for_another_processor_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "as").write_text("#!/bin/sh\necho unrecognized option --64 >&2\nexit 1\n")
    (tmp_path / "as").chmod(0o755)
    real = external.find_program("as")
    assert real is not None
    (tmp_path / "x86_64-elf-as").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path))
    client = ProgramClient(GNU_AS)
    assert client.program == str(tmp_path / "x86_64-elf-as")
    assert client.encode([("att", "nop")])["att", "nop"].code == b"\x90"


@needs_clang
def test_what_clang_refuses_does_not_disturb_its_neighbours() -> None:
    asked = [("att", "frobnicate %eax"), ("att", "vaddps %zmm0,%zmm1,%zmm2"), ("intel", "vmovups zmm1,zmm2")]
    replies = shared_clang_client().encode([*asked, ("att", "mov %eax")])
    assert [replies[request].code.hex() for request in asked] == ["", "62f1744858d0", "62f17c4810ca"]
    assert replies[asked[0]].failure is replies["att", "mov %eax"].failure is Failure.REFUSED


@needs_llvm
def test_a_statement_that_ends_llvm_costs_no_other() -> None:
    client = llvm_backend.new_client()
    try:
        asked = [
            ("att", "frobnicate %eax"),
            ("att", "vaddps %zmm0,%zmm1,%zmm2"),
            ("intel", "vmovups zmm1,zmm2"),
        ]
        replies = client.encode(asked)
        assert [replies[request].code.hex() for request in asked] == ["", "62f1744858d0", "62f17c4810ca"]
        assert replies[asked[0]].failure is Failure.REFUSED
    finally:
        client.close()


def test_what_nobody_encodes_names_those_who_refused(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Client:
        def __init__(self, failure: Failure) -> None:
            self.failure = failure

        def encode(self, requests: Iterable[Request], _cancel: object = None) -> dict[Request, Reply]:
            return dict.fromkeys(requests, Reply(failure=self.failure))

    def message(*failures: Failure) -> tuple[str, str]:
        made = [Fallback("x", f"Number {n}", False, partial(Client, f)) for n, f in enumerate(failures)]
        only(monkeypatch, *made)
        (problem,) = region("vaddps %zmm0, %zmm1, %zmm2", external=True).problems
        return problem.code, problem.message

    unsupported = "unsupported-instruction"
    assert message(Failure.REFUSED, Failure.REFUSED) == (
        unsupported,
        "Number 0 and Number 1 do not accept 'vaddps' with such operands.",
    )
    code, text = message(Failure.UNAVAILABLE)
    assert (code, "cyclelens[llvm]" in text) == (unsupported, True)
    assert message(Failure.TIMEOUT)[0] == "assembler-timeout"


def test_whoever_gave_up_waits_for_no_other_assembler(monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[bool] = []

    class First(AssemblerClient):
        def encode(
            self, requests: Iterable[Request], cancel: Callable[[], bool] = lambda: False
        ) -> dict[Request, Reply]:
            given_up.append(True)
            return dict.fromkeys(requests, Reply(failure=Failure.CANCELLED))

    def start() -> AssemblerClient:
        raise AssertionError("another assembler was started")

    monkeypatch.setattr(encoding, "FALLBACKS", (Fallback("x", "Another", True, start),))
    text = "# cyclelens-begin\n    add $1, %rax\n# cyclelens-end\n"
    answer = frontend.assemble(text, client=First(), cancel=lambda: bool(given_up))
    assert given_up
    assert "internal-error" not in [problem.code for problem in answer.problems]


def test_without_leave_no_program_is_run(
    region: Callable[..., AssembledFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a program was started")

    monkeypatch.setattr(external.subprocess, "Popen", fail)
    result = region("vaddps %zmm0, %zmm1, %zmm2\nadd %rax, %rbx")
    assert [(p.line, p.code) for p in result.problems] == [(1, "unsupported-instruction")]
    assert result.regions[0].code.hex() == "4801c3"


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
        assert not ProgramClient(GNU_AS).available


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
def test_a_program_that_hangs_or_lies_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cyclelens.analyzer.frontend.assemblers.gnu_backend.TIMEOUT", 0.2)
    for number, script in enumerate(("exec sleep 60", "echo 1 0000 90", "exit 1")):
        program = tmp_path / f"as{number}"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        client = ProgramClient(GNU_AS, str(program))
        assert not client.available
        reply = client.encode([("att", "vaddps %zmm0,%zmm1,%zmm2")])
        assert [r.failure for r in reply.values()] == [Failure.UNAVAILABLE]


@needs_gnu_as
def test_that_it_was_killed_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    client, request = ProgramClient(GNU_AS), ("att", "nop")

    def killed(*_: object, **__: object) -> None:
        raise external.KilledError

    with monkeypatch.context() as patched:
        patched.setattr(external, "run", killed)
        assert client.encode([request])[request].failure is Failure.UNAVAILABLE, "while it is looked for"
    assert client.encode([request])[request] == Reply(b"\x90")
    other = ("att", "ret")
    with monkeypatch.context() as patched:
        patched.setattr(external, "run", killed)
        assert client.encode([other])[other] == Reply(failure=Failure.UNAVAILABLE, reason="GNU as was killed")
    assert client.encode([other])[other] == Reply(b"\xc3")


def test_its_bytes_are_compared_with_the_text() -> None:
    text = "vaddps 64(%rsi), %zmm2, %zmm3{%k1}{z}"
    question = prepare(text, ATT, NOWHERE)
    assert isinstance(question, EncodingRequest) and question.request is None
    right = bytes.fromhex("62f16cc9585e01")
    assert finish_fallback(question, right) == right
    for wrong in (
        "62f16cca585e01",  # another mask
        "62f16c49585e01",  # no zeroing
        "62f16cd9585e01",  # a broadcast
        "62f16cc9585e02",  # another displacement
        "62f16cc95c5e01",  # a subtraction
        "62f164c9585e01",  # another source
    ):
        with pytest.raises(MismatchError):
            finish_fallback(question, bytes.fromhex(wrong))
    rounded = prepare("vaddps {rz-sae}, %zmm1, %zmm2, %zmm3", ATT, NOWHERE)
    assert isinstance(rounded, EncodingRequest)
    with pytest.raises(MismatchError):
        finish_fallback(rounded, bytes.fromhex("62f16c1858d9"))


def test_listings_with_continued_lines() -> None:
    listing = (
        "   1              \t.att_syntax\n   2 0000 0102     \tx\n   2      0304\n   3 ???? 90       \tnop\n"
    )
    assert parse_listing(listing) == {2: b"\x01\x02\x03\x04", 3: b"\x90"}


@needs_gnu_as
def test_a_refused_statement_does_not_disturb_its_neighbours() -> None:
    client = ProgramClient(GNU_AS)
    asked = [("att", "frobnicate %eax"), ("att", "vaddps %zmm0,%zmm1,%zmm2"), ("intel", "vmovups zmm1,zmm2")]
    replies = client.encode(asked)
    assert [replies[request].code.hex() for request in asked] == ["", "62f1744858d0", "62f17c4810ca"]
    assert replies[asked[0]].failure is Failure.REFUSED
