"""The cache folder: pytest and the command `retarget` always mean the same one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from pytest_retarget.session.declared import cache_dir
from retarget.session import CacheChoice

INI = "[pytest]\nretarget_cache_dir = from-ini\n"


@pytest.fixture(autouse=True)
def home(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, another as home, no settings from outside."""
    for name in ("RETARGET_CACHE_DIR", "PYTEST_ADDOPTS", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = pytester.mkdir("home")
    monkeypatch.setenv("HOME", str(home))
    return home


def of_pytest(pytester: pytest.Pytester, *arguments: str) -> Path:
    return cache_dir(pytester.parseconfigure(*arguments))


def test_the_command_says_where_pytest_keeps_nothing(pytester: pytest.Pytester) -> None:
    ini = pytester.makeini(INI + "addopts = --retarget-no-cache\n")
    found = CacheChoice.of_command()
    assert (found.folder, found.unused) == (pytester.path / "from-ini", f"--retarget-no-cache in addopts in {ini}")
    config = pytester.parseconfigure()
    assert (folder := cache_dir(config)) != found.folder
    config._ensure_unconfigure()
    assert not folder.exists()


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({}, ""),
        ({"pyproject.toml": '[tool.pytest.ini_options]\nretarget_cache_dir = "toml"\naddopts = ["-h"]\n'}, "toml"),
        ({"tox.ini": "[tox]\n", "../tox.ini": INI}, "../from-ini"),
        ({"pytest.ini": "[pytest\n", "../tox.ini": INI}, ""),
    ],
)
def test_the_command_reads_the_ini_file_that_pytest_reads(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, home: Path, files: dict[str, str], folder: str
) -> None:
    project = pytester.mkdir("project")
    for name, text in files.items():
        (project / name).write_text(text)
    monkeypatch.chdir(project)
    assert CacheChoice.of_command().folder == ((project / folder).resolve() if folder else home / ".cache/retarget")


def test_where_a_user_can_have_no_cache_folder_it_is_one_of_the_users_own_among_temporary_files(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary := pytester.mkdir("temporary")))
    (home / ".cache").touch()  # as a read-only home folder, also for root
    own = temporary / f"retarget-cache-{os.getuid()}"
    assert (of_pytest(pytester), CacheChoice.of_command().folder) == (own, own)
    assert own.stat().st_mode & 0o777 == 0o700

    own.chmod(0o755)  # one that somebody else may have filled
    assert CacheChoice.of_command().folder == home / ".cache/retarget"
