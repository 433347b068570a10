"""Attention as one kernel for NVIDIA's matrix units, which keeps no scores in memory.

The method is that of FlashAttention-2 (Dao, 2023): a warp holds its queries and what it summed up of the values, goes
over the keys block by block, and scales the sums whenever a row's largest score grows.
"""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import asdict

from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.source import template

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
