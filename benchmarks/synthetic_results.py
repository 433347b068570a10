"""Results of a session that never was, for benchmarks and tests of what reads results: `… DIR --targets 100000`.

Suites of 200 modules, each module with five compiler configs and 0 to 4 runtime configs of each; outcomes, signatures
and texts are drawn with a fixed seed, in shares like those of a backend that is being brought up.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from retarget.model import Observation
from retarget.results import (
    CaseRecord,
    DeviceRecord,
    Outcome,
    Result,
    ResultsWriter,
    TargetRecord,
    digest_of_ids,
    new_session,
)
from retarget.results.record import CompileRecord, RunRecord

__all__ = ["records", "write"]

STARTED = 1_780_000_000.0
OPS = ("add", "matmul", "conv_2d", "reduce", "softmax", "gather", "scatter", "transpose", "pack", "attention")
TYPES = ("f32", "f16", "bf16", "i8", "i32", "f8E4M3FN")
CONFIGS = {
    "llvm-cpu": ("local-sync", "local-task", "linux-arm64-local-sync", "linux-riscv64-local-task"),
    "vmvx": ("local-sync", "local-task"),
    "vulkan-spirv": ("vulkan-lavapipe", "vulkan-nvidia", "android-r29-arm64-vulkan"),
    "cuda-sm90": ("cuda-h200",),
    "rocm-gfx942": ("hip-mi300x", "hip-mi325x"),
}
PER_MODULE = sum(1 + len(runtimes) for runtimes in CONFIGS.values())
MODULES = 200
DRIVERS = ("vulkan", "cuda", "hip", "local-sync", "local-task")
OUTCOMES = (
    (Outcome.PASSED, 80),
    (Outcome.XFAILED, 8),
    (Outcome.FAILED, 6),
    (Outcome.SKIPPED, 3),
    (Outcome.FLAKY, 1),
    (Outcome.INTERMITTENT, 1),
    (Outcome.XPASSED, 1),
)
SIGNATURES = {
    "compile": [f"failed to legalize operation '{op}' that was explicitly marked illegal" for op in OPS],
    "run": ["Check failed: the device was lost", "UNAVAILABLE; driver does not support this operation"],
    "compare": [f"result N of {op}: values differ by more than the tolerance" for op in OPS],
    "crash": ["SIGFPE", "SIGSEGV"],
    "timeout": ["no answer within the time limit"],
}


def records(targets: int, session: str) -> Iterator[TargetRecord]:
    """Yield the records of so many targets, or as many more as fill the last module."""
    drawn = random.Random(11)  # noqa: S311  (no secret depends on it)
    for number in range(-(-targets // PER_MODULE)):
        suite = f"suite-{number // MODULES:03}"
        module = f"{OPS[number % len(OPS)]}_{TYPES[number % len(TYPES)]}_{number % MODULES:03}"
        position = 0
        for compiler, runtimes in CONFIGS.items():
            blocked = ""
            for runtime in ("", *runtimes):
                name = "_".join(filter(None, (module, compiler, runtime)))
                file = f"suites/{suite}/suite.toml"
                driver = next((one for one in DRIVERS if one in runtime), "")
                record = TargetRecord(
                    nodeid=f"{file}::{suite}::{name}",
                    file=file,
                    suite=suite,
                    target=name,
                    module=module,
                    module_file=f"suites/{suite}/{module}.mlir",
                    compiler=compiler,
                    runtime=runtime,
                    driver=driver,
                    position=position + 1000 * number,
                    line=1,
                    tags=(
                        "run" if runtime else "compile",
                        suite,
                        compiler,
                        *filter(None, (runtime, driver)),
                        module[:3],
                    ),
                    marks=tuple(
                        (mark, (("name", value),))
                        for mark, value in (
                            ("suite", suite),
                            ("compiler", compiler),
                            ("runtime", runtime),
                            ("driver", driver),
                        )
                        if value
                    ),
                    session=session,
                    **(_blocked(blocked) if blocked else _happened(drawn, name, runtime, driver)),
                )
                if not runtime and record.outcome is Outcome.FAILED:
                    blocked = record.nodeid
                position += 1
                yield record


def _blocked(by: str) -> dict[str, Any]:
    return {"outcome": Outcome.BLOCKED, "blocked_by": by, "reason": f"{by} failed"}


def _happened(drawn: random.Random, name: str, runtime: str, driver: str) -> dict[str, Any]:
    outcome = drawn.choices([one for one, _ in OUTCOMES], [weight for _, weight in OUTCOMES])[0]
    if not runtime and outcome in {Outcome.FLAKY, Outcome.INTERMITTENT, Outcome.SKIPPED}:
        outcome = Outcome.PASSED
    if outcome is Outcome.SKIPPED:
        return {"outcome": outcome, "unavailable": True, "reason": f"found no device of {runtime}"}
    started = STARTED + drawn.random() * 3600
    known: dict[str, Any] = {
        "outcome": outcome,
        "result": Result.PASSED,
        "stage": "compare" if runtime else "compile",
        "attempt": 2 if outcome is Outcome.FLAKY else 1,
        "compile": CompileRecord(
            key=f"{drawn.getrandbits(256):064x}", seconds=drawn.expovariate(2), build="IREE 3.13.0"
        ),
        "started": started,
        "ended": started + drawn.expovariate(2),
    }
    if runtime:
        seconds = drawn.expovariate(20)
        known["run"] = RunRecord(load_seconds=0.002, run_seconds=seconds, compare_seconds=0.001, started=started)
        known["cases"] = tuple(
            CaseRecord(name=f"case {one}", outcome=Outcome.PASSED, seconds=0.001) for one in range(3)
        )
        device = DeviceRecord(
            driver=driver, uri=f"{driver}://0", name=f"device of {runtime}", physical_id=f"{runtime}-0"
        )
        known["devices"] = (device,)
    if outcome in {Outcome.FAILED, Outcome.XFAILED}:
        stage = drawn.choice([*SIGNATURES]) if runtime else "compile"
        signature = drawn.choice(SIGNATURES[stage])
        known |= {
            "result": Result.FAILED,
            "stage": "run" if stage in {"crash", "timeout"} else stage,
            "observation": Observation(stage=stage, signature=signature),
            "message": signature,
            "text": f"error: {signature}\n" * 12,
            "commands": (f"iree-compile {name}.mlir -o {name}.vmfb", f"iree-run-module --module={name}.vmfb"),
            "reason": "known failure (expectations.toml:12)" if outcome is Outcome.XFAILED else "",
        }
    return known


def write(folder: Path, targets: int) -> Path:
    """Write the file of a session with so many targets."""
    made = list(records(targets, ""))
    ids = [record.nodeid for record in made]
    start = new_session(selected=len(ids), digest=digest_of_ids(ids), host="synthetic", retarget="0", platform="linux")
    with ResultsWriter(folder, start) as writer:
        for record in records(targets, start.session):
            writer.write(record)
        writer.end(1)
    return writer.path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", type=int, default=100_000)
    arguments = parser.parse_args()
    print(write(arguments.folder, arguments.targets))
