"""The parameter files of the suite `parameters`, one of each format that IREE reads."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

import ml_dtypes
import numpy as np

from generator.support import Array

_ALIGNMENT = 64


def _padded(content: bytes, alignment: int = _ALIGNMENT) -> bytes:
    return content + bytes(-len(content) % alignment)


def irpa(values: Mapping[str, Array], splats: Mapping[str, tuple[bytes, int]]) -> bytes:
    """Return an archive of IREE's own format. Splats are one element, as bytes, and the bytes that it fills."""
    names, data, entries = b"", b"", []
    for name, value in values.items():
        raw = value.tobytes()
        words = (len(data), len(raw))
        entries.append(struct.pack("<QIQQQQQQQQ", 76, 2, 0, len(names), len(name), 0, 0, _ALIGNMENT, *words))
        names, data = names + name.encode(), _padded(data + raw)
    for name, (element, size) in splats.items():
        head = struct.pack("<QIQQQQQQQ", 85, 1, 0, len(names), len(name), 0, 0, _ALIGNMENT, size)
        entries.append(head + struct.pack("<16sB", element, len(element)))
        names += name.encode()
    table = b"".join(_padded(entry, 16) for entry in entries)
    start = 96 + len(table)
    segments = (96, len(table), start, len(names), len(_padded(bytes(start) + names)), len(data))
    head = struct.pack("<4sHHQQQQ6Q", b"IRPA", 0, 0, 88, 0, 0, len(entries), *segments)
    return _padded(_padded(head, 16) + table + names) + data


_SAFETENSORS = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int8": "I8", "int32": "I32"}


def safetensors(values: Mapping[str, Array]) -> bytes:
    """Return an archive as https://github.com/huggingface/safetensors describes it."""
    header, data = {}, b""
    for name, value in values.items():
        ends = [len(data), len(data) + value.nbytes]
        header[name] = {"dtype": _SAFETENSORS[value.dtype.name], "shape": list(value.shape), "data_offsets": ends}
        data += value.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


_GGUF = {"float32": 0, "float16": 1, "int8": 24, "int32": 26}


def gguf(values: Mapping[str, Array]) -> bytes:
    """Return an archive as https://github.com/ggml-org/ggml/blob/master/docs/gguf.md describes it."""
    infos, data = b"", b""
    for name, value in values.items():
        infos += struct.pack("<Q", len(name)) + name.encode()
        infos += struct.pack(f"<I{value.ndim}QIQ", value.ndim, *value.shape[::-1], _GGUF[value.dtype.name], len(data))
        data = _padded(data + value.tobytes(), 32)
    key = b"general.alignment"
    head = struct.pack("<4sIQQQ", b"GGUF", 3, len(values), 1, len(key)) + key + struct.pack("<II", 4, 32)
    return _padded(head + infos, 32) + data


def archives() -> dict[str, bytes]:
    """Return the parameter files by their paths below suites/."""
    matrix = (np.arange(15).reshape(5, 3) - 7).astype(np.float32)
    small = np.arange(-3, 4)
    return {
        "parameters/matrix.irpa": irpa(
            {"matrix": matrix, "state": np.array([10, 20, 30], np.float32)}, {"halves": (np.float32(0.5).tobytes(), 12)}
        ),
        "parameters/bias.safetensors": safetensors(
            {
                "bias": np.array([100, 200, 300], np.float32),
                "i8": small.astype(np.int8),
                "i32": small.astype(np.int32) << 20,
                "f16": (small / 4).astype(np.float16),
                "bf16": (small / 2).astype(ml_dtypes.bfloat16),
            }
        ),
        "parameters/scale.gguf": gguf({"unused": matrix[:1], "scale": np.array([1, 2, -1], np.float32)}),
    }
