"""Which folder is the cache, and what is said to have chosen it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from retarget.session.cache import folder as module
from retarget.session.cache.folder import CacheChoice

HERE = Path("/here")


@pytest.mark.parametrize(
    ("given", "variable", "folder", "source"),
    [
        ({"option": "a"}, "b", "/here/a", "--retarget-cache-dir"),
        ({"option": "/a/../c", "named": "--cache-dir"}, "b", "/c", "--cache-dir"),
        ({"option": "~/a"}, "", "/home/me/a", "--retarget-cache-dir"),
        ({"ini": "c", "ini_file": Path("/p/pytest.ini")}, "b", "/here/b", "RETARGET_CACHE_DIR"),
        ({"ini": "c", "ini_file": Path("/p/pytest.ini")}, "", "/p/c", "retarget_cache_dir in /p/pytest.ini"),
        ({"ini": "c"}, "", "/here/c", "retarget_cache_dir"),
        ({}, "", "/user", "the user's cache folder"),
    ],
)
def test_the_first_that_is_given_holds(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], variable: str, folder: str, source: str
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_DIR", variable)
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setattr(module, "user_cache", lambda: Path("/user"))
    assert CacheChoice.of(folder=HERE, **given) == CacheChoice(folder=Path(folder), source=source)


def test_paths_start_at_the_current_folder_and_links_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    monkeypatch.chdir(tmp_path)
    assert CacheChoice.of(option="link/x").folder == tmp_path / "link/x"
