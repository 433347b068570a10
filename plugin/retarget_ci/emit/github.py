"""Workflows of GitHub Actions: one per event.

An expression of a workflow holds only names from `ci.toml`, which are plain words; names of targets and what a compiler
prints stay in files.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget.support import RetargetError, install_hint

from retarget_ci.emit.jobs import FOLDER, home_of, leg_minutes
from retarget_ci.schema import CiConfig, Event

if TYPE_CHECKING:
    import jinja2

_ACTIONS = {
    "cache_restore": "actions/cache/restore@0057852bfaa89a56745cba8c7296529d2fc39830  # v4.3.0",
    "cache_save": "actions/cache/save@0057852bfaa89a56745cba8c7296529d2fc39830  # v4.3.0",
    "checkout": "actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8  # v5.0.0",
    "download_artifact": "actions/download-artifact@018cc2cf5baa6db3ef3c5f8a56943fffe632ef53  # v6.0.0",
    "setup_python": "actions/setup-python@e797f83bcb11b83ae66e0230d6156d7c80228e7c  # v6.0.0",
    "upload_artifact": "actions/upload-artifact@330a01c490aca151604b8cf639adc76d48f6c5d4  # v5.0.0",
}
"""By commit: a tag can be moved."""

_PYTHON = "3.12"
_CACHE_KEY = "retarget-${{ matrix.leg }}-${{ github.run_id }}-${{ github.run_attempt }}"

_MINUTES = 30
"""For a job that only plans or verifies, with its setup."""


def github_workflow(config: CiConfig, event: Event, header: str) -> str:
    """Return the workflow of an event. Raises `RetargetError` where Jinja is missing."""
    builders = [runner for runner in config.runners if runner.builds]
    return _template().render(
        actions=_ACTIONS,
        builders=builders,
        builds=["build"] if builders else [],
        cache_key=_CACHE_KEY,
        commands=_block,
        config=config,
        event=event,
        folder=FOLDER,
        header=header,
        history=shlex.quote(config.history_of(event)) if config.history else "",
        history_folder="" if "://" in config.history else config.history_of(event),
        home=home_of(config),
        leg_minutes=leg_minutes(event),
        minutes=_MINUTES,
        python=_PYTHON,
        runs=["run"],
        text=_text,
        triggers=_triggers(event),
    )


@cache
def _template() -> jinja2.Template:
    try:
        import jinja2
    except ImportError as error:
        msg = f"`retarget ci emit` needs Jinja, which is not here; {install_hint('report')}"
        raise RetargetError(msg) from error
    environment = jinja2.Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  (YAML, not HTML: each text goes through `text` or `commands`)
    )
    return environment.from_string(Path(__file__).with_name("github.yml.jinja").read_text(encoding="utf-8"))


def _triggers(event: Event) -> dict[str, Any]:
    branches = {"branches": list(event.branches)} if event.branches else {}
    found: dict[str, Any] = {}
    if "pull_request" in event.on:
        found["pull_request"] = branches
    if "merge_queue" in event.on:
        found["merge_group"] = {}
    if "push" in event.on:
        found["push"] = branches or {"branches": ["**"]}  # not tags
    if event.schedule:
        found["schedule"] = [{"cron": cron.strip()} for cron in event.schedule]
    if "manual" in event.on:
        found["workflow_dispatch"] = {}
    return found


def _text(value: object) -> str:
    """Return a value as JSON, which is YAML on one line."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _block(commands: Sequence[str], indent: int) -> str:
    """Return shell commands as a YAML block; as JSON text where a block cannot hold them."""
    lines = [line.rstrip() for command in commands for line in command.strip().split("\n")]
    if not all(line.isprintable() for line in lines):
        return json.dumps("\n".join(lines))
    return "\n".join(["|", *(f"{' ' * indent}{line}".rstrip() for line in lines)])
