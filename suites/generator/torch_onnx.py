"""The suite `torch-onnx`: ONNX graphs as torch-mlir imports them."""

from __future__ import annotations

from inspect import cleandoc

import numpy as np

from generator.support import Approximate, Array, Module, exactly, module, source, type_of
from generator.support.reference import conv2d, pool, softmax

F32 = np.float32


ONNX = 'torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"'


def _torch(value: Array) -> str:
    return (
        "!torch.vtensor<["
        + ",".join(str(n) for n in value.shape)
        + f"],{'si64' if value.dtype == np.int64 else 'si32' if value.dtype == np.int32 else 'f32'}>"
    )


def _graphs(m: Module, *cases: tuple[str, str, tuple[Array, ...], Array | Approximate]) -> None:
    """Add per case a private ONNX function, as an importer writes it, and a function without arguments that calls and checks it."""
    m.about = f"{cleandoc(m.about)}\nThe ONNX part is a function of !torch.vtensor values with an opset version; the check converts tensors to and from them."
    for name, ops, inputs, expected in cases:
        want = expected.value if isinstance(expected, Approximate) else expected
        arguments = ", ".join(f"%in{i}: {_torch(v)}" for i, v in enumerate(inputs))
        body = "\n".join("  " + line.strip() for line in ops.strip().splitlines())
        m.verbatim(
            f"func.func private @{name}_graph({arguments}) -> {_torch(want)} attributes {{{ONNX}}} {{\n{body}\n  return %out : {_torch(want)}\n}}"
        )
        lines = []
        for i, v in enumerate(inputs):
            lines += [
                f"%x{i} = {source(v)}",
                f"%t{i} = torch_c.from_builtin_tensor %x{i} : {type_of(v)} -> {_torch(v)}",
            ]
        names = ", ".join(f"%t{i}" for i in range(len(inputs)))
        lines += [f"%result = call @{name}_graph({names}) : ({', '.join(_torch(v) for v in inputs)}) -> {_torch(want)}",
                  f"%out = torch_c.to_builtin_tensor %result : {_torch(want)} -> {type_of(want)}"]  # fmt: skip
        m.function(name, "\n".join(lines), {"%out": expected}, attributes=f"attributes {{{ONNX}}} ")


def _op(name: str, inputs: tuple[Array, ...], out: Array, attributes: str = "") -> str:
    operands = ", ".join(f"%in{i}" for i in range(len(inputs)))
    return f'%out = torch.operator "onnx.{name}"({operands}) {attributes} : ({", ".join(_torch(v) for v in inputs)}) -> {_torch(out)}'


A = ((np.arange(42) * 5) % 11 - 5).reshape(6, 7).astype(F32)
B = ((np.arange(35) * 3) % 7 - 3).reshape(7, 5).astype(F32)
BIAS = np.arange(5).astype(F32)
PRODUCT = A @ B
IMAGE = ((np.arange(1 * 3 * 8 * 9) * 7) % 11 - 5).reshape(1, 3, 8, 9).astype(F32)
KERNEL = ((np.arange(4 * 3 * 3 * 3) * 5) % 7 - 3).reshape(4, 3, 3, 3).astype(F32)
NHWC = np.pad(IMAGE.transpose(0, 2, 3, 1).astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
CONVOLVED = exactly(conv2d(NHWC, KERNEL.transpose(2, 3, 1, 0).astype(np.float64)).transpose(0, 3, 1, 2), F32)
POOLED = exactly(pool(IMAGE.transpose(0, 2, 3, 1).astype(np.float64), (2, 2), "max", 2).transpose(0, 3, 1, 2), F32)
ROWS = np.array([4, 0, 5], np.int64)
SOFT = softmax(A.astype(np.float64) / 1.0, 1).astype(F32)
ONE = "{torch.onnx.axis = 1 : si64}"


@module("torch-onnx/elementwise")
def _elementwise(m: Module) -> None:
    """onnx.Add with a broadcast, Mul, Relu, Sub of itself, and Where by Greater.
    Numbers: NumPy, exact in f32.
    """
    _graphs(m,
        ("add", _op("Add", (PRODUCT, BIAS), PRODUCT), (PRODUCT, BIAS), PRODUCT + BIAS),
        ("mul", _op("Mul", (A, A), A), (A, A), A * A),
        ("relu", _op("Relu", (A,), A), (A,), np.maximum(A, 0)),
        ("where_greater", f'%mask = torch.operator "onnx.Greater"(%in0, %in1) : ({_torch(A)}, {_torch(A)}) -> !torch.vtensor<[6,7],i1>\n'
         f'%out = torch.operator "onnx.Where"(%mask, %in0, %in1) : (!torch.vtensor<[6,7],i1>, {_torch(A)}, {_torch(A)}) -> {_torch(A)}', (A, A[::-1].copy()), np.maximum(A, A[::-1])),
    )  # fmt: skip


@module("torch-onnx/gemm")
def _gemm(m: Module) -> None:
    """onnx.MatMul, and onnx.Gemm with its right operand transposed and a bias.
    Numbers: NumPy's matmul of small integers, exact in f32.
    """
    _graphs(m,
        ("matmul", _op("MatMul", (A, B), PRODUCT), (A, B), PRODUCT),
        ("gemm", _op("Gemm", (A, B.T, BIAS), PRODUCT, "{torch.onnx.alpha = 1.0 : f32, torch.onnx.beta = 1.0 : f32, torch.onnx.transB = 1 : si64}"), (A, B.T.copy(), BIAS), PRODUCT + BIAS),
    )  # fmt: skip


@module("torch-onnx/conv")
def _conv(m: Module) -> None:
    """onnx.Conv with padding of one, and onnx.MaxPool of 2x2 windows.
    Numbers: NumPy, the sum or maximum over shifted views; exact in f32.
    """
    _graphs(m,
        ("conv", _op("Conv", (IMAGE, KERNEL), CONVOLVED, "{torch.onnx.kernel_shape = [3 : si64, 3 : si64], torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]}"), (IMAGE, KERNEL), CONVOLVED),
        ("max_pool", _op("MaxPool", (IMAGE,), POOLED, "{torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]}"), (IMAGE,), POOLED),
    )  # fmt: skip


@module("torch-onnx/softmax-reduce")
def _softmax_reduce(m: Module) -> None:
    """onnx.Softmax, onnx.ArgMax and onnx.Sigmoid.
    Numbers: NumPy in float64. rtol 2e-5, atol 1e-6: exp and a sum in f32.
    """
    _graphs(m,
        ("softmax", _op("Softmax", (A,), SOFT, ONE), (A,), Approximate(value=SOFT, atol=1e-6, rtol=2e-5)),
        ("argmax", _op("ArgMax", (A,), A.argmax(axis=1), "{torch.onnx.axis = 1 : si64, torch.onnx.keepdims = 0 : si64}"), (A,), A.argmax(axis=1).astype(np.int64)),
        ("sigmoid", _op("Sigmoid", (A,), A), (A,), Approximate(value=(1 / (1 + np.exp(-A.astype(np.float64)))).astype(F32), atol=1e-6, rtol=2e-5)),
    )  # fmt: skip


@module("torch-onnx/layout")
def _layout(m: Module) -> None:
    """onnx.Transpose, onnx.Concat, onnx.Gather of rows and onnx.Flatten.
    Numbers: NumPy; values are only moved.
    """
    _graphs(m,
        ("transpose", _op("Transpose", (IMAGE,), IMAGE.transpose(0, 2, 3, 1), "{torch.onnx.perm = [0 : si64, 2 : si64, 3 : si64, 1 : si64]}"), (IMAGE,), IMAGE.transpose(0, 2, 3, 1).copy()),
        ("concat", _op("Concat", (A, A), np.concatenate([A, A], 1), ONE), (A, A), np.concatenate([A, A], 1)),
        ("gather", _op("Gather", (A, ROWS), A[ROWS], "{torch.onnx.axis = 0 : si64}"), (A, ROWS), A[ROWS]),
        ("flatten", _op("Flatten", (IMAGE,), IMAGE.reshape(1, -1), ONE), (IMAGE,), IMAGE.reshape(1, -1)),
    )  # fmt: skip
