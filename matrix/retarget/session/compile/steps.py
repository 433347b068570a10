"""A compile that the store does not have: in one step or after a front end, and what other compiles can begin with."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.extension import CompileRequest, Resolved
from retarget.extension.registry import Registry
from retarget.model import CompileTarget
from retarget.model.outcomes import Artifact, CompileOutcome
from retarget.session.cache.key import Inputs, compile_key
from retarget.session.cache.store import Store
from retarget.session.compile.pool import compile_failure
from retarget.support.text import join_output
from retarget.worker.artifact import read_artifact
from retarget.worker.messages import CompiledModule, CompileModule, Refusal, Refused

_FRONT_SUFFIX = ".front"
"""The suffix of what a compiler's front end or front half gives, in the store."""


class _Step(Struct, frozen=True, kw_only=True):
    """A step, and the key that its outcome is stored under."""

    key: str
    resolved: Resolved
    inputs: Inputs
    is_front_end: bool = False


class CompileSteps:
    """Compiles in workers, and stores the outcomes. Safe from several threads."""

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
        `inputs_of` reads the inputs of a compile beside the module, `note` takes messages to report. `default_timeout`
        in seconds is for a target that declares none."""
        self._store = store
        self._registry = registry
        self._work = work
        self._inputs_of = inputs_of
        self._note = note
        self._default_timeout = default_timeout
        self._not_kept: set[str] = set()  # keys of front halves whose first compile failed or printed something

    def compile(
        self,
        target: CompileTarget,
        key: str,
        source: bytes,
        resolved: Resolved,
        inputs: Inputs,
        *,
        anew: bool = False,
        is_shared: Callable[[Resolved], bool],
    ) -> CompileOutcome | None:
        """Compile, after the front end where that has its own key; a worker does both in one request. None if a
        lock that is needed is held elsewhere.

        Where `is_shared` says that other targets have a front half to begin with, too, the first compile keeps it for
        them, unless it fails later or prints something: they would have to be compiled again from the source, of which
        diagnostics show lines. `inputs` are those that the key covers. A failure of the front end is stored under the
        front end's key alone, one of a front half for all that share it; `anew` tries what is stored as a failure
        again. Raises `RetargetError`.
        """
        path = target.module.path
        request = CompileRequest(source=source, source_name=path.name, source_path=path, resolved=resolved)
        steps = [_Step(key=key, resolved=resolved, inputs=inputs)]
        front: CompileOutcome | None = None
        half: _Step | None = None
        with ExitStack() as locks:
            if resolved.front_end is not None:
                step = self._step(target, source, resolved.front_end)
                if (front := self._stored(step.key, anew=anew)) is None:
                    if not self._hold(locks, step.key, 1):
                        return None
                    front = self._stored(step.key, anew=anew)
                if front is None:
                    steps.insert(0, replace(step, is_front_end=True))
                elif front.artifact is None:
                    return dataclasses.replace(front, key=key)
                else:
                    request = replace(request, front_end=_content(front.artifact))
            if front is None and steps[0].resolved.front_half is not None:
                half = self._step(target, source, steps[0].resolved.front_half)
                kept = self._stored(half.key, anew=anew)
                if kept is None and half.key not in self._not_kept and is_shared(half.resolved):
                    if not self._hold(locks, half.key, 2):
                        return None
                    kept = self._stored(half.key, anew=anew)
                    request = replace(request, keeps_front_half=kept is None and half.key not in self._not_kept)
                if kept is not None and kept.artifact is None:
                    return dataclasses.replace(kept, key=key)
                if kept is not None and kept.artifact is not None:
                    request = replace(request, front_half=_content(kept.artifact))
            return dataclasses.replace(self._do(target, steps, request, front, half), key=key)

    def _step(self, target: CompileTarget, source: bytes, resolved: Resolved) -> _Step:
        inputs = self._inputs_of(target, resolved)
        return _Step(key=key_of(target, source, resolved, inputs), resolved=resolved, inputs=inputs)

    def _stored(self, key: str, *, anew: bool) -> CompileOutcome | None:
        stored = self._store.lookup(key)
        return None if stored is not None and stored.failure is not None and anew else stored

    def _hold(self, locks: ExitStack, key: str, step: int) -> bool:
        lock = self._store.try_lock(key, step=step)
        if lock is not None:
            locks.callback(lock.release)
        return lock is not None

    def _do(
        self,
        target: CompileTarget,
        steps: list[_Step],
        request: CompileRequest,
        front: CompileOutcome | None,
        half: _Step | None,
    ) -> CompileOutcome:
        """Run the steps, of which `request` is the first, in a worker, and store their outcomes. Return the last
        outcome. `front` is that of the front end, where the store has it."""
        message: CompileModule | None = None
        later = replace(request, source=b"", front_half=None, keeps_front_half=False)  # of the second of two
        for step in reversed(steps):
            message = CompileModule(
                compiler=target.compiler.compiler,
                rewriting=target.kind if target.returns_checks else "",
                front_end=step.is_front_end,
                request=replace(request if step is steps[0] else later, resolved=step.resolved),
                then=message,
            )
        assert message is not None  # noqa: S101  (for the type checker)
        inputs = tuple(dict.fromkeys(one for step in steps for one in step.inputs))
        timeout = self._default_timeout if target.timeout is None else target.timeout
        start = time.monotonic()
        answer = self._work(target, message, inputs, timeout)
        if half is not None and request.keeps_front_half:
            self._keep_half(target, half, answer)
        for step in steps:
            front = self._keep(target, step, answer if front is None else _after(front, answer), start)
            if not isinstance(answer, CompiledModule) or answer.then is None:
                break
            answer = replace(answer.then, host=answer.host)
        assert front is not None  # noqa: S101  (for the type checker)
        return front

    def _keep_half(self, target: CompileTarget, half: _Step, answer: CompiledModule | Refused) -> None:
        """Store the front half that a compile has kept, if other compiles may begin with it, or how it failed."""
        is_sure = self._inputs_of(target, half.resolved) == half.inputs
        if is_sure and isinstance(answer, CompiledModule) and answer.front_half and not answer.diagnostics:
            self._store.put_artifact(half.key, answer.front_half, suffix=_FRONT_SUFFIX, seconds=0.0, diagnostics="")
        elif is_sure and isinstance(answer, Refused) and answer.in_front_half and answer.refusal is Refusal.COMPILER:
            failure, seconds = compile_failure(answer), answer.seconds
            self._store.put_failure(half.key, failure, seconds=seconds, diagnostics=answer.text)
        else:
            self._not_kept.add(half.key)

    def _keep(
        self, target: CompileTarget, step: _Step, answer: CompiledModule | Refused, start: float
    ) -> CompileOutcome:
        """Store a worker's answer to a step, if it may be stored, and return the outcome."""
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
            compiler = self._registry.compiler(target.compiler.compiler)
            outcome = self._store.put_artifact(
                key,
                answer.artifact,
                suffix=_FRONT_SUFFIX if step.is_front_end else compiler.artifact_suffix,
                seconds=answer.seconds,
                diagnostics=answer.diagnostics,
                entry=not changed,
            )
            return dataclasses.replace(outcome, host=answer.host)
        failure = compile_failure(answer)
        if answer.refusal is Refusal.COMPILER and not changed:
            outcome = self._store.put_failure(key, failure, seconds=answer.seconds, diagnostics=answer.text)
            return dataclasses.replace(outcome, host=answer.host)
        return CompileOutcome(
            key=key, seconds=answer.seconds, reused=False, failure=failure, diagnostics=answer.text, host=answer.host
        )


def key_of(target: CompileTarget, source: bytes, resolved: Resolved, inputs: Inputs) -> str:
    """Return the compile key of a target, or of its front end or front half where `resolved` is that of it."""
    return compile_key(
        compiler=resolved.compiler or target.compiler.compiler,
        source=source,
        source_name=target.module.path.name,
        resolved=resolved,
        inputs=inputs,
        env=target.compiler.env,
    )


def _content(artifact: Artifact) -> bytes:
    return read_artifact(Path(artifact.path), artifact.digest)


def _after(front: CompileOutcome, answer: CompiledModule | Refused) -> CompiledModule | Refused:
    """Return the answer of a step with what the one before printed, and the time that it took, if it was done now."""
    seconds = answer.seconds + (0.0 if front.reused else front.seconds)
    if isinstance(answer, CompiledModule):
        return replace(answer, seconds=seconds, diagnostics=join_output(front.diagnostics, answer.diagnostics))
    return replace(answer, seconds=seconds, text=join_output(front.diagnostics, answer.text))
