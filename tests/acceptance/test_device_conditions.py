"""Rules and requirements that say which device they are about, on every device that this machine has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from acceptance_support import DOUBLES, Project, expecting
from declaration_texts import table
from retarget.model import vendor_name

COMPILERS = {"vulkan": "iree", "opencl": "iree-opencl"}


def about(match: str, when: str, **more: Any) -> str:
    return table("expectation", match=match, when=when, **more)


@pytest.fixture(scope="module")
def devices() -> list[dict[str, Any]]:
    """What `retarget devices` reports here of local-task, Vulkan and OpenCL."""
    from retarget.cli import main

    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("sys.stdout.write", lines.append)
        main(["devices", "local-task", *COMPILERS, "--format", "json"])
    found = [device for driver in json.loads("".join(lines)) for device in driver["devices"]]
    return [device for device in found if not device.get("unusable")]


@pytest.mark.slow
def test_every_driver_says_whose_its_devices_are_and_of_which_sort(devices: list[dict[str, Any]]) -> None:
    assert devices
    for device in devices:
        assert device["driver_name"]
        assert device["vendor"] == vendor_name(device["vendor"])
        assert device["type"] == dict(device["features"])["device_type"]


# ---------------------------------------------------------------- with a device of which there are two models

ACME = "on(vendor='Acme', name='*9001')"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda number: monkeypatch.setenv("DOUBLE_MODEL", str(number))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("number", "ended"), [(9000, {"passed": 4}), (9001, {"passed": 2, "skipped": 1, "xfailed": 1})]
)
def test_a_rule_excuses_and_skips_on_its_device_alone(
    project: Project, model: Any, number: int, ended: dict[str, int]
) -> None:
    project.doubles(a="f: fail@9001", b="f: crash@9001")
    skip = about("b", ACME, outcome="skip", reason="it burns")
    expecting(project, about("a", ACME, stage="compare", reason="rounds"), skip)
    model(number)
    result = project.run(*DOUBLES, apart=True)
    result.assert_outcomes(**ended)
    assert result.ret == 0


@pytest.mark.parametrize("arguments", [("-m", "on(type='gpu')"), ("--retarget-require", "dr and on(vendr='x')")])
def test_what_is_selected_cannot_depend_on_devices(project: Project, arguments: tuple[str, ...]) -> None:
    project.doubles(a="f: pass")
    result = project.run(*DOUBLES, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    column = arguments[1].index("on(") + 1
    assert result.errlines[-2:][0] == (
        f"ERROR: {arguments[0]} {arguments[1]!r}: column {column}: found on(…), expected words of targets: what is "
        "selected depends on no device; `when` of a rule and `requires` may"
    )


def test_explain_and_check_say_which_rule_holds_here(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    from retarget.cli import main

    project.doubles(a="f: pass")
    here = "on(driver='doubles-9000')"
    expecting(
        project,
        about("a", here, stage="compare", reason="rounds"),
        about("a", ACME, outcome="skip", reason="burns"),
        about("a", f"dc and {here}", stage="compile", reason="never"),
    )
    extension = ["--retarget-extension", "doubles"]
    assert main(["explain", "a_dc_dr", *extension]) == 0
    lines = [line.strip() for line in section_of(capfd.readouterr().out, "expectation")]
    assert lines[0] == (
        "the device is on(driver='doubles-9000', vendor='Acme', name='Double 9000', version='9.1', type='cpu')"
    )
    assert [line.split()[1:] for line in lines if line.startswith("here")] == [["not", "in", "force"], ["in", "force"]]
    assert main(["check", *extension]) == 1
    assert capfd.readouterr().err.splitlines() == [
        "suites/expectations.toml:14: expectation[2].match: found 'a', which with \"dc and on(driver='doubles-9000')\" "
        'matches no target that can fail at compile; a compile target has the device of target_from = "host:…", others '
        "have none; remove it"
    ]


def section_of(text: str, title: str) -> list[str]:
    lines = text.splitlines()
    at = lines.index(title) + 1
    end = next((index for index, line in enumerate(lines[at:], at) if not line.startswith("  ")), len(lines))
    return lines[at:end]
