"""Common parts of the random program generators: numbers, registers, instructions."""

from __future__ import annotations

import random
from collections.abc import Sequence

WIDE = ("rax", "rcx", "rdx", "rbx", "rsi", "rdi", "rbp", "r8", "r9", "r12", "r13", "r15")


_NARROW = ("eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", "r8d", "r9d", "r12d", "r13d", "r15d")


_BYTES = ("al", "cl", "dl", "bl", "sil", "dil", "bpl", "r8b", "r13b")


_WORDS = ("ax", "cx", "bx", "si", "r8w", "r13w")


NUMBERS = (0, 1, 2, 3, 5, 7, 8, 16, 100, 127, 128, 129, 255, 256, 1000, 32767, 32768, 65535, 1 << 20)


_LARGE = (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000)


_CONDITIONS = ("e", "nc", "be", "g")


JUMPS = ("jmp", "je", "jne", "jc", "jbe", "jg", "jns", "jpo")


_TWO = ("add", "sub", "and", "or", "xor", "cmp", "adc", "sbb", "mov", "test")


_ONE = ("inc", "dec", "neg", "not", "mul", "div")


_VECTOR = ("addps", "mulpd", "pxor", "paddd", "andps", "unpcklps", "pminsd")


_THREE = ("vaddps", "vpxor", "vandps", "vsubpd", "vpminsd", "vpaddd")


_SHIFTS = ("shl", "sar", "ror")


_ALONE = ("nop", "ret", "int3", "leave", "pause", "syscall")


SIZES = {"wide": ("qword", "q"), "narrow": ("dword", "l"), "byte": ("byte", "b"), "word": ("word", "w")}
"""The word for a size in Intel syntax, and the letter in AT&T's."""


_MOVES = ("movaps", "movups", "movdqa", "movdqu", "movapd")


OFTEN = 3_000


_OFTEN: dict[tuple[str, bool], list[str]] = {}


class Writer:
    """Common base of the generators for all three languages."""

    comment = "#"

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.choose = source.choice
        count = source.randrange(2, 7)
        self.labels = [f"{source.choice(('f', 'loop', '.L'))}{number}" for number in range(count)]
        self.constants = [f"c{number}" for number in range(source.randrange(1, 5))]
        self.chance = source.random
        self.is_att = False
        self.wide = ("xmmword", "ymmword")
        self.registers = {
            "wide": list(WIDE),
            "narrow": list(_NARROW),
            "byte": list(_BYTES),
            "word": list(_WORDS),
        }

    def number(self) -> str:
        value = self.choose(NUMBERS if self.chance() < 0.95 else _LARGE)
        if self.chance() < 0.3:
            value = -value
        return self.choose((str(value), hex(value), str(value)))

    def pair(self, target: str, source: str) -> str:
        return f"{source}, {target}" if self.is_att else f"{target}, {source}"

    def instruction(self) -> str:
        if self.chance() < 0.6:
            return self.choose(self.often())
        return self.any_instruction()

    def another(self, source: random.Random) -> Writer:
        """A new generator of the same language."""
        raise NotImplementedError

    def often(self) -> list[str]:
        """Instructions that many programs share, which saves encoding time."""
        key = (type(self).__name__, self.is_att)
        if key not in _OFTEN:
            writer = self.another(random.Random("often"))
            writer.labels, writer.constants = ["outside"], ["16"]
            made = (writer.any_instruction() for _ in range(4 * OFTEN))
            _OFTEN[key] = [text for text in made if "outside" not in text and "." not in text][:OFTEN]
        return _OFTEN[key]

    def any_instruction(self) -> str:
        kind = self.choose(tuple(SIZES))
        return self.choose(self.forms(kind, *SIZES[kind]))

    def forms(self, kind: str, size: str, suffix: str) -> list[str]:
        """One instruction of each form, with operands of a size."""
        two, one = self.choose(_TWO), self.choose(_ONE)
        sign, mark = ("$", "%") if self.is_att else ("", "")
        register, immediate, memory = self.register, self.immediate, self.memory
        vectors = [f"{mark}{{}}mm{self.source.randrange(16)}" for _ in range(3)]
        whole = self.choose(("wide", "narrow"))
        product = [register(whole), register(whole), immediate()]
        return [
            f"{two} {self.pair(register(kind), immediate())}",
            f"{two} {self.pair(register(kind), register(kind))}",
            f"{two} {self.pair(register(kind), register(kind))}",
            f"{self.choose(_TWO[:-1])} {self.pair(register(kind), memory(size))}",
            f"{two} {self.pair(memory(size), register(kind))}",
            f"{two}{suffix if self.is_att else ''} {self.pair(memory(size), immediate())}",
            f"{one} {register(kind)}",
            f"lea {self.pair(register('wide'), memory('qword'))}",
            f"{self.choose(('push', 'pop'))} {register('wide')}",
            f"push {immediate()}",
            f"imul {', '.join(reversed(product) if self.is_att else product)}",
            f"{self.choose(_SHIFTS)} {self.pair(register(kind), f'{sign}{self.source.randrange(1, 8)}')}",
            f"xchg {self.pair(register(kind), register(kind))}",
            f"{self.choose(_VECTOR + _MOVES)} {', '.join(vectors[:2]).format('x', 'x')}",
            f"{self.choose(_THREE)} {', '.join(vectors).format('y', 'y', 'y')}",
            f"{'movzbl' if self.is_att else 'movzx'} {self.pair(register('narrow'), register('byte'))}",
            f"int {sign}3",
            self.choose(_ALONE),
            f"xchg {self.pair(*[register('wide')] * 2)}",
            f"bswap {register(whole)}",
            f"cmov{self.choose(_CONDITIONS)} {self.pair(register(whole), register(whole))}",
            f"set{self.choose(_CONDITIONS)} {self.choose((register('byte'), memory('byte')))}",
            f"lock {self.choose(_TWO[:2])} {self.pair(memory(size), register(kind))}",
            f"{self.choose(_SHIFTS)}{suffix if self.is_att else ''} {self.pair(memory(size), f'{sign}1')}",
            f"{self.choose(_MOVES[:4])} {self.pair(memory(self.wide[0]), vectors[0].format('x'))}",
            f"v{self.choose(_MOVES[:4])} {self.pair(vectors[1].format('y'), memory(self.wide[1]))}",
            f"{self.choose(('jmp', 'call'))} {'*' if self.is_att else ''}{register('wide')}",
        ]

    def register(self, kind: str) -> str:
        """A register of a size."""
        raise NotImplementedError

    def immediate(self) -> str:
        raise NotImplementedError

    def memory(self, size: str) -> str:
        """A memory operand of a size in bytes, with the size word of Intel syntax."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """A whole text."""
        raise NotImplementedError


def with_labels(source: random.Random, lines: Sequence[str]) -> list[str]:
    """The lines, some labels in front of the statement that follows them."""
    made: list[str] = []
    for line in lines:
        if made and made[-1].endswith(":") and source.random() < 0.3:
            made[-1] += f" {line}"
        else:
            made.append(line)
    return made
