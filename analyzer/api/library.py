"""The functions of the library. Any thread may call them, but one call runs at a time, because the caches are
shared. Processes run in parallel
(``predict_batch(..., jobs=2)``).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, overload

from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.engine.analysis import Analyzer
from cyclelens.analyzer.engine.files import analyze_bytes, beside, read_bytes
from cyclelens.analyzer.engine.plans import ALIGNMENTS
from cyclelens.analyzer.engine.prediction import Predictor, Task, predict_many
from cyclelens.analyzer.engine.shared import shared_workspace
from cyclelens.analyzer.engine.workspace import Workspace
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, SourceOptions, Target
from cyclelens.analyzer.model.choices import Clocks, Mode, Model, Pages, Pointers, Regions, Repetition, Syntax
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.source import NOWHERE
from cyclelens.results import Measurement, Measurements, Prediction, Predictions, Report
from msgspec.structs import replace

if TYPE_CHECKING:
    from cyclelens.analyzer.measuring.harness import Harness
    from cyclelens.analyzer.measuring.region import Comparison
    from cyclelens.analyzer.model.microarchitecture import Microarchitecture
    from cyclelens.analyzer.model.result import Analysis

Code = bytes | bytearray | memoryview | str
"""Machine code; a string is hexadecimal."""
Source = str | os.PathLike[str]
"""The text of an assembly file, or the path of an assembly or ELF file."""

MODES = (Mode.UNROLL, Mode.LOOP)
_BATCH = 512


def predict(
    code: Code,
    *,
    arch: str | None = None,
    mode: str = "unroll",
    alignment: int = 0,
    copies: int | None = 1,
    model: str = "hardware",
) -> Prediction:
    """Cycles per iteration of one block of machine code (bytes, or text in hexadecimal).

    ``arch``: a core of ``cyclelens arch list``, or ``native``; None: that of this machine, or SKL with a
    warning if it is not simulated. ``mode``: ``unroll`` repeats the block end to end; ``loop`` puts
    ``copies`` of it (None: enough to hide the loop's overhead) into a loop with a counter, and the figure is
    that of one copy. ``alignment``: offset of the first byte within a 64-byte line. ``model``: ``hardware``
    (real cores), ``uica`` (as published) or ``bounds`` (no simulation).

    An unpredictable block gives a result without a figure, whose ``problem`` says why. Raises ValueError for
    an argument that is not one of the allowed values, TypeError for code of another type, and
    ``TablesUnavailable`` if the instruction tables cannot be read.

    >>> predict("4801c0", arch="SKL").cycles_per_iteration
    1.0
    >>> predict(b"\\x06").problem
    'no valid instruction at byte 0'
    """
    return predict_batch([code], arch=arch, mode=mode, alignment=alignment, copies=copies, model=model)[0]


def predict_batch(
    blocks: Iterable[Code],
    *,
    arch: str | None = None,
    mode: str = "unroll",
    alignment: int = 0,
    copies: int | None = 1,
    model: str = "hardware",
    jobs: int = 1,
) -> Predictions:
    """``predict`` for many blocks; results are in the same order. Much faster than block by block.

    ``jobs``: number of processes. With more than one, the calling program needs ``if __name__ ==
    "__main__":`` where Python's ``multiprocessing`` does. Raises the same errors as ``predict``.

    >>> figures = predict_batch(["4801c0", "90"], arch="SKL")
    >>> [each.cycles_per_iteration for each in figures]
    [1.0, 0.25]
    """
    name = _core(arch)
    _one_of("mode", mode, MODES)
    if alignment not in ALIGNMENTS:
        raise ValueError(f"alignment {alignment!r} is not within 0 and {ALIGNMENTS[-1]}")
    if copies is not None and (copies < 1 or (copies > 1 and mode != "loop")):
        raise ValueError(f"copies={copies!r}: must be at least 1, and more than 1 needs mode='loop'")
    if jobs < 1:
        raise ValueError(f"jobs={jobs!r}: at least 1 is needed")
    options = ModelOptions(model=_model(model))
    batches = _batches(blocks)
    figures: list[Prediction] = []
    waiting: list[str] = []

    def given() -> Iterator[list[str]]:
        for batch in batches:
            waiting.extend(batch)
            yield batch

    with shared_workspace() as workspace:
        results = predict_many(
            given(),
            Task(name, Mode(mode), alignment, options, copies),
            jobs=jobs,
            predictor=Predictor(workspace),
        )
        for number, found in enumerate(results):
            code = _bytes(waiting[number])
            figures.append(
                Prediction(code, name, mode, found.cycles_per_iteration, found.problem, found.least)
            )
    return Predictions(figures)


def analyze(
    source: Source,
    *,
    arch: str | Sequence[str] | None = None,
    mode: str | None = None,
    alignment: int | None = None,
    regions: str = "auto",
    region: str | None = None,
    function: str | None = None,
    syntax: str = "auto",
    model: str = "hardware",
    external_programs: bool = True,
) -> Report:
    """The analysis of all regions of an assembly text (``str``) or of a file (``pathlib.Path``: assembly, or
    an ELF object, program or library).

    ``arch``: one core or several, instead of those that markers name (where neither does, as in
    ``predict``). ``mode``: ``auto``, ``loop``, ``unroll`` or ``once``. ``alignment``: offset of every region
    within a 64-byte line, instead of where the text puts it. ``regions``: ``auto``, ``markers``, ``loops`` or
    ``both``; ``region``: only the one of this name. ``function``: only this one, by its label or symbol, in
    an ELF file also by an address. ``syntax``: ``auto``, ``att`` or ``intel``.
    ``external_programs``: whether the machine's assemblers and C preprocessor may be run.

    Errors in the text become ``problems`` of the report. Raises ValueError for an argument that is not one of
    the allowed values and for an unsupported file, OSError if the file cannot be opened, and
    ``TablesUnavailable``.

    >>> report = analyze("# cyclelens-begin sum\\n add %rax, %rbx\\n add %rbx, %rax\\n# cyclelens-end\\n")
    >>> report.region("sum").cycles_per_iteration
    2.0
    """
    _one_of("syntax", syntax, tuple(Syntax))
    _one_of("mode", mode or "auto", tuple(Mode))
    _one_of("regions", regions, tuple(Regions))
    forced = {"arch": arch, "mode": mode, "alignment": alignment, "align": alignment}
    options = AnalysisOptions(
        SourceOptions(
            syntax=Syntax(syntax),
            regions=Regions(regions),
            region=region,
            function=function,
            allow_external_programs=external_programs,
        ),
        Target(
            microarchitectures=_cores(arch),
            by_default=registry.default().reason if arch is None else "",
            mode=Mode(mode or "auto"),
            alignment=alignment,
            model=ModelOptions(model=_model(model)),
            forced=frozenset(name for name, value in forced.items() if value is not None),
        ),
    )
    with shared_workspace() as workspace:
        analysis = _analysis(Analyzer(workspace), source, options)
        # Imported here and below: batches of machine code need only the simulator and start faster.
        from cyclelens.analyzer.reports.json import document

        return Report.of(document(analysis, "" if isinstance(source, str) else os.fspath(source)))


@overload
def measure(
    source: bytes | bytearray | memoryview,
    *,
    arch: str = ...,
    mode: str = ...,
    clock: str = ...,
    pages: str = ...,
    runs: int = ...,
) -> Measurement: ...


@overload
def measure(
    source: Source,
    *,
    arch: str = ...,
    region: str | None = ...,
    function: str | None = ...,
    regions: str = ...,
    inputs: Mapping[str, int] | None = ...,
    clock: str = ...,
    pages: str = ...,
    runs: int = ...,
) -> Measurements: ...


def measure(
    source: bytes | bytearray | memoryview | Source,
    *,
    arch: str = "native",
    mode: str = "unroll",
    region: str | None = None,
    function: str | None = None,
    regions: str = "auto",
    inputs: Mapping[str, int] | None = None,
    clock: str = "auto",
    pages: str = "private",
    runs: int = 3,
) -> Measurement | Measurements:
    """Measure code on this machine, in a sandbox, and compare it with the prediction for ``arch``: a block of
    machine code (``bytes``; ``mode`` is ``unroll``, ``loop`` or ``copies``), or the regions of a text or
    file, as in ``analyze``.

    ``inputs``: registers and memory at the start, ``{"rsi": 0x10000, "[0x10008]": 7}``. ``clock``: ``auto``,
    ``counters`` or ``time-stamps``. ``pages``: ``private`` or ``shared``. ``runs``: processes per figure.

    **This runs the code.** docs/measuring.md says what the sandbox prevents. Raises ``CannotMeasure`` if this
    machine cannot measure, ValueError and OSError as ``analyze``.
    """
    from cyclelens.analyzer.measuring.harness import Harness

    _one_of("clock", clock, tuple(Clocks))
    _one_of("pages", pages, tuple(Pages))
    if runs < 1:
        raise ValueError(f"runs={runs!r}: at least 1 is needed")
    model = registry.native() if registry.is_native(arch) else registry.get(arch)
    with shared_workspace() as workspace, Harness(clock=Clocks(clock), pages=Pages(pages)) as harness:
        if not isinstance(source, (str, os.PathLike)):
            return _measured_block(workspace, harness, bytes(source), model, mode, runs)

        from cyclelens.analyzer.measuring.inputs import with_pairs
        from cyclelens.analyzer.measuring.predicted import compare
        from cyclelens.analyzer.measuring.requests import DISTINCT

        given = with_pairs(DISTINCT, ((name, "=", str(value)) for name, value in (inputs or {}).items()))
        _one_of("regions", regions, tuple(Regions))
        core = None if model is None else model.name
        options = AnalysisOptions(
            SourceOptions(regions=Regions(regions), region=region, function=function),
            Target(_cores(core), forced=frozenset() if core is None else frozenset({"arch"})),
        )
        analysis = _analysis(Analyzer(workspace), source, options)
        found = (
            (each.region.name, compare(harness, each, model, inputs=given, runs=runs))
            for each in analysis.regions
        )
        return Measurements(
            _measurement(name, each, core or "", harness.clock.source) for name, each in found
        )


# ---------------------------------------------------------------------------------------------------------
# Arguments


def _one_of(name: str, value: object, known: Collection[str]) -> None:
    if value not in known:
        raise ValueError(f"unknown {name} {value!r}; known are {', '.join(known)}")


def _model(name: str) -> Model:
    """The model with this present or former name. Raises ValueError."""
    try:
        return Model(name)
    except ValueError:
        raise ValueError(f"unknown model {name!r}; known are {', '.join(Model)}") from None


def _core(name: str | None) -> str:
    """The canonical name of a core. Raises UnknownMicroarchitecture, a ValueError that lists the names."""
    return _default()[0] if name is None else registry.get(name).name


def _default() -> tuple[str, ...]:
    """The default cores. Warns if this machine is not simulated; Python shows the warning once per calling
    line."""
    found = registry.default()
    if not found.is_simulated:
        warnings.warn(
            f"this machine's processor is not simulated ({registry.own_name()}): the figures are those of "
            f"{found.names[0]}; arch names another core",
            stacklevel=4,
        )
    return found.names


def _batches(blocks: Iterable[Code]) -> Iterator[list[str]]:
    if isinstance(blocks, (str, bytes, bytearray, memoryview)):
        raise TypeError("blocks must be several: put a single one into a list, or call predict")
    remaining = iter(blocks)
    while batch := [_hexadecimal(block) for block in islice(remaining, _BATCH)]:
        yield batch


def _hexadecimal(code: Code) -> str:
    if isinstance(code, str):
        return code
    if isinstance(code, (bytes, bytearray, memoryview)):
        return bytes(code).hex()
    raise TypeError(f"machine code must be bytes or text in hexadecimal, not {type(code).__name__}")


def _bytes(hexadecimal: str) -> bytes:
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return b""


def _cores(arch: str | Sequence[str] | None) -> tuple[str, ...]:
    """The canonical names of the cores; None: those of ``_default``, for regions whose markers name none.
    Raises the same errors as ``_core``."""
    if arch is None:
        return _default()
    return tuple(_core(name) for name in ((arch,) if isinstance(arch, str) else arch))


def _analysis(analyzer: Analyzer, source: Source, options: AnalysisOptions) -> Analysis:
    if not isinstance(source, str):
        origin = beside(NOWHERE, os.fspath(source))
        options = replace(options, source=replace(options.source, origin=origin))
    try:
        if not isinstance(source, str):
            os.stat(source)  # raises OSError like Python's own functions
            return analyze_bytes(
                analyzer, read_bytes(os.fspath(source)), os.fspath(source), options, options.source.function
            )
        if "\n" not in source and os.path.isfile(source):
            raise ValueError(f"'{source}' is the name of a file: pass pathlib.Path('{source}'), or its text")
        return analyze_bytes(analyzer, source.encode(), "the text", options, options.source.function)
    except InputError as error:
        raise ValueError(str(error)) from None


def _measured_block(
    workspace: Workspace, harness: Harness, code: bytes, model: Microarchitecture | None, mode: str, runs: int
) -> Measurement:
    from cyclelens.analyzer.measuring.blocks import measure_block
    from cyclelens.analyzer.measuring.region import Comparison

    _one_of("mode", mode, tuple(Repetition))
    repeated = Repetition(mode)
    found = measure_block(harness, code.hex(), repeated, runs)
    predicted = None
    if model is not None:
        copies = None if repeated is Repetition.COPIES else 1
        kind = Mode.UNROLL if repeated is Repetition.UNROLL else Mode.LOOP
        options = ModelOptions(assume=Pointers.SAME)
        predicted = (
            Predictor(workspace)
            .predict_batch([code], model.name, kind, 0, options, copies)[0]
            .cycles_per_iteration
        )
    return Measurement(
        name="",
        cycles_per_iteration=found.cycles,
        spread=found.spread,
        predicted=predicted,
        arch="" if model is None else model.name,
        clock=harness.clock.source,
        agrees=Comparison(predicted, found, code).agrees,
        problem=found.problem,
        steady_states=tuple((state.cycles, state.share) for state in found.states),
    )


def _measurement(name: str, found: Comparison, arch: str, clock: str) -> Measurement:
    return Measurement(
        name=name,
        cycles_per_iteration=found.measured.cycles,
        spread=found.measured.spread,
        predicted=found.predicted,
        arch=arch,
        clock=clock,
        agrees=found.agrees,
        causes=found.causes,
        problem=found.measured.problem,
        steady_states=tuple((state.cycles, state.share) for state in found.measured.states),
    )
