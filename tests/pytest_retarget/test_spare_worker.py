"""When a session starts the device worker that imports while it collects."""

from __future__ import annotations

from pathlib import Path

import pytest


class Spare:
    def __init__(self, events: list[str]) -> None:
        self._events = events
        events.append("started")

    def close(self) -> None:
        self._events.append("closed")


class Events:
    def __init__(self) -> None:
        self.events: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        self.events.append("collection")


@pytest.mark.parametrize(
    ("files", "arguments", "expected"),
    [
        (("matrix.toml",), (), ["started", "collection", "closed"]),
        (("suites/suite.toml",), ("suites",), ["started", "collection", "closed"]),
        (("suites/suite.toml",), ("suites/suite.toml",), ["started", "collection", "closed"]),
        (("suites/matrix.toml",), ("test_spare.py",), ["collection"]),
        (("matrix.toml",), ("--collect-only",), ["collection"]),
        (("matrix.toml",), ("--setup-only",), ["collection"]),
        (("matrix.toml",), ("-n1",), ["collection"]),
        (("matrix.toml",), ("--retarget-cluster=tcp://1",), ["collection"]),
        (("matrix.toml",), ("--retarget-extension=not_there",), ["collection"]),
        ((), ("long" * 100,), ["collection"]),  # which the system refuses, and pytest reports
    ],
)
def test_a_worker_starts_before_collection_where_a_path_has_declarations(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: tuple[str, ...],
    arguments: tuple[str, ...],
    expected: list[str],
) -> None:
    for name in (".git/HEAD", "test_spare.py", *files):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def test_spare(): pass\n" if name == "test_spare.py" else "")
    monkeypatch.chdir(tmp_path)
    told = Events()
    monkeypatch.setattr("retarget.worker.SpareWorker", lambda: Spare(told.events))
    always = ["--assert=plain", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-q"]
    pytest.main([*always, *arguments], plugins=[told])
    assert list(dict.fromkeys(told.events)) == expected
