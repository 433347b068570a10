"""Case digests: what changes one, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.expect.verdict import RankedRule, TargetRules
from retarget.extension.registry import Registry, load_extensions
from retarget.model import Expectation, Module, Requirement, RunTarget
from retarget.session.run.reuse import CaseDigests

CASES = """\
[[case]]
inputs = ["in.npy"]
expected = [[1.0]]
tolerance = {atol = 0.5}
[[case]]
name = "by reference"
inputs = [[2.0]]
reference = "ref.py:square"
"""
RULE = Expectation(match=("m",), stages=("run",), reason="why", origin=ORIGIN)


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_extensions(())


def cases_target(folder: Path) -> RunTarget:
    for name, text in {"m.mlir": "", "in.npy": "12", "ref.py": "def square(x): ...", "m.cases.toml": CASES}.items():
        (folder / name).write_text(text)
    module = Module(name="m", path=folder / "m.mlir", data=(folder / "m.cases.toml",))
    return run_target(replace(compile_target(kind="cases", folder=folder), module=module))


def flagfile_target(folder: Path) -> RunTarget:
    texts = {"m.mlir": "", "a.txt": "--flagfile=common.txt\n--input=2xf32=@in.bin\n", "in.bin": "12345678"}
    texts |= {"common.txt": "--expected_f32_threshold=0.5\n--expected_output=2xf32=@out.npy\n--parameters=w.irpa\n"}
    for name, text in {**texts, "out.npy": "", "w.irpa": "weights"}.items():
        (folder / name).write_text(text)
    module = Module(name="m", path=folder / "m.mlir", data=(folder / "a.txt",))
    return run_target(replace(compile_target(kind="run-module", folder=folder), module=module))


@pytest.mark.parametrize("name", ["in.npy", "ref.py", "m.cases.toml"])
def test_it_covers_cases_files_and_what_they_name(tmp_path: Path, registry: Registry, name: str) -> None:
    target = cases_target(tmp_path)
    before = CaseDigests(registry).of(target)
    assert CaseDigests(registry).of(target) == before
    path = tmp_path / name
    path.write_text(path.read_text().replace("0.5", "0.25") + "\n")
    assert CaseDigests(registry).of(target) != before


@pytest.mark.parametrize("name", ["a.txt", "common.txt", "in.bin", "out.npy", "w.irpa"])
def test_it_covers_flagfiles_what_they_include_and_what_they_name(
    tmp_path: Path, registry: Registry, name: str
) -> None:
    target = flagfile_target(tmp_path)
    before = CaseDigests(registry).of(target)
    with (tmp_path / name).open("a") as file:
        file.write("\n")
    assert CaseDigests(registry).of(target) != before
    (tmp_path / name).unlink()
    assert CaseDigests(registry).of(target) != before


def test_the_module_itself_is_the_compile_keys_to_cover(tmp_path: Path, registry: Registry) -> None:
    target = cases_target(tmp_path)
    before = CaseDigests(registry).of(target)
    tried = CaseDigests(registry).trial(target)
    (tmp_path / "m.mlir").write_text("another")
    assert CaseDigests(registry).of(target) == before
    assert CaseDigests(registry).trial(target) != tried


def _with(**fields: object) -> Callable[[RunTarget], RunTarget]:
    return lambda target: replace(target, runtime=replace(target.runtime, **fields))


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (_with(driver="vulkan"), True),
        (_with(devices=("vulkan://0",)), True),
        (_with(flags=("--task_topology_group_count=1",)), True),
        (_with(env=(("A", "1"),)), True),
        (_with(run_under=("qemu-riscv64",)), True),
        (lambda target: replace(target, timeout=5.0), True),
        (lambda target: replace(target, requires=(Requirement(text="memory >= 1", origin=ORIGIN),)), True),
        (_with(tags=("other",)), False),
        (_with(deps=("library",)), False),
        (lambda target: replace(target, tags=("other",)), False),
    ],
)
def test_it_covers_how_a_target_is_run(
    registry: Registry, change: Callable[[RunTarget], RunTarget], counts: bool
) -> None:
    target = run_target(compile_target())
    digests = CaseDigests(registry)
    assert (digests.of(change(target)) != digests.of(target)) is counts


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({"outcome": "skip"}, True),
        ({"stages": ("load",)}, True),
        ({"signature": "x"}, True),
        ({"retries": 2}, True),
        ({"until": date(2030, 1, 1)}, True),
        ({"reason": "in other words", "issue": "https://example.org/1"}, False),
    ],
)
def test_it_covers_what_is_expected(registry: Registry, change: dict[str, object], counts: bool) -> None:
    digests = CaseDigests(registry)
    for target in (compile_target(), run_target(compile_target())):
        without, plain, other = (
            digests.of(target, TargetRules(whole=rule)) for rule in (None, RULE, replace(RULE, **change))
        )
        assert plain != without
        assert (other != plain) is counts
    by_case = TargetRules(by_case=(RankedRule(pattern="f", rule=replace(RULE, cases=("f",)), rank=()),))
    assert digests.of(compile_target(), by_case) != digests.of(compile_target())


def test_it_covers_what_the_suite_says_that_cases_agree_with(tmp_path: Path, registry: Registry) -> None:
    target = cases_target(tmp_path)
    digests = {
        CaseDigests(registry).of(replace(target, compile=replace(target.compile, agree=agree)))
        for agree in ("", "majority", "vmvx")
    }
    assert len(digests) == 3
