"""ONNX graphs as torch-mlir imports them."""

from __future__ import annotations

import numpy as np

from .ir import Approximate, Array, Module, exactly, source, type_of
from .reference import conv2d, pool, softmax

__all__ = ["modules"]

F32 = np.float32


ONNX = 'torch.onnx_meta.ir_version = 8 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "retarget"'


def _torch(value: Array) -> str:
    return (
        "!torch.vtensor<["
        + ",".join(str(n) for n in value.shape)
        + f"],{'si64' if value.dtype == np.int64 else 'si32' if value.dtype == np.int32 else 'f32'}>"
    )


def _onnx(path: str, about: str, cases: tuple[tuple[str, str, tuple[Array, ...], Array | Approximate], ...]) -> Module:
    """One private ONNX function per case, as an importer writes it, and a function without arguments that calls and checks it."""
    m = Module(
        generator="onnx_graphs",
        path=path,
        about=about
        + "\nThe ONNX part is a function of !torch.vtensor values with an opset version; the check converts tensors to and from them.",
    )
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
        m.function(name, "\n".join(lines), {"%out": expected})
        m.parts[-1] = m.parts[-1].replace(f"func.func @{name}() {{", f"func.func @{name}() attributes {{{ONNX}}} {{", 1)
    return m


def _op(name: str, result: str, inputs: tuple[Array, ...], out: Array, attributes: str = "") -> str:
    operands = ", ".join(f"%in{i}" for i in range(len(inputs)))
    return f'{result} = torch.operator "onnx.{name}"({operands}) {attributes} : ({", ".join(_torch(v) for v in inputs)}) -> {_torch(out)}'


def _onnx_modules() -> list[Module]:
    a = ((np.arange(42) * 5) % 11 - 5).reshape(6, 7).astype(F32)
    b = ((np.arange(35) * 3) % 7 - 3).reshape(7, 5).astype(F32)
    bias = np.arange(5).astype(F32)
    product = a @ b
    image = ((np.arange(1 * 3 * 8 * 9) * 7) % 11 - 5).reshape(1, 3, 8, 9).astype(F32)
    kernel = ((np.arange(4 * 3 * 3 * 3) * 5) % 7 - 3).reshape(4, 3, 3, 3).astype(F32)
    nhwc = np.pad(image.transpose(0, 2, 3, 1).astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    convolved = exactly(conv2d(nhwc, kernel.transpose(2, 3, 1, 0).astype(np.float64)).transpose(0, 3, 1, 2), F32)
    pooled = exactly(pool(image.transpose(0, 2, 3, 1).astype(np.float64), (2, 2), "max", 2).transpose(0, 3, 1, 2), F32)
    rows = np.array([4, 0, 5], np.int64)
    soft = softmax(a.astype(np.float64) / 1.0, 1).astype(F32)
    one = "{torch.onnx.axis = 1 : si64}"
    return [
        _onnx("torch-onnx/elementwise", "onnx.Add with a broadcast, Mul, Relu, Sub of itself, and Where by Greater.\nNumbers: NumPy, exact in f32.", (
            ("add", _op("Add", "%out", (product, bias), product), (product, bias), product + bias),
            ("mul", _op("Mul", "%out", (a, a), a), (a, a), a * a),
            ("relu", _op("Relu", "%out", (a,), a), (a,), np.maximum(a, 0)),
            ("where_greater", f'%mask = torch.operator "onnx.Greater"(%in0, %in1) : ({_torch(a)}, {_torch(a)}) -> !torch.vtensor<[6,7],i1>\n'
             f'%out = torch.operator "onnx.Where"(%mask, %in0, %in1) : (!torch.vtensor<[6,7],i1>, {_torch(a)}, {_torch(a)}) -> {_torch(a)}', (a, a[::-1].copy()), np.maximum(a, a[::-1])),
        )),
        _onnx("torch-onnx/gemm", "onnx.MatMul, and onnx.Gemm with its right operand transposed and a bias.\nNumbers: NumPy's matmul of small integers, exact in f32.", (
            ("matmul", _op("MatMul", "%out", (a, b), product), (a, b), product),
            ("gemm", _op("Gemm", "%out", (a, b.T, bias), product, "{torch.onnx.alpha = 1.0 : f32, torch.onnx.beta = 1.0 : f32, torch.onnx.transB = 1 : si64}"), (a, b.T.copy(), bias), product + bias),
        )),
        _onnx("torch-onnx/conv", "onnx.Conv with padding of one, and onnx.MaxPool of 2x2 windows.\nNumbers: NumPy, the sum or maximum over shifted views; exact in f32.", (
            ("conv", _op("Conv", "%out", (image, kernel), convolved, "{torch.onnx.kernel_shape = [3 : si64, 3 : si64], torch.onnx.pads = [1 : si64, 1 : si64, 1 : si64, 1 : si64]}"), (image, kernel), convolved),
            ("max_pool", _op("MaxPool", "%out", (image,), pooled, "{torch.onnx.kernel_shape = [2 : si64, 2 : si64], torch.onnx.strides = [2 : si64, 2 : si64]}"), (image,), pooled),
        )),
        _onnx("torch-onnx/softmax-reduce", "onnx.Softmax, onnx.ArgMax and onnx.Sigmoid.\nNumbers: NumPy in float64. rtol 2e-5, atol 1e-6: exp and a sum in f32.", (
            ("softmax", _op("Softmax", "%out", (a,), soft, one), (a,), Approximate(value=soft, atol=1e-6, rtol=2e-5)),
            ("argmax", _op("ArgMax", "%out", (a,), a.argmax(axis=1), "{torch.onnx.axis = 1 : si64, torch.onnx.keepdims = 0 : si64}"), (a,), a.argmax(axis=1).astype(np.int64)),
            ("sigmoid", _op("Sigmoid", "%out", (a,), a), (a,), Approximate(value=(1 / (1 + np.exp(-a.astype(np.float64)))).astype(F32), atol=1e-6, rtol=2e-5)),
        )),
        _onnx("torch-onnx/layout", "onnx.Transpose, onnx.Concat, onnx.Gather of rows and onnx.Flatten.\nNumbers: NumPy; values are only moved.", (
            ("transpose", _op("Transpose", "%out", (image,), image.transpose(0, 2, 3, 1), "{torch.onnx.perm = [0 : si64, 2 : si64, 3 : si64, 1 : si64]}"), (image,), image.transpose(0, 2, 3, 1).copy()),
            ("concat", _op("Concat", "%out", (a, a), np.concatenate([a, a], 1), one), (a, a), np.concatenate([a, a], 1)),
            ("gather", _op("Gather", "%out", (a, rows), a[rows], "{torch.onnx.axis = 0 : si64}"), (a, rows), a[rows]),
            ("flatten", _op("Flatten", "%out", (image,), image.reshape(1, -1), one), (image,), image.reshape(1, -1)),
        )),
    ]  # fmt: skip


def modules() -> list[Module]:
    """Return this file's modules."""
    return [
        *_onnx_modules(),
    ]
