"""A compile that the store does not have: one step, or the compiler's front end and what comes after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from retarget.engine.cache.inputs import Inputs
from retarget.engine.cache.key import compile_key
from retarget.engine.cache.store import Store
from retarget.engine.compile.pool import compile_failure
from retarget.extension import CompileRequest, Resolved
from retarget.extension.registry import Registry
from retarget.model import CompileTarget
from retarget.model.outcomes import CompileOutcome
from retarget.support.text import join_output
from retarget.worker.artifact import read_artifact
from retarget.worker.messages import CompiledModule, CompileModule, Refusal, Refused

__all__ = ["CompileSteps", "key_of", "with_fact"]

_FRONT_END_SUFFIX = ".front"
"""The suffix of what a compiler's front end gives, in the store."""


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
        """`work` does one compile of a target, which reads these inputs besides the module, within so many seconds.
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
        depth: int = 0,
    ) -> CompileOutcome | None:
        """Compile in one step; in two, where the compiler's front end has a key of its own. Compile keys with the same
        front end share what it gives; it may itself be of two steps. None if the front end's lock is held elsewhere.

        `inputs` are those that the key covers. A failure of the front end is stored under the front end's key alone;
        `anew` tries what is stored as a failure again. `depth` counts the steps that wait for this one. Raises
        `RetargetError`.
        """
        name, path = target.module.path.name, target.module.path
        request = CompileRequest(source=source, source_name=name, source_path=path, resolved=resolved)
        if resolved.front_end is None:
            return self._step(target, key, request, inputs, is_front=depth > 0)
        front = self._front_end(target, source, resolved.front_end, anew=anew, depth=depth + 1)
        if front is None:
            return None
        if front.artifact is None:
            return replace(front, key=key)
        made = read_artifact(Path(front.artifact.path), front.artifact.digest)
        return self._step(target, key, replace(request, front_end=made), inputs, is_front=depth > 0, front=front)

    def _front_end(
        self, target: CompileTarget, source: bytes, resolved: Resolved, *, anew: bool, depth: int
    ) -> CompileOutcome | None:
        """Return what a front end came to, from the store or done now; None if its lock is held elsewhere."""
        inputs = self._inputs_of(target, resolved)
        key = key_of(target, source, resolved, inputs)
        if (stored := self._stored(key, anew=anew)) is not None:
            return stored
        lock = self._store.try_lock(key, step=depth)
        if lock is None:
            return None
        try:
            stored = self._stored(key, anew=anew)
            return stored or self.compile(target, key, source, resolved, inputs, anew=anew, depth=depth)
        finally:
            lock.release()

    def _stored(self, key: str, *, anew: bool) -> CompileOutcome | None:
        stored = self._store.lookup(key)
        return None if stored is not None and stored.failure is not None and anew else stored

    def _step(
        self,
        target: CompileTarget,
        key: str,
        request: CompileRequest,
        inputs: Inputs,
        *,
        is_front: bool = False,
        front: CompileOutcome | None = None,
    ) -> CompileOutcome:
        """Have a worker do a step, and store what comes of it. `front` is the outcome of the step before."""
        resolved = request.resolved
        compiler = resolved.compiler or target.compiler.compiler
        rewriting = target.kind if target.returns_checks else ""
        message = CompileModule(compiler=compiler, rewriting=rewriting, front_end=is_front, request=request)
        timeout = self._default_timeout if target.timeout is None else target.timeout
        start = time.monotonic()
        answer = self._work(target, message, inputs, timeout)
        if front is not None:
            answer = _after(front, answer)
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
            outcome = self._store.put_artifact(
                key,
                answer.artifact,
                suffix=_FRONT_END_SUFFIX if is_front else self._registry.compiler(compiler).artifact_suffix,
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
