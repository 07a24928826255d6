"""``cyclelens whatif`` and ``cyclelens sweep``: changes are given by line."""

import re
from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main

ROOT = Path(__file__).parents[2]

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
    assert "2.00         1.00  without line 3: imul %rax, %rax" in out


@pytest.mark.parametrize("command", [("whatif",), ("whatif", "--align", "32"), ("rewrite",)])
def test_the_figure_of_a_loop_that_calls_is_a_lower_bound_here_too(run, command):
    """What is called takes time that no figure has, so there is none per byte either."""
    calling = KERNEL.replace("imul %rax, %rax", "call f").replace(
        "add %rbx, %rbx", "mov (%rsi), %rbx\n add $8, %rsi"
    )
    code, out = run(*command, text=calling)
    assert code == 0
    assert re.search(r"^   at least \d\.\d\d cycles/iter", out, re.MULTILINE)
    assert "cycles/byte" not in out


@pytest.mark.parametrize("command", [("whatif", "--align", "32"), ("sweep", "--resource", "rs")])
def test_a_latency_that_a_comment_asks_for_is_kept(run, command):
    code, out = run(*command, text=KERNEL.replace("%rbx\n", "%rbx # LLVM-MCA-LATENCY : 20\n"))
    assert code == 0
    assert "20.00" in out
    assert " 3.00" not in out


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (("--remove", "3"), "1.00  without line 3"),
        (("--latency", "3=5"), "5.00  latency 5 of line 3"),
        (("--swap", "3,4"), "3.00  lines 3 and 4 exchanged"),
        (("--no-wait", "3=rax"), "1.00  line 3: imul %rax, %rax does not wait for rax"),
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


def test_accumulators_are_split_by_name(run):
    text = KERNEL.replace("imul %rax, %rax", "vaddps (%rsi), %ymm0, %ymm0\n    vaddps %ymm1, %ymm2, %ymm2")
    code, out = run("whatif", "--split", "%ymm0,xmm2=2", text=text)
    assert code == 0
    assert "2.00  4 accumulators in place of ymm0 and ymm2, unrolled 2 times" in out
    code, out = run("whatif", "--split", "rax=2", text=text)
    assert code == 1
    assert "accumulators: ymm0, ymm2" in out


@pytest.mark.parametrize(
    "change", [("--remove", "1"), ("--set", "rs=1"), ("--no-wait", "3=rbx"), ("--ports", "3=z")]
)
def test_a_change_that_makes_no_sense(run, change):
    assert run("whatif", *change)[0] == 1


def test_a_changed_core_of_amd_has_amds_words(run):
    text = KERNEL.replace("    imul %rax, %rax\n", "")
    _, out = run("whatif", "--arch", "ZEN4", "--set", "dsb_width=2", text=text)
    assert "(Op cache" in out
    assert "DSB" not in out


def test_a_wrong_parameter_is_one_line_with_the_nearest_names(run):
    code, out = run("whatif", "--set", "retire_widht=4")
    assert code == 1
    (line,) = out.splitlines()
    assert "'retire_widht' is not a parameter that can be changed; the nearest names are retire_width" in line
    assert "cyclelens arch show SKL" in line


@pytest.mark.parametrize(
    "change",
    [
        ("--remove", "x"),
        ("--split", "ymm0"),
        ("--split", "ymm0=99"),
        ("--latency", "3"),
        ("--unroll", "99"),
        ("--swap", "3"),
    ],
)
def test_a_change_that_cannot_be_read(run, change):
    assert run("whatif", *change)[0] == 2


def test_a_sweep_of_two_sizes_is_a_table(run):
    code, out = run("sweep", "--resource", "rs,rob", "--scale", "0.5..1.5")
    assert code == 0
    assert "x1.50   336" in out


def test_a_sweep_of_one_size_lists_what_was_simulated(run):
    """Naming a buffer that only some models have switches it on."""
    code, out = run("sweep", "--resource", "lb", "--scale", "1.0..2.0")
    assert code == 0
    assert "x1.00     72         3.00" in out


def test_buffers_without_a_known_size_cannot_be_scaled(run):
    code, out = run("sweep", "--resource", "lm")
    assert code == 1
    assert "no size is known for SKL" in out


def test_resources_change_what_is_analysed(run):
    """57 stores behind a long chain: one more than the store buffer of Skylake holds."""
    body = "xorps %xmm0, %xmm0\n" + 20 * "mulsd %xmm0, %xmm0\n" + 57 * "mov %rax, (%rdi)\n"
    text = f"# cyclelens-begin\n{body}# cyclelens-end\n"
    assert " 57.00 cycles/iter" in run("analyze", "--resources", "off", text=text)[1]
    assert " 87.00 cycles/iter" in run("analyze", text=text)[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--resource", "rs,rob"),
        ("--resource", "rs"),
        ("--load-latency", "4..40"),
        ("--store-latency", "1..9"),
    ],
)
def test_a_sweep_is_drawn(run, tmp_path, arguments):
    pytest.importorskip("matplotlib", reason="the optional extra 'plots' is not installed")
    drawing = tmp_path / "sweep.svg"
    assert run("sweep", *arguments, "--plot", str(drawing))[0] == 0
    first = drawing.read_text()
    assert "a on SKL" in first
    assert "cycles per iteration" in first
    run("sweep", *arguments, "--plot", str(drawing))
    assert drawing.read_text() == first


def test_a_drawing_is_svg_or_png(run, tmp_path):
    code, out = run("sweep", "--resource", "rs", "--plot", str(tmp_path / "sweep.pdf"))
    assert code == 1
    assert ".svg or .png" in out


def test_a_sweep_of_latencies_names_slope_and_knee(run):
    code, out = run("sweep", "--load-latency", "4..40")
    assert code == 0
    assert "slope at the end: 0.00" in out
    assert "no knee" in out
    code, out = run("sweep", "--store-latency", "1..40")
    assert code == 0
    assert "   store latency  cycles/iter\n" in out


@pytest.mark.parametrize(
    "arguments", [(), ("--resource", "rs", "--load-latency", "4"), ("--load-latency", "9..4")]
)
def test_a_sweep_of_nothing(run, arguments):
    assert run("sweep", *arguments)[0] == 2


def test_a_resource_that_does_not_exist(run):
    assert run("sweep", "--resource", "branches")[0] == 1


def test_the_sweeps_of_the_documentation(capsys):
    """The claims of docs/insight.md about its two figures."""
    assert main(["sweep", str(ROOT / "docs" / "figures" / "loads.s"), "--load-latency", "4..80"]) == 0
    chase, parallel = capsys.readouterr().out.split("== parallel")
    assert "slope at the end: 1.00" in chase
    assert "no latency is hidden" in chase
    assert "latencies up to 12 cycles are hidden" in parallel
    example = str(ROOT / "examples" / "polynomial.s")
    arguments = ["--region", "horner", "--arch", "HSW", "--resource", "rs", "--scale", "1.0..1.4"]
    arguments += ["--model", "uica"]
    assert main(["sweep", example, *arguments]) == 0
    out = capsys.readouterr().out
    assert "x1.00     60          0.912         3.65" in out
    assert "x1.40     84          0.750         3.00" in out


def test_a_sweep_without_an_effect_says_so(run):
    assert "no effect: every size gives 3.00 cycles per iteration" in run("sweep", "--resource", "rob")[1]


def test_cycles_per_unit_of_work_lead(run):
    text = KERNEL.replace("imul %rax, %rax", "vaddps (%rsi), %ymm0, %ymm0\n    add $32, %rsi")
    code, out = run("whatif", "--align", "32", text=text)
    assert code == 0
    assert "   0.500 cycles/float, 4.00 cycles/iter on SKL" in out
    assert "   cycles/float   saves  cycles/iter  change\n          0.500    0.00         4.00  alig" in out
    assert "   cycles/float  saves  cycles/iter  change" in run("whatif", text=text)[1]


@pytest.mark.parametrize("command", ["whatif", "rewrite"])
def test_a_misspelt_label_of_a_region_is_named_beside_what_is_tried(run, command):
    _, out = run(command, text=KERNEL.replace("jnz .loop", "jnz .lopp"))
    assert "kernel.s:6:5: warning: The label '.lopp' is not defined in this file" in out
    assert "did you mean '.loop'?" in out


@pytest.mark.parametrize("command", ["whatif", "rewrite"])
def test_a_misspelt_label_is_why_a_text_has_no_loop(run, command):
    code, out = run(command, text="loop: dec %rax\n jnz lop\n")
    assert code == 1
    assert out.endswith("The label 'lop' is not defined in this file; did you mean 'loop'?\n")
    assert len(out.splitlines()) == 1
