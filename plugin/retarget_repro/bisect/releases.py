"""Released versions of packages, each installed with pip into its own folder in the cache, once.

Layout of the folder `releases` of the cache::

    iree-base-compiler+iree-base-runtime-3.12.0-cpython-311-linux-x86_64/        what pip installed, complete
    .iree-….lock                                                                 held during installation
    .new-iree-…/                                                                 while it is installed
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from msgspec import Struct
from retarget.extension import UnavailableError
from retarget.support.errors import RetargetError
from retarget.support.files import UNFINISHED
from retarget.support.locks import hold
from retarget.support.text import error_line, first_line

RELEASES_FOLDER = "releases"
"""The folder of the cache in which they lie."""

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
_AVAILABLE = re.compile(r"(?m)^Available versions: (.+)$")


class Releases(Struct, frozen=True, kw_only=True):
    """The releases that consist of these packages. They are kept below `folder`; `note` takes a line on what takes
    long."""

    packages: tuple[str, ...]
    folder: Path
    note: Callable[[str], None]

    def versions(self, *, pre: bool = False) -> tuple[str, ...]:
        """Return the versions that all packages have for this Python and machine, oldest first.

        Raises `RetargetError` where the index does not tell.
        """
        found = [self._versions(package, pre=pre) for package in self.packages]
        common = tuple(version for version in found[0] if all(version in other for other in found))
        if not common:
            msg = f"{' and '.join(self.packages)} have no version in common; expected --only with one of the two"
            raise RetargetError(msg)
        return common

    def _versions(self, package: str, *, pre: bool) -> tuple[str, ...]:
        done = _pip("index", "versions", package, *(["--pre"] if pre else []))
        listed = _AVAILABLE.search(done.stdout)
        if done.returncode or listed is None:
            msg = (
                f"pip names no versions of {package}: {_why(done)}; expected an index that has it, "
                f"as in `{_shown('index', 'versions', package)}`"
            )
            raise RetargetError(msg)
        return tuple(reversed(listed[1].split(", ")))

    def installed(self, version: str) -> Path:
        """Return the folder of a release, which is installed if it is not there.

        Raises `UnavailableError` where it cannot be installed, `RetargetError` for a cache that cannot be used.
        """
        folder = self.path(version)
        try:
            if not folder.is_dir():
                self.folder.mkdir(parents=True, exist_ok=True)
                lock = hold(folder.with_name(f".{folder.name}.lock"))
                with lock or nullcontext():
                    if not folder.is_dir():
                        self._install(version, folder)
        except OSError as error:
            msg = f"releases cannot be kept in {self.folder}: {error.strerror or error}"
            raise RetargetError(msg) from error
        return folder

    def path(self, version: str) -> Path:
        """Return where a release is, or will be."""
        name = f"{'+'.join(self.packages)}-{version}-{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
        return self.folder / name

    def _install(self, version: str, folder: Path) -> None:
        self.note(f"installing {version}")
        beside = folder.with_name(f"{UNFINISHED}{folder.name}")
        shutil.rmtree(beside, ignore_errors=True)  # left by one that was killed
        wanted = [f"{package}=={version}" for package in self.packages]
        words = ("install", "--no-deps", "--only-binary", ":all:", "--no-compile", "--target", str(beside), *wanted)
        try:
            done = _pip(*words, "--quiet")
            if done.returncode:
                msg = f"does not install: {_why(done)}"
                raise UnavailableError(msg)
            beside.rename(folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _pip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*_PIP, *words], capture_output=True, text=True, errors="replace", check=False)


def _why(done: subprocess.CompletedProcess[str]) -> str:
    return error_line(done.stderr).removeprefix("ERROR: ") or first_line(done.stderr, f"exit status {done.returncode}")


def _shown(*words: str) -> str:
    return shlex.join(("python3", "-m", "pip", *words))
