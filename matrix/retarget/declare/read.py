"""The data of a declaration file → tables, with every error of the file.

Product declarations: one config per combination of its axes.

axes = { opt = ["O0", "O3"], threads = [1, 2] }       four configs, `threads` turning fastest
exclude = [{ opt = "O0", threads = 2 }]               three
name = "cpu-{opt}-{threads}"                          every axis in the name; `{{opt}}` is the text `{opt}`

The axes of one declaration have at most `MAX_COMBINATIONS`, those that `exclude` leaves out included.

Pydantic's errors, in this project's words: found what, expected what, did you mean what.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from retarget.declare.schema.export import model_schema, type_words
from retarget.declare.schema.kept import SORTS, Declared, FileTables
from retarget.declare.schema.tables import ConfigTable, DeclarationFile, table_of
from retarget.support.errors import REPLACED, Diagnostic, did_you_mean
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
    """Yield all strings in a value, of any depth, with their key paths, and whether each is a key itself."""
    left: list[tuple[KeyPath, object, bool]] = [(path, value, False)]
    while left:
        path, value, is_key = left.pop()
        if isinstance(value, str):
            yield path, value, is_key
        elif isinstance(value, list):
            left += [((*path, index), value[index], False) for index in reversed(range(len(value)))]
        elif isinstance(value, dict):
            for key, entry in reversed(value.items()):
                left += [((*path, key), entry, False), ((*path, key), key, True)]


MAX_COMBINATIONS = 10_000
"""How many configs one declaration may expand to: reading so many takes seconds, and nobody runs them all."""

AxisValue = str | int
Axes = Mapping[str, Sequence[AxisValue]]
Combination = Mapping[str, AxisValue]

_AXIS = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}|\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def combinations(axes: Axes, exclude: Sequence[object]) -> tuple[tuple[Combination, ...], tuple[Problem, ...]]:
    """Return the combinations that `exclude` leaves, in order, and what is wrong with either.

    Without axes there is one combination, the empty one.
    """
    problems = list(_axis_problems(axes))
    if problems:
        return (), tuple(problems)
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_COMBINATIONS:
        sizes = " x ".join(str(len(values)) for values in axes.values())
        expected = f"expected at most {MAX_COMBINATIONS}; shorten an axis, or declare what is needed one by one"
        return (), (Problem(("axes",), f"found {count} combinations ({sizes}), {expected}"),)
    everything = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    left_out: set[int] = set()
    for index, exclusion in enumerate(exclude):
        path: KeyPath = ("exclude", index)
        wanted, diagnostic = _exclusion(axes, exclusion)
        if diagnostic:
            problems.append(Problem((*path, *diagnostic.path), diagnostic.message))
            continue
        matched = [at for at, combination in enumerate(everything) if wanted.items() <= combination.items()]
        if not matched:
            problems.append(Problem(path, "found a combination that the axes do not have, expected one that they have"))
        left_out.update(matched)
    kept = [combination for at, combination in enumerate(everything) if at not in left_out]
    if not kept and not problems:
        problems.append(Problem(("exclude",), "found every combination, expected one to be left"))
    return tuple(kept), tuple(problems)


def _axis_problems(axes: Axes) -> Sequence[Problem]:
    problems = []
    for axis, values in axes.items():
        if not _AXIS.fullmatch(axis):
            message = f"found the axis {axis!r}, expected a letter or '_', then letters, digits, '_' and '-'"
            problems.append(Problem(("axes", axis), message))
        if not values:
            problems.append(Problem(("axes", axis), "found an empty axis, expected at least one value"))
        first: dict[str, int] = {}
        problems += [
            Problem(("axes", axis, index), f"found {str(value)!r} a second time, expected distinct values")
            for index, value in enumerate(values)
            if first.setdefault(str(value), index) != index
        ]
    return problems


def _exclusion(axes: Axes, exclusion: object) -> tuple[Combination, Problem | None]:
    """Return one entry of `exclude` as axis → value, or what is wrong with it."""
    if not axes:
        return {}, Problem((), "found a combination, but this config has no axes")
    if isinstance(exclusion, Sequence):
        if len(exclusion) != len(axes):
            expected = f"expected {len(axes)}, one for each of {', '.join(axes)}"
            return {}, Problem((), f"found {len(exclusion)} values, {expected}")
        exclusion = dict(zip(axes, exclusion, strict=True))
    if not isinstance(exclusion, Mapping) or not exclusion:
        return {}, Problem((), "found an empty table, expected axes and values")
    for axis in exclusion:
        if axis not in axes:
            expected = f"expected one of {', '.join(axes)}{did_you_mean(axis, axes)}"
            return {}, Problem((axis,), f"found the unknown axis {axis!r}, {expected}")
    return exclusion, None


def fill(text: str, combination: Combination) -> str:
    """Return `text` with the values in place of their axes. Unknown axes stay (`placeholders` finds them)."""
    if not combination or "{" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        doubled, axis = match.groups()
        if doubled is not None:
            return f"{{{doubled}}}"
        return str(combination.get(axis, match.group()))

    return _PLACEHOLDER.sub(value, text)


def placeholders(text: str) -> frozenset[str]:
    """Return the axes that `text` uses."""
    return frozenset(match.group(2) for match in _PLACEHOLDER.finditer(text) if match.group(2) is not None)


_MAX_SHOWN = 60


def schema_problems(
    error: ValidationError, data: object, *, model: type[BaseModel] = DeclarationFile
) -> tuple[Problem, ...]:
    """Return one problem per key that does not fit, in the order found.

    `data` is what was validated, `model` what describes the file.
    """
    schema = _schema_of(model)
    problems: dict[KeyPath, str] = {}
    for entry in error.errors(include_url=False, include_context=False):
        path, found = _found_at(data, entry["loc"], keep_last=entry["type"] == "missing")
        if path in problems:
            continue
        there = _schema_at(schema, path)
        expected = type_words(there)
        if entry["type"] == "extra_forbidden":
            known = sorted(_option(_schema_at(schema, path[:-1]), "object").get("properties", ()))
            key = str(path[-1])
            problems[path] = f"found the unknown key {key!r}, expected one of {', '.join(known)}"
            problems[path] += REPLACED.get(f"{model.__name__} {key}") or did_you_mean(key, known)
        elif entry["type"] == "missing":
            problems[path] = f"found no such key, expected {expected}"
        elif entry["type"] == "string_too_long" and isinstance(found, str):
            most = entry["msg"].rpartition(" at most ")[2]
            problems[path] = f"found {describe_value(found)}, {len(found)} characters long, expected at most {most}"
        else:
            if isinstance(found, float) and not math.isfinite(found):
                expected = expected.replace("a number", "a finite number")
            is_listed = there.get("type") == "array" and there.get("items", {}).get("type") == "string"
            hint = f"; did you mean [{found!r}]?" if is_listed and isinstance(found, str) else ""
            problems[path] = f"found {describe_value(found)}, expected {expected}{hint}"
    return tuple(Problem(path, message) for path, message in problems.items())


def describe_value(value: object) -> str:
    """Return a TOML value as a person would name it."""
    match value:
        case bool():
            words = f"the boolean {str(value).lower()}"
        case int():
            words = f"the integer {value}"
        case float():
            words = f"the number {value}"
        case str():
            shown = value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
            words = f"the string {shown!r}"
        case list():
            words = "an array" if value else "an empty array"
        case dict():
            words = "a table" if value else "an empty table"
        case _:
            words = f"the date or time {value}"
    return words


def _found_at(data: object, location: Sequence[str | int], *, keep_last: bool) -> tuple[KeyPath, object]:
    """Return a location, cut where it goes beyond the data, such as to the member of a union that did not fit; and the
    value there."""
    path: KeyPath = ()
    for position, step in enumerate(location):
        is_last = position == len(location) - 1
        if isinstance(data, dict) and (step in data or (keep_last and is_last)):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            break
        path = (*path, step)
    return path, data


# What is expected is read from the JSON Schema: it is the same for messages, editors and the reference.


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the model's JSON Schema with its references replaced by what they refer to."""
    schema = model_schema(model)
    definitions = schema.get("$defs", {})

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(entry) for entry in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inlined(definitions[part["$ref"].rpartition("/")[2]])
        return {key: inlined(value) for key, value in part.items() if key != "$defs"}

    return cast("dict[str, Any]", inlined(schema))


def _schema_at(schema: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    for step in path:
        schema = _option(schema, "array" if isinstance(step, int) else "object")
        further = schema.get("additionalProperties")
        found = schema.get("items") if isinstance(step, int) else schema.get("properties", {}).get(step, further)
        schema = found if isinstance(found, dict) else {}
    return schema


def _option(schema: dict[str, Any], wanted: str) -> dict[str, Any]:
    """Return the option of a schema that is of a type; the schema itself where it has no options."""
    if "anyOf" not in schema:
        return schema
    return next((option for option in schema["anyOf"] if option.get("type") == wanted), {})
