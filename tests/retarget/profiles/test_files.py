"""Profile files: what is read from them, and every error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from retarget.profiles.files import read_profile
from retarget.support.errors import DiagnosticsError

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
    profile = read_profile(file)
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
            "p.toml:4: identiti: found the unknown key 'identiti', expected one of format, driver, identity, "
            "capabilities; did you mean 'identity'?",
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
    ],
)
def test_an_error_names_its_line_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "p.toml"
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(DiagnosticsError) as caught:
        read_profile(file)
    assert str(caught.value) == error
