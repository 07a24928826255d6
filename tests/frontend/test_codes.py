"""The table of what iced-x86 says of its codes says the same as iced-x86."""

from __future__ import annotations

from pathlib import Path

import codes_generator
import pytest
from cyclelens.analyzer.isa import codes
from cyclelens.analyzer.isa.codes import CODES_PATH, asked, enum_names, said_of
from iced_x86 import Code


def test_the_table_that_ships_is_that_of_the_version_that_is_installed() -> None:
    assert Path(CODES_PATH).read_text("ascii").splitlines() == codes_generator.lines()


def test_every_code_is_found_with_all_that_is_said_of_it() -> None:
    assert codes._table()
    for code in enum_names(Code).keys() - codes_generator.PSEUDO:
        instruction = codes_generator.sample(code)
        found, said = said_of(instruction), asked(instruction)
        assert found == said
        assert [type(part) for part in found] == [type(part) for part in said]


def test_another_version_is_asked_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "codes.txt"
    wrong = Path(CODES_PATH).read_text("ascii").replace("\tadd\t", "\tsub\t")
    other.write_text(wrong.replace("iced-x86 ", "iced-x86 0.", 1), "ascii")
    monkeypatch.setattr(codes, "CODES_PATH", str(other))
    codes._table.cache_clear()
    try:
        assert said_of(codes_generator.sample(Code.ADD_RM64_R64)).mnemonic == "add"
    finally:
        codes._table.cache_clear()
