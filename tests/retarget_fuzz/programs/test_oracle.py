"""The oracle: its bounds hold what NumPy computes in the element type, and it is not sure where rounding decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from retarget_fuzz.programs.ir import Node, Region, Type
from retarget_fuzz.programs.oracle import Array, Value, apply, argument, dtype_of, evaluate

RANDOM = np.random.default_rng(7)
NORMAL = RANDOM.standard_normal((16, 64))


def value(numbers: Any, element: str = "f32") -> Value:
    array = np.array(numbers).astype(dtype_of(element))
    return argument(array, Type(element, array.shape))


def run(op: str, operands: Sequence[Value], element: str = "f32", shape: Sequence[int] = (), **more: Any) -> Value:
    return apply(Node(op, tuple(range(len(operands))), Type(element, tuple(shape)), **more), operands)


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("max", np.maximum),
        ("pow", np.power),
        ("neg", np.negative),
        ("exp", np.exp),
        ("expm1", np.expm1),
        ("log", np.log),
        ("log1p", np.log1p),
        ("sqrt", np.sqrt),
        ("tanh", np.tanh),
        ("sin", np.sin),
        ("cos", np.cos),
        ("rsqrt", lambda x: 1 / np.sqrt(x)),
        ("logistic", lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_chains_in_the_element_type_lie_within_the_bound(op: str, function: Callable[..., Array], element: str) -> None:
    first, second = (np.abs(RANDOM.standard_normal(400)).astype(dtype_of(element)) + 1 for _ in range(2))
    count = 2 if isinstance(function, np.ufunc) and function.nin == 2 else 1
    operands, exact = [first, second][:count], [value(first, element), value(second, element)][:count]
    for _ in range(3):
        with np.errstate(all="ignore"):
            operands = [function(*operands).astype(dtype_of(element)), *operands[1:]]
        exact = [run(op, exact, element, (400,)), *exact[1:]]
        sure = np.isfinite(exact[0].bound).nonzero()[0]
        operands = [one[sure] for one in operands]
        exact = [Value(one.data[sure], one.bound[sure]) for one in exact]
        assert (np.abs(operands[0].astype(np.float64) - exact[0].data) <= exact[0].bound).all()
    assert op in {"log", "pow", "exp", "expm1"} or len(sure) > 100


def test_sums_and_products_hold_in_any_order() -> None:
    data = NORMAL.astype(np.float32)
    total = run("reduce.add", [value(data)], shape=(16,), attributes=((1,),))
    in_turn = np.zeros(16, np.float32)
    for column in data.T:
        in_turn = in_turn + column
    assert (np.abs(in_turn - total.data) <= total.bound).all()
    assert (total.bound < 1e-3).all()
    product = run("dot", [value(data), value(data.T)], shape=(16, 16))
    assert (np.abs(data @ data.T - product.data) <= product.bound).all()
    kept = run("reduce.max", [value(data)], shape=(1, 64), attributes=((0,),))
    np.testing.assert_array_equal(kept.data, data.max(0, keepdims=True))


@pytest.mark.parametrize(
    ("op", "first", "second", "result"),
    [
        ("add", [127, -128, 5], [1, -1, 6], [-128, 127, 11]),
        ("mul", [100, -128, 3], [3, -1, -4], [44, -128, -12]),
        ("div", [-7, 7, -8], [2, -2, 3], [-3, -3, -2]),
        ("rem", [-7, 7, -8], [2, -2, 3], [-1, 1, -2]),
        ("div_u", [-1, 7, -128], [2, -1, 3], [127, 0, 42]),
        ("max_u", [-1, 7, 3], [2, -1, 4], [-1, -1, 4]),
        ("shr", [-8, 8, -1], [1, 2, 7], [-4, 2, -1]),
        ("shr_u", [-8, 8, -1], [1, 2, 7], [124, 2, 1]),
        ("shl", [-8, 65, -1], [1, 2, 7], [-16, 4, -128]),
        ("xor", [-8, 65, -1], [1, 2, 7], [-7, 67, -8]),
    ],
)
def test_integers_are_exact_and_wrap_around(op: str, first: list[int], second: list[int], result: list[int]) -> None:
    got = run(op, [value(first, "i8"), value(second, "i8")], "i8", (3,))
    assert got.is_certain
    assert got.data.tolist() == result


@pytest.mark.parametrize(
    ("op", "element", "operands"),
    [
        ("div", "i32", [[5], [0]]),
        ("rem", "i32", [[-(2**31)], [-1]]),
        ("rem_u", "i16", [[5], [0]]),
        ("shl", "i8", [[1], [8]]),
        ("shr_u", "i64", [[1], [-1]]),
    ],
)
def test_undefined_behaviour_is_not_certain(op: str, element: str, operands: list[list[int]]) -> None:
    assert not run(op, [value(one, element) for one in operands], element, (1,)).is_certain


def test_decisions_within_the_bound_are_not_certain() -> None:
    third = run("div", [value([1.0]), value([3.0])], shape=(1,))
    whole = run("mul", [third, value([3.0])], shape=(1,))
    for op, operands, element in (
        ("compare.lt", [whole, value([1.0])], "i1"),
        ("floor", [whole], "f32"),
        ("convert", [whole], "i32"),
    ):
        assert not run(op, operands, element, (1,)).is_certain, op
        exact = [value([1.0]), *operands[1:]]
        assert run(op, exact, element, (1,)).is_certain, op


def test_what_may_overflow_or_divides_by_zero_is_not_certain() -> None:
    largest = float(np.finfo(np.float32).max)
    for op, operands in (
        ("add", [[largest], [largest]]),
        ("div", [[1.0], [0.0]]),
        ("sqrt", [[-1.0]]),
        ("log", [[0.0]]),
        ("exp", [[88.8]]),
    ):
        assert not run(op, [value(one) for one in operands], shape=(1,)).is_certain, op
    assert not run("convert", [value([300.0])], "i8", (1,)).is_certain
    assert not run("convert", [value([70000], "i32")], "f16", (1,)).is_certain


def test_infinities_and_nan_go_where_they_have_to() -> None:
    special = value([math.inf, -math.inf, math.nan])
    for op, by, result in (
        ("add", 1.0, [math.inf, -math.inf, math.nan]),
        ("mul", -1.0, [-math.inf, math.inf, math.nan]),
    ):
        got = run(op, [special, value([by] * 3)], shape=(3,))
        assert got.is_certain
        np.testing.assert_array_equal(got.data, result)
    assert run("mul", [value([math.nan]), value([0.0])], shape=(1,)).is_certain
    assert math.isnan(run("reduce.max", [special], attributes=((0,),)).data.item())


def test_a_nan_that_was_no_operand_is_not_certain() -> None:
    """Mesa's driver of Vulkan takes 0*c + -2*c for (0 + -2)*c."""
    infinite = value([[-math.inf], [-math.inf]])
    for op, operands, more in (
        ("mul", [value([math.inf]), value([0.0])], {}),
        ("sub", [value([math.inf]), value([math.inf])], {}),
        ("reduce.add", [value([[math.inf, -math.inf]])], {"attributes": ((1,),)}),
        ("dot", [value([[0.0, -2.0]]), infinite], {"shape": (1, 1)}),
    ):
        got = run(op, operands, **{"shape": (1,), **more})
        assert (math.isnan(got.data.item()), got.is_certain) == (True, False), op
    assert run("dot", [value([[1.0, 2.0]]), infinite], shape=(1, 1)).is_certain
    assert run("dot", [value([[0.0, math.nan]]), infinite], shape=(1, 1)).is_certain
    assert run("reduce.add", [value([[math.inf, math.nan, 1.0]])], shape=(1,), attributes=((1,),)).is_certain


def test_subnormal_numbers_may_be_zero() -> None:
    tiny = value([1e-40])
    assert tiny.bound.item() > 1e-40
    assert not run("compare.gt", [tiny, value([0.0])], "i1", (1,)).is_certain
    assert run("mul", [value([1e-20]), value([1e-20])], shape=(1,)).bound.item() >= 1e-40


def test_conversions_of_integers() -> None:
    assert run("convert", [value([-1, 300], "i32")], "i8", (2,)).data.tolist() == [-1, 44]
    assert run("convert.u", [value([-1, 5], "i8")], "i32", (2,)).data.tolist() == [255, 5]
    assert run("convert", [value([True, False], "i1")], "f32", (2,)).data.tolist() == [1, 0]
    assert run("convert", [value([2.5, -2.5])], "i8", (2,)).data.tolist() == [2, -2]
    assert run("convert.to_even", [value([3.5, -2.5])], "i8", (2,)).data.tolist() == [4, -2]


def test_elements_that_move() -> None:
    square = value([[1, 2, 3], [4, 5, 6]], "i32")

    def moved(op: str, shape: tuple[int, ...], *attributes: tuple[int, ...]) -> list[Any]:
        operands = [square, *([square] if op == "concat" else [value(9, "i32")] if op == "pad" else [])]
        result: list[Any] = run(op, operands, "i32", shape, attributes=attributes).data.tolist()
        return result

    assert moved("transpose", (3, 2), (1, 0)) == [[1, 4], [2, 5], [3, 6]]
    assert moved("slice", (1, 2), (1, 0), (2, 3), (1, 2)) == [[4, 6]]
    assert moved("pad", (2, 6), (0, 1), (0, 0), (0, 1)) == [[9, 1, 9, 2, 9, 3], [9, 4, 9, 5, 9, 6]]
    assert moved("broadcast", (2, 2, 3), (1, 2)) == [[[1, 2, 3], [4, 5, 6]]] * 2
    assert moved("concat", (2, 6), (1,)) == [[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]
    assert moved("reverse", (2, 3), (0,)) == [[4, 5, 6], [1, 2, 3]]


def test_branches_and_loops() -> None:
    kind = Type("i32")
    add, multiply = (Region((kind, kind), (Node(op, (0, 1), kind),), (2,)) for op in ("add", "mul"))
    operands = [value(3, "i32"), value(4, "i32")]
    for chosen, result in ((True, 7), (False, 12)):
        assert run("if", [value(chosen, "i1"), *operands], "i32", regions=(add, multiply)).data == result
    assert run("for", [value(3, "i32"), *operands], "i32", regions=(multiply,)).data == 192
    undefined = Region(
        (kind, kind), (Node("sub", (0, 0), kind), Node("div", (1, 2), kind), Node("add", (0, 1), kind)), (4,)
    )
    assert not evaluate(undefined, operands)[0].is_certain


def test_tolerances_hold_each_elements_bound_and_moved_elements_have_none() -> None:
    data = NORMAL * 2.0 ** RANDOM.integers(-20, 20, NORMAL.shape)
    product = run("mul", [value(data), value(NORMAL)], shape=data.shape)
    number, atol, rtol = product.expected(Type("f32", data.shape))
    assert (np.abs(number - product.data) + product.bound <= atol + rtol * np.abs(product.data)).all()
    assert 0 < rtol < 1e-5
    assert value(data).expected(Type("f32", data.shape))[1:] == (0.0, 0.0)
