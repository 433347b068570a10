"""Compile targets and run targets as pytest items.

A compile target fails alone: run targets that need its artifact are *blocked*, which is a skip that names it. Where the
compile target was deselected, the run target reports the compile failure itself.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol

import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr, TracebackStyle
from _pytest.outcomes import Skipped
from retarget.availability import host_mismatch
from retarget.errors import RetargetError
from retarget.extension import ChecksArtifacts, UnavailableError
from retarget.model import CompileTarget, RunTarget, RuntimeConfig, Target
from retarget.outcomes import CompileOutcome, DeviceInfo, RunOutcome, Stage

from .failures import check_failed, compile_failed, error_repr, first_line, run_failed
from .session import SERVICES, Services
from .summary import Record

__all__ = ["Blocked", "CompileItem", "MatrixItem", "RunItem"]


class Home(Protocol):
    """The collector of a suite, as its items see it."""

    @property
    def nodeid(self) -> str:
        """What the items' node ids start with."""

    @property
    def file_id(self) -> str:
        """The node id of the suite file."""

    @property
    def line(self) -> int | None:
        """Where the suite's table starts, 0-based; None if that cannot be told."""

    def run_targets(self, module: str) -> Sequence[RunTarget]:
        """All run targets of a module of the suite, selected or not, in declared order."""


class Blocked(Skipped):
    """A run target cannot run because its compile target failed, which is reported there."""


class MatrixItem(pytest.Item):
    """What the two sorts of targets have in common."""

    target: Target
    home: Home
    devices: tuple[DeviceInfo, ...] = ()
    compile_key = ""
    _has_keywords = False

    def __init__(
        self, *, target: Target, home: Home, position: int, marks: Sequence[pytest.Mark], **kwargs: object
    ) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.position = position
        self.target = target
        self.home = home
        self.own_markers = list(marks)

    @property
    def keywords(self) -> MutableMapping[str, Any]:
        """Names and marks. The marks are entered when somebody asks: a hundred thousand items stay light."""
        if not self._has_keywords:
            self._has_keywords = True
            self._keywords.update({mark.name: mark for mark in self.own_markers})
        return self._keywords

    @keywords.setter
    def keywords(self, keywords: MutableMapping[str, Any]) -> None:
        self._keywords = keywords

    @property
    def compile_target(self) -> CompileTarget:
        """The target that compiles the module: this one, or the one it needs."""
        raise NotImplementedError

    @property
    def runtime(self) -> RuntimeConfig | None:
        """The runtime config, None for a compile target."""
        return None

    @property
    def compile_id(self) -> str:
        """The node id of the compile target."""
        return f"{self.home.nodeid}::{self.compile_target.name}"

    def reportinfo(self) -> tuple[os.PathLike[str], int | None, str]:
        """The suite's place in its file, and a headline."""
        return self.path, self.home.line, f"{self.compile_target.suite}: {self.name}"

    def repr_failure(
        self, excinfo: ExceptionInfo[BaseException], style: TracebackStyle | None = None
    ) -> str | TerminalRepr:
        """Word a failure for its reader: no traceback of ours, unless the fault is ours."""
        path, line, _ = self.reportinfo()
        return error_repr(excinfo.value, path, line) or super().repr_failure(excinfo, style)

    @property
    def services(self) -> Services:
        """Compiling and running, shared by the items of this process."""
        return self.config.stash[SERVICES]

    def record(self, reason: str) -> Record:
        """What the summary needs to know. `reason` says why it was skipped, empty if it was not."""
        return Record(
            file=self.home.file_id,
            suite=self.compile_target.suite,
            compiler=self.compile_target.compiler.name,
            runtime=self.runtime.name if self.runtime else "",
            reason=reason,
            devices=tuple(f"{device.driver}: {device.name}" for device in self.devices),
            key=self.compile_key,
            line=self.home.line or 0,
            position=self.position,
        )

    def unavailable(self, reason: str, hint: str = "") -> NoReturn:
        """Skip, or fail where `--retarget-require` says that this target must run here."""
        required = self.services.required(self)
        if required is None:
            pytest.skip(reason)
        text = f"{reason}\n{_not_skipped(required)}"
        raise RetargetError(f"{text}\n{hint}" if hint else text)

    def note(self, name: str, value: object) -> None:
        """Add a property to the report, for junit and for whoever reads reports. Empty values are left out."""
        text = f"{value:.6f}" if isinstance(value, float) else str(value)
        if text:
            self.user_properties.append((f"retarget.{name}", text))

    def _note_stage(self, stage: Stage) -> None:
        """Say how far the target came, in place of what was said before."""
        self.user_properties[:] = [pair for pair in self.user_properties if pair[0] != "retarget.stage"]
        self.note("stage", stage)

    @property
    def concrete(self) -> CompileTarget:
        """The compile target with files that are there, where a kind makes its modules."""
        return self.services.concrete(self.compile_target)

    def check_files(self) -> None:
        """Skip or fail if the module's files are to be made and cannot be."""
        try:
            self.services.concrete(self.compile_target)
        except UnavailableError as error:
            self.unavailable(str(error), error.hint)

    def check_compiler(self) -> None:
        """Skip or fail if the compiler is not here. Raises `RetargetError` for one that nobody brought."""
        try:
            self.services.check_compiler(self.compile_target.compiler)
        except UnavailableError as error:
            self.unavailable(str(error), error.hint)

    def compiled(self) -> CompileOutcome:
        """Wait for the compile and note what is known of it."""
        self.note("suite", self.compile_target.suite)
        self.note("module", self.compile_target.module.name)
        self.note("compiler", self.compile_target.compiler.name)
        self.note("runtime", self.runtime.name if self.runtime else "")
        self.note("stage", Stage.COMPILE)
        try:
            outcome = self.services.compiled(self.compile_target)
        except UnavailableError as error:
            self.unavailable(str(error), error.hint)
        self.compile_key = outcome.key
        self.note("compile_key", outcome.key)
        self.note("reused", str(outcome.reused).lower())
        self.note("compile_seconds", outcome.seconds)
        return outcome


class CompileItem(MatrixItem):
    """One module, compiled one way."""

    target: CompileTarget

    @property
    def compile_target(self) -> CompileTarget:
        return self.target

    def setup(self) -> None:
        if self.services.settings.artifacts is not None:
            pytest.skip(f"not compiled: --retarget-artifacts takes artifacts from {self.services.settings.artifacts}")
        self.services.registry.case_loader(self.target.kind)
        self.check_compiler()
        self.check_files()

    def runtest(self) -> None:
        outcome = self.compiled()
        if outcome.artifact is None:
            raise compile_failed(self.services.commands, self.concrete, outcome)
        if isinstance(self.services.registry.case_loaders.get(self.target.kind), ChecksArtifacts):
            try:
                checked = self.services.check(self.target, outcome.artifact)
            except UnavailableError as error:
                self.unavailable(str(error), error.hint)
            if checked.failure is not None:
                self._note_stage(checked.failure.stage)
                raise check_failed(self.services.commands, self.concrete, checked, checked.failure)


class RunItem(MatrixItem):
    """One module, compiled one way and run one way."""

    target: RunTarget

    @property
    def compile_target(self) -> CompileTarget:
        return self.target.compile

    @property
    def runtime(self) -> RuntimeConfig:
        return self.target.runtime

    def setup(self) -> None:
        runtime = self.target.runtime
        if reason := host_mismatch(runtime):
            self.unavailable(reason)
        registry = self.services.registry
        registry.driver(runtime.driver)
        registry.case_loader(self.target.compile.kind)
        self.check_files()
        if self.services.settings.artifacts is None:
            self._check_compiler_or_block()
        try:
            self.devices = self.services.devices(runtime)
        except UnavailableError as error:
            self._unavailable_device(error)

    def runtest(self) -> None:
        outcome = self._compiled_or_blocked()
        if outcome.artifact is None:
            self._block_or_raise(compile_failed(self.services.commands, self.concrete, outcome))
        try:
            others = self.home.run_targets(self.target.compile.module.name)
            run = self.services.run(self.target, outcome.artifact, others)
        except UnavailableError as error:
            self._unavailable_device(error)
        self._note_run(run)
        if run.failure is not None:
            target = replace(self.target, compile=self.concrete)
            raise run_failed(self.services.commands, target, outcome.artifact, run, run.failure)

    def _compiled_or_blocked(self) -> CompileOutcome:
        """What `compiled` gives. What keeps a compile from being stored at all is its compile target's to report."""
        try:
            return self.compiled()
        except RetargetError as error:
            if self.services.settings.artifacts is not None:
                raise
            self._block_or_raise(error)

    def _unavailable_device(self, error: UnavailableError) -> NoReturn:
        self.unavailable(f"{self.target.runtime.name}: {error}", error.hint)

    def _check_compiler_or_block(self) -> None:
        try:
            self.check_compiler()
        except RetargetError as error:
            self._block_or_raise(error)

    def _block_or_raise(self, error: Exception) -> NoReturn:
        if self.services.settings.artifacts is not None:
            msg = f"it was not compiled where the artifacts come from: {first_line(error)}"
            if (required := self.services.required(self)) is not None:  # nothing else fails in this session
                msg = f"{msg}\n{_not_skipped(required)}"
                raise RetargetError(msg) from None
            msg = f"blocked: {msg}"
            raise Blocked(msg) from None
        if self.compile_id in self.services.selected_compiles:
            msg = f"blocked by {self.compile_id}"
            raise Blocked(msg) from None
        raise error

    def _note_run(self, run: RunOutcome) -> None:
        self.devices = run.devices or self.devices
        stage = run.failure.stage if run.failure is not None else Stage.COMPARE
        self._note_stage(stage)
        self.note("load_seconds", run.load_seconds)
        self.note("run_seconds", run.run_seconds)
        self.note("compare_seconds", run.compare_seconds)
        for device in self.devices:
            self.note("device", device.name)
            self.note("device_id", device.physical_id)
            self.note("driver_version", device.driver_version)


def _not_skipped(required: str) -> str:
    return f"--retarget-require {required!r} does not let this target be skipped"
