"""The suite `dynamic`: dynamic shapes."""

from __future__ import annotations

import numpy as np

from generator.support import Approximate, Module, exactly, module
from generator.support.reference import softmax

F32 = np.float32
I32 = np.int32


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


@module("dynamic/matmul")
def _matmul(m: Module) -> None:
    """linalg.matmul with all three sizes dynamic (37x53x29 and, through the same function, 1x5x3), and a dynamic batch.
    Numbers: NumPy's matmul in float64, exact in f32.
    """
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


@module("dynamic/rowwise")
def _rowwise(m: Module) -> None:
    """Functions of tensor<?x?xf32>: sums along rows and along columns, an element-wise square, softmax; each called with two shapes.
    Numbers: NumPy in float64, exact in f32; softmax within rtol 2e-5 (exp and a sum in f32), atol 1e-7 for weights near zero.
    """
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


@module("dynamic/slices")
def _slices(m: Module) -> None:
    """Offsets and sizes that are known only at run time: extract_slice, insert_slice, concat, pad and reshape of dynamic tensors.
    Numbers: NumPy; values are only moved.
    """
    x = m.input("x", (11, 8), seed=3, modulus=1009, shift=0)
    head = """
        %x = @x
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


@module("dynamic/empty", True)
@module("dynamic/sizes", False)
def _sizes(m: Module, empty: bool) -> None:
    m.about = (
        f"A dynamic size that turns out to be {'zero' if empty else 'one and 201'}: element-wise work and reductions.\n"
        "Numbers by hand: a sum over nothing is 0, a maximum over nothing is minus infinity, and what is empty stays empty."
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
            size=size,
        )
    if not empty:
        return
    m.function(
        "elements_of_nothing",
        """
        %n = util.unfoldable_constant 0 : index
        %x = call @doubled(%n) : (index) -> tensor<?xf32>
        %out = tensor.cast %x : tensor<?xf32> to tensor<0xf32>
        """,
        {"%out": np.zeros(0, F32)},
    )


@module("dynamic/growing-loop")
def _loop(m: Module) -> None:
    """A while loop whose tensor grows: each turn appends a copy of itself, so that the shape differs from turn to turn.
    Numbers by hand: three doublings of [1, 2] give 16 elements, 1 and 2 in turn; and a sum of 24.
    """
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
