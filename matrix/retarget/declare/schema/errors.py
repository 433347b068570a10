"""What pydantic found, in this project's words: found what, expected what, did you mean what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache

from pydantic import BaseModel, ValidationError

from retarget.declare.schema.tables import DeclarationFile
from retarget.support.errors import did_you_mean
from retarget.support.toml.keypaths import KeyPath, Problem

__all__ = ["describe_value", "schema_problems", "type_words"]

_Schema = Mapping[str, object]
_MAX_SHOWN = 60


def schema_problems(
    error: ValidationError, data: object, *, prefix: KeyPath = (), model: type[BaseModel] = DeclarationFile
) -> tuple[Problem, ...]:
    """Return one problem per key that does not fit, in the order found.

    `data` is what was validated, `prefix` its key path in the file, `model` what describes the whole file.
    """
    schema = _schema_of(model)
    problems: dict[KeyPath, str] = {}
    for entry in error.errors(include_url=False, include_context=False):
        path = _path_in(data, entry["loc"], keep_last=entry["type"] == "missing")
        if path in problems:
            continue
        full = (*prefix, *path)
        if entry["type"] == "extra_forbidden":
            problems[path] = _unknown_key(schema, full)
        elif entry["type"] == "missing":
            problems[path] = f"found no such key, expected {_expected(schema, full)}"
        else:
            found = _value_at(data, path)
            expected = _expected(schema, full)
            if isinstance(found, float) and not math.isfinite(found):
                expected = expected.replace("a number", "a finite number")
            problems[path] = f"found {describe_value(found)}, expected {expected}{_listed_hint(schema, found, full)}"
    return tuple(Problem((*prefix, *path), message) for path, message in problems.items())


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


def _unknown_key(schema: _Schema, path: KeyPath) -> str:
    key = str(path[-1])
    known = sorted(_properties(_schema_at(schema, path[:-1])))
    return f"found the unknown key {key!r}, expected one of {', '.join(known)}{did_you_mean(key, known)}"


def _listed_hint(schema: _Schema, found: object, path: KeyPath) -> str:
    schema = _schema_at(schema, path)
    if isinstance(found, str) and schema.get("type") == "array" and _type_of(schema, "items") == "string":
        return f"; did you mean [{found!r}]?"
    return ""


def _path_in(data: object, location: Sequence[str | int], *, keep_last: bool) -> KeyPath:
    """Cut what a location says beyond the data, such as the member of a union that did not fit."""
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
    return path


def _value_at(data: object, path: KeyPath) -> object:
    for step in path:
        if isinstance(data, dict) or (isinstance(data, list) and isinstance(step, int)):
            data = data[step]  # type: ignore[index]
    return data


# What is expected is read from the JSON Schema: it is the same for messages, editors and the reference.


@cache
def _schema_of(model: type[BaseModel]) -> _Schema:
    """Return the model's JSON Schema with its references replaced by what they refer to."""
    schema = model.model_json_schema()
    return _mapping(_inlined(schema, _mapping(schema.get("$defs"))))


def _inlined(schema: object, definitions: _Schema) -> object:
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return _inlined(definitions[reference.rpartition("/")[2]], definitions)
        return {key: _inlined(value, definitions) for key, value in schema.items() if key != "$defs"}
    if isinstance(schema, list):
        return [_inlined(entry, definitions) for entry in schema]
    return schema


def _mapping(value: object) -> _Schema:
    return value if isinstance(value, Mapping) else {}


def _resolve(schema: _Schema) -> _Schema:
    options = schema.get("anyOf")
    if isinstance(options, Sequence):
        present = [_mapping(option) for option in options if _mapping(option).get("type") != "null"]
        if len(present) == 1:
            return _resolve(present[0])
    return schema


def _properties(schema: _Schema) -> _Schema:
    return _mapping(schema.get("properties"))


def _type_of(schema: _Schema, key: str) -> object:
    return _mapping(schema.get(key)).get("type")


def _schema_at(schema: _Schema, path: KeyPath) -> _Schema:
    for step in path:
        options = schema.get("anyOf")
        if isinstance(options, Sequence):
            wanted = "array" if isinstance(step, int) else "object"
            schema = next((_mapping(option) for option in options if _mapping(option).get("type") == wanted), {})
        if isinstance(step, int):
            schema = _mapping(schema.get("items"))
        else:
            schema = _mapping(_properties(schema).get(step, schema.get("additionalProperties")))
        schema = _resolve(schema)
    return schema


def _expected(schema: _Schema, path: KeyPath) -> str:
    return type_words(_schema_at(schema, path))


_SINGULAR = {"string": "a string", "boolean": "true or false", "object": "a table", "array": "an array"}
_PLURAL = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "object": "tables",
    "array": "arrays",
}


def type_words(schema: _Schema, *, plural: bool = False) -> str:
    """Return what a JSON Schema asks for: `a string or an array of strings`."""
    schema = _resolve(schema)
    options = schema.get("anyOf")
    if isinstance(options, Sequence):
        present = [_mapping(option) for option in options if _mapping(option).get("type") != "null"]
        return " or ".join(type_words(option, plural=plural) for option in present)
    choices = schema.get("enum")
    if isinstance(choices, Sequence):
        return " or ".join(map(repr, choices))
    kind = schema.get("type")
    if schema.get("format") == "date":
        return "a date without quotes, such as 2031-01-31"
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        return " or ".join(type_words({"type": option}, plural=plural) for option in kind)
    if kind in {"integer", "number"} and not plural:
        return _number_words(schema)
    words = (_PLURAL if plural else _SINGULAR).get(str(kind), "values" if plural else "a value")
    if kind == "array":
        words += f" of {type_words(_mapping(schema.get('items')), plural=True)}"
        if schema.get("minItems"):
            words += " with at least one entry"
    elif kind == "object" and "additionalProperties" in schema and "properties" not in schema:
        words += f" of {type_words(_mapping(schema['additionalProperties']), plural=True)}"
    return words


def _number_words(schema: _Schema) -> str:
    if schema.get("type") == "integer":
        return f"an integer of at least {schema['minimum']}" if "minimum" in schema else "an integer"
    if "exclusiveMinimum" in schema:
        return f"a number above {schema['exclusiveMinimum']:g}"
    return f"a number of at least {schema['minimum']:g}" if "minimum" in schema else "a number"
