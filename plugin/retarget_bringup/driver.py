"""The action `driver`: rungs 0 to 2 of drivers, without a compiler."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from retarget.cli import seconds_above_0
from retarget.model import DriverCheckOutcome, DriverReport, Origin, Rung, RunTarget, RuntimeConfig
from retarget.session import TIMEOUTS, Declared, Registry, check_drivers, load_extensions
from retarget.support import RetargetError, did_you_mean

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
        done=lambda outcome: _print(outcome_lines(outcome)),
        ended=lambda report: _print(report_lines(report)),
        note=lambda line: print(line, file=sys.stderr),
    )
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
