"""The action `start`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from retarget.declare.files import MATRIX_FILE, SUITE_FILE
from retarget.declare.load import DeclarationLoader
from retarget.extension.registry import Registry, load_extensions
from retarget.model.names import config_name_error
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import write_files
from retarget.support.text import counted
from retarget.support.toml.read import toml_list, toml_string

from retarget_bringup.ladder.files import ladder_text
from retarget_bringup.ladder.settings import ACTIONS
from retarget_bringup.start.configs import Configs, configs_like, declared_configs, extension_configs
from retarget_bringup.start.models import SUITE, model_files

STARTER = Path(__file__).parents[1] / "starter"
"""The modules of the starter suite."""

_SUITE = STARTER / "suite.toml.tmpl"
"""Their order. It is a template, which is no TOML, and has a name by which nothing collects it."""

_TEMPLATES = Path(__file__).parent / "templates"
_LONGEST = 60
"""Characters of a name: it is in the names of files and of all targets."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "start",
        help="write the configs, a starter suite and the ladder of a new backend",
        description="Write what the bring-up of a backend begins with, below bringup/ of the project: its configs, a "
        "suite from one op on one element to whole models, what the bring-up is about, and an empty ladder. Nothing is "
        "overwritten. Without --like and --extension, NAME is a target config of the project: it is brought up with "
        "the suites that test it; the starter suite is written where none does.",
    )
    parser.add_argument("name", metavar="NAME", help="what the backend is called")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--like", metavar="BACKEND", default="", help="begin with the configs of vulkan, opencl, cuda, …")
    what.add_argument(
        "--extension",
        action="store_true",
        help="write a package with a new compiler and a new driver, which says what to fill in; the driver keeps its "
        "buffers in host memory and passes rungs 0 to 2",
    )
    parser.set_defaults(act=_run)


def _run(arguments: argparse.Namespace) -> int:
    name, root = arguments.name, Path.cwd()
    if problem := _name_problem(name):
        msg = f"NAME: {problem}"
        raise argparse.ArgumentError(None, msg)
    registry = load_extensions(arguments.retarget_extension)
    configs = _configs(arguments, root, registry)
    package = dict(_package_files(name, root)) if arguments.extension else {}
    files: dict[Path, str | bytes] = {**package, **dict(_files(name, root, configs))}
    if taken := [path for path in files if os.path.lexists(path)]:
        msg = f"found {display_path(taken[0])}, which is not overwritten; choose another NAME, or remove what is there"
        raise RetargetError(msg)
    write_files([*files.items()])
    if not configs.paths:
        DeclarationLoader(registry).load_suite_file(root / "bringup" / name / SUITE_FILE)
    folder = _package_folder(name, root) if package else None
    sys.stdout.write("\n".join(_report(name, root, configs, folder)) + "\n")
    return 0


def _name_problem(name: str) -> str | None:
    """Return why a name cannot be that of configs, of a folder and of a ladder; None if it can."""
    if name in ACTIONS:
        return f"found {name!r}, which is an action of `retarget bringup`; expected another name"
    if len(name) > _LONGEST:
        return f"found {len(name)} characters, expected at most {_LONGEST}: the name is part of those of all targets"
    return config_name_error(name)


def _configs(arguments: argparse.Namespace, root: Path, registry: Registry) -> Configs:
    name = arguments.name
    scope = DeclarationLoader(registry).scope_of(root / "bringup" / name)
    if arguments.extension:
        return extension_configs(name, scope, registry)
    if not arguments.like and (declared := declared_configs(name, root, scope, registry)) is not None:
        return declared
    return configs_like(name, arguments.like, scope, registry)


def _files(name: str, root: Path, configs: Configs) -> Iterator[tuple[Path, str | bytes]]:
    """Yield the files below `bringup/`, with their texts."""
    above, home = root / "bringup", root / "bringup" / name
    paths = configs.paths or (f"bringup/{name}",)
    words = {
        "name": name,
        "configs": configs.text,
        "targets": toml_list(configs.targets),
        "paths": toml_list(paths),
        "reference": toml_string(configs.reference),
        "compiler": configs.reference.partition("/")[0],
    }
    yield above / f"{name}.toml", _filled(_TEMPLATES / "about.toml", words)
    yield above / f"{name}.ladder", ladder_text(name, ())
    if configs.paths:
        return
    if configs.text:
        yield home / MATRIX_FILE, _filled(_TEMPLATES / f"{MATRIX_FILE}.tmpl", words)
    models = [*model_files(home, words["compiler"])] if configs.reference else []
    yield (home / SUITE_FILE, _filled(_SUITE, words) + (Template(SUITE).substitute(words) if models else ""))
    yield from models
    yield from ((home / path.name, path.read_text(encoding="utf-8")) for path in sorted(STARTER.glob("*.mlir")))


def _filled(template: Path, words: Mapping[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(words)


def _package_folder(name: str, root: Path) -> Path:
    """Return the folder of the package."""
    return root / f"retarget-{name.replace('+', '-')}"


def _package_files(name: str, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the package, with their texts."""
    module = f"retarget_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    classes = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))
    words = {
        "name": name,
        "package": _package_folder(name, root).name,
        "module": module,
        "class": f"The{classes}" if classes[:1].isdigit() else classes,
    }
    for path in sorted((_TEMPLATES / "package").iterdir()):
        at = _package_folder(name, root) / ("" if path.suffix == ".toml" else module)
        yield at / path.name.removesuffix(".tmpl"), Template(path.read_text(encoding="utf-8")).substitute(words)


# ---------------------------------------------------------------- what is printed


def _report(name: str, root: Path, configs: Configs, package: Path | None) -> Iterator[str]:
    """Yield what was written, and the next three commands."""
    above, home = root / "bringup", root / "bringup" / name
    modules = counted(len([*home.glob("*.mlir"), *home.glob("*.onnx")]), "module")
    written = [(package, "the package: a driver that has buffers, a compiler to fill in")] if package else []
    written += [
        (above / f"{name}.toml", "what the bring-up is about"),
        (above / f"{name}.ladder", "how far each target has come: none was tried yet"),
    ]
    if not configs.paths:
        written += [(home / MATRIX_FILE, "the configs")] if configs.text else []
        written.append((home / SUITE_FILE, f"the starter suite: {modules}, the smallest first"))
    yield from _columns("wrote ", [(display_path(path), what) for path, what in written], "  ")
    yield "next:"
    install = f"pip install --no-build-isolation --no-deps -e {shlex.quote(package.name)}" if package else ""
    steps = [
        (install, "make the package known"),
        (f"retarget bringup driver {shlex.join(configs.drivers)}", "rungs 0 to 2: the driver alone"),
        (f"retarget bringup {name}", "rungs 3 to 8: every module, and what blocks the most"),
        (f"retarget bringup {name} --next", "the one thing to do next"),
    ]
    yield from _columns("  ", [step for step in steps if step[0]][:3], "  # ")


def _columns(before: str, rows: Sequence[tuple[str, str]], between: str) -> Iterator[str]:
    width = max(len(first) for first, _ in rows)
    yield from (f"{before}{first.ljust(width)}{between}{second}" for first, second in rows)
