"""ONNX models evaluated by ONNX Runtime, or by the evaluator of the package onnx. Runs in worker processes."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from retarget.extension import UnavailableError, watched
from retarget.support import RetargetError, display_path, install_hint

if TYPE_CHECKING:
    from retarget.extension import Array

_ERRORS_ONLY = 3
"""The level of ONNX Runtime's log, which goes to the worker's."""


def expect_evaluator(package: str) -> None:
    """Raise `UnavailableError` where the package that evaluates models is not installed."""
    if importlib.util.find_spec(package) is None:
        reason = f"the package {package}, which computes what models are expected to return, is not installed"
        raise UnavailableError(reason, hint=install_hint("models" if package == "onnxruntime" else "onnx"))


def evaluate(model: Path, package: str, names: Sequence[str], inputs: Sequence[Array]) -> tuple[object, ...]:
    """Return the outputs of a model for the inputs of those names, in order.

    Raises `RetargetError` for a model that the package cannot evaluate.
    """
    if model.suffix != ".onnx":
        msg = f"{package} evaluates ONNX models, and {display_path(model)} is none; expected 'file.py:function'"
        raise RetargetError(msg)
    feeds = dict(zip(names, (np.asarray(array) for array in inputs), strict=True))
    try:
        with watched():
            if package == "onnx":
                from onnx.reference import ReferenceEvaluator

                return tuple(ReferenceEvaluator(str(model)).run(None, feeds))
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.log_severity_level = _ERRORS_ONLY
            # As the model is written.
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            return tuple(session.run(None, feeds))
    except Exception as error:  # of many types, those of ONNX Runtime without stubs
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        other = "onnxruntime" if package == "onnx" else "onnx"
        msg = f"{package} cannot evaluate {display_path(model)}: {reason}; try reference = {other!r}"
        raise RetargetError(msg) from error
