"""The JSON Schema of a cases file: the tables, and what `files` and `values` require in addition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retarget.declare.schema.export import model_schema
from retarget.model.element_types import DTYPE_NAMES, ELEMENT_TYPES

from retarget_cases.files.tables import DISTRIBUTIONS, FORMS, CasesFileTable, ModelFileTable, ToleranceTable, ValueTable

__all__ = ["cases_schema"]

_NAMES = sorted({*DTYPE_NAMES, *ELEMENT_TYPES})
_CONFIG = {"type": "string", "pattern": r"^[^*?\[]+$"}
_PATHS = {"npy": r"\.npy$", "npz": r"\.npz$", "pb": r"\.pb$", "bin": r"\.(bin|raw)$"}

_NUMBER = {"type": ["number", "boolean", "null"]}
"""TOML has no null, but JSON has no inf and nan: Taplo reads them as null."""

_ELEMENT = {
    "anyOf": [
        _NUMBER,
        {"type": "string", "pattern": "[0-9]|[nN][aA][nN]|[iI][nN][fF]", "not": {"pattern": r"\.(npy|npz|pb|bin)$"}},
        {"type": "array", "items": {"$ref": "#/$defs/element"}},
    ]
}
"""The elements of an array: numbers, also as text, and arrays."""

_LITERAL = {
    "anyOf": [_NUMBER, {"type": "array", "items": {"$ref": "#/$defs/element"}}],
    "description": "A literal: a number, true, false, or nested arrays of them.",
}


def cases_schema(*, of_model: bool = False) -> Mapping[str, object]:
    """Return the schema of a cases file, `of_model` of one of an ONNX model."""
    schema = model_schema(ModelFileTable if of_model else CasesFileTable)
    case = "ModelCaseTable" if of_model else "CaseTable"
    tables = {model.__name__: _value(model) for model in (*FORMS.values(), *DISTRIBUTIONS.values())}
    definitions: dict[str, Any] = {
        "element": _ELEMENT,
        "literal": _LITERAL,
        "tolerance": _tolerance(),
        "element_tolerance": model_schema(ToleranceTable),
        "value": {
            "anyOf": [
                {"$ref": "#/$defs/literal"},
                {"type": "string", "pattern": r"\.(npy|npz|pb|bin)$", "description": "A file of the suite."},
                *({"$ref": f"#/$defs/{name}"} for name in tables),
            ]
        },
        **tables,
        case: _case(schema["$defs"][case], of_model=of_model),
    }
    properties = dict(schema["properties"])
    properties["parameters"] = {
        **properties["parameters"],
        "additionalProperties": {"type": "string", "pattern": r"\.(irpa|gguf|safetensors)$"},
    }
    properties["tolerance"] = {"description": properties["tolerance"]["description"], "$ref": "#/$defs/tolerance"}
    return {**schema, "properties": properties, "$defs": definitions}


def _case(table: Mapping[str, Any], *, of_model: bool) -> Mapping[str, Any]:
    properties = dict(table["properties"])
    values: Mapping[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/value"}}
    by_name = {"type": "object", "additionalProperties": {"$ref": "#/$defs/value"}}
    properties["name"] = {**properties["name"], "pattern": r"\S"}
    properties["inputs"] = {**properties["inputs"], **({"anyOf": [values, by_name]} if of_model else values)}
    if of_model:
        properties["generate"] = {**properties["generate"], **by_name}
    properties["expected"] = {**properties["expected"], **values, "minItems": 1}
    properties["reference"] = {**properties["reference"], "pattern": r"\.py:[^\W\d]\w*$|^onnx(runtime)?$"}
    properties["agree_with"] = {
        "description": properties["agree_with"]["description"],
        "anyOf": [_CONFIG, {"type": "object", "minProperties": 1, "additionalProperties": _CONFIG}],
    }
    properties["tolerance"] = {"description": properties["tolerance"]["description"], "$ref": "#/$defs/tolerance"}
    ways = [{"required": [key]} for key in ("expected", "reference", "agree_with")]
    return {**table, "properties": properties, "oneOf": [*ways, {"not": {"anyOf": ways}}] if of_model else ways}


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
