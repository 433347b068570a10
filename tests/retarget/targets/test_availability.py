"""What the host is, and what cannot run on it."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest
from retarget.model import Origin, RuntimeConfig
from retarget.profiles.files import Profile
from retarget.targets.availability import (
    HOST_ARCHITECTURES,
    HOST_SYSTEMS,
    Platform,
    host_mismatch,
    profile_mismatch,
    word_error,
)


def runtime(host_os: tuple[str, ...] = (), host_arch: tuple[str, ...] = ()) -> RuntimeConfig:
    origin = Origin(file=Path("suite.toml"), key_path="runtime_config[0]")
    return RuntimeConfig(name="rt", driver="vulkan", host_os=host_os, host_arch=host_arch, origin=origin)


@pytest.fixture
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "x86_64", ("linux", "x86_64")),
        ("linux", "aarch64", ("linux", "arm64")),
        ("linux", "riscv64", ("linux", "riscv64")),
        ("darwin", "arm64", ("macos", "arm64")),
        ("win32", "AMD64", ("windows", "x86_64")),
        ("ios", "arm64", ("ios", "arm64")),
        ("android", "armv7l", ("android", "arm")),
        ("plan9", "mips", ("plan9", "mips")),
    ],
)
def test_the_host_is_named_in_the_words_of_the_declarations(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: tuple[str, str]
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert Platform.here() == expected


@pytest.mark.parametrize(
    ("host_os", "host_arch"),
    [((), ()), (("linux",), ()), ((), ("x86_64",)), (("android", "linux"), ("arm64", "x86_64"))],
)
def test_what_fits_has_no_mismatch(linux: None, host_os: tuple[str, ...], host_arch: tuple[str, ...]) -> None:
    assert host_mismatch(runtime(host_os, host_arch)) is None


@pytest.mark.parametrize(
    ("host_os", "host_arch", "needs"),
    [
        (("android",), (), "android"),
        ((), ("arm64",), "arm64"),
        (("linux",), ("arm64",), "linux on arm64"),
        (("android", "ios"), ("x86_64", "arm64"), "android or ios on x86_64 or arm64"),
    ],
)
def test_the_reason_says_what_is_needed_and_what_is_here(
    linux: None, host_os: tuple[str, ...], host_arch: tuple[str, ...], needs: str
) -> None:
    assert host_mismatch(runtime(host_os, host_arch)) == (
        f"runtime config 'rt' needs {needs}; this host is linux on x86_64"
    )


@pytest.mark.parametrize(
    ("word", "known", "diagnostic"),
    [
        ("linux", HOST_SYSTEMS, None),
        (
            "osx",
            HOST_SYSTEMS,
            "found 'osx', expected one of android, ios, linux, macos, windows; did you mean 'macos'?",
        ),
        (
            "lixux",
            HOST_SYSTEMS,
            "found 'lixux', expected one of android, ios, linux, macos, windows; did you mean 'linux'?",
        ),
        (
            "x64",
            HOST_ARCHITECTURES,
            f"found 'x64', expected one of {', '.join(HOST_ARCHITECTURES)}; did you mean 'x86_64'?",
        ),
    ],
)
def test_words(word: str, known: tuple[str, ...], diagnostic: str | None) -> None:
    assert word_error(word, known) == diagnostic


@pytest.mark.parametrize(
    ("driver", "said"),
    [("vulkan", None), ("opencl", "found 'mali', a profile of the driver 'opencl', expected one of 'vulkan'")],
)
def test_a_profile_is_of_a_driver_of_its_runtime_config(driver: str, said: str | None) -> None:
    assert profile_mismatch(runtime(), Profile(name="mali", driver=driver)) == said
