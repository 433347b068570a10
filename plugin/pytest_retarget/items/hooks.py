"""The hooks that start the services of a process when its targets are about to run, and end them."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from retarget.extension import UnavailableError
from retarget.model import RunTarget
from retarget.support import RetargetError

from pytest_retarget.items.targets import MatrixItem, RunItem
from pytest_retarget.options import OF_ONE_ID
from pytest_retarget.session.services import SERVICES, Services

if TYPE_CHECKING:
    from retarget.worker import SpareWorker


def queue_compiles(services: Services, items: Sequence[MatrixItem]) -> None:
    """Queue every compile that the selection needs, in its order.

    Modules that only skipped run targets need are not compiled ahead. The first compiles run while devices are still
    being opened and modules generated for those after them.
    """
    services.selected = frozenset(item.nodeid for item in items)
    services.selected_compiles = frozenset(item.nodeid for item in items if not item.target.runtime)
    services.engine.sweep()
    queued: set[str] = set()
    for item in items if services.settings.artifacts is None else ():
        if item.compile_id not in queued and services.is_compile_needed(item.target, item.compile_id, item.in_force):
            queued.add(item.compile_id)
            with suppress(UnavailableError, RetargetError):  # its own setup reports it
                services.engine.submit([item.target.compiled])
    if services.settings.cluster:
        queue_runs(services, items)


def queue_runs(services: Services, items: Sequence[MatrixItem]) -> None:
    """Let the cluster run what the selection needs, each target when its compile is done.

    Not what may not have to run, and not what needs the results of other runs: their items see to that.
    """
    for item in (one for one in items if isinstance(one, RunItem)):
        target = item.target
        with suppress(UnavailableError, RetargetError):  # its own setup reports it
            if (rules := services.rules_ahead(target, item.in_force)) is not None:
                services.engine.devices_of(target)
                services.engine.run_ahead(target, rules, reuses=services.settings.reuses)


_AROUND_TARGETS = ("protocol", "setup", "call", "teardown")
_KNOWN = frozenset({"_pytest", "pytest_retarget", "_hypothesis_pytestplugin"})
"""Packages whose hooks leave targets alone; Hypothesis's are for test functions."""


def link_runs(session: pytest.Session) -> None:
    """Tell each run target which one follows, so that it may begin while pytest reports.

    Not across other tests, nor where other plugins have hooks around targets: they may skip one, or prepare its device.
    Nor under xdist, whose processes report one while others run theirs, nor with `--pdb`, which would leave a device
    taken while its user looks around.
    """
    config, hooks = session.config, session.config.hook
    around = [
        impl.plugin for name in _AROUND_TARGETS for impl in getattr(hooks, f"pytest_runtest_{name}").get_hookimpls()
    ]
    if hasattr(config, "workerinput") or config.getoption("usepdb", False) or not all(map(_is_known, around)):
        return
    last: RunItem | None = None
    for item in session.items:
        if isinstance(item, RunItem):
            if last is not None:
                last.following = item
            last = item
        elif not isinstance(item, MatrixItem):
            last = None


def _is_known(plugin: object) -> bool:
    module = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__
    return module.partition(".")[0] in _KNOWN


_SAME = 1.5
"""Seconds after an interrupt in which an xdist worker takes another one for the same."""


class ServiceHooks:
    """The hooks of one process."""

    def __init__(self, config: pytest.Config, spare: SpareWorker | None = None) -> None:
        """A `spare` worker is closed with the session."""
        self._config = config
        self._spare = spare
        self._on_interrupt: Any = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        """Queue the compiles of the selection, ahead of need."""
        config = session.config
        runs_all_the_same = hasattr(config, "workerinput") or config.getoption("continue_on_collection_errors")
        failed = session.testsfailed and not runs_all_the_same  # the controller of xdist decides what its workers run
        items = [item for item in session.items if isinstance(item, MatrixItem)]
        if self._spare is not None and not any(isinstance(item.target, RunTarget) for item in items):
            self._spare.close()
        if not items or failed or config.getoption("collectonly"):
            return
        if config.stash.get(OF_ONE_ID, False) and isinstance(items[0].target, RunTarget):
            from retarget.worker import SpareWorker

            self._spare = SpareWorker(forks=True)
        config.stash[SERVICES] = services = Services(config, self._spare)
        if not config.getoption("setuponly", False):
            if not services.settings.reuses:
                link_runs(session)
            queue_compiles(services, items)
        if len(items) == len(session.items) and not gc.get_freeze_count():
            gc.freeze()  # what is there by now stays until the end: the collector need not look at it again and again

    def pytest_keyboard_interrupt(self) -> None:
        """Let a second Ctrl-C end at once what is left to end, and not interrupt that: it would leave a traceback.

        Under xdist the controller interrupts its workers, too: soon after a Ctrl-C that may be the same once more.
        """
        first = time.monotonic()

        def hurry(*_: object) -> None:
            is_same = hasattr(self._config, "workerinput") and time.monotonic() < first + _SAME
            if not is_same and (services := self._config.stash.get(SERVICES, None)):
                services.engine.kill()

        if threading.current_thread() is threading.main_thread() and self._on_interrupt is None:
            self._on_interrupt = signal.signal(signal.SIGINT, hurry)

    def pytest_sessionfinish(self) -> None:
        """End the workers."""
        if services := self._config.stash.get(SERVICES, None):
            services.close()
        if self._spare is not None:
            self._spare.close()

    def pytest_unconfigure(self) -> None:
        """End the workers where the session did not come to its end."""
        self.pytest_sessionfinish()
        if self._on_interrupt is not None:
            signal.signal(signal.SIGINT, self._on_interrupt)
            self._on_interrupt = None
