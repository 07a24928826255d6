"""Settings of an analysis: names, types, defaults and checks, shared by all ways to set them.

Each row defines the editors' setting (``cyclelens.server.settings`` adds the editors' own), the setting of a
project's file (``cyclelens.analyzer.engine.project``), the command-line option, the key of a marker with its
completion, and the line of the documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cyclelens.analyzer.common.regular_files import is_plain
from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.registry import NATIVE, UnknownMicroarchitecture
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions, Target
from cyclelens.analyzer.model.choices import FORMER_UICA, Assembler, Mode, Model, Regions, Syntax
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.source import LINE_BYTES
from msgspec import Struct

Part = type[SourceOptions | Target | Detail]

NO_FORMER_NAMES: Mapping[str, str] = MappingProxyType({})


class Setting(Struct, frozen=True):
    """One setting as users see it."""

    name: str
    """Dots denote nesting: ``hints.ports``."""
    type: str
    """``names`` (of microarchitectures), ``texts``, ``choice``, ``integer``, ``boolean`` or ``text``."""
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    meanings: tuple[str, ...] = ()
    """Meaning of each choice, in the order of ``choices``."""
    former: Mapping[str, str] = NO_FORMER_NAMES
    """Former names of choices, which are still accepted -> present names."""
    option: str = ""
    """Command-line option; empty for settings of editors only."""
    metavar: str = ""
    help: str = ""
    """Help of the command line, if it differs from ``doc``."""
    markers: tuple[str, ...] = ()
    """Keys of a marker that set this for one region."""
    examples: tuple[str, ...] = ()
    """Values that editors offer for such a key, if there are no ``choices``."""
    part: Part | None = None
    """The part of an analysis's options that it sets; None: it is about a display or a measurement, or names
    a file whose content the caller passes."""

    def offered(self) -> tuple[str, ...]:
        """Values to complete in a marker; the default is omitted."""
        if self.type == "names":
            return (*registry.names(), registry.NATIVE)
        return self.examples or tuple(choice for choice in self.choices if choice != self.default)

    def of_today(self, choice: str) -> str:
        """The present name of a choice."""
        return self.former.get(choice, choice)


BY_DEFAULT = (registry.NATIVE,)
"""The default cores (``registry.default``)."""

ANALYSIS: tuple[Setting, ...] = (
    Setting(
        "microarchitectures",
        "names",
        BY_DEFAULT,
        "Microarchitectures to analyse for; native is that of this machine. The text shows the first one, "
        "hovers show all.",
        option="--arch",
        metavar="SKL[,HSW...]",
        help="microarchitectures, instead of those that markers name (default: native, that of this machine; "
        "see: cyclelens arch list)",
        markers=("arch",),
        part=Target,
    ),
    Setting(
        "syntax",
        "choice",
        Syntax.AUTO,
        "Assembly dialect; auto detects it from the text and obeys .intel_syntax and .att_syntax.",
        choices=tuple(Syntax),
        meanings=("Detected from the text and its directives", "AT&T: add %rax, %rbx", "Intel: add rbx, rax"),
        option="--syntax",
        help="assembly dialect; auto finds it from the text and obeys .intel_syntax and .att_syntax",
        part=SourceOptions,
    ),
    Setting(
        "mode",
        "choice",
        Mode.AUTO,
        "Whether a region is a loop, is repeated end to end, or runs once from an empty pipeline; auto "
        "treats a region that jumps back to its start as a loop.",
        choices=tuple(Mode),
        meanings=(
            "A loop if it jumps back to its start",
            "Always a loop",
            "Always repeated end to end",
            "One pass from an empty pipeline to its retirement",
        ),
        option="--mode",
        help="auto: a region that ends in a jump to its start is a loop, any other is unrolled; once: one "
        "pass from an empty pipeline",
        markers=("mode",),
        part=Target,
    ),
    Setting(
        "alignment",
        "integer",
        None,
        "Where every region starts within a 64-byte cache line, in bytes; null: at its offset in the text.",
        maximum=LINE_BYTES - 1,
        option="--alignment",
        metavar="N",
        help="offset of the region's first byte within a 64-byte line (default: where the file puts it)",
        markers=("alignment", "align"),
        examples=("0", "16", "32", "48"),
        part=Target,
    ),
    Setting(
        "regions",
        "choice",
        Regions.AUTO,
        "What to analyse: auto selects the marked regions, or the innermost loops of a file without markers "
        "(its functions if it has no loop); "
        "markers selects only marked regions, loops all loops, both the marked regions and the other loops.",
        choices=tuple(Regions),
        option="--regions",
        help="what to analyse: marked regions, loops, both, or (auto, the default) the innermost loops of a "
        "file without markers",
        meanings=(
            "Marked regions; without any the innermost loops, or the functions of a file without loops",
            "Marked regions only",
            "All innermost loops",
            "Marked regions and the other innermost loops",
        ),
        part=SourceOptions,
    ),
    Setting(
        "model",
        "choice",
        Model.HARDWARE,
        "Simulate real cores, as far as known, or the published model of the pipeline, for comparison.",
        choices=(Model.HARDWARE, Model.UICA),
        option="--model",
        help="hardware: what real cores do (default); uica: the published model, without its failed store "
        "forwarding and limited buffers",
        meanings=(
            "With rules for stores that are not forwarded, and limited buffers and register files",
            "The published model (uiCA)",
        ),
        former={FORMER_UICA: Model.UICA},
        part=Target,
    ),
    Setting(
        "assembler",
        "choice",
        Assembler.AUTO,
        "gas and nasm pass the whole file to GNU as or NASM; auto does so only for NASM files with macros.",
        choices=tuple(Assembler),
        option="--assembler",
        help="gas, nasm: pass the whole file to GNU as or NASM; auto: only NASM files with macros (default)",
        meanings=(
            "Cyclelens itself; NASM for NASM files with macros",
            "GNU as assembles the whole file",
            "NASM assembles the whole file",
        ),
        part=SourceOptions,
    ),
    Setting(
        "includePaths",
        "texts",
        (),
        "Folders to search for included files besides the file's own and the workspace's; relative ones "
        "refer to the workspace. No other files are read.",
        option="-I",
        metavar="FOLDER",
        help="look for included files there, too: others are read only beside the text and below the current "
        "folder",
        part=SourceOptions,
    ),
    Setting(
        "defines",
        "texts",
        (),
        "NAME or NAME=VALUE for the C preprocessor and NASM.",
        option="-D",
        metavar="NAME[=VALUE]",
        help="define a name for the C preprocessor or NASM",
        part=SourceOptions,
    ),
    Setting(
        "preIncludes",
        "texts",
        (),
        "Files that the C preprocessor (-include) and NASM (-P) read before the text, such as a "
        "configuration; relative ones are searched for in the workspace's folders and in includePaths.",
        option="-P",
        metavar="FILE",
        help="let the C preprocessor (-include) or NASM (-P) read FILE before the text; it is looked for in "
        "the current folder, then in those of -I",
        part=SourceOptions,
    ),
    Setting(
        "machineFile",
        "text",
        "",
        "File of cyclelens characterize --memory with the measured levels of this machine's memory, relative "
        "to the workspace. They are used for the core that it names.",
        option="--machine-file",
        metavar="FILE",
        help="the levels of this machine's memory, as cyclelens characterize --memory writes them (default: "
        "the file that CYCLELENS_MACHINE_FILE names)",
    ),
)

OF_REGIONS: tuple[Setting, ...] = (
    Setting(
        "taken",
        "text",
        "",
        "How often the branches within the region are taken, in code order (0.9, or 0.9,50%), or some "
        "of them by label, line or address (.Lskip:0.9).",
        option="--taken",
        metavar="[REGION=]SHARES",
        help="how often the branches within a region are taken, in code order (0.9, or 0.9,50%%), or "
        "some of them by label, line or address (.Lskip:0.9): the weighted sum of all paths; may be repeated",
        markers=("taken",),
        examples=("0.5", "0.9"),
        part=Target,
    ),
    Setting(
        "mispredicted",
        "text",
        "",
        "How often the conditional jumps are mispredicted, in code order (0.1, or 0.1,2%), or some of them "
        "by label, line or address (.Lskip:0.1).",
        option="--mispredicted",
        metavar="[REGION=]SHARES",
        help="how often the conditional jumps of a region are mispredicted, in code order (0.1, or 0.1,2%%), "
        "or some of them by label, line or address (.Lskip:0.1): adds what that costs; may be repeated",
        markers=("mispredicted",),
        examples=("0.05", "0.5"),
        part=Target,
    ),
    Setting(
        "data",
        "text",
        "",
        "Where the data are: a level (L2), or a level for each pointer (rsi:L3,rdi:L1). The figure is then "
        "that of this level.",
        option="--data-in",
        metavar="LEVEL",
        help="where the data are: L1, L2, L3, memory, or by pointer (rsi:L3,rdi:L1); the figure is then that "
        "of this level (default: L1, the others beside it)",
        markers=("data",),
        examples=("L2", "L3", "memory"),
        part=Target,
    ),
    Setting(
        "workingSet",
        "text",
        "",
        "The size of the data (2MiB). The figure is then that of the nearest level that holds them.",
        option="--working-set",
        help="how large the data are (2MiB); the figure is then that of the nearest level that holds them",
        metavar="SIZE",
        markers=("working-set",),
        examples=("256KiB", "8MiB", "256MiB"),
        part=Target,
    ),
    Setting(
        "work",
        "text",
        "",
        "Work per iteration: a number of elements (8) or of bytes (32B).",
        markers=("per",),
        examples=("8", "32B"),
    ),
    Setting(
        "inputs",
        "text",
        "",
        "Registers and 64-bit words of memory at the start of a measurement (rsi:0x10000,[0x10008]:7).",
        markers=("init",),
        examples=("rsi:0x10000",),
    ),
)
"""Settings of a single region, which are not settings of a project or an editor."""

MARKERS = {key: setting for setting in (*ANALYSIS, *OF_REGIONS) for key in setting.markers}
"""Marker key -> setting."""


def forced(names: Collection[str]) -> frozenset[str]:
    """The marker keys that explicitly given settings override."""
    return frozenset(key for key, setting in MARKERS.items() if setting.name in names)


def to_options(values: Mapping[str, Any]) -> AnalysisOptions:
    """The options for all settings of ``ANALYSIS`` except those about files. ``values``: checked. Raises
    UnknownMicroarchitecture if the environment names an unknown core."""
    names, by_default = tuple(values["microarchitectures"]), ""
    if names == BY_DEFAULT:
        default = registry.default()
        names, by_default = default.names, default.reason
    source, target = _fields(SourceOptions, values), _fields(Target, values)
    target |= {"microarchitectures": names, "model": ModelOptions(model=target["model"])}
    return AnalysisOptions(SourceOptions(**source), Target(**target, by_default=by_default))


def _fields(part: Part, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of one part of the options, from the settings that set it."""
    return {
        setting.name: type(setting.default)(values[setting.name])
        if setting.type == "choice"
        else values[setting.name]
        for setting in ANALYSIS
        if setting.part is part and setting.type != "texts"
    }


def checked(setting: Setting, value: object, microarchitectures: Sequence[str]) -> object:
    """The value in its final form. Raises ValueError with a sentence for anything else."""
    if setting.type == "boolean":
        if isinstance(value, bool):
            return value
        raise ValueError(f"{value!r} is neither true nor false.")
    if setting.type == "integer":
        # JSON clients may send 150.0; true is an int in Python but an error here.
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number = isinstance(value, int) and not isinstance(value, bool)
        if number and setting.minimum <= value <= setting.maximum:  # type: ignore[operator]
            return value
        raise ValueError(f"{value!r} is not a whole number from {setting.minimum} to {setting.maximum}.")
    if setting.type == "choice":
        if isinstance(value, str) and setting.of_today(value) in setting.choices:
            return setting.of_today(value)
        raise ValueError(f"{value!r} is not one of {', '.join(setting.choices)}.")
    if setting.type == "text":
        if is_plain(value):
            return value.strip()
        raise ValueError(f"{value!r} is not a string{_plain(value)}.")
    if setting.type == "texts":
        if isinstance(value, list | tuple) and all(map(is_plain, value)):
            return tuple(dict.fromkeys(text.strip() for text in value if text.strip()))
        raise ValueError(f"{value!r} is not a list of strings{_plain(value)}.")
    return _names(value, microarchitectures)


def _plain(value: object) -> str:
    """Additional requirements for a text that neither paths nor definitions can contain."""
    shown = repr(value)
    if "\\x00" in shown:
        return " without NUL characters"
    return " of whole characters" if "\\ud" in shown else ""


def _names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    if given in ([registry.NATIVE], BY_DEFAULT):
        return BY_DEFAULT  # resolved where it is used
    if not isinstance(given, list | tuple) or not given or not all(isinstance(name, str) for name in given):
        raise ValueError(f"{value!r} is not a list of microarchitecture names.")
    names = tuple(
        dict.fromkeys(_native() if registry.is_native(name) else name.strip().upper() for name in given)
    )
    for name in names:
        if name not in known:
            raise ValueError(f"'{name}' is not a known microarchitecture{among(name, known)}.")
    return names


def _native() -> str:
    """The name of this machine's microarchitecture. Raises ValueError if it is not simulated."""
    try:
        return registry.get(NATIVE).name
    except UnknownMicroarchitecture as unknown:
        message = str(unknown)
        raise ValueError(f"{message[0].upper()}{message[1:]}.") from None
