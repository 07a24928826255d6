"""Machine code in hexadecimal is read as tools print it: addresses and text beside the bytes do not count."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.objects.raw_code import RawCodeError, from_hexadecimal, object_of

CODE = bytes.fromhex("31c04803074883c70848ffce75f4c390")
SHOWN = {
    "pairs": "31 c0 48 03 07 48 83 c7 08 48 ff ce 75 f4 c3 90\n",
    "gdb's x/8xb": "0x1129 <f>:\t0x31\t0xc0\t0x48\t0x03\t0x07\t0x48\t0x83\t0xc7\n"
    "0x1131 <f+8>:\t0x08\t0x48\t0xff\t0xce\t0x75\t0xf4\t0xc3\t0x90\n",
    "xxd": "00000000: 31c0 4803 0748 83c7 0848 ffce 75f4 c390  1.H..H...H..u...\n",
    "xxd -g1": "00000000: 31 c0 48 03 07 48 83 c7 08 48 ff ce 75 f4 c3 90  1.H..H...H..u...\n",
    "hexdump -C": "00000000  31 c0 48 03 07 48 83 c7  08 48 ff ce 75 f4 c3 90  |1.H..H...H..u...|\n"
    "00000010\n",
    "hotspot": "[MachCode]\n  # {method} {0x00007f} 'sum' '([J)J' in 'T'\n"
    "  0x00007f5ee111c0a0: 31c0 4803 | 0748 83c7 | 0848 ffce | 75f4 c390\n[/MachCode]\n",
    "an array of C": "unsigned char code[] = {\n  0x31, 0xc0, 0x48, 0x03, 0x07, 0x48, 0x83, 0xc7,\n"
    "  0x08, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3, 0x90\n};\n",
    "a string of C": '"\\x31\\xc0\\x48\\x03\\x07\\x48\\x83\\xc7"\n'
    '"\\x08\\x48\\xff\\xce\\x75\\xf4\\xc3\\x90"\n',
}  # fmt: skip


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN)
def test_the_bytes_are_those_that_the_tool_shows(text: str) -> None:
    assert from_hexadecimal(text) == CODE


def test_code_that_ends_within_an_instruction_is_no_invalid_instruction() -> None:
    with pytest.raises(RawCodeError, match="the code ends within the instruction at byte 0x2"):
        object_of(bytes.fromhex("31c0480307")[:4])
    with pytest.raises(RawCodeError, match="there is no valid instruction at byte 0x2"):
        object_of(bytes.fromhex("31c00606"))
