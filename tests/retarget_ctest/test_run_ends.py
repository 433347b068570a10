"""What `retarget run` makes of how its targets end: lines, counts, results, exit status. How trials end is replaced."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, suite, target
from mlir_modules import GOOD
from retarget.cli import main
from retarget.model import Failure, Stage
from retarget.results import Sessions
from retarget.session.trial.failures import AsExpected, Skip, SkipKind, StageFailedError
from retarget.session.trial.run_trial import CompileTrial
from retarget.support import RetargetError

ID = "suite.toml::s"

Ends = Callable[..., None]


def failed(text: str) -> StageFailedError:
    return StageFailedError(Failure(stage=Stage.COMPILE, summary="bad"), text)


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "RETARGET_EXTENSIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ends:
    """Make a project of so many compile targets, `m0_c` and so on, and have them end so."""

    def make(*raised: BaseException | None) -> None:
        for number in range(len(raised)):
            (tmp_path / f"m{number}.mlir").write_text(GOOD)
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "suite.toml").write_text(suite("s"))
        (tmp_path / "matrix.toml").write_text(
            declarations("root = true\n", compiler("c", flags=VMVX_FLAGS), target("all", "c", []))
        )

        def attempt(trial: CompileTrial) -> None:
            if (error := raised[int(trial.target.module.name[1:])]) is not None:
                raise error

        monkeypatch.setattr(CompileTrial, "prepare", lambda _: None)
        monkeypatch.setattr(CompileTrial, "attempt", attempt)
        monkeypatch.setattr("retarget.session.trial.services.TrialServices.is_compile_needed", lambda *_: False)

    return make


def blocked(by: str) -> Skip:
    return Skip(SkipKind.BLOCKED, f"{by} failed", by=f"{ID}::{by}")


PASSED, FAILED, SKIPPED = None, failed("bad"), Skip(SkipKind.UNAVAILABLE, "no device")


@pytest.mark.parametrize(
    ("raised", "status", "counts"),
    [
        ([PASSED, PASSED], 0, "2 targets: 2 passed"),
        ([PASSED, FAILED, PASSED], 1, "3 targets: 2 passed, 1 failed"),
        ([AsExpected("known", FAILED), PASSED], 0, "2 targets: 1 xfail, 1 passed"),
        ([PASSED, Skip(SkipKind.LOST, "lost")], 1, "2 targets: 1 passed, 1 not run"),
        ([SKIPPED, SKIPPED], 77, "2 targets: 2 skipped"),
        ([SKIPPED, PASSED], 0, "2 targets: 1 skipped, 1 passed"),
        ([PASSED], 0, ""),
        ([SKIPPED], 77, ""),
    ],
)
def test_the_status_is_that_of_the_worst_outcome(
    raised: list[Any], status: int, counts: str, ends: Ends, capsys: pytest.CaptureFixture[str]
) -> None:
    ends(*raised)
    ids = [f"{ID}::m{number}_c" for number in range(len(raised))]
    assert main(["run", *ids]) == status
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines if line.startswith(ID)] == ids
    assert lines[-1].startswith(counts or ID)


def test_lines_are_those_of_pytest_and_a_failure_is_shown_whole(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    ends(
        failed("compile: \x1b[1mbad\x1b[0m\nmore"),
        AsExpected("known\x1b", RetargetError("bad")),
        Skip(SkipKind.UNAVAILABLE, "no device", "plug it in"),
        RetargetError("it broke"),
    )
    assert main(["run", "."]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{ID}::m0_c FAILED",
        "compile: bad",
        "more",
        f"{ID}::m1_c XFAIL (known?)",
        f"{ID}::m2_c SKIPPED (no device)",
        "hint: plug it in",
        f"{ID}::m3_c FAILED",
        "it broke",
        "4 targets: 2 failed, 1 xfail, 1 skipped",
    ]


def test_ids_start_with_the_path_to_the_suite_and_in_results_they_are_those_of_pytest(
    ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ends(failed("\x1b[1mbad\x1b[0m\nmore"), AsExpected("known", RetargetError("as known")), SKIPPED)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert main(["run", "..", "--results", "kept"]) == 1
    assert capsys.readouterr().out.startswith(f"{tmp_path}/{ID}::m0_c FAILED\n")
    (session,) = Sessions.read([tmp_path / "below" / "kept"])
    assert [(one.nodeid, one.outcome, one.text) for one in session.records] == [
        (f"{ID}::m0_c", "failed", "bad\nmore"),
        (f"{ID}::m1_c", "xfailed", "as known"),
        (f"{ID}::m2_c", "skipped", ""),
    ]
    assert session.end is not None
    assert session.end.status == 1
    assert main(["run", f"../{ID}::m2_c", "--results", "skips"]) == 77
    (session,) = Sessions.read([tmp_path / "below" / "skips"])
    assert session.end is not None
    assert session.end.status == 0


def test_a_target_that_another_blocks_is_an_error_only_where_that_one_did_not_fail(
    ends: Ends, capsys: pytest.CaptureFixture[str]
) -> None:
    ends(FAILED, blocked("m0_c"), PASSED, blocked("m2_c"))
    assert main(["run", "."]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{ID}::m3_c: blocked by {ID}::m2_c, which did not fail when it was tried itself; run both again"
    ]


def test_an_interrupted_run_says_how_far_it_came(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    ends(SKIPPED, KeyboardInterrupt(), PASSED)
    assert main(["run", "."]) == 130
    assert capsys.readouterr().err == "interrupted after 1 of 3 targets: 1 skipped\n"
    assert main(["run", f"{ID}::m1_c"]) == 130
    assert capsys.readouterr().err == "interrupted after 0 of 1 target\n"


# ---------------------------------------------------------------- what a project configures


@pytest.mark.parametrize("words", [["."], [f"{ID}::m0_c"]], ids=["folder", "id"])
def test_options_of_other_plugins_in_an_ini_file_have_no_effect(words: list[str], ends: Ends, tmp_path: Path) -> None:
    ends(PASSED)
    addopts = "--strict-config -n 4 --junitxml=out.xml --retarget-results=kept -q -k nothing --pdb"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(["run", *words]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_target_by_its_id_needs_no_other_plugin_and_no_conftest(ends: Ends, tmp_path: Path) -> None:
    ends(PASSED)
    (tmp_path / "pytest.ini").write_text("[pytest]\nrequired_plugins = none\nstrict_config = true\nno_key = 1\n")
    (tmp_path / "conftest.py").write_text("raise RuntimeError('loaded')\n")
    assert main(["run", f"{ID}::m0_c"]) == 0


def test_retargets_options_in_an_ini_file_and_the_variable_are_in_force(
    ends: Ends, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(PASSED)
    (tmp_path / "pytest.ini").write_text("[pytest]\nretarget_jobs = 2\naddopts = --retarget-run-timeout=5 --runxfail\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--retarget-case 'b #2' -o retarget_compile_timeout=7")
    monkeypatch.setenv("RETARGET_CLUSTER", "tcp://127.0.0.1:1")
    found: list[Any] = []
    finished = "pytest_retarget.report.terminal.TerminalHooks._take"
    monkeypatch.setattr(finished, lambda hooks, _: found.append(hooks._settings))
    assert main(["run", ".", "--case", "f", "--compile-timeout", "9"]) == 0
    (settings,) = found
    assert (settings.jobs, settings.run_timeout, settings.compile_timeout) == (2, 5, 9)
    assert (settings.cases, settings.ignore_expectations) == (("b #2", "f"), True)


def test_toolchains_that_are_written_wrong_are_wrong_usage(ends: Ends, capsys: pytest.CaptureFixture[str]) -> None:
    ends(PASSED)
    assert main(["run", ".", "--retarget-toolchain", "x"]) == 2
    assert main(["run", ".", "--retarget-toolchain", "none=/x"]) == 2
    assert "none" in capsys.readouterr().err.splitlines()[-1]
