"""Which runner takes a target, and why none does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.model import CompilerConfig, Host, Requirement, RunTarget, Toolchain
from retarget.support import RetargetError
from retarget_ci.files import RunnerTable
from retarget_ci.planning.assign import Assigner, Refused, is_bound

_HOST = Host(name="pixel-5", kind="adb", origin=ORIGIN)
_TOOLCHAIN = Toolchain(name="iree-3.12", path=Path("build"), origin=ORIGIN)


def _runner(name: str = "a", **fields: Any) -> RunnerTable:
    return RunnerTable(
        name=name, labels=["x"], **{key: [*one] if isinstance(one, tuple) else one for key, one in fields.items()}
    )


def _run(driver: str = "vulkan", *, requires: tuple[str, ...] = (), **fields: Any) -> RunTarget:
    found = run_target(compile_target(), driver=driver, **fields)
    return replace(found, requires=tuple(Requirement(text=text, origin=ORIGIN) for text in requires))


def _reason(target: RunTarget, **runner: Any) -> str:
    found = Assigner([_runner(**runner)]).run(target, compiles=False)
    return found.reason if isinstance(found, Refused) else ""


@pytest.mark.parametrize(
    ("target", "runner", "reason"),
    [
        (_run(), {"drivers": ("vulkan",)}, ""),
        (_run(), {"devices": ("vulkan-lavapipe",)}, ""),
        (_run(), {"drivers": ("vulcan",)}, "has no driver 'vulkan'; did you mean 'vulcan'?"),
        (_run(), {"drivers": ("cuda",)}, "has no driver 'vulkan'"),
        (_run(host_os=("macos", "windows")), {"drivers": ("vulkan",)}, "is linux on x86_64, not macos or windows"),
        (_run(host_arch=("arm64",)), {"drivers": ("vulkan",)}, "is linux on x86_64, not arm64"),
        (_run(host_os=("macos",), host_arch=("arm64",)), {"drivers": ("vulkan",), "os": "macos", "arch": "arm64"}, ""),
        (_run(devices=("vulkan://0", "local-task://")), {"drivers": ("vulkan",)}, "has no driver 'local-task'"),
        (_run(devices=("vulkan://0", "local-task://")), {"drivers": ("vulkan", "local-task")}, ""),
        (_run(devices=("vulkan://0", "vulkan://1")), {"drivers": ("vulkan",)},
         "has 1 of 'vulkan', and device 1 is counted from 0"),
        (_run(devices=(f"vulkan://{'9' * 5000}",)), {"drivers": ("vulkan",)},
         f"has 1 of 'vulkan', and device {'9' * 5000} is counted from 0"),
        (_run(devices=("0", "1")), {"drivers": ("vulkan", "vulkan")}, ""),
        (_run(devices=("vulkan://1",)), {"drivers": ("vulkan",), "devices": ("vulkan-lavapipe",)},
         "has 1 of 'vulkan', and device 1 is counted from 0"),
        (_run(devices=("vulkan://", "vulkan://")), {"drivers": ("vulkan",)}, ""),
        (_run(devices=("vulkan://", "vulkan://"), distinct=True), {"drivers": ("vulkan",)},
         "has 1 of 'vulkan', and 2 distinct ones are wanted"),
        (_run(devices=("vulkan://GPU-1",)), {"drivers": ("vulkan",)}, "has no device 'vulkan://GPU-1' in devices"),
        (_run(devices=("vulkan://GPU-1",)), {"devices": ("vulkan://GPU-2",)},
         "has no device 'vulkan://GPU-1' in devices; did you mean 'vulkan://GPU-2'?"),
        (_run(devices=("vulkan://GPU-1",)), {"devices": ("vulkan://GPU-1",)}, ""),
        (_run(host=_HOST, host_os=("android",), devices=("9",), run_under=("x",)), {"hosts": ("pixel*",)}, ""),
        (_run(host=_HOST), {"drivers": ("vulkan",), "hosts": ("pixel-4",)},
         "has no 'pixel-5' in hosts; did you mean 'pixel-4'?"),
        (_run(run_under=("/usr/bin/qemu-aarch64", "-L")), {"drivers": ("vulkan",)},
         "has no 'qemu-aarch64' in tools"),
        (_run(run_under=("/usr/bin/qemu-aarch64", "-L")), {"drivers": ("vulkan",), "tools": ("qemu-aarch64",)}, ""),
        (_run(toolchain=_TOOLCHAIN), {"drivers": ("vulkan",), "toolchains": ("iree-3.13",)},
         "has no toolchain 'iree-3.12'; did you mean 'iree-3.13'?"),
        (_run(toolchain=_TOOLCHAIN), {"drivers": ("vulkan",), "toolchains": ("iree-*",)}, ""),
        (_run(requires=("memory >= 4096 TiB",)), {"drivers": ("vulkan",)}, ""),
        (_run(requires=("device_type = gpu",)), {"devices": ("vulkan-lavapipe",)},
         "does not meet 'device_type = gpu': vulkan-lavapipe has device_type = cpu"),
        (_run(requires=("device_type = cpu", "opencl.fp64")), {"devices": ("vulkan-lavapipe",)}, ""),
        (_run(profile="vulkan-lavapipe"), {"devices": ("vulkan-lavapipe",)}, ""),
        (_run(profile="vulkan-lavapipe"), {"drivers": ("vulkan",)}, ""),
        (_run(profile="vulkan-h200"), {"devices": ("vulkan-lavapipe",)},
         "has vulkan-lavapipe, and the profile 'vulkan-h200' is wanted"),
    ],
)  # fmt: skip
def test_a_run_target_is_refused_for_what_the_runner_lacks(
    target: RunTarget, runner: dict[str, Any], reason: str
) -> None:
    assert _reason(target, **runner) == (f"runner 'a' {reason}" if reason else "")


def test_a_profile_of_a_runtime_config_that_is_none_is_an_error_with_its_place() -> None:
    with pytest.raises(RetargetError) as raised:
        _reason(_run(profile="vulkan-lavapip"), devices=("vulkan-lavapipe",))
    assert str(raised.value).startswith("runtime config 'r' (suite.toml): found the device profile 'vulkan-lavapip', ")


def test_the_reason_is_that_of_the_runner_that_comes_nearest() -> None:
    runners = [_runner("mac", os="macos"), _runner("weak", devices=("vulkan-lavapipe",)), _runner("bare")]
    found = Assigner(runners).run(_run(host_os=("linux",), requires=("device_type = gpu",)), compiles=False)
    assert isinstance(found, Refused)
    assert found.reason == "runner 'weak' does not meet 'device_type = gpu': vulkan-lavapipe has device_type = cpu"


def test_a_compile_target_goes_to_the_first_runner_that_builds_and_has_its_toolchain() -> None:
    config = CompilerConfig(name="c", compiler="iree", toolchain=_TOOLCHAIN, origin=ORIGIN)
    runners = [_runner("gpu", toolchains=("*",)), _runner("plain", builds=True), _runner("full", builds=True)]
    target = compile_target(compiler=config)
    found = Assigner(runners).build(target)
    assert isinstance(found, Refused)
    assert found.reason == "runner 'plain' has no toolchain 'iree-3.12'"
    runners[2] = _runner("full", builds=True, toolchains=("iree-3.12",))
    assert Assigner(runners).build(target) is runners[2]
    assert Assigner(runners[:1]).build(target) is runners[0], "where no runner builds, any does"


@pytest.mark.parametrize(
    ("fields", "is_so"),
    [
        ({"flags": ("--iree-llvmcpu-target-cpu=host",)}, True),
        ({"flags": ("--iree-llvmcpu-target-cpu=generic", "--iree-hal-target-device=local")}, False),
        ({"flags": ("--iree-hal-local-host-device-backends=vmvx",)}, False),
        ({"flags": ("--opencl-profile=host:opencl://0",)}, True),
        ({"compiler": CompilerConfig(name="c", compiler="iree", target_from=("host",), origin=ORIGIN)}, True),
        ({"compiler": CompilerConfig(name="c", compiler="iree", target_from=("host:vulkan://",), origin=ORIGIN)}, True),
        ({"compiler": CompilerConfig(name="c", compiler="iree", target_from=("vulkan-host",), origin=ORIGIN)}, False),
    ],
)
def test_code_for_host_is_bound_to_the_machine_that_compiles_it(fields: dict[str, Any], is_so: bool) -> None:
    assert is_bound(compile_target(**fields)) == is_so


def test_a_leg_that_compiles_for_the_device_of_its_host_needs_it() -> None:
    config = CompilerConfig(name="c", compiler="iree", target_from=("host:vulkan://",), origin=ORIGIN)
    target = run_target(compile_target(compiler=config), driver="local-sync")
    runners = [_runner("cpu", drivers=("local-sync",)), _runner("gpu", drivers=("local-sync", "vulkan"))]
    assert Assigner(runners).run(target, compiles=False) is runners[0]
    assert Assigner(runners).run(target, compiles=True) is runners[1]
