"""The compiler `iree-opt` runs the real tool."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from iree_support import ORIGIN
from msgspec.structs import replace
from retarget.extension import Compiled, CompileRequest, CompilerError, UnavailableError
from retarget.model import CompilerConfig, Toolchain
from retarget_iree.builds import CompilerBuild
from retarget_iree.compiler import compiler
from retarget_iree.compiler.compiler import IreeOptCompiler

TWO = """\
func.func @sum() -> i32 {
  %one = arith.constant 1 : i32
  %sum = arith.addi %one, %one : i32
  return %sum : i32
}
// -----
func.func @nothing() {
  return
}
"""
CONFIG = CompilerConfig(name="iree-opt", compiler="iree-opt", origin=ORIGIN)


def compiled(source: str, *flags: str) -> Compiled:
    compiler = IreeOptCompiler()
    resolved = compiler.resolve(CONFIG, flags)
    path = Path("two.mlir")
    return compiler.compile(
        CompileRequest(source=source.encode(), source_name=path.name, source_path=path, resolved=resolved)
    )


def test_a_module_that_does_not_verify_is_a_verdict() -> None:
    with pytest.raises(CompilerError) as caught:
        compiled("func.func @f() -> i32 {\n  return\n}\n")
    assert str(caught.value) == (
        "two.mlir:2:3: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1"
    )
    assert caught.value.verdict


def test_a_flag_that_the_tool_does_not_take() -> None:
    with pytest.raises(
        CompilerError, match=r"^--canonicalise: Unknown command line argument '--canonicalise'"
    ) as caught:
        compiled(TWO, "--canonicalise")
    assert caught.value.verdict


def test_a_build_without_the_tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build = CompilerBuild(folder=tmp_path, tool=tmp_path / "tools" / "iree-compile")
    monkeypatch.setattr(compiler, "find_compiler", lambda _: build)
    with pytest.raises(UnavailableError) as caught:
        compiled(TWO)
    assert str(caught.value) == f"{tmp_path} has no iree-opt, expected it beside {tmp_path / 'tools'}"


def test_a_build_folder_with_another_iree_opt_is_another_compiler(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    config = replace(CONFIG, toolchain=Toolchain(name="t", path=tmp_path, origin=ORIGIN))
    found = []
    for name in ("iree-compile", "iree-opt", "iree-opt"):
        (tmp_path / "tools" / name).write_text(f"{len(found)} built")
        with contextlib.suppress(UnavailableError):
            found.append(IreeOptCompiler().fingerprint(config))
    assert len({*found}) == 2
