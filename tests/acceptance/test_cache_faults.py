"""What can happen to the cache folder of sessions: results stay right, or an error says what to do."""

from __future__ import annotations

import pytest
from acceptance_support import DOUBLES, Project


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["4K", "4G"])
def test_eight_sessions_at_once_on_one_cache(project: Project, monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setenv("RETARGET_CACHE_SIZE", bound)
    modules = {f"m{number}": f"f{number}_{'x' * 1000}: pass" for number in range(6)}
    project.doubles(**modules)
    arguments = (*DOUBLES, "-p", "no:cacheprovider", "--retarget-cache-dir", "kept")

    sessions = [project.start(*arguments) for _ in range(8)]
    outputs = [session.communicate(timeout=600)[0] for session in sessions]

    for session, output in zip(sessions, outputs, strict=True):
        assert session.returncode == 0, output
        assert "12 passed" in output
        assert "note: " not in output
