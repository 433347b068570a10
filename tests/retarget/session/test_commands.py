"""The commands below a failure."""

from __future__ import annotations

import sys
from pathlib import Path

from model_targets import ORIGIN, compile_target
from msgspec.structs import replace
from retarget import extension
from retarget.extension import RunPlan, hookimpl
from retarget.extension.registry import registry_of
from retarget.model import CompilerConfig, Module, RunTarget, RuntimeConfig
from retarget.model.outcomes import Artifact, CaseOutcome
from retarget.session.commands import Commands


class Compiler(extension.Compiler):
    name = "tiny"
    artifact_suffix = ".bin"

    def resolve(self, config: object, flags: object) -> None: ...

    def compile(self, request: object) -> None: ...

    def reproduce(self, target: object, flags: object, output: object) -> str:
        return "tiny a.mlir"


class Driver(extension.Driver):
    name = "toy"

    def probe(self) -> tuple[()]:
        return ()

    def open(self, config: object) -> None: ...

    def run_outside(self, config: object, artifact: object, function: str, kind: object) -> RunPlan:
        return RunPlan(argv=(sys.executable, "-m", "toy", function))


class Loader(extension.CaseLoader):
    kind = "check"

    def load(self, request: object) -> tuple[()]:
        return ()


class Extension:
    @staticmethod
    @hookimpl
    def retarget_compilers() -> list[Compiler]:
        return [Compiler()]

    @staticmethod
    @hookimpl
    def retarget_drivers() -> list[Driver]:
        return [Driver()]

    @staticmethod
    @hookimpl
    def retarget_case_loaders() -> list[Loader]:
        return [Loader()]


COMPILER = CompilerConfig(name="c", compiler="tiny", origin=ORIGIN)
MODULE = Module(name="a", path=Path("/project/a.mlir"))
TARGET = replace(compile_target(), name="a_c", folder=Path("/project"), module=MODULE, compiler=COMPILER)


def test_a_command_that_an_extension_fails_to_give_does_not_hide_the_failure() -> None:
    commands = Commands(registry=registry_of({"mine": Extension}), folder=Path("/project"), compiles=True)
    assert commands.compile(TARGET) == [
        "# no command: extension 'mine': compiler 'tiny': reproduce() returned 'tiny a.mlir' (str), "
        "expected a sequence of str"
    ]


def test_a_module_whose_file_begins_with_a_dash_is_no_option() -> None:
    commands = Commands(registry=registry_of({"mine": Extension}), folder=Path("/project"), compiles=False)
    module = Module(name="-flag", path=Path("/project/-flag.mlir"))
    runtime = RuntimeConfig(name="r", driver="toy", run_under=("nice",), origin=ORIGIN)
    compiled = replace(TARGET, name="-flag_c", module=module)
    target = RunTarget(name="-flag_c_r", compile=compiled, runtime=runtime, timeout=None, tags=())
    case = CaseOutcome(name="f", function="f", seconds=0.0)
    [line] = commands.run(target, Artifact(digest="", size=0, path="/project/-flag.bin"), [case])
    assert line.endswith(" --artifact=-flag.bin --case=f ./-flag.mlir")
