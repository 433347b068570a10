"""`retarget show`: an artifact as text, as its compiler prints it: of a file, or of a target."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retarget.cli.support import add_path_arguments, add_toolchain_argument, one_target
from retarget.extension import Compiler, UnavailableError
from retarget.extension.registry import Registry, load_extensions
from retarget.model import CompileTarget
from retarget.session.cache.folder import CacheChoice
from retarget.session.engine import Engine
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import read_regular


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget show`."""
    parser.add_argument(
        "artifact", help="a file that --retarget-export wrote, or a compiler; or the name of a target, or its node id"
    )
    add_path_arguments(parser)
    add_toolchain_argument(parser)
    parser.add_argument("--compiler", default="", help="the compiler a file is from (the one whose suffix it has)")


def run(arguments: argparse.Namespace) -> int:
    """Print the artifact. Returns 0.

    Raises `RetargetError` for what no compiler here can show, `argparse.ArgumentError` for what is neither a file nor a
    target.
    """
    path = Path(arguments.artifact)
    registry = load_extensions(arguments.retarget_extension)
    suffixes = {compiler.artifact_suffix for compiler in registry.compilers.values()}
    if path.exists() or path.is_symlink() or path.is_absolute() or path.suffix in suffixes:
        what = display_path(path)
        content = _read(path)
        shower = _shower(registry, arguments.compiler, path)
    else:
        declared, _, chosen = one_target(arguments, arguments.artifact, found=f"no file {arguments.artifact!r} and ")
        target, registry = chosen.compiled, declared.registry
        what = target.name
        shower = _shower(registry, target.compiler.compiler, path)
        content = _compiled(target, arguments, registry)
    try:
        text = shower.show(content)
    except RetargetError as error:
        msg = f"{what}: {error}"
        raise RetargetError(msg) from error
    sys.stdout.write(text)
    return 0


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        why = f"{error.strerror or error}; expected a file that --retarget-export wrote, or a compiler"
        msg = f"{display_path(path)} cannot be read: {why}"
        raise RetargetError(msg) from error


def _compiled(target: CompileTarget, arguments: argparse.Namespace, registry: Registry) -> bytes:
    """Return a target's artifact, from the cache or compiled. Raises `RetargetError` where there is none."""
    cache = CacheChoice.of_command().folder
    with Engine(registry=registry, cache=cache, extensions=arguments.retarget_extension) as engine:
        try:
            outcome = engine.compile(target)
        except UnavailableError as error:
            msg = f"{target.name} cannot be compiled here: {error}{f'; {error.hint}' if error.hint else ''}"
            raise RetargetError(msg) from error
    if outcome.artifact is None:
        summary = outcome.failure.summary if outcome.failure is not None else "there is no artifact"
        msg = f"{target.name} does not compile: {summary}"
        raise RetargetError(msg)
    return Path(outcome.artifact.path).read_bytes()


def _shower(registry: Registry, name: str, path: Path) -> Compiler:
    """Return the compiler `name`, or the one whose suffix a file has. Raises `RetargetError`."""
    able = {compiler: shower for compiler, shower in registry.compilers.items() if shower.overrides("show")}
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
