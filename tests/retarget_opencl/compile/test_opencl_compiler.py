"""The compiler's flags, what is in its compile keys, and its errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from opencl_support import Compile, compile_text, compiler_config, shipped
from retarget.extension import CompilerError
from retarget.model import CompilerConfig
from retarget.profiles.files import profile_file
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.compile.compiler import OpenClCompiler, split_flags
from retarget_opencl.device.devices import FoundDevice, profile_of
from retarget_opencl.device.profile import compile_profile


def test_our_flags_are_taken_out_of_irees() -> None:
    flags = ("--opencl-profile=cpu", "--iree-opt-level=O3", "--opencl-arch=sm_90")
    assert split_flags(flags) == ({"profile": "cpu", "arch": "sm_90"}, ("--iree-opt-level=O3",))


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "--opencl-foo=1",
            "unknown flag '--opencl-foo=1': expected --opencl-profile=NAME|FILE|URI|host, --opencl-arch=NAME, "
            "--opencl-half=native|emulated, --opencl-subgroups=none|khr|ptx, --opencl-matrices=none|ptx, "
            "--opencl-dot=none|khr|ptx or --opencl-contract=off|on",
        ),
        ("--opencl-half=maybe", "'--opencl-half=maybe': expected native or emulated"),
        ("--opencl-contract=fast", "'--opencl-contract=fast': expected off or on"),
        (
            "--iree-hal-target-device=vulkan",
            "'--iree-hal-target-device=vulkan': iree-opencl sets the target itself; choose it with target_from or "
            "--opencl-profile",
        ),
    ],
)
def test_a_flag_that_cannot_be_is_refused(flag: str, message: str) -> None:
    config = compiler_config(flag)
    with pytest.raises(CompilerError) as caught:
        OpenClCompiler().resolve(config, config.flags)
    assert str(caught.value) == message


def _profile_in_key(config: CompilerConfig) -> str:
    return dict(OpenClCompiler().resolve(config, config.flags).facts)["opencl-profile"]


@pytest.mark.parametrize(
    ("flags", "target_from", "same_as"),
    [
        ((), (), "opencl-generic"),
        ((), ("opencl-cpu",), "opencl-cpu"),
        (("--opencl-profile=cpu",), (), "opencl-cpu"),
        (("--opencl-profile=opencl-adreno",), ("opencl-cpu",), "opencl-adreno"),
    ],
)
def test_a_flag_overrides_target_from_and_without_either_the_generic_profile_is_taken(
    flags: tuple[str, ...], target_from: tuple[str, ...], same_as: str
) -> None:
    expected = _profile_in_key(compiler_config(target_from=(same_as,)))
    assert _profile_in_key(compiler_config(*flags, target_from=target_from)) == expected


def test_host_is_the_first_device_of_this_machine(found: FoundDevice) -> None:
    expected = compile_profile(profile_of(found)).fact()
    for reference in ("host", "host:opencl://", "opencl://0"):
        assert _profile_in_key(compiler_config(f"--opencl-profile={reference}")) == expected
        assert _profile_in_key(compiler_config(target_from=(reference,))) == expected


@pytest.mark.parametrize(
    ("target_from", "message"),
    [
        (
            ("opencl-cpu", "opencl-adreno"),
            "target_from: found 2 profiles (opencl-cpu, opencl-adreno), expected one for ",
        ),
        (("host:vulkan://0",), "found 'host:vulkan://0', expected a device of the driver opencl for iree-opencl: "),
        (("opencl-adren",), "found the device profile 'opencl-adren', expected a file that ends in .toml or the name "),
        (("missing.toml",), "missing.toml: cannot be read: No such file or directory; expected a TOML file"),
    ],
)
def test_a_profile_that_cannot_be_is_an_error_and_no_verdict(target_from: tuple[str, ...], message: str) -> None:
    config = compiler_config(target_from=target_from)
    with pytest.raises(CompilerError) as caught:
        OpenClCompiler().resolve(config, ())
    assert str(caught.value).startswith(message)
    assert not caught.value.verdict


def test_a_fingerprint_promises_nothing_where_a_device_is_asked_and_changes_with_the_file(tmp_path: Path) -> None:
    compiler, file = OpenClCompiler(), tmp_path / "p.toml"
    file.write_text(profile_file("opencl-cpu").read_text())
    assert compiler.fingerprint(compiler_config(target_from=("host:opencl://",))) == ""
    config = compiler_config(target_from=(str(file),))
    before = compiler.fingerprint(config)
    assert "retarget_opencl" in before
    file.write_text(profile_file("opencl-adreno").read_text())
    assert compiler.fingerprint(config) != before


def test_a_module_that_does_not_parse_is_a_compiler_error_with_its_place(compiled: Compile) -> None:
    with pytest.raises(CompilerError, match=r"^test\.mlir:1:1: error: custom op 'nonsense' is unknown"):
        compiled("nonsense")


CONSTANTS = (
    """
func.func @three(%a: tensor<1024xf32>) -> tensor<1024xf32> {
  %b = arith.constant dense_resource<one> : tensor<1024xf32>
  %c = arith.constant dense_resource<two> : tensor<1024xf32>
  %d = arith.constant dense_resource<three> : tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  %p = arith.mulf %s, %c : tensor<1024xf32>
  %q = arith.divf %p, %d : tensor<1024xf32>
  return %q : tensor<1024xf32>
}
{-# dialect_resources: { builtin: { one: "0x04000000ONE", two: "0x04000000TWO", three: "0x04000000THREE" } } #-}
""".replace("THREE", "00004040" * 1024)
    .replace("ONE", "0000803f" * 1024)
    .replace("TWO", "00000040" * 1024)
)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("largest", "sizes"),
    [(2**30, [12288]), (8192, [8192, 4096]), (5000, [4096, 4096, 4096]), (1024, [4096, 4096, 4096])],
)
def test_constants_are_packed_into_allocations_that_the_device_has(largest: int, sizes: list[int]) -> None:
    """What is larger than the largest has one of its own."""
    profile = replace(shipped("cpu"), max_allocation=largest)
    artifact = read_artifact(compile_text(CONSTANTS, profile, "three.mlir"))
    assert sorted((len(blob) for blob in artifact.blobs), reverse=True) == sizes
    assert "opencl.correctlyRoundedDivideSqrt" in artifact.needs
