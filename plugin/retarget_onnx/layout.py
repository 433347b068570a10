"""The names of the files of one generated test, for pytest's process: needs no NumPy."""

from __future__ import annotations

__all__ = ["CASES_FILE", "MODEL_FILE"]

CASES_FILE = "cases.json"
MODEL_FILE = "model.onnx"
