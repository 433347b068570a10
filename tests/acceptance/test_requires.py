"""`requires` and `device_type`: what is unmet is a skip with the requirement, its place and the value of the device."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLE, DOUBLES, Project, suite
from retarget.results import read_results
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
    (session,) = read_results([project.path / "results"])
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


PROFILE = """\
format = 1
driver = "double-device"

[[capabilities]]
source = "the data sheet"
memory = 8589934592
double-device = { lanes = 4, gears = 3 }
"""


@pytest.mark.slow
def test_a_device_that_differs_from_its_profile_is_noted_once_and_its_own_values_count(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass")
    driver = 'driver = "double-device"\n'
    project.write({"matrix.toml": DOUBLE.replace(driver, f'{driver}profile = "double.toml"\n')})
    project.write({"double.toml": PROFILE, "suites/suite.toml": TWICE + 'requires = ["double-device.lanes >= 4"]\n'})
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=4)
    assert [line for line in result.outlines if line.startswith("note: ")] == [
        "note: the device of runtime config 'dr' differs from its profile 'double' (matrix.toml:10): "
        "it has memory = 1073741824, not 8589934592"
    ]


@pytest.mark.slow
def test_behind_run_under_the_profile_answers_and_without_one_nothing_is_known(project: Project) -> None:
    project.doubles(a="f: pass", b="f: pass", c="f: pass")
    wrapped = 'driver = "double-device"\nrun_under = ["env"]\n'
    with_profile = f'[[runtime_config]]\nname = "known"\n{wrapped}profile = "double.toml"\n\n[[target_config]]'
    matrix = DOUBLE.replace('driver = "double-device"\n', wrapped).replace("[[target_config]]", with_profile)
    project.write({"matrix.toml": matrix.replace('["dr"]', '["dr", "known"]'), "double.toml": PROFILE})
    override = '\n[[module_test_suite.module]]\nmatch = "{}"\nrequires = ["{}"]\n'
    needs = (("a", "vulkan.shaderInt64"), ("b", "memory >= 8 GiB"), ("c", "double-device.gears >= 4"))
    project.write({"suites/suite.toml": TWICE + "".join(override.format(*one) for one in needs)})
    result = project.run(*DOUBLES, "-m", "run")
    result.assert_outcomes(passed=3, skipped=3, deselected=3)
    assert [line for line in result.outlines if line.startswith("skipped: ")] == [
        "skipped: dr: needs memory >= 8 GiB (suites/suite.toml:13), and the device of dr does not report memory "
        "(1 target)",
        "skipped: dr: needs double-device.gears >= 4 (suites/suite.toml:17), and the device of dr does not report "
        "double-device.gears (1 target)",
        "skipped: known: needs double-device.gears >= 4 (suites/suite.toml:17), and double has double-device.gears = "
        "3 (1 target)",
    ]


@pytest.mark.slow
def test_a_profile_of_another_driver_is_an_error(project: Project) -> None:
    project.doubles(a="f: pass")
    driver = 'driver = "double-device"\n'
    project.write({"matrix.toml": DOUBLE.replace(driver, f'{driver}profile = "double.toml"\n')})
    project.write({"double.toml": PROFILE.replace("double-device", "npu")})
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=1, errors=1)
    assert block(result, "ERROR at setup of twice: a_dc_dr") == [
        "runtime config 'dr' (matrix.toml:10): found 'double', a profile of the driver 'npu', expected one of "
        "'double-device'"
    ]


@pytest.mark.slow
def test_what_does_not_compare_is_an_error_and_no_skip(project: Project) -> None:
    project.doubles(a="f: pass")
    project.write({"suites/suite.toml": TWICE + 'requires = ["double-device.lanes >= much"]\n'})
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=1, errors=1)
    assert (
        "suites/suite.toml:6: 'double-device.lanes >= much' cannot be asked: double-device.lanes is 4, which does not "
        "compare with much" in block(result, "ERROR at setup of twice: a_dc_dr")
    )


def test_an_artifact_that_needs_what_the_device_does_not_have_is_skipped_before_it_is_loaded(project: Project) -> None:
    lacks = "memory >= 1 GiB, double-device.lanes >= 8, device_type = gpu"
    project.doubles(lacks=f"needs: {lacks}\nf: crash", fine="needs: double-device.gears, vulkan.shaderInt64\nf: pass")
    result = project.run(*DOUBLES)
    result.assert_outcomes(passed=3, skipped=1)
    assert (
        "skipped: dr: the artifact needs double-device.lanes >= 8, and Double 9000 has double-device.lanes = 4; "
        "device_type = gpu, and Double 9000 has device_type = cpu (1 target)"
    ) in result.outlines
