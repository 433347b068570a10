"""`retarget bisect`: releases that pip finds and installs, and the first with which a target fails."""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.support import RetargetError
from retarget_repro.bisect import Releases

EXTENSION = """\
import os
from pathlib import Path
import retarget.extension
from retarget.extension import *


def build():
    return Path(os.environ["TINY"], "tiny_build").read_text() if "TINY" in os.environ else "0"


class Compiler(retarget.extension.Compiler):
    name = "tiny"
    artifact_suffix = ".tiny"

    def toolchain_environment(self, config):
        return (("TINY", str(config.toolchain.path)),)

    def release_packages(self):
        return ("tiny-compiler",)

    def fingerprint(self, config):
        return ""

    def resolve(self, config, flags):
        return Resolved(build_id=f"tiny {build()}", flags=flags, build=f"tiny {build()}")

    def compile(self, request):
        does = dict(line.split(": ") for line in request.source.decode().splitlines())
        if build() in does:
            raise CompilerError(f"error: {does[build()]}", verdict=True)
        return Compiled(artifact=b"done")

    def reproduce(self, target, flags, output):
        return ("tinyc", str(target.module.path))


class Loader(CaseLoader):
    kind = "toys"

    def load(self, request):
        return []


@hookimpl
def retarget_compilers(): return [Compiler()]
@hookimpl
def retarget_case_loaders(): return [Loader()]
"""

SUITE = """\
[[compiler_config]]
name = "tiny"
compiler = "tiny"
[[target_config]]
name = "all"
compiler = "tiny"
runtimes = []
[[module_test_suite]]
name = "toys"
srcs = ["*.toy"]
kind = "toys"
targets = ["all"]
"""

MODULE = "3: no such op\n4: no such op\n5: no such op\n"  # 2 does not install


def _wheel(folder: Path, number: int) -> None:
    """Write a wheel of tiny-compiler whose only file is its build's number."""
    version = f"1.{number}"
    info = f"tiny_compiler-{version}.dist-info"
    files = {
        "tiny_build": f"{number}",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tiny-compiler\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {name: hashlib.sha256(text.encode()).digest() for name, text in files.items()}
    record = f"{info}/RECORD"
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')},{len(files[name])}"
        for name, digest in digests.items()
    ]
    with zipfile.ZipFile(folder / f"tiny_compiler-{version}-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with three releases that are installed, and an index of five, of which the second is damaged."""
    folder = tmp_path_factory.mktemp("releases")
    (folder / "index").mkdir()
    for number in range(1, 6):
        _wheel(folder / "index", number)
    releases = Releases(packages=("tiny-compiler",), folder=folder / "cache" / "releases", note=print)
    for number in (1, 3, 5):
        with zipfile.ZipFile(folder / "index" / f"tiny_compiler-1.{number}-py3-none-any.whl") as archive:
            archive.extractall(releases.path(f"1.{number}"))
    (folder / "index" / "tiny_compiler-1.2-py3-none-any.whl").write_bytes(b"no archive")
    return folder


@pytest.fixture(autouse=True)
def _project(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broke.toy").write_text(MODULE)
    (tmp_path / "suite.toml").write_text(SUITE)
    (tmp_path / "tiny_releases.py").write_text(EXTENSION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, value in {
        "PYTHONPATH": os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")])),
        "RETARGET_EXTENSIONS": "tiny_releases",
        "RETARGET_CACHE_DIR": str(kept / "cache"),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(kept / "index"),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
def test_the_first_bad_release_is_found_and_what_cannot_be_told_is_skipped(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bisect", "broke_tiny", "--good", "1.1", "--bad", "1.5"]) == 1
    printed = capsys.readouterr()
    wheel = kept / "index" / "tiny_compiler-1.2-py3-none-any.whl"
    assert printed.out.splitlines() == [
        "suite.toml::toys::broke_tiny",
        "5 releases of tiny-compiler (compiler) from 1.1 to 1.5",
        "1.5  bad   compile: error: no such op",
        "1.1  good  passes",
        "1.3  bad   compile: error: no such op",
        f"1.2  skip  does not install: Wheel 'tiny-compiler' located at {wheel} is invalid.",
        "the first bad version is 1.2 or 1.3: of the others it cannot be told",
        "  1.1: passes",
        "    tiny 1",
        "  1.3: compile: error: no such op",
        "    tiny 3",
        "to reproduce this by hand:",
        f"  cd {tmp_path}",
        "  tinyc broke.toy",
    ]
    assert printed.err == "installing 1.2\n"


def test_packages_without_a_version_in_common_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"a": ("1", "2"), "b": ("3",)}
    monkeypatch.setattr(Releases, "_versions", lambda _, package, **__: versions[package])
    with pytest.raises(RetargetError, match="a and b have no version in common; expected --only with one of the two"):
        Releases(packages=("a", "b"), folder=Path("releases"), note=print).versions()
