"""A worker that is started before it is known for what is used where it is what would be started then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from retarget.worker.messages import DriverChecks, ListDriverChecks
from retarget.worker.process import WorkerProcess
from retarget.worker.started import SpareWorker, Spawner


def test_a_spare_worker_answers_and_is_taken_once() -> None:
    spare = SpareWorker()
    started = spare.take()
    assert started is not None
    assert spare.take() is None
    worker = WorkerProcess(spawner=Spawner(), extensions=(), started=started)
    assert isinstance(worker.ask(ListDriverChecks(), DriverChecks, timeout=60), DriverChecks)
    worker.close()
    spare.close()
    assert not worker.alive


def test_a_spare_worker_is_not_taken_where_the_environment_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    spare = SpareWorker()
    started = spare._started
    assert started is not None
    monkeypatch.setenv("RETARGET_TEST_OF_SPARE", "set since")
    assert spare.take() is None
    spare.close()
    assert (started.socket.fileno(), started.log.closed, started.progress.closed) == (-1, True, True)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) == 1, reason="needs two CPUs")
def test_a_spare_worker_is_not_taken_where_the_process_may_use_other_cpus_since() -> None:
    before = os.sched_getaffinity(0)
    spare = SpareWorker()
    try:
        os.sched_setaffinity(0, {min(before)})
        assert spare.take() is None
    finally:
        os.sched_setaffinity(0, before)
        spare.close()


FORKED = """
import os, signal, sys
from pathlib import Path
from retarget.worker.messages import DriverChecks, ListDriverChecks, Refused
from retarget.worker.process import WorkerProcess
from retarget.worker.started import Spawner, SpareWorker

def is_forked(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()

kept = open("held", "w")
signal.signal(signal.SIGTERM, lambda *_: print("the parent's handler"))
spare = SpareWorker(forks=True)
worker = WorkerProcess(spawner=Spawner(), extensions=(), started=spare.take())
print(is_forked(worker.pid), isinstance(worker.ask(ListDriverChecks(), DriverChecks, timeout=60), DriverChecks))
opened = Path(f"/proc/{worker.pid}/fd")
print("held" in [one.resolve().name for one in opened.iterdir()], (opened / "0").resolve())
print((opened / "1").resolve() == (opened / "2").resolve())
os.kill(worker.pid, signal.SIGTERM)
refused = worker.ask(ListDriverChecks(), DriverChecks, timeout=60)
print(isinstance(refused, Refused), refused.summary)
worker.close()
spare.close()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps
alone = SpareWorker(forks=True)
pid = alone._started.process.pid
alone.close()
print(Path(f"/proc/{pid}").exists())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems start their spare worker anew")
def test_a_forked_worker_answers_holds_nothing_of_its_parent_and_is_reaped(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", FORKED]
    done = subprocess.run(argv, cwd=tmp_path, input="", capture_output=True, text=True, check=False)
    assert done.stderr == ""
    said = ["True True", "False /dev/null", "True", "True worker ended: SIGTERM", "False"]
    assert done.stdout.splitlines()[:5] == said
    assert done.returncode == 0


@pytest.mark.parametrize(
    "before",
    [
        "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "sys.stdin = None  # as with <&-: the descriptor 0 may be any file",
    ],
)
def test_a_process_with_further_threads_or_without_a_stream_does_not_fork(tmp_path: Path, before: str) -> None:
    program = FORKED.replace("kept = ", f"{before}\nkept = ")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[:2] == ["False True", "False /dev/null"], done.stderr
