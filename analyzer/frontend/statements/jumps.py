"""Direct jumps: opcodes, forms and sizes."""

from __future__ import annotations

from cyclelens.analyzer.frontend.statements.operand_types import BranchTarget
from msgspec import Struct

_CONDITIONS = (
    ("o",),
    ("no",),
    ("b", "c", "nae"),
    ("ae", "nb", "nc"),
    ("e", "z"),
    ("ne", "nz"),
    ("be", "na"),
    ("a", "nbe"),
    ("s",),
    ("ns",),
    ("p", "pe"),
    ("np", "po"),
    ("l", "nge"),
    ("ge", "nl"),
    ("le", "ng"),
    ("g", "nle"),
)
CONDITIONS = {name: number for number, names in enumerate(_CONDITIONS) for name in names}
CONDITION_SYNONYMS = {name: names[0] for names in _CONDITIONS for name in names[1:]}
"""Alternative condition names -> the name that disassemblers write."""


class JumpForms(Struct, frozen=True):
    """Opcodes of a direct jump's short (8-bit) and near (32-bit) form; None if it does not have that form."""

    short: bytes | None
    near: bytes | None


JUMPS: dict[str, JumpForms] = {
    "jmp": JumpForms(b"\xeb", b"\xe9"),
    "call": JumpForms(None, b"\xe8"),
    "xbegin": JumpForms(None, b"\xc7\xf8"),
    "loopne": JumpForms(b"\xe0", None),
    "loopnz": JumpForms(b"\xe0", None),
    "loope": JumpForms(b"\xe1", None),
    "loopz": JumpForms(b"\xe1", None),
    "loop": JumpForms(b"\xe2", None),
    "jecxz": JumpForms(b"\x67\xe3", None),
    "jrcxz": JumpForms(b"\xe3", None),
} | {
    f"j{name}": JumpForms(bytes([0x70 + number]), bytes([0x0F, 0x80 + number]))
    for name, number in CONDITIONS.items()
}
JUMPS |= {"jmpq": JUMPS["jmp"], "callq": JUMPS["call"]}
INDIRECT = frozenset(["callw", "jmpw", "lcall", "lcallw", "lcalll", "ljmp", "ljmpw", "ljmpl"])
"""AT&T's names of 16-bit and far jumps, of which only those through registers and memory are encoded."""
_LOOPS = ("loop", "loope", "loopz", "loopne", "loopnz")
COUNTING_ECX = frozenset(f"{name}l" for name in _LOOPS)
"""AT&T names of loops that count ECX; Intel syntax has none."""
JUMPS |= {f"{name}q": JUMPS[name] for name in _LOOPS}
JUMPS |= {f"{name}l": JumpForms(b"\x67" + (JUMPS[name].short or b""), None) for name in _LOOPS}


class Jump(Struct, frozen=True):
    """A direct jump; the layout chooses its form and distance."""

    mnemonic: str
    forms: JumpForms
    target: BranchTarget

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes in bytes of the short and the near form; 0 for a form that it does not have or must not
        use."""
        short, near = self.forms.short, self.forms.near
        is_near = self.target.near and near is not None
        return (
            len(short) + 1 if short is not None and not is_near else 0,
            len(near) + 4 if near is not None else 0,
        )

    def encode(self, size: int, distance: int) -> bytes:
        """Encode the form with this size in bytes. ``distance``: bytes from its end to the target."""
        if size == self.sizes[1]:
            assert self.forms.near is not None
            return self.forms.near + (distance % (1 << 32)).to_bytes(4, "little")
        assert self.forms.short is not None
        return self.forms.short + (distance % 256).to_bytes(1, "little")
