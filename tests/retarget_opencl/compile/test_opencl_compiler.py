"""The compiler's flags, what is in its compile keys, and its errors."""

from __future__ import annotations

import pytest
from opencl_support import Compile, compiler_config
from retarget.extension import CompilerError
from retarget_opencl.compile.compiler import OpenClCompiler, OpenClFlags, split_flags


def test_our_flags_are_taken_out_of_irees() -> None:
    flags = ("--opencl-profile=cpu", "--iree-opt-level=O3", "--opencl-arch=sm_90")
    assert split_flags(flags) == OpenClFlags(profile="cpu", arch="sm_90", iree=("--iree-opt-level=O3",))


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "--opencl-foo=1",
            "unknown flag '--opencl-foo=1': expected --opencl-profile=NAME|URI, --opencl-arch=NAME, "
            "--opencl-half=native|emulated, --opencl-subgroups=none|khr|ptx or --opencl-matrices=none|ptx",
        ),
        ("--opencl-half=maybe", "'--opencl-half=maybe': expected native or emulated"),
        (
            "--iree-hal-target-device=vulkan",
            "'--iree-hal-target-device=vulkan': iree-opencl sets the target itself; choose it with --opencl-profile",
        ),
    ],
)
def test_a_flag_that_cannot_be_is_refused(flag: str, message: str) -> None:
    config = compiler_config(flag)
    with pytest.raises(CompilerError) as caught:
        OpenClCompiler().resolve(config, config.flags)
    assert str(caught.value) == message


def test_the_profile_is_in_the_compile_key() -> None:
    compiler = OpenClCompiler()
    keys = set()
    for flag in ("--opencl-profile=cpu", "--opencl-profile=nvidia-sm80", "--opencl-profile=generic"):
        config = compiler_config(flag)
        keys.add(compiler.resolve(config, config.flags).facts)
    assert len(keys) == 3


def test_a_fingerprint_promises_nothing_where_a_device_is_asked() -> None:
    compiler = OpenClCompiler()
    fixed = compiler_config("--opencl-profile=cpu")
    asked = compiler_config()
    assert "retarget_opencl" in compiler.fingerprint(fixed)
    assert compiler.fingerprint(asked) == ""


def test_a_module_that_does_not_parse_is_a_compiler_error_with_its_place(compiled: Compile) -> None:
    with pytest.raises(CompilerError, match=r"^test\.mlir:1:1: error: custom op 'nonsense' is unknown"):
        compiled("nonsense")
