"""The files that `ci.toml` emits: a pure function of it, with which `retarget ci verify` compares what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from retarget_ci.emit.github import github_workflow
from retarget_ci.emit.gitlab import gitlab_pipeline
from retarget_ci.model import CiConfig, Event

__all__ = ["SYSTEMS", "emitted_files", "left_over_files"]

SYSTEMS = ("github", "gitlab")

_HEADER = "# Written by `retarget ci emit` from ci.toml. Change that and write it again: `retarget ci verify` compares."

_GITHUB = PurePosixPath(".github/workflows")
_GITLAB = PurePosixPath(".gitlab/retarget.yml")


def emitted_files(config: CiConfig, systems: tuple[str, ...] | None = None) -> dict[PurePosixPath, str]:
    """Return the content of each file, by its path from the folder of `ci.toml`; `systems` default to its `emit`.

    Raises `RetargetError` where Jinja is missing.
    """
    files: dict[PurePosixPath, str] = {}
    for system in config.emit if systems is None else systems:
        if system == "github":
            for event in config.events:
                files[_GITHUB / _name(event)] = github_workflow(config, event, _HEADER)
        else:
            files[_GITLAB] = gitlab_pipeline(config, _HEADER)
    return files


def _name(event: Event) -> str:
    return f"retarget-{event.name}.yml"


def left_over_files(config: CiConfig) -> Iterator[PurePosixPath]:
    """Yield the files that were emitted for an event that `ci.toml` has no longer, or for no system of its `emit`."""
    wanted = {_GITHUB / _name(event) for event in config.events} if "github" in config.emit else set()
    wanted |= {_GITLAB} if "gitlab" in config.emit else set()
    candidates = [*sorted((config.folder / _GITHUB).glob("retarget-*.yml")), config.folder / _GITLAB]
    for path in candidates:
        relative = PurePosixPath(path.relative_to(config.folder).as_posix())
        if relative not in wanted and _is_emitted(path):
            yield relative


def _is_emitted(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline().rstrip("\n") == _HEADER
    except OSError:
        return False
