"""NumPy references that several modules share: convolution and pooling as sums over shifted views."""

from __future__ import annotations

from itertools import product

import numpy as np

from generator.support.arrays import Array


def windows(image: Array, kernel: tuple[int, int], stride: int = 1, dilation: int = 1) -> Array:
    """Return [n, oh, ow, kh, kw, c]: every window of an NHWC image, without padding."""
    _, height, width, _ = image.shape
    rows = (height - dilation * (kernel[0] - 1) - 1) // stride + 1
    columns = (width - dilation * (kernel[1] - 1) - 1) // stride + 1
    out = np.empty((image.shape[0], rows, columns, *kernel, image.shape[3]), image.dtype)
    for y, x in product(range(kernel[0]), range(kernel[1])):
        top, left = y * dilation, x * dilation
        out[:, :, :, y, x, :] = image[
            :, top : top + (rows - 1) * stride + 1 : stride, left : left + (columns - 1) * stride + 1 : stride, :
        ]
    return out


def conv2d(image: Array, kernel: Array, stride: int = 1, dilation: int = 1) -> Array:
    """NHWC image with HWCF kernel."""
    return np.einsum("nyxhwc,hwcf->nyxf", windows(image, kernel.shape[:2], stride, dilation), kernel)


def depthwise(image: Array, kernel: Array, stride: int = 1, dilation: int = 1) -> Array:
    """NHWC image with HWC kernel: each channel by itself."""
    return np.einsum("nyxhwc,hwc->nyxc", windows(image, kernel.shape[:2], stride, dilation), kernel)


def pool(image: Array, kernel: tuple[int, int], kind: str, stride: int = 1, dilation: int = 1) -> Array:
    """NHWC pooling without padding; `kind` is `max`, `min` or `sum`."""
    view = windows(image, kernel, stride, dilation)
    return {"max": np.max, "min": np.min, "sum": np.sum}[kind](view, axis=(3, 4))


def softmax(x: Array, axis: int) -> Array:
    """Softmax in float64."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)
