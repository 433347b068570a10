"""The example retarget-xla, installed from the package index with its dependencies into an environment of its own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = CHECKOUT / "docs" / "examples" / "retarget-xla"

NODES = EXAMPLE.with_name("retarget-tvm") / "suites" / "nodes.toml"

ON_XLA = '[[module_test_suite]]\nname = "more"\nsrcs = ["*.mlir"]\nkind = "cases"\ntargets = ["xla"]\n'

TYPES = (
    *("i1", "i2", "i4", "ui4", "i8", "ui8", "i16", "i32", "ui32", "i64", "f16", "bf16", "f32", "f64"),
    *("complex<f32>", "complex<f64>", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E8M0FNU", "f4E2M1FN"),
)


@pytest.fixture(scope="module")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the programs of the environment."""
    from uv import find_uv_bin

    folder = tmp_path_factory.mktemp("installed")
    source = shutil.copytree(EXAMPLE, folder / "source")
    uv, python = find_uv_bin(), folder / "venv/bin/python"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    install = [
        uv,
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "--editable",
        f"{CHECKOUT}[iree]",
        f"{source}[onnx]",
    ]
    subprocess.run(install, check=True)
    return python.parent


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE / "suites", tmp_path / "suites")


def run(bin_folder: Path, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [bin_folder / command[0], *command[1:]],
        cwd=folder,
        env=os.environ | {"PATH": path, "RETARGET_CACHE_DIR": str(folder.parent / "cache")},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def run_pytest(bin_folder: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(bin_folder, folder, "pytest", "-p", "no:cacheprovider", f"--rootdir={folder}", str(folder), *arguments)


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return the outcome of each target and each case, by its name."""
    found = re.findall(r"^suite\.toml::\w+::(\S+) ((?:SUB)?\w+)(\[\S+\])?", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {target + case: outcome for target, outcome, case in found}


@pytest.mark.slow
def test_xla_and_iree_agree_and_a_second_session_reuses_the_executables(bin_folder: Path, suites: Path) -> None:
    first = run_pytest(bin_folder, suites, "-v")
    assert first.returncode == 0, first.stdout + first.stderr
    found = outcomes(first)
    for target in ("layers_xla-cpu_xla", "layers_llvm-cpu_local-sync", "layers_vmvx_local-sync"):
        assert {found[f"{target}[{case}]"] for case in ("by-hand", "numpy", "all-agree")} == {"SUBPASSED"}
    assert found["checks_xla-cpu_xla[doubles_until_large]"] == "SUBPASSED"
    build = r"^compiler: jaxlib \d+\.\d+\.\d+, torch-mlir \d+, onnx \S+ \(build [0-9a-f]{12}\) \(xla-cpu\)$"
    assert re.search(build, first.stdout, re.MULTILINE)
    assert "compiled 6, reused 0" in first.stdout
    second = run_pytest(bin_folder, suites)
    assert "compiled 0, reused 6" in second.stdout
    assert second.returncode == 0


@pytest.mark.slow
def test_wrong_values_fail_on_both_and_either_can_be_the_reference(bin_folder: Path, suites: Path) -> None:
    cases, checks, suite = suites / "layers.cases.toml", suites / "checks.mlir", suites / "suite.toml"
    cases.write_text(cases.read_text().replace("[-3, 0,", "[-3, 1,"))
    suite.write_text(suite.read_text().replace('"majority"', '"llvm-cpu"'))
    checks.write_text(checks.read_text().replace("1024", "1025").replace("atol 1.0e-06", "atol 1.0e-06, rtol 1.0e-06"))
    done = run_pytest(bin_folder, suites, "-v")
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(done)
    for config in ("xla-cpu_xla", "llvm-cpu_local-sync", "vmvx_local-sync"):
        assert (found[f"layers_{config}[by-hand]"], found[f"layers_{config}[all-agree]"]) == ("SUBFAILED", "SUBPASSED")
        assert found[f"checks_{config}[doubles_until_large]"] == "SUBFAILED"
        assert found[f"checks_{config}[sine_is_odd]"] == "SUBPASSED"
    assert (
        "compare: by-hand: result 0: 1 of 8 elements differ, first at [0, 1]: actual 0.0, expected 1.0" in done.stdout
    )


@pytest.mark.slow
def test_what_xla_refuses_is_a_compile_failure_with_its_words_and_a_crash_is_one(
    bin_folder: Path, suites: Path
) -> None:
    for file in (*suites.glob("layers*"), *suites.glob("checks*")):
        file.unlink()
    body = "(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}\n"
    texts = {
        "types": body.replace("return %a : tensor<3xf32>", "return %a : tensor<4xf32>"),
        "dialect": body.replace("return %a", "%b = tosa.exp %a : tensor<3xf32>\n  return %b"),
        "dynamic": body.replace("3x", "?x"),
        "crash": f"{body}func.func private @nowhere() -> tensor<3xf32>\n",
        "flag": body,
    }
    for name, text in texts.items():
        (suites / f"{name}.mlir").write_text(f"func.func @main{text}")
        (suites / f"{name}.cases.toml").write_text("[[case]]\ninputs = [{ fill = 1, shape = [3] }]\nexpected = [1]\n")
    flag = '[[module_test_suite.module]]\nmatch = "flag"\nflags = ["--xla_fast=true"]\n'
    (suites / "suite.toml").write_text(ON_XLA + flag)
    done = run_pytest(bin_folder, suites, "-v")
    assert {f"{name}_xla-cpu": "FAILED" for name in texts}.items() <= outcomes(done).items()
    for words in (
        "compile: error: use of value '%a' expects different type than prior uses",
        "types.mlir:2:10: error: use of value",
        "compile: error: Dialect `tosa' not found for custom op 'tosa.exp'",
        "compile: during context [hlo verifier]: Unbounded dynamism is disabled for instruction",
        "compile: No such compile option: 'xla_fast'",
        "compile: compiler crashed: SIGSEGV",
    ):
        assert words in done.stdout
    [pasted] = re.findall(r"^ +(\S+ -m retarget_xla types\.mlir .*)$", done.stdout, re.MULTILINE)
    again = subprocess.run(shlex.split(pasted), cwd=suites, capture_output=True, text=True, check=False)
    assert again.returncode == 1
    assert "types.mlir:2:10: error: use of value '%a'" in again.stderr


@pytest.mark.slow
def test_a_program_that_does_not_end_fails_its_target_and_no_other(bin_folder: Path, suites: Path) -> None:
    (suites / "suite.toml").write_text(ON_XLA.replace('"cases"', '"check"\ntimeout = 20'))
    for file in suites.glob("layers*"):
        file.unlink()
    text = (suites / "checks.mlir").read_text()
    again = text.replace("stablehlo.compare LT, %value, %limit", "stablehlo.compare GE, %limit, %limit")
    (suites / "again.mlir").write_text(again)
    done = run_pytest(bin_folder, suites, "-v")
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(done)
    assert (found["again_xla-cpu"], found["again_xla-cpu_xla"]) == ("PASSED", "FAILED")
    assert found["checks_xla-cpu_xla"] == "PASSED"
    assert "timed out after 20 s in" in done.stdout


@pytest.mark.slow
def test_onnx_models_run_by_way_of_stablehlo(bin_folder: Path, suites: Path) -> None:
    for file in (*suites.glob("layers*"), *suites.glob("checks*")):
        file.unlink()
    shutil.copy(NODES, suites)
    (suites / "suite.toml").write_text(
        '[[module_test_suite]]\nname = "nodes"\nsrcs = ["nodes.toml"]\nkind = "onnx-backend"\ntargets = ["xla"]\n'
    )
    done = run_pytest(bin_folder, suites, "-v")
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(done)
    failed = {name for name, outcome in found.items() if outcome == "FAILED"}
    assert failed == {"test_lstm_defaults_xla-cpu"}
    assert found["test_gemm_default_scalar_bias_xla-cpu_xla"] == found["test_and2d_xla-cpu_xla"] == "PASSED"
    assert "compile: error: unimplemented: start is not constant" in done.stdout


@pytest.mark.slow
def test_values_of_each_element_type_come_back_as_they_were(bin_folder: Path, suites: Path) -> None:
    for file in (*suites.glob("layers*"), *suites.glob("checks*")):
        file.unlink()
    functions, cases = [], []
    for number, of in enumerate(TYPES):
        for name, shape, value in (
            (f"f{number}", "2x", [True, True]),
            (f"none{number}", "0x3x", []),
            (f"one{number}", "", True),
        ):
            values = str(value).replace("True", "true" if of == "i1" else "[1, 0]" if "complex" in of else "1")
            kind = f"tensor<{shape}{of}>"
            functions.append(f"func.func @{name}(%a: {kind}) -> {kind} {{\n  return %a : {kind}\n}}\n")
            cases.append(f'[[case]]\nfunction = "{name}"\ninputs = [{values}]\nexpected = [{values}]\n')
    (suites / "suite.toml").write_text(ON_XLA)
    (suites / "same.mlir").write_text("".join(functions))
    (suites / "same.cases.toml").write_text("".join(cases))
    done = run_pytest(bin_folder, suites, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(outcomes(done).values()).count("SUBPASSED") == 3 * len(TYPES)


@pytest.mark.slow
def test_init_suggests_xla_for_stablehlo_and_onnx_and_not_for_other_modules(bin_folder: Path, suites: Path) -> None:
    for file in suites.glob("*.toml"):
        file.unlink()
    done = run(bin_folder, suites, "retarget", "init")
    assert done.returncode == 0, done.stderr
    assert 'name = "xla-cpu"\ncompiler = "xla"\n' in (suites / "matrix.toml").read_text()
    assert (suites / "suite.toml").read_text().count('"xla"]') == 2
    other = suites.parent / "other"
    other.mkdir()
    (other / "f.mlir").write_text(
        "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n  return %a : tensor<3xf32>\n}\n"
    )
    assert run(bin_folder, other, "retarget", "init").returncode == 0
    assert "xla" not in (other / "matrix.toml").read_text() + (other / "suite.toml").read_text()
    models = suites.parent / "models"
    models.mkdir()
    shutil.copy(NODES.with_name("classifier.onnx"), models)
    assert run(bin_folder, models, "retarget", "init").returncode == 0
    assert '"xla"]' in (models / "suite.toml").read_text()
