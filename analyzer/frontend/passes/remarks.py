"""Reports what looks wrong in the statements of a region: refusals, numbers, labels, directives."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cyclelens.analyzer.common.suggestions import did_you_mean
from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange
from cyclelens.analyzer.frontend.control_flow.program_flow import transfers_of
from cyclelens.analyzer.frontend.encoding.instructions import ODD_BLANK_SEEN
from cyclelens.analyzer.frontend.passes.assembly_run import AssemblyRun
from cyclelens.analyzer.frontend.programs.build import REPETITIONS
from cyclelens.analyzer.frontend.programs.program import Program, Statement, StatementKind
from cyclelens.analyzer.frontend.regions.region_code import RegionCode
from cyclelens.analyzer.frontend.regions.statement_code import misleading_character
from cyclelens.analyzer.frontend.source import lookalikes
from cyclelens.analyzer.frontend.source.lexer import QUOTED_NAME, has_odd_blank, letters
from cyclelens.analyzer.frontend.statements import directives
from cyclelens.analyzer.frontend.statements.jumps import Jump
from cyclelens.analyzer.frontend.statements.names import shown, symbol_of
from cyclelens.analyzer.model.source import Severity

_LEAVING = frozenset(["jmp", "jmpq", "call", "callq", "xbegin"])
"""Jumps that often go to another file."""
_NUMBER = re.compile(r"(?:^|,)\s*(-?(?:0x[\da-f]{1,3}|\d{1,4}))\s*(?=,|$)", re.IGNORECASE)
"""An operand that is a number without ``$``."""
_ACCESSES_NOTHING = ("lea", "nop", "prefetch", "invlpg")
_SIZED = frozenset({
    "adc", "add", "and", "cmp", "dec", "div", "idiv", "imul", "inc", "mov", "mul", "neg", "not", "or",
    "rcl", "rcr", "rol", "ror", "sal", "sar", "sbb", "shl", "shr", "sub", "test", "xor",
})  # fmt: skip
"""Instructions whose access has any size, which a suffix or a register tells."""
_ADDRESS = re.compile(r"\([^()]*\)")
_SIZING = re.compile(r"(?:^|,)\s*%(?!cl\b|[c-gs]s:)", re.IGNORECASE)
"""A register operand other than a shift's count."""
_PAGE = 4096
"""Systems keep the first page of memory free, so that null pointers are found."""
_RELATIVE_JUMP = (
    r"(?i)(?:bnd[ \t]+)?(?:j[a-z]{1,4}|loop[a-z]*)[ \t]+"
    r"((?:[.$]|[A-Za-z_.][\w.$]*)[ \t]*[-+][ \t]*\w+)[ \t]*$"
)
_NOT_FOLLOWED = "A jump to '{}' is followed only in object files: write a label, or analyse the object."
_ONLY_SYMBOL = re.compile(rf"{QUOTED_NAME}|{letters('_.?', digits=False)}{letters('_.$?', digits=True)}*")


def remark(run: AssemblyRun, program: Program, code: RegionCode, found: CodeRange, section: str) -> None:
    """Report the problems of a region, each at its statement."""
    for index in (index for part in found.own for index in part.places):
        statement = program.statements[index]
        if statement.section == section and statement.kind is StatementKind.DIRECTIVE:
            _remark_directive(run, program, index)
    for index in sorted(code.divided):
        message = "This divides by zero: GNU as warns and divides by one instead."
        run.report("division-by-zero", message, *program.span(index), Severity.WARNING)
    repetitions = 0
    for index, content in code.contents.items():
        name = program.statements[index].name if index in code.refused else ""
        if name == "endr" and repetitions:
            # The statement at which the repetition begins says why it is refused.
            repetitions -= 1
        elif name in directives.FLOW_OF_MASM and program.statements[index].dialect.is_masm:
            continue  # one message for the whole text says it
        elif index in code.refused:
            repetitions += name in REPETITIONS
            run.report(code.refused[index].code, code.refused[index].message, *program.span(index))
        elif index in code.shortened:
            message = f"This number is too long for its operand; it is truncated to {code.shortened[index]}."
            run.report("number-shortened", message, *program.span(index), Severity.WARNING)
        elif index in code.undefined:
            name = shown(code.undefined[index])
            message = f"'{name}' is not defined in this file; it is treated as an address."
            run.report("undefined-symbol", message, *program.span(index), Severity.WARNING)
        elif not isinstance(content, Jump) and (number := _number_as_address(program.statements[index])):
            message = f"This accesses memory at address {number}; did you mean ${number}?"
            mnemonic, rest = program.statements[index].text.split(None, 1)
            meant = f"{mnemonic} ${rest}" if rest.startswith(number) else ""
            meant = _in_place(run, program, index, meant)
            run.report("number-as-address", message, *program.span(index), Severity.WARNING, meant)
        elif not isinstance(content, Jump) and (sized := _without_size(program, index)):
            stem = sized.split(None, 1)[0][:-1]
            message = (
                f"{stem} has no suffix, and no operand tells the size of the access: 32 bits are assumed. "
                f"Write {stem}b, {stem}w, {stem}l or {stem}q."
            )
            meant = _in_place(run, program, index, sized)
            run.report("missing-suffix", message, *program.span(index), Severity.WARNING, meant)
        elif isinstance(content, Jump) and content.mnemonic not in _LEAVING:
            target = content.target.text.strip()
            symbol = symbol_of(target)
            if _ONLY_SYMBOL.fullmatch(target) and target != "." and not code.is_defined(symbol, index):
                name = shown(symbol)
                hint = did_you_mean(name, map(shown, program.label_names()))
                message = (
                    f"The label '{name}' is not defined in this file; it is treated as far away{hint or '.'}"
                )
                run.report("undefined-label", message, *program.span(index), Severity.WARNING)


def remark_nothing(run: AssemblyRun, program: Program) -> None:
    """Report why a text without regions may have no loop: a jump misses a label, or a character only looks
    like a space. It may be any text, so only likely mistakes count."""
    for index, statement in enumerate(program.statements):
        if statement.kind is StatementKind.INSTRUCTION and (
            match := re.match(_RELATIVE_JUMP, statement.text)
        ):
            run.report(
                "undefined-label",
                _NOT_FOLLOWED.format(match[1].strip()),
                *program.span(index),
                Severity.WARNING,
            )
            return
    names = [shown(name) for name in program.label_names()]
    if not names:
        return
    named = set()
    for index, (kind, symbol) in transfers_of(program).items():
        if kind is TransferKind.BRANCH and symbol and program.find_label(symbol, index) is None:
            name = shown(symbol)
            if (label := _same_looking(name, names)) or not name[0].isdigit():
                odd = name if label.isascii() else label
                alike = label and f"; '{odd}' contains {lookalikes.seen(odd)}."
                if hint := alike or did_you_mean(name, names):
                    message = f"The label '{name}' is not defined in this file{hint}"
                    run.report("undefined-label", message, *program.span(index), Severity.WARNING)
                    named.add(index)
    for index, statement in enumerate(program.statements):
        is_plain = statement.text.isascii() or index in named
        if statement.kind is StatementKind.INSTRUCTION and not is_plain:
            blank = ODD_BLANK_SEEN if has_odd_blank(statement.text) else ""
            if said := blank or misleading_character(program, statement.text):
                run.report("syntax-error", said, *program.span(index))
                return


def _same_looking(name: str, labels: Iterable[str]) -> str:
    """The label that looks like a name that is no label; empty if there is none."""
    plain = lookalikes.folded(name)
    return next((each for each in labels if lookalikes.folded(each) == plain), "")


def _in_place(run: AssemblyRun, program: Program, index: int, text: str) -> str:
    """The text for a statement; empty where the file says something else, because a macro made it."""
    start, end = program.span(index)
    return text if run.text[start:end] == program.statements[index].text else ""


def _without_size(program: Program, index: int) -> str:
    """An AT&T statement whose memory operand has no size, with the suffix that GNU as assumes. Empty for
    other statements."""
    statement = program.statements[index]
    mnemonic, *operands = statement.text.split(None, 1)
    if not statement.dialect.is_att or mnemonic.lower() not in _SIZED or not operands:
        return ""
    has_no_address = "(" not in operands[0]
    if (
        has_no_address
        or statement.dialect.bare_registers
        or _SIZING.search(_ADDRESS.sub("", operands[0]))
        or program.has_register_names
    ):
        return ""
    rest = statement.text[len(mnemonic) :]
    return f"{mnemonic}{'L' if mnemonic.isupper() else 'l'}{rest}"


def _number_as_address(statement: Statement) -> str:
    """The operand of an AT&T statement that is an address in the first page of memory, as it is written;
    empty if there is none."""
    if statement.kind is not StatementKind.INSTRUCTION or not statement.dialect.is_att:
        return ""
    mnemonic, *operands = statement.text.split(None, 1)
    if not operands or mnemonic.lower().startswith(_ACCESSES_NOTHING):
        return ""
    numbers = (match[1] for match in _NUMBER.finditer(operands[0]))
    return next((each for each in numbers if abs(int(each, 16 if "x" in each.lower() else 10)) < _PAGE), "")


def _remark_directive(run: AssemblyRun, program: Program, index: int) -> None:
    statement = program.statements[index]
    if not statement.refusal and not directives.is_known(statement.name):
        message = f".{statement.name} is not a known directive; it is assumed to make no code."
        run.report("unknown-directive", message, *program.span(index), Severity.WARNING)
