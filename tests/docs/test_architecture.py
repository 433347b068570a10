"""docs/architecture.md names each of the upper packages, as its docstring says, and no module that does not exist."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from graphlib import TopologicalSorter
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import grimp
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script that writes the table of packages."""
    loader = SourceFileLoader("docs_packages", str(DOCS / "packages.py"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_packages_are_in_the_table_once_with_the_sentence_of_their_docstring(generator: ModuleType) -> None:
    page = generator.PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"(?m)^\| `((?:matrix|plugin|kernels)/[\w/]+)` \| (.+) \|$", page)
    assert listed == list(generator.listed().items()), "run: make docs"


def test_every_package_states_its_purpose_in_one_sentence(generator: ModuleType) -> None:
    unclear = {folder: summary for folder, summary in generator.packages().items() if not summary.endswith(".")}
    assert unclear == {}


def test_modules_that_the_page_names_exist(generator: ModuleType) -> None:
    page = generator.PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:retarget|pytest_retarget|retarget_[a-z]+)(?:\.[a-z_]+)+\b", page))
    missing = [name for name in sorted(named) if importlib.util.find_spec(name) is None]
    assert missing == []


def test_no_module_imports_itself_through_others(generator: ModuleType) -> None:
    names = {Path(folder).parts[1] for folder in generator.packages()}
    graph = grimp.build_graph(*sorted(names), cache_dir=None)
    packages = {".".join(Path(folder).parts[1:]) for folder in generator.packages()}
    TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) - packages for module in graph.modules}
    ).prepare()  # raises CycleError, which names the modules


def test_no_folder_of_code_has_more_than_twelve_entries(generator: ModuleType) -> None:
    large = {}
    for folder in generator.packages():
        entries = {
            entry.name
            for entry in (DOCS.parent / folder).iterdir()
            if entry.suffix == ".py" or any(one.name != "__pycache__" for one in entry.glob("*"))  # left by a checkout
        } - {"__init__.py", "__main__.py", "__pycache__"}
        if len(entries) > 12:
            large[folder] = sorted(entries)
    assert large == {}


def test_names_that_benchmarks_import_from_the_packages_exist() -> None:
    nodes = [
        node for file in (DOCS.parent / "benchmarks").glob("*.py") for node in ast.walk(ast.parse(file.read_text()))
    ]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and "retarget" in (node.module or "")]
    modules = {node: importlib.import_module(node.module or "") for node in imports}
    missing = [name.name for node, module in modules.items() for name in node.names if not hasattr(module, name.name)]
    assert modules
    assert missing == []


def test_a_package_offers_what_its_stub_lists() -> None:
    core = Path(str(importlib.util.find_spec("retarget").submodule_search_locations[0]))  # type: ignore[union-attr,index]
    stubs = {stub: ast.parse(stub.read_text(encoding="utf-8")).body for stub in core.glob("*/__init__.pyi")}
    for stub, nodes in stubs.items():
        package = importlib.import_module(f"retarget.{stub.parent.name}")
        names = {one.name for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
        assert set(package.__all__) == names - {"TYPE_CHECKING"}
        assert [name for name in package.__all__ if isinstance(getattr(package, name), ModuleType)] == []
        with pytest.raises(AttributeError, match=f"module 'retarget.{stub.parent.name}' has no attribute 'nothing'"):
            package.nothing  # noqa: B018
    assert len(stubs) == 9
