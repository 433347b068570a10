"""What a ladder is judged by: sessions and checks of drivers, run here or read, and the states of targets in them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from retarget.engine.cache.folder import cache_of_command
from retarget.engine.engine import Engine
from retarget.model.rungs import Rung
from retarget.results.files import SessionResults, read_results, results_of
from retarget.results.record import TargetRecord
from retarget.support.text import counted
from retarget.targets.collected import collect
from retarget.targets.selection import compile_selector

from retarget_bringup.ladder.drivers import driver_targets
from retarget_bringup.ladder.files import Ladder, read_ladder
from retarget_bringup.ladder.settings import Settings
from retarget_bringup.ladder.states import TargetState, ladder_targets, states
from retarget_bringup.status.session import new_folder, run_pytest

__all__ = ["Found", "read_found", "run_found", "run_others"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The states of a ladder's targets in `sessions`. `declared` are the ids of all targets, selected or not."""

    settings: Settings
    ladder: Ladder
    declared: Set[str]
    sessions: Sequence[SessionResults]
    states: Sequence[TargetState]

    @property
    def results(self) -> Mapping[str, TargetRecord]:
        """The result of each target, by its id."""
        return results_of(self.sessions)


def read_found(settings: Settings, folders: Sequence[Path], extensions: Sequence[str] = ()) -> Found:
    """Read results, and find the states in them.

    Raises `RetargetError` for what cannot be read: results, the ladder, declarations.
    """
    ladder = read_ladder(settings.ladder_file)
    sessions = read_results(folders)
    declared = collect(settings.root, settings.paths, extensions)
    is_selected = compile_selector(settings.select)
    selected = replace(declared, targets=[one for one in declared.targets if is_selected(one.target)])
    with Engine(registry=declared.registry, cache=cache_of_command().folder, extensions=extensions) as engine:
        targets = [*driver_targets(sessions, ladder), *ladder_targets(selected, engine)]
    return Found(
        settings=settings,
        ladder=ladder,
        declared={one.id for one in declared.targets},
        sessions=sessions,
        states=states(targets, sessions, ladder, stable=settings.stable),
    )


def run_found(
    settings: Settings, *, runs: int = 1, pytest_args: Sequence[str] = (), extensions: Sequence[str] = ()
) -> Found:
    """Run the targets and the checks of their drivers; then, `runs` times in all, what matches.

    Raises `RetargetError` for what `read_found` refuses, and where pytest runs nothing.
    """
    read_ladder(settings.ladder_file)  # what is wrong in it is said before minutes of work
    folder = new_folder(settings.name)
    run = partial(run_pytest, settings.root, folder, extensions=extensions)
    paths = [f"./{path}" if path.startswith("-") else path for path in settings.paths]
    run([*paths, "-m", settings.select, *pytest_args], what=f"running the targets of {settings.name}")
    found = read_found(settings, [folder], extensions)
    for number in range(2, runs + 1):
        matching = [one.id for one in found.states if one.rung is not None and one.rung >= Rung.MATCHES]
        if matching:
            run(pytest_args, targets=matching, what=f"run {number} of {runs}: {counted(len(matching), 'target')}")
            found = read_found(settings, [folder], extensions)
    return found


def run_others(found: Found, targets: Sequence[str], extensions: Sequence[str] = ()) -> Mapping[str, TargetRecord]:
    """Run targets that the ladder does not select, apart from its results. Raises `RetargetError`."""
    with tempfile.TemporaryDirectory(prefix="retarget-bringup-") as folder:
        what = f"running {counted(len(targets), 'module')} with the reference backend"
        run_pytest(found.settings.root, Path(folder), (), targets=targets, extensions=extensions, what=what)
        return results_of(read_results([Path(folder)]))
