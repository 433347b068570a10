"""Gives mutated artifacts to the runtime and to the drivers, in worker processes: a crash is contained and named.

    python tests/reliability/fuzz_artifacts.py --inputs 1000 --seed 1

Artifacts of IREE (.vmfb for VMVX, on local-sync) and of iree-opencl (.oclx), as the compilers of this environment make
them. Their digests are right, so that what is wrong reaches native code. A run comes to an outcome: it passes, or fails
at a stage; where the worker died or hung, with the signal or the time. Anything else is a fault, and so is a run of the
artifact as it was that fails afterwards.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fuzzed_readers import sealed_opencl
from mutations import mutated
from retarget.extension import UnavailableError
from retarget.model import CompileTarget, RunOutcome, RunTarget
from retarget.session import Engine, RunService, expand_suite, load_extensions
from retarget.session.limits import CoolDowns
from retarget.support import RetargetError
from retarget.worker.messages import RunModule

sys.path.insert(0, str(Path(__file__).parents[1]))
from declaration_texts import VMVX_FLAGS, compiler, declarations, load_all, runtime, suite, target
from mlir_modules import GOOD

_SECONDS = 20.0
"""How long a run may take."""

_MEMORY = 16 * 1024**3
"""Address space of a worker: what an artifact asks for beyond it is refused by the system."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--inputs", type=int, default=1000, help="of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=86400.0, help="of each format: after so long, no further one")
    given = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="retarget-artifacts-") as name:
        folder = Path(name)
        for formed, driver, flags in (("iree", "local-sync", VMVX_FLAGS), ("iree-opencl", "opencl", [])):
            start = time.monotonic()
            try:
                counts = _fuzz(folder / formed, formed, driver, flags, given=given, faults=faults)
            except UnavailableError as error:
                print(f"{formed}: not tried: {error}")
                continue
            seconds = time.monotonic() - start
            print(f"{formed}: {counts.total()} artifacts in {seconds:.0f} s; {dict(counts.most_common())}", flush=True)
    print("\n".join(faults) or "no faults")
    return bool(faults)


def _fuzz(
    folder: Path, formed: str, driver: str, flags: Sequence[str], *, given: argparse.Namespace, faults: list[str]
) -> Counter[str]:
    folder.mkdir()
    (folder / "m.mlir").write_text(GOOD)
    tables = (compiler("c", formed, flags=list(flags)), runtime("r", driver), target("all", "c", ["r"]))
    (folder / "matrix.toml").write_text(declarations("root = true\n", *tables))
    (folder / "suite.toml").write_text(suite("s"))
    registry = load_extensions()
    ((compiled, run),) = (expand_suite(one, registry) for one in load_all([folder], registry))
    assert isinstance(compiled, CompileTarget)
    assert isinstance(run, RunTarget)
    with Engine(registry=registry, cache=folder / "cache", compiles=1) as engine:
        engine.check_available(run)
        outcome = engine.compile(compiled)
    if outcome.artifact is None:
        faults.append(f"{formed}: {outcome.failure}")
        return Counter()
    good = Path(outcome.artifact.path).read_bytes()
    chance = random.Random(f"{given.seed} {formed}")  # noqa: S311
    mutate = sealed_opencl if formed == "iree-opencl" else mutated
    counts: Counter[str] = Counter()
    with RunService(
        extensions=(),
        default_timeout=_SECONDS,
        lease_folder=folder / "leases",
        cool_downs=CoolDowns(first=0.1, longest=0.1),
    ) as service:
        deadline = time.monotonic() + given.seconds
        for number in range(given.inputs):
            if time.monotonic() > deadline:
                print(f"{formed}: no time left for more", flush=True)
                break
            data = mutate(good, [good], chance)
            try:
                counts[_way(_run(service, run, folder, data))] += 1
            except (RetargetError, UnavailableError) as error:
                counts[f"refused: {str(error)[:40]}"] += 1
            except Exception as error:
                faults.append(f"{formed} {number}: {type(error).__name__}: {error}; {data[:60]!r}")
            if number % 100 == 99:
                again = _run(service, run, folder, good)
                if again.failure is not None:
                    faults.append(f"{formed} {number}: the artifact as it was fails: {again.failure}")
    return counts


def _run(service: RunService, target: RunTarget, folder: Path, data: bytes) -> RunOutcome:
    from retarget.session.cache.key import digest_of

    path = folder / "mutated"
    path.write_bytes(data)
    return service.run(RunModule(target=target, artifact=path, digest=digest_of(data)))


def _way(outcome: RunOutcome) -> str:
    """Return how a run ended, in a few words."""
    failure = outcome.failure
    if failure is None:
        return "passed"
    return failure.signal or ("timeout" if failure.timed_out else f"failed at {failure.stage.value}")


if __name__ == "__main__":
    sys.exit(main())
