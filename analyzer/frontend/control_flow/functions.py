"""Finds the functions of a text: from a callable label to the last instruction before the next one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from cyclelens.analyzer.frontend.control_flow.control_flow import TransferKind
from cyclelens.analyzer.frontend.control_flow.loops import CodeRange
from cyclelens.analyzer.frontend.control_flow.program_flow import flow_of, is_padding, transfers_of
from cyclelens.analyzer.frontend.programs.program import Label, Program, StatementKind
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.frontend.statements.names import shown
from msgspec import Struct

_LOCAL = (".", "$", "@")
"""Prefixes of labels that are local to a function."""
_ENDING = (TransferKind.JUMP, TransferKind.LEAVE, TransferKind.STOP)
"""After these control does not continue."""


class FoundFunction(Struct, frozen=True):
    """A named function in a text."""

    name: str
    label: Label
    first: int
    """Index of its first statement."""
    last: int
    """Index after its last instruction."""
    is_declared: bool
    """The text declares it as a function or as a global symbol."""

    def code(self, lines: LineIndex, program: Program) -> CodeRange:
        """The function as a region."""
        begin, end = program.span(self.last - 1)
        line, column, end_column = lines.span(self.label.start, self.label.end)
        last_line = max(lines.locate(begin)[0], line)
        span = Span(self.name, self.label.start, end, line, last_line, column, end_column)
        return CodeRange(span, self.first, self.last, is_function=True)


def find_functions(program: Program) -> list[FoundFunction]:
    """All functions in order. If the text declares functions or global symbols, only those. Otherwise, labels
    that are not jump targets and whose code ends in a jump, return or trap."""
    labels = {name: label for name in program.label_names() if (label := program.find_label(name, 0))}
    in_code = {
        name: label
        for name, label in labels.items()
        if not name[0].isdigit() and program.is_code(label.section)
    }
    typed = {name for part in program.parts for _, name in part.ask(flow_of).functions}
    declared = in_code.keys() & (program.declared | typed)
    transfers = transfers_of(program)
    chosen = declared or _callable(in_code, transfers.values())
    found = []
    starts: dict[str, list[tuple[int, str]]] = {}
    for name in chosen:
        starts.setdefault(in_code[name].section, []).append((in_code[name].index, name))
    for section, places in starts.items():
        places.sort()
        indices = [at for at, each in enumerate(program.statements) if each.section == section]
        ends = [index for index, _ in places[1:]] + [len(program.statements)]
        for (index, name), end in zip(places, ends, strict=True):
            own = indices[bisect_left(indices, index) : bisect_left(indices, end)]
            code = _code(program, own)
            if code and (declared or transfers.get(code[-1], (None, ""))[0] in _ENDING):
                place = in_code[name], own[0], code[-1] + 1
                found.append(FoundFunction(shown(name), *place, bool(declared)))
    return sorted(found, key=lambda function: function.label.start)


def _callable(labels: dict[str, Label], transfers: Iterable[tuple[TransferKind, str]]) -> set[str]:
    """Labels that are not local and not jump targets."""
    targets = {name for kind, name in transfers if kind is not TransferKind.CALL}
    return {name for name in labels if not shown(name).startswith(_LOCAL) and name not in targets}


def _code(program: Program, own: Sequence[int]) -> list[int]:
    """Indices of the instructions, without trailing padding."""
    code = [at for at in own if program.statements[at].kind is StatementKind.INSTRUCTION]
    while code and is_padding(program.statements[code[-1]].text):
        code.pop()
    return code
