"""Every command works with an invented core of 17 units and three schedulers that only its own file and
the registry know."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures import registry
from testkit.wide_core import UNITS, WIDE

KERNEL = """
# cyclelens-begin sum
.loop:
    mulsd (%rsi), %xmm1
    addsd %xmm1, %xmm0
    mov %rax, 8(%rdi)
    imul %rbx, %rax
    add $8, %rsi
    dec %rcx
    jnz .loop
# cyclelens-end
"""
INTEL_ONLY = ("DSB", "MITE", "p23", "p0156")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs a command on the kernel with the core registered; exit code, output and errors."""
    monkeypatch.setitem(registry._MODELS, "WIDE", WIDE)
    monkeypatch.setitem(registry._FILES, "WIDE", "wide_core")
    file = tmp_path / "kernel.s"
    file.write_text(KERNEL)

    def run_(*arguments: str, standard_input: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(standard_input.encode())))
        code = main([str(file) if argument == "FILE" else argument for argument in arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err and "internal error" not in output.err
        return code, output.out, output.err

    return run_


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(["analyze", "FILE"], ["on WIDE (a wide core)", "ALU1", "FP"], id="analyze"),
        pytest.param(["analyze", "FILE", "--account"], ["issue slots", "RS VEC"], id="account"),
        pytest.param(["analyze", "FILE", "--trace"], ["AGU", "ALU"], id="trace"),
        pytest.param(["analyze", "FILE", "--format", "markdown"], ["WIDE", "ALU1"], id="markdown"),
        pytest.param(["analyze", "FILE", "--format", "html"], ["WIDE", "ALU1"], id="html"),
        pytest.param(["analyze", "FILE", "--format", "sarif"], ["WIDE"], id="sarif"),
        pytest.param(["analyze", "FILE", "--format", "dot"], ["digraph"], id="graph"),
        pytest.param(["whatif", "FILE"], ["WIDE", "cycles/iter"], id="whatif"),
        pytest.param(["whatif", "FILE", "--ports", "8=ALU1"], ["WIDE"], id="whatif of units"),
        pytest.param(["compare", "FILE", "--arch", "WIDE,SKL,ZEN5"], ["WIDE", "ZEN5"], id="compare"),
        pytest.param(["compare", "FILE", "--alignments"], ["WIDE"], id="compare alignments"),
        pytest.param(["sweep", "FILE", "--resource", "rs,rob", "--scale", "0.5..2"], ["WIDE"], id="sweep"),
        pytest.param(["check", "FILE"], ["WIDE"], id="check"),
    ],
)
def test_commands_that_read_a_file(run: Run, command: list[str], expected: list[str]) -> None:
    arguments = command if "--arch" in command else [*command, "--arch", "WIDE"]
    code, out, err = run(*arguments)
    assert code == 0, err
    for text in expected:
        assert text in out


def test_the_json_report_has_its_units_and_schedulers(run: Run) -> None:
    code, out, err = run("analyze", "FILE", "--arch", "WIDE", "--format", "json", "--trace", "--account")
    assert code == 0, err
    (prediction,) = json.loads(out)["regions"][0]["predictions"]
    used = {port for row in prediction["rows"] for port in row["ports"]}
    assert used <= set(UNITS.names) and len(used) > 8
    text = json.dumps(prediction)
    assert "RS VEC" in text
    assert not any(name in text for name in INTEL_ONLY[2:])


@pytest.mark.parametrize("mode", ["loop", "unroll"])
def test_predict(run: Run, mode: str) -> None:
    code, out, err = run("predict", "--arch", "WIDE", "--mode", mode, standard_input="480fafc0\n")
    assert code == 0, err
    assert out.splitlines()[1].startswith("480fafc0,3.00")


def test_arch_list_and_show(run: Run) -> None:
    code, out, _ = run("arch", "list")
    assert code == 0 and "WIDE" in out
    code, out, _ = run("arch", "show", "WIDE")
    assert code == 0
    for name in UNITS.names:
        assert name in out
    assert "unrecorded" in out, "its file does not say where its values come from"
    code, out, _ = run("arch", "show", "WIDE", "--format", "json")
    assert code == 0
    assert len(json.loads(out)["values"]) > 50


def test_measure_says_that_this_machine_has_another_processor(run: Run) -> None:
    code, out, err = run("measure", "FILE", "--arch", "WIDE")
    if "cannot be measured" in err or err.startswith("cyclelens: "):
        assert code == 1
    elif "the machine is busy" in out:
        pytest.skip("the machine is too busy for a measurement")
    else:
        assert "of a wide core; this machine is different" in out


def test_an_unknown_unit_is_refused_with_those_that_there_are(run: Run) -> None:
    code, _, err = run("whatif", "FILE", "--arch", "WIDE", "--ports", "8=p0156")
    assert code != 0
    assert "ALU0" in err
