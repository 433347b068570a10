"""What is kept of a run that others are to agree with; the engine is a double."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target, run_target
from retarget.extension import UnavailableError
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, RunOutcome, Stage
from retarget.session import references
from retarget.session.references import Recording, ReferenceRuns
from retarget.support.errors import RetargetError

FAILURE = Failure(stage=Stage.RUN, summary="no")
TARGET = run_target(compile_target("m"))


def recorded(
    monkeypatch: pytest.MonkeyPatch, *, compiles: bool = True, failure: Failure | None = None, whole: bool = True
) -> Recording:
    artifact = Artifact(digest="", size=0, path="") if compiles else None
    made = CompileOutcome(key="", seconds=0.0, reused=False, artifact=artifact, failure=None if compiles else FAILURE)
    engine: Any = SimpleNamespace(
        devices_of=lambda _: (), compile=lambda _: made, run=lambda *_, **__: RunOutcome(devices=(), failure=failure)
    )
    runs = ReferenceRuns(engine)
    monkeypatch.setattr(runs, "_scratch", SimpleNamespace(subfolder=lambda: Path("kept")), raising=False)
    monkeypatch.setattr(references, "is_recorded", lambda _: whole)
    return runs._recorded(TARGET)


def test_a_run_that_gave_all_its_results_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recorded(monkeypatch) == Recording(found=Path("kept"))


def test_of_one_that_failed_the_target_and_the_reason_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    why, known = f"{TARGET.name}: no", {"failed": TARGET, "ran": TARGET, "failure": FAILURE}
    assert recorded(monkeypatch, failure=FAILURE, whole=False) == Recording(found=why, **known)
    assert recorded(monkeypatch, failure=FAILURE) == Recording(found=Path("kept"), **known)
    assert recorded(monkeypatch, whole=False) == Recording(found=f"{TARGET.name}: gave nothing")


def test_of_one_that_did_not_compile_the_compile_target_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    why = f"{TARGET.compile.name}: no"
    known = {"failed": TARGET.compile, "ran": TARGET, "failure": FAILURE}
    assert recorded(monkeypatch, compiles=False) == Recording(found=why, **known)


# ---------------------------------------------------------------- which runs are recorded


def runs_with(
    monkeypatch: pytest.MonkeyPatch,
    outcomes: dict[str, Any],
    *,
    mismatched: str = "",
    by_command: str = "",
    agreed: tuple[str, ...] = ("other",),
) -> ReferenceRuns:
    """Reference runs of which each target's is an outcome or an error, by the name of its runtime config."""

    def record(_: object, target: Any) -> Recording:
        found = outcomes[target.runtime.name]
        if isinstance(found, Exception):
            raise found
        asked.append(target.name)
        return Recording(**found)

    asked: list[str] = []
    loader = SimpleNamespace(agreed=lambda target: agreed if target.compiler.name == "c" else ())
    registry = SimpleNamespace(
        case_loaders={"check": loader}, gives_no_outputs=lambda runtime: runtime.name == by_command
    )
    engine: Any = SimpleNamespace(
        registry=registry,
        generated=lambda target: target,
        host_mismatch=lambda runtime: "needs ios" if runtime.name == mismatched else None,
    )
    monkeypatch.setattr(ReferenceRuns, "_recorded", record)
    runs = ReferenceRuns(engine)
    runs.asked = asked  # type: ignore[attr-defined]
    return runs


OTHER = compile_target("m", "other")
OTHERS = [run_target(OTHER, name) for name in ("x", "y")]
WHOLE = {"found": Path("kept")}


def test_the_first_run_of_the_other_config_that_gives_results_is_kept_and_made_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = runs_with(monkeypatch, {"x": UnavailableError("no x"), "y": WHOLE})
    others = [OTHER, run_target(compile_target("n", "other"), "n"), run_target(compile_target("m", "third")), *OTHERS]
    for _ in range(2):
        assert runs.of(TARGET, others) == (("other", Path("kept")),)
    assert runs.asked == ["m_other_y"]  # type: ignore[attr-defined]
    assert runs.recorded("other", TARGET) == [Recording(**WHOLE)]  # type: ignore[arg-type]
    assert runs.recorded("third", TARGET) == [Recording()]


@pytest.mark.parametrize(
    ("outcomes", "known", "why", "unavailable"),
    [
        ({"x": UnavailableError("no x"), "y": UnavailableError("no y")}, {}, "m_other_x: no x; m_other_y: no y", True),
        (
            {"x": UnavailableError("no x"), "y": RetargetError("damaged")},
            {},
            "m_other_x: no x; m_other_y: damaged",
            False,
        ),
        ({"x": {"found": "it failed"}, "y": WHOLE}, {}, "it failed", False),
        (
            {"x": WHOLE, "y": {"found": "it failed"}},
            {"by_command": "x"},
            "m_other_x: runs behind run_under, which gives no results back; it failed",
            False,
        ),
        (
            {"x": UnavailableError("needs ios"), "y": UnavailableError("no y")},
            {"by_command": "x", "mismatched": "x"},
            "m_other_x: needs ios; m_other_y: no y",
            True,
        ),
    ],
)
def test_why_there_are_no_results_is_kept(
    monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Any], known: dict[str, str], why: str, unavailable: bool
) -> None:
    runs = runs_with(monkeypatch, outcomes, **known)
    assert runs.of(TARGET, OTHERS) == (("other", why),)
    assert [one.unavailable for one in runs.recorded("other", TARGET)] == [unavailable]


@pytest.mark.parametrize(("others", "known"), [([TARGET], "c"), ([], "none"), ([compile_target("m", "other")], "none")])
def test_a_config_that_runs_the_module_nowhere_is_named(
    monkeypatch: pytest.MonkeyPatch, others: list[Any], known: str
) -> None:
    runs = runs_with(monkeypatch, {})
    why = f"it runs m nowhere in suite 'linalg'; expected one of {known}"
    assert runs.of(TARGET, others) == (("other", why),)


def test_a_majority_is_of_all_other_targets_of_the_module_that_no_rule_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = {"x": WHOLE, "y": UnavailableError("no y"), "z": {"found": "it failed"}}
    runs = runs_with(monkeypatch, outcomes, agreed=("majority",))
    others = [OTHER, TARGET, *OTHERS, run_target(OTHER, "z"), run_target(compile_target("n", "other"), "x")]
    found = (("other/x", Path("kept")), ("other/y", "m_other_y: no y"), ("other/z", "it failed"))
    assert runs.of(TARGET, others) == found
    assert runs.of(TARGET, others, lambda one: one.runtime.name != "y") == found[1:2]
    assert [one.found for one in runs.recorded("majority", TARGET)] == [Path("kept"), "it failed"]
    assert runs.of(TARGET, others, lambda _: True) == (("majority", "a rule skips every other target"),)
    assert [one.unavailable for one in runs.recorded("majority", TARGET)] == [True]
    with pytest.raises(RetargetError, match=r"^the cases of m are to agree with most targets, and no other runs it$"):
        runs.of(TARGET, [TARGET])


def test_a_kind_that_is_not_known_needs_no_references(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = runs_with(monkeypatch, {})
    assert runs.needed(TARGET) == ("other",)
    assert runs.needed(run_target(compile_target("m", kind="none"))) == ()
    assert runs.of(run_target(OTHER), []) == ()


def test_what_was_recorded_is_removed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = runs_with(monkeypatch, {})
    runs.close()
    folder = runs._scratch.subfolder()
    assert folder.is_dir()
    runs.close()
    assert not folder.exists()


def test_a_run_whose_devices_are_not_here_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def devices_of(_: object) -> None:
        msg = "no GPU"
        raise UnavailableError(msg)

    engine: Any = SimpleNamespace(devices_of=devices_of, compile=pytest.fail)
    with pytest.raises(UnavailableError, match=r"^no GPU$"):
        ReferenceRuns(engine)._recorded(TARGET)
