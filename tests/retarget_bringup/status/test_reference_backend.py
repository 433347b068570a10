"""What the reference backend does with the module of a blocker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace
from retarget.model import Rung
from retarget.results import Outcome, TargetRecord
from retarget_bringup.status.assemble import blockers, with_references
from status_states import failed, matches, node_id, not_compiled

REFERENCE = node_id("a_cpu_sync")


def of_reference(record: TargetRecord | None, name: str = "a_cpu_sync") -> TargetRecord:
    assert record is not None
    compiler, _, runtime = name.partition("_")[2].partition("_")
    return replace(record, nodeid=node_id(name), target=name, compiler=compiler, runtime=runtime)


def said(results: Sequence[TargetRecord], *, ran: Sequence[TargetRecord] = (), declared: bool = True) -> str:
    """What is said of the reference of one blocker; `ran` is what running targets gives."""
    state = failed("a", Rung.LOADS, "run", "no such op")
    asked = []

    def run(targets: Sequence[str]) -> Mapping[str, TargetRecord]:
        asked.extend(targets)
        return {one.nodeid: one for one in ran}

    assert state.record is not None
    (blocker,) = with_references(
        blockers([state], Path()),
        "cpu/sync",
        results={one.nodeid: one for one in (state.record, *results)},
        declared={REFERENCE} if declared else set(),
        run=run,
    )
    assert asked == ([REFERENCE] if declared and not results else [])
    return str(blocker.reference)


def test_it_is_looked_up_in_the_results() -> None:
    assert said([of_reference(matches("a").record)]) == "cpu/sync passes"
    fails = of_reference(failed("a", Rung.COMPLETES, "compare", "values differ").record)
    assert said([fails]) == "cpu/sync fails at compare: values differ"


def test_what_the_results_do_not_have_is_run() -> None:
    assert said([], ran=[of_reference(matches("a").record)]) == "cpu/sync passes"
    assert said([]) == "cpu/sync was not run: it is not in these results"


def test_a_module_that_the_reference_does_not_compile_fails_at_compile() -> None:
    state = not_compiled("a", "no such op")
    blocked, compiled = of_reference(state.record), of_reference(state.compiled, "a_cpu")
    assert said([blocked, compiled]) == "cpu/sync fails at compile: no such op"


def test_a_reference_that_could_not_run_says_why() -> None:
    skipped = TargetRecord(nodeid=REFERENCE, target="a_cpu_sync", outcome=Outcome.SKIPPED, reason="no such device")
    assert said([skipped]) == "cpu/sync was not run: no such device"


def test_a_module_without_a_target_there_says_so() -> None:
    assert said([], declared=False) == "cpu/sync has no target of this module"
