"""Kills workers of a cluster, and its scheduler, at random moments of sessions that compile and run there.

    python tests/reliability/cluster_kills.py workers --kills 200 --seed 1
    python tests/reliability/cluster_kills.py scheduler --kills 200 --seed 1

A scheduler and two `retarget worker` processes on this machine share one device, which notices when two runs use it at
a time (`guarded.py`). A worker that was killed is started again; so is a scheduler, with new workers, and the session
after it is to go on.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kills import LONGEST, MARK, Project, faults_of_store, left_behind, lines_in, outcomes_of, parsed, undisturbed

_MOST_FAULTS = 20
_REASONS = ("lost with its worker", "does not answer", "blocked", "no worker", "are gone")


class Cluster:
    """A scheduler and its workers, each process known by a mark."""

    def __init__(self, project: Project, workers: int = 2) -> None:
        self._project = project
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._marks: list[str] = []
        self.start()
        self.workers = [self._worker(number) for number in range(workers)]

    def start(self) -> None:
        """Start the scheduler and wait for its first line."""
        self.scheduler = self._start("cluster", "start", "--port", self.address.rpartition(":")[2])
        assert self.scheduler.stdout is not None
        self.scheduler.stdout.readline()

    def restart(self) -> None:
        """Start everything again after the scheduler was killed."""
        for worker in self.workers:
            worker.kill()
            worker.wait()
        self.start()
        self.workers = [self._worker(number) for number in range(len(self.workers))]

    def kill_worker(self, number: int) -> None:
        """Kill a worker, and start another in its place."""
        self.workers[number].kill()
        self.workers[number].wait()
        self.workers[number] = self._worker(number)

    def close(self) -> list[str]:
        """Kill all; return what is left behind."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        return [line for mark in self._marks for line in left_behind(mark)]

    def _worker(self, number: int) -> subprocess.Popen[str]:
        cache = self._project.folder / f"worker-{number}"
        options = ("--cores", "1", "--name", f"w{number}", "--cache-dir", str(cache))
        return self._start("worker", self.address, *options, "--retarget-extension", "guarded")

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        mark = uuid.uuid4().hex
        self._marks.append(mark)
        return subprocess.Popen(
            [sys.executable, "-m", "retarget.cli", *arguments],
            env=self._project.environment(mark),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if arguments[0] == "cluster" else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        )


class ClusterKills:
    """Sessions on one cluster, of which workers or the scheduler are killed."""

    def __init__(self, project: Project, seed: str) -> None:
        self.project = project
        self._chance = random.Random(seed)  # noqa: S311  the same moments again
        self.hit: Counter[str] = Counter()
        self.reference, self.faults, _ = undisturbed(project, project.folder / "reference")
        self._cluster = Cluster(project)

    def of_workers(self, results: Path) -> int:
        """Kill workers of one session until it ends; return how many."""
        _forget(self.project)
        process, mark = self.project.start(results, "--retarget-cluster", self._cluster.address)
        killed = known = 0
        while process.poll() is None:
            if lines_in(results) <= known:  # what was started again is at work
                time.sleep(0.01)
                continue
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._chance.uniform(0, 1))
                continue
            known = lines_in(results)
            self._cluster.kill_worker(self._chance.randrange(len(self._cluster.workers)))
            killed += 1
        self._judge(results, process.returncode, mark)
        return killed

    def of_scheduler(self, results: Path) -> int:
        """Kill the scheduler of one session, which is to end with all its targets; return 1 where it still ran."""
        _forget(self.project)
        process, mark = self.project.start(results, "--retarget-cluster", self._cluster.address)
        wanted = self._chance.randrange(len(self.project.names))
        while process.poll() is None and lines_in(results) < wanted:
            time.sleep(0.01)
        time.sleep(self._chance.uniform(0, 2))
        ran = process.poll() is None
        self._cluster.scheduler.kill()
        self._cluster.scheduler.wait()
        try:
            process.wait(LONGEST)
            if "no scheduler answers" in results.with_suffix(".log").read_text():
                self.hit["killed before the session reached it"] += 1
            elif lines_in(results):
                self._judge(results, process.returncode, mark)
            else:
                self.hit["no session without a scheduler"] += 1
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            self.faults.append(f"{results.name}: the session hangs without its scheduler")
        self._cluster.restart()
        return int(ran)

    def end(self) -> None:
        """Run a session that nobody disturbs on the cluster, and end that."""
        address = ("--retarget-cluster", self._cluster.address)
        found, faults, _ = undisturbed(self.project, self.project.folder / "last", *address)
        if found != self.reference:
            others = set(found.items()) ^ set(self.reference.items())
            faults.append(f"the next session's outcomes are others: {others}")
        self.faults += [*faults, *self._cluster.close()]
        if self.project.two.exists():
            self.faults.append(f"two runs used the device at a time: {self.project.two.read_text()}")

    def _judge(self, results: Path, status: int, mark: str) -> None:
        found, faults = outcomes_of(self.project, results, whole=True)
        log = results.with_suffix(".log").read_text()
        if status != 1:
            faults.append(f"exit status {status}, expected 1: {log[-2000:]}")
        if "Traceback" in log or "INTERNALERROR" in log:
            faults.append(f"a traceback: {log[-3000:]}")
        for name, said in found.items():
            if said != self.reference[name]:
                self.hit[said[:70]] += 1
                if not any(word in said for word in _REASONS):
                    faults.append(f"{name} has no reason that speaks of the kill: {said}")
        faults += [*left_behind(mark), *faults_of_store(self.project)]
        self.faults += [f"{results.name}: {fault}" for fault in faults]


def main(arguments: Sequence[str] | None = None) -> int:
    given = parsed(__doc__, ("workers", "scheduler"), arguments)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="retarget-kills-") as name:
        project = Project(Path(name).resolve(), given.modules or (100 if given.what == "workers" else 4))
        proof = ClusterKills(project, f"{given.seed} {given.what}")
        killed = number = 0
        while killed < given.kills and number < 2 * given.kills and len(proof.faults) < _MOST_FAULTS:
            number += 1
            if time.monotonic() - start > given.seconds:
                print("no time left for more", flush=True)
                break
            kill = proof.of_workers if given.what == "workers" else proof.of_scheduler
            before = len(proof.faults)
            killed += kill(project.folder / f"session-{number}")
            print(f"{killed} kills in {number} sessions; they hit {dict(proof.hit)}", flush=True)
            print("".join(f"fault: {one}\n" for one in proof.faults[before:]), end="", flush=True)
        proof.end()
    print(f"{killed} kills of {given.what}; {len(proof.faults)} faults, {time.monotonic() - start:.0f} s")
    print("\n".join(proof.faults))
    return bool(proof.faults)


def _forget(project: Project) -> None:
    """Have all modules compiled again."""
    for cache in (project.cache, *project.folder.glob("worker-*")):
        for path in (cache / "v1" / "entries").rglob("*"):
            if path.is_file():
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    os.environ.pop(MARK, None)
    sys.exit(main())
