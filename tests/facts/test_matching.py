"""Which record describes an instruction (uiCA model, rules T1 to T4)."""

from __future__ import annotations

import csv
import lzma
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cyclelens.analyzer.facts.encoding import decode_variants
from cyclelens.analyzer.facts.matching import find_facts
from cyclelens.analyzer.facts.store import FactsStore, default_tables, open_store
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.forms import FORMS_PATH
from cyclelens.analyzer.model.facts import Figures, InstructionFacts
from cyclelens.analyzer.model.instruction import DecodedOperand, Instruction, OperandKind
from testkit.instructions import made_up

SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.fixture(scope="module")
def store() -> Iterator[FactsStore]:
    opened = open_store()
    yield opened
    opened.close()


def instruction_of(code: str) -> Instruction:
    (instruction,) = decode(bytes.fromhex(code))
    return instruction


# --- the rules, on invented records -------------------------------------------------------------------


class Records:
    """A store with the given records under the form ``F``."""

    def __init__(self, *attributes: dict[str, str]) -> None:
        self._records = tuple(
            InstructionFacts(f"record {number}", "F", "SKL", chosen, (), Figures())
            for number, chosen in enumerate(attributes)
        )

    def candidates(self, microarchitecture: str, iform: str) -> tuple[InstructionFacts, ...]:
        return self._records if (microarchitecture, iform) == ("SKL", "F") else ()


def example(**fields: Any) -> Instruction:
    return made_up("x", **({"iform": "F"} | fields))


def name_of(facts: InstructionFacts | None) -> str:
    return facts.name if facts else "none"


def test_only_records_of_the_same_form_count() -> None:
    assert find_facts(example(), "SKL", Records({})) is not None
    assert find_facts(example(iform="G"), "SKL", Records({})) is None
    assert find_facts(example(iform=""), "SKL", Records({})) is None
    assert find_facts(example(), "HSW", Records({})) is None


def test_the_first_record_that_fits_wins() -> None:
    records = Records({"eosz": "3"}, {"mask": "0"}, {})
    assert name_of(find_facts(example(), "SKL", records)) == "record 1"


def register(name: str) -> DecodedOperand:
    return DecodedOperand(OperandKind.REGISTER, register=name)


def address(base: str | None, index: str | None = None, scale: int = 1, bits: int = 0) -> DecodedOperand:
    return DecodedOperand(OperandKind.AGEN, None, base, index, scale, 0, bits)


@pytest.mark.parametrize(
    ("fields", "attributes"),
    [
        ({"effective_operand_size": 1}, {"eosz": "1"}),
        ({"immediate": 0, "immediate_bits": 8}, {"immzero": "1"}),
        ({"immediate": 5, "immediate_bits": 8}, {"immzero": "0"}),
        ({}, {"immzero": "0"}),
        ({"mask": "K1", "zeroing": True}, {"mask": "1", "zeroing": "1"}),
        ({"broadcast": True}, {"bcast": "10"}),
        ({}, {"bcast": "0"}),
        ({"suppress_exceptions": True}, {"sae": "1"}),
        ({"repeat": 3}, {"rep": "3"}),
        ({"code": b"\x80\x05", "has_modrm": True}, {"rm": "4,5,6,7"}),
        ({"operands": (register("AL"), register("BL"))}, {"high8": ""}),
        ({"operands": (register("AL"), register("BH"))}, {"high8": "REG1"}),
        ({"operands": (register("CH"), register("BH"))}, {"high8": "REG0,REG1"}),
        ({"operands": (register("RAX"), address("RBX"))}, {"agen": "B"}),
        ({"operands": (register("RAX"), address("RBX", "RCX", 1, 8))}, {"agen": "B_I_D8"}),
        ({"operands": (register("RAX"), address(None, "RCX", 4, 32))}, {"agen": "IS_D32"}),
        ({"operands": (register("RAX"), address("RIP", bits=32))}, {"agen": "R_D32"}),
    ],
)
def test_every_attribute_of_the_record_must_agree(
    fields: dict[str, object], attributes: dict[str, str]
) -> None:
    assert find_facts(example(**fields), "SKL", Records(attributes)) is not None
    # Turn each attribute into another value: no match any more.
    others = {"rm": "0,1,2,3", "bcast": "0" if attributes.get("bcast") != "0" else "10"}
    for name in attributes:
        changed = attributes | {name: others.get(name, "other")}
        assert find_facts(example(**fields), "SKL", Records(changed)) is None


# --- the tables that ship -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("4801d8", "ADD_01 (R64, R64)"),
        ("48034708", "ADD (R64, M64)"),
        ("4883c000", "ADD (R64, 0)"),
        ("4883c001", "ADD (R64, I8)"),
        ("00e0", "ADD_00 (R8l, R8h)"),
        ("f0480107", "ADD_LOCK (M64, R64)"),
        ("488d4708", "LEA_B_D8 (R64)"),
        ("488d04b7", "LEA_B_IS (R64)"),
        ("49ffcf", "DEC (R64)"),
        ("75f3", "JNZ (Rel8)"),
        ("f3a4", "MOVSB_REPE"),
        ("90", "NOP"),
        ("660f1f840000000000", "NOP (M16)"),
        ("48d1e0", "SHL (R64, 1)"),
        ("c5fc58c1", "VADDPS (YMM, YMM, YMM)"),
        ("c5fc5807", "VADDPS (YMM, YMM, M256)"),
        ("c4e27db8c1", "VFMADD231PS (YMM, YMM, YMM)"),
    ],
)
def test_records_of_common_instructions_on_skylake(code: str, name: str, store: FactsStore) -> None:
    assert name_of(find_facts(instruction_of(code), "SKL", store)) == name


def test_instructions_that_a_processor_lacks_are_unknown_on_it(store: FactsStore) -> None:
    fused_multiply_add = instruction_of("c4e27db8c1")
    assert find_facts(fused_multiply_add, "HSW", store) is not None
    assert find_facts(fused_multiply_add, "SNB", store) is None
    assert find_facts(instruction_of("d9c1"), "SKL", store) is None  # x87


def test_tzcnt_is_bsf_on_processors_that_ignore_its_prefix(store: FactsStore) -> None:
    tzcnt = instruction_of("f3480fbcc1")
    assert name_of(find_facts(tzcnt, "HSW", store)) == "TZCNT (R64, R64)"
    assert name_of(find_facts(tzcnt, "IVB", store)) == "BSF (R64, R64)"


# --- the whole instruction set, against the shared reference ------------------------------------------

_ONE_OF_TWO_OPCODES = re.compile(r"(?:ADC|ADD|AND|CMP|MOV|OR|SBB|SUB|XOR)_([0-9A-F]{2}) \(")


_NOPS = {"ENDBR32": "NOP", "ENDBR64": "NOP"}
"""What the tables lack and NOPs stand for."""


def _names_another_opcode(instruction: Instruction, record: str) -> bool:
    """The reference's name says opcode 01, the bytes say 03 (both mean the same to a programmer)."""
    found = _ONE_OF_TWO_OPCODES.match(record)
    return found is not None and int(found[1], 16) != instruction.code[instruction.opcode_offset]


@pytest.fixture(scope="module")
def records_by_form() -> dict[str, set[str]]:
    """Names of all records in the tables, by form, read without the code under test."""
    with closing(sqlite3.connect(f"{Path(default_tables()).as_uri()}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT iform, variants FROM forms").fetchall()
    return {form: {variant.name for variant in decode_variants(text)} for form, text in rows}


def test_the_forms_of_the_decoder_are_those_of_the_tables(records_by_form: dict[str, set[str]]) -> None:
    """Both are made from one file; a new one must renew both."""
    lines = Path(FORMS_PATH).read_text().splitlines()[1:]
    forms = {item.split("=", 1)[1] for line in lines for item in line.split("\t")[1:]}
    assert forms == set(records_by_form)


def test_agreement_with_the_reference_encodings(
    store: FactsStore, records_by_form: dict[str, set[str]]
) -> None:
    path = SHARED / "reference" / "matching.csv"
    if not path.exists():
        pytest.skip("needs the reference encodings beside the project (shared/reference/matching.csv)")
    # No processor has every instruction: the first that knows it answers, Skylake before the others.
    processors = sorted(store.microarchitectures(), key=lambda name: name != "SKL")
    held = set().union(*records_by_form.values())
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    misses = []
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            part = (
                "real code" if number < 1864 else "others" if row["record"] in held else "not in the tables"
            )
            instruction = decode(bytes.fromhex(row["hex"]))[0]
            answers = (find_facts(instruction, processor, store) for processor in processors)
            name = next((facts.name for facts in answers if facts), "none")
            total[part] += 1
            if name == (row["record"] if row["record"] in held else _NOPS.get(row["record"], "none")):
                right[part] += 1
            else:
                misses.append((instruction, row["record"], name))
    for part, count in total.items():
        print(f"{part}: {right[part]} of {count}")
    assert right["real code"] == total["real code"]
    assert right["others"] / total["others"] >= 0.99
    # What is left are rows whose bytes do not say what their name says.
    unexplained = [
        (instruction.code.hex(), record, name)
        for instruction, record, name in misses
        if not _names_another_opcode(instruction, record) and not record.startswith(("CALL_FAR", "JMP_FAR"))
    ]
    assert not unexplained


def test_real_basic_blocks_are_known(store: FactsStore) -> None:
    path = SHARED / "corpus" / "blocks.hex.xz"
    if not path.exists():
        pytest.skip("needs the corpus of basic blocks beside the project (shared/corpus/blocks.hex.xz)")
    with lzma.open(path, "rt") as file:
        blocks = file.read().split()[::20]
    unknown: Counter[str] = Counter()
    total = 0
    for block in blocks:
        for instruction in decode(bytes.fromhex(block)):
            total += 1
            if find_facts(instruction, "SKL", store) is None:
                unknown[instruction.text] += 1
    print(f"{total - unknown.total()} of {total} instructions in {len(blocks)} blocks, SKL")
    assert unknown.total() / total < 0.001, unknown.most_common(20)
