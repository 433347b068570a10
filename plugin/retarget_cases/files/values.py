"""Values as a cases file writes them: literals, files, generators. Needs no NumPy; `arrays` converts them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping

from msgspec import Struct
from retarget.model import DTYPE_NAMES, ELEMENT_TYPES, element_dtype
from retarget.session import describe_value
from retarget.support import KeyPath, Problem, did_you_mean

from retarget_cases.files.tables import (
    DISTRIBUTIONS,
    FORMS,
    FillTable,
    IntegersTable,
    UniformTable,
    ValuesTable,
    ValueTable,
    read_table,
)

_FILES = (".npy", ".npz", ".pb", ".bin")
_MAX_RANK = 64
"""The most dimensions of a NumPy array."""
_KEYS = (*FORMS, "random")


class Value(Struct, frozen=True, kw_only=True):
    """One argument or result as written. `key_path` is its key path; `is_table` means that it is written as a table."""

    key_path: KeyPath
    table: ValueTable
    is_table: bool = False

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape, where it is written."""
        return None if self.table.shape is None else tuple(self.table.shape)

    @property
    def dtype(self) -> str | None:
        """The NumPy name of the element type, where it is written."""
        return None if self.table.dtype is None else element_dtype(self.table.dtype)

    def files(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Return the paths that it names, each with its valid suffixes."""
        for form, suffixes in (("npy", (".npy",)), ("npz", (".npz",)), ("pb", (".pb",)), ("bin", (".bin", ".raw"))):
            if (path := getattr(self.table, form, None)) is not None:
                yield path, suffixes


def read_value(written: object, key_path: KeyPath, problems: list[Problem]) -> Value | None:
    """Return a value. The problems that can be found without its type are added to `problems`; it may then be None."""
    if isinstance(written, str):
        return _file(written, key_path, problems)
    if isinstance(written, dict):
        return _table(written, key_path, problems)
    count = len(problems)
    problems.extend(literal_problems(written, key_path))
    return Value(key_path=key_path, table=ValuesTable(values=written)) if len(problems) == count else None


def literal_problems(written: object, key_path: KeyPath) -> Iterable[Problem]:
    """Yield what is wrong with a literal: entries that are neither numbers nor arrays, arrays of unequal lengths."""
    if isinstance(written, list):
        kinds = {isinstance(entry, list) for entry in written}
        if len(kinds) > 1:
            index = next(
                at for at, entry in enumerate(written) if isinstance(entry, list) != isinstance(written[0], list)
            )
            found = f"{describe_value(written[index])} beside {describe_value(written[0])}"
            yield Problem((*key_path, index), f"found {found}, expected only arrays or none")
            return
        if kinds == {True}:
            length = len(written[0])
            for index, entry in enumerate(written):
                if len(entry) != length:
                    found = f"{len(entry)} {'entry' if len(entry) == 1 else 'entries'}"
                    yield Problem((*key_path, index), f"found {found}, expected {length}, like the first")
                    return
        for index, entry in enumerate(written):
            yield from literal_problems(entry, (*key_path, index))
    elif isinstance(written, str):
        if not _is_number(written):
            hint = "; a file is a whole value" if written.endswith(_FILES) else ""
            yield Problem(key_path, f"found {describe_value(written)}, expected a number as text{hint}")
    elif not isinstance(written, bool | int | float):
        yield Problem(key_path, f"found {describe_value(written)}, expected a number, true, false or an array of them")


def _is_number(text: str) -> bool:
    """Return whether a text is a number of some element type: `0x10`, `nan`, `0x1p-3`, `1-2j`."""
    read_float = float.fromhex if "0x" in text.lower() else float
    for read in (lambda: complex(text.replace(" ", "")), lambda: int(text, 0), lambda: read_float(text)):
        with contextlib.suppress(ValueError):
            with contextlib.suppress(OverflowError):  # reported when its type is known
                read()
            return True
    return False


def _file(written: str, key_path: KeyPath, problems: list[Problem]) -> Value | None:
    if not written.endswith(_FILES):
        expected = "expected a path that ends with .npy, .npz, .pb or .bin; a number as text is { values = '…' }"
        problems.append(Problem(key_path, f"found the string {written!r}, {expected}"))
        return None
    form = written.rpartition(".")[2]
    return Value(key_path=key_path, table=FORMS[form].model_validate({form: written}))


def _table(written: Mapping[str, object], key_path: KeyPath, problems: list[Problem]) -> Value | None:
    forms = [key for key in _KEYS if key in written]
    if len(forms) != 1:
        found = "both " + " and ".join(forms) if forms else f"a table of {', '.join(written) or 'nothing'}"
        hint = "" if forms else next(filter(None, (did_you_mean(key, _KEYS) for key in written)), "")
        problems.append(Problem(key_path, f"found {found}, expected one of {', '.join(_KEYS)}{hint}"))
        return None
    distribution = written.get("random")
    model = FORMS.get(forms[0]) or (DISTRIBUTIONS.get(distribution) if isinstance(distribution, str) else None)
    if model is None:
        hint = did_you_mean(distribution, DISTRIBUTIONS) if isinstance(distribution, str) else ""
        message = f"found {describe_value(distribution)}, expected one of {', '.join(DISTRIBUTIONS)}{hint}"
        problems.append(Problem((*key_path, "random"), message))
        return None
    count = len(problems)
    table = read_table(model, written, key_path, problems)
    if table is None:
        return None
    if table.dtype is not None and element_dtype(table.dtype) is None:
        hint = did_you_mean(table.dtype, [*DTYPE_NAMES, *ELEMENT_TYPES])
        message = f"found {table.dtype!r}, expected an element type, such as float32 or f32{hint}"
        problems.append(Problem((*key_path, "dtype"), message))
    if table.shape is not None and len(table.shape) > _MAX_RANK:
        problems.append(Problem((*key_path, "shape"), f"found {len(table.shape)} sizes, expected at most {_MAX_RANK}"))
    if isinstance(table, ValuesTable):
        problems.extend(literal_problems(table.values, (*key_path, "values")))
    elif isinstance(table, FillTable):
        problems.extend(literal_problems(table.fill, (*key_path, "fill")))
    elif isinstance(table, UniformTable) and table.low > table.high:
        problems.append(Problem((*key_path, "low"), f"found {table.low:g}, expected at most high, {table.high:g}"))
    elif isinstance(table, UniformTable) and table.high - table.low == math.inf:
        message = f"found {table.low:g} to {table.high:g}, expected a range of at most 1.79e308"
        problems.append(Problem((*key_path, "low"), message))
    elif isinstance(table, IntegersTable) and table.low >= table.high:
        message = f"found {table.low}, expected less than high, {table.high}, which is not included"
        problems.append(Problem((*key_path, "low"), message))
    return Value(key_path=key_path, table=table, is_table=True) if len(problems) == count else None
