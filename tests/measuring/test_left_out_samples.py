"""Samples during which the system did something else do not count, with or without performance counters."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.measuring.repeated import median_of
from cyclelens.analyzer.measuring.requests import BUSY, FAULTS, Counter, Measurement, MeasurementRequest
from cyclelens.analyzer.model.choices import Clocks

pytestmark = pytest.mark.timed

FOUND = "status=ok attempts=9 switched=2 faulted=1 pages=0 late_pages=0 huge=0 cycles=1.0,1.0,1.0"
SPIN = "while True: pass"
MOST_SECONDS = 60
"""A sample takes less than a time slice, so that many of them see no switch."""
RANDOM_PAGE = "0fc7f02500f03f00488b1c06"  # rdrand eax; and eax, 0x3ff000; mov rbx, [rsi+rax]


def test_what_the_harness_left_out_is_known() -> None:
    found = Measurement.read(FOUND)
    assert (found.cycles, found.switched, found.faulted) == (1.0, 2, 1)
    both = median_of([found, found])
    assert (both.switched, both.faulted) == (4, 2)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("status=busy attempts=40 switched=40 faulted=3", BUSY),
        ("status=busy attempts=40 switched=3 faulted=39", BUSY),
        ("status=busy attempts=40 switched=3 faulted=40", FAULTS),
        ("status=busy attempts=0 switched=0 faulted=0", BUSY),
    ],
)
def test_code_that_always_faults_is_rejected_and_a_busy_machine_is_not_its_fault(
    line: str, problem: str
) -> None:
    found = Measurement.read(line)
    assert (found.cycles, found.problem) == (None, problem)
    assert f"switched={found.switched} faulted={found.faulted}" in line
    assert median_of([found, found]).switched == 2 * found.switched


@contextlib.contextmanager
def competitors() -> Iterator[None]:
    """A program that never waits on every processor that this one may use."""
    started = [
        subprocess.Popen([sys.executable, "-c", SPIN], preexec_fn=partial(os.sched_setaffinity, 0, {cpu}))
        for cpu in os.sched_getaffinity(0)
    ]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def loop_of(code: str) -> MeasurementRequest:
    decoded = decode(bytes.fromhex(code))
    return MeasurementRequest(
        code=bytes.fromhex(code), instructions=len(decoded), loop=True, counter=Counter(15)
    )


def test_context_switches_happen_and_spoil_no_figure(open_harness) -> None:
    """imul rax, rbx: three cycles on every core that is known."""
    found: list[Measurement] = []
    end = time.monotonic() + MOST_SECONDS
    with competitors(), open_harness(clock=Clocks.TIME_STAMPS) as harness:
        while not any(each.switched for each in found) and time.monotonic() < end:
            found.append(harness.measure(loop_of("480fafc3")))
    assert any(each.switched for each in found)
    for each in found:
        assert (
            each.cycles == pytest.approx(3.0, rel=0.03) if each.cycles is not None else each.problem == BUSY
        )


def test_page_faults_happen_and_are_left_out(open_harness) -> None:
    """Each round reads another of 1,024 pages, and the first access to a page faults."""
    with open_harness(clock=Clocks.TIME_STAMPS) as harness:
        found = harness.measure(loop_of(RANDOM_PAGE))
    assert found.faulted > 0
    assert found.cycles is not None or found.problem in (BUSY, FAULTS)


def test_the_report_says_what_was_left_out(capsys, monkeypatch, tmp_path) -> None:
    text = tmp_path / "k.s"
    text.write_text(
        "# cyclelens-begin k arch=SKL\n.L: imul %rbx, %rax\n dec %ecx\n jnz .L\n# cyclelens-end\n"
    )
    monkeypatch.setattr(
        "cyclelens.analyzer.measuring.harness.Harness.measure", lambda *_: Measurement.read(FOUND)
    )
    try:
        code = main(["measure", str(text), "--clock", "time-stamps", "--runs", "1"])
    except SystemExit as ended:
        pytest.skip(f"nothing can be measured here: {ended}")
    said = capsys.readouterr().out
    assert code == 0
    assert "   Left out:   2 samples with context switches, 1 sample with page faults\n" in said
    main(["measure", str(text), "--clock", "time-stamps", "--runs", "1", "--format", "json"])
    (region,) = json.loads(capsys.readouterr().out)
    assert region["left_out"] == {"context_switches": 2, "page_faults": 1}
