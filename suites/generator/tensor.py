"""The suite `tensor`: ops that move values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps

import numpy as np

from generator.support import Array, Module, Writer, exactly, module

F32 = np.float32
I32 = np.int32


def _moves(path: str, *shape: int) -> Callable[[Callable[[Array], Iterable[tuple[str, str, Array]]]], Writer]:
    """Mark a function that returns functions which move the values of x: (name, op on %x with result %out, expected)."""

    def mark(cases: Callable[[Array], Iterable[tuple[str, str, Array]]]) -> Writer:
        @module(path)
        @wraps(cases)
        def fill(m: Module) -> None:
            x = m.input("x", shape, seed=3, modulus=1009, shift=0)
            for name, op, want in cases(x):
                body = "\n".join(line.strip() for line in ["%x = @x", *op.splitlines()])
                m.function(name, body, {"%out": exactly(want, F32)})

        return fill

    return mark


@_moves("tensor/concat", 5, 7)
def _concat(x: Array) -> Iterable[tuple[str, str, Array]]:
    """tensor.concat along both dimensions, of three operands, and of a part with itself.
    Numbers: NumPy; values are only moved.
    """
    return (
        ("along_rows", "%out = tensor.concat dim(0) %x, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<10x7xf32>", np.concatenate([x, x], 0)),
        ("along_columns", """%part = tensor.extract_slice %x[0, 1] [5, 3] [1, 1] : tensor<5x7xf32> to tensor<5x3xf32>
            %out = tensor.concat dim(1) %x, %part, %x : (tensor<5x7xf32>, tensor<5x3xf32>, tensor<5x7xf32>) -> tensor<5x17xf32>""",
         np.concatenate([x, x[:, 1:4], x], 1)),
    )  # fmt: skip


def _padded(result: str, value: str, low: str, high: str, size: str) -> str:
    return f"""{result} = tensor.pad %x low[{low}] high[{high}] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %{value} : f32
        }} : tensor<6x9xf32> to tensor<{size}xf32>"""


@_moves("tensor/pad", 6, 9)
def _pad(x: Array) -> Iterable[tuple[str, str, Array]]:
    """tensor.pad with zeros, with another value, on one side only, and padding that a later slice removes again.
    Numbers: NumPy; values are only moved.
    """
    zero = "%zero = arith.constant 0.0 : f32\n"
    return (
        ("with_zeros", zero + _padded("%out", "zero", "1, 2", "3, 4", "10x15"), np.pad(x, ((1, 3), (2, 4)))),
        ("below_only", "%fill = util.unfoldable_constant -7.5 : f32\n" + _padded("%out", "fill", "0, 0", "2, 0", "8x9"),
         np.pad(x, ((0, 2), (0, 0)), constant_values=-7.5)),
        ("padded_and_sliced", zero + _padded("%padded", "zero", "2, 2", "2, 2", "10x13") + """
            %out = tensor.extract_slice %padded[1, 3] [6, 9] [1, 1] : tensor<10x13xf32> to tensor<6x9xf32>""", np.pad(x, 2)[1:7, 3:12]),
    )  # fmt: skip


@_moves("tensor/slices", 11, 13)
def _slices(x: Array) -> Iterable[tuple[str, str, Array]]:
    """tensor.extract_slice and tensor.insert_slice: offsets, a dropped dimension, and a slice written over another part of the same tensor.
    Numbers: NumPy; values are only moved.
    """
    y = x.copy()
    y[2:5, 4:8] = x[7:10, 0:4]
    return (
        ("extract", "%out = tensor.extract_slice %x[3, 5] [4, 6] [1, 1] : tensor<11x13xf32> to tensor<4x6xf32>", x[3:7, 5:11]),
        ("extract_row", "%out = tensor.extract_slice %x[6, 0] [1, 13] [1, 1] : tensor<11x13xf32> to tensor<13xf32>", x[6]),
        ("insert", """%part = tensor.extract_slice %x[7, 0] [3, 4] [1, 1] : tensor<11x13xf32> to tensor<3x4xf32>
            %kept = util.optimization_barrier %part : tensor<3x4xf32>
            %out = tensor.insert_slice %kept into %x[2, 4] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<11x13xf32>""", y),
    )  # fmt: skip


@_moves("tensor/strided-slices", 11, 13)
def _strided_slices(x: Array) -> Iterable[tuple[str, str, Array]]:
    """tensor.extract_slice and tensor.insert_slice with strides.
    Numbers: NumPy; values are only moved.
    """
    z = x.copy()
    z[1:9:2, 0:12:3] = x[5:9, 5:9]
    return (
        ("extract_strided", "%out = tensor.extract_slice %x[1, 0] [5, 4] [2, 3] : tensor<11x13xf32> to tensor<5x4xf32>", x[1:11:2, 0:12:3]),
        ("insert_strided", """%part = tensor.extract_slice %x[5, 5] [4, 4] [1, 1] : tensor<11x13xf32> to tensor<4x4xf32>
            %kept = util.optimization_barrier %part : tensor<4x4xf32>
            %out = tensor.insert_slice %kept into %x[1, 0] [4, 4] [2, 3] : tensor<4x4xf32> into tensor<11x13xf32>""", z),
    )  # fmt: skip


@_moves("tensor/reshape", 6, 4, 5)
def _reshape(x: Array) -> Iterable[tuple[str, str, Array]]:
    """tensor.collapse_shape, tensor.expand_shape, tensor.reshape and unit dimensions put in and taken out.
    Numbers: NumPy; values are only moved.
    """
    return (
        ("collapse", "%out = tensor.collapse_shape %x [[0, 1], [2]] : tensor<6x4x5xf32> into tensor<24x5xf32>", x.reshape(24, 5)),
        ("collapse_all", "%out = tensor.collapse_shape %x [[0, 1, 2]] : tensor<6x4x5xf32> into tensor<120xf32>", x.reshape(120)),
        ("expand", "%out = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [2, 3, 4, 5] : tensor<6x4x5xf32> into tensor<2x3x4x5xf32>", x.reshape(2, 3, 4, 5)),
        ("unit_dimensions", """%wide = tensor.expand_shape %x [[0, 1], [2], [3, 4]] output_shape [1, 6, 4, 5, 1] : tensor<6x4x5xf32> into tensor<1x6x4x5x1xf32>
            %kept = util.optimization_barrier %wide : tensor<1x6x4x5x1xf32>
            %out = tensor.collapse_shape %kept [[0, 1], [2], [3, 4]] : tensor<1x6x4x5x1xf32> into tensor<6x4x5xf32>""", x),
        ("reshape", """%shape = arith.constant dense<[8, 15]> : tensor<2xi64>
            %out = tensor.reshape %x(%shape) : (tensor<6x4x5xf32>, tensor<2xi64>) -> tensor<8x15xf32>""", x.reshape(8, 15)),
        ("transposed_then_collapsed", """%empty = tensor.empty() : tensor<5x6x4xf32>
            %turned = linalg.transpose ins(%x : tensor<6x4x5xf32>) outs(%empty : tensor<5x6x4xf32>) permutation = [2, 0, 1]
            %out = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<5x6x4xf32> into tensor<5x24xf32>""", x.transpose(2, 0, 1).reshape(5, 24)),
    )  # fmt: skip


@_moves("tensor/elements", 4, 6)
def _elements(x: Array) -> Iterable[tuple[str, str, Array]]:
    """Single elements between host and device: tensor.extract, tensor.from_elements, and linalg.fill with one of them.
    Numbers: NumPy; values are only moved.
    """
    return (
        ("extract_and_collect", """%c0 = arith.constant 0 : index
            %c3 = arith.constant 3 : index
            %c5 = arith.constant 5 : index
            %a = tensor.extract %x[%c0, %c5] : tensor<4x6xf32>
            %b = tensor.extract %x[%c3, %c0] : tensor<4x6xf32>
            %sum = arith.addf %a, %b : f32
            %out = tensor.from_elements %a, %b, %sum : tensor<3xf32>""", np.array([x[0, 5], x[3, 0], x[0, 5] + x[3, 0]])),
        ("fill", """%c1 = arith.constant 1 : index
            %value = tensor.extract %x[%c1, %c1] : tensor<4x6xf32>
            %empty = tensor.empty() : tensor<3x5xf32>
            %out = linalg.fill ins(%value : f32) outs(%empty : tensor<3x5xf32>) -> tensor<3x5xf32>""", np.full((3, 5), x[1, 1])),
    )  # fmt: skip


@module("tensor/bitcast")
def _bitcast(m: Module) -> None:
    """Reinterpreting bits: arith.bitcast f32 to i32 and back, tensor.bitcast i32 to f32, and zero-sized and rank-zero tensors.
    Numbers: NumPy's view.
    """
    x = np.array([0.0, 1.0, -1.0, 0.5, 3.1415927, np.inf, -2.5e-30, 65536.0], F32)
    m.function("f32_to_i32", "%out = arith.bitcast %x : tensor<8xf32> to tensor<8xi32>", {"%out": x.view(I32)}, x=x)
    m.function("i32_to_f32", "%out = tensor.bitcast %x : tensor<8xi32> to tensor<8xf32>", {"%out": x}, x=x.view(I32))
    m.function(
        "rank_zero", "%out = arith.addf %x, %x : tensor<f32>", {"%out": np.array(3.0, F32)}, x=np.array(1.5, F32)
    )
    m.function("zero_sized", "%y = arith.addf %x, %x : tensor<0x3xf32>\n        %z = $z\n        %out = tensor.concat dim(0) %y, %z : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
               {"%out": np.arange(6, dtype=F32).reshape(2, 3)}, x=np.zeros((0, 3), F32), z=np.arange(6, dtype=F32).reshape(2, 3))  # fmt: skip


@module("tensor/pack")
def _pack(m: Module) -> None:
    """linalg.pack into 8x4 tiles with padding, linalg.unpack back again, and the tiles themselves.
    Numbers: NumPy's pad, reshape and transpose; values are only moved.
    """
    x = m.input("x", (13, 10), seed=3, modulus=1009, shift=0)
    tiles = np.pad(x, ((0, 3), (0, 2))).reshape(2, 8, 3, 4).transpose(0, 2, 1, 3)
    head = """
        %x = @x
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<2x3x8x4xf32>
        %tiles = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room : tensor<13x10xf32> -> tensor<2x3x8x4xf32>
        """
    m.function("tiles", head, {"%tiles": exactly(tiles, F32)})
    body = """%kept = util.optimization_barrier %tiles : tensor<2x3x8x4xf32>
        %empty = tensor.empty() : tensor<13x10xf32>
        %out = linalg.unpack %kept inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %empty : tensor<2x3x8x4xf32> -> tensor<13x10xf32>
        """
    m.function("there_and_back", head + body, {"%out": exactly(x, F32)})
