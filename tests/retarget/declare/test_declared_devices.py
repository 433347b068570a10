"""Devices of runtime configs: several drivers, roles, and how roles fit the compile devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import compiler, suite, table, target
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import load_extensions
from retarget.model import RunTarget, RuntimeConfig
from retarget.support.errors import DiagnosticsError
from retarget.targets.expansion import expand_suite

REGISTRY = load_extensions()
CC = compiler("cc", devices={"device_a": "local[0]", "device_b": "local[1]"})
ROLE_A = {"role": "device_a", "driver": "local-task"}
ROLE_B = {"role": "device_b", "driver": "local-sync"}


def runtimes(folder: Path, devices: object, cc: str = CC, **more: object) -> list[RuntimeConfig]:
    """The runtime configs of the run targets, in their order."""
    text = cc + table("runtime_config", name="rt", devices=devices, **more) + target("all", "*", ["rt"])
    (folder / "suite.toml").write_text(text + suite("linalg"))
    (loaded,) = DeclarationLoader(registry=REGISTRY).load_suite_file(folder / "suite.toml")
    targets = expand_suite(loaded, REGISTRY)
    return list(dict.fromkeys(one.runtime for one in targets if isinstance(one, RunTarget)))


def problem(folder: Path, devices: object, cc: str = CC, **more: object) -> str:
    with pytest.raises(DiagnosticsError) as caught:
        runtimes(folder, devices, cc, **more)
    (diagnostic,) = caught.value.diagnostics
    return str(diagnostic).replace(f"{folder}/", "")


def test_devices_of_several_drivers_are_in_one_config_whose_driver_is_the_first(two_modules: Path) -> None:
    (config,) = runtimes(two_modules, ["vulkan://0", "local-task://"])
    assert (config.driver, config.drivers) == ("vulkan", ("vulkan", "local-task"))
    assert (config.devices, config.roles, config.used) == (("vulkan://0", "local-task://"), (), ())
    (config,) = runtimes(two_modules, ["vulkan://0", "local-task://"], driver="local-task")
    assert (config.driver, config.drivers) == ("local-task", ("local-task", "vulkan"))
    (config,) = runtimes(two_modules, [{"device": "0"}, {"driver": "local-sync", "used": False}], driver="local-task")
    assert (config.devices, config.used) == (("0", "local-sync://"), (None, False))


def test_a_device_with_a_fallback_needs_no_role(two_modules: Path) -> None:
    accelerated = compiler("cc", devices={"accel": "vulkan,#hal.device.fallback<@cpu>", "cpu": "local"})
    (config,) = runtimes(two_modules, [{"role": "cpu", "driver": "local-task"}], accelerated)
    assert config.roles == ("cpu",)


@pytest.mark.parametrize(
    ("devices", "more", "expected"),
    [
        (
            [ROLE_A, {**ROLE_B, "role": "device_c"}],
            {},
            "suite.toml:11: target_config[0].runtimes: found the role 'device_c' of runtime config 'rt' (suite.toml: "
            "runtime_config[0].devices[1].role), expected one of the compile devices of 'cc' (suite.toml: "
            "compiler_config[0]): 'device_a', 'device_b'; did you mean 'device_b'?",
        ),
        (
            [ROLE_A],
            {},
            "suite.toml:11: target_config[0].runtimes: found no device with the role 'device_b' in runtime config 'rt' "
            "(suite.toml: runtime_config[0]), expected one for each of the compile devices of 'cc' (suite.toml: "
            "compiler_config[0]): 'device_a', 'device_b'",
        ),
        (
            [ROLE_A, "local-sync://"],
            {},
            "suite.toml:7: runtime_config[0].devices[1]: found a device without a role, expected one: other devices of "
            "this config have roles",
        ),
        (
            [ROLE_A, {**ROLE_B, "role": "device_a"}],
            {},
            "suite.toml:7: runtime_config[0].devices[1].role: found the role 'device_a' a second time, expected one "
            "device for each role",
        ),
        (
            ["vulkan://0", "vulkan://0"],
            {"distinct": True},
            "suite.toml:7: runtime_config[0].devices[1]: found the device 'vulkan://0' a second time, expected "
            "distinct ones, because of distinct = true",
        ),
        (
            ["vulkan://0"],
            {"distinct": True},
            "suite.toml:8: runtime_config[0].distinct: found distinct = true, expected it beside two devices or more",
        ),
        (
            ["opencl://0", "vulkan://0"],
            {},
            "suite.toml:7: runtime_config[0].devices[1]: found a device of the driver 'vulkan', which 'opencl' does "
            "not open beside its own; expected devices of 'opencl'",
        ),
        (
            ["vulkan://0", "opencl://0"],
            {},
            "suite.toml:7: runtime_config[0].devices[1]: found a device of the driver 'opencl', which 'vulkan' does "
            "not open beside its own; expected devices of 'vulkan' or 'local-sync' or 'local-task' or 'cuda' or 'hip'",
        ),
        (
            ["vulkan://0"],
            {"sanitize": True},
            "suite.toml:8: runtime_config[0].sanitize: found sanitize = true for the driver 'vulkan', expected it of "
            "'opencl'",
        ),
        (
            ["vulkan://0"],
            {"driver": "cuda"},
            "suite.toml:8: runtime_config[0].driver: found the driver 'cuda', but devices of 'vulkan'; expected one of "
            "these, or no such key",
        ),
        (
            [{"driver": "vulkan", "device": "cuda://0"}],
            {},
            "suite.toml:7: runtime_config[0].devices[0].device: found the device 'cuda://0' of the driver 'cuda', "
            "expected one of 'vulkan'",
        ),
        (
            ["vulkan://0", "1"],
            {},
            "suite.toml:5: runtime_config[0].driver: found no driver, expected its name here or by extends",
        ),
        (
            [{"rol": "device_a", "driver": "vulkan"}],
            {},
            "suite.toml:7: runtime_config[0].devices[0].rol: found the unknown key 'rol', expected one of device, "
            "driver, role, used; did you mean 'role'?",
        ),
        ([3], {}, "suite.toml:7: runtime_config[0].devices[0]: found the integer 3, expected a string or a table"),
    ],
)
def test_devices_that_cannot_be_meant_are_one_error_each(
    two_modules: Path, devices: object, more: dict[str, object], expected: str
) -> None:
    assert problem(two_modules, devices, **more) == expected


def test_a_cycle_of_fallbacks_is_an_error_at_the_first_of_its_devices(two_modules: Path) -> None:
    devices = {name: f"#hal.device.fallback<@{other}>" for name, other in (("a", "b"), ("b", "c"), ("c", "a"))}
    assert problem(two_modules, ["local-task://"], compiler("cc", devices=devices)) == (
        "suite.toml:4: compiler_config[0].devices.a: found a cycle of fallbacks: a → b → c → a; expected a chain that "
        "ends in a device"
    )


@pytest.mark.parametrize(
    ("prefix", "hint"),
    [
        ("devcie.vendor", "; did you mean 'device.vendor'?"),
        ("local-tsk.x", "; did you mean 'local-task'?"),
        ("absent.x", ""),
    ],
)
def test_a_requirement_with_a_prefix_of_no_driver_here_is_an_error_wherever_it_is(
    two_modules: Path, prefix: str, hint: str
) -> None:
    needs = [f"{prefix} = true", "device.vendor = 'NVIDIA'", "vulkan.shaderInt64", "local-sync.x", "npu.lanes >= 8"]
    npu = table("runtime_config", name="npu", driver="npu")  # of an extension that is not installed here
    override = table("module_test_suite.module", match="*", requires=needs)
    text = CC + npu + table("runtime_config", name="rt", driver="local-task", requires=needs)
    text += target("all", "*", ["rt"]) + suite("linalg", requires=needs) + override
    (two_modules / "suite.toml").write_text(text)
    with pytest.raises(DiagnosticsError) as caught:
        DeclarationLoader(registry=REGISTRY).load_suite_file(two_modules / "suite.toml")
    assert [one.key_path for one in caught.value.diagnostics] == [
        f"{table}.requires[0]"
        for table in ("runtime_config[1]", "module_test_suite[0]", "module_test_suite[0].module[0]")
    ]
    said = caught.value.diagnostics[0].message
    assert said.startswith(f"found the prefix {prefix.partition('.')[0]!r}, which no driver here has; expected one of ")
    assert said.endswith(hint or ", vulkan")
