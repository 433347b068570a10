"""The report of a comparison that did not hold, gathered block by block so that no copy of an array is held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from retarget.model.outcomes import Mismatch

if TYPE_CHECKING:
    from retarget.model.calls import Array

__all__ = ["Distances", "Tally", "index_text", "shape_or_type", "text_of", "type_text"]

_SHOWN = 8
"""How many differing elements a report lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distances:
    """Absolute and relative errors of flat arrays, as float64, NaN where there is none."""

    absolute: npt.NDArray[np.float64]
    relative: npt.NDArray[np.float64]


@dataclass(slots=True)
class _Largest:
    """The largest error that is a number, and the position of its first occurrence."""

    error: float = 0.0
    position: int = -1

    def see(self, errors: npt.NDArray[np.float64], positions: npt.NDArray[np.intp], start: int) -> None:
        known = ~np.isnan(errors)
        if not known.any():
            return
        at = int(np.argmax(np.where(known, errors, -1.0)))
        if self.position < 0 or errors[at] > self.error:
            self.error, self.position = float(errors[at]), start + int(positions[at])


@dataclass(slots=True)
class Tally:
    """What differs so far. Positions count elements in row-major order."""

    count: int = 0
    _rows: list[tuple[int, Any, Any, float, float]] = field(default_factory=list)
    _absolute: _Largest = field(default_factory=_Largest)
    _relative: _Largest = field(default_factory=_Largest)

    def remaining(self) -> int:
        """Return how many more elements the report would list."""
        return _SHOWN - len(self._rows)

    def add(
        self, start: int, positions: npt.NDArray[np.intp], actual: Array, expected: Array, distances: Distances
    ) -> None:
        """Add the differing elements of one block, which begins at `start`: where they are in it, and their values."""
        self.count += positions.size
        for number in range(min(self.remaining(), positions.size)):
            row = (start + int(positions[number]), actual[number], expected[number])
            self._rows.append((*row, float(distances.absolute[number]), float(distances.relative[number])))
        self._absolute.see(distances.absolute, positions, start)
        self._relative.see(distances.relative, positions, start)

    def mismatch(self, values: Array, rule: str, sides: tuple[str, str] = ("actual", "expected")) -> Mismatch:
        """Return the report on `values`, of which at least one element differs by `rule`. `sides` are what the compared
        values are called."""
        shape, total = values.shape, int(values.size)
        table = [("index", *sides, "abs error", "rel error"), *(_cells(row, shape) for row in self._rows)]
        first = f"first at {table[1][0]}: " if shape else ""
        plural = "elements differ" if total != 1 else "element differs"
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        lines = [f"{self.count} of {total} {plural} ({type_text(values)}; {rule})"]
        lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        if self.count > len(self._rows):
            lines.append(f"  … {self.count - len(self._rows)} more")
        max_abs = self._absolute.error if self._absolute.position >= 0 else None
        max_rel = self._relative.error if self._relative.position >= 0 else None
        if max_abs is not None:
            errors = [f"max abs error {_number(max_abs)}{_at(self._absolute.position, shape)}"]
            if max_rel is not None:
                errors.append(f"max rel error {_number(max_rel)}{_at(self._relative.position, shape)}")
            lines.append(", ".join(errors))
        return Mismatch(
            summary=f"{self.count} of {total} {plural}, {first}{sides[0]} {table[1][1]}, {sides[1]} {table[1][2]}",
            report="\n".join(lines),
            mismatched=self.count,
            total=total,
            max_abs_error=max_abs,
            max_rel_error=max_rel,
        )


def shape_or_type(actual: Array, expected: Array, sides: tuple[str, str] = ("actual", "expected")) -> Mismatch | None:
    """Return the mismatch of two arrays that cannot be compared element by element; None if they can."""
    if actual.shape == expected.shape and actual.dtype == expected.dtype:
        return None
    what = " and ".join(
        word
        for word, differs in (
            ("shape", actual.shape != expected.shape),
            ("element type", actual.dtype != expected.dtype),
        )
        if differs
    )
    summary = f"{what} differs: {sides[0]} {type_text(actual)}, {sides[1]} {type_text(expected)}"
    return Mismatch(summary=summary, report=summary)


def type_text(values: Array) -> str:
    """Return shape and element type as reports write them: `2x3xfloat32`."""
    shape = "x".join(str(size) for size in values.shape)
    return f"{shape}x{values.dtype.name}" if shape else str(values.dtype.name)


def text_of(value: Any) -> str:
    """Return one element as reports write it."""
    return str(value)


def index_text(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of a row-major position: `[1, 2]`."""
    return f"[{', '.join(str(int(axis)) for axis in np.unravel_index(position, shape))}]"


def _at(position: int, shape: tuple[int, ...]) -> str:
    """Where an error is; nothing where there is only one element."""
    return f" at {index_text(position, shape)}" if shape else ""


def _cells(row: tuple[int, Any, Any, float, float], shape: tuple[int, ...]) -> tuple[str, str, str, str, str]:
    position, actual, expected, absolute, relative = row
    ours, theirs = text_of(actual), text_of(expected)
    if ours == theirs:  # a NaN of other bits, or what the text does not show
        ours += f" ({_bits(actual)})"
        theirs += f" ({_bits(expected)})"
    return index_text(position, shape), ours, theirs, _number(absolute), _number(relative)


def _bits(value: Any) -> str:
    return f"0x{np.asarray(value).tobytes()[::-1].hex()}"


def _number(value: float) -> str:
    return f"{value:.6g}"
