"""What each target did when it last ran, and what that depended on: for `--retarget-changed`.

Kept beside what pytest remembers for `--lf` and `--ff`, in pytest's cache: per root folder, by node id, removed by
`--cache-clear`. Only outcomes that need no second look are kept; a target that failed is forgotten, so that it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from retarget.results.record import Outcome, TargetRecord
from retarget.support.files import write_atomically
from retarget.support.locks import hold

from pytest_retarget.record import record_of

__all__ = ["DEPENDS", "LastRun", "RememberRuns", "as_it_was", "is_kept", "read_last_runs"]

DEPENDS = "retarget_depends"
"""The attribute of a target's report that holds the digest of what its outcome depends on."""

_VERSION = 1
_FILE = "last-runs.json"
_OF_THE_RUN = (
    *("stage", "rung", "outcome", "result", "observation", "message", "reason", "commands", "cases", "run", "devices"),
    *("started", "ended"),
)
"""The fields of a record that its run gave."""


class LastRun(msgspec.Struct, frozen=True, kw_only=True):
    """`depends` is the digest of what the outcome depended on, `record` what the run gave."""

    depends: str
    record: TargetRecord


class _File(msgspec.Struct, kw_only=True):
    """All targets, by node id. Each is read when it is asked for."""

    version: int = _VERSION
    runs: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


def is_kept(record: TargetRecord) -> bool:
    """Whether a target need not run again while nothing changes. One whose cases agree with those of another config
    depends on that one's run, too, and always runs."""
    settled = record.outcome in {Outcome.PASSED, Outcome.XFAILED} and record.attempt == 1
    return settled and not record.unchanged and not any(case.agree_with for case in record.cases)


def as_it_was(record: TargetRecord, last: TargetRecord) -> TargetRecord:
    """Return the record of a target that has not run, with what its last run gave."""
    return msgspec.structs.replace(record, unchanged=True, **{name: getattr(last, name) for name in _OF_THE_RUN})


def read_last_runs(config: pytest.Config) -> Callable[[str], LastRun | None]:
    """Return what gives the last run of a target by its node id, None where nothing is known."""
    runs: dict[str, msgspec.Raw] = {}
    with suppress(OSError):
        runs = _read(_path(config)).runs

    def last_run(nodeid: str) -> LastRun | None:
        with suppress(KeyError, msgspec.MsgspecError):
            return msgspec.json.decode(runs[nodeid], type=LastRun)
        return None

    return last_run


class RememberRuns:
    """The hooks of the process that reports: the controller of xdist, or the only one."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._runs: dict[str, msgspec.Raw | None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = record_of(report)
        if record is None or record.unchanged or record.outcome in {Outcome.SKIPPED, Outcome.NOT_RUN}:
            return
        depends = getattr(report, DEPENDS, "")
        self._runs[report.nodeid] = _encoded(depends, record) if depends and is_kept(record) else None

    def pytest_sessionfinish(self) -> None:
        """Add what this session found to what is kept. A cache that cannot be written is pytest's to report."""
        if not self._runs:
            return
        with suppress(OSError):
            path = _path(self._config)
            lock = hold(path.with_suffix(".lock"))
            file = _read(path)
            for nodeid, run in self._runs.items():
                if run is None:
                    file.runs.pop(nodeid, None)
                else:
                    file.runs[nodeid] = run
            write_atomically(path, msgspec.json.encode(file))
            if lock is not None:
                lock.release()
        self._runs.clear()


def _path(config: pytest.Config) -> Path:
    cache: Any = config.cache
    return Path(cache.mkdir("retarget")) / _FILE


def _read(path: Path) -> _File:
    """Return what is kept; nothing where the file is damaged or of another version: then all targets run."""
    with suppress(OSError, msgspec.MsgspecError):
        file = msgspec.json.decode(path.read_bytes(), type=_File)
        if file.version == _VERSION:
            return file
    return _File()


def _encoded(depends: str, record: TargetRecord) -> msgspec.Raw:
    kept = TargetRecord(**{name: getattr(record, name) for name in _OF_THE_RUN})
    return msgspec.Raw(msgspec.json.encode(LastRun(depends=depends, record=kept)))
