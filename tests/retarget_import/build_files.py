"""BUILD files to import, and what became of them: the texts and steps that the tests of `import-bazel` share."""

from __future__ import annotations

import re
from pathlib import Path

from retarget.cli import main
from retarget.model import RunTarget, Target
from retarget.session import DeclarationLoader, expand_suite, load_extensions
from retarget_import.command import _build_files, _folders, _read
from retarget_import.read import sorted_flags, split_backend

__all__ = ["CHECK", "FIRST", "MODULE", "import_here", "names", "suite_text", "targets", "write"]

CHECK = "//build_tools/bazel:iree_check_test.bzl"
LOAD = f'''load("//build_tools/bazel:enforce_glob.bzl", "enforce_glob")
load("{CHECK}", "iree_check_single_backend_test_suite", "iree_check_test_suite", "iree_check_test")
load("//build_tools/bazel:iree_lit_test.bzl", "iree_lit_test_suite")

package(
    features = ["layering_check"],
    licenses = ["notice"],
)
'''
FIRST = """
iree_check_single_backend_test_suite(
    name = "check_llvm-cpu_local-task",
    srcs = ["a.mlir", "b.mlir"],
    driver = "local-task",
    target_backend = "llvm-cpu",
)
"""
MODULE = "func.func @f() { return }\n"


def write(folder: Path, text: str, *files: str, load: str = LOAD) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "BUILD.bazel").write_text(load + text)
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(MODULE)


def import_here(*more: str) -> int:
    """Import the current folder; each of the original tests has a target then, and there are no others."""
    status = main(["import-bazel", ".", "-o", ".", *more])
    if status == 0:
        expect_same(Path())
    return status


_Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...], str]
"""Module with its folder, backend, driver (empty: compile only), flags, flags of the runtime, architecture."""


def expect_same(output: Path) -> None:
    """Fail where a test of the BUILD files below a folder has no target in its declarations, or one with other tags."""
    builds = _read([*_build_files([output])])
    folders, _ = _folders(builds, output.resolve(), load_extensions())
    wanted: dict[_Key, frozenset[str]] = {}
    for folder in folders:
        for test in folder.tests:
            module = f"{folder.path}/{test.module}".removeprefix("./")
            flags, runner = sorted_flags(test.flags), sorted_flags(test.runner_flags)
            wanted[module, test.backend, test.driver, flags, runner, test.arch] = test.tags
    found = {_key_of(output, target): target for target in targets(output)}
    assert wanted.keys() - found.keys() == set()
    runs = {key[:2] + key[3:4] for key in found if key[2]}
    assert {key for key in found.keys() - wanted.keys() if key[2] or key[:2] + key[3:4] not in runs} == set()
    texts = "".join(path.read_text() for name in ("matrix", "suite") for path in output.rglob(f"{name}.toml"))
    vocabulary = {tag for tags in wanted.values() for tag in tags} - set(
        re.findall(r'(?m)^(?:name|driver) = "(.*)"', texts)
    )
    for key, tags in wanted.items():
        assert tags == tags & {*found[key].tags}
        assert vocabulary & {*found[key].tags} <= tags


def _key_of(output: Path, target: Target) -> _Key:
    compiled = target.compiled
    module = compiled.module.path.resolve().relative_to(output.resolve()).as_posix()
    is_opt = compiled.compiler.compiler == "iree-opt"
    backend, flags = ("iree-opt", compiled.flags) if is_opt else split_backend(compiled.flags)
    if isinstance(target, RunTarget):
        runtime = target.runtime
        arch = "".join(runtime.host_arch)
        return module, backend, runtime.driver, sorted_flags(flags), sorted_flags(runtime.flags), arch
    return module, backend, "", sorted_flags(flags), (), ""


def targets(folder: Path) -> list[Target]:
    registry = load_extensions()
    loader = DeclarationLoader(registry)
    found: list[Target] = []
    for path in sorted(folder.rglob("suite.toml")):
        suites, diagnostics = loader.read_suite_file(path)
        assert not diagnostics
        found += [target for suite in suites for target in expand_suite(suite, registry)]
    return found


def names(folder: Path) -> list[str]:
    return sorted(target.name for target in targets(folder) if isinstance(target, RunTarget))


def suite_text() -> str:
    return Path("suite.toml").read_text()
