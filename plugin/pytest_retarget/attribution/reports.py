"""The suspects of a failure: what the other run targets of its module did is added to its report.

When all targets have run and before failures are shown, each failed run target's report and what goes to the junit file
get a section.
"""

from __future__ import annotations

import os
import shlex
import xml.etree.ElementTree as ET
from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import asdict
from retarget.model import Stage
from retarget.results import Outcome, TargetRecord
from retarget.session import Commands
from retarget.support import display_path

from pytest_retarget.attribution.reasoning import conclusion, fails, listing, reference, stage_of
from pytest_retarget.internals import ExceptionRepr, bin_xml_escape, junit_log, junit_testcases
from pytest_retarget.options import EXTENSIONS_VARIABLE, SETTINGS
from pytest_retarget.record import record_of

SECTION = "what the others did"
"""The section's title in a failure."""

NAMED = 3
"""How many targets a command names; for more it names their module."""

_Key = tuple[str, str]
"""A suite's node id and the name of a module."""


class AttributionHooks:
    """The hooks of the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._records: dict[_Key, dict[str, TargetRecord]] = {}
        self._failed: dict[_Key, list[tuple[pytest.TestReport, TargetRecord]]] = {}
        self.conclusions: dict[str, tuple[str, str]] = {}
        """What failures point to, at the end of the session, by node id: one sentence, and the whole section."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome of a run target."""
        record = record_of(report)
        if record is None or not record.runtime:
            return
        module = (report.nodeid.removesuffix(f"::{record.target}"), record.module)
        self._records.setdefault(module, {})[record.target] = record
        failed = self._failed.setdefault(module, [])
        if report.failed and fails(record) and stage_of(record) != Stage.COMPILE:
            failed.append((report, record))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Add the sections, before the junit file is written."""
        self._conclude_all()
        if self.conclusions:
            complete(junit_testcases(self._config), self.conclusions)
        yield

    def _conclude_all(self) -> None:
        """Add the sections to the reports, and keep them by node id."""
        failed = [(module, *one) for module, found in self._failed.items() for one in found]
        is_kept = junit_log(self._config) is not None or self._config.stash[SETTINGS].results is not None
        is_shown = is_kept or self._config.getoption("tbstyle", "auto") not in {"line", "no"}
        if not failed or not is_shown:
            return
        for module, report, record in failed:
            if record.siblings and isinstance(report.longrepr, ExceptionRepr):
                self.conclusions[report.nodeid] = found = self._conclude(module, record)
                report.longrepr.addsection(SECTION, found[1])

    def _conclude(self, module: _Key, mine: TargetRecord) -> tuple[str, str]:
        known = self._records[module]
        others = [
            known.get(one.target) or TargetRecord(file=mine.file, suite=mine.suite, **asdict(one))
            for one in mine.siblings
        ]
        concluded = conclusion(mine, others)
        blocks = [concluded, "\n".join(listing(mine, others))]
        compiles = self._config.stash[SETTINGS].artifacts is None  # as the command does, which a device host may not
        if compiles and (passing := reference(mine, others)) is not None:
            blocks.append(f"to compare them by hand: {self._comparing(module, mine, passing)}")
        if left := [other.target for other in others if other.outcome is Outcome.NOT_RUN]:
            options = _options(self._config.getoption("retarget_extension") or ())
            if (artifacts := self._config.stash[SETTINGS].artifacts) is not None:
                options += ["--retarget-artifacts", display_path(artifacts)]
            words, whole = _to_run(module, mine, left)
            what = "all of them" if whole else "what has not run"
            blocks.append(f"to run {what}: {shlex.join(['pytest', *options, *words])}")
        return concluded, "\n\n".join(block for block in blocks if block)

    def _comparing(self, module: _Key, failed: TargetRecord, passing: TargetRecord) -> str:
        """Return the command that compares the outputs of two targets."""
        configs = ",".join(f"{one.compiler}/{one.runtime}" for one in (failed, passing))
        by_name = [module[1], display_path(Path(failed.file))]
        what = [display_path(Path(failed.module_file))] if failed.module_file else by_name
        known = os.environ.get(EXTENSIONS_VARIABLE, "").split(os.pathsep)
        options = _options(name for name in self._config.stash[SETTINGS].extensions if name not in known)
        return shlex.join([Commands.program("retarget"), "compare", *options, *what, "--configs", configs])


def _to_run(module: _Key, failed: TargetRecord, left: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments with which pytest runs the rest; and whether that is all of the module."""
    suite = f"{display_path(Path(failed.file))}::{module[0].rpartition('::')[2]}"
    if len(left) <= NAMED:
        return [f"{suite}::{name}" for name in left], False
    if failed.module_file:
        return [display_path(Path(failed.module_file))], True
    return [suite, "-k", f"{module[1]}_"], True


def _options(extensions: Iterable[str]) -> list[str]:
    """The options that a command needs to know the extensions of the session."""
    return [word for name in extensions for word in ("--retarget-extension", name)]


_WIDTH = 80


def complete(testcases: Iterable[ET.Element], conclusions: Mapping[str, tuple[str, str]]) -> None:
    """Add to what pytest is about to write to its junit file what the failures point to.

    A target is found by its property `retarget.nodeid`: pytest writes no node ids there.
    """
    for case in testcases:
        properties, failure = case.find("properties"), case.find("failure")
        nodeid = case.find("properties/property[@name='retarget.nodeid']")
        if properties is None or failure is None or nodeid is None:
            continue
        if (one := conclusions.get(nodeid.get("value", ""))) is not None:
            ET.SubElement(properties, "property", name="retarget.attribution", value=bin_xml_escape(one[0]))
            head = f" {SECTION} ".center(_WIDTH, "-")
            failure.text = f"{failure.text or ''}\n{head}\n{bin_xml_escape(one[1])}"
