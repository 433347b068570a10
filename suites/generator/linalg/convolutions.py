"""linalg on tensors: convolutions and pooling."""

from __future__ import annotations

import numpy as np

from generator.support import Module, exactly, module, type_of
from generator.support.products import convolution
from generator.support.reference import conv2d, depthwise, pool

F32 = np.float32


@module("linalg/conv2d-nhwc")
def _conv2d_nhwc(m: Module) -> None:
    """linalg.conv_2d_nhwc_hwcf: stride one, stride two, dilation two, a 1x1 kernel, and a batch of two.
    Numbers: NumPy, the sum over shifted views of the image in float64; exact in f32.
    """
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
        want = exactly(conv2d(i, k, stride, dilation), F32)
        convolution(m, name, "conv_2d_nhwc_hwcf", want, i_name, k_name, stride=stride, dilation=dilation)


@module("linalg/conv2d-nchw")
def _conv2d_nchw(m: Module) -> None:
    """linalg.conv_2d_nchw_fchw, the layout of PyTorch and ONNX, with stride one and stride two.
    Numbers: NumPy, the sum over shifted views in float64 after moving the channels last; exact in f32.
    """
    image = m.input("image", (1, 4, 14, 11), seed=1)
    kernel = m.input("kernel", (6, 4, 3, 3), seed=2, modulus=7, shift=3)
    for name, stride in (("stride_one", 1), ("stride_two", 2)):
        nhwc = conv2d(image.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0), stride)
        want = exactly(nhwc.transpose(0, 3, 1, 2), F32)
        convolution(m, name, "conv_2d_nchw_fchw", want, stride=stride)


@module("linalg/conv1d")
def _conv1d(m: Module) -> None:
    """linalg.conv_1d_nwc_wcf, and a one-dimensional filter written as a linalg.generic with an affine sum in its map.
    Numbers: NumPy, the sum over shifted views in float64; exact in f32.
    """
    signal = m.input("signal", (2, 37, 3), seed=1)
    kernel = m.input("kernel", (5, 3, 4), seed=2, modulus=7, shift=3)
    views = np.stack([signal[:, w : w + 33, :] for w in range(5)], axis=2)
    want = exactly(np.einsum("nxwc,wcf->nxf", views, kernel), F32)
    convolution(m, "conv_1d_nwc_wcf", "conv_1d_nwc_wcf", want, "signal", axes=1)
    line = m.input("line", (64,), seed=3)
    taps = np.array([0.25, 0.5, 0.25])
    body = """
        %line = @line
        %taps = $taps
        %init = filled 0.0 : tensor<62xf32>
        %out = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
            iterator_types = ["parallel", "reduction"]} ins(%line, %taps : tensor<64xf32>, tensor<3xf32>) outs(%init : tensor<62xf32>) {
        ^bb0(%x: f32, %t: f32, %sum: f32):
          %product = arith.mulf %x, %t : f32
          %next = arith.addf %sum, %product : f32
          linalg.yield %next : f32
        } -> tensor<62xf32>
        """
    m.function(
        "smoothing_filter",
        body,
        {"%out": exactly(sum(taps[k] * line[k : k + 62] for k in range(3)), F32)},
        taps=taps.astype(F32),
    )


@module("linalg/depthwise-conv2d")
def _depthwise(m: Module) -> None:
    """linalg.depthwise_conv_2d_nhwc_hwc with stride and dilation, and the form with a channel multiplier.
    Numbers: NumPy, per channel the sum over shifted views in float64; exact in f32.
    """
    image = m.input("image", (1, 12, 13, 18), seed=1)
    kernel = m.input("kernel", (3, 3, 18), seed=2, modulus=7, shift=3)
    for name, stride, dilation in (("stride_one", 1, 1), ("stride_two", 2, 1), ("dilation_two", 1, 2)):
        want = exactly(depthwise(image, kernel, stride, dilation), F32)
        convolution(m, name, "depthwise_conv_2d_nhwc_hwc", want, stride=stride, dilation=dilation)
    small = m.input("small", (1, 6, 7, 3), seed=3)
    many = m.input("many", (3, 3, 3, 2), seed=4, modulus=7, shift=3)
    want = exactly(np.stack([depthwise(small, many[..., k]) for k in range(2)], axis=-1), F32)
    convolution(m, "channel_multiplier", "depthwise_conv_2d_nhwc_hwcm", want, "small", "many")


@module("linalg/pooling-max", "max", "0xFF800000")
@module("linalg/pooling-min", "min", "0x7F800000")
@module("linalg/pooling-sum", "sum", "0.0")
def _pooling(m: Module, kind: str, start: str) -> None:
    op = f"pooling_nhwc_{kind}"
    m.about = (
        f"linalg.{op}: overlapping windows, windows side by side, dilated windows, and one window over all.\n"
        f"Numbers: NumPy, {kind} over shifted views in float64; exact in f32."
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
        body = """
            %image = @image
            %window = tensor.empty() : tensor<${wt}xf32>
            %init = filled start = $start : $ot
            %out = linalg.$op {dilations = dense<$d> : tensor<2xi64>, strides = dense<$s> : tensor<2xi64>}
              ins(%image, %window : tensor<1x12x14x6xf32>, tensor<${wt}xf32>) outs(%init : $ot) -> $ot
            """
        m.function(name, body, {"%out": out},
                   s=stride, d=dilation, ot=type_of(out), wt=f"{window[0]}x{window[1]}", start=start, op=op)  # fmt: skip
