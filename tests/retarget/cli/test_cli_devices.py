"""`retarget devices`: every driver gets its lines, also one that crashes or hangs."""

from __future__ import annotations

import argparse
import json

import pytest
from retarget.cli import devices as cli_devices
from retarget.support.errors import RetargetError
from targets_of_doubles import EXTENSIONS

DOUBLES = ("double", "double-absent", "double-crash", "double-hang")


@pytest.fixture(autouse=True)
def _doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETARGET_EXTENSIONS", EXTENSIONS[0])


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    cli_devices.add_arguments(parser)
    return cli_devices.run(parser.parse_args(arguments))


def test_each_driver_has_its_devices_or_its_reason(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*DOUBLES, "--timeout", "3") == 1

    captured = capfd.readouterr()
    assert captured.out == (
        "double:\n"
        "  0  double://0  Double Device, driver 1.2\n"
        "     memory 16 GiB, fp64\n"
        "double-absent: no devices: no double here (plug one in)\n"
        "double-crash: error: driver 'double-crash' crashed while it listed its devices: SIGSEGV: driver chatter\n"
        "double-hang: error: driver 'double-hang' had not listed its devices after 3 s\n"
    )
    assert captured.err == ""


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("double", "double-absent", "--format", "json") == 0

    found, absent = json.loads(capsys.readouterr().out)
    assert (found["driver"], found["devices"][0]["uri"], found["unavailable"]) == ("double", "double://0", "")
    assert (absent["devices"], absent["unavailable"], absent["hint"]) == ([], "no double here", "plug one in")


@pytest.mark.parametrize("text", ["nan", "inf", "0", "-1", "soon"])
def test_a_timeout_is_a_number_of_seconds(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("double", f"--timeout={text}")
    assert f"found '{text}', expected a number of seconds above 0" in capsys.readouterr().err


def test_an_unknown_driver_names_the_registered_ones() -> None:
    with pytest.raises(RetargetError, match=r"found the driver 'dubble', expected a registered one: .*did you mean"):
        run("dubble")
