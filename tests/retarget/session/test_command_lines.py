"""Which commands do by hand what a target did. The registry is a double: its compiler and driver say what to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import RunPlan
from retarget.model import Host, Module, RuntimeConfig
from retarget.model.outcomes import Artifact, CaseOutcome, Failure, Stage
from retarget.session import commands as module
from retarget.session.commands import Commands
from retarget.session.limits import Timeouts

FOLDER = Path("/p")
COMPILED = replace(
    compile_target("a", "c"), folder=FOLDER / "ops", module=Module(name="a", path=FOLDER / "ops/a.mlir"), flags=("-x",)
)
ARTIFACT = Artifact(digest="abc", size=1, path="/store/abc.bin")
COMPILE = "cc -x ops/a.mlir -o /tmp/a_c.bin"
AGAIN = "retarget run ops/suite.toml::linalg::"


class Tools:
    """What the extensions say."""

    def __init__(self, *, by_tool: bool = False, plan: RunPlan | None = None) -> None:
        self.by_tool = by_tool
        self.plan = plan
        self.drivers = {"toy": self}
        self.case_loaders: dict[str, Any] = {}
        self.artifact_suffix = ".bin"
        self.rewriter: Any = None

    def compiler(self, _: str) -> Tools:
        return self

    def driver(self, _: str) -> Tools:
        return self

    def check_rewriter(self, _: str) -> Any:
        return self.rewriter

    def runs_by_tool(self, _: object) -> bool:
        return self.by_tool

    def reproduce(self, target: Any, flags: Sequence[str], output: Path) -> list[str]:
        return ["cc", *flags, str(target.module.path), "-o", str(output)]

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        return self.plan or RunPlan(argv=("toy", str(artifact), function), env=(("LEVEL", "2 3"),))


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: "/tmp")  # noqa: S108
    monkeypatch.setattr(module.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(module.sys, "executable", "/nowhere/python")
    monkeypatch.delenv("RETARGET_EXTENSIONS", raising=False)


def commands(tools: Tools | None = None, *, compiles: bool = True, **known: Any) -> Commands:
    registry: Any = tools or Tools()
    return Commands(registry=registry, folder=FOLDER, compiles=compiles, **known)


def case(name: str = "f", *, timed_out: bool = False, **known: Any) -> CaseOutcome:
    failure = Failure(stage=Stage.RUN, summary="no", timed_out=timed_out)
    return CaseOutcome(name=name, seconds=0.0, failure=failure, **known)


TARGET = run_target(COMPILED, driver="toy")


@pytest.mark.parametrize(("timeout", "seconds"), [(None, "1.5"), (90.0, "90")])
def test_a_compile_that_was_late_is_ended_by_the_clock_and_tried_as_before(timeout: float | None, seconds: str) -> None:
    made = commands(
        timeouts=Timeouts(compile=1.5, run=2.5), toolchains={"own": Path("/t"), "none": None}, extensions=("e", "f")
    )
    assert made.compile(replace(COMPILED, timeout=timeout), late=True) == [
        f"timeout {seconds} {COMPILE}",
        f"RETARGET_EXTENSIONS=e:f {AGAIN}a_c --compile-timeout={seconds} --retarget-toolchain=own=/t "
        "--retarget-toolchain=none= --ignore-expectations",
    ]


def test_checks_that_are_returned_are_written_first() -> None:
    tools = Tools()
    tools.rewriter = SimpleNamespace(return_checks_command=lambda source, made: ["rewrite", str(source), str(made)])
    assert commands(tools).compile(COMPILED) == [COMPILE]
    assert commands(tools).compile(replace(COMPILED, returns_checks=True)) == [
        "rewrite ops/a.mlir /tmp/a_c.mlir",
        "cc -x /tmp/a_c.mlir -o /tmp/a_c.bin",
    ]
    tools.rewriter = None
    assert commands(tools).compile(replace(COMPILED, returns_checks=True)) == [COMPILE]


def test_what_judges_an_artifact_reads_what_the_compiler_wrote() -> None:
    target = replace(COMPILED, known_compilers=("c", "d", "e"), tags=("compile", "x"))
    arguments = "-m retarget.worker.run_case --kind=check --compilers=c,d,e --tags=compile,x --artifact=/tmp/a_c.bin"
    assert commands().check(target) == [COMPILE, f"/nowhere/python {arguments} ops/a.mlir"]
    assert commands(extensions=("e",)).check(target)[1].startswith("RETARGET_EXTENSIONS=e /nowhere/python -m ")


def test_a_module_of_a_file_of_several_is_compared_by_its_name() -> None:
    listed = replace(COMPILED, module=Module(name="a", path=FOLDER / "ops/all.list", entry="a"))
    lines = commands().run(run_target(listed, driver="toy"), ARTIFACT, [case(agree_with="o")])
    assert lines[1] == "retarget compare a ops --configs c/r,o"
    under = replace(TARGET, runtime=replace(TARGET.runtime, run_under=("qemu", "-L")))
    plain = commands().run(under, ARTIFACT, [case(agree_with="o")])
    assert plain == [COMPILE]  # of no kind that is known, nothing else runs it there


def test_a_target_that_has_to_agree_with_most_others_is_tried_as_before() -> None:
    lines = commands().run(TARGET, ARTIFACT, [case("f", agree_with="majority"), case("g", agree_with="majority")])
    assert lines == [COMPILE, *(f"{AGAIN}a_c_r --case={one} --ignore-expectations" for one in "fg")]
    of_suite = replace(TARGET, compile=replace(TARGET.compile, agree="majority"))
    plan = RunPlan(argv=("python3", "retarget.worker.run_case"))
    assert commands(Tools(plan=plan)).run(of_suite, ARTIFACT, [case("f")])[1].endswith("run_case --agree=majority")


def test_a_tool_compares_nothing_so_that_the_target_is_tried_as_before() -> None:
    lines = commands(Tools(by_tool=True)).run(TARGET, ARTIFACT, [case("f"), case("g")])
    assert lines[-1] == f"{AGAIN}a_c_r --artifact=/tmp/a_c.bin --case=f --case=g --ignore-expectations"
    agreeing = commands(Tools(by_tool=True), compiles=False).run(TARGET, ARTIFACT, [case(agree_with="o")])
    assert agreeing[-1] == f"{AGAIN}a_c_r --case=f --ignore-expectations"


def test_a_run_by_itself_does_not_judge_what_devices_execute_so_that_the_target_is_tried_as_before() -> None:
    counted = replace(TARGET, runtime=replace(TARGET.runtime, used=(None, False)))
    again = f"{AGAIN}a_c_r --artifact=/tmp/a_c.bin --case=f --ignore-expectations"
    assert commands().run(counted, ARTIFACT, [case("f")])[-1] == again
    free = replace(TARGET, runtime=replace(TARGET.runtime, used=(None, None)))
    assert again not in commands().run(free, ARTIFACT, [case("f")])


def test_on_a_host_the_artifact_is_read_and_the_clock_of_this_shell_says_nothing() -> None:
    host = Host(name="board", kind="ssh", address="b", origin=ORIGIN)
    there = replace(TARGET, runtime=replace(TARGET.runtime, host=host, env=(("X", "1"),)))
    argv = ("ssh", "b", "run --module=store/abc.bin")
    lines = commands().run(there, ARTIFACT, [case(command=argv), case("g", command=argv, timed_out=True)])
    assert lines[1] == "ssh b 'run --module=-' < /tmp/a_c.bin"
    assert len(lines) == 3
    here = replace(TARGET, runtime=replace(TARGET.runtime, env=(("X", "1"),)))
    assert commands().run(here, ARTIFACT, [case(command=("toy", "f"))])[1] == "X=1 toy f"


@pytest.mark.parametrize(
    ("name", "found", "common", "shown"),
    [
        ("cc", None, None, "cc"),
        ("cc", "/usr/bin/cc", "/usr/bin/cc", "cc"),
        ("cc", "/opt/cc", None, "/opt/cc"),
        ("/usr/bin/cc", "/usr/bin/cc", "/usr/bin/cc", "cc"),
        ("/opt/cc", "/opt/cc", None, "/opt/cc"),
    ],
)
def test_a_tool_is_named_as_every_shell_finds_it(
    monkeypatch: pytest.MonkeyPatch, name: str, found: str | None, common: str | None, shown: str
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _, path=None: common if path else found)
    assert Commands.program(name) == shown
