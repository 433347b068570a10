"""The projects that acceptance tests run pytest in."""

from __future__ import annotations

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest
import pytest_retarget
import retarget
from acceptance_support import Project


@pytest.fixture(scope="session")
def _imported() -> None:
    """What sessions of pytest in this process import stays imported when they end."""
    for package in (retarget, pytest_retarget):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, _imported: None) -> Iterator[Project]:
    """An empty project. The test doubles can be imported in it."""
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=os.pathsep)
    monkeypatch.setenv("COLUMNS", "120")
    # Hypothesis takes longer to import than all the rest, and most of these projects have less than two compiles to do.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest --retarget-jobs=1")
    made = Project(pytester)
    yield made
    made.end()
