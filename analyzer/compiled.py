"""C, C++ and Rust texts as the analyzer's: each is compiled as its project says, and a loop is a region at
the lines that its instructions come from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from cyclelens.analyzer.api import Analyzer, Cancel, Cancelled
from cyclelens.analyzer.assembly.elf import ObjectFile
from cyclelens.analyzer.assembly.elf_format import ObjectFileError
from cyclelens.analyzer.assembly.machine_code import outermost
from cyclelens.analyzer.compiling.background import CannotCompileError, GivenUp, Objects
from cyclelens.analyzer.compiling.projects import NoCommandError, command_for
from cyclelens.analyzer.facts.store import FactsStore
from cyclelens.analyzer.insight.source_lines import home
from cyclelens.analyzer.model.result import Analysis, AnalysisOptions
from cyclelens.analyzer.model.source import UNKNOWN_LINE, Problem, Region, Severity, SourceLine
from cyclelens.analyzer.profiles.profile import ProfileError
from cyclelens.analyzer.profiles.reading import profile_of

NOT_COMPILED = "not-compiled"
"""Code of the problem that there is no object file."""


class CompiledAnalyzer(Analyzer):
    """Analyses sources in the place of assembly texts. ``options.origin`` says which file a text is of, and
    which folders are the workspace's."""

    def __init__(self, store: FactsStore, objects: Objects, *, cached_predictions: int) -> None:
        super().__init__(store, cached_predictions=cached_predictions)
        self._objects = objects

    def variants(
        self,
        text: str,
        variants: Sequence[AnalysisOptions],
        cancel: Cancel | None = None,
        due: Callable[[], bool] = lambda: False,
    ) -> Iterator[Analysis]:
        """As ``Analyzer.variants``; ``due`` is not asked, an object has all of its regions at once. That a
        text cannot be compiled is a problem of its first line."""
        first = variants[0]
        try:
            if not first.allow_external_programs:
                raise CannotCompileError("compilers are not run in folders that are not trusted")
            command = command_for(first.origin.path, first.origin.folders)
            data = self._objects.object_of(command, text, cancel or (lambda: False))
            file = ObjectFile(data)
        except GivenUp:
            raise Cancelled from None
        except NoCommandError:
            yield Analysis((), ())  # nobody asked for figures of this file
            return
        except (CannotCompileError, ObjectFileError) as error:
            message = f"No figures: {error}"
            yield Analysis((), (Problem(0, 0, 0, NOT_COMPILED, message, Severity.INFORMATION),))
            return
        unread: tuple[Problem, ...] = ()
        try:
            if first.profile:
                profile_of(first.profile)
        except ProfileError as error:
            unread = (Problem(0, 0, 0, "no-profile", str(error), Severity.WARNING),)
            variants = [replace(options, profile="") for options in variants]
        path, lines = os.path.realpath(first.origin.path), text.split("\n")

        def is_own(line: SourceLine) -> bool:
            return os.path.realpath(os.path.join(command.folder, line.file)) == path

        def wanted(region: Region) -> bool:
            return any(map(is_own, region.lines))

        def placed(region: Region) -> Region:
            return _placed(region, is_own, lines)

        for options in variants:
            chosen = replace(options, syntax="intel", regions="auto")
            found = self.analyze_functions(file, outermost(file.functions), chosen, wanted, cancel, placed)
            # Machine code has no line; what is left is about the file as a whole.
            left = [each for each in found.problems if each.severity != Severity.INFORMATION]
            problems = (*unread, *(replace(each, line=max(each.line, 0)) for each in left))
            regions = tuple(sorted(found.regions, key=lambda each: each.region.first_line))
            yield replace(found, regions=regions, problems=problems)


def _placed(region: Region, is_own: Callable[[SourceLine], bool], lines: Sequence[str]) -> Region:
    """The region at the lines of the text itself. An instruction from another file, or from no line that is
    known, counts for the line of the loop."""
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
