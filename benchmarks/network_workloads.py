"""Attention, layer normalisation and whole networks for `opencl_speed.py`.

    python3 benchmarks/network_workloads.py FOLDER       # writes the networks there, for a machine without onnx

The networks are ResNet-50 (the package onnx has its graph) with one image, and the decoder of `suites/models` with a
cache of 63 tokens and one new one. Their weights are arguments, so that a module is small and none is folded.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
SUITE = Path(__file__).parents[1] / "suites/models"
DECODERS = ("decoder-f16", "decoder-f32")
SIZES = {"batch": 1, "past": 63, "new": 1, "total": 64}
ELEMENTS = {1: "float32", 7: "int64", 10: "float16"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A module in torch's dialect, with the shape and the dtype of each argument of `main`."""

    name: str
    text: str
    arguments: tuple[tuple[tuple[int, ...], str], ...]

    def inputs(self) -> tuple[Array, ...]:
        """Return arguments drawn from seeds: filters as He initialises them, scales about 1, ids of tokens."""
        return tuple(_argument(seed, shape, dtype) for seed, (shape, dtype) in enumerate(self.arguments))


def _argument(seed: int, shape: Sequence[int], dtype: str) -> Array:
    random = np.random.default_rng(seed)
    if dtype == "int64":
        return random.integers(0, 40, shape)
    if len(shape) == 1:
        return random.uniform(0.75, 1.25, shape).astype(dtype)
    values: Array = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
    return values.astype(dtype)


def attention(batch: int, heads: int, length: int, width: int) -> str:
    """Return a module with attention as torch has it, in half precision: batches x heads x length x width."""
    kind = f"!torch.vtensor<[{batch},{heads},{length},{width}],f16>"
    rest = "!torch.none, !torch.float, !torch.bool, !torch.none, !torch.bool"
    return f"""func.func @main(%q: {kind}, %k: {kind}, %v: {kind}) -> {kind} {{
  %none = torch.constant.none
  %zero = torch.constant.float 0.0
  %false = torch.constant.bool false
  %r = torch.aten.scaled_dot_product_attention %q, %k, %v, %none, %zero, %false, %none, %false
    : {kind}, {kind}, {kind}, {rest} -> {kind}
  return %r : {kind}
}}"""


def layer_norm(rows: int, columns: int) -> str:
    """Return a module that normalises rows, with a scale and a shift per column."""
    whole, row, column = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>", f"tensor<{columns}xf32>"
    parallel, reduction = (f'iterator_types = ["parallel", "{kind}"]' for kind in ("parallel", "reduction"))
    maps = "#ij = affine_map<(i, j) -> (i, j)>\n#i = affine_map<(i, j) -> (i)>\n#j = affine_map<(i, j) -> (j)>"
    return f"""{maps}
func.func @main(%x: {whole}, %scale: {column}, %shift: {column}) -> {whole} {{
  %z = arith.constant 0.0 : f32
  %n = arith.constant {columns}.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : {row}
  %e = tensor.empty() : {whole}
  %zeros = linalg.fill ins(%z : f32) outs(%er : {row}) -> {row}
  %sum = linalg.generic {{indexing_maps = [#ij, #i], {reduction}}} ins(%x : {whole}) outs(%zeros : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %a, %o : f32
    linalg.yield %y : f32
  }} -> {row}
  %centred = linalg.generic {{indexing_maps = [#ij, #i, #ij], {parallel}}}
    ins(%x, %sum : {whole}, {row}) outs(%e : {whole}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %y = arith.subf %a, %m : f32
    linalg.yield %y : f32
  }} -> {whole}
  %squares = linalg.generic {{indexing_maps = [#ij, #i], {reduction}}} ins(%centred : {whole}) outs(%zeros : {row}) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %a : f32
    %y = arith.addf %s, %o : f32
    linalg.yield %y : f32
  }} -> {row}
  %r = linalg.generic {{indexing_maps = [#ij, #i, #j, #j, #ij], {parallel}}}
    ins(%centred, %squares, %scale, %shift : {whole}, {row}, {column}, {column}) outs(%e : {whole}) {{
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %v = arith.divf %b, %n : f32
    %w = arith.addf %v, %eps : f32
    %s = math.rsqrt %w : f32
    %t = arith.mulf %a, %s : f32
    %u = arith.mulf %t, %c : f32
    %y = arith.addf %u, %d : f32
    linalg.yield %y : f32
  }} -> {whole}
  return %r : {whole}
}}"""


def networks(folder: Path | None) -> list[Network]:
    """Return the networks: from files that `write` made, or from the package onnx. Raises `ImportError` without it."""
    if folder is None:
        return [_resnet(), *(_decoder(name) for name in DECODERS)]
    found = json.loads((folder / "networks.json").read_text())
    return [
        Network(
            name=name,
            text=(folder / f"{name}.mlir").read_text(),
            arguments=tuple((tuple(shape), dtype) for shape, dtype in arguments),
        )
        for name, arguments in found.items()
    ]


def write(folder: Path) -> None:
    """Write the networks to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    found = networks(None)
    for one in found:
        (folder / f"{one.name}.mlir").write_text(one.text)
    (folder / "networks.json").write_text(json.dumps({one.name: one.arguments for one in found}))


def _resnet() -> Network:
    import onnx

    sys.path.insert(0, str(SUITE))
    import prepare  # type: ignore[import-not-found]

    light = Path(onnx.__file__).parent / "backend/test/data/light/light_resnet50.onnx"
    model = prepare.with_weights(prepare.converted(onnx.load(light)), seed=0)
    weights = [one for one in model.graph.initializer if one.data_type == onnx.TensorProto.FLOAT]
    for one in weights:
        model.graph.initializer.remove(one)
        model.graph.input.append(onnx.helper.make_tensor_value_info(one.name, one.data_type, list(one.dims)))
    return _imported("resnet50", model)


def _decoder(name: str) -> Network:
    import onnx

    return _imported(name, onnx.load(SUITE / f"transformer/{name}.onnx"))


def _imported(name: str, model: Any) -> Network:
    from retarget_iree.modules.onnx_import import import_onnx

    constant = {one.name for one in model.graph.initializer}
    types = [one.type.tensor_type for one in model.graph.input if one.name not in constant]
    text = import_onnx(model.SerializeToString(), f"{name}.onnx").decode()
    return Network(
        name=name,
        text=re.sub(r"func\.func @[^(]*\(", "func.func @main(", text, count=1),
        arguments=tuple(
            (tuple(SIZES[dim.dim_param] if dim.dim_param else dim.dim_value for dim in one.shape.dim), dtype)
            for one in types
            for dtype in (ELEMENTS[one.elem_type],)
        ),
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    write(arguments.parse_args().folder)
