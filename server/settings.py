"""Settings: one list with type, default and a sentence for each, and the check of values that editors send.

The documentation and the editors' packages repeat this list; tests keep them equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cyclelens.analyzer.engine.project import Values
from cyclelens.analyzer.engine.settings import ANALYSIS, Setting, checked, to_options
from cyclelens.analyzer.hints import region
from cyclelens.analyzer.hints import registry as hint_kinds
from cyclelens.analyzer.microarchitectures import registry
from cyclelens.analyzer.model.analysis_options import AnalysisOptions
from msgspec import Struct
from msgspec.structs import replace

SECTION = "cyclelens"
"""Section in which editors keep the settings."""

CLIENT_SETTINGS = frozenset({"server", "trace"})
"""Names in the section that belong to the editor's own package; they are ignored silently."""


SETTINGS: tuple[Setting, ...] = (
    *ANALYSIS,
    Setting(
        "allowExternalPrograms",
        "boolean",
        True,
        "Run the C compiler's preprocessor, GNU as and NASM where they are needed. They never run in "
        "untrusted workspaces.",
    ),
    Setting(
        "sources",
        "boolean",
        True,
        "Show figures in C, C++ and Rust files, compiled in the background as compile_commands.json or Cargo "
        "specify. Needs allowExternalPrograms.",
    ),
    Setting(
        "profile",
        "text",
        "",
        "Output file of perf script -F brstacksym or perf annotate --stdio, relative to the workspace. Loops "
        "then show how often their branches were taken, and which loop matters most.",
    ),
    Setting("hints.enabled", "boolean", True, "Show hints inside the text."),
    Setting("hints.region", "boolean", True, "Show cycles per iteration on the line that opens a region."),
    Setting("hints.heat", "boolean", True, "Show a bar for the cycles that a line costs."),
    Setting("hints.ports", "boolean", True, "Show how much of the limiting ports each instruction uses."),
    Setting(
        "hints.chain", "boolean", True, "Show the critical chain of a latency-bound region, with its cycles."
    ),
    Setting("hints.fusion", "boolean", True, "Show which branches fuse with the previous instruction."),
    Setting(
        "hints.rename",
        "boolean",
        True,
        "Show which instructions the renamer handles without an execution port.",
    ),
    Setting("hints.stalls", "boolean", True, "Show stalls and other hazards on the lines that cause them."),
    Setting(
        "hints.change",
        "boolean",
        True,
        "Show how a figure changed since the file was saved or the figure was pinned.",
    ),
    Setting("hints.column", "boolean", True, "Show the hints of a region in one column."),
    Setting(
        "hints.tabSize",
        "integer",
        None,
        "Tab width for hints in one column; null: as in the editor, or 8 if it does not report one.",
        minimum=1,
        maximum=16,
    ),
    Setting(
        "hints.width",
        "integer",
        None,
        "Columns of the window that the hint of a region must fit into, for editors that wrap hints; null: "
        "no limit.",
        minimum=20,
        maximum=1000,
    ),
    Setting(
        "hover.timeline",
        "boolean",
        True,
        "Show in hovers what happens to the instructions around the line, cycle by cycle.",
    ),
    Setting(
        "figure",
        "choice",
        "hint",
        "Where the figure of a region is shown: in a hint on its first line, in a lens above it, or in both.",
        choices=("hint", "lens", "both"),
        meanings=("In a hint on its first line", "In a lens above it", "In both"),
    ),
    Setting("codeLens.enabled", "boolean", True, "Show commands above each region."),
    Setting("diagnostics.enabled", "boolean", True, "Report problems and hazards as diagnostics."),
    Setting(
        "diagnostics.mistakes",
        "boolean",
        True,
        "Report what is probably a mistake: registers that are read before they are written or not restored, "
        "flags that are overwritten, a stack pointer that does not return to its value.",
    ),
    Setting(
        "diagnostics.workspace",
        "boolean",
        False,
        "Report problems and hazards of the workspace's assembly files that are not open, too, in editors "
        "that ask for them.",
    ),
    Setting(
        "diagnostics.documentationUrl",
        "text",
        "",
        "URL of the published pages about diagnostics; empty: the pages that ship with the server.",
    ),
    Setting(
        "analyse",
        "choice",
        "onType",
        "When to analyse: while typing, when a file is opened or saved, or only by command.",
        choices=("onType", "onSave", "manual"),
        meanings=("While typing", "When a file is opened or saved", "Only by command"),
    ),
    Setting(
        "debounceMs",
        "integer",
        150,
        "Milliseconds without typing before the analysis starts.",
        maximum=5000,
    ),
    Setting(
        "advice",
        "boolean",
        True,
        "Search in the background for rewrites that make regions faster and for what findings cost.",
    ),
    Setting(
        "timeoutMs",
        "integer",
        10000,
        "Milliseconds after which an analysis is stopped.",
        minimum=100,
        maximum=600000,
    ),
    Setting(
        "largeFileLines",
        "integer",
        100_000,
        "Size in lines above which a text is analysed only by command, coloured only where visible, and not "
        "searched for names, so that other documents stay fast. Every 80 characters count as at least one "
        "line. 0: no limit.",
        maximum=10_000_000,
    ),
)


class Settings(Struct, frozen=True):
    """Checked values, one for every entry of :data:`SETTINGS`."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def within(self, project: Values) -> Settings:
        """These settings with the project's values where the editor's equal the default. Editors send
        defaults along, so a default cannot be told from a choice."""
        unset = {name: value for name, value in project.items() if self[name] == DEFAULTS[name]}
        return Settings({**self.values, **unset}) if unset else self

    @property
    def cores(self) -> tuple[str, ...]:
        """The cores to analyse for where no marker names one."""
        return self.options.target.microarchitectures

    @property
    def options(self) -> AnalysisOptions:
        """The options for the analyzer."""
        try:
            options = to_options(self.values)
        except registry.UnknownMicroarchitecture:  # set by the environment; ``resolve`` reports it
            options = to_options({**self.values, _CORES: (registry.FALLBACK,)})
        source = replace(options.source, allow_external_programs=self["allowExternalPrograms"])
        return replace(options, source=source)

    @property
    def analysis(self) -> tuple[object, ...]:
        """All settings that results depend on: when they change, documents are analysed again."""
        return self.options, self.hint_kinds, self.places, self["sources"], self.named_files

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """What is read besides a document, as written: include folders, definitions, files before it."""
        return self["includePaths"], self["defines"], self["preIncludes"]

    @property
    def named_files(self) -> tuple[str, ...]:
        """The recorded profile and the machine file, as written."""
        return self["profile"], self["machineFile"]

    @property
    def hint_kinds(self) -> tuple[str, ...]:
        """The names of the enabled kinds of hints."""
        if not self["hints.enabled"]:
            return ()
        return tuple(
            kind.name
            for kind in hint_kinds.KINDS
            if self[f"hints.{kind.name}"] and (kind.name != region.KIND or self["figure"] != "lens")
        )


_CORES = "microarchitectures"
DEFAULTS = Settings({setting.name: setting.default for setting in SETTINGS})


def resolve(sent: object, microarchitectures: Sequence[str]) -> tuple[Settings, tuple[str, ...]]:
    """Check the settings that an editor sent.

    :param sent: the section's value: nested, dotted, or None for "nothing set".
    :param microarchitectures: the names of the known cores.
    :returns: the settings, with the default in place of each unusable value, and a message for each of those.
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
                values[name] = checked(setting, value, microarchitectures)
            except ValueError as wrong:
                messages.append(f"Setting {SECTION}.{name}: {wrong} The default, {_shown(setting)}, is used.")
    if values[_CORES] == DEFAULTS[_CORES]:
        messages += _not_simulated()
    return Settings(values), tuple(messages)


def _not_simulated() -> Iterator[str]:
    """A message if the default is not the core of this machine."""
    try:
        found = registry.default()
    except registry.UnknownMicroarchitecture as error:
        yield f"{error}."
    else:
        if not found.is_simulated:
            yield (
                f"Setting {SECTION}.{_CORES}: This machine's processor is not simulated: "
                f"{registry.own_name()}. The default, {', '.join(found.names)}, is used."
            )


def _flat(sent: object, prefix: str = "") -> list[tuple[str, object]]:
    if not isinstance(sent, Mapping):
        return []
    pairs: list[tuple[str, object]] = []
    for key, value in sent.items():
        name = f"{prefix}{key}"
        pairs += _flat(value, f"{name}.") if isinstance(value, Mapping) else [(name, value)]
    return pairs


def _shown(setting: Setting) -> str:
    default = setting.default
    if isinstance(default, tuple):
        return ", ".join(default) or "an empty list"
    return str(default).lower() if isinstance(default, bool) else str(default)
