"""`retarget show` prints OpenCL artifacts, and says which files it cannot print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opencl_support import compile_text, shipped
from retarget.cli import main

_MODULE = b"""
func.func @main(%a: tensor<64xf32>) -> tensor<64xf32> {
  %r = arith.addf %a, %a : tensor<64xf32>
  return %r : tensor<64xf32>
}
"""


def test_an_artifact_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.oclx"
    path.write_bytes(compile_text(_MODULE, shipped("generic"), "main.mlir"))
    assert main(["show", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("OpenCL artifact ")
    assert "sync func @main(%input0: tensor<64xf32>) -> (%output0: tensor<64xf32>)" in text
    assert "__kernel" in text
    assert "\n    0 main_dispatch_0" in text
    assert re.search(r"\nfunction main\(0\)\n  1 = number 0\n  2 = number 256\n", text)
    assert "\n    dispatch 0 ((),) " in text
    assert "    constants: 0, 0 bytes\n    main: at most 256 bytes at once, 256 of them held when it returns\n" in text


def test_a_damaged_artifact_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.oclx"
    path.write_bytes(b"no artifact")
    assert main(["show", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}: ")


def test_a_file_of_no_compiler_cannot_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "main.bin"
    assert main(["show", str(path)]) == 1
    expected = "expected a file that --retarget-export wrote, or a compiler"
    assert capsys.readouterr().err == f"{path} cannot be read: No such file or directory; {expected}\n"
    path.write_bytes(b"")
    assert main(["show", str(path)]) == 1
    known = "compilers whose artifacts can: iree (*.vmfb), iree-opencl (*.oclx)"
    assert capsys.readouterr().err == f"{path} cannot be shown as text; {known}\n"
    assert main(["show", str(path), "--compiler", "iree"]) == 1
    assert capsys.readouterr().err.startswith(f"{path}: not a module that iree-dump-module can print: ")
    assert main(["show", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"{tmp_path} cannot be read: found a folder; {expected}\n"
