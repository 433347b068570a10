"""The extensions of docs/extending.md, installed as anyone's package is and run by pytest in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
EXAMPLE = EXAMPLES / "retarget-wasmtime"
FORK = EXAMPLES / "retarget-mychip"

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
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--rootdir={suites}", str(suites), *arguments]
    return subprocess.run(
        command, cwd=suites, env=environment, capture_output=True, text=True, timeout=120, check=False
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
