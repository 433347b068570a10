"""The suspects of a failure: what the other run targets of its module did is added to its report.

When all targets have run and before failures are shown, each failed run target's report and what goes to the junit file
get a section. For a few of them the target and one that passes are run once more, to report
how their outputs differ most.
"""

from __future__ import annotations

import os
import shlex
import time
import xml.etree.ElementTree as ET
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from msgspec.structs import asdict
from retarget.extension import UnavailableError
from retarget.model import RunTarget, Stage
from retarget.results import Outcome, TargetRecord
from retarget.session import Commands
from retarget.support import RetargetError, ScratchFolder, display_path

from pytest_retarget.attribution.reasoning import conclusion, fails, listing, reference, stage_of
from pytest_retarget.internals import ExceptionRepr, bin_xml_escape, junit_log, junit_testcases
from pytest_retarget.options import EXTENSIONS_VARIABLE, SETTINGS
from pytest_retarget.record import record_of
from pytest_retarget.session.declared import declared
from pytest_retarget.session.services import SERVICES, Services

SECTION = "what the others did"
"""The section's title in a failure."""

COMPARED = 10
"""How many modules' outputs are compared when they fail at compare: each costs two more runs."""

COMPARING_SECONDS = 30.0
"""After that time no more outputs are compared."""

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
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None]:
        """Add the sections, while the workers of this process still live and before the junit file is written."""
        self._conclude_all(exitstatus)
        if self.conclusions:
            complete(junit_testcases(self._config), self.conclusions)
        yield

    def _conclude_all(self, exitstatus: int) -> None:
        """Add the sections to the reports, and keep them by node id."""
        failed = [(module, *one) for module, found in self._failed.items() for one in found]
        is_kept = junit_log(self._config) is not None or self._config.stash[SETTINGS].results is not None
        is_shown = is_kept or self._config.getoption("tbstyle", "auto") not in {"line", "no"}
        if not failed or not is_shown:
            return
        is_brief = exitstatus == pytest.ExitCode.INTERRUPTED or self._config.stash[SETTINGS].update_expectations
        with _Comparer(self._config, 0 if is_brief else COMPARED) as comparer:
            for module, report, record in failed:
                if record.siblings and isinstance(report.longrepr, ExceptionRepr):
                    self.conclusions[report.nodeid] = found = self._conclude(module, record, comparer)
                    report.longrepr.addsection(SECTION, found[1])

    def _conclude(self, module: _Key, mine: TargetRecord, comparer: _Comparer) -> tuple[str, str]:
        known = self._records[module]
        others = [
            known.get(one.target) or TargetRecord(file=mine.file, suite=mine.suite, **asdict(one))
            for one in mine.siblings
        ]
        concluded = conclusion(mine, others)
        blocks = [concluded, "\n".join(listing(mine, others))]
        if (passing := reference(mine, others)) is not None:
            blocks.append(comparer.compare(module, mine, passing))
        if left := [other.target for other in others if other.outcome is Outcome.NOT_RUN]:
            options = _options(self._config.getoption("retarget_extension") or ())
            if (artifacts := self._config.stash[SETTINGS].artifacts) is not None:
                options += ["--retarget-artifacts", display_path(artifacts)]
            words, whole = _to_run(module, mine, left)
            what = "all of them" if whole else "what has not run"
            blocks.append(f"to run {what}: {shlex.join(['pytest', *options, *words])}")
        return concluded, "\n\n".join(block for block in blocks if block)


def _to_run(module: _Key, failed: TargetRecord, left: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments with which pytest runs the rest; and whether that is all of the module."""
    suite = f"{display_path(Path(failed.file))}::{module[0].rpartition('::')[2]}"
    if len(left) <= NAMED:
        return [f"{suite}::{name}" for name in left], False
    if failed.module_file:
        return [display_path(Path(failed.module_file))], True
    return [suite, "-k", f"{module[1]}_"], True


class _Comparer(ExitStack):
    """Runs failing targets and passing ones once more and compares what they give; at most `limit` modules."""

    def __init__(self, config: pytest.Config, limit: int) -> None:
        super().__init__()
        self._config = config
        self._limit = limit
        self._end = time.monotonic() + COMPARING_SECONDS
        self._done: set[_Key] = set()
        self._services = config.stash.get(SERVICES, None)
        self._scratch = self.enter_context(ScratchFolder("outputs"))

    def compare(self, module: _Key, failed: TargetRecord, passing: TargetRecord) -> str:
        """Return how the outputs differ most, in words; and how to see all of it."""
        pairs = [f"{one.compiler}/{one.runtime}" for one in (failed, passing)]
        by_name = [module[1], display_path(Path(failed.file))]
        what = [display_path(Path(failed.module_file))] if failed.module_file else by_name
        known = os.environ.get(EXTENSIONS_VARIABLE, "").split(os.pathsep)
        options = _options(name for name in self._config.stash[SETTINGS].extensions if name not in known)
        by_hand = shlex.join([Commands.program("retarget"), "compare", *options, *what, "--configs", ",".join(pairs)])
        compiles = self._config.stash[SETTINGS].artifacts is None  # as that command does, which a device host may not
        hint = f"to compare them by hand: {by_hand}" if compiles else ""
        if module in self._done or len(self._done) >= self._limit or time.monotonic() > self._end:
            return hint
        self._done.add(module)
        try:
            difference = self._compare(failed, passing, (pairs[0], pairs[1]))
        except (RetargetError, UnavailableError):
            return hint  # the command says why
        return "\n".join(line for line in (difference, hint) if line)

    def _compare(self, failed: TargetRecord, passing: TargetRecord, pairs: tuple[str, str]) -> str:
        """Return how the outputs of two targets that are run once more differ most; nothing where they cannot be."""
        if (services := self._services) is None:
            self._services = services = self.enter_context(closing(Services(self._config)))
        of_module = self._targets(failed)
        by_name = {target.name: target for target in of_module}
        folders: list[Path] = []
        for one in (failed, passing):
            target = by_name.get(one.target)
            if target is None:
                return ""
            outcome = services.engine.compile(target.compile)
            if outcome.artifact is None:
                return ""
            folder = self._scratch.subfolder()
            services.run(target, outcome.artifact, of_module, record=folder)
            folders.append(folder)
        found = services.engine.compare((folders[0], folders[1]), pairs)
        both = f"{pairs[0]} and {pairs[1]}"
        if found.worst is None:
            if not found.values:
                return ""
            return f"run once more, {both} gave equal outputs ({found.values} values): the failure may come and go"
        worst = found.worst
        lines = worst.mismatch.report.split("\n")
        errors = f" ({lines[-1]})" if lines[-1].startswith("max abs error") else ""
        ulp = f", {worst.max_ulp} ulp" if worst.max_ulp else ""
        return (
            f"run once more, the outputs of {both} differ most in {worst.case}, {worst.place}: "
            f"{worst.mismatch.summary}{errors.removesuffix(')')}{ulp}{')' if errors else ''}"
        )

    def _targets(self, failed: TargetRecord) -> Sequence[RunTarget]:
        """The run targets of a failed one's module, as declared: the controller of xdist has no items."""
        found = declared(self._config)
        for suite in found.suites(Path(failed.file)):
            run = [target for target in found.targets(suite, Path(failed.file)) if isinstance(target, RunTarget)]
            mine = next((target for target in run if target.name == failed.target), None)
            if mine is not None and suite.name == failed.suite:
                return [target for target in run if target.compile.module == mine.compile.module]
        return ()


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
