"""The attention kernel's own arithmetic, on a CPU: what PTX does in a warp is done by subgroups of 32 instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from opencl_support import find_or_skip
from retarget_opencl.clc.attention import HELPERS, Attention, attention_kernel
from retarget_opencl.clc.nodes import KernelText
from retarget_opencl.clc.source import template

Halves = npt.NDArray[np.float16]
WARP = Path(__file__).with_name("warp.cl").read_text()
"""The helper functions of the kernel, by the layouts that `matrices.cl.j2` describes."""
PAIR = 'asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));'


def attention(queries: int, keys: int, width: int, value_width: int, batches: int = 1) -> Attention:
    return Attention(
        batches=batches, queries=queries, keys=keys, width=width, value_width=value_width, scale=width**-0.5
    )


def test_it_has_all_helpers() -> None:
    assert [name for name in HELPERS if f" {name}(" not in WARP] == []


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (attention(64, 64, 16, 16), True),
        (attention(64, 64, 128, 16), True),
        (attention(32, 64, 16, 16), False),
        (attention(64, 32, 16, 16), False),
        (attention(64, 64, 144, 16), False),
        (attention(64, 64, 16, 24), False),
        (attention(64, 0, 16, 16), False),
        (attention(64, 64, 16, 16, batches=65535), True),
        (attention(64, 64, 16, 16, batches=65536), False),
    ],
)
def test_for_which_sizes_there_is_a_kernel(one: Attention, *, expected: bool) -> None:
    assert one.fits() == expected


@pytest.mark.parametrize(
    ("one", "groups"),
    [
        (attention(1024, 64, 64, 64, batches=16), (8, 16, 1)),
        (attention(1024, 64, 64, 64, batches=15), (16, 15, 1)),
        (attention(1024 + 64, 64, 64, 64, batches=16), (17, 16, 1)),
        (attention(1024, 64, 80, 64, batches=16), (16, 16, 1)),
        (attention(1024, 64, 64, 80, batches=16), (16, 16, 1)),
    ],
    ids=["two tiles in a warp", "few work-groups", "an odd tile", "wide queries", "wide values"],
)
def test_how_many_queries_a_work_group_has(one: Attention, groups: tuple[int, int, int]) -> None:
    assert one.groups == groups


@pytest.mark.parametrize(("width", "stages"), [(64, 2), (80, 2), (96, 1), (128, 1)])
def test_two_blocks_are_in_local_memory_where_there_is_room(width: int, stages: int) -> None:
    kernel = attention_kernel("attend", attention(64, 128, width, width), "")
    assert kernel.local_memory == stages * 64 * 2 * (2 * width + 16)
    assert kernel.local_memory <= 48 * 1024


@pytest.mark.sampled(1, slow=1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("queries", "changed", "stages"),
    [
        pytest.param(64, {}, 2, id="a block is copied while another is computed"),
        pytest.param(64, {"_LOCAL_MEMORY": 0}, 1, id="room for one block"),
        pytest.param(128, {"_ENOUGH": 1}, 2, id="two tiles in a warp"),
    ],
)
def test_it_computes_attention(
    monkeypatch: pytest.MonkeyPatch, queries: int, changed: dict[str, int], stages: int
) -> None:
    """With more elements to a query Intel's compiler takes minutes; 64 to 128 were compared once."""
    for name, value in changed.items():
        monkeypatch.setattr(f"retarget_opencl.clc.attention.{name}", value)
    one = attention(queries, 192, 16, 16, batches=2)
    kernel = attention_kernel("attend", one, "test", asynchronous=False)
    assert (one.groups, kernel.local_memory) == ((1, 2, 1), stages * 64 * 2 * (16 + 16 + 16))
    attend = built(one, kernel)
    shapes = [(one.queries, one.width), (one.keys, one.width), (one.keys, one.value_width)]
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((one.batches, *shape)).astype(np.float16) for shape in shapes)
    np.testing.assert_allclose(attend(q, k, v), attended(q, k, v, one.scale), atol=6e-4)
    # Scores of -inf: of all keys in the first block and some in the second, and of all keys there are.
    q, k[0, :70], k[1] = abs(q), -np.inf, -np.inf
    found = attend(q, k, v)
    np.testing.assert_allclose(found[0], attended(q[0], k[0], v[0], one.scale), atol=6e-4)
    assert np.isnan(found[1]).all()  # as IREE's llvm-cpu has it


def attended(q: Halves, k: Halves, v: Halves, scale: float) -> npt.NDArray[np.float64]:
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) * scale
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)


def built(one: Attention, kernel: KernelText) -> Callable[[Halves, Halves, Halves], Halves]:
    """Build the kernel for Intel's device, and return what calls it."""
    device = find_or_skip("opencl://intel/0").device
    import pyopencl as cl

    text = template("kernel.cl.j2").render(kernel=kernel, pins_subgroups=False)
    assert text.count(PAIR) == 1
    text = text.replace(PAIR, "vstore_half2_rte((float2)(low, high), 0, (half*)&bits);")
    text = text.replace("__kernel ", "__attribute__((intel_reqd_sub_group_size(32))) __kernel ")
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    with warnings.catch_warnings(action="ignore"):  # the compiler prints how it made vectors
        program = cl.Program(context, WARP + text).build(options=["-cl-std=CL3.0"], cache_dir=False)
    instance = cl.Kernel(program, "attend")

    def call(q: Halves, k: Halves, v: Halves) -> Halves:
        found = np.zeros((one.batches, one.queries, one.value_width), np.float16)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (q, k, v, found)]
        for index, buffer in enumerate(buffers):
            instance.set_arg(2 * index, buffer)
            instance.set_arg(2 * index + 1, np.uint64(0))
        items = kernel.workgroup_size[0]
        cl.enqueue_nd_range_kernel(queue, instance, (one.groups[0] * items, one.groups[1]), (items, 1))
        cl.enqueue_copy(queue, found, buffers[3])
        return found

    return call
