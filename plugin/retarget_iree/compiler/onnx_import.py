"""ONNX models as MLIR, through the importer of IREE's compiler package."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any

from retarget.extension import CompilerError, UnavailableError
from retarget.support.installing import install_hint
from retarget.support.scratch import ScratchFolder

from retarget_iree.toolchain import compiler_api

__all__ = ["import_onnx", "onnx_version"]

_UNRELATED = (OSError, MemoryError, ImportError)
"""Errors that are not about the model."""


def onnx_version() -> str:
    """Return the version of the package onnx, which has its part in what becomes of a model; `none` without it."""
    try:
        return importlib.metadata.version("onnx")
    except importlib.metadata.PackageNotFoundError:
        return "none"


def import_onnx(content: bytes, name: str) -> bytes:
    """Return the MLIR of a model in the `torch` dialect's ONNX form; `iree-compile --iree-input-type=auto` takes it.

    Raises `CompilerError` for an invalid model and for a model whose tensors lie in other files (their content
    would not be part of the compile key), `UnavailableError` if the package onnx is missing.
    """
    if importlib.util.find_spec("onnx") is None:
        msg = "the package onnx, which reads ONNX models, is not installed"
        raise UnavailableError(msg, hint=install_hint("onnx"))
    compiler_api()
    import onnx
    from iree.compiler.tools.import_onnx import __main__ as importer

    try:
        model = onnx.load_from_string(content)
    except Exception as error:  # protobuf's own error type has no stubs
        msg = f"{name}: not an ONNX model: {_first_line(error)}"
        raise CompilerError(msg, verdict=not isinstance(error, _UNRELATED)) from error
    if not model.graph.node and not model.graph.output:
        msg = f"{name}: not an ONNX model: it holds no graph"
        raise CompilerError(msg, verdict=True)
    outside = _external_files(model)
    if outside:
        msg = (
            f"{name}: tensors lie in other files ({', '.join(outside)}), which the compile key does not cover; "
            "expected a model of one file: save it with onnx.save_model(model, path, save_as_external_data=False)"
        )
        raise CompilerError(msg, verdict=True)
    with ScratchFolder("onnx") as folder:
        source, output = folder.path / "model.onnx", folder.path / "model.mlir"
        source.write_bytes(content)
        try:
            importer.main(importer.parse_arguments([str(source), "-o", str(output)]))
        except Exception as error:  # the importer raises what it and onnx's checker come across, of many types
            text = str(error).replace(str(source), name)
            msg = f"{name}: the ONNX importer refused the model: {_first_line(error).replace(str(source), name)}"
            diagnostics = f"{type(error).__name__}: {text}"
            raise CompilerError(msg, diagnostics=diagnostics, verdict=not isinstance(error, _UNRELATED)) from error
        return output.read_bytes()


def _external_files(model: Any) -> list[str]:
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    tensors = [tensor for tensor in model.graph.initializer if uses_external_data(tensor)]
    return sorted({ExternalDataInfo(tensor).location for tensor in tensors})


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
