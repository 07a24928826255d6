"""AH, BH, CH and DH on cores that rename them separately (rules H1, H2)."""

from __future__ import annotations

import pytest
from testkit.blocks import templates_of

WRITE_AH, READ_AH, READ_EAX, WRITE_EAX = "88dc", "0fb6d4", "01c1", "89c8"
"""mov ah, bl; movzx edx, ah; add ecx, eax; mov eax, ecx"""


def merges(code: str, name: str = "SKL") -> list[tuple[str, ...]]:
    return [template.merge_uops for template in templates_of(code, name)]


def read_latency(code: str, position: int, name: str = "SKL") -> int:
    """Cycles from the first register input to the first register output of one instruction."""
    return templates_of(code, name)[position].latencies["reg", 0, "reg", 0]


def test_full_read_behind_a_high_write() -> None:
    """H2: using the whole register behind a write to AH first merges the two."""
    assert merges(WRITE_AH + READ_EAX) == [(), ("RAX",)]


def test_no_merge_once_the_register_is_clean() -> None:
    """H1: any use of 16 bits or more makes the register clean again."""
    assert merges(WRITE_AH + READ_EAX + READ_EAX) == [(), ("RAX",), ()]
    assert merges(WRITE_AH + WRITE_EAX + READ_EAX) == [(), (), ()]


def test_low_byte_does_not_merge() -> None:
    """H1, H2: AL is apart from AH: reading it neither merges nor cleans."""
    assert merges(WRITE_AH + "0fb6d0" + READ_EAX) == [(), (), ("RAX",)]


def test_address_registers_merge() -> None:
    """H2: as base of an address the register is used in full."""
    assert merges(WRITE_AH + "488b10") == [(), ("RAX",)]


def test_every_use_counts() -> None:
    """H2: an instruction that uses the register twice merges it twice."""
    assert merges(WRITE_AH + "4839c0")[1] == ("RAX", "RAX")


def test_steady_state_of_a_loop() -> None:
    """H2: the state at the end of the block is that at its start."""
    assert merges(READ_EAX + WRITE_AH) == [("RAX",), ()]


def test_clean_high_byte_is_slower() -> None:
    """H2: reading AH of a clean register costs one cycle more than of a dirty one."""
    clean = read_latency(READ_AH, 0)
    dirty = read_latency(WRITE_AH + READ_AH, 1)
    assert clean == dirty + 1


def test_clean_and_dirty_reads_in_one_block() -> None:
    """H2: the state at each instruction decides, not the block as a whole."""
    code = WRITE_AH + READ_AH + READ_EAX + READ_AH
    assert read_latency(code, 3) == read_latency(code, 1) + 1


def test_registers_are_tracked_apart() -> None:
    """H1: writing AH says nothing about BH."""
    assert merges(WRITE_AH + "01d9") == [(), ()]


@pytest.mark.parametrize("name", ["ICL", "TGL", "RKL"])
def test_chips_that_rename_the_whole_register(name: str) -> None:
    """H1: since Ice Lake there is nothing to merge, and AH is as fast as the table says."""
    assert merges(WRITE_AH + READ_EAX, name) == [(), ()]
    assert read_latency(READ_AH, 0, name) == read_latency(WRITE_AH + READ_AH, 1, name)


def test_unknown_instructions_change_nothing() -> None:
    """T4, H1: an instruction without a record neither cleans nor merges."""
    assert merges(WRITE_AH + "0f0b" + READ_EAX) == [(), (), ("RAX",)]
