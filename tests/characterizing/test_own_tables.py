"""The user's way from microbenchmarks to predictions: characterize, import into own tables, predict."""

import io

import pytest
from cyclelens.analyzer.cli.main import main

FORMS = (
    r"^(XADD|PUSH|POP|CMP|ADD|ADD_01|IMUL|MULPS|ADC_13|STOSQ) ?(\((R64|M64|XMM)(, (R64|M64|XMM|M128))?\))?$"
)
BLOCKS = {
    "three slots, one decoder": "480fc1d8480fc1c8",
    "micro-fused": "480306480356084c0346104c034e18",
    "not micro-fused with an index": "0f5904164803041e",
    "fused with a jump": "4839c37500483bc175004801ca",
    "a chain": "4811d8480fafc3480fafc0",
    "stack": "5053585b",
    "a string instruction": "48ab4801d8",
}


@pytest.fixture(scope="module", params=["SKL", "ZEN2"])
def own(request, tmp_path_factory):
    """A core, and tables of one's own from its simulator."""
    folder = tmp_path_factory.mktemp("own")
    found, tables = folder / "found.xml", folder / "own.sqlite"
    machine = ["--machine", f"sim:{request.param}", "--forms", FORMS]
    with pytest.MonkeyPatch.context() as environment:
        # --data stays set in this process.
        environment.setenv("CYCLELENS_DATA", "")
        assert main(["characterize", *machine, "--output", str(found)]) == 0
        assert main(["data", "--data", str(tables), "import", "--merge", str(found)]) == 0
    return request.param, tables


@pytest.mark.parametrize("mode", ["loop", "unroll"])
def test_tables_of_ones_own_predict_what_the_simulated_core_does(own, mode, monkeypatch, capsys):
    """The tables that it was found from say the same: nothing that predictions need is lost on the way."""
    core, tables = own
    predicted = []
    for words in ([], ["--data", str(tables)]):
        monkeypatch.setenv("CYCLELENS_DATA", "")
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(BLOCKS.values()).encode())))
        capsys.readouterr()
        assert main(["predict", *words, "--arch", core, "--mode", mode]) == 0
        lines = capsys.readouterr().out.splitlines()[1:]
        predicted.append([line.split(",")[1:] for line in lines])
    shipped, of_ones_own = (dict(zip(BLOCKS, each, strict=True)) for each in predicted)
    assert of_ones_own == shipped
    assert all(cycles and not problem for cycles, problem in shipped.values())
