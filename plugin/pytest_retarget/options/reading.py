"""Reads one option: its text, and the ini key's where there is one. A bad value is a `pytest.UsageError`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

SECONDS = "a number of seconds above 0, such as 90 or 0.5"
"""The form that `parse_seconds` takes."""

_LONGEST_TEXT = 1000
"""Characters of a glob or a name; globs in files are bounded, too."""


def value_of_option_or_ini(config: pytest.Config, name: str, parse: Callable[[str], T], form: str, default: T) -> T:
    option = "--retarget-" + name.replace("_", "-")
    key = f"retarget_{name}"
    ini = f"{key} in {config.inipath or 'the ini file'}"
    for where, text in ((option, config.getoption(key)), (ini, config.getini(key) or None)):
        if text is not None:
            try:
                return parse(text)
            except ValueError:
                msg = f"{where}: found {text!r}, expected {form}"
                raise pytest.UsageError(msg) from None
    return default


def value_of_option(config: pytest.Config, name: str, parse: Callable[[str], T], form: str, default: T) -> T:
    """Return an option that has no ini key."""
    text = config.getoption(f"retarget_{name}")
    try:
        return default if text is None else parse(text)
    except ValueError:
        msg = f"--retarget-{name.replace('_', '-')}: found {text!r}, expected {form}"
        raise pytest.UsageError(msg) from None


def parse_whole_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse_seconds(text: str) -> float:
    number = float(text)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError
    return number


def texts_of_option(config: pytest.Config, name: str, form: str) -> list[str]:
    """The texts of an option that may be repeated."""
    texts: list[str] = config.getoption(f"retarget_{name}") or []
    if not all(text.strip() for text in texts):
        msg = f"--retarget-{name}: found an empty text, expected {form}"
        raise pytest.UsageError(msg)
    if longest := max((len(text) for text in texts if len(text) > _LONGEST_TEXT), default=0):
        msg = f"--retarget-{name}: found {longest} characters, expected {form} of at most {_LONGEST_TEXT}"
        raise pytest.UsageError(msg)
    return texts


def folder_of_option(config: pytest.Config, name: str) -> Path | None:
    folder = path_of_option(config, name, "a folder")
    if folder is not None and os.path.exists(folder) and not folder.is_dir():  # noqa: PTH110  (of any length)
        msg = f"--retarget-{name.replace('_', '-')}: {folder} is a file, expected a folder"
        raise pytest.UsageError(msg)
    return folder


def output_folder_of_option(config: pytest.Config, name: str) -> Path | None:
    """The folder of an option that the session writes to: one that can be made and written to now."""
    folder = folder_of_option(config, name)
    if folder is None:
        return None
    there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), folder)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        what = "cannot be written to" if there.is_dir() else "is no folder"
        msg = f"--retarget-{name}: found {folder}, expected a folder that can be written; {there} {what}"
        raise pytest.UsageError(msg)
    return folder


def path_of_option(config: pytest.Config, name: str, expected: str) -> Path | None:
    text = config.getoption(f"retarget_{name}")
    if text is None:
        return None
    if not text:
        msg = f"--retarget-{name.replace('_', '-')}: found an empty text, expected {expected}"
        raise pytest.UsageError(msg)
    from retarget.support.files import user_path  # a project without matrix files imports nothing but options

    base = config.invocation_params.dir
    return Path(os.path.abspath(base / user_path(text)))  # noqa: PTH100  (a symbolic link stays as it is)
