"""Kills sessions and workers at random moments, and looks whether a target, an artifact or a device suffered.

    python tests/reliability/kills.py sessions --kills 200 --seed 1
    python tests/reliability/kills.py workers --kills 200 --seed 1
    python tests/reliability/kills.py devices --kills 200 --seed 1

Real pytest sessions compile small modules with IREE and run them on its driver local-sync, on a device that notices
when two runs use it at a time. `sessions` kills pytest itself, of two sessions at a time that share cache and device;
`workers` kills compile workers and device workers of one session until there were so many of each; `devices` kills
device workers alone, in sessions that have all modules compiled.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from retarget.results import Sessions, TargetRecord
from retarget.session import Store
from retarget.support import RetargetError

HERE = Path(__file__).parent
MARK = "RETARGET_KILLED_SESSION"
"""The environment variable by which all processes of a session are known."""

sys.path.insert(0, str(HERE.parent))
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target  # noqa: E402
from mlir_modules import DIFFERS, REFUSED  # noqa: E402

_MODULE = """\
func.func @add() {{
  %a = util.unfoldable_constant dense<[1.0, 2.0, {0}.0]> : tensor<3xf32>
  %b = arith.addf %a, %a : tensor<3xf32>
  check.expect_almost_eq_const(%b, dense<[2.0, 4.0, {1}.0]> : tensor<3xf32>) : tensor<3xf32>
  return
}}
"""

Outcomes = dict[str, str]

LONGEST = 600.0
"""Seconds after which a session hangs."""


class Project:
    """A folder with modules, of which one is refused and one gives wrong values, and sessions in it."""

    def __init__(self, folder: Path, modules: int) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.two = folder / "guard.two"
        matrix = declarations(
            "root = true\n",
            compiler("vmvx", flags=VMVX_FLAGS),
            runtime("guarded", "guarded"),
            target("all", "vmvx", ["guarded"]),
        )
        texts = {f"m{number}": _MODULE.format(number, 2 * number) for number in range(modules)}
        for name, text in {**texts, "differs": DIFFERS, "refused": REFUSED}.items():
            (folder / f"{name}.mlir").write_text(text)
        (folder / "matrix.toml").write_text(matrix)
        (folder / "suite.toml").write_text(suite("s"))
        self.names = sorted(f"{name}_vmvx{end}" for name in (*texts, "differs", "refused") for end in ("", "_guarded"))

    def environment(self, mark: str) -> dict[str, str]:
        """Return the variables of a process that is known by a mark."""
        return {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            MARK: mark,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
            "GUARDED_BY": str(self.folder / "guard"),
            "RETARGET_CACHE_DIR": str(self.cache),
            "RETARGET_LEASE_DIR": str(self.folder / "leases"),
        }

    def start(self, results: Path, *options: str) -> tuple[subprocess.Popen[str], str]:
        """Start a session, and return it with its mark."""
        mark = uuid.uuid4().hex
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--retarget-extension", "guarded"]
        log = results.with_suffix(".log").open("w")
        process = subprocess.Popen(
            [*command, "--retarget-results", str(results), *options, str(self.folder)],
            cwd=self.folder,
            env=self.environment(mark),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            text=True,
        )
        log.close()
        return process, mark


def outcomes_of(project: Project, results: Path, *, whole: bool) -> tuple[Outcomes, list[str]]:
    """Return the outcome of each target in the results of one session, and what is wrong with them.

    Of a `whole` session each target that was collected is there; none is there twice in any.
    """
    faults = []
    records: list[TargetRecord] = []
    try:
        for session in Sessions.read([results], if_any=True):
            records += session.records
            if whole and not session.is_complete:
                faults.append("the results of a session that ended are incomplete")
    except RetargetError as error:
        if "killed at once" not in str(error):
            faults.append(f"results cannot be read: {error}")
    counted = Counter(record.target for record in records if record.attempt == 1)
    faults += [f"{name} is counted {count} times" for name, count in counted.items() if count > 1]
    faults += [f"{name} was not collected" for name in counted if name not in project.names]
    if whole:
        faults += [f"{name} is lost" for name in project.names if name not in counted]
    return {record.target: f"{record.outcome.value} {record.message}" for record in records}, faults


def faults_of_store(project: Project) -> list[str]:
    """Return what is torn in the store, read whole."""
    return [f"torn: {removed}" for removed in Store(project.cache).verify().removed]


def processes(mark: str) -> list[int]:
    """Return the processes of a session that are there."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def left_behind(mark: str, seconds: float = 20.0) -> list[str]:
    """Return the processes of a session that has ended which are there after so many seconds."""
    end = time.monotonic() + seconds
    while (found := processes(mark)) and time.monotonic() < end:
        time.sleep(0.05)
    lines = []
    for process in found:
        with suppress(OSError):
            command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            lines.append(f"left behind: {process} {command}")
    return lines


def undisturbed(project: Project, results: Path, *options: str) -> tuple[Outcomes, list[str], float]:
    """Run a session that nobody kills: its outcomes, what is wrong, and how long it took in seconds."""
    start = time.monotonic()
    process, mark = project.start(results, *options)
    status = process.wait(LONGEST)
    seconds = time.monotonic() - start
    found, faults = outcomes_of(project, results, whole=True)
    if status != 1:  # two targets fail
        faults.append(f"exit status {status}, expected 1:\n{results.with_suffix('.log').read_text()[-3000:]}")
    return found, [*faults, *left_behind(mark)], seconds


class SessionKills:
    """Sessions that share a cache and a device, killed one after another by several threads."""

    def __init__(self, project: Project, kills: int, seed: int, deadline: float) -> None:
        self.project = project
        self._chance = random.Random(seed)  # noqa: S311  the same moments again
        self._left = kills
        self._deadline = deadline
        self._lock = threading.Lock()
        self.faults: list[str] = []
        self.moments: Counter[str] = Counter()
        self.reference, faults, self.seconds = undisturbed(project, project.folder / "reference")
        self._add("reference", faults)

    def run(self, *, streams: int = 2) -> None:
        threads = [threading.Thread(target=self._stream, args=(number,)) for number in range(streams)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._go_on("last")

    def _stream(self, stream: int) -> None:
        number = 0
        while True:
            with self._lock:
                if self._left <= 0 or time.monotonic() > self._deadline:
                    return
                self._left -= 1
                moment = self._chance.uniform(0.1, 1.1) * self.seconds
                lines = self._chance.randrange(len(self.project.names) + 3) if self._left % 4 else 0
                for path in (self.project.cache / "v1/entries").rglob("*"):
                    if path.is_file() and self._chance.random() < 0.4:  # to be compiled again
                        path.unlink(missing_ok=True)
            number += 1
            self._kill(self.project.folder / f"killed-{stream}-{number}", moment, lines)
            if number % 10 == 0:
                self._go_on(f"next-{stream}-{number}")

    def _kill(self, results: Path, moment: float, lines: int) -> None:
        """Kill a session when its results have so many lines, and a moment later; with 0 after so many seconds."""
        process, mark = self.project.start(results)
        hangs = time.monotonic() + LONGEST
        while lines and process.poll() is None and lines_in(results) < lines and time.monotonic() < hangs:
            time.sleep(0.01)
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment / 50 if lines else moment)
        process.kill()
        ended = process.wait() != -signal.SIGKILL
        found, faults = outcomes_of(self.project, results, whole=ended)
        faults += [f"{name}: {said}" for name, said in found.items() if said != self.reference[name]]
        if ended:
            where = "after its end"
            with self._lock:
                self._left += 1
        elif not found:
            where = "before the first target"
        else:
            where = "in the first half" if len(found) < len(self.project.names) / 2 else "in the second half"
        faults += [*left_behind(mark), *faults_of_store(self.project)]
        with self._lock:
            self.moments[where] += 1
            self._add(results.name, faults)
            if sum(self.moments.values()) % 10 == 0:
                print(dict(self.moments), flush=True)

    def _add(self, name: str, faults: Sequence[str]) -> None:
        self.faults += (lines := [f"{name}: {fault}" for fault in faults])
        for line in lines:
            print(line[:500], flush=True)

    def _go_on(self, name: str) -> None:
        found, faults, seconds = undisturbed(self.project, self.project.folder / name)
        if found != self.reference:
            faults.append(f"other outcomes than undisturbed: {set(found.items()) ^ set(self.reference.items())}")
        with self._lock:
            self.seconds = seconds
            self._add(name, faults)


def lines_in(results: Path) -> int:
    """Return how many lines the results of a session have."""
    return sum(file.read_bytes().count(b"\n") for file in results.glob("*.jsonl"))


class WorkerKills:
    """Workers of one session after another, killed at random moments until there were so many of each sort."""

    def __init__(self, project: Project, kills: int, seed: int, deadline: float, *, only: str = "") -> None:
        self.project = project
        self._only = only
        self._kills = kills
        self._deadline = deadline
        self._chance = random.Random(seed)  # noqa: S311
        self.killed: Counter[str] = Counter()
        self.hit: Counter[str] = Counter()
        self.reference, self.faults, self.seconds = undisturbed(project, project.folder / "reference")
        print(*self.faults, sep="\n", end="\n" if self.faults else "", flush=True)

    def run(self) -> None:
        number = 0
        sorts = [self._only] if self._only else ["compile worker", "device worker"]
        while min(self.killed[sort] for sort in sorts) < self._kills and number < self._kills:
            if time.monotonic() > self._deadline:
                print("no time left for more", flush=True)
                break
            number += 1
            self._session(self.project.folder / f"session-{number}")
        found, faults, _ = undisturbed(self.project, self.project.folder / "last")
        if found != self.reference:
            faults.append(f"the next session's outcomes are others: {set(found.items()) ^ set(self.reference.items())}")
        self.faults += faults

    def _session(self, results: Path) -> None:
        for path in (self.project.cache / "v1/entries").rglob("*") if not self._only else ():
            if path.is_file():
                path.unlink()
        process, mark = self.project.start(results)
        killed, hangs = 0, time.monotonic() + LONGEST
        while process.poll() is None:
            if time.monotonic() > hangs:
                self.faults.append(f"{results.name}: the session hangs")
                process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._chance.expovariate(1 / 0.6))
                continue
            killed += self._kill_one(mark, process.pid)
        found, faults = outcomes_of(self.project, results, whole=True)
        log = results.with_suffix(".log").read_text()
        if process.returncode != 1:
            faults.append(f"exit status {process.returncode}, expected 1: {log[-3000:]}")
        if "Traceback" in log or "INTERNALERROR" in log:
            faults.append(f"a traceback: {log[-3000:]}")
        different = {name: said for name, said in found.items() if said != self.reference[name]}
        for name, said in different.items():
            self.hit[said.partition(" (")[0][:60]] += 1
            if "SIGKILL" not in said and "blocked" not in said and "gone at" not in said:
                faults.append(f"{name} has no reason that speaks of the kill: {said}")
        faults += [*left_behind(mark), *faults_of_store(self.project)]
        self.faults += [f"{results.name}: {fault}" for fault in faults]
        print(dict(self.killed), *faults, flush=True)

    def _kill_one(self, mark: str, session: int) -> bool:
        """Kill a worker of the sort that fewer were killed of."""
        found: dict[str, list[int]] = {}
        for process in processes(mark):
            if process != session and (sort := _sort_of(process)) and self._only in ("", sort):
                found.setdefault(sort, []).append(process)
        if not found:
            return False
        sort = min(found, key=lambda one: self.killed[one])
        with suppress(ProcessLookupError):
            os.kill(self._chance.choice(found[sort]), signal.SIGKILL)
            self.killed[sort] += 1
        return True


def _sort_of(process: int) -> str:
    """Return what a worker has loaded it for."""
    with suppress(OSError):
        if b"retarget.worker.child" not in Path(f"/proc/{process}/cmdline").read_bytes():
            return ""
        maps = Path(f"/proc/{process}/maps").read_text()
        if "libIREECompiler" in maps:
            return "compile worker"
        return "device worker" if "_iree/runtime" in maps or "iree/_runtime" in maps else "starting worker"
    return ""


def parsed(doc: str | None, sorts: Sequence[str], arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what a proof is started with: `what` of the `sorts` is killed, how often, and for how long at most."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("what", choices=sorts)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modules", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=86400.0, help="after so long, no further session is started")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    given = parsed(__doc__, ("sessions", "workers", "devices"), arguments)
    start = time.monotonic()
    deadline = start + given.seconds
    with tempfile.TemporaryDirectory(prefix="retarget-kills-") as name:
        sessions = given.what == "sessions"
        project = Project(Path(name).resolve(), given.modules or (6 if sessions else 200))
        proof: SessionKills | WorkerKills
        if sessions:
            proof = SessionKills(project, given.kills, given.seed, deadline)
            print(f"an undisturbed session takes {proof.seconds:.1f} s", flush=True)
            proof.run()
            print(f"sessions killed: {proof.moments.total()}; {dict(proof.moments)}")
        else:
            only = "device worker" if given.what == "devices" else ""
            proof = WorkerKills(project, given.kills, given.seed, deadline, only=only)
            print(f"an undisturbed session takes {proof.seconds:.1f} s", flush=True)
            proof.run()
            print(f"workers killed: {dict(proof.killed)}")
            print(f"targets that a kill hit: {dict(proof.hit)}")
        if project.two.exists():
            proof.faults.append(f"two runs used the device at a time: {project.two.read_text()}")
    print("\n".join(proof.faults))
    print(f"{len(proof.faults)} faults, {time.monotonic() - start:.0f} s")
    return bool(proof.faults)


if __name__ == "__main__":
    sys.exit(main())
