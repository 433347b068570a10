"""The worker process: it answers, and however it ends, its end is reported and nothing is left."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from retarget.extension import CompileRequest, Resolved
from retarget.support.errors import RetargetError
from retarget.worker.messages import CompiledModule, CompileModule, Devices, ProbeDriver, Refusal, Refused
from retarget.worker.process import Spawner, WorkerProcess, signal_name
from targets_of_doubles import EXTENSIONS, has_ended, wait_until

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc or needs prctl, which Linux has")


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    spawner = Spawner()
    yield spawner
    spawner.close()


@pytest.fixture
def worker(spawner: Spawner) -> Iterator[WorkerProcess]:
    worker = WorkerProcess(spawner=spawner, extensions=EXTENSIONS)
    yield worker
    worker.close()


def compile_text(text: str) -> CompileModule:
    request = CompileRequest(
        source=text.encode(),
        source_name="m.txt",
        source_path=Path("m.txt"),
        resolved=Resolved(build_id="double 1", flags=()),
    )
    return CompileModule(compiler="double", request=request)


def test_a_worker_answers_one_request_after_the_other(worker: WorkerProcess) -> None:
    first = worker.ask(compile_text("pass a"), CompiledModule, timeout=30)
    second = worker.ask(ProbeDriver(driver="double"), Devices, timeout=30)
    assert isinstance(first, CompiledModule)
    assert first.artifact == b"PASS A"
    assert isinstance(second, Devices)
    assert [info.name for info in second.infos] == ["Double Device"]


@pytest.mark.parametrize("name", ["SIGFPE", "SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_death_by_signal_names_the_signal_and_shows_the_last_output(worker: WorkerProcess, name: str) -> None:
    answer = worker.ask(compile_text(f"@crash {name}"), CompiledModule, timeout=30)
    assert isinstance(answer, Refused)
    assert (answer.refusal, answer.cause, answer.text) == (Refusal.CRASHED, name, "last words\n")
    assert not worker.alive


@pytest.mark.parametrize("how", ["python", "native"])
def test_a_hang_is_killed_by_the_clock_and_shows_what_was_printed(worker: WorkerProcess, how: str) -> None:
    answer = worker.ask(compile_text(f"@hang {how}"), CompiledModule, timeout=0.3)
    assert isinstance(answer, Refused)
    assert (answer.refusal, answer.cause, answer.text) == (Refusal.TIMED_OUT, "0.3 s", "before the hang\n")
    assert has_ended(worker.pid)


def locked(path: Path) -> int:
    """Lock a file, and return its descriptor. Raises `BlockingIOError` where it is locked."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    return descriptor


def test_a_worker_keeps_a_lock_until_it_has_answered(worker: WorkerProcess, tmp_path: Path) -> None:
    lease = locked(tmp_path / "lease")
    sent = worker.send(compile_text("pass a"), keep_open=[lease])
    assert isinstance(worker.answer(sent, CompiledModule, timeout=30), CompiledModule)
    os.close(lease)
    os.close(locked(tmp_path / "lease"))


@linux_only
def test_a_worker_keeps_a_lock_that_its_parent_lost_until_it_has_ended(worker: WorkerProcess, tmp_path: Path) -> None:
    lease = locked(tmp_path / "lease")
    worker.send(compile_text("@hang python"), keep_open=[lease])
    try:
        assert wait_until(lambda: len(lock_holders(tmp_path / "lease")) == 2)
        os.close(lease)
        with pytest.raises(BlockingIOError):
            locked(tmp_path / "lease")
    finally:
        worker.kill()
        worker.close()
    os.close(locked(tmp_path / "lease"))


def lock_holders(path: Path) -> list[str]:
    """The processes that have a file open."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found += [process.name for one in (process / "fd").iterdir() if one.is_symlink() and one.readlink() == path]
    return found


def test_an_extension_that_raises_what_it_should_not_costs_one_request(worker: WorkerProcess) -> None:
    answer = worker.ask(compile_text("@raise by zero"), CompiledModule, timeout=30)
    assert isinstance(answer, Refused)
    assert answer.refusal is Refusal.INTERNAL
    assert answer.summary == "ZeroDivisionError: by zero"
    assert "worker_doubles.py" in answer.text
    assert worker.alive


def test_a_worker_that_was_killed_from_outside_is_seen_as_dead(worker: WorkerProcess) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    assert wait_until(lambda: not worker.alive)
    answer = worker.ask(ProbeDriver(driver="double"), Devices, timeout=30)
    assert isinstance(answer, Refused)
    assert (answer.refusal, answer.cause) == (Refusal.CRASHED, "SIGKILL")


@pytest.mark.parametrize("ends", [True, False])
def test_a_worker_that_has_ended_or_was_closed_refuses_whatever_it_is_asked(worker: WorkerProcess, ends: bool) -> None:
    if ends:
        worker.ask(compile_text("@exit 3"), CompiledModule, timeout=30)
    else:
        worker.close()
    answer = worker.ask(compile_text("pass a"), CompiledModule, timeout=30, on_progress=lambda _: None)
    assert isinstance(answer, Refused)
    assert (answer.refusal, answer.cause, answer.text) == (Refusal.ENDED, f"exit status {3 if ends else 0}", "")


def test_an_extension_that_fails_to_import_is_reported_by_the_worker(spawner: Spawner) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    with pytest.raises(RetargetError) as caught:
        WorkerProcess(spawner=spawner, extensions=("no_such_module_anywhere",))
    expected = "extension 'no_such_module_anywhere' cannot be imported: ModuleNotFoundError: "
    assert str(caught.value).startswith(expected + "No module named 'no_such_module_anywhere'")
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_an_extension_that_ends_the_worker_while_it_is_imported_is_reported(
    spawner: Spawner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deadly_extension.py").write_text("import os\nprint('bye', flush=True)\nos.abort()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(RetargetError) as caught:
        WorkerProcess(spawner=spawner, extensions=("deadly_extension",))
    assert str(caught.value) == "a worker process ended while it started (SIGABRT): bye"


def test_an_interpreter_that_cannot_be_started_is_reported(spawner: Spawner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RetargetError) as caught:
        WorkerProcess(spawner=spawner, extensions=())
    assert str(caught.value) == "cannot start a worker process (/nowhere/python): No such file or directory"


def test_closing_reaps_the_worker_and_gives_its_descriptors_back(spawner: Spawner) -> None:
    folder = Path("/dev/fd")
    before = len(list(folder.iterdir()))
    worker = WorkerProcess(spawner=spawner, extensions=EXTENSIONS)
    worker.close()
    worker.close()
    assert worker.send(ProbeDriver(driver="double")) > 0  # it is the answer that reports the end
    assert has_ended(worker.pid)
    assert len(list(folder.iterdir())) == before


def test_a_worker_is_out_of_reach_of_the_terminals_interrupt(worker: WorkerProcess) -> None:
    assert os.getpgid(worker.pid) == worker.pid
    os.kill(worker.pid, signal.SIGINT)
    assert isinstance(worker.ask(ProbeDriver(driver="double"), Devices, timeout=30), Devices)


_PARENT = """
import sys, threading, time
sys.path[:0] = {path!r}
from retarget.worker.process import Spawner, WorkerProcess
from retarget.worker.messages import Devices, ProbeDriver
worker = WorkerProcess(spawner=Spawner(), extensions=("worker_doubles",), starts_processes={starts!r})
ask = lambda: worker.ask(ProbeDriver(driver={driver!r}), Devices, timeout=600)
threading.Thread(target=ask, daemon=True).start()
time.sleep(0.3)
print(worker.pid, flush=True)
time.sleep(600)
"""


def worker_ends_with_its_parent(driver: str, *, starts: bool) -> bool:
    code = _PARENT.format(path=sys.path, starts=starts, driver=driver)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        try:
            pid = int(parent.stdout.readline())
            assert not has_ended(pid)
        finally:
            parent.kill()
    return wait_until(lambda: has_ended(pid), 3.0)


@linux_only
@pytest.mark.parametrize("driver", ["double-hang", "double-native-hang"])
def test_a_worker_dies_with_a_parent_that_was_killed(driver: str) -> None:
    assert worker_ends_with_its_parent(driver, starts=False)


@pytest.mark.slow
def test_the_lifeline_alone_ends_a_worker_whose_parent_was_killed() -> None:
    assert worker_ends_with_its_parent("double-hang", starts=True)


def test_a_signal_without_a_name_keeps_its_number() -> None:
    assert (signal_name(8), signal_name(250)) == ("SIGFPE", "signal 250")
