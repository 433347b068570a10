"""What the tests of `retarget_opencl` share: configs, types of fixtures, a call whose checks do not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget.profiles.references import find_profile
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.program import OpenClProgram

__all__ = ["ADD_ONE", "Compile", "Load", "call", "compiler_config", "runtime_config", "shipped"]

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


def shipped(name: str) -> DeviceProfile:
    """Return what code for a shipped profile may rely on."""
    return compile_profile(find_profile(f"opencl-{name}"))


def runtime_config(*devices: str, flags: tuple[str, ...] = ()) -> RuntimeConfig:
    return RuntimeConfig(name="r", driver="opencl", devices=devices, flags=flags, origin=ORIGIN)


def call(program: OpenClProgram, function: str, *inputs: Any) -> Sequence[npt.NDArray[np.generic]]:
    """Call a function; its checks are dropped."""
    return program.call(function, inputs, lambda check: None)
