"""What the outcomes of a module's run targets say about the failure of one of them. Pure.

Two run targets share an artifact if their module and compiler config are the same. Nothing is concluded from what did
not run; a failure that was expected counts as a failure, and a pass that was not as a pass. Where a module has several
cases each is looked at by itself: what fails in another case, too, may fail there for another reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from retarget.model.signatures import CRASH, TIMEOUT

__all__ = ["CaseSeen", "Seen", "conclusion", "listing", "reference", "unrun"]

PASSED = frozenset({"passed", "flaky", "xpassed"})
FAILED = frozenset({"failed", "xfailed"})
LOAD = "load"
COMPARE = "compare"
"""The stages at which data is read, and values differ."""

_SHOWN = 12
"""How many targets are listed; the others are counted."""
_SUMMARY = 100
"""Characters shown of why another target failed."""
_CASES = 4
"""How many cases are named; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSeen:
    """One case of a target that failed. `stage` and `signature` tell how; both are empty if it passed.

    `reference` is the other compiler config whose results were expected, empty where that is none. `lacking` names it
    where it gave none: such a failure says nothing of the target. `expected` tells that the case fails as a rule says,
    where others of its target do not.
    """

    name: str
    stage: str = ""
    signature: str = ""
    reference: str = ""
    lacking: str = ""
    expected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One run target of a module, and what became of it.

    `outcome` is `passed`, `flaky`, `xpassed` (passed, though expected to fail), `failed`, `xfailed`, `intermittent`
    (the result is chance, so nothing follows from it), `error`, `skipped`, `blocked`, or empty: it has not run.
    `stage` and `signature` tell how it failed, as expectations do, `summary` is the first line of its report. `reason`
    is why it was skipped. `cases` are those that it came to, of a target that failed; there are none if it failed
    before. What runs `outside`, in a process of a tool, keeps its outputs to itself.
    """

    name: str
    compiler: str
    runtime: str
    driver: str = ""
    outcome: str = ""
    stage: str = ""
    signature: str = ""
    summary: str = ""
    reason: str = ""
    cases: tuple[CaseSeen, ...] = ()
    outside: bool = False

    @property
    def passes(self) -> bool:
        return self.outcome in PASSED

    @property
    def fails(self) -> bool:
        """Whether the target itself failed. A failure without a stage is another's."""
        return self.outcome in FAILED and bool(self.stage)

    @property
    def tells(self) -> bool:
        """Whether another run would give outputs to look at."""
        return not self.outside and self.stage not in {CRASH, TIMEOUT}

    def at(self, case: str) -> Seen:
        """What is known of one case: that it passed or failed as the target did, or by itself, or was not come to."""
        if not (self.fails or self.outcome == "xpassed") or not self.cases:
            return self
        found = next((one for one in self.cases if one.name == case), None)
        if found is None or found.lacking:
            return replace(self, outcome="", stage="", signature="")
        if not found.stage:
            return replace(self, outcome="passed", stage="", signature="")
        outcome = "failed" if self.outcome == "xpassed" else self.outcome
        return replace(self, outcome=outcome, stage=found.stage, signature=found.signature)

    def is_like(self, other: Seen) -> bool:
        """Whether both fail at one stage in one way. Values that differ may differ by other values."""
        return (self.stage, self.signature) == (other.stage, other.signature)

    def failures(self) -> dict[str, tuple[str, str]]:
        """How each case failed, by name; under an empty name how the target did, if that was in no case."""
        cases = {case.name: (case.stage, case.signature) for case in self.cases if case.stage and not case.expected}
        return cases or {"": (self.stage, self.signature)}


def conclusion(failing: Seen, others: Sequence[Seen]) -> str:
    """Return one sentence or two on whose fault the failure looks like; a line each for cases that differ in it."""
    names = set(failing.failures())
    apart = bool(failing.cases) and any(other.cases and set(other.failures()) != names for other in others)
    told: dict[str, list[str]] = {}
    references = {case.name: case.reference for case in failing.cases}
    lacking = {case.name: case.lacking for case in failing.cases}
    what = "this case" if apart else "this module"
    for case in failing.failures():
        mine, seen = failing.at(case), [other.at(case) for other in others]
        if silent := lacking.get(case, ""):
            text = _silent(failing, silent)
        elif reference := references.get(case, ""):
            text = _against(mine, seen, reference, what)
        else:
            text = _concluded(mine, seen, what)
        told.setdefault(text, []).append(case)
    if len(told) == 1 and not apart:
        return next(iter(told))
    return "\n".join(f"{_cases(cases)}: {text}" for text, cases in told.items())


def _silent(failing: Seen, reference: str) -> str:
    return (
        f"This says nothing of compiler config {failing.compiler}: compiler config {reference}, whose results are "
        "expected, gave none."
    )


def _against(failing: Seen, others: Sequence[Seen], reference: str, what: str) -> str:
    """A case that expects what another config gives: that one's own targets pass whatever it gives."""
    rest = [other for other in others if other.compiler != reference]
    third = [other for other in rest if other.compiler != failing.compiler and (other.passes or other.fails)]
    if failing.stage != COMPARE:
        return _concluded(failing, others, what)
    if any(other.passes for other in rest):
        return _concluded(failing, rest, what)
    if not third:
        return (
            f"This points to compiler config {failing.compiler} or to {reference}, whose results are expected: no "
            f"third compiler config has run {what}."
        )
    if any(other.is_like(failing) for other in third):
        return (
            f"This points to compiler config {reference}, whose results are expected: nothing else that ran {what} "
            "agrees with them."
        )
    return _concluded(failing, rest, what)


def _concluded(failing: Seen, others: Sequence[Seen], what: str) -> str:
    same = _Group.of(failing, [other for other in others if other.compiler == failing.compiler])
    cross = _Group.of(failing, [other for other in others if other.compiler != failing.compiler])
    runtime = f"runtime config {failing.runtime}" + (f" (driver {failing.driver})" if failing.driver else "")
    compiler = f"compiler config {failing.compiler}"
    if same.passing:
        return _points_to_runtime(failing, runtime, same, cross)
    if elsewhere := _passing_elsewhere(failing, same, cross):
        return (
            f"This points to {runtime}: everything that ran on it fails alike, and what {_compilers(elsewhere)} made "
            f"of this module passes on {_list(other.runtime for other in elsewhere)}."
        )
    if same.ran:
        return _points_to_compiler(failing, compiler, same, cross, what)
    return _without_the_artifact(failing, compiler, runtime, cross, what)


def _points_to_runtime(failing: Seen, runtime: str, same: _Group, cross: _Group) -> str:
    """The same artifact passes elsewhere."""
    where = _list(other.runtime for other in same.passing)
    if same.failing:
        fails = _list([failing.runtime, *(other.runtime for other in same.failing)])
        return f"This points to the runtime configs {fails}: the same artifact passes on {where}."
    text = f"This points to {runtime}: the same artifact passes on {where}."
    there = [other for other in cross.passing if other.runtime == failing.runtime]
    if there:
        text += f" But what {_compilers(there)} made of this module passes on {failing.runtime} too."
    return text


def _passing_elsewhere(failing: Seen, same: _Group, cross: _Group) -> list[Seen]:
    """Where all on a runtime config fails alike, what passes of these artifacts elsewhere; where not, nothing."""
    there = [other for other in (*cross.passing, *cross.failing) if other.runtime == failing.runtime]
    if not all(other.fails and other.is_like(failing) for other in there):
        return []
    if len(same.unlike) < len(same.failing):
        return []  # the artifact fails alike on others, too
    compilers = {other.compiler for other in there}
    return [other for other in cross.passing if other.compiler in compilers]


def _points_to_compiler(failing: Seen, compiler: str, same: _Group, cross: _Group, what: str) -> str:
    """The same artifact passes nowhere, and ran elsewhere."""
    alike = not same.unlike
    fails = f"its artifact fails {'alike on' if alike else 'on'} every runtime config it ran on"
    fails += "" if alike else ", though not alike"
    if not cross.ran:
        is_data = failing.stage == LOAD and alike
        module = "the data of its cases" if is_data else "the module and what it expects"
        return f"This points to {compiler} or to {module}: {fails}, and no other compiler config has run {what}."
    if not cross.failing:
        return f"This points to {compiler}: {fails}, and what {_compilers(cross.passing)} made of this module passes."
    if cross.passing:
        return (
            f"This points to {compiler} and what it has in common with {_compilers(cross.failing, cross.passing)}: "
            f"{fails}, and what {_compilers(cross.passing, cross.failing)} made of this module passes."
        )
    if alike and not cross.unlike:
        return (
            "This points to the module, or to what it expects: every compiler config fails alike on every runtime "
            "config it ran on."
        )
    return "Nothing is pointed to: nothing that ran this module passes, and it does not all fail alike."


def _without_the_artifact(failing: Seen, compiler: str, runtime: str, cross: _Group, what: str) -> str:
    """The artifact ran nowhere else."""
    if not cross.ran:
        return f"Nothing is pointed to: nothing else has run {what}."
    there = [other for other in cross.passing if other.runtime == failing.runtime]
    if not cross.failing and there:
        return f"This points to {compiler}: what {_compilers(there)} made of this module passes on {failing.runtime}."
    if not cross.failing:
        return (
            f"This points to {compiler} or to {runtime}, which nothing else has run {what} on: what "
            f"{_compilers(cross.passing)} made of it passes on {_list(other.runtime for other in cross.passing)}."
        )
    if cross.passing:
        failed, passed = _ways(cross.failing, cross.passing), _ways(cross.passing, cross.failing)
        return (
            f"This points to what {compiler} on {failing.runtime} has in common with {failed}, which failed as well; "
            f"{passed} passed."
        )
    if not cross.unlike:
        return "This points to the module, or to what it expects: every compiler config that ran it fails alike."
    return "Nothing is pointed to: nothing that ran this module passes, and it does not all fail alike."


def reference(failing: Seen, others: Sequence[Seen]) -> Seen | None:
    """Return the target whose outputs tell most about values that differ; None where there is none.

    One that passes; else one that passes in a case that fails here, and gave its outputs. First of all, of the same
    artifact.
    """
    differing = [case for case, (stage, _) in failing.failures().items() if stage == COMPARE]
    passing = [other for other in others if other.tells and any(other.at(case).passes for case in differing)]
    if not failing.tells:
        return None
    return min(
        passing,
        key=lambda other: (not other.passes, other.compiler != failing.compiler, other.runtime != failing.runtime),
        default=None,
    )


def unrun(others: Iterable[Seen]) -> list[str]:
    """Return the names of those that were not asked to run."""
    return [other.name for other in others if not other.outcome]


def listing(failing: Seen, others: Sequence[Seen]) -> Iterator[str]:
    """Yield a line for each of the others, those of the same artifact first."""
    ordered = sorted(others, key=lambda other: other.compiler != failing.compiler)
    shown, rest = ordered[:_SHOWN], ordered[_SHOWN:]
    if len(rest) == 1:
        shown, rest = ordered, []
    width = max((len(other.name) for other in shown), default=0)
    for other in shown:
        yield f"  {other.name.ljust(width)}  {_told(failing, other)}"
    if rest:
        counts = Counter(other.outcome or "not run" for other in rest)
        yield f"  … {len(rest)} more: {', '.join(f'{count} {word}' for word, count in counts.items())}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Those of a number of targets that ran to a verdict."""

    passing: tuple[Seen, ...]
    failing: tuple[Seen, ...]
    unlike: tuple[Seen, ...]

    @classmethod
    def of(cls, failing: Seen, others: Sequence[Seen]) -> _Group:
        failed = tuple(other for other in others if other.fails)
        return cls(
            passing=tuple(other for other in others if other.passes),
            failing=failed,
            unlike=tuple(other for other in failed if not other.is_like(failing)),
        )

    @property
    def ran(self) -> bool:
        return bool(self.passing or self.failing)


def _told(failing: Seen, other: Seen) -> str:
    if other.outcome in _PLAIN:
        return _PLAIN[other.outcome]
    how = _clipped(other.summary if other.stage else other.reason)
    if other.outcome == "blocked" or (other.outcome == "xfailed" and not other.stage):
        return how or other.outcome
    word = other.outcome
    if word == "failed" and other.failures() == failing.failures():
        word = "failed alike"
        how = "" if other.summary == failing.summary else how
    elif word == "xfailed":
        word = "failed as expected"
    elif word == "intermittent":
        how = how or "passed"
    return f"{word}: {how}" if how else word


_PLAIN = {
    "": "not run",
    "passed": "passed",
    "flaky": "passed at another attempt",
    "xpassed": "passed, though expected to fail",
}


def _clipped(text: str) -> str:
    return text if len(text) <= _SUMMARY else f"{text[: _SUMMARY - 1]}…"


def _compilers(group: Iterable[Seen], rest: Iterable[Seen] = ()) -> str:
    """The compiler configs; of those that are in the rest too, where."""
    mixed = {other.compiler for other in rest}
    where: dict[str, list[str]] = {}
    for other in group:
        where.setdefault(other.compiler, []).append(other.runtime)
    return _list(f"{name} (on {_list(on)})" if name in mixed else name for name, on in where.items())


def _ways(group: Sequence[Seen], rest: Iterable[Seen]) -> str:
    """`a on r` for each; `a` where that is all of several."""
    mixed = {other.compiler for other in rest}
    count = Counter(other.compiler for other in group)
    return _list(
        other.compiler
        if count[other.compiler] > 1 and other.compiler not in mixed
        else f"{other.compiler} on {other.runtime}"
        for other in group
    )


def _cases(names: Sequence[str]) -> str:
    shown = names if len(names) <= _CASES + 1 else [*names[:_CASES], f"{len(names) - _CASES} more"]
    return _list(shown)


def _list(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; each once."""
    once = list(dict.fromkeys(words))
    return once[0] if len(once) == 1 else f"{', '.join(once[:-1])} and {once[-1]}"
