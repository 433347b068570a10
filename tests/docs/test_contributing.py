"""CONTRIBUTING.md's recipes name files that exist, and symbols that these files have."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = r"(?:matrix|plugin|kernels|tests|suites|docs)/[\w./-]+"
PLACED = re.compile(rf"((?:`\w+`(?:, | and | or )?)+) in `({PATH})`")
"""`NAME`, `OTHER` and `THIRD` in `path/to/file`: how a recipe says where to add something."""

CODE_SPAN = re.compile(r"`([^`\n]+)`")


def page() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def placed_symbols(text: str) -> list[tuple[str, str]]:
    return [(name, found[2]) for found in PLACED.finditer(text) for name in re.findall(r"`(\w+)`", found[1])]


def lacks(path: Path, name: str) -> bool:
    return not path.is_file() or re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) is None


def test_a_file_has_each_symbol_that_a_recipe_names_with_it() -> None:
    placed = placed_symbols(page())
    assert [f"{name} in {path}" for name, path in placed if lacks(ROOT / path, name)] == []
    assert len(placed) > 30, "the form of the recipes has changed: see PLACED"


def test_paths_in_commands_and_recipes_exist() -> None:
    spans = [span for span in CODE_SPAN.findall(page()) if not re.search(r"[A-Z]{4,}", span)]
    named = {path for span in spans for path in re.findall(rf"(?<![\w/.-]){PATH}", span)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_a_symbol_that_is_elsewhere_is_noticed() -> None:
    [(name, path)] = placed_symbols("`_properties` in `plugin/pytest_retarget/record.py`")
    assert lacks(ROOT / path, name)
