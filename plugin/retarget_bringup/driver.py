"""The action `driver`: rungs 0 to 2 of drivers, without a compiler.

The conformance checks of drivers as results and as targets of a ladder: `driver:vulkan::fill.ranges`.

Their outcomes are kept as records of a session of their own, so that results of both are read as one.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from retarget.cli import seconds_above_0
from retarget.model import DriverCheckOutcome, DriverReport, Origin, Rung, RunTarget, RuntimeConfig
from retarget.results import ResultsWriter, SessionResults, TargetRecord
from retarget.session import TIMEOUTS, Declared, Registry, check_drivers, load_extensions
from retarget.support import RetargetError, did_you_mean

from retarget_bringup.ladder.files import Ladder
from retarget_bringup.ladder.states import DRIVER, LadderTarget

_COMMAND_LINE = Origin(file=Path(), key_path="")
_WORDS = {
    Rung.NONE: "not found",
    Rung.FOUND: "rung 0, found",
    Rung.OPENS: "rung 1, opens",
    Rung.TRANSFERS: "rung 2, transfers",
}
_SHOWN = 12
"""Lines of what a check did before it failed that are shown."""


def add(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the action."""
    parser = subparsers.add_parser(
        "driver",
        help="check a driver alone, without a compiler: memory, copies, events, maps, limits",
        description="Check drivers alone, without a compiler: the driver is found (rung 0), its device opens (rung 1), "
        "its memory and its queue do what is asked of them (rung 2). Each check is a request to a worker process, so "
        "that a crash or a hang costs one check.",
    )
    parser.add_argument(
        "device",
        nargs="*",
        metavar="DRIVER|URI|RUNTIME-CONFIG",
        help="a driver, a device such as vulkan://0, or a runtime config that suites below the current folder use (all "
        "drivers that are registered)",
    )
    parser.add_argument("--check", action="append", default=[], metavar="GLOB", help="only these; may be repeated")
    parser.add_argument("--json", action="store_true", help="print all that is known as JSON")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="also write the outcomes here, for `retarget bringup NAME --results`",
    )
    seconds = f"seconds that one check may take ({TIMEOUTS.check:g})"
    parser.add_argument("--timeout", type=seconds_above_0, default=TIMEOUTS.check, metavar="SECONDS", help=seconds)
    parser.set_defaults(act=_run)


def _run(arguments: argparse.Namespace) -> int:
    """Return 0 where all that are named reach rung 2; without names, where those that are here fail nothing."""
    extensions = arguments.retarget_extension
    registry = load_extensions(extensions)
    configs = _configs(arguments.device, registry, extensions)
    reports = check_drivers(
        configs,
        registry=registry,
        extensions=extensions,
        globs=arguments.check,
        timeout=arguments.timeout,
        done=None if arguments.json else lambda outcome: _print(outcome_lines(outcome)),
        ended=None if arguments.json else lambda report: _print(report_lines(report)),
        note=lambda line: print(line, file=sys.stderr),
    )
    if arguments.results is not None:
        write_checks(arguments.results, reports, arguments.check)
    if arguments.json:
        print(json.dumps([_as_json(report) for report in reports], indent=1))
    return 0 if all(is_good(report, is_named=bool(arguments.device)) for report in reports) else 1


def is_good(report: DriverReport, *, is_named: bool) -> bool:
    """Return whether a driver is as good as the exit status 0 says."""
    if is_named:
        return report.rung is Rung.TRANSFERS
    return report.unavailable or (report.rung >= Rung.OPENS and not any(one.failed for one in report.outcomes))


def _configs(names: Sequence[str], registry: Registry, extensions: Sequence[str]) -> list[RuntimeConfig]:
    """Return what names mean. Raises `RetargetError` for one that means nothing."""
    declared, unread = _declared(extensions) if any("://" not in name for name in names) else ({}, "")
    configs = []
    for name in names or sorted(registry.drivers):
        driver = name.partition("://")[0]
        if name in declared:
            configs.append(declared[name])
        elif driver in registry.drivers:
            uris = (name,) if "://" in name else ()
            configs.append(RuntimeConfig(name=name, driver=driver, devices=uris, origin=_COMMAND_LINE))
        else:
            known = {*registry.drivers, *declared}
            msg = (
                f"found {name!r}, expected a driver ({', '.join(sorted(registry.drivers))}), the URI of a device, or a "
                f"runtime config that suites below this folder use{unread}{did_you_mean(name, known)}"
            )
            raise RetargetError(msg)
    return configs


def _declared(extensions: Sequence[str]) -> tuple[Mapping[str, RuntimeConfig], str]:
    """Return the runtime configs that suites below the current folder use, and why they could not be read."""
    try:
        targets = [one.target for one in Declared.collect(Path.cwd(), ["."], extensions).targets]
    except RetargetError as error:
        return {}, f" (they cannot be read: {error})"
    return {one.runtime.name: one.runtime for one in targets if isinstance(one, RunTarget)}, ""


def outcome_lines(outcome: DriverCheckOutcome) -> Iterator[str]:
    """Yield one line, and of a failure what was done, and the command that does just that."""
    state = outcome.state.upper() if outcome.failed else outcome.state
    detail = "" if outcome.failed else f"  {outcome.detail}"
    yield f"{outcome.config}  {outcome.check:18}{state:15}{outcome.seconds:6.2f} s{detail}".rstrip()
    if not outcome.failed:
        return
    yield f"    {outcome.detail}"
    yield f"    it proves: {outcome.proves}"
    if done := outcome.text.splitlines():
        yield "    what was done, in this order:"
        if len(done) > _SHOWN:
            yield f"      … {len(done) - _SHOWN} lines before"
        yield from (f"      {line}" for line in done[-_SHOWN:])
    yield f"    just this one: {_command(outcome)}"


def _command(outcome: DriverCheckOutcome) -> str:
    return shlex.join(["retarget", "bringup", "driver", outcome.config, "--check", outcome.check])


def report_lines(report: DriverReport) -> Iterator[str]:
    """Yield how far a driver comes, and why not further."""
    device = "".join(f" ({one.uri}, {one.name})" for one in report.devices[:1])
    states = Counter(one.state for one in report.outcomes)
    why = report.reason or f"checks: {', '.join(f'{number} {state}' for state, number in states.items())}"
    yield f"{report.config}{device}: {_WORDS[report.rung]}; {why}"
    if report.hint:
        yield f"    {report.hint}"


def _print(lines: Iterable[str]) -> None:
    print("\n".join(lines), flush=True)


def _as_json(report: DriverReport) -> Mapping[str, Any]:
    def said(one: object, *names: str) -> dict[str, Any]:
        return {name: getattr(one, name) for name in names}

    checks = [
        said(one, "check", "proves", "state", "detail", "text", "digest")
        | {"rung": one.rung.word, "seconds": round(one.seconds, 4), "command": _command(one)}
        for one in report.outcomes
    ]
    devices = [said(one, "uri", "name", "driver_version", "runtime") for one in report.devices]
    own = said(report, "config", "driver", "reason", "hint")
    return own | {"rung": report.rung.word, "devices": devices, "checks": checks}


def write_checks(folder: Path, reports: Iterable[DriverReport], globs: Iterable[str] = ()) -> None:
    """Write the outcomes of checks, those of `globs` or all, into a folder of results. Raises `RetargetError`."""
    checks = {f"{DRIVER}{one.config}::{one.check}": (one, report) for report in reports for one in report.outcomes}
    with ResultsWriter.begin(folder, checks, arguments=tuple(globs)) as writer:
        session = writer.start.session
        records = [TargetRecord.of_check(*one, nodeid=name, session=session) for name, one in checks.items()]
        for record in records:
            writer.write(record)
        writer.end(int(any(one.outcome.is_bad for one in records)))


def driver_targets(sessions: Sequence[SessionResults], ladder: Ladder, configs: Collection[str]) -> list[LadderTarget]:
    """Return the checks of drivers that results have of some runtime configs, and those of drivers that only the ladder
    has. Results may have others too: those of another ladder's drivers.

    A check that the ladder has and results of all checks of its driver do not is no target any more.
    """
    known = [
        (record, session.is_complete and not session.start.arguments)
        for session in sessions
        for record in session.records
        if record.nodeid.startswith(DRIVER) and record.runtime in configs
    ]
    found = {record.nodeid: record.trial_digest for record, _ in known}
    tried = {record.nodeid.partition("::")[0] for record, is_whole in known if is_whole}
    for line in ladder.lines:
        if line.target.startswith(DRIVER) and line.target.partition("::")[0] not in tried:
            found.setdefault(line.target, line.digest)
    return [LadderTarget(id=one, digest=digest) for one, digest in sorted(found.items())]
