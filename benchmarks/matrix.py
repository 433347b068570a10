"""Compile and run N generated modules with retarget, against one iree-compile and one iree-run-module process per test.

Both sides compile the same programs for llvm-cpu, run them on local-sync and check the result, in pytest. The peer
spreads its parametrised tests by `-n`. iree-run-module has no check dialect, so the peer's modules return the tensor
that retarget's modules check, and it is compared by `--expected_output`.

Printed, all from this run:
  cold      retarget with an empty cache / the peer
  warm      retarget again, everything reused / the peer
  further   what one more runtime config (local-task) adds on the same artifacts / the cold run
  floor     the cold run / (CPU seconds of compiling all modules in process, over the cores): 1.0 is free of overhead
"""

from __future__ import annotations

import argparse
import concurrent.futures
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from timed_project import FLAGS, cores, suite_text, timed_pytest, write_matrix

SUITE = suite_text("generated", "*.mlir", "check")

PEER = """
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
COMPILE = {compile!r}
RUN = {run!r}


@pytest.mark.parametrize("module", sorted(path.stem for path in HERE.glob("*.mlir")))
def test_module(module, tmp_path):
    artifact = tmp_path / "module.vmfb"
    subprocess.run([COMPILE, str(HERE / f"{{module}}.mlir"), *{flags!r}, "-o", str(artifact)], check=True)
    expected = (HERE / f"{{module}}.expected").read_text()
    arguments = [f"--module={{artifact}}", "--device=local-sync", "--function=main", f"--expected_output={{expected}}"]
    subprocess.run([RUN, *arguments], check=True)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One generated program: `rows` x `inner` times `inner` x `columns` in f32, then an elementwise tail."""

    index: int

    @property
    def name(self) -> str:
        return f"module-{self.index:04d}"

    def _values(self) -> tuple[tuple[int, int], float]:
        rows, columns, inner = 2 + self.index % 5, 3 + self.index % 7, 4 + self.index % 11
        # all factors are the constants 0.5 and 2.0, so each element is inner * 1.0, then + index
        return (rows, columns), float(inner + self.index)

    def body(self) -> str:
        (rows, columns), _ = self._values()
        inner = 4 + self.index % 11
        result, left = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x{inner}xf32>"
        right = f"tensor<{inner}x{columns}xf32>"
        return f"""
  %left = util.unfoldable_constant dense<0.5> : {left}
  %right = util.unfoldable_constant dense<2.0> : {right}
  %zero = arith.constant 0.0 : f32
  %offset = arith.constant {self.index}.0 : f32
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {result}) -> {result}
  %product = linalg.matmul ins(%left, %right : {left}, {right}) outs(%init : {result}) -> {result}
  %sum = linalg.map ins(%product : {result}) outs(%empty : {result}) (%x: f32, %out: f32) {{
    %y = arith.addf %x, %offset : f32
    linalg.yield %y : f32
  }}"""

    def check_module(self) -> str:
        (rows, columns), value = self._values()
        kind = f"tensor<{rows}x{columns}xf32>"
        check = f"  check.expect_almost_eq_const(%sum, dense<{value:.1f}> : {kind}) : {kind}"
        return f"func.func @main() {{{self.body()}\n{check}\n  return\n}}\n"

    def plain_module(self) -> str:
        (rows, columns), _ = self._values()
        kind = f"tensor<{rows}x{columns}xf32>"
        return f"func.func @main() -> {kind} {{{self.body()}\n  return %sum : {kind}\n}}\n"

    def expected(self) -> str:
        (rows, columns), value = self._values()
        return f"{rows}x{columns}xf32={value:.1f}"


def write_project(folder: Path, programs: list[Program], runtimes: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_matrix(folder, FLAGS, runtimes)
    (folder / "suite.toml").write_text(SUITE)
    for program in programs:
        (folder / f"{program.name}.mlir").write_text(program.check_module())


def write_peer(folder: Path, programs: list[Program]) -> None:
    folder.mkdir(parents=True)
    for program in programs:
        (folder / f"{program.name}.mlir").write_text(program.plain_module())
        (folder / f"{program.name}.expected").write_text(program.expected())
    tools = Path(sys.executable).parent
    source = PEER.format(compile=str(tools / "iree-compile"), run=str(tools / "iree-run-module"), flags=list(FLAGS))
    (folder / "test_peer.py").write_text(source)


def timed(folder: Path, cache: Path, *arguments: str) -> float:
    found = timed_pytest(folder, cache, *arguments)
    print(f"    {found.last_line}")
    return found.seconds


def compile_cpu_seconds(sources: list[str]) -> float:
    """Compile all in this process and return the CPU seconds spent, the import left out."""
    from iree.compiler.api import Output, Session, Source, _initializeGlobalCL

    _initializeGlobalCL("benchmark", "--mlir-disable-threading")
    start = time.process_time()
    for source in sources:
        session = Session()
        session.set_flags(*FLAGS)
        invocation = session.invocation()
        assert invocation.parse_source(Source.wrap_buffer(session, source.encode() + b"\0"))
        assert invocation.execute()
        invocation.output_vm_bytecode(Output.open_membuffer())
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2, help="the peer's -n (default: 2)")
    arguments = parser.parse_args()
    programs = [Program(index=index) for index in range(arguments.modules)]

    scratch = Path(tempfile.mkdtemp(prefix="retarget-benchmark-"))
    try:
        project, peer, cache = scratch / "retarget", scratch / "peer", scratch / "cache"
        write_project(project, programs, ["local-sync"])
        write_peer(peer, programs)
        print(f"{len(programs)} modules, {cores()} cores")
        print("  peer: iree-compile + iree-run-module per test")
        peer_seconds = timed(peer, cache, "-n", str(arguments.processes))
        print("  retarget, cold")
        cold = timed(project, cache)
        print("  retarget, warm")
        warm = timed(project, cache)
        print("  retarget, one more runtime config on the same artifacts")
        write_project(project, programs, ["local-sync", "local-task"])
        further = max(timed(project, cache) - warm, 0.0)
        sources = [program.check_module() for program in programs]
        with concurrent.futures.ProcessPoolExecutor(max_workers=cores()) as pool:
            floor = sum(pool.map(compile_cpu_seconds, [sources[core :: cores()] for core in range(cores())])) / cores()
    finally:
        shutil.rmtree(scratch)

    print()
    print(f"{'':<44}{'seconds':>10}{'ratio':>10}")
    print(f"{'peer, -n ' + str(arguments.processes):<44}{peer_seconds:>10.2f}{1.0:>10.3f}")
    print(f"{'cold / peer':<44}{cold:>10.2f}{cold / peer_seconds:>10.3f}")
    print(f"{'warm / peer':<44}{warm:>10.2f}{warm / peer_seconds:>10.3f}")
    print(f"{'further runtime config / cold':<44}{further:>10.2f}{further / cold:>10.3f}")
    print(f"{'cold / floor (in-process compile CPU / cores)':<44}{floor:>10.2f}{cold / floor:>10.3f}")


if __name__ == "__main__":
    main()
