"""Checks the wording of documents, comments, docstrings and messages: ``python dev/prose.py``.

Prints a line per violation of docs/style.md, and exits with code 1 if there is one. Codespell checks
spelling; this program checks words: one per thing (docs/glossary.md), "per" for rates, no empty words, short
sentences.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[1]
LONGEST_SENTENCE = 40
"""Most words in a document's sentence; one idea needs fewer."""

COUNTED = (
    r"\d+(?:\.\d+)?|one|two|three|four|five|six|eight|ten|uops?|macro-ops?|bytes?|instructions?|loads?|stores?|"
    r"branches|windows?|blocks|slots|cycles"
)


class Rule(Struct, frozen=True):
    """A pattern to avoid, and its replacement."""

    pattern: str
    instead: str


RULES = (
    Rule(rf"\b(?:{COUNTED}) an? (?:cycle|iteration|round|second)\b", "per, for a rate"),
    Rule(
        r"\bone (?:(?!is\b|and\b)\w+ )?an? (?:file|line|unit|stage|core|block|record|run|page)\b|"
        r"\d (?:ms|us|KiB|MB|cycles) an? (?:run|block|edit|file)\b",
        "per, for a rate",
    ),
    Rule(r"\bclock cycles?\b", "cycle"),
    Rule(r"\bmicro-?ops?\b|\bµops?\b", "uop"),
    Rule(r"\bDSB windows?\b", "DSB block"),
    Rule(r"\bfetch (?:windows?|lines?)\b", "fetch block"),
    Rule(r"\bbasic-blocks?\b", "basic block"),
    Rule(r"\bcycles?/(?:loop|iteration)\b|\bCPI\b", "cycles per iteration"),
    Rule(r"\binvalid input\b", "what is wrong, and what would be right"),
    Rule(r"\butili[sz]e[sd]?\b|\bleverage[sd]?\b", "use"),
    Rule(r"\bperformant\b", "fast, with the figure"),
    Rule(r"\bin order to\b", "to"),
    Rule(
        r"\bplease note\b|(?:^|[.;] )Note that\b|\bit should be noted\b|\bneedless to say\b",
        "the thing itself",
    ),
    Rule(r"\b(?:obviously|simply|basically|trivially|seamless(?:ly)?|blazing(?:ly)?)\b", "nothing"),
    Rule(r"\band/or\b", "or, or both"),
    Rule(r"\b(?:is|are|was|were) incurred\b", "the one who does it"),
    Rule(r"\bas per (?:the|usual)\b|\bw\.?r\.?t\b\.?", "as, about"),
)
_RULES = [(re.compile(rule.pattern, re.IGNORECASE), rule.instead) for rule in RULES]


class Place(Struct, frozen=True):
    """A violation: its line and message."""

    line: int
    message: str


def words(text: str, first: int = 1) -> Iterator[Place]:
    """Violations of the rules; text in backticks or quotes is exempt."""
    for number, line in enumerate(text.splitlines(), first):
        prose = re.sub(r"`[^`]*`|\"[^\"]*\"|\]\([^)]*\)", " ", line)
        for pattern, instead in _RULES:
            for found in pattern.finditer(prose):
                yield Place(number, f"'{found[0]}': write {instead}")


def sentences(text: str) -> Iterator[Place]:
    """Sentences of a Markdown text that are too long, outside code, tables and headings."""
    start, kept = 1, list[str]()
    fenced = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        ends = fenced or not line.strip() or line.startswith(("|", "#", "```", "<")) or item
        if ends:
            for sentence in re.split(r"(?<=[.!?:;])\s+", " ".join(kept)):
                if (count := len(re.sub(r"`[^`]*`", "x", sentence).split())) > LONGEST_SENTENCE:
                    yield Place(start, f"a sentence of {count} words: '{' '.join(sentence.split()[:6])} ...'")
            start, kept = number, []
        if not ends or item:
            kept.append(line.strip())


def code(text: str) -> Iterator[Place]:
    """Violations in the comments, docstrings and other strings of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from words(token.string, token.start[0])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from words(node.value, node.lineno)


def documents() -> list[Path]:
    """Documents for users and contributors."""
    return [
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
        *sorted((ROOT / ".github").rglob("*.md")),
    ]


def main() -> int:
    """Print all violations; returns the exit code."""
    found = []
    for file in documents():
        text = file.read_text(encoding="utf-8")
        found += [(file, place) for place in (*words(text), *sentences(text))]
    for top in ("analyzer", "server", "dev", "benchmarks"):
        for file in sorted((ROOT / top).rglob("*.py")):
            if file != Path(__file__):
                found += [(file, place) for place in code(file.read_text(encoding="utf-8"))]
    for file, place in found:
        print(f"{file.relative_to(ROOT)}:{place.line}: {place.message}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
