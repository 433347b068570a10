"""`retarget run`: which targets it takes, what it prints, its exit status."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.results import Sessions

SUITE = "linalg/suite.toml::linalg"


@pytest.fixture(autouse=True)
def _there(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mixed)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([f"{SUITE}::good_vmvx_phone"], 77, ""),
        (
            [f"{SUITE}::good_vmvx_phone", "--retarget-require", "not phone"],
            1,
            "'not phone': no target that it selects has run",
        ),
        (["good_vmvx_phone", "--retarget-require", "fone"], 1, "'fone': no target that it selects has run"),
        (
            [f"{SUITE}::good_vmvx_phone", "--retarget-require", "phone"],
            1,
            "'phone' does not let this target be skipped",
        ),
        ([f"{SUITE}::never_vmvx", "--retarget-require", "vmvx"], 1, "'vmvx': no target that it selects has run"),
        (["-m", "phone", "-k", "never", "."], 77, ""),
        (
            ["-m", "phone", "-k", "never", ".", "--retarget-require", "phone"],
            2,
            "--retarget-require 'phone': -k 'never' deselects ",
        ),
        (
            ["-k", "good_vmvx", ".", "--retarget-require", "vmvx"],
            2,
            "--retarget-require 'vmvx': -k 'good_vmvx' deselects ",
        ),
    ],
)
def test_a_required_target_is_not_skipped(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == status
    assert said in "".join(capsys.readouterr())


@pytest.mark.slow
def test_a_failure_is_shown_with_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", f"{SUITE}::wrong_vmvx_sync"]) == 1
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert first == f"{SUITE}::wrong_vmvx_sync FAILED"
    assert second.startswith("compare: wrong: ")
    assert "to reproduce this by hand:" in rest


@pytest.mark.slow
def test_an_artifact_that_was_compiled_by_hand_is_run_in_place_of_a_compile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]
    tool, artifact = Path(sys.executable).with_name("iree-compile"), tmp_path / "other.vmfb"
    subprocess.run([tool, "linalg/wrong.mlir", *flags, "-o", artifact], check=True)
    given = ["--artifact", str(artifact)]
    assert main(["run", f"{SUITE}::good_vmvx_sync", *given]) == 1
    printed = capsys.readouterr().out
    assert printed.splitlines()[1].startswith("compare: wrong: ")
    assert f" --artifact={artifact} " in printed
    assert "iree-compile" not in printed
    assert main(["run", f"{SUITE}::good_vmvx_sync", f"{SUITE}::wrong_vmvx_sync", *given]) == 1
    assert f"{artifact} is taken for that of good_vmvx; run one at a time" in capsys.readouterr().out
    assert main(["run", f"{SUITE}::good_vmvx_sync", "--artifact", str(tmp_path / "none")]) == 1
    assert f"cannot be read: {tmp_path / 'none'}: No such file or directory" in capsys.readouterr().out


@pytest.mark.slow
def test_expectations_are_honoured_unless_they_are_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "known_vmvx_s", "mended_*_sync"]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[:3] == [
        f"{SUITE}::known_vmvx_sync XFAIL (1 of 2 cases failed as expected: known of known)",
        f"{SUITE}::mended_vmvx_sync FAILED",
        "expected to fail at compare, but passed",
    ]
    assert printed[-1] == "2 targets: 1 xfail, 1 failed"
    assert main(["run", "known_vmvx_s", "mended_*_sync", "--ignore-expectations"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 targets: 1 failed, 1 passed"


@pytest.mark.slow
def test_a_case_that_no_module_has_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", f"{SUITE}::good_vmvx_sync", "--case", "squaers"]) == 2
    assert "--retarget-case: found 'squaers', which matches no case of the modules" in capsys.readouterr().err


@pytest.mark.slow
def test_run_targets_of_a_failed_compile_are_blocked_or_report_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-k", "refused and not phone", "--results", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "2 targets: 1 failed, 1 blocked"
    assert main(["run", f"{SUITE}::refused_vmvx_sync"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == f"{SUITE}::refused_vmvx_sync FAILED"
    (session,) = Sessions.read([tmp_path])
    failed, blocked = session.records
    assert (failed.nodeid, failed.outcome, failed.file) == (f"{SUITE}::refused_vmvx", "failed", "linalg/suite.toml")
    assert (blocked.outcome, blocked.blocked_by, blocked.line) == ("blocked", failed.nodeid, 0)
    assert failed.text.startswith("compile: ")
    assert session.end is not None
    assert session.end.status == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected targets: ids, names or globs as `retarget list` shows them, folders, or -m or -k"),
        ([""], "found an empty target; expected an id, a name, a glob or a folder ('.' for the current one)"),
        (["goood_vmvx"], "found no target 'goood_vmvx' in .; did you mean 'good_vmvx'?"),
        ([f"{SUITE}::goood_vmvx"], f"found no target 'goood_vmvx' in {SUITE}; did you mean 'good_vmvx'?"),
        (["linalg/suite.toml::linlag::x"], "found no suite 'linlag' in linalg/suite.toml; did you mean 'linalg'?"),
        (
            ["good_vm"],
            "found 3 targets whose names begin with 'good_vm': good_vmvx, good_vmvx_phone, good_vmvx_sync; "
            "expected one, or 'good_vm*'",
        ),
        (["linalg", "-m", "cuda"], "found no target in linalg that is selected; `retarget list` shows all"),
    ],
)
def test_what_names_no_target_is_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"retarget: {message}"


def test_a_folder_of_other_tests_alone_has_no_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "test_apart.py").write_text("def test_passes():\n    pass\n")
    assert main(["run", str(tmp_path)]) == 2
    assert "found no target in" in capsys.readouterr().err


def test_help_has_the_exit_statuses_of_this_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["run", "--help"])
    statuses = capsys.readouterr().out.partition("exit status:\n")[2].splitlines()
    assert [line.split()[0] for line in statuses] == ["0", "1", "2", "77", "130"]
    assert statuses[3] == "  77   all targets were skipped"


@pytest.mark.slow
def test_a_target_that_its_id_names_needs_no_models() -> None:
    script = (
        "import sys\n"
        "from retarget.cli import main\n"
        f"status = main(['run', '{SUITE}::good_vmvx_sync'])\n"
        "heavy = {'pydantic', 'numpy', 'tree_sitter'}\n"
        "print(status, *sorted(heavy & {*sys.modules}))\n"
    )
    command = [sys.executable, "-c", script]
    for _ in range(2):  # the first makes the cache, in which the second keeps what it has read
        subprocess.run(command, check=True, capture_output=True)
    third = subprocess.run(command, check=True, capture_output=True, text=True)
    assert third.stdout.splitlines() == [f"{SUITE}::good_vmvx_sync PASSED", "0"]
