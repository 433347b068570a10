"""For all tests: processes that they start can be interrupted, start fast, and share no devices with other sessions."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import signal
import sysconfig
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from ssh_server import SshServer

# How long inputs take to make says what else this machine does, not whether a test holds. A change is judged by the
# same inputs on each machine; who searches for failures (`make test-all`) has others each time.
settings.register_profile("search", max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("slow", settings.get_profile("search"), derandomize=True, database=None)
settings.register_profile("sample", settings.get_profile("slow"), max_examples=25)


def pytest_configure(config: pytest.Config) -> None:
    exhaustive, slow = (config.getoption(name) for name in ("--run-exhaustive", "--run-slow"))
    settings.load_profile("search" if exhaustive else "slow" if slow else "sample")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the million objects of collected tests, now and later: they stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Let the interpreter free it at its end, where native libraries report what is left."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Return three workers for each two cores: a test waits for processes and files in a third of its time.

    None, so that xdist decides, where its variable says how many.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> Iterator[None]:
    """A shell lets what it starts in the background ignore SIGINT, and processes hand that on to their children."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def _own_leases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Test doubles have the same devices in all tests, which are not to wait for one another."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RETARGET_LEASE_DIR", str(tmp_path_factory.getbasetemp() / "leases"))
        yield


@pytest.fixture(scope="session", autouse=True)
def _installed_is_read_once() -> Iterator[None]:
    """Each session of pytest in a test's process, and each command, asks 200 distributions for their entry points.

    Those of the environment stay what they are.
    """
    installed = Path(sysconfig.get_path("purelib"))
    read = importlib.metadata.Distribution.entry_points.fget  # type: ignore[attr-defined]  a property

    @cache
    def read_once(path: Path) -> importlib.metadata.EntryPoints:
        return read(importlib.metadata.PathDistribution(path))  # type: ignore[no-any-return]

    def entry_points(self: importlib.metadata.PathDistribution) -> importlib.metadata.EntryPoints:
        path = getattr(self, "_path", None)
        return read_once(path) if isinstance(path, Path) and path.parent == installed else read(self)  # type: ignore[no-any-return]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.metadata.PathDistribution, "entry_points", property(entry_points), raising=False)
        yield


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`tmp_path`, as the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def ssh_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """An OpenSSH server on the loopback, for tests marked `needs_sshd`."""
    server = SshServer(tmp_path_factory.mktemp("sshd") / "server")
    yield server
    server.close()


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run of the tests, one for all workers of xdist."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def _environment(shared_folder: Path) -> Iterator[None]:
    """Nothing that the user has set decides a test, and no test touches the user's cache.

    Hundreds of processes start here: what Python has compiled for one serves the others, and those of the next run.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("RETARGET_") and not name.startswith(("RETARGET_REQUIRE_", "RETARGET_LEASE_")):
                patch.delenv(name)
        for name in ("PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE", "FORCE_COLOR", "NO_COLOR"):
            patch.delenv(name, raising=False)
        patch.setenv("RETARGET_CACHE_DIR", str(shared_folder / "cache"))
        yield
