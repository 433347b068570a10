"""Kernels as OpenCL C, each with the pragmas, helper functions and typedefs that it needs. The text around is in
`templates/`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from retarget_opencl.artifact.file import KernelSource
from retarget_opencl.clc.types import TypeNames
from retarget_opencl.clc.values import KernelText
from retarget_opencl.device.profile import DeviceProfile

if TYPE_CHECKING:
    import jinja2

__all__ = ["kernel_source", "template"]

_EXTENSIONS = {
    "fp16": ("cl_khr_fp16",),
    "fp64": ("cl_khr_fp64",),
    "int64_atomics": ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"),
}
_SUBGROUP_EXTENSIONS = ("cl_khr_subgroups", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative")


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701  (C, not HTML)


def template(name: str) -> jinja2.Template:
    """Return a template of the folder `templates`."""
    return _templates().get_template(name)


def kernel_source(
    kernel: KernelText, names: TypeNames, profile: DeviceProfile, features: set[str], helpers: set[str]
) -> KernelSource:
    """Return a kernel's OpenCL C, and what stands before it: pragmas, the helper functions in use, typedefs."""
    extensions = [name for feature in sorted(features) for name in _EXTENSIONS.get(feature, ())]
    of_subgroups = ("retarget_shuffle", "retarget_sub", "retarget_num", "retarget_ballot")
    uses_subgroups = any(helper.startswith(of_subgroups) for helper in helpers)
    pins_subgroups = uses_subgroups and profile.subgroups == "khr"
    if pins_subgroups:
        extensions += _SUBGROUP_EXTENSIONS
    if "dot" in features and profile.dot == "khr":
        extensions.append("cl_khr_integer_dot_product")
    prelude = template("program.cl.j2").render(
        profile=profile,
        extensions=extensions,
        helpers=helpers,
        features=features,
        uses_subgroups=uses_subgroups,
        typedefs=[text for _, text in names.typedefs.values()],
    )
    text = template("kernel.cl.j2").render(kernel=kernel, pins_subgroups=pins_subgroups)
    return KernelSource(prelude=prelude, text=text)
