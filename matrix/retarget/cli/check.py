"""`retarget check`: every error of every file, also of what they name and this installation does not have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from pathlib import Path

from retarget.cli.support import add_path_arguments, request_of
from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import FileName
from retarget.expect.diagnostics import RuleUsage
from retarget.expect.matching import GoldenAssignment, RuleSet, golden_rule
from retarget.extension import Compiler, Driver
from retarget.extension.registry import Registry, load_extensions
from retarget.model import CompilerConfig, Origin, RunTarget, RuntimeConfig, Suite, Target
from retarget.model.locations import SourceLocations
from retarget.profiles.files import Profile
from retarget.support.errors import Diagnostic, DiagnosticsError, RetargetError
from retarget.support.text import counted
from retarget.support.toml import Problem
from retarget.targets.availability import profile_mismatch
from retarget.targets.collected import SelectionUsageError, pytest_plugin
from retarget.targets.expansion import expand_suite


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget check`."""
    add_path_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print all errors, or what was found to be in order. Returns 0 if there is no error, else 1."""
    try:
        found = pytest_plugin().find_declarations(request_of(arguments, arguments.path))
    except SelectionUsageError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    registry: Registry | None = None
    messages: dict[str, None] = {}
    try:
        registry = load_extensions(arguments.retarget_extension)
    except RetargetError as error:
        messages[str(error)] = None
    loader = DeclarationLoader(registry)
    diagnostics: list[Diagnostic] = []
    files = [file for file in found.files if file.name == FileName.SUITE]
    for file in found.files:
        if file.name != FileName.SUITE:
            diagnostics += loader.read_matrix_file(file)
    suites: list[Suite] = []
    usage = RuleUsage()
    sound: dict[Path, tuple[Suite, ...]] = {}
    for file in files:
        declared, file_diagnostics = loader.read_suite_file(file)
        suites += declared
        diagnostics += file_diagnostics
        if not file_diagnostics:
            sound[file] = declared
    targets: list[Target] = []
    if registry is not None:
        diagnostics += _unknown(loader, suites, registry)
        for suite in suites:
            diagnostics += _data_diagnostics(suite, registry)
            expanded = _expanded(suite, registry, diagnostics)
            targets += expanded
            diagnostics += _judged(suite, expanded, registry, usage)
        diagnostics += _profiles(loader.runtime_configs)
        usage.read((*loader.expectations, *map(golden_rule, loader.goldens)))
        diagnostics += usage.diagnostics(sound, whole=True)
    messages.update(dict.fromkeys(found.errors))
    if not files and not loader.matrix_files and not messages:
        where = ", ".join(arguments.path)
        msg = f"found no {FileName.SUITE} and no {FileName.MATRIX} at or below {where}"
        raise RetargetError("\n".join([msg, *found.notes]))
    if diagnostics:
        sys.stderr.write(f"{DiagnosticsError(tuple(dict.fromkeys(diagnostics)))}\n")
    for message in messages:
        sys.stderr.write(f"{message}\n")
    if diagnostics or messages:
        return 1
    sys.stdout.write("".join(f"note: {note}\n" for note in found.notes))
    sys.stdout.write(f"{_summary(len(files) + len(loader.matrix_files), suites, targets)}\n")
    return 0


def _expanded(suite: Suite, registry: Registry, diagnostics: list[Diagnostic]) -> Sequence[Target]:
    try:
        return expand_suite(suite, registry)
    except DiagnosticsError as error:
        diagnostics += error.diagnostics
        return ()


def _data_diagnostics(suite: Suite, registry: Registry) -> Iterable[Diagnostic]:
    """Yield the errors in the files of a suite's cases, where their kind can check them."""
    kind = registry.case_loaders.get(suite.kind)
    if kind is not None:
        for module in suite.modules:
            yield from kind.data_diagnostics(module, suite)


def _judged(suite: Suite, targets: Sequence[Target], registry: Registry, usage: RuleUsage) -> Iterable[Diagnostic]:
    """Enter what the rules of a suite do, and yield where two of them contradict each other."""
    if (suite.expectations or suite.goldens) and targets:
        assignment = RuleSet.of(suite, registry).assign(targets)
        usage.add(suite, assignment, targets)
        yield from assignment.diagnostics
    if suite.goldens and targets:
        for assignment in GoldenAssignment.assign(suite.goldens, targets).assignments:
            yield from assignment.diagnostics
    if not registry.unknown(suite):
        usage.collected(suite.origin.file, suite)


def _unknown(loader: DeclarationLoader, suites: Iterable[Suite], registry: Registry) -> Iterable[Diagnostic]:
    """Return an error for what no extension provides, compilers, drivers and kinds, and for what uses no toolchains."""
    named: list[tuple[Origin, str, Callable[[str], object], str]] = []
    named += [(one.origin, "compiler", registry.compiler, one.compiler) for one in loader.compiler_configs]
    named += [
        (one.origin, "driver" if driver == one.driver else "devices", registry.driver, driver)
        for one in loader.runtime_configs
        for driver in one.drivers
    ]
    named += [(one.origin, "kind", registry.case_loader, one.kind) for one in suites]
    found: list[tuple[Origin, Problem]] = []
    for origin, key, find, name in named:
        try:
            find(name)
        except RetargetError as error:
            found.append((origin, Problem((key,), str(error))))
    return SourceLocations.diagnostics(
        (*found, *_without_toolchains(loader, registry), *_without_hosts(loader, registry))
    )


def _without_toolchains(loader: DeclarationLoader, registry: Registry) -> Iterable[tuple[Origin, Problem]]:
    """Yield an error for each config whose compiler or driver cannot use the toolchain that it names."""
    configs: list[CompilerConfig | RuntimeConfig] = [*loader.compiler_configs, *loader.runtime_configs]
    user: Compiler | Driver | None
    for one in configs:
        if isinstance(one, CompilerConfig):
            user, what = registry.compilers.get(one.compiler), f"compiler {one.compiler!r}"
        else:
            user, what = registry.drivers.get(one.driver), f"driver {one.driver!r}"
        if one.toolchain is not None and user is not None and not user.overrides("toolchain_environment"):
            message = f"found {one.toolchain.name!r}, but the {what} uses no toolchains; expected none"
            yield one.origin, Problem(("toolchain",), message)


def _without_hosts(loader: DeclarationLoader, registry: Registry) -> Iterable[tuple[Origin, Problem]]:
    """Yield an error for each config whose driver runs nothing on hosts."""
    for one in loader.runtime_configs:
        if one.host is not None and one.driver in registry.drivers and not registry.runs_on_hosts(one.driver):
            message = f"found {one.host.name!r}, but the driver {one.driver!r} runs nothing on hosts; expected none"
            yield one.origin, Problem(("host",), message)


def _profiles(configs: Iterable[RuntimeConfig]) -> Iterable[Diagnostic]:
    """Yield what is wrong with the profiles that runtime configs name."""
    for config in dict.fromkeys(config for config in configs if config.profile):
        try:
            message = profile_mismatch(config, Profile.find(config.profile))
        except DiagnosticsError as error:
            yield from error.diagnostics
            continue
        except RetargetError as error:
            message = str(error)
        if message is not None:
            yield from SourceLocations.diagnostics([(config.origin, Problem(("profile",), message))])


def _summary(files: int, suites: Sequence[Suite], targets: Sequence[Target]) -> str:
    runs = sum(isinstance(target, RunTarget) for target in targets)
    counts = ((files, "file"), (len(suites), "suite"), (len(targets) - runs, "compile target"), (runs, "run target"))
    return f"no errors in {', '.join(starmap(counted, counts))}"
