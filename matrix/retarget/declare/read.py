"""The data of a declaration file → tables, with every error of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from retarget.declare.axes import Combination, combinations, fill, placeholders
from retarget.declare.schema.errors import schema_problems
from retarget.declare.schema.kept import SORTS, Declared, FileTables
from retarget.declare.schema.tables import ConfigTable, DeclarationFile, table_of
from retarget.support.errors import Diagnostic, did_you_mean
from retarget.support.toml import KeyPath, Problem

_Table = TypeVar("_Table", bound=BaseModel)


def tables_of(file: Path, text: str, data: Mapping[str, object], unreadable: tuple[Diagnostic, ...]) -> FileTables:
    """Return the tables in a file's data. The errors are those of the text, which are `unreadable`, and of each table
    for itself, not of what names refer to."""
    if unreadable:
        return FileTables(file=file, hiding=frozenset(DeclarationFile.model_fields), unreadable=unreadable)
    problems: list[Problem] = []
    try:
        DeclarationFile.model_validate(data)
    except ValidationError as error:
        problems.extend(schema_problems(error, data))
    found = {sort: _TablesOfKind(kind, data) for sort, kind in SORTS.items()}
    for one in found.values():
        _fill_axes(one, problems)
    problems.extend(_nul_problems(data))
    return FileTables(
        file=file,
        text=text,
        root=data.get("root") is True,
        invalid={one.kind: frozenset(one.invalid) for one in found.values() if one.invalid},
        hiding=frozenset(one.kind for one in found.values() if one.is_hiding),
        problems=tuple(problems),
        **cast("dict[str, Any]", {sort: tuple(one.tables) for sort, one in found.items()}),
    )


class _TablesOfKind:
    """The tables of one kind in a file. What is wrong with them is reported with the whole file."""

    def __init__(self, kind: str, data: Mapping[str, object]) -> None:
        self.kind = kind
        self.tables: list[Declared[Any]] = []
        self.invalid: set[str] = set()
        self.is_hiding = False
        entries = data.get(kind, [])
        for index, entry in enumerate(entries if isinstance(entries, list) else [entries]):
            try:
                self.tables.append(Declared(path=(kind, index), table=_validated(table_of(kind), entry)))
            except ValidationError:
                name = entry.get("name") if isinstance(entry, dict) and "axes" not in entry else None
                self.is_hiding = self.is_hiding or not isinstance(name, str)
                self.invalid |= {name} if isinstance(name, str) else set()


def _validated(model: type[_Table], entry: object) -> _Table:
    """Return the table. Its unknown keys are ignored, so that they do not hide what is wrong with the others: they
    are reported with the whole file. Raises `ValidationError` for any other error."""
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        unknown = {diagnostic["loc"] for diagnostic in error.errors() if diagnostic["type"] == "extra_forbidden"}
        if len(unknown) < error.error_count() or not isinstance(entry, dict):
            raise
        return model.model_validate({key: value for key, value in entry.items() if (key,) not in unknown})


def _fill_axes(kind_tables: _TablesOfKind, problems: list[Problem]) -> None:
    """Put in the place of each table those with its axes filled in."""
    count = len(problems)
    filled = ((declared.path, table) for declared in kind_tables.tables for table in _filled(declared, problems))
    kind_tables.tables = [Declared(path=path, table=table) for path, table in filled]
    kind_tables.is_hiding = kind_tables.is_hiding or len(problems) > count


def _filled(declared: Declared[_Table], problems: list[Problem]) -> Iterable[_Table]:
    """Yield the table once per combination of its axes, the axes filled in; once where it can have none."""
    table = declared.table
    if not isinstance(table, ConfigTable):
        return (table,)
    product, diagnostics = combinations(table.axes, table.exclude)
    problems.extend(Problem((*declared.path, *diagnostic.path), diagnostic.message) for diagnostic in diagnostics)
    if not table.axes:
        return (table,) if product else ()
    written = table.model_dump(exclude_unset=True, exclude={"axes", "exclude"})
    diagnostics = tuple(_placeholder_problems(written, table.axes))
    missing = [axis for axis in table.axes if axis not in placeholders(table.name)]
    if missing:
        expected = f"expected every axis in it; {', '.join(f'{{{axis}}}' for axis in missing)} is missing"
        diagnostics = (*diagnostics, Problem(("name",), f"found {table.name!r}, {expected}"))
    problems.extend(Problem((*declared.path, *diagnostic.path), diagnostic.message) for diagnostic in diagnostics)
    if diagnostics:
        return ()
    return tuple(type(table).model_validate(_fill_all(written, combination)) for combination in product)


def _fill_all(value: object, combination: Combination) -> object:
    if isinstance(value, str):
        return fill(value, combination)
    if isinstance(value, list):
        return [_fill_all(entry, combination) for entry in value]
    if isinstance(value, dict):
        return {fill(key, combination): _fill_all(entry, combination) for key, entry in value.items()}
    return value


def _placeholder_problems(table: object, axes: Iterable[str]) -> Iterable[Problem]:
    for path, text, is_key in _texts(table, ()):
        for axis in sorted(placeholders(text) - set(axes)):
            expected = f"expected one of {', '.join(axes)}, or {{{{{axis}}}}} for the text itself"
            message = f"found the unknown axis {{{axis}}}, {expected}{did_you_mean(axis, axes)}"
            yield Problem(path[:-1] if is_key else path, message)


def _nul_problems(data: object) -> Iterable[Problem]:
    for path, text, _ in _texts(data, ()):
        if "\0" in text:
            yield Problem(path, "found a NUL character, which no program can be given; expected text")


def _texts(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, str, bool]]:
    """Yield all strings in a value with their key paths, and whether each is a key itself."""
    if isinstance(value, str):
        yield path, value, False
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _texts(entry, (*path, index))
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield (*path, key), key, True
            yield from _texts(entry, (*path, key))
