"""The extensions of docs/extending.md, installed as anyone's package is and run by pytest in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
EXAMPLE = EXAMPLES / "retarget-wasmtime"
FORK = EXAMPLES / "retarget-mychip"
TVM = EXAMPLES / "retarget-tvm"

FORK_RUNTIME = """

_own_driver, _own_names = get_driver, query_available_drivers


def get_driver(uri):
    return _own_driver("local-sync" if uri == "mychip" else uri)


def query_available_drivers():
    return [*_own_names(), "mychip"]
"""
"""What makes IREE's runtime that of a fork: its driver `mychip` is `local-sync`, whose devices run what they load."""


def installed(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an example installed in it by pip."""
    folder = tmp_path_factory.mktemp("site")
    source = shutil.copytree(example, tmp_path_factory.mktemp("example") / "source")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(EXAMPLE, tmp_path_factory)


@pytest.fixture(scope="module")
def fork_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installed(FORK, tmp_path_factory)


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE / "suites", tmp_path / "suites")


def run_pytest(site: Path, suites: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(site), "RETARGET_CACHE_DIR": str(suites.parent / "cache")}
    return run_module(sys.executable, "pytest", suites, *arguments, environment=environment)


def run_module(
    python: str | Path, module: str, suites: Path, *arguments: str, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    options = ["-p", "no:cacheprovider", f"--rootdir={suites}", str(suites)] if module == "pytest" else []
    command = [str(python), "-m", module, *options, *arguments]
    return subprocess.run(
        command, cwd=suites, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
def test_installed_extension_compiles_and_runs_its_module(site: Path, suites: Path) -> None:
    done = run_pytest(site, suites, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "suite.toml::integers::wrap_wat PASSED" in done.stdout
    assert "suite.toml::integers::wrap_wat_wasmtime PASSED" in done.stdout


@pytest.mark.slow
def test_wrong_result_fails_at_compare_and_the_pasted_commands_show_it(site: Path, suites: Path) -> None:
    module = suites / "wrap.wat"
    module.write_text(module.read_text().replace("i32.const 1\n    i32.add))", "i32.const 3\n    i32.add))"))
    done = run_pytest(site, suites)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compare: result 0: 1 of 1 element differs, actual 2, expected 0" in done.stdout
    _, _, pasted = done.stdout.partition("to reproduce this by hand:\n")
    script = "".join(line.removeprefix("  ") + "\n" for line in pasted.splitlines() if line.startswith("  "))
    environment = os.environ | {"PYTHONPATH": str(site)}
    again = subprocess.run(["bash", "-e"], input=script, env=environment, capture_output=True, text=True, check=False)
    assert again.stdout == "add_wraps returned 2\n"
    assert again.returncode == 1
    module.write_text('(module (func (export "half") (result f32) f32.const 0.5))')  # no result is made an integer
    half = run_pytest(site, suites)
    assert half.returncode == 1, half.stdout + half.stderr
    assert "result 0: element type differs: actual float32, expected int32" in half.stdout


@pytest.mark.slow
def test_refused_module_fails_at_compile_with_the_assemblers_words(site: Path, suites: Path) -> None:
    (suites / "wrap.wat").write_text('(module (func (export "f") (result i32) i32.cons 0))\n')
    done = run_pytest(site, suites)
    assert done.returncode == 1
    assert "compile: error: unknown operator or unexpected token" in done.stdout
    assert "--> wrap.wat:1:41" in done.stdout
    assert "1 failed, 1 blocked" in done.stdout


@pytest.mark.slow
def test_a_fork_s_driver_is_skipped_by_a_runtime_without_it_and_opened_by_one_that_has_it(
    fork_site: Path, tmp_path: Path
) -> None:
    suites = shutil.copytree(FORK / "suites", tmp_path / "suites")
    without = run_pytest(fork_site, suites, "-rs")
    assert without.returncode == 0, without.stdout + without.stderr
    assert "1 passed, 1 skipped" in without.stdout
    assert "mychip: this IREE runtime was built without the driver mychip" in without.stdout

    spec = importlib.util.find_spec("iree.runtime")
    assert spec is not None
    assert spec.origin is not None
    own = Path(spec.origin).parent
    runtime = shutil.copytree(own, fork_site / "iree" / "runtime")
    runtime.with_name("_runtime_libs").symlink_to(own.with_name("_runtime_libs"))
    with (runtime / "__init__.py").open("a") as file:
        file.write(FORK_RUNTIME)
    has = run_pytest(fork_site, suites, "-v", "-m", "npu")
    assert has.returncode == 0, has.stdout + has.stderr
    assert "suite.toml::integers::add_vmvx_mychip PASSED" in has.stdout
    module = suites / "add.mlir"
    module.write_text(module.read_text().replace("[11, 22, 33, 44]", "[11, 22, 33, 45]"))
    wrong = run_pytest(fork_site, suites, "-m", "npu")
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "compare: " in wrong.stdout


# ---------------------------------------------------------------- TVM beside IREE

Tvm = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def tvm(tmp_path_factory: pytest.TempPathFactory) -> Tvm:
    """A new environment with the example and all that it depends on. Starts a module there, in a folder of suites."""
    from uv import find_uv_bin

    folder, source = tmp_path_factory.mktemp("tvm"), tmp_path_factory.mktemp("example") / "source"
    shutil.copytree(TVM, source)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["RETARGET_CACHE_DIR"] = str(folder / "cache")
    uv, python = find_uv_bin(), folder / "venv" / "bin" / "python"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1])], check=True)
    packages = ["--editable", f"{EXAMPLES.parents[1]}[iree]", str(source)]
    subprocess.run([uv, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)

    def run(module: str, suites: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_module(python, module, suites, *arguments, environment=environment)

    return run


@pytest.fixture
def tvm_suites(tmp_path: Path) -> Path:
    return shutil.copytree(TVM / "suites", tmp_path / "suites")


@pytest.mark.slow
def test_two_compilers_agree_and_what_they_compiled_is_reused(tvm: Tvm, tvm_suites: Path) -> None:
    first = tvm("pytest", tvm_suites)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "58 passed, 2 xfailed" in first.stdout
    second = tvm("pytest", tvm_suites, "-m", "tvm-llvm", "-v")
    assert second.returncode == 0, second.stdout + second.stderr
    assert "compiled 0, reused 17" in second.stdout  # two of them are IREE's, with which models agree
    assert "suite.toml::models::classifier_tvm-llvm_tvm SUBPASSED[independent]" in second.stdout
    explained = tvm("retarget.cli", tvm_suites, "explain", "models::classifier_tvm-llvm")
    assert re.search(r"compiler  tvm 0\.\d+\.\S+ \(build [0-9a-f]{12}\)", explained.stdout), explained.stdout
    assert "-mcpu=generic" not in explained.stdout


@pytest.mark.slow
def test_a_wrong_expected_value_fails_on_both_compilers(tvm: Tvm, tvm_suites: Path) -> None:
    cases = tvm_suites / "classifier.cases.toml"
    cases.write_text(cases.read_text().replace("[[[0.333333, ", "[[[0.25, "))
    done = tvm("pytest", tvm_suites, "-k", "classifier")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compare: by-hand: result 0: 1 of 3 elements differ, " in done.stdout
    assert "classifier_llvm-cpu_local-sync  failed alike" in done.stdout


@pytest.mark.slow
def test_a_model_that_tvm_refuses_fails_at_compile_with_tvm_s_words(tvm: Tvm, tvm_suites: Path) -> None:
    import onnx.parser

    (tvm_suites / "classifier.cases.toml").unlink()
    text = '<ir_version: 8, opset_import: ["": 17]> det (float[3, 3] a) => (float d) { d = Det(a) }'
    onnx.save(onnx.parser.parse_model(text), tvm_suites / "classifier.onnx")
    done = tvm("pytest", tvm_suites, "-m", "tvm-llvm", "-k", "classifier")
    assert done.returncode == 1, done.stdout + done.stderr
    summary = "OpNotImplemented: The following operators are not supported for frontend ONNX: Det"
    assert f"compile: TVM's ONNX front end: {summary}\n" in done.stdout
    assert "1 failed, 58 deselected, 1 blocked" in done.stdout


@pytest.mark.slow
def test_without_a_c_compiler_tvm_s_objects_are_linked_by_iree_s_linker(tvm: Tvm, tvm_suites: Path) -> None:
    matrix = tvm_suites / "matrix.toml"
    matrix.write_text(matrix.read_text().replace('"tvm"\nflags', '"tvm"\nenv = { PATH = "" }\nflags', 1))
    done = tvm("pytest", tvm_suites, "-m", "tvm-llvm", "-k", "statistics")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compiled 0" not in done.stdout  # an artifact of the C compiler is not taken for it


@pytest.mark.slow
def test_init_suggests_tvm_for_models_and_it_agrees_with_iree(tvm: Tvm, tvm_suites: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    shutil.copy(tvm_suites / "classifier.onnx", folder)
    done = tvm("retarget.cli", folder, "init")
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'compiler = "tvm"\nflags = ["-mcpu=host"]' in (folder / "matrix.toml").read_text()
    agreed = tvm("pytest", folder, "-m", "tvm-llvm or vmvx")
    assert agreed.returncode == 0, agreed.stdout + agreed.stderr
    assert "4 passed" in agreed.stdout
