"""`retarget bringup driver`: what it prints, its exit status, what a name may be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.cli import main
from retarget.model import CheckState, DeviceInfo, DriverCheckOutcome, DriverReport, Rung
from retarget_bringup import driver
from retarget_bringup.driver import is_good, outcome_lines, report_lines

DEVICE = DeviceInfo(driver="npu", uri="npu://0", ordinal=0, name="NPU 1", physical_id="npu-0")
PASSED = DriverCheckOutcome(
    config="my npu",
    driver="npu",
    check="fill.ranges",
    proves="A fill writes its range.",
    state=CheckState.PASSED,
    rung=Rung.TRANSFERS,
    seconds=0.25,
)
FAILED = replace(
    PASSED, state=CheckState.FAILED, rung=Rung.OPENS, detail="after fill b0[0:4] with a1: …", text="b0 = …\nfill …\n"
)
REPORT = DriverReport(config="my npu", driver="npu", devices=(DEVICE,), rung=Rung.TRANSFERS, outcomes=(PASSED, PASSED))
ABSENT = DriverReport(
    config="npu",
    driver="npu",
    devices=(),
    rung=Rung.NONE,
    outcomes=(),
    reason="no NPU",
    hint="buy one",
    unavailable=True,
)


def test_a_check_that_fails_says_what_was_done_and_how_to_do_just_that() -> None:
    assert list(outcome_lines(FAILED)) == [
        "my npu  fill.ranges       FAILED           0.25 s",
        "    after fill b0[0:4] with a1: …",
        "    it proves: A fill writes its range.",
        "    what was done, in this order:",
        "      b0 = …",
        "      fill …",
        "    just this one: retarget bringup driver 'my npu' --check fill.ranges",
    ]


def test_of_many_operations_the_last_are_shown() -> None:
    lines = list(outcome_lines(replace(FAILED, text="".join(f"step {number}\n" for number in range(40)))))

    assert lines[4:6] == ["      … 28 lines before", "      step 28"]
    assert lines[-2] == "      step 39"


@pytest.mark.parametrize(
    ("report", "lines"),
    [
        (REPORT, ["my npu (npu://0, NPU 1): rung 2, transfers; checks: 2 passed"]),
        (
            replace(REPORT, rung=Rung.OPENS, outcomes=(PASSED, FAILED)),
            ["my npu (npu://0, NPU 1): rung 1, opens; checks: 1 passed, 1 failed"],
        ),
        (
            replace(REPORT, rung=Rung.OPENS, reason="the driver npu does not implement Device.transfers"),
            ["my npu (npu://0, NPU 1): rung 1, opens; the driver npu does not implement Device.transfers"],
        ),
        (ABSENT, ["npu: not found; no NPU", "    buy one"]),
    ],
)
def test_a_driver_is_a_line_with_its_rung(report: DriverReport, lines: list[str]) -> None:
    assert list(report_lines(report)) == lines


@pytest.mark.parametrize(
    ("report", "named", "unnamed"),
    [
        (REPORT, True, True),
        (ABSENT, False, True),
        (replace(ABSENT, unavailable=False), False, False),
        (replace(REPORT, rung=Rung.FOUND, outcomes=()), False, False),
        (replace(REPORT, rung=Rung.OPENS, outcomes=(), reason="the driver npu does not …"), False, True),
        (replace(REPORT, rung=Rung.OPENS, outcomes=(PASSED, FAILED)), False, False),
    ],
)
def test_who_is_named_must_reach_rung_2_and_others_must_not_fail(
    report: DriverReport, named: bool, unnamed: bool
) -> None:
    assert (is_good(report, is_named=True), is_good(report, is_named=False)) == (named, unnamed)


SUITE = """\
[[runtime_config]]
name = "one-thread"
driver = "local-task"
flags = ["--task_topology_max_group_count=1"]

[[compiler_config]]
name = "vmvx"
compiler = "iree"

[[target_config]]
name = "portable"
compiler = "vmvx"
runtimes = ["one-thread"]

[[module_test_suite]]
name = "s"
srcs = ["*.mlir"]
kind = "check"
targets = ["portable"]
"""


@pytest.mark.slow
def test_drivers_devices_and_runtime_configs_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.toml").write_text(SUITE)
    Path("a.mlir").touch()

    status = main(["bringup", "driver", "local-sync://", "one-thread", "--check", "copy.w*"])

    assert status == 0
    first, sync, second, task = capfd.readouterr().out.splitlines()
    assert first.split()[:3] == ["local-sync://", "copy.within", "passed"]
    assert second.split()[:3] == ["one-thread", "copy.within", "passed"]
    assert re.fullmatch(r"local-sync:// \(local-sync:.*\): rung 2, transfers; checks: 1 passed", sync)
    assert re.fullmatch(r"one-thread \(local-task:.*\): rung 2, transfers; checks: 1 passed", task)


def test_a_name_that_means_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("suite.toml").write_text(SUITE)
    Path("a.mlir").touch()

    assert main(["bringup", "driver", "one-tread"]) == 1
    assert re.search(
        r"found 'one-tread', expected a driver \(cuda, .*\), the URI of a device, or a runtime config that suites "
        r"below this folder use; did you mean 'one-thread'\?",
        capsys.readouterr().err,
    )


def test_a_runtime_config_is_checked_before_the_driver_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(driver, "check_drivers", lambda configs, **known: asked.extend(configs) or [])
    monkeypatch.chdir(tmp_path)
    Path("suite.toml").write_text(SUITE.replace("one-thread", "local-task"))
    Path("a.mlir").touch()
    assert main(["bringup", "driver", "local-task", "local-task://"]) == 0
    assert [one.flags for one in asked] == [("--task_topology_max_group_count=1",), ()]


def commanded(monkeypatch: pytest.MonkeyPatch, reports: list[DriverReport], *words: str) -> tuple[int, list[Any]]:
    """The exit status of the command where the checks end so, and what was asked."""
    monkeypatch.chdir(Path(__file__).parent)  # where nothing is declared
    asked: list[Any] = []

    def check(configs: Any, *, done: Any, ended: Any, note: Any, **known: Any) -> list[DriverReport]:
        note("a note")
        asked.append(([one.name for one in configs], known["globs"], known["timeout"], known["extensions"]))
        for report in reports:
            for outcome in report.outcomes:
                done(outcome)
            ended(report)
        return reports

    monkeypatch.setattr(driver, "check_drivers", check)
    return main(["bringup", "driver", *words]), asked


def test_outcomes_and_reports_are_printed_as_they_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("local-sync", "--check", "fill*", "--check", "map*", "--timeout", "7")
    status, asked = commanded(monkeypatch, [replace(REPORT, outcomes=(PASSED, FAILED))], *words)
    (configs, globs, timeout, _) = asked[0]
    assert (status, configs, [*globs], timeout) == (0, ["local-sync"], ["fill*", "map*"], 7.0)
    out, err = capsys.readouterr()
    report = replace(REPORT, outcomes=(PASSED, FAILED))
    assert out.splitlines() == [*outcome_lines(PASSED), *outcome_lines(FAILED), *report_lines(report)]
    assert err == "a note\n"


@pytest.mark.parametrize(
    ("report", "words", "status"),
    [(ABSENT, (), 0), (ABSENT, ("local-sync",), 1), (replace(REPORT, rung=Rung.OPENS), (), 0)],
)
def test_the_exit_status_is_that_of_the_drivers(
    monkeypatch: pytest.MonkeyPatch, report: DriverReport, words: tuple[str, ...], status: int
) -> None:
    assert commanded(monkeypatch, [REPORT, report], *words)[0] == status
