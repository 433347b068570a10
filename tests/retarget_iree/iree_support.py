"""What the tests of the extension `iree` share: flags, configs, drivers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from retarget.extension import Check, Device
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget_iree.runtime.drivers import DRIVERS, IreeDriver

VMVX = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx")
LLVM_CPU = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
)
VULKAN = ("--iree-hal-target-device=vulkan",)
ORIGIN = Origin(file=Path("matrix.toml"), key_path="test[0]")

Compile = Callable[..., bytes]
OpenDevice = Callable[..., Device]


def compiler_config(*flags: str, devices: Sequence[tuple[str, str]] = ()) -> CompilerConfig:
    return CompilerConfig(name="test", compiler="iree", flags=flags, devices=tuple(devices), origin=ORIGIN)


def runtime_config(driver: str, *devices: str, flags: Sequence[str] = (), name: str = "test") -> RuntimeConfig:
    return RuntimeConfig(name=name, driver=driver, devices=devices, flags=tuple(flags), origin=ORIGIN)


def driver_named(name: str) -> IreeDriver:
    return next(driver for driver in DRIVERS if driver.name == name)


def checks_of(device: Device, artifact: bytes, function: str) -> list[Check]:
    """Run one function and return the checks it made."""
    checks: list[Check] = []
    device.load(artifact).call(function, (), checks.append)
    return checks
