"""Corpora in parts: every format, the figures of a batch, and no loss when a run is killed."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import cyclelens
import pyarrow
import pyarrow.parquet
import pytest
from cyclelens import corpora
from cyclelens.analyzer.cli.main import main

BLOCKS = [f"4883c0{n:02x}480fafc3{'90' * (n % 9)}" for n in range(60)]
FINISHED = "[0-9]*[0-9].csv"
"""A part's file once it is complete."""


@pytest.fixture
def source(tmp_path):
    """The blocks as a file of this kind."""

    def make(suffix):
        path = tmp_path / f"blocks{suffix}"
        if suffix == ".parquet":
            table = pyarrow.table({"number": range(len(BLOCKS)), "hex": BLOCKS})
            pyarrow.parquet.write_table(table, path, row_group_size=25)
        elif suffix == ".csv":
            path.write_text("number,hex\n" + "".join(f"{n},{block}\n" for n, block in enumerate(BLOCKS)))
        else:
            path.write_text("".join(f"{block}\n" for block in BLOCKS))
        return path

    return make


def expected(arch="SKL", mode="unroll"):
    return [each.cycles_per_iteration for each in cyclelens.predict_batch(BLOCKS, arch=arch, mode=mode)]


def read(path):
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path).to_pydict()
    header, *rows = (line.split(",") for line in path.read_text().splitlines())
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    figures = {name: list(map(float, columns[name])) for name in columns.keys() - {"hex", "mode", "problems"}}
    return {name: list(values) for name, values in columns.items()} | figures


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".txt"])
@pytest.mark.parametrize("output", ["figures.parquet", "figures.csv"])
def test_every_kind_of_file_gives_the_figures_of_a_batch(source, tmp_path, suffix, output):
    target = tmp_path / output
    arguments = ["--input", str(source(suffix)), "--output", str(target), "--rows", "16"]
    assert main(["predict", *arguments, "--arch", "SKL,ZEN5", "--mode", "loop"]) == 0
    table = read(target)
    assert table["hex"] == BLOCKS
    assert table["SKL"] == expected("SKL", "loop")
    assert table["ZEN5"] == pytest.approx(expected("ZEN5", "loop"), abs=0.006)
    assert list(table) == ["hex", "mode", "SKL", "ZEN5", "problems"]
    assert not (tmp_path / f"{output}.parts").exists()


def test_blocks_may_be_binary_values_in_a_column_of_another_name(tmp_path):
    path = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"code": [bytes.fromhex(block) for block in BLOCKS]}), path)
    target = tmp_path / "out.csv"
    arguments = ["--input", str(path), "--output", str(target), "--column", "code"]
    assert main(["predict", *arguments, "--arch", "SKL", "--mode", "unroll"]) == 0
    assert read(target)["SKL"] == expected()


def test_all_cores_at_once_and_a_reason_where_one_cannot(tmp_path, capsys):
    path, target = tmp_path / "in.txt", tmp_path / "out.parquet"
    path.write_text("c4e2f1b8c2\n90\n")  # vfmadd231pd ymm
    arguments = ["--input", str(path), "--output", str(target)]
    assert main(["predict", *arguments, "--arch", "all", "--mode", "unroll"]) == 1
    table = read(target)
    assert table["SNB"] == [None, pytest.approx(0.25)]
    assert table["ZEN5"][0] is not None
    assert "SNB: SNB has no FMA" in table["problems"][0]
    assert "1 of 2 blocks lack a figure" in capsys.readouterr().err


def test_a_killed_run_goes_on_where_it_was(source, tmp_path):
    path, target = source(".txt"), tmp_path / "figures.csv"
    folder = tmp_path / "figures.csv.parts"
    words = ["predict", "--input", str(path), "--output", str(target), "--arch", "SKL", "--mode", "loop"]
    command = [sys.executable, "-m", "cyclelens.analyzer.cli.main", *words, "--rows", "1"]
    process = subprocess.Popen(command)
    # A part that is still being written has another name, which the pattern leaves out.
    while process.poll() is None and len(list(folder.glob(FINISHED))) < 5:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = {file: file.stat().st_mtime_ns for file in folder.glob(FINISHED)}
    assert 5 <= len(done) < len(BLOCKS), "killed too late to say anything"
    kept = folder / next(iter(sorted(done))).name
    kept_inode = kept.stat().st_ino
    found = corpora.parts(path, target, ["SKL"], mode="loop", rows=1)
    for part in found:
        corpora.predict_part(part)
    assert kept.stat().st_ino == kept_inode
    assert all(file.stat().st_mtime_ns == changed for file, changed in done.items())
    assert corpora.join(found, target) == 0
    assert read(target)["SKL"] == expected("SKL", "loop")


def test_parts_of_another_run_are_not_mixed_in(source, tmp_path, capsys):
    path, target = source(".txt"), tmp_path / "figures.csv"
    found = corpora.parts(path, target, ["SKL"], rows=16)
    corpora.predict_part(found[0])
    with pytest.raises(corpora.CorpusError, match="another run"):
        corpora.parts(path, target, ["HSW"], rows=16)
    path.write_text("90\n")
    with pytest.raises(corpora.CorpusError, match="another run"):
        corpora.parts(path, target, ["SKL"], rows=16)
    with pytest.raises(corpora.CorpusError, match="missing"):
        corpora.join(found, target)
    target.write_text("mine\n")
    arguments = ["--input", str(path), "--output", str(target), "--arch", "SKL", "--mode", "unroll"]
    assert main(["predict", *arguments]) == 1
    assert "already exists" in capsys.readouterr().err
    assert target.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.doc", "90\n", "must end in .parquet, .csv, .txt"),
        ("in.csv", "code\n90\n", "no column 'hex'; it has: code"),
        ("in.parquet", "no parquet\n", "is not a Parquet file"),
        ("in.txt", "", "contains no blocks"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, capsys, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    arguments = ["--input", str(path), "--output", str(tmp_path / "out.csv"), "--arch", "SKL"]
    assert main(["predict", *arguments, "--mode", "unroll"]) == 1
    assert message in capsys.readouterr().err


def test_evaluate_reads_the_figures(source, tmp_path, capsys):
    target = tmp_path / "figures.parquet"
    arguments = ["--input", str(source(".csv")), "--output", str(target), "--arch", "SKL"]
    assert main(["predict", *arguments, "--mode", "unroll"]) == 0
    measured = tmp_path / "measured.csv"
    figures = expected()
    rows = (f"{block},{2 * cycles}\n" for block, cycles in zip(BLOCKS, figures, strict=True))
    measured.write_text("hex,cycles\n" + "".join(rows) + "9090,1\n")
    words = ["--against", str(measured), "--arch", "SKL", "--predictions", str(target), "--format", "json"]
    assert main(["evaluate", *words]) == 0
    output = capsys.readouterr()
    total = json.loads(output.out)["total"]
    assert total["blocks"] == len(BLOCKS)
    assert total["mean_error"] == pytest.approx(0.5)
    assert "1 of 61 figures have no prediction" in output.err


def test_a_part_can_be_sent_to_another_process(source, tmp_path):
    found = corpora.parts(source(".parquet"), tmp_path / "out.parquet", ["SKL"], rows=10)
    assert pickle.loads(pickle.dumps(found)) == found
    # No part reaches over a row group of 25.
    assert [part.span.rows for part in found] == [10, 10, 5, 10, 10, 5, 10]


def test_a_dask_cluster_gives_the_same_and_survives_a_killed_worker(source, tmp_path):
    bag = pytest.importorskip("dask.bag")
    distributed = pytest.importorskip("dask.distributed")
    target = tmp_path / "out.parquet"
    found = corpora.parts(source(".parquet"), target, ["SKL"], mode="loop", rows=2)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        waiting = client.compute(bag.from_sequence(found, partition_size=1).map(corpora.predict_part))
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        assert [Path(name) for name in waiting.result()] == [Path(part.output) for part in found]
    assert corpora.join(found, target) == 0
    assert read(target)["SKL"] == expected("SKL", "loop")


def test_another_mode_is_refused(source, tmp_path):
    with pytest.raises(ValueError, match="unknown mode 'auto'; known are unroll, loop"):
        corpora.parts(source(".csv"), tmp_path / "out.csv", ["SKL"], mode="auto")
