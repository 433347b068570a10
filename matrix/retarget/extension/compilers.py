"""What a compiler implements, and what it may implement in addition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from retarget.model import CompilerConfig, CompileTarget, RuntimeConfig, Toolchain
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.profile import Profile

__all__ = [
    "CompileRequest",
    "Compiled",
    "Compiler",
    "CompilerError",
    "CountsDispatches",
    "DescribesBuild",
    "HasFrontEnd",
    "HasReleases",
    "MeasuresModules",
    "ModuleSize",
    "NamesDevices",
    "ProfileTarget",
    "ProgramStatistics",
    "Resolved",
    "ShowsArtifacts",
    "ShrinksModules",
    "TargetPart",
    "TargetsProfiles",
    "UnavailableError",
    "UsesToolchains",
]


class CompilerError(Exception):
    """A compile failed. `diagnostics` is all that the compiler printed; the first line of `str()` is the summary.

    `verdict` declares that the compiler itself has judged the module and refuses it: with the same module, flags, files
    and build it always will. Only a verdict is stored, and only a verdict can be an expected failure. Without it the
    failure is trouble of tool or environment (a linker that is missing, a file that cannot be read), is reported, and
    the next session tries again. A failure `in_front_half` is one of all configs with an equal `Resolved.front_half`.
    """

    def __init__(
        self, summary: str, diagnostics: str = "", *, verdict: bool = False, in_front_half: bool = False
    ) -> None:
        super().__init__(summary)
        self.diagnostics = diagnostics
        self.verdict = verdict
        self.in_front_half = in_front_half


class UnavailableError(Exception):
    """A compiler or driver cannot be used on this machine. `str()` is the reason, `hint` what fixes it."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """A compiler config with everything of this machine resolved.

    `build_id` names the exact compiler build by its content. `flags` are what the compiler gets, with `host` and the
    like replaced or accompanied by what they resolved to. Whatever they name that exists is part of the compile key by
    its content, but for those of them that are `not_inputs`: flags that name an output, or whose values are
    no paths. `files` are further files and folders that the compiler reads, there or not. `facts` are further (name,
    value) pairs for the key, such as a device profile; `suffix_facts` are (suffix, fact) pairs and count for modules
    of that suffix only. `build` names the build for people: `iree 3.13.0 (build 1a2b3c4d5e6f)`. `front_end` is what
    the front end's output depends on, of a compiler that implements `HasFrontEnd`: its build, its flags, its facts.
    `front_half` is the same for what a compile can keep on its way, or the front end, and where there is such a half
    (`CompileRequest`). `compiler` names the compiler that the half is of, where that is not the config's: two
    compilers may begin with the same one. `devices` are those of this host that it is compiled for; what their drivers
    say of them for rules is no part of the key.
    """

    build_id: str
    flags: tuple[str, ...]
    files: tuple[Path, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    not_inputs: tuple[str, ...] = ()
    suffix_facts: tuple[tuple[str, str], ...] = ()
    build: str = ""
    front_end: Resolved | None = None
    front_half: Resolved | None = None
    compiler: str = ""
    devices: tuple[DeviceInfo, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """One compile. `source` is the module's bytes, `source_name` its file name (no folder, so that artifacts do not
    depend on where a checkout lies), `source_path` the file for tools that need one. `front_end` is what
    `run_front_end` returned; None where it was not called. A compile that `keeps_front_half` returns it in addition:
    other configs have an equal `Resolved.front_half`. Theirs then get it as `front_half`, may begin with it, and give
    what they would without it."""

    source: bytes
    source_name: str
    source_path: Path
    resolved: Resolved
    front_end: bytes | None = None
    front_half: bytes | None = None
    keeps_front_half: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A compiler's product: the artifact's bytes, what the compiler printed on the way, and the front half that was to
    be kept. The core uses a half only where nothing was printed."""

    artifact: bytes
    diagnostics: str = ""
    front_half: bytes = b""


@runtime_checkable
class Compiler(Protocol):
    """A compiler. `name` is what `compiler_config.compiler` says; `artifact_suffix` is like `.vmfb`."""

    name: str
    artifact_suffix: str

    def fingerprint(self, config: CompilerConfig) -> str:
        """Name what is installed, so that a warm session need not start a compiler to ask it.

        Two equal answers promise that `resolve` gives the same for the same config, flags, environment of the config,
        current folder and host CPU (the caller keeps those apart). Something like version, path, size and modification
        time of the compiler's library. The empty string promises nothing: `resolve` is then called in every session
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
class HasFrontEnd(Protocol):
    """What a compiler may implement in addition to `Compiler`: a first step that takes much of the time, and whose
    output stays the same while the step after it is worked on. The core keeps the output under a key of its own."""

    def run_front_end(self, request: CompileRequest) -> Compiled:
        """Return what `compile` continues from, as its `request.front_end`. `request.resolved` is `Resolved.front_end`;
        where `resolve` gives none, this is not called. Otherwise as `compile`, whose errors it raises."""


@runtime_checkable
class DescribesBuild(Protocol):
    """What a compiler or a driver may implement in addition: which build of it is imported, for `retarget explain`."""

    def describe_build(self, toolchain: Toolchain | None) -> str:
        """Name the build of a toolchain, or without one that which this process imports, for people:
        `iree 3.13.0 (build 1a2b3c4d5e6f)`.

        Runs in a worker for a config with an `env`, else in the command's process: import nothing heavy. Raises
        `UnavailableError` if it is not installed.
        """


@runtime_checkable
class NamesDevices(Protocol):
    """What a compiler may implement in addition to `Compiler`: what it makes of `compiler_config.devices`, names with
    their specifications in declared order. Without it, a program asks for its devices in this order, and for all."""

    def device_problems(self, devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Return (name, what is wrong) for each specification that cannot be meant. Pure; in pytest's process."""

    def runtime_devices(self, devices: Mapping[str, str]) -> Mapping[str, bool]:
        """Return the names in the order in which a program counts the devices of its runtime, each with whether it
        needs the device; False where another takes its place. Pure; in pytest's process."""


@runtime_checkable
class UsesToolchains(Protocol):
    """A compiler or a driver that can use other builds than the environment's: those of a `[[toolchain]]`."""

    def toolchain_environment(self, config: CompilerConfig | RuntimeConfig) -> Sequence[tuple[str, str]]:
        """Return the (variable, value) pairs with which a worker uses the build of `config.toolchain`, which is not
        None.

        Workers with other variables are other processes, so two builds never meet in one. Looks at files only; runs in
        pytest's process. Raises `UnavailableError` that says what is missing where; the toolchain's name and
        declaration are put before it.
        """


@runtime_checkable
class HasReleases(Protocol):
    """A compiler or a driver whose releases are packages of Python's package index, for `retarget bisect`. It must use
    toolchains, too: a release is installed into a folder, which becomes the path of one."""

    def release_packages(self) -> Sequence[str]:
        """Return the packages that make up a release, which all have its version: `("iree-base-runtime",)`. Pure."""


@runtime_checkable
class ShowsArtifacts(Protocol):
    """What a compiler may implement in addition to `Compiler`: its artifacts as text, for `retarget show`."""

    artifact_suffix: str

    def show(self, artifact: bytes) -> str:
        """Return an artifact's text for a person. Raises `RetargetError` for bytes that are none of its artifacts."""


@runtime_checkable
class ShrinksModules(Protocol):
    """What a compiler may implement in addition to `Compiler`: smaller variants of its modules, from which
    `retarget repro --reduce` takes those that fail in the same way."""

    def shrink_command(self, source: Path, folder: Path, keep_types: bool) -> Sequence[str]:
        """Return the command that writes variants of the module `source` into a folder, each smaller in one way.

        It is started with the variables of the config's toolchain. It reads from standard input the names of variants
        that are not to be written again, one a line, up to the end. Its first line says what the module has (`3
        functions, 40 ops`). Each other line is the file of a variant, a tab and its name, those that leave out most
        first; some of them at a time are enough, and none ends the reduction. A name means the same edit in each
        variant. With `keep_types` the functions that are called keep their arguments and results. Pure.
        """

    def reduce_command(self, source: Path, output: Path, script: Path) -> Sequence[str]:
        """Return the command of the compiler's own tool that reduces the module `source` and writes what is left to
        `output`; empty where it has none. The tool runs `script` with a module's file: exit status 0 where that still
        fails in the same way. Pure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleSize:
    """How much of a backend a module needs: its dispatches, the distinct ops in it, the element types of its tensors,
    and how many elements the largest has."""

    dispatches: int
    ops: tuple[str, ...]
    types: tuple[str, ...]
    elements: int

    @property
    def order(self) -> tuple[int, int, int, int]:
        """By this, smaller modules come before larger ones."""
        return self.dispatches, len(self.ops), len(self.types), self.elements


@runtime_checkable
class MeasuresModules(Protocol):
    """What a compiler may implement in addition to `Compiler`: the size of a module, whatever backend compiles it.

    A module is compiled as any other, with `measuring_flags` after its own flags; `module_size` reads the artifact.
    """

    measuring_flags: Sequence[str]

    def module_size(self, artifact: bytes) -> ModuleSize:
        """Return the size that such an artifact tells. Pure; in the command's process. Raises `RetargetError` for bytes
        that are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStatistics:
    """What a compiled program has: dispatches, each once, also of initialisers; and the bytes of device memory that it
    allocates while it runs, as far as the compiler knows their sizes."""

    dispatches: int
    transient: int


@runtime_checkable
class CountsDispatches(Protocol):
    """What a compiler may implement in addition to `Compiler`: what its programs have, for benchmarks.

    A module is compiled as any other, with `statistics_flags` after its own flags; without any, it is the artifact
    itself that is read.
    """

    statistics_flags: Sequence[str]

    def program_statistics(self, artifact: bytes, diagnostics: str) -> ProgramStatistics:
        """Return what the compiler printed with `statistics_flags` tells; without any, what the artifact tells. Pure;
        in pytest's process. Raises `RetargetError` where they tell nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPart:
    """One part of what is compiled for: its name as the compiler has it, its value, and where the value came from."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTarget:
    """What a compiler makes of a device profile: the flags that compile for it, and the parts of the target."""

    flags: tuple[str, ...]
    parts: tuple[TargetPart, ...]


@runtime_checkable
class TargetsProfiles(Protocol):
    """What a compiler may implement in addition to `Compiler`: it compiles for device profiles (`target_from`).

    Its `resolve`, `fingerprint` and `tags` then heed `CompilerConfig.target_from`. For a compiler that does not
    implement this, `target_from` is an error.
    """

    def profile_target(self, profile: Profile) -> ProfileTarget:
        """Return the target for one profile. Pure; in pytest's process too. Raises `CompilerError` for a profile that
        this compiler has no target for."""

    def target_parts(self, config: CompilerConfig, flags: Sequence[str]) -> Sequence[TargetPart]:
        """Return the parts of the target of a config with `target_from`, and of `flags` what it overrides. Pure; what
        only a device can say is left open. Raises `CompilerError`, and `RetargetError` for a profile that cannot be
        read."""
