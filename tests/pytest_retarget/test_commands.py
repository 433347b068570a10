"""The commands below a failure."""

from __future__ import annotations

from pathlib import Path

from pytest_retarget.commands import Commands
from retarget.extension import hookimpl
from retarget.extensions import registry_of
from retarget.model import CompilerConfig, CompileTarget, Module, Origin

HERE = Origin(file=Path("suite.toml"), key_path="")


class Compiler:
    name = "tiny"
    artifact_suffix = ".bin"

    def fingerprint(self, config: object) -> str:
        return ""

    def resolve(self, config: object, flags: object) -> None: ...

    def compile(self, request: object) -> None: ...

    def tags(self, config: object) -> tuple[str, ...]:
        return ()

    def reproduce(self, target: object, flags: object, output: object) -> str:
        return "tiny a.mlir"


class Extension:
    @staticmethod
    @hookimpl
    def retarget_compilers() -> list[Compiler]:
        return [Compiler()]


def test_a_command_that_an_extension_fails_to_give_does_not_hide_the_failure() -> None:
    commands = Commands(registry=registry_of({"mine": Extension}), folder=Path("/work"), compiles=True)
    compiler = CompilerConfig(name="c", compiler="tiny", origin=HERE)
    target = CompileTarget(
        name="a_c",
        suite="s",
        kind="check",
        folder=Path("/work"),
        module=Module(name="a", path=Path("/work/a.mlir")),
        compiler=compiler,
        flags=(),
        timeout=None,
        tags=(),
    )
    assert commands.compile(target) == [
        "# no command: extension 'mine': compiler 'tiny': reproduce() returned 'tiny a.mlir' (str), "
        "expected a sequence of str"
    ]
