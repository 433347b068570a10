"""Toolchains in declarations: names, places, redirections, and the words of the targets that use them."""

from __future__ import annotations

from pathlib import Path

import pytest
from data_errors import error_of
from retarget.declare.load import DeclarationLoader
from retarget.declare.named_configs import redirections
from retarget.extension.registry import Registry
from retarget.model import Suite, Toolchain
from retarget.results.record import TargetRecord
from retarget.targets.expansion import expand_suite

TEXT = """
[[toolchain]]
name = "iree-{v}"
path = "builds/{v}"
tags = ["nightly"]
axes = { v = ["1", "2"] }
[[toolchain]]
name = "here"
path = "PATH"

[[compiler_config]]
name = "cpu-{v}"
compiler = "iree"
toolchain = "iree-{v}"
axes = { v = ["1", "2"] }
[[runtime_config]]
name = "task"
driver = "local-task"
toolchain = "here"
[[target_config]]
name = "cpu"
compiler = "cpu-*"
runtimes = ["task"]

[[module_test_suite]]
name = "all"
srcs = ["a.mlir"]
kind = "check"
targets = ["cpu"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "a.mlir").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / "suite.toml").write_text(TEXT)
    return tmp_path / "suite.toml"


def used(suite: Suite) -> list[Toolchain | None]:
    return [config.toolchain for config in suite.targets[0].compilers]


def test_a_redirected_toolchain_is_elsewhere_and_its_targets_keep_their_names(file: Path) -> None:
    elsewhere = redirections(["iree-2=PATH", "here=../x"], file.parent)
    loader = DeclarationLoader(toolchains=elsewhere)
    (suite,) = loader.load_suite_file(file)
    loader.check_redirections()
    assert [one and one.path for one in used(suite)] == [file.parent / "builds/1", None]
    assert {one.name: one.path for one in loader.toolchains}["here"] == file.parent.parent / "x"
    (plain,) = DeclarationLoader().load_suite_file(file)
    moved, declared = (
        {target.name: TargetRecord.declared(target, Registry()).toolchains for target in expand_suite(one, Registry())}
        for one in (suite, plain)
    )
    assert [*moved] == [*declared]
    assert set(declared.values()) == {()}
    given = "iree-2=PATH", f"here={file.parent.parent / 'x'}"
    assert moved == {"a_cpu-1": (), "a_cpu-1_task": (given[1],), "a_cpu-2": (given[0],), "a_cpu-2_task": given}


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["iree-1"], "'iree-1', expected NAME=PATH"),
        (["=x"], "'=x', expected NAME=PATH"),
        (["a="], "'a=', expected NAME=PATH"),
        (["a=x", "a=y"], "'a' a second time, expected it once"),
    ],
)
def test_other_forms_are_errors(texts: list[str], found: str) -> None:
    expected = "the name of a [[toolchain]] and where it is in this session"
    assert error_of(redirections, texts, Path("/")) == f"--retarget-toolchain: found {found}: {expected}"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'toolchain = "here"',
            'toolchain = "her"',
            ":19: runtime_config[0].toolchain: found 'her', expected the name of a toolchain declared in this file or "
            "above; did you mean 'here'?",
        ),
        (
            'tags = ["nightly"]',
            'tags = ["ok", "a b"]',
            ":5: toolchain[0].tags[1]: found 'a b', expected a word for -m: letters, digits and any of _ : + - . [ ] "
            "/ \\",
        ),
        ('path = "PATH"', 'path = ""', ":9: toolchain[1].path: found an empty path, expected a folder, or PATH"),
        (
            'name = "here"',
            'name = "iree-1"',
            ":8: toolchain[1].name: found 'iree-1', which toolchain[0] declares already; expected another name",
        ),
    ],
)
def test_an_error_of_a_toolchain_is_reported_with_its_line(file: Path, old: str, new: str, expected: str) -> None:
    file.write_text(TEXT.replace(old, new))
    assert error_of(DeclarationLoader().load_suite_file, file).splitlines()[0].endswith(expected)


@pytest.mark.parametrize(
    ("path", "tool", "message"),
    [
        ("build", "../tool", "found '../tool', expected a file below path ('build'), relative to it"),
        ("build", "a/../../tool", "found 'a/../../tool', expected a file below path ('build'), relative to it"),
        ("build", "/bin/true", "found '/bin/true', expected a file below path ('build'), relative to it"),
        ("build", ".", "found '.', expected a file below path ('build'), relative to it"),
        ("PATH", "tool", "found 'tool' beside path = 'PATH', expected run_with where path is a folder"),
    ],
)
def test_the_tool_of_a_toolchain_lies_in_its_folder(tmp_path: Path, path: str, tool: str, message: str) -> None:
    file = tmp_path / "matrix.toml"
    file.write_text(f'[[toolchain]]\nname = "t"\npath = "{path}"\nrun_with = "{tool}"\n')
    [found] = DeclarationLoader().read_matrix_file(file)
    assert str(found).endswith(f"matrix.toml:4: toolchain[0].run_with: {message}")
