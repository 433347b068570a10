"""ONNX models as MLIR, through the importer of IREE's compiler package."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from retarget.extension import CompilerError, UnavailableError
from retarget.support import ScratchFolder, install_hint

from retarget_iree.builds import COMPILER_PACKAGE, CompilerBuild
from retarget_iree.toolchain import VARIABLE, compiler_api, find_compiler

_UNRELATED = (OSError, MemoryError, ImportError)
"""Errors that are not about the model."""


def onnx_version(build: CompilerBuild) -> str:
    """Return the versions of what imports models for a build: of the package onnx, and of the environment's compiler,
    where the build has no importer of its own; `none` without one."""
    import importlib.metadata

    versions = []
    for name in ("onnx",) if build.package is not None else ("onnx", COMPILER_PACKAGE):
        try:
            versions.append(importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            versions.append("none")
    return " ".join(versions)


def import_onnx(content: bytes, name: str) -> bytes:
    """Return the MLIR of a model in the `torch` dialect's ONNX form; `iree-compile --iree-input-type=auto` takes it.

    Raises `CompilerError` for an invalid model and for a model whose tensors lie in other files (their content
    would not be part of the compile key), `UnavailableError` if the package onnx is missing.
    """
    if importlib.util.find_spec("onnx") is None:
        msg = "the package onnx, which reads ONNX models, is not installed"
        raise UnavailableError(msg, hint=install_hint("onnx"))
    import onnx

    try:
        model = onnx.load_from_string(content)
    except Exception as error:  # protobuf's own error type has no stubs
        msg = f"{name}: not an ONNX model: {_first_line(error)}"
        raise CompilerError(msg, verdict=not isinstance(error, _UNRELATED), in_front_half=True) from error
    if not model.graph.node and not model.graph.output:
        msg = f"{name}: not an ONNX model: it holds no graph"
        raise CompilerError(msg, verdict=True, in_front_half=True)
    from onnx.external_data_helper import ExternalDataInfo, uses_external_data

    elsewhere = filter(uses_external_data, model.graph.initializer)
    if outside := sorted({ExternalDataInfo(tensor).location for tensor in elsewhere}):
        msg = (
            f"{name}: tensors lie in other files ({', '.join(outside)}), which the compile key does not cover; "
            "expected a model of one file: save it with onnx.save_model(model, path, save_as_external_data=False)"
        )
        raise CompilerError(msg, verdict=True, in_front_half=True)
    with ScratchFolder("onnx") as folder:
        source, output = folder.path / "model.onnx", folder.path / "model.mlir"
        source.write_bytes(content)
        try:
            _run_importer(source, output)
        except UnavailableError:
            raise
        except Exception as error:  # the importer raises what it and onnx's checker come across, of many types
            text = str(error).replace(str(source), name)
            msg = f"{name}: the ONNX importer refused the model: {_first_line(error).replace(str(source), name)}"
            diagnostics = f"{type(error).__name__}: {text}"
            is_verdict = not isinstance(error, _UNRELATED)
            raise CompilerError(msg, diagnostics, verdict=is_verdict, in_front_half=True) from error
        return output.read_bytes()


def _run_importer(source: Path, output: Path) -> None:
    """Import with the package of the build that compiles; with the environment's, in its own process, where the
    build has none: two libraries of the compiler must not meet. Raises whatever it does."""
    if find_compiler().package is not None:
        with contextlib.suppress(UnavailableError):  # a library that does not load: the importer will say so
            compiler_api()
        from iree.compiler.tools.import_onnx import __main__ as importer

        importer.main(importer.parse_arguments([str(source), "-o", str(output)]))
        return
    argv = [sys.executable, "-P", "-m", "iree.compiler.tools.import_onnx", str(source), "-o", str(output)]
    env = {name: value for name, value in os.environ.items() if name != VARIABLE}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
        raise ImportError(last) if last.startswith("ModuleNotFoundError") else ValueError(last)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
