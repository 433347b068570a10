"""What `retarget explain` says of a target's parts, rules and requirements. Engine and locations are doubles."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.cli import explain
from retarget.cli.explain import _Explainer, _nothing, _words_of
from retarget.extension import CompilerError, TargetPart, UnavailableError
from retarget.model import (
    CompilerConfig,
    Expectation,
    Golden,
    Host,
    ModuleOverride,
    Origin,
    Requirement,
    Suite,
    Toolchain,
)
from retarget.model.devices import DeviceTraits
from retarget.model.metrics import Metric
from retarget.profiles.requirements import Answer, RequirementStatus
from retarget.support.errors import RetargetError

FILE = Path("/p/ops/suite.toml")
GPU = DeviceTraits(driver="NVIDIA", name="H200")


class Locations:
    """In place of lines: the key path."""

    def location(self, origin: Origin, *steps: object) -> str:
        return ".".join(map(str, (origin.key_path, *steps)))


def origin(path: str) -> Origin:
    return Origin(file=FILE, key_path=path)


def explainer(*, engine: Any = None, registry: Any = None) -> Any:
    made = SimpleNamespace(artifact_checker=lambda _: None, **registry or {})
    return _Explainer(registry=made, at=Locations().location, extensions=(), engine=engine)  # type: ignore[arg-type]


def suite(**known: Any) -> Suite:
    values = {"name": "ops", "folder": FILE.parent, "modules": (), "kind": "check", "targets": (), "origin": ORIGIN}
    return Suite(**values | known)


def rule(**known: Any) -> Expectation:
    values = {"match": ("m",), "stages": ("run",), "reason": "r", "origin": origin("e")}
    return Expectation(**values | known)


@pytest.mark.parametrize(
    ("named", "words", "is_suite", "message"),
    [
        ("s::add_d", {}, True, "found no target 'add_d' in a, b; did you mean 'add_c'?"),
        ("add_d", {}, False, "found no target 'add_d' in a, b"),
        ("s::zzzzzz", {}, True, "found no target 'zzzzzz' in a, b; `retarget list` shows all"),
        ("s::add_c", {}, False, "found no suite 's' in a, b"),
        ("", {"mark": "x"}, True, "found no target selected by -m 'x' in a, b; `retarget list` shows all"),
        (
            "add_c",
            {"mark": "x", "keyword": "y"},
            True,
            "found no target 'add_c' selected by -m 'x' and -k 'y' in a, b; `retarget list` shows all",
        ),
        ("none", {"keyword": "y"}, True, "found no target selected by -k 'y' in a, b; `retarget list` shows all"),
    ],
)
def test_what_is_not_there_is_said_with_what_it_was_looked_for_by(
    named: str, words: dict[str, str], is_suite: bool, message: str
) -> None:
    arguments: Any = SimpleNamespace(**{"mark": "", "keyword": ""} | words)
    assert _nothing(arguments, named, ["a", "b"], ["add_c"], is_suite=is_suite) == message


def parts_of(one: Suite, target: Any, through: Any = ()) -> list[tuple[str, str, str]]:
    return list(explainer()._parts(one, target, through))


def test_the_parts_of_a_run_are_named_with_their_places() -> None:
    own = Toolchain(name="own", path=Path("/tools"), origin=origin("t"))
    path = Toolchain(name="there", path=None, origin=origin("u"))
    compiled = compile_target(compiler=CompilerConfig(name="c", compiler="iree", toolchain=own, origin=origin("c")))
    target = run_target(
        compiled,
        driver="vulkan",
        devices=("0", "1"),
        roles=("a", "b"),
        toolchain=path,
        host=Host(name="board", kind="ssh", address="me@board", origin=origin("h")),
        run_under=("qemu", "-L", "a b"),
        profile="/profiles/gpu.toml",
    )
    override = ModuleOverride(match=("m", "n*"))
    one = suite(overrides=(ModuleOverride(match=("other",)), override))
    assert parts_of(one, replace(target, timeout=1.5), [SimpleNamespace(name="all", origin=origin("all"))])[2:] == [
        ("kind", "check", f"{ORIGIN.key_path}.kind"),
        ("target config", "all", "all"),
        ("compiler config", "c (compiler iree)", "c"),
        ("runtime config", "r (driver vulkan, a = 0, b = 1)", ORIGIN.key_path),
        ("toolchain", "own (/tools)", "t"),
        ("toolchain", "there (the tools on PATH)", "u"),
        ("host", "board (ssh me@board)", "h"),
        ("run under", "qemu -L 'a b'", ""),
        ("profile", "gpu", f"{ORIGIN.key_path}.profile"),
        ("compile target", "m_c", ""),
        ("override", "match m, n*", f"{ORIGIN.key_path}.module.1"),
        ("timeout", "1.5 s", ""),
    ]


@pytest.mark.parametrize(
    ("known", "target_from", "lines"),
    [
        ({"iree": [TargetPart(name="arch", value="v9", source="gpu")]}, ("gpu",), ["gpu", "  arch = v9"]),
        ({"iree": [TargetPart(name="arch", value="v9", source="gpu")]}, (), []),
        ({}, ("gpu",), []),
        ({"iree": CompilerError("no such target")}, ("gpu",), ["no such target"]),
        ({"iree": RetargetError("no such profile")}, ("gpu",), ["no such profile"]),
    ],
)
def test_what_is_compiled_for_a_profile_is_listed(
    known: dict[str, Any], target_from: tuple[str, ...], lines: list[str]
) -> None:
    def parts(_: object, flags: tuple[str, ...]) -> Any:
        if isinstance(known["iree"], Exception):
            raise known["iree"]
        return known["iree"]

    compilers = {name: SimpleNamespace(target_parts=parts) for name in known}
    config = CompilerConfig(name="c", compiler="iree", target_from=target_from, origin=ORIGIN)
    found = explainer(registry={"compilers": compilers})._compiled_for(compile_target(compiler=config))
    assert list(found) == lines


def engine_on(*devices: DeviceTraits, error: Exception | None = None, answers: Any = ()) -> Any:
    def asked(_: object) -> Any:
        if error is not None:
            raise error
        return answers or devices

    return SimpleNamespace(traits=asked, answers=asked)


ON_GPU = rule(when="on(driver='NVIDIA')", origin=origin("gpu"))
ON_CPU = rule(when="on(driver='llvmpipe')", origin=origin("cpu"), reason="s")


@pytest.mark.parametrize(
    ("engine", "first", "gpu"),
    [
        (engine_on(GPU), "the device is on(driver='NVIDIA', name='H200')", "in force"),
        (engine_on(DeviceTraits(driver="x")), "the device is on(driver='x')", "not in force"),
        (engine_on(), "the device is not known", "not in force"),
        (engine_on(error=UnavailableError("no GPU")), "the device is not known: no GPU", "not in force"),
        (engine_on(error=RetargetError("two rules")), "the device is not known: two rules", "not in force"),
    ],
)
def test_where_devices_decide_all_rules_that_may_be_in_force_are_shown(engine: Any, first: str, gpu: str) -> None:
    target = run_target(compile_target(), driver="vulkan")
    made = explainer(engine=engine)
    lines = [text for text, _ in made._expectation(suite(expectations=(ON_GPU, ON_CPU)), target)]
    assert [" ".join(line.split()) for line in lines] == [
        first,
        "xfail, expected to fail at run",
        "reason r",
        "when on(driver='NVIDIA')",
        f"here {gpu}",
        "xfail, expected to fail at run",
        "reason s",
        "when on(driver='llvmpipe')",
        "here not in force",
    ]
    golden = Golden(match=("m",), when=ON_GPU.when, metric=Metric.LATENCY, most=0.5, reason="r", origin=origin("g"))
    lines = [text for text, _ in made._goldens(suite(goldens=(golden,)), target)]
    assert (lines[0], " ".join(lines[-1].split())) == ("latency at most 500 ms", f"here {gpu}")


@pytest.mark.parametrize(
    ("one", "here", "lines"),
    [
        (rule(), None, ["reason r"]),
        (rule(when="run", issue="x/1", until=date(2999, 1, 1)), None, ["reason r (x/1)", "until 2999-01-01"]),
        (rule(until=date(2020, 1, 1)), None, ["reason r", "until 2020-01-01 (expired: it excuses nothing any more)"]),
        (rule(when="run"), frozenset([origin("e")]), ["reason r", "when run", "here in force"]),
        (rule(), frozenset(), ["reason r", "here not in force"]),
    ],
)
def test_a_rule_says_its_reason_and_date_and_where_devices_decide_whether_it_is_in_force(
    one: Expectation, here: Any, lines: list[str]
) -> None:
    found = _words_of(one, "excuses", here, ("signature", one.signature))
    assert [" ".join(text.split()) for text, _ in found] == lines


MEMORY = Requirement(text="memory >= 8 GiB", origin=origin("q"))


@pytest.mark.parametrize(
    ("requires", "engine", "found"),
    [
        ((), engine_on(error=RetargetError("never asked")), []),
        (
            (MEMORY,),
            engine_on(answers=[(MEMORY, Answer(status=RequirementStatus.UNMET, reason="it has 3 GiB"))]),
            f"{RequirementStatus.UNMET}: it has 3 GiB",
        ),
        ((MEMORY,), engine_on(error=UnavailableError("no GPU")), "not asked: no GPU"),
    ],
)
def test_a_requirement_is_shown_with_what_the_device_has(
    requires: tuple[Requirement, ...], engine: Any, found: Any
) -> None:
    target = replace(run_target(compile_target()), requires=requires)
    lines = list(explainer(engine=engine)._requirements(target))
    assert lines == ([("memory >= 8 GiB (q)", found)] if requires else [])


def test_builds_are_asked_for_once_and_left_out_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def describe(_: object, _extensions: object, config: Any) -> str:
        asked.append(config.name)
        return {"c": "IREE 3.13", "r": ""}[config.name]

    monkeypatch.setattr(explain, "describe_build", describe)
    target, made = run_target(compile_target()), explainer()
    for _ in range(2):
        assert list(made._builds(target.compile, target.runtime)) == [("compiler  IREE 3.13", "")]
    assert list(made._builds(target.compile, None)) == [("compiler  IREE 3.13", "")]
    assert asked == ["c", "r"]


def test_what_is_known_of_a_target_is_in_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Explainer, "_parts", lambda *_: iter([("module", "m", "m.mlir")]))
    monkeypatch.setattr(_Explainer, "_compiled_for", lambda *_: iter(["the profile"]))
    for name in ("compiler_flags", "requirements", "tags", "expectation", "goldens", "builds", "by_hand"):
        monkeypatch.setattr(
            _Explainer, f"_{name}", lambda *_, name=name: iter([(f"{name} 1", "x"), (f"{name} 22", "y")])
        )
    config = CompilerConfig(name="c", compiler="iree", devices=(("a", "local"),), env=(("E", "1"),), origin=ORIGIN)
    compiled = compile_target(compiler=config)
    target = run_target(
        compiled, flags=("-r",), flag_origins=(origin("r"),), env=(("R", "2"),), deps=("//d",), defines=(("D", "ON"),)
    )
    lines = list(explainer().target(suite(), target))
    assert lines[:2] == ["m_c_r (run target)", "  module  m  m.mlir"]
    assert [line for line in lines[2:] if not line.startswith(" ")] == [
        *("compiler flags", "compiled for", "compile devices", "compiler environment", "runtime flags"),
        *("runtime environment", "a build of the runtime needs", "requirements", "tags", "expectation", "golden"),
        *("builds", "by hand"),
    ]
    assert lines[lines.index("compiled for") + 1] == "  the profile"
    assert lines[lines.index("tags") + 1 :][:2] == ["  tags 1   x", "  tags 22  y"]
    assert lines[lines.index("a build of the runtime needs") + 1 :][:2] == ["  //d", "  D    ON"]
    alone = list(explainer().target(suite(), compile_target()))
    assert [line for line in alone if not line.startswith(" ")] == [
        *("m_c (compile target)", "compiler flags", "compiled for", "tags", "expectation", "golden"),
        *("builds", "by hand"),
    ]
