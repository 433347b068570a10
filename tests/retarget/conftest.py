"""The packages below share `worker_doubles`, `targets_of_doubles` and `data_errors`, which are beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name files relative to `tmp_path`; no limit of data files is set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RETARGET_MAX_DATA_BYTES", raising=False)


@pytest.fixture
def two_modules(cwd: Path) -> Path:
    """The current folder: the root of a repository, with the modules foo and bar."""
    for name in (".git/HEAD", "foo.mlir", "bar.mlir"):
        (cwd / name).parent.mkdir(exist_ok=True)
        (cwd / name).touch()
    return cwd
