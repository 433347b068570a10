"""Pydantic's errors, in this project's words: found what, expected what, did you mean what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from retarget.declare.schema.export import model_schema, type_words
from retarget.declare.schema.tables import DeclarationFile
from retarget.support.errors import did_you_mean
from retarget.support.toml import KeyPath, Problem

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
            problems[path] += did_you_mean(key, known)
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
