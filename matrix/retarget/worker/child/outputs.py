"""What a run returned, kept in files: results to compare another run with.

A folder holds `outputs.json` and one file of raw bytes per array, since `.npy` does not know every element type.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from retarget.arrays.dtypes import dtype_named
from retarget.support.errors import RetargetError
from retarget.support.files import write_atomically
from retarget.worker.artifact import OUTPUTS_INDEX

if TYPE_CHECKING:
    from retarget.extension import Array

__all__ = ["CaseOutputs", "OutputsWriter", "read_outputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutputs:
    """What one case gave: its results, and what its checks looked at, in order. `name` is the case's.

    `judged` means that there was something to compare them with.
    """

    name: str
    results: tuple[Array, ...] = ()
    checked: tuple[Array, ...] = ()
    judged: bool = False


@dataclass(slots=True)
class OutputsWriter:
    """Writes the outputs of one run below `folder`, which is created. Nothing is there before `close`."""

    folder: Path
    _cases: list[dict[str, Any]] = field(default_factory=list)
    _files: int = 0

    def add(self, name: str, results: Sequence[Array], checked: Sequence[Array], *, judged: bool = False) -> None:
        """Write the arrays of one case that completed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._cases.append(
            {
                "name": name,
                "results": [self._write(array) for array in results],
                "checked": [self._write(array) for array in checked],
                "judged": judged,
            }
        )

    def close(self) -> None:
        """Write the index: from now on the outputs can be read."""
        write_atomically(self.folder / OUTPUTS_INDEX, json.dumps(self._cases).encode())

    def _write(self, array: Array) -> dict[str, Any]:
        array = np.asarray(array)
        file = f"{self._files}.bin"
        self._files += 1
        (self.folder / file).write_bytes(np.ascontiguousarray(array).tobytes())
        return {"file": file, "dtype": array.dtype.name, "shape": list(array.shape)}


def read_outputs(folder: Path) -> tuple[CaseOutputs, ...]:
    """Read what `OutputsWriter` wrote; the arrays are mapped, not read. Raises `RetargetError` without them."""
    try:
        cases = json.loads((folder / OUTPUTS_INDEX).read_bytes())
        return tuple(
            CaseOutputs(
                name=case["name"],
                results=tuple(_read(folder, entry) for entry in case["results"]),
                checked=tuple(_read(folder, entry) for entry in case["checked"]),
                judged=case["judged"],
            )
            for case in cases
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        msg = f"no recorded outputs can be read from {folder}: {error}"
        raise RetargetError(msg) from error


def _read(folder: Path, entry: dict[str, Any]) -> Array:
    dtype, shape = dtype_named(entry["dtype"]), tuple(entry["shape"])
    if 0 in shape:
        return np.empty(shape, dtype)
    raw = np.memmap(folder / entry["file"], np.uint8, "r")
    return np.asarray(raw).view(dtype).reshape(shape)
