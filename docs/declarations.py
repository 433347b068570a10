"""Write the tables and keys of docs/declarations.md from the models of declarations: `python docs/declarations.py`.

What is before the first heading of tables is written by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel
from retarget.declare.schema.export import json_schema, type_words
from retarget.declare.schema.tables import (
    CompilerConfigTable,
    ConfigTable,
    DeclarationFile,
    DeviceTable,
    ModuleTable,
    table_of,
)

__all__ = ["PAGE", "main", "page"]

PAGE = Path(__file__).with_name("declarations.md")
FIRST = "## Top of a file\n"
NESTED: Mapping[str, tuple[str, type[BaseModel]]] = {
    "runtime_config": ("devices of [[runtime_config]]", DeviceTable),
    "module_test_suite": ("[[module_test_suite.module]]", ModuleTable),
}
"""The tables in others that have a section of their own, below that of the other."""


def page() -> str:
    """Return the page with all tables and keys as they are now."""
    schema = json.loads(json_schema())
    common = tuple(ConfigTable.model_fields)
    a_config = schema["$defs"][CompilerConfigTable.__name__]["properties"]
    root = keys({"root": schema["properties"]["root"]}, ())
    by_hand, _, _ = PAGE.read_text(encoding="utf-8").partition(FIRST)
    lines = [f"{by_hand}{FIRST}", *root]
    lines += ["## Keys of all three sorts of config", ""]
    lines += keys({key: a_config[key] for key in common}, ("name",))
    kinds = [kind for kind in DeclarationFile.model_fields if kind != "root"]
    own = {kind: (f"[[{kind}]]", table_of(kind)) for kind in kinds}
    for header, model in (section for kind in kinds for section in (own[kind], NESTED.get(kind)) if section):
        table = schema["$defs"][model.__name__]
        is_config = issubclass(model, ConfigTable)
        properties = {key: value for key, value in table["properties"].items() if not (is_config and key in common)}
        lines += [f"## `{header}`", "", table["description"], ""]
        lines += keys(properties, table.get("required", ()))
    return "\n".join(lines).rstrip() + "\n"


def keys(properties: Mapping[str, Mapping[str, object]], required: Sequence[str]) -> Iterator[str]:
    for key, schema in properties.items():
        if key == "module":
            continue  # has a section of its own
        facts = [type_words(schema)]
        if key in required:
            facts.append("required")
        elif schema.get("default") not in ([], {}, "", None):
            facts.append(f"default `{json.dumps(schema['default'])}`")
        yield f"**`{key}`** ({', '.join(facts)})  "
        examples = schema.get("examples")
        written = [
            f"`{key} = {example if schema.get('format') == 'date' else toml(example)}`"
            for example in (examples if isinstance(examples, list) else [])
        ]
        yield f"{schema['description']}{'  ' if written else ''}"
        if written:
            yield ", ".join(written)
        yield ""


def toml(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(toml(entry) for entry in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml(entry)}' for key, entry in value.items())} }}"
    return json.dumps(value)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
