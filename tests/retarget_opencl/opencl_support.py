"""What the tests of `retarget_opencl` share: configs, types of fixtures, a call whose checks do not matter."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from retarget.extension import CompileRequest, Resolved, UnavailableError
from retarget.model import CompilerConfig, Origin, RuntimeConfig
from retarget.profiles import Profile
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.device.devices import OCLGRIND, FoundDevice, find_device, list_devices
from retarget_opencl.device.profile import DeviceProfile, compile_profile
from retarget_opencl.run.program import OpenClProgram

__all__ = [
    "ADD_ONE",
    "Compile",
    "Load",
    "call",
    "compile_text",
    "compiler_config",
    "find_or_skip",
    "runtime_config",
    "shipped",
    "skip_on_oclgrind",
]

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


def compile_text(text: str | bytes, profile: DeviceProfile, name: str = "m.mlir", flags: Sequence[str] = ()) -> bytes:
    """Compile a module's text for a profile; return the artifact."""
    source = text.encode() if isinstance(text, str) else text
    resolved = Resolved(build_id="", flags=tuple(flags), facts=(("opencl-profile", profile.fact()),))
    request = CompileRequest(source=source, source_name=name, source_path=Path(name), resolved=resolved)
    return OpenClCompiler().compile(request).artifact


def find_or_skip(uri: str = "opencl://") -> FoundDevice:
    """Return a device, the first that works by default; skip where there is none.

    A test of one implementation names it (`opencl://pocl/0`), and is skipped where that is not there or builds no
    kernels. That there is any is what RETARGET_REQUIRE_OPENCL=1 demands.
    """
    try:
        return find_device(uri, list_devices())
    except UnavailableError as error:
        if uri == "opencl://" and os.environ.get("RETARGET_REQUIRE_OPENCL") == "1":
            pytest.fail(f"RETARGET_REQUIRE_OPENCL=1, and {error}; {error.hint}")
        pytest.skip(f"{error}; {error.hint}")


def skip_on_oclgrind(found: FoundDevice, reason: str) -> None:
    """Skip a test of what Oclgrind cannot do, in words that follow its name."""
    if found.platform == OCLGRIND:
        pytest.skip(f"Oclgrind {reason}")


def shipped(name: str) -> DeviceProfile:
    """Return what code for a shipped profile may rely on."""
    return compile_profile(Profile.find(f"opencl-{name}"))


def runtime_config(*devices: str, flags: tuple[str, ...] = ()) -> RuntimeConfig:
    return RuntimeConfig(name="r", driver="opencl", devices=devices, flags=flags, origin=ORIGIN)


def call(program: OpenClProgram, function: str, *inputs: Any) -> Sequence[npt.NDArray[np.generic]]:
    """Call a function; its checks are dropped."""
    return program.call(function, inputs, lambda check: None)
