"""The digest of code covers the files of modules, by content."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from retarget.support.dependencies import (
    CORE,
    _folders_of,
    _names_in,
    _reached,
    code_digest,
    code_reached,
    versions_of_arrays,
)


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "digested_package", raising=False)  # that of another test
    (folder := tmp_path / "digested_package").mkdir()
    for name in ("__init__.py", "one.py", "other.py", "text.j2"):
        (folder / name).write_text(name)
    return folder


def fresh(*modules: str) -> str:
    code_digest.cache_clear()
    return code_digest(*modules)


def test_a_package_counts_with_all_its_files_and_a_module_with_its_own(package: Path) -> None:
    (package / "__init__.py").write_text("")
    whole, one = fresh("digested_package"), fresh("digested_package.one")
    (package / "text.j2").write_text("edited")
    assert fresh("digested_package") != whole
    assert fresh("digested_package.one") == one
    (package / "one.py").write_text("edited")
    assert fresh("digested_package.one") != one


def test_neither_order_nor_what_python_leaves_counts(package: Path) -> None:
    (package / "__init__.py").write_text("")
    names = ("digested_package.one", "digested_package.other")
    assert fresh(*names) == fresh(*reversed(names), names[0])
    before = fresh("digested_package")
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "one.pyc").write_bytes(b"")
    assert fresh("digested_package") == before


def test_a_module_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^there is no module 'digested_none'$"):
        fresh("digested_none")


REACHED = {
    "digested_package/kinds/__init__.py": "",
    "digested_package/__init__.py": "",
    "digested_package/kinds/loader.py": "def load():\n    from ..common import (\n        V,\n    )\n",
    "digested_package/common.py": "import digested_flat as flat, os",
    "digested_package/apart.py": "",
    "digested_flat.py": "from digested_other import lib\nfrom retarget import model",
    "digested_other/__init__.py": "from .more import *",
    "digested_other/more.py": "",
    "digested_other/lib.py": "",
    "digested_other/unused.py": "",
}


@pytest.mark.parametrize("name", REACHED)
def test_the_code_of_an_extension_is_its_package_and_what_that_imports(tmp_path: Path, name: str) -> None:
    def digest() -> str:
        for kept in (_reached, _names_in, _folders_of):
            kept.cache_clear()
        return code_reached("digested_package.kinds.loader")

    for file, text in REACHED.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    before = digest()
    (tmp_path / name).write_text(f"{REACHED[name]}\n# edited\n")
    assert (digest() == before) == (name in {"digested_package/apart.py", "digested_other/unused.py"})


def test_the_versions_of_what_arrays_are_made_with() -> None:
    named = [f"{name}-{importlib.metadata.version(name)}" for name in ("ml_dtypes", "numpy")]
    found = versions_of_arrays()
    assert found.startswith(f"Python {platform.python_version()} ")
    assert [one.removesuffix(".dist-info") for one in found.split()[2:]] == named


def test_the_core_that_judges_is_all_that_a_worker_imports_to_run() -> None:
    code = (
        "import sys; from retarget.worker.child import main, run_external, run_in_process\n"
        "print(*(name for name, module in sys.modules.items() if name.startswith('retarget.') and module.__file__))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = [name for name in done.stdout.split() if not f"{name}.".startswith(tuple(f"{one}." for one in CORE))]
    assert others == []
