"""`python3 -m retarget.worker.run_case`: which cases it runs, and what the checks of an artifact come to."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target
from retarget.extension import CheckedCase
from retarget.support.errors import RetargetError
from retarget.worker.messages import check_artifact, checked_outcome
from retarget.worker.run_case import main


@pytest.mark.parametrize(
    ("case", "printed"), [("FileCheck*", "FileCheck CHECK,VMVX,CHECK-VMVX: passed\n"), ("other", "")]
)
def test_cases_that_judge_an_artifact_are_selected_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, printed: str
) -> None:
    artifact, module = tmp_path / "artifact", tmp_path / "m.mlir"
    artifact.write_text("module\n")
    module.write_text("// CHECK: module\n")

    found = main(["--kind=filecheck", "--compilers=vmvx", f"--artifact={artifact}", f"--case={case}", str(module)])

    out, err = capsys.readouterr()
    assert (found, out) == (0 if printed else 1, printed)
    assert (err == "error: there is no case 'other'; there are: FileCheck CHECK,VMVX,CHECK-VMVX\n") is (not printed)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (["vulkan://", "local-task://", "opencl://0"], "found a device of the driver 'opencl', which 'vulkan' "),
        (["local-task://", "loca-sync://"], "'loca-sync'"),
        (["opencl://0", "opencl://1"], "the opencl driver runs on one device"),
    ],
)
def test_devices_that_no_driver_opens_together_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], devices: list[str], expected: str
) -> None:
    artifact = tmp_path / "artifact"
    artifact.write_text("")
    assert main(["--kind=check", f"--artifact={artifact}", *(f"--device={one}" for one in devices)]) == 1
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize(
    ("summary", "report", "said"),
    [("", "", ""), ("bad", "a\nb", "bad"), ("", "\nbad\nworse", "bad"), ("\nbad", "", "bad"), (" ", "", "a failed")],
)
def test_a_check_of_an_artifact_that_says_anything_failed(summary: str, report: str, said: str) -> None:
    failure = checked_outcome([CheckedCase(name="a", summary=summary, report=report)]).failure
    assert ("" if failure is None else failure.summary) == said


def test_two_checks_of_one_name_are_an_error() -> None:
    checker: Any = SimpleNamespace(check=lambda _: [CheckedCase(name="a", summary="bad"), CheckedCase(name="a")])
    with pytest.raises(RetargetError, match=r"^found two cases named 'a', expected each name once$"):
        check_artifact(checker, compile_target(), b"")
