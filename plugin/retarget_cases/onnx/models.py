"""The function that an ONNX model becomes, with the types of its inputs and outputs: its artifact says nothing of them.

Imports the package onnx: for worker processes and for `retarget check`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from retarget.extension import FunctionInfo
from retarget.model import ELEMENT_TYPES
from retarget.support import RetargetError, display_path, install_hint

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


class ModelValue(Struct, frozen=True, kw_only=True):
    """An input or output of a model. `element` is MLIR's name of its elements; `sizes` has a number for a static size,
    a name or nothing for a dynamic one, None for any rank. `other` says what it is if it is no tensor of numbers."""

    name: str
    element: str = ""
    sizes: tuple[int | str, ...] | None = None
    other: str = ""

    def type(self, sizes: Mapping[str, int] | None = None) -> str:
        """Return its type as MLIR writes it, with the dynamic `sizes` that are given."""
        if self.other:
            return f"{self.other} {self.name}"
        if self.sizes is None:
            return f"tensor<*x{self.element}>"
        known = (size if isinstance(size, int) else (sizes or {}).get(size, "?") for size in self.sizes)
        return f"tensor<{''.join(f'{size}x' for size in known)}{self.element}>"


class Model(Struct, frozen=True, kw_only=True):
    """The inputs and outputs of a model. `name` is that of its graph; `inputs` leaves out those with an initializer.

    `newer` says that its opset is newer than those that the installed package onnx knows; else it is empty.
    """

    name: str
    newer: str = ""
    inputs: tuple[ModelValue, ...]
    outputs: tuple[ModelValue, ...]


def model_function(path: Path) -> FunctionInfo | None:
    """Return the function of a model: the name of its graph, its inputs but for those that have an initializer.

    None where the package onnx is missing. Raises `RetargetError` for a file that is no model.
    """
    if path.is_file() and not path.stat().st_size:  # to protobuf, nothing is a model, too
        msg = f"{display_path(path)}: not an ONNX model: the file is empty"
        raise RetargetError(msg)
    if importlib.util.find_spec("onnx") is None:
        return None
    model = read_model(path)
    return FunctionInfo(
        name=model.name,
        arguments=len(model.inputs),
        argument_types=tuple(value.type() for value in model.inputs),
        result_types=tuple(value.type() for value in model.outputs),
    )


def read_model(path: Path) -> Model:
    """Return what a model takes and returns. Raises `RetargetError` for a file that is none."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's own error type has no stubs
        reason = str(error).strip().partition("\n")[0]
        msg = f"{display_path(path)}: not an ONNX model: {reason}"
        raise RetargetError(msg) from error
    graph = model.graph
    if not graph.output:
        msg = f"{display_path(path)}: not an ONNX model: it has no graph with outputs"
        raise RetargetError(msg)
    given = {tensor.name for tensor in graph.initializer}
    opset = max((one.version for one in model.opset_import if one.domain in {"", "ai.onnx"}), default=0)
    newest = onnx.defs.onnx_opset_version()
    return Model(
        name=graph.name,
        newer=f"found opset {opset}, onnx {onnx.__version__} knows those up to {newest}" if opset > newest else "",
        inputs=tuple(_value(value) for value in graph.input if value.name not in given),
        outputs=tuple(_value(value) for value in graph.output),
    )


def read_tensor(path: Path) -> Any:
    """Return the array of a file that holds a `TensorProto`. Raises `RetargetError` for another, and without onnx."""
    try:
        import onnx
        from onnx import numpy_helper

        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        array = numpy_helper.to_array(tensor)
    except ImportError as error:
        msg = f"data file {display_path(path)} needs the package onnx, which is not installed; {install_hint('onnx')}"
        raise RetargetError(msg) from error
    except Exception as error:  # protobuf's own error type has no stubs
        msg = f"data file {display_path(path)} holds no tensor of ONNX: {str(error).partition(chr(10))[0]}"
        raise RetargetError(msg) from error
    if array.dtype.kind in "OSU":
        msg = f"data file {display_path(path)} holds a tensor of strings, expected one of numbers"
        raise RetargetError(msg)
    return array


def has_tensors_elsewhere(path: Path) -> bool:
    """Whether a model that `model_function` can read has tensors in other files."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    return any(tensor.external_data for tensor in graph.initializer)


def _value(value: Any) -> ModelValue:
    form = value.type.WhichOneof("value")
    if form != "tensor_type":
        return ModelValue(name=value.name, other=(form or "unknown").removesuffix("_type"))
    tensor = value.type.tensor_type
    element = element_name(tensor.elem_type)
    if element not in ELEMENT_TYPES:
        return ModelValue(name=value.name, other=f"tensor of {element}")
    if not tensor.HasField("shape"):
        return ModelValue(name=value.name, element=element)
    sizes = (
        size.dim_value if size.HasField("dim_value") and size.dim_value >= 0 else size.dim_param  # some write -1
        for size in tensor.shape.dim
    )
    return ModelValue(name=value.name, element=element, sizes=tuple(sizes))
