"""Objects of other systems are named, whoever reads them: ``cc`` on macOS and Windows gets one."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError, check_header


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        ("0000ffff01006486", "this is an object of /GL, .*: compile without /GL, or give the linked program"),
        ("4c01050000000000", "this is a COFF object for 32-bit x86: .*"),
        ("4d5a900003000000", "this is a program for DOS or 16-bit Windows: .*"),
        ("0000000000000000", "this is not an ELF file"),
    ],
)
def test_an_object_of_another_system_is_named(begin: str, said: str) -> None:
    with pytest.raises(ObjectFileError, match=f"^{said}$"):
        check_header(bytes.fromhex(begin) + bytes(64))
