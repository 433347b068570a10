"""The names of the files of one made test. Apart, so that pytest's process learns them without NumPy."""

from __future__ import annotations

__all__ = ["CASES_FILE", "MODEL_FILE"]

CASES_FILE = "cases.json"
MODEL_FILE = "model.onnx"
