"""Builds of IREE as files: where a folder has them, what is missing, and which build each is."""

from __future__ import annotations

import base64
import importlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from retarget.extension import UnavailableError
from retarget.model import Origin, Toolchain
from retarget_iree import builds, toolchain
from retarget_iree.builds import CompilerBuild, compiler_at, folder_of, runtime_at

LIBRARY = "libIREECompiler.so"


def filled(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


@pytest.mark.parametrize(
    ("package", "files"),
    [
        ("iree/compiler", ("_mlir_libs/libIREECompiler.so", "_mlir_libs/iree-compile")),
        ("lib/python3.11/site-packages/iree/compiler", ("_mlir_libs/libIREECompiler.so", "_mlir_libs/iree-compile")),
    ],
)
def test_a_package_folder_and_a_virtual_environment_have_a_compiler(
    tmp_path: Path, package: str, files: tuple[str, ...]
) -> None:
    filled(tmp_path, *(f"{package}/{name}" for name in files), "bin/iree-compile")
    found = compiler_at(tmp_path)
    assert found.package == tmp_path / package
    assert (found.library, found.tool) == tuple(tmp_path / package / name for name in files)


def test_a_build_folder_has_its_library_and_tool_beside_its_package_or_without_one(tmp_path: Path) -> None:
    filled(tmp_path, f"lib/{LIBRARY}", "tools/iree-compile", "tools/iree-run-module")
    expected = CompilerBuild(
        folder=tmp_path, package=None, library=tmp_path / "lib" / LIBRARY, tool=tmp_path / "tools/iree-compile"
    )
    assert compiler_at(tmp_path) == expected
    assert runtime_at(tmp_path).tool == tmp_path / "tools/iree-run-module"
    assert runtime_at(tmp_path).packages is None
    bindings = filled(tmp_path / "compiler/bindings/python", "iree/compiler/api/__init__.py")
    assert compiler_at(tmp_path).package == bindings / "iree/compiler"
    assert compiler_at(tmp_path).library == tmp_path / "lib" / LIBRARY


def test_of_several_pythons_in_an_environment_this_ones_packages_count(tmp_path: Path) -> None:
    own = Path(os.__file__).parent.name
    for python in ("python3.1", own, "python3.99"):
        filled(tmp_path / "lib" / python / "site-packages", "iree/_runtime_libs/iree-run-module")
    assert runtime_at(tmp_path).packages == tmp_path / "lib" / own / "site-packages"


def test_what_a_script_in_place_of_a_tool_runs_is_part_of_the_build(tmp_path: Path) -> None:
    real = tmp_path / "elsewhere"
    filled(tmp_path, "tools/iree-compile", "tools/iree-run-module")
    for name in ("iree-compile", "iree-run-module"):
        (tmp_path / "tools" / name).write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
    found = []
    for text in ("1", "2", "2"):
        real.write_text(text)
        compiler = compiler_at(tmp_path)
        found.append((compiler.build_id(), runtime_at(tmp_path).describe()))
    assert [len({*one}) for one in zip(*found, strict=True)] == [2, 2]


@pytest.mark.parametrize("has_packages", [False, True])
def test_a_runtime_is_another_where_its_package_or_the_tool_that_runs_or_a_library_beside_it_is(
    tmp_path: Path, *, has_packages: bool
) -> None:
    libs = tmp_path / "iree/_runtime_libs"
    for folder in (libs, tmp_path / "iree/runtime") if has_packages else (tmp_path / "tools", tmp_path / "lib"):
        folder.mkdir(parents=True)
    of_packages = ("_runtime_libs/_runtime.so", "_runtime_libs/iree-run-module", "runtime/vm.py")
    names = tuple(f"iree/{name}" for name in of_packages) if has_packages else ()
    for name in (files := names or ("tools/iree-run-module", "tools/libnpu.so.1", "lib/libiree_hal.so")):
        (tmp_path / name).write_text("1")

    found: set[tuple[str, str]] = set()
    for name in ("", *files):
        (tmp_path / name).write_text("2") if name else None
        build = runtime_at(tmp_path)
        found.add((build.describe(), build.describe(runs_tool=True)))
    in_process, by_tool = (len({*one}) for one in zip(*found, strict=True))
    assert (in_process, by_tool) == ((3, 2) if has_packages else (4, 4))


def test_what_is_missing_is_said_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        compiler_at(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} has no IREE compiler; looked for a package in ., lib/python*/site-packages and "
        "compiler/bindings/python, for libIREECompiler.so and iree-compile in tools, bin, lib and ."
    )
    filled(tmp_path, "iree/compiler/version.py")
    with pytest.raises(UnavailableError, match=r"iree/compiler has neither libIREECompiler\.so nor iree-compile; "):
        compiler_at(tmp_path)
    with pytest.raises(UnavailableError, match=r"has no IREE runtime; .* for iree-run-module in tools"):
        runtime_at(tmp_path)


def declared(path: Path | None) -> Toolchain:
    return Toolchain(name="mine", path=path, origin=Origin(file=Path("matrix.toml"), key_path="toolchain[0]"))


def test_a_path_that_is_no_folder_is_unavailable(tmp_path: Path) -> None:
    expected = "; expected a folder with packages, a virtual environment or a build folder"
    filled(tmp_path, "file")
    for name, found in (("file", "is a file"), ("absent", "does not exist")):
        with pytest.raises(UnavailableError) as caught:
            folder_of(declared(tmp_path / name), "iree-compile")
        assert str(caught.value) == f"{tmp_path / name} {found}{expected}"


@pytest.mark.parametrize(
    ("tool", "folder"),
    [
        ("build/tools/iree-compile", "build"),
        ("venv/bin/iree-compile", "venv"),
        ("site/iree/compiler/_mlir_libs/iree-compile", "site"),
    ],
)
def test_the_tool_on_path_leads_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, folder: str
) -> None:
    filled(tmp_path, tool)
    (tmp_path / tool).chmod(0o755)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "iree-compile").symlink_to(tmp_path / tool)
    for place in ((tmp_path / tool).parent, tmp_path / "links"):
        monkeypatch.setenv("PATH", str(place))
        assert folder_of(declared(None), "iree-compile") == (tmp_path / folder).resolve()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match=r"^PATH leads to no iree-compile$"):
        folder_of(declared(None), "iree-compile")


def test_the_linker_and_the_shared_libraries_of_a_build_folder_count_and_other_files_do_not(tmp_path: Path) -> None:
    filled(tmp_path, f"lib/{LIBRARY}", "lib/libother.so", "tools/iree-compile", "tools/other")
    filled(tmp_path, "lib/libiree_compiler_Codegen.so.1", "tools/iree-lld")
    known = {compiler_at(tmp_path).build_id()}
    for name, counts in (
        ("lib/libiree_compiler_Codegen.so.1", True),
        ("tools/iree-lld", True),
        ("lib/libother.so", False),
        ("tools/other", False),
    ):
        (tmp_path / name).write_text("rebuilt")
        assert (compiler_at(tmp_path).build_id() not in known) is counts, name
        known.add(compiler_at(tmp_path).build_id())


def test_a_library_put_in_the_wheels_place_is_read_though_it_has_the_recorded_size(tmp_path: Path) -> None:
    site, package = tmp_path / "site", tmp_path / "site" / "iree" / "compiler"
    (package / "_mlir_libs").mkdir(parents=True)
    library = package / "_mlir_libs" / "libIREECompiler.so"
    library.write_bytes(b"wheel")
    info = site / "iree_base_compiler-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: iree-base-compiler\nVersion: 1\n")
    wrong = base64.urlsafe_b64encode(bytes(32)).decode().rstrip("=")
    record = f"iree/compiler/_mlir_libs/libIREECompiler.so,sha256={wrong},5\niree_base_compiler-1.dist-info/RECORD,,\n"
    for other in ("iree/other/", "sha512="):
        (info / "RECORD").write_text(record.replace("iree/compiler/_mlir_libs/" if "/" in other else "sha256=", other))
        assert builds._recorded_digest(library) == ""
    (info / "RECORD").write_text(record)
    assert builds._recorded_digest(library) == bytes(32).hex()
    time.sleep(0.1)  # more than a tick of the file system's clock
    library.write_bytes(b"built")
    os.utime(library, (1, 1))
    assert builds._recorded_digest(library) == ""


def test_a_build_is_described_with_its_folder_where_that_is_not_the_environments(tmp_path: Path) -> None:
    library = tmp_path / "_mlir_libs" / "libIREECompiler.so"
    library.parent.mkdir()
    library.write_bytes(b"one")
    (tmp_path / "version.py").write_text('VERSION = "4.0"')
    own = CompilerBuild(folder=tmp_path, package=tmp_path, library=library)
    assert re.fullmatch(rf"iree 4\.0 \(build [0-9a-f]{{12}}, {re.escape(str(tmp_path))}\)", own.describe())
    assert re.fullmatch(r"iree \S+ \(build [0-9a-f]{12}\)", toolchain.find_compiler().describe())
    assert re.fullmatch(r"iree-runtime \S+ \(build [0-9a-f]{12}\)", toolchain.describe_runtime())


LOADED = """
from retarget_iree.toolchain import compiler_api, select_runtime
compiler_api(), select_runtime()
import iree.runtime, numpy
from iree.compiler.api import ctypes_dl
print(ctypes_dl.__file__, ctypes_dl._dylib._name, iree.runtime.__file__, numpy.__file__, sep="\\n")
"""


def loaded(folder: Path) -> list[str]:
    """The wrapper of the compiler, its library, the runtime and NumPy, as a worker with this toolchain loads them."""
    env = os.environ | {toolchain.VARIABLE: str(folder)}
    done = subprocess.run([sys.executable, "-c", LOADED], env=env, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() or [done.stderr.strip().splitlines()[-1]]


def test_a_worker_loads_the_packages_of_its_toolchain_and_all_else_from_the_environment(tmp_path: Path) -> None:
    installed = builds.compiler_at(builds.installed_folder("compiler")).package
    assert installed is not None
    shutil.copytree(installed.parent, tmp_path / "iree", copy_function=os.symlink)
    filled(tmp_path, "numpy/__init__.py")
    wrapper, library, runtime, numpy = loaded(tmp_path)
    assert wrapper == str(tmp_path / "iree/compiler/api/ctypes_dl.py")
    assert library == str(tmp_path / "iree/compiler/_mlir_libs" / LIBRARY)
    assert runtime == str(tmp_path / "iree/runtime/__init__.py")
    assert not numpy.startswith(str(tmp_path))


def test_a_library_without_packages_is_called_through_the_environments(tmp_path: Path) -> None:
    build = builds.compiler_at(builds.installed_folder("compiler"))
    assert build.library is not None
    assert build.package is not None
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / LIBRARY).symlink_to(build.library)
    shutil.copytree(build.package.parent / "_runtime_libs", tmp_path / "iree/_runtime_libs", copy_function=os.symlink)
    wrapper, library, *_ = loaded(tmp_path)
    assert wrapper == str(build.package / "api" / "ctypes_dl.py")
    assert library == str(tmp_path / "lib" / LIBRARY)


def test_what_does_not_load_is_unavailable_with_the_words_of_the_loader(tmp_path: Path) -> None:
    filled(tmp_path, f"lib/{LIBRARY}")
    assert loaded(tmp_path) == [
        "retarget.model.calls.UnavailableError: the IREE compiler does not load: "
        f"{tmp_path}/lib/{LIBRARY}: file too short"
    ]


def test_a_path_that_the_system_refuses_is_a_reason_and_no_error_of_ours() -> None:
    path, origin = Path("/" + "x" * 5000), Origin(file=Path("matrix.toml"), key_path="toolchain[0]")
    with pytest.raises(UnavailableError) as caught:
        folder_of(Toolchain(name="t", path=path, origin=origin), "iree-compile")
    assert str(caught.value) == (
        f"{path} cannot be read: File name too long; expected a folder with packages, a virtual environment or a build "
        "folder"
    )


def test_a_tool_is_what_run_with_names_or_the_runtimes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Toolchain(name="t", path=tmp_path, run_with="bin/run", origin=Origin(file=Path("m.toml"), key_path=""))
    with pytest.raises(UnavailableError, match=f"^{tmp_path} has no bin/run, which is its run_with$"):
        toolchain.find_tool(own)
    tool = filled(tmp_path, "bin/run") / "bin/run"
    assert toolchain.find_tool(own) == builds.RuntimeBuild(folder=tmp_path, tool=tool)
    monkeypatch.setattr(toolchain, "find_runtime", lambda _: builds.RuntimeBuild(folder=Path("here")))
    with pytest.raises(UnavailableError, match=r"^here has no iree-run-module$"):
        toolchain.find_tool(None)


def test_a_build_that_cannot_be_imported_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from iree.compiler.api import ctypes_dl

    def missing(name: str) -> None:
        msg = f"no {name}"
        raise ImportError(msg)

    def hint_of(load: object, message: str) -> str:
        with pytest.raises(UnavailableError, match=message) as caught:
            load.__wrapped__()  # type: ignore[attr-defined]
        return caught.value.hint

    packages = filled(tmp_path, "iree/_runtime_libs/_runtime.cpython-39.so")
    compiler, runtime = (
        CompilerBuild(folder=Path("c"), tool=Path("t")),
        builds.RuntimeBuild(folder=Path("r"), tool=Path("t")),
    )
    monkeypatch.setattr(toolchain, "find_compiler", lambda: compiler)
    monkeypatch.setattr(toolchain, "find_runtime", lambda: runtime)
    hints = [builds.build_hint(part) for part in ("compiler", "runtime")]
    said = "^c has no library of the IREE compiler, only the tool t$"
    assert hint_of(toolchain.compiler_api, said) == hints[0]
    said = "^r has no Python package of the IREE runtime, only the tool t$"
    assert hint_of(toolchain.select_runtime, said) == "run_under runs the tool"

    compiler = CompilerBuild(folder=Path("c"), library=Path(ctypes_dl._dylib._name))
    monkeypatch.setattr(ctypes_dl, "_dylib", SimpleNamespace(ireeCompilerGetAPIVersion=lambda: 2 << 16 | 5))
    assert not hint_of(
        toolchain.compiler_api, f"^the IREE compiler {compiler.library} has version 2 of its API, expected 1$"
    )
    monkeypatch.setattr(importlib, "import_module", missing)
    monkeypatch.setattr(toolchain, "_prefer", lambda _: None)
    runtime = builds.RuntimeBuild(folder=Path("r"), packages=packages)
    assert hint_of(toolchain.compiler_api, "^the IREE compiler does not load: no iree.compiler._mlir_libs$") == hints[0]
    python = f"this is Python {sys.version_info.major}.{sys.version_info.minor}; there is _runtime.cpython-39.so"
    said = f"^the IREE runtime of {packages} does not load: no iree.runtime [(]{python}[)]$"
    assert hint_of(toolchain.select_runtime, said) == hints[1]
