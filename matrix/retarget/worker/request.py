"""The request to a case loader about the module of a run, and the meaning of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from retarget.extension import ArtifactRequest, Case, CaseLoader, CaseRequest, CheckedCase, Tolerance
from retarget.model import CompileTarget
from retarget.model.outcomes import CaseOutcome, Failure, Mismatch, Rung, RunOutcome, Stage, first_failure


def case_request(target: CompileTarget) -> CaseRequest:
    """Return the request before anything is loaded: the functions are not known yet."""
    module = target.module
    return CaseRequest(
        module=module.name,
        source=module.path,
        data=module.data,
        entry=module.entry,
        folder=target.folder,
        compiler=target.compiler.name,
    )


def check_artifact(checker: CaseLoader, target: CompileTarget, artifact: bytes) -> tuple[CheckedCase, ...]:
    """Return what the checks of a target's artifact found."""
    request = ArtifactRequest(
        module=target.module.name,
        source=target.module.path,
        artifact=artifact,
        compiler=target.compiler.name,
        tags=target.tags,
        known_compilers=target.known_compilers,
    )
    return tuple(checker.check(request))


def agreed_config(case: Case, compiler: str) -> str:
    """Return the other compiler config whose results a case expects; empty where they are its own config's."""
    return "" if case.agree_with == compiler else case.agree_with


def tolerances_of(case: Case) -> Mapping[str, Tolerance]:
    """Return the tolerances of a case by element type, `""` for all others."""
    return case.tolerances or {"": Tolerance(atol=case.atol, rtol=case.rtol)}


def case_outcome(
    case: Case,
    compiler: str,
    seconds: float,
    failure: Failure | None,
    mismatches: Iterable[Mismatch] = (),
    *,
    rung: Rung,
) -> CaseOutcome:
    """Return the outcome of a case of a compiler config's artifact. `rung` is how far it came if it failed."""
    return CaseOutcome(
        name=case.name,
        function=case.function,
        seconds=seconds,
        failure=failure,
        mismatches=tuple(mismatches),
        agree_with=agreed_config(case, compiler),
        rung=Rung.MATCHES if failure is None else rung,
    )


def not_finished(compiler: str, case: str) -> str:
    """Return the message that a compiler config ran, but has no results of a case to agree with."""
    why = f"its own run of case {case!r} did not come to its end"
    return f"there are no results of compiler config {compiler!r} to agree with: {why}"


def checked_outcome(checked: Iterable[CheckedCase]) -> RunOutcome:
    """Return the outcome of an artifact that is checked and not run."""
    cases = tuple(
        CaseOutcome(
            name=case.name,
            seconds=0.0,
            failure=Failure(stage=Stage.COMPARE, summary=case.summary, text=case.report) if case.summary else None,
            rung=Rung.COMPILES if case.summary else Rung.MATCHES,
        )
        for case in checked
    )
    failure = first_failure(cases) if cases else Failure(stage=Stage.COMPARE, summary="there was nothing to check")
    return RunOutcome(devices=(), cases=cases, names=tuple(case.name for case in cases), failure=failure)
