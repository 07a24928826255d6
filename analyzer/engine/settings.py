"""What an analysis can be told to do: names, types, defaults and checks, for every way in which it is said.

One row produces the editors' setting (``cyclelens.server.settings`` adds the editors' own), the setting of a
project's file (``cyclelens.analyzer.engine.project``), the option of the command line, the key of a marker
with its completion, and the line of the documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cyclelens.analyzer.common.data_classes import dataclass
from cyclelens.analyzer.common.suggestions import among
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.registry import NATIVE, UnknownMicroarchitecture
from cyclelens.analyzer.model.analysis_options import AnalysisOptions, Detail, SourceOptions, Target
from cyclelens.analyzer.model.choices import FORMER_UICA, Assembler, Mode, Model, Regions, Syntax
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.source import LINE_BYTES

Part = type[SourceOptions | Target | Detail]

NO_FORMER_NAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as users see it."""

    name: str
    """Dots stand for nesting: ``hints.ports``."""
    type: str
    """``names`` (of microarchitectures), ``texts``, ``choice``, ``integer``, ``boolean`` or ``text``."""
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int = 0
    maximum: int = 0
    meanings: tuple[str, ...] = ()
    """What each choice means, in the order of ``choices``."""
    former: Mapping[str, str] = NO_FORMER_NAMES
    """What choices were called before, each with its name of today: it is still understood."""
    option: str = ""
    """Of the command line; empty for what editors alone can be told."""
    metavar: str = ""
    help: str = ""
    """What the command line says of it, where that is not ``doc``."""
    markers: tuple[str, ...] = ()
    """The keys of a marker that say it for one region."""
    examples: tuple[str, ...] = ()
    """Values that editors offer for such a key, where there are no ``choices``."""
    part: Part | None = None
    """The part of an analysis's options that it sets; None: it is about a display or a measurement."""

    def offered(self) -> tuple[str, ...]:
        """What a marker may say, for completion: no default, which need not be said."""
        if self.type == "names":
            return (*registry.names(), registry.NATIVE)
        return self.examples or tuple(choice for choice in self.choices if choice != self.default)

    def of_today(self, choice: str) -> str:
        """A choice by its name of today."""
        return self.former.get(choice, choice)


BY_DEFAULT = (registry.NATIVE,)
"""The cores of those who name none (``registry.default``)."""

ANALYSIS: tuple[Setting, ...] = (
    Setting(
        "microarchitectures",
        "names",
        BY_DEFAULT,
        "Microarchitectures to analyse for; native is that of this machine. The first one is shown in the "
        "text, hovers show all of them.",
        option="--arch",
        metavar="SKL[,HSW...]",
        help="microarchitectures, instead of those the markers name (default: native, that of this machine; "
        "see: cyclelens arch list)",
        markers=("arch",),
        part=Target,
    ),
    Setting(
        "syntax",
        "choice",
        Syntax.AUTO,
        "Assembly dialect; auto looks at the text and obeys .intel_syntax and .att_syntax.",
        choices=tuple(Syntax),
        meanings=("As the text looks and its directives say", "AT&T: add %rax, %rbx", "Intel: add rbx, rax"),
        option="--syntax",
        part=SourceOptions,
    ),
    Setting(
        "mode",
        "choice",
        Mode.AUTO,
        "Whether a region is a loop, is repeated end to end, or is passed once from an empty pipeline; auto "
        "takes one that jumps back to its start for a loop.",
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
        "Where every region starts within a 64-byte cache line, in bytes; null: where its text puts it.",
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
        "What to analyse: auto takes marked regions, or the innermost loops of a file without markers (its "
        "functions if it has no loop); "
        "markers takes marked regions only, loops all loops, both the marked regions and the other loops.",
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
        "What real cores do, as far as it is known, or the published model of the pipeline, to compare with.",
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
        "gas or nasm leave the whole file to GNU as or NASM; auto does so only for NASM files with macros.",
        choices=tuple(Assembler),
        option="--assembler",
        help="gas, nasm: leave the whole file to GNU as or NASM; auto: only NASM files with macros (default)",
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
        "Folders to look for included files in besides the file's own and the workspace's; relative ones are "
        "those of the workspace. No other files are read.",
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
        "Files that the C preprocessor (-include) and NASM (-P) read before the text, a configuration for "
        "example; relative ones are looked for in the workspace's folders and in those of includePaths.",
        option="-P",
        metavar="FILE",
        help="let the C preprocessor (-include) or NASM (-P) read FILE before the text; it is looked for in "
        "the current folder, then in those of -I",
        part=SourceOptions,
    ),
)

OF_REGIONS: tuple[Setting, ...] = (
    Setting(
        "taken",
        "text",
        "",
        "How often the branches within the region jump, in the order of the code (0.9, or 0.9,50%), or some "
        "of them by label, line or address (.Lskip:0.9).",
        option="--taken",
        metavar="[REGION=]SHARES",
        help="how often the branches within a region jump, in the order of the code (0.9, or 0.9,50%%), or "
        "some of them by label, line or address (.Lskip:0.9): the weighted sum of all ways; may be repeated",
        markers=("taken",),
        examples=("0.5", "0.9"),
        part=Target,
    ),
    Setting(
        "work",
        "text",
        "",
        "What an iteration does: a number of elements (8) or of bytes (32B).",
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
"""What is said of one region alone, and is no setting of a project or an editor."""

MARKERS = {key: setting for setting in (*ANALYSIS, *OF_REGIONS) for key in setting.markers}
"""All that a marker can say, by its keys."""


def forced(names: Collection[str]) -> frozenset[str]:
    """The keys of markers that do not count where these settings were given by hand."""
    return frozenset(key for key, setting in MARKERS.items() if setting.name in names)


def to_options(values: Mapping[str, Any]) -> AnalysisOptions:
    """All settings of ``ANALYSIS`` but those about files, as the analyzer takes them. ``values``: checked.
    Raises UnknownMicroarchitecture if the environment names a core that there is not."""
    names, by_default = tuple(values["microarchitectures"]), ""
    if names == BY_DEFAULT:
        names, by_default, _ = registry.default()
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
    """The value in its final form. Raises ValueError with a sentence on anything else."""
    if setting.type == "boolean":
        if isinstance(value, bool):
            return value
        raise ValueError(f"{value!r} is neither true nor false.")
    if setting.type == "integer":
        # JSON clients may send 150.0; true is an int to Python and a mistake here.
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
        if isinstance(value, str) and "\0" not in value:
            return value.strip()
        raise ValueError(f"{value!r} is not a text{_without_nul(value)}.")
    if setting.type == "texts":
        if isinstance(value, list | tuple) and all(
            isinstance(text, str) and "\0" not in text for text in value
        ):
            return tuple(dict.fromkeys(text.strip() for text in value if text.strip()))
        raise ValueError(f"{value!r} is not a list of texts{_without_nul(value)}.")
    return _names(value, microarchitectures)


def _without_nul(value: object) -> str:
    """What else is asked of a text where it holds what neither a path nor a definition can."""
    return " without NUL characters" if "\\x00" in repr(value) else ""


def _names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
    if given in ([registry.NATIVE], BY_DEFAULT):
        return BY_DEFAULT  # what it is, is found out where it is wanted
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
