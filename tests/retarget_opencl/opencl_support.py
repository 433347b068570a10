"""What the tests of `retarget_opencl` share: configs, types of fixtures, a call whose checks do not matter."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from retarget.extension import UnavailableError
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget.profiles.references import find_profile
from retarget_opencl.device.devices import FoundDevice, find_device, list_devices
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.program import OpenClProgram

__all__ = ["ADD_ONE", "Compile", "Load", "call", "compiler_config", "find_or_skip", "runtime_config", "shipped"]

Compile = Callable[[str], bytes]
Load = Callable[[str], OpenClProgram]
ORIGIN = Origin(file=Path(), key_path="")

ADD_ONE = """
func.func @checked() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.addf %a, %a : tensor<2xf32>
  check.expect_eq_const(%b, dense<[2.0, EXPECTED]> : tensor<2xf32>) : tensor<2xf32>
  return
}
"""
"""A module whose check holds where EXPECTED is 4.0."""


def compiler_config(*flags: str, target_from: tuple[str, ...] = ()) -> CompilerConfig:
    return CompilerConfig(name="c", compiler="iree-opencl", flags=flags, target_from=target_from, origin=ORIGIN)


def find_or_skip(uri: str) -> FoundDevice:
    """Return a device; skip where there is none, unless RETARGET_REQUIRE_OPENCL=1 says that there must be one."""
    try:
        return find_device(uri, list_devices())
    except UnavailableError as error:
        if os.environ.get("RETARGET_REQUIRE_OPENCL") == "1":
            pytest.fail(f"RETARGET_REQUIRE_OPENCL=1, and {error}; {error.hint}")
        pytest.skip(f"{error}; {error.hint}")


def shipped(name: str) -> DeviceProfile:
    """Return what code for a shipped profile may rely on."""
    return compile_profile(find_profile(f"opencl-{name}"))


def runtime_config(*devices: str, flags: tuple[str, ...] = ()) -> RuntimeConfig:
    return RuntimeConfig(name="r", driver="opencl", devices=devices, flags=flags, origin=ORIGIN)


def call(program: OpenClProgram, function: str, *inputs: Any) -> Sequence[npt.NDArray[np.generic]]:
    """Call a function; its checks are dropped."""
    return program.call(function, inputs, lambda check: None)
