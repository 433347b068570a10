"""Extensions are checked as they register; what is wrong with one names it."""

# ruff: noqa: E501  (a table has a row for each case)

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from extension_texts import TINY_COMPILER
from msgspec.structs import replace
from retarget.extension import registry
from retarget.extension.registry import EXTENSIONS_VARIABLE, Registry, load_commands, load_extensions
from retarget.support.dependencies import installed_extensions
from retarget.support.errors import RetargetError
from targets_of_doubles import run_target, runtime_config, toolchain

GOOD = (
    "from retarget.extension import hookimpl\n"
    + TINY_COMPILER
    + """\
    def tags(self, config): return ["tiny-backend"]
    def reproduce(self, target, flags, output): return ["tiny"]

class Loader(retarget.extension.CaseLoader):
    kind = "lines"
    def load(self, request): return []

@hookimpl
def retarget_compilers():
    return [Compiler()]

@hookimpl
def retarget_case_loaders():
    yield Loader()
"""
)

COMMAND = """
from retarget.extension import Command, hookimpl

class Greet(Command):
    name = "greet"
    help = "greet somebody"
    examples = (("retarget greet world", "greet the world"),)
    def add_arguments(self, parser): parser.add_argument("whom")
    def run(self, arguments):
        print(f"hello {arguments.whom}")
        return 3

@hookimpl
def retarget_commands():
    return [Greet()]
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write an extension module that can be imported for the length of a test; returns its name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(EXTENSIONS_VARIABLE, raising=False)

    def write_module(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write_module


def diagnostic(*names: str) -> str:
    with pytest.raises(RetargetError) as caught:
        load_extensions(names, installed=())
    return str(caught.value)


def test_an_extension_provides_compilers_drivers_and_case_loaders(write: Write) -> None:
    registry = load_extensions([write("ext_good", GOOD)], installed=())
    assert list(registry.compilers) == ["tiny"]
    assert list(registry.drivers) == []
    assert list(registry.case_loaders) == ["lines"]
    assert registry.compiler("tiny").artifact_suffix == ".bin"
    assert registry.origins == {("compiler", "tiny"): "ext_good", ("case loader", "lines"): "ext_good"}


def test_extensions_may_be_named_by_the_environment(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    other = GOOD.replace('"tiny"', '"other"').replace('"lines"', '"other"')
    names = [write("ext_one", GOOD), write("ext_two", other)]
    monkeypatch.setenv(EXTENSIONS_VARIABLE, os.pathsep.join([*names, "", names[0]]))
    assert list(load_extensions(installed=()).compilers) == ["tiny", "other"]
    assert list(load_extensions(names, installed=()).compilers) == ["tiny", "other"]


def test_extensions_may_be_named_by_entry_points(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    name = write("ext_entry", "class Namespace:\n" + "".join(f"    {line}\n" for line in GOOD.splitlines()))
    write(name, GOOD + "\nimport sys\nitself = sys.modules[__name__]\n")
    registry = load_extensions([name], installed=[("mine", f"{name}:itself")])
    assert registry.origins["compiler", "tiny"] == "mine"


def test_the_shipped_extension_loads_without_importing_iree() -> None:
    import subprocess

    program = "import sys; from retarget.extension.registry import load_extensions; registry = load_extensions()\n"
    program += "heavy = [name for name in ('iree', 'numpy', 'jinja2', 'pyopencl') if name in sys.modules]\n"
    program += "print(sorted(registry.compilers), heavy)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "'iree'" in done.stdout
    assert done.stdout.endswith("[]\n")


HOOK = "from retarget.extension import hookimpl\n@hookimpl\n"
KNOWN = "retarget_compilers, retarget_drivers, retarget_case_loaders, retarget_commands"

BAD_HOOKS = {
    "an unknown hook": ("def retarget_compiler(): return []\n", f"found the unknown hook 'retarget_compiler', expected one of {KNOWN}; did you mean 'retarget_compilers'?"),
    "a hook with arguments": ("def retarget_drivers(config): return []\n", "found the hook retarget_drivers(config), expected retarget_drivers() without arguments"),
    "a hook that fails": ("def retarget_drivers(): return [1 / 0]\n", "hook retarget_drivers failed: ZeroDivisionError: division by zero"),
    "a hook that exits": ("def retarget_drivers(): raise SystemExit(3)\n", "hook retarget_drivers failed: SystemExit: 3"),
    "a hook that returns no list": ("def retarget_drivers(): return None\n", "hook retarget_drivers returned None, expected a tuple of drivers"),
    "a product without a name": ("def retarget_drivers(): return [object()]\n", "hook retarget_drivers: found an object of class object, expected one of a subclass of retarget.extension.Driver: class object(retarget.extension.Driver)"),
}  # fmt: skip

BAD_EDITS = {  # a part of an extension, and what replaces it
    "a compiler without a suffix": (GOOD, '    artifact_suffix = ".bin"\n', "", "hook retarget_compilers: compiler 'tiny': found no artifact_suffix, expected str"),
    "a missing method": (GOOD, "def compile", "def compiles", "hook retarget_compilers failed: TypeError: Can't instantiate abstract class Compiler with"),
    "a method with too few arguments": (GOOD, "resolve(self, config, flags)", "resolve(self, config)",
        "hook retarget_compilers: compiler 'tiny': found resolve(config), expected resolve(config, flags)"),
    "a method with other arguments": (GOOD, "resolve(self, config, flags)", "resolve(self, config, options)",
        "hook retarget_compilers: compiler 'tiny': found resolve(config, options), expected resolve(config, flags)"),
    "a case loader without its kind": (GOOD, '    kind = "lines"\n', "", "hook retarget_case_loaders: found Loader with kind = None, expected a case loader whose kind is a string"),
    "a command whose name cannot be typed": (COMMAND, '"greet"', '"Greet all"', "hook retarget_commands: command 'Greet all': expected a name of lower-case letters, digits and single hyphens"),
    "a command without help": (COMMAND, "    help", "    text", "hook retarget_commands: command 'greet': found no help, expected str"),
    "a command that does not run": (COMMAND, "def run", "def start", "hook retarget_commands failed: TypeError: Can't instantiate abstract class Greet with"),
}  # fmt: skip

BAD_EXTENSIONS = {
    **{name: (HOOK + text, message) for name, (text, message) in BAD_HOOKS.items()},
    **{name: (text.replace(old, new), message) for name, (text, old, new, message) in BAD_EDITS.items()},
    "an unmarked hook": (
        "def retarget_drivers(): return []\n",
        "found the hook 'retarget_drivers' unmarked, expected @retarget.extension.hookimpl before it",
    ),
    "no hook": ("x = 1\n", f"found no hook, expected one or more of {KNOWN}"),
}


@pytest.mark.parametrize("name", BAD_EXTENSIONS)
def test_a_bad_extension_is_refused_by_name(write: Write, name: str) -> None:
    text, message = BAD_EXTENSIONS[name]
    found = diagnostic(write("ext_bad", text))
    is_whole = "abstract class" not in message  # Python words it by its version
    assert (
        found if is_whole else found[: len("extension 'ext_bad': ") + len(message)]
    ) == f"extension 'ext_bad': {message}"


def test_two_extensions_may_not_bring_one_name(write: Write) -> None:
    names = [write("ext_first", GOOD), write("ext_second", GOOD)]
    assert diagnostic(*names) == "extension 'ext_second': compiler 'tiny' is provided by extension 'ext_first' already"


def test_methods_may_take_more_than_is_asked(write: Write) -> None:
    text = GOOD.replace("resolve(self, config, flags)", "resolve(self, *args, **more)")
    text = text.replace("compile(self, request)", "compile(self, request, *, level=3)")
    assert list(load_extensions([write("ext_more", text)], installed=()).compilers) == ["tiny"]


def test_what_is_not_registered_is_reported_with_what_is(write: Write) -> None:
    registry = load_extensions([write("ext_good", GOOD)], installed=())
    for find, name, message in (
        (
            registry.compiler,
            "tinny",
            "found the compiler 'tinny', expected a registered one: tiny; did you mean 'tiny'?",
        ),
        (
            registry.driver,
            "vulkan",
            "found the driver 'vulkan', expected a registered one: none; is the extension that provides it installed?",
        ),
        (
            registry.case_loader,
            "check",
            "found the case loader 'check', expected a registered one: lines; is the extension that provides it "
            "installed?",
        ),
    ):
        with pytest.raises(RetargetError) as caught:
            find(name)
        assert str(caught.value) == message


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository's folder that is not on `sys.path`; the current folder is `a/b` in it."""
    here = tmp_path / "repository" / "a" / "b"
    here.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delenv(EXTENSIONS_VARIABLE, raising=False)
    return tmp_path


@pytest.mark.parametrize("folder", ["repository/a/b", "repository/a", "repository", "rootdir"])
def test_a_named_module_is_found_in_the_current_folder_and_above(
    elsewhere: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / folder).mkdir(exist_ok=True)
    (elsewhere / folder / "my_tiny_extension.py").write_text(GOOD)
    try:
        found = load_extensions(["my_tiny_extension"], installed=(), folders=[elsewhere / "rootdir"])
    finally:
        sys.modules.pop("my_tiny_extension", None)
    assert set(found.compilers) == {"tiny"}
    assert sys.path[-1] == str(elsewhere / folder), "workers take it over, and nothing installed is hidden"


def test_a_module_that_is_nowhere_is_reported_with_the_folders_and_the_nearest_name(elsewhere: Path) -> None:
    (elsewhere / "outside.py").write_text(GOOD)
    (elsewhere / "repository" / "my_extension.py").write_text(GOOD)
    repository = elsewhere / "repository"
    assert diagnostic("my_extensoin") == (
        "extension 'my_extensoin' cannot be imported: ModuleNotFoundError: No module named 'my_extensoin'; "
        f"it is neither on sys.path nor in {repository}/a/b, {repository}/a, {repository}; did you mean 'my_extension'?"
    )
    assert "No module named 'outside'" in diagnostic("outside")
    assert diagnostic("my_extension.py").endswith("; expected a module's name, such as 'my_extension'")
    (repository / ".git").rmdir()
    assert diagnostic("my_extensoin").endswith(f"; it is neither on sys.path nor in {repository}/a/b")


def test_other_processes_find_the_package_of_an_extension_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "outer", SimpleNamespace(__file__="/here/outer/__init__.py"))
    monkeypatch.setenv(EXTENSIONS_VARIABLE, "outer.inner")
    monkeypatch.setenv("PYTHONPATH", "/there")
    assert Registry.environment() == {"PYTHONPATH": f"/here{os.pathsep}/there"}


def test_for_a_subcommand_of_this_package_no_other_extension_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [one for one in installed_extensions() if one[0] == "retarget"]
    monkeypatch.setattr(registry, "installed_extensions", lambda: [("another", "no.such.module"), *own])
    assert (load_commands("list").errors, len(load_commands().errors)) == ((), 1)


def test_what_cannot_use_a_toolchain_keeps_its_own(write: Write, tmp_path: Path) -> None:
    target, given = run_target(tmp_path, runtime_config()), toolchain(tmp_path)
    for parts in (("compiler",), ("compiler", "runtime")):
        moved = Registry().with_toolchain(target, given, parts)
        assert (moved.compile.compiler.toolchain, moved.runtime.toolchain) == (given, None)
    tiny = replace(moved.compile.compiler, compiler="tiny")
    with pytest.raises(RetargetError, match=r"^toolchain 'mine' \(.*names it, and the compiler 'tiny' uses no toolch"):
        load_extensions([write("ext_good", GOOD)], installed=()).worker_environment(tiny)
