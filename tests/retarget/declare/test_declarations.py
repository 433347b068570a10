"""What TOML files declare: inheritance by folder, `extends`, references, modules, overrides."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from data_errors import error_of
from declaration_texts import compiler, declarations, runtime, suite, table, target
from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import FileName
from retarget.model import RuntimeConfig, Suite

CONFIGS = declarations(compiler("cc"), runtime("rt"), target("all", "cc", ["rt"]))

SUITE = suite("linalg")

Write = Callable[[str, str], Path]


@pytest.fixture
def write(cwd: Path) -> Write:
    """Write a file below a folder that is a repository of its own and the current folder."""
    (cwd / ".git").mkdir()

    def write_file(name: str, text: str = "") -> Path:
        path = cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write_file


def load(path: Path) -> tuple[Suite, ...]:
    return DeclarationLoader().load_suite_file(path)


def runtime_of(path: Path, name: str) -> RuntimeConfig:
    configs = [config for suite in load(path) for target in suite.targets for config in target.runtimes]
    return next(config for config in configs if config.name == name)


def test_a_suite_holds_everything_it_names(write: Write) -> None:
    write("foo.mlir")
    write("bar.mlir")
    path = write("suite.toml", CONFIGS + SUITE + 'compiler_flags = ["-x"]\ntags = ["nightly"]\ntimeout = 3\n')
    (suite,) = load(path)
    assert suite.name == "linalg"
    assert suite.folder == path.parent
    assert [module.name for module in suite.modules] == ["bar", "foo"]
    assert suite.modules[0].path == path.parent / "bar.mlir"
    assert suite.kind == "check"
    assert suite.compiler_flags == ("-x",)
    assert suite.tags == ("nightly",)
    assert suite.timeout == 3.0
    assert suite.origin.key_path == "module_test_suite[0]"
    (target,) = suite.targets
    assert [config.name for config in target.compilers] == ["cc"]
    assert [config.name for config in target.runtimes] == ["rt"]
    assert target.runtimes[0].concurrency is None


def test_a_runtime_inherits_what_it_does_not_say(write: Write) -> None:
    write("foo.mlir")
    said = {"devices": ["vulkan://0", "vulkan://1"], "flags": ["--a"], "env": {"A": "1"}, "host_arch": ["arm64"]}
    more = {"run_under": ["qemu"], "deps": ["//a"], "defines": {"X": "ON"}, "timeout": 1.5, "concurrency": 2}
    own = {"device": "vulkan://2", "flags": ["--b"], "host_os": ["android", "linux"]}
    configs = runtime("base", "vulkan", host_os="linux", **said, **more)
    configs += table("runtime_config", name="heir", extends="base", **own)
    path = write("suite.toml", compiler("cc") + configs + target("all", "cc", ["base", "heir"]) + SUITE)
    base, heir = runtime_of(path, "base"), runtime_of(path, "heir")
    assert (base.devices, heir.devices) == (("vulkan://0", "vulkan://1"), ("vulkan://2",))
    assert (heir.flags, heir.host_os) == (("--a", "--b"), ("android", "linux"))
    kept = ("driver", "env", "host_arch", "run_under", "deps", "defines", "timeout", "concurrency")
    assert [getattr(heir, name) for name in kept] == [getattr(base, name) for name in kept]


def test_darwin_means_macos(write: Write) -> None:
    write("foo.mlir")
    configs = CONFIGS.replace('driver = "local-sync"', 'driver = "local-sync"\nhost_os = ["darwin", "macos", "linux"]')
    path = write("suite.toml", configs + SUITE)
    assert runtime_of(path, "rt").host_os == ("macos", "linux")


def test_sources_come_in_the_order_of_the_globs_and_once_each(write: Write) -> None:
    for name in ("b.mlir", "a.mlir", "deep/er/c.mlir", "deep/d.mlir", ".hidden.mlir", ".git2/e.mlir"):
        write(name)
    path = write("suite.toml", CONFIGS + SUITE.replace('["*.mlir"]', '["b.mlir", "**/*.mlir"]\nexclude = ["deep/d.*"]'))
    (suite,) = load(path)
    assert [module.name for module in suite.modules] == ["b", "a", "deep/er/c"]


def test_a_link_to_itself_hides_no_other_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "found.mlir").touch()
    (suite,) = load(write("suite.toml", CONFIGS + SUITE))
    assert [module.name for module in suite.modules] == ["found"]


def test_a_glob_does_not_follow_a_link_to_a_folder_above(write: Write, tmp_path: Path) -> None:
    write("a/foo.mlir")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    (suite,) = load(write("suite.toml", CONFIGS + SUITE.replace("*.mlir", "**/*.mlir")))
    assert [module.name for module in suite.modules] == ["a/foo"]


def test_a_suite_that_allows_it_may_be_empty(write: Write) -> None:
    text = CONFIGS + SUITE + 'allow_empty = true\n[[module_test_suite.module]]\nmatch = "x"\nflags = ["-x"]\n'
    (suite,) = load(write("suite.toml", text))
    assert suite.modules == ()


def test_folders_without_a_suffix_and_declarations_are_passed_over_by_a_glob(write: Write) -> None:
    write("foo.mlir")
    write("data/input")
    (suite,) = load(write("suite.toml", CONFIGS + SUITE.replace('["*.mlir"]', '["*"]')))
    assert [module.name for module in suite.modules] == ["foo"]


def test_discover_passes_over_hidden_folders_and_virtual_environments(write: Write, tmp_path: Path) -> None:
    wanted = [write("b/suite.toml"), write("a/deep/suite.toml")]
    write(".hidden/suite.toml")
    write("venv/pyvenv.cfg")
    write("venv/lib/suite.toml")
    write("node_modules/x/suite.toml")
    assert FileName.SUITE.below([tmp_path, tmp_path / "a"]) == tuple(sorted(wanted))
    assert FileName.SUITE.below([tmp_path / "b/suite.toml"]) == (wanted[0],)
    expected = "nowhere: found no such file or folder, expected a folder with suite.toml files"
    assert error_of(FileName.SUITE.below, [Path("nowhere")]) == expected


def test_importing_the_loader_imports_no_pydantic_and_no_parser() -> None:
    program = """
import sys; own = set(sys.modules)
import retarget.declare.load, retarget.targets.expansion, retarget.targets.selection
heavy = {"pydantic", "pydantic_core", "tree_sitter", "numpy", "tomllib"}
print(sorted(heavy & set(sys.modules) - own))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
