"""`retarget devices`: every driver gets its lines, also one that crashes or hangs."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from data_errors import error_of
from declaration_texts import declarations, runtime, table
from retarget.cli import devices as cli_devices
from retarget.cli.main import main
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.files import Profile
from retarget.support.errors import RetargetError
from targets_of_doubles import EXTENSIONS


@pytest.fixture(autouse=True)
def _doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETARGET_EXTENSIONS", EXTENSIONS[0])


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli_devices.add_arguments(parser)
    parser.set_defaults(retarget_extension=[])  # as the command that runs this declares it
    return cli_devices.run(parser.parse_args(arguments))


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("double", "double-absent", "--format", "json") == 0
    found, absent = json.loads(capsys.readouterr().out)
    assert (found["driver"], found["devices"][0]["uri"], found["unavailable"]) == ("double", "double://0", "")
    assert (absent["devices"], absent["unavailable"], absent["hint"]) == ([], "no double here", "plug one in")


def test_an_unknown_driver_names_the_registered_ones() -> None:
    with pytest.raises(RetargetError, match=r"found the driver 'dubble', expected a registered one: .*did you mean"):
        run("dubble")


def test_the_profile_of_a_device_is_written_and_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    assert run("--profile", "double://0", "-o", str(file)) == 0
    profile = Profile.read(file)
    assert capsys.readouterr().out == f"{file}: {len(profile.capabilities)} capabilities, driver double\n"
    assert dict(profile.identity)["name"] == "Double Device"
    assert (profile.get("memory"), profile.get("double.fp64")) == (2**34, True)


DEVICE = DeviceInfo(driver="d", uri="d://GPU-1", ordinal=0, name="D", physical_id="d", features=(("memory", 1),))
BROKEN = replace(DEVICE, uri="d://1", ordinal=1, name="Broken", unusable="unknown CPU", remedy="install another")


def test_a_device_on_which_nothing_runs_is_listed_with_the_reason_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    probed = (replace(DEVICE, capabilities=(("memory", "1"),)), replace(BROKEN, capabilities=(("memory", "1"),)))
    monkeypatch.setattr("retarget.session.run.service.RunService.probe", lambda *_: probed)
    assert run("double") == 0
    assert capsys.readouterr().out == (
        "double:\n  0  d://GPU-1  D\n     memory 1\n  1  d://1  Broken\n     unusable: unknown CPU; install another\n"
    )
    assert run("double", "--format", "json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert [(one["unusable"], one["remedy"]) for one in found["devices"]] == [
        ("", ""),
        ("unknown CPU", "install another"),
    ]


def test_a_driver_without_a_usable_device_is_as_one_without_any_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.session.run.service.RunService.probe", lambda *_: (BROKEN,))
    (found,) = cli_devices.find_devices(["double"], extensions=(), timeout=60)
    assert (found.usable, found.unavailable) == ((), "Broken: unknown CPU")


@pytest.mark.parametrize(
    ("finding", "uri", "error"),
    [
        ({"devices": (DEVICE,)}, "d://7", "found no device d://7; expected one of d://GPU-1"),
        ({"unavailable": "no d here", "hint": "plug one in"}, "d://", "d: no devices: no d here (plug one in)"),
        ({"error": "it crashed"}, "d://0", "d: no devices: it crashed"),
        (
            {"devices": (replace(DEVICE, features=()),)},
            "d://0",
            "the driver d does not report what d://GPU-1 can do, so that there is nothing to write",
        ),
        ({"devices": (BROKEN,)}, "d://1", "d://1 (Broken) is unusable: unknown CPU; install another"),
    ],
)
def test_a_device_without_a_profile_says_why(finding: dict[str, Any], uri: str, error: str) -> None:
    assert error_of(cli_devices._profile, cli_devices.Finding(driver="d", **finding), uri, None) == error


def test_a_profile_is_of_a_device_here(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["devices", "--host", "pi5", "--profile", "double://0"])
    assert capsys.readouterr().err.endswith("error: argument --profile: not allowed with argument --host\n")


def test_an_output_without_a_profile_is_wrong_usage() -> None:
    with pytest.raises(argparse.ArgumentError, match="found --output without --profile, expected both"):
        run("-o", "a.toml")


HOST = declarations(
    table("host", name="here", kind="command", run=["sh", "-c", "{command}"], push=["cp", "{local}", "{remote}"],
          pull=["cp", "{remote}", "{local}"], folder="FOLDER/on host"),
    runtime("sync", host="here"),
    runtime("of-doubles", "double", host="here"),
    runtime("without"),
)  # fmt: skip


@pytest.fixture
def with_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "matrix.toml").write_text(HOST.replace("FOLDER", str(tmp_path)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_host_has_what_the_tool_finds_there(with_host: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("local-sync", "--host", "here") == 0
    assert capfd.readouterr().out == "local-sync:\n  0  local-sync://  CPU, in the calling thread\n"
    assert list((with_host / "on host" / "store").glob("*.tool/bin/iree-run-module"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "her"], "--host: found 'her', expected the name of a host declared in a matrix.toml here or above; "
         "did you mean 'here'?"),
        (["--host", "here", "vulkan"], "--host: found no runtime config with host = 'here' of a driver among vulkan"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("with_host")
def test_a_host_without_the_name_or_the_driver_is_an_error(arguments: list[str], message: str) -> None:
    assert error_of(run, *arguments) == message


@pytest.mark.usefixtures("with_host")
def test_a_driver_that_runs_nothing_on_hosts_is_an_error_of_the_declaration(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "."]) == 1
    assert capsys.readouterr().err == (
        "matrix.toml:17: runtime_config[1].host: found 'here', but the driver 'double' runs nothing on hosts; "
        "expected none\n"
    )
