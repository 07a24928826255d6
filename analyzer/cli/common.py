"""Shared by the subcommands: reading options, and running the analysis they describe."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from cyclelens.analyzer.cli.argument_types import (
    alignment,
    data_place,
    machine_file,
    microarchitectures,
    shares,
    working_set,
)
from cyclelens.analyzer.common.input_error import InputError
from cyclelens.analyzer.common.usage import OK, PROBLEMS, group
from cyclelens.analyzer.engine.files import analyze_bytes, beside, read_bytes
from cyclelens.analyzer.frontend.assemblers.assembler_client import shared_client
from cyclelens.analyzer.frontend.objects.formats import is_object
from msgspec.structs import replace

if TYPE_CHECKING:
    from typing import Any

    from cyclelens.analyzer.insight.whatif import Experiment
    from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, Target
    from cyclelens.analyzer.model.machine_file import MachineFile
    from cyclelens.analyzer.model.result import Analysis, Prediction, RegionAnalysis

CODE, RUN = "the code", "the processor and how the code runs"
MORE_CODE, MORE_RUN = "more about the code", "more about how it runs"
"""Groups of options in the help; ``--help-all`` shows the second ones."""


def add_analysis_arguments(
    parser: argparse.ArgumentParser, *, several: bool = False, objects: bool = True
) -> None:
    """Add the arguments for the input and the target: ``several`` files or one; ``objects``: accept ELF
    files, too."""
    if not objects:
        parser.add_argument("file", metavar="FILE", help="assembly file, - for standard input")
    elif several:
        parser.add_argument("files", metavar="FILE", nargs="+", help="assembly files or object files")
    else:
        parser.add_argument(
            "file",
            metavar="FILE",
            help="assembly file or object file (ELF, also COFF and Mach-O .o), - for standard input",
        )
    code = group(parser, CODE)
    code.add_argument(
        "--function",
        metavar="NAME",
        help="the function to analyse, by its label or symbol"
        + (", in object files also by an address (0x1139); default: all" if objects else "; default: all"),
    )
    code.add_argument("--region", metavar="NAME", help="analyse only the region of this name")
    add_settings(code, "includePaths")
    add_target_arguments(parser)
    more = group(parser, MORE_CODE, rare=True)
    add_settings(more, "syntax", "regions")
    more.add_argument(
        "--no-external-programs",
        action="store_true",
        help="never run an assembler or C compiler of this machine",
    )
    add_settings(more, "assembler", "defines", "preIncludes")


def add_settings(parser: argparse.ArgumentParser | argparse._ArgumentGroup, *names: str) -> None:
    """Add the options for these analysis settings."""
    from cyclelens.analyzer.engine.settings import ANALYSIS, OF_REGIONS

    known = {setting.name: setting for setting in (*ANALYSIS, *OF_REGIONS)}
    for name in names:
        setting = known[name]
        told: dict[str, Any] = {"help": setting.help or setting.doc}
        if setting.metavar:
            told["metavar"] = setting.metavar
        if setting.type == "choice":
            told["choices"] = [str(choice) for choice in setting.choices]
            if setting.former:
                told["type"] = setting.of_today
        elif setting.type == "names":
            told["type"] = microarchitectures
        elif setting.type == "integer":
            told["type"] = alignment
        elif name in ("data", "workingSet"):
            # argparse would check a default that is a string.
            told |= {"type": data_place if name == "data" else working_set, "default": None}
        elif name == "machineFile":
            told |= {"type": machine_file, "default": None}
        else:
            told |= {"action": "append", "default": []}
        if name in ("taken", "mispredicted"):
            told["type"] = shares
        parser.add_argument(setting.option, dest=name, **told)


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for how the code runs."""
    from cyclelens.analyzer.evaluation.arguments import add_resources_argument

    add_settings(group(parser, RUN), "microarchitectures", "mode")
    more = group(parser, MORE_RUN, rare=True)
    add_settings(more, "alignment", "model")
    add_resources_argument(more)
    add_settings(more, "taken", "mispredicted", "machineFile")


def default_others(parser: argparse.ArgumentParser) -> None:
    """Give the arguments of ``add_analysis_arguments`` that a parser does not offer their defaults, so that
    ``analysis_options`` takes what it parses."""
    everything = argparse.ArgumentParser(add_help=False)
    add_analysis_arguments(everything)
    offered = {action.dest for action in parser._actions}
    defaults = vars(everything.parse_args(["-"]))
    parser.set_defaults(**{name: value for name, value in defaults.items() if name not in offered})


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the data are: by level or pointer, or by their size."""
    add_settings(group(parser, RUN).add_mutually_exclusive_group(), "data", "workingSet")


def add_profile_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a recorded profile, for commands that show its effect on the figures."""
    group(parser, RUN).add_argument(
        "--profile",
        metavar="FILE",
        help="output of perf script (also -F brstacksym) or perf annotate --stdio for a run: how often "
        "branches are taken, and which loop matters",
    )


def analyze_file(options: argparse.Namespace) -> Analysis:
    """Run the analysis that the arguments of ``add_analysis_arguments`` describe. Raises InputError if it is
    impossible."""
    from cyclelens.analyzer.model.analysis_options import Detail

    data = read_bytes(options.file)
    return analyze_data(data, options, Detail(prices=True))


def analyze_data(data: bytes, options: argparse.Namespace, detail: Detail) -> Analysis:
    """The same for a file's content, in as much ``detail`` as wanted."""
    if not is_object(data):
        # Keystone's process takes as long to start as the modules below to load.
        shared_client().start()
    from cyclelens.analyzer.engine.analysis import Analyzer
    from cyclelens.analyzer.facts.store import TablesUnavailable

    chosen = analysis_options(options, detail)
    try:
        if not sys.stderr.isatty():
            return analyze_bytes(Analyzer(), data, options.file, chosen, options.function)
        from cyclelens.analyzer.cli.waiting import Waiting

        with Waiting() as waiting:
            return analyze_bytes(Analyzer(), data, options.file, chosen, options.function, waiting)
    except TablesUnavailable as error:
        raise InputError(error) from None


def nothing(analysis: Analysis, file: str) -> InputError:
    """An error that says why a command has nothing to do."""
    from cyclelens.analyzer.insight import wording
    from cyclelens.analyzer.model.source import Severity

    errors = [problem for problem in analysis.problems if problem.severity is Severity.ERROR]
    return InputError(
        "; ".join(f"{wording.problem_place(problem, file)}: {problem.message}" for problem in errors)
    )


def warn(analysis: Analysis, file: str) -> None:
    """Write the errors and warnings of an analysis to standard error, for a command whose output is about
    something else."""
    from cyclelens.analyzer.common.escaping import printable
    from cyclelens.analyzer.insight import wording
    from cyclelens.analyzer.model.source import Severity

    for problem in analysis.problems:
        if problem.severity is not Severity.INFORMATION:
            place = wording.problem_place(problem, file)
            print(printable(f"{place}: {problem.severity}: {problem.message}"), file=sys.stderr)


def analysis_options(options: argparse.Namespace, detail: Detail | None = None) -> AnalysisOptions:
    """The options of an analysis. Explicit arguments override a marker's options, and those the project's
    file. Raises InputError."""
    from cyclelens.analyzer.engine.settings import forced, to_options
    from cyclelens.analyzer.evaluation.arguments import ablations, resources_option
    from cyclelens.analyzer.microarchitectures.registry import UnknownMicroarchitecture
    from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail
    from cyclelens.analyzer.model.options import ModelOptions
    from cyclelens.analyzer.model.source import Origin

    file = getattr(options, "file", "-")
    project = _project(file)

    # A link named on the command line may lead anywhere; one in a project's file must stay in the project.
    folders = tuple(os.path.realpath(folder) for folder in options.includePaths)
    before = tuple(_pre_include(name, folders) for name in options.preIncludes)
    origin = Origin(
        include_paths=(*folders, *project["includePaths"]),
        defines=(*project["defines"], *options.defines),
        pre_includes=(*project["preIncludes"], *before),
    )
    if file != "-":
        origin = beside(origin, file)
    given = {name: value for name in project if (value := getattr(options, name)) is not None}
    try:
        chosen = to_options({**project, **given})
    except UnknownMicroarchitecture as error:
        raise InputError(error) from None
    if chosen.target.by_default:
        _say_default(options, chosen.target)
    parts = ablations(options) if hasattr(options, "no_micro_fusion") else {}
    try:
        model = ModelOptions(model=chosen.target.model.model, resources=resources_option(options), **parts)
    except ValueError as error:
        raise InputError(error) from None
    return AnalysisOptions(
        replace(
            chosen.source,
            region=options.region,
            profile=getattr(options, "profile", None) or "",
            allow_external_programs=not options.no_external_programs,
            origin=origin,
        ),
        replace(
            chosen.target,
            model=model,
            taken=tuple(options.taken),
            mispredicted=tuple(options.mispredicted),
            data=getattr(options, "data", None) or getattr(options, "workingSet", None) or "",
            machine=_machine(options, project["machineFile"]),
            forced=forced(given),
        ),
        detail or Detail(),
    )


def _machine(options: argparse.Namespace, of_project: str) -> MachineFile | None:
    """What the option's file says of this machine, else the project's, else the environment's. Raises
    InputError."""
    from pathlib import Path

    from cyclelens.analyzer.microarchitectures.machine_file import MachineFileError, of_environment, read

    if options.machineFile is not None:
        machine: MachineFile = options.machineFile
        return machine
    try:
        return read(Path(of_project)) if of_project else of_environment()
    except MachineFileError as error:
        raise InputError(error) from None


def _say_default(options: argparse.Namespace, chosen: Target) -> None:
    """Print a note, once, about the default core, unless the output names it, and about doubts on the
    detected processor."""
    from cyclelens.analyzer.microarchitectures import registry

    if getattr(options, "core_is_said", False):
        return
    options.core_is_said = True
    name = chosen.microarchitectures[0]
    if not registry.default().is_simulated or registry.native_doubt():
        print(f"note: this machine's processor is {registry.own_name()}", file=sys.stderr)
    if not getattr(options, "core_in_report", False):
        title = registry.get(name).title
        note = f"note: the core is {name} ({chosen.by_default}, {title}); --arch names another"
        print(note, file=sys.stderr)


def _project(file: str) -> Mapping[str, Any]:
    """All analysis settings: the values of the project's file, or the defaults. The file is searched for from
    the folder of ``file`` (for standard input, the current one) up to the top of its repository or to the
    current folder. Raises InputError."""
    from cyclelens.analyzer.engine.project import ProjectError, find, read, repository
    from cyclelens.analyzer.engine.settings import ANALYSIS

    here = os.getcwd()
    path = os.path.abspath(os.path.join(here, "standard input" if file == "-" else file))
    folder = os.path.dirname(path)
    values = {setting.name: setting.default for setting in ANALYSIS}
    try:
        found = find(folder, {here, repository(folder) or folder})
        return values if found is None else {**values, **read(found).settings_for(path)}
    except ProjectError as error:
        raise InputError(error) from None


def _pre_include(name: str, folders: Iterable[str]) -> str:
    for folder in (os.getcwd(), *folders):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise InputError(f"{name} is neither in the current folder nor in a folder of -I")


def report_each(
    options: argparse.Namespace,
    report: Callable[[RegionAnalysis, Prediction, Experiment], Iterable[str]],
    *,
    settled: bool = False,
    exact: bool = False,
) -> int:
    """Print a report on every prediction of the file, made with an experiment for it (``settled``: see
    ``Experiment``); returns the exit code. ``exact``: a lower bound gets a reason in place of a report.
    Raises InputError."""
    from cyclelens.analyzer.comparisons.sensitivity import incomparable
    from cyclelens.analyzer.facts.store import open_store
    from cyclelens.analyzer.insight import absence
    from cyclelens.analyzer.insight.capacities import ChangeError
    from cyclelens.analyzer.insight.confidence import has_unknown_costs
    from cyclelens.analyzer.insight.whatif import Experiment
    from cyclelens.analyzer.model.choices import Mode

    analysis = analyze_file(options)
    if not analysis.regions:
        raise nothing(analysis, options.file)
    warn(analysis, options.file)
    model = analysis_options(options).target.model
    store = open_store()
    code = OK
    for region in analysis.regions:
        if not region.predictions:
            print(f"== {title_of(region)} ==\n   No prediction: {region.note}")
            code = PROBLEMS
        elif region.missing:
            print(f"== {title_of(region)} ==\n   No figure: {absence.sentence(region.missing)}")
            code = PROBLEMS
        for prediction in region.predictions:
            if exact and has_unknown_costs(prediction):
                print(f"== {title_of(region)} ==\n   {incomparable(prediction)}")
                code = PROBLEMS
                continue
            if prediction.mode is Mode.ONCE:
                raise InputError(f"{options.file}: changes are tried on repeated code; leave out --mode once")
            experiment = Experiment(
                prediction, store, latencies=region.latencies, options=model, settled=settled
            )
            try:
                for line in report(region, prediction, experiment):
                    print(line)
            except ChangeError as error:
                raise InputError(error) from None
    return code


def title_of(region: RegionAnalysis) -> str:
    """The name of a region, for a heading."""
    return region.region.name or "(unnamed)"


def is_clean(analysis: Analysis, *, left_out: bool = False) -> bool:
    """Whether every region has a prediction on every microarchitecture and the text has no warnings. Hazards
    are not problems: finding them is the program's purpose. ``left_out``: accept regions without a figure
    because an essential instruction has no record."""
    from cyclelens.analyzer.model.source import Severity

    if any(problem.severity is not Severity.INFORMATION for problem in analysis.problems):
        return False
    return bool(analysis.regions) and all(
        (region.predictions or region.missing)
        and all(left_out and missing.left_out for missing in region.missing)
        for region in analysis.regions
    )
