"""The reference in docs/ says what the schema says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tomli
from pydantic import BaseModel
from retarget.cli import main
from retarget.declare.schema import tables
from retarget.declare.schema.export import json_schema, model_schema, reference

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


def test_the_reference_is_up_to_date() -> None:
    text = (DOCS / "declarations.md").read_text(encoding="utf-8")
    assert text == reference(), "run: retarget schema --format markdown > docs/declarations.md"


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
    blocks = [block.partition("```")[0] for block in reference().split("```toml\n")[1:]]
    examples = [
        example
        for line in reference().splitlines()
        if re.match(r"`\w+ = ", line)
        for example in line.strip("`").split("`, `")
    ]
    assert len(examples) > 50
    for text in [*blocks, *examples]:
        tomli.loads(text)


def test_the_commands_print_what_the_generators_make(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == json_schema()
    assert main(["schema", "--format", "markdown"]) == 0
    assert capsys.readouterr().out == reference()


def test_the_json_schema_names_its_dialect_and_knows_no_null() -> None:
    assert json.loads(json_schema())["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert '"null"' not in json_schema()
