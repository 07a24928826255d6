"""Every core's figures for the listed forms, kernels, mixtures, runs and blocks equal those in its
files, which ``dev/tables`` writes."""

from difflib import unified_diff

import pytest
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from testkit.core_tables import FILES, FOLDER, LISTS, listed, text_of

SHOWN = 60
"""Lines of a difference; more say no more."""


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", registry.names())
def test_a_core_says_what_its_file_says(name: str, file: str) -> None:
    path = FOLDER / name / f"{file}.txt"
    expected = path.read_text("utf-8") if path.exists() else ""
    difference = list(
        unified_diff(
            expected.splitlines(),
            text_of(name, file).splitlines(),
            f"{name}/{file}.txt",
            "now",
            n=0,
            lineterm="",
        )
    )
    if difference:
        shown = "\n".join(difference[:SHOWN])
        pytest.fail(f"if this is meant, run dev/tables {name} and commit it\n{shown}", pytrace=False)


def test_every_folder_belongs_to_a_core() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_dir()} - {"__pycache__"} == set(
        registry.names()
    )


@pytest.mark.parametrize("file", LISTS)
def test_the_lists_name_what_their_bytes_are(file: str) -> None:
    for *_, code, text in listed(file):
        assert text == "; ".join(instruction.text for instruction in decode(bytes.fromhex(code)))
