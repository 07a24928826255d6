"""Every published format of measured blocks gives the same samples."""

import gzip
import lzma

import pytest
from cyclelens.analyzer.evaluation.datasets import Sample, Selection, read_kernels, read_samples
from cyclelens.analyzer.evaluation.files import DatasetError
from cyclelens.analyzer.model.choices import Repetition


@pytest.fixture
def read(tmp_path):
    def read(text, **selection):
        path = tmp_path / "blocks.csv"
        path.write_text(text)
        return read_samples(path, Selection(**selection))

    return read


def test_own_columns(read):
    text = "hex,microarchitecture,mode,cycles_per_iteration\n90,SKL,unroll,0.25\n4801D8,HSW,loop,1.00\n"
    assert read(text) == [
        Sample("90", "SKL", Repetition.UNROLL, 0.25),
        Sample("4801d8", "HSW", Repetition.LOOP, 1.0),
    ]
    assert read(text, microarchitectures=("HSW",)) == [Sample("4801d8", "HSW", Repetition.LOOP, 1.0)]
    assert read(text, mode=Repetition.UNROLL) == [Sample("90", "SKL", Repetition.UNROLL, 0.25)]


def test_measured_blocks_bring_a_second_prediction_and_are_unrolled(read):
    text = "hex,microarchitecture,measured_cycles,reference_cycles\n90,HSW,0.26,0.25\n"
    assert read(text) == [Sample("90", "HSW", Repetition.UNROLL, 0.26, reference=0.25)]


def test_two_modes_in_a_row(read):
    text = "hex,unroll_cycles,loop_cycles,unroll_spread\n90,0.17,1.0,0.1\n"
    samples = read(text, microarchitectures=("RKL",))
    assert samples == [
        Sample("90", "RKL", Repetition.UNROLL, 0.17),
        Sample("90", "RKL", Repetition.LOOP, 1.0),
    ]
    assert read(text, microarchitectures=("RKL",), mode=Repetition.LOOP) == samples[1:]


def test_a_column_for_each_microarchitecture_with_gaps(read):
    text = 'name,mode,asm,hex,SNB,HSW\nfma,loop,"a, b",90,,5.00\n'
    assert read(text) == [Sample("90", "HSW", Repetition.LOOP, 5.0, name="fma")]
    assert read(text, microarchitectures=("SNB",)) == []


def test_names_are_looked_up_and_offsets_kept(read):
    text = "name,mode,microarchitecture,offset,cycles_per_iteration\nadd,loop,SKL,21,2.00\n"
    assert read(text, kernels={"add": "4801d8"}) == [
        Sample("4801d8", "SKL", Repetition.LOOP, 2.0, 21, name="add")
    ]
    with pytest.raises(DatasetError, match="no kernel is named 'add'"):
        read(text, kernels={"sub": "90"})
    with pytest.raises(DatasetError, match="--kernels"):
        read(text)


def test_bhive_publishes_a_hundredfold_without_header(read):
    assert read("4801d8,102.5\n\n90,25\n", microarchitectures=("HSW",)) == [
        Sample("4801d8", "HSW", Repetition.UNROLL, 1.025),
        Sample("90", "HSW", Repetition.UNROLL, 0.25),
    ]
    with pytest.raises(DatasetError, match="--arch"):
        read("4801d8,102.5\n")


def test_compressed_files(tmp_path):
    path = tmp_path / "b.csv.gz"
    with gzip.open(path, "wt") as stream:
        stream.write("90,25\n")
    assert read_samples(path, Selection(("SKL",))) == [Sample("90", "SKL", Repetition.UNROLL, 0.25)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", "no column hex"),
        ("hex,x\n90,2\n", "no column of figures"),
        ("hex,cycles\n9,2\n", "line 2: '9' is not a block"),
        ("hex,cycles\n90,2\n90,fast\n", "line 3: 'fast' is not a number"),
        ("hex,cycles\n90,-1\n", "line 2: '-1'"),
        ("hex,cycles\n90\n", "line 2: 1 fields"),
        ("hex,mode,cycles\n90,twice,1\n", "unknown mode 'twice'"),
    ],
)
def test_bad_files_are_named_with_the_line(read, text, message):
    with pytest.raises(DatasetError, match=message):
        read(text, microarchitectures=("SKL",))


def test_a_line_that_unpacks_without_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    read = 0

    class Counted(lzma.LZMAFile):
        def read1(self, size=-1):
            nonlocal read
            data = super().read1(size)
            read += len(data)
            return data

    monkeypatch.setattr(lzma, "LZMAFile", Counted)
    path = tmp_path / "bomb.csv.xz"
    path.write_bytes(lzma.compress(b"hex,cycles\n90,2\n90," + b"1" * 50_000_000, preset=0))
    with pytest.raises(DatasetError, match="line 3: more than 1,048,576 characters"):
        read_samples(path, Selection(("SKL",)))
    assert 1 << 20 < read < 4 << 20


def test_binary_and_missing_files(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(DatasetError):
        read_samples(path, Selection(("SKL",)))
    with pytest.raises(DatasetError, match="cannot read"):
        read_samples(tmp_path / "absent", Selection())


def test_kernels_by_name(tmp_path):
    path = tmp_path / "k.csv"
    path.write_text("name,mode,asm,hex\na,loop,nop,90\n")
    assert read_kernels(path) == {"a": ("90", "loop")}
    path.write_text("name,hex\na,90\n")
    with pytest.raises(DatasetError, match="lacks the column mode"):
        read_kernels(path)


def test_copies_in_a_loop_are_a_mode_of_their_own(read):
    text = "hex,unroll_cycles,dsb_loop_cycles,loop_cycles,width\n90,0.17,0.13,1.0,ymm\n"
    samples = read(text, microarchitectures=("RKL",))
    assert [(sample.mode, sample.cycles, sample.width) for sample in samples] == [
        ("unroll", 0.17, "ymm"),
        ("copies", 0.13, "ymm"),
        ("loop", 1.0, "ymm"),
    ]


def test_measurements_that_failed_or_are_not_sure_are_left_out(read):
    text = (
        "hex,unroll_cycles,unroll_spread,loop_cycles,loop_spread,pages_unroll,pages_loop,status\n"
        "90,0.17,0.10,1.0,0.01,1,20,ok\n"
        "91,0.17,0.01,1.0,0.01,1,1,contended\n"
    )
    chosen = {"microarchitectures": ("RKL",)}
    assert [sample.mode for sample in read(text, **chosen)] == ["unroll", "loop"]
    assert [sample.mode for sample in read(text, **chosen, max_spread=0.05)] == ["loop"]
    assert [sample.mode for sample in read(text, **chosen, max_pages=12)] == ["unroll"]


def test_the_lowest_measurement_is_taken_on_request_where_it_is_known(read):
    text = "hex,unroll_cycles,loop_cycles,loop_lowest\n90,0.17,1.2,1.0\n91,0.17,1.3,\n"
    chosen = {"microarchitectures": ("ZEN3",)}
    assert [sample.cycles for sample in read(text, **chosen)] == [0.17, 1.2, 0.17, 1.3]
    assert [sample.cycles for sample in read(text, **chosen, lowest=True)] == [0.17, 1.0, 0.17, 1.3]
