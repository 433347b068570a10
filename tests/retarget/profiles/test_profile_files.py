"""Profile files: what is read from them, and every error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.model.devices import DeviceTraits
from retarget.profiles.files import Capability, Profile, name_error
from retarget.support.errors import DiagnosticsError, RetargetError

GOOD = """\
format = 1
driver = "vulkan"

[identity]
name = "llvmpipe"

[[capabilities]]
source = "vulkaninfo"
memory = 1024

[capabilities.vulkan]
shaderFloat16 = true
maxComputeWorkGroupSize = [1024, 1024, 64]
"""


def test_a_profile_has_its_capabilities_by_full_name_with_their_sources(tmp_path: Path) -> None:
    file = tmp_path / "lavapipe.toml"
    file.write_text(GOOD)
    profile = Profile.read(file)
    assert (profile.name, profile.driver, profile.identity) == ("lavapipe", "vulkan", (("name", "llvmpipe"),))
    assert profile.get("memory") == 1024
    assert profile.get("vulkan.shaderFloat16") is True
    assert profile.get("vulkan.maxComputeWorkGroupSize") == (1024, 1024, 64)
    assert profile.get("vulkan.shaderInt8") is None
    assert {one.source for one in profile.capabilities} == {"vulkaninfo"}


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("format = 1", "format = 2", "p.toml:1: format: found 2, expected format = 1"),
        ('driver = "vulkan"', "", "p.toml: driver: found None, expected the name of a driver, such as vulkan"),
        (
            "[identity]",
            "[identiti]",
            "p.toml:4: identiti: found the unknown key 'identiti', expected one of format, driver, description, "
            "identity, capabilities; did you mean 'identity'?",
        ),
        (
            'source = "vulkaninfo"',
            'source = ""',
            "p.toml:8: capabilities[0].source: found no source, expected where these values came from",
        ),
        (
            "memory = 1024",
            "memory = []",
            "p.toml:9: capabilities[0].memory: found [], expected true or false, a number, a text, or a list of "
            "numbers or of texts",
        ),
        (
            "maxComputeWorkGroupSize = [1024, 1024, 64]\n",
            '[[capabilities]]\nsource = "by hand"\nmemory = 2\n',
            "p.toml:15: capabilities[1].memory: found memory a second time, expected it once; it is from 'vulkaninfo' "
            "already",
        ),
        (
            "shaderFloat16",
            "shaderFloat61",
            "p.toml:12: capabilities[0].vulkan.shaderFloat61: found the unknown capability 'vulkan.shaderFloat61', "
            "expected a feature, property or limit of Vulkan that code generation depends on, or an extension (VK_…); "
            "did you mean 'vulkan.shaderFloat64'?",
        ),
        (
            "shaderFloat16 = true",
            'shaderFloat16 = "yes"',
            "p.toml:12: capabilities[0].vulkan.shaderFloat16: found vulkan.shaderFloat16 = 'yes', expected true or "
            "false",
        ),
        (
            "memory = 1024",
            "memory = -1",
            "p.toml:9: capabilities[0].memory: found memory = -1, expected a whole number above 0",
        ),
        (
            "memory = 1024",
            'device_type = "gpuu"',
            "p.toml:9: capabilities[0].device_type: found device_type = 'gpuu', expected one of gpu, cpu, accelerator; "
            "did you mean 'gpu'?",
        ),
        (
            "shaderFloat16 = true",
            "subgroupSize = 0",
            "p.toml:12: capabilities[0].vulkan.subgroupSize: found vulkan.subgroupSize = 0, expected a power "
            "of two (work-items)",
        ),
        (
            "shaderFloat16 = true",
            "maxSubgroupSize = 24",
            "p.toml:12: capabilities[0].vulkan.maxSubgroupSize: found vulkan.maxSubgroupSize = 24, expected "
            "a power of two (work-items)",
        ),
        (
            "1024, 64]",
            "1024, 0]",
            "p.toml:13: capabilities[0].vulkan.maxComputeWorkGroupSize: found vulkan.maxComputeWorkGroupSize = (1024, "
            "1024, 0), expected a whole number above 0",
        ),
        (
            "1024, 64]",
            "64]",
            "p.toml:13: capabilities[0].vulkan.maxComputeWorkGroupSize: found vulkan.maxComputeWorkGroupSize = (1024, "
            "64), expected three numbers: of x, y and z",
        ),
        (
            "[capabilities.vulkan]",
            "cpu.triple = 'x86_64 linux'\n[capabilities.vulkan]",
            "p.toml:11: capabilities[0].cpu.triple: found cpu.triple = 'x86_64 linux', expected a word of letters, "
            "digits and any of _ . + -",
        ),
        (
            "[capabilities.vulkan]",
            "cpu.avx2 = 'yes'\n[capabilities.vulkan]",
            "p.toml:11: capabilities[0].cpu.avx2: found cpu.avx2 = 'yes', expected true or false",
        ),
        (
            "shaderFloat16 = true",
            "apiVersion = 4206822",
            "p.toml:12: capabilities[0].vulkan.apiVersion: found vulkan.apiVersion = 4206822, expected a version in "
            'quotes, such as "1.3"',
        ),
    ],
)
def test_an_error_names_its_line_and_key(cwd: Path, old: str, new: str, error: str) -> None:
    file = cwd / "p.toml"
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(DiagnosticsError) as caught:
        Profile.read(file)
    assert str(caught.value) == error


@pytest.mark.parametrize(("name", "known"), [("device.vendor", True), ("device.vendr", False), ("memory", True)])
def test_names_of_every_device_are_its_traits_and_the_neutral_ones(name: str, known: bool) -> None:
    assert (name_error(name) is None) is known


def test_tables_may_be_nested_in_hundreds_of_others(tmp_path: Path) -> None:
    file, name = tmp_path / "p.toml", f"{'a.' * 600}b"
    file.write_text(GOOD.replace("[capabilities.vulkan]", f"{name} = 1\n[capabilities.vulkan]"))
    assert Profile.read(file).get(name) == 1


def test_what_is_written_is_read_as_the_same_profile(tmp_path: Path) -> None:
    values = (
        ("cpu.avx512f", True, "iree-cpuinfo"),
        ("cpu.sse4.1", False, "iree-cpuinfo"),
        ("device_type", "cpu", "by hand"),
        ("memory", 1, "by hand"),
        ("npu.scale", 0.5, "by hand"),
        ("npu.tiles", (1, 2), 'a "quoted"\nsource'),
        ("npu.words", ("one", "o" * 84), "by hand"),
        ("vulkan.subgroupSize", 1, "by hand"),
    )
    capabilities = tuple(Capability(name=name, value=value, source=source) for name, value, source in values)
    file = tmp_path / "npu.toml"
    profile = Profile(
        name="npu",
        driver="npu",
        description="a device",
        identity=(("name", "A B"),),
        capabilities=capabilities,
        file=file,
    )
    text = profile.text()
    file.write_text(text)
    assert Profile.read(file) == profile
    assert Profile.read(file).text() == text
    assert profile.traits == DeviceTraits(name="A B", type="cpu")
    assert "\nwords = [\n" in text  # with its name it is too long for a line
    assert text.startswith(
        """\
format = 1
driver = "npu"
description = "a device"

[identity]
name = "A B"

[[capabilities]]
source = """
    )
    assert text.endswith(
        """\
[[capabilities]]
source = "iree-cpuinfo"

[capabilities.cpu]
avx512f = true
"sse4.1" = false
"""
    )


def test_a_profile_is_written_to_a_file_that_ends_in_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken.toml").mkdir()
    profile = Profile(name="npu", driver="npu")
    with pytest.raises(
        RetargetError, match=r"^found the file name 'a.txt' for a profile, expected one that ends in .toml$"
    ):
        profile.write(Path("a.txt"))
    with pytest.raises(RetargetError, match=r"^cannot write taken.toml: found a folder; nothing was written$"):
        profile.write(Path("taken.toml"))
