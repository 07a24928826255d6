"""Lexical elements of assembly text: comments, strings, labels, words, operands.

The scanner uses them for whole texts; labels, colours and rewrites use them for single lines.
"""

from __future__ import annotations

import re
import string
from enum import StrEnum

MARKER_WORDS = re.compile(r"(?:cyclelens|osaca|llvm-mca)(?:-\w|[ \t_:.]{1,4}(?:begin|end)\b)", re.IGNORECASE)
"""Beginning of every region marker, and of what was meant as one."""

STRING = r'"(?:[^"\\\r\n]++|\\[^\r\n])*+"?'
"""A string; without a closing quote it extends to the end of the line."""
QUOTED = r'"(?:[^"\\]++|\\.)*+"'
"""A string with its closing quote."""
NASM_QUOTED = r"\"[^\"]*\"|'[^']*'|`(?:[^`\\]++|\\.)*+`"
"""Strings in NASM; only backquoted ones have escapes."""
_BEYOND_ASCII = r"[^\x00-\x7f]"
"""A character beyond ASCII: GNU as treats all of them as letters."""


def letters(others: str, *, digits: bool) -> str:
    """A character class: ASCII letters, characters beyond ASCII, ``others`` and perhaps digits.

    It names the ASCII characters that are left out: Python takes milliseconds to compile a class with a range
    of a million characters.
    """
    inside = string.ascii_letters + others + string.digits * digits
    return f"[^{''.join(re.escape(chr(each)) for each in range(128) if chr(each) not in inside)}]"


SYMBOL = letters("_.$", digits=False) + letters("_.$", digits=True) + "*"
"""A plain name in GNU as, which treats every non-ASCII character as a letter."""
QUOTED_NAME = r'"[^"\\\r\n]+"'
"""A quoted name in GNU as, which may contain any other character."""
UNICODE_SYMBOL = (
    rf"(?<!{letters('_.@', digits=True)})(?=[\w.$]*{_BEYOND_ASCII})"
    rf"{letters('_.', digits=False)}{letters('_.$', digits=True)}*"
)
"""A name with a non-ASCII character."""
MASM_SYMBOL = r"(?<![\w.$?@])(?:\$[\w.$?@]+|(?=[\w.$]*[@?])[A-Za-z_.?@][\w.$?@]*)"
"""A MASM name with characters that GNU as does not accept in names, or not at their beginning."""
ODD_BLANK = re.compile(r"[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""Characters that look like blanks but are letters to GNU as."""
CHARACTER = r"'(?:\\[^\r\n]|[^\\\r\n])'?"
"""A character constant; GNU as does not require the closing quote."""
LABEL = re.compile(
    r'\s*("(?:[^"\\\n]++|\\.)*+"|'
    rf"{letters('_.$?@', digits=False)}{letters('_.$?@', digits=True)}*|[0-9]+)\s*:(?!:)"
)
"""A label before a statement, with its colon; group 1 is the name."""

COMMENT_SIGN = r"(?:\#|//|;)"
"""Possible beginnings of a line comment, depending on the assembler."""
BLOCK_COMMENT = re.compile(r"/\*(?:.*?(\*/)|.*)", re.DOTALL)
"""A block comment; group 1 is its end, if it has one."""
_EXPRESSION_TOKEN = r"""(?x)\s*(?:
    (?P<hexadecimal>0[xX][0-9a-fA-F]{{1,32}}(?!\w))
  | (?P<binary>0[bB][01]{{1,64}}(?!\w))
  | (?P<local>[0-9]{{1,9}}[bf](?!\w))
  | (?P<suffixed>[0-9][0-9a-fA-F]{{0,31}}[hH](?!\w))
  | (?P<number>[0-9]{{1,32}}(?!\w))
  | (?P<character>'(?:\\.|[^\\'])'?)
  | (?P<symbol>{symbol}(?:@[A-Za-z_]\w*)?)
  | (?P<quoted>{quoted}(?:@[A-Za-z_]\w*)?)
  | (?P<operator><<|>>|&&|\|\||==|!=|<>|<=|>=|[-+*/%&|^~!()<>])
    )"""
EXPRESSION_TOKENS = {
    is_masm: _EXPRESSION_TOKEN.format(symbol=symbol, quoted=QUOTED_NAME)
    for is_masm, symbol in ((False, SYMBOL), (True, rf"(?:{MASM_SYMBOL}|{SYMBOL})"))
}
"""A token of an expression with the blanks before it, by whether the text is MASM's. These patterns and those
below are compiled when they are used: a text needs one of each pair."""

_LINE_END = r"(?P<newline>\r\n|\n|\r) |"
_PUNCTUATION = rf"""
    (?P<comment>\#[^\r\n]*|//[^\r\n]*|;[ \t;]{{{{0,8}}}}(?=cyclelens-|osaca-|llvm-mca-)[^\r\n]*{{semicolon}})
  | (?P<block>/\*){{slash}}
  | (?P<separator>;)
  | (?P<string>{STRING})
  | (?P<character>{CHARACTER})
"""
_WORDS = r"""
  | (?P<register>%[ ]?(?:st\(\d\)|[a-z]\w*))
  | (?P<local>\d+[bf]\b(?![\w(]))
  | (?P<number>0x[\da-f]+|0b[01]+\b|\d[\da-f]*h\b|\d+(?:\.\d+)?(?:e[-+]?\d+)?)
  | (?P<name>[a-z_.?@][\w.$?@]*)
  | (?P<other>[^\s])
"""


def _patterns(template: str) -> dict[bool, str]:
    """Patterns for texts in which semicolons separate statements (False) or begin comments (True)."""
    return {
        False: "(?xi)" + template.format(semicolon="", slash="|(?P<slash>/)"),
        True: "(?xi)" + template.format(semicolon=r"|;[^\r\n]*", slash=""),
    }


PUNCTUATION = _patterns(_LINE_END + _PUNCTUATION)
"""Ends of lines and statements, comments and strings, by whether semicolons begin comments. In GNU as a
``slash`` begins a comment at the beginning of a statement and after a colon."""
_LEXEMES = _patterns(_PUNCTUATION + _WORDS)
_IGNORED = rf"(?P<comment>/\*.*?(?:\*/|$)|(?:\#|//).*)|{STRING}|{CHARACTER}"
_QUOTED = re.compile(QUOTED)
_IN_QUOTES = f"{STRING}|{CHARACTER}"
_NOTHING = r"\s*(?:[#;]|//|/\*.*\*/\s*$)|\s*$"


class TokenShape(StrEnum):
    """Lexical class of a piece of a line; its meaning depends on its position."""

    LABEL = "label"
    """Without the colon."""
    COMMENT = "comment"
    SEPARATOR = "separator"
    STRING = "string"
    CHARACTER = "character"
    REGISTER = "register"
    """With a percent sign; directives of NASM's preprocessor look the same."""
    LOCAL = "local"
    """``1b`` or ``1f``."""
    NUMBER = "number"
    NAME = "name"
    OTHER = "other"


_SHAPES = {shape.value: shape for shape in TokenShape} | {"slash": TokenShape.OTHER}
Lexeme = tuple[TokenShape, int, int]
"""Shape, start and end of a piece of a line, in code points."""


def lexemes(line: str, *, semicolon_comments: bool, inside: bool) -> tuple[list[Lexeme], bool]:
    """The pieces of a line, and whether a block comment continues after it. ``inside``: the line begins
    within one."""
    found: list[Lexeme] = []
    position = _end_of_block(line, 0) if inside else 0
    if inside and line:
        found.append((TokenShape.COMMENT, 0, len(line) if position < 0 else position))
    if position < 0:
        return found, True
    pattern = re.compile(_LEXEMES[semicolon_comments])
    begins, before = True, ":"
    while True:
        while begins and (label := LABEL.match(line, position)):
            found.append((TokenShape.LABEL, *label.span(1)))
            position = label.end()
        match = pattern.search(line, position)
        if match is None:
            return found, False
        start, position = match.span()
        kind = match.lastgroup or ""
        if kind == "block":
            position = _end_of_block(line, position)
            found.append((TokenShape.COMMENT, start, len(line) if position < 0 else position))
            if position < 0:
                return found, True
        elif kind == "comment" or (kind == "slash" and before == ":"):
            found.append((TokenShape.COMMENT, start, len(line)))
            return found, False
        else:
            found.append((_SHAPES[kind], start, position))
            begins = kind == "separator"
            before = ":" if begins else line[position - 1]


def _end_of_block(line: str, start: int) -> int:
    """End of a block comment; -1 if it continues after the line."""
    end = line.find("*/", start)
    return end + 2 if end >= 0 else -1


def leading_labels(text: str) -> tuple[list[re.Match[str]], int]:
    """Labels before a statement, as ``LABEL`` matches them, and the offset after them."""
    found = []
    position = 0
    while match := LABEL.match(text, position):
        found.append(match)
        position = match.end()
    return found, position


def without_comments(line: str, *, strings: bool = True) -> str:
    """The line with its comments blanked out, and its strings unless ``strings``; columns stay the same. Text
    after a semicolon stays, because it may be a statement."""

    def blanked(match: re.Match[str]) -> str:
        return " " * len(match[0]) if match["comment"] or not strings else match[0]

    return re.sub(_IGNORED, blanked, line)


def has_odd_blank(statement: str) -> bool:
    """Whether there is a character outside of quotes that only looks like a space."""
    return not statement.isascii() and ODD_BLANK.search(re.sub(_IN_QUOTES, "", statement)) is not None


def is_empty(line: str) -> bool:
    """Whether the line has nothing but a comment; a semicolon counts as the beginning of one."""
    return re.match(_NOTHING, line) is not None


def cut_arguments(text: str) -> tuple[list[str], bool]:
    """Arguments between commas outside of strings and parentheses, stripped, and whether every string is
    closed."""
    arguments: list[str] = []
    depth = start = position = 0
    while position < len(text):
        character = text[position]
        if character == '"':
            match = _QUOTED.match(text, position)
            if match is None:
                return arguments, False
            position = match.end()
            continue
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            arguments.append(text[start:position].strip())
            start = position + 1
        position += 1
    arguments.append(text[start:].strip())
    return arguments if arguments != [""] else [], True


def cut_operands(text: str) -> tuple[list[str], bool]:
    """Operands between commas outside of all brackets, and whether the brackets match."""
    parts = []
    depth = start = 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]], depth == 0
