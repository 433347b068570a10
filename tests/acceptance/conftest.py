"""The projects that acceptance tests run pytest in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance_support import Project


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests that are not about caching."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes of all tests keep what Python has compiled, whatever this one was told."""
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def project(
    pytester: pytest.Pytester, warm_cache: Path, bytecode: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Project]:
    """An empty project. The test doubles can be imported in it."""
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(warm_cache))
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(bytecode))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")  # it takes longer to import than all the rest
    for name in ("RETARGET_EXTENSIONS", "PYTHONDONTWRITEBYTECODE", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    made = Project(pytester)
    yield made
    made.end()
