"""The kind `onnx-backend`: the node tests of the ONNX project."""

from __future__ import annotations
