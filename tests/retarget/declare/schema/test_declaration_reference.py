"""The reference in docs/ says what the schema says."""

from __future__ import annotations

import importlib.util
import json
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
import tomli
from pydantic import BaseModel
from retarget.declare.schema import tables
from retarget.declare.schema.export import json_schema, model_schema

TABLES = [
    tables.ToolchainTable,
    tables.CompilerConfigTable,
    tables.RuntimeConfigTable,
    tables.TargetConfigTable,
    tables.ModuleTestSuiteTable,
    tables.ModuleTable,
    tables.ExpectationTable,
    tables.GoldenTable,
]
DOCS = Path(__file__).parents[4] / "docs"
REFERENCE = (DOCS / "declarations.md").read_text(encoding="utf-8")


def test_the_reference_is_up_to_date() -> None:
    loader = SourceFileLoader("docs_declarations", str(DOCS / "declarations.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    generator = importlib.util.module_from_spec(spec)
    loader.exec_module(generator)
    assert generator.page() == REFERENCE, "run: make docs"


@pytest.mark.parametrize("model", [tables.DeclarationFile, *TABLES], ids=lambda model: model.__name__)
def test_every_key_is_described(model: type[BaseModel]) -> None:
    keys = model_schema(model)["properties"]
    assert [name for name, key in keys.items() if not key.get("description")] == []


@pytest.mark.parametrize("model", TABLES, ids=lambda model: model.__name__)
def test_the_examples_of_the_schema_are_right(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        for example in field.examples or []:
            adapter = {**_least(model), name: example}
            model.model_validate(adapter)


def _least(model: type[BaseModel]) -> dict[str, object]:
    values = {"name": "x", "compiler": "x", "runtimes": [], "srcs": ["x"], "kind": "x", "targets": ["x"], "match": "x"}
    values |= {"reason": "x", "path": "x", "metric": "x"}
    return {name: values[name] for name, field in model.model_fields.items() if field.is_required()}


def test_the_toml_in_the_reference_is_toml() -> None:
    blocks = [block.partition("```")[0] for block in REFERENCE.split("```toml\n")[1:]]
    examples = [
        example
        for line in REFERENCE.splitlines()
        if re.match(r"`\w+ = ", line)
        for example in line.strip("`").split("`, `")
    ]
    assert len(examples) > 50
    for text in [*blocks, *examples]:
        tomli.loads(text)


def test_the_json_schema_names_its_dialect_and_knows_no_null() -> None:
    assert json.loads(json_schema())["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"null"' not in json_schema()
