"""Requests about labels and selections that editors make by themselves: highlights, call hierarchy,
selections that grow, and linked editing."""

from __future__ import annotations

import pytest
from lsprotocol import types
from testkit.narrowing import some
from testkit.server.editor import Editor

TEXT = """\
.equ STEP, 32
sum:
    xor %eax, %eax
    call clear
# cyclelens-begin sum
.Lsum:
    add (%rdi,%rcx,8), %rax   # rax
    movzbl %al, %edx
    add $8, %rcx ; dec %r15
    jnz .Lsum
# cyclelens-end
    jmp out
clear:
    mov $STEP, %eax
    jmp .Lsum
out:
    ret
"""
LINES = TEXT.split("\n")


def at(line: int, text: str, *, behind: bool = False) -> types.Position:
    """The start, or the end, of a text in a line."""
    return types.Position(line, LINES[line].index(text) + len(text) * behind)


def written(place: types.Range, text: str = TEXT) -> str:
    """The text in a range."""
    lines = text.split("\n")[place.start.line : place.end.line + 1]
    lines[-1] = lines[-1][: place.end.character]
    lines[0] = lines[0][place.start.character :]
    return "\n".join(lines)


def document(editor: Editor) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(editor.uri)


async def highlighted(editor: Editor, position: types.Position) -> list[tuple[int, str, str]]:
    """Line, text and kind of every highlight."""
    request = types.DocumentHighlightParams(document(editor), position)
    found = await editor.client.text_document_document_highlight_async(request)
    return [
        (each.range.start.line, written(each.range, editor.text), types.DocumentHighlightKind(each.kind).name)
        for each in found
    ]


@pytest.mark.asyncio
async def test_a_label_is_highlighted_where_it_is_defined_and_used(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    expected = [(5, ".Lsum", "Write"), (9, ".Lsum", "Read"), (14, ".Lsum", "Read")]
    assert await highlighted(editor, at(9, ".Lsum")) == expected
    assert await highlighted(editor, at(5, ".Lsum", behind=True)) == expected
    assert await highlighted(editor, at(9, "jnz")) == []
    assert await highlighted(editor, at(6, "# rax", behind=True)) == [], "a comment"


@pytest.mark.asyncio
async def test_a_register_is_highlighted_in_all_widths_within_its_region(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    expected = [(6, "rax", "Text"), (7, "al", "Text")]
    assert await highlighted(editor, at(6, "rax")) == expected


@pytest.mark.asyncio
async def test_highlights_are_searched_near_the_cursor_only(editor: Editor) -> None:
    await editor.start()
    far = "".join(f"    jmp here # {number}\n" for number in range(3000))
    editor.send_open("here:\n" + far)
    near = await highlighted(editor, types.Position(10, 9))
    assert [line for line, _, _ in near] == list(range(1011))
    assert await highlighted(editor, types.Position(2500, 9)) == [], "the definition is too far away"


@pytest.mark.asyncio
async def test_the_call_hierarchy_has_jumps_and_calls_between_labels(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    prepare = types.CallHierarchyPrepareParams(document(editor), at(9, ".Lsum"))
    (item,) = some(await editor.client.text_document_prepare_call_hierarchy_async(prepare))
    assert (item.name, item.detail, written(item.selection_range)) == (".Lsum", "line 6", ".Lsum")
    assert written(item.range).startswith(".Lsum:") and written(item.range).endswith("    jmp out")
    asked = types.CallHierarchyIncomingCallsParams(item)
    incoming = some(await editor.client.call_hierarchy_incoming_calls_async(asked))
    callers = [(each.from_.name, [place.start.line for place in each.from_ranges]) for each in incoming]
    assert callers == [(".Lsum", [9]), ("clear", [14])]
    asked_out = types.CallHierarchyOutgoingCallsParams(item)
    outgoing = some(await editor.client.call_hierarchy_outgoing_calls_async(asked_out))
    assert [(each.to.name, [place.start.line for place in each.from_ranges]) for each in outgoing] == [
        (".Lsum", [9]),
        ("out", [11]),
    ]
    inside = types.CallHierarchyPrepareParams(document(editor), at(2, "xor"))
    (above,) = some(await editor.client.text_document_prepare_call_hierarchy_async(inside))
    assert above.name == "sum", "the label above an instruction"


@pytest.mark.asyncio
async def test_an_item_of_a_label_that_an_edit_removed_has_no_calls(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    prepare = types.CallHierarchyPrepareParams(document(editor), at(9, ".Lsum"))
    (item,) = some(await editor.client.text_document_prepare_call_hierarchy_async(prepare))
    editor.replace_line(5, "other:")
    asked = types.CallHierarchyIncomingCallsParams(item)
    assert not await editor.client.call_hierarchy_incoming_calls_async(asked)


@pytest.mark.asyncio
async def test_a_selection_grows_from_the_word_to_the_text(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT)
    request = types.SelectionRangeParams(document(editor), [at(6, "rcx"), at(8, "r15"), at(16, "ret")])
    first, second, last = some(await editor.client.text_document_selection_range_async(request))

    def grown(selection: types.SelectionRange | None) -> list[str]:
        found = []
        while selection is not None:
            found.append(written(selection.range))
            selection = selection.parent
        return found

    region = "\n".join(LINES[4:11])
    assert (
        grown(first)
        == [
            "rcx",
            "(%rdi,%rcx,8)",
            "(%rdi,%rcx,8), %rax",
            "add (%rdi,%rcx,8), %rax",
            "add (%rdi,%rcx,8), %rax   # rax",
            "    add (%rdi,%rcx,8), %rax   # rax",
            "\n".join(LINES[5:12]),
            TEXT,
        ]
        or grown(first)[-2] == region
    )
    assert grown(second)[:4] == ["r15", "%r15", "dec %r15", "add $8, %rcx ; dec %r15"]
    assert grown(last) == ["ret", "    ret", "out:\n    ret\n", TEXT]


@pytest.mark.asyncio
async def test_a_definition_is_edited_together_with_its_uses(editor: Editor) -> None:
    await editor.start()
    await editor.open(TEXT + "1:\n    jmp 1b\ntwice:\ntwice:\n    jmp twice\nunused:\n")

    async def linked(line: int, character: int) -> list[int]:
        request = types.LinkedEditingRangeParams(document(editor), types.Position(line, character))
        found = await editor.client.text_document_linked_editing_range_async(request)
        return [] if found is None else [place.start.line for place in found.ranges]

    assert await linked(5, 3) == [5, 9, 14]
    assert await linked(0, 6) == [0, 13], "a symbol, behind the dollar sign of an immediate"
    assert await linked(9, 12) == [], "who types at a use means another label"
    assert await linked(17, 0) == [], "its uses carry a letter"
    assert await linked(19, 2) == [], "it is defined twice"
    assert await linked(22, 2) == [], "nobody uses it"
