"""tensor ops, dynamic shapes and iree_linalg_ext."""

from __future__ import annotations

import numpy as np

from .ir import Approximate, Array, Module, exactly, pattern, source, type_of
from .reference import softmax

__all__ = ["modules"]

F32 = np.float32
I32 = np.int32


def _new(name: str, about: str) -> Module:
    return Module(path=name, about=about, generator="tensors")


def _moves(
    path: str, about: str, shape: tuple[int, ...], cases: tuple[tuple[str, str, Array], ...], element: str = "f32"
) -> Module:
    """A module of functions that move the values of one input: (name, op on %x with result %out, expected)."""
    m = _new(path, about + "\nNumbers: NumPy; values are only moved.")
    m.input("x", shape, element, seed=3, modulus=1009, shift=0)
    kind = "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"
    for name, op, want in cases:
        body = f"%x = call @x() : () -> {kind}\n" + "\n".join(
            " " * 8 + line.strip() for line in op.strip().splitlines()
        )
        m.function(name, " " * 8 + body, {"%out": exactly(want, F32 if element == "f32" else I32)})
    return m


def _x(*shape: int) -> Array:
    return pattern(shape, seed=3, modulus=1009, shift=0)


def _concat() -> Module:
    x = _x(5, 7)
    return _moves("tensor/concat", "tensor.concat along both dimensions, of three operands, and of a part with itself.", (5, 7), (
        ("along_rows", "%out = tensor.concat dim(0) %x, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<10x7xf32>", np.concatenate([x, x], 0)),
        ("along_columns", """%part = tensor.extract_slice %x[0, 1] [5, 3] [1, 1] : tensor<5x7xf32> to tensor<5x3xf32>
            %out = tensor.concat dim(1) %x, %part, %x : (tensor<5x7xf32>, tensor<5x3xf32>, tensor<5x7xf32>) -> tensor<5x17xf32>""",
         np.concatenate([x, x[:, 1:4], x], 1)),
    ))  # fmt: skip


def _pad() -> Module:
    x = _x(6, 9)
    return _moves("tensor/pad", "tensor.pad with zeros, with another value, on one side only, and padding that a later slice removes again.", (6, 9), (
        ("with_zeros", """%zero = arith.constant 0.0 : f32
            %out = tensor.pad %x low[1, 2] high[3, 4] {
            ^bb0(%i: index, %j: index):
              tensor.yield %zero : f32
            } : tensor<6x9xf32> to tensor<10x15xf32>""", np.pad(x, ((1, 3), (2, 4)))),
        ("below_only", """%fill = util.unfoldable_constant -7.5 : f32
            %out = tensor.pad %x low[0, 0] high[2, 0] {
            ^bb0(%i: index, %j: index):
              tensor.yield %fill : f32
            } : tensor<6x9xf32> to tensor<8x9xf32>""", np.pad(x, ((0, 2), (0, 0)), constant_values=-7.5)),
        ("padded_and_sliced", """%zero = arith.constant 0.0 : f32
            %padded = tensor.pad %x low[2, 2] high[2, 2] {
            ^bb0(%i: index, %j: index):
              tensor.yield %zero : f32
            } : tensor<6x9xf32> to tensor<10x13xf32>
            %out = tensor.extract_slice %padded[1, 3] [6, 9] [1, 1] : tensor<10x13xf32> to tensor<6x9xf32>""", np.pad(x, 2)[1:7, 3:12]),
    ))  # fmt: skip


def _slices() -> Module:
    x = _x(11, 13)
    y = x.copy()
    y[2:5, 4:8] = x[7:10, 0:4]
    return _moves("tensor/slices", "tensor.extract_slice and tensor.insert_slice: offsets, a dropped dimension, and a slice written over another part of the same tensor.", (11, 13), (
        ("extract", "%out = tensor.extract_slice %x[3, 5] [4, 6] [1, 1] : tensor<11x13xf32> to tensor<4x6xf32>", x[3:7, 5:11]),
        ("extract_row", "%out = tensor.extract_slice %x[6, 0] [1, 13] [1, 1] : tensor<11x13xf32> to tensor<13xf32>", x[6]),
        ("insert", """%part = tensor.extract_slice %x[7, 0] [3, 4] [1, 1] : tensor<11x13xf32> to tensor<3x4xf32>
            %kept = util.optimization_barrier %part : tensor<3x4xf32>
            %out = tensor.insert_slice %kept into %x[2, 4] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<11x13xf32>""", y),
    ))  # fmt: skip


def _strided_slices() -> Module:
    x = _x(11, 13)
    z = x.copy()
    z[1:9:2, 0:12:3] = x[5:9, 5:9]
    return _moves("tensor/strided-slices", "tensor.extract_slice and tensor.insert_slice with strides.", (11, 13), (
        ("extract_strided", "%out = tensor.extract_slice %x[1, 0] [5, 4] [2, 3] : tensor<11x13xf32> to tensor<5x4xf32>", x[1:11:2, 0:12:3]),
        ("insert_strided", """%part = tensor.extract_slice %x[5, 5] [4, 4] [1, 1] : tensor<11x13xf32> to tensor<4x4xf32>
            %kept = util.optimization_barrier %part : tensor<4x4xf32>
            %out = tensor.insert_slice %kept into %x[1, 0] [4, 4] [2, 3] : tensor<4x4xf32> into tensor<11x13xf32>""", z),
    ))  # fmt: skip


def _reshape() -> Module:
    x = _x(6, 4, 5)
    return _moves("tensor/reshape", "tensor.collapse_shape, tensor.expand_shape, tensor.reshape and unit dimensions put in and taken out.", (6, 4, 5), (
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
    ))  # fmt: skip


def _elements() -> Module:
    x = _x(4, 6)
    return _moves("tensor/elements", "Single elements between host and device: tensor.extract, tensor.from_elements, and linalg.fill with one of them.", (4, 6), (
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
    ))  # fmt: skip


def _bitcast() -> Module:
    m = _new(
        "tensor/bitcast",
        "Reinterpreting bits: arith.bitcast f32 to i32 and back, tensor.bitcast i32 to f32, and zero-sized and rank-zero tensors.\nNumbers: NumPy's view.",
    )
    x = np.array([0.0, 1.0, -1.0, 0.5, 3.1415927, np.inf, -2.5e-30, 65536.0], F32)
    m.function(
        "f32_to_i32",
        "%x = $x\n        %out = arith.bitcast %x : tensor<8xf32> to tensor<8xi32>",
        {"%out": x.view(I32)},
        x=source(x),
    )
    m.function(
        "i32_to_f32",
        "%x = $x\n        %out = tensor.bitcast %x : tensor<8xi32> to tensor<8xf32>",
        {"%out": x},
        x=source(x.view(I32)),
    )
    m.function(
        "rank_zero",
        "%x = $x\n        %out = arith.addf %x, %x : tensor<f32>",
        {"%out": np.array(3.0, F32)},
        x=source(np.array(1.5, F32)),
    )
    m.function("zero_sized", "%x = $x\n        %y = arith.addf %x, %x : tensor<0x3xf32>\n        %z = $z\n        %out = tensor.concat dim(0) %y, %z : (tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>",
               {"%out": np.arange(6, dtype=F32).reshape(2, 3)}, x=source(np.zeros((0, 3), F32)), z=source(np.arange(6, dtype=F32).reshape(2, 3)))  # fmt: skip
    return m


def _pack() -> Module:
    m = _new(
        "tensor/pack",
        "linalg.pack into 8x4 tiles with padding, linalg.unpack back again, and the tiles themselves.\nNumbers: NumPy's pad, reshape and transpose; values are only moved.",
    )
    x = m.input("x", (13, 10), seed=3, modulus=1009, shift=0)
    tiles = np.pad(x, ((0, 3), (0, 2))).reshape(2, 8, 3, 4).transpose(0, 2, 1, 3)
    head = """
        %x = call @x() : () -> tensor<13x10xf32>
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<2x3x8x4xf32>
        %tiles = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %room : tensor<13x10xf32> -> tensor<2x3x8x4xf32>
        """
    m.function("tiles", head, {"%tiles": exactly(tiles, F32)})
    m.function(
        "there_and_back",
        head
        + """%kept = util.optimization_barrier %tiles : tensor<2x3x8x4xf32>
        %empty = tensor.empty() : tensor<13x10xf32>
        %out = linalg.unpack %kept inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %empty : tensor<2x3x8x4xf32> -> tensor<13x10xf32>
        """,
        {"%out": exactly(x, F32)},
    )
    return m


# ---------------------------------------------------------------- dynamic shapes


def _hide(name: str, static: str, dynamic: str) -> str:
    """Call @name and forget its sizes: a slice of everything, whose dynamic sizes the compiler cannot know."""
    sizes = static.removeprefix("tensor<").removesuffix("xf32>").split("x")
    wanted = dynamic.removeprefix("tensor<").removesuffix("xf32>").split("x")
    lines = [f"%{name}_static = call @{name}() : () -> {static}"]
    taken = []
    for d, (size, want) in enumerate(zip(sizes, wanted, strict=True)):
        if want == "?":
            lines.append(f"%{name}_size{d} = util.unfoldable_constant {size} : index")
        taken.append(f"%{name}_size{d}" if want == "?" else size)
    zeros, ones = ", ".join("0" * len(sizes)), ", ".join("1" * len(sizes))
    lines.append(
        f"%{name} = tensor.extract_slice %{name}_static[{zeros}] [{', '.join(taken)}] [{ones}] : {static} to {dynamic}"
    )
    return "\n".join(" " * 8 + line for line in lines) + "\n        "


def _dynamic_matmul() -> Module:
    m = _new(
        "dynamic/matmul",
        "linalg.matmul with all three sizes dynamic (37x53x29 and, through the same function, 1x5x3), and a dynamic batch.\nNumbers: NumPy's matmul in float64, exact in f32.",
    )
    m.verbatim("""
        func.func private @multiply(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %zero = arith.constant 0.0 : f32
          %m = tensor.dim %a, %c0 : tensor<?x?xf32>
          %n = tensor.dim %b, %c1 : tensor<?x?xf32>
          %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
          %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
          %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
          return %c : tensor<?x?xf32>
        }
        """)
    for tag, rows, inner, columns in (("large", 37, 53, 29), ("small", 1, 5, 3)):
        a = m.input(f"a_{tag}", (rows, inner), seed=3)
        b = m.input(f"b_{tag}", (inner, columns), seed=8, modulus=7, shift=3)
        m.function(
            f"matmul_{rows}x{inner}x{columns}",
            _hide(f"a_{tag}", f"tensor<{rows}x{inner}xf32>", "tensor<?x?xf32>")
            + _hide(f"b_{tag}", f"tensor<{inner}x{columns}xf32>", "tensor<?x?xf32>")
            + f"""
        %c = call @multiply(%a_{tag}, %b_{tag}) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
        %out = tensor.cast %c : tensor<?x?xf32> to tensor<{rows}x{columns}xf32>
        """,
            {"%out": exactly(a @ b, F32)},
        )
    return m


def _dynamic_rowwise() -> Module:
    m = _new(
        "dynamic/rowwise",
        "Functions of tensor<?x?xf32>: sums along rows and along columns, an element-wise square, softmax; each called with two shapes.\nNumbers: NumPy in float64, exact in f32; softmax within rtol 2e-5 (exp and a sum in f32), atol 1e-7 for weights near zero.",
    )
    m.verbatim("""
        func.func private @reduce(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %zero = arith.constant 0.0 : f32
          %m = tensor.dim %x, %c0 : tensor<?x?xf32>
          %n = tensor.dim %x, %c1 : tensor<?x?xf32>
          %room_m = tensor.empty(%m) : tensor<?xf32>
          %room_n = tensor.empty(%n) : tensor<?xf32>
          %init_m = linalg.fill ins(%zero : f32) outs(%room_m : tensor<?xf32>) -> tensor<?xf32>
          %init_n = linalg.fill ins(%zero : f32) outs(%room_n : tensor<?xf32>) -> tensor<?xf32>
          %rows = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%init_m : tensor<?xf32>) dimensions = [1]
          %columns = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%init_n : tensor<?xf32>) dimensions = [0]
          return %rows, %columns : tensor<?xf32>, tensor<?xf32>
        }

        func.func private @square(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
          %y = arith.mulf %x, %x : tensor<?x?xf32>
          return %y : tensor<?x?xf32>
        }

        func.func private @weights(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %m = tensor.dim %x, %c0 : tensor<?x?xf32>
          %n = tensor.dim %x, %c1 : tensor<?x?xf32>
          %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
          %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
          return %y : tensor<?x?xf32>
        }
        """)
    for tag, shape in (("wide", (9, 67)), ("thin", (1, 3))):
        x = m.input(tag, shape, seed=3)
        rows, columns = shape
        head = _hide(tag, f"tensor<{rows}x{columns}xf32>", "tensor<?x?xf32>")
        m.function(f"sums_of_{tag}", head + f"""%r:2 = call @reduce(%{tag}) : (tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
        %rows = tensor.cast %r#0 : tensor<?xf32> to tensor<{rows}xf32>
        %columns = tensor.cast %r#1 : tensor<?xf32> to tensor<{columns}xf32>
        """, {"%rows": exactly(x.sum(axis=1), F32), "%columns": exactly(x.sum(axis=0), F32)})  # fmt: skip
        for function, want in (
            ("square", exactly(x * x, F32)),
            ("weights", Approximate(value=softmax(x, 1).astype(F32), atol=1e-7, rtol=2e-5)),
        ):
            m.function(f"{function}_of_{tag}", head + f"""%r = call @{function}(%{tag}) : (tensor<?x?xf32>) -> tensor<?x?xf32>
        %out = tensor.cast %r : tensor<?x?xf32> to tensor<{rows}x{columns}xf32>
        """, {"%out": want})  # fmt: skip
    return m


def _dynamic_slices() -> Module:
    m = _new(
        "dynamic/slices",
        "Offsets and sizes that are known only at run time: extract_slice, insert_slice, concat, pad and reshape of dynamic tensors.\nNumbers: NumPy; values are only moved.",
    )
    x = m.input("x", (11, 8), seed=3, modulus=1009, shift=0)
    head = """
        %x = call @x() : () -> tensor<11x8xf32>
        %three = util.unfoldable_constant 3 : index
        %five = util.unfoldable_constant 5 : index
        """
    y = x.copy()
    y[5:8, :] = x[3:6, :]
    cases = (
        (
            "extract",
            "%part = tensor.extract_slice %x[%three, 2] [%five, 4] [1, 1] : tensor<11x8xf32> to tensor<?x4xf32>\n        %out = tensor.cast %part : tensor<?x4xf32> to tensor<5x4xf32>",
            x[3:8, 2:6],
        ),
        (
            "insert",
            "%part = tensor.extract_slice %x[%three, 0] [3, 8] [1, 1] : tensor<11x8xf32> to tensor<3x8xf32>\n        %kept = util.optimization_barrier %part : tensor<3x8xf32>\n        %out = tensor.insert_slice %kept into %x[%five, 0] [3, 8] [1, 1] : tensor<3x8xf32> into tensor<11x8xf32>",
            y,
        ),
        (
            "concat",
            "%a = tensor.extract_slice %x[0, 0] [%three, 8] [1, 1] : tensor<11x8xf32> to tensor<?x8xf32>\n        %b = tensor.extract_slice %x[4, 0] [%five, 8] [1, 1] : tensor<11x8xf32> to tensor<?x8xf32>\n        %c = tensor.concat dim(0) %a, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>\n        %out = tensor.cast %c : tensor<?x8xf32> to tensor<8x8xf32>",
            np.concatenate([x[:3], x[4:9]]),
        ),
        (
            "pad",
            "%zero = arith.constant 0.0 : f32\n        %p = tensor.pad %x low[%three, 0] high[0, %five] {\n        ^bb0(%i: index, %j: index):\n          tensor.yield %zero : f32\n        } : tensor<11x8xf32> to tensor<?x?xf32>\n        %out = tensor.cast %p : tensor<?x?xf32> to tensor<14x13xf32>",
            np.pad(x, ((3, 0), (0, 5))),
        ),
    )
    for name, body, want in cases:
        m.function(name, head + body, {"%out": exactly(want, F32)})
    m.function("collapse", _hide("x", "tensor<11x8xf32>", "tensor<?x8xf32>") + """%flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
        %doubled = arith.addf %flat, %flat : tensor<?xf32>
        %out = tensor.cast %doubled : tensor<?xf32> to tensor<88xf32>
        """, {"%out": exactly(x.reshape(-1) * 2, F32)})  # fmt: skip
    return m


def _dynamic_sizes(*, empty: bool) -> Module:
    path, what = ("dynamic/empty", "zero") if empty else ("dynamic/sizes", "one and 201")
    m = _new(
        path,
        f"A dynamic size that turns out to be {what}: element-wise work and reductions.\nNumbers by hand: a sum over nothing is 0, a maximum over nothing is minus infinity, and what is empty stays empty.",
    )
    m.verbatim("""
        func.func private @doubled(%n: index) -> tensor<?xf32> {
          %one = util.unfoldable_constant 1.0 : f32
          %empty = tensor.empty(%n) : tensor<?xf32>
          %ones = linalg.fill ins(%one : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
          %twos = arith.addf %ones, %ones : tensor<?xf32>
          return %twos : tensor<?xf32>
        }
        """)
    for name, size in (("nothing", 0),) if empty else (("one", 1), ("two_hundred_and_one", 201)):
        m.function(
            f"reduce_{name}",
            """
            %n = util.unfoldable_constant $size : index
            %x = call @doubled(%n) : (index) -> tensor<?xf32>
            %zero = arith.constant 0.0 : f32
            %lowest = arith.constant 0xFF800000 : f32
            %room = tensor.empty() : tensor<f32>
            %init = linalg.fill ins(%zero : f32) outs(%room : tensor<f32>) -> tensor<f32>
            %init_max = linalg.fill ins(%lowest : f32) outs(%room : tensor<f32>) -> tensor<f32>
            %sum = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) dimensions = [0]
            %max = linalg.reduce { arith.maximumf } ins(%x : tensor<?xf32>) outs(%init_max : tensor<f32>) dimensions = [0]
            """,
            {"%sum": np.array(2.0 * size, F32), "%max": np.array(2.0 if size else -np.inf, F32)},
            size=str(size),
        )
    if not empty:
        return m
    m.function(
        "elements_of_nothing",
        """
        %n = util.unfoldable_constant 0 : index
        %x = call @doubled(%n) : (index) -> tensor<?xf32>
        %out = tensor.cast %x : tensor<?xf32> to tensor<0xf32>
        """,
        {"%out": np.zeros(0, F32)},
    )
    return m


def _dynamic_loop() -> Module:
    m = _new(
        "dynamic/growing-loop",
        "A while loop whose tensor grows: each turn appends a copy of itself, so that the shape differs from turn to turn.\nNumbers by hand: three doublings of [1, 2] give 16 elements, 1 and 2 in turn; and a sum of 24.",
    )
    m.verbatim("""
        func.func @grows() {
          %c0 = arith.constant 0 : index
          %limit = util.unfoldable_constant 10 : index
          %x = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
          %start = tensor.cast %x : tensor<2xi32> to tensor<?xi32>
          %end = scf.while (%value = %start) : (tensor<?xi32>) -> tensor<?xi32> {
            %size = tensor.dim %value, %c0 : tensor<?xi32>
            %more = arith.cmpi ult, %size, %limit : index
            scf.condition(%more) %value : tensor<?xi32>
          } do {
          ^bb0(%value: tensor<?xi32>):
            %next = tensor.concat dim(0) %value, %value : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
            scf.yield %next : tensor<?xi32>
          }
          %zero = arith.constant 0 : i32
          %room = tensor.empty() : tensor<i32>
          %init = linalg.fill ins(%zero : i32) outs(%room : tensor<i32>) -> tensor<i32>
          %sum = linalg.reduce { arith.addi } ins(%end : tensor<?xi32>) outs(%init : tensor<i32>) dimensions = [0]
          check.expect_eq_const(%sum, dense<24> : tensor<i32>) : tensor<i32>
          %out = tensor.cast %end : tensor<?xi32> to tensor<16xi32>
          check.expect_eq_const(%out, dense<[1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]> : tensor<16xi32>) : tensor<16xi32>
          return
        }
        """)
    return m


# ---------------------------------------------------------------- iree_linalg_ext


# These ops write over their `outs` operand. Constants are shared between the functions of a module and IREE 3.13.0 lets the
# ops write over them in place, so that every operand here is first made by an addition of zeros that the compiler cannot see.


def _fresh(name: str, value: Array) -> str:
    zeros = source(np.zeros_like(value))
    add = "addf" if value.dtype.kind == "f" else "addi"
    return f"""%{name}_data = {source(value)}
        %{name}_zeros = {zeros}
        %{name} = arith.{add} %{name}_data, %{name}_zeros : {type_of(value)}"""


def _sort() -> Module:
    m = _new(
        "linalg-ext/sort",
        "iree_linalg_ext.sort of integers and of floats, up and down, along rows, and keys that carry values with them.\nNumbers: NumPy's sort and argsort; all keys differ.",
    )
    keys = ((np.arange(40) * 27 + 11) % 41).astype(I32)
    values = (np.arange(40) * 10).astype(I32)
    order = np.argsort(keys)
    m.function(
        "up", "$x" + _sorted("tensor<40xi32>", "arith.cmpi slt", "i32"), {"%out": np.sort(keys)}, x=_fresh("x", keys)
    )
    m.function(
        "down",
        "$x" + _sorted("tensor<40xf32>", "arith.cmpf ogt", "f32"),
        {"%out": np.sort(keys.astype(F32))[::-1]},
        x=_fresh("x", keys.astype(F32)),
    )
    rows = keys.reshape(5, 8)
    m.function(
        "along_rows",
        "$x" + _sorted("tensor<5x8xi32>", "arith.cmpi slt", "i32", 1),
        {"%out": np.sort(rows, axis=1)},
        x=_fresh("x", rows),
    )
    m.function(
        "keys_with_values",
        """
        $k
        $v
        %out:2 = iree_linalg_ext.sort dimension(0) outs(%k, %v : tensor<40xi32>, tensor<40xi32>) {
        ^bb0(%a: i32, %b: i32, %va: i32, %vb: i32):
          %first = arith.cmpi slt, %a, %b : i32
          iree_linalg_ext.yield %first : i1
        } -> tensor<40xi32>, tensor<40xi32>
        """,
        {"%out#0": keys[order], "%out#1": values[order]},
        k=_fresh("k", keys), v=_fresh("v", values),
    )  # fmt: skip
    return m


def _sorted(kind: str, compare: str, element: str, dimension: int = 0) -> str:
    return f"""
        %out = iree_linalg_ext.sort dimension({dimension}) outs(%x : {kind}) {{
        ^bb0(%a: {element}, %b: {element}):
          %first = {compare}, %a, %b : {element}
          iree_linalg_ext.yield %first : i1
        }} -> {kind}
        """


def _scatter() -> Module:
    m = _new(
        "linalg-ext/scatter",
        "iree_linalg_ext.scatter: elements and whole rows written to unique places, and updates that are added where places repeat.\nNumbers: NumPy's indexed assignment and np.add.at.",
    )
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
        m.function(name, template, {"%out": want}, base=_fresh("base", base), updates=source(updates), places=source(places), ut=type_of(updates),
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
    return m


def _scan() -> Module:
    m = _new(
        "linalg-ext/scan",
        "iree_linalg_ext.scan: inclusive and exclusive prefix sums, a running product, and prefix sums along the first dimension.\nNumbers: NumPy's cumsum and cumprod, exact integers.",
    )
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
        m.function(
            name,
            template,
            {"%out#0": want},
            x=source(values),
            start=source(start),
            t=type_of(values),
            st=type_of(start),
            inclusive=inclusive,
            op=op,
        )
    return m


def _topk() -> Module:
    m = _new(
        "linalg-ext/topk",
        "iree_linalg_ext.topk: the three largest values of each row with their positions.\nNumbers: NumPy's argsort of the negated rows; all values of a row differ.",
    )
    x = ((np.arange(4 * 19).reshape(4, 19) * 31 + 7) % 79).astype(F32)
    order = np.argsort(-x, axis=1)[:, :3]
    m.function(
        "three_of_nineteen",
        """
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
        """,
        {"%out#0": np.take_along_axis(x, order, axis=1), "%out#1": order.astype(I32)},
        x=source(x),
    )
    return m


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        _concat(), _pad(), _slices(), _strided_slices(), _reshape(), _elements(), _bitcast(), _pack(),
        _dynamic_matmul(), _dynamic_rowwise(), _dynamic_slices(), _dynamic_sizes(empty=True), _dynamic_sizes(empty=False), _dynamic_loop(),
        _sort(), _scatter(), _scan(), _topk(),
    ]  # fmt: skip
