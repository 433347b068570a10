"""`retarget show`: an artifact as text, as its compiler tells it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .errors import RetargetError, display_path
from .extension import ShowsArtifacts
from .extensions import Registry, load_extensions

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget show`."""
    parser.add_argument("artifact", type=Path, help="a file that --retarget-export wrote, or a compiler")
    parser.add_argument("--compiler", default="", help="the compiler it is from (the one whose suffix the file has)")


def run(arguments: argparse.Namespace) -> int:
    """Print the artifact. Returns 0. Raises `RetargetError` for a file that no compiler here can show."""
    path: Path = arguments.artifact
    if not path.is_file():
        msg = f"found no file {display_path(path)}, expected one that --retarget-export wrote, or a compiler"
        raise RetargetError(msg)
    shower = _shower(load_extensions(arguments.retarget_extension), arguments.compiler, path)
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"{display_path(path)} cannot be read: {error.strerror}"
        raise RetargetError(msg) from error
    try:
        text = shower.show(content)
    except RetargetError as error:
        msg = f"{display_path(path)}: {error}"
        raise RetargetError(msg) from error
    sys.stdout.write(text)
    return 0


def _shower(registry: Registry, name: str, path: Path) -> ShowsArtifacts:
    able = {compiler: shower for compiler, shower in registry.compilers.items() if isinstance(shower, ShowsArtifacts)}
    if name:
        registry.compiler(name)
        if name in able:
            return able[name]
    else:
        found = [shower for shower in able.values() if shower.artifact_suffix == path.suffix]
        if found:
            return found[0]
    what = f"artifacts of {name}" if name else f"{display_path(path)}"
    known = ", ".join(f"{compiler} (*{shower.artifact_suffix})" for compiler, shower in sorted(able.items()))
    msg = f"{what} cannot be shown as text; compilers whose artifacts can: {known or 'none'}"
    raise RetargetError(msg)
