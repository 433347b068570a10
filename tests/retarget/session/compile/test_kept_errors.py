"""An error that is kept and raised for every target that it concerns does not gather a traceback."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from retarget.extension import UnavailableError
from retarget.extension.registry import Registry
from retarget.model import CompilerConfig, Origin
from retarget.session.cache.store import Store
from retarget.session.compile.resolution import Resolver
from retarget.session.compile.service import BuildService

CONFIG = CompilerConfig(name="c", compiler="absent", origin=Origin(file=Path("matrix.toml"), key_path=""))


def fingerprint(config: CompilerConfig) -> str:
    msg = f"{config.compiler} is not installed"
    raise UnavailableError(msg)


def frames(call: Callable[[], object]) -> int:
    with pytest.raises(UnavailableError, match="absent is not installed") as caught:
        call()
    return len(traceback.extract_tb(caught.value.__traceback__))


def builds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    service = BuildService(store=Store(folder), registry=Registry(), extensions=(), default_timeout=1.0)
    monkeypatch.setattr(service, "_ask_fingerprint", fingerprint)
    return lambda: service.check(CONFIG)


def resolver(folder: Path, _: pytest.MonkeyPatch) -> Callable[[], object]:
    found = Resolver(store=Store(folder), fingerprint=fingerprint, ask=lambda *_: pytest.fail("asked"))
    return lambda: found.resolve(CONFIG, ())


@pytest.mark.parametrize("made", [builds, resolver])
def test_a_kept_error_is_raised_with_the_traceback_of_the_last_time_alone(
    made: Callable[[Path, pytest.MonkeyPatch], Callable[[], object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = made(tmp_path, monkeypatch)
    frames(call)
    second = frames(call)
    assert [frames(call) for _ in range(3)] == [second] * 3
