"""The requirements of `--retarget-require EXPR` of a session: that each target which EXPR selects really runs.

Required are all targets collected from the paths and node ids of the command line that EXPR selects, before anything is
deselected. The session is an error

    before anything runs   where a word of EXPR that is not behind `not` selects no target, where EXPR as a whole
    (exit status 4)        selects none, and where `-m`, `-k` or `--deselect` leaves a required target out
    at the target          where a required target is skipped because of what this machine lacks, is blocked by a target
                           that reports no failure, here or on the leg that builds, or has no case that
                           `--retarget-case` selects
    at the end             where each target that EXPR selects was skipped by rules

Allowed: a skip that was requested (`outcome = "skip"` in a rule; compile targets under
`--retarget-artifacts`), a compile target that is deselected while one of its run targets is not, and what other plugins
deselect (`--lf`, sharding).

`--retarget-plan FILE --retarget-leg NAME`: the targets of one leg of a plan, and nothing else.

A leg that cannot be run as it was planned is not run at all: what it lacks would be lost.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.results import Leg, Outcome, Plan, TargetRecord
from retarget.session import End, Selector
from retarget.support import RetargetError, did_you_mean, display_path, listed

from pytest_retarget.internals import Expression, KeywordMatcher, Skipped, TerminalRepr, is_selected
from pytest_retarget.items.targets import MatrixItem, error_repr
from pytest_retarget.options import SETTINGS, Settings, usage_errors
from pytest_retarget.record import fail_session, record_of


class Refusing:
    """The hooks of one session. `output` is where an xdist worker's output has the errors that it found."""

    def __init__(self, config: pytest.Config, output: str) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._output = output
        self._errors: dict[str, None] = {}

    def refuse(self, errors: Sequence[str], items: list[pytest.Item]) -> None:
        """Run nothing. Under xdist the controller shows the errors, once for all workers."""
        if errors and not self._is_worker:
            raise pytest.UsageError(*errors)
        if errors:
            self._errors.update(dict.fromkeys(errors))
            items.clear()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what an xdist worker found at collection."""
        self._errors.update(dict.fromkeys(getattr(node, "workeroutput", {}).get(self._output, ())))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Nothing was run: that is no success."""
        if self._is_worker:
            output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]  # set by xdist
            output[self._output] = list(self._errors)
        elif self._errors:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the errors that no target shows."""
        for error in self._errors:
            terminalreporter.write_line(f"ERROR: {error}", red=True)


class Requirements(Refusing):
    """The hooks of one session. Registered only where something is required."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config, "retarget_require")
        self._requirements = config.stash[SETTINGS].require
        self._options = [f"--retarget-require {one!r}" for one in self._requirements]
        self._of_leg = bool(config.stash[SETTINGS].leg)
        self._required: dict[str, list[int]] = {}
        self._reported: set[int] = set()
        self._ran: set[int] = set()
        self.of_named = False
        """Whether only targets that are named are required, as of `retarget run TARGET`: nothing is refused before it
        runs, and a requirement may select none of them unless it is one of `asked`."""
        self.asked: frozenset[str] = frozenset()
        """The requirements that were given with the targets, not by the project: each is about one of them."""

    @property
    def errors(self) -> Sequence[str]:
        """Errors that no target shows, once the session has finished."""
        return tuple(self._errors)

    # ------------------------------------------------------------ where targets are collected

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Hold the requirements against what was collected, then against what is left. Raises `pytest.UsageError`."""
        declared = {item.nodeid: item for item in items if isinstance(item, MatrixItem)}
        for nodeid, item in declared.items():
            if numbers := [number for number, one in enumerate(self._requirements) if is_selected(item, one)]:
                self._required[nodeid] = numbers
        refuses = not session.testsfailed and not self.of_named  # a file that was not collected is the error to show
        if refuses:
            self.refuse(self._unknown(list(declared.values())), items)
        yield
        if refuses and not session.testsfailed and not self._errors:
            self.refuse(self._left_out(declared, items), items)

    def _unknown(self, declared: Sequence[MatrixItem]) -> list[str]:
        """Return the errors for words and requirements that select nothing."""
        errors = []
        for number, requirement in enumerate(self._requirements):
            option = self._options[number]
            if not declared:
                errors.append(f"{option}: no target was collected, so nothing that is required can run")
                continue
            words = [term.text for term in Selector(requirement).terms if not term.negated]
            unknown = [word for word in dict.fromkeys(words) if not any(is_selected(item, word) for item in declared)]
            known = sorted({mark.name for item in declared for mark in item.own_markers}) if unknown else []
            errors += [
                f"{option}: none of the {len(declared)} targets here has the tag {word!r}"
                f"{did_you_mean(word, known) or '; `retarget list` shows the tags of each target'}"
                for word in unknown
            ]
            if not unknown and not any(number in numbers for numbers in self._required.values()):
                errors.append(
                    f"{option} selects none of the {len(declared)} targets here, so nothing is required by it"
                )
        return errors

    def _left_out(self, declared: dict[str, MatrixItem], items: Sequence[pytest.Item]) -> list[str]:
        """Return the errors for required targets that the command line deselects."""
        left = {item.nodeid for item in items}
        compiled = {item.compile_id for item in items if isinstance(item, MatrixItem)}
        option = self._config.option
        checks: list[tuple[str, Any]] = []
        if option.markexpr:
            checks.append((f"-m {option.markexpr!r}", lambda item: is_selected(item, option.markexpr)))
        if option.keyword:
            keyword = Expression.compile(option.keyword)
            checks.append((f"-k {option.keyword!r}", lambda item: keyword.evaluate(KeywordMatcher.from_item(item))))
        if prefixes := tuple(self._config.getoption("deselect") or ()):
            checks.append(("--deselect", lambda item: not item.nodeid.startswith(prefixes)))
        lost: dict[tuple[int, str], list[str]] = {}
        for nodeid in self._required.keys() - left - compiled if checks else ():
            item = declared[nodeid]
            name = next((name for name, keeps in checks if not keeps(item)), "")
            for number in self._required[nodeid] if name else ():
                lost.setdefault((number, name), []).append(nodeid)
        kept = {number for nodeid in self._required.keys() & left for number in self._required[nodeid]}
        kept -= {number for number, name in lost if not name.startswith("-m ")}  # -m does not narrow these
        return [
            f"{self._options[number]}: {name} deselects {_count(nodeids)} that it requires, "
            f"such as {min(nodeids)}; select them, or require fewer{self._narrowed(number) if number in kept else ''}"
            for (number, name), nodeids in sorted(lost.items())
        ]

    def _narrowed(self, number: int) -> str:
        """Word a requirement of what `-m` selects."""
        marks = self._config.option.markexpr
        return f": --retarget-require {f'({self._requirements[number]}) and ({marks})'!r}" if marks else ""

    # ------------------------------------------------------------ where targets run

    def adjust(
        self, item: MatrixItem, report: pytest.TestReport, error: BaseException | None, record: TargetRecord
    ) -> TargetRecord:
        """Make a required target that did not run an error, whatever kept it from running."""
        numbers = self._required.get(item.nodeid)
        if numbers is None:
            return record
        record = replace(record, requirements=tuple(numbers))
        skip = error if isinstance(error, End) and not error.as_expected else None
        is_requested = skip is not None and skip.requested
        is_reported = skip is not None and bool(skip.elsewhere) and self._of_leg  # by the leg that builds
        if not (skip or isinstance(error, Skipped)) or is_requested or is_reported or record.blocked_by:
            return record
        by = skip.by if skip is not None else ""  # not of one that is blocked: see above
        if by != item.nodeid and by in self._required:  # the compile target reports it
            reason = f"blocked by {by}"
            report.longrepr = (report.location[0], (report.location[1] or 0) + 1, reason)
            return replace(record, outcome=Outcome.BLOCKED, blocked_by=by, reason=reason)
        report.outcome = "failed"
        report.longrepr = self._error(error, item, numbers[0])
        if skip is not None and skip.lost:
            return record
        return replace(record, outcome=Outcome.FAILED if report.when == "call" else Outcome.ERROR)

    def _error(self, error: BaseException | None, item: MatrixItem, number: int) -> TerminalRepr | None:
        text = str(error).removeprefix("blocked: ")
        lines = [text, f"{self._options[number]} does not let this target be skipped"]
        if isinstance(error, End) and error.hint:
            lines.append(error.hint)
        path, line, _ = item.reportinfo()
        return error_repr(RetargetError("\n".join(lines)), path, line)

    # ------------------------------------------------------------ where reports are shown

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep which requirements were met by a target that ran."""
        if (record := record_of(report)) is not None:
            self._reported.update(record.requirements)
            if record.outcome not in {Outcome.SKIPPED, Outcome.NOT_RUN}:
                self._ran.update(record.requirements)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A requirement that nothing met is no success."""
        super().pytest_sessionfinish(session)
        if self._is_worker or self._errors:
            return
        if self.of_named:
            asked = {number for number, one in enumerate(self._requirements) if one in self.asked}
            unmet, why = asked - self._ran, "no target that it selects has run"
        else:
            unmet = self._reported - self._ran
            why = (
                "each target that it requires was skipped by a rule or by --retarget-artifacts, so nothing that is "
                "required has run"
            )
        self._errors = {f"{self._options[number]}: {why}": None for number in sorted(unmet)}
        if unmet:
            fail_session(session)


def _count(nodeids: Sequence[str]) -> str:
    return "a target" if len(nodeids) == 1 else f"{len(nodeids)} targets"


_named = partial(listed, most=5)
"""The first legs or targets of some, for a message."""


class PlannedLeg(Refusing):
    """The hooks of one session."""

    def __init__(self, config: pytest.Config, file: Path) -> None:
        """Raises `pytest.UsageError` for a plan that cannot be read, and a leg that it does not have."""
        super().__init__(config, "retarget_plan")
        with usage_errors():
            self.plan, self.leg = _planned(config.stash[SETTINGS], file)
        self.plan_digest = self.plan.digest

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect what the leg does not have. Raises `pytest.UsageError` where it has what was not collected."""
        ids = frozenset(self.leg.ids)
        mine = [item for item in items if item.nodeid in ids and isinstance(item, MatrixItem)]
        others = [item for item in items if item.nodeid not in ids or not isinstance(item, MatrixItem)]
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = mine
        if not session.testsfailed:  # a file that was not collected is the error to show
            self.refuse(self._errors_of(mine), items)

    def _errors_of(self, items: Sequence[MatrixItem]) -> list[str]:
        leg, errors = self.leg, []
        if missing := sorted(frozenset(leg.ids) - {item.nodeid for item in items}):
            given = " ".join(self.plan.paths)
            errors.append(
                f"--retarget-leg {leg.name}: {len(missing)} of its {len(leg.ids)} targets were not collected: "
                f"{_named(missing)}; the plan is of other declarations (write it again with `retarget ci plan`), "
                f"or pytest was not given all of its paths: {given}"
            )
        is_build = leg.kind == "build"
        one_sort = is_build or bool(leg.needs)  # a leg that runs without the artifacts of another one compiles, too
        if one_sort and (wrong := [item.nodeid for item in items if (item.target.runtime is None) != is_build]):
            what = "compile targets alone in a build leg" if is_build else "run targets alone in a leg with artifacts"
            errors.append(f"--retarget-leg {leg.name}: expected {what}, found {_named(wrong)}")
        return errors


def _planned(settings: Settings, file: Path) -> tuple[Plan, Leg]:
    """Return the plan and its leg. Raises `RetargetError`."""
    plan = Plan.read(file)
    path, names = display_path(file), [leg.name for leg in plan.legs]
    if not settings.leg:
        msg = f"--retarget-plan was given without --retarget-leg; expected the leg to run, one of {_named(names)}"
        raise RetargetError(msg)
    leg = plan.leg(settings.leg)
    if leg is None:
        expected = f"expected one of {_named(names)}" if names else "the plan has no leg"
        msg = f"--retarget-leg: found {settings.leg!r}, {expected} ({path}){did_you_mean(settings.leg, names)}"
        raise RetargetError(msg)
    artifacts = settings.artifacts is not None
    if leg.kind == "build" and artifacts:
        msg = f"--retarget-leg {leg.name} compiles, and --retarget-artifacts compiles nothing; expected one of them"
        raise RetargetError(msg)
    if leg.kind == "run" and leg.needs and not artifacts:
        msg = (
            f"--retarget-leg {leg.name} runs what the legs {_named(leg.needs)} compile; expected --retarget-artifacts "
            "with the folder that they wrote by --retarget-export"
        )
        raise RetargetError(msg)
    return plan, leg
