"""Compares what a device computed with what was expected, and judges calls. Runs in worker processes only.

`eq` compares element type, shape and bits, as iree-check-module does: a NaN equals a NaN of the same bits, -0.0 is not
0.0. `almost_eq` holds for an element where `a == e`, where `e` is finite and `|a - e| <= atol + rtol * |e|`, or where
both are NaN; so equal infinities pass and an infinity never passes for a finite number. It is evaluated as
iree-check-module does, in binary32 for all floating types of up to 32 bits and in binary64 for f64. Integers, which
iree-check-module refuses there, are compared by their exact difference, without wraparound; complex numbers by the
magnitude of the difference.

Arrays are gone through in blocks: the extra memory of a comparison does not grow with their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from retarget.arrays.dtypes import Elements
from retarget.model.calls import Check, Tolerance
from retarget.model.outcomes import Mismatch

if TYPE_CHECKING:
    from retarget.model.calls import Array

_BLOCK = 1 << 16
"""Bytes of each array that are compared at a time. The intermediate arrays of a block then stay in the cache and below
the size from which the allocator asks the system for memory: blocks of 32 to 128 KiB are 4 times as fast as 1 MiB."""

_Mask = npt.NDArray[np.bool_]

SIDES = ("actual", "expected")
NOTHING: Mapping[str, Any] = MappingProxyType({})
"""What a report shows beside the two that are compared: no others."""


def compare_check(check: Check) -> Mismatch | None:
    """Return how a module's own check failed; None if it holds. `true` and `false` take scalars or arrays of any rank.

    Raises `ValueError` for a kind of check that does not exist.
    """
    actual = np.asarray(check.actual)
    match check.kind:
        case "eq" if check.expected is not None:
            return _compare(actual, np.asarray(check.expected), _same_bits, "equal bits")
        case "almost_eq" if check.expected is not None:
            return compare_arrays(actual, np.asarray(check.expected), Tolerance(atol=check.atol, rtol=check.rtol))
        case "true" | "all_true":
            return _compare_truth(actual, check.kind, wanted=True)
        case "false":
            return _compare_truth(actual, check.kind, wanted=False)
    msg = f"a check of kind {check.kind!r}, expected eq or almost_eq with expected values, true, false or all_true"
    raise ValueError(msg)


def compare_arrays(
    actual: Array,
    expected: Array,
    tolerance: Tolerance,
    sides: tuple[str, str] = SIDES,
    *,
    beside: Mapping[str, Array] = NOTHING,
) -> Mismatch | None:
    """Return how `actual` differs from `expected`; None if it holds. Both have the same shape and element type.

    An element also holds if it is at most `ulp` representable values of its own floating type away; a complex one if
    both its parts are. Errors are in the units of the values. `same_bits` is left to the caller. `sides` are what the
    report calls the two, `beside` are the values of others, which it shows too.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    atol, rtol, ulp = tolerance.atol, tolerance.rtol, tolerance.ulp
    kind = _kind(actual.dtype)

    def holds(ours: Array, theirs: Array) -> _Mask:
        if kind == "integer":
            return _integers_hold(ours, theirs, atol, rtol)
        held = _floats_hold(ours, theirs, atol, rtol, equal_nan=tolerance.equal_nan)
        if ulp is not None and not held.all():
            held |= _within_ulp(ours, theirs, ulp)
        return held

    rule = f"atol {atol:g}, rtol {rtol:g}" + ("" if ulp is None else f", {ulp} ulp")
    return _compare(actual, expected, holds, rule, sides, beside=beside)


def largest_ulp(actual: Array, expected: Array) -> int | None:
    """Return how many representable values the farthest two elements are apart.

    None for what has no such distance: integers, complex numbers, other shapes or types, and elements that are not
    finite, which count as the farthest.
    """
    if actual.dtype != expected.dtype or actual.shape != expected.shape or _kind(actual.dtype) != "float":
        return None
    most = 0
    for (_, ours), (_, theirs) in zip(_blocks(actual), _blocks(expected), strict=True):
        left, right = _widened(ours), _widened(theirs)
        differ = ~((left == right) | (np.isnan(left) & np.isnan(right)))
        if not (np.isfinite(left[differ]) & np.isfinite(right[differ])).all():
            return None
        if differ.any():
            most = max(most, int(_integer_distance(_ordered(ours[differ]), _ordered(theirs[differ])).max()))
    return most


# ---------------------------------------------------------------- block by block


def _compare(
    actual: Array,
    expected: Array,
    holds: Callable[[Array, Array], _Mask],
    rule: str,
    sides: tuple[str, str] = SIDES,
    *,
    beside: Mapping[str, Array] = NOTHING,
) -> Mismatch | None:
    other = shape_or_type(actual, expected, sides, beside)
    if other is not None:
        return other
    tally = Tally()
    with np.errstate(all="ignore"):
        for (start, ours), (_, theirs) in zip(_blocks(actual), _blocks(expected), strict=True):
            held = holds(ours, theirs)
            if held.all():
                continue
            positions = np.flatnonzero(~held)
            tally.add(start, positions, ours[positions], theirs[positions])
    return tally.mismatch(actual, rule, sides, beside) if tally.count else None


def _blocks(values: Array) -> Iterator[tuple[int, Array]]:
    """Yield flat pieces in row-major order, each with the position of its first element."""
    step = max(_BLOCK // values.dtype.itemsize, 1)
    flat: Any = values.reshape(-1) if values.flags.c_contiguous else values.flat
    for start in range(0, values.size, step):
        yield start, flat[start : start + step]


# ---------------------------------------------------------------- what holds


def _same_bits(actual: Array, expected: Array) -> _Mask:
    return np.asarray((_raw(actual) == _raw(expected)).all(axis=1))


def _raw(values: Array) -> npt.NDArray[Any]:
    """View flat values as rows of unsigned integers, the fewest that they consist of."""
    size = values.dtype.itemsize
    width = size if size in {1, 2, 4, 8} else 8 if size % 8 == 0 else 1
    return np.ascontiguousarray(values).view(np.dtype(f"u{width}")).reshape(-1, size // width)


def _compare_truth(actual: Array, kind: str, *, wanted: bool) -> Mismatch | None:
    count = 0
    shown: list[tuple[int, Any]] = []
    for start, values in _blocks(actual):
        positions = np.flatnonzero(values.astype(np.bool_) != wanted)
        count += positions.size
        shown += [
            (start + int(position), values[position]) for position in positions[: Tally().remaining() - len(shown)]
        ]
    if not count:
        return None
    word = "nonzero" if wanted else "zero"
    where = f" at {index_text(shown[0][0], actual.shape)}" if actual.ndim else ""
    subject = f"{count} of {actual.size} elements are not {word}, first" if actual.ndim else f"not {word}:"
    summary = f"{kind}: {subject}{where}{' is' if actual.ndim else ''} {shown[0][1]!s}"
    more = [f"  {index_text(position, actual.shape)} is {value!s}" for position, value in shown if actual.ndim]
    return Mismatch(summary=summary, report="\n".join([summary, *more]))


def _integers_hold(actual: Array, expected: Array, atol: float, rtol: float) -> _Mask:
    held = np.asarray(actual == expected)
    if (atol == 0 and rtol == 0) or held.all():
        return held
    distance = _integer_distance(actual, expected)
    if rtol == 0:
        return np.asarray(distance <= np.uint64(int(max(atol, 0.0)) if atol < 2.0**64 else 2**64 - 1))
    bound = np.floor(atol + rtol * np.abs(expected.astype(np.float64)))
    whole = np.where(bound < 2.0**64, bound, 0).astype(np.uint64)
    return np.asarray((distance <= whole) | (bound >= 2.0**64))


def _integer_distance(actual: Array, expected: Array) -> npt.NDArray[np.uint64]:
    """Return |actual - expected| exactly: in 64-bit two's complement the larger minus the smaller cannot wrap."""
    wide = np.uint64 if Elements.of(actual.dtype).kind == "u" else np.int64
    ours, theirs = actual.astype(wide, copy=False), expected.astype(wide, copy=False)
    larger, smaller = np.maximum(ours, theirs).astype(np.uint64), np.minimum(ours, theirs).astype(np.uint64)
    return np.asarray(larger - smaller)


def _floats_hold(actual: Array, expected: Array, atol: float, rtol: float, *, equal_nan: bool) -> _Mask:
    wide = _arithmetic(actual.dtype)
    ours, theirs = actual.astype(wide, copy=False), expected.astype(wide, copy=False)
    held = np.asarray(ours == theirs)
    if held.all():
        return held
    real = np.dtype(np.float32 if wide.itemsize == 4 else np.float64).type
    bound = np.abs(theirs)
    near = np.isfinite(bound)
    np.multiply(bound, real(rtol), out=bound)
    np.add(bound, real(atol), out=bound)
    near &= (np.abs(ours - theirs) <= bound) & np.isfinite(ours)  # a bound may be infinite, as a large `atol` is
    held |= near
    if equal_nan and not held.all():
        both = np.isnan(ours) & np.isnan(theirs)
        if wide.kind == "c" and both.any():  # a complex value is NaN if one part is; the other part still counts
            our_parts, their_parts = np.ascontiguousarray(ours).view(real), np.ascontiguousarray(theirs).view(real)
            parts_hold = _floats_hold(our_parts, their_parts, atol, rtol, equal_nan=True)
            both &= parts_hold.reshape(-1, 2).all(axis=1)
        held |= both
    return held


def _within_ulp(actual: Array, expected: Array, ulp: int) -> _Mask:
    """Return which elements are at most `ulp` representable values apart; NaN and infinities never are."""
    if actual.dtype.kind == "c":
        part = np.dtype(f"f{actual.dtype.itemsize // 2}")
        ours, theirs = np.ascontiguousarray(actual).view(part), np.ascontiguousarray(expected).view(part)
        return np.asarray(((ours == theirs) | _within_ulp(ours, theirs, ulp)).reshape(-1, 2).all(axis=1))
    finite = np.isfinite(_widened(actual)) & np.isfinite(_widened(expected))
    distance = _integer_distance(_ordered(actual), _ordered(expected))
    return np.asarray(finite & (distance <= np.uint64(max(ulp, 0))))


def _ordered(values: Array) -> npt.NDArray[np.int64]:
    """Map floats to integers in the same order, neighbours to neighbours, both zeros to 0."""
    raw = np.ascontiguousarray(values).view(np.dtype(f"u{values.dtype.itemsize}"))
    if values.dtype.name == "float8_e8m0fnu":  # powers of two, without a sign
        return raw.astype(np.int64)
    sign = np.asarray(1 << (Elements.of(values.dtype).bits - 1), raw.dtype)
    magnitude = (raw & (sign - np.asarray(1, raw.dtype))).astype(np.int64)
    return np.asarray(np.where(raw & sign != 0, -magnitude, magnitude), np.int64)


# ---------------------------------------------------------------- element types


def _kind(dtype: np.dtype[Any]) -> str:
    """Return `integer` (Booleans too), `complex` or `float`."""
    return {"f": "float", "c": "complex"}.get(Elements.of(dtype).kind, "integer")


def _arithmetic(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which a float or complex type is compared."""
    if dtype.kind == "c":
        return np.dtype(np.complex128)  # binary32 has not the magnitude of every complex64
    return np.dtype(np.float64 if dtype.itemsize > 4 else np.float32)


def _widened(values: Array) -> Array:
    return values.astype(_arithmetic(values.dtype), copy=False)


def _distances(actual: Array, expected: Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the absolute and the relative errors of two flat arrays. Infinite where one is infinite, NaN where one is
    NaN or there is none."""
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
    return absolute, np.where(np.isfinite(magnitude), relative, np.nan)


_SHOWN = 8
"""How many differing elements a report lists."""


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
    """The differences so far. Positions count elements in row-major order."""

    count: int = 0
    _rows: list[tuple[int, Any, Any, float, float]] = field(default_factory=list)
    _absolute: _Largest = field(default_factory=_Largest)
    _relative: _Largest = field(default_factory=_Largest)

    def remaining(self) -> int:
        """Return how many more elements the report would list."""
        return _SHOWN - len(self._rows)

    def add(self, start: int, positions: npt.NDArray[np.intp], actual: Array, expected: Array) -> None:
        """Add the differing elements of one block, which begins at `start`: where they are in it, and their values."""
        absolute, relative = _distances(actual, expected)
        self.count += positions.size
        for number in range(min(self.remaining(), positions.size)):
            row = (start + int(positions[number]), actual[number], expected[number])
            self._rows.append((*row, float(absolute[number]), float(relative[number])))
        self._absolute.see(absolute, positions, start)
        self._relative.see(relative, positions, start)

    def mismatch(
        self, values: Array, rule: str, sides: tuple[str, str] = SIDES, beside: Mapping[str, Array] = NOTHING
    ) -> Mismatch:
        """Return the report on `values`, of which at least one element differs by `rule`. `sides` are what the compared
        values are called; those of the same shape `beside` them are shown."""
        shape, total = values.shape, int(values.size)
        more = {name: one.reshape(-1) for name, one in beside.items() if one.shape == shape}
        table = [("index", *sides, *more, "abs error", "rel error")]
        for row in self._rows:
            *cells, absolute, relative = _cells(row, shape)
            table.append((*cells, *(str(one[row[0]]) for one in more.values()), absolute, relative))
        first = f"first at {table[1][0]}: " if shape else ""
        plural = "elements differ" if total != 1 else "element differs"
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        lines = [f"{self.count} of {total} {plural} ({type_text(values)}; {rule})"]
        lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        if self.count > len(self._rows):
            lines.append(f"  … {self.count - len(self._rows)} more")
        largest = (("max abs error", self._absolute), ("max rel error", self._relative))
        errors = [
            f"{what} {_number(one.error)}{_at(one.position, shape)}" for what, one in largest if one.position >= 0
        ]
        lines += [", ".join(errors)] if errors else []
        return Mismatch(
            summary=f"{self.count} of {total} {plural}, {first}{sides[0]} {table[1][1]}, {sides[1]} {table[1][2]}",
            report="\n".join(lines),
        )


def shape_or_type(
    actual: Array, expected: Array, sides: tuple[str, str] = SIDES, beside: Mapping[str, Array] = NOTHING
) -> Mismatch | None:
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
    named = [(sides[0], actual), (sides[1], expected), *beside.items()]
    summary = f"{what} differs: {', '.join(f'{name} {type_text(values)}' for name, values in named)}"
    return Mismatch(summary=summary, report=summary)


def type_text(values: Array) -> str:
    """Return shape and element type as reports write them: `2x3xfloat32`."""
    shape = "x".join(str(size) for size in values.shape)
    return f"{shape}x{values.dtype.name}" if shape else str(values.dtype.name)


def index_text(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of a row-major position: `[1, 2]`."""
    return f"[{', '.join(str(int(axis)) for axis in np.unravel_index(position, shape))}]"


def _at(position: int, shape: tuple[int, ...]) -> str:
    """Where an error is; nothing where there is only one element."""
    return f" at {index_text(position, shape)}" if shape else ""


def _cells(row: tuple[int, Any, Any, float, float], shape: tuple[int, ...]) -> tuple[str, str, str, str, str]:
    position, actual, expected, absolute, relative = row
    ours, theirs = str(actual), str(expected)
    if ours == theirs:  # a NaN of other bits, or what the text does not show
        ours += f" ({_bits(actual)})"
        theirs += f" ({_bits(expected)})"
    return index_text(position, shape), ours, theirs, _number(absolute), _number(relative)


def _bits(value: Any) -> str:
    return f"0x{np.asarray(value).tobytes()[::-1].hex()}"


def _number(value: float) -> str:
    return f"{value:.6g}"


def mismatches_of(
    checks: Sequence[Check],
    results: Sequence[Array],
    expected: Sequence[Array | None] | None,
    tolerances: Mapping[str, Tolerance],
    reference: str = "",
) -> list[Mismatch]:
    """Return how checks failed, then how results differ from what is `expected`, if anything is: see
    `failing_results`."""
    found = failing_checks(checks)
    return found if expected is None else [*found, *failing_results(results, expected, tolerances, reference)]


def failing_checks(checks: Sequence[Check]) -> list[Mismatch]:
    """Return how checks failed, in order."""
    found = []
    for number, check in enumerate(checks, 1):
        mismatch = compare_check(check)
        if mismatch is not None:
            which = f"check {number} of {len(checks)}: " if len(checks) > 1 else ""
            found.append(_labelled(mismatch, which))
    return found


def failing_results(
    results: Sequence[Array],
    expected: Sequence[Array | None],
    tolerances: Mapping[str, Tolerance],
    reference: str = "",
    *,
    sides: tuple[str, str] = SIDES,
    beside: Mapping[str, Sequence[Array]] = NOTHING,
) -> list[Mismatch]:
    """Return how results differ from what is expected; None expects anything.

    `tolerances` are by the NumPy name of the expected result's element type, `""` for all others; equal values are
    required where there is none. `reference` is the compiler config of the expected values, empty for the case's own
    values. `sides` and `beside` are as of `compare_arrays`.
    """
    against = f" against what {reference} gave" if reference else ""
    if len(results) != len(expected):
        summary = f"{len(results)} results, expected {len(expected)}{against}"
        return [Mismatch(summary=summary, report=summary)]
    found = []
    for number, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        if wanted is None:
            continue
        named = tolerances.get(np.asarray(wanted).dtype.name)
        tolerance = named if named is not None else tolerances.get("", Tolerance())
        ours = Elements.of(np.asarray(wanted).dtype).resigned(np.asarray(actual))
        more = {name: np.asarray(one[number]) for name, one in beside.items() if number < len(one)}
        if tolerance.same_bits:
            mismatch = _compare(ours, np.asarray(wanted), _same_bits, "equal bits", sides, beside=more)
        else:
            mismatch = compare_arrays(ours, wanted, tolerance, sides, beside=more)
        if mismatch is not None:
            found.append(_labelled(mismatch, f"result {number}{against}: "))
    return found


def _labelled(mismatch: Mismatch, which: str) -> Mismatch:
    return replace(mismatch, summary=which + mismatch.summary, report=which + mismatch.report) if which else mismatch
