"""The algorithms against a simulated core, whose tables are the truth."""

import random

import pytest
from cyclelens.analyzer.characterizing.characterize import Characterizer
from cyclelens.analyzer.characterizing.comparison import TableComparison
from cyclelens.analyzer.characterizing.idioms import Idiom, idiom
from cyclelens.analyzer.characterizing.instances import EncodableVariant, family, variant
from cyclelens.analyzer.characterizing.latency import Latencies, MeasuredLatency
from cyclelens.analyzer.characterizing.machines import (
    ALL_THE_SAME,
    RepeatedRun,
    SimulatedMachine,
)
from cyclelens.analyzer.characterizing.ports import linear_program, table_ports
from cyclelens.analyzer.characterizing.table import xml
from cyclelens.analyzer.characterizing.truth import SimulatedLatencies
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.facts.matching import Matcher
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.encoder import Decoration, EncoderMemory, encodings
from cyclelens.analyzer.microarchitectures import registry
from msgspec.structs import replace

VARIANTS, MOST_UOPS = 60, 8
"""``benchmarks/characterizing.py`` takes as many as you like."""


LATENCIES, PORTS, UOPS = 0.97, 0.96, 0.98


NOISE, LATENCIES_WITH_NOISE = 0.02, 0.95


def some(store, name):
    """Variants by chance, but always the same."""
    every = [
        facts
        for form in store.forms()
        for facts in store.candidates(name, form)
        if (facts.base.uops or 0) <= MOST_UOPS
    ]
    return random.Random(7).sample(every, VARIANTS)


def named(store, microarchitecture, name):
    return next(
        facts
        for form in store.forms()
        for facts in store.candidates(microarchitecture, form)
        if facts.name == name
    )


def characterized(store, model, characterizer, wanted):
    comparison = TableComparison(model, SimulatedLatencies(model, store))
    for facts in wanted:
        comparison.add(characterizer.row(facts))
    return comparison


def share(score):
    return score.equal / (score.equal + score.different)


class Noisy:
    """A machine whose clock is off by some percent."""

    def __init__(self, machine):
        self._machine, self._random = machine, random.Random(3)

    def run(self, code, start=ALL_THE_SAME):
        run = self._machine.run(code, start)
        if isinstance(run, str):
            return run
        return replace(run, cycles=run.cycles * (1 + self._random.uniform(-NOISE, NOISE)))

    def straight(self, code):
        run = self._machine.straight(code)
        return (
            run
            if isinstance(run, str)
            else RepeatedRun(run.cycles * (1 + self._random.uniform(-NOISE, NOISE)))
        )


@pytest.mark.parametrize("name", ["HSW", "SKL", "ICL"])
def test_the_tables_of_a_simulated_core_are_found_again(store, characterizer, name):
    model = registry.get(name)
    comparison = characterized(store, model, characterizer(name), some(store, model.facts_name))
    assert comparison.latencies.equal + comparison.latencies.different > VARIANTS
    assert share(comparison.latencies) >= LATENCIES, comparison.differences
    assert share(comparison.uops) >= UOPS, comparison.differences
    assert share(comparison.ports) >= PORTS, comparison.differences


def test_latencies_are_found_with_a_clock_that_is_off(store):
    model = registry.get("SKL")
    noisy = Characterizer(Noisy(SimulatedMachine(model, store)), store, model)
    comparison = characterized(store, model, noisy, some(store, "SKL"))
    assert share(comparison.latencies) >= LATENCIES_WITH_NOISE, comparison.differences


def test_slots_are_found_where_uops_are_not_counted(store, characterizer):
    names = {"ADD (R64, M64)": 1, "XADD (R64, R64)": 3, "ADD (M64, R64)": 2, "MUL (R64)": 2}
    uncounted = characterizer("SKL", counted=False)
    found = {name: uncounted.row(named(store, "SKL", name)).front_end.slots for name in names}
    assert found == names


@pytest.mark.parametrize(
    ("name", "latencies"),
    [
        # Of the published tables: op1 and op2 to op1 and op2, and all of them to the flags.
        ("XADD (R64, R64)", {(1, 1, ""): 2, (1, 2, ""): 1, (2, 1, ""): 2, (2, 2, ""): 1}),
        ("TEST (R64, R64)", {(1, 3, ""): 1, (2, 3, ""): 1}),
        ("MOV (R64, M64)", {(2, 1, "address"): 5, (2, 1, "address_index"): 5}),
        ("ADD (R64, M64)", {(1, 1, ""): 1, (1, 3, ""): 1, (2, 1, "address"): 6}),
        ("MUL (R64)", {(1, 2, ""): 3, (1, 3, ""): 4, (2, 3, ""): 4}),
        ("ADC (R64, R64)", {(3, 1, ""): 1, (3, 3, ""): 1}),
    ],
)
def test_the_latencies_of_one_instruction(store, characterizer, name, latencies):
    names = [name, name.replace(" (", "_13 (")]
    facts = next(
        facts for form in store.forms() for facts in store.candidates("SKL", form) if facts.name in names
    )
    row = characterizer("SKL").row(facts)
    assert {pair: row.latencies[pair].cycles for pair in latencies} == latencies


@pytest.mark.parametrize("name", ["AND (EAX, I32)", "ADD (M64, I8)"])
def test_the_throughput_of_what_waits_for_itself(store, characterizer, name):
    """What ends the dependence takes a slot of its own, so that it must not stand behind each instance; and
    there must be enough addresses. The tables of SPR allow five operations and two stores per cycle."""
    expected = {"AND (EAX, I32)": 1 / 5, "ADD (M64, I8)": 1 / 2}[name]
    row = characterizer("SPR").row(named(store, "Golden Cove", name))
    assert row.cycles == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(
    ("name", "special", "executed"),
    [
        ("VPXOR (XMM, XMM, XMM)", Idiom.ZERO, 0),
        ("PCMPEQB (XMM, XMM)", Idiom.BREAKING, 1),
        ("MOVAPS_0F28 (XMM, XMM)", Idiom.ELIMINATED, 1),
        ("PADDB (XMM, XMM)", None, 1),
    ],
)
def test_idioms_are_found(store, characterizer, name, special, executed, counted):
    """Where uops are not counted, by what units would not let independent instances do."""
    row = characterizer("SKL", counted).row(named(store, "SKL", name))
    assert row.idiom is special
    written = "".join(xml([row], registry.get("SKL")))
    assert ('uops_same_reg="0"' in written) == (special is Idiom.ZERO)
    if counted:
        assert row.same_register is not None
        assert row.same_register.uops == pytest.approx(executed, abs=0.02)
        # A register that is moved to itself is not eliminated: it has a uop, and that has units.
        eliminated = 'uops_same_reg="1" ports_same_reg="1*p015"'
        assert (eliminated in written) == (special is Idiom.ELIMINATED)


def test_a_move_between_classes_has_an_upper_bound(store, characterizer):
    """Only there and back can be measured: 2 + 2 cycles (O11), of which one at least is the way back. So the
    tables have 3."""
    found = characterizer("SKL").row(named(store, "SKL", "VMOVD (XMM, R32)")).latencies[2, 1, ""]
    assert (found.cycles, found.upper_bound) == (3, True)


def test_instances_are_encoded_from_operands():
    assert next(encodings("add", ("RAX", "RBX"))).hex() == "4801d8"
    assert next(encodings("vfmadd231ps", ("YMM0", "YMM1", "YMM2"))).hex() == "c4e275b8c2"
    assert list(encodings("add", ("AH", "R8B"))) == []
    assert list(encodings("nonsense", ())) == []
    assert {family(name) for name in ("AH", "AX", "EAX", "RAX")} == {"RAX"}
    assert {family(name) for name in ("R9B", "R9W", "R9D")} == {"R9"}
    assert family("YMM12") == "V12"


@pytest.mark.parametrize(
    ("mnemonic", "operands", "decoration", "text"),
    [
        (
            "add",
            (EncoderMemory("RSI", displacement=64), "RAX"),
            Decoration(),
            "add qword ptr [rsi + 0x40], rax",
        ),
        ("add", (EncoderMemory("RSI"), "EAX"), Decoration(lock=True), "lock add dword ptr [rsi], eax"),
        (
            "lea",
            ("RAX", EncoderMemory("RSI", "R13", 2, 64, 4)),
            Decoration(),
            "lea rax, [rsi + r13*2 + 0x40]",
        ),
        (
            "vaddps",
            ("ZMM0", "ZMM1", EncoderMemory("RSI")),
            Decoration("K1", zeroing=True, broadcast=True),
            "vaddps zmm0{k1}{z}, zmm1, dword ptr [rsi]{1to16}",
        ),
        (
            "vaddps",
            ("ZMM0", "ZMM1", "ZMM2"),
            Decoration(suppress_exceptions=True),
            "vaddps zmm0{rne-sae}, zmm1, zmm2",
        ),
    ],
)
def test_memory_and_decorations_are_encoded(mnemonic, operands, decoration, text):
    (instruction,) = decode(next(encodings(mnemonic, operands, decoration)))
    assert "".join(instruction.text.split()) == "".join(text.split())


def test_a_decoration_that_an_instruction_cannot_have_is_no_encoding():
    assert list(encodings("imul", ("RAX", "RBX"), Decoration(lock=True))) == []
    assert list(encodings("vaddps", ("YMM0", "YMM1", "YMM2"), Decoration(broadcast=True))) == []


def test_the_linear_program_finds_the_busiest_units():
    assert linear_program({frozenset("0156"): 1}) == 0.25
    assert linear_program({frozenset("06"): 2, frozenset("0156"): 1}) == 1.0
    assert linear_program({frozenset("0"): 1, frozenset("01"): 2, frozenset("5"): 1}) == 1.5
    assert linear_program({}) == 0.0


def test_the_command_writes_a_table_and_compares(tmp_path, capsys):
    output = tmp_path / "skl.xml"
    words = ["--machine", "sim:SKL", "--forms", "^IMUL .R64, (R64|M64).$", "--output", str(output)]
    assert main(["characterize", *words]) == 0
    shown = capsys.readouterr().out
    assert "2 of 2 variants characterised on sim:SKL" in shown
    written = output.read_text()
    assert 'string="IMUL (R64, R64)"' in written
    assert '<latency start_op="2" target_op="1" cycles="3"' in written
    assert 'cycles_addr="8"' in written
    assert 'uops="1"' in written
    assert [path.name for path in tmp_path.iterdir()] == ["skl.xml"]
    assert main(["characterize", "--compare", str(output), "SKL"]) == 0
    shown = capsys.readouterr().out
    assert "registers" in shown
    assert "4 of 4, 100.0%" in shown
    assert main(["characterize", "--compare", "SKL", "NOPE"]) == 1
    assert "unknown microarchitecture 'NOPE'" in capsys.readouterr().err


def test_an_instruction_that_reads_flags_in_no_time_is_no_move(store):
    """Only between two registers: flags that a shift keeps were taken for one."""
    found = variant(named(store, "SKL", "SHL (R64, CL)"), Matcher("SKL"), store)
    assert isinstance(found, EncodableVariant)
    flags, register, count = 3, 1, 2
    assert idiom(found, {(flags, register, ""): MeasuredLatency(0)}, RepeatedRun(1.0), None) is None
    assert (
        idiom(found, {(count, register, ""): MeasuredLatency(0)}, RepeatedRun(1.0), None) is Idiom.ELIMINATED
    )


ALL_BUT_SIGNS = {"JB", "JNB", "JBE", "JNBE", "JL", "JNL", "JLE", "JNLE", "JZ", "JNZ"}


@pytest.mark.parametrize(
    ("core", "name", "slots", "indexed", "complex_decoder", "beside", "jumps"),
    [
        ("SKL", "ADD (R64, M64)", 1, 1, False, None, ALL_BUT_SIGNS),
        ("SKL", "ADD (M64, R64)", 2, 3, True, 3, set()),
        ("SKL", "XADD (R64, R64)", 3, None, True, 2, set()),
        ("HSW", "VPADDB (XMM, XMM, M128)", 1, 2, False, None, set()),
        ("ICL", "INC (R64)", 1, None, False, None, ALL_BUT_SIGNS - {"JB", "JNB", "JBE", "JNBE"}),
        # Measured: an index makes two macro-ops (docs/zen5.md, M31).
        ("ZEN4", "ADD (R64, M64)", 1, 2, False, None, None),
    ],
)
def test_what_the_front_end_takes_is_found(
    store, characterizer, core, name, slots, indexed, complex_decoder, beside, jumps
):
    """Of the published tables: fused uops, decoders and the jumps that fuse."""
    model = registry.get(core)
    row = characterizer(core).row(named(store, model.facts_name, name))
    found = row.front_end
    assert (found.slots, found.indexed_slots) == (slots, indexed)
    assert (found.complex_decoder, found.simple_decoders) == (complex_decoder, beside)
    if jumps is not None:
        assert (found.fuses_with or set()) == jumps
    written = "".join(xml([row], model))
    assert f'uops_retire_slots="{slots}"' in written
    assert f'complex_decoder="{int(complex_decoder)}"' in written
    assert ("JZ (Rel32);JZ (Rel8)" in written) == bool(found.fuses_with)


POINTERS = {
    "PUSH (R64)": (2, 1.0, {"rsp"}),
    "POP (R64)": (1, 0.5, {"rsp"}),
    "STOSQ": (3, 1.0, {"rdi"}),
    "MOVSQ": (5, 4.0, {"rsi", "rdi"}),
}
"""Uops, cycles, and the pointers that move."""


def test_stack_and_string_instructions_lead_their_pointers_back(store):
    """Each block ends where it began, or a run would leave its memory."""
    model = registry.get("SKL")
    machine = Watching(SimulatedMachine(model, store))
    characterizer = Characterizer(machine, store, model)
    for name, (uops, cycles, pointers) in POINTERS.items():
        machine.asked.clear()
        row = characterizer.row(named(store, "SKL", name))
        assert row.uops == pytest.approx(uops, abs=0.1)
        assert row.cycles == pytest.approx(cycles, rel=0.3)
        assert row.latencies == {}
        mnemonic = name.partition(" ")[0].lower()
        asked = [[each.text for each in decode(code)] for code in machine.asked]
        own = [texts for texts in asked if any(text.split()[0] == mnemonic for text in texts)]
        assert own
        for texts in own:
            assert {f"lea {pointer}, [r14]" for pointer in pointers} <= set(texts)


def test_a_shift_by_cl_does_not_shift_by_zero(store):
    """That would leave the flags alone: a Zen 4 takes 33 cycles to find out, where it expected a shift."""
    machine = Watching(SimulatedMachine(registry.get("SKL"), store))
    for name, counts in (("SHL (R64, CL)", True), ("SHL (R64, I8)", False)):
        machine.starts.clear()
        found = variant(named(store, "SKL", name), Matcher("SKL"), store)
        assert isinstance(found, EncodableVariant)
        assert Latencies(machine).of(found)
        chains = [start for code, start in machine.starts if any(i.mnemonic == "shl" for i in decode(code))]
        assert {dict(start.registers).get("RCX") for start in chains} == {3 if counts else None}


class Watching:
    """A machine that remembers what it was asked."""

    def __init__(self, machine):
        self._machine, self.asked, self.starts = machine, [], []

    def run(self, code, start=ALL_THE_SAME):
        self.asked.append(code)
        self.starts.append((code, start))
        return self._machine.run(code, start)

    def straight(self, code):
        self.asked.append(code)
        return self._machine.straight(code)


def test_the_variants_of_blocks_come_by_frequency(tmp_path, capsys):
    blocks = tmp_path / "blocks.txt"
    blocks.write_text("480fafc3\n4801d8480fafc3480fafc3\n")
    words = ["--machine", "sim:SKL", "--blocks", str(blocks), "--most", "1", "--forms", "R64"]
    assert main(["characterize", *words]) == 0
    shown = capsys.readouterr().out
    assert "1 of 1 variants" in shown
    assert "latencies    4 of 4" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--machine", "vax"], "'vax' is neither native nor sim:NAME"),
        (["--machine", "sim:VAX"], "unknown microarchitecture 'VAX'"),
        (
            ["--machine", "sim:SKL", "--forms", "^NONSENSE"],
            "no variant in the tables of SKL matches the options",
        ),
        (["--machine", "sim:SKL", "--blocks", "/nonexistent"], "/nonexistent"),
    ],
)
def test_wrong_words_are_explained(words, message, capsys):
    assert main(["characterize", *words]) == 1
    assert message in capsys.readouterr().err


def test_ports_are_compared_as_sets_of_units(store):
    model = registry.get("SKL")
    facts = store.candidates("SKL", "ADD_GPRv_GPRv_01")[0]
    assert table_ports(facts, model) == {frozenset("0156"): 1}
