"""`requires` and `device_type`: what is unmet is a skip with the requirement, its place and the value of the device."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLE, DOUBLES, Project, suite
from retarget.results import Sessions
from session_output import block

TWICE = suite("twice", kind="double", targets="doubles")
NEEDY = f"""{TWICE}requires = ["memory >= 1 GiB", "vulkan.shaderFloat64"]

[[module_test_suite.module]]
match = "b"
requires = ["memory >= 8 GiB", "double-device.lanes >= 8", "double-device.gears"]
"""


def test_a_module_whose_requirements_are_unmet_is_skipped_with_the_values_of_the_device(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    project.write({"suites/suite.toml": NEEDY})
    result = project.run(*DOUBLES, "--retarget-results", "results")
    result.assert_outcomes(passed=3, skipped=1)
    (session,) = Sessions.read([project.path / "results"])
    [skipped] = [record for record in session.records if record.unsuitable]
    assert (skipped.target, [device.name for device in skipped.devices]) == ("b_dc_dr", ["Double 9000"])
    where = "suites/suite.toml:10"
    reason = (
        f"dr: needs memory >= 8 GiB ({where}), and Double 9000 has memory = 1 GiB; "
        f"needs double-device.lanes >= 8 ({where}), and Double 9000 has double-device.lanes = 4; "
        f"needs double-device.gears ({where}), and Double 9000 does not report double-device.gears"
    )
    assert f"skipped: {reason} (1 target)" in result.outlines


def test_a_gpu_test_does_not_run_on_a_cpu_and_is_an_error_where_it_is_required(project: Project) -> None:
    project.doubles(a="f: pass")
    driver = 'driver = "double-device"\n'
    project.write({"matrix.toml": DOUBLE.replace(driver, f'{driver}device_type = "gpu"\n')})
    result = project.run(*DOUBLES, "--retarget-require", "dr")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1)
    assert block(result, "ERROR at setup of twice: a_dc_dr")[-2:] == [
        "dr: needs device_type = gpu (matrix.toml:10), and Double 9000 has device_type = cpu",
        "--retarget-require 'dr' does not let this target be skipped",
    ]


def test_an_artifact_that_needs_what_the_device_does_not_have_is_skipped_before_it_is_loaded(project: Project) -> None:
    lacks = "memory >= 1 GiB, double-device.lanes >= 8, device_type = gpu"
    project.doubles(lacks=f"needs: {lacks}\nf: crash", fine="needs: double-device.gears, vulkan.shaderInt64\nf: pass")
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=3, skipped=1)
    assert (
        "skipped: dr: the artifact needs double-device.lanes >= 8, and Double 9000 has double-device.lanes = 4; "
        "device_type = gpu, and Double 9000 has device_type = cpu (1 target)"
    ) in result.outlines
