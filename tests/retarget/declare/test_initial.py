"""Which globs `retarget init` writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.declare.initial import (
    _MANY,
    Plan,
    PlannedSuite,
    Survey,
    globs_for,
    matrix_text,
    plan_suites,
    suite_text,
    survey,
)
from retarget.declare.sources import find_modules
from retarget.extension import (
    Case,
    CaseLoader,
    CaseRequest,
    ModulesRequest,
    SuggestedSuite,
    SuggestedTarget,
    Suggestions,
)
from retarget.model import Module


@pytest.mark.parametrize(
    ("wanted", "others", "srcs", "exclude"),
    [
        (["a.mlir"], [], ["*.mlir"], []),
        (["a.mlir", "x/b.mlir"], [], ["**/*.mlir"], []),
        (["x/b.mlir", "x/c.mlir"], [], ["**/*.mlir"], []),
        (["x/b.mlir", "x/c.mlir"], ["d.mlir", "e.mlir", "y/f.mlir"], ["x/*.mlir"], []),
        (["a.mlir", "b.mlir", "c.mlir"], ["d.mlir"], ["*.mlir"], ["d.mlir"]),
        (["a.mlir"], ["d.mlir", "e.mlir"], ["a.mlir"], []),
        (["a.mlir", "b.onnx"], [], ["*.mlir", "*.onnx"], []),
        (["a.mlir", "b.mlir"], ["a b[1].mlir"], ["*.mlir"], ["a b?1?.mlir"]),
        (["a.mlir", "x/b.mlir"], ["build/c.mlir", "build/d.mlir"], ["**/*.mlir"], ["build/**"]),
        (["Makefile"], [], ["Makefile"], []),
    ],
)
def test_globs_find_exactly_the_modules(
    wanted: list[str], others: list[str], srcs: list[str], exclude: list[str], tmp_path: Path
) -> None:
    skipped = ["build"] if any(path.startswith("build/") for path in others) else []

    assert globs_for(wanted, [*wanted, *others], skipped) == (tuple(srcs), tuple(exclude))

    for path in (*wanted, *others):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    modules, problems = find_modules(tmp_path, srcs, exclude, allow_empty=False)
    assert not problems
    assert sorted(module.path.relative_to(tmp_path).as_posix() for module in modules) == sorted(wanted)


def test_names_are_globs_where_a_kind_finds_its_files_by_name() -> None:
    wanted = ["x/flags.txt", "y/flags.txt", "y/more.txt"]

    assert globs_for(wanted, [*wanted, "notes.txt"], by_name=True) == (("**/flags.txt", "**/more.txt"), ())


@pytest.fixture
def surveyed(tmp_path: Path) -> Survey:
    """Two modules, and files that can be none."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.mlir", "b.mlir", "c d.mlir", ".hidden.mlir"):
        (folder / name).touch()
    (tmp_path / "out.mlir").touch()
    (folder / "gone.mlir").symlink_to("nowhere")
    (folder / "link.mlir").symlink_to(folder / "a.mlir")
    (folder / "out.mlir").symlink_to(tmp_path / "out.mlir")
    return survey(folder)


NO_MODULES = {
    "c d.mlir": "has a blank or one of : * ? [ ] \\ in its path, which becomes the name of targets: "
    "give it another name",
    "gone.mlir": "is a link to nothing",
    "out.mlir": "links to a file outside this folder",
}


def test_files_that_cannot_be_modules_are_listed_with_the_reason(surveyed: Survey) -> None:
    assert [path.name for path in surveyed.files] == ["a.mlir", "b.mlir", "link.mlir"]
    assert {path.name: reason for path, reason in surveyed.unusable} == NO_MODULES


def test_values_that_no_module_names_are_left_out_with_what_to_do(tmp_path: Path) -> None:
    for name in ("a.mlir", "a.toml", "a.npy", "other.npy"):
        (tmp_path / name).touch()
    advice = "has values: name it in a case"

    class Kind(CaseLoader):
        kind = "kind"

        def load(self, request: CaseRequest) -> tuple[Case, ...]:
            raise NotImplementedError

        def suggest_suites(self, request: ModulesRequest) -> Suggestions:
            module, *data = sorted(request.files, key=lambda path: path.suffix != ".mlir")
            suite = SuggestedSuite(files=(module,), comment=())
            return Suggestions(suites=(suite,), data=tuple((path, advice) for path in data))

        def find_modules(self, folder: Path, srcs: Sequence[Path]) -> tuple[Module, ...]:
            return tuple(Module(name=path.stem, path=path, data=(path.with_suffix(".toml"),)) for path in srcs)

        def data_files(self, module: Module, folder: Path) -> tuple[Path, ...]:
            return (folder / "sub" / ".." / f"{module.name}.npy",)

    registry: Any = SimpleNamespace(case_loaders={"kind": Kind()})
    plan = plan_suites(survey(tmp_path), registry, reference="", taken=())
    assert plan.left_out == ((tmp_path / "other.npy", advice),)


def test_the_text_of_a_matrix_has_each_config_and_runtime_once() -> None:
    targets = [
        SuggestedTarget(name="cpu", comment="the CPU", compiler_config="llvm", flags=("-a",), drivers=("sync", "task")),
        SuggestedTarget(name="gpu", comment="a GPU", compiler_config="spirv", target_from=("p",), drivers=("vulkan",)),
        SuggestedTarget(name="two", comment="both", compiler_config="x", target_from=("p", "q"), drivers=("task",)),
    ]
    compilers = {"llvm": "iree", "spirv": "iree", "x": "own"}
    text = matrix_text(targets, compilers, ["cuda: gone", "hip: gone"])
    assert text.split("\n\n")[1:] == [
        '# the CPU\n[[compiler_config]]\nname = "llvm"\ncompiler = "iree"\nflags = ["-a"]',
        '# a GPU\n[[compiler_config]]\nname = "spirv"\ncompiler = "iree"\ntarget_from = "p"',
        '# both\n[[compiler_config]]\nname = "x"\ncompiler = "own"\ntarget_from = ["p", "q"]',
        *(f'[[runtime_config]]\nname = "{name}"\ndriver = "{name}"' for name in ("sync", "task", "vulkan")),
        "# The names that suites use: what is compiled how, and run where.\n[[target_config]]\n"
        'name = "cpu"\ncompiler = "llvm"\nruntimes = ["sync", "task"]',
        '[[target_config]]\nname = "gpu"\ncompiler = "spirv"\nruntimes = ["vulkan"]',
        '[[target_config]]\nname = "two"\ncompiler = "x"\nruntimes = ["task"]',
        "# Drivers that found no device here (`retarget devices` looks again):\n#   cuda: gone\n#   hip: gone\n",
    ]
    assert "Drivers that found" not in matrix_text(targets, compilers, [])


@pytest.mark.parametrize("count", [0, 1, 12, 14])
def test_the_text_of_a_suite_has_its_modules_and_what_is_in_none(count: int, tmp_path: Path) -> None:
    suggestion = SuggestedSuite(files=(tmp_path / "a.mlir",), comment=("one", "two"), compiler_flags=("-x",))
    found = Survey(
        folder=tmp_path, files=(), unusable=(), present=("a.mlir", "b.mlir", "c.mlir"), skipped=(), declared=()
    )
    left_out = tuple((tmp_path / f"{number}.mlir", "is odd") for number in range(count))
    plan = Plan(suites=(PlannedSuite(name="s", kind="check", suggestion=suggestion),), left_out=left_out)
    parts = suite_text(plan, found, {"s": ("cpu", "gpu")}).split("\n\n")
    assert parts[1].rstrip("\n") == (
        '# one\n# two\n[[module_test_suite]]\nname = "s"\nsrcs = ["a.mlir"]\nkind = "check"\ntargets = ["cpu", "gpu"]\n'
        'compiler_flags = ["-x"]'
    )
    shown = min(count, _MANY)
    lines = ["# In no suite:", *(f"#   '{number}.mlir' is odd" for number in range(shown))]
    lines += [f"#   and {count - _MANY} more files"] if count > _MANY else []
    assert parts[2:] == (["\n".join(lines) + "\n"] if count else [])


def test_folders_without_sources_and_folders_of_other_suites_are_not_entered(tmp_path: Path) -> None:
    for name in (
        *(
            "a.mlir",
            "ops/b.mlir",
            "ops/suite.toml",
            "ops/deep/c.mlir",
            "build/d.mlir",
            "x/build/e.mlir",
            "builder/f.mlir",
        ),
        *(
            "env/pyvenv.cfg",
            "env/lib/g.mlir",
            ".git/h.mlir",
            "x/suite.toml.txt",
            "matrix.toml",
            "x/.hidden",
            "dist/y/z.mlir",
        ),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = survey(tmp_path)
    names = [path.relative_to(tmp_path).as_posix() for path in found.files]
    assert names == ["a.mlir", "builder/f.mlir", "x/suite.toml.txt"]
    assert found.skipped == ("build", "dist", "env", "ops", "x/build")
    assert found.declared == ("ops",)
    assert {*found.present} - {*names} == {
        *("build/d.mlir", "dist/y/z.mlir", "env/lib/g.mlir", "env/pyvenv.cfg", "ops/b.mlir", "ops/deep/c.mlir"),
        "x/build/e.mlir",
    }
