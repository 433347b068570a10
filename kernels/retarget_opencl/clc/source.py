"""Kernels as OpenCL C, each with the pragmas, helper functions and typedefs that it needs. The text around is in
`templates/`.

Kernels may share a launch: each is a function then, and a work-group calls the one that its number belongs to. A launch
costs some 5 µs on an H200, by its event and on the host, however little there is to do.

Attention as one kernel for NVIDIA's matrix units, which keeps no scores in memory.

The method is that of FlashAttention-2 (Dao, 2023): a warp holds its queries and what it summed up of the values, goes
over the keys block by block, and scales the sums whenever a row's largest score grows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from retarget_opencl.artifact.file import KernelSource
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.device.profile import DeviceProfile

if TYPE_CHECKING:
    import jinja2


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


def kernel_source(kernel: KernelText, profile: DeviceProfile) -> KernelSource:
    """Return a kernel's OpenCL C, and what stands before it: pragmas, the helper functions in use, typedefs."""
    extensions = [name for feature in sorted(kernel.features) for name in _EXTENSIONS.get(feature, ())]
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


_TILE = 16
_PADDING = 16
_WARP = 32
_WARPS, _BLOCK = 4, 64
"""Warps of a work-group, and keys at a time."""
_ENOUGH = 128
"""Work-groups that occupy a device."""
_NARROW = 64
"""Elements of a query for two tiles of which, and for what is summed up, a work-item has registers."""
_LOCAL_MEMORY = 49152
_WIDEST = 128
_MOST_BATCHES = 65535
"""Work-groups of a launch in the second dimension, on NVIDIA's devices."""
HELPERS = frozenset(
    {
        "matrix_load_packed_left_row_global",
        "matrix_load_packed_right_column_local",
        "matrix_load_packed_right_row_local",
        "matrix_multiply_add_single",
        "matrix_store_packed_row_global",
        "retarget_shuffle_xor",
    }
)
"""The helper functions that the kernel uses."""


class Attention(Struct, frozen=True, kw_only=True):
    """Attention of halves: `batches` x `queries` x `width`, keys of the same width, values of `value_width`.

    `bindings` and `offsets` say where queries, keys, values and the result are: offsets are expressions of C, in bytes,
    that may have the push constants `constants`.
    """

    batches: int
    queries: int
    keys: int
    width: int
    value_width: int
    scale: float
    bindings: tuple[int, ...] = (0, 1, 2, 3)
    offsets: tuple[str, ...] = ("0ul",) * 4
    constants: tuple[int, ...] = ()

    def fits(self) -> bool:
        """Return whether there is a kernel for these sizes."""
        widths = (self.width, self.value_width)
        return (
            self.queries % (_TILE * _WARPS) == 0
            and self.keys > 0
            and self.keys % _BLOCK == 0
            and self.batches <= _MOST_BATCHES
            and all(0 < width <= _WIDEST and width % _TILE == 0 for width in widths)
            and 0 < self.scale < math.inf
        )

    @property
    def groups(self) -> tuple[int, int, int]:
        """The work-groups of a launch."""
        return (self.queries // (_TILE * _WARPS * self.tiles), self.batches, 1)

    @property
    def tiles(self) -> int:
        """Tiles of 16 queries in a warp: two where enough work-groups remain, so that both use what is read of keys."""
        queries = 2 * _TILE * _WARPS
        enough = self.queries % queries == 0 and self.queries // queries * self.batches >= _ENOUGH
        return 2 if enough and max(self.width, self.value_width) <= _NARROW else 1


def attention_kernel(name: str, attention: Attention, comment: str, *, asynchronous: bool = True) -> KernelText:
    """Return the kernel `name`. `asynchronous`: the next keys and values are copied while a block is computed."""
    size = 2 * (attention.width + attention.value_width + _PADDING)
    stages = 2 if 2 * size * _BLOCK <= _LOCAL_MEMORY else 1
    ordinals = sorted(set(attention.bindings))
    out = attention.bindings[3]
    parameters = []
    for ordinal in ordinals:
        qualifier = "" if ordinal == out else "const "
        parameters.append(f"__global {qualifier}uchar* binding{ordinal}_base")
        parameters.append(f"const ulong binding{ordinal}_offset")
    parameters += [f"const uint constant{number}" for number in attention.constants]
    places = zip(attention.bindings, attention.offsets, strict=True)
    values = {
        **asdict(attention),
        "name": name,
        "asynchronous": asynchronous,
        "starts": [f"binding{ordinal}_base + binding{ordinal}_offset + {offset}" for ordinal, offset in places],
        "stages": stages,
        "warps": _WARPS,
        "tiles": attention.tiles,
        "block": _BLOCK,
        "scale": f"{(attention.scale * math.log2(math.e)).hex()}f",
    }
    return KernelText(
        name=name,
        parameters=tuple(parameters),
        lines=tuple(template("attention.cl.j2").render(values).strip("\n").split("\n")),
        bindings=tuple(ordinals),
        constants=attention.constants,
        workgroup_size=(_WARP * _WARPS, 1, 1),
        local_memory=stages * size * _BLOCK,
        comment=comment,
        features=frozenset({"matrices", "shuffle"}),
        helpers=HELPERS,
        functions=(template("attention_functions.cl.j2").render(values).strip("\n"),),
    )
