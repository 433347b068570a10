"""Compares what a device computed with what was expected. Runs in the runner, never in pytest's process.

`eq` compares element type, shape and bits, as iree-check-module does: a NaN equals a NaN of the same bits, -0.0 is not
0.0. `almost_eq` holds for an element where `a == e`, where `e` is finite and `|a - e| <= atol + rtol * |e|`, or where
both are NaN; so equal infinities pass and an infinity never passes for a finite number. It is evaluated as
iree-check-module does, in binary32 for all floating types of up to 32 bits and in binary64 for f64. Integers, which
iree-check-module refuses there, are compared by their exact difference, without wraparound; complex numbers by the
magnitude of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .extension import Check
from .outcomes import Mismatch

if TYPE_CHECKING:
    from .extension import Array

__all__ = ["compare_arrays", "compare_check"]

_SHOWN = 8
"""How many differing elements a report lists."""

_Mask = npt.NDArray[np.bool_]


def compare_check(check: Check) -> Mismatch | None:
    """Return how a module's own check failed; None if it holds. `true` and `false` take scalars or arrays of any rank.

    Raises `ValueError` for a kind of check that does not exist.
    """
    actual = np.asarray(check.actual)
    match check.kind:
        case "eq" if check.expected is not None:
            return _compare_bits(actual, np.asarray(check.expected))
        case "almost_eq" if check.expected is not None:
            return compare_arrays(actual, np.asarray(check.expected), atol=check.atol, rtol=check.rtol)
        case "true" | "all_true":
            return _compare_truth(actual, check.kind, wanted=True)
        case "false":
            return _compare_truth(actual, check.kind, wanted=False)
    msg = f"a check of kind {check.kind!r}, expected eq or almost_eq with expected values, true, false or all_true"
    raise ValueError(msg)


def compare_arrays(
    actual: Array,
    expected: Array,
    *,
    atol: float,
    rtol: float,
    ulp: int | None = None,
    equal_nan: bool = True,
) -> Mismatch | None:
    """Return how `actual` differs from `expected`; None if it holds. Both have the same shape and element type.

    An element also holds if it is at most `ulp` representable values of its own floating type away. Errors are in the
    units of the values; `atol` too, `rtol` is a ratio to the expected value.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    other = _shape_or_type(actual, expected)
    if other is not None:
        return other
    with np.errstate(all="ignore"):
        kind = _kind(actual.dtype)
        if kind == "integer":
            held = _integers_hold(actual, expected, atol, rtol)
        else:
            held = _floats_hold(actual, expected, atol, rtol, equal_nan=equal_nan)
        if ulp is not None and kind == "float" and not held.all():
            held |= _within_ulp(actual, expected, ulp)
    if held.all():
        return None
    rule = f"atol {atol:g}, rtol {rtol:g}" + ("" if ulp is None else f", {ulp} ulp")
    return _report(actual, expected, ~held, rule)


# ---------------------------------------------------------------- what holds


def _compare_bits(actual: Array, expected: Array) -> Mismatch | None:
    other = _shape_or_type(actual, expected)
    if other is not None:
        return other
    ours, theirs = _bytes_of(actual), _bytes_of(expected)
    if np.array_equal(ours, theirs):
        return None
    size = actual.dtype.itemsize
    different = (ours != theirs).reshape(-1, size).any(axis=1).reshape(actual.shape)
    return _report(actual, expected, different, "equal bits")


def _compare_truth(actual: Array, kind: str, *, wanted: bool) -> Mismatch | None:
    wrong = (actual == np.zeros((), actual.dtype)) if wanted else (actual != np.zeros((), actual.dtype))
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    word = "nonzero" if wanted else "zero"
    indices = _first_indices(np.asarray(wrong))
    where = f" at {_place(indices[0])}" if actual.ndim else ""
    subject = f"{count} of {actual.size} elements are not {word}, first" if actual.ndim else f"not {word}:"
    summary = f"{kind}: {subject}{where}{' is' if actual.ndim else ''} {_text(actual[indices[0]])}"
    lines = [summary, *(f"  {_place(index)} is {_text(actual[index])}" for index in indices if actual.ndim)]
    return Mismatch(summary=summary, report="\n".join(lines), mismatched=count, total=int(actual.size))


def _integers_hold(actual: Array, expected: Array, atol: float, rtol: float) -> _Mask:
    if atol == 0 and rtol == 0:
        return np.asarray(actual == expected)
    distance = _integer_distance(actual, expected)
    if rtol == 0:
        return np.asarray(distance <= np.uint64(min(max(int(atol), 0), 2**64 - 1)))
    bound = np.floor(atol + rtol * np.abs(expected.astype(np.float64)))
    whole = np.where(bound < 2.0**64, bound, 0).astype(np.uint64)
    return np.asarray((distance <= whole) | (bound >= 2.0**64))


def _integer_distance(actual: Array, expected: Array) -> npt.NDArray[np.uint64]:
    """Return |actual - expected| exactly: in 64-bit two's complement the larger minus the smaller cannot wrap."""
    wide = np.uint64 if actual.dtype.kind == "u" else np.int64
    ours, theirs = actual.astype(wide, copy=False), expected.astype(wide, copy=False)
    larger, smaller = np.maximum(ours, theirs).astype(np.uint64), np.minimum(ours, theirs).astype(np.uint64)
    return np.asarray(larger - smaller)


def _floats_hold(actual: Array, expected: Array, atol: float, rtol: float, *, equal_nan: bool) -> _Mask:
    wide = _arithmetic(actual.dtype)
    ours, theirs = actual.astype(wide, copy=False), expected.astype(wide, copy=False)
    real = np.dtype(np.float32 if wide in {np.dtype(np.float32), np.dtype(np.complex64)} else np.float64).type
    bound = np.abs(theirs)
    bound = np.multiply(bound, real(rtol), out=bound if bound.ndim else None)
    bound = np.add(bound, real(atol), out=bound if bound.ndim else None)
    held = np.asarray(np.abs(ours - theirs) <= bound)
    held &= np.isfinite(theirs)
    held |= ours == theirs
    if equal_nan and not held.all():
        held |= np.isnan(ours) & np.isnan(theirs)
    return held


def _within_ulp(actual: Array, expected: Array, ulp: int) -> _Mask:
    """Tell which elements are at most `ulp` representable values apart; NaN and infinities never are."""
    finite = np.isfinite(_widened(actual)) & np.isfinite(_widened(expected))
    distance = _integer_distance(_ordered(actual), _ordered(expected))
    return np.asarray(finite & (distance <= np.uint64(ulp)))


def _ordered(values: Array) -> npt.NDArray[np.int64]:
    """Map sign-magnitude floats to integers in the same order, neighbours to neighbours, both zeros to 0."""
    bits = values.dtype.itemsize * 8
    raw = np.ascontiguousarray(values).view(np.dtype(f"u{values.dtype.itemsize}")).reshape(values.shape)
    magnitude = (raw & np.asarray((1 << (bits - 1)) - 1, raw.dtype)).astype(np.int64)
    negative = raw >> np.asarray(bits - 1, raw.dtype) != 0
    return np.asarray(np.where(negative, -magnitude, magnitude), np.int64)


# ---------------------------------------------------------------- element types


def _kind(dtype: np.dtype[Any]) -> str:
    """Return `integer` (Booleans too), `complex` or `float`."""
    if dtype.kind in "biu":
        return "integer"
    if dtype.kind == "c":
        return "complex"
    if dtype.kind == "f" or dtype.name.startswith(("bfloat", "float")):
        return "float"
    return "integer"


def _arithmetic(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which a float or complex type is compared."""
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.float64 if dtype.itemsize > 4 else np.float32)


def _widened(values: Array) -> Array:
    return values.astype(_arithmetic(values.dtype), copy=False)


def _bytes_of(values: Array) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8)


# ---------------------------------------------------------------- the report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Errors:
    """Absolute and relative errors of the differing elements, as float64, NaN where there is none."""

    absolute: npt.NDArray[np.float64]
    relative: npt.NDArray[np.float64]


def _shape_or_type(actual: Array, expected: Array) -> Mismatch | None:
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
    summary = f"{what} differs: actual {_type_text(actual)}, expected {_type_text(expected)}"
    return Mismatch(summary=summary, report=summary)


def _report(actual: Array, expected: Array, different: _Mask, rule: str) -> Mismatch:
    count, total = int(np.count_nonzero(different)), int(actual.size)
    indices = _first_indices(different)
    ours, theirs = actual[different], expected[different]
    with np.errstate(all="ignore"):
        errors = _errors(ours, theirs)
    rows = [("index", "actual", "expected", "abs error", "rel error")]
    for number, index in enumerate(indices):
        ours_text, theirs_text = _text(actual[index]), _text(expected[index])
        if ours_text == theirs_text:  # a NaN of other bits, or what the text does not show
            ours_text += f" ({_bits(actual[index])})"
            theirs_text += f" ({_bits(expected[index])})"
        rows.append(
            (
                _place(index),
                ours_text,
                theirs_text,
                _number(errors.absolute[number]),
                _number(errors.relative[number]),
            )
        )
    first = f"first at {rows[1][0]}: " if actual.ndim else ""
    plural = "elements differ" if total != 1 else "element differs"
    summary = f"{count} of {total} {plural}, {first}actual {rows[1][1]}, expected {rows[1][2]}"
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [f"{count} of {total} {plural} ({_type_text(actual)}; {rule})"]
    lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    if count > len(indices):
        lines.append(f"  … {count - len(indices)} more")
    max_abs, max_abs_at = _largest(errors.absolute, different)
    max_rel, max_rel_at = _largest(errors.relative, different)
    if max_abs is not None:
        told = f"max abs error {_number(max_abs)} at {_place(max_abs_at)}"
        if max_rel is not None:
            told += f", max rel error {_number(max_rel)} at {_place(max_rel_at)}"
        lines.append(told)
    return Mismatch(
        summary=summary,
        report="\n".join(lines),
        mismatched=count,
        total=total,
        max_abs_error=max_abs,
        max_rel_error=max_rel,
    )


def _errors(actual: Array, expected: Array) -> _Errors:
    """Return the errors of two flat arrays. Infinite where one is infinite, NaN where one is NaN."""
    kind = _kind(actual.dtype)
    if kind == "integer":
        absolute = _integer_distance(actual, expected).astype(np.float64)
        magnitude = np.abs(expected.astype(np.float64))
    else:
        wide = np.complex128 if kind == "complex" else np.float64
        ours, theirs = actual.astype(wide), expected.astype(wide)
        absolute = np.abs(ours - theirs)
        magnitude = np.abs(theirs)
    relative = np.where(magnitude > 0, absolute / np.where(magnitude > 0, magnitude, 1), np.nan)
    return _Errors(absolute=absolute, relative=np.where(np.isfinite(magnitude), relative, np.nan))


def _largest(errors: npt.NDArray[np.float64], different: _Mask) -> tuple[float | None, tuple[int, ...]]:
    """Return the largest error that is a number and where it is; None if there is none."""
    if np.isnan(errors).all():
        return None, ()
    position = int(np.nanargmax(errors))
    flat = int(np.flatnonzero(different)[position])
    return float(errors[position]), tuple(int(axis) for axis in np.unravel_index(flat, different.shape))


def _first_indices(wrong: _Mask) -> list[tuple[int, ...]]:
    flat = np.flatnonzero(wrong)[:_SHOWN]
    return [tuple(int(axis) for axis in np.unravel_index(position, wrong.shape)) for position in flat]


def _place(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]"


def _text(value: Any) -> str:
    return str(value)


def _bits(value: Any) -> str:
    return f"0x{np.asarray(value).tobytes()[::-1].hex()}"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _type_text(values: Array) -> str:
    shape = "x".join(str(size) for size in values.shape)
    return f"{shape}x{values.dtype.name}" if shape else str(values.dtype.name)
