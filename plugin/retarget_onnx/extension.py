"""The hooks of the extension `onnx`."""

from __future__ import annotations

__all__: list[str] = []
