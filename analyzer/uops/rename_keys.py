"""Numbers of registers and flag groups for renaming, the same in every program."""

from __future__ import annotations

from collections.abc import Callable

from cyclelens.analyzer.model.uops import Value, ValueKind
from cyclelens.analyzer.uops.registers import canonical

NO_KEY = -1
NO_CLASS, GPR_CLASS, SIMD_CLASS = -1, 0, 1
"""Register classes of move elimination, as in the simulator."""


class RenameKeys:
    """Numbers of everything that is renamed. General-purpose registers come first, then vector and MMX
    registers, so that a set of those fits into the bits of one integer. All are less than 256."""

    def __init__(self) -> None:
        self.number: Callable[[Value], int] = _Numbers(self).__getitem__
        """The number of a canonical register or flag group."""
        self.register: Callable[[str | None], int] = _Registers(self).__getitem__
        """The number of a register by any of its names, NO_KEY for None."""
        self.names: list[str] = []
        self.classes: list[int] = []
        general = ["RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", *(f"R{n}" for n in range(8, 16))]
        vectors = [*(f"XMM{n}" for n in range(32)), *(f"MM{n}" for n in range(8))]
        for register_class, names in ((GPR_CLASS, general), (SIMD_CLASS, vectors)):
            for name in names:
                self.classes[self.number((ValueKind.REGISTER, name))] = register_class

    def add(self, value: Value) -> int:
        """Assign a number to a value that has none yet."""
        self.names.append(value[1])
        self.classes.append(NO_CLASS)
        return len(self.classes) - 1


class _Numbers(dict[Value, int]):
    """Numbers of the canonical registers and flag groups seen so far."""

    def __init__(self, keys: RenameKeys) -> None:
        super().__init__()
        self._keys = keys

    def __missing__(self, value: Value) -> int:
        number = self[value] = self._keys.add(value)
        return number


class _Registers(dict[str | None, int]):
    """Numbers of registers by all names seen so far."""

    def __init__(self, keys: RenameKeys) -> None:
        super().__init__({None: NO_KEY})
        self._keys = keys

    def __missing__(self, name: str) -> int:
        number = self[name] = self._keys.number((ValueKind.REGISTER, canonical(name)))
        return number


KEYS = RenameKeys()
