"""Runs on several devices: roles end in their devices, and what each executed is counted."""

from __future__ import annotations

import pytest
from acceptance_support import Project, matrix, suite
from declaration_texts import compiler, table, target
from session_output import block, junit, properties

VMVX = ["--iree-hal-local-target-device-backends=vmvx"]
MODULE = """
func.func @back_and_forth(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  %1 = flow.tensor.transfer %0 : tensor<4xf32> to #hal.device.promise<@device_b>
  %2 = arith.mulf %1, %1 : tensor<4xf32>
  %3 = flow.tensor.transfer %2 : tensor<4xf32> to #hal.device.promise<@device_a>
  %4 = arith.subf %3, %a : tensor<4xf32>
  return %4 : tensor<4xf32>
}
"""
CASES = "[[case]]\nname = 'ones'\ninputs = [[1, 1, 1, 1]]\nexpected = [[3, 3, 3, 3]]\n"


def roles(name: str, used_a: bool | None, used_b: bool | None, **more: object) -> str:
    a = {"role": "device_a", "driver": "local-task"} | ({} if used_a is None else {"used": used_a})
    b = {"role": "device_b", "driver": "local-sync"} | ({} if used_b is None else {"used": used_b})
    return table("runtime_config", name=name, devices=[b, a], **more)


@pytest.mark.slow
def test_each_role_executes_its_part_or_the_target_fails_with_the_counts(project: Project) -> None:
    project.write(
        {
            "matrix.toml": matrix(
                compiler("two", flags=VMVX, devices={"device_a": "local[0]", "device_b": "local[1]"}),
                compiler("one", flags=VMVX, devices={"device_a": "local", "device_b": "local"}),
                roles("work", used_a=True, used_b=True),
                roles("idle", used_a=None, used_b=False),
                roles("apart", used_a=None, used_b=None, distinct=True),
                target("cpu", ["two", "one"], ["work", "idle", "apart"]),
            ),
            "suites/suite.toml": suite(kind="cases"),
            "suites/m.mlir": MODULE,
            "suites/m.cases.toml": CASES,
        }
    )
    result = project.run("--junitxml=junit.xml")
    result.assert_outcomes(passed=4, failed=2, skipped=2)
    assert block(result, "linalg: m_one_work")[0] == (
        "run: the device device_b (local-sync://) executed no work, expected some; dispatches: device_a = 3, "
        "device_b = 0"
    )
    assert block(result, "linalg: m_two_idle")[0] == (
        "run: the device device_b (local-sync://) executed work, expected none; dispatches: device_a = 2, device_b = 1"
    )
    assert (
        "skipped: apart: runtime config 'apart' needs 2 distinct devices; local-task:// and local-sync:// are the same "
        "one here (cpu) (2 targets)"
    ) in result.outlines
    counted = properties(junit(project)["m_two_work"])
    assert counted["retarget.case_dispatches.ones"] == "device_a=2 device_b=1"
