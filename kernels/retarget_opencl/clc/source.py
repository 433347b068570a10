"""Kernels as OpenCL C, each with the pragmas, helper functions and typedefs that it needs. The text around is in
`templates/`.

Kernels may share a launch: each is a function then, and a work-group calls the one that its number belongs to. A launch
costs some 5 µs on an H200, by its event and on the host, however little there is to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from retarget_opencl.artifact.file import KernelSource
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.device.profile import DeviceProfile

if TYPE_CHECKING:
    import jinja2

_EXTENSIONS = {"fp16": "cl_khr_fp16", "fp64": "cl_khr_fp64"}
_SUBGROUP_EXTENSIONS = ("cl_khr_subgroups", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative")


@cache
def _templates() -> jinja2.Environment:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701  (C, not HTML)


def template(name: str) -> jinja2.Template:
    """Return a template of the folder `templates`."""
    return _templates().get_template(name)


def kernel_source(kernel: KernelText, profile: DeviceProfile) -> KernelSource:
    """Return a kernel's OpenCL C, and what stands before it: pragmas, the helper functions in use, typedefs."""
    extensions = [_EXTENSIONS[feature] for feature in sorted(kernel.features) if feature in _EXTENSIONS]
    of_subgroups = ("retarget_shuffle", "retarget_sub", "retarget_num")
    uses_subgroups = any(helper.startswith(of_subgroups) for helper in kernel.helpers)
    pins_subgroups = uses_subgroups and profile.subgroups == "khr"
    if pins_subgroups:
        extensions += _SUBGROUP_EXTENSIONS
    if "dot" in kernel.features and profile.dot == "khr":
        extensions.append("cl_khr_integer_dot_product")
    prelude = template("program.cl.j2").render(
        profile=profile, extensions=extensions, kernel=kernel, uses_subgroups=uses_subgroups
    )
    text = template("kernel.cl.j2").render(kernel=kernel, pins_subgroups=pins_subgroups)
    return KernelSource(prelude=prelude, text=text)


_AXES = "xyz"
_ID = re.compile(r"\bget_(group_id|num_groups|local_id)\(([012])\)")
_NAMES = {"group_id": "retarget_group", "num_groups": "retarget_groups", "local_id": "retarget_item"}
_ALONE = re.compile(r"\bget_(global_id|local_size)\(|\b__local\b")
"""What a kernel cannot have that shares a launch: local memory is the kernel's, so that all would take it."""
_MOST_PARAMETERS = 1024
"""Bytes of parameters that every device takes (`CL_DEVICE_MAX_PARAMETER_SIZE`)."""


def can_share(kernels: Sequence[KernelText]) -> bool:
    """Return whether kernels can share a launch: their work-groups have as many work-items and no local memory, and
    what stands before them is of the same functions and no types."""
    size = sum(16 * len(one.bindings) + 4 * len(one.constants) + 12 for one in kernels)
    items = {prod(one.workgroup_size) for one in kernels}
    alone = any(_ALONE.search(line) for one in kernels for line in one.lines)
    own = any(one.typedefs or one.bfloat16 for one in kernels)
    return len(items) == 1 and size <= _MOST_PARAMETERS and not alone and not own


def joint_kernel(name: str, kernels: Sequence[KernelText]) -> KernelText:
    """Return the kernel `name`, whose work-groups are those of `kernels` in a row; a kernel may be there several times.

    Its parameters are those of each kernel and, after each, its work-groups in three dimensions.
    """
    functions = {one.name: _function(name, one) for one in kernels}
    parameters: list[str] = []
    lines = ["    uint number = (uint)get_group_id(0);"]
    for index, one in enumerate(kernels):
        names = []
        for parameter in one.parameters:
            kind, _, last = parameter.rpartition(" ")
            names.append(f"member{index}_{last}")
            # Those of different members may be one buffer, of which only one member writes a part.
            parameters.append(f"{kind.replace(' restrict', '')} {names[-1]}")
        groups = [f"member{index}_groups_{axis}" for axis in _AXES]
        parameters += [f"const uint {group}" for group in groups]
        x, y, _ = groups
        width, depth, _ = one.workgroup_size
        item = "(uint)get_local_id(0)"
        place = f"(uint3)(number % {x}, number / {x} % {y}, number / ({x} * {y}))"
        within = f"(uint3)({item} % {width}u, {item} / {width}u % {depth}u, {item} / {width * depth}u)"
        arguments = ", ".join((place, f"(uint3)({', '.join(groups)})", within, *names))
        lines += [
            f"    if (number < {' * '.join(groups)}) {{",
            f"        {name}_{one.name}({arguments});",
            "        return;",
            "    }",
            f"    number -= {' * '.join(groups)};",
        ]
    return KernelText(
        name=name,
        parameters=tuple(parameters),
        lines=tuple(lines),
        bindings=(),
        constants=(),
        workgroup_size=(prod(kernels[0].workgroup_size), 1, 1),
        comment=", ".join(one.comment for one in kernels),
        functions=tuple(functions.values()),
        features=frozenset().union(*(one.features for one in kernels)),
        helpers=frozenset().union(*(one.helpers for one in kernels)),
    )


def _function(owner: str, kernel: KernelText) -> str:
    """Return a kernel as a function of `owner`, which gets its work-group's and its work-item's ids."""
    ids = [f"const uint3 {name}" for name in _NAMES.values()]
    lines = (_ID.sub(lambda found: f"{_NAMES[found[1]]}.{_AXES[int(found[2])]}", line) for line in kernel.lines)
    parameters = ",\n    ".join((*ids, *kernel.parameters))
    return "\n".join((f"static inline void {owner}_{kernel.name}(\n    {parameters})", "{", *lines, "}"))
