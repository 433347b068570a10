"""The language of requirements: what is written, what is wrong with it, and what devices answer."""

from __future__ import annotations

import pytest
from retarget.model.outcomes import FeatureValue
from retarget.profiles.files import Capability, Profile
from retarget.profiles.requirements import RequirementError, RequirementStatus, parse_requirement
from retarget.support.errors import RetargetError

NAME = "the name of a capability, such as memory or vulkan.shaderFloat64"
OPERATORS = "one of >=, <=, >, <, =, !=, or the end"


def device(driver: str = "vulkan", name: str = "llvmpipe", **capabilities: FeatureValue) -> Profile:
    values = {key.replace("__", "."): value for key, value in capabilities.items()}
    return Profile(
        name=name,
        driver=driver,
        capabilities=tuple(Capability(name=key, value=value, source="test") for key, value in values.items()),
    )


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, f"found the end, expected {NAME}"),
        (">= 8 GiB", 1, f"found '>=', expected {NAME}"),
        ("device_type >= gpu", 13, "found '>=' before gpu, expected = or !="),
        (f"memory >= {'9' * 5000} GiB", 11, "found a number of 5000 characters, expected at most 40"),
        ("not opencl.fp64", 1, "found 'not', expected a name; write NAME = false"),
        (
            "vulkan.shaderFloat46",
            1,
            "found the unknown capability 'vulkan.shaderFloat46', expected a feature, property or limit of Vulkan that "
            "code generation depends on, or an extension (VK_…); did you mean 'vulkan.shaderFloat64'?",
        ),
        (
            "shaderFloat64",
            1,
            "found the unknown capability 'shaderFloat64', expected memory, device_type, devices, or a name with one "
            "of the prefixes vulkan, opencl, cuda, hip, cpu; did you mean 'vulkan.shaderFloat64'?",
        ),
        (
            "vulcan.shaderInt8",
            1,
            "found the unknown capability 'vulcan.shaderInt8', expected memory, device_type, devices, or a name with "
            "one of the prefixes vulkan, opencl, cuda, hip, cpu; did you mean 'vulkan.shaderInt8'?",
        ),
        ("memory => 8 GiB", 8, f"found '=>', expected {OPERATORS}; did you mean '>='?"),
        ("device_type == gpu", 13, f"found '==', expected {OPERATORS}; did you mean '='?"),
        ("memory 8 GiB", 8, f"found '8', expected {OPERATORS}"),
        ("memory >=", 10, "found the end, expected a value: a number, a version or a word"),
        ("memory >= ?", 11, "found '?', expected a value: a number, a version or a word"),
        ("memory >= 8 GB", 13, "found the unit 'GB', expected one of B, KiB, MiB, GiB, TiB; did you mean 'GiB'?"),
        ("memory >= 8 bytes", 13, "found the unit 'bytes', expected one of B, KiB, MiB, GiB, TiB"),
        ("memory >= 1.2.3 GiB", 17, "found a unit after 1.2.3, expected it after a number, such as 8 or 0.5"),
        ("memory >= 8..0", 11, "found '8..0', expected a number or a version, such as 8 or 8.0"),
        ("devices >= 2 memory", 14, "found the unit 'memory', expected one of B, KiB, MiB, GiB, TiB"),
        ("opencl.fp64, memory", 12, f"found ',', expected {OPERATORS}"),
        ("devices >= 2, memory", 13, "found ',', expected the end; each requirement is an entry of its own"),
        ("opencl.fp64 >= true", 13, "found '>=' before true, expected = or !="),
        ("memory >= much", 11, "found 'much', expected a number of bytes, such as 8 GiB"),
        ("devices >= all", 12, "found 'all', expected a number"),
        (
            "memory >= 1.5",
            11,
            "found '1.5', expected a whole number of bytes, or a number with a unit, such as 1.5 GiB",
        ),
        ("devices >= 1.5", 12, "found '1.5', expected a whole number"),
        ("device_type = gpus", 15, "found 'gpus', expected one of gpu, cpu, accelerator; did you mean 'gpu'?"),
    ],
)
def test_a_requirement_that_is_not_well_formed_is_refused_with_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(RequirementError) as caught:
        parse_requirement(text)
    assert (caught.value.column, str(caught.value)) == (column, f"column {column}: {message}")


@pytest.mark.parametrize(
    ("text", "value", "met"),
    [
        ("memory >= 8 GiB", 8 * 2**30, True),
        ("memory >= 8 GiB", 8 * 2**30 - 1, False),
        ("memory > 0.5 MiB", 2**19, False),
        ("memory<=1KiB", 1024, True),
        ("vulkan.shaderFloat64", True, True),
        ("vulkan.shaderFloat64", False, False),
        ("vulkan.shaderFloat64 = false", False, True),
        ("vulkan.shaderFloat64 != false", False, False),
        ("vulkan.apiVersion >= 1.3", "1.3.230", True),
        ("vulkan.apiVersion >= 1.3.231", "1.3.230", False),
        ("vulkan.apiVersion < 1.10", "1.9", True),
        ("cuda.computeCapability >= 8.0", "10.0", True),
        ("cuda.computeCapability = 8", "8.0", True),
        ("cuda.computeCapability >= 8.0", 7.5, False),
        ("vulkan.subgroupSize = 32", (8, 32), True),
        ("vulkan.subgroupSize != 32", (8, 32), False),
        ("vulkan.maxComputeWorkGroupSize >= 1024", (1024, 1024, 64), False),
        ("vulkan.driverName = llvmpipe", "llvmpipe", True),
        ("vulkan.driverName != llvmpipe", "llvmpipe", False),
        ("device_type = gpu", "cpu", False),
        ("cpu.sse4.2", True, True),
    ],
)
def test_a_device_meets_a_requirement_by_its_value(text: str, value: FeatureValue, met: bool) -> None:
    needed = parse_requirement(text)
    found = needed.answer([device(**{needed.name.replace(".", "__"): value})])
    assert found.status is (RequirementStatus.MET if met else RequirementStatus.UNMET)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("memory >= 8 GiB", "llvmpipe has memory = 3 GiB"),
        ("memory >= 9000000000", "llvmpipe has memory = 3221225472"),
        ("device_type = gpu", "llvmpipe has device_type = cpu"),
        ("vulkan.shaderFloat64", "llvmpipe has vulkan.shaderFloat64 = false"),
        ("vulkan.maxComputeWorkGroupSize >= 64", "llvmpipe has vulkan.maxComputeWorkGroupSize = 64, 1"),
        ("devices >= 2", "there is 1 device"),
    ],
)
def test_what_is_unmet_names_the_value_of_the_device(text: str, reason: str) -> None:
    lavapipe = device(
        memory=3 * 2**30, device_type="cpu", vulkan__shaderFloat64=False, vulkan__maxComputeWorkGroupSize=(64, 1)
    )
    found = parse_requirement(text).answer([lavapipe])
    assert (found.status, found.reason) == (RequirementStatus.UNMET, reason)


def test_a_prefix_that_a_device_reports_is_its_own() -> None:
    cpu = device("local-task", "CPU", cpu__avx2=True)
    found = parse_requirement("cpu.avx512f").answer([cpu])
    assert (found.status, found.reason) == (RequirementStatus.UNKNOWN, "CPU does not report cpu.avx512f")


def test_of_a_device_that_reports_nothing_the_features_of_its_cpu_are_unknown() -> None:
    found = parse_requirement("cpu.neon").answer([device("local-sync", "the device of qemu")])
    assert (found.status, found.reason) == (RequirementStatus.UNKNOWN, "the device of qemu does not report cpu.neon")
    assert parse_requirement("vulkan.shaderInt64").answer([device("local-sync")]).status is RequirementStatus.MET


def test_of_several_devices_each_must_meet_it() -> None:
    large, small = device(name="large", memory=16 * 2**30), device(name="small", memory=2**30)
    found = parse_requirement("memory >= 8 GiB").answer([large, small])
    assert (found.status, found.reason) == (RequirementStatus.UNMET, "small has memory = 1 GiB")
    assert parse_requirement("devices >= 2").answer([large, small]).status is RequirementStatus.MET


def test_of_no_devices_nothing_is_known() -> None:
    assert parse_requirement("memory >= 8 GiB").answer([]).status is RequirementStatus.UNKNOWN


@pytest.mark.parametrize(
    ("text", "value", "detail"),
    [
        ("vulkan.shaderFloat64 >= 8", True, "vulkan.shaderFloat64 is true, which does not compare with 8"),
        ("vulkan.subgroupSize >= large", 8, "vulkan.subgroupSize is 8, which does not compare with large"),
        ("vulkan.driverName > 8", "llvmpipe", "vulkan.driverName is llvmpipe, which does not compare with 8"),
    ],
)
def test_values_that_do_not_compare_are_an_error_and_no_answer(text: str, value: FeatureValue, detail: str) -> None:
    needed = parse_requirement(text)
    with pytest.raises(RetargetError) as caught:
        needed.answer([device(**{needed.name.replace(".", "__"): value})])
    assert str(caught.value) == f"{text!r} cannot be asked: {detail}"
