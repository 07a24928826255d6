"""A few seconds of each target of ``benchmarks/fuzzing_protocols.py``, which runs longer every night."""

from __future__ import annotations

import json
import random

import fuzzing_protocols
import pytest
from cyclelens.server.documents import origins
from fuzzing_protocols import TARGETS, FuzzingError, LspClient, changed, inputs

COUNTS = {"bytes": 3_000, "uris": 3_000, "messages": 600, "tcp": 8, "page": 200}
"""Inputs of each target: together about thirty seconds."""


@pytest.mark.parametrize("name", TARGETS)
def test_anything_that_arrives_is_answered_or_refused(name: str) -> None:
    with TARGETS[name](random.Random(f"{name} {COUNTS[name]}")) as one:
        for _ in range(COUNTS[name]):
            one()


@pytest.mark.parametrize("name", ["messages.jsonl", "questions.jsonl"])
def test_changes_keep_json_and_change_something(name: str) -> None:
    source = random.Random(1)
    for line in inputs(name):
        value = json.loads(line)
        found = [changed(value, source) for _ in range(20)]
        assert sum(json.dumps(each) != json.dumps(value) for each in found) > 15
        assert value == json.loads(line), "the original stays"


def test_a_uri_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(_uri: str) -> str:
        raise ValueError("on purpose")

    monkeypatch.setattr(origins, "path_of", raising)
    with (
        pytest.raises(FuzzingError, match="ValueError: on purpose"),
        TARGETS["uris"](random.Random(1)) as one,
    ):
        one()


def test_a_server_that_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing_protocols, "SERVER", ("true",))
    with pytest.raises(FuzzingError, match="the server ended after"):
        LspClient().check()
