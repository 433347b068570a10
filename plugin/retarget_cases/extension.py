"""The hooks of the extension `cases`. Nothing here imports NumPy; what does is imported in device workers."""

from __future__ import annotations

from collections.abc import Iterable

from retarget.extension import CaseLoader, hookimpl

from retarget_cases.loader import CasesLoader, ModelsLoader


@hookimpl
def retarget_case_loaders() -> Iterable[CaseLoader]:
    """The case loaders `cases` and `onnx`."""
    return (CasesLoader(), ModelsLoader())
