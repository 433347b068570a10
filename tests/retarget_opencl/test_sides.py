"""The builds of the compile side and of the run side cover what each imports, and nothing of the other."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from opencl_support import compiler_config
from retarget.extension import CompileRequest, CompilerError, Resolved
from retarget_opencl.artifact.file import read_artifact
from retarget_opencl.builds import FRONT_END, RUNNING, TRANSLATION
from retarget_opencl.compile.compiler import OpenClCompiler

MODULE = """\
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi8>) {
  %c = arith.constant dense_resource<weights> : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%a, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = arith.addf %m, %b : tensor<4x4xf32>
  %e = math.exp %s : tensor<4x4xf32>
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi8>
  return %e, %k : tensor<4x4xf32>, tensor<4xi8>
}
{-# dialect_resources: { builtin: { weights: "0x04000000ONES" } } #-}
""".replace("ONES", "0000803f" * 16)

COMPILE = """
import json, sys
from pathlib import Path
from retarget.extension import CompileRequest
from retarget.model import CompilerConfig, Origin
from retarget_opencl.compile.compiler import OpenClCompiler

compiler = OpenClCompiler()
origin, path, source = Origin(file=Path(), key_path=""), Path("m.mlir"), sys.stdin.buffer.read()
config = CompilerConfig(name="c", compiler=compiler.name, target_from=("opencl-cpu",), origin=origin)
resolved = compiler.resolve(config, ())
compiler.compile(CompileRequest(source=source, source_name=path.name, source_path=path, resolved=resolved))
print(json.dumps([name for name in sys.modules if name.startswith("retarget")]))
"""

RUN = """
import json, sys
from retarget_opencl.run.driver import OpenClDriver
from retarget.model import Origin, RuntimeConfig
from pathlib import Path

config = RuntimeConfig(name="r", driver="opencl", origin=Origin(file=Path(), key_path=""))
device = OpenClDriver().open(config)
OpenClDriver().functions(sys.stdin.buffer.read())
device.close()
print(json.dumps([name for name in sys.modules if name.startswith("retarget")]))
"""

IN_THE_KEY = (
    "retarget.session.cache",
    "retarget.profiles",
    "retarget_iree.builds",
    "retarget_iree.compiler.combined_targets",
    "retarget_iree.compiler.vulkan_targets",
    "retarget_iree.runtime.devices",
    "retarget_profiles",
)
"""What finds out facts that are in the compile key themselves: profiles, IREE's build and flags."""

INDIFFERENT = (
    "retarget.extension",
    "retarget.model",
    "retarget.support",
    "retarget_iree.compiler.tool",
    "retarget_iree.compiler.compiler",
    "retarget_iree.compiler.flags",
    "retarget_iree.toolchain",
    "retarget_opencl.builds",
)
"""Data, messages and files of the core, IREE's flags and the choice of its library: nothing of an artifact."""


def is_below(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def imported(code: str, content: bytes) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
    names: list[str] = json.loads(done.stdout)
    packages = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    return sorted(set(names) - packages)


@pytest.mark.slow
def test_the_build_of_the_compile_side_covers_what_a_compile_imports_and_nothing_of_the_run_side() -> None:
    covered = (*FRONT_END, *TRANSLATION)
    names = imported(COMPILE, MODULE.encode())
    assert "retarget_opencl.clc.kernel" in names
    assert [name for name in names if not is_below(name, (*covered, *IN_THE_KEY, *INDIFFERENT))] == []
    ours = [name for name in covered if name.startswith("retarget_opencl")]
    assert not any(is_below(name, ("retarget_opencl.run", "retarget_opencl.device.devices")) for name in ours)


@pytest.mark.slow
def test_the_build_of_the_run_side_covers_what_a_run_imports_and_nothing_of_the_compile_side() -> None:
    compiler, config = OpenClCompiler(), compiler_config("--opencl-profile=cpu")
    resolved = compiler.resolve(config, config.flags)
    request = CompileRequest(
        source=MODULE.encode(), source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved
    )
    names = imported(RUN, compiler.compile(request).artifact)
    ours = [name for name in names if name.startswith("retarget_opencl.")]
    assert "retarget_opencl.run.device" in ours
    assert [name for name in ours if not is_below(name, (*RUNNING, "retarget_opencl.builds"))] == []
    sides = ("retarget_opencl.compile", "retarget_opencl.clc", "retarget_opencl.hostprog")
    assert not any(is_below(name, sides) for name in RUNNING)


def _adds(name: str, first: int) -> str:
    """Return a function that adds 2048 different numbers: MLIR renames their resource when it reads bytecode."""
    numbers = struct.pack("<2048i", *range(first, first + 2048)).hex()
    return f"""
func.func @{name}(%x: tensor<2048xi32>) -> tensor<2048xi32> {{
  %w = arith.constant dense<"0x{numbers}"> : tensor<2048xi32>
  %sum = arith.addi %x, %w : tensor<2048xi32>
  return %sum : tensor<2048xi32>
}}
"""


@pytest.mark.slow
def test_what_is_kept_of_the_front_end_translates_to_the_same_artifact() -> None:
    compiler, config = OpenClCompiler(), compiler_config("--opencl-profile=cpu")
    resolved = compiler.resolve(config, config.flags)
    text = MODULE + _adds("first", 0) + _adds("second", 5000)
    whole = CompileRequest(source=text.encode(), source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved)
    assert resolved.front_end is not None
    front = compiler.run_front_end(
        CompileRequest(
            source=whole.source, source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved.front_end
        )
    )
    after = CompileRequest(
        source=b"", source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved, front_end=front.artifact
    )
    artifact = compiler.compile(after).artifact
    assert artifact == compiler.compile(whole).artifact
    assert struct.pack("<2i", 2047, 5000) in b"".join(read_artifact(artifact).blobs)  # IREE packs them together
    with pytest.raises(CompilerError, match=r"^what the front end gave cannot be read: ") as raised:
        compiler.compile(
            CompileRequest(
                source=b"", source_name="m", source_path=Path("m"), resolved=resolved, front_end=front.artifact[:200]
            )
        )
    assert not raised.value.verdict


def test_a_worker_that_has_other_code_than_the_session_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, config = OpenClCompiler(), compiler_config("--opencl-profile=cpu")
    resolved = compiler.resolve(config, config.flags)
    monkeypatch.setattr("retarget_opencl.compile.compiler.translation_build", lambda: "edited")
    request = CompileRequest(source=b"", source_name="m.mlir", source_path=Path("m.mlir"), resolved=resolved)
    with pytest.raises(CompilerError) as raised:
        compiler.compile(request)
    expected = resolved.build_id.rpartition(" ")[2]
    bundled = Resolved(build_id="", flags=(), facts=resolved.facts)  # which says no build
    assert compiler.compile(replace(request, source=MODULE.encode(), resolved=bundled)).artifact
    assert str(raised.value) == (
        f"retarget_opencl was edited since this session began: found build edited, expected {expected}; run it again"
    )
    assert not raised.value.verdict
