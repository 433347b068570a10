"""A plan of two legs, and files of results as its legs write them; nothing is compiled or run for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec.structs import replace
from retarget.results import Leg, Outcome, Plan, ResultsWriter, TargetRecord, digest_of_ids, new_session
from retarget.results.record import CompileRecord

__all__ = ["BUILD", "PLAN", "RUN", "TARGETS", "compile_id", "id_of", "records_of", "write_leg"]

MODULES = ("add", "dot", "sum")


def id_of(target: str) -> str:
    """The id of a target of the one suite."""
    return f"suites/suite.toml::linalg::{target}"


def compile_id(module: str) -> str:
    """The id of a module's compile target."""
    return id_of(f"{module}_llvm-cpu")


TARGETS = tuple(sorted(id_of(f"{module}_llvm-cpu{runtime}") for module in MODULES for runtime in ("", "_local-sync")))


def _leg(name: str, kind: str, ids: Iterable[str], needs: tuple[str, ...] = ()) -> Leg:
    found = tuple(sorted(ids))
    return Leg(
        name=name,
        kind="build" if kind == "build" else "run",
        runner="linux",
        labels=("ubuntu-24.04",),
        ids=found,
        digest=digest_of_ids(found),
        needs=needs,
    )


BUILD = _leg("build", "build", map(compile_id, MODULES))
RUN = _leg("run-linux-1", "run", (one for one in TARGETS if one.endswith("_local-sync")), ("build",))
PLAN = Plan(event="pr", paths=("suites",), legs=(BUILD, RUN))


def records_of(leg: Leg) -> list[TargetRecord]:
    """A passed result of each target of a leg."""
    found = []
    for nodeid in leg.ids:
        target = nodeid.rpartition("::")[2]
        module, compiler, *runtime = target.split("_")
        found.append(
            TargetRecord(
                nodeid=nodeid,
                target=target,
                suite="linalg",
                module=module,
                compiler=compiler,
                runtime="".join(runtime),
                outcome=Outcome.PASSED,
                compile=CompileRecord(key=f"key of {module}"),
            )
        )
    return found


Change = Callable[[TargetRecord], TargetRecord]


def write_leg(
    folder: Path,
    leg: Leg,
    *,
    plan: str = PLAN.digest,
    records: Iterable[TargetRecord] | None = None,
    status: int | None = 0,
    revision: str = "c0ffee",
    digest: str | None = None,
) -> Path:
    """Write the results of a leg as its session does; without a `status` it was killed. Return the file."""
    start = new_session(
        leg=leg.name,
        plan=plan,
        selected=len(leg.ids),
        digest=leg.digest if digest is None else digest,
        revision=revision,
    )
    with ResultsWriter(folder, start) as writer:
        for record in records_of(leg) if records is None else records:
            of_session = {"session": start.session, "leg": leg.name, "plan": plan}
            given = {name: value for name, value in of_session.items() if not getattr(record, name)}
            writer.write(replace(record, **given))
        if status is not None:
            writer.end(status)
    return writer.path
