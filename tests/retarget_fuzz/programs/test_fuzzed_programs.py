"""Programs as they are drawn and as they read in each dialect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.program import DEFAULT_TYPES, DIALECTS, ELEMENT_TYPES, Program
from retarget_fuzz.programs.strategies import by_seed_alone, programs
from retarget_fuzz.programs.text import literal

QUIET = [*HealthCheck]


def drawn(dialect: str, count: int, number: int = 0, types: tuple[str, ...] = ELEMENT_TYPES) -> list[Program]:
    """That many programs, each once."""
    every: dict[str, Program] = {}

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=QUIET)
    @given(programs([dialect], types))
    def draw(program: Program) -> None:
        every[program.digest] = program

    with by_seed_alone():
        draw()
    return [*every.values()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_verifiers_take_each_program(dialect: str, tmp_path: Path) -> None:
    every = drawn(dialect, 80)
    every += [small for one in every[:40] for small in one.smaller()]
    source = tmp_path / "every.mlir"
    source.write_text("\n".join(one.module().replace("@f(", f"@f{at}(") for at, one in enumerate(every)))
    tool = Path(sys.executable).with_name("iree-opt")
    checked = subprocess.run([tool, source, "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr[:2000]
    assert len(every) > 30


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_program_has_certain_results_for_its_inputs(dialect: str) -> None:
    every = drawn(dialect, 100)
    for program in every:
        types = program.function.types
        for array, kind in zip(program.inputs, types, strict=False):
            assert array.shape == kind.shape
        for expected, at in zip(program.expected(), program.function.results, strict=True):
            assert expected.value.shape == types[at].shape
            assert np.isfinite([expected.atol, expected.rtol]).all()
            assert not (types[at].element.startswith("i") and (expected.atol or expected.rtol))
    features = {feature for one in every for feature in one.features()}
    assert sum(one.startswith("op:") for one in features) > 60
    assert {"rank:0", "rank:2", "rank:4", "size:1", "control:for", "type:f16"} <= features
    assert ("dynamic" in features) == (dialect != "tosa")


def test_the_same_seed_draws_the_same_programs() -> None:
    first, second, other = ([one.digest for one in drawn("linalg", 30, number)] for number in (3, 3, 4))
    assert first == second != other


@pytest.mark.slow
def test_a_program_shrinks_to_what_fails() -> None:
    with by_seed_alone():
        least = find(
            programs(["linalg"], DEFAULT_TYPES),
            lambda program: "op:linalg.reduce.max" in program.features(),
            settings=settings(max_examples=1000, database=None, deadline=None, suppress_health_check=QUIET),
            random=Random(1),  # noqa: S311  (one that shrinks soon)
        )
    assert least.function.nodes[-1].op == "reduce.max"
    assert len(least.function.nodes) <= 2
    assert all(kind.size <= 4 for kind in least.function.types)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_smaller_programs_are_of_fewer_operations_and_return_the_same(dialect: str) -> None:
    counts = [0, 0]
    for program in drawn(dialect, 30):
        last = program.expected()[-1].value
        for one in program.smaller():
            assert len(one.function.nodes) < len(program.function.nodes)
            assert len(one.inputs) == len(one.function.arguments)
            assert one.dynamic <= program.dynamic
            assert one.module().count("%arg") >= len(one.inputs)
            counts[len(one.function.results) > 1] += 1
            if len(one.function.results) == len(program.function.results) > 1:
                value = one.expected()[-1].value
                assert value.dtype == last.dtype
                if last.dtype.kind in "bi":
                    np.testing.assert_array_equal(value, last)
    assert min(counts) > 5


def test_only_types_that_were_asked_for() -> None:
    for program in drawn("linalg", 40, types=("f32", "i8")):
        assert {kind.element for kind in program.function.types} <= {"f32", "i8"}
    with pytest.raises(ValueError, match=r"^tosa has none of the element types f64, i64$"):
        programs(["linalg", "tosa"], ["f64", "i64"])


def test_literals() -> None:
    values = [
        (1.5, "f32"),
        (1e-40, "f32"),
        (float("inf"), "f16"),
        (float("nan"), "bf16"),
        (-0.0, "f64"),
        (1, "i1"),
        (-7, "i8"),
    ]
    texts = ["1.5", "9.99999999999999929e-41", "0x7C00", "0x7FC0", "-0.0", "true", "-7"]
    assert [literal(*one) for one in values] == texts


PARTS = (Type("f32", (4, 3)), Type("f32", (4,)), Type("i1", (4,)))
FUNCTION = Region(
    PARTS[:1],
    (
        Node("reduce.max", (0,), PARTS[1], ((1,),)),
        Node("constant", (), PARTS[1], values=(0.5,)),
        Node("compare.lt", (1, 2), PARTS[2]),
        Node("select", (3, 1, 2), PARTS[1]),
    ),
    (4,),
)


def test_a_program_in_stablehlo_and_in_linalg_with_a_size_that_the_types_do_not_tell() -> None:
    array = np.ones((4, 3), np.float32)
    assert (
        Program("stablehlo", FUNCTION, (array,)).module()
        == """\
func.func @f(%arg0: tensor<4x3xf32>) -> (tensor<4xf32>) {
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %2 = stablehlo.reduce(%arg0 init: %1) applies stablehlo.maximum across dimensions = [1] : \
(tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.constant dense<0.5> : tensor<4xf32>
  %4 = stablehlo.compare LT, %2, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = stablehlo.select %4, %2, %3 : tensor<4xi1>, tensor<4xf32>
  return %5 : tensor<4xf32>
}
"""
    )
    dynamic = Program("linalg", FUNCTION, (array,), frozenset({4}))
    lines = dynamic.module().splitlines()
    assert lines[0] == "func.func @f(%arg0: tensor<?x3xf32>) -> (tensor<?xf32>) {"
    assert "  %size4 = tensor.dim %arg0, %index4 : tensor<?x3xf32>" in lines
    assert "  %6 = tensor.cast %5 : tensor<4xf32> to tensor<?xf32>" in lines
    assert "    %r = arith.cmpf olt, %e0, %e1 : f32" in lines
    assert dynamic.features() >= {"dynamic", "op:linalg.select:f32", "rank:2"}
    again, static = Program("linalg", FUNCTION, (array,), frozenset({4})), Program("linalg", FUNCTION, (array,))
    assert dynamic.digest == again.digest != static.digest
    assert dynamic.expected()[0].value.tolist() == [0.5] * 4
