"""Runs that other runs are compared with: a case may have to agree with what another compiler config computes, or with
what most targets of its module do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.extension import UnavailableError
from retarget.model import RunTarget, Target
from retarget.model.names import MAJORITY
from retarget.model.outcomes import CaseOutcome, Failure
from retarget.session.engine import Engine
from retarget.support.errors import RetargetError
from retarget.support.scratch import ScratchFolder
from retarget.worker.artifact import is_recorded
from retarget.worker.messages import References


class Recording(Struct, frozen=True, kw_only=True):
    """A run of a module as another config compiles it, for cases that are to agree with it.

    `found` is the folder with its results, or why there are none. `failed` is the target whose failure left
    cases without results, `ran` the run target that it was tried for, `failure` how it failed; None where it could not
    be tried. `cases` are those that the run came to. `unavailable` is true where all that is missing is something that
    this machine lacks.
    """

    found: Path | str = ""
    failed: Target | None = None
    ran: RunTarget | None = None
    failure: Failure | None = None
    cases: tuple[CaseOutcome, ...] = ()
    unavailable: bool = False


class ReferenceRuns:
    """Runs, once per session, what cases are to agree with. To be closed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._recordings: dict[tuple[str, str, str], Recording] = {}

    def of(
        self, target: RunTarget, others: Sequence[Target], is_skipped: Callable[[RunTarget], bool] = lambda _: False
    ) -> References:
        """Return what a target's cases are compared with.

        It is looked for among `others`, in the run targets of the same module. One that `is_skipped` is no part of a
        majority. Raises `RetargetError` for invalid data, and where a majority has no other target.
        """
        wanted: dict[str, Sequence[RunTarget]] = {}
        for name in self.needed(target):
            same = [one for one in others if isinstance(one, RunTarget)]
            same = [one for one in same if one.compile.module == target.compile.module]
            if name != MAJORITY:
                wanted[name] = same
                continue
            same = [one for one in same if _side(one) != _side(target)]
            if not same:
                msg = f"the cases of {target.compile.module.name} are to agree with most targets, and no other runs it"
                raise RetargetError(msg)
            votes = {_side(one): [one] for one in same if not is_skipped(one)}
            wanted.update(votes or {MAJORITY: []})
        references: list[tuple[str, Path | str]] = []
        for name, candidates in wanted.items():
            key = _key(name, target)
            if key not in self._recordings:
                self._recordings[key] = self._record(name, target, candidates)
            references.append((name, self._recordings[key].found))
        return tuple(references)

    def needed(self, target: RunTarget) -> Sequence[str]:
        """Return what a target's cases are to agree with: compiler configs, and `MAJORITY`. Raises `RetargetError`."""
        loader = self._engine.registry.case_loaders.get(target.compile.kind)
        if loader is None:
            return ()
        return loader.agreed(self._engine.generated(target.compile))

    def recorded(self, name: str, target: RunTarget) -> Sequence[Recording]:
        """Return what is known of a config's run of a target's module, an empty one where there was no need for it; for
        `MAJORITY` of those of all other targets that can run here, if any can."""
        key = _key(name, target)
        if name != MAJORITY or key in self._recordings:
            return [self._recordings.get(key, Recording())]
        others = [
            one
            for (side, *module), one in self._recordings.items()
            if "/" in side and side != _side(target) and tuple(module) == key[1:]
        ]
        return [one for one in others if not one.unavailable] or others

    def close(self) -> None:
        """Remove what was recorded."""
        if (scratch := vars(self).pop("_scratch", None)) is not None:
            scratch.close()

    def _record(self, compiler: str, target: RunTarget, others: Sequence[RunTarget]) -> Recording:
        """Run a module as another config compiles it, on the first of its runtime configs that is here; or one target
        (`compiler/runtime`)."""
        module = target.compile.module.name
        if compiler == MAJORITY:
            return Recording(found="a rule skips every other target", unavailable=True)
        candidates = [other for other in others if "/" in compiler or other.compile.compiler.name == compiler]
        if not candidates:
            known = ", ".join(dict.fromkeys(other.compile.compiler.name for other in others)) or "none"
            return Recording(
                found=f"it runs {module} nowhere in suite {target.compile.suite!r}; expected one of {known}"
            )
        reasons = []
        missing = 0
        last = Recording()
        for other in candidates:
            is_here = self._engine.host_mismatch(other.runtime) is None
            if is_here and self._engine.registry.gives_no_outputs(other.runtime):
                reasons.append(f"{other.name}: runs behind run_under, which gives no results back")
                continue
            try:
                last = self._recorded(other)
            except UnavailableError as error:
                missing += 1
                reasons.append(f"{other.name}: {error}")
                continue
            except RetargetError as error:
                last = Recording(failed=other, ran=other)
                reasons.append(f"{other.name}: {error}")
                continue
            if isinstance(last.found, Path):
                return last
            reasons.append(last.found)
            break
        return replace(last, found="; ".join(reasons), unavailable=missing == len(candidates))

    def _recorded(self, target: RunTarget) -> Recording:
        """Compile and run a target. Raises `UnavailableError` and `RetargetError`."""
        self._engine.devices_of(target)
        compiled = self._engine.compile(target.compile)
        if compiled.artifact is None:
            why = (
                f"{target.compile.name}: {compiled.failure.summary if compiled.failure is not None else 'no artifact'}"
            )
            return Recording(found=why, failed=target.compile, ran=target, failure=compiled.failure)
        folder = self._scratch.subfolder()
        run = self._engine.run(target, compiled.artifact, record=folder)
        failed = target if run.failure is not None else None
        why = f"{target.name}: {run.failure.summary if run.failure is not None else 'gave nothing'}"
        return Recording(
            found=folder if is_recorded(folder) else why,
            failed=failed,
            ran=failed,
            failure=run.failure,
            cases=run.cases,
        )

    @cached_property
    def _scratch(self) -> ScratchFolder:
        return ScratchFolder("outputs")


def _side(target: RunTarget) -> str:
    """A target's name among those of its module."""
    return f"{target.compile.compiler.name}/{target.runtime.name}"


def _key(compiler: str, target: RunTarget) -> tuple[str, str, str]:
    return compiler, target.compile.suite, target.compile.module.name
