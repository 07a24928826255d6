"""Generates ``forms.txt``, which maps decoder codes to the encoding forms of the fact tables.

The fact tables name forms in the spelling of Intel's own decoder (``ADD_GPRv_GPRv_01``); the project's
decoder has numbered codes. Both describe an instruction by mnemonic, operands, encoding and opcode, so
variants of the tables and codes are joined on this description. Run once per decoder version or table file::

    python dev/forms_generator.py instructions.xml.xz data/x87.xml
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from cyclelens.analyzer.isa.codes import enum_names
from cyclelens.analyzer.isa.forms import FORMS_PATH
from cyclelens.analyzer.isa.spelling import described
from iced_x86 import Code, EncodingKind, Mnemonic, OpCodeInfo, OpCodeOperandKind, OpCodeTableKind
from iced_x86 import MemorySizeExt as MemorySizes
from lxml import etree
from msgspec import Struct
from msgspec.structs import replace

Operands = tuple[str, ...]
"""One word an operand: ``r8`` .. ``zmm`` for a register class, ``=AL`` for a fixed register, ``m64`` for
memory by bits, ``i8`` for an immediate by encoded bits, ``rel8``, ``=1``."""


class Signature(Struct, frozen=True):
    """Description of an instruction common to both sides. ``prefix`` is one of "", "lock", "rep", "repne"."""

    mnemonic: str
    encoding: str
    """``legacy``, ``vex``, ``evex``."""
    prefix: str
    operands: Operands


# --- the tables' side ---------------------------------------------------------------------------------

_REGISTER_CLASSES = {
    "AL": "r8", "AH": "r8", "SPL": "r8", "AX": "r16", "EAX": "r32", "RAX": "r64", "MM0": "mm", "XMM0": "xmm",
    "YMM0": "ymm", "ZMM0": "zmm", "K0": "k", "K1": "k", "K7": "k", "BND0": "bnd", "ES": "seg", "CR0": "cr",
    "DR0": "dr", "ST0": "sti",
}  # fmt: skip
"""Register class by the first register of an operand's list."""

_PREFIX_WORDS = {"LOCK": "lock", "REP": "rep", "REPE": "rep", "REPNE": "repne"}

_DECORATION = re.compile(r"_(LOCK|NEAR|XMM|SSE4|CR|DR)$|^(REP|REPE|REPNE)_")


def _table_operand(node: etree._Element) -> str:
    kind, text, width = node.get("type", ""), (node.text or "").strip(), node.get("width", "")
    if kind == "reg":
        registers = text.split(",")
        if node.get("implicit") or len(registers) == 1:
            return "=" + registers[0]
        return _REGISTER_CLASSES[registers[0]]
    if kind == "imm":
        return "=1" if node.get("implicit") and text == "1" else "i" + width
    if kind == "mem":
        return "moffs" + width if node.get("moffs") else "m" + width + node.get("VSIB", "").lower()
    return {"agen": "m", "relbr": "rel" + width}[kind]


def _table_signatures(node: etree._Element) -> Iterator[Signature]:
    """Signatures of one ``<instruction>``: under its assembler mnemonic and under its class name."""
    # Some records lack the attribute of their encoding; the extension identifies at least EVEX.
    is_evex = node.get("extension") == "AVX512EVEX" or node.get("evex")
    encoding = "evex" if is_evex else "vex" if node.get("vex") else "legacy"
    words = re.sub(r"\{\w+\} |REX64 ", "", node.get("asm", "")).split()
    prefix = "".join(_PREFIX_WORDS.get(word, "") for word in words[:-1])
    operands = tuple(
        _table_operand(operand)
        for operand in node.iterfind("operand")
        if operand.get("type") != "flags" and not operand.get("suppressed") and not operand.get("opmask")
    )
    for mnemonic in dict.fromkeys((words[-1], _DECORATION.sub("", node.get("iclass", "")))):
        yield Signature(mnemonic, encoding, prefix, operands)


def read_signatures(source: IO[bytes]) -> dict[Signature, list[str]]:
    """Form names by signature, from the published XML, read with bounded memory."""
    forms: dict[Signature, dict[str, None]] = defaultdict(dict)
    for _, node in etree.iterparse(source, tag="instruction"):
        for signature in _table_signatures(node):
            forms[signature][node.get("iform", "")] = None
        node.clear()
        while node.getprevious() is not None:
            del node.getparent()[0]
    return {signature: list(names) for signature, names in forms.items()}


# --- the decoder's side -------------------------------------------------------------------------------

_ENCODINGS = {EncodingKind.LEGACY: "legacy", EncodingKind.VEX: "vex", EncodingKind.EVEX: "evex"}

_CONDITIONS = {"A": "NBE", "AE": "NB", "E": "Z", "G": "NLE", "GE": "NL", "NE": "NZ"}
"""Conditions for which the tables use the other name."""

_ALIASES = {"XLATB": "XLAT"}

_NOPS = {"ENDBR32": "NOPD", "ENDBR64": "NOPD"}
"""Instructions missing from the tables, encoded as NOPs and executed as such without control-flow checks."""

_CONDITIONAL = re.compile(r"^(J|CMOV|SET|CMP)(A|AE|E|G|GE|NE)(XADD)?$")

_ESCAPES = {
    OpCodeTableKind.NORMAL: "",
    OpCodeTableKind.T0F: "0F",
    OpCodeTableKind.T0F38: "0F38",
    OpCodeTableKind.T0F3A: "0F3A",
}

_IMMEDIATES = {"IMM8": "i8", "IMM8SEX16": "i8", "IMM8SEX32": "i8", "IMM8SEX64": "i8", "IMM16": "i16",
               "IMM32": "i32", "IMM32SEX64": "i32", "IMM64": "i64", "IMM8_CONST_1": "=1",
               "BR64_1": "rel8", "BR64_4": "rel32"}  # fmt: skip

_STRING_OPERANDS = {"SEG_RSI", "ES_RDI", "SEG_RDI", "SEG_RBX_AL"}
"""Implied addresses, which the tables omit."""

_CLASS_OF_KIND = re.compile(r"^(R8|R16|R32|R64|MM|XMM|YMM|ZMM|K|BND|SEG|CR|DR|STI)(P\d)?_")

_FIXED = {"ES", "CS", "SS", "DS", "FS", "GS", "AL", "CL", "AX", "DX", "EAX", "RAX", "ST0"}


_KIND_NAMES = enum_names(OpCodeOperandKind)
_MNEMONIC_NAMES = enum_names(Mnemonic)


def _code_operand(kind: str, info: OpCodeInfo, memory: bool, broadcast: bool) -> str | None:
    """The operand in the common notation; None if the tables omit it; "?" if it has no notation."""
    if kind in _IMMEDIATES:
        return _IMMEDIATES[kind]
    if kind in _FIXED:
        return "=" + kind
    if kind in _STRING_OPERANDS:
        return None
    if kind.startswith("MEM") or ("_OR_MEM" in kind and memory):
        size = info.broadcast_memory_size if broadcast else info.memory_size
        # Only for INVLPG's address do the tables have a width that the decoder lacks.
        bits = "8" if info.mnemonic == Mnemonic.INVLPG else str(8 * MemorySizes.size(size) or "")
        if kind == "MEM_OFFS":
            return "moffs" + bits
        vsib = re.fullmatch(r"MEM_VSIB\d\d([XYZ])", kind)
        return "m" + bits + (vsib[1].lower() + "mm" if vsib else "")
    found = _CLASS_OF_KIND.match(kind)
    return found[1].lower() if found else "?"


def _code_mnemonic(info: OpCodeInfo) -> str:
    name = _ALIASES.get(_MNEMONIC_NAMES[info.mnemonic], _MNEMONIC_NAMES[info.mnemonic])
    conditional = _CONDITIONAL.match(name)
    if conditional and (conditional[1] != "CMP" or conditional[3]):
        return conditional[1] + _CONDITIONS[conditional[2]] + (conditional[3] or "")
    return name


def _code_signatures(info: OpCodeInfo, memory: bool) -> Iterator[Signature]:
    """Signatures of a code with its register or its memory operand, best first."""
    kinds = [_KIND_NAMES[kind] for kind in info.op_kinds()]
    encoding = _ENCODINGS.get(info.encoding)
    encoded_memory = any(kind.startswith("MEM") for kind in kinds)
    either = any("_OR_MEM" in kind for kind in kinds)
    if encoding is None or not (either or memory == encoded_memory):
        return
    prefixes = {
        "": True,
        "lock": memory and info.can_use_lock_prefix,
        # Processors and tables accept REPNE on every string instruction, even where it has no meaning.
        "rep": info.can_use_rep_prefix,
        "repne": info.can_use_rep_prefix or info.can_use_repne_prefix,
    }
    for broadcast in (False, True)[: 1 + (memory and info.can_broadcast)]:
        words = [_code_operand(kind, info, memory, broadcast) for kind in kinds]
        operands = tuple(word for word in words if word is not None)
        for prefix, possible in prefixes.items():
            if possible:
                yield Signature(_code_mnemonic(info), encoding, prefix, operands)


def _opcodes(info: OpCodeInfo) -> tuple[str, str]:
    """The opcode as the tables append it to ambiguous form names (``0F1F``, ``80r0``), and without the
    escape, as after a VEX prefix.
    """
    text = f"{info.op_code:0{2 * info.op_code_len}X}" + (f"r{info.group_index}" if info.is_group else "")
    return _ESCAPES.get(info.table, "") + text, text


# --- the join -----------------------------------------------------------------------------------------

_OPCODE_SUFFIX = re.compile(r"_((?:[0-9A-F]{2}){1,3}(?:r[0-7])?)$")


_ORDINARY_MEMORY = re.compile(r"^m(8|16|32|48|64|80|128|256)$")


def _relaxed(signature: Signature, of_tables: bool) -> Iterator[Signature]:
    """Weaker descriptions, to try in this order where the two sides disagree about a detail."""
    yield signature
    # The tables do not mark every VEX encoding as such; the mnemonic tells it as well.
    if signature.encoding == "vex":
        signature = replace(signature, encoding="legacy")
    yield signature
    # Addresses that are no operands (LEA), prefetched lines and save areas have no common width.
    words = signature.operands
    yield replace(
        signature,
        operands=tuple(
            word if of_tables and _ORDINARY_MEMORY.match(word) else re.sub(r"^m\d+", "m", word)
            for word in words
        ),
    )
    # Registers that are zero-extended, or of which 16 bits count (MOVMSKPS, LLDT): the tables have one
    # width for all.
    yield replace(signature, operands=tuple(re.sub(r"^r(16|32|64)$", "r", word) for word in words))
    # String instructions: only the decoder shows the accumulator.
    yield replace(signature, operands=tuple(word for word in words if not word.startswith("=")))


def _choose(names: Iterable[str], opcodes: tuple[str, str]) -> str:
    """The form whose opcode suffix fits the code; forms without suffix fit any code. "" if unclear."""
    suffixes = {name: _OPCODE_SUFFIX.search(name) for name in names}
    fitting = [
        name
        for name, suffix in suffixes.items()
        if suffix and any(opcode.startswith(suffix[1]) for opcode in opcodes)
    ]
    fitting = fitting or [name for name, suffix in suffixes.items() if not suffix]
    return fitting[0] if len(fitting) == 1 else ""


def join(forms: Mapping[Signature, Iterable[str]]) -> dict[str, dict[str, str]]:
    """Forms of each decoder code, by the code's name, then by ``reg`` or ``mem`` and prefix (``mem
    lock``)."""
    levels: list[dict[Signature, dict[str, None]]] = [defaultdict(dict) for _ in range(5)]
    for signature, names in forms.items():
        for level, weaker in zip(levels, _relaxed(signature, True), strict=True):
            level[weaker].update(dict.fromkeys(names))
    result: dict[str, dict[str, str]] = {}
    for code, code_name in enum_names(Code).items():
        info = OpCodeInfo(code)  # type: ignore[arg-type]
        # Opcodes that are reserved but harmless borrow the mnemonic of their neighbour (PREFETCH).
        if not info.is_instruction or not info.mode64 or "RESERVED" in code_name:
            continue
        found: dict[str, str] = {}
        for memory in (False, True):
            for signature in _code_signatures(info, memory):
                key = f"{'mem' if memory else 'reg'} {signature.prefix}".strip()
                for level, weaker in zip(levels, _relaxed(signature, False), strict=True):
                    if key not in found and weaker in level:
                        form = _choose(level[weaker], _opcodes(info))
                        if form:
                            found[key] = form
        if found:
            result[code_name] = found
    return result | {name: result[same] for name, same in _NOPS.items() if same in result}


def write(table: Mapping[str, Mapping[str, str]], path: Path) -> None:
    """One line per code, sorted: ``described``, ``reg=FORM``, ``mem=FORM``, ``mem lock=FORM`` ... by tabs."""
    lines = [
        "\t".join(
            [described(OpCodeInfo(vars(Code)[name])), *(f"{key}={form}" for key, form in forms.items())]
        )
        for name, forms in table.items()
    ]
    header = "# Made by dev/forms_generator.py. Form names: uops.info."
    path.write_text("\n".join([header, *sorted(lines)]) + "\n", encoding="ascii")


def main() -> None:
    """Command line: read the XML, write the table of the package."""
    parser = argparse.ArgumentParser(description="Make the table of encoding forms.")
    parser.add_argument("xml", type=Path, nargs="+", help="instructions.xml or .xml.xz in uops.info's schema")
    parser.add_argument("--output", type=Path, default=Path(FORMS_PATH))
    arguments = parser.parse_args()
    signatures: dict[Signature, list[str]] = {}
    for path in arguments.xml:
        opened = lzma.open if path.suffix == ".xz" else open
        with opened(path, "rb") as source:
            signatures |= read_signatures(cast("IO[bytes]", source))
    table = join(signatures)
    write(table, arguments.output)
    print(f"{len(table)} codes written to {arguments.output}")


if __name__ == "__main__":
    main()
