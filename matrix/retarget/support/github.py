"""GitHub's workflow commands: lines of a job's log that its runner obeys.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from retarget.support.text import strip_colour

MAX_ANNOTATIONS = 10
"""GitHub shows ten annotations of one kind per step."""

Annotation = tuple[str, str, str, str | int]
"""A message with its title, and the file and the line that it is about; empty where there is none."""

_LONG = 4000
"""Characters that a message may have: a page with annotations shows no more."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
"""Controls but for the end of a line, what turns the direction of text, halves of surrogate pairs."""


def on_github() -> bool:
    """Whether this process runs in a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def workflow_command(name: str, message: str = "", **properties: str | int) -> str:
    """Return the line of a command: `::error file=a.mlir,line=3,title=…::message`. Empty properties are left out.

    All texts are escaped as GitHub's own toolkit does (packages/core/src/command.ts of actions/toolkit); controls and
    colours are taken out, and what is too long is cut.
    """
    given = [f"{key}={_property(str(value))}" for key, value in properties.items() if value != ""]
    return f"::{name}{' ' * bool(given)}{','.join(given)}::{_data(message)}"


def error_annotations(found: Sequence[Annotation], rest: str) -> list[str]:
    """Return the commands that annotate errors, as many as GitHub shows. Where it does not show all, the last one
    counts the others; `rest` are its words after the number."""
    shown = found if len(found) <= MAX_ANNOTATIONS else found[: MAX_ANNOTATIONS - 1]
    lines = [
        workflow_command("error", message, file=file, line=line, title=title) for message, title, file, line in shown
    ]
    if (more := len(found) - len(shown)) > 0:
        lines.append(workflow_command("error", f"{more} {rest}", title="retarget"))
    return lines


@contextmanager
def log_group(title: str, write_line: Callable[[str], object]) -> Iterator[None]:
    """Fold what is written meanwhile in the log of a job of GitHub's. Whatever is written there is text, and no
    command."""
    if not on_github():
        yield
        return
    token = secrets.token_hex(16)
    write_line(workflow_command("group", title))
    write_line(workflow_command("stop-commands", token))
    try:
        yield
    finally:
        write_line(workflow_command(token))
        write_line(workflow_command("endgroup"))


def _data(text: str) -> str:
    plain = _CONTROL.sub(" ", strip_colour(text[: 4 * _LONG]).replace("\r\n", "\n"))
    plain = plain if len(plain) <= _LONG else f"{plain[:_LONG]}…"
    return plain.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
