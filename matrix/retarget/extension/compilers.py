"""The base class of compilers, and what its methods take and return."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from retarget.extension.products import Builds, called_in_process, not_overridden
from retarget.model import CompilerConfig, CompileTarget
from retarget.model.outcomes import DeviceInfo
from retarget.profiles.files import Profile
from retarget.support.toml import toml_table


class Resolved(Struct, frozen=True, kw_only=True):
    """A compiler config with everything of this machine resolved.

    `build_id` names the exact compiler build by its content. `code` is a digest of the extension's own code, which the
    core fills in (`Compiler.build_has_code`). `flags` are what the compiler gets, with `host` and the like replaced or
    accompanied by what they resolved to. Whatever they name that exists is part of the compile key by
    its content, but for those of them that are `not_inputs`: flags that name an output, or whose values are
    no paths. `files` are further files and folders that the compiler reads, there or not. `facts` are further (name,
    value) pairs for the key, such as a device profile; `suffix_facts` are (suffix, fact) pairs and count for modules
    of that suffix only. `build` names the build for people: `iree 3.13.0 (build 1a2b3c4d5e6f)`. `front_end` is what
    the front end's output depends on, of a compiler that has a `run_front_end`: its build, its flags, its facts.
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
    code: str = ""

    @property
    def whole_build(self) -> str:
        """The build and the extension's code: what must be equal for two processes to give the same artifacts."""
        return f"{self.build_id} {self.code}".rstrip()

    def with_facts(self, *facts: tuple[str, str], code: str = "") -> Resolved:
        """Return it with further facts, and `code`, which are those of its front end and front half, too."""
        front_end = self.front_end and self.front_end.with_facts(*facts, code=code)
        front_half = self.front_half and self.front_half.with_facts(*facts, code=code)
        facts = (*self.facts, *facts)
        return replace(self, facts=facts, code=code or self.code, front_end=front_end, front_half=front_half)


class CompileRequest(Struct, frozen=True, kw_only=True):
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


class Compiled(Struct, frozen=True, kw_only=True):
    """A compiler's product: the artifact's bytes, what the compiler printed on the way, and the front half that was to
    be kept. The core uses a half only where nothing was printed."""

    artifact: bytes
    diagnostics: str = ""
    front_half: bytes = b""


class ProgramStatistics(Struct, frozen=True, kw_only=True):
    """What a compiled program has: dispatches, each once, also of initialisers; and the bytes of device memory that it
    allocates while it runs, as far as the compiler knows their sizes."""

    dispatches: int
    transient: int


class TargetPart(Struct, frozen=True, kw_only=True):
    """One part of what is compiled for: its name as the compiler has it, its value, and where the value came from."""

    name: str
    value: str
    source: str


def part_lines(parts: Iterable[TargetPart]) -> Iterator[str]:
    """Yield the parts of a compiler's target in groups, each below the source that its parts come from."""
    groups: dict[str, list[TargetPart]] = {}
    for part in parts:
        groups.setdefault(part.source, []).append(part)
    for source, found in groups.items():
        yield source
        yield from (f"  {part.name} = {part.value}" if part.value else f"  {part.name}" for part in found)


class ProfileTarget(Struct, frozen=True, kw_only=True):
    """What a compiler makes of a device profile: the flags that compile for it, and the parts of the target."""

    flags: tuple[str, ...]
    parts: tuple[TargetPart, ...]

    @property
    def lines(self) -> Iterator[str]:
        """The parts, as `part_lines` gives them."""
        return part_lines(self.parts)


class SuggestedTarget(Struct, frozen=True, kw_only=True):
    """A target config with the compiler config and the runtime configs that it needs, named after their drivers.

    `comment` is one line, which says what it is. `is_reference` marks one that computes without the device's own code
    generation, so that the results of others can be compared with its; it is declared where a suite compares.
    """

    name: str
    comment: str
    compiler_config: str
    flags: tuple[str, ...] = ()
    target_from: tuple[str, ...] = ()
    drivers: tuple[str, ...]
    is_reference: bool = False

    def compiler_text(self, compiler: str, *, name: str = "") -> str:
        """Return the compiler config as TOML, under its own name or another one."""
        return toml_table(
            "compiler_config",
            name=name or self.compiler_config,
            compiler=compiler,
            flags=self.flags or None,
            target_from=(self.target_from[0] if len(self.target_from) == 1 else self.target_from) or None,
        )


class Compiler(Builds, is_base=True):
    """A compiler. `name` is what `compiler_config.compiler` says; `artifact_suffix` is like `.vmfb`.

    A module is compiled with `statistics_flags` after its own flags for `program_statistics`; without any it is the
    artifact itself that is read.

    With `build_has_code`, `build_id` and `fingerprint` change wherever an edit of the extension may change an artifact,
    and with nothing else of it (`code_digest`). Without, the core adds a digest of the package that the class lies in
    and of what that imports, and of the variables of the environment that this code names.
    """

    name: str
    build_has_code: bool = False
    artifact_suffix: str
    statistics_flags: Sequence[str] = ()

    @called_in_process
    def fingerprint(self, config: CompilerConfig) -> str:
        """Name what is installed, so that a warm session need not start a compiler to ask it.

        Two equal answers promise that `resolve` gives the same for the same config, flags, environment of the config,
        current folder and host CPU (the caller keeps those apart). Something like version, path, size and modification
        time of the compiler's library. The empty string promises nothing: `resolve` is then called in every session
        (right where it asks devices). Must be cheap and import nothing heavy. Runs in pytest's process; for a config
        with an `env`, which may change what is imported, in a worker with it. Raises `UnavailableError` if the compiler
        is not installed.
        """
        return ""

    @abstractmethod
    def resolve(self, config: CompilerConfig, flags: tuple[str, ...]) -> Resolved:
        """Make `flags` (complete: config, suite, module) explicit for this machine. Runs in a compile worker; called
        once per distinct (config, flags), and not at all where `fingerprint` says that an earlier answer holds. Raises
        `UnavailableError` if the compiler is not installed, `CompilerError` for flags it refuses."""

    @abstractmethod
    def compile(self, request: CompileRequest) -> Compiled:
        """Compile one module. Runs in a compile worker with the config's environment. What is written to file
        descriptors 1 and 2 is captured by the worker and added to the diagnostics. Raises `CompilerError`, with
        `verdict=True` where the compiler refuses the module; `UnavailableError` if a package or tool is missing."""

    def run_front_end(self, request: CompileRequest) -> Compiled:
        """Do a first step that takes much of the time, and whose output stays the same while the step after it is
        worked on: the core keeps the output under a key of its own.

        Returns what `compile` continues from, as its `request.front_end`. `request.resolved` is `Resolved.front_end`;
        where `resolve` gives none, this is not called. Otherwise as `compile`, whose errors it raises."""
        not_overridden(self, "run_front_end")

    @called_in_process
    def tags(self, config: CompilerConfig) -> Sequence[str]:
        """Words derived from the config for `-m` (the backend: `vulkan`, `llvm-cpu`, …). Pure; in pytest's process."""
        return ()

    @abstractmethod
    @called_in_process
    def reproduce(self, target: CompileTarget, flags: tuple[str, ...], output: Path) -> Sequence[str]:
        """The argument list that compiles this target by hand to `output`. Pure; runs in pytest's process."""

    @called_in_process
    def device_problems(self, devices: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        """Return (name, what is wrong) for each specification of `compiler_config.devices`, by its name, that cannot be
        meant. Pure; in pytest's process."""
        return ()

    @called_in_process
    def runtime_devices(self, devices: Mapping[str, str]) -> Mapping[str, bool]:
        """Return the names in the order in which a program counts the devices of its runtime, each with whether it
        needs the device; False where another takes its place. Pure; in pytest's process. A program asks for its devices
        in declared order, and for all, where this is not overridden."""
        return dict.fromkeys(devices, True)

    def show(self, artifact: bytes) -> str:
        """Return an artifact's text for a person (`retarget show`). Raises `RetargetError` for bytes that are none."""
        not_overridden(self, "show")

    @called_in_process
    def shrink_command(self, source: Path, folder: Path, keep_types: bool) -> Sequence[str]:
        """Return the command that writes variants of the module `source` into a folder, each smaller in one way.

        It is started with the variables of the config's toolchain. It reads from standard input the names of variants
        that are not to be written again, one a line, up to the end. Its first line says what the module has (`3
        functions, 40 ops`). Each other line is the file of a variant, a tab and its name, those that leave out most
        first; some of them at a time are enough, and none ends the reduction. A name means the same edit in each
        variant. With `keep_types` the functions that are called keep their arguments and results. Pure.
        """
        not_overridden(self, "shrink_command")

    @called_in_process
    def program_statistics(self, artifact: bytes, diagnostics: str) -> ProgramStatistics:
        """Return what the compiler printed with `statistics_flags` tells of a program, for benchmarks; without any,
        what the artifact tells. Pure; in pytest's process. Raises `RetargetError` where they tell nothing."""
        not_overridden(self, "program_statistics")

    def profile_target(self, profile: Profile) -> ProfileTarget:
        """Return the target for one device profile. Pure; in pytest's process too. Raises `CompilerError` for a profile
        that this compiler has no target for.

        `target_from` is an error for a compiler that does not override this. With it, `target_parts`, `resolve`,
        `fingerprint` and `tags` heed `CompilerConfig.target_from`."""
        not_overridden(self, "profile_target")

    def target_parts(self, config: CompilerConfig, flags: Sequence[str]) -> Sequence[TargetPart]:
        """Return the parts of the target of a config with `target_from`, and of `flags` what it overrides. Pure; what
        only a device can say is left open. Raises `CompilerError`, and `RetargetError` for a profile that cannot be
        read."""
        return ()

    @called_in_process
    def suggest_targets(self, devices: Mapping[str, Sequence[DeviceInfo]]) -> Sequence[SuggestedTarget]:
        """Return a target config for each sort of device that this compiler compiles for, the CPU's first: `retarget
        init` writes them. Runs in its process.

        `devices` are those found here, by driver; a driver without devices is not in it.
        """
        return ()

    @called_in_process
    def takes(self, source: Path) -> bool:
        """Return whether a file may be a module for this compiler, by a look into it. Pure; in the process of
        `retarget init`, which gives a suite no target config of a compiler that takes none of its files."""
        return True
