"""A harness on this machine; tests skip with a reason where nothing can be measured."""

import functools
import os
import shutil
import subprocess

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness
from cyclelens.analyzer.model.choices import Clocks

NOBODY = 65534


def opened(**choice):
    try:
        return Harness(**choice)
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")


@pytest.fixture
def open_harness():
    """What opens a harness of one's own choice, or skips the test."""
    return opened


@pytest.fixture(params=[Clocks.COUNTERS, Clocks.TIME_STAMPS])
def harness(request):
    with opened(clock=request.param) as harness:
        yield harness


@pytest.fixture
def any_clock():
    with opened(milliseconds=300) as harness:
        yield harness


@pytest.fixture(params=["as this user", "without privileges"])
def confined(request, monkeypatch):
    """A harness of the user who runs the tests, and one of a user without permissions."""
    if request.param == "without privileges":
        if os.geteuid() != 0:
            pytest.skip("the tests have no privileges to give up")
        start = functools.partial(subprocess.Popen, user=NOBODY, group=NOBODY, extra_groups=[])
        monkeypatch.setattr("cyclelens.analyzer.measuring.harness.subprocess.Popen", start)
    with opened(clock=Clocks.TIME_STAMPS, milliseconds=300) as harness:
        monkeypatch.undo()
        yield harness


@pytest.fixture
def encode(tmp_path):
    """Bytes of statements in Intel syntax, as GNU as encodes them."""
    if shutil.which("as") is None or shutil.which("objcopy") is None:
        pytest.skip("GNU as and objcopy are needed")

    def encode(statements):
        source, made = tmp_path / "block.s", tmp_path / "block.o"
        source.write_text(".intel_syntax noprefix\n" + statements.replace(";", "\n") + "\n")
        subprocess.run(["as", "-o", made, source], check=True)
        subprocess.run(["objcopy", "-O", "binary", "-j", ".text", made, tmp_path / "block.bin"], check=True)
        return (tmp_path / "block.bin").read_bytes()

    return encode
