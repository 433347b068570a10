"""Implementations side by side: suites' modules compiled for each and run on it. They run all suites with
`pytest suites -m opencl`; here is a sample, of what only one of them has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from retarget.arrays.comparison import compare_check
from retarget.extension import Check, DriverError, UnavailableError
from retarget_opencl.artifact.file import read_artifact, write_artifact
from retarget_opencl.compile.compiler import OpenClCompiler
from retarget_opencl.device.devices import find_device, list_devices
from retarget_opencl.device.profile import compile_profile
from retarget_opencl.run.device import OpenClDevice

SUITES = Path(__file__).parents[3] / "suites"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "half", "subgroups"), [("pocl", "emulated", "none"), ("intel", "native", "khr")], ids=["pocl", "intel"]
)
def test_modules_pass_with_what_an_implementation_offers(name: str, half: str, subgroups: str, tmp_path: Path) -> None:
    try:
        device = OpenClDevice(find_device(f"opencl://{name}/0", list_devices()), cache=tmp_path)
    except UnavailableError as error:
        pytest.skip(str(error))
    profile = compile_profile(device.profile)
    assert (profile.half, profile.subgroups) == (half, subgroups)
    used = set()
    for module in ("float16/reduce", "linalg/layer-norm"):
        source = (SUITES / f"{module}.mlir").read_bytes()
        artifact = OpenClCompiler().compile_bytes(source, "m.mlir", (), profile).artifact
        program = device.load(artifact)
        checks: list[Check] = []
        for function in program.functions:
            program.call(function.name, (), checks.append)
        assert checks
        assert [compare_check(check) for check in checks] == [None] * len(checks)
        used |= {word for word in ("cl_khr_fp16", "sub_group_shuffle_xor") if word.encode() in artifact}
    assert used == ({"cl_khr_fp16", "sub_group_shuffle_xor"} if name == "intel" else set())
    if subgroups == "khr":
        narrow = replace(read_artifact(artifact), profile=replace(profile, subgroup_size=8))
        expected = r" in subgroups of 16; the artifact was compiled for subgroups of 8$"
        with pytest.raises(DriverError, match=expected):
            device.load(write_artifact(narrow))
    device.close()
