"""The suites that rules serve, which an update of the rules must know all of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from retarget.declare.load import DeclarationLoader, discover
from retarget.expect.update.edited_rules import SuiteTargets
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.targets.expansion import expand

__all__ = ["expanded", "served_suites"]


def served_suites(files: Iterable[Path], registry: Registry) -> list[Suite]:
    """Read the suites of files as they are declared now, and all others that the rules of theirs serve.

    Raises `DiagnosticsError` for a file that has errors: its suites' expectations are not known.
    """
    loader = DeclarationLoader(registry)
    suites: dict[Path, tuple[Suite, ...]] = {file: loader.load_suite_file(file) for file in sorted(files)}
    folders = {file.parent for file in suites}
    folders |= {rule.origin.file.parent for some in suites.values() for one in some for rule in one.expectations}
    for file in discover(sorted(folders)):
        if file not in suites:
            suites[file] = loader.load_suite_file(file)
    return [suite for some in suites.values() for suite in some]


def expanded(suite: Suite, registry: Registry) -> SuiteTargets:
    """Return a suite with its targets."""
    checks = registry.artifact_checker(suite.kind) is not None
    return SuiteTargets(suite=suite, targets=expand(suite, registry), checks_artifacts=checks)
