"""A harness on this machine; where nothing can be measured the tests skip and say why."""

import shutil
import subprocess

import pytest
from cyclelens.analyzer.measuring.harness import CannotMeasure, Harness


def opened(**choice):
    try:
        return Harness(**choice)
    except CannotMeasure as error:
        pytest.skip(f"nothing can be measured here: {error}")


@pytest.fixture(params=["counters", "time-stamps"])
def harness(request):
    with opened(clock=request.param) as harness:
        yield harness


@pytest.fixture
def any_clock():
    with opened(milliseconds=300) as harness:
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
