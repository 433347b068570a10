"""Which folder is the cache, and what is said to have chosen it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.session.cache import folder as module
from retarget.session.cache.folder import CacheChoice, cache_of_command, cache_of_session, choose_cache
from retarget.targets.collected import PytestConfiguration

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
    assert choose_cache(folder=HERE, **given) == CacheChoice(folder=Path(folder), source=source)


def test_paths_start_at_the_current_folder_and_links_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to("elsewhere")
    monkeypatch.chdir(tmp_path)
    assert choose_cache(option="link/x").folder == tmp_path / "link/x"


@pytest.mark.parametrize(
    ("words", "values", "choice"),
    [
        ({}, {}, CacheChoice(folder=Path("/user"), source="the user's cache folder")),
        (
            {},
            {"retarget_cache_dir": "c"},
            CacheChoice(folder=Path("/p/c"), source="retarget_cache_dir in /p/pytest.ini"),
        ),
        (
            {
                "addopts": ("--retarget-cache-dir=/a", "--retarget-no-cache"),
                "PYTEST_ADDOPTS": ("--retarget-cache-dir", "/b"),
            },
            {"retarget_cache_dir": "c"},
            CacheChoice(
                folder=Path("/b"),
                source="--retarget-cache-dir in PYTEST_ADDOPTS",
                unused="--retarget-no-cache in addopts",
            ),
        ),
    ],
)
def test_a_command_has_the_cache_of_a_session_in_this_folder(
    monkeypatch: pytest.MonkeyPatch, words: dict[str, tuple[str, ...]], values: dict[str, object], choice: CacheChoice
) -> None:
    monkeypatch.delenv("RETARGET_CACHE_DIR", raising=False)
    monkeypatch.setattr(module, "user_cache", lambda: Path("/user"))
    configuration = PytestConfiguration(root=Path("/p"), file=Path("/p/pytest.ini"), values=values, options=words)
    plugin = SimpleNamespace(find_configuration=lambda _: configuration)
    monkeypatch.setattr("retarget.targets.collected.pytest_plugin", lambda: plugin)
    assert cache_of_session(configuration) == choice
    assert cache_of_command() == choice
    assert cache_of_command("/own") == CacheChoice(folder=Path("/own"), source="--cache-dir")
