"""The suite `linalg-ext`: ops of iree_linalg_ext."""

from __future__ import annotations

import numpy as np

from generator.support import Array, Module, module, source, type_of
from generator.support.arrays import NAMES

F32 = np.float32
I32 = np.int32


def _fresh(name: str, value: Array) -> str:
    zeros = source(np.zeros_like(value))
    add = "addf" if value.dtype.kind == "f" else "addi"
    return f"""%{name}_data = {source(value)}
        %{name}_zeros = {zeros}
        %{name} = arith.{add} %{name}_data, %{name}_zeros : {type_of(value)}"""


@module("linalg-ext/sort")
def _sort(m: Module) -> None:
    """iree_linalg_ext.sort of integers and of floats, up and down, along rows, and keys that carry values with them.
    Numbers: NumPy's sort and argsort; all keys differ.
    """
    keys = ((np.arange(40) * 27 + 11) % 41).astype(I32)
    values = (np.arange(40) * 10).astype(I32)
    order = np.argsort(keys)
    floats, rows = keys.astype(F32), keys.reshape(5, 8)
    for name, x, compare, dimension, want in (
        ("up", keys, "arith.cmpi slt", 0, np.sort(keys)),
        ("down", floats, "arith.cmpf ogt", 0, np.sort(floats)[::-1]),
        ("along_rows", rows, "arith.cmpi slt", 1, np.sort(rows, axis=1)),
    ):
        body = """
            $x
                    %out = iree_linalg_ext.sort dimension($dimension) outs(%x : $kind) {
                    ^bb0(%a: $element, %b: $element):
                      %first = $compare, %a, %b : $element
                      iree_linalg_ext.yield %first : i1
                    } -> $kind
            """
        m.function(name, body, {"%out": want},
                   x=_fresh("x", x), dimension=dimension, kind=type_of(x), element=NAMES[x.dtype.name], compare=compare)  # fmt: skip
    body = """
        $k
        $v
        %out:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<40xi32>, tensor<40xi32>) {
        ^bb0(%a: i32, %b: i32, %va: i32, %vb: i32):
          %first = arith.cmpi slt, %a, %b : i32
          iree_linalg_ext.yield %first : i1
        } -> tensor<40xi32>, tensor<40xi32>
        """
    m.function("keys_with_values", body, {"%out#0": keys[order], "%out#1": values[order]},
               k=_fresh("k", keys), v=_fresh("v", values))  # fmt: skip


@module("linalg-ext/scatter")
def _scatter(m: Module) -> None:
    """iree_linalg_ext.scatter: elements and whole rows written to unique places, and updates that are added where places repeat.
    Numbers: NumPy's indexed assignment and np.add.at.
    """
    base = np.arange(12, dtype=I32) * 100
    places = np.array([[7], [0], [11], [3]], I32)
    updates = np.array([-1, -2, -3, -4], I32)
    want = base.copy()
    want[places[:, 0]] = updates
    template = """
        $base
        %updates = $updates
        %places = $places
        %out = iree_linalg_ext.scatter dimension_map = [0] unique_indices($unique) ins(%updates, %places : $ut, $pt) outs(%base : $bt) {
        ^bb0(%update: i32, %old: i32):
          %sum = arith.addi %update, %old : i32
          iree_linalg_ext.yield $result : i32
        } -> $bt
        """

    def add(name: str, /, base: Array, updates: Array, places: Array, want: Array, *, added: bool) -> None:
        m.function(name, template, {"%out": want}, base=_fresh("base", base), updates=updates, places=places, ut=type_of(updates),
                   pt=type_of(places), bt=type_of(base), result="%sum" if added else "%update", unique="false" if added else "true")  # fmt: skip

    add("elements", base, updates, places, want, added=False)
    table = np.arange(24, dtype=I32).reshape(6, 4)
    rows = np.array([[4], [1]], I32)
    new = np.array([[-1, -2, -3, -4], [-5, -6, -7, -8]], I32)
    want = table.copy()
    want[rows[:, 0]] = new
    add("rows", table, new, rows, want, added=False)
    repeated = np.array([[2], [5], [2], [2]], I32)
    want = base.copy()
    np.add.at(want, repeated[:, 0], updates)
    add("added_where_repeated", base, updates, repeated, want, added=True)


@module("linalg-ext/scan")
def _scan(m: Module) -> None:
    """iree_linalg_ext.scan: inclusive and exclusive prefix sums, a running product, and prefix sums along the first dimension.
    Numbers: NumPy's cumsum and cumprod, exact integers.
    """
    x = ((np.arange(37) * 7) % 11 - 5).astype(I32)
    template = """
        %x = $x
        %room = tensor.empty() : $t
        %start = $start
        %out:2 = iree_linalg_ext.scan dimension(0) inclusive($inclusive) ins(%x : $t) outs(%room, %start : $t, $st) {
        ^bb0(%a: i32, %b: i32):
          %r = arith.$op %a, %b : i32
          iree_linalg_ext.yield %r : i32
        } -> $t, $st
        """
    small = np.array([1, -2, 3, 2, -1, 5], I32)
    table = x[:36].reshape(6, 6)
    exclusive = np.concatenate([[0], np.cumsum(x)[:-1]]).astype(I32)
    for name, values, start, inclusive, op, want in (
        ("inclusive", x, np.array(0, I32), "true", "addi", np.cumsum(x, dtype=I32)),
        ("exclusive", x, np.array(0, I32), "false", "addi", exclusive),
        ("running_product", small, np.array(1, I32), "true", "muli", np.cumprod(small, dtype=I32)),
        ("columns", table, np.zeros(6, I32), "true", "addi", np.cumsum(table, axis=0, dtype=I32)),
    ):
        kinds = {"t": type_of(values), "st": type_of(start)}
        m.function(name, template, {"%out#0": want}, x=values, start=start, inclusive=inclusive, op=op, **kinds)


@module("linalg-ext/topk")
def _topk(m: Module) -> None:
    """iree_linalg_ext.topk: the three largest values of each row with their positions.
    Numbers: NumPy's argsort of the negated rows; all values of a row differ.
    """
    x = ((np.arange(4 * 19).reshape(4, 19) * 31 + 7) % 79).astype(F32)
    order = np.argsort(-x, axis=1)[:, :3]
    body = """
        %x = $x
        %lowest = arith.constant 0xFF800000 : f32
        %zero = arith.constant 0 : i32
        %room_v = tensor.empty() : tensor<4x3xf32>
        %room_i = tensor.empty() : tensor<4x3xi32>
        %init_v = linalg.fill ins(%lowest : f32) outs(%room_v : tensor<4x3xf32>) -> tensor<4x3xf32>
        %init_i = linalg.fill ins(%zero : i32) outs(%room_i : tensor<4x3xi32>) -> tensor<4x3xi32>
        %out:2 = iree_linalg_ext.topk dimension(1) ins(%x : tensor<4x19xf32>) outs(%init_v, %init_i : tensor<4x3xf32>, tensor<4x3xi32>) {
        ^bb0(%a: f32, %b: f32):
          %greater = arith.cmpf ogt, %a, %b : f32
          iree_linalg_ext.yield %greater : i1
        } -> tensor<4x3xf32>, tensor<4x3xi32>
        """
    m.function(
        "three_of_nineteen", body, {"%out#0": np.take_along_axis(x, order, axis=1), "%out#1": order.astype(I32)}, x=x
    )
