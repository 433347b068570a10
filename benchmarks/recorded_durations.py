"""Results of `pytest --retarget-results` → data/recorded.json, for cluster_scale.py: quantiles and sizes, no names."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from retarget.declare.load import DeclarationLoader
from retarget.model import CaseOutcome, RunOutcome, RunTarget
from retarget.session import RunJob, expand_suite, load_extensions
from retarget.worker.messages import RunModule
from retarget_cluster.jobs import Answer, Job, encoded

__all__ = ["record"]

SUITES = Path(__file__).parents[1] / "suites"


def record(results: Path, cache: Path | None, file: Path) -> None:
    """Write the quantiles of all results in a folder; sizes are those of the artifacts in `cache`."""
    lines = [json.loads(line) for one in sorted(results.glob("*.jsonl")) for line in one.open()]
    targets = [line for line in lines if line.get("type") == "target"]
    compiles = {one["compile"]["key"]: one["compile"] for one in targets if one.get("compile")}
    runs = [one["run"] for one in targets if one.get("run")]
    digests = {one["artifact"] for one in compiles.values() if one.get("artifact")}
    sizes = [path.stat().st_size for path in (cache or Path()).rglob("*") if path.is_file() and path.stem in digests]
    sources = [path.stat().st_size for path in SUITES.rglob("*.mlir")]
    registry = load_extensions((), folders=[SUITES])
    suite = DeclarationLoader(registry).load_suite_file(SUITES / "linalg" / "suite.toml")[0]
    target = next(one for one in expand_suite(suite, registry) if isinstance(one, RunTarget))
    message = RunModule(target=target, artifact=Path("/var/cache/retarget/v1/artifacts") / ("0" * 64), digest="0" * 64)
    work = RunJob(message=message, files=((str(target.compile.module.path), "0" * 64),), timeout=60.0)
    job = Job(work=work, extensions=(), folder=SUITES, files=work.files)
    outcome = RunOutcome(devices=(), cases=(CaseOutcome(name="case", failure=None, seconds=0.01),))
    known = {
        "compile_seconds": quantiles(float(one.get("seconds", 0)) for one in compiles.values()),
        "run_seconds": quantiles(one["load_seconds"] + one["run_seconds"] + one["compare_seconds"] for one in runs),
        "artifact_bytes": quantiles(sizes),
        "source_bytes": quantiles(sources),
        "run_job_bytes": len(encoded(job)),
        "run_result_bytes": len(encoded(Answer(worker="host", value=outcome))),
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(known) + "\n")
    print(f"{file}: {len(compiles)} compiles, {len(runs)} runs, {len(sizes)} artifacts")


def quantiles(values: Iterable[float]) -> Sequence[float]:
    """Return the middles of 100 equal parts."""
    found = statistics.quantiles(values, n=200, method="inclusive")
    return [round(one, 6) for one in found[::2]]
