"""The JSON Schema of declaration files: keys and their types, for editors and the page docs/declarations.md."""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, cast

from pydantic import BaseModel

from retarget.declare.schema.tables import DeclarationFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> str:
    """Return the JSON Schema of the files as text: keys and their types. The loader refuses more."""
    return schema_text("retarget declarations", model_schema(DeclarationFile))


def schema_text(title: str, schema: Mapping[str, object]) -> str:
    """Return a JSON Schema as text."""
    return json.dumps({"$schema": _DIALECT, "title": title, **schema}, indent=2) + "\n"


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a table, without what says nothing in TOML."""
    return cast("dict[str, Any]", _cleaned(_described(model)))


def _described(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a table; the docstring below a key is its description.

    Pydantic's own `use_attribute_docstrings` reads the source at every import, which every session would wait for.
    """
    schema = model.model_json_schema()
    models = vars(sys.modules[model.__module__])
    for name, table in {model.__name__: schema, **schema.get("$defs", {})}.items():
        for base in models[name].__mro__:
            for key, text in _docstrings(base).items() if issubclass(base, BaseModel) and base is not BaseModel else ():
                if (described := table.get("properties", {}).get(key)) is not None and "description" not in described:
                    table["properties"][key] = dict(sorted((described | {"description": text}).items()))
    return schema


@cache
def _docstrings(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the docstrings below the keys that a class itself declares."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    found: dict[str, str] = {}
    for key, below in pairwise(cast("ast.ClassDef", definition).body):
        match key, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[model.model_fields[name].alias or name] = inspect.cleandoc(text)
    return found


def _cleaned(schema: Any, *, is_properties: bool = False) -> Any:
    """Drop what says nothing in TOML: null, which it does not have, and titles that repeat the key."""
    if isinstance(schema, list):
        return [_cleaned(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {
        key: _cleaned(value, is_properties=key in {"properties", "$defs"})
        for key, value in schema.items()
        if is_properties or not (key == "title" or (key == "default" and value is None))
    }
    if isinstance(text := cleaned.get("description"), str) and "properties" not in cleaned:
        cleaned["description"] = " ".join(text.split())  # that of a key: a docstring has several lines
    if isinstance(options := cleaned.get("anyOf"), list):
        cleaned["anyOf"] = [option for option in options if option != {"type": "null"}]
        if len(cleaned["anyOf"]) == 1:
            cleaned |= cleaned.pop("anyOf")[0]
    return cleaned


_SINGULAR = {"string": "a string", "boolean": "true or false", "object": "a table", "array": "an array"}
_PLURAL = {
    "string": "strings",
    "integer": "integers",
    "number": "numbers",
    "boolean": "booleans",
    "object": "tables",
    "array": "arrays",
}


def type_words(schema: Mapping[str, Any], *, plural: bool = False) -> str:
    """Return what a JSON Schema, as `model_schema` gives it, asks for: `a string or an array of strings`."""
    if "anyOf" in schema:
        return " or ".join(type_words(option, plural=plural) for option in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(repr, schema["enum"]))
    kind = "object" if "$ref" in schema else schema.get("type")
    if schema.get("format") == "date":
        return "a date without quotes, such as 2031-01-31"
    if isinstance(kind, list):
        return " or ".join(type_words({"type": option}, plural=plural) for option in kind)
    if kind in {"integer", "number"} and not plural:
        return _number_words(schema)
    words = (_PLURAL if plural else _SINGULAR).get(str(kind), "values" if plural else "a value")
    if kind == "array":
        words += f" of {type_words(schema.get('items', {}), plural=True)}"
        if schema.get("minItems"):
            words = f"{'' if plural else 'a '}non-empty {words.removeprefix('an ')}"
    elif kind == "object" and not schema.keys() & {"$ref", "properties"}:
        values = schema.get("additionalProperties", True)  # pydantic 2.10 leaves it out
        words += f" of {type_words({} if isinstance(values, bool) else values, plural=True)}"
    return words


def _number_words(schema: Mapping[str, Any]) -> str:
    if schema.get("type") == "integer":
        return f"an integer of at least {schema['minimum']}" if "minimum" in schema else "an integer"
    if "exclusiveMinimum" in schema:
        return f"a number above {schema['exclusiveMinimum']:g}"
    return f"a number of at least {schema['minimum']:g}" if "minimum" in schema else "a number"
