"""The function that an ONNX model becomes, with the types of its inputs and outputs: its artifact says nothing of them.

Imports the package onnx: for runners and for `retarget check`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from retarget.extension import FunctionInfo
from retarget.support.errors import RetargetError, display_path

__all__ = ["SUFFIX", "has_tensors_elsewhere", "model_function"]

SUFFIX = ".onnx"

_ELEMENTS = {
    "FLOAT": "f32",
    "DOUBLE": "f64",
    "FLOAT16": "f16",
    "BFLOAT16": "bf16",
    "FLOAT8E4M3FN": "f8E4M3FN",
    "FLOAT8E4M3FNUZ": "f8E4M3FNUZ",
    "FLOAT8E5M2": "f8E5M2",
    "FLOAT8E5M2FNUZ": "f8E5M2FNUZ",
    "BOOL": "i1",
    **{f"INT{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": f"ui{bits}" for bits in (8, 16, 32, 64)},
    "COMPLEX64": "complex<f32>",
    "COMPLEX128": "complex<f64>",
}
"""ONNX's name of an element type to MLIR's."""


def model_function(path: Path) -> FunctionInfo | None:
    """Return the function of a model: the name of its graph, its inputs but for those that have an initializer.

    None where the package onnx is missing. Raises `RetargetError` for a file that is no model.
    """
    if importlib.util.find_spec("onnx") is None:
        return None
    import onnx

    try:
        graph = onnx.load(str(path), load_external_data=False).graph
    except Exception as error:  # protobuf's own error type has no stubs
        reason = str(error).strip().partition("\n")[0]
        msg = f"{display_path(path)}: not an ONNX model: {reason}"
        raise RetargetError(msg) from error
    given = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in given]
    return FunctionInfo(
        name=graph.name,
        arguments=len(inputs),
        argument_types=tuple(_type(value) for value in inputs),
        result_types=tuple(_type(value) for value in graph.output),
    )


def has_tensors_elsewhere(path: Path) -> bool:
    """Whether a model that `model_function` can read has tensors in other files."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    return any(tensor.external_data for tensor in graph.initializer)


def _type(value: Any) -> str:
    """Return the type of an input or output as MLIR writes it; as ONNX does where it is no tensor of numbers."""
    import onnx

    sort = value.type.WhichOneof("value")
    if sort != "tensor_type":
        return f"{(sort or 'unknown').removesuffix('_type')} {value.name}"
    tensor = value.type.tensor_type
    name = onnx.TensorProto.DataType.Name(tensor.elem_type)
    element = _ELEMENTS.get(name)
    if element is None:
        return f"tensor of {name.lower()} {value.name}"
    if not tensor.HasField("shape"):
        return f"tensor<*x{element}>"
    sizes = (str(size.dim_value) if size.HasField("dim_value") else "?" for size in tensor.shape.dim)
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
