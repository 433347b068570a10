"""The seam: what a compiler, a driver or a case loader must offer, and the hooks that bring them.

An extension is a module (or object) named by an entry point of the group `retarget`. It implements one or more of the
hooks below with `retarget.extension.hookimpl`. IREE and OpenCL reach the core this way and no other.

Extension modules are imported in every process, also in pytest's: they must import their compiler or runtime lazily,
inside the methods. Which methods run where is said at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import pluggy

from .cases import (
    ArtifactRequest,
    Case,
    CaseData,
    CaseLoader,
    CaseRequest,
    CheckedCase,
    ChecksArtifacts,
    ChecksData,
    ChecksSuites,
    ComparesConfigs,
    DescribesFiles,
    FindsModules,
    HasParameters,
    MakesModules,
    RunsCasesOutside,
    Tolerance,
)
from .model import CompilerConfig, CompileTarget, RuntimeConfig
from .outcomes import DeviceInfo, Stage
from .suggestions import (
    ModulesRequest,
    SuggestedSuite,
    SuggestedTarget,
    Suggestions,
    SuggestsSuites,
    SuggestsTargets,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

__all__ = [
    "ENTRY_POINT_GROUP",
    "PROJECT",
    "ArtifactRequest",
    "Case",
    "CaseData",
    "CaseLoader",
    "CaseRequest",
    "Check",
    "CheckSink",
    "CheckedCase",
    "ChecksArtifacts",
    "ChecksData",
    "ChecksSuites",
    "ComparesConfigs",
    "CompileRequest",
    "Compiled",
    "Compiler",
    "CompilerError",
    "DescribesBuild",
    "DescribesFiles",
    "Device",
    "Driver",
    "DriverError",
    "FindsModules",
    "FunctionInfo",
    "HasParameters",
    "HookSpecs",
    "LoadsArtifacts",
    "LoadsParameters",
    "MakesModules",
    "ModulesRequest",
    "Program",
    "Resolved",
    "RunPlan",
    "RunsCasesOutside",
    "ShowsArtifacts",
    "SuggestedSuite",
    "SuggestedTarget",
    "Suggestions",
    "SuggestsSuites",
    "SuggestsTargets",
    "Tolerance",
    "UnavailableError",
    "hookimpl",
    "hookspec",
]

PROJECT = "retarget"
ENTRY_POINT_GROUP = "retarget"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


# ---------------------------------------------------------------- compilers


class CompilerError(Exception):
    """A compile failed. `diagnostics` is all that the compiler printed; the first line of `str()` is the summary.

    `verdict` declares that the compiler itself has judged the module and refuses it: with the same module, flags, files
    and build it always will. Only a verdict is stored, and only a verdict can be an expected failure. Without it the
    failure is trouble of tool or environment (a linker that is missing, a file that cannot be read), is reported, and
    the next session tries again.
    """

    def __init__(self, summary: str, diagnostics: str = "", *, verdict: bool = False) -> None:
        super().__init__(summary)
        self.diagnostics = diagnostics
        self.verdict = verdict


class UnavailableError(Exception):
    """A compiler or driver cannot be used on this machine. `str()` is the reason, `hint` what mends it."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A compiler config with everything of this machine made explicit.

    `build_id` names the exact compiler build by its content. `flags` are what the compiler gets, with `host` and the
    like replaced or accompanied by what they resolved to. Whatever they name that exists is part of the compile key by
    its content, but for those of them that are `not_inputs`: flags that name a place to write to, or whose values are
    no paths. `files` are further files and folders that the compiler reads, there or not. `facts` are further (name,
    value) pairs for the key, such as a device profile; `suffix_facts` are (suffix, fact) pairs and count for modules
    of that suffix only. `build` names the build for people: `iree 3.13.0 (build 1a2b3c4d5e6f)`.
    """

    build_id: str
    flags: tuple[str, ...]
    files: tuple[Path, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    not_inputs: tuple[str, ...] = ()
    suffix_facts: tuple[tuple[str, str], ...] = ()
    build: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """One compile. `source` is the module's bytes, `source_name` its file name (no folder, so that artifacts do not
    depend on where a checkout lies), `source_path` the file for tools that need one."""

    source: bytes
    source_name: str
    source_path: Path
    resolved: Resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A compiler's product: the artifact's bytes and what the compiler printed on the way."""

    artifact: bytes
    diagnostics: str = ""


@runtime_checkable
class Compiler(Protocol):
    """A compiler. `name` is what `compiler_config.compiler` says; `artifact_suffix` is like `.vmfb`."""

    name: str
    artifact_suffix: str

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name what is installed, so that a warm session need not start a compiler to ask it.

        Two equal answers promise that `resolve` gives the same for the same config, flags, environment of the config,
        current folder and host CPU (the caller keeps those apart). Something like version, path, size and modification
        time of the compiler's library. The empty string promises nothing: `resolve` is then asked in every session
        (right where it asks devices). Must be cheap and import nothing heavy. Runs in pytest's process; for a config
        with an `env`, which may change what is imported, in a worker with it. Raises `UnavailableError` if the compiler
        is not installed.
        """

    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Make `flags` (complete: config, suite, module) explicit for this machine. Runs in a compile worker; called
        once per distinct (config, flags), and not at all where `fingerprint` says that an earlier answer holds. Raises
        `UnavailableError` if the compiler is not installed, `CompilerError` for flags it refuses."""

    def compile(self, request: CompileRequest) -> Compiled:
        """Compile one module. Runs in a compile worker with the config's environment. What is written to file
        descriptors 1 and 2 is captured by the worker and added to the diagnostics. Raises `CompilerError`, with
        `verdict=True` where the compiler refuses the module; `UnavailableError` if a package or tool is missing."""

    def tags(self, config: CompilerConfig) -> Sequence[str]:
        """Words derived from the config for `-m` (the backend: `vulkan`, `llvm-cpu`, …). Pure; in pytest's process."""

    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """The argument list that compiles this target by hand to `output`. Pure; runs in pytest's process."""


@runtime_checkable
class DescribesBuild(Protocol):
    """What a compiler or a driver may offer besides: which build of it is imported, for `retarget explain`."""

    def describe_build(self) -> str:
        """Name the build that this process imports, for people: `iree 3.13.0 (build 1a2b3c4d5e6f)`.

        Runs in a worker for a config with an `env`, else in the command's process: import nothing heavy. Raises
        `UnavailableError` if it is not installed.
        """


@runtime_checkable
class ShowsArtifacts(Protocol):
    """What a compiler may offer besides `Compiler`: its artifacts as text, for `retarget show`."""

    artifact_suffix: str

    def show(self, artifact: bytes) -> str:
        """Return an artifact's text for a person. Raises `RetargetError` for bytes that are none of its artifacts."""


# ---------------------------------------------------------------- drivers


class DriverError(Exception):
    """A driver failed to open, load or call. `str()` is the runtime's own message."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionInfo:
    """An exported function. `arguments` is the number of its arguments, None where the artifact does not say.

    `argument_types` and `result_types` are the types as declared (`tensor<2x?xf32>`, `i32`); empty where the artifact
    does not say.
    """

    name: str
    arguments: int | None
    argument_types: tuple[str, ...] = ()
    result_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check a module made while it ran. `kind` is `eq`, `almost_eq`, `true`, `false` or `all_true`.

    `expected` is None for the last three. `atol` and `rtol` are the module's own (almost_eq):
    `|actual - expected| <= atol + rtol * |expected|`.
    """

    kind: str
    actual: Array
    expected: Array | None = None
    atol: float = 0.0
    rtol: float = 0.0


CheckSink = Callable[[Check], None]


class Program(Protocol):
    """A loaded artifact. Lives in a runner process."""

    @property
    def functions(self) -> Sequence[FunctionInfo]:
        """The exported functions a user may call, in the artifact's order; initialisers are not among them."""

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Call a function on host arrays and return its results as host arrays, once the device is done.

        Checks that the module makes are given to `on_check` with arrays of their own, to be kept. Raises `DriverError`.
        """


class Device(Protocol):
    """One or several opened devices. Lives in a runner process, open for as long as it."""

    @property
    def infos(self) -> Sequence[DeviceInfo]:
        """What was opened, in order."""

    def load(self, artifact: bytes) -> Program:
        """Load an artifact and run its initialisers. Raises `DriverError` for one it cannot take."""

    def close(self) -> None:
        """Release the devices."""


@runtime_checkable
class LoadsParameters(Protocol):
    """What a device may offer besides `Device`: artifacts that take their parameters from files."""

    def load_with_parameters(self, artifact: bytes, parameters: Sequence[tuple[str, Path]]) -> Program:
        """Do what `Device.load` does, with (scope, parameter archive) pairs. Raises `DriverError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """How a run target is reproduced or run out of process: argument list, and what must be in its environment.

    `cwd` is the folder to run it in, None for any: paths in `argv` that are relative start there. `telling` says how to
    read what a failing tool prints: the stage that a line speaks of, and a regular expression of the line whose first
    group is what it says; those that tell most first. Without it the first line counts, and all fails at `run`.
    """

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path | None = None
    telling: tuple[tuple[Stage, str], ...] = ()


@runtime_checkable
class Driver(Protocol):
    """A HAL driver. `name` is what `runtime_config.driver` says."""

    name: str

    def probe(self) -> Sequence[DeviceInfo]:
        """List the devices here, in ordinal order. Runs in a runner process. Raises `UnavailableError`."""

    def open(self, config: RuntimeConfig) -> Device:
        """Open the config's devices. Runs in a runner process with the config's environment. Raises
        `UnavailableError` if a device is not there, `DriverError` if it cannot be opened."""

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        """List what `Program.functions` would, without a device: what `run_under` is to run out of process may be built
        for another machine. Runs in a runner process. Raises `DriverError` for bytes that are no artifact."""

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        """Words derived from the config for `-m`. Pure; runs in pytest's process."""

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        """The command that runs one function of an artifact by hand, without `run_under`; None if there is no tool for
        it. Used to reproduce failures and, behind `run_under`, to run out of process. Exit status 0 must mean passed.
        Pure; runs in pytest's process as well as in the runner."""


@runtime_checkable
class LoadsArtifacts(Protocol):
    """What a driver may say besides `Driver`: which artifacts it loads.

    A target config that ties it to a compiler with another `Compiler.artifact_suffix` is a fault of the declarations,
    whose message names the compilers that fit.
    """

    artifact_suffixes: Sequence[str]


# ---------------------------------------------------------------- hooks


class HookSpecs:
    """The hooks of the project `retarget`. All are called once, when extensions are loaded."""

    @hookspec
    def retarget_compilers(self) -> Iterable[Compiler]:
        """Return the compilers that this extension brings."""
        raise NotImplementedError

    @hookspec
    def retarget_drivers(self) -> Iterable[Driver]:
        """Return the drivers that this extension brings."""
        raise NotImplementedError

    @hookspec
    def retarget_case_loaders(self) -> Iterable[CaseLoader]:
        """Return the case loaders that this extension brings."""
        raise NotImplementedError
