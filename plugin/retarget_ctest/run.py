"""`retarget run`: targets compiled, run and judged without pytest, by the same trials as pytest's items."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from retarget.cli.support import (
    add_expression_arguments,
    add_path_arguments,
    add_toolchain_argument,
    output_folder,
    seconds_above_0,
)
from retarget.extension import UnavailableError
from retarget.extension.registry import named_extensions
from retarget.model import CompileTarget, RunTarget, Target
from retarget.results.record import BAD, Outcome, TargetRecord
from retarget.support.errors import RetargetError
from retarget.support.text import counted, shown, strip_colour
from retarget.targets.selection import compile_selector
from retarget.worker.spare import SpareWorker

from retarget_ctest.chosen import Chosen, choose
from retarget_ctest.settings import SessionSettings, session_settings

if TYPE_CHECKING:
    from retarget.engine.trial.services import TrialServices
    from retarget.engine.trial.trial import Trial
    from retarget.results.files import ResultsWriter

__all__ = ["SKIPPED", "add_arguments", "run"]

SKIPPED = 77
"""The exit status where all targets are skipped, as Automake and Meson have it."""

_SKIPPED = frozenset({Outcome.SKIPPED, Outcome.BLOCKED})
_WORDS = {Outcome.XFAILED: "XFAIL", Outcome.XPASSED: "FAILED", Outcome.NOT_RUN: "NOT RUN"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Requested:
    """What the command line requests of trials: see `retarget.engine.trial.services.TrialSettings`."""

    cases: tuple[str, ...] = ()
    artifacts: Path | None = None
    changed: bool = False
    reuses: bool = False
    update_expectations: bool = False


class _Required:
    """What `--retarget-require` asks for. Unless they are chosen `by_name`, each expression selects one that runs."""

    def __init__(self, texts: Sequence[str], *, by_name: bool) -> None:
        self._selectors = {text: compile_selector(text) for text in texts}
        self._unmet = set() if by_name else {*texts}

    def judged(self, target: Target, error: BaseException | None) -> BaseException | None:
        """Return how a target ended: a skip of a required one is an error, unless requested or reported elsewhere."""
        from retarget.engine.trial.ends import Blocked, Excused, NotTried, Skip, Unselected

        texts = [text for text, selects in self._selectors.items() if selects(target)]
        if isinstance(error, Excused | NotTried) and not isinstance(error, Unselected):
            return error
        self._unmet.difference_update(texts)
        if not texts or not isinstance(error, Skip) or (isinstance(error, Blocked) and error.by):
            return error
        return RetargetError(f"{error}\n--retarget-require {texts[0]!r} does not let this target be skipped")

    def errors(self) -> list[str]:
        """Return what no target met."""
        return [f"--retarget-require {text!r}: no target that it selects has run" for text in sorted(self._unmet)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget run`."""
    parser.add_argument(
        "target",
        nargs="*",
        help="targets: ids as pytest shows them, names or globs as `retarget list` shows them, or the front of a name "
        "that no other has; and folders and files to look in (the current folder)",
    )
    add_expression_arguments(parser)
    add_path_arguments(parser, positional=False)
    add_toolchain_argument(parser)
    parser.add_argument(
        "--retarget-case",
        "--case",
        dest="case",
        action="append",
        default=[],
        metavar="GLOB",
        help="run only these cases; may be repeated",
    )
    parser.add_argument(
        "--retarget-require",
        action="append",
        default=[],
        metavar="EXPR",
        help="a target that EXPR selects fails where it would be skipped; may be repeated",
    )
    parser.add_argument(
        "--ignore-expectations", action="store_true", help="show each target's own outcome, as if there were no rules"
    )
    parser.add_argument(
        "--artifact", type=Path, metavar="FILE", help="compile nothing: run this artifact, which was compiled by hand"
    )
    parser.add_argument(
        "--results", type=output_folder, metavar="DIR", help="write results there, as --retarget-results does"
    )
    parser.add_argument("--compile-timeout", type=seconds_above_0, metavar="SECONDS", help="end a compile after this")
    parser.add_argument("--run-timeout", type=seconds_above_0, metavar="SECONDS", help="end a run after this")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all failed cases in full")


def run(arguments: argparse.Namespace) -> int:
    """Run the targets. Returns 0 if none failed, 1 if one did or a rule is in error, 2 if `--retarget-case` names no
    case, 77 if all were skipped.

    Raises `DiagnosticsError` and `RetargetError`, `argparse.ArgumentError` for what names no target.
    """
    from retarget.engine.trial.session import SessionErrors
    from retarget.expect.diagnostics import expired_diagnostics
    from retarget.expect.verdict import today

    settings = session_settings()
    extensions = named_extensions((*arguments.retarget_extension, *settings.extensions))
    arguments.retarget_extension = list(extensions)
    arguments.case = [*settings.cases, *arguments.case]
    arguments.ignore_expectations |= settings.ignores_expectations
    with ExitStack() as ending:
        chosen = choose(arguments, settings, extensions)
        required = _Required((*settings.required, *arguments.retarget_require), by_name=chosen.by_name)
        spare = None
        if not extensions and any(isinstance(target, RunTarget) for _, target in chosen.targets):
            spare = SpareWorker(forks=len(chosen.targets) == 1)  # it imports while this process does
            ending.callback(spare.close)
        services, results = ending.enter_context(_services(arguments, settings, chosen, extensions, spare)), None
        if arguments.results is not None:
            from retarget.engine.trial.record import session_start
            from retarget.results.files import ResultsWriter

            ids = [f"{home.nodeid}::{target.name}" for home, target in chosen.targets]
            start = session_start(ids, Path.cwd(), sys.argv[1:])
            results = ending.enter_context(ResultsWriter(arguments.results, start))
        services.engine.sweep()
        trials = [
            home.trial(target, services, position=home.names.index(target.name) if results is not None else 0)
            for home, target in chosen.targets
        ]
        if len(trials) > 1:
            _compile_ahead(services, trials)
        judged = SessionErrors(arguments.case)
        rules = {rule.origin: rule for trial in trials for rule in trial.in_force.wholes}
        expired = expired_diagnostics(rules.values(), today())
        judged.add_rules((*chosen.rule_errors, *map(str, expired)), chosen.named_cases)
        outcomes: list[Outcome] = []
        try:
            for trial in trials:
                record, error = _tried(trial, required, with_digests=results is not None)
                _show(record, error)
                outcomes.append(record.outcome)
                judged.add(record, has_failed=record.outcome in BAD, is_blocked=bool(record.blocked_by))
                if results is not None:
                    _write(results, start.session, trial, replace(record, text=_text(error)))
        except KeyboardInterrupt:
            counts = f": {_counts(outcomes)}" if outcomes else ""
            _note(f"interrupted after {len(outcomes)} of {counted(len(trials), 'target')}{counts}")
            raise
        errors, unselected = [*judged.errors(), *required.errors()], judged.unselected()
        status = 1 if errors else _status(outcomes, unselected)
        if results is not None:
            results.end(status)
        for note in (*services.engine.notes, *errors, *unselected):
            _note(note)
    if len(outcomes) > 1:
        sys.stdout.write(f"{counted(len(outcomes), 'target')}: {_counts(outcomes)}\n")
    return status


@contextmanager
def _services(
    arguments: argparse.Namespace,
    settings: SessionSettings,
    chosen: Chosen,
    extensions: Sequence[str],
    spare: SpareWorker | None,
) -> Iterator[TrialServices]:
    from retarget.engine.commands import Commands
    from retarget.engine.engine import Engine
    from retarget.engine.trial.services import TrialServices

    registry = chosen.registry
    timeouts = (arguments.compile_timeout or settings.compile_timeout, arguments.run_timeout or settings.run_timeout)
    engine = Engine(
        registry=registry,
        cache=settings.cache,
        extensions=extensions,
        compiles=settings.jobs,
        compile_timeout=timeouts[0],
        run_timeout=timeouts[1],
        cases=arguments.case,
        artifacts=arguments.artifact,
        note=_note,
        spare=spare,
    )
    services = TrialServices(
        engine=engine,
        registry=registry,
        commands=Commands(
            registry=registry, folder=Path.cwd(), compiles=True, extensions=extensions, timeouts=timeouts
        ),
        settings=_Requested(cases=tuple(arguments.case), artifacts=arguments.artifact),
        in_full=arguments.verbose,
    )
    services.selected = frozenset(f"{home.nodeid}::{target.name}" for home, target in chosen.targets)
    services.selected_compiles = frozenset(
        f"{home.nodeid}::{target.name}" for home, target in chosen.targets if isinstance(target, CompileTarget)
    )
    try:
        yield services
        engine.flush()
    finally:
        services.close()


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _compile_ahead(services: TrialServices, trials: Iterable[Trial]) -> None:
    for trial in trials:
        if services.is_compile_needed(trial.target, trial.compile_id, trial.in_force):
            with suppress(UnavailableError, RetargetError):  # its own trial will say so
                services.engine.submit([trial.compile_target])


def _text(error: BaseException | None) -> str:
    """Return the whole report of a failure, also of one that is expected; nothing for a skip."""
    from retarget.engine.trial.ends import AsExpected, Skip

    failure = error.error if isinstance(error, AsExpected) else error
    return "" if failure is None or isinstance(failure, Skip) else str(failure)


def _tried(trial: Trial, required: _Required, *, with_digests: bool) -> tuple[TargetRecord, BaseException | None]:
    """Try a target. Return its record, and what its trial raised, None if it passed."""
    from retarget.engine.trial.ends import End
    from retarget.engine.trial.failures import StageFailedError
    from retarget.engine.trial.finish import finished, outcome_of

    error: BaseException | None = None
    was_tried = False
    started = time.time()
    try:
        trial.prepare()
        was_tried = True
        trial.attempt()
    except (End, StageFailedError, RetargetError) as raised:
        error = raised
    error = required.judged(trial.target, error)
    said = outcome_of(trial, error, was_tried=was_tried)
    record = finished(trial, error, said, started=started, ended=time.time(), with_digests=with_digests)
    return record, error


def _write(results: ResultsWriter, session: str, trial: Trial, record: TargetRecord) -> None:
    """Write the record of a trial that has ended, and before it those of its earlier attempts.

    Paths in it are relative to the current folder, as node ids are. Raises `RetargetError` where that fails.
    """
    same = {"case_digest": record.case_digest, "trial_digest": record.trial_digest, "session": session}
    for one in (*trial.earlier, record):
        places = {name: _relative(getattr(one, name)) for name in ("file", "module_file")}
        results.write(replace(one, **same, **places, text=strip_colour(one.text)))


def _relative(path: str) -> str:
    return Path(os.path.relpath(path)).as_posix() if path else ""


def _show(record: TargetRecord, error: BaseException | None) -> None:
    """Print how a target ended, as `pytest -v` does; a failure with all that is known of it."""
    word = _WORDS.get(record.outcome, record.outcome.upper())
    reason = f" ({shown(record.reason)})" if record.reason else ""
    text = f"{record.nodeid} {word}{reason}\n"
    if record.outcome in BAD and error is not None:
        text += f"{error}\n" if sys.stdout.isatty() else f"{strip_colour(str(error))}\n"
    elif record.hint:
        text += f"hint: {record.hint}\n"
    sys.stdout.write(text)
    sys.stdout.flush()


def _status(outcomes: Sequence[Outcome], unselected: Sequence[str]) -> int:
    if any(outcome in BAD or outcome is Outcome.NOT_RUN for outcome in outcomes):
        return 1
    if unselected:
        return 2
    return SKIPPED if all(outcome in _SKIPPED for outcome in outcomes) else 0


def _counts(outcomes: Sequence[Outcome]) -> str:
    words = [_WORDS.get(outcome, outcome).lower() for outcome in outcomes]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
