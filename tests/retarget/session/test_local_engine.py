"""What a worker compiles and runs with: builds, toolchains where they lie here, and run services that are lent."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import Resolved, UnavailableError
from retarget.model import CompilerConfig, RuntimeConfig, Toolchain
from retarget.session import local_engine as module
from retarget.session.local_engine import LocalEngine
from retarget.support import RetargetError
from retarget.worker.messages import RunModule


class Service:
    """A run service: what it was asked, and whether it has ended."""

    def __init__(self, **known: Any) -> None:
        self.known = known
        self.asked: list[Any] = []

    def devices(self, config: RuntimeConfig) -> tuple[str, ...]:
        self.asked.append(config)
        return (f"device of {config.name}",)

    def run(self, request: RunModule) -> str:
        self.asked.append(request)
        if (record := request.record) is not None:
            (record / "deep").mkdir(parents=True)
            (record / "deep/b").write_bytes(b"2")
            (record / "a").write_bytes(b"1")
        return "outcome"

    def kill(self) -> None:
        self.asked.append("killed")

    def close(self) -> None:
        self.asked.append("closed")


class Pool:
    """Compile workers, whose resolved build is given, or an error."""

    def __init__(self, resolved: Any = None) -> None:
        self.resolved = resolved
        self.asked: list[Any] = []

    def resolve(self, env: object, config: CompilerConfig, flags: object, *, timeout: float) -> Any:
        self.asked.append((env, config, flags))
        if isinstance(self.resolved, Exception):
            raise self.resolved
        return SimpleNamespace(resolved=self.resolved)

    def compile(self, env: object, message: object, *, timeout: float) -> tuple[object, ...]:
        return env, message, timeout

    def kill(self) -> None:
        self.asked.append("killed")

    def close(self) -> None:
        self.asked.append("closed")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> LocalEngine:
    registry = SimpleNamespace(
        fingerprint=lambda _: "print",
        case_loaders={},
        drivers={},
        worker_environment=lambda config: {"of": config.toolchain and str(config.toolchain.path)},
    )
    monkeypatch.setattr(module, "load_extensions", lambda _: registry)
    monkeypatch.setattr(module, "RunService", Service)
    made = LocalEngine(extensions=["e"], cores=2, toolchains={"own": Path("/here")})
    made._pool = Pool()  # type: ignore[assignment]
    return made


OWN = Toolchain(name="own", path=Path("/there"), origin=ORIGIN)
COMPILER = CompilerConfig(name="c", compiler="iree", flags=("-x",), origin=ORIGIN)


def resolved(build: str = "1", build_id: str = "one", front: str = "", code: str = "") -> Any:
    front_end = Resolved(build_id=front, flags=()) if front else None
    return Resolved(build=build, build_id=build_id, flags=(), front_end=front_end, code=code)


@pytest.mark.parametrize(
    ("found", "ask", "lacks"),
    [
        (RetargetError("never asked"), (COMPILER, "print", ("one",)), ""),
        (resolved(), (COMPILER, "other", ("one",)), ""),
        (resolved(), (COMPILER, "", ("one",)), ""),
        (resolved(front="two"), (COMPILER, "", ("one", "two")), ""),
        (resolved("IREE 3.1"), (COMPILER, "", ("one", "two")), "it has IREE 3.1, another build than the session"),
        (resolved(code="b"), (COMPILER, "", ("one a",)), "it has 1, another build than the session"),
        (resolved(""), (COMPILER, "", ("two",)), "it has one, another build than the session"),
        (RetargetError("no iree"), (replace(COMPILER, env=(("A", "1"),)), "print", ("one",)), "no iree"),
        (UnavailableError("gone"), (COMPILER, "", ("one",)), "gone"),
    ],
)
def test_a_worker_has_a_build_or_says_why_not(engine: LocalEngine, found: Any, ask: Any, lacks: str) -> None:
    engine._pool = Pool(found)  # type: ignore[assignment]
    assert [engine.lacks_build(*ask), engine.lacks_build(*ask)] == [lacks, lacks]
    assert len(engine._pool.asked) == (0 if str(found) == "never asked" else 1)  # type: ignore[attr-defined]


def test_a_worker_has_the_code_of_the_session_or_names_what_is_other(engine: LocalEngine) -> None:
    engine._code = {"a.py": "1", "b.py": "2", "c.py": "3"}
    asked = [
        (("a.py", "1"), ("new.py", "4")),
        (("a.py", "0"), ("b.py", "0")),
        tuple((f"{one}.py", "0") for one in "abc"),
    ]
    assert [engine.lacks_code(code) for code in asked] == [
        "",
        "it has other code than the session (a.py and b.py): start it again with the same",
        "it has other code than the session (a.py and 2 more): start it again with the same",
    ]


def test_toolchains_are_where_they_lie_on_this_machine(engine: LocalEngine) -> None:
    with_own = replace(COMPILER, toolchain=OWN)
    engine._pool = pool = Pool(resolved())  # type: ignore[assignment]
    engine.lacks_build(with_own, "", ())
    ((env, config, flags),) = pool.asked
    assert (env, config.toolchain.path, flags) == ({"of": "/here"}, Path("/here"), ("-x",))
    job: Any = SimpleNamespace(config=with_own, message="m", timeout=3.0)
    assert engine.compile(job) == ({"of": "/here"}, "m", 3.0)  # type: ignore[comparison-overlap]
    elsewhere = replace(OWN, name="other")
    assert engine._here(replace(COMPILER, toolchain=elsewhere)).toolchain is elsewhere
    assert engine._here(COMPILER) is COMPILER


def runtime(name: str, **known: Any) -> RuntimeConfig:
    return RuntimeConfig(name=name, driver="local-sync", origin=ORIGIN, **known)


def test_a_service_that_has_the_devices_open_is_lent_and_two_at_a_time_are_two(engine: LocalEngine) -> None:
    one, two = runtime("one"), runtime("two")
    assert engine.devices(one) == ("device of one",)
    with engine._lent(two) as first, engine._lent(one) as second:
        assert first is not second
    with engine._lent(one) as again:
        assert again is second
    with engine._lent(two) as again:
        assert again is first
    third = runtime("three")
    with engine._lent(third) as again:
        assert len(engine._services) == 2
        with engine._lent(third):
            assert len(engine._services) == 2
    assert len(engine._idle) == 2


@pytest.mark.parametrize("record", [None, Path("wanted")])
def test_a_run_returns_what_it_recorded(engine: LocalEngine, record: Path | None) -> None:
    target = run_target(compile_target(), toolchain=OWN)
    message = RunModule(
        target=target, artifact=Path("a"), digest="d", record=record, references=(("o", Path("p")),), only=("x",)
    )
    job: Any = SimpleNamespace(message=message, timeout=9.0)
    outcome, recorded = engine.run(job)
    assert outcome == "outcome"  # type: ignore[comparison-overlap]
    assert recorded == ((("a", b"1"), ("deep/b", b"2")) if record else ())
    service: Any = next(iter(engine._services))
    (asked,) = service.asked
    assert (asked.target.timeout, asked.target.runtime.toolchain.path) == (9.0, Path("/here"))
    assert replace(asked, target=target, record=record) == message


def test_all_processes_end_with_the_engine(engine: LocalEngine) -> None:
    engine.devices(runtime("one"))
    service: Any = next(iter(engine._services))
    service.asked.clear()
    engine.kill()
    engine.close()
    pool: Any = engine._pool
    assert (service.asked, pool.asked) == (["killed", "closed"], ["killed", "closed"])
