"""The suite `small-types`: integers of 1, 2 and 4 bits that are packed, floats of 4, 6 and 8 bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from generator.support import Approximate, Array, Module, applied, each, module
from generator.support.arrays import NAMES, type_of

_DTYPES = {name: np.dtype(getattr(ml_dtypes, dtype)) for dtype, name in NAMES.items() if hasattr(ml_dtypes, dtype)}


def _same(value: Array) -> Approximate:
    """Expect equal numbers, where a NaN is equal to a NaN."""
    return Approximate(value=value)


# ---------------------------------------------------------------- integers


@each("small-types/{0}", "i4", "i2")
def _integers(m: Module, element: str) -> None:
    dtype, bits = _DTYPES[element], int(element[1:])
    m.about = (
        f"{element}, packed {8 // bits} to a byte: constants, conversions, arithmetic that wraps, comparison, transposition.\n"
        f"Numbers: NumPy in int32, wrapped to {bits} bits; exact."
    )
    every = np.arange(-(1 << bits - 1), 1 << bits - 1).astype(np.int32)
    x, y = np.resize(every, 16), np.resize(every[::-1], 16).copy()
    y[::3] = every[0]
    small, other = x.astype(dtype), y.astype(dtype)
    kinds = (type_of(small), type_of(other))
    wide = np.arange(-40, 40, 5).astype(np.int32)
    m.function("constants", "%out = util.optimization_barrier %x : " + kinds[0], {"%out": small}, x=small)
    m.elementwise("extend_signed", f"arith.extsi %a : {element} to i32", x, small)
    m.elementwise("extend_unsigned", f"arith.extui %a : {element} to i32", x & (1 << bits) - 1, small)
    m.elementwise("truncate", f"arith.trunci %a : i32 to {element}", wide.astype(dtype), wide)
    m.elementwise("to_float", f"arith.sitofp %a : {element} to f32", x.astype(np.float32), small)
    m.elementwise("from_float", f"arith.fptosi %a : f32 to {element}", small, x.astype(np.float32))
    for name, op, want in (("add", "addi", x + y), ("subtract", "subi", x - y), ("multiply", "muli", x * y)):
        m.elementwise(name, f"arith.{op} %a, %b", want.astype(dtype), small, other)
    m.elementwise("maximum", "arith.maxsi %a, %b", np.maximum(x, y).astype(dtype), small, other)
    m.elementwise("less", f"arith.cmpi slt, %a, %b : {element}", x < y, small, other)
    rows = np.resize(every, (4, 8)).astype(dtype)
    body = f"""
        %empty = tensor.empty() : {type_of(rows.T)}
        %out = linalg.transpose ins(%x : {type_of(rows)}) outs(%empty : {type_of(rows.T)}) permutation = [1, 0]
        """
    m.function("transpose", body, {"%out": np.ascontiguousarray(rows.T)}, x=rows)
    bytes_ = (np.arange(16) * 17 + 3).astype(np.uint8).view(np.int8)
    per_byte = 8 // bits
    raw = bytes_.view(np.uint8)[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)
    unpacked = raw.reshape(-1).astype(np.int8).astype(dtype).astype(np.int32)
    m.function(
        "bytes_hold_the_first_element_in_their_lowest_bits",
        f"""
        %cast = flow.tensor.bitcast %bytes : tensor<16xi8> -> tensor<{16 * per_byte}x{element}>
        %x = util.optimization_barrier %cast : tensor<{16 * per_byte}x{element}>
        """
        + applied(f"arith.extsi %a : {element} to i32", type_of(unpacked), f"tensor<{16 * per_byte}x{element}>"),
        {"%out": unpacked},
        bytes=bytes_,
    )


@module("small-types/i4-matmul")
def _matmul(m: Module) -> None:
    """Weights of i4 with a scale per column, dequantised to f32 and fed to an f32 matmul; and a matmul of i4 accumulated in i32.
    Numbers: NumPy in float64 (multiples of 1/8 well below 2^24, exact in f32) and in int64.
    """
    x = (np.arange(6 * 16).reshape(6, 16) * 7 % 11 - 5).astype(np.float32)
    weights = (np.arange(16 * 8).reshape(16, 8) * 5 % 16 - 8).astype(ml_dtypes.int4)
    numbers = weights.astype(np.float64)
    scales = (2.0 ** (np.arange(8) % 4 - 3)).astype(np.float32)
    body = """
        %zero = arith.constant 0.0 : f32
        %room = tensor.empty() : tensor<16x8xf32>
        %wide = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
            iterator_types = ["parallel", "parallel"]} ins(%w, %scales : tensor<16x8xi4>, tensor<8xf32>) outs(%room : tensor<16x8xf32>) {
        ^bb0(%q: i4, %s: f32, %unused: f32):
          %float = arith.sitofp %q : i4 to f32
          %r = arith.mulf %float, %s : f32
          linalg.yield %r : f32
        } -> tensor<16x8xf32>
        %empty = tensor.empty() : tensor<6x8xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<6x8xf32>) -> tensor<6x8xf32>
        %c = linalg.matmul ins(%x, %wide : tensor<6x16xf32>, tensor<16x8xf32>) outs(%init : tensor<6x8xf32>) -> tensor<6x8xf32>
        """
    m.function(
        "weight_only",
        body,
        {"%c": (x.astype(np.float64) @ (numbers * scales)).astype(np.float32)},
        x=x,
        w=weights,
        scales=scales,
    )
    left = (np.arange(6 * 16).reshape(6, 16) * 3 % 16 - 8).astype(ml_dtypes.int4)
    body = """
        %init = filled 0 : tensor<6x8xi32>
        %c = linalg.matmul ins(%a, %b : tensor<6x16xi4>, tensor<16x8xi4>) outs(%init : tensor<6x8xi32>) -> tensor<6x8xi32>
        """
    m.function("accumulated_in_i32", body, {"%c": left.astype(np.int32) @ weights.astype(np.int32)}, a=left, b=weights)


@module("small-types/i4-odd")
def _odd(m: Module) -> None:
    """An odd number of i4: the last byte is half used.
    Numbers: as written.
    """
    x = np.array([1, -2, 3, -8, 7], ml_dtypes.int4)
    m.elementwise("extend_five", "arith.extsi %a : i4 to i32", x.astype(np.int32), x)


@module("small-types/i4-dynamic")
def _dynamic(m: Module) -> None:
    """A dynamic number of i4.
    Numbers: as written.
    """
    x = np.array([1, -2, 3, -8, 7, 0, -1, 5], ml_dtypes.int4)
    body = """
        %count = util.unfoldable_constant 4 : index
        %first = tensor.extract_slice %x[0] [%count] [1] : tensor<8xi4> to tensor<?xi4>
        %wide = arith.extsi %first : tensor<?xi4> to tensor<?xi32>
        %out = tensor.cast %wide : tensor<?xi32> to tensor<4xi32>
        """
    m.function("extend_the_first_four", body, {"%out": x[:4].astype(np.int32)}, x=x)


@module("small-types/i1")
def _booleans(m: Module) -> None:
    """i1, a byte each, in any number; and packed, 8 to a byte, with the encoding #iree_encoding.packed_storage.
    Numbers: NumPy's logical operations.
    """
    x, y = np.arange(13) % 3 == 0, np.arange(13) % 2 == 0
    m.elementwise("exclusive_or_of_13", "arith.xori %a, %b", x ^ y, x, y)
    m.elementwise("extend_13", "arith.extui %a : i1 to i32", x.astype(np.int32), x)


@module("small-types/i1-packed")
def _packed_booleans(m: Module) -> None:
    """i1 packed 8 to a byte, with the encoding #iree_encoding.packed_storage.
    Numbers: NumPy's bitwise operations on bytes.
    """
    left, right = np.array([0x55, 0x0F], np.uint8).view(np.int8), np.array([0x33, 0xFE], np.uint8).view(np.int8)
    packed = "tensor<16xi1, #iree_encoding.packed_storage>"
    body = f"""
        %a = flow.tensor.bitcast %left : tensor<2xi8> -> {packed}
        %b = flow.tensor.bitcast %right : tensor<2xi8> -> {packed}
        %empty = tensor.empty() : {packed}
        %c = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
            ins(%a, %b : {packed}, {packed}) outs(%empty : {packed}) {{
        ^bb0(%x: i1, %y: i1, %unused: i1):
          %r = arith.xori %x, %y : i1
          linalg.yield %r : i1
        }} -> {packed}
        %out = flow.tensor.bitcast %c : {packed} -> tensor<2xi8>
        """
    m.function("exclusive_or", body, {"%out": left ^ right}, left=left, right=right)


# ---------------------------------------------------------------- floats

_FROM = (0.0, 1.0, -1.5, 0.5, 6.0, -4.0, 0.3, 1.0625, 1.1875, 2.5, 3.5, -0.07, 5.0, 0.01, 2.9, -3.1)


_PASSED = ("f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU")
"""The types that IREE's runtime knows, so that a check can look at them."""


@each("small-types/{0}", *_PASSED, "f8E4M3", "f8E3M4", "f8E4M3B11FNUZ", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN")
def _floats(m: Module, element: str) -> None:
    is_passed = element in _PASSED
    dtype, bits = _DTYPES[element], int(element[1])
    stays = (
        "" if is_passed else " IREE 3.13 has it inside a module only: it comes from bytes and leaves as f32 or bytes."
    )
    m.about = (
        f"{element}: every code as f32, rounding from f32 to nearest even, arithmetic.{stays}\n"
        "Numbers: ml_dtypes' conversions; arithmetic in f32 or wider, rounded once."
    )
    per_byte = 2 if bits == 4 else 1
    codes = np.arange(1 << bits, dtype=np.uint8)
    every = codes.view(dtype).astype(np.float32)
    packed = codes if per_byte == 1 else (codes[::2] | codes[1::2] << 4).astype(np.uint8)
    kind = f"tensor<{len(codes)}x{element}>"
    body = f"""
        %cast = flow.tensor.bitcast %bytes : {type_of(packed.view(np.int8))} -> {kind}
        %x = util.optimization_barrier %cast : {kind}
        """
    extended = applied(f"arith.extf %a : {element} to f32", type_of(every), kind)
    m.function("every_code_to_f32", body + extended, {"%out": _same(every)}, bytes=packed.view(np.int8))
    wide = np.array(_FROM, np.float32)
    if element == "f8E8M0FNU":  # powers of two: how others are rounded, IREE and ml_dtypes do not agree
        wide = np.float32(2) ** np.arange(-8, 8, dtype=np.float32)
    rounded = wide.astype(dtype)
    narrowed = applied(f"arith.truncf %a : f32 to {element}", type_of(rounded), type_of(wide))
    back = f"""
        %kept = util.optimization_barrier %out : {type_of(rounded)}
        %wide = arith.extf %kept : {type_of(rounded)} to {type_of(wide)}
        """
    m.function("round_from_f32", narrowed + back, {"%wide": _same(rounded.astype(np.float32))}, x=wide)
    raw = rounded.view(np.uint8)
    raw = raw if per_byte == 1 else (raw[::2] | raw[1::2] << 4).astype(np.uint8)
    as_bytes = f"%bytes = flow.tensor.bitcast %out : {type_of(rounded)} -> {type_of(raw.view(np.int8))}\n"
    m.function("bytes_of_what_is_rounded", narrowed + as_bytes, {"%bytes": raw.view(np.int8)}, x=wide)
    if not is_passed:
        return
    m.function("constants", f"%out = util.optimization_barrier %x : {type_of(rounded)}", {"%out": rounded}, x=rounded)
    other = rounded[::-1].copy()
    if element != "f8E8M0FNU":
        summed = (rounded.astype(np.float32) + other.astype(np.float32)).astype(dtype)
        m.elementwise("add", "arith.addf %a, %b", summed, rounded, other)
    product = (rounded.astype(np.float32) * other.astype(np.float32)).astype(dtype)
    m.elementwise("multiply", "arith.mulf %a, %b", product, rounded, other)
