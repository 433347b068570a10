"""`bundle.json`: what a bundle says of itself. `repro.py` reads it as plain JSON, everything else through these."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from retarget.support import RetargetError, shown, write_atomically

FORMAT = 1
"""Raised when a bundle of today would be read wrongly."""

_LARGEST = 16 * 1024**2
"""Bytes of a `bundle.json`."""

_SHOWN = 60
"""Characters of a stranger's text in an error."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Frozen; fields by name alone."""


class Observed(_Part, frozen=True, kw_only=True):
    """The failure. `stage` and `signature` are as in expectations, `at` is the stage that a crash or a timeout came in.

    `summary` is the message, `case` the case that failed; empty where none did.
    """

    at: str
    stage: str
    signature: str
    summary: str = ""
    case: str = ""

    def __str__(self) -> str:
        """In the words of `repro.py`: `compare: values differ`, `crash (compile): SIGSEGV`."""
        where = self.stage if self.stage == self.at else f"{self.stage} ({self.at})"
        return f"{where}: {self.signature}" if self.signature else where


class CompileStep(_Part, frozen=True, kw_only=True):
    """`source` is relative to the bundle; `{bundle}` in `flags` stands for its folder. `timeout` is in seconds.

    `facts` are those of `retarget.extension.Resolved`, for compilers that are extensions.
    """

    compiler: str
    source: str
    flags: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()
    env: dict[str, str] = {}
    timeout: float


class DeviceUse(_Part, frozen=True, kw_only=True):
    """A device: opened by `uri`, or where that is not there, by `name`. `runtime` is the build that reported it."""

    uri: str
    name: str = ""
    driver_version: str = ""
    runtime: str = ""


class RunStep(_Part, frozen=True, kw_only=True):
    """How the artifact is run; its cases are in `cases/cases.json`. The fields are those of a runtime config.

    `run_with` is that of its toolchain, where that names a tool.
    """

    driver: str
    devices: tuple[DeviceUse, ...]
    flags: tuple[str, ...] = ()
    env: dict[str, str] = {}
    roles: tuple[str, ...] = ()
    used: tuple[bool | None, ...] = ()
    run_with: str | msgspec.UnsetType = msgspec.UNSET
    timeout: float


class Reproduced(_Part, frozen=True, kw_only=True):
    """Of `runs` in a clean folder and a fresh process, `same` failed in the same way; `others` is what the rest did."""

    runs: int
    same: int
    others: tuple[str, ...] = ()


class Digest(_Part, frozen=True, kw_only=True):
    """A file of the bundle: size in bytes, SHA-256 in hexadecimal."""

    size: int
    sha256: str


class Bundle(_Part, frozen=True, kw_only=True):
    """All of it. `toolchain` is `iree`, or `retarget` where compiler or driver are other extensions of that package.

    `artifact` is relative to the bundle, empty where there is none. `commands` do the same by hand, in its folder.
    `files` are all others of the bundle.
    """

    format: int = FORMAT
    target: str
    toolchain: Literal["iree", "retarget"]
    observed: Observed
    expectation: str = ""
    reproduced: Reproduced
    compile: CompileStep
    artifact: str = ""
    run: RunStep | None = None
    commands: tuple[str, ...] = ()
    machine: str = ""
    builds: tuple[str, ...] = ()
    files: dict[str, Digest] = {}

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables of `env` whose values it holds."""
        return tuple(dict.fromkeys((*self.compile.env, *(self.run.env if self.run is not None else ()))))


def read_bundle(folder: Path) -> Bundle:
    """Read the `bundle.json` of an unpacked bundle. Raises `RetargetError` that says what is wrong with it."""
    file = folder / "bundle.json"
    try:
        if file.stat().st_size > _LARGEST:
            msg = f"{file} has {file.stat().st_size} bytes, expected at most {_LARGEST}"
            raise RetargetError(msg)
        plain: Any = msgspec.json.decode(file.read_bytes())
        version = plain.get("format") if isinstance(plain, dict) else None
        if version != FORMAT:
            found = shown(repr(version), _SHOWN)
            msg = f"{file}: found format {found}, expected {FORMAT}; another version of retarget wrote it"
            raise RetargetError(msg)
        plain.pop("packages", None)  # release 0.2 wrote it, and the command that a tool was run under
        if plain.pop("check", None):
            msg = f"{file}: found an artifact that is judged and not run, which no bundle holds: run the target"
            raise RetargetError(msg)
        if isinstance(run := plain.get("run"), dict) and run.pop("run_under", None):
            msg = f"{file}: found a run behind run_under, which no bundle holds: run the target where that command is"
            raise RetargetError(msg)
        return msgspec.convert(plain, Bundle)
    except OSError as error:
        msg = f"{folder} is no bundle: {file.name} cannot be read: {error.strerror or error}"
        raise RetargetError(msg) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        msg = f"{file} is no description of a bundle: {shown(str(error))}"
        raise RetargetError(msg) from error


def write_json(bundle: Bundle, folder: Path) -> None:
    """Write the `bundle.json` of a folder. Raises `OSError`."""
    text = msgspec.json.format(msgspec.json.encode(bundle), indent=2)
    write_atomically(folder / "bundle.json", text + b"\n")
