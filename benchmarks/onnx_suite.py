"""ONNX's node tests with retarget, against one iree-compile and one iree-run-module process per test.

Both sides compile the same tests for llvm-cpu, run them on local-sync and compare the results. The peer is plain pytest
with `-n 2`, a parametrised test that starts the tools. Models and data lie there before the clock starts, on both
sides; the peer is even given what iree-import-onnx makes of a model, while retarget imports it as part of the compile.
`--peer-import` measures besides a peer that starts the importer as well. Tests that fail, fail on both sides.

Printed, all from this machine:
  cold      retarget with an empty cache / the peer        goal: at most 0.75
  warm      retarget again, everything reused / the peer   goal: at most 0.04
  second    the same with local-task too, everything compiled: what it adds / cold   goal: at most 0.04
  case      reading a small case and comparing its result  goal: less than 2 ms

Takes an hour for all tests on two cores; `--sample 100` takes an even sample. What was measured stays in `--folder`,
so that a run that was interrupted goes on where it was; another sample wants another folder.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from timed_project import FLAGS, Timed, cores, quoted, suite_text, timed_pytest, write_matrix

MANIFEST = Path(__file__).parents[1] / "suites" / "onnx" / "nodes.toml"

NODE_FLAGS = (*FLAGS, "--iree-input-demote-f64-to-f32=false")

SUITE = suite_text("onnx", "nodes.toml", "onnx-backend", "timeout = 60", "only = [{only}]")

PEER = """
import pathlib
import subprocess

import pytest

MADE = pathlib.Path({made!r})
MLIR = pathlib.Path({mlir!r})
NAMES = {names!r}


@pytest.mark.parametrize("name", NAMES)
def test_node(name, tmp_path):
    source = MLIR / f"{{name}}.mlir"
    if {imports!r}:
        source = tmp_path / "model.mlir"
        subprocess.run([{importer!r}, str(MADE / name / "model.onnx"), "-o", str(source)], check=True)
    artifact = tmp_path / "model.vmfb"
    subprocess.run([{compiler!r}, str(source), *{flags!r}, "-o", str(artifact)], check=True, timeout=60)
    flags = (MADE / name / "run_flags.txt").read_text().splitlines()
    arguments = [f"--module={{artifact}}", "--device=local-sync", *flags]
    subprocess.run([{run_module!r}, *arguments], check=True, timeout=60, cwd=MADE / name)
"""

TYPES = {"bool": "i1", "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"}
"""NumPy's names of element types as iree-run-module writes them, where they are not like `int32`."""


class Measured:
    """What has been measured in a folder, kept in a file so that an interrupted run can go on."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self._file = folder / "measured.json"
        self._known: dict[str, dict[str, object]] = {}
        if self._file.is_file():
            self._known = json.loads(self._file.read_text())
        if self._known.setdefault("tests", {"names": names})["names"] != names:
            sys.exit(f"benchmark: {folder} holds measurements of other tests; name another --folder")

    def get(self, what: str, measure: Callable[[], Timed]) -> Timed:
        if what not in self._known:
            print(f"  {what} …", flush=True)
            found = measure()
            self._known[what] = {"seconds": found.seconds, "last_line": found.last_line}
            self._file.write_text(json.dumps(self._known))
        known = self._known[what]
        print(f"  {what}: {known['seconds']:.1f} s: {known['last_line']}", flush=True)
        return Timed(seconds=float(str(known["seconds"])), last_line=str(known["last_line"]))


# ---------------------------------------------------------------- what lies there before the clock starts


def make_tests(folder: Path, names: list[str]) -> Path:
    """Have onnx make its tests, as retarget does; add the flags for iree-run-module and the imported models."""
    from retarget_cases.onnx.loader import OnnxBackendLoader

    made = folder / "made"
    if made.is_dir():
        return made
    beside = folder / "made.new"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    print("  making the tests …", flush=True)
    OnnxBackendLoader().make(MANIFEST, beside)
    for name in names:
        (beside / name / "run_flags.txt").write_text("\n".join(run_flags(beside / name)) + "\n")
    beside.rename(made)
    return made


def run_flags(test: Path) -> list[str]:
    """Return the flags with which iree-run-module runs and judges a test. Without what no buffer view holds."""
    document = json.loads((test / "cases.json").read_text())
    case = document["cases"][0]
    flags = [f"--input={value_text(value)}" for value in case["inputs"] if "file" in value]
    flags += [f"--expected_output={value_text(value)}" for value in case["expected"] if "file" in value]
    return [*flags, *(f"--expected_{kind}_threshold={document['rtol']}" for kind in ("f16", "f32", "f64"))]


def value_text(value: dict[str, object]) -> str:
    name = str(value["dtype"])
    element = TYPES.get(name) or re.sub(r"^u?int", "i", name)
    shape = value["shape"]
    assert isinstance(shape, list)
    return f"{'x'.join([*map(str, shape), element])}=@{value['file']}"


def import_models(folder: Path, made: Path, names: list[str]) -> Path:
    """Import each model; what the importer refuses becomes a program that iree-compile refuses."""
    from retarget.extension import CompilerError
    from retarget_iree.modules.onnx_import import import_onnx

    imported = folder / "mlir"
    if imported.is_dir():
        return imported
    beside = folder / "mlir.new"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    print("  importing the models …", flush=True)
    for name in names:
        try:
            text = import_onnx((made / name / "model.onnx").read_bytes(), "model.onnx")
        except CompilerError as error:
            text = f"// {error}\nrefused\n".encode()
        (beside / f"{name}.mlir").write_bytes(text)
    beside.rename(imported)
    return imported


def write_project(folder: Path, names: list[str], runtimes: list[str]) -> Path:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    write_matrix(project, NODE_FLAGS, runtimes)
    (project / "suite.toml").write_text(SUITE.format(only=quoted(names)))
    shutil.copy(MANIFEST, project / "nodes.toml")
    return project


def write_peer(folder: Path, made: Path, mlir: Path, names: list[str], *, imports: bool) -> Path:
    peer = folder / ("peer-import" if imports else "peer")
    peer.mkdir(exist_ok=True)
    tools = Path(sys.executable).parent
    text = PEER.format(
        made=str(made),
        mlir=str(mlir),
        names=names,
        imports=imports,
        importer=str(tools / "iree-import-onnx"),
        compiler=str(tools / "iree-compile"),
        run_module=str(tools / "iree-run-module"),
        flags=list(NODE_FLAGS),
    )
    (peer / "test_peer.py").write_text(text)
    return peer


# ---------------------------------------------------------------- the clock


timed = functools.partial(timed_pytest, statuses=(0, 1))  # 1: some tests failed


def cold(project: Path, cache: Path, first: str) -> Timed:
    """Empty the cache but for the made tests, and run."""
    shutil.rmtree(cache, ignore_errors=True)
    timed(project, cache, "-k", f"{first}_llvm-cpu")
    for path in cache.iterdir():
        if path.name != "made":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return timed(project, cache)


def case_milliseconds(made: Path, repeats: int = 500) -> float:
    """Return the median time of loading the cases of `test_abs`, reading the values, and comparing a right result."""
    from retarget.arrays.comparison import compare_arrays
    from retarget.extension import CaseRequest, FunctionInfo
    from retarget_cases.onnx.loader import OnnxBackendLoader

    test = made / "test_abs"
    request = CaseRequest(
        module="test_abs",
        source=test / "model.onnx",
        data=(test / "cases.json",),
        entry="test_abs",
        folder=made,
        compiler="llvm-cpu",
        functions=(FunctionInfo(name="test_abs", arguments=1),),
    )
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        (case,) = OnnxBackendLoader().load(request)
        assert case.read is not None
        data = case.read()
        assert data.expected is not None
        tolerance = case.tolerances[""]
        for expected in data.expected:
            assert expected is not None
            assert compare_arrays(expected.copy(), expected, tolerance) is None
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N tests, evenly spread (default: all)")
    parser.add_argument("--processes", type=int, default=2, help="the peer's -n (default: 2)")
    parser.add_argument("--peer-import", action="store_true", help="measure a peer that imports the models, too")
    parser.add_argument("--folder", type=Path, default=None, help="default: build/benchmark-onnx-SAMPLE")
    arguments = parser.parse_args()
    from retarget_cases.onnx.manifest_file import read_manifest

    everything = [*read_manifest(MANIFEST).tests]
    step = len(everything) / arguments.sample if 0 < arguments.sample < len(everything) else 1.0
    names = [everything[int(at * step)] for at in range(int(len(everything) / step))]
    folder = (arguments.folder or Path("build") / f"benchmark-onnx-{len(names)}").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    measured = Measured(folder, names)
    print(f"{len(names)} tests, {cores()} cores; measurements in {folder}")

    made = make_tests(folder, names)
    mlir = import_models(folder, made, names)
    cache, parallel = folder / "cache", ("-n", str(arguments.processes))
    peer = measured.get("peer", lambda: timed(write_peer(folder, made, mlir, names, imports=False), cache, *parallel))
    importing = None
    if arguments.peer_import:
        importing = measured.get(
            "peer with import", lambda: timed(write_peer(folder, made, mlir, names, imports=True), cache, *parallel)
        )
    sync = ["local-sync"]
    first = measured.get("retarget, cold", lambda: cold(write_project(folder, names, sync), cache, names[0]))
    warm = measured.get("retarget, warm", lambda: timed(write_project(folder, names, sync), cache))
    both = measured.get(
        "retarget, warm, local-task too", lambda: timed(write_project(folder, names, [*sync, "local-task"]), cache)
    )
    second = max(both.seconds - warm.seconds, 0.0)
    case = case_milliseconds(made)

    print()
    print(f"{'':<34}{'seconds':>10}{'ratio':>10}{'goal':>10}")
    print(f"{'peer, -n ' + str(arguments.processes):<34}{peer.seconds:>10.1f}{1.0:>10.3f}")
    if importing is not None:
        print(f"{'peer with import / peer':<34}{importing.seconds:>10.1f}{importing.seconds / peer.seconds:>10.3f}")
    print(f"{'cold / peer':<34}{first.seconds:>10.1f}{first.seconds / peer.seconds:>10.3f}{'<= 0.75':>10}")
    print(f"{'warm / peer':<34}{warm.seconds:>10.1f}{warm.seconds / peer.seconds:>10.3f}{'<= 0.04':>10}")
    print(f"{'second runtime config / cold':<34}{second:>10.1f}{second / first.seconds:>10.3f}{'<= 0.04':>10}")
    print(f"{'a small case, read and compared':<34}{case:>7.2f} ms{'':>10}{'< 2 ms':>10}")


if __name__ == "__main__":
    main()
