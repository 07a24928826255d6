"""Sentences that commands and requests show to users: why there is no result, and what was done."""

from __future__ import annotations

NO_REGION = (
    "There is no region in this file: put '# cyclelens-begin NAME' and '# cyclelens-end' around a loop."
)
NOT_ANALYSED = (
    "The file has not been analysed yet: try again in a moment, or run the command cyclelens.analyse."
)
UNPINNED = "Regions are compared with the last save again."
RUN_IT = "Run It"
DO_NOT_RUN_IT = "Do Not Run It"
MAY_IT_RUN = (
    "This runs the code of the region on this machine, in a sandbox: it can compute, but it has no access to "
    "files, the network or other programs. Run it?"
)
NOT_TRUSTED = (
    "Code runs only in trusted workspaces, and only if the setting cyclelens.allowExternalPrograms is on."
)
NOTHING_TO_RENAME = "There is nothing to rename here."
STACK_POINTER = "The stack pointer cannot be renamed, and no register can be renamed to it."
NO_DOCUMENT = 'expected {"textDocument": {"uri": "..."}}'
COMPARISON_FAILED = "The comparison failed; see the log for details."


def completed(title: str, text: str, path: str) -> str:
    """What was measured, and the tables that have it, if any."""
    kept = f"The figures are in {path}; --data uses them in every command." if path else ""
    return "\n\n".join(part for part in (f"{title}.", text, kept) if part)


def pinned(count: int) -> str:
    """The number of regions that now have a baseline."""
    return f"{count} {'region is' if count == 1 else 'regions are'} now compared with the present figures."


def not_open(uri: str) -> str:
    """A command names a document that is not open."""
    return f"the document is not open: {uri}"


def no_region_of_name(name: str) -> str:
    """A command names a region that does not exist in the document."""
    return f"There is no region '{name}' in this file."


def file_outside(setting: str, path: str) -> str:
    """A setting names a file that this workspace may not open."""
    return (
        f"cyclelens.{setting}: '{path}' is outside the workspace. It is read only in trusted "
        "folders with the setting cyclelens.allowExternalPrograms on, and never through a link."
    )


def large(size: int, limit: int) -> str:
    """The text is too large to be analysed automatically."""
    return (
        f"This file has about {size:,} lines. A file of more than {limit:,} lines is analysed only when you "
        "run the command cyclelens.analyse, and only its visible part is coloured. The setting "
        "cyclelens.largeFileLines sets this limit."
    )


def no_rewrites(region: str) -> str:
    """The region has no rewrites to check."""
    return f"No rewrite is known that makes {region} faster."


def not_in_profile(profile: str, file: str, reason: str) -> str:
    """A recorded profile has no data for a file."""
    return f"{profile}, {file}: {reason} This message is shown once."


def unreadable(reason: str) -> str:
    """A message of the client could not be parsed."""
    return f"A message from the editor could not be read: {reason}"


def unreadable_change(uri: str, reason: str) -> str:
    """The server lost track of this document's text."""
    return f"A change to {uri} could not be read; nothing is shown for it until it is opened again: {reason}"


def tries_again(reason: str) -> str:
    """The analysis failed. ``reason``: a sentence without its full stop."""
    return f"{reason}; the next edit tries again."


def no_timeline(reason: str) -> str:
    """For the log."""
    return f"The timeline of a hover could not be drawn:\n{reason}"


def no_label(name: str) -> str:
    """The new name is not a valid label."""
    return f"'{name}' is not a valid label name."


def defined_already(name: str) -> str:
    """The file already defines the new name."""
    return f"'{name}' is already defined."


def no_substitute(new: str, old: str) -> str:
    """The new register is of another kind."""
    return f"'{new}' cannot replace {old}."


def used_implicitly(line: int, mnemonic: str, register: str) -> str:
    """An instruction uses the register implicitly. ``line``: zero-based."""
    return f"{mnemonic} in line {line + 1} uses {register} implicitly."


def used_already(register: str, line: int) -> str:
    """The region already uses the new register. ``line``: zero-based."""
    return f"The region already uses {register}, in line {line + 1}."


def without_equal(line: int, register: str) -> str:
    """The register's high byte has no counterpart in other registers. ``line``: zero-based."""
    return f"Line {line + 1} uses {register}; other registers have no such high byte."
