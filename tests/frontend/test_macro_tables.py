"""How the text of a macro is cut and put together: parameters, arguments, ``.altmacro``; and the two texts of
a condition, and names. ``test_macros.py`` compares whole macros with GNU as."""

from __future__ import annotations

import pytest
from cyclelens.analyzer.frontend.programs import macros
from cyclelens.analyzer.frontend.programs.conditions import _comparands
from cyclelens.analyzer.frontend.programs.macros import MacroError
from cyclelens.analyzer.frontend.source.scanner import RawStatement
from cyclelens.analyzer.frontend.statements.names import (
    function_of,
    shown,
    symbol_of,
    symbols,
    without_suffix,
)

SPLIT = {
    "": [], "a": ["a"], "a b": ["a", "b"], "a, b": ["a", "b"], "a , b": ["a", "b"], "a,,b": ["a", "", "b"],
    ",a": ["", "a"], "a,": ["a", ""], "a\t\tb": ["a", "b"], "(a b) c": ["(a b)c"], "[a b] c": ["[a b]c"],
    "a (b, c) d": ["a", "(b", "c)d"], "a b [c d] (e f)": ["a", "b", "[c d](e f)"], "x) y": ["x)y"],
    "( a  b ) c": ["( a b)c"], "{a} b": ["{a}", "b"], "a:b c": ["a:b", "c"], "%rax %rbx": ["%rax", "%rbx"],
    "8(%rsi, %rdi) x": ["8(%rsi", "%rdi)x"], '"x y" z': ['"x y"', "z"], '"x, y", z': ['"x, y"', "z"],
    '"a\\"b c" d': ['"a\\"b c"', "d"], '"\\\\" x': ['"\\\\"', "x"], '"a b': ['"a b'],
    'a="x y" b': ['a="x y"', "b"],
    "a + b": ["a+b"], "a -b": ["a", "-b"], "a - b": ["a", "-", "b"], "a* b": ["a*", "b"], "a\\@ b": ["a\\@b"],
}  # fmt: skip
Parameters = list[tuple[str, str, bool, bool]]
DEFINED: dict[str, Parameters] = {
    "m": [], "m a": [("a", "", False, False)], "m,a": [("a", "", False, False)],
    "m a b": [("a", "", False, False), ("b", "", False, False)],
    "m a=1, b=2": [("a", "1", False, False), ("b", "2", False, False)],
    "m a = 1 b": [("a", "1", False, False), ("b", "", False, False)],
    "m a:req": [("a", "", True, False)], "m a:REQ": [("a", "", True, False)],
    "m a:req=5": [("a", "5", True, False)],
    "m a:req b:vararg": [("a", "", True, False), ("b", "", False, True)],
    'm a="x y" b': [("a", "x y", False, False), ("b", "", False, False)],
    "m a=(1 + 2) b": [("a", "(1+2)b", False, False)], "m a=": [("a", "", False, False)],
    "m a=,b": [("a", "", False, False), ("b", "", False, False)],
}  # fmt: skip
NOT_DEFINED = {
    "": "A macro needs a name.",
    "1 a": "A macro needs a name.",
    "m 1": "'1' is not a macro parameter.",
    "m a 1": "'1' is not a macro parameter.",
    "m a:other": "':other' is not a macro parameter.",
    "m " + "1" * 31: f"'{'1' * 30}' is not a macro parameter.",
}
BOUND: dict[tuple[str, str], dict[str, str] | str] = {
    ("m a b=3 c", ""): {"a": "", "b": "3", "c": ""},
    ("m a b=3 c", "1 2 3"): {"a": "1", "b": "2", "c": "3"},
    ("m a b=3 c", "1,,2"): {"a": "1", "b": "3", "c": "2"},
    ("m a b=3 c", "b=5 1"): {"a": "1", "b": "5", "c": ""},
    ("m a b=3 c", "c=7, 1, 2"): {"a": "1", "b": "2", "c": "7"},
    ("m a b=3 c", "x=1"): {"a": "x=1", "b": "3", "c": ""},
    ("m a b=3 c", "a==1"): {"a": "a==1", "b": "3", "c": ""},
    ("m a b=3 c", '"x y" z'): {"a": "x y", "b": "z", "c": ""},
    ("m a b=3 c", 'a="x y"'): {"a": "x y", "b": "3", "c": ""},
    ("m a b=3 c", "1 2 3 4"): "The macro 'm' takes at most 3 arguments.",
    ("m", "1"): "The macro 'm' takes at most 0 arguments.",
    ("m a:req b", "1"): {"a": "1", "b": ""},
    ("m a:req b", "b=2"): "The macro 'm' needs a value for 'a'.",
    ("m a:req b", "a="): "The macro 'm' needs a value for 'a'.",
    ("m a b:vararg", "1"): {"a": "1", "b": ""},
    ("m a b:vararg", "1, 2 3"): {"a": "1", "b": "2 3"},
    ("m a b:vararg", "1,2 , 3"): {"a": "1", "b": "2,3"},
    ("m a b:vararg", "b=4, 5"): {"a": "5", "b": "4"},
}
ALTERNATE = {
    "<a b>": '"a b"', "<a!>b>": '"a>b"', "<a!!b>": '"a!b"', "<>": '""', "<x>,<y>": '"x","y"', "<a": "<a",
    "%1+2": "3", "a %1+2": "a 3", "a\t%1+2": "a\t3", "a,%5,b": "a,5,b", "a%5": "a%5", "% 7 , 8": "7, 8",
    "%5<a>": '5"a"', '"q <r>"': '"q <r>"', '<a"b>': '"a\x02b"',
}  # fmt: skip
LOCAL = {
    "local a": ["a"], "LOCAL a, b": ["a", "b"], " local  a , b ": ["a", "b"],
    **dict.fromkeys(("local a b", "local", "locala", "local a,", "nop"), None),
}  # fmt: skip
REPLACED = {
    "nop": "nop", "\\a": "1", "\\a\\b": "12", "\\a\\()b": "1b", "\\@": "7", "\\ab": "\\ab", "a\\a": "a1",
    "\\A": "\\A", "\\\\a": "\\1",
}  # fmt: skip
BARE = {
    "a": "1", "a&b": "12", "&a&b": "12", "x&a": "x1", "ab": "ab", "a.b": "a.b", "$a": "$a", "a b": "1 2",
    "&c": "&c", "&a": "1",
}  # fmt: skip
COMPARED = {
    "a,b": ("a", ",", "b"), " a , b ": ("a", ",", "b"), "a,b,c": ("a", ",", "b,c"),
    '"a,b", c': ("a,b", ",", "c"),
    '"a\\"b",c': ('a\\"b', ",", "c"), "'a,b', \"c\"": ("a,b", ",", "c"), "a": ("a", "", ""), "": ("", "", ""),
    ",": ("", ",", ""), '"a': ('"a', "", ""), '"", \'\'': ("", ",", ""), '",b': ('"', ",", "b"),
}  # fmt: skip


def defined(text: str, body: tuple[RawStatement, ...] = ()) -> macros.Macro:
    return macros.define(text, body)


def test_arguments_end_at_commas_and_at_blanks_outside_of_brackets() -> None:
    assert {text: macros.split(text) for text in SPLIT} == SPLIT


def test_the_parameters_of_a_macro() -> None:
    found = {
        text: [(each.name, each.default, each.required, each.takes_rest) for each in defined(text).parameters]
        for text in DEFINED
    }
    assert found == DEFINED
    assert {defined(text).name for text in DEFINED} == {"m"}
    for text, message in NOT_DEFINED.items():
        with pytest.raises(MacroError) as refused:
            defined(text)
        assert str(refused.value) == message


@pytest.mark.parametrize(("definition", "use"), BOUND)
def test_the_arguments_of_a_use(definition: str, use: str) -> None:
    expected = BOUND[definition, use]
    if isinstance(expected, dict):
        assert macros.bind(defined(definition), use) == expected
        return
    with pytest.raises(MacroError) as refused:
        macros.bind(defined(definition), use)
    assert str(refused.value) == expected


def test_altmacro_has_strings_in_angles_values_and_local_names() -> None:
    def evaluated(text: str) -> int:
        return sum(int(each) for each in text.split("+"))

    assert {text: macros.alternate_arguments(text, evaluated) for text in ALTERNATE} == ALTERNATE
    assert {text: macros.local_names(text) for text in LOCAL} == LOCAL


def test_names_of_parameters_are_replaced() -> None:
    values = {"a": "1", "b": "2"}
    assert {text: macros.replace_names(text, values, 7) for text in REPLACED} == REPLACED
    assert {text: macros.replace_bare_names(text, values) for text in BARE} == BARE
    body = [RawStatement(5, text) for text in ("local x", "b x \\a", '.ascii "\\a\\@"')]
    place = RawStatement(90, "m 1", (90, 93))
    plain = macros.expand(body, {"a": "1\x02"}, 4, place)
    assert [each.text for each in plain] == ["local x", 'b x 1"', '.ascii "1"4"']
    alternate = macros.expand(body, values, 4, place, True)
    assert [each.text for each in alternate] == ["2 .LL4.x 1", '.ascii "14"']
    assert {(each.start, each.place) for each in (*plain, *alternate)} == {(90, (90, 93))}


def test_the_two_texts_of_a_condition() -> None:
    assert {text: _comparands(text) for text in COMPARED} == COMPARED


SYMBOLS = {
    "a": "a", '"a"': "a", '"a b"': '"a b"', '"a"@plt': "a@plt", '"1"': '"1"', '"."': '"."', '"$"': '"$"',
    '"a.b$c"': "a.b$c", '""': '""', '"é"': "é", '"a': '"a', '".x"': ".x", '"_1"': "_1",
    '"a\u00a0b"': '"a\u00a0b"', '"a b"@plt': '"a b"@plt',
}  # fmt: skip


def test_a_name_in_quotes_is_the_name_without_them_where_it_needs_none() -> None:
    assert {text: symbol_of(text) for text in SYMBOLS} == SYMBOLS
    shorter = {"a": "a", '"a b"': "a b", '"a': '"a', 'a"': 'a"', '""': ""}
    assert {text: shown(text) for text in shorter} == shorter
    plain = {"a": "a", "a@plt": "a", '"a@b"@plt': '"a@b"', "@x": "", "": ""}
    assert {text: without_suffix(text) for text in plain} == plain
    named = {
        "a+b": ["a", "b"],
        "'a'+b": ["b"],
        '"x y"-z': ['"x y"', "z"],
        ".+a": [".", "a"],
        "5": [],
        "'b'": [],
    }
    assert {text: symbols(text) for text in named} == named


def test_a_type_directive_may_declare_a_function() -> None:
    for kind in ("@function", "%function", "STT_FUNC", '"function"', "@gnu_indirect_function"):
        assert function_of(f"f, {kind}") == "f"
        assert function_of(f'"a b",{kind}') == '"a b"'
    for text in ("f, @object", "f", "", "func", "f, STT_OBJECT"):
        assert function_of(text) == ""
