"""Settings: one list with type, default and a sentence for each; values as sent -> values as resolved.

The documentation and the editors' packages repeat this list; tests keep them equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.microarchitectures.registry import NATIVE, UnknownMicroarchitecture
from cyclelens.analyzer.model.options import ModelOptions
from cyclelens.analyzer.model.result import AnalysisOptions
from cyclelens.analyzer.suggestions import among

SECTION = "cyclelens"
"""Name under which editors keep the settings."""

CLIENT_SETTINGS = frozenset({"server", "trace"})
"""Names in the same section that belong to the editor's own package; nothing is said about them."""


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


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "microarchitectures",
        "names",
        ("SKL",),
        "Microarchitectures to analyse for; native is that of this machine. The first one is shown in the "
        "text, hovers show all of them.",
    ),
    Setting(
        "syntax",
        "choice",
        "auto",
        "Assembly dialect; auto looks at the text and obeys .intel_syntax and .att_syntax.",
        choices=("auto", "att", "intel"),
    ),
    Setting(
        "mode",
        "choice",
        "auto",
        "Whether a region is a loop or is repeated end to end; auto takes one that jumps back to its start "
        "for a loop.",
        choices=("auto", "loop", "unroll"),
    ),
    Setting(
        "alignment",
        "integer",
        None,
        "Where every region starts within a 64-byte cache line, in bytes; null: where its text puts it.",
        maximum=63,
    ),
    Setting(
        "regions",
        "choice",
        "markers",
        "What to analyse: marked regions, the innermost loops (no markers needed), or both.",
        choices=("markers", "loops", "both"),
    ),
    Setting(
        "model",
        "choice",
        "reference",
        "The published model of the pipeline, or the one with better rules for memory and limited buffers.",
        choices=("reference", "hardware"),
    ),
    Setting(
        "assembler",
        "choice",
        "auto",
        "gas or nasm leave the whole file to GNU as or NASM; auto does so only for NASM files with macros.",
        choices=("auto", "gas", "nasm"),
    ),
    Setting(
        "includePaths",
        "texts",
        (),
        "Folders to look for included files in besides the file's own and the workspace's; relative ones are "
        "those of the workspace. No other files are read.",
    ),
    Setting("defines", "texts", (), "NAME or NAME=VALUE for the C preprocessor and NASM."),
    Setting(
        "preIncludes",
        "texts",
        (),
        "Files that the C preprocessor (-include) and NASM (-P) read before the text, a configuration for "
        "example; relative ones are looked for in the workspace's folders and in those of includePaths.",
    ),
    Setting(
        "allowExternalPrograms",
        "boolean",
        True,
        "Run the C compiler's preprocessor, GNU as and NASM where they are needed. In workspaces that are "
        "not trusted they never run.",
    ),
    Setting("hints.enabled", "boolean", True, "Show hints inside the text."),
    Setting("hints.region", "boolean", True, "Show cycles per iteration on the line that opens a region."),
    Setting("hints.ports", "boolean", True, "Show the scarce execution ports that instructions need."),
    Setting("hints.chain", "boolean", True, "Show what a latency-bound region waits for, with its cycles."),
    Setting("hints.fusion", "boolean", True, "Show which branches are one uop with the instruction before."),
    Setting("hints.rename", "boolean", True, "Show what the renamer does by itself."),
    Setting("hints.stalls", "boolean", True, "Show stalls and other hazards on the lines that cause them."),
    Setting("hints.change", "boolean", True, "Show how a figure changed since it was saved or pinned."),
    Setting("codeLens.enabled", "boolean", True, "Show the result above each region."),
    Setting("diagnostics.enabled", "boolean", True, "Report problems and hazards as diagnostics."),
    Setting(
        "diagnostics.documentationUrl",
        "text",
        "",
        "Where the pages about diagnostics are published; empty means those that came with the server.",
    ),
    Setting(
        "analyse",
        "choice",
        "onType",
        "When to analyse: while typing, when a file is opened or saved, or only by command.",
        choices=("onType", "onSave", "manual"),
    ),
    Setting(
        "debounceMs",
        "integer",
        150,
        "Milliseconds without typing before a text is analysed.",
        maximum=5000,
    ),
    Setting(
        "timeoutMs",
        "integer",
        10000,
        "Milliseconds after which an analysis is given up.",
        minimum=100,
        maximum=600000,
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Checked values, one for every entry of :data:`SETTINGS`."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def options(self) -> AnalysisOptions:
        """The part that the analyzer wants to know."""
        return AnalysisOptions(
            microarchitectures=tuple(self["microarchitectures"]),
            mode=self["mode"],
            alignment=self["alignment"],
            syntax=self["syntax"],
            regions=self["regions"],
            model=ModelOptions(model=self["model"]),
            assembler=self["assembler"],
            allow_external_programs=self["allowExternalPrograms"],
        )

    @property
    def analysis(self) -> tuple[object, ...]:
        """All that a result depends on: where it differs, documents are analysed anew."""
        return self.options, self.hint_kinds, self.places

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """What is read besides a document, as it is written: folders, definitions, files before it."""
        return self["includePaths"], self["defines"], self["preIncludes"]

    @property
    def hint_kinds(self) -> tuple[str, ...]:
        """The kinds of hints that are wanted."""
        if not self["hints.enabled"]:
            return ()
        return tuple(
            name.removeprefix("hints.")
            for name, on in self.values.items()
            if name.startswith("hints.") and name not in ("hints.enabled", "hints.change") and on
        )


DEFAULTS = Settings({setting.name: setting.default for setting in SETTINGS})


def resolve(sent: object, microarchitectures: Sequence[str]) -> tuple[Settings, tuple[str, ...]]:
    """Check what an editor sent.

    :param sent: the section's value: nested, dotted, or None for "nothing set".
    :param microarchitectures: the names that exist.
    :returns: the settings, with the default wherever a value is not usable, and a message for each such one.
    """
    known = {setting.name: setting for setting in SETTINGS}
    values: dict[str, Any] = dict(DEFAULTS.values)
    messages = []
    for name, value in _flat(sent):
        setting = known.get(name)
        if setting is None:
            if name.split(".")[0] not in CLIENT_SETTINGS:
                messages.append(f"Setting {SECTION}.{name} does not exist; it is ignored.")
        elif value is not None:
            try:
                values[name] = _checked(setting, value, microarchitectures)
            except ValueError as wrong:
                messages.append(f"Setting {SECTION}.{name}: {wrong} The default, {_shown(setting)}, is used.")
    return Settings(values), tuple(messages)


def _flat(sent: object, prefix: str = "") -> list[tuple[str, object]]:
    if not isinstance(sent, Mapping):
        return []
    pairs: list[tuple[str, object]] = []
    for key, value in sent.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, Mapping) else [(name, value)]
    return pairs


def _checked(setting: Setting, value: object, microarchitectures: Sequence[str]) -> object:
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
        if value in setting.choices:
            return value
        raise ValueError(f"{value!r} is not one of {', '.join(setting.choices)}.")
    if setting.type == "text":
        if isinstance(value, str):
            return value.strip()
        raise ValueError(f"{value!r} is not a text.")
    if setting.type == "texts":
        if isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
            return tuple(dict.fromkeys(text.strip() for text in value if text.strip()))
        raise ValueError(f"{value!r} is not a list of texts.")
    return _names(value, microarchitectures)


def _names(value: object, known: Sequence[str]) -> tuple[str, ...]:
    given = value.split(",") if isinstance(value, str) else value
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


def _shown(setting: Setting) -> str:
    default = setting.default
    if isinstance(default, tuple):
        return ", ".join(default) or "an empty list"
    return str(default).lower() if isinstance(default, bool) else str(default)
