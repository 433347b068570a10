"""The hooks of the extension `onnx`: the case loader `onnx-backend`."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, hookimpl

from retarget_cases.onnx.loader import OnnxBackendLoader


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loader `onnx-backend`."""
    return (OnnxBackendLoader(),)
