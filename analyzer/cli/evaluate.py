"""``cyclelens evaluate``: compares predictions with a file of figures, or traces with reference traces."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from cyclelens.analyzer.common.spread import spread
from cyclelens.analyzer.common.usage import WRONG_USAGE, Parser, output_path
from cyclelens.analyzer.corpora.formats import CorpusError
from cyclelens.analyzer.evaluation import report
from cyclelens.analyzer.evaluation.arguments import add_model_arguments, model_options
from cyclelens.analyzer.evaluation.datasets import (
    Sample,
    Selection,
    holds_model_figures,
    read_kernels,
    read_samples,
)
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.evaluation.filters import FILTERS, left_out
from cyclelens.analyzer.evaluation.heatmap import check_possible, write_heatmap
from cyclelens.analyzer.evaluation.kernels import TRACE_ROUNDS, compare_kernels
from cyclelens.analyzer.evaluation.predictions import (
    Cache,
    PredictionResult,
    default_jobs,
    predict_all,
    read_predictions,
)
from cyclelens.analyzer.evaluation.summary import evaluate
from cyclelens.analyzer.facts.store import TablesUnavailable
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.choices import Model, Repetition
from cyclelens.analyzer.model.options import ModelOptions
from msgspec.structs import replace

_PROBLEMS, _INTERRUPTED = 1, 130


def main(argv: Sequence[str]) -> int:
    """Run the command. Returns the exit code: 0 done, 1 traces differ or a file cannot be used, 2 wrong
    usage, 130 interrupted."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        if arguments.model is None:
            arguments.model = _model_for(arguments)
        options = model_options(parser, arguments)
        if arguments.traces is not None:
            return _traces(arguments, options)
        return _figures(arguments, options)
    except registry.UnknownMicroarchitecture as error:
        _complain(str(error))
        return WRONG_USAGE
    except (DatasetError, CorpusError, TablesUnavailable, OSError) as error:
        _complain(str(error))
        return _PROBLEMS
    except KeyboardInterrupt:
        resume = "; the same command resumes from here" if arguments.resume else ""
        _complain(f"stopped{resume}")
        return _INTERRUPTED


def _model_for(arguments: argparse.Namespace) -> Model:
    """The default model: the kind that the figures to compare with come from."""
    modelled = arguments.against is None or holds_model_figures(arguments.against)
    return Model.UICA if modelled else Model.HARDWARE


def _complain(message: str) -> None:
    sys.stderr.write(f"cyclelens evaluate: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cyclelens evaluate",
        description="Compare predictions with measured or reference figures.",
    ).with_paths()
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--against", type=Path, metavar="FILE.csv", help="blocks with cycles per iteration")
    what.add_argument(
        "--traces",
        type=Path,
        metavar="DIR",
        help="folder with a reference trace for each microarchitecture (SKL.csv.xz ...)",
    )
    parser.add_argument("--arch", default="", metavar="A[,B...]", help="default: those of the file")
    parser.add_argument(
        "--mode", choices=[str(each) for each in Repetition], help="only this one (default: that of the file)"
    )
    parser.add_argument(
        "--kernels", type=Path, metavar="FILE.csv", help="bytes of the blocks that a file only names"
    )
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME", help="only this kernel")
    parser.add_argument(
        "--max-spread",
        type=_share,
        metavar="P%",
        help="omit figures whose repeated measurements differ by more",
    )
    parser.add_argument(
        "--max-pages", type=_count, metavar="N", help="omit blocks that touch more pages of memory"
    )
    parser.add_argument(
        "--leave-out",
        type=_filters,
        default=(),
        metavar="A[,B...]",
        help="omit blocks as uiCA's paper does: x87 (an unbalanced stack), cpuid, division, or all of them; "
        "--max-pages omits blocks that miss the TLB",
    )
    parser.add_argument(
        "--lowest",
        action="store_true",
        help="compare with the lowest of repeated measurements where the file has it (default: median)",
    )
    parser.add_argument(
        "--categories",
        choices=("fixed", "lda"),
        default="fixed",
        help="fixed: by the shares of the uops (default); lda: by topics of used ports, as in BHive's paper",
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="only N blocks, spread over the file")
    parser.add_argument("--jobs", type=_count, default=default_jobs(), metavar="N", help="processes to use")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--resume", type=output_path, metavar="FILE", help="keep finished predictions here")
    parser.add_argument(
        "--predictions",
        type=Path,
        metavar="FILE",
        help="compare the figures written by `cyclelens predict --output FILE` instead of simulating",
    )
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="how many of the worst to show")
    parser.add_argument(
        "--heatmap",
        type=output_path,
        metavar="FILE",
        help="draw predicted against true figures (.svg or .png)",
    )
    parser.add_argument(
        "--rounds", type=_count, default=TRACE_ROUNDS, metavar="N", help="rounds of the traces to compare"
    )
    add_model_arguments(parser, by_file=True)
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _share(text: str) -> float:
    number = float(text.removesuffix("%")) / 100
    if not number >= 0:
        raise argparse.ArgumentTypeError("must be a percentage")
    return number


def _filters(text: str) -> tuple[str, ...]:
    names = tuple(FILTERS) if text == "all" else tuple(text.split(","))
    for name in names:
        if name not in FILTERS:
            raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(FILTERS)}, all")
    return names


def _microarchitectures(text: str) -> tuple[str, ...]:
    return tuple(registry.get(name).name for name in text.split(",") if name.strip())


def _kernels_beside(path: Path, given: Path | None) -> Path | None:
    """The table of kernels: the given one, else ``kernels.csv`` in the same folder."""
    beside = path.parent / "kernels.csv"
    return given or (beside if beside.exists() else None)


def _figures(arguments: argparse.Namespace, options: ModelOptions) -> int:
    if arguments.heatmap is not None:
        check_possible(arguments.heatmap)
    kernels = _kernels_beside(arguments.against, arguments.kernels)
    names = {} if kernels is None else {name: code for name, (code, _) in read_kernels(kernels).items()}
    mode = arguments.mode and Repetition(arguments.mode)
    selection = Selection(
        _microarchitectures(arguments.arch),
        mode,
        names,
        arguments.max_spread,
        arguments.max_pages,
        arguments.lowest,
    )
    samples = read_samples(arguments.against, selection)
    if arguments.kernel:
        samples = [sample for sample in samples if sample.name in arguments.kernel]
    if arguments.leave_out:
        kept = [sample for sample in samples if not left_out(sample.code, arguments.leave_out)]
        _complain(f"{len(samples) - len(kept)} of {len(samples)} figures are left out by --leave-out")
        samples = kept
    samples = list(spread(samples, arguments.limit))
    if not samples:
        raise DatasetError(f"{arguments.against} has no figures for this selection")
    cache = Cache(arguments.resume, version("cyclelens"), options)
    if arguments.predictions is None:
        predict_all(samples, cache, jobs=arguments.jobs, progress=sys.stderr.isatty(), options=options)
    else:
        cache.results = read_predictions(arguments.predictions)
        known = [sample for sample in samples if sample.key in cache.results]
        if len(known) < len(samples):
            _complain(f"{len(samples) - len(known)} of {len(samples)} figures have no prediction in the file")
        samples = known
    pairs = [(sample, cache.results[sample.key]) for sample in samples]
    if arguments.categories == "lda":
        pairs = _with_topics(pairs)
    model = None if arguments.predictions else options.model
    evaluation = evaluate(str(arguments.against), pairs, worst=max(0, arguments.worst), model=model)
    text = report.as_text(evaluation) if arguments.format == "text" else report.as_json(evaluation) + "\n"
    sys.stdout.write(text)
    if arguments.heatmap is not None:
        drawn = [(result.cycles, sample.cycles) for sample, result in pairs if result.cycles is not None]
        write_heatmap(arguments.heatmap, drawn, f"{arguments.against.name}, {len(drawn)} blocks")
    return 0


def _with_topics(pairs: list[tuple[Sample, PredictionResult]]) -> list[tuple[Sample, PredictionResult]]:
    """The pairs with categories by LDA; those without a prediction keep none."""
    from cyclelens.analyzer.evaluation.topics import topics

    named = iter(topics([result.units for _, result in pairs if result.cycles is not None]))
    return [
        (sample, result if result.cycles is None else replace(result, category=next(named)))
        for sample, result in pairs
    ]


def _traces(arguments: argparse.Namespace, options: ModelOptions) -> int:
    kernels = _kernels_beside(arguments.traces, arguments.kernels)
    if kernels is None:
        raise DatasetError("the traces need their kernels: give the table with --kernels")
    differing = compared = 0
    for comparison in compare_kernels(
        arguments.traces,
        kernels,
        microarchitectures=_microarchitectures(arguments.arch),
        only=frozenset(arguments.kernel),
        rounds=arguments.rounds,
        options=options,
    ):
        compared += 1
        if comparison.finding:
            differing += 1
            where = f"{comparison.microarchitecture} {comparison.kernel}"
            sys.stdout.write(f"{where}: {comparison.finding}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{compared - differing} of {compared} traces agree\n")
    return _PROBLEMS if differing else 0
