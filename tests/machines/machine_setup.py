"""Makes the machines of `make machines` out of this one: checkouts, environments, emulated CPUs, users, OpenCL."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from machine_table import Machine
from pip_indexes import uv_variables

__all__ = ["NotHereError", "Place", "Workshop", "look_for", "run_in"]

CHECKOUT = Path(__file__).parents[2]
QEMU = "qemu-x86_64"
NOBODY = 65534
_SYSTEM_ICDS = Path("/etc/OpenCL/vendors")
_TEST_PACKAGES = ("cmake", "hypothesis", "jsonschema", "pytest-xdist", "s3fs", "tomlkit", "wasmtime")
_DROPPED = re.compile(
    "RETARGET_|PYTEST_|PYTHON|VIRTUAL_ENV|UV_|POCL_|OCLGRIND_|OCL_|OPENCL_|VK_|XDG_|MAKE|MFLAGS|LC_|LANG|QEMU_|COV_"
)
"""The beginnings of variables that say something of this machine, which the machines do not inherit."""


class NotHereError(Exception):
    """A machine cannot be made of this one: why, and what to install."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why}; {remedy}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a machine's commands run: the checkout, the environment's folder in it, variables, user and cores.

    They may write to `results`: another user cannot enter the folders that this checkout is in.
    """

    checkout: Path
    venv: str
    variables: Mapping[str, str]
    results: Path
    user: int | None = None
    cores: frozenset[int] | None = None

    @property
    def bin(self) -> Path:
        return self.checkout / self.venv / "bin"


def run_in(place: Place, command: Sequence[str | Path], log: Path, *, limit: float) -> int:
    """Run a command on a machine, its output in `log`; return its exit status, 124 if it took longer than `limit`."""
    with log.open("wb") as output, _on_cores(place.cores):
        output.write(f"$ {shlex.join(map(str, command))}\n".encode())
        output.flush()
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=place.checkout,
            env=dict(place.variables),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **({} if place.user is None else {"user": place.user, "group": place.user, "extra_groups": []}),
        )
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return 124
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def look_for(machine: Machine) -> None:
    """Raise `NotHereError` where an emulator or a Python that a machine needs is missing here."""
    if machine.cpu:
        _find_qemu()
    _find_python(machine.python, _user_of(machine))


def _user_of(machine: Machine) -> int | None:
    return NOBODY if machine.other_user and os.geteuid() == 0 else None


@contextmanager
def _on_cores(cores: frozenset[int] | None) -> Iterator[None]:
    """What is started meanwhile runs on these cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Workshop:
    """Makes machines below a folder, which every user can enter. Checkouts and environments serve several machines."""

    def __init__(self, folder: Path, extras: str) -> None:
        folder.chmod(0o755)
        self._folder = folder
        self._extras = extras
        self._uv = _uv()
        self._uv_variables = {**os.environ, **uv_variables()}
        self._venvs: dict[tuple[object, ...], Place] = {}
        dev = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]["dev"]
        names = {re.split(r"[^\w-]", item)[0]: item for item in dev}
        self._test_packages = [names[name] for name in _TEST_PACKAGES]

    def make(self, machine: Machine) -> Place:
        """Return where a machine's commands run. Raises `NotHereError` where something for it is missing here."""
        qemu = _find_qemu() if machine.cpu else ""
        icds, variables = self._icds(machine)
        place = self._installed(machine)
        if machine.cpu:
            place = _emulated(place, machine, qemu)
        home, results = self._folder / "homes" / machine.name, self._folder / "results" / machine.name
        for folder in (home, results):
            folder.mkdir(parents=True)
        results.chmod(0o777)
        icds = {**icds, **_icds_of(place.bin.parent / "etc/OpenCL/vendors")} if icds or _icds_of(_SYSTEM_ICDS) else {}
        if icds or _icds_of(_SYSTEM_ICDS):
            vendors = self._folder / "icds" / machine.name
            vendors.mkdir(parents=True)
            for name, library in icds.items():
                (vendors / name).write_text(f"{library}\n", "utf-8")
            variables["OCL_ICD_VENDORS"] = str(vendors)
        if machine.memory_gib:
            variables["POCL_MEMORY_LIMIT"] = str(machine.memory_gib)
            variables["OCLGRIND_GLOBAL_MEM_SIZE"] = str(machine.memory_gib * 2**30)
        if machine.opencl:
            variables["RETARGET_REQUIRE_OPENCL"] = "1"
        inherited = {name: value for name, value in os.environ.items() if not _DROPPED.match(name)}
        if machine.other_user:
            home.chmod(0o555)
            # What this user left there has the names of what the other one would write.
            (temporary := self._folder / "temporary").mkdir(mode=0o777, exist_ok=True)
            temporary.chmod(0o777)
            variables["TMPDIR"] = str(temporary)
        return Place(
            checkout=place.checkout,
            venv=place.venv,
            variables={**inherited, "HOME": str(home), **variables, **machine.variables},
            results=results,
            user=place.user,
            cores=frozenset({min(os.sched_getaffinity(0))}) if machine.one_core else None,
        )

    # ------------------------------------------------------------------ OpenCL implementations

    def _icds(self, machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
        """Return what is registered in place of the system's implementations, and variables that it needs."""
        if not machine.system_pocl:
            return {}, {}
        system = {name: library for name, library in _icds_of(_SYSTEM_ICDS).items() if "pocl" in name}
        if system:
            return system, {}
        root = self._folder / "debian-pocl"
        if not root.exists():
            _unpack_debian_pocl(root)
        folders = {path.parent for pattern in ("libpocl.so.*", "libclang-cpp.so.*") for path in root.rglob(pattern)}
        library = next(iter(sorted(root.rglob("libpocl.so.*"))))
        return {"pocl.icd": str(library)}, {"LD_LIBRARY_PATH": os.pathsep.join(map(str, sorted(folders)))}

    # ------------------------------------------------------------------ environments

    def _installed(self, machine: Machine) -> Place:
        """Return the place with what a machine has installed, made now or for another machine."""
        user = _user_of(machine)
        python = _find_python(machine.python, user)
        checkout = self._folder / ("others" if user else "checkouts") / machine.folder
        key = (checkout, python, machine.extras, machine.without, machine.lowest, machine.editable)
        if key not in self._venvs:
            if not checkout.exists():
                _copy_checkout(checkout)
            # An environment of its own for each user and folder is called as in README.
            venv = ".venv" if not (checkout / ".venv").exists() else f".venv-{machine.name}"
            self._install(machine, python, checkout / venv)
            if user:
                _hand_over(checkout, user, besides=checkout / venv)
            self._venvs[key] = Place(checkout=checkout, venv=venv, variables={}, results=checkout, user=user)
        return self._venvs[key]

    def _install(self, machine: Machine, python: Path, venv: Path) -> None:
        self._run_uv(venv.parent, "venv", "--quiet", "--python", python, venv)
        extras = ",".join((self._extras, *machine.extras))
        editable = ["--editable"] if machine.editable else []
        resolution = ["--resolution", "lowest-direct"] if machine.lowest else []
        options = ["--quiet", "--python", venv / "bin/python"]
        if machine.cpu or machine.other_user:  # what takes long there, or cannot be kept
            options.append("--compile-bytecode")
        self._run_uv(
            venv.parent, "pip", "install", *options, *resolution, *editable, f".[{extras}]", *self._test_packages
        )
        if machine.without:
            self._run_uv(venv.parent, "pip", "uninstall", "--quiet", "--python", venv / "bin/python", *machine.without)
        for stamp in (".installed", ".installed-dev"):  # the Makefile installs nothing
            (venv / stamp).touch()

    def _run_uv(self, folder: Path, *arguments: str | Path) -> None:
        command = [self._uv, *map(str, arguments)]
        done = subprocess.run(command, cwd=folder, env=self._uv_variables, capture_output=True, text=True, check=False)
        if done.returncode:
            msg = f"`{shlex.join(command)}` failed:\n{done.stderr}"
            raise RuntimeError(msg)


def _uv() -> str:
    try:
        from uv import find_uv_bin
    except ImportError as error:
        msg = "machines need the package uv of the extra [dev], which is not installed; run `make machines`"
        raise SystemExit(msg) from error
    return str(find_uv_bin())


def _find_qemu() -> str:
    found = shutil.which(QEMU)
    if found is None:
        msg = f"there is no {QEMU}"
        raise NotHereError(msg, "install QEMU's user emulation (Debian: apt-get install qemu-user)")
    return found


def _find_python(version: str, user: int | None) -> Path:
    """Return a Python of a version (any from 3.11 on where it is empty) that a user (None: this one) can execute."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    versions = (version,) if version else ((here,) if user is None else (here, "3.11", "3.12", "3.13", "3.14"))
    for wanted in versions:
        for python in _pythons(wanted):
            script = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
            try:
                said = subprocess.run(
                    [python, "-c", script], cwd="/", capture_output=True, text=True, check=False, timeout=60, user=user
                )
            except OSError:
                continue
            if said.stdout.strip() == wanted:
                return python
    whom = "this user" if user is None else f"the user {user} too"
    msg = f"no Python {' or '.join(versions)} was found that {whom} can execute"
    raise NotHereError(msg, "put it on PATH, or let pyenv or `uv python install` install it")


def _pythons(version: str) -> Iterator[Path]:
    name = f"python{version}"
    yield Path(sys.base_prefix, "bin", name)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield Path(folder, name)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/{name}"))
    command = [_uv(), "python", "find", "--no-python-downloads", "--managed-python", version]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode == 0:
        yield Path(found.stdout.strip())


def _copy_checkout(folder: Path) -> None:
    """Copy what git knows of the checkout, and what it does not ignore."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listing.split("\0")):
        if (source := CHECKOUT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


def _hand_over(folder: Path, user: int, *, besides: Path) -> None:
    """Make a user the owner of a checkout. Its environment shares files with uv's cache, and keeps its owner."""
    os.chown(folder, user, user)
    for path in folder.rglob("*"):
        if not path.is_relative_to(besides):
            os.chown(path, user, user, follow_symlinks=False)


def _emulated(place: Place, machine: Machine, qemu: str) -> Place:
    """Return a place whose environment is another one's, with a Python that runs on another CPU.

    Python takes the path by which it was started for its own, finds `pyvenv.cfg` above it, and starts further Pythons
    by it; it is a script, so that each of them is emulated. What they load (IREE, OpenCL, Vulkan) is so, too.
    """
    real, venv = place.bin.parent, place.checkout / f".venv-{machine.name}"
    (venv / "bin").mkdir(parents=True)
    for name in ("lib", "etc", "include", "share"):
        if (real / name).exists():
            (venv / name).symlink_to(real / name)
    for name in ("pyvenv.cfg", ".installed", ".installed-dev"):
        shutil.copy2(real / name, venv / name)
    python = venv / "bin/python"
    # Without `check` QEMU says for each process which features of the CPU it does not emulate.
    emulator = [qemu, "-cpu", f"{machine.cpu},check=off", "-0", str(python), str((real / "bin/python").resolve())]
    _write_script(python, emulator)
    for tool in ("pytest", "retarget"):
        _write_script(venv / "bin" / tool, [str(python), str(real / "bin" / tool)])
    return Place(checkout=place.checkout, venv=venv.name, variables={}, results=place.results, user=place.user)


def _write_script(path: Path, command: Sequence[str]) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', "utf-8")
    path.chmod(0o755)


def _icds_of(folder: Path) -> dict[str, str]:
    """Return the library of each implementation that is registered in a folder, by the name of its file."""
    found = {}
    for file in sorted(folder.glob("*.icd")):
        library = Path(file.read_text("utf-8").strip())
        # Packages of PyPI name the path that they were built in.
        own = folder.parents[2] / "lib" / library.name
        found[file.name] = str(own if folder != _SYSTEM_ICDS and own.exists() else library)
    return found


def _unpack_debian_pocl(root: Path) -> None:
    """Unpack Debian's PoCL and what it needs that is not installed, without installing it."""
    remedy = "install PoCL of the system (Debian: apt-get install pocl-opencl-icd)"
    if not all(map(shutil.which, ("apt-get", "dpkg"))):
        msg = "the system has no PoCL, and no apt-get that could download it"
        raise NotHereError(msg, remedy)
    simulated = ["apt-get", "install", "--simulate", "--no-install-recommends", "pocl-opencl-icd"]
    listed = subprocess.run(simulated, capture_output=True, text=True, check=False)
    packages = re.findall(r"(?m)^Inst (\S+)", listed.stdout)
    debs = root.with_name("debs")
    debs.mkdir(exist_ok=True)
    done = subprocess.run(["apt-get", "download", *packages], cwd=debs, capture_output=True, text=True, check=False)
    if not packages or done.returncode:
        said = (listed.stderr + done.stderr).strip().splitlines()[-1:]
        msg = f"the system has no PoCL, and apt-get downloads none ({' '.join(said)})"
        raise NotHereError(msg, remedy)
    for deb in sorted(debs.glob("*.deb")):
        subprocess.run(["dpkg", "-x", deb, root], check=True)
