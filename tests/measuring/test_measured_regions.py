"""How a region becomes a loop that ends, and what explains a difference; nothing is run."""

import pytest
from cyclelens.analyzer.measuring.harness import Harness
from cyclelens.analyzer.measuring.inputs import InputsError, read_inputs, with_marker
from cyclelens.analyzer.measuring.loops import MeasurableLoop, measurable, with_data
from cyclelens.analyzer.measuring.region import Comparison, measure_region
from cyclelens.analyzer.measuring.requests import DISTINCT, SAME, Counter, Measurement, MeasurementRequest


def loop(text):
    return measurable(bytes.fromhex(text), DISTINCT)


@pytest.mark.parametrize(
    ("code", "counter"),
    [
        ("48ffc975fb", Counter(1, 0, 1)),  # dec rcx; jnz
        ("4883e80875fa", Counter(0, 0, 8)),  # sub rax, 8; jnz
        ("4883c02075fa", Counter(0, 0, -32)),  # add rax, 32; jnz
        ("4883c0084839d872f7", Counter(3, DISTINCT.registers["RAX"], 8)),  # add rax,8; cmp rax,rbx; jb
        ("4883c0084839c375f7", Counter(3, DISTINCT.registers["RAX"], 8)),  # add rax,8; cmp rbx,rax; jne
        ("4883e8084839c372f7", Counter(3, DISTINCT.registers["RAX"], -8)),  # sub rax,8; cmp rbx,rax; jb
        ("48ffc04883f84075f7", Counter(0, 64, -1)),  # inc rax; cmp rax, 64; jne
    ],
)
def test_a_loop_that_counts_is_left_as_it_is(code, counter):
    assert loop(code) == MeasurableLoop(bytes.fromhex(code), counter, closed=True)


@pytest.mark.parametrize(
    "code",
    [
        "4885c075fb",  # test rax, rax; jne: nothing changes rax
        "488b043848ffc9488b0975f4",  # rcx is loaded behind dec
        "4883c008480fafc34839d872f3",  # rax is multiplied too
        "4883e8084839d872f7",  # counts down, but goes on while below
        "4883c0084839c372f7",  # counts up, but goes on while the limit is below
    ],
)
def test_any_other_loop_gets_a_counter(code):
    found = loop(code)
    assert not found.closed
    assert found.code == bytes.fromhex(code)[:-2]
    assert "replaced by 'dec r15; jnz'" in found.note


def test_operands_beside_the_code_get_data_of_their_own():
    """Each at the start of a line, wherever the code lies; all else stays."""
    code = bytes.fromhex("c5fd100500000000488b0d0a00000048ffc975ec")  # vmovupd, mov; both [rip+...]; dec; jnz
    moved = with_data(code, 48)
    first, second = (int.from_bytes(moved[i : i + 4], "little") for i in (4, 11))
    assert (48 + 8 + first) % 64 == (48 + 15 + second) % 64 == 0
    assert (48 + 15 + second) - (48 + 8 + first) == 64
    assert moved[:4] + moved[8:11] + moved[15:] == code[:4] + code[8:11] + code[15:]


def test_inputs_are_read_and_what_is_wrong_is_named():
    inputs = read_inputs("rsi = 0x10000  # the array\n\n[0x10008] = 7\n")
    assert inputs.registers["RSI"] == 0x10000
    assert inputs.words == {0x10008: 7}
    assert with_marker(SAME, "rax:1,rbx:-1").registers == {"RAX": 1, "RBX": -1}
    for text in ("eax = 1", "[0x10001] = 1", "rax", "rax = x"):
        with pytest.raises(InputsError, match=r"rax|eax|0x10001"):
            read_inputs(text)


class Told(Harness):
    """A harness that gives the figures that it was told."""

    def __init__(self, *cycles):
        self._cycles = list(cycles)

    def measure(self, request):
        return Measurement(self._cycles.pop(0) if len(self._cycles) > 1 else self._cycles[0], spread=0.001)


def compare(measured, predict, *, loop=True, body=""):
    code = bytes.fromhex("48ffc975fb" if loop else body or "4801d8")
    request = MeasurementRequest(code=code, instructions=2, loop=loop, inputs=DISTINCT)
    return measure_region(Told(*measured), request, predict, runs=1)


def test_a_prediction_that_holds_needs_no_explanation():
    assert compare([1.01], lambda *_: 1.0).agrees
    assert compare([1.01], lambda *_: 1.0).causes == ()


def test_aliasing_and_alignment_are_named_as_causes():
    def aliasing(code, loop, offset, options):
        return 5.0 if options.assume == "same" else 1.0

    (cause,) = compare([5.02], aliasing).causes
    assert cause == "addresses: with registers that point to the same memory it would be 5.00"

    def aligned(code, loop, offset, options):
        return 2.0 if offset % 32 == 30 else 1.0

    (cause,) = compare([2.0], aligned).causes
    assert cause == "alignment: at 2 of 64 offsets, 30 among them, it would be 2.00"


def test_an_assumption_need_not_explain_all_of_a_difference():
    """A stall that is simulated a cycle too long is the cause still; one that leaves most open is not."""

    def stalls(code, loop, offset, options):
        return 17.0 if options.assume == "stack" else 6.0 if options.assume == "same" else 1.0

    (cause,) = compare([16.0], stalls).causes
    assert cause == (
        "addresses: with registers that point to the same memory, not to the stack, it would be 17.00"
    )


MIXED = "c5ddfee5660ffed0"  # vpaddd ymm4, ymm4, ymm5; paddd xmm2, xmm0


def test_legacy_sse_beside_256_bit_code_is_the_cause_where_the_model_has_no_price_for_it():
    (cause,) = compare([400.6], lambda *_: 1.0, loop=False, body=MIXED).causes
    assert cause.startswith("SSE/AVX mix: legacy SSE beside 256-bit code")
    assert cause.endswith("its cost here is not known")


def test_the_source_of_the_front_end_is_named_as_cause():
    (cause,) = compare([2.0, 1.0], lambda *_: 1.0, loop=False).causes
    assert cause == "front end: out of the uop cache it takes 1.00"


def test_what_must_not_run_is_not_run():
    found = measure_region(
        Told(1.0), MeasurementRequest(code=bytes.fromhex("0f05"), instructions=1), lambda *_: 1.0
    )
    assert found.measured.cycles is None
    assert "system calls are not run" in found.measured.problem


@pytest.mark.parametrize(
    ("cycles", "spread", "predicted", "verdict"),
    [
        (1.01, 0.0, 1.0, "prediction and measurement agree"),
        (1.0, 0.0, 1.55, "the prediction is 55 % too high"),
        (2.0, 0.0, 1.0, "the prediction is 50 % too low"),
        (5.03, 0.29, 2.0, "unreliable, as the runs differ by 29 %; repeat on a quiet machine"),
        (5.03, 0.01, None, ""),
    ],
)
def test_the_verdict_of_a_measurement(cycles, spread, predicted, verdict):
    assert Comparison(predicted, Measurement(cycles, spread=spread), b"").verdict == verdict
