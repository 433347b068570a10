"""TLS by Dask's own configuration: a scheduler, a worker and a session with certificates; none without."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

RETARGET = (sys.executable, "-m", "retarget.cli")


@pytest.fixture
def certified(tmp_path: Path) -> dict[str, str]:
    """The environment with one certificate, signed by itself, for all roles."""
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key} -out {cert}".split()
    subprocess.run(["openssl", *words], check=True, capture_output=True)
    names = {"CA_FILE": cert}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        names |= {f"{role}__CERT": cert, f"{role}__KEY": key}
    return {**os.environ, **{f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(path) for name, path in names.items()}}


@pytest.fixture
def scheduler(certified: dict[str, str]) -> Iterator[str]:
    command = [*RETARGET, "cluster", "start", "--tls", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen(command, env=certified, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        process.stdout.close()


def status(address: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RETARGET, "cluster", "status", address], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_with_certificates_a_scheduler_is_reached_by_tls_and_by_nothing_else(
    scheduler: str, certified: dict[str, str]
) -> None:
    assert scheduler.startswith("tls://127.0.0.1:")
    worker = [*RETARGET, "worker", scheduler, "--name=w", "--cores=1"]
    process = subprocess.Popen(worker, env=certified, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert (
        process.stderr.readline() == f"retarget worker w: waiting for the scheduler at {scheduler}, for 60 s at most\n"
    )
    assert process.stderr.readline() == f"retarget worker w: connected to {scheduler}, 1 compiles at a time\n"
    found = status(scheduler, certified)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[0] == f"{scheduler}: workers 1, sessions 0, waiting for a worker 0"
    process.send_signal(signal.SIGTERM)
    assert process.stderr.readline() == "retarget worker w: draining: 0 to finish; once more ends at once\n"
    assert process.wait(30) == 0
    process.stderr.close()
    plain = status(scheduler.replace("tls://", "tcp://"), certified)
    assert (plain.returncode, plain.stdout) == (1, "")
    without = status(scheduler, dict(os.environ))
    assert "Dask's configuration does not say distributed.comm.tls.ca-file" in without.stderr


@pytest.mark.slow
def test_a_worker_without_a_scheduler_says_what_it_waits_for_and_gives_up_after_a_while() -> None:
    command = [*RETARGET, "worker", "tcp://127.0.0.1:1", "--name=w", "--cores=1", "--patience=1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    message = (
        "retarget worker w: waiting for the scheduler at tcp://127.0.0.1:1, for 1 s at most\n"
        "no scheduler has answered at tcp://127.0.0.1:1 for 1 s; `retarget cluster start` starts one and prints its "
        "address\n"
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", message)
