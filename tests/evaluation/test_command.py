"""``cyclelens evaluate`` as a user runs it."""

import json

import pytest
from cyclelens.analyzer.cli import evaluate as command
from cyclelens.analyzer.evaluation import predictions

HEADER = "hex,microarchitecture,mode,cycles_per_iteration\n"
ADD = "4801d8"  # add rax, rbx: 1 cycle per iteration
LCP = "6605341249ffcf"  # add ax, 0x1234; dec r15: 3.42 unrolled


@pytest.fixture
def evaluate(tmp_path, capsys):
    def evaluate(text, *options, status=0):
        path = tmp_path / "blocks.csv"
        path.write_text(text)
        assert command.main(["--against", str(path), "--jobs", "1", *options]) == status
        return capsys.readouterr()

    return evaluate


def test_text_report_names_error_and_worst_block(evaluate):
    text = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,2.00\n{LCP},HSW,unroll,3.42\n"
    output = evaluate(text).out
    assert "3 blocks" in output
    assert "1.00 instead of 2.00 (50%), SKL loop, scalar, DSB" in output
    assert "add rax, rbx" in output
    assert output.count("instead of") == 1


def test_json_report_has_the_same_in_numbers(evaluate):
    text = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,2.00\n"
    report = json.loads(evaluate(text, "--format", "json").out)
    assert report["total"]["mean_error"] == pytest.approx(0.25)
    assert report["total"]["within"]["0.01"] == 0.5
    modes = {group["mode"]: group["equal"] for group in report["by_microarchitecture_and_mode"]}
    assert modes == {"unroll": 1.0, "loop": 0.0}
    assert report["by_front_end"].keys() == {"DSB", "MITE"}
    assert report["worst"][0]["assembly"] == "add rax, rbx"


def test_a_second_prediction_in_the_file_is_compared(evaluate):
    text = f"hex,microarchitecture,measured_cycles,reference_cycles\n{ADD},SKL,1.00,1.50\n"
    report = json.loads(evaluate(text, "--format", "json").out)
    assert report["total"]["reference_mean_error"] == pytest.approx(0.5)
    assert "ref. error" in evaluate(text).out


def test_blocks_without_a_prediction_are_counted_with_the_reason(evaluate):
    every_register = "".join(
        f"4{8 + (n >> 3)}ff{0xC0 + (n & 7):02x}" for n in range(16)
    )  # inc of all sixteen
    output = evaluate(HEADER + f"{every_register},SKL,loop,4.00\n06,SKL,unroll,1.00\n").out
    assert "uses every register" in output
    assert "not all of its bytes are instructions" in output


def test_choices(evaluate):
    text = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,1.00\n{ADD},HSW,unroll,1.00\n"
    assert "1 blocks" in evaluate(text, "--arch", "hsw").out
    assert "1 blocks" in evaluate(text, "--mode", "loop").out
    assert "2 blocks" in evaluate(text, "--limit", "2").out
    assert "no figures for this selection" in evaluate(text, "--arch", "ICL", status=1).err


def test_finished_predictions_are_taken_up_again(evaluate, tmp_path, monkeypatch):
    cache = tmp_path / "finished.jsonl"
    first = evaluate(HEADER + f"{ADD},SKL,unroll,1.00\n", "--resume", str(cache)).out
    with cache.open("a") as stream:
        stream.write('{"key": "cut off')
    two = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,1.00\n"
    assert "2 blocks" in evaluate(two, "--resume", str(cache)).out

    def fail(*_):
        raise AssertionError("predicted again")

    monkeypatch.setattr("cyclelens.analyzer.evaluation.predictions.predict", fail)
    assert evaluate(HEADER + f"{ADD},SKL,unroll,1.00\n", "--resume", str(cache)).out == first
    assert "2 blocks" in evaluate(two, "--resume", str(cache)).out


def test_the_model_can_be_chosen(evaluate):
    text = HEADER + f"{LCP},SKL,unroll,3.42\n"
    assert "instead of" not in evaluate(text).out
    assert "1.00 instead of 3.42" in evaluate(text, "--simple-front-end").out
    assert "3.44 instead of 3.42 (1%), SKL unroll, scalar\n" in evaluate(text, "--model", "bounds").out


def test_figures_that_a_model_gave_are_compared_with_the_published_one(evaluate):
    """mov [rsp], al; mov rbx, [rsp]: the columns say whether a model gave the figure, or a measurement."""
    code = "880424488b1c24"
    published = evaluate(HEADER + f"{code},SKL,unroll,1.00\n").out
    assert "1 blocks, model uica" in published and "instead of" not in published
    measured = evaluate(f"hex,microarchitecture,measured_cycles\n{code},SKL,13.00\n").out
    assert "1 blocks, model hardware" in measured and "instead of" not in measured
    assert (
        "13.00 instead of 1.00" in evaluate(HEADER + f"{code},SKL,unroll,1.00\n", "--model", "hardware").out
    )
    assert "model uica" in evaluate(f"name,hex,mode,SKL\nstall,{code},unroll,1.00\n").out


def test_finished_predictions_of_another_model_are_not_taken_up(evaluate, tmp_path):
    cache = str(tmp_path / "finished.jsonl")
    text = HEADER + f"{LCP},SKL,unroll,3.42\n"
    evaluate(text, "--resume", cache)
    error = evaluate(text, "--resume", cache, "--model", "hardware", status=1).err
    assert "no predictions of this version and model" in error


def test_a_foreign_resume_file_is_left_alone(evaluate, tmp_path):
    cache = tmp_path / "notes.txt"
    cache.write_text("precious\n")
    text = HEADER + f"{ADD},SKL,unroll,1.00\n"
    assert "resume from another file" in evaluate(text, "--resume", str(cache), status=1).err
    assert cache.read_text() == "precious\n"


def test_ctrl_c_keeps_what_is_finished(evaluate, tmp_path, monkeypatch):
    monkeypatch.setattr(predictions, "_CHUNK", 1)
    real, calls = predictions.predict, []

    def interrupted(builder, sample):
        calls.append(sample)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(builder, sample)

    monkeypatch.setattr(predictions, "predict", interrupted)
    cache = tmp_path / "finished.jsonl"
    text = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,1.00\n"
    assert "stopped; the same command resumes" in evaluate(text, "--resume", str(cache), status=130).err
    assert "2 blocks" in evaluate(text, "--resume", str(cache)).out
    assert len(calls) == 3


def test_several_processes_give_the_same(evaluate):
    text = HEADER + "".join(f"{ADD}{'90' * n},SKL,unroll,1.00\n" for n in range(40))
    assert evaluate(text, "--jobs", "2").out == evaluate(text).out


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [(["--arch", "ZEN9"], 2, "unknown microarchitecture"), (["--resume", "/"], 1, "directory")],
)
def test_wrong_options_are_one_line(evaluate, options, status, message):
    error = evaluate(HEADER + f"{ADD},SKL,unroll,1.00\n", *options, status=status).err
    assert error.startswith("cyclelens evaluate: ")
    assert error.count("\n") == 1
    assert message in error


def test_trace_comparison(tmp_path, capsys):
    (tmp_path / "kernels.csv").write_text(f"name,mode,asm,hex\nadd,unroll,add,{ADD}\n")
    traces = tmp_path / "traces"
    traces.mkdir()
    header = (
        "kernel,round,instruction,kind,idq_uop,fused_uop,uop,predecoded,removed_from_iq,source,added_to_idq,"
        "issued,ready,dispatched,executed,retired,port\n"
    )
    right = "add,0,0,uop,0,0,0,0,3,MITE,3,4,9,9,11,12,6\n"
    wrong = "add,0,0,uop,0,0,0,0,3,MITE,3,4,9,10,12,13,6\n"
    arguments = ["--traces", str(traces), "--kernels", str(tmp_path / "kernels.csv")]
    (traces / "SKL.csv").write_text(header + right)
    assert command.main(arguments) == 0
    assert capsys.readouterr().out == "1 of 1 traces agree\n"
    (traces / "SKL.csv").write_text(header + wrong + wrong.replace("add", "gone", 1))
    assert command.main(arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "SKL add: cycle 9: round 0, instruction 0, uop 0: dispatched is 9, reference 10"
    )
    assert lines[1] == "SKL gone: its bytes are not in the table of kernels"
    assert lines[2] == "0 of 2 traces agree"


def test_every_table_has_the_baseline_of_the_paper(evaluate):
    """Four instructions per cycle: 0.25 for one addition, which takes 1; 1 for a loop of three."""
    text = HEADER + f"{ADD},SKL,unroll,1.00\n{ADD},SKL,loop,1.00\n"
    report = json.loads(evaluate(text, "--format", "json").out)
    modes = {each["mode"]: each["baseline_mean_error"] for each in report["by_microarchitecture_and_mode"]}
    assert modes == {"unroll": pytest.approx(0.75), "loop": 0}
    tables = [line for line in evaluate(text).out.splitlines() if " error % " in line]
    assert len(tables) >= 4 and all("baseline %" in line for line in tables)
    assert "0.25 instead of 1.00 (75%), SKL unroll" in evaluate(text, "--model", "baseline").out


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("dd07", "x87"),  # fld qword [rdi]: the stack overflows in the ninth iteration
        ("dd1f", "x87"),  # fstp qword [rdi]: it is empty at once
        ("0fa2", "cpuid"),
        ("48f7f1", "division"),  # div rcx
        ("48f7f9", "division"),  # idiv rcx
        ("f20f5ec1", "division"),  # divsd xmm0, xmm1
        ("c5f951c1", "division"),  # vsqrtpd xmm0, xmm1
        ("d9fa", "division"),  # fsqrt
    ],
)
def test_the_filters_of_the_paper_leave_blocks_out(evaluate, code, name):
    text = HEADER + f"{code},SKL,unroll,4.00\n{ADD},SKL,unroll,1.00\ndd07dd1f,SKL,unroll,1.00\n"
    others = ",".join({"x87", "cpuid", "division"} - {name})
    assert ": 3 blocks" in evaluate(text, "--leave-out", others).out
    seen = evaluate(text, "--leave-out", name)
    assert "2 blocks" in seen.out and "1 of 3 figures are left out" in seen.err
    assert "2 blocks" in evaluate(text, "--leave-out", "all").out


def test_an_unknown_filter_is_named(evaluate, capsys):
    with pytest.raises(SystemExit):
        evaluate(HEADER, "--leave-out", "avx")
    assert "'avx' is not one of x87, cpuid, division, all" in capsys.readouterr().err
