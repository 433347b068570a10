"""Write the models of this suite that packages carry to a folder: `make models`.

    python suites/models/prepare.py build/models

Models of opset 12 and less are converted to opset 17: IREE 3.13 has no BatchNormalization below opset 14. The light
models of the package onnx have the graphs of well-known networks and the same number as every weight, so that all of
their thousand results are equal. They are written as they are, with the input and the results of the ONNX project as a
data set; some once more with random weights (He's initialisation), of which onnxruntime says what they return.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, numpy_helper, shape_inference, version_converter

LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
RANDOM = ("densenet121", "inception_v1", "resnet50", "shufflenet", "squeezenet")
"""Those with at most 100 MB of weights."""
OPSET = 17
OCR = "rapidocr_onnxruntime/models/"
PACKAGED = {
    "magika": ("magika/models/standard_v3_3/model.onnx", None),
    "ocr-detection": (f"{OCR}ch_PP-OCRv4_det_infer.onnx", (1, 3, 96, 320)),
    "ocr-recognition": (f"{OCR}ch_PP-OCRv4_rec_infer.onnx", (1, 3, 48, 160)),
    "ocr-orientation": (f"{OCR}ch_ppocr_mobile_v2.0_cls_infer.onnx", (1, 3, 48, 192)),
    "ocr-detection-dynamic": (f"{OCR}ch_PP-OCRv4_det_infer.onnx", None),
    "silero-vad": ("silero_vad/data/silero_vad_16k_op15.onnx", None),
    "silero-vad-ifless": ("silero_vad/data/silero_vad_op18_ifless.onnx", None),
}
"""Models by name: their files in the packages, and the shape to give their input."""


def main(folder: Path) -> None:
    """Write all models below `folder`, each with its data sets in a folder of its own."""
    for name, (file, shape) in PACKAGED.items():
        write(folder / name, converted(onnx.load(folder / "packages" / file), shape))
    light = Path(onnx.__file__).parent / "backend/test/data/light"
    for name in LIGHT:
        model = onnx.load(light / f"light_{name}.onnx")
        (image,) = inputs_of(model)
        shape = tuple(size.dim_value for size in image.type.tensor_type.shape.dim)
        count = int(np.prod(shape))
        values = (np.arange(count).reshape(shape) / count).astype(np.float32)  # as in the runner of the package onnx
        data = folder / f"light-{label(name)}" / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        (data / "input_0.pb").write_bytes(numpy_helper.from_array(values, image.name).SerializeToString())
        (data / "output_0.pb").write_bytes((light / f"light_{name}_output_0.pb").read_bytes())
        write(data.parent, converted(model))
        if name in RANDOM:
            write(folder / label(name), with_weights(converted(model), seed=RANDOM.index(name)))


def label(name: str) -> str:
    """Return a network's name as this suite writes it."""
    return name.removeprefix("bvlc_").replace("_", "-")


def write(folder: Path, model: ModelProto) -> None:
    """Write a model that is valid."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.checker.check_model(model)
    onnx.save(model, folder / "model.onnx")
    print(f"{folder.name}: {(folder / 'model.onnx').stat().st_size / 1e6:.1f} MB")


def inputs_of(model: ModelProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs without initializer."""
    given = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in given]


def converted(model: ModelProto, shape: tuple[int, ...] | None = None) -> ModelProto:
    """Return a model of opset 17 or later, its one input of the given shape."""
    if shape is not None:
        (value,) = inputs_of(model)
        for size, dim in zip(shape, value.type.tensor_type.shape.dim, strict=True):
            dim.dim_value = size
        del model.graph.value_info[:]
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
    version = next(one.version for one in model.opset_import if one.domain in {"", "ai.onnx"})
    if version <= 12:
        model = version_converter.convert_version(model, OPSET)
        model.ir_version = max(model.ir_version, 8)
    return shape_inference.infer_shapes(model) if shape is not None else model


def with_weights(model: ModelProto, seed: int) -> ModelProto:
    """Return a model whose constant weights are random: He's initialisation for products and convolutions, numbers
    around 1 and 0 for normalisations. It returns what it would give to its last Softmax, which would make zeros and a
    one of it."""
    random = np.random.Generator(np.random.PCG64(seed))
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    constant = {node.output[0]: shapes[node.input[0]] for node in graph.node if node.op_type == "ConstantOfShape"}
    weights: dict[str, np.ndarray] = {}
    through: dict[str, str] = {}
    for node in graph.node:
        if node.op_type in {"Unsqueeze", "Reshape"} and node.input[0] in constant:
            through[node.output[0]] = node.input[0]
    for node in graph.node:
        for index, name in enumerate(node.input):
            source = through.get(name, name)
            if source not in constant or source in weights or node.op_type in {"Unsqueeze", "Reshape"}:
                continue
            shape = tuple(int(size) for size in constant[source])
            if node.op_type in {"Conv", "Gemm", "MatMul"} and index == 1:
                values = random.standard_normal(shape) * np.sqrt(2 / max(1, np.prod(shape[1:])))
            elif (node.op_type == "BatchNormalization" and index in {1, 4}) or node.op_type == "Mul":
                values = random.uniform(0.75, 1.25, shape)
            else:
                values = random.uniform(-0.1, 0.1, shape)
            weights[source] = values.astype(np.float32)
    kept = [node for node in graph.node if not (node.op_type == "ConstantOfShape" and node.output[0] in weights)]
    del graph.node[:]
    graph.node.extend(kept)
    graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in weights.items())
    if graph.node[-1].op_type == "Softmax":
        softmax = graph.node.pop()
        before = next(node for node in graph.node if softmax.input[0] in node.output)
        before.output[list(before.output).index(softmax.input[0])] = softmax.output[0]
    used = {name for node in graph.node for name in node.input}
    initializers = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    names = {tensor.name for tensor in initializers}
    inputs = [value for value in graph.input if value.name in used and value.name not in names]
    del graph.input[:]
    graph.input.extend(inputs)
    return model


if __name__ == "__main__":
    main(Path(sys.argv[1]))
