"""linalg on tensors: convolutions and pooling."""

from __future__ import annotations

import numpy as np

from .ir import Module, exactly, source
from .reference import conv2d, depthwise, pool

__all__ = ["modules"]

F32 = np.float32


def _new(name: str, about: str) -> Module:
    return Module(path=f"linalg/{name}", about=about, generator="convolutions")


def _conv2d_nhwc() -> Module:
    m = _new(
        "conv2d-nhwc",
        "linalg.conv_2d_nhwc_hwcf: stride one, stride two, dilation two, a 1x1 kernel, and a batch of two.\nNumbers: NumPy, the sum over shifted views of the image in float64; exact in f32.",
    )
    image = m.input("image", (1, 13, 15, 5), seed=1)
    kernel = m.input("kernel", (3, 3, 5, 6), seed=2, modulus=7, shift=3)
    point = m.input("point", (1, 1, 5, 7), seed=3, modulus=7, shift=3)
    pair = m.input("pair", (2, 7, 6, 3), seed=4)
    wide = m.input("wide", (2, 3, 3, 8), seed=5, modulus=7, shift=3)
    cases = (
        ("stride_one", "image", image, "kernel", kernel, 1, 1),
        ("stride_two", "image", image, "kernel", kernel, 2, 1),
        ("dilation_two", "image", image, "kernel", kernel, 1, 2),
        ("pointwise", "image", image, "point", point, 1, 1),
        ("batch_of_two", "pair", pair, "wide", wide, 1, 1),
    )
    for name, i_name, i, k_name, k, stride, dilation in cases:
        out = exactly(conv2d(i, k, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @$i() : () -> tensor<${it}xf32>
            %kernel = call @$k() : () -> tensor<${kt}xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<${it}xf32>, tensor<${kt}xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            i=i_name, k=k_name, s=str(stride), d=str(dilation), it=shape(i), kt=shape(k), ot=shape(out),
        )  # fmt: skip
    return m


def _conv2d_nchw() -> Module:
    m = _new(
        "conv2d-nchw",
        "linalg.conv_2d_nchw_fchw, the layout of PyTorch and ONNX, with stride one and stride two.\nNumbers: NumPy, the sum over shifted views in float64 after moving the channels last; exact in f32.",
    )
    image = m.input("image", (1, 4, 14, 11), seed=1)
    kernel = m.input("kernel", (6, 4, 3, 3), seed=2, modulus=7, shift=3)
    for name, stride in (("stride_one", 1), ("stride_two", 2)):
        nhwc = conv2d(image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0), stride)
        out = exactly(nhwc.transpose(0, 3, 1, 2), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x4x14x11xf32>
            %kernel = call @kernel() : () -> tensor<6x4x3x3xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<1x4x14x11xf32>, tensor<6x4x3x3xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), ot=shape(out),
        )  # fmt: skip
    return m


def _conv1d() -> Module:
    m = _new(
        "conv1d",
        "linalg.conv_1d_nwc_wcf, and a one-dimensional filter written as a linalg.generic with an affine sum in its map.\nNumbers: NumPy, the sum over shifted views in float64; exact in f32.",
    )
    signal = m.input("signal", (2, 37, 3), seed=1)
    kernel = m.input("kernel", (5, 3, 4), seed=2, modulus=7, shift=3)
    views = np.stack([signal[:, w : w + 33, :] for w in range(5)], axis=2)
    m.function(
        "conv_1d_nwc_wcf",
        """
        %signal = call @signal() : () -> tensor<2x37x3xf32>
        %kernel = call @kernel() : () -> tensor<5x3x4xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<2x33x4xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
        %out = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
          ins(%signal, %kernel : tensor<2x37x3xf32>, tensor<5x3x4xf32>) outs(%init : tensor<2x33x4xf32>) -> tensor<2x33x4xf32>
        """,
        {"%out": exactly(np.einsum("nxwc,wcf->nxf", views, kernel), F32)},
    )
    line = m.input("line", (64,), seed=3)
    taps = np.array([0.25, 0.5, 0.25])
    m.function(
        "smoothing_filter",
        """
        %line = call @line() : () -> tensor<64xf32>
        %taps = $taps
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<62xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<62xf32>) -> tensor<62xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
            iterator_types = ["parallel", "reduction"]} ins(%line, %taps : tensor<64xf32>, tensor<3xf32>) outs(%init : tensor<62xf32>) {
        ^bb0(%x: f32, %t: f32, %sum: f32):
          %product = arith.mulf %x, %t : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<62xf32>
        """,
        {"%out": exactly(sum(taps[k] * line[k : k + 62] for k in range(3)), F32)},
        taps=source(taps.astype(F32)),
    )
    return m


def _depthwise() -> Module:
    m = _new(
        "depthwise-conv2d",
        "linalg.depthwise_conv_2d_nhwc_hwc with stride and dilation, and the form with a channel multiplier.\nNumbers: NumPy, per channel the sum over shifted views in float64; exact in f32.",
    )
    image = m.input("image", (1, 12, 13, 18), seed=1)
    kernel = m.input("kernel", (3, 3, 18), seed=2, modulus=7, shift=3)
    for name, stride, dilation in (("stride_one", 1, 1), ("stride_two", 2, 1), ("dilation_two", 1, 2)):
        out = exactly(depthwise(image, kernel, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x12x13x18xf32>
            %kernel = call @kernel() : () -> tensor<3x3x18xf32>
            %zero = arith.constant 0.0 : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %kernel : tensor<1x12x13x18xf32>, tensor<3x3x18xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), d=str(dilation), ot=shape(out),
        )  # fmt: skip
    small = m.input("small", (1, 6, 7, 3), seed=3)
    many = m.input("many", (3, 3, 3, 2), seed=4, modulus=7, shift=3)
    m.function(
        "channel_multiplier",
        """
        %image = call @small() : () -> tensor<1x6x7x3xf32>
        %kernel = call @many() : () -> tensor<3x3x3x2xf32>
        %zero = arith.constant 0.0 : f32
        %empty = tensor.empty() : tensor<1x4x5x3x2xf32>
        %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
        %out = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
          ins(%image, %kernel : tensor<1x6x7x3xf32>, tensor<3x3x3x2xf32>) outs(%init : tensor<1x4x5x3x2xf32>) -> tensor<1x4x5x3x2xf32>
        """,
        {"%out": exactly(np.stack([depthwise(small, many[..., k]) for k in range(2)], axis=-1), F32)},
    )
    return m


def _pooling(kind: str, op: str, start: str) -> Module:
    m = _new(
        f"pooling-{kind}",
        f"linalg.{op}: overlapping windows, windows side by side, dilated windows, and one window over all.\nNumbers: NumPy, {kind} over shifted views in float64; exact in f32.",
    )
    image = m.input("image", (1, 12, 14, 6), seed=1, modulus=101, shift=50)
    cases = (
        ("overlapping", (3, 3), 1, 1),
        ("side_by_side", (2, 2), 2, 1),
        ("dilated", (2, 3), 1, 2),
        ("over_all", (12, 14), 1, 1),
    )
    for name, window, stride, dilation in cases:
        out = exactly(pool(image, window, kind, stride, dilation), F32)
        m.function(
            name,
            """
            %image = call @image() : () -> tensor<1x12x14x6xf32>
            %window = tensor.empty() : tensor<${wt}xf32>
            %start = arith.constant $start : f32
            %empty = tensor.empty() : tensor<${ot}xf32>
            %init = linalg.fill ins(%start : f32) outs(%empty : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            %out = linalg.$op {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %window : tensor<1x12x14x6xf32>, tensor<${wt}xf32>) outs(%init : tensor<${ot}xf32>) -> tensor<${ot}xf32>
            """,
            {"%out": out},
            s=str(stride), d=str(dilation), ot=shape(out), wt=f"{window[0]}x{window[1]}", start=start, op=op,
        )  # fmt: skip
    return m


def shape(value: np.ndarray) -> str:
    """Write a shape as MLIR does: `2x3`."""
    return "x".join(str(size) for size in value.shape)


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        _conv2d_nhwc(),
        _conv2d_nchw(),
        _conv1d(),
        _depthwise(),
        _pooling("max", "pooling_nhwc_max", "0xFF800000"),
        _pooling("min", "pooling_nhwc_min", "0x7F800000"),
        _pooling("sum", "pooling_nhwc_sum", "0.0"),
    ]
