"""A compile that the store does not have: one step, or the compiler's front end and what comes after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from retarget.engine.cache.inputs import Inputs
from retarget.engine.cache.key import compile_key
from retarget.engine.cache.store import Store
from retarget.engine.compile.pool import compile_failure
from retarget.extension import CompileRequest, Resolved
from retarget.extension.registry import Registry
from retarget.model import CompileTarget
from retarget.model.outcomes import CompileOutcome
from retarget.support.locks import HeldLock
from retarget.support.text import join_output
from retarget.worker.artifact import read_artifact
from retarget.worker.messages import CompiledModule, CompileModule, Refusal, Refused

__all__ = ["CompileSteps", "key_of", "with_fact"]

_FRONT_END_SUFFIX = ".front"
"""The suffix of what a compiler's front end gives, in the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """A step that is to be done, and the key that it is stored under. Its `lock` is held; the caller has that of the
    last step, which gives the artifact."""

    key: str
    resolved: Resolved
    inputs: Inputs
    lock: HeldLock | None = None


class CompileSteps:
    """Compiles in workers, and stores what comes of it. Safe from several threads."""

    def __init__(
        self,
        *,
        store: Store,
        registry: Registry,
        work: Callable[[CompileTarget, CompileModule, Inputs, float], CompiledModule | Refused],
        inputs_of: Callable[[CompileTarget, Resolved], Inputs],
        note: Callable[[str], None],
        default_timeout: float,
    ) -> None:
        """`work` has a target compiled, which reads these inputs besides the module, within so many seconds.
        `inputs_of` reads what a compile reads in addition to the module, `note` takes what is to be reported.
        `default_timeout` in seconds is for a target that declares none."""
        self._store = store
        self._registry = registry
        self._work = work
        self._inputs_of = inputs_of
        self._note = note
        self._default_timeout = default_timeout

    def compile(
        self,
        target: CompileTarget,
        key: str,
        source: bytes,
        resolved: Resolved,
        inputs: Inputs,
        *,
        anew: bool = False,
        at_once: bool = False,
    ) -> CompileOutcome | None:
        """Compile in one step; in more, where the compiler's front end has a key of its own. Compile keys with the same
        front end share what it gives; it may itself be of two steps. None if the front end's lock is held elsewhere.

        `inputs` are those that the key covers. A failure of the front end is stored under the front end's key alone;
        `anew` tries what is stored as a failure again. `at_once` has a worker do all steps that are to be done at a
        time: where other targets wait for the front end, they would wait for all of it. Raises `RetargetError`.
        """
        steps = [_Step(key=key, resolved=resolved, inputs=inputs)]
        outcome: CompileOutcome | None = None
        with ExitStack() as locks:
            while outcome is None and (front_end := steps[-1].resolved.front_end) is not None:
                read = self._inputs_of(target, front_end)
                front_key = key_of(target, source, front_end, read)
                if (outcome := self._stored(front_key, anew=anew)) is not None:
                    break
                lock = self._store.try_lock(front_key, step=len(steps))
                if lock is None:
                    return None
                locks.callback(lock.release)
                if (outcome := self._stored(front_key, anew=anew)) is None:
                    steps.append(_Step(key=front_key, resolved=front_end, inputs=read, lock=lock))
            while steps and (outcome is None or outcome.artifact is not None):
                outcome = self._do(target, source, steps, outcome, at_once=at_once)
        return None if outcome is None else replace(outcome, key=key)

    def _stored(self, key: str, *, anew: bool) -> CompileOutcome | None:
        stored = self._store.lookup(key)
        return None if stored is not None and stored.failure is not None and anew else stored

    def _do(
        self, target: CompileTarget, source: bytes, steps: list[_Step], front: CompileOutcome | None, *, at_once: bool
    ) -> CompileOutcome:
        """Have a worker do the last of the steps, or all of them from the last to the first, and store what comes of
        it. Takes what is done from `steps`, and returns its outcome. `front` is the outcome of the step before."""
        first = steps[-1]
        todo = steps[::-1] if at_once else [first]
        message: CompileModule | None = None
        for step in reversed(todo):
            message = self._message(target, source if step is first else b"", step, then=message)
        assert message is not None  # noqa: S101  (for the type checker)
        if front is not None and front.artifact is not None:
            made = read_artifact(Path(front.artifact.path), front.artifact.digest)
            message = replace(message, request=replace(message.request, front_end=made))
        inputs = tuple(dict.fromkeys(one for step in todo for one in step.inputs))
        timeout = self._default_timeout if target.timeout is None else target.timeout
        start = time.monotonic()
        answer = self._work(target, message, inputs, timeout)
        while True:
            step = steps.pop()
            front = self._keep(target, step, answer if front is None else _after(front, answer), start)
            if step.lock is not None:
                step.lock.release()
            if not isinstance(answer, CompiledModule) or answer.then is None:
                return front
            answer = replace(answer.then, host=answer.host)

    def _message(
        self, target: CompileTarget, source: bytes, step: _Step, *, then: CompileModule | None
    ) -> CompileModule:
        path, resolved = target.module.path, step.resolved
        return CompileModule(
            compiler=resolved.compiler or target.compiler.compiler,
            rewriting=target.kind if target.returns_checks else "",
            front_end=step.lock is not None,
            request=CompileRequest(source=source, source_name=path.name, source_path=path, resolved=resolved),
            then=then,
        )

    def _keep(
        self, target: CompileTarget, step: _Step, answer: CompiledModule | Refused, start: float
    ) -> CompileOutcome:
        """Store what a worker answered to a step, if that is to be, and return the outcome."""
        key, resolved, inputs = step.key, step.resolved, step.inputs
        if isinstance(answer, Refused) and answer.cause:
            failure, seconds = compile_failure(answer), time.monotonic() - start
            return CompileOutcome(
                key=key, seconds=seconds, reused=False, failure=failure, diagnostics=failure.text, host=answer.host
            )
        changed = dict(set(self._inputs_of(target, resolved)) ^ set(inputs))
        if changed:  # it is unknown which content this outcome is of
            self._note(
                f"{', '.join(sorted(changed))} changed while {target.name} was compiled: its outcome is not reused"
            )
        if isinstance(answer, CompiledModule):
            compiler = self._registry.compiler(resolved.compiler or target.compiler.compiler)
            outcome = self._store.put_artifact(
                key,
                answer.artifact,
                suffix=compiler.artifact_suffix if step.lock is None else _FRONT_END_SUFFIX,
                seconds=answer.seconds,
                diagnostics=answer.diagnostics,
                entry=not changed,
            )
            return replace(outcome, host=answer.host)
        failure = compile_failure(answer)
        if answer.refusal is Refusal.COMPILER and not changed:
            outcome = self._store.put_failure(key, failure, seconds=answer.seconds, diagnostics=answer.text)
            return replace(outcome, host=answer.host)
        return CompileOutcome(
            key=key, seconds=answer.seconds, reused=False, failure=failure, diagnostics=answer.text, host=answer.host
        )


def key_of(target: CompileTarget, source: bytes, resolved: Resolved, inputs: Inputs) -> str:
    """Return the compile key of a target, or of its front end where `resolved` is that of it."""
    return compile_key(
        compiler=resolved.compiler or target.compiler.compiler,
        source=source,
        source_name=target.module.path.name,
        resolved=resolved,
        inputs=inputs,
        env=target.compiler.env,
    )


def with_fact(resolved: Resolved, fact: tuple[str, str]) -> Resolved:
    """Return what is resolved with a further fact, which is one of all steps: it is the first that reads the source."""
    front_end = None if resolved.front_end is None else with_fact(resolved.front_end, fact)
    return replace(resolved, facts=(*resolved.facts, fact), front_end=front_end)


def _after(front: CompileOutcome, answer: CompiledModule | Refused) -> CompiledModule | Refused:
    """Return the answer of a step with what the one before printed, and the time that it took, if it was done now."""
    seconds = answer.seconds + (0.0 if front.reused else front.seconds)
    if isinstance(answer, CompiledModule):
        return replace(answer, seconds=seconds, diagnostics=_joined(front.diagnostics, answer.diagnostics))
    return replace(answer, seconds=seconds, text=_joined(front.diagnostics, answer.text))


def _joined(before: str, after: str) -> str:
    """Join what two steps printed; the second may have done all again."""
    return after if after.startswith(before) else join_output(before, after)
