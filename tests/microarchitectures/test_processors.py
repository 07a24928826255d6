"""The processor of a machine and its model."""

import pytest
from cyclelens.analyzer.microarchitectures import processors, registry
from cyclelens.analyzer.microarchitectures.processors import Processor, microarchitecture_of, this_processor

CPUINFO = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 26
model\t\t: 2
model name\t: AMD EPYC
stepping\t: 1

processor\t: 1
"""


@pytest.mark.parametrize(
    ("maker", "family", "model", "stepping", "name"),
    [
        ("GenuineIntel", 6, 94, 3, "SKL"),
        ("GenuineIntel", 6, 85, 4, "SKX"),
        ("GenuineIntel", 6, 85, 7, "CLX"),
        ("GenuineIntel", 6, 142, 12, "CFL"),
        ("GenuineIntel", 6, 173, 1, "GNR"),
        ("AuthenticAMD", 0x17, 0x71, 0, "ZEN2"),
        ("AuthenticAMD", 0x19, 0x21, 0, "ZEN3"),
        ("AuthenticAMD", 0x19, 0x61, 2, "ZEN4"),
        ("AuthenticAMD", 0x1A, 0x02, 1, "ZEN5"),
        ("HygonGenuine", 0x18, 0, 2, ""),
    ],
)
def test_family_and_model_name_the_microarchitecture(maker, family, model, stepping, name):
    assert microarchitecture_of(Processor(maker, family, model, stepping, "")) == name


def test_what_linux_says_is_read(tmp_path):
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    assert this_processor(tmp_path / "cpuinfo") == Processor("AuthenticAMD", 26, 2, 1, "AMD EPYC")
    (tmp_path / "cpuinfo").write_text("nothing of use\n")
    assert this_processor(tmp_path / "cpuinfo") is None
    assert this_processor(tmp_path / "absent") is None


def test_native_is_this_machine(monkeypatch):
    monkeypatch.setattr(processors, "this_processor", lambda: Processor("GenuineIntel", 6, 60, 3, "i7"))
    assert registry.get("native").name == "HSW"
    monkeypatch.setattr(processors, "this_processor", lambda: Processor("GenuineIntel", 6, 102, 1, "i3"))
    with pytest.raises(registry.UnknownMicroarchitecture, match="not simulated: i3, Cannon Lake"):
        registry.get("native")
    monkeypatch.setattr(processors, "this_processor", lambda: None)
    with pytest.raises(registry.UnknownMicroarchitecture, match="does not say"):
        registry.get("Native")
