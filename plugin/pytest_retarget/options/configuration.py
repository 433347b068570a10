"""The configuration of each session of pytest in a folder, found as pytest finds it, without a session."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest
from retarget.session import PytestConfiguration

from pytest_retarget.internals import determine_setup, parse_override_ini

_VARIABLE = "PYTEST_ADDOPTS"


def configuration_of(folder: Path, paths: Sequence[str] = ()) -> PytestConfiguration:
    """Return the root, the ini file, its values and the options of a session that starts in a folder and is given these
    paths, or else the folder. Values that pytest will refuse count as none."""
    variable = _words(os.environ.get(_VARIABLE, ""))
    try:
        known = _known(variable)
        root, file, values, _ = determine_setup(
            inifile=known.file,
            override_ini=known.overrides,
            args=list(paths) or [str(folder)],
            rootdir_cmd_arg=known.root,
            invocation_dir=folder,
        )
        addopts = getattr(values.get("addopts"), "value", "")
        words = tuple(map(str, addopts)) if isinstance(addopts, list) else _words(str(addopts))
        values |= parse_override_ini([*_known(words).overrides, *known.overrides])
    except (Exception, pytest.fail.Exception):  # pytest reports it
        return PytestConfiguration(root=folder, options={_VARIABLE: variable})
    return PytestConfiguration(
        root=root,
        file=file,
        values={key: found.value for key, found in values.items()},
        options={f"addopts in {file or _VARIABLE}": words, _VARIABLE: variable},
    )


def _known(words: Sequence[str]) -> argparse.Namespace:
    """Return those options that change what pytest reads. Raises `argparse.ArgumentError`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-c", "--config-file", dest="file")
    parser.add_argument("-o", "--override-ini", dest="overrides", action="append", default=[])
    parser.add_argument("--rootdir", dest="root")
    return parser.parse_known_args(words)[0]


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # pytest will refuse it
        return ()
