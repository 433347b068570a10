"""How a target ends that does not pass; how a failure reads: the stage, the tool's own message, the mismatch, and
commands that reproduce it.

The text is created where the target ran (an xdist worker, maybe) and keeps the tools' colours; they are taken out where
it is shown on something that has none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum, auto
from pathlib import Path
from typing import Any

from retarget.model import CompileTarget, RunTarget
from retarget.model.outcomes import Artifact, CaseOutcome, CompileOutcome, Failure, Observation, RunOutcome, Stage
from retarget.session.commands import SHOWN_RUNS, Commands
from retarget.support.errors import RetargetError, display_path
from retarget.support.text import strip_colour

SHOWN_CASES = 3
"""How many failed cases are shown in full, unless all are requested; the others get a line each."""

LISTED_CASES = 100
"""How many failed cases get a line; more are counted."""

_SUMMARY = 160
"""How much of a summary such a line holds, in characters."""

_COLUMN = 40
"""Up to which length names of cases are filled up with blanks."""

NAMED_CASES = 8
"""How many passed functions are named; the others are counted."""


class StageFailedError(RetargetError):
    """A target failed at a stage. `str()` is the whole text, its first line has stage and cause.

    `location` is the line of the module, 1-based, that the compiler complains of, where it says one. `cases` are those
    that a run came to, `expected` names those of them that failed as a rule says, where others failed too. `commands`
    are the lines to paste, which the text ends with.
    """

    __str__ = Exception.__str__  # with the tools' colours

    def __init__(
        self,
        failure: Failure,
        text: str,
        location: tuple[Path, int] | None = None,
        cases: Sequence[CaseOutcome] = (),
        *,
        expected: Collection[str] = (),
        commands: Sequence[str] = (),
    ) -> None:
        super().__init__(text)
        self.commands = commands
        self.expected = expected
        self.failure = failure
        self.location = location
        self.cases = cases

    @property
    def observation(self) -> Observation:
        """How the target failed in all its cases, as rules describe it."""
        return self.failure.observed_in(self.cases)


def headline(failure: Failure, where: str = "") -> str:
    """`compile: error: failed to legalize operation 'foo'`, or `compare: softmax and 2 more: ...`."""
    summary = strip_colour(failure.summary)
    return f"{failure.stage}: {where}: {summary}" if where else f"{failure.stage}: {summary}"


def compile_failed(commands: Commands, target: CompileTarget, outcome: CompileOutcome) -> StageFailedError:
    """Word a failed compile."""
    failure = outcome.failure or Failure(stage=Stage.COMPILE, summary="the compiler gave neither artifact nor message")
    source = target.module.path
    path, text = display_path(source), _message(failure)
    message = at_path(text, source.name, path)
    summary, line = split_place(strip_colour(failure.summary), source.name)
    head = headline(replace(failure, summary=summary if text else at_path(failure.summary, source.name, path)))
    script = commands.script(commands.compile(target, late=failure.timed_out))
    text = _join([head, message, _hint(failure), _by_hand(script)])
    return StageFailedError(failure, text, location=(source, line) if line else None, commands=script)


def failure_fields(error: BaseException) -> dict[str, Any]:
    """Return what a failure gives the record of its target."""
    if not isinstance(error, StageFailedError):
        return {"message": first_line(error)}
    return {"message": first_line(error), "commands": tuple(error.commands)}


def split_place(summary: str, name: str) -> tuple[str, int]:
    """Take `foo.mlir:3:8: ` off the front of a message; its line is 0 where there is none."""
    found = re.match(re.escape(name) + r":(\d+):\d+: (?=.)", summary)
    return (summary[found.end() :], int(found[1])) if found else (summary, 0)


def at_path(text: str, name: str, path: str) -> str:
    """Put a module's path where a compiler that knew its name only says `foo.mlir:3:8:`, so that it can be opened."""
    bare = rf"(^|[ \t(]|\x1b\[[0-9;]*m){re.escape(name)}(?=:\d+:\d+)"
    return re.sub(bare, lambda found: found[1] + path, text, flags=re.MULTILINE)


def run_failed(
    commands: Commands,
    target: RunTarget,
    artifact: Artifact,
    run: RunOutcome,
    failure: Failure,
    *,
    in_full: bool = False,
    expected: Collection[str] = (),
) -> StageFailedError:
    """Word a failed run: every case that failed, then those that passed. `in_full` leaves nothing out.

    The cases that `expected` names failed as they are expected to, and others did not: these are what it is about.
    """
    failed = [(case, case.failure) for case in run.cases if case.failure is not None and case.name not in expected]
    passed = [case.name for case in run.cases if case.failure is None]
    count = len(failed) if in_full else SHOWN_CASES
    blocks = [headline(failure, _where(failure, [case for case, _ in failed], run.cases))]
    shown = [_case(case, why, failure) for case, why in failed[:count]] or [_message(failure)]
    blocks += shown[1:] if failed and failed[0][1] == failure and "\n" not in shown[0] else shown
    blocks.append(_listed(failed[count:]))
    if passed:
        blocks.append(f"passed: {_names(passed, len(passed) if in_full else NAMED_CASES)}")
    if expected:
        blocks.append(f"failed as expected: {_names(list(expected), len(expected) if in_full else NAMED_CASES)}")
    blocks.append(_counted(run, expected))
    cases, most = [case for case, _ in failed], max(count, SHOWN_RUNS)
    script = commands.script(commands.run(target, artifact, cases, most, late=failure.timed_out))
    blocks += [_output(run, [failure, *(why for _, why in failed[:count])]), _hint(failure), _by_hand(script)]
    return StageFailedError(failure, _join(blocks), cases=run.cases, expected=expected, commands=script)


def check_failed(
    commands: Commands,
    target: CompileTarget,
    run: RunOutcome,
    failure: Failure,
    *,
    in_full: bool = False,
    expected: Collection[str] = (),
) -> StageFailedError:
    """Word an artifact that is not what its module's checks ask for. `in_full` leaves nothing out; `expected` is as for
    `run_failed`."""
    blocks = [headline(failure)]
    failed = [(case, case.failure) for case in run.cases if case.failure is not None and case.name not in expected]
    count = len(failed) if in_full else SHOWN_CASES
    blocks += [_message(why) for _, why in failed[:count]] or [_message(failure)]
    script = commands.script(commands.check(target))
    blocks += [_listed(failed[count:]), _hint(failure), _by_hand(script)]
    return StageFailedError(failure, _join(blocks), cases=run.cases, expected=expected, commands=script)


def first_line(error: BaseException) -> str:
    """The text of an error in summaries and junit."""
    return strip_colour(str(error).partition("\n")[0])


def _case(case: CaseOutcome, failure: Failure, first: Failure) -> str:
    """A failed case without what the headline has already."""
    text = _message(failure)
    reports = [mismatch.report.strip("\n") for mismatch in case.mismatches]
    shown = _join([text, *(report for report in reports if report not in text)])
    is_known = failure.summary == first.summary or (failure.stage == Stage.COMPARE and shown)
    head = f"{'function' if case.function in {'', case.name} else 'case'} {case.name}"
    head += "" if is_known else f": {failure.summary}"
    return f"{head}:\n{_indent(shown)}" if shown else head


def _where(failure: Failure, failed: Sequence[CaseOutcome], cases: Sequence[CaseOutcome]) -> str:
    """Which function the headline is about, where there are several and it does not say so itself."""
    if len(cases) < 2 or not failed or failed[0].failure != failure or f"'{failed[0].name}'" in failure.summary:
        return ""
    return failed[0].name if len(failed) == 1 else f"{failed[0].name} and {len(failed) - 1} more"


def _message(failure: Failure) -> str:
    """The tool's own message, unless the summary is all of it."""
    text = failure.text.strip("\n")
    return "" if strip_colour(text).strip() == strip_colour(failure.summary).strip() else text


def _output(run: RunOutcome, shown: Sequence[Failure]) -> str:
    """The program's output, without the failures that are shown: out of process, that of their cases."""
    output = run.output
    for text in {failure.text.strip("\n") for failure in shown} - {""}:
        output = output.replace(text, "")
    output = "\n".join(line for line in output.splitlines() if line.strip())
    return f"the program printed:\n{_indent(output)}" if output and output not in shown[0].text else ""


def _hint(failure: Failure) -> str:
    return f"hint: {failure.hint}" if failure.hint else ""


def _by_hand(script: Sequence[str]) -> str:
    return "\n".join([Commands.heading, *(f"  {line}" for line in script)]) if script else ""


def _listed(failed: Sequence[tuple[CaseOutcome, Failure]]) -> str:
    """The failed cases that are not shown in full, each on its own line."""
    if not failed:
        return ""
    width = max((len(case.name) for case, _ in failed if len(case.name) <= _COLUMN), default=0)
    lines = [f"  {case.name.ljust(width)}  {_line(why)}" for case, why in failed[:LISTED_CASES]]
    if rest := len(failed) - len(lines):
        lines.append(f"  … and {rest} more")
    return "\n".join(["failed as well (-vv shows them in full):", *lines])


def _line(failure: Failure) -> str:
    """Stage and summary of a failure, on one line that is not too long."""
    summary = " ".join(strip_colour(failure.summary).split("\n"))
    return f"{failure.stage}: {summary if len(summary) <= _SUMMARY else f'{summary[: _SUMMARY - 1]}…'}"


def _counted(run: RunOutcome, expected: Collection[str]) -> str:
    """How many of several cases failed; and how many were not run, where the worker did not complete."""
    failed = sum(case.failure is not None and case.name not in expected for case in run.cases)
    if len(run.cases) < 2 or not failed:
        return ""
    counted = f"{failed} of {len(run.cases)} cases failed"
    if expected:
        counted += f", and {len(expected)} as expected"
    if run.load_seconds:
        return counted
    left = len(run.names) - len(run.cases)  # no times are reported: the worker is gone
    return f"{counted}; the run ended there" + (f", {left} not run" if left > 0 else "")


def _names(names: Sequence[str], limit: int) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _indent(text: str) -> str:
    return "\n".join("  " + line if line else line for line in text.split("\n"))


def _join(blocks: list[str]) -> str:
    return "\n\n".join(block for block in blocks if block)


class End(BaseException):
    """A target neither passed nor failed, for this reason: it is skipped, unless it failed `as_expected`.

    `error` is how it failed; None where another target reports it. `hint` says what to install. `by` is the node id of
    the target that reports why, where it is another one of this session; `elsewhere` that of the compile target that
    reported it in the session that the artifacts come from. It is `requested` where somebody asked for it: a rule, or
    who gave the artifacts; `lost` where a device was lost that the target needs, and `blocked` where another one
    failed.
    """

    as_expected = requested = lost = blocked = False
    hint = by = elsewhere = ""
    error: Exception | None = None

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class AsExpected(End):
    """A target failed as its rule, or that of its compile target, says. `by_chance`: the rule is an intermittent
    one."""

    as_expected = True

    def __init__(self, reason: str, error: Exception | None = None, *, by_chance: bool = False) -> None:
        super().__init__(reason)
        self.error = error
        self.by_chance = by_chance


class SkipKind(StrEnum):
    """What kept a target from running."""

    UNAVAILABLE = auto()
    """This machine lacks what the target needs."""

    UNSUITABLE = auto()
    """Its device is here, and lacks what the target requires."""

    LOST = auto()
    """A device that it needs was lost during the session: there is no result, and none is due to the target."""

    BLOCKED = auto()
    """Another one failed: its compile target, or one that was to give the results that its cases agree with."""

    RULE = auto()
    """A rule with `outcome = "skip"` asks for it: nobody expects a result."""

    NOT_COMPILED = auto()
    """`--retarget-artifacts` gives what it would compile."""

    UNSELECTED = auto()
    """`--retarget-case` selects no case of it."""


class Skip(End):
    """A target did not run."""

    def __init__(self, kind: SkipKind, reason: str, hint: str = "", *, by: str = "", elsewhere: str = "") -> None:
        super().__init__(reason)
        self.kind = kind
        self.hint = hint
        self.by = by
        self.elsewhere = elsewhere
        self.requested = kind in {SkipKind.RULE, SkipKind.NOT_COMPILED}
        self.lost = kind is SkipKind.LOST
        self.blocked = kind is SkipKind.BLOCKED
