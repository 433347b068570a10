"""The action `start`: the configs of a new backend and of the one that it is compared with, and modules for it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from msgspec import Struct
from retarget.extension import SuggestedTarget
from retarget.model import config_name_error
from retarget.session import DeclarationLoader, FileName, Registry, load_extensions
from retarget.support import RetargetError, counted, did_you_mean, display_path, toml_table, toml_value, write_files

from retarget_bringup.ladder.files import ACTIONS, ladder_text

STARTER = Path(__file__).parent / "starter"
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
    folder = root / f"retarget-{name.replace('+', '-')}" if arguments.extension else None
    files = dict(_package_files(name, folder)) if folder is not None else {}
    files |= _files(name, root, configs)
    if taken := [path for path in files if os.path.lexists(path)]:
        msg = f"found {display_path(taken[0])}, which is not overwritten; choose another NAME, or remove what is there"
        raise RetargetError(msg)
    write_files([*files.items()])
    if not configs.paths:
        DeclarationLoader(registry).load_suite_file(root / "bringup" / name / FileName.SUITE)
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
    project = _Project(arguments.name, root, registry)
    if arguments.extension:
        return project.extension_configs()
    if not arguments.like and (declared := project.declared_configs()) is not None:
        return declared
    return project.configs_like(arguments.like)


def _files(name: str, root: Path, configs: Configs) -> Iterator[tuple[Path, str]]:
    """Yield the files below `bringup/`, with their texts."""
    above, home = root / "bringup", root / "bringup" / name
    paths = configs.paths or (f"bringup/{name}",)
    words = {
        "name": name,
        "configs": configs.text,
        "targets": toml_value(configs.targets),
        "paths": toml_value(paths),
        "reference": toml_value(configs.reference),
    }
    yield above / f"{name}.toml", _filled(_TEMPLATES / "about.toml", words)
    yield above / f"{name}.ladder", ladder_text(name, ())
    if configs.paths:
        return
    if configs.text:
        yield home / FileName.MATRIX, _filled(_TEMPLATES / f"{FileName.MATRIX}.tmpl", words)
    yield home / FileName.SUITE, _filled(_SUITE, words)
    yield from ((home / path.name, path.read_text(encoding="utf-8")) for path in sorted(STARTER.glob("*.mlir")))


def _filled(template: Path, words: Mapping[str, str]) -> str:
    return Template(template.read_text(encoding="utf-8")).substitute(words)


def _package_files(name: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the package in a folder, with their texts."""
    module = f"retarget_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
    classes = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))
    words = {
        "name": name,
        "package": folder.name,
        "module": module,
        "class": f"The{classes}" if classes[:1].isdigit() else classes,
    }
    for path in sorted((_TEMPLATES / "package").iterdir()):
        at = folder / ("" if path.suffix == ".toml" else module)
        yield at / path.name.removesuffix(".tmpl"), Template(path.read_text(encoding="utf-8")).substitute(words)


# ---------------------------------------------------------------- what is printed


def _report(name: str, root: Path, configs: Configs, package: Path | None) -> Iterator[str]:
    """Yield what was written, and the next three commands."""
    above, home = root / "bringup", root / "bringup" / name
    modules = counted(len([*home.glob("*.mlir")]), "module")
    written = [(package, "the package: a driver that has buffers, a compiler to fill in")] if package else []
    written += [
        (above / f"{name}.toml", "what the bring-up is about"),
        (above / f"{name}.ladder", "how far each target has come: none was tried yet"),
    ]
    if not configs.paths:
        written += [(home / FileName.MATRIX, "the configs")] if configs.text else []
        written.append((home / FileName.SUITE, f"the starter suite: {modules}, the smallest first"))
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


_NAMES = "# What suites name: what is compiled how, and run where.\n"
_Suggestion = tuple[SuggestedTarget, str]
"""A target config that a compiler suggests, and the compiler."""


class Configs(Struct, frozen=True, kw_only=True):
    """The configs of a bring-up. `drivers` are the backend's; `reference` is COMPILER/RUNTIME of the backend to compare
    with, or empty. `text` declares the configs that no file declares yet, `targets` are the target configs of the
    starter suite; `paths` are the top folders of suites that test the backend already, in place of a starter
    suite."""

    drivers: tuple[str, ...]
    reference: str
    text: str = ""
    targets: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


class _Project:
    """The project in which a backend is brought up under a name, and the configs that its files see."""

    def __init__(self, name: str, root: Path, registry: Registry) -> None:
        """Raises `DiagnosticsError` for errors in the files of configs."""
        self._name, self._root, self._registry = name, root, registry
        self._loader = DeclarationLoader(registry)
        self._scope = self._loader.scope_of(root / "bringup" / name)

    def configs_like(self, like: str) -> Configs:
        """Return configs that differ from those of a backend by their name alone.

        Raises `argparse.ArgumentError` for a backend that no compiler suggests, `RetargetError` for a name that is
        taken.
        """
        name, known = self._name, _suggestions(self._registry)
        if like not in known:
            found = f"--like: found {like!r}" if like else f"found no target config {name!r} here"
            msg = f"{found}; expected --like with one of {', '.join(known)}, or --extension{did_you_mean(like, known)}"
            raise argparse.ArgumentError(None, msg)
        suggested, compiler = known[like]
        drivers = suggested.drivers
        runtimes = {name if len(drivers) == 1 else f"{name}-{driver}": driver for driver in drivers}
        self._expect_free(runtimes)
        tables = [
            f"# {suggested.comment}\n{suggested.compiler_text(compiler, name=name)}",
            *(toml_table("runtime_config", name=runtime, driver=driver) for runtime, driver in runtimes.items()),
            _NAMES + toml_table("target_config", name=name, compiler=name, runtimes=tuple(runtimes)),
        ]
        return self._with_reference(tables, drivers, _reference(known, {like}))

    def extension_configs(self) -> Configs:
        """Return the configs of a package whose compiler and driver have the backend's name. Raises `RetargetError`
        for a name that is taken."""
        name = self._name
        self._expect_free((name,))
        tables = [
            f"# The compiler of the package retarget-{name}. Add `flags` as it learns to read them.\n"
            + toml_table("compiler_config", name=name, compiler=name),
            "# Its driver.\n" + toml_table("runtime_config", name=name, driver=name),
            _NAMES + toml_table("target_config", name=name, compiler=name, runtimes=(name,)),
        ]
        return self._with_reference(tables, (name,), _reference(_suggestions(self._registry), set()))

    def declared_configs(self) -> Configs | None:
        """Return the configs of the target config that suites of the project test, or else that a `matrix.toml` above
        declares; None where there is no such target config."""
        name, root = self._name, self._root
        suites = [suite for path in FileName.SUITE.below([root]) for suite in self._loader.read_suite_file(path)[0]]
        using = {suite: target for suite in suites for target in suite.targets if target.name == name}
        declared = next(iter(using.values()), self._scope.targets.configs.get(name))
        if declared is None:
            return None
        own = {config.name for config in declared.compilers}
        drivers = tuple(dict.fromkeys(driver for config in declared.runtimes for driver in config.drivers))
        if not using:
            return self._with_reference([], drivers, _reference(_suggestions(self._registry), own))
        others = [target for suite in using for target in suite.targets if target.runtimes]
        pairs = [(compiler.name, target.runtimes[-1].name) for target in others for compiler in target.compilers]
        reference = next((f"{compiler}/{runtime}" for compiler, runtime in pairs if compiler not in own), "")
        paths = dict.fromkeys((suite.folder.relative_to(root).parts or (".",))[0] for suite in using)
        return Configs(drivers=drivers, reference=reference, paths=tuple(paths))

    def _with_reference(
        self, tables: Iterable[str], drivers: tuple[str, ...], reference: _Suggestion | None
    ) -> Configs:
        """Add the configs of the reference backend, as far as no file above declares them."""
        name, scope, texts = self._name, self._scope, list(tables)
        targets: tuple[str, ...] = (name,)
        written = ""
        if reference is not None:
            suggested, compiler = reference
            config, driver = suggested.compiler_config, suggested.drivers[-1]
            targets, written = (name, f"{name}-reference"), f"{config}/{driver}"
            comment = f"# The backend to compare with. {suggested.comment}\n"
            added = []
            if config not in scope.compilers.configs:
                added.append(suggested.compiler_text(compiler))
            if driver not in scope.runtimes.configs:
                added.append(toml_table("runtime_config", name=driver, driver=driver))
            added.append(toml_table("target_config", name=targets[1], compiler=config, runtimes=(driver,)))
            texts += [comment + added[0], *added[1:]]
        return Configs(targets=targets, drivers=drivers, text="\n\n".join(texts), reference=written)

    def _expect_free(self, runtimes: Iterable[str]) -> None:
        """Raise `RetargetError` where a file above declares one of the configs that would be written."""
        name, scope = self._name, self._scope
        taken = [scope.compilers.configs.get(name), scope.targets.configs.get(name)]
        for other in (*taken, *(scope.runtimes.configs.get(runtime) for runtime in runtimes)):
            if other is not None:
                where = f"{other.origin.key_path} of {display_path(other.origin.file)}"
                msg = f"found the name {other.name!r} in {where} already; choose another NAME"
                raise RetargetError(msg)


def _suggestions(registry: Registry) -> Mapping[str, _Suggestion]:
    """Return what compilers suggest where every driver finds a device, by the names of the compiler configs."""
    known: dict[str, _Suggestion] = {}
    for target, compiler in registry.suggested_targets(dict.fromkeys(registry.drivers, ())):
        known.setdefault(target.compiler_config, (target, compiler))
    return known


def _reference(known: Mapping[str, _Suggestion], own: set[str]) -> _Suggestion | None:
    """Return the first suggestion that is another backend."""
    return next((pair for name, pair in known.items() if name not in own), None)
