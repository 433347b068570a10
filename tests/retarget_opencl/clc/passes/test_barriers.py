"""Where `with_barriers` puts barriers, and a module that IREE compiles without the ones that it needs."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from opencl_support import Load, call
from retarget_opencl.clc.passes.barriers import with_barriers
from retarget_opencl.clc.types import Scalar
from retarget_opencl.clc.values import Line, Value

ID = "id := get_local_id(0)\n"


def lines_of(text: str) -> list[Line]:
    """Return the lines of a kernel; `name := text` defines a value."""
    lines = []
    for line in textwrap.dedent(text).strip().splitlines():
        indent = (len(line) - len(line.lstrip())) // 4 + 1
        name, _, expression = line.strip().rpartition(" := ")
        lines.append(Line(indent, expression, Value(name, Scalar("int", 32)) if name else None))
    return lines


def text_of(lines: list[Line]) -> str:
    found = []
    for line in lines:
        name = f"{'hoisted ' if line.defines.hoisted else ''}{line.defines.text} := " if line.defines else ""
        text = "barrier" if line.text == "barrier(CLK_LOCAL_MEM_FENCE);" else line.text
        found.append("    " * (line.indent - 1) + name + text)
    return "\n".join(found)


def parted(text: str) -> str:
    return text_of(with_barriers(lines_of(text), ("sums", "tops"), {"out": 0, "out2": 0}, (8, 1, 1)))


def test_what_one_writes_and_another_reads_has_a_barrier_between() -> None:
    assert parted(ID + "sums[id] = 1u;\nv1 := 3u - id\nv2 := sums[v1]\nout[id] = v2;") == (
        ID + "sums[id] = 1u;\nv1 := 3u - id\nbarrier\nv2 := sums[v1]\nout[id] = v2;"
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("sums[id] = 1u;\nv1 := sums[id]", id="its own place"),
        pytest.param(
            "v1 := id * 2u\nsums[v1] = 1u;\nv2 := id * 2u\nv3 := sums[v2]", id="its own place, computed twice"
        ),
        pytest.param("v1 := sums[0]\nv2 := sums[id]", id="only read"),
        pytest.param("sums[id] = 1u;\nv1 := tops[0]", id="another variable"),
        pytest.param("sums[id] = 1u;\nbarrier\nv1 := sums[0]", id="a barrier is there"),
        pytest.param("sums[id] = 1u;\nif (q) {\n    return;\n}\nv1 := sums[0]", id="not all come to the end"),
        pytest.param("if (i) {\n    sums[id] = 1u;\n    v1 := sums[0]\n}", id="the condition may change"),
        pytest.param(
            "c := id < 4\nif (c) {\n    sums[id] = 1u;\n    v1 := sums[0]\n} else {\n    v2 := 1u\n}", id="if and else"
        ),
        pytest.param("for (;;) {\n    sums[id] = 1u;\n    v1 := sums[0]\n}", id="within a loop"),
    ],
)
def test_no_barrier_where_none_is_needed_or_none_can_be(body: str) -> None:
    text = (ID + body).replace("barrier", "barrier(CLK_LOCAL_MEM_FENCE);")
    assert parted(text) == text.replace("barrier(CLK_LOCAL_MEM_FENCE);", "barrier")


@pytest.mark.parametrize(
    "use", ["v9 := sums[0]", "sums[0] = 2u;", "v9 := atomic_add(&sums[id], 1u)", "f(sums);", "v9 := *(&sums[id])"]
)
def test_every_use_of_a_written_place_counts(use: str) -> None:
    assert parted(f"{ID}v1 := sums[3]\nsums[v1] = 1u;\n{use}") == (
        f"{ID}v1 := sums[3]\nbarrier\nsums[v1] = 1u;\nbarrier\n{use}"
    )


def test_a_place_that_follows_a_loop_is_not_ones_own() -> None:
    loop = "for (;;) {{\n    v{0} := i + id\n    {1}\n    i = v{0};\n}}\n"
    fill, use = loop.format(1, "sums[v1] = 0u;"), loop.format(2, "v3 := sums[v2]")
    assert parted(ID + fill + use) == (ID + fill + "barrier\n" + use).rstrip()


def test_an_if_is_closed_for_a_barrier_and_values_that_live_on_are_declared_at_the_top() -> None:
    assert parted(
        """\
        id := get_local_id(0)
        c := id < 5
        if (c) {
            v1 := id * 2u
            v2 := id * 3u
            if (!c) {
                sums[v2] = 0u;
                v3 := sums[v1]
                out[v3] = v2;
            }
            tops[id] = 0u;
        }
        """
    ) == textwrap.dedent(
        """\
        id := get_local_id(0)
        c := id < 5
        if (c) {
            hoisted v1 := id * 2u
            hoisted v2 := id * 3u
            if (!c) {
                sums[v2] = 0u;
            }
        }
        barrier
        if (c) {
            if (!c) {
                v3 := sums[v1]
                out[v3] = v2;
            }
            tops[id] = 0u;
        }"""
    )


@pytest.mark.parametrize(
    ("use", "fences"),
    [
        ("v2 := out[v1]", "CLK_GLOBAL_MEM_FENCE"),
        ("v2 := out2[id]", "CLK_GLOBAL_MEM_FENCE"),
        ("v2 := out[v1] + sums[v1]", "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE"),
    ],
)
def test_a_result_that_is_also_read_needs_barriers_too(use: str, fences: str) -> None:
    text = f"{ID}v1 := 3u - id\nif (c) {{\n    out[id] = 1u;\n    sums[id] = 1u;\n}}\n"
    assert parted(text + use) == f"{text}barrier({fences});\n{use}"


def test_a_result_that_is_only_written_needs_none() -> None:
    text = ID + "out[id] = 1u;\nv1 := 3u - id\nout[v1] = 2u;"
    assert parted(text) == text


def test_neighbouring_ifs_of_one_condition_become_one() -> None:
    text = f"""{ID}c := id < 4
if (c) {{
    sums[id] = 1u;
    if (c) {{
        tops[id] = 1u;
    }}
}}
if (c) {{
    if (c) {{
        v1 := tops[id]
    }}
    v2 := sums[id]
}} else {{
    v3 := 1u
}}"""
    assert (
        parted(text)
        == f"""{ID}c := id < 4
if (c) {{
    sums[id] = 1u;
    if (c) {{
        tops[id] = 1u;
        v1 := tops[id]
    }}
    v2 := sums[id]
}} else {{
    v3 := 1u
}}"""
    )


@pytest.mark.parametrize(
    "between", ["}\nv9 := 1u\nif (c) {", "}\nif (!c) {", "} else {\n    v9 := 1u\n}\nif (c) {", "}\nif (i) {"]
)
def test_other_ifs_stay_apart(between: str) -> None:
    text = f"{ID}c := id < 4\nif (c) {{\n    sums[id] = 1u;\n{between}\n    v2 := sums[id]\n}}"
    assert parted(text) == text


def test_ifs_whose_condition_changes_stay_apart() -> None:
    text = f"{ID}if (i) {{\n    sums[id] = 1u;\n    i = 0;\n}}\nif (i) {{\n    v2 := sums[id]\n}}"
    assert parted(text) == text


SUM = """\
for (;;) {
    v1 := sums[i]
    v2 := v1 + 1u
    sums[i] = v2;
    out[i] = v2;
    i = v2;
}
"""


def test_where_all_do_the_same_sum_one_stores() -> None:
    assert parted(SUM) == SUM.rstrip().replace("sums[i] =", "if (get_local_id(0) == 0) sums[i] =").replace(
        "out[i] =", "if (get_local_id(0) == 0) out[i] ="
    )


def test_one_in_each_dimension_that_nothing_depends_on() -> None:
    found = with_barriers(lines_of("id := get_local_id(1)\n" + SUM.replace("+ 1u", "+ id")), ("sums",), {}, (2, 2, 2))
    assert "if (get_local_id(0) == 0 && get_local_id(2) == 0) sums[i] = v2;" in text_of(found)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SUM.replace("+ 1u", "+ id"), id="one's own value"),
        pytest.param("c := id < 3\nif (c) {\n    i = 3u;\n}\n" + SUM, id="a condition of one's own"),
        pytest.param(SUM.replace("+ 1u", "+ retarget_subgroup_lane()"), id="by lane"),
        pytest.param(SUM.replace("v1 + 1u", "atomic_add(&sums[i], v1)"), id="each counts"),
        pytest.param(SUM + "out[9] = i;", id="what is computed lives on"),
        pytest.param(
            SUM.replace("v2 := v1 + 1u", "v2 := i + 1u").replace("v1 := sums[i]\n    ", ""), id="only written"
        ),
    ],
)
def test_otherwise_all_store(text: str) -> None:
    assert "if (get_local_id" not in parted(ID + text)


@pytest.mark.parametrize("axis", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_softmax_along_an_outer_axis_is_right(load: Load, axis: int) -> None:
    """IREE fuses it into one kernel in which a work-item fills what others sum up."""
    program = load(
        f"""
        func.func @main(%x: !torch.vtensor<[3,4,5],f32>) -> !torch.vtensor<[3,4,5],f32>
            attributes {{torch.onnx_meta.ir_version = 7 : si64, torch.onnx_meta.opset_version = 13 : si64}} {{
          %0 = torch.operator "onnx.Softmax"(%x) {{torch.onnx.axis = {axis} : si64}}
            : (!torch.vtensor<[3,4,5],f32>) -> !torch.vtensor<[3,4,5],f32>
          return %0 : !torch.vtensor<[3,4,5],f32>
        }}
        """
    )
    given = np.random.default_rng(1).standard_normal((3, 4, 5)).astype(np.float32)
    (actual,) = call(program, "main", given)
    powers = np.exp(given.astype(np.float64))
    np.testing.assert_allclose(actual, powers / powers.sum(axis=axis, keepdims=True), rtol=1e-5)
