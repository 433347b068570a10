"""`retarget check`: every fault of every file, also of what they name and this installation does not have."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from retarget.cli.support import Places, add_path_arguments, request_of
from retarget.declare.load import MATRIX_FILE, SUITE_FILE, DeclarationLoader
from retarget.expect.diagnostics import contradiction_faults
from retarget.expect.matching import RuleBook
from retarget.expect.usage import Ledger
from retarget.extension import ChecksArtifacts, ChecksData
from retarget.extension.registry import Registry, load_extensions
from retarget.model import Origin, RunTarget, Suite, Target
from retarget.support.errors import Fault, FaultsError, RetargetError
from retarget.targets.expansion import expand
from retarget.targets.pytest_selection import SelectionUsageError, find_declarations

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `retarget check`."""
    add_path_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print all faults, or what was found to be in order. Returns 0 if there is no fault, else 1."""
    try:
        found = find_declarations(request_of(arguments, arguments.path))
    except SelectionUsageError as error:
        raise argparse.ArgumentError(None, str(error)) from error
    registry: Registry | None = None
    messages: dict[str, None] = {}
    try:
        registry = load_extensions(arguments.retarget_extension)
    except RetargetError as error:
        messages[str(error)] = None
    loader = DeclarationLoader(registry)
    faults: dict[Fault, None] = {}
    files = [file for file in found.files if file.name == SUITE_FILE]
    for file in found.files:
        if file.name != SUITE_FILE:
            faults.update(dict.fromkeys(loader.read_matrix_file(file)))
    suites: list[Suite] = []
    ledger = Ledger()
    sound: dict[Path, tuple[Suite, ...]] = {}
    for file in files:
        declared, file_faults = loader.read_suite_file(file)
        suites += declared
        faults.update(dict.fromkeys(file_faults))
        if not file_faults:
            sound[file] = declared
    targets: list[Target] = []
    if registry is not None:
        faults.update(dict.fromkeys(_unknown(loader, suites, registry)))
        for suite in suites:
            faults.update(dict.fromkeys(_data_faults(suite, registry)))
            expanded = _expanded(suite, registry, faults)
            targets += expanded
            faults.update(dict.fromkeys(_judged(suite, expanded, registry, ledger)))
        ledger.read(loader.expectations)
        faults.update(dict.fromkeys(ledger.faults(sound, whole=True)))
    messages.update(dict.fromkeys(found.errors))
    if not files and not loader.matrix_files and not messages:
        where = ", ".join(arguments.path)
        msg = f"found no {SUITE_FILE} and no {MATRIX_FILE} at or below {where}"
        raise RetargetError(msg)
    if faults:
        sys.stderr.write(f"{FaultsError(tuple(faults))}\n")
    for message in messages:
        sys.stderr.write(f"{message}\n")
    if faults or messages:
        return 1
    sys.stdout.write(f"{_summary(len(files) + len(loader.matrix_files), suites, targets)}\n")
    return 0


def _expanded(suite: Suite, registry: Registry, faults: dict[Fault, None]) -> Sequence[Target]:
    try:
        return expand(suite, registry)
    except FaultsError as error:
        faults.update(dict.fromkeys(error.faults))
        return ()


def _data_faults(suite: Suite, registry: Registry) -> Iterable[Fault]:
    """Yield what is wrong with the files of a suite's cases, where their kind can tell."""
    kind = registry.case_loaders.get(suite.kind)
    if isinstance(kind, ChecksData):
        for module in suite.modules:
            yield from kind.data_faults(module, suite)


def _judged(suite: Suite, targets: Sequence[Target], registry: Registry, ledger: Ledger) -> Iterable[Fault]:
    """Enter what the rules of a suite do, and yield where two of them contradict each other."""
    if suite.expectations and targets:
        checks = isinstance(registry.case_loaders.get(suite.kind), ChecksArtifacts)
        assignment = RuleBook(suite.expectations, checks_artifacts=checks).assign(targets)
        ledger.add(suite, assignment, targets)
        yield from contradiction_faults(assignment.contradictions)
    if not registry.unknown(suite):
        ledger.collected(suite.origin.file, suite)


def _unknown(loader: DeclarationLoader, suites: Iterable[Suite], registry: Registry) -> Iterable[Fault]:
    """Yield a fault for each compiler, driver and kind that no extension brings."""
    places = Places()

    def faults(origin: Origin, key: str, find: Callable[[str], object], name: str) -> Iterable[Fault]:
        try:
            find(name)
        except RetargetError as error:
            key_path = f"{origin.key_path}.{key}"
            yield Fault(file=origin.file, line=places.line(origin, key), key_path=key_path, message=str(error))

    for compiler in loader.compiler_configs:
        yield from faults(compiler.origin, "compiler", registry.compiler, compiler.compiler)
    for runtime in loader.runtime_configs:
        yield from faults(runtime.origin, "driver", registry.driver, runtime.driver)
    for suite in suites:
        yield from faults(suite.origin, "kind", registry.case_loader, suite.kind)


def _summary(files: int, suites: Sequence[Suite], targets: Sequence[Target]) -> str:
    runs = sum(isinstance(target, RunTarget) for target in targets)
    counts = ((files, "file"), (len(suites), "suite"), (len(targets) - runs, "compile target"), (runs, "run target"))
    told = [f"{count} {word if count == 1 else word + 's'}" for count, word in counts]
    return f"no faults in {', '.join(told)}"
