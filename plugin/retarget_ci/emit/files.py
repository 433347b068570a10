"""The files that `ci.toml` emits: a pure function of it, with which `retarget ci verify` compares what is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from retarget.support import Diagnostic

from retarget_ci.emit.github import github_workflow
from retarget_ci.emit.gitlab import gitlab_pipeline
from retarget_ci.files import CI_FILE
from retarget_ci.lock import text_problems, written
from retarget_ci.model import CiConfig, Event

SYSTEMS = ("github", "gitlab")

_HEADER = "# Written by `retarget ci emit` from ci.toml. Change that and write it again: `retarget ci verify` compares."

_GITHUB = Path(".github/workflows")
_GITLAB = Path(".gitlab/retarget.yml")


def emitted_files(config: CiConfig, systems: tuple[str, ...] | None = None) -> dict[Path, str]:
    """Return the content of each file, by its path from the folder of `ci.toml`; `systems` default to its `emit`.

    Raises `RetargetError` where Jinja is missing.
    """
    files: dict[Path, str] = {}
    for system in config.emit if systems is None else systems:
        if system == "github":
            for event in config.events:
                files[_GITHUB / _name(event)] = github_workflow(config, event, _HEADER)
        else:
            files[_GITLAB] = gitlab_pipeline(config, _HEADER)
    return files


def _name(event: Event) -> str:
    return f"retarget-{event.name}.yml"


def left_over_files(config: CiConfig) -> Iterator[Path]:
    """Yield the files that were emitted for an event that `ci.toml` has no longer, or for no system of its `emit`."""
    wanted = {_GITHUB / _name(event) for event in config.events} if "github" in config.emit else set()
    wanted |= {_GITLAB} if "gitlab" in config.emit else set()
    for path in [*sorted((config.folder / _GITHUB).glob("retarget-*.yml")), config.folder / _GITLAB]:
        if path.relative_to(config.folder) not in wanted and (written(path) or "").startswith(f"{_HEADER}\n"):
            yield path


def emitted_problems(config: CiConfig, systems: tuple[str, ...] | None = None) -> Iterator[Diagnostic]:
    """Yield what is other than `ci.toml` gives it. Raises as `emitted_files` does."""
    for relative, expected in emitted_files(config, systems).items():
        path = config.folder / relative
        yield from text_problems(path, written(path), expected)
    for path in left_over_files(config):
        message = f"found a file that nothing in {CI_FILE} gives any more; `retarget ci emit` removes it"
        yield Diagnostic(file=path, message=message)
