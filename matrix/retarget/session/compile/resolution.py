"""What configs are on this machine: compiler configs resolved, once per session, or not at all where an earlier answer
is valid; and which build a config uses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from retarget.extension import Resolved, UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, RuntimeConfig
from retarget.model.outcomes import Failure
from retarget.session.cache.key import digest_of, host_identity
from retarget.session.cache.store import Store
from retarget.support.errors import RetargetError
from retarget.worker.messages import DescribeBuild, Named, ResolvedFlags
from retarget.worker.process import WorkerProcess
from retarget.worker.started import Spawner

_FORMAT = 9


class NotBuiltError(RetargetError):
    """A target failed before it had a compile key. `failure` says why: flags refused, a module unreadable."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.summary)
        self.failure = failure


class _Answer(Struct):
    """The answer for one (config, flags). The thread that asks holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    found: Resolved | UnavailableError | RetargetError | None = None


class Resolver:
    """Resolves (config, flags). Safe from several threads; each distinct pair is resolved once."""

    def __init__(
        self,
        *,
        store: Store,
        fingerprint: Callable[[CompilerConfig], str],
        ask: Callable[[CompilerConfig, tuple[str, ...]], ResolvedFlags],
    ) -> None:
        """`fingerprint` names what is installed for a config; `ask` has a compile worker resolve. Both raise what
        `resolve` does."""
        self._store = store
        self._fingerprint = fingerprint
        self._ask = ask
        self._answers: dict[tuple[CompilerConfig, tuple[str, ...]], _Answer] = {}
        self._lock = threading.Lock()

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Return resolved `flags`.

        Raises `UnavailableError`, and `RetargetError`: `NotBuiltError`, or for a compiler that no extension has.
        """
        with self._lock:
            answer = self._answers.setdefault((config, flags), _Answer())
        with answer.lock:
            if answer.found is None:
                try:
                    answer.found = self._find(config, flags)
                except (UnavailableError, RetargetError) as error:
                    answer.found = error
        if isinstance(answer.found, Resolved):
            return answer.found
        raise answer.found.with_traceback(None)  # raised again and again: its traceback must not grow

    def _find(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        fingerprint = self._fingerprint(config)
        if not fingerprint:
            return self._ask(config, flags).resolved
        key = self._key(config, flags, fingerprint)
        stored = self._store.read_resolution(key)
        resolved = None if stored is None else _decode(stored)
        if resolved is None:
            answer = self._ask(config, flags)
            resolved = answer.resolved
            if answer.fingerprint != fingerprint:
                return resolved  # this process would import another compiler than the workers do
            try:
                self._store.write_resolution(key, _encode(resolved))
            except RetargetError:
                return resolved  # the next required write reports it; a warm session on a read-only cache has none
        return resolved

    def _key(self, config: CompilerConfig, flags: tuple[str, ...], fingerprint: str) -> str:
        """Cover everything that `Compiler.fingerprint` leaves to its caller."""
        parts = [
            _FORMAT,
            config.compiler,
            fingerprint,
            config.name,
            "" if config.toolchain is None else str(config.toolchain.path),
            list(config.flags),
            sorted(config.env),
            list(config.tags),
            list(config.devices),
            list(config.target_from),
            list(flags),
            host_identity(),
            str(Path.cwd()),
        ]
        return digest_of(json.dumps(parts).encode())


def _encode(resolved: Resolved) -> dict[str, Any]:
    parts = {"front_end": resolved.front_end, "front_half": resolved.front_half}
    encoded = {name: None if part is None else _encode(part) for name, part in parts.items()}
    return asdict(resolved) | encoded | {"files": [str(path) for path in resolved.files]}


def _decode(body: dict[str, Any]) -> Resolved | None:
    try:
        lists: dict[str, Any] = {name: tuple(body[name]) for name in ("flags", "not_inputs")}
        pairs: dict[str, Any] = {name: tuple(map(_pair, body[name])) for name in ("facts", "suffix_facts")}
        files = tuple(map(Path, body["files"]))
        names = {name: body[name] for name in ("build_id", "build", "compiler", "code")}
        parts: dict[str, Any] = {name: body[name] and _decode(body[name]) for name in ("front_end", "front_half")}
        return Resolved(files=files, **names, **parts, **lists, **pairs)
    except (KeyError, TypeError, ValueError):
        return None


def _pair(values: list[str]) -> tuple[str, str]:
    one, other = values
    return one, other


_DESCRIBE_SECONDS = 60.0


def describe_build(registry: Registry, extensions: Sequence[str], config: CompilerConfig | RuntimeConfig) -> str:
    """Return the build that a config uses, determined in the config's environment; or why there is none.

    Empty where its compiler or driver does not report it.
    """
    compiler, driver = (config.compiler, "") if isinstance(config, CompilerConfig) else ("", config.driver)
    try:
        env = registry.worker_environment(config)
        if not config.env:
            return registry.describe_build(compiler=compiler, driver=driver, toolchain=config.toolchain)
        with (
            closing(Spawner()) as spawner,
            closing(WorkerProcess(spawner=spawner, extensions=extensions, env=env)) as worker,
        ):
            message = DescribeBuild(compiler=compiler, driver=driver, toolchain=config.toolchain)
            answer = worker.ask(message, Named, timeout=_DESCRIBE_SECONDS)
        return answer.text if isinstance(answer, Named) else answer.summary
    except (RetargetError, UnavailableError) as error:
        return str(error)
