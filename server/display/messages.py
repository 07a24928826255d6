"""What users are told in sentences by commands and requests: why nothing came of them, and what they did."""

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
    "This runs the code of the region on this machine, in a sandbox: it can compute, but it reaches no "
    "file, no network and no other program. Run it?"
)
NOT_TRUSTED = (
    "Code is run only in workspaces that are trusted, and where the setting cyclelens.allowExternalPrograms "
    "is on."
)
NOTHING_TO_RENAME = "There is nothing here that can be renamed."
STACK_POINTER = "The stack pointer cannot be another register."
NO_DOCUMENT = 'expected {"textDocument": {"uri": "..."}}'
COMPARISON_FAILED = "The comparison failed; the log says more."


def pinned(count: int) -> str:
    """So many regions have a baseline now."""
    return f"{count} {'region is' if count == 1 else 'regions are'} compared with the present figures now."


def not_open(uri: object) -> str:
    """A command is about a document that is not open."""
    return f"the document is not open: {uri}"


def no_place(where: object) -> str:
    """A command names a region in no way that is understood."""
    return f"neither the name of a region nor a line: {where}"


def no_region_of_name(name: str) -> str:
    """A command names a region that the document does not have."""
    return f"There is no region '{name}' in this file."


def profile_outside(path: str) -> str:
    """The setting names a file that may not be opened here."""
    return (
        f"cyclelens.profile: '{path}' lies outside of the workspace. It is read only in folders that are "
        "trusted and where the setting cyclelens.allowExternalPrograms is on, and not through a link."
    )


def large(size: int, limit: int) -> str:
    """A text is not analysed by itself."""
    return (
        f"This file has about {size:,} lines. A text of more than {limit:,} is analysed when you run "
        "the command cyclelens.analyse, and only what is visible of it is coloured. The setting "
        "cyclelens.largeFileLines moves that limit."
    )


def no_rewrites(region: str) -> str:
    """There is nothing to be checked."""
    return f"No rewrite of {region} is known that would make it faster."


def not_in_profile(profile: str, file: str, reason: str) -> str:
    """A recorded profile says nothing of a file."""
    return f"{profile}, {file}: {reason} This is said once."


def unreadable(reason: str) -> str:
    """A message of the client that is none."""
    return f"A message of the editor could not be read: {reason}"


def unreadable_change(uri: str, reason: str) -> str:
    """What a document is now is not known any more."""
    return (
        f"A change of {uri} could not be read, so that nothing can be shown for it until it is opened again: "
        f"{reason}"
    )


def tries_again(reason: str) -> str:
    """There was no analysis. ``reason``: a sentence without its full stop."""
    return f"{reason}; the next edit tries again."


def no_label(name: str) -> str:
    """A new name that labels cannot have."""
    return f"'{name}' cannot be the name of a label."


def defined_already(name: str) -> str:
    """A new name that the file has."""
    return f"'{name}' is defined already."


def no_substitute(new: str, old: str) -> str:
    """A register of another kind."""
    return f"'{new}' cannot take the place of {old}."


def used_implicitly(line: int, mnemonic: str, register: str) -> str:
    """``line``: zero-based."""
    return f"Line {line + 1} has {mnemonic}, which uses {register} whatever is written."


def used_already(register: str, line: int) -> str:
    """``line``: zero-based."""
    return f"{register} is used in line {line + 1} of the region already."


def without_equal(line: int, register: str) -> str:
    """A part of a register that others have not. ``line``: zero-based."""
    return f"Line {line + 1} has {register}, which no other register has."
