"""The processor of a machine and its model."""

from pathlib import Path

import pytest
from cyclelens.analyzer.cli.main import main
from cyclelens.analyzer.microarchitectures import processors, registry
from cyclelens.analyzer.microarchitectures.processors import Processor, microarchitecture_of, this_processor

MACHINES = Path(__file__).with_name("machines")
"""What Linux says on kinds of machines: the first processor of ``/proc/cpuinfo``, then the caches. That of
Granite Rapids was recorded; the others have the fields that the makers document."""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Makes a machine of a kind this one; returns it."""

    def machine(kind):
        cpuinfo, _, caches = (MACHINES / f"{kind}.txt").read_text().partition("\n\n")
        for index, line in enumerate(caches.splitlines()):
            folder = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{index}"
            folder.mkdir(parents=True)
            level, role, size = line.split()
            for name, value in (("level", level[1:]), ("type", role), ("size", size)):
                (folder / name).write_text(value + "\n")
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/cpuinfo").write_text(f"{cpuinfo}\n\nprocessor\t: 1\n")
        found = this_processor(tmp_path)
        monkeypatch.setattr(processors, "this_processor", lambda: found)
        return found

    return machine


@pytest.mark.parametrize(
    ("maker", "family", "model", "stepping", "name"),
    [
        ("GenuineIntel", 6, 94, 3, "SKL"),
        ("GenuineIntel", 6, 85, 4, "SKX"),
        ("GenuineIntel", 6, 85, 7, "CLX"),
        ("GenuineIntel", 6, 142, 12, "CFL"),
        ("GenuineIntel", 6, 173, 1, "GNR"),
        ("AuthenticAMD", 0x17, 0x01, 2, "ZEN"),
        ("AuthenticAMD", 0x17, 0x08, 2, "ZEN+"),
        ("AuthenticAMD", 0x17, 0x71, 0, "ZEN2"),
        ("AuthenticAMD", 0x19, 0x21, 0, "ZEN3"),
        ("AuthenticAMD", 0x19, 0x61, 2, "ZEN4"),
        ("AuthenticAMD", 0x1A, 0x02, 1, "ZEN5"),
        ("HygonGenuine", 0x18, 0, 2, ""),
    ],
)
def test_family_and_model_name_the_microarchitecture(maker, family, model, stepping, name):
    assert microarchitecture_of(Processor(maker, family, model, stepping, "")) == name


def test_what_linux_says_is_read(machine):
    assert machine("zen_5") == Processor(
        "AuthenticAMD",
        26,
        2,
        1,
        "AMD EPYC",
        frozenset({"AVX2", "AVX512F", "AVX512_VNNI", "AVX512_BF16", "AVX_VNNI"}),
        code_cache=32,
        data_cache=48,
    )


def test_a_system_that_says_nothing_of_use(tmp_path):
    assert this_processor(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("nothing of use\n")
    assert this_processor(tmp_path) is None


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("haswell", "HSW"),
        ("rocket_lake", "RKL"),
        ("emerald_rapids", "SPR"),
        ("alder_lake_with_avx_512", "ADL"),
        ("hidden_features", "SPR"),
        ("zen_5", "ZEN5"),
    ],
)
def test_a_model_number_that_nothing_contradicts_is_believed(machine, kind, name):
    """A hypervisor may hide features, and shows caches of its own."""
    machine(kind)
    assert registry.get("native").name == name
    assert registry.native_doubt() == ""


@pytest.mark.parametrize(
    ("kind", "named", "absent", "name", "title"),
    [
        ("granite_rapids_as_rocket_lake", "Rocket Lake", "AMX-TILE", "GNR", "Granite Rapids"),
        ("emerald_rapids_as_ice_lake", "Ice Lake", "AMX-TILE", "SPR", "Sapphire Rapids"),
        ("zen_5_as_zen_2", "Zen 2", "AVX512F", "ZEN5", "Zen 5"),
    ],
)
def test_features_that_the_named_core_has_not_outweigh_it(machine, kind, named, absent, name, title):
    machine(kind)
    assert registry.get("native").name == name
    doubt = registry.native_doubt()
    assert doubt.startswith(f"whose model number is that of {named}, which has no {absent}")
    assert f"taken for {title}" in doubt
    assert "(inferred)" in doubt


@pytest.mark.parametrize("kind", ["emulated_caches_as_rocket_lake", "zen_4_as_zen_2", "cooper_lake"])
def test_a_contradiction_that_nothing_resolves_leaves_no_model(machine, kind):
    machine(kind)
    assert registry.native() is None
    with pytest.raises(registry.UnknownMicroarchitecture, match=r"not simulated: .*, which has no \w+"):
        registry.get("native")


def test_a_doubtful_native_core_is_reported(machine, capsys):
    machine("granite_rapids_as_rocket_lake")
    assert main(["arch", "show", "Native"]) == 0
    assert "note: this machine's processor is Intel(R) Xeon(R) Processor, whose" in capsys.readouterr().err
    assert main(["arch", "show", "GNR"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["arch", "list"]) == 0
    assert "This machine: GNR (Intel(R) Xeon(R) Processor, whose" in capsys.readouterr().out


def test_native_is_this_machine(monkeypatch):
    monkeypatch.setattr(processors, "this_processor", lambda: Processor("GenuineIntel", 6, 60, 3, "i7"))
    assert registry.get("native").name == "HSW"
    monkeypatch.setattr(processors, "this_processor", lambda: Processor("GenuineIntel", 6, 102, 1, "i3"))
    with pytest.raises(registry.UnknownMicroarchitecture, match="not simulated: i3, Cannon Lake"):
        registry.get("native")
    monkeypatch.setattr(processors, "this_processor", lambda: None)
    with pytest.raises(registry.UnknownMicroarchitecture, match="does not say"):
        registry.get("Native")
