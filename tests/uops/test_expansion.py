"""How an instruction becomes uops (rules U1 to U11)."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.facts import Figures, Latency
from cyclelens.analyzer.model.units import UopKind
from cyclelens.analyzer.model.uops import InstructionTemplate, UopTemplate, Value, ValueKind
from cyclelens.analyzer.simulator import simulate
from testkit.blocks import block_of, template_of
from testkit.records import flags, invented, memory, register

LOAD, COMPUTE, EMPTY = UopKind.LOAD, UopKind.COMPUTE, UopKind.EMPTY
ADDRESS, DATA = UopKind.STORE_ADDRESS, UopKind.STORE_DATA


def reg(name: str) -> Value:
    return ValueKind.REGISTER, name


def flag(group: str) -> Value:
    return ValueKind.FLAGS, group


def kinds(template: InstructionTemplate) -> list[tuple[UopKind, str]]:
    return [(uop.kind, uop.units.text) for uop in template.uops]


def only_result(uop: UopTemplate) -> Value:
    """The single value that the uop makes."""
    ((value, _),) = uop.outputs
    return value


@pytest.mark.parametrize(
    ("name", "ports", "kind"),
    [
        ("SNB", "23", LOAD),
        ("SKL", "237", ADDRESS),
        ("SKL", "7", ADDRESS),
        ("ICL", "78", ADDRESS),
        ("SKL", "23", LOAD),
        ("SKL", "3", LOAD),
        ("SKL", "4", DATA),
        ("ICL", "49", DATA),
        ("SKL", "0156", COMPUTE),
        ("SKL", "5", COMPUTE),
    ],
)
def test_ports_tell_what_a_uop_does(name: str, ports: str, kind: UopKind) -> None:
    """U1: units for store addresses alone make a store address, else those for loads a load, else those for
    store data store data; anything else computes."""
    complement = {ADDRESS: (("4", 1),), DATA: (("7", 1),)}.get(kind, ())
    template = invented(
        [memory(0, "RSI", "rw")],
        Figures(uops=2, ports=((ports, 1), *complement)),
        microarchitecture=name,
    )
    assert kind in [uop.kind for uop in template.uops if uop.units.text == ports]


def test_a_store_without_address_ports_takes_its_last_load_ports() -> None:
    """U2: with more store data than store addresses, the last load port set is the address uop."""
    template = invented(
        [memory(0, "RSI", "rw")], Figures(uops=4, ports=(("3", 1), ("015", 1), ("23", 1), ("4", 1)))
    )
    assert kinds(template) == [(LOAD, "3"), (COMPUTE, "015"), (ADDRESS, "23"), (DATA, "4")]


def test_store_data_without_any_address_is_dropped() -> None:
    """U2: if no load is left to give the address, the store data uop goes."""
    template = invented([memory(0, "RSI", "w")], Figures(uops=2, ports=(("0156", 1), ("4", 1))))
    assert kinds(template) == [(COMPUTE, "0156")]


def test_surplus_store_addresses_are_dropped() -> None:
    """U4: a store address without data makes no uop (RET lists two of them on Skylake)."""
    template = invented([memory(0, "RSI", "w")], Figures(uops=3, ports=(("237", 2), ("4", 1))))
    assert kinds(template) == [(ADDRESS, "237"), (DATA, "4")]


def test_plain_load() -> None:
    """U3: a load without computation takes the address registers and makes the result in five cycles."""
    (load,) = template_of("488b0418", "SKL").uops
    assert (load.kind, load.units.text, load.memory_operand) == (LOAD, "23", 0)
    assert load.inputs == (reg("RAX"), reg("RBX"))
    assert load.outputs == ((reg("RAX"), 5),)


def test_load_and_compute() -> None:
    """U3, U6: a multiplication from memory is a load, and a multiplication of register and loaded value."""
    load, multiply = template_of("c5fb5906", "SKL").uops
    assert (load.inputs, load.units.text) == ((reg("RSI"),), "23")
    assert load.outputs == ((only_result(load), 5),)
    assert multiply.inputs == (reg("XMM0"), only_result(load))
    assert multiply.outputs == ((reg("XMM0"), 4),)


def test_load_without_a_memory_operand() -> None:
    """U3: a load uop of an instruction that names no memory has no known address."""
    template = invented([register(0, "RAX", "w")], Figures(uops=1, ports=(("23", 1),)))
    assert template.uops[0].memory_operand == -1


def test_plain_store() -> None:
    """U4: a store is an address uop, then a data uop fed by the stored register."""
    address, data = template_of("4889043e", "SKL").uops
    assert (address.kind, address.inputs, address.outputs) == (ADDRESS, (reg("RSI"), reg("RDI")), ())
    assert (data.kind, data.inputs, data.outputs) == (DATA, (reg("RAX"),), ())
    assert address.memory_operand == data.memory_operand == 0


@pytest.mark.parametrize(("name", "address_ports"), [("SNB", "23"), ("SKL", "237")])
def test_read_modify_write(name: str, address_ports: str) -> None:
    """U4, U10: load, compute, store address, store data; the stored value comes from the compute uop."""
    load, compute, address, data = template_of("48830601", name).uops
    assert [load.kind, compute.kind, address.kind, data.kind] == [LOAD, COMPUTE, ADDRESS, DATA]
    assert address.units.text == address_ports
    assert compute.inputs == (only_result(load),)
    assert [value for value, _ in compute.outputs[:2]] == [flag("C"), flag("SPAZO")]
    assert data.inputs == (compute.outputs[2][0],)


def test_shift_by_cl() -> None:
    """U5: three uops: the shift, the old flags, and the new flags out of both."""
    shift, old_flags, new_flags = template_of("48d3e0", "SKL").uops
    assert shift.inputs == (reg("RAX"), reg("RCX"))
    (result, shift_latency), (shifted, _) = shift.outputs
    assert (result, shift_latency) == (reg("RAX"), 1)
    assert old_flags.inputs == (flag("C"), flag("SPAZO"))
    assert new_flags.inputs == (shifted, only_result(old_flags))
    assert new_flags.outputs == ((flag("C"), 1), (flag("SPAZO"), 1))


def test_shift_by_cl_with_other_figures() -> None:
    """U5 is for exactly this pattern: Ice Lake has two uops and falls under the general rule."""
    assert kinds(template_of("48d3e0", "ICL")) == [(COMPUTE, "06"), (COMPUTE, "06")]
    (first, base) = template_of("48d3e0", "ICL").uops
    assert first.outputs == ((only_result(first), 1),)
    assert only_result(first) in base.inputs


def test_load_latency_is_not_counted_twice() -> None:
    """U6: from the address, the five cycles of the load are no part of the compute uop's latency."""
    template = invented(
        [register(0, "XMM0", "w"), memory(1, "RSI", "r")],
        Figures(uops=2, ports=(("01", 1), ("23", 1))),
        latencies={(1, 0): Latency(address=9)},
    )
    assert template.uops[1].outputs == ((reg("XMM0"), 4),)


def test_load_latency_never_makes_a_result_free() -> None:
    """U6: behind a load at least one cycle remains, however short the latency."""
    figures = Figures(uops=2, ports=(("01", 1), ("23", 1)))
    short = invented(
        [register(0, "XMM0", "w"), memory(1, "RSI", "r")], figures, latencies={(1, 0): Latency(address=3)}
    )
    assert short.uops[1].outputs == ((reg("XMM0"), 1),)


def test_the_last_address_register_decides() -> None:
    """U6: with base and index, the index's latency is the one that counts."""
    template = invented(
        [register(0, "XMM0", "w"), memory(1, "RSI", "r", index="RDI")],
        Figures(uops=2, ports=(("01", 1), ("23", 1))),
        latencies={(1, 0): Latency(address=7, address_index=11)},
    )
    assert template.uops[1].outputs == ((reg("XMM0"), 6),)


@pytest.mark.parametrize(("cycles", "expected"), [(9, 5), (4, 1), (2, 1)])
def test_store_latency_is_not_counted_twice(cycles: int, expected: int) -> None:
    """U6: from a register to memory, four cycles are the store's own; at least one remains."""
    template = invented(
        [memory(0, "RSI", "w"), register(1, "RAX", "r")],
        Figures(uops=3, ports=(("1", 1), ("237", 1), ("4", 1))),
        latencies={(1, 0): cycles},
    )
    ((_, latency),) = template.uops[0].outputs
    assert latency == expected


def test_memory_to_memory_latency() -> None:
    """U6: between the load and the store of a read-modify-write, five cycles are the load's."""
    template = invented(
        [memory(0, "RSI", "rw")],
        Figures(uops=4, ports=(("0156", 1), ("23", 1), ("237", 1), ("4", 1))),
        latencies={(0, 0): Latency(memory=8)},
    )
    ((_, latency),) = template.uops[1].outputs
    assert latency == 3


def test_cmov_on_haswell() -> None:
    """U7, U8: the slower inputs go through a uop in front; the base uop has the first port set."""
    front, base = template_of("480f4fca", "HSW").uops
    assert front.units.text == "06"
    assert front.inputs == (reg("RDX"), flag("SPAZO"))
    assert front.outputs == ((only_result(front), 1),)
    assert base.units.text == "0156"
    assert base.inputs == (reg("RCX"), only_result(front))
    assert base.outputs == ((reg("RCX"), 1),)


def test_cmov_on_skylake() -> None:
    """U7: with one uop all inputs belong to it."""
    (uop,) = template_of("480f4fca", "SKL").uops
    assert (uop.units.text, uop.inputs) == ("06", (reg("RCX"), reg("RDX"), flag("SPAZO")))


def test_sbb_on_haswell() -> None:
    """U7, U8: the registers are a cycle slower than the carry, so they take the uop in front."""
    template = template_of("19c8", "HSW")
    front, base = template.uops
    assert (front.inputs, front.units.text) == ((reg("RAX"), reg("RCX")), "06")
    assert base.inputs == (flag("C"), only_result(front))
    assert base.outputs == ((reg("RAX"), 1), (flag("C"), 1), (flag("SPAZO"), 1))
    assert (template.complex_decoder, template.available_simple_decoders) == (True, 2)


def test_three_latency_classes() -> None:
    """U8: later classes stand before earlier ones, and each carries its distance to the fastest."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r"), register(2, "RCX", "r")],
        Figures(uops=3, ports=(("0", 1), ("1", 1), ("5", 1))),
        latencies={(0, 0): 2, (1, 0): 3, (2, 0): 7},
    )
    last, middle, base = template.uops
    assert [last.units.text, middle.units.text, base.units.text] == ["5", "1", "0"]
    assert (last.inputs, last.outputs) == ((reg("RCX"),), ((only_result(last), 5),))
    assert (middle.inputs, middle.outputs) == ((reg("RBX"),), ((only_result(middle), 1),))
    assert set(base.inputs) == {reg("RAX"), only_result(middle), only_result(last)}
    assert base.outputs == ((reg("RAX"), 2),)


def test_a_port_set_with_a_count_is_as_many_uops() -> None:
    """U1, U8: port sets count in table order, each as often as it is stated; the rest only occupy ports."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r")], Figures(uops=3, ports=(("5", 2), ("01", 1)))
    )
    base, *fillers = template.uops
    assert [uop.units.text for uop in template.uops] == ["5", "5", "01"]
    assert base.outputs == ((reg("RAX"), 1),)
    assert all((uop.inputs, uop.outputs) == ((reg("RAX"), reg("RBX")), ()) for uop in fillers)


def test_table_order_decides_which_uop_is_the_base() -> None:
    """U7: the first compute port set is the base uop's, however the sets would sort."""
    operands = [register(0, "RAX", "rw"), register(1, "RBX", "r")]
    for first, second in (("5", "01"), ("01", "5")):
        figures = Figures(uops=2, ports=((first, 1), (second, 1)))
        front, base = invented(operands, figures, latencies={(1, 0): 3}).uops
        assert (front.units.text, base.units.text) == (second, first)


def test_more_latency_classes_than_ports() -> None:
    """U9: classes without a port set of their own join the base uop, whose latencies stay."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r"), register(2, "RCX", "r")],
        Figures(uops=1, ports=(("0", 1),)),
        latencies={(0, 0): 2, (1, 0): 3, (2, 0): 7},
    )
    (uop,) = template.uops
    assert uop.inputs == (reg("RAX"), reg("RBX"), reg("RCX"))
    assert uop.outputs == ((reg("RAX"), 2),)


def test_latency_of_several_outputs() -> None:
    """U7: an input's class is its slowest output; the base uop has a latency for each output."""
    template = invented(
        [register(0, "RAX", "rw"), register(1, "RBX", "r"), flags(2, written="C")],
        Figures(uops=2, ports=(("0", 1), ("1", 1))),
        latencies={(0, 0): 1, (0, 2): 2, (1, 0): 1, (1, 2): 4},
    )
    front, base = template.uops
    assert front.inputs == (reg("RBX"),)
    assert front.outputs == ((only_result(front), 2),)
    assert base.outputs == ((reg("RAX"), 1), (flag("C"), 2))


def test_the_base_uop_holds_the_divider() -> None:
    """U7: DIV occupies the divider with the uop that makes quotient and remainder."""
    template = template_of("f7f1", "SKL")
    busy = [uop for uop in template.uops if uop.divider_cycles]
    assert [(uop.divider_cycles, len(uop.outputs)) for uop in busy] == [(6, 2)]
    assert template.uops.index(busy[0]) == 1


def test_empty_uops_fill_the_retire_slots() -> None:
    """U10: an instruction has at least as many uops as retire slots; the extra ones do nothing."""
    template = invented(
        [register(0, "RAX", "w")], Figures(uops=1, retire_slots=3, mite_uops=3, ports=(("0156", 1),))
    )
    assert kinds(template) == [(COMPUTE, "0156"), (EMPTY, ""), (EMPTY, "")]


def test_nop_is_one_empty_uop() -> None:
    """U10: even an instruction without uops takes an issue slot."""
    assert kinds(template_of("90", "SKL")) == [(EMPTY, "")]


def test_results_without_a_producer() -> None:
    """U11: flags of an instruction that computes nothing are made by no uop."""
    template = invented(
        [register(0, "RAX", "w"), memory(1, "RSI", "r"), flags(2, written="C")],
        Figures(uops=1, ports=(("23", 1),)),
    )
    assert template.flag_outputs == ("C",)
    assert [value for value, _ in template.uops[0].outputs] == [reg("RAX")]


@pytest.mark.parametrize("core", ["SKL", "SKX", "KBL", "CFL", "CLX"])
def test_microcode_with_very_many_inputs_is_simulated(core: str) -> None:
    """U8: 250 uops of VERW wait for 27 loads on Skylake; uops.info has 558 to 624 cycles."""
    template = template_of("0f002f", core)  # verw [rdi]
    assert sum(len(uop.inputs) for uop in template.uops) < 4096
    assert 500 < simulate(block_of("0f002f", core, loop=False), registry.get(core)).cycles_per_iteration < 800
