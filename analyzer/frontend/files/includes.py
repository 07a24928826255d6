"""Which files may be read for a text, and which ones it pulls in.

The rule: no file is read but those of the workspace, of the folders that the user named, and the programs'
own (their libraries, the compiler's headers); and nothing of any other is shown. Three hold it:

1. The text is searched before any program gets it (`look`), and no program is run if it leads elsewhere. The
   search errs on the side of finding too much: an `#include` in a branch that is never taken counts.
2. The kernel lets programs open nothing else, whatever a text makes them try, where it has Landlock
   (`confinement`). Files that are read here are judged by what is open, not by what their name led to.
3. Programs are asked which files they read. If that is another one, or if they do not say, nothing of what
   they made is used. Of a text that they refuse they do not say it; then nothing is used if any message names
   another file.

Without Landlock one way is left: an assembler reads a file of which only macros that put words together
know, and refuses the text in words that macros of that file have made. Whether a file exists can be told
anywhere.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cyclelens.analyzer.common.data_classes import dataclass, field
from cyclelens.analyzer.common.patterns import pattern
from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.common.regular_files import is_regular, open_regular
from cyclelens.analyzer.model.source import Origin

_OPEN_FILES = "/proc/self/fd"
"""Where the kernel tells what is open."""
MAXIMUM_FILES = 500
MAXIMUM_BYTES = 32 << 20
"""Of all included files together."""

_GAP = r"(?:[ \t\f\v]++|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    # What only asks for a file may tell that it is there, and stands anywhere in a line.
    "c": pattern(
        rf"(?:(?:^|\*/){_GAP}(?:\#|%:|\?\?=){_GAP}(?P<word>include_next|include|import|embed)\b{_GAP}"
        rf"|\b(?P<asked>__has_(?:include|include_next|embed)|GCC[ \t]+(?:dependency|pch_preprocess))\b"
        rf"{_GAP}\(?{_GAP}\\?)"
        r'(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<computed>[^\n]*))',
        re.MULTILINE,
    ),
    "gas": pattern(
        r'\.(?P<word>include|incbin)\b[ \t]*(?:"(?P<quoted>[^"\n]*)"|(?P<computed>[^\n]*))', re.IGNORECASE
    ),
    # Strings and comments are read as what they are; directives may be arguments of macros.
    "nasm": pattern(
        r"\"[^\"\n]*\"?|'[^'\n]*'?|`(?:[^`\\\n]++|\\.)*+`?|;[^\n]*|"
        r"(?:%[ \t]*(?:[{\[][ \t]*)?(?P<word>include|require|depend|pathsearch[ \t]+[\w.$?@~]+)"
        r"|(?<![\w.$%])(?P<data>incbin))(?![\w.$])[ \t]*(?:[}\]][ \t]*)?"
        r"(?:\"(?P<quoted>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<computed>[^\n;]*))",
        re.IGNORECASE,
    ),
}
_PUTS_TOGETHER = pattern(r"%[ \t]*(?:i?deftok\b|tok\b|[\[{+])", re.IGNORECASE)
"""What makes words of NASM out of strings and other words, directives too."""
_PACKAGE = pattern(r"^[ \t]*%[ \t]*use[ \t]+[\"'`]?(\w+)", re.IGNORECASE | re.MULTILINE)
_DEFINITION = pattern(
    rf"(?:^|\*/){_GAP}(?:\#|%:|\?\?=){_GAP}define\b{_GAP}(?P<name>\w+)(?P<rest>[^\n]*)", re.MULTILINE
)
_LITERAL = pattern(r'\s+(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)\s*(?:/[/*].*)?')
_OTHER_MACRO = pattern(r"\s+([A-Za-z_]\w*)\s*")
_CONTINUATION = pattern(r"(?:\\|\?\?/)[ \t\f\v]*(?:\r\n|\n|\r)")
_LINE_END = pattern(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An include that may not be followed. ``line``: of the text itself, zero-based."""

    line: int
    message: str


@dataclass(slots=True)
class Included:
    """What was found."""

    refusals: list[Refusal] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    """By the name of every file, in order, a digest of what it holds."""
    total: int = 0
    missing: set[str] = field(default_factory=set)
    """Names that are nowhere, although some of them may not be needed."""
    computed: list[tuple[int, str, str]] = field(default_factory=list)
    """Line, macro and folder of includes that name a macro."""
    definitions: dict[str, set[str]] = field(default_factory=dict)
    """What the C preprocessor's macros are defined as, anywhere."""
    packages: set[str] = field(default_factory=set)
    """NASM's own packages of macros that are used, perhaps on a condition."""
    texts: list[str] = field(default_factory=list)
    """All texts for NASM, lines joined as it joins them."""
    hidden: bool = False
    """There may be includes of NASM that cannot be seen in the text."""


@dataclass(frozen=True, slots=True)
class _Words:
    """What a text says of other files."""

    named: tuple[tuple[int, str | None, bool, str | None], ...]
    """By line from zero on: a name (None if it is computed), whether it stands in angle brackets, and what
    computes it."""
    definitions: tuple[tuple[str, str], ...]
    packages: frozenset[str]
    joined: str
    """For NASM the text with its lines joined, else nothing."""
    is_hidden: bool


class _Seen:
    """What included files said, by language and content: most are the same at the next edit, and for the next
    text."""

    def __init__(self, caches: Caches) -> None:
        self.words: Recent[tuple[str, bytes], _Words] = caches.recent(MAXIMUM_FILES)


def look(text: str, language: str, origin: Origin, caches: Caches) -> Included:
    """Follow the includes of a text in ``c``, ``gas`` or ``nasm``."""
    included = Included()
    search = _Search(language, origin, included, caches.of(_Seen))
    for define in origin.defines:
        name, _, value = define.partition("=")
        name, parenthesis, parameters = name.partition("(")
        included.definitions.setdefault(name, set()).add(f"{parenthesis}{parameters} {value}")
    folder = os.path.dirname(origin.path) if origin.path else ""
    for path in origin.pre_includes if language != "gas" else ():
        if os.path.isfile(path):
            search.follow(path, False, 0, "")
        else:
            included.refusals.append(
                Refusal(0, f"'{path}', which is to be read before the text, is not there.")
            )
    search.scan(text, folder, None)
    known = (-1, -1)
    while known != (len(included.contents), len(included.computed)) and not included.refusals:
        # Files that are found may define more of what other includes name.
        known = (len(included.contents), len(included.computed))
        for line, macro, beside in tuple(included.computed):
            search.follow_macro(macro, line, beside)
    return included


@dataclass(frozen=True, slots=True)
class _Search:
    """The includes of a text in a language, as they are followed."""

    language: str
    origin: Origin
    included: Included
    seen: _Seen

    def scan(self, text: str, folder: str, line: int | None, content: bytes = b"") -> None:
        """Follow all that a text includes. ``line``: of the user's text, None if that is the text.
        ``content``: the digest of any other text."""
        words = _words(text, self.language) if line is None else self._words_of_file(text, content)
        if self.language == "nasm":
            self.included.texts.append(words.joined)
            self.included.hidden |= words.is_hidden
            self.included.packages |= words.packages
        for defined, rest in words.definitions:
            self.included.definitions.setdefault(defined, set()).add(rest)
        for place, name, angled, computed in words.named:
            place = place if line is None else line
            if self.included.refusals and line is not None:
                return
            macro = re.match(r"[A-Za-z_]\w*", computed or "")
            if self.language == "c" and name is None and macro:
                self.included.computed.append((place, macro[0], folder))
            elif not (self.language == "c" and name is None and (computed or "'")[0] == "'"):
                # An apostrophe is prose in a comment ("#include's"): it begins no name of a file.
                self.follow(name, angled, place, folder)

    def _words_of_file(self, text: str, content: bytes) -> _Words:
        key = self.language, content
        words = self.seen.words[key]
        if words is None:
            words = self.seen.words[key] = _words(text, self.language)
        return words

    def follow_macro(self, macro: str, line: int, folder: str) -> None:
        """Follow whatever the macro is defined as; what is defined nowhere names no file."""
        for value in sorted(self.included.definitions.get(macro, ())):
            literal, other = _LITERAL.fullmatch(value), _OTHER_MACRO.fullmatch(value)
            if other is not None:
                if (line, other[1], folder) not in self.included.computed:
                    self.included.computed.append((line, other[1], folder))
            elif literal is None:
                self.follow(None, False, line, folder)
            else:
                name = literal["quoted"] or literal["angled"]
                self.follow(name, bool(literal["angled"]), line, folder)

    def follow(self, name: str | None, angled: bool, line: int, folder: str) -> None:
        """Follow one include of this line. ``angled``: its name stands in angle brackets."""
        if name is None:
            self.included.refusals.append(Refusal(line, "Only file names that are written out are followed."))
            return
        # Assemblers do not look beside the file that includes another.
        beside = [folder] if folder and self.language == "c" and not angled else []
        folders = [*beside, *search_path(self.origin)]
        path = name if os.path.isabs(name) and os.path.isfile(name) else find(name, folders)
        if path is not None and not is_regular(path) and may_read(path, self.origin):
            self.included.refusals.append(Refusal(line, f"'{name}' is not a regular file."))
            return
        if path is None:
            escapes = os.path.isabs(name) or ".." in re.split(r"[/\\]", name)
            if self.language == "c" and not escapes:
                return  # one of the compiler's own, or missing, which the compiler will say
            if escapes:
                self.included.refusals.append(Refusal(line, f"'{name}' lies outside of the workspace."))
            self.included.missing.add(name)
            return
        if not may_read(path, self.origin):
            message = f"'{name}' lies outside of the workspace; name its folder as an include path."
            self.included.refusals.append(Refusal(line, message))
            return
        contents = self.included.contents
        if path in contents:
            return
        try:
            self.included.total += os.stat(path).st_size
        except OSError:
            return
        contents[path] = b""
        if len(contents) > MAXIMUM_FILES or self.included.total > MAXIMUM_BYTES:
            self.included.refusals.append(Refusal(line, "Too many or too large files are included."))
            return
        try:
            text = read(path, self.origin)
        except OSError as error:
            self.included.refusals.append(Refusal(line, f"'{name}' cannot be read: {error.strerror}."))
            return
        from hashlib import blake2b  # most texts include nothing, and a start takes less time without this

        contents[path] = blake2b(text.encode("utf-8", "surrogatepass")).digest()
        self.scan(text, os.path.dirname(path), line, contents[path])


def search_path(origin: Origin) -> list[str]:
    """Where included files are looked for: beside the text, in the user's folders, in the workspace."""
    own = [os.path.dirname(origin.path)] if origin.path else []
    return list(dict.fromkeys([*own, *origin.include_paths, *origin.folders]))


def readable(origin: Origin) -> tuple[str, ...]:
    """The folders with all that may be read for a text, and files, links resolved as they are now: the
    workspace, and what the user named outside of it. What was named within the workspace and has become a
    link out of it is not among them: nobody named the place where that leads."""
    beside = [os.path.dirname(origin.path)] if origin.path else []
    homes = [os.path.normpath(home) for home in (*origin.folders, *beside)]
    real_homes = [os.path.realpath(home) for home in homes]
    found = [os.path.realpath(folder) for folder in origin.folders]
    for named in (*origin.include_paths, *origin.pre_includes):
        real = os.path.realpath(named)
        if _within(real, real_homes) or not _within(os.path.normpath(named), homes):
            found.append(real)
    return tuple(dict.fromkeys(found))


def may_read(path: str, origin: Origin) -> bool:
    """Does a file really lie within the workspace or a folder that the user named, or is named itself?"""
    return _within(os.path.realpath(path), readable(origin))


def _within(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(os.path.join(root, "")) for root in roots)


def named_in_rule(rule: bytes) -> set[str]:
    """The files that a program says it has read, in a rule for make."""
    text = rule.decode("utf-8", "replace").replace("\\\n", " ").partition(":")[2]
    names = re.findall(r"(?:\\.|\S)+", text)
    return {re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in names}


def find(name: str, folders: Sequence[str]) -> str | None:
    """The first of the folders' files of this name, or what else has this name there (a FIFO, a device): an
    assembler would open that, too. Folders are not files."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path) and not os.path.isdir(path):
            return path
    return None


def read(path: str, origin: Origin) -> str:
    """The text of a file that may be read, whatever its name leads to by now. Raises OSError."""
    with open_regular(path, MAXIMUM_BYTES) as file:
        # A name may be made to lead elsewhere after it was looked at: what is open stays what it is.
        opened = f"{_OPEN_FILES}/{file.fileno()}"
        real = os.path.realpath(opened if os.path.exists(opened) else path)
        if not may_read(real, origin) or not os.path.samestat(os.fstat(file.fileno()), os.stat(real)):
            raise PermissionError(errno.EACCES, "it lies outside of the workspace")
        return file.read(MAXIMUM_BYTES + 1).decode("utf-8-sig", "replace")


def _words(text: str, language: str) -> _Words:
    joins: list[int] = []
    if language != "gas":
        # Lines may be joined within a word; the words count, and the lines are counted afterwards.
        pieces, length = [], 0
        for piece in _CONTINUATION.split(text):
            pieces.append(piece)
            length += len(piece)
            joins.append(length)
        text = "".join(pieces)
    is_nasm = language == "nasm"
    defined = _DEFINITION.finditer(text) if language == "c" else ()
    return _Words(
        tuple(_named(text, language, joins)),
        tuple((match["name"], match["rest"]) for match in defined),
        frozenset(name.lower() for name in _PACKAGE.findall(text)) if is_nasm else frozenset(),
        text if is_nasm else "",
        is_nasm and _PUTS_TOGETHER.search(text) is not None,
    )


def _named(
    text: str, language: str, joins: Sequence[int]
) -> Iterator[tuple[int, str | None, bool, str | None]]:
    """As ``_Words.named``. ``joins``: offsets at which lines were joined."""
    line = counted = joined = 0
    for match in _PATTERNS[language].finditer(text):
        groups = match.groupdict()
        if not any(map(groups.get, ("word", "data", "asked"))):
            continue
        place = match.end("word") if groups["word"] else match.start()
        line += len(_LINE_END.findall(text, counted, place))
        counted = place
        while joined < len(joins) - 1 and joins[joined] <= place:
            joined += 1
        name = next((groups[key] for key in ("quoted", "single", "angled") if groups.get(key)), None)
        computed = None if groups.get("asked") else groups.get("computed")
        yield line + joined, name, bool(groups.get("angled")), computed
