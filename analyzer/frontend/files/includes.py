"""Finds the files that a text includes, and decides which of them may be read.

The only readable files are those of the workspace, of folders that the user named, and the programs' own
(libraries, the compiler's headers). No content of any other file is shown. Three measures enforce this:

1. The text is searched before any program gets it (`look`), and no program runs if an include leads
   elsewhere. The search may find too much: an `#include` in a branch that is never taken counts.
2. With Landlock, the kernel lets programs open nothing else (`confinement`). Files that are read here are
   checked after they are opened, so a changed link does not matter.
3. Programs report the files that they read. If there is another one, or no report, the result is discarded.
   Programs report nothing for texts with errors; then the result is discarded if a message names another
   file.

Without Landlock one gap remains: macros that concatenate words can make an assembler read a hidden file, and
error messages may then contain words from macros of that file. Whether a file exists can be found out in any
case.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b

from cyclelens.analyzer.common.recent import Caches, Recent
from cyclelens.analyzer.common.regular_files import is_regular, open_regular
from cyclelens.analyzer.frontend.source.chunks import LINE_END
from cyclelens.analyzer.model.source import Origin
from msgspec import Struct, field

_OPEN_FILES = "/proc/self/fd"
"""Folder with links to this process's open files."""
SAFE_STUB = r"(?!.*(?:^|/)\.\.(?:/|$))[\w+-][\w./+-]{0,200}"
"""Name of a missing file that an empty one may replace in a program's folder."""
MAXIMUM_FILES = 500
MAXIMUM_BYTES = 32 << 20
"""Bytes of all included files together."""

_GAP = r"(?:[ \t\f\v]++|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    # A query for a file may reveal that the file exists, and can stand anywhere in a line.
    "c": re.compile(
        rf"(?:(?:^|\*/){_GAP}(?:\#|%:|\?\?=){_GAP}(?P<word>include_next|include|import|embed)\b{_GAP}"
        rf"|\b(?P<asked>__has_(?:include|include_next|embed)|GCC[ \t]+(?:dependency|pch_preprocess))\b"
        rf"{_GAP}\(?{_GAP}\\?)"
        r'(?:"(?P<quoted>[^"\n]*)"|<(?P<angled>[^>\n]*)>|(?P<computed>[^\n]*))',
        re.MULTILINE,
    ),
    "gas": re.compile(
        r'\.(?P<word>include|incbin)\b[ \t]*(?:"(?P<quoted>[^"\n]*)"|(?P<computed>[^\n]*))', re.IGNORECASE
    ),
    # Strings and comments are recognised; directives may be arguments of macros.
    "nasm": re.compile(
        r"\"[^\"\n]*\"?|'[^'\n]*'?|`(?:[^`\\\n]++|\\.)*+`?|;[^\n]*|"
        r"(?:%[ \t]*(?:[{\[][ \t]*)?(?P<word>include|require|depend|pathsearch[ \t]+[\w.$?@~]+)"
        r"|(?<![\w.$%])(?P<data>incbin))(?![\w.$])[ \t]*(?:[}\]][ \t]*)?"
        r"(?:\"(?P<quoted>[^\"\n]*)\"|'(?P<single>[^'\n]*)'|(?P<computed>[^\n;]*))",
        re.IGNORECASE,
    ),
}
_PUTS_TOGETHER = r"(?i)%[ \t]*(?:i?deftok\b|tok\b|[\[{+])"
"""NASM constructs that build words, and thus directives, from strings and other words."""
_PACKAGE = r"(?im)^[ \t]*%[ \t]*use[ \t]+[\"'`]?(\w+)"
_DEFINITION = rf"(?m)(?:^|\*/){_GAP}(?:\#|%:|\?\?=){_GAP}define\b{_GAP}(?P<name>\w+)(?P<rest>[^\n]*)"
_LITERAL = r'\s+(?:"(?P<quoted>[^"\n]+)"|<(?P<angled>[^>\n]+)>)\s*(?:/[/*].*)?'
_OTHER_MACRO = r"\s+([A-Za-z_]\w*)\s*"
_CONTINUATION = r"(?:\\|\?\?/)[ \t\f\v]*(?:\r\n|\n|\r)"


class RefusedInclude(Struct, frozen=True):
    """An include that may not be followed. ``line`` is a zero-based line of the text itself."""

    line: int
    message: str


class Included(Struct):
    """Result of the search for included files."""

    refusals: list[RefusedInclude] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    """Digest of each file's content by name, in the order found."""
    total: int = 0
    missing: set[str] = field(default_factory=set)
    """Names that were not found, although not all of them may be needed."""
    computed: list[tuple[int, str, str]] = field(default_factory=list)
    """Line, macro and folder of each include that names a macro."""
    definitions: dict[str, set[str]] = field(default_factory=dict)
    """Definitions of C macros, in any file."""
    packages: set[str] = field(default_factory=set)
    """Packages of NASM macros that are used, perhaps conditionally."""
    texts: list[str] = field(default_factory=list)
    """All NASM texts, with continued lines joined."""
    hidden: bool = False
    """The text may have NASM includes that the search cannot see."""


class _IncludeWords(Struct, frozen=True):
    """References of a text to other files."""

    named: tuple[tuple[int, str | None, bool, str | None], ...]
    """(zero-based line, name, whether it is in angle brackets, expression). The name is None if it is
    computed by the expression."""
    definitions: tuple[tuple[str, str], ...]
    packages: frozenset[str]
    joined: str
    """For NASM the text with continued lines joined; otherwise empty."""
    is_hidden: bool


class _Seen:
    """Cached references of included files, by language and content; most files are the same for the next edit
    and the next text."""

    def __init__(self, caches: Caches) -> None:
        self.words: Recent[tuple[str, bytes], _IncludeWords] = caches.recent(MAXIMUM_FILES)


def look(text: str, language: str, origin: Origin, caches: Caches) -> Included:
    """Follow the includes of a text. ``language`` is ``c``, ``gas`` or ``nasm``."""
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
                RefusedInclude(0, f"'{path}', to be included before the text, does not exist.")
            )
    search.scan(text, folder, None)
    known = (-1, -1)
    while known != (len(included.contents), len(included.computed)) and not included.refusals:
        # Newly found files may define macros that other includes name.
        known = (len(included.contents), len(included.computed))
        for line, macro, beside in tuple(included.computed):
            search.follow_macro(macro, line, beside)
    return included


class _Search(Struct, frozen=True):
    """The search for included files of one text."""

    language: str
    origin: Origin
    included: Included
    seen: _Seen

    def scan(self, text: str, folder: str, line: int | None, content: bytes = b"") -> None:
        """Follow all includes of a text. ``line``: the user's line that includes it, None for the user's text
        itself. ``content``: digest of an included text."""
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
                # An apostrophe belongs to prose in a comment ("#include's") and begins no file name.
                self.follow(name, angled, place, folder)

    def _words_of_file(self, text: str, content: bytes) -> _IncludeWords:
        key = self.language, content
        words = self.seen.words.get(key)
        if words is None:
            words = self.seen.words[key] = _words(text, self.language)
        return words

    def follow_macro(self, macro: str, line: int, folder: str) -> None:
        """Follow all definitions of a macro; an undefined macro names no file."""
        for value in sorted(self.included.definitions.get(macro, ())):
            literal, other = re.fullmatch(_LITERAL, value), re.fullmatch(_OTHER_MACRO, value)
            if other is not None:
                if (line, other[1], folder) not in self.included.computed:
                    self.included.computed.append((line, other[1], folder))
            elif literal is None:
                self.follow(None, False, line, folder)
            else:
                name = literal["quoted"] or literal["angled"]
                self.follow(name, bool(literal["angled"]), line, folder)

    def follow(self, name: str | None, angled: bool, line: int, folder: str) -> None:
        """Follow one include at this line. ``angled``: its name is in angle brackets."""
        if name is None:
            self.included.refusals.append(
                RefusedInclude(line, "The name of an included file must be written out.")
            )
            return
        # Assemblers do not search the folder of the including file.
        beside = [folder] if folder and self.language == "c" and not angled else []
        folders = [*beside, *search_path(self.origin)]
        path = name if os.path.isabs(name) and os.path.isfile(name) else find(name, folders)
        if path is not None and not is_regular(path) and may_read(path, self.origin):
            self.included.refusals.append(RefusedInclude(line, f"'{name}' is not a regular file."))
            return
        if path is None:
            escapes = os.path.isabs(name) or ".." in re.split(r"[/\\]", name)
            if self.language == "c" and not escapes:
                return  # the compiler's own file, or missing: then the compiler reports it
            if escapes:
                self.included.refusals.append(RefusedInclude(line, f"'{name}' is outside of the workspace."))
            self.included.missing.add(name)
            return
        if not may_read(path, self.origin):
            message = f"'{name}' is outside of the workspace; add its folder to the include paths."
            self.included.refusals.append(RefusedInclude(line, message))
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
            self.included.refusals.append(
                RefusedInclude(line, "The included files are too many or too large.")
            )
            return
        try:
            text = read(path, self.origin)
        except OSError as error:
            self.included.refusals.append(RefusedInclude(line, f"'{name}' cannot be read: {error.strerror}."))
            return
        contents[path] = blake2b(text.encode("utf-8", "surrogatepass")).digest()
        self.scan(text, os.path.dirname(path), line, contents[path])


def search_path(origin: Origin) -> list[str]:
    """Search path of included files: the text's folder, the user's include paths, the workspace, and the
    folders between it and the text (builds of dav1d and FFmpeg name one of them)."""
    own = [os.path.dirname(origin.path)] if origin.path else []
    return list(dict.fromkeys([*own, *origin.include_paths, *origin.folders, *_above(origin)]))


def _above(origin: Origin) -> Iterator[str]:
    """The folders above the text's that are below a workspace folder, the nearest first."""
    folder = os.path.dirname(os.path.dirname(origin.path))
    while folder not in origin.folders and _within(folder, origin.folders):
        yield folder
        folder = os.path.dirname(folder)


def readable(origin: Origin) -> tuple[str, ...]:
    """Folders and files that may be read for a text, with links resolved: the workspace, and what the user
    named outside of it. A path named within the workspace that is now a link to the outside is left out,
    because the user did not name its target."""
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
    """Whether a file's resolved path is in the workspace or is, or is in, something that the user named."""
    return _within(os.path.realpath(path), readable(origin))


def _within(path: str, roots: Iterable[str]) -> bool:
    return any(path == root or path.startswith(os.path.join(root, "")) for root in roots)


def named_in_rule(rule: bytes) -> set[str]:
    """Files that a program read, from a make rule that it wrote."""
    text = rule.decode("utf-8", "replace").replace("\\\n", " ").partition(":")[2]
    names = re.findall(r"(?:\\.|\S)+", text)
    return {re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in names}


def find(name: str, folders: Sequence[str]) -> str | None:
    """Path of the first file of this name in the folders. Other things than regular files (a FIFO, a device)
    count as well, because an assembler would open them; folders do not."""
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.exists(path) and not os.path.isdir(path):
            return path
    return None


def read(path: str, origin: Origin) -> str:
    """Content of a file that may be read. Raises OSError."""
    return read_permitted(path, origin, MAXIMUM_BYTES).decode("utf-8-sig", "replace")


def read_permitted(path: str, origin: Origin, maximum: int) -> bytes:
    """Content of a file of at most ``maximum`` bytes that may be read. The check applies to the opened file,
    even if the name changes meanwhile. Raises OSError."""
    with open_regular(path, maximum) as file:
        # The name may be redirected after the check, but an open file stays the same.
        opened = f"{_OPEN_FILES}/{file.fileno()}"
        real = os.path.realpath(opened if os.path.exists(opened) else path)
        if not may_read(real, origin) or not os.path.samestat(os.fstat(file.fileno()), os.stat(real)):
            raise PermissionError(errno.EACCES, "it is outside of the workspace")
        return file.read(maximum + 1)


def _words(text: str, language: str) -> _IncludeWords:
    joins: list[int] = []
    if language != "gas":
        # Words may continue on the next line. Joined lines are counted afterwards.
        pieces, length = [], 0
        for piece in re.split(_CONTINUATION, text):
            pieces.append(piece)
            length += len(piece)
            joins.append(length)
        text = "".join(pieces)
    is_nasm = language == "nasm"
    defined = re.finditer(_DEFINITION, text) if language == "c" else ()
    return _IncludeWords(
        tuple(_named(text, language, joins)),
        tuple((match["name"], match["rest"]) for match in defined),
        frozenset(name.lower() for name in re.findall(_PACKAGE, text)) if is_nasm else frozenset(),
        text if is_nasm else "",
        is_nasm and re.search(_PUTS_TOGETHER, text) is not None,
    )


def _named(
    text: str, language: str, joins: Sequence[int]
) -> Iterator[tuple[int, str | None, bool, str | None]]:
    """The references of ``_IncludeWords.named``. ``joins``: offsets at which lines were joined."""
    line = counted = joined = 0
    for match in _PATTERNS[language].finditer(text):
        groups = match.groupdict()
        if not any(map(groups.get, ("word", "data", "asked"))):
            continue
        place = match.end("word") if groups["word"] else match.start()
        line += len(LINE_END.findall(text, counted, place))
        counted = place
        while joined < len(joins) - 1 and joins[joined] <= place:
            joined += 1
        name = next((groups[key] for key in ("quoted", "single", "angled") if groups.get(key)), None)
        computed = None if groups.get("asked") else groups.get("computed")
        yield line + joined, name, bool(groups.get("angled")), computed
