"""A whole model from the package onnx, where it is installed: SqueezeNet, without its weights."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

_MODEL = Path("backend") / "test" / "data" / "light" / "light_squeezenet.onnx"
_OPSET = 17
"""IREE imports the operators of this set; the model is of set 9."""

_PIXELS = 64
"""Of 224: a backend that is slow has an answer within its time."""

SUITE = """
# A whole model: SqueezeNet of the package onnx, with constants for weights, of 64 x 64 pixels and without its softmax.
# Its results are compared with those of $compiler.
[[module_test_suite]]
name = "$name-models"
srcs = ["model-squeezenet.onnx"]
kind = "cases"
targets = $targets
"""

_CASES = """\
[[case]]
inputs = [{ random = "normal" }]
agree_with = "$compiler"
tolerance = { rtol = 1e-4, atol = 1e-6 }
"""


def model_files(folder: Path, compiler: str) -> Iterator[tuple[Path, str | bytes]]:
    """Yield the model and its cases, which compare a backend with a compiler config; nothing without the package."""
    spec = importlib.util.find_spec("onnx")
    if spec is None or spec.origin is None or not (path := Path(spec.origin).parent / _MODEL).is_file():
        return
    import onnx
    from onnx import version_converter

    model = version_converter.convert_version(onnx.load(str(path)), _OPSET)
    graph = model.graph
    del graph.value_info[:]
    weights = {tensor.name for tensor in graph.initializer}
    image = next(value for value in graph.input if value.name not in weights)
    for size in image.type.tensor_type.shape.dim[2:]:
        size.dim_value = _PIXELS
    last = max(at for at, node in enumerate(graph.node) if node.op_type == "GlobalAveragePool")
    del graph.node[last + 1 :]  # with constant weights, softmax gives 0.001 whatever came before
    graph.output[0].name = graph.node[last].output[0]
    yield folder / "model-squeezenet.onnx", model.SerializeToString(deterministic=True)
    yield folder / "model-squeezenet.cases.toml", _CASES.replace("$compiler", compiler)
