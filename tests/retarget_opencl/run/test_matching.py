"""An artifact says all that it needs, and is refused where a device lacks any of it: each pair of shipped profiles."""

from __future__ import annotations

import re

import pytest
from opencl_support import shipped
from retarget.profiles import Profile
from retarget.profiles.files import shipped_profiles
from retarget_opencl.artifact.file import Kernel, OpenClArtifact, Program
from retarget_opencl.compile.target import device_needs
from retarget_opencl.device.profile import DeviceProfile
from retarget_opencl.run.device import unmet_needs

SHIPPED = [name.removeprefix("opencl-") for name in shipped_profiles() if name.startswith("opencl-")]


def features_of(profile: DeviceProfile) -> set[str]:
    """All that code for a profile may use."""
    return {
        "rounding",
        *(["fp64"] if profile.fp64 else []),
        *(["fp16"] if profile.half == "native" else []),
        *(["shuffle"] if profile.subgroups != "none" else []),
        *(["matrices"] if profile.matrices != "none" else []),
    }


def artifact_for(profile: DeviceProfile, features: set[str]) -> OpenClArtifact:
    """What a module that uses `features` and all limits of a profile becomes."""
    size = (min(profile.max_workgroup_items, profile.max_workgroup_sizes[0]), 1, 1)
    kernels = (Kernel(name="k", bindings=(), constants=(), workgroup_size=size, groups=0),)
    program = Program(globals=(), functions=(), initializers=(), exports=(), kernels=kernels)
    needs = device_needs(features, profile, kernels, profile.local_memory)
    return OpenClArtifact(profile=profile, needs=needs, sources=(), program=program, blobs=())


def refusal(compiled_for: str, device: str) -> str:
    """Return what a device lacks, by the names of the capabilities."""
    profile = shipped(compiled_for)
    unmet = unmet_needs(artifact_for(profile, features_of(profile)), Profile.find(f"opencl-{device}"))
    return " ".join(re.sub(r"^opencl\.", "", line.split(" ")[0]) for line in unmet)


GPUS_WITH_HALVES = {"adreno", "amd-gfx1100", "amd-gfx942", "intel-xe"}
AMPERE = {"h200", "nvidia-sm80", "nvidia-sm86", "nvidia-sm89"}
NVIDIA = {*AMPERE, "nvidia-sm75"}

ACCEPTED = {
    "adreno": GPUS_WITH_HALVES,
    "amd-gfx1100": {"amd-gfx1100"},
    "amd-gfx942": {"amd-gfx942"},
    "cpu": {"cpu", "pocl", *NVIDIA},
    "generic": set(SHIPPED) - {"mali-valhall"},
    "h200": AMPERE,
    "intel-xe": {"intel-xe"},
    "mali-valhall": {"mali-valhall", *GPUS_WITH_HALVES},
    "nvidia-sm75": NVIDIA,
    "nvidia-sm80": AMPERE,
    "nvidia-sm86": AMPERE,
    "nvidia-sm89": AMPERE,
    "pocl": {"pocl"},
}
"""On which devices code runs that uses all that its profile has: all features, the largest group, all local memory."""


@pytest.mark.parametrize("compiled_for", SHIPPED)
def test_code_that_uses_all_of_a_profile_runs_on_the_devices_that_have_all_of_it(compiled_for: str) -> None:
    assert {device for device in SHIPPED if not refusal(compiled_for, device)} == ACCEPTED[compiled_for]


def test_what_kernels_do_not_use_is_not_needed() -> None:
    plain = artifact_for(shipped("cpu"), set())
    assert unmet_needs(plain, Profile.find("opencl-adreno")) == []
    assert not any("correctlyRounded" in need for need in plain.needs)
