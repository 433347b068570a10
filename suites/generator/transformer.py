"""The models of the suite `transformer`: a block of an encoder, and a decoder that keeps keys and values, as ONNX.

All sizes but those of the weights are dynamic. The weights are inputs, so that a file has a few thousand bytes and the
same weights serve every element type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

WIDTH, HEADS, HIDDEN, VOCABULARY, LAYERS = 32, 4, 64, 48, 2
EPSILON = 1e-5
TYPES = {
    "f32": (TensorProto.FLOAT, np.dtype(np.float32)),
    "f16": (TensorProto.FLOAT16, np.dtype(np.float16)),
    "bf16": (TensorProto.BFLOAT16, np.dtype(ml_dtypes.bfloat16)),
}


def models() -> dict[str, bytes]:
    """Return the content of each model's file, by its path below suites/."""
    found = {"models/transformer/feed-forward-f32.onnx": feed_forward().SerializeToString(deterministic=True)}
    for name in TYPES:
        found[f"models/transformer/block-{name}.onnx"] = block(name).SerializeToString(deterministic=True)
        found[f"models/transformer/decoder-{name}.onnx"] = decoder(name).SerializeToString(deterministic=True)
    return found


@dataclass
class Graph:
    """A graph while it is written. Each op returns the name of its result."""

    type: str
    nodes: list[NodeProto] = field(default_factory=list)
    inputs: list[ValueInfoProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def op(self, name: str, *inputs: str, result: str = "", **attributes: object) -> str:
        output = result or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(name, inputs, [output], **attributes))
        return output

    def input(self, name: str, *shape: int | str, code: int | None = None) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, code or TYPES[self.type][0], shape))
        return name

    def number(self, value: float, dtype: np.dtype | None = None) -> str:
        return self._constant(np.asarray(value, dtype or TYPES[self.type][1]))

    def sizes(self, *values: int) -> str:
        return self._constant(np.asarray(values, np.int64))

    def _constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def heads(self, x: str, weight: str) -> str:
        """Return x @ weight as batch x heads x sequence x size."""
        product = self.op("MatMul", x, self.input(weight, WIDTH, WIDTH))
        split = self.op("Reshape", product, self.sizes(0, 0, HEADS, WIDTH // HEADS))
        return self.op("Transpose", split, perm=[0, 2, 1, 3])

    def attended(self, q: str, k: str, v: str, mask: str, weight: str) -> str:
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scaled = self.op("Mul", scores, self.number((WIDTH // HEADS) ** -0.5))
        shares = self.op("Softmax", self.op("Add", scaled, mask) if mask else scaled, axis=-1)
        joined = self.op("Transpose", self.op("MatMul", shares, v), perm=[0, 2, 1, 3])
        flat = self.op("Reshape", joined, self.sizes(0, 0, WIDTH))
        return self.op("MatMul", flat, self.input(weight, WIDTH, WIDTH))

    def feed_forward(self, x: str) -> None:
        """Return as y x + two layers with Gelu, after a layer normalisation."""
        normal = self.op(
            "LayerNormalization", x, self.input("scale2", WIDTH), self.input("shift2", WIDTH), epsilon=EPSILON
        )
        hidden = self.op("Add", self.op("MatMul", normal, self.input("w1", WIDTH, HIDDEN)), self.input("b1", HIDDEN))
        error = self.op("Erf", self.op("Mul", hidden, self.number(0.5**0.5)))
        gelu = self.op("Mul", self.op("Mul", hidden, self.number(0.5)), self.op("Add", error, self.number(1)))
        last = self.op("Add", self.op("MatMul", gelu, self.input("w2", HIDDEN, WIDTH)), self.input("b2", WIDTH))
        self.op("Add", x, last, result="y")

    def rms_normalised(self, x: str, weight: str) -> str:
        """Return x over its root mean square, computed in f32."""
        wide = self.op("Cast", x, to=TensorProto.FLOAT)
        mean = self.op("ReduceMean", self.op("Mul", wide, wide), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.number(EPSILON, np.dtype(np.float32))))
        narrow = self.op("Cast", self.op("Div", wide, root), to=TYPES[self.type][0])
        return self.op("Mul", narrow, self.input(weight, WIDTH))

    def model(self, name: str, outputs: Sequence[tuple[str, Sequence[int | str]]]) -> ModelProto:
        code = TYPES[self.type][0]
        values = [helper.make_tensor_value_info(output, code, shape) for output, shape in outputs]
        graph = helper.make_graph(self.nodes, name, self.inputs, values, self.constants)
        opset = helper.make_opsetid("", 17)
        return helper.make_model(graph, opset_imports=[opset], ir_version=8, producer_name="retarget")


def block(name: str) -> ModelProto:
    """Return a block of an encoder: attention and two layers with Gelu, each after a layer normalisation."""
    g = Graph(name)
    x = g.input("x", "batch", "sequence", WIDTH)
    normal = g.op("LayerNormalization", x, g.input("scale1", WIDTH), g.input("shift1", WIDTH), epsilon=EPSILON)
    q, k, v = (g.heads(normal, weight) for weight in ("wq", "wk", "wv"))
    x = g.op("Add", x, g.attended(q, k, v, "", "wo"))
    g.feed_forward(x)
    return g.model("block", [("y", ("batch", "sequence", WIDTH))])


def feed_forward() -> ModelProto:
    """Return the second half of the block."""
    g = Graph("f32")
    g.feed_forward(g.input("x", "batch", "sequence", WIDTH))
    return g.model("feed-forward", [("y", ("batch", "sequence", WIDTH))])


def decoder(name: str) -> ModelProto:
    """Return a decoder of two layers. It takes `new` tokens and the keys and values of those before; it returns the
    logits, and keys and values with those of the new tokens."""
    g = Graph(name)
    size = WIDTH // HEADS
    embedding = g.input("embedding", VOCABULARY, WIDTH)
    x = g.op("Gather", embedding, g.input("ids", "batch", "new", code=TensorProto.INT64))
    mask = g.input("mask", "new", "total")
    outputs: list[tuple[str, Sequence[int | str]]] = [("logits", ("batch", "new", VOCABULARY))]
    for layer in range(LAYERS):
        normal = g.rms_normalised(x, f"norm1_{layer}")
        q, k, v = (g.heads(normal, f"w{part}_{layer}") for part in "qkv")
        kept = {}
        for part, value in (("k", k), ("v", v)):
            past = g.input(f"past_{part}_{layer}", "batch", HEADS, "past", size)
            kept[part] = g.op("Concat", past, value, axis=2, result=f"present_{part}_{layer}")
            outputs.append((kept[part], ("batch", HEADS, "total", size)))
        x = g.op("Add", x, g.attended(q, kept["k"], kept["v"], mask, f"wo_{layer}"))
        hidden = g.op("MatMul", g.rms_normalised(x, f"norm2_{layer}"), g.input(f"w1_{layer}", WIDTH, HIDDEN))
        gated = g.op("Mul", hidden, g.op("Sigmoid", hidden))
        x = g.op("Add", x, g.op("MatMul", gated, g.input(f"w2_{layer}", HIDDEN, WIDTH)))
    normal = g.rms_normalised(x, "norm")
    g.op("MatMul", normal, g.op("Transpose", embedding, perm=[1, 0]), result="logits")
    return g.model("decoder", outputs)
