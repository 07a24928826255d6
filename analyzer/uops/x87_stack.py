"""Resolves registers of the x87 stack.

Records number registers from the top of the stack before the instruction: ST0 is the top, and a push makes
ST7. The top moves with every push and pop, and FXCH swaps two registers (Intel's manual, volume 1, chapter
8). So names are replaced by the registers' names at the start of the block. If the stack differs when the
block runs again, it overflows or its values change places; neither case has a figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

from cyclelens.analyzer.model.uops import Entry
from cyclelens.analyzer.uops.binding import BoundOperand
from cyclelens.analyzer.uops.known import KnownInstruction
from cyclelens.analyzer.uops.rebinding import Original, Sibling
from msgspec.structs import replace

STACK = tuple(f"ST{number}" for number in range(8))
"""The registers, from the top down."""
_PUSHES = frozenset({"fld", "fild", "fld1", "fldz"})
_POPS = frozenset(
    {"fstp", "fistp", "faddp", "fsubp", "fsubrp", "fmulp", "fdivp", "fdivrp", "fcomip", "fucomip"}
)
"""Instructions with records."""
_EXCHANGE = "fxch"
MOVES = "the x87 stack has moved when the code runs again"
OVERFLOWS = "the x87 stack overflows"


class Stack:
    """The registers of each instruction of a block, and why the block has no figure, if so."""

    def __init__(self, known: Sequence[KnownInstruction | None]) -> None:
        self.names: dict[int, Mapping[str, str]] = {}
        """Position of an instruction that uses the stack -> its names from the top
        (``ST0`` ...) -> the registers."""
        self.problem = ""
        order, depth, deepest, there = list(STACK), 0, 0, 0
        """``order``: from the top down, by names at the start of the block. ``there``: values of that time
        that are read, and those above them."""
        written, needed = set[str](), set[str]()
        for position, each in enumerate(known):
            if each is None:
                continue
            if each.facts is not None and each.facts.category == "RET" and depth > 0:
                # The caller pops a function's result.
                order, depth = [*order[depth:], *order[:depth]], 0
            used = [o for o in each.operands() if o.register in STACK]
            if not used:
                continue
            names = self.names[position] = dict(zip(STACK, order, strict=True))
            read = [o.register for o in used if o.register and o.facts.read]
            there = max([there, *(STACK.index(name) + 1 - depth for name in read)])
            needed |= {names[name] for name in read} - written
            written |= {names[o.register] for o in used if o.register and o.facts.written}
            mnemonic = each.instruction.mnemonic
            if mnemonic == _EXCHANGE:
                other = STACK.index(used[1].register or "")
                order[0], order[other] = order[other], order[0]
            elif mnemonic in _PUSHES:
                order, depth = [order[-1], *order[:-1]], depth + 1
            elif mnemonic in _POPS:
                order, depth = [*order[1:], order[0]], depth - 1
            deepest = max(deepest, depth)
        if depth or any(order[STACK.index(name)] != name for name in needed):
            self.problem = MOVES
        elif deepest + there > len(STACK):
            self.problem = OVERFLOWS

    def entry(self, entry: Entry, knowledge: KnownInstruction, position: int) -> Entry:
        """The instruction at this position with the registers that it refers to."""
        names = self.names.get(position)
        if names is None or all(key == name for key, name in names.items()):
            return entry
        assert isinstance(entry, Original | Sibling)
        return _OnStack(entry, knowledge, names)


class _OnStack(Sibling):
    """An instruction whose registers are elsewhere in the stack."""

    __slots__ = ("_known", "_stack")

    def __init__(self, entry: Original | Sibling, known: KnownInstruction, stack: Mapping[str, str]) -> None:
        original = entry.original if isinstance(entry, Sibling) else entry
        # A copy, because an instruction object identifies its registers.
        instruction = copy(entry.instruction)
        super().__init__(original, instruction, tuple([stack.get(name, name) for name in entry.names]))
        self._known = known
        self._stack = stack

    def operands(self) -> tuple[BoundOperand, ...]:
        """The bound operands of the record."""
        return tuple(
            [
                replace(o, register=self._stack.get(o.register or "", o.register))
                for o in self._known.operands()
            ]
        )
