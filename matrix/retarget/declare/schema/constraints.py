"""What the loader refuses beyond the types of keys, as JSON Schema: for editors.

The loader reports the same errors in its own words (`retarget.declare`); a test compares the two. What needs another
table or a file (references, globs, names that occur twice) is not here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retarget.model.names import RESERVED_WORDS
from retarget.profiles.names import DEVICE_TYPES
from retarget.targets.availability import HOST_ARCHITECTURES, HOST_KINDS, HOST_SYSTEMS, SYSTEM_ALIASES

__all__ = ["constrained"]

Schema = Mapping[str, Any]

_AXIS = r"\{[A-Za-z_][A-Za-z0-9_-]*\}"
_FIRST, _FURTHER = "[A-Za-z0-9]", "[A-Za-z0-9._+-]"
_TAG = r"[\w:+\-.\[\]\\/]"
_NOT_RESERVED = {"not": {"enum": sorted(RESERVED_WORDS)}}
_WRITTEN = {"pattern": r"\S"}


def constrained(schema: Schema) -> Schema:
    """Return the JSON Schema of the declaration files with what the loader requires in addition."""
    tables = {name: _merged(table, _TABLES.get(name, {})) for name, table in schema["$defs"].items()}
    return {**schema, "$defs": tables}


def _merged(schema: Schema, more: Schema) -> Schema:
    """Return `schema` with the constraints of `more`: tables are merged, everything else of `more` counts."""
    merged = dict(schema)
    for key, value in more.items():
        known = merged.get(key)
        merged[key] = _merged(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return merged


def _config(further: str) -> Schema:
    """Return what a config's own name, tags and axes must be. Only with `axes` may they hold `{axis}`."""
    names = f"^{_FIRST}{further}*$"
    return {
        "properties": {
            "name": {**_NOT_RESERVED, "pattern": f"^(?:{_FIRST}|{_AXIS})(?:{further}|{_AXIS})*$"},
            "tags": {"items": {**_NOT_RESERVED, "pattern": f"^(?:{_TAG}|{_AXIS})+$"}},
            "axes": {
                "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"},
                "additionalProperties": {"minItems": 1, "uniqueItems": True},
            },
        },
        "if": {"not": {"required": ["axes"]}},
        "then": {"properties": {"name": {"pattern": names}, "tags": {"items": {"pattern": f"^{_TAG}+$"}}}},
    }


def _word(words: tuple[str, ...]) -> Schema:
    return {"anyOf": [{"enum": list(words)}, {"type": "string", "pattern": _AXIS}]}


def _words(words: tuple[str, ...]) -> Schema:
    word = _word(words)
    return {"allOf": [{"anyOf": [word, {"type": "array", "items": word}]}]}


_ENVIRONMENT = {"propertyNames": {"pattern": "^[^=]+$"}}
_HEIR = _config(_FURTHER.replace("_", ""))
_TAGS = {"items": {**_NOT_RESERVED, "pattern": f"^{_TAG}+$"}}

_EMPTY = {"const": ""}
_STAGE = {"enum": ["timeout", ["timeout"]]}


def _absent(key: str, nothing: Schema) -> Schema:
    return {"if": {"required": [key]}, "then": {"properties": {key: nothing}}}


def _outcome(word: str) -> Schema:
    return {"required": ["outcome"], "properties": {"outcome": {"const": word}}}


_TABLES: Schema = {
    "CompilerConfigTable": _merged(_HEIR, {"properties": {"env": _ENVIRONMENT}}),
    "RuntimeConfigTable": _merged(
        _HEIR,
        {
            "properties": {
                "env": _ENVIRONMENT,
                "host_os": _words((*HOST_SYSTEMS, *SYSTEM_ALIASES)),
                "host_arch": _words(HOST_ARCHITECTURES),
                "device_type": {"allOf": [_word(DEVICE_TYPES)]},
                "run_under": {"prefixItems": [{"type": "string", "minLength": 1}]},
            },
            "not": {"required": ["device", "devices"]},
        },
    ),
    "ToolchainTable": _config(_FURTHER),
    "HostTable": _merged(
        _config(_FURTHER), {"properties": {"env": _ENVIRONMENT, "kind": {"allOf": [_word(HOST_KINDS)]}}}
    ),
    "TargetConfigTable": _config(_FURTHER),
    "ModuleTestSuiteTable": {
        "properties": {"name": {**_NOT_RESERVED, "pattern": f"^{_FIRST}{_FURTHER}*$"}, "tags": _TAGS}
    },
    "ModuleTable": {
        "properties": {"tags": _TAGS},
        "anyOf": [
            {"required": [key], "properties": {key: {"minItems": 1}}}
            for key in ("exclude_targets", "tags", "flags", "requires")
        ],
        "if": {"required": ["exclude_targets"], "properties": {"exclude_targets": {"minItems": 1}}},
        "then": {"required": ["reason"], "properties": {"reason": _WRITTEN}},
    },
    "ExpectationTable": {
        "properties": {"reason": _WRITTEN, "signature": {"pattern": r"^\s*(?:\S[^\n]*)?\s*$"}},
        "allOf": [
            {
                "if": _outcome("skip"),
                "then": {"not": {"required": ["stage"]}, **_absent("signature", _EMPTY)},
                "else": {"required": ["stage"]},
            },
            {"if": _outcome("flaky"), "then": {"required": ["retries"]}, "else": {"not": {"required": ["retries"]}}},
            {"if": _outcome("intermittent"), "then": {"required": ["until"]}},
            {
                "if": {"required": ["stage"], "properties": {"stage": _STAGE}},
                "then": _absent("signature", {"pattern": r"^\s*$"}),
            },
        ],
    },
    "GoldenTable": {"properties": {"reason": _WRITTEN}, "oneOf": [{"required": ["max"]}, {"required": ["within"]}]},
}
