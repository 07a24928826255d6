"""``cyclelens whatif`` and ``cyclelens sweep``: changes are given by line."""

import pytest
from cyclelens.analyzer.cli import main

KERNEL = """# cyclelens-begin a
.loop:
    imul %rax, %rax
    add %rbx, %rbx
    dec %r15
    jnz .loop
# cyclelens-end
"""


@pytest.fixture
def run(capsys, tmp_path):
    def run_(command, *arguments, text=KERNEL):
        (tmp_path / "kernel.s").write_text(text)
        code = main([command, str(tmp_path / "kernel.s"), *arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return code, output.out + output.err

    return run_


def test_without_a_change_what_helps_is_listed(run):
    code, out = run("whatif")
    assert code == 0
    assert "3.00 cycles/iter on SKL" in out
    assert "2.00         1.00  without line 3: imul rax, rax" in out


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (("--remove", "3"), "1.00  without line 3"),
        (("--latency", "3=5"), "5.00  latency 5 of line 3"),
        (("--swap", "3,4"), "3.00  lines 3 and 4 exchanged"),
        (("--no-wait", "3=rax"), "1.00  line 3: imul rax, rax does not wait for rax"),
        (("--ports", "4=15"), "3.00  ports 15 for line 4"),
        (("--unroll", "2"), "3.00  unrolled 2 times"),
        (("--align", "32"), "3.00  alignment 32"),
        (("--set", "rs=20"), "3.00  rs 20"),
        (("--load-latency", "9"), "3.00  load latency 9"),
    ],
)
def test_every_change(run, change, shown):
    code, out = run("whatif", *change)
    assert code == 0
    assert shown in out


@pytest.mark.parametrize(
    "change", [("--remove", "1"), ("--set", "rs=1"), ("--no-wait", "3=rbx"), ("--ports", "3=z")]
)
def test_a_change_that_makes_no_sense(run, change):
    assert run("whatif", *change)[0] == 1


@pytest.mark.parametrize(
    "change", [("--remove", "x"), ("--latency", "3"), ("--unroll", "99"), ("--swap", "3")]
)
def test_a_change_that_cannot_be_read(run, change):
    assert run("whatif", *change)[0] == 2


def test_a_sweep_of_two_sizes_is_a_table(run):
    code, out = run("sweep", "--resource", "rs,rob", "--scale", "0.5..1.5")
    assert code == 0
    assert "rob x1.50" in out


def test_a_sweep_of_latencies_names_slope_and_knee(run):
    code, out = run("sweep", "--load-latency", "4..40")
    assert code == 0
    assert "slope at the end: 0.00" in out
    assert "no knee" in out


@pytest.mark.parametrize(
    "arguments", [(), ("--resource", "rs", "--load-latency", "4"), ("--load-latency", "9..4")]
)
def test_a_sweep_of_nothing(run, arguments):
    assert run("sweep", *arguments)[0] == 2


def test_a_resource_that_does_not_exist(run):
    assert run("sweep", "--resource", "branches")[0] == 1
