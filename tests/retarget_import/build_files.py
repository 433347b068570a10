"""BUILD files to import, and what became of them: the texts and steps that the tests of `import-bazel` share."""

from __future__ import annotations

from pathlib import Path

from retarget.cli import main
from retarget.model import RunTarget, Target
from retarget.session import DeclarationLoader, expand_suite, load_extensions

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
    return main(["import-bazel", ".", "-o", ".", *more])


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
