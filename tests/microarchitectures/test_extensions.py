"""The extensions of each core, against published lists, the tables, and blocks that ran there."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.isa.codes import enum_names
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.isa.forms import FORMS_PATH, forms_of
from cyclelens.analyzer.isa.spelling import described
from cyclelens.analyzer.microarchitectures import extensions, instruction_sets, registry
from cyclelens.analyzer.model.instruction import Instruction
from iced_x86 import Code, CpuidFeature, OpCodeInfo
from iced_x86 import Instruction as IcedInstruction
from testkit.instructions import made_up

SHARED = Path(__file__).parents[3] / "shared"

# Extension, an instruction of it, and the cores without it.
WITHOUT = """
FMA            c4e2f1b8c2        SNB IVB
AVX2           c5f5d4c2          SNB IVB
F16C           c4e27913c1        SNB
BMI1           c4e278f2c1        SNB IVB
BMI2           c4e2e1f7c1        SNB IVB
MOVBE          0f38f006          SNB IVB
ADX            660f38f6c1        SNB IVB HSW
RDRAND         0fc7f0            SNB
RDSEED         0fc7f8            SNB IVB HSW
CLFLUSHOPT     660fae3e          SNB IVB HSW BDW
SHA            0f38c8c1          SNB IVB HSW BDW SKL SKX KBL CFL CLX
GFNI           660f38cfc1        SNB IVB HSW BDW SKL SKX KBL CFL CLX ZEN ZEN+ ZEN2 ZEN3
VAES           c4e275dcc1        SNB IVB HSW BDW SKL SKX KBL CFL CLX ZEN ZEN+ ZEN2
VPCLMULQDQ     c4e37544c100      SNB IVB HSW BDW SKL SKX KBL CFL CLX ZEN ZEN+ ZEN2
AVX-512        62f17c4858c1      SNB IVB HSW BDW SKL KBL CFL ADL MTL LNL ARL ZEN ZEN+ ZEN2 ZEN3
AVX-512        62e17c0858c1      SNB IVB HSW BDW SKL KBL CFL ADL MTL LNL ARL ZEN ZEN+ ZEN2 ZEN3
AVX-VNNI       c4e27550c1        SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL ZEN ZEN+ ZEN2 ZEN3 ZEN4
SSE4a          660f79c1          SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL TGL RKL ADL SPR MTL GNR LNL ARL
"""
# The same for parts of AVX-512, of the cores that have the rest of it.
PARTS = """
AVX-512 VNNI          62f2754850c1  SKX
AVX-512 VBMI          62f275488dc1  SKX CLX
AVX-512 VBMI2         62f2f54870c1  SKX CLX
AVX-512 IFMA          62f2f548b4c1  SKX CLX
AVX-512 BITALG        62f27d4854c1  SKX CLX
AVX-512 VPOPCNTDQ     62f27d4855c1  SKX CLX
AVX-512 BF16          62f2764852c1  SKX CLX ICL TGL RKL
AVX-512 VP2INTERSECT  62f2774868c1  SKX CLX ICL RKL SPR GNR ZEN4
AVX-512 FP16          62f57c4858c1  SKX CLX ICL TGL RKL ZEN4 ZEN5
"""
# No core that is simulated has these.
NOWHERE = """
FMA4      c4e3f168c210
XOP       8fe870ccc200
TBM       8fe97801c9
3DNow!    0f0f1e9e
"""


def _rows(table: str) -> Iterator[tuple[str, Instruction, list[str]]]:
    for line in table.strip().splitlines():
        title, rest = line[:20].split("  ")[0].strip(), line.split("  ", 1)[1].split()
        (instruction,) = decode(bytes.fromhex(rest[0]))
        yield title, instruction, rest[1:]


def _cores_without(instruction: Instruction) -> dict[str, tuple[str, ...]]:
    missing = extensions.missing([instruction], registry.names())
    return {each.microarchitecture: each.extensions for each in missing}


@pytest.mark.parametrize(("title", "instruction", "cores"), list(_rows(WITHOUT)))
def test_cores_without_an_extension(title: str, instruction: Instruction, cores: list[str]) -> None:
    assert _cores_without(instruction) == dict.fromkeys(cores, (title,))


@pytest.mark.parametrize(("title", "instruction", "cores"), list(_rows(PARTS)))
def test_cores_with_avx_512_but_without_a_part(
    title: str, instruction: Instruction, cores: list[str]
) -> None:
    avx512 = next(cores for name, _, cores in _rows(WITHOUT) if name == "AVX-512")
    assert _cores_without(instruction) == dict.fromkeys(avx512, ("AVX-512",)) | dict.fromkeys(cores, (title,))


@pytest.mark.parametrize(("title", "instruction", "cores"), list(_rows(NOWHERE)))
def test_extensions_that_no_core_has(title: str, instruction: Instruction, cores: list[str]) -> None:
    assert _cores_without(instruction) == dict.fromkeys(registry.names(), (title,))


@pytest.mark.parametrize("code", ["62f17c4858c1", "c4e27849c0"], ids=["AVX-512", "AMX"])
def test_of_later_cores_those_of_servers_have_more(code: str) -> None:
    (instruction,) = decode(bytes.fromhex(code))
    assert extensions.absent_from(instruction_sets.ALDER_LAKE, instruction)
    for has in (instruction_sets.SAPPHIRE_RAPIDS, instruction_sets.GRANITE_RAPIDS):
        assert not extensions.absent_from(has, instruction)


def test_every_core_has_a_list() -> None:
    (nop,) = decode(b"\x90")
    assert not _cores_without(nop)


@pytest.mark.parametrize(
    ("code", "instead"), [("f30fbcc1", "bsf"), ("f30fbdc1", "bsr")], ids=["tzcnt", "lzcnt"]
)
def test_an_ignored_prefix_makes_it_another_instruction(code: str, instead: str) -> None:
    (instruction,) = decode(bytes.fromhex(code))
    assert not _cores_without(instruction)
    assert extensions.older_meaning(instruction, "IVB") == instead
    assert not extensions.older_meaning(instruction, "HSW")


@pytest.mark.parametrize("code", ["f30f1efa", "0f0d0e", "f30f1bc1"], ids=["endbr64", "prefetchw", "bndmk"])
def test_what_older_cores_run_as_a_nop_is_missing_nowhere(code: str) -> None:
    assert not _cores_without(decode(bytes.fromhex(code))[0])


def test_what_was_measured_on_a_core_is_there() -> None:
    """The tables' records that were measured, not put together, against the lists."""
    features = enum_names(CpuidFeature)
    wrong = []
    with_records = 0
    store = open_store()
    # Knights Corner encodes some forms in its own way, which is decoded only if asked for.
    names = {described(OpCodeInfo(code)): (name, code) for code, name in enum_names(Code).items()}  # type: ignore[arg-type]
    for described_code in [line.split("\t")[0] for line in Path(FORMS_PATH).read_text().splitlines()[1:]]:
        name, code = names[described_code]
        if name.startswith("VEX_KNC_"):
            continue
        needs = frozenset(features[flag] for flag in IcedInstruction.create(code).cpuid_features())  # type: ignore[arg-type]
        mnemonic = name.split("_")[0].lower()
        for core in registry.names():
            measured = any(
                not facts.constructed
                for form in forms_of(described_code).values()
                for facts in store.candidates(registry.get(core).facts_name, form)
            )
            with_records += measured
            stub = made_up(mnemonic, code=b"", extensions=needs)
            if measured and extensions.missing([stub], [core]):
                wrong.append((core, name))
    assert with_records > 10_000
    assert not wrong


@pytest.mark.parametrize("file", ["measured/bhive-dev.csv", "reference/throughput-dev.csv"])
def test_what_ran_on_a_core_is_there(file: str) -> None:
    path = SHARED / file
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    with path.open(newline="") as stream:
        rows = {(row["hex"], row["microarchitecture"]) for row in csv.DictReader(stream)}
    missing = {
        (code, core): extensions.missing(decode(bytes.fromhex(code)), [core]) for code, core in sorted(rows)
    }
    assert not {row: found for row, found in missing.items() if found}


@pytest.mark.parametrize(
    ("code", "core", "reason"),
    [
        ("62f2752850c2", "ADL", "ADL has no AVX-512; '{vex} vpdpbusd' is the form that it has"),
        ("62f2754850c2", "ADL", "ADL has no AVX-512"),
        ("62f2752850c2", "SKL", "SKL has no AVX-512"),
        ("62f2f528b4c2", "ARL", "ARL has no AVX-512; '{vex} vpmadd52luq' is the form that it has"),
    ],
)
def test_a_form_that_the_core_has_is_named(code: str, core: str, reason: str) -> None:
    """vpdpbusd ymm0, ymm1, ymm2 and zmm, and vpmadd52luq, which assemblers encode with EVEX."""
    (found,) = extensions.missing(decode(bytes.fromhex(code)), [core])
    assert found.reason == reason
