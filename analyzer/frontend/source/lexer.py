"""What assembly text is cut into: comments, texts in quotes, labels, words, operands.

The scanner cuts whole texts with them; labels, colours and rewrites ask about single lines.
"""

from __future__ import annotations

import re
from enum import StrEnum

from cyclelens.analyzer.common.patterns import pattern

MARKER_WORDS = pattern(r"(?:cyclelens|osaca|llvm-mca)-\w", re.IGNORECASE)
"""What every region marker begins with."""

STRING = r'"(?:[^"\\\r\n]++|\\[^\r\n])*+"?'
"""Up to the end of the line where its end is missing."""
QUOTED = r'"(?:[^"\\]++|\\.)*+"'
"""A text in quotes, up to the second one."""
NASM_QUOTED = r"\"[^\"]*\"|'[^']*'|`(?:[^`\\]++|\\.)*+`"
"""The same as NASM has it: a backslash says something between the last ones alone."""
BEYOND_ASCII = r"\x80-\U0010ffff"
"""Within brackets: characters that GNU as takes for letters, whatever they are."""
SYMBOL = rf"[A-Za-z_.${BEYOND_ASCII}][\w.${BEYOND_ASCII}]*"
"""A name of GNU as, which takes every character beyond ASCII for a letter."""
QUOTED_NAME = r'"[^"\\\r\n]+"'
"""A name of GNU as in quotes, where any other character may stand."""
UNICODE_SYMBOL = (
    rf"(?<![\w.@{BEYOND_ASCII}])(?=[\w.$]*[{BEYOND_ASCII}])[A-Za-z_.{BEYOND_ASCII}][\w.${BEYOND_ASCII}]*"
)
"""A name with a character beyond ASCII."""
MASM_SYMBOL = r"(?<![\w.$?@])(?:\$[\w.$?@]+|(?=[\w.$]*[@?])[A-Za-z_.?@][\w.$?@]*)"
"""A name of MASM with characters that GNU as does not take in names, or not at their beginning."""
ODD_BLANK = pattern(r"[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""What looks like a blank, and GNU as takes for a letter."""
CHARACTER = r"'(?:\\[^\r\n]|[^\\\r\n])'?"
"""GNU as does not ask for the second quote."""
LABEL = pattern(
    r'\s*("(?:[^"\\\n]++|\\.)*+"|'
    rf"[A-Za-z_.$?@{BEYOND_ASCII}][\w.$?@{BEYOND_ASCII}]*|[0-9]+)\s*:(?!:)"
)
"""One in front of a statement, with the colon; its first group is the name."""

COMMENT_SIGN = r"(?:\#|//|;)"
"""What may begin a comment to the end of the line, depending on the assembler."""
BLOCK_COMMENT = pattern(r"/\*(?:.*?(\*/)|.*)", re.DOTALL)
"""Its first group is its end, where it has one."""
_EXPRESSION_TOKEN = r"""\s*(?:
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
    is_masm: pattern(_EXPRESSION_TOKEN.format(symbol=symbol, quoted=QUOTED_NAME), re.VERBOSE)
    for is_masm, symbol in ((False, SYMBOL), (True, rf"(?:{MASM_SYMBOL}|{SYMBOL})"))
}
"""What expressions are made of, blanks before it included; by whether they are MASM's."""

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
_FLAGS = re.VERBOSE | re.IGNORECASE


def _patterns(template: str) -> dict[bool, re.Pattern[str]]:
    """Where semicolons separate statements, and where they begin comments."""
    return {
        False: re.compile(template.format(semicolon="", slash="|(?P<slash>/)"), _FLAGS),
        True: re.compile(template.format(semicolon=r"|;[^\r\n]*", slash=""), _FLAGS),
    }


PUNCTUATION = _patterns(_LINE_END + _PUNCTUATION)
"""Ends of lines and statements, comments, texts in quotes; by whether semicolons begin comments. A ``slash``
begins a comment of GNU as at the beginning of a statement and behind a colon."""
_LEXEMES = _patterns(_PUNCTUATION + _WORDS)
_IGNORED = pattern(rf"(?P<comment>/\*.*?(?:\*/|$)|(?:\#|//).*)|{STRING}|{CHARACTER}")
_QUOTED = pattern(QUOTED)
_IN_QUOTES = pattern(f"{STRING}|{CHARACTER}")
_NOTHING = pattern(r"\s*(?:[#;]|//|/\*.*\*/\s*$)|\s*$")


class Shape(StrEnum):
    """What a piece of a line looks like; what it means depends on its place."""

    LABEL = "label"
    """Without the colon."""
    COMMENT = "comment"
    SEPARATOR = "separator"
    STRING = "string"
    CHARACTER = "character"
    REGISTER = "register"
    """With a percent sign; a directive of NASM's preprocessor looks the same."""
    LOCAL = "local"
    """``1b`` or ``1f``."""
    NUMBER = "number"
    NAME = "name"
    OTHER = "other"


_SHAPES = {shape.value: shape for shape in Shape} | {"slash": Shape.OTHER}
Lexeme = tuple[Shape, int, int]
"""A piece of a line, and where it begins and ends, in code points."""


def lexemes(line: str, *, semicolon_comments: bool, inside: bool) -> tuple[list[Lexeme], bool]:
    """The pieces of a line, and whether a block comment goes on behind it. ``inside``: it begins in one."""
    found: list[Lexeme] = []
    position = _end_of_block(line, 0) if inside else 0
    if inside and line:
        found.append((Shape.COMMENT, 0, len(line) if position < 0 else position))
    if position < 0:
        return found, True
    pattern = _LEXEMES[semicolon_comments]
    begins, before = True, ":"
    while True:
        while begins and (label := LABEL.match(line, position)):
            found.append((Shape.LABEL, *label.span(1)))
            position = label.end()
        match = pattern.search(line, position)
        if match is None:
            return found, False
        start, position = match.span()
        kind = match.lastgroup or ""
        if kind == "block":
            position = _end_of_block(line, position)
            found.append((Shape.COMMENT, start, len(line) if position < 0 else position))
            if position < 0:
                return found, True
        elif kind == "comment" or (kind == "slash" and before == ":"):
            found.append((Shape.COMMENT, start, len(line)))
            return found, False
        else:
            found.append((_SHAPES[kind], start, position))
            begins = kind == "separator"
            before = ":" if begins else line[position - 1]


def _end_of_block(line: str, start: int) -> int:
    """Where a block comment ends; -1 if it goes on behind the line."""
    end = line.find("*/", start)
    return end + 2 if end >= 0 else -1


def leading_labels(text: str) -> tuple[list[re.Match[str]], int]:
    """The labels in front of a statement, as ``LABEL`` finds them, and where what follows begins."""
    found = []
    position = 0
    while match := LABEL.match(text, position):
        found.append(match)
        position = match.end()
    return found, position


def without_comments(line: str, *, strings: bool = True) -> str:
    """The line with its comments blanked out, and its texts in quotes unless ``strings``; columns stay where
    they are. A semicolon may begin a comment or a statement: what stands behind it stays."""

    def blanked(match: re.Match[str]) -> str:
        return " " * len(match[0]) if match["comment"] or not strings else match[0]

    return _IGNORED.sub(blanked, line)


def has_odd_blank(statement: str) -> bool:
    """Does something outside of quotes look like a blank that is none?"""
    return not statement.isascii() and ODD_BLANK.search(_IN_QUOTES.sub("", statement)) is not None


def is_empty(line: str) -> bool:
    """Does nothing but a comment stand there? What a semicolon begins counts as one."""
    return _NOTHING.match(line) is not None


def cut_arguments(text: str) -> tuple[list[str], bool]:
    """What stands between the commas outside of texts in quotes and of parentheses, without blanks around it;
    and whether every text has its second quote."""
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
    """What stands between the commas outside of all brackets, and whether these match."""
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
