"""The vocabulary as frozen data: what is declared, and what it expands to.

Nothing here reads a file, a clock or the machine. `retarget.declare.load` creates the declarations,
`retarget.targets.expansion` creates the targets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from retarget.model.devices import DeviceTraits
from retarget.model.marks import Mark, compile_marks, runtime_marks, toolchain_marks
from retarget.model.metrics import Metric
from retarget.model.outcomes import CRASH, TIMEOUT


class PartlyCompared(Struct, frozen=True, kw_only=True):
    """A record that is equal to another of its class whose fields are, `uncompared` ones aside."""

    uncompared: ClassVar[frozenset[str]]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = _compared(type(self))
        return bool(compared(self) == compared(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_compared(type(self))(self))


@cache
def _compared(record: type[PartlyCompared]) -> Callable[[object], object]:
    """Return what gives the values of a record of this class that are compared."""
    return attrgetter(*(name for name in record.__struct_fields__ if name not in record.uncompared))


class Origin(Struct, frozen=True, kw_only=True):
    """The source location of a declaration: its file and its key path (`compiler_config[0]`)."""

    file: Path
    key_path: str


class Requirement(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A declaration's requirements of a device, in the language of `retarget.profiles.requirements`."""

    uncompared: ClassVar = frozenset({"origin"})
    text: str
    origin: Origin


class Toolchain(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """One build of a compiler and its runtime. `path` is the folder that holds it, None for the tools that PATH finds.

    `run_with` is the tool that runs artifacts, relative to `path`; empty: the extension looks for its own. `install` is
    the command that puts the build there. `redirected` means that `path` is that of `--retarget-toolchain`.
    """

    uncompared: ClassVar = frozenset({"origin", "redirected"})
    name: str
    path: Path | None
    redirected: bool = False
    run_with: str = ""
    install: str = ""
    tags: tuple[str, ...] = ()
    origin: Origin


class Host(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A machine that runs artifacts for this one.

    `kind` is `ssh` (`address` is the destination that the OpenSSH client takes), `adb` (a serial number; empty: the
    only device) or `command`, with the argument lists `push`, `pull` and `run`, in which `{local}`, `{remote}` and
    `{command}` stand for what they are given. `options` are those of the client. `folder` and `lease_folder` are on the
    host; empty: the kind's own. `run_with` is the tool there; empty: this machine's, or the toolchain's, is pushed.
    """

    uncompared: ClassVar = frozenset({"origin"})
    name: str
    kind: str
    address: str = ""
    options: tuple[str, ...] = ()
    push: tuple[str, ...] = ()
    pull: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    folder: str = ""
    lease_folder: str = ""
    run_with: str = ""
    env: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    origin: Origin

    @property
    def identity(self) -> str:
        """The identity of the host: equal for declarations of one host under several names."""
        return " ".join(filter(None, (self.kind, self.address, *self.options, *self.run)))


class CompilerConfig(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A named way to compile. Flags are complete: those of `extends` come first.

    `toolchain` is None for what is installed in the environment. `target_from` are the device profiles to compile for:
    absolute paths of profile files, names of shipped profiles, `host`, or `host:` and the URI of a device of this host.
    `devices` are (device name, device specification) pairs in declared order; the compiler extension
    turns them into its own flags. `timeout` is in seconds; None means the session's default.
    `flag_origins` has the declaration that wrote each flag.
    """

    uncompared: ClassVar = frozenset({"origin", "flag_origins"})
    name: str
    compiler: str
    flags: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    timeout: float | None = None
    devices: tuple[tuple[str, str], ...] = ()
    toolchain: Toolchain | None = None
    target_from: tuple[str, ...] = ()
    flag_origins: tuple[Origin, ...] = ()
    origin: Origin


class RuntimeConfig(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A named way to run. `toolchain` is None for what is installed in the environment, `host` for this machine.

    `devices` are device URIs, ordinals or names in order (empty: the driver's default device). Anything but a URI
    belongs to `driver`, which opens them all. `roles` are the compile devices that they are for, one for each, or none.
    `used` says of each whether every case must execute work on it (True) or none may (False); it is empty where nothing
    is asked. `distinct` demands as many physical devices. `host_os` uses `linux`, `android`, `macos`, `ios`, `windows`;
    `host_arch` uses `x86_64`, `arm64`, `riscv64`, … (empty: any). `deps` and `defines` are what a build of this runtime
    needs and never influence a run. `timeout` is in seconds; None means the session's default. `concurrency` is runs at
    a time on its device; None leaves that to the device. `profile` is that of the device that it is expected to have:
    the absolute path of a profile file, or the name of a shipped profile. `requires` has what `device_type` asks for
    too. `sanitize` asks the driver to check each access to memory (`retarget.extension.Driver.sanitizers`).
    `flag_origins` has the declaration that wrote each flag.
    """

    uncompared: ClassVar = frozenset({"origin", "flag_origins"})
    name: str
    driver: str
    devices: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    used: tuple[bool | None, ...] = ()
    distinct: bool = False
    flags: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    host_os: tuple[str, ...] = ()
    host_arch: tuple[str, ...] = ()
    run_under: tuple[str, ...] = ()
    deps: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    timeout: float | None = None
    concurrency: int | None = None
    toolchain: Toolchain | None = None
    host: Host | None = None
    profile: str = ""
    requires: tuple[Requirement, ...] = ()
    sanitize: bool = False
    flag_origins: tuple[Origin, ...] = ()
    origin: Origin

    @property
    def drivers(self) -> tuple[str, ...]:
        """The drivers of all devices, each once; `driver`, which opens them, is the first."""
        schemes = (device.partition("://")[0] for device in self.devices if "://" in device)
        return tuple(dict.fromkeys((self.driver, *schemes)))

    def mismatch(self, hosts: Sequence[tuple[str, str]], which: str) -> str | None:
        """Return why it can run on none of some hosts, each a system and an architecture; None if it can. `which`
        begins the words about them."""
        for system, architecture in hosts:
            system_fits = not self.host_os or system in self.host_os
            if system_fits and (not self.host_arch or architecture in self.host_arch):
                return None
        wanted = " on ".join(" or ".join(words) for words in (self.host_os, self.host_arch) if words)
        found = ", ".join(f"{system} on {architecture}" for system, architecture in hosts)
        return f"runtime config {self.name!r} needs {wanted}; {which} {found}"

    def with_devices(self, order: Sequence[int]) -> RuntimeConfig:
        """Return this config with its devices in the order of the given indices."""
        return replace(
            self,
            devices=tuple(self.devices[index] for index in order),
            roles=tuple(self.roles[index] for index in order if self.roles),
            used=tuple(self.used[index] for index in order if self.used),
        )

    def misplaced(self, work: Sequence[tuple[str, int]]) -> str:
        """Return which device executed nothing and should, or the other way round; empty where none did. `work` has the
        URI of each device and what it executed, in order."""
        names = self.roles or [uri for uri, _ in work]
        for name, (uri, count), wanted in zip(names, work, self.used, strict=False):
            if wanted is not None and wanted != bool(count):
                device = name if name == uri else f"{name} ({uri})"
                found, expected = ("no work", "some") if wanted else ("work", "none")
                counts = ", ".join(f"{other} = {number}" for other, (_, number) in zip(names, work, strict=True))
                return f"the device {device} executed {found}, expected {expected}; dispatches: {counts}"
        return ""


class TargetConfig(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """Ties compiler configs to runtime configs under one name. No runtimes: compile only."""

    uncompared: ClassVar = frozenset({"origin"})
    name: str
    compilers: tuple[CompilerConfig, ...]
    runtimes: tuple[RuntimeConfig, ...]
    tags: tuple[str, ...] = ()
    origin: Origin


class ModuleOverride(Struct, frozen=True, kw_only=True):
    """A suite's settings for some of its modules.

    `match` are globs over module names (`*` also matches `/`). `exclude_targets` are names or globs of target configs,
    compiler configs and runtime configs.
    """

    match: tuple[str, ...]
    exclude_targets: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    reason: str = ""


def compile_target_name(module: str, compiler: str) -> str:
    """Return the name of a compile target: `foo_llvm-cpu`."""
    return f"{module}_{compiler}"


class Module(Struct, frozen=True, kw_only=True):
    """One source program. `name` is its path below the suite's folder without the suffix, `/` kept, unless the suite's
    kind names it otherwise.

    `data` are files that hold its cases, in order. `entry` says which program of `path` it is, where that file
    describes several. `tags` are words of its targets. `install` is the command that brings the file, where it may be
    missing: the targets are then skipped.
    """

    name: str
    path: Path
    data: tuple[Path, ...] = ()
    entry: str = ""
    tags: tuple[str, ...] = ()
    install: str = ""

    def target(self, compiler: str) -> str:
        """Return the name of its compile target with a compiler config."""
        return compile_target_name(self.name, compiler)


def today() -> date:
    """Return the current day where this process runs."""
    return date.today()


class _Rule(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A rule about some targets, and why.

    `match` are module names or globs over them (`*` also matches `/`), `when` a tag expression (empty: all targets).
    From the day after `until` it excuses nothing.
    """

    uncompared: ClassVar = frozenset({"origin"})
    match: tuple[str, ...]
    when: str = ""
    reason: str = ""
    issue: str = ""
    until: date | None = None
    origin: Origin

    @property
    def excuse(self) -> str:
        """The reason, and where the error is reported."""
        return f"{self.reason} ({self.issue})" if self.issue else self.reason

    @property
    def is_expired(self) -> bool:
        """Whether it excuses nothing any more today. On its `until` it still does."""
        return self.until is not None and today() > self.until


class Expectation(_Rule, frozen=True, kw_only=True, eq=False):
    """A rule that says of some targets that they are known to fail.

    `cases` are names of cases or globs over them; none where the rule speaks of the targets as a whole.
    `stages` are some of `compile`, `load`, `run`, `compare`, `crash`, `timeout`; none for what is skipped. `signature`
    is (part of) the normalised first diagnostic, or empty. `outcome` is `xfail`, `skip`, `flaky` or `intermittent`;
    `retries` counts the further attempts of a flaky target.
    """

    cases: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    signature: str = ""
    outcome: str = "xfail"
    retries: int = 0

    @property
    def expected(self) -> str:
        """What is expected, after "expected to": `fail at compile`, `pass or fail at run or time out`."""
        stages = [stage for stage in self.stages if stage not in {CRASH, TIMEOUT}]
        words = ["pass"] if self.outcome == "intermittent" else []
        words += [f"fail at {' or '.join(stages)}"] if stages else []
        words += ["crash"] if CRASH in self.stages else []
        words += ["time out"] if TIMEOUT in self.stages else []
        return " or ".join(words)


class Golden(_Rule, frozen=True, kw_only=True, eq=False):
    """The bound of a metric of targets in a benchmark.

    Either `most` is set, in seconds, bytes or dispatches,
    or `within`, the share by which it may be larger than in the baseline (0.1 for `10 %`).
    """

    metric: Metric
    most: float | None = None
    within: float | None = None

    @property
    def bound(self) -> str:
        """Its metric and bound: `latency at most 12.5 ms`, `latency within 10 % of the baseline`."""
        if self.most is not None:
            return f"{self.metric} at most {self.metric.text(self.most)}"
        return f"{self.metric} within {100 * (self.within or 0):g} % of the baseline"


class Suite(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """A module test suite with everything it names resolved.

    `agree` is what the cases that say nothing of their results are to agree with: a compiler config, or `MAJORITY`.
    `expectations` and `goldens` are all rules that serve it: those of the files of the outermost folder first, its own
    last.
    `known_compilers` are the names of all compiler configs that its file sees, used or not; none where an error may
    hide some.
    """

    uncompared: ClassVar = frozenset({"origin", "known_compilers"})
    name: str
    folder: Path
    modules: tuple[Module, ...]
    kind: str
    targets: tuple[TargetConfig, ...]
    compiler_flags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    timeout: float | None = None
    requires: tuple[Requirement, ...] = ()
    agree: str = ""
    overrides: tuple[ModuleOverride, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    goldens: tuple[Golden, ...] = ()
    known_compilers: tuple[str, ...] = ()
    origin: Origin


class CompileTarget(PartlyCompared, frozen=True, kw_only=True, eq=False):
    """(module, compiler config). `flags` are the config's, then the suite's, then the module's.

    `folder`, `agree` and `known_compilers` are the suite's. `backends` are the words that the compiler derived from its
    config; they are among `tags`. With `returns_checks` the module is rewritten before it is compiled, for runs by a
    tool: its functions return what they would check. `devices` are those of this host that it is compiled for, None
    where that is not known: nothing that is declared says it.
    """

    uncompared: ClassVar = frozenset({"known_compilers"})
    name: str
    suite: str
    kind: str
    folder: Path
    module: Module
    compiler: CompilerConfig
    flags: tuple[str, ...]
    timeout: float | None
    tags: tuple[str, ...]
    backends: tuple[str, ...] = ()
    returns_checks: bool = False
    agree: str = ""
    known_compilers: tuple[str, ...] = ()
    devices: tuple[DeviceTraits, ...] | None = None

    @property
    def compiled(self) -> CompileTarget:
        """The target itself: as of a run target, what compiles its module."""
        return self

    @property
    def item(self) -> str:
        """The name of the compile target of this module and compiler config that users see: this one's, but where
        a run by a tool needs the module otherwise than the others do."""
        return f"{self.module.name}_{self.compiler.name}"

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Its keyword marks, in the order of `MARK_FIELDS`."""
        return *compile_marks(self.suite, self.compiler.name, self.backends), *toolchain_marks(
            _toolchains(self.compiler)
        )

    @property
    def runtime(self) -> None:
        """It is not run."""
        return None

    @property
    def may_ask_devices(self) -> bool:
        """Whether it can be compiled for a device of this host."""
        words = (*self.compiler.target_from, *(flag.partition("=")[2] for flag in self.flags))
        return any(word == "host" or word.startswith("host:") for word in words)


class RunTarget(Struct, frozen=True, kw_only=True):
    """(module, compiler config, runtime config). `compile` is the target whose artifact it runs.

    `requires` has the requirements of the runtime config, then those of the suite, then those of the module. `devices`
    are those that it runs on, None where they are not known: nothing that is declared says it.
    """

    name: str
    compile: CompileTarget
    runtime: RuntimeConfig
    timeout: float | None
    tags: tuple[str, ...]
    requires: tuple[Requirement, ...] = ()
    devices: tuple[DeviceTraits, ...] | None = None

    @property
    def compiled(self) -> CompileTarget:
        """The target that compiles the module."""
        return self.compile

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Its keyword marks, in the order of `MARK_FIELDS`."""
        compiled, runtime = self.compile, self.runtime
        return (
            *compile_marks(compiled.suite, compiled.compiler.name, compiled.backends),
            *runtime_marks(runtime.name, runtime.drivers, runtime.host_os, runtime.host_arch, runtime.devices),
            *toolchain_marks(_toolchains(compiled.compiler, runtime)),
        )


def _toolchains(*configs: CompilerConfig | RuntimeConfig) -> list[str]:
    return [config.toolchain.name for config in configs if config.toolchain is not None]


Target = CompileTarget | RunTarget
