"""`retarget devices`: every registered driver and what it finds on this machine; the profile of a device."""

from __future__ import annotations

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import to_builtins
from msgspec.structs import replace

from retarget.cli.support import seconds_above_0
from retarget.declare.load import DeclarationLoader
from retarget.declare.named_configs import unknown_name
from retarget.extension.registry import load_extensions
from retarget.model import RuntimeConfig
from retarget.profiles.files import Profile
from retarget.session.limits import TIMEOUTS
from retarget.session.local_engine import Finding, find_devices
from retarget.support.errors import RetargetError

_WIDTH = 100
"""Columns at which capabilities are wrapped."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget devices`."""
    parser.add_argument("driver", nargs="*", help="drivers to ask (all that are registered)")
    shape = parser.add_mutually_exclusive_group()
    of_host = "list what the tool finds on a [[host]] of the matrix.toml files here and above"
    shape.add_argument("--host", metavar="NAME", default="", help=of_host)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (text)")
    of_device = "write the device profile of URI, such as vulkan://0, and list nothing"
    shape.add_argument("--profile", metavar="URI", default="", help=of_device)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the profile file (standard output)")
    seconds = f"seconds a driver may take ({TIMEOUTS.open:.0f})"
    parser.add_argument("--timeout", type=seconds_above_0, default=TIMEOUTS.open, help=seconds)


def run(arguments: argparse.Namespace) -> int:
    """Ask each driver in its own process, so that a crash costs one line.

    Returns 0; 1 if a driver crashed, hung or failed. Raises `RetargetError` for a driver that is not registered, and
    for a profile that cannot be made.
    """
    extensions: Sequence[str] = arguments.retarget_extension
    registry = load_extensions(extensions)
    if arguments.profile:
        driver = registry.driver(arguments.profile.partition("://")[0]).name
        (finding,) = find_devices([driver], extensions=extensions, timeout=arguments.timeout)
        _profile(finding, arguments.profile, arguments.output).write(arguments.output)
        return 0
    if arguments.output is not None:
        raise argparse.ArgumentError(None, "found --output without --profile, expected both")
    names = [registry.driver(name).name for name in arguments.driver] or sorted(registry.drivers)
    configs = _configs_of(arguments.host, names) if arguments.host else dict.fromkeys(names)
    findings = find_devices(configs, extensions=extensions, timeout=arguments.timeout)
    if arguments.format == "json":
        sys.stdout.write(json.dumps(to_builtins(findings), indent=2) + "\n")
    else:
        for finding in findings:
            sys.stdout.write("\n".join(_lines(finding)) + "\n")
    return 1 if any(finding.error for finding in findings) else 0


def _profile(finding: Finding, uri: str, output: Path | None) -> Profile:
    """Return the profile of a device that a driver has found. Raises `RetargetError`."""
    if not finding.devices:
        raise RetargetError(finding.absence)
    number = uri.partition("://")[2]
    named = [info for info in finding.devices if uri == info.uri or (number or "0") == str(info.ordinal)]
    if not named:
        msg = f"found no device {uri}; expected one of {', '.join(info.uri for info in finding.devices)}"
        raise RetargetError(msg)
    info = named[0]
    if info.unusable:
        msg = f"{info.uri} ({info.name}) is unusable: {info.unusable}; {info.remedy}"
        raise RetargetError(msg)
    if not info.features:
        msg = f"the driver {finding.driver} does not report what {info.uri} can do, so that there is nothing to write"
        raise RetargetError(msg)
    runtime = re.sub(r", [^,)]*\)", ")", info.runtime)  # a build outside the environment is named with its folder
    profile = Profile.of_device(info, ", ".join(filter(None, ("retarget devices", runtime))))
    return replace(profile, name=output.stem if output is not None else profile.name)


def _configs_of(host: str, drivers: Sequence[str]) -> Mapping[str, RuntimeConfig | None]:
    """Return for each of `drivers` that runtime configs use on a host one of them. Raises `RetargetError`."""
    scope = DeclarationLoader().scope_of(Path.cwd())
    if host not in scope.hosts.configs:
        msg = f"--host: {unknown_name('host', host, scope.hosts.configs).replace('this file', 'a matrix.toml here')}"
        raise RetargetError(msg)
    configs = [one for one in scope.runtimes.configs.values() if one.host is not None and one.host.name == host]
    found = {one.driver: one for one in reversed(configs) if one.driver in drivers}
    if not found:
        msg = f"--host: found no runtime config with host = {host!r} of a driver among {', '.join(drivers)}"
        raise RetargetError(msg)
    return dict(sorted(found.items()))


def _lines(finding: Finding) -> list[str]:
    if finding.error:
        return [f"{finding.driver}: error: {finding.error}"]
    if not finding.devices:
        return [finding.absence]
    lines = [f"{finding.driver}:"]
    for info in finding.devices:
        version = f", driver {info.driver_version}" if info.driver_version else ""
        lines.append(f"  {info.ordinal}  {info.uri}  {info.name}{version}")
        capabilities = ", ".join(f"{name} {value}".strip() for name, value in info.capabilities)
        text = f"unusable: {info.unusable}; {info.remedy}" if info.unusable else capabilities
        indent = " " * 5
        lines += textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)
    return lines
