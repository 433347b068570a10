"""Bundles of failures of each stage: written, opened elsewhere, and reproduced with nothing but the wheels."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import numpy as np
import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import CRASHES, DIFFERS, GOOD, REFUSED
from retarget.cli import main
from retarget_repro.bundle.archive import unpack
from retarget_repro.bundle.format import Observed, read_bundle

LOAD = """\
util.initializer {
  %no = util.unfoldable_constant false
  cf.assert %no, "never initialised"
  util.return
}
func.func @f() {
  return
}
"""
RUN = """\
func.func @f() {
  %no = util.unfoldable_constant false
  cf.assert %no, "it is 42 times 7"
  return
}
"""
HANGS = """\
func.func @f() {
  %yes = util.unfoldable_constant true
  scf.while : () -> () {
    %again = util.optimization_barrier %yes : i1
    scf.condition(%again)
  } do {
    scf.yield
  }
  return
}
"""
SCALE = """\
func.func @scale(%a: tensor<3xf32>, %by: f32) -> tensor<3xf32> {
  %s = tensor.from_elements %by, %by, %by : tensor<3xf32>
  %b = arith.mulf %a, %s : tensor<3xf32>
  return %b : tensor<3xf32>
}
"""
SCALE_CASES = """\
[[case]]
name = "twice"
function = "scale"
inputs = ["data.npy", 2.0]
expected = [[2.0, 4.0, 7.0]]

[[case]]
name = "thrice"
function = "scale"
inputs = ["data.npy", 3.0]
expected = [[3.0, 6.0, 9.0]]
"""

FAILURES = {
    "refused": (
        "compile",
        "compile",
        "'arith.addi' op operand #0 must be signless-non-zero-bitwidth-integer-like, but got 'tensor<…xf32>'",
    ),
    "crashes": ("compile", "crash", "SIGSEGV"),
    "load": ("load", "load", "FAILED_PRECONDITION; never initialised"),
    "run": ("run", "run", "FAILED_PRECONDITION; it is N times N"),
    "hangs": ("run", "timeout", ""),
    "differs": ("compare", "compare", "values differ"),
}


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "suites"
    (folder / "cases").mkdir(parents=True)
    text = declarations(
        compiler("vmvx", flags=VMVX_FLAGS),
        runtime("local-sync"),
        target("all", "vmvx", ["local-sync"]),
        suite("checks", ["[!h]*.mlir"]),
        suite("hanging", "hangs.mlir", timeout=8),
        suite("cases", "cases/*.mlir", kind="cases"),
    )
    (folder / "suite.toml").write_text(text)
    modules = {"refused": REFUSED, "crashes": CRASHES, "load": LOAD, "run": RUN, "hangs": HANGS, "differs": DIFFERS}
    for name, source in {**modules, "good": GOOD, "cases/scale": SCALE}.items():
        (folder / f"{name}.mlir").write_text(source)
    (folder / "cases" / "scale.cases.toml").write_text(SCALE_CASES)
    np.save(folder / "cases" / "data.npy", np.array([1, 2, 3], np.float32))
    return folder


@pytest.fixture(scope="session")
def wheels_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the wheels of IREE's compiler and runtime and what these require, and nothing else."""
    folder = tmp_path_factory.mktemp("wheels")
    venv.create(folder, symlinks=True)
    own = Path(sysconfig.get_path("purelib"))
    site = next(folder.glob("lib/python*/site-packages"))
    for name in ("iree", "ml_dtypes", "numpy", "numpy.libs"):
        (site / name).symlink_to(own / name)
    return folder / "bin" / "python"


def written(suites: Path, name: str, *more: str) -> Path:
    """The bundle of a target, opened in a folder of its own."""
    archive, folder = suites.parent / "x.tar.zst", suites.parent / "elsewhere" / name
    assert main(["repro", f"{name}_vmvx_local-sync", str(suites), "-o", str(archive), *more]) == 0
    assert main(["repro", "--open", str(archive), "-o", str(folder)]) == 0
    return folder


def reproduced(folder: Path, *arguments: str, python: Path | str = sys.executable) -> tuple[int, list[str]]:
    argv = [str(python), "-I", "repro.py", *arguments]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def tool(folder: Path, name: str, *arguments: str) -> str:
    """What a tool of IREE's packages prints, in the folder of a bundle."""
    argv = [str(Path(sys.executable).with_name(name)), *arguments]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True).stdout


def way(observed: Observed) -> tuple[str, str, str]:
    return observed.at, observed.stage, observed.signature


@pytest.mark.slow
def test_a_failing_case_is_reproduced_from_its_bundle_with_nothing_but_the_wheels(
    suites: Path, wheels_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(suites, "cases/scale")

    said = capsys.readouterr().out
    assert "reproduced in 2 of 2 runs from the bundle alone: compare: values differ\n" in said
    assert "nothing was executed; repro.py and lib/ are those of this retarget\n" in said
    bundle = read_bundle(folder)
    assert way(bundle.observed) == ("compare", "compare", "values differ")
    assert bundle.observed.case == "twice"
    assert np.load(folder / "cases" / "0-input0.npy").tolist() == [1, 2, 3]
    assert "thrice" not in (folder / "cases" / "cases.json").read_text()
    assert bundle.commands[1:] == (
        f"iree-compile scale.mlir {' '.join(VMVX_FLAGS)} -o artifact.vmfb",
        "iree-run-module --device=local-sync --module=artifact.vmfb --function=scale "
        "--input=@cases/0-input0.npy --input=2.0",
    )
    by_hand = tool(folder, *bundle.commands[2].split())
    assert "3xf32=2 4 6" in by_hand
    status, lines = reproduced(folder, python=wheels_only)
    assert status == 1
    assert lines[1:] == [
        "bad: compare: values differ",
        "     result 0: 1 of 3 elements differ, first at [2]: actual 6.0, expected 7.0",
    ]


@pytest.mark.sampled(2, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), FAILURES.items())
def test_failures_of_each_stage_are_reproduced_elsewhere_with_nothing_but_the_wheels(
    name: str, expected: tuple[str, str, str], suites: Path, wheels_only: Path
) -> None:
    folder = written(suites, name, "--runs", "1")

    assert way(read_bundle(folder).observed) == expected
    at, stage, signature = expected
    where = stage if stage == at else f"{stage} ({at})"
    status, lines = reproduced(folder, python=wheels_only)
    assert status == 1
    assert f"bad: {where}{f': {signature}' if signature else ''}" in lines


@pytest.mark.sampled(2, slow=2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("small-types/suite.toml::small-types::i4-odd_vmvx", ("compile", "compile", "does not have integral number")),
        ("small-types/suite.toml::small-types::f8E4M3FN_llvm-cpu_local-task", ("compare", "compare", "values differ")),
        ("onnx/suite.toml::onnx::test_castlike_FLOAT16_to_INT4_vmvx", ("compile", "crash", "SIGABRT")),
        (
            "onnx/suite.toml::onnx::test_nonmaxsuppression_suppress_by_IOU_and_scores_vmvx_local-sync",
            ("run", "run", "score_threshold should be <= min(scores)"),
        ),
        (
            "data-tiling/suite.toml::data-tiling-devices::two-devices/sum_cpu-avx2-tiled-linked_two-local-tasks-avx2",
            ("load", "load", "not found in library"),
        ),
        ("small-types/suite.toml::small-types::f8E8M0FNU_opencl_opencl", ("compare", "compare", "values differ")),
    ],
)
def test_known_failures_of_the_suites_are_reproduced_as_their_rules_say(
    target: str, expected: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])

    assert main(["repro", f"suites/{target}", "-o", str(tmp_path / "x.tar.zst")]) == 0

    bundle = unpack(tmp_path / "x.tar.zst", tmp_path / "x")
    at, stage, signature = way(bundle.observed)
    assert (at, stage) == expected[:2]
    assert expected[2] in signature
    assert bundle.reproduced.same == bundle.reproduced.runs
    assert bundle.expectation.startswith("expected to ")
    assert not any(flag.endswith("=host") for flag in bundle.compile.flags)


@pytest.mark.slow
def test_variables_are_named_or_left_out_and_a_toolchain_without_a_runtime_is_said(
    suites: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (suites / "suite.toml").read_text()
    with_env = runtime("keyed", driver="local-sync", env={"A_KEY": "the value", "OTHER": "1"})
    declared = text.replace('"local-sync"', '"keyed"').replace(runtime("keyed", driver="keyed"), with_env)
    (suites / "suite.toml").write_text(declared)
    archive, folder = suites.parent / "x.tar.zst", suites.parent / "elsewhere"

    words = ["repro", "differs_vmvx_keyed", str(suites), "-o", str(archive), "--runs", "1", "--without-env", "A_KEY"]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "bundle.json holds the values of env: OTHER; --without-env NAME leaves one out",
        "reproduced once from the bundle alone: compare: values differ",
    ]
    assert main(["repro", "--open", str(archive), "-o", str(folder)]) == 0
    assert "the value" not in (folder / "bundle.json").read_text()
