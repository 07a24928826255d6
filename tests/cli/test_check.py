"""``cyclelens check``: limits, baselines, exit codes."""

import json

import pytest
from cyclelens.analyzer.cli.main import main

KERNEL = """
# cyclelens-begin slow
    imul %rax, %rax
# cyclelens-end
# cyclelens-begin quick
    add %rax, %rax
# cyclelens-end
"""
OK, PROBLEMS, USAGE, TOO_SLOW = 0, 1, 2, 3


@pytest.fixture
def check(capsys, tmp_path, monkeypatch):
    """Check ``kernel.s`` with these arguments; exit code and output."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, text=KERNEL, baseline=None):
        (tmp_path / "kernel.s").write_text(text)
        if baseline is not None:
            content = baseline if isinstance(baseline, str) else json.dumps(baseline)
            (tmp_path / "base.json").write_text(content)
            arguments = (*arguments, "--baseline", "base.json")
        code = main(["check", "kernel.s", *arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        return code, output.out + output.err

    return run


def report(file="kernel.s", **figures):
    regions = [
        {"name": name, "predictions": [{"microarchitecture": "SKL", "cycles_per_iteration": cycles}]}
        for name, cycles in figures.items()
    ]
    return {"schema": 2, "file": file, "regions": regions}


def test_without_limits_everything_must_only_be_predictable(check):
    code, out = check()
    assert code == OK
    assert "ok   kernel.s: slow: 3.00 cycles/iter on SKL" in out


def test_a_limit_that_holds(check):
    assert check("--max-cycles", "slow=3.0", "--max-cycles", "quick=1")[0] == OK


def test_a_limit_that_is_exceeded(check):
    code, out = check("--max-cycles", "slow=2.9")
    assert code == TOO_SLOW
    assert "SLOW kernel.s: slow: 3.00 cycles/iter on SKL (limit 2.90)" in out


def test_a_limit_for_one_microarchitecture_only(check):
    assert check("--arch", "SKL,HSW", "--max-cycles", "slow@HSW=2")[0] == TOO_SLOW
    assert check("--arch", "SKL", "--max-cycles", "slow=2", "--max-cycles", "slow@SKL=3")[0] == OK


def test_a_limit_for_a_region_that_is_not_there(check):
    code, out = check("--max-cycles", "gone=2")
    assert code == PROBLEMS
    assert "'gone'" in out


@pytest.mark.parametrize("limit", ["slow", "slow=", "slow=fast", "slow=-1", "slow=nan"])
def test_a_limit_that_is_none(check, limit):
    assert check("--max-cycles", limit)[0] == USAGE


def test_slower_than_the_baseline(check):
    code, out = check(baseline=report(slow=2.9, quick=1.0))
    assert code == TOO_SLOW
    assert "baseline 2.90, +3 % time" in out


def test_the_tolerance(check):
    assert check("--tolerance", "4%", baseline=report(slow=2.9, quick=1.0))[0] == OK
    assert check("--tolerance", "2%", baseline=report(slow=2.9, quick=1.0))[0] == TOO_SLOW


def test_a_baseline_of_another_amount_of_work_counts_for_as_much(check):
    """3.00 cycles for 16 elements, where there were 1.50 for eight, and 1.60 for eight."""
    text = KERNEL.replace("begin slow", "begin slow per=16")
    for cycles, state, remark in (
        (1.5, OK, "baseline 1.50"),
        (1.6, OK, "baseline 1.60, -6 % time per element"),
    ):
        baseline = report(slow=cycles, quick=1.0)
        baseline["regions"][0]["work"] = {"amount": 8, "unit": "element", "source": "per=8"}
        code, out = check(text=text, baseline=baseline)
        assert code == state
        assert f"slow: 3.00 cycles/iter on SKL ({remark})" in out
    baseline["regions"][0]["work"]["amount"] = 16
    code, out = check(text=text, baseline=baseline)
    assert code == TOO_SLOW
    assert "(baseline 1.60, +88 % time)" in out


def test_a_region_that_the_baseline_lacks_is_new(check):
    assert check(baseline=report(slow=3.0))[0] == OK


def test_a_region_that_only_the_baseline_has(check):
    code, out = check(baseline=report(slow=3.0, quick=1.0, gone=1.0))
    assert code == PROBLEMS
    assert "gone (SKL) is in the baseline but not in the file" in out


def test_a_baseline_of_several_files(check):
    other = report("other.s", gone=1.0)
    assert check(baseline=[other, report(slow=3.0, quick=1.0)])[0] == OK


def test_a_baseline_of_one_file_says_nothing_about_others(check, tmp_path):
    (tmp_path / "other.s").write_text(KERNEL.replace("slow", "other").replace("quick", "another"))
    code, out = check("other.s", baseline=report(slow=3.0, quick=1.0))
    assert code == OK, out


@pytest.mark.parametrize("content", ["{", "[1]", '{"file": "a"}', '"text"'])
def test_a_baseline_that_is_no_report(check, content):
    code, out = check(baseline=content)
    assert code == PROBLEMS
    assert "base.json" in out


def test_a_report_of_analyze_is_a_baseline(check, capsys, tmp_path):
    check()
    main(["analyze", "kernel.s", "--format", "json"])
    assert check(baseline=capsys.readouterr().out)[0] == OK


def test_problems_outweigh_limits(check):
    text = KERNEL + "# cyclelens-begin bad\n    nonsense %rax\n# cyclelens-end\n"
    assert check("--max-cycles", "slow=1", text=text)[0] == PROBLEMS


def test_a_file_without_regions_is_a_problem(check):
    assert check(text="nop\n")[0] == PROBLEMS


INCOMPLETE = """
# cyclelens-begin part
    imul %rax, %rax
    clac
# cyclelens-end
# cyclelens-begin tiles
.loop:
    tdpbssd %tmm2, %tmm1, %tmm0
    dec %rcx
    jnz .loop
# cyclelens-end
"""


@pytest.mark.parametrize("region", ["part", "tiles"])
def test_a_figure_without_all_instructions_fails_unless_it_is_allowed(check, region):
    arguments = ("--arch", "SPR", "--region", region, "--max-cycles", f"{region}=5")
    code, out = check(*arguments, text=INCOMPLETE)
    assert code == PROBLEMS
    assert "no figures for" in out and "--allow-incomplete accepts it" in out
    code, out = check(*arguments, "--allow-incomplete", text=INCOMPLETE)
    assert code == OK
    assert "accepts it" not in out


def test_a_lower_bound_above_its_limit_is_too_slow_even_if_it_is_allowed(check):
    arguments = ("--arch", "SPR", "--region", "part", "--allow-incomplete", "--max-cycles", "part=2.5")
    code, out = check(*arguments, text=INCOMPLETE)
    assert code == TOO_SLOW
    assert "SLOW kernel.s: part: at least 3.00 cycles/iter on SPR (limit 2.50; no figures for clac)" in out


def test_a_lower_bound_in_a_baseline_is_compared_with_nothing(check):
    earlier = report(slow=1.0, quick=1.0)
    earlier["regions"][0]["predictions"][0]["at_least"] = True
    code, out = check("--arch", "SKL", baseline=earlier)
    assert code == OK
    assert "slow: 3.00 cycles/iter on SKL (the baseline has only a lower bound)" in out


HANGS = """
# cyclelens-begin hangs alignment=0
.L1: add %esi, %edi
    mov %esi, %ebx
    inc %esi
    cmp $-1, %esi
    jc .L1
# cyclelens-end
"""


def test_a_budget_is_compared_with_the_first_figure_and_the_range_follows(check):
    code, out = check("--model", "reference", "--arch", "SKL", "--max-cycles", "hangs=2.0", text=HANGS)
    assert code == OK
    assert "ok   kernel.s: hangs: 2.00 cycles/iter (from 1.00: depends on port binding) on SKL" in out
    code, out = check("--model", "reference", "--arch", "SKL", "--max-cycles", "hangs=1.5", text=HANGS)
    assert code == TOO_SLOW
    assert "from 1.00: depends on port binding" in out


MIXED = """
# cyclelens-begin mixed arch=LNL
.L1:
    vpaddd %ymm5, %ymm4, %ymm4
    paddd %xmm0, %xmm2
    dec %rcx
    jnz .L1
# cyclelens-end
"""


def test_legacy_sse_beside_256_bit_code_is_named_whether_its_price_is_known_or_not(check):
    code, out = check(text=MIXED)
    assert code == PROBLEMS
    assert "LACK kernel.s: mixed: at least 1.00 cycles/iter" in out
    assert "no price for legacy SSE beside 256-bit code" in out and "SSE/AVX mix in lines 4, 5" in out
    assert check("--allow-incomplete", text=MIXED)[0] == OK
    code, out = check("--model", "hardware", text=MIXED.replace("LNL", "HSW"))
    assert "on HSW (SSE/AVX mix in lines 4, 5)" in out
