"""Modules are measured once each, by the first compiler that can."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import compile_target
from msgspec.structs import replace
from retarget.extension import Compiler, ModuleSize
from retarget.model import CompileTarget
from retarget.support import RetargetError
from retarget_bringup.status.gather import module_sizes, size_text

SIZE = ModuleSize(dispatches=2, ops=("arith.addf",), types=("f32", "i8"), elements=4)


class Silent(Compiler):
    name = "silent"
    artifact_suffix = ".x"

    def fingerprint(self, config: Any) -> str:
        raise NotImplementedError

    def resolve(self, config: Any, flags: Any) -> Any:
        raise NotImplementedError

    def compile(self, request: Any) -> Any:
        raise NotImplementedError

    def reproduce(self, target: Any, flags: Any, output: Any) -> Any:
        raise NotImplementedError


class Measuring(Silent):
    name = "measuring"
    measuring_flags = ("--measure",)

    def module_size(self, artifact: bytes) -> ModuleSize:
        return replace(SIZE, elements=len(artifact))


class Engine:
    """Compiles a module to a byte for each flag; `refused` has no artifact."""

    def __init__(self, folder: Path) -> None:
        self.registry = SimpleNamespace(compilers={"silent": Silent(), "measuring": Measuring()})
        self.submitted: list[str] = []
        self._folder = folder

    def submit(self, targets: Sequence[CompileTarget]) -> None:
        self.submitted += [f"{one.name} {' '.join(one.flags)}" for one in targets]

    def compile(self, target: CompileTarget) -> Any:
        if target.module.name == "broken":
            msg = "no cache"
            raise RetargetError(msg)
        path = self._folder / target.name
        path.write_bytes(b"x" * len(target.flags))
        return SimpleNamespace(artifact=None if target.module.name == "refused" else SimpleNamespace(path=str(path)))


def target(module: str, compiler: str, *flags: str) -> CompileTarget:
    one = compile_target(module, compiler, flags=flags)
    return replace(one, compiler=replace(one.compiler, compiler=compiler))


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    return Engine(tmp_path)


def test_each_module_is_measured_by_the_first_compiler_that_measures(engine: Any) -> None:
    targets = [
        target("a", "absent"),
        target("a", "silent"),
        target("a", "measuring", "-first"),
        target("a", "measuring", "-second", "-third"),
        target("b", "silent"),
        target("refused", "measuring"),
        target("c", "measuring"),
    ]
    found = module_sizes(engine, targets)
    assert {key: size.elements for key, size in found.items()} == {("linalg", "a"): 2, ("linalg", "c"): 1}
    assert engine.submitted == ["a_measuring -first --measure", "refused_measuring --measure", "c_measuring --measure"]


def test_what_was_measured_before_an_error_is_kept(engine: Any) -> None:
    found = module_sizes(engine, [target(name, "measuring") for name in ("a", "broken", "c")])
    assert list(found) == [("linalg", "a")]


@pytest.mark.parametrize(
    ("dispatches", "text"), [(1, "1 dispatch; f32 i8; arith.addf"), (2, "2 dispatches; f32 i8; arith.addf")]
)
def test_a_size_in_words(dispatches: int, text: str) -> None:
    assert size_text(replace(SIZE, dispatches=dispatches)) == text
    assert size_text(replace(SIZE, dispatches=dispatches, types=(), ops=())) == text.partition(";")[0]
