"""Analyses C, C++ and Rust sources: compiles each as its project does, and places each loop at the source
lines of its instructions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from cyclelens.analyzer.compiling.background import CannotCompileError, Objects, RequestCancelled
from cyclelens.analyzer.compiling.projects import Databases, NoCommandError, UnusableCommandError, command_for
from cyclelens.analyzer.engine.analysis import Analyzer, readable
from cyclelens.analyzer.engine.workspace import Cancel
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.elf_format import ObjectFileError
from cyclelens.analyzer.frontend.objects.machine_code import outermost
from cyclelens.analyzer.insight.source_lines import home
from cyclelens.analyzer.insight.work import work_of
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail
from cyclelens.analyzer.model.choices import Regions, Syntax
from cyclelens.analyzer.model.result import Analysis, RegionAnalysis
from cyclelens.analyzer.model.source import (
    UNKNOWN_LINE,
    CompiledInstruction,
    Problem,
    Region,
    Severity,
    SourceLine,
)
from cyclelens.analyzer.simulator.failures import Cancelled
from msgspec.structs import replace

NOT_COMPILED = "not-compiled"
"""Code of the problem that there is no object file."""
NO_COMMAND = "no-compile-command"
"""Code of the remark that no project compiles the file."""


class CompiledAnalyzer(Analyzer):
    """Analyses compiled sources instead of assembly texts. ``options.source.origin`` names the file and the
    workspace's folders."""

    def in_detail(
        self,
        text: str,
        options: AnalysisOptions,
        details: Sequence[Detail],
        cancel: Cancel | None = None,
        due: Callable[[], bool] = lambda: False,
    ) -> Iterator[Analysis]:
        """Like ``Analyzer.in_detail``, but ignores ``due``: an object file yields all of its regions at once.
        A failed compilation is a problem at the first line."""
        source, caches = options.source, self.workspace.store.caches
        try:
            if not source.allow_external_programs:
                raise CannotCompileError("compilers are only run in trusted folders")
            command = command_for(source.origin.path, source.origin.folders, caches.of(Databases))
            data = caches.of(Objects).object_of(command, text, cancel or (lambda: False))
            file = ObjectFile(data)
        except RequestCancelled:
            raise Cancelled from None
        except (CannotCompileError, ObjectFileError, UnusableCommandError) as error:
            message = f"No figures: {error}"
            yield Analysis((), (Problem(0, 0, 0, NOT_COMPILED, message, Severity.INFORMATION),))
            return
        except NoCommandError as error:
            remark = f"No figures: {error}"
            yield Analysis((), (Problem(0, 0, 0, NO_COMMAND, remark, Severity.INFORMATION),))
            return
        source, unread = readable(source, self.workspace)
        source = replace(source, syntax=Syntax.INTEL, regions=Regions.AUTO)
        path, lines = os.path.realpath(source.origin.path), text.split("\n")

        def is_own(line: SourceLine | CompiledInstruction) -> bool:
            return os.path.realpath(os.path.join(command.folder, line.file)) == path

        def wanted(region: Region) -> bool:
            return any(map(is_own, region.lines))

        def placed(region: Region) -> Region:
            return _placed(region, is_own, lines)

        for detail in details:
            chosen = replace(options, source=source, detail=detail)
            found = self.analyze_functions(file, outermost(file.functions), chosen, wanted, cancel, placed)
            # Problems of machine code have no line; those kept are about the whole file.
            left = [each for each in found.problems if each.severity != Severity.INFORMATION]
            problems = (*unread, *(replace(each, line=max(each.line, 0)) for each in left))
            regions = tuple(sorted(found.regions, key=_order))
            calls = _calls((each for each in found.made if is_own(each)), lines)
            yield replace(found, regions=regions, problems=problems, made=(), calls=calls)


def _calls(made: Iterable[CompiledInstruction], lines: Sequence[str]) -> dict[str, tuple[bytes, ...]]:
    """Instructions that each intrinsic became, by its name. gcc and rustc attribute each instruction to a
    function; clang hides its own functions and points at the call instead."""
    found: dict[str, dict[bytes, None]] = {}
    for each in made:
        called = (
            None if each.inlined or each.line >= len(lines) else _CALL.match(lines[each.line], each.column)
        )
        name = called[0] if called else each.inlined
        if name:
            found.setdefault(name, {})[each.code] = None
    return {name: tuple(codes) for name, codes in found.items()}


_CALL = re.compile(r"_mm\w+")


def _order(region: RegionAnalysis) -> tuple[int, int, float]:
    """Sort key: source line first. Of several loops made from one source loop, the one with the most work
    comes first: the unrolled loop before its remainder."""
    work, first = work_of(region), region.region.first_line
    cycles = region.predictions[0].cycles_per_iteration if region.predictions else 0.0
    return first, -work.amount if work else 0, -cycles


def _placed(region: Region, is_own: Callable[[SourceLine], bool], lines: Sequence[str]) -> Region:
    """The region with lines of the text itself. An instruction from another file or from an unknown line
    counts for the line of the loop."""
    own = [line for line in region.lines if line.line != UNKNOWN_LINE and is_own(line)]
    if not own:
        return region
    first = home(own)[1]
    placed = []
    for line in region.lines:
        known = line.line != UNKNOWN_LINE and is_own(line)
        number = min(line.line if known else first, len(lines) - 1)
        text = lines[number]
        column = len(text) - len(text.lstrip())
        placed.append(replace(line, line=number, column=column, end_column=len(text.rstrip()), file=""))
    return replace(
        region,
        first_line=min(first, len(lines) - 1),
        last_line=max(line.line for line in placed),
        lines=tuple(placed),
    )
