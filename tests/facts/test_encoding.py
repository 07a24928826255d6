"""Encoded records decode to themselves."""

from __future__ import annotations

from cyclelens.analyzer.facts import encoding
from cyclelens.analyzer.facts.encoding import Record, Variant, VariantRecords
from cyclelens.analyzer.model.facts import Figures, Latency, OperandFacts
from hypothesis import given
from hypothesis import strategies as st

counts = st.integers(0, 500)
figure = st.none() | counts
names = st.text('ABCXYZ0159_ (),é"', min_size=1, max_size=12)
registers = st.text("ABCXYZ0159", min_size=1, max_size=5)
flags = st.frozensets(st.sampled_from("CSPAZO"))
ports = st.lists(st.tuples(st.text("0123456789ABFPLD", min_size=1, max_size=5), st.integers(1, 99)))
figures = st.builds(
    Figures,
    uops=figure,
    retire_slots=figure,
    mite_uops=figure,
    ms_uops=figure,
    complex_decoder=st.none() | st.booleans(),
    available_simple_decoders=figure,
    ports=st.none() | ports.map(tuple),
    divider_cycles=figure,
    tp=figure,
)
latencies = st.dictionaries(
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.builds(
        Latency, cycles=figure, address=figure, address_index=figure, memory=figure, same_register=figure
    ),
    max_size=4,
)
operands = st.builds(
    OperandFacts,
    index=st.integers(1, 9),
    name=names,
    kind=st.sampled_from(["reg", "mem", "agen", "imm", "flags", "relbr"]),
    read=st.booleans(),
    written=st.booleans(),
    conditional_write=st.booleans(),
    suppressed=st.booleans(),
    implicit=st.booleans(),
    opmask=st.booleans(),
    width=counts,
    registers=st.lists(registers, max_size=4).map(tuple),
    base=st.none() | registers,
    index_register=st.none() | registers,
    flags_read=flags,
    flags_written=flags,
)
variants = st.builds(
    Variant,
    name=names,
    category=names,
    extension=names,
    locked=st.booleans(),
    attributes=st.dictionaries(names, st.text("0123,", max_size=4), max_size=3),
    operands=st.lists(counts, max_size=4).map(tuple),
    profile=counts,
)


@given(operands)
def test_operands(operand: OperandFacts) -> None:
    assert encoding.decode_operand(encoding.encode_operand(operand)) == operand


@given(st.builds(Record, figures, figures, figures, latencies, counts))
def test_records(record: Record) -> None:
    assert encoding.decode_record(encoding.encode_record(record)) == record


@given(st.lists(variants, min_size=1, max_size=3))
def test_variants(several: list[Variant]) -> None:
    assert encoding.decode_variants(encoding.encode_variants(several)) == tuple(several)


@given(st.builds(VariantRecords, st.lists(counts, max_size=30).map(tuple), st.integers(0, 2**30)))
def test_profiles(profile: VariantRecords) -> None:
    assert encoding.decode_profile(encoding.encode_profile(profile)) == profile


def test_equal_facts_have_equal_texts_for_any_order_of_their_sets() -> None:
    one = OperandFacts(3, "REG2", "flags", flags_written=frozenset("CSPAZO"))
    other = OperandFacts(3, "REG2", "flags", flags_written=frozenset("OZAPSC"))
    assert encoding.encode_operand(one) == encoding.encode_operand(other)
