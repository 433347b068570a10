"""`retarget bringup start`: what it writes for a new backend, and what it refuses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.extension import CompileRequest, CompilerError, DriverError, Resolved
from retarget.model import CheckState, Origin, Rung, RuntimeConfig
from retarget.session import FileName, RunService, load_extensions
from retarget.session.run.service import check_driver, selected_checks
from retarget_bringup.ladder.files import read_ladder, read_settings
from retarget_bringup.start import STARTER

ORIGIN = Origin(file=Path("matrix.toml"), key_path="runtime_config[0]")
KNOWN = "llvm-cpu, vmvx, vulkan, cuda, rocm, opencl"

SUITE = """\
[[compiler_config]]
name = "vmvx"
compiler = "iree"
flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]

[[compiler_config]]
name = "llvm-cpu"
compiler = "iree"
flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]

[[runtime_config]]
name = "local-sync"
driver = "local-sync"

[[target_config]]
name = "portable"
compiler = "vmvx"
runtimes = ["local-sync"]

[[target_config]]
name = "fast"
compiler = "llvm-cpu"
runtimes = ["local-sync"]
"""
USING = """
[[module_test_suite]]
name = "own"
srcs = ["*.mlir"]
kind = "check"
targets = ["fast", "portable"]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("like", KNOWN.split(", "))
def test_what_is_written_for_a_backend_is_free_of_errors(
    here: Path, like: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bringup", "start", "npu", "--like", like]) == 0
    assert main(["check"]) == 0
    assert re.search(r"no errors in 2 files, 1 suite, 74 compile targets, \d+ run targets", capsys.readouterr().out)
    settings = read_settings(here / "bringup" / "npu.toml")
    assert (settings.paths, settings.select, settings.stable) == (["bringup/npu"], "npu", 3)
    assert settings.reference == ("vmvx/local-sync" if like == "llvm-cpu" else "llvm-cpu/local-task")
    assert read_ladder(settings.ladder_file).lines == ()


def test_it_prints_what_it_wrote_and_what_to_do_next(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bringup", "start", "npu", "--like", "vulkan"]) == 0
    assert capsys.readouterr().out == (
        "wrote bringup/npu.toml         what the bring-up is about\n"
        "wrote bringup/npu.ladder       how far each target has come: none was tried yet\n"
        "wrote bringup/npu/matrix.toml  the configs\n"
        "wrote bringup/npu/suite.toml   the starter suite: 37 modules, the smallest first\n"
        "next:\n"
        "  retarget bringup driver vulkan  # rungs 0 to 2: the driver alone\n"
        "  retarget bringup npu            # rungs 3 to 8: every module, and what blocks the most\n"
        "  retarget bringup npu --next     # the one thing to do next\n"
    )


def test_the_configs_differ_from_those_of_the_other_backend_by_their_name(here: Path) -> None:
    assert main(["bringup", "start", "npu", "--like", "llvm-cpu"]) == 0
    matrix = tomllib.loads((here / "bringup" / "npu" / "matrix.toml").read_text())
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
    assert matrix["compiler_config"][0] == {
        "name": "npu",
        "compiler": "iree",
        "flags": [*flags, "--iree-llvmcpu-target-cpu=host"],
    }
    assert [(one["name"], one["driver"]) for one in matrix["runtime_config"]] == [
        ("npu-local-sync", "local-sync"),
        ("npu-local-task", "local-task"),
        ("local-sync", "local-sync"),
    ]
    assert matrix["target_config"][0]["runtimes"] == ["npu-local-sync", "npu-local-task"]


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bringup").mkdir()
    (here / "bringup" / "npu.ladder").write_text("mine\n")
    assert main(["bringup", "start", "npu", "--like", "vulkan"]) == 1
    expected = "which is not overwritten; choose another NAME, or remove what is there"
    assert capsys.readouterr().err == f"found bringup/npu.ladder, {expected}\n"
    assert written(here) == ["bringup/npu.ladder"]


def test_configs_of_a_file_above_are_used_and_not_declared_again(here: Path) -> None:
    (here / "matrix.toml").write_text(SUITE)
    assert main(["bringup", "start", "portable"]) == 0
    assert tomllib.loads((here / "bringup" / "portable" / "matrix.toml").read_text()) == {
        "runtime_config": [{"name": "local-task", "driver": "local-task"}],
        "target_config": [{"name": "portable-reference", "compiler": "llvm-cpu", "runtimes": ["local-task"]}],
    }
    assert main(["check"]) == 0


def test_a_target_config_that_suites_test_is_brought_up_with_these_suites(here: Path) -> None:
    (here / "suites").mkdir()
    (here / "suites" / "suite.toml").write_text(SUITE + USING)
    (here / "suites" / "a.mlir").touch()
    assert main(["bringup", "start", "portable"]) == 0
    assert written(here / "bringup") == ["portable.ladder", "portable.toml"]
    settings = read_settings(here / "bringup" / "portable.toml")
    assert (settings.paths, settings.reference) == (["suites"], "llvm-cpu/local-sync")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["npu", "--like", "vulcan"], 2, f"--like: found 'vulcan'; expected --like with one of {KNOWN}, or "
         "--extension; did you mean 'vulkan'?"),
        (["npu"], 2, f"found no target config 'npu' here; expected --like with one of {KNOWN}, or --extension"),
        (["driver", "--like", "cuda"], 2, "NAME: found 'driver', which is an action of `retarget bringup`; expected "
         "another name"),
        (["../x", "--like", "cuda"], 2, "NAME: found '../x', expected a name without '_', which separates the parts of "
         "a target's name: a letter or digit, then letters, digits and any of . + -; did you mean 'x'?"),
        (["n" * 61, "--like", "cuda"], 2, "NAME: found 61 characters, expected at most 60: the name is part of those "
         "of all targets"),
        (["vmvx", "--like", "vmvx"], 1, "found the name 'vmvx' in compiler_config[0] of matrix.toml already; choose "
         "another NAME"),
        (["local-sync", "--extension"], 1, "found the name 'local-sync' in runtime_config[0] of matrix.toml already; "
         "choose another NAME"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    here: Path, arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "matrix.toml").write_text(SUITE)
    assert main(["bringup", "start", *arguments]) == status
    assert capsys.readouterr().err == f"retarget: {message}\n".removeprefix("retarget: " if status == 1 else "")
    assert written(here) == ["matrix.toml"]


def test_nothing_in_the_package_is_collected_as_a_suite() -> None:
    assert list(FileName.SUITE.below([STARTER.parent])) == []
    assert not [*STARTER.parent.rglob("matrix.toml")]


@pytest.fixture
def package(here: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module of a package that was just written. Its name is of no other test: modules stay imported."""
    assert main(["bringup", "start", "npu-2", "--extension"]) == 0
    monkeypatch.syspath_prepend(str(here / "retarget-npu-2"))
    return "retarget_npu_2"


@pytest.mark.slow
def test_the_driver_of_the_package_passes_every_check_of_rungs_0_to_2(package: str) -> None:
    with RunService(extensions=(package,), default_timeout=60.0) as service:
        config = RuntimeConfig(name="npu-2", driver="npu-2", origin=ORIGIN)
        report = check_driver(service, config, selected_checks(service))
    assert {one.check: one.detail for one in report.outcomes if one.state is not CheckState.PASSED} == dict.fromkeys(
        ("queue.independent", "queue.joined", "queue.shared"),
        "the device announces that its submissions are done when they return",
    )
    assert report.rung is Rung.TRANSFERS


def test_what_is_to_be_written_in_the_package_names_its_file_and_its_rung(
    package: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--retarget-extension", package]) == 0
    registry = load_extensions([package])
    resolved = Resolved(build_id="", flags=())
    request = CompileRequest(source=b"", source_name="a.mlir", source_path=here / "a.mlir", resolved=resolved)
    with pytest.raises(CompilerError) as refused:
        registry.compiler("npu-2").compile(request)
    assert str(refused.value) == (
        "retarget_npu_2/compiler.py: Npu2Compiler.compile is not written yet: return the artifact of a module; this "
        "unlocks the rung compiles"
    )
    config = RuntimeConfig(name="npu-2", driver="npu-2", origin=ORIGIN)
    with pytest.raises(DriverError) as unloaded:
        registry.driver("npu-2").open(config).load(b"")
    assert str(unloaded.value) == (
        "retarget_npu_2/driver.py: Npu2Program.__init__ is not written yet: load an artifact and list its functions; "
        "this unlocks the rung loads"
    )
