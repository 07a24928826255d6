"""Register names: canonical registers and widths.

The canonical register is the 64-bit register for a general-purpose register of any width, and XMMn for
XMM/YMM/ZMM n; every other register is its own (uiCA paper, section 4).
"""

from __future__ import annotations

HIGH8 = frozenset({"AH", "BH", "CH", "DH"})


def _general_purpose() -> dict[str, tuple[str, int]]:
    table: dict[str, tuple[str, int]] = {}
    for letter in "ABCD":
        wide = f"R{letter}X"
        table[wide] = (wide, 64)
        table[f"E{letter}X"] = (wide, 32)
        table[f"{letter}X"] = (wide, 16)
        table[f"{letter}L"] = (wide, 8)
        table[f"{letter}H"] = (wide, 8)
    for stem in ("SI", "DI", "BP", "SP"):
        wide = f"R{stem}"
        table[wide] = (wide, 64)
        table[f"E{stem}"] = (wide, 32)
        table[stem] = (wide, 16)
        table[f"{stem}L"] = (wide, 8)
    for number in range(8, 16):
        wide = f"R{number}"
        table[wide] = (wide, 64)
        table[f"{wide}D"] = (wide, 32)
        table[f"{wide}W"] = (wide, 16)
        table[f"{wide}B"] = (wide, 8)
    return table


_GENERAL_PURPOSE = _general_purpose()


def canonical(register: str) -> str:
    """The register that the renamer tracks for this name."""
    found = _GENERAL_PURPOSE.get(register)
    if found is not None:
        return found[0]
    if register[:3] in ("YMM", "ZMM"):
        return "XMM" + register[3:]
    return register


def width(register: str) -> int:
    """Bits of a general-purpose register; 0 for any other."""
    found = _GENERAL_PURPOSE.get(register)
    return found[1] if found is not None else 0


def is_general_purpose(register: str) -> bool:
    """True for a general-purpose register of any width."""
    return register in _GENERAL_PURPOSE


def is_simd(register: str) -> bool:
    """True for vector and MMX registers."""
    return "MM" in register
