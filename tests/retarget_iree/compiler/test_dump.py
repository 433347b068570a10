"""`retarget show` prints IREE's modules by the runtime's own tool: files, and the artifacts of targets."""

from __future__ import annotations

from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from retarget.cli import main
from retarget.support import RetargetError
from retarget_iree.compiler.tool import dump_module

MATRIX = declarations(
    "root = true\n", compiler("vmvx", flags=VMVX_FLAGS), runtime("sync"), target("cpu", "vmvx", ["sync"])
)
SUITE = suite("first", targets=["cpu"])
MODULE = """\
func.func @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = arith.addf %a, %a : tensor<4xf32>
  return %b : tensor<4xf32>
}
"""


@pytest.mark.slow
def test_the_artifact_of_a_target_and_its_file_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(tmp_path / "cache"))
    for name, text in (("matrix.toml", MATRIX), ("suite.toml", SUITE), ("twice.mlir", MODULE), ("no.mlir", "nonsense")):
        (tmp_path / name).write_text(text)

    assert main(["show", "twice_vmvx_sync"]) == 0
    printed = capsys.readouterr().out
    assert "sync func @twice(%input0: tensor<4xf32>) -> (%output0: tensor<4xf32>)" in printed
    assert printed.endswith(
        "\nDevice memory that functions allocate, beside their arguments and .rodata:\n"
        "  twice: at most 16 bytes at once, 16 of them held when it returns\n"
    )

    artifacts = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and b"twice" in path.read_bytes()]
    file = tmp_path / "twice.vmfb"
    file.write_bytes(max((path.read_bytes() for path in artifacts), key=len))
    assert main(["show", "twice.vmfb"]) == 0
    assert capsys.readouterr().out == printed

    assert main(["show", "no_vmvx"]) == 1
    assert capsys.readouterr().err.startswith("no_vmvx does not compile: ")

    assert main(["show", "twise_vmvx"]) == 2
    assert "found no file 'twise_vmvx' and no target 'twise_vmvx' in .; did you mean 'twice_vmvx'?" in (
        capsys.readouterr().err
    )


def test_bytes_that_are_no_module_are_an_error() -> None:
    with pytest.raises(RetargetError, match="not a module that iree-dump-module can print: INVALID_ARGUMENT"):
        dump_module(b"\x10\0\0\0 nothing of the kind")


def test_text_of_a_phase_is_printed_as_it_is() -> None:
    assert dump_module(b"module {\n}\n") == "module {\n}\n"
