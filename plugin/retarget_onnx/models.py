"""The function that an ONNX model becomes, with the types of its inputs and outputs: its artifact says nothing of them.

Imports the package onnx: for worker processes and for `retarget check`.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from retarget.extension import FunctionInfo
from retarget.model.element_types import ELEMENT_TYPES
from retarget.support.errors import RetargetError, display_path

__all__ = ["SUFFIX", "element_name", "has_tensors_elsewhere", "model_function"]

SUFFIX = ".onnx"

_ELEMENTS = {
    "FLOAT": "f32",
    "DOUBLE": "f64",
    "FLOAT16": "f16",
    "BFLOAT16": "bf16",
    **{f"FLOAT8{form}": f"f8{form}" for form in ("E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ")},
    "FLOAT8E8M0": "f8E8M0FNU",
    "FLOAT4E2M1": "f4E2M1FN",
    "BOOL": "i1",
    "COMPLEX64": "complex<f32>",
    "COMPLEX128": "complex<f64>",
    **{f"INT{bits}": f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)},
    **{f"UINT{bits}": f"ui{bits}" for bits in (2, 4, 8, 16, 32, 64)},
}
"""ONNX's names of element types (`TensorProto.DataType`) to MLIR's."""


def element_name(code: int) -> str:
    """Return MLIR's name of an ONNX element type; ONNX's, in lower case, where it has none (`string`)."""
    import onnx

    name: str = onnx.TensorProto.DataType.Name(code)
    return _ELEMENTS.get(name, name.lower())


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
    form = value.type.WhichOneof("value")
    if form != "tensor_type":
        return f"{(form or 'unknown').removesuffix('_type')} {value.name}"
    tensor = value.type.tensor_type
    element = element_name(tensor.elem_type)
    if element not in ELEMENT_TYPES:
        return f"tensor of {element} {value.name}"
    if not tensor.HasField("shape"):
        return f"tensor<*x{element}>"
    sizes = (str(size.dim_value) if size.HasField("dim_value") else "?" for size in tensor.shape.dim)
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"
