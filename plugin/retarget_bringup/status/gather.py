"""The data for judging a ladder: sessions and checks of drivers, run in a process of their own, or read; and the states
of targets in them."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace
from retarget.cli import run_session
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, Origin, Rung, RunTarget, RuntimeConfig, Target
from retarget.results import Sessions, TargetRecord
from retarget.session import CacheChoice, Declared, Engine, Selector, check_drivers
from retarget.support import Checkout, DiagnosticsError, Problem, RetargetError, counted, did_you_mean

from retarget_bringup.driver import driver_targets, write_checks
from retarget_bringup.ladder.files import Ladder, Settings, read_ladder
from retarget_bringup.ladder.states import TargetState, ladder_targets, states


class Found(Struct, frozen=True, kw_only=True):
    """The states of a ladder's targets in `sessions`. `declared` are the ids of all targets, selected or not."""

    settings: Settings
    ladder: Ladder
    declared: Set[str]
    sessions: Sessions
    states: Sequence[TargetState]

    @property
    def results(self) -> Mapping[str, TargetRecord]:
        """The result of each target, by its id."""
        return self.sessions.results


def read_found(
    settings: Settings, folders: Sequence[Path], extensions: Sequence[str] = (), declared: Declared | None = None
) -> Found:
    """Read results, and find the states in them; `declared` is the result of `collect`, if known.

    Raises `RetargetError` for what cannot be read: results, the ladder, declarations.
    """
    ladder = read_ladder(settings.ladder_file)
    sessions = Sessions.read(folders)
    declared = declared or Declared.collect(settings.root, settings.paths, extensions)
    with Engine(registry=declared.registry, extensions=extensions) as engine:
        selected = _selected(settings, declared)
        configs = {one.name for one in _runtimes(settings, selected)}
        targets = [*driver_targets(sessions, ladder, configs), *ladder_targets(selected, engine)]
        found = states(
            targets,
            sessions,
            ladder,
            stable=settings.stable,
            revision=Checkout(settings.root).revision,
            host=platform.node(),
            key=partial(_key, engine),
            root=settings.root,
        )
    return Found(
        settings=settings, ladder=ladder, declared={one.id for one in declared.targets}, sessions=sessions, states=found
    )


def _key(engine: Engine, target: CompileTarget) -> str:
    """Return today's compile key; empty where it is unknown here, `refused` where there is none."""
    try:
        return engine.compile_key(target) or "refused"
    except (UnavailableError, RetargetError):
        return ""


def _selected(settings: Settings, declared: Declared) -> Declared:
    """Return what the settings select. Raises `DiagnosticsError` where that is nothing, and for an unknown driver or
    reference."""
    selector = Selector(settings.select)
    selected = [one for one in declared.targets if selector(one.target)]
    problems = []
    if not selected:
        message = f"found {settings.select!r}, which selects no target of {', '.join(settings.paths)}"
        problems.append(Problem(("select",), message))
    tags = dict.fromkeys(tag for one in declared.targets for tag in one.target.tags) if selected else ()
    for term in selector.terms if selected else ():
        if not term.negated and not any(term.selector(one.target) for one in declared.targets):
            message = f"found the word {term.text!r}, which no target has as a tag{did_you_mean(term.text, tags)}"
            problems.append(Problem(("select",), message))
    drivers = declared.registry.drivers
    for at, name in enumerate(settings.drivers):
        if name not in drivers:
            hint = did_you_mean(name, drivers) or f"; expected one of: {', '.join(sorted(drivers))}"
            problems.append(Problem(("drivers", at), f"found {name!r}, which is no driver here{hint}"))
    configs = {_config(one.target): None for one in declared.targets}
    if settings.reference and settings.reference not in configs:
        hint = did_you_mean(settings.reference, configs) or f"; expected one of: {', '.join(configs)}"
        problems.append(Problem(("reference",), f"found {settings.reference!r}, which no target has{hint}"))
    if problems:
        raise DiagnosticsError(settings.diagnostics(problems))
    return replace(declared, targets=selected)


def _config(target: Target) -> str:
    """Return the compiler config of a target, and its runtime config where it has one: `llvm-cpu/local-task`."""
    return (
        f"{target.compile.compiler.name}/{target.runtime.name}"
        if isinstance(target, RunTarget)
        else target.compiler.name
    )


def run_found(
    settings: Settings, *, runs: int = 1, pytest_args: Sequence[str] = (), extensions: Sequence[str] = ()
) -> Found:
    """Run the checks of the drivers, and the targets; then, `runs` times in all, the matching ones.

    Raises `RetargetError` for what `read_found` refuses, and where pytest runs nothing.
    """
    read_ladder(settings.ladder_file)  # its errors are reported before minutes of work
    declared = Declared.collect(settings.root, settings.paths, extensions)
    folder = new_folder(settings.name)
    configs = _runtimes(settings, _selected(settings, declared))
    if configs:
        sys.stderr.write(f"checking the drivers of {', '.join(one.name for one in configs)}\n")
        reports = check_drivers(
            configs, registry=declared.registry, extensions=extensions, note=lambda line: print(line, file=sys.stderr)
        )
        write_checks(folder, reports)
    run = partial(run_pytest, settings.root, folder, extensions=extensions)
    paths = [f"./{path}" if path.startswith("-") else path for path in settings.paths]
    run([*paths, "-m", settings.select, *pytest_args], what=f"running the targets of {settings.name}")
    found = read_found(settings, [folder], extensions, declared)
    for number in range(2, runs + 1):
        matching = [one.id for one in found.states if one.rung is not None and one.rung >= Rung.MATCHES]
        if matching:
            run(pytest_args, targets=matching, what=f"run {number} of {runs}: {counted(len(matching), 'target')}")
            found = read_found(settings, [folder], extensions, declared)
    return found


def _runtimes(settings: Settings, selected: Declared) -> list[RuntimeConfig]:
    """Return the runtime configs whose drivers are checked: those of the selected targets, limited to the drivers that
    the settings name, if any. Configs that a tool runs have no driver here."""
    found = {
        one.target.runtime.name: one.target.runtime for one in selected.targets if isinstance(one.target, RunTarget)
    }
    own = [one for one in found.values() if not selected.registry.runs_by_tool(one)]
    if not settings.drivers:
        return own
    own = [one for one in own if one.driver in settings.drivers]
    others = [name for name in settings.drivers if name not in {one.driver for one in own}]
    origin = Origin(file=settings.file, key_path="drivers")
    return [*own, *(RuntimeConfig(name=name, driver=name, origin=origin) for name in others)]


def run_others(found: Found, targets: Sequence[str], extensions: Sequence[str] = ()) -> Mapping[str, TargetRecord]:
    """Run targets that the ladder does not select, apart from its results. Raises `RetargetError`."""
    with tempfile.TemporaryDirectory(prefix="retarget-bringup-") as folder:
        what = f"running {counted(len(targets), 'module')} with the reference backend"
        run_pytest(found.settings.root, Path(folder), (), targets=targets, extensions=extensions, what=what)
        return Sessions.read([Path(folder)]).results


_KEPT = 5
"""Folders of results that are kept of one ladder, the newest."""

_QUIET = ("-q", "--no-header", "--tb=no", "--no-summary")
_HAS_RESULTS = (0, 1)
_NONE_SELECTED = 5
_STDERR = 2

_PYTEST = """\
import ctypes, runpy, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, 2, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGINT
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""
"""`python3 -m pytest`, for which the end of the process that started it is a Ctrl-C."""


def new_folder(name: str) -> Path:
    """Return a new folder for results below the cache, and remove all but the last few of this ladder.

    Raises `RetargetError` where it cannot be made.
    """
    above = CacheChoice.of_command().folder / "bringup" / name
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    try:
        above.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{when}-", dir=above))
    except OSError as error:
        msg = f"cannot write results to {above}: {error.strerror or error}"
        raise RetargetError(msg) from error
    for old in sorted(above.iterdir())[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


def run_pytest(
    root: Path,
    results: Path,
    arguments: Sequence[str],
    *,
    targets: Iterable[str] = (),
    extensions: Sequence[str] = (),
    what: str,
) -> None:
    """Run a session in `root` that writes its results to a folder; of `targets` by their ids, where there are any.

    Raises `RetargetError` where pytest ran nothing, and `KeyboardInterrupt` after it was interrupted.
    """
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()
    options = [*_QUIET, "--rootdir=.", f"--retarget-results={results.resolve()}"]
    options += [f"--retarget-extension={one}" for one in extensions]
    with tempfile.TemporaryDirectory(prefix="retarget-bringup-") as temporary:
        if targets := tuple(targets):
            listed = Path(temporary) / "targets.txt"
            listed.write_text("".join(f"{target}\n" for target in targets), encoding="utf-8")
            options.append(f"@{listed}")
        command = [sys.executable, "-c", _PYTEST, *options, *arguments]
        status = run_session(command, root, stdin=subprocess.DEVNULL, stdout=_STDERR)
    if status == _NONE_SELECTED:
        msg = f"pytest selects no target in {root}; it was given {' '.join(arguments)}"
        raise RetargetError(msg)
    if status not in _HAS_RESULTS:
        ended = f"by signal {-status}" if status < 0 else f"with exit status {status}"
        msg = f"pytest ended {ended}, expected results; what it printed is above"
        raise RetargetError(msg)
