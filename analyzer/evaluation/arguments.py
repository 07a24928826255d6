"""Command-line arguments that choose a variant of the model, shared by several commands."""

from __future__ import annotations

import argparse
from typing import Any

from cyclelens.analyzer.common.usage import group
from cyclelens.analyzer.model.choices import (
    FORMER_UICA,
    Binding,
    MeasuredIn,
    Model,
    MoveElimination,
    Pointers,
)
from cyclelens.analyzer.model.options import DEFAULT, ModelOptions


def add_model_arguments(parser: argparse.ArgumentParser, *, by_file: bool = False) -> None:
    """Add the arguments for the model, its assumptions, and its ablations.

    ``by_file``: the file of figures chooses the model if the user names none."""
    parser.add_argument(
        "--model",
        type=_of_today,
        choices=tuple(Model),
        default=None if by_file else DEFAULT.model,
        help="hardware: what real cores do; uica: as published; bounds: without simulation; baseline: "
        "instructions and memory accesses are counted, as in uiCA's paper (default: "
        + ("hardware, but uica against figures that a model gave)" if by_file else "hardware)"),
    )
    parser.add_argument(
        "--assume",
        choices=tuple(Pointers),
        default=DEFAULT.assume,
        help="which registers hold the same address at the start (default: none; stack: all but RSP and RBP; "
        "bhive: as in BHive's profiler, not with --model uica)",
    )
    parser.add_argument(
        "--harness",
        choices=tuple(MeasuredIn),
        default=DEFAULT.harness,
        help="method of the measurements to compare with, if it costs cycles itself; one-page: "
        "all pages of memory are one physical page, and the stack walks through them (ZEN5; default: none)",
    )
    add_resources_argument(parser)
    add_ablation_arguments(parser)


def add_ablation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that switch off a part of the model, and those for the length of a run."""
    parts = group(parser, "ablations", "the model without one of its parts", rare=True)
    parts.add_argument("--simple-front-end", action="store_true", help="a front end without limits")
    parts.add_argument("--no-micro-fusion", action="store_true")
    parts.add_argument("--no-macro-fusion", action="store_true")
    parts.add_argument("--no-lsd-unrolling", action="store_true")
    parts.add_argument("--move-elimination", choices=tuple(MoveElimination), default=DEFAULT.move_elimination)
    parts.add_argument("--random-ports", type=_number, metavar="SEED", help="bind uops to ports at random")
    parts.add_argument(
        "--binding",
        choices=tuple(Binding),
        default=DEFAULT.binding,
        help="bind uops to ports by the core's rule (default), or as UFS does: the least loaded port, the "
        "lowest number on a tie",
    )
    parts.add_argument(
        "--unfused-reorder-buffer",
        action="store_true",
        help="micro-fused uops take one entry of the reorder buffer for each of their uops, as UFS found on "
        "Sandy Bridge",
    )
    run = group(parser, "length of a run", "the second half of a run gives the figure", rare=True)
    for name, least in (("cycles", DEFAULT.min_cycles), ("iterations", DEFAULT.min_iterations)):
        run.add_argument(
            f"--min-{name}",
            type=_number,
            default=least,
            metavar="N",
            help=f"least {name} to simulate (default: {least}, as in uiCA)",
        )


def ablations(arguments: argparse.Namespace) -> dict[str, Any]:
    """The choices of ``add_ablation_arguments`` as fields of ``ModelOptions``."""
    return {
        "simple_front_end": arguments.simple_front_end,
        "micro_fusion": not arguments.no_micro_fusion,
        "macro_fusion": not arguments.no_macro_fusion,
        "unfused_reorder_buffer": arguments.unfused_reorder_buffer,
        "lsd_unrolling": not arguments.no_lsd_unrolling,
        "move_elimination": MoveElimination(arguments.move_elimination),
        "port_seed": arguments.random_ports,
        "binding": Binding(arguments.binding),
        "min_cycles": arguments.min_cycles,
        "min_iterations": arguments.min_iterations,
    }


def add_resources_argument(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add ``--resources``: whether buffers and register files besides ROB and RS are limited."""
    parser.add_argument(
        "--resources",
        choices=("on", "off"),
        help="whether load, store and branch buffers and register files are limited too (default: on, but "
        "off with --model uica: the published model knows no such limits)",
    )


def resources_option(arguments: argparse.Namespace) -> bool | None:
    """The choice of ``--resources`` as a ``ModelOptions`` value."""
    return None if arguments.resources is None else arguments.resources == "on"


def _of_today(model: str) -> str:
    return Model.UICA if model == FORMER_UICA else model


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def model_options(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> ModelOptions:
    """Model options from parsed arguments; ends the program with a usage error if they conflict."""
    try:
        return ModelOptions(
            model=Model(arguments.model),
            assume=Pointers(arguments.assume),
            harness=MeasuredIn(arguments.harness),
            resources=resources_option(arguments),
            **ablations(arguments),
        )
    except ValueError as error:
        parser.error(str(error))
