"""What can happen to the cache folder of sessions: results stay right, or an error says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


def in_mounts(project: Project, *script: str) -> str:
    """Run shell commands where they may mount file systems that only they see; return what they print."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", " && ".join(("set -e", *script))]
    done = subprocess.run(words, cwd=project.path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def many(project: Project) -> None:
    project.doubles(**{f"m{number}": f"f{number}_{'x' * 1000}: pass" for number in range(6)})


PYTEST = f"{sys.executable} -m pytest {' '.join(DOUBLES)} -p no:cacheprovider --retarget-cache-dir kept"
VERIFY = f"{Path(sys.executable).with_name('retarget')} cache verify --cache-dir kept"


@pytest.mark.slow
def test_on_a_full_disk_an_error_says_so_and_once_there_is_space_the_next_session_goes_on(project: Project) -> None:
    many(project)
    printed = in_mounts(
        project,
        "mkdir kept",
        "mount -t tmpfs -o size=40k tmpfs kept",
        f"({PYTEST} || echo status $?)",
        VERIFY,
        "mount -o remount,size=10m kept",
        PYTEST,
    )

    full, verified, after = printed.partition("status 1\n")[0], *printed.partition("status 1\n")[2].split("\n", 1)
    assert f"the disk of the cache folder {project.path / 'kept'} is full (No space left on device); free some" in full
    assert verified.endswith(" files checked, 0 removed")
    assert "= 12 passed in " in after


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_serves_what_it_has_and_says_what_it_lacks(project: Project) -> None:
    many(project)
    printed = in_mounts(
        project,
        PYTEST,
        "mount --bind kept kept",
        "mount -o remount,bind,ro kept",
        f"echo second && {PYTEST}",
        "echo 'f: pass' > suites/new.mlir",
        f"echo third && ({PYTEST} || echo status $?)",
    )

    second, _, third = printed.partition("second\n")[2].partition("third\n")
    assert "= 12 passed in " in second
    assert "compiled 0, reused 6 " in second
    assert "= 1 failed, 12 passed, 1 blocked in " in third
    assert f"the cache folder {project.path / 'kept'} cannot be used (Read-only file system: " in third
    assert third.endswith("status 1\n")
