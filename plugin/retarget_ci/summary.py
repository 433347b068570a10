"""`retarget ci summary`: results by signature, as Markdown for a job's page.

All that comes from targets, compilers and devices is escaped: in Markdown it is text.
"""

from __future__ import annotations

import argparse
import html
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from retarget.results import FailureGroup, Outcome, Plan, SessionResults, Sessions, TargetRecord
from retarget.support import RetargetError, counted, listed, strip_colour

_MAX_BYTES = 1_000_000
"""GitHub refuses a summary above 1 MiB. https://docs.github.com/actions/reference/workflow-commands-for-github-actions"""

_EXAMPLES = 3
_LONG = 600
_MAX_COMMANDS = 4_000

_FENCES = re.compile(r"`+")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Controls, and what turns the direction of text."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "summary",
        help="results by signature, as Markdown",
        description="Print results by signature, as Markdown. On GitHub it is added to the page of the job "
        "($GITHUB_STEP_SUMMARY).",
    )
    parser.add_argument("--results", type=Path, nargs="+", required=True, metavar="DIR", help="folders of results")
    parser.add_argument("--plan", type=Path, metavar="FILE", help="count against what was planned")
    parser.set_defaults(act=_run)


def _run(arguments: argparse.Namespace) -> int:
    plan = Plan.read(arguments.plan) if arguments.plan else None
    # A run of which no leg got as far as writing results has a summary, too: all that is planned is missing.
    sessions = Sessions.read(arguments.results, if_any=plan is not None)
    records = sessions.results
    text = markdown(records, plan, sessions.faulty)
    page = os.environ.get("GITHUB_STEP_SUMMARY")
    if page:
        try:
            with Path(page).open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            msg = f"cannot write the summary to {page} ($GITHUB_STEP_SUMMARY): {error.strerror or error}"
            raise RetargetError(msg) from error
    else:
        sys.stdout.write(text)
    return 0


def markdown(
    records: Mapping[str, TargetRecord], plan: Plan | None = None, faulty: Sequence[SessionResults] = ()
) -> str:
    """Return the whole summary, at most a megabyte of UTF-8. `faulty` are sessions with a fault."""
    parts: list[str] = []
    size = 0
    groups = FailureGroup.among(records.values())
    sections = [*_head(records, plan, groups), *_faults(faulty), *(_section(group, len(records)) for group in groups)]
    for number, section in enumerate(sections):
        size += len(section.encode())
        if size > _MAX_BYTES:
            parts.append(
                f"\n{counted(len(sections) - number, 'further group')} left out: the page would be too long.\n"
            )
            break
        parts.append(section)
    return "".join(parts)


def _faults(sessions: Sequence[SessionResults]) -> Iterator[str]:
    for one in sessions:
        yield f"\nThe session {_code(one.start.leg or one.start.session[:8])} is not in order: {one.fault}.\n"


def _head(records: Mapping[str, TargetRecord], plan: Plan | None, groups: Sequence[FailureGroup]) -> Iterator[str]:
    failed = sum(len(group.records) for group in groups)
    planned = {target for leg in plan.legs for target in leg.ids} if plan is not None else None
    event = f" {_code(plan.event)}" if plan is not None else ""
    yield f"## retarget{event}: {failed} of {counted(len(records), 'target')} failed\n\n"
    if records:
        yield "| outcome | targets | of all |\n|---|--:|--:|\n"
    counts = Counter(_outcome(record) for record in records.values())
    for name, number in counts.most_common():
        yield f"| {name} | {number} | {100 * number / len(records):.1f} % |\n"
    if plan is not None and planned is not None:
        run = {target for target, record in records.items() if record.outcome is not Outcome.NOT_RUN}
        missing, unplanned = sorted(planned - run), sorted(run - planned)
        others = sorted(target for target in planned & run if records[target].plan != plan.digest)
        found = len(planned) - len(missing) - len(others)
        yield f"\n{found} of {counted(len(planned), 'planned target')} with a result.\n"
        yield from _named("planned, but without a result", missing)
        yield from _named("with a result of another plan, or of none", others)
        yield from _named("with a result, but not planned", unplanned)
        waived = [
            f"- {counted(len(one.ids), 'target')} not run by a waiver until {_code(one.until)}: {_code(one.reason)}\n"
            for one in plan.waived
        ]
        yield "".join(["\n", *waived]) if waived else ""


def _outcome(record: TargetRecord) -> str:
    is_lacking = record.unavailable and record.outcome is Outcome.SKIPPED
    return "skipped: missing on this machine" if is_lacking else record.outcome.value


def _named(what: str, ids: Sequence[str]) -> Iterator[str]:
    if ids:
        yield f"\n**{counted(len(ids), 'target')} {what}:** {listed([*map(_code, ids)], _EXAMPLES)}\n"


def _section(group: FailureGroup, total: int) -> str:
    """Return a group: how many, its first targets, and how to reproduce the first of them."""
    first = group.records[0]
    stage = f"{group.stage}: " if group.stage else ""
    lines = [f"\n### {len(group.records)} of {counted(total, 'target')}: {stage}{_code(group.signature)}\n\n"]
    lines += [
        f"- {_code(one.nodeid)}{f' on {_code(one.leg)}' if one.leg else ''}\n" for one in group.records[:_EXAMPLES]
    ]
    if (more := len(group.records) - _EXAMPLES) > 0:
        lines.append(f"- and {more} more\n")
    commands = "\n".join(_plain(line) for command in first.commands for line in command.splitlines())[:_MAX_COMMANDS]
    if commands:
        shown = f"<pre>{html.escape(commands)}</pre>"
        lines.append(f"\n<details><summary>Reproduce the first</summary>\n\n{shown}\n</details>\n")
    return "".join(lines)


def _plain(text: str) -> str:
    """Return `text` as one line without controls, cut where it is long."""
    line = _CONTROL.sub(" ", strip_colour(text[: 4 * _LONG])).strip()
    return line if len(line) <= _LONG else f"{line[:_LONG]}…"


def _code(text: str) -> str:
    """Return a code span, in which nothing of `text` has a meaning: its fence is longer than each in the text."""
    line = _plain(text)
    fence = "`" * (1 + max((len(run) for run in _FENCES.findall(line)), default=0))
    space = " " if not line or line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"
