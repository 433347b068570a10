"""The JSON Schema of a cases file: the tables, and what `files` and `values` require in addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retarget.declare.schema.export import model_schema
from retarget.model.element_types import DTYPE_NAMES, ELEMENT_TYPES

from retarget_cases.files.tables import DISTRIBUTIONS, FORMS, CasesFileTable, ToleranceTable, ValueTable

__all__ = ["cases_schema"]

_NAMES = sorted({*DTYPE_NAMES, *ELEMENT_TYPES})
_CONFIG = {"type": "string", "pattern": r"^[^*?\[]+$"}
_PATHS = {"npy": r"\.npy$", "npz": r"\.npz$", "bin": r"\.(bin|raw)$"}

_NUMBER = {"type": ["number", "boolean", "null"]}
"""TOML has no null, but JSON has no inf and nan: Taplo reads them as null."""

_ELEMENT = {
    "anyOf": [
        _NUMBER,
        {"type": "string", "pattern": "[0-9]|[nN][aA][nN]|[iI][nN][fF]", "not": {"pattern": r"\.(npy|npz|bin)$"}},
        {"type": "array", "items": {"$ref": "#/$defs/element"}},
    ]
}
"""The elements of an array: numbers, also as text, and arrays."""

_LITERAL = {
    "anyOf": [_NUMBER, {"type": "array", "items": {"$ref": "#/$defs/element"}}],
    "description": "A literal: a number, true, false, or nested arrays of them.",
}


def cases_schema() -> Mapping[str, object]:
    """Return the schema of a cases file."""
    schema = model_schema(CasesFileTable)
    tables = {model.__name__: _value(model) for model in (*FORMS.values(), *DISTRIBUTIONS.values())}
    definitions: dict[str, Any] = {
        "element": _ELEMENT,
        "literal": _LITERAL,
        "tolerance": _tolerance(),
        "element_tolerance": model_schema(ToleranceTable),
        "value": {
            "anyOf": [
                {"$ref": "#/$defs/literal"},
                {"type": "string", "pattern": r"\.(npy|npz|bin)$", "description": "A file of the suite."},
                *({"$ref": f"#/$defs/{name}"} for name in tables),
            ]
        },
        **tables,
        "CaseTable": _case(schema["$defs"]["CaseTable"]),
    }
    properties = dict(schema["properties"])
    properties["parameters"] = {
        **properties["parameters"],
        "additionalProperties": {"type": "string", "pattern": r"\.(irpa|gguf|safetensors)$"},
    }
    properties["tolerance"] = {"description": properties["tolerance"]["description"], "$ref": "#/$defs/tolerance"}
    return {**schema, "properties": properties, "$defs": definitions}


def _case(table: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = dict(table["properties"])
    values = {"type": "array", "items": {"$ref": "#/$defs/value"}}
    properties["name"] = {**properties["name"], "pattern": r"\S"}
    properties["inputs"] = {**properties["inputs"], **values}
    properties["expected"] = {**properties["expected"], **values, "minItems": 1}
    properties["reference"] = {**properties["reference"], "pattern": r"\.py:[^\W\d]\w*$"}
    properties["agree_with"] = {
        "description": properties["agree_with"]["description"],
        "anyOf": [_CONFIG, {"type": "object", "minProperties": 1, "additionalProperties": _CONFIG}],
    }
    properties["tolerance"] = {"description": properties["tolerance"]["description"], "$ref": "#/$defs/tolerance"}
    ways = [{"required": [key]} for key in ("expected", "reference", "agree_with")]
    return {**table, "properties": properties, "oneOf": ways}


def _value(model: type[ValueTable]) -> Mapping[str, Any]:
    schema = model_schema(model)
    properties = {key: dict(value) for key, value in schema["properties"].items()}
    properties["dtype"]["enum"] = _NAMES
    properties["shape"]["maxItems"] = 64
    for key, pattern in _PATHS.items():
        if key in properties:
            properties[key]["pattern"] = pattern
    for key in ("values", "fill"):
        if key in properties:
            properties[key] = {"$ref": "#/$defs/element"}
    return {**schema, "properties": properties}


def _tolerance() -> Mapping[str, Any]:
    table = model_schema(ToleranceTable)
    plain = {key: value for key, value in table.items() if key != "description"}
    return {**table, "properties": {**table["properties"], **dict.fromkeys(_NAMES, plain)}}
