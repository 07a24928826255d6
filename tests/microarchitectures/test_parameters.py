"""The parameters of every microarchitecture (uiCA model, chapter 1), as a table to compare with a source."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.facts.store import open_store
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.microarchitecture import IDENTITY, UNLIMITED
from cyclelens.analyzer.model.units import Role

# Bytes, cycles, uops and instructions; "yes" and "no" for switches; "many" is a number without a limit.
TABLE = """
                                    SNB  IVB  HSW  SKL  CLX  ICL  RKL
instruction_queue_size               20   20   20   25   25   25   25
predecode_width                       5    5    5    5    5    5    5
predecode_block_bytes                16   16   16   16   16   16   16
predecode_to_decode_delay             3    3    3    3    3    3    3
length_changing_prefix_penalty        3    3    3    3    3    3    3
decoders                              4    4    4    4    4    4    4
dsb_width                             4    4    4    6    6    6    6
dsb_block_bytes                      32   32   32   32   32   64   64
dsb_lines_per_block                   3    3    3    3    3    6    6
dsb_slots_per_line                    6    6    6    6    6    6    6
dsb_to_ms_stall                       4    4    4    2    2    2    2
mite_to_ms_stall                      1    1    1    1    1    1    1
ms_width                              4    4    4    4    4    4    4
idq_size                             28   56   56   64   64   70   70
issue_width                           4    4    4    4    4    5    5
reorder_buffer_size                 168  168  192  224  224  352  352
reservation_station_size             54   54   60   97   97  160  160
retire_width                          4    4    4    4    4    8    8
issue_to_dispatch_delay               5    5    5    5    5    5    5
pop_rsp_needs_complex_decoder       yes  yes  yes  yes  yes  yes  yes
pop_rsp_ends_decode_group           yes  yes  yes   no   no   no   no
fusible_on_last_decoder              no   no   no  yes  yes  yes  yes
jcc_erratum                          no   no   no  yes  yes   no   no
both_halves_cacheable                no   no   no  yes  yes   no   no
high8_renamed                       yes  yes  yes  yes  yes   no   no
movzx_high8_alias_eliminated        yes  yes   no   no   no   no   no
move_elimination_pipeline_length      3    3    2    2    2    2    2
move_elimination_gpr_slots            4    4    4    4    4    0 many
move_elimination_simd_slots           4    4    4    4    4 many many
all_gpr_aliases_overwritten          no   no  yes  yes  yes  yes  yes
lsd_enabled                         yes  yes  yes   no  yes  yes  yes
fast_pointer_chasing                yes  yes  yes  yes  yes   no   no
"""
_HEADER, *_ROWS = (line.split() for line in TABLE.strip().splitlines())
_WORDS = {"yes": True, "no": False, "many": UNLIMITED}

# Ranges of loop sizes in IDQ uops, and how many rounds the LSD places at once.
UNROLLING = {
    "SNB": [(1, 80, 1)],
    "IVB": [(1, 80, 1)],
    "HSW": [(1, 4, 8), (5, 5, 6), (6, 6, 5), (7, 8, 4), (9, 12, 3), (13, 28, 2), (29, 80, 1)],
    "BDW": [(1, 4, 8), (5, 5, 6), (6, 6, 5), (7, 8, 4), (9, 12, 3), (13, 28, 2), (29, 80, 1)],
    "CLX": [(1, 2, 2), (3, 5, 6), (6, 6, 2), (7, 13, 3), (14, 28, 2), (29, 80, 1)],
    "ICL": [(1, 6, 6), (7, 8, 4), (9, 12, 3), (13, 30, 2), (31, 80, 1)],
    "TGL": [(1, 6, 6), (7, 8, 4), (9, 12, 3), (13, 30, 2), (31, 80, 1)],
    "RKL": [(1, 6, 6), (7, 8, 4), (9, 12, 3), (13, 30, 2), (31, 80, 1)],
}

PORTS = {
    "SNB IVB": ("012345", "015", "six_ports"),
    "HSW BDW SKL SKX KBL CFL CLX": ("01234567", "0156", "eight_ports"),
    "ICL TGL RKL": ("0123456789", "0156", "ten_ports"),
}


@pytest.mark.parametrize("row", _ROWS, ids=[row[0] for row in _ROWS])
def test_value(row: list[str]) -> None:
    """Sizes, widths, delays and switches (tables 1.2 and 1.3)."""
    attribute, *values = row
    expected = {
        name: _WORDS[text] if text in _WORDS else int(text)
        for name, text in zip(_HEADER, values, strict=True)
    }
    assert {name: getattr(registry.get(name), attribute) for name in _HEADER} == expected


@pytest.mark.parametrize("name", UNROLLING)
def test_unroll_count(name: str) -> None:
    """The LSD unrolls small loops by a table of sizes; a size that is not listed counts as one (1.4)."""
    unroll = registry.get(name).lsd_unroll
    expected = {size: count for low, high, count in UNROLLING[name] for size in range(low, high + 1)}
    assert {size: unroll.get(size, 1) for size in expected} == expected


@pytest.mark.parametrize("family", PORTS)
def test_ports(family: str) -> None:
    """The ports, those of plain arithmetic, and the binding rule that follows from their number (1.5)."""
    for name in family.split():
        model = registry.get(name)
        alus = model.units.having(Role.ALU).text
        assert ("".join(model.units.names), alus, model.policies.binding) == PORTS[family]


@pytest.mark.parametrize(
    ("original", "copies"), [("HSW", "BDW"), ("SKL", "SKX KBL CFL"), ("ICL", "TGL")], ids=str
)
def test_siblings_differ_in_name_only(original: str, copies: str) -> None:
    """Some chips share a parameter set and differ in their instruction tables alone (1.1)."""
    named = IDENTITY

    def parameters(name: str) -> dict[str, object]:
        model = registry.get(name)
        return {key: getattr(model, key) for key in model.__struct_fields__ if key not in named}

    for copy in copies.split():
        assert parameters(copy) == parameters(original)


def test_every_model_has_instruction_tables_of_its_own() -> None:
    """Each model names tables that ship; only products with the same core share them."""
    store = open_store()
    shipped = store.microarchitectures()
    store.close()
    used: dict[str, list[str]] = {}
    for name in registry.names():
        used.setdefault(registry.get(name).facts_name, []).append(name)
    assert set(used) <= set(shipped)
    shared = {facts: names for facts, names in used.items() if len(names) > 1}
    assert shared == {
        "Golden Cove": ["ADL", "SPR"],
        "Redwood Cove": ["MTL", "GNR"],
        "Lion Cove": ["LNL", "ARL"],
        "ZEN+": ["ZEN", "ZEN+"],
    }


def test_names_are_found_in_any_case() -> None:
    """``skl`` and `` SKL `` mean SKL; every listed name is found under itself."""
    assert registry.get(" skl ") is registry.get("SKL")
    assert [registry.get(name).name for name in registry.names()] == list(registry.names())


@pytest.mark.parametrize("name", ["", "Z80", "SKL2"])
def test_unknown_name(name: str) -> None:
    """An unknown name is a ValueError that repeats it and lists what there is."""
    with pytest.raises(ValueError, match="unknown microarchitecture") as caught:
        registry.get(name)
    assert f"'{name}'" in str(caught.value)
    assert all(known in str(caught.value) for known in registry.names())


def test_products_with_the_core_of_others_are_found() -> None:
    assert registry.get("RPL") is registry.get("ADL")
    assert registry.get("emr") is registry.get("SPR")


@pytest.mark.parametrize("name", ["Gracemont", "MTL-E", "skymont", "ARL-E", "rpl-e", "E-core"])
def test_efficiency_cores_are_not_simulated(name: str) -> None:
    with pytest.raises(registry.UnknownMicroarchitecture, match=r"efficiency cores?.* are not simulated"):
        registry.get(name)
