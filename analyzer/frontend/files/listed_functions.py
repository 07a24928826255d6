"""Finds the functions of a listing by the symbols of the assembled object."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cyclelens.analyzer.frontend.files.listed import ListedCode, SectionCode
from cyclelens.analyzer.frontend.files.listings import Listing
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_flow import is_padding
from cyclelens.analyzer.frontend.source.markers import Span
from cyclelens.analyzer.frontend.source.scanner import LineIndex
from cyclelens.analyzer.isa.decoder import decode


def functions(
    listing: Listing,
    found: dict[str, SectionCode],
    user_lines: Callable[[int], int],
    lines: LineIndex,
    text: str,
) -> Iterator[ListedCode]:
    """All functions, in the order of their sections. ``user_lines``: line of the listing -> line of the
    file."""
    file = listing.object
    if file is None:
        return
    try:
        known = file.functions
    except ObjectFileError:
        return
    for section in found.values():
        base = file.base(section.name)
        if base is None or section.name not in listing.code_sections:
            continue
        for function in known:
            if function.origin != base:
                continue
            first, end = function.address - base, function.end - base
            inside = [at for at, piece in enumerate(section.pieces) if first <= piece.offset < end]
            while inside and (section.listed[inside[-1]].is_data or _fills(section, inside[-1])):
                inside.pop()
            if not inside:
                continue
            label = listing.labels.get((section.name, first))
            line = section.listed[inside[0]].line
            if label is not None and label[1] >= 0:
                line = min(user_lines(label[1]), line)
            last_line = max(section.listed[inside[-1]].line, line)
            start, stop = lines.content(line, text)
            _, column, end_column = lines.span(start, stop)
            end_offset = lines.content(last_line, text)[1]
            span = Span(function.name, start, end_offset, line, last_line, column, end_column)
            yield ListedCode(span, section, inside, is_function=True)


def _fills(section: SectionCode, at: int) -> bool:
    """Whether a piece is only padding."""
    code = section.pieces[at].code
    return not code or section.listed[at].is_alignment or all(map(is_padding, decode(code, section.caches)))
