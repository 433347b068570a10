"""Tables that are kept: they declare what the file declares, and a file that changed or is damaged is read anew."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import retarget.declare.read
from retarget.declare.load import DeclarationLoader
from retarget.declare.schema import kept
from retarget.declare.sources import FileName
from retarget.extension.registry import load_extensions
from retarget.model import Suite
from retarget.session.cache.store import Store
from retarget.support.errors import DiagnosticsError

SUITES = Path(__file__).parents[4] / "suites"

MATRIX = """
root = true

[[toolchain]]
name = "built"
path = "build"

[[host]]
name = "board"
kind = "ssh"
address = "board"

[[compiler_config]]
name = "plain-{opt}"
compiler = "iree"
flags = ["--opt={opt}"]
timeout = 2.5
axes = { opt = ["O0", "O3"] }

[[compiler_config]]
name = "heir"
extends = "plain-O3"
flags = ["--more"]
env = { NAME = "value" }
devices = { a = "local", b = "vulkan" }
toolchain = "built"

[[runtime_config]]
name = "two"
devices = [{ role = "a", driver = "local-task", used = true }, { role = "b", driver = "vulkan", device = "0" }]
host_os = "linux"
requires = ["memory >= 8 GiB"]

[[runtime_config]]
name = "far"
driver = "local-sync"
device = "0"
host = "board"
concurrency = 2
profile = "profiles/board.toml"

[[target_config]]
name = "cpu"
compiler = "plain-*"
runtimes = ["far"]

[[target_config]]
name = "both"
compiler = "heir"
runtimes = ["two"]
"""

SUITE = """
[[module_test_suite]]
name = "first"
srcs = ["*.mlir"]
kind = "check"
targets = ["cpu", "both"]

[[module_test_suite.module]]
match = "add"
flags = ["--its-own"]
exclude_targets = ["far"]
reason = "no adder there"

[[expectation]]
match = "add"
stage = ["run", "crash"]
outcome = "intermittent"
until = 2031-01-31
reason = "a race"
"""


class Kept:
    """A store of tables in memory, as JSON."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read_resolution(self, key: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = json.loads(self.texts.get(key, "null"))
        return found

    def write_resolution(self, key: str, body: dict[str, Any]) -> None:
        self.texts[key] = json.dumps(body)


@pytest.fixture
def suite_file(tmp_path: Path) -> Path:
    (tmp_path / "matrix.toml").write_text(MATRIX)
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "add.mlir").touch()
    return tmp_path / "suite.toml"


def loaded(file: Path, store: Kept | None = None) -> tuple[Suite, ...]:
    return DeclarationLoader(store=store).load_suite_file(file)


def test_kept_tables_declare_the_same_and_are_read_without_models(
    suite_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, anew = Kept(), loaded(suite_file)
    assert loaded(suite_file, store) == anew
    assert len(store.texts) == 2  # matrix.toml and suite.toml

    monkeypatch.delattr(retarget.declare.read, "tables_of")
    assert loaded(suite_file, store) == anew
    (suite,) = anew
    assert suite.expectations[0].until is not None
    assert [config.name for config in suite.targets] == ["cpu", "both"]


@pytest.mark.slow
@pytest.mark.parametrize("file", FileName.SUITE.below([SUITES]), ids=lambda file: file.parent.name)
def test_kept_tables_of_shipped_suites_declare_the_same(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry, store = load_extensions(), Store(tmp_path)

    def declared(store: Store | None) -> tuple[object, ...]:
        loader = DeclarationLoader(registry, store=store)
        suites, diagnostics = loader.read_suite_file(file)
        configs = loader.compiler_configs, loader.runtime_configs, loader.toolchains
        return suites, diagnostics, *configs, loader.expectations, loader.matrix_files

    anew = declared(None)
    assert (anew[0], anew[1]) != ((), ())
    assert declared(store) == anew
    monkeypatch.delattr(retarget.declare.read, "tables_of")
    assert declared(store) == anew
    assert repr(declared(store)) == repr(anew)  # also types and the order of keys


def test_an_error_that_only_other_files_show_is_reported_with_its_line_from_kept_tables(suite_file: Path) -> None:
    store = Kept()
    suite_file.write_text(SUITE.replace('"cpu", "both"', '"cpv"'))
    errors = []
    for _ in range(2):
        with pytest.raises(DiagnosticsError) as caught:
            loaded(suite_file, store)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "suite.toml:6" in errors[0]
    assert len(store.texts) == 2


@pytest.mark.parametrize("text", ["{}", '{"root": false, "sorts": {}}', '{"root": 1, "sorts": {"suites": [[]]}}', "[]"])
def test_what_has_another_form_is_read_anew(suite_file: Path, text: str) -> None:
    store, anew = Kept(), loaded(suite_file)
    loaded(suite_file, store)
    store.texts = dict.fromkeys(store.texts, text)
    assert loaded(suite_file, store) == anew


def test_the_key_covers_the_code_that_makes_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    covered: set[Path] = set()
    read_bytes = Path.read_bytes

    def read(path: Path) -> bytes:
        covered.add(path)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    kept._code.__wrapped__()

    root = Path(kept.__file__).parents[2]
    words = {root / name for name in ("declare/schema/export.py", "support/errors.py", "support/files.py")}
    waiting, needed = {Path(retarget.declare.read.__file__)}, set[Path]()
    while waiting:
        needed.add(file := waiting.pop())
        imported = re.findall(r"^from retarget\.([\w.]+) import", file.read_text(), re.MULTILINE)
        places = [root / name.replace(".", "/") for name in imported]
        found = {one / "__init__.py" if one.is_dir() else one.with_suffix(".py") for one in places}
        waiting |= found - needed - words  # of errors: tables with one are not kept
    assert needed <= covered
