"""Compares whole third-party assembly files, written or compiled, with the objects of GNU as and NASM.

    python benchmarks/corpora.py [PACKAGE...] [--failures] [--limit N]

Fetches the packages of code_bases.py, assembles every file with the assembler it was written for, and
compares the loops of that object with those that the front end finds in the text: their number, their code,
their places and their figures. docs/dialects.md has the results.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterable

from code_bases import PACKAGES
from cyclelens.analyzer.engine.prediction import Predictor
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.frontend.assemble import assemble
from cyclelens.analyzer.frontend.objects.elf import ObjectFile
from cyclelens.analyzer.frontend.objects.machine_code import outermost, regions_of
from cyclelens.analyzer.frontend.regions.statement_code import EncodingCache
from cyclelens.analyzer.isa.decoder import decode
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import SourceOptions
from cyclelens.analyzer.model.choices import Regions
from cyclelens.analyzer.model.source import Region
from fetching import Source, Unavailable, made
from msgspec import Struct, field

ARCHITECTURE = "SKX"
"""Microarchitecture of the compared figures: it has the AVX-512 instructions of all these files."""
_STUBS = 24
"""Most headers of a configured tree that are created empty."""
_PIECE = 10_000
"""Lines of a region that are counted."""


# ---------------------------------------------------------------------------------------------------------
# One file


def reference(source: Source) -> bytes | None:
    """The object from the file's own assembler; None if it rejects the file."""
    target = made("objects") / f"{source.name}.o"
    includes = [f"-I{folder}/" for folder in source.include_paths]
    includes += [f"-P{path}" for path in source.pre_includes]
    defines = [f"-D{name}" for name in source.defines]
    if source.path.suffix == ".asm":
        command = ["nasm", "-f", "elf64", *includes, *defines, "-o", str(target), str(source.path)]
    else:
        language = "assembler-with-cpp" if source.path.suffix == ".S" else "assembler"
        command = ["cc", "-c", "-x", language, *includes, *defines, "-o", str(target), str(source.path)]
    stubs = made("stubs")
    for _ in range(_STUBS):
        done = subprocess.run([*command, f"-I{stubs}/"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return target.read_bytes()
        missing = re.search(r"fatal error: (\S+): No such file", done.stderr)
        if missing is None or missing[1].startswith("/") or ".." in missing[1]:
            break
        # A header of a configured tree; the macros of assembly files do not need it.
        stub = stubs / missing[1]
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.touch()
    return None


class Measured(Struct):
    """Results for one file."""

    name: str
    lines: int = 0
    """Statements in total; ``encoded`` counts those with bytes."""
    encoded: int = 0
    loops: int = 0
    """Loops in the object."""
    found: int = 0
    """Loops in the text."""
    same: int = 0
    """Loops of the object that the text has with the same instructions."""
    placed: int = 0
    """Those at the same places."""
    equal: int = 0
    """Those with the same figures."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def __iadd__(self, other: Measured) -> Measured:
        for name in ("lines", "encoded", "loops", "found", "same", "placed", "equal"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.seconds = max(self.seconds, other.seconds)
        return self

    @property
    def agrees(self) -> bool:
        """Whether every line is encoded and the text has exactly the object's loops."""
        return self.encoded == self.lines and self.equal == self.loops == self.found


def measure(source: Source, workspace: Workspace) -> Measured | None:
    """Compare a file with its object; None if its own assembler rejects it.

    Other files stay cached between calls, as in the commands."""
    code = reference(source)
    if code is None:
        return None
    result = Measured(source.name)
    started = time.process_time()
    options = SourceOptions(regions=Regions.LOOPS, origin=source.origin)
    text = assemble(source.text, options, memory=workspace.caches.of(EncodingCache))
    result.seconds = time.process_time() - started
    _count_lines(source, result)
    # NASM's code sections hold undeclared functions, but no tables.
    theirs = by_loop(object_loops(code, is_all_code=source.path.suffix == ".asm"))
    ours = by_loop(text.regions)
    result.loops, result.found = len(theirs), len(ours)
    known: dict[object, list[list[Region]]] = {}
    predictor = Predictor(workspace)
    for regions in ours:
        known.setdefault(essence(regions), []).append(regions)
    for regions in theirs:
        candidates = known.get(essence(regions))
        where = f"loop at {regions[0].lines[0].address:#x} of {regions[0].name}"
        if not candidates:
            result.failures.append(f"{where} is not found")
            continue
        result.same += 1
        places = places_of(regions)
        here = [one for one in candidates if places_of(one) == places]
        ours_of_it = (here or candidates)[0]
        candidates.remove(ours_of_it)
        if not here:
            result.failures.append(f"{where} lies at {places}, in the text at {places_of(ours_of_it)}")
            continue
        result.placed += 1
        if _figures(ours_of_it, predictor) == _figures(regions, predictor):
            result.equal += 1
        else:
            result.failures.append(f"{where} has other figures")
    for left in known.values():
        for regions in left:
            result.failures.append(
                f"{regions[0].first_line + 1}: loop {regions[0].name} is not one of the object's"
            )
    return result


def _count_lines(source: Source, result: Measured) -> None:
    """Count encoded statements by treating the file as one region, or several if it is long without macros.

    Macro output beyond the size limit of a region is not counted."""
    comment = ";" if source.path.suffix == ".asm" else "#"
    if source.path.suffix == ".S":
        comment = "//"
    begin, end = f"{comment} cyclelens-begin whole\n", f"\n{comment} cyclelens-end\n"
    text = f"{begin}{source.text}{end}"
    if source.path.suffix == ".s" and ".macro" not in text:
        lines = source.text.splitlines()
        pieces = ["\n".join(lines[at : at + _PIECE]) for at in range(0, len(lines), _PIECE)]
        text = begin + f"{end}{begin}".join(pieces) + end
    whole = assemble(text, SourceOptions(origin=source.origin))
    errors = [problem for problem in whole.problems if problem.severity == "error"]
    if any(problem.code == "region-too-large" for problem in errors):
        return
    result.encoded = sum(len(region.lines) for region in whole.regions)
    result.lines = result.encoded + len(errors)
    lines = text.splitlines()
    for problem in errors:
        line = lines[problem.line].strip() if problem.line < len(lines) else ""
        result.failures.append(f"{problem.line}: {problem.message} | {line[:100]}")


def object_loops(code: bytes, *, is_all_code: bool = False) -> tuple[Region, ...]:
    """Loops of the object's functions, because there may be tables between these.

    Whole sections are used where no function is declared, or if they contain only code and do not begin with
    a declared function."""
    file = ObjectFile(code)
    declared = outermost(file.functions)
    beginnings = {function.address for function in declared}
    whole = [section for section in file.sections if is_all_code and section.address not in beginnings]
    origins = {section.origin for section in whole}
    functions = [function for function in declared if function.origin not in origins] + whole
    functions = functions or list(file.sections)
    return regions_of(file, functions, Regions.LOOPS).regions


def by_loop(regions: Iterable[Region]) -> list[list[Region]]:
    """Group basic blocks by loop, according to their places."""
    loops: dict[str, list[Region]] = {}
    for region in regions:
        stem, _, number = region.name.rpartition(".")
        is_block = number.isdecimal() and stem and not region.ends_in_jump_to_start
        loops.setdefault(f"{stem}." if is_block else region.name, []).append(region)
    return list(loops.values())


def essence(regions: list[Region]) -> object:
    """Everything that figures depend on, without addresses that only a linker knows."""
    found: list[object] = []
    for region in regions:
        if region.incomplete:
            return id(region)
        found.append(region.ends_in_jump_to_start)
        for instruction in decode(region.code):
            wide = any(operand.displacement_bits == 32 for operand in instruction.operands)
            if instruction.branch_displacement is not None:
                found.append((instruction.mnemonic, instruction.length))
            elif wide or instruction.immediate_bits >= 32:
                registers = [(one.register, one.base, one.index, one.scale) for one in instruction.operands]
                found.append((instruction.mnemonic, instruction.length, tuple(registers)))
            else:
                found.append(instruction.code)
    return tuple(found)


def places_of(regions: list[Region]) -> list[tuple[int, int]]:
    return [(region.placement.offset, region.placement.known) for region in regions]


def _figures(regions: list[Region], predictor: Predictor) -> list[float | None]:
    """Figures at every position that the file leaves open."""
    core = registry.get(ARCHITECTURE)
    return [
        predictor.cycles_of(region.code, core, region.ends_in_jump_to_start, offset)
        for region in regions
        for offset in region.placement.offsets
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)}")
    parser.add_argument("--failures", action="store_true", help="list what is not encoded or not found")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N files of each package")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files with this in their name")
    options = parser.parse_args()
    workspace = Workspace()
    print(
        "| package | files | lines | encoded | loops | found | same code | same place | same figures "
        "| slowest file |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for package in options.packages or PACKAGES:
        try:
            sources = [source for source in PACKAGES[package]() if options.only in source.name][
                : options.limit
            ]
        except Unavailable as error:
            sys.exit(f"{package}: {error}")
        total, below, refused, files = Measured(package), [], 0, 0
        for source in sources:
            measured = measure(source, workspace)
            if measured is None:
                refused += 1
                continue
            files += 1
            total += measured
            if not measured.agrees:
                below.append(measured)
            if options.failures:
                for failure in measured.failures[:20]:
                    print(f"    {source.name}:{failure}", file=sys.stderr)
        share = total.encoded / max(total.lines, 1)
        print(
            f"| {package} | {files} | {total.lines:,} | {share:.2%} | {total.loops:,} | {total.found:,} "
            f"| {total.same:,} | {total.placed:,} | {total.equal:,} | {total.seconds:.2f} s |",
            flush=True,
        )
        for one in below:
            print(
                f"    {one.name}: {one.encoded} of {one.lines} lines, {one.equal} of {one.loops} loops, "
                f"{one.found} found",
                file=sys.stderr,
            )
        if refused:
            print(f"    {refused} files are refused by their own assembler", file=sys.stderr)


if __name__ == "__main__":
    main()
