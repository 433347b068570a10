"""What a HAL driver implements, and what it may implement in addition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from retarget.model import RuntimeConfig
from retarget.model.calls import Check, CheckSink, DriverError, FunctionInfo
from retarget.model.outcomes import DeviceInfo, Stage

if TYPE_CHECKING:
    from retarget.model.calls import Array

__all__ = [
    "BindsCalls",
    "Check",
    "CheckSink",
    "CountsWork",
    "Device",
    "Driver",
    "DriverError",
    "FunctionInfo",
    "ImportsAhead",
    "LoadsArtifacts",
    "LoadsParameters",
    "MapsArtifacts",
    "OpensTogether",
    "Program",
    "ReadsNeeds",
    "ReportsWork",
    "RunPlan",
    "RunsByTool",
    "RunsOnHosts",
    "Sanitizes",
    "ShowsCommand",
    "TimesDevice",
]


class Program(Protocol):
    """A loaded artifact. Lives in a device worker."""

    @property
    def functions(self) -> Sequence[FunctionInfo]:
        """The exported functions a user may call, in the artifact's order; initialisers are not among them."""

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Call a function on host arrays and return its results as host arrays, once the device is done.

        Checks of the module are passed to `on_check` with arrays of their own, to be kept. Raises `DriverError`.
        """


@runtime_checkable
class CountsWork(Protocol):
    """What a program may implement in addition to `Program`: on which of several devices a call was executed."""

    def last_work(self) -> Sequence[int]:
        """Return how much work (dispatches) the last call executed on each device, in the order of the devices. Asked
        for where `RuntimeConfig.used` says something of a device. Raises `DriverError`."""


@runtime_checkable
class ReportsWork(Protocol):
    """What a program may implement in addition to `Program`: when a call's work begins on the device.

    It is the evidence for the rung `dispatches` (`retarget.model.Rung`). Without it, that is that the call was entered.
    """

    def report_work(self, started: Callable[[], None]) -> None:
        """Keep `started` and call it in each later call, once its arguments are on the device and before its first
        work (a dispatch) is handed to it; more often does no harm. Called once, after loading."""


@runtime_checkable
class BindsCalls(Protocol):
    """What a program may implement in addition to `Program`: calls without copies from and to the host, which
    benchmarks time. Without it they time `Program.call`."""

    def bind_call(self, function: str, inputs: Sequence[Array]) -> Callable[[], None]:
        """Copy the arguments to the device, and return what calls the function on them and returns when the device is
        done; results stay on the device, checks are not made. Raises `DriverError`, as does what it returns."""


@runtime_checkable
class TimesDevice(Protocol):
    """What a program may implement in addition to `Program`: how long calls take by the device's own clock."""

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        """Return for each of some calls, at most so many, after a warm one, the seconds that its kernels executed on
        the device, all together; nothing where the device does not say. `artifact` is the file that was loaded. Raises
        `DriverError`."""


@runtime_checkable
class ShowsCommand(Protocol):
    """What a program may implement in addition to `Program`: it makes each call by a command."""

    def last_command(self, artifact: Path) -> Sequence[str]:
        """Return the argument list of the last call, for a shell: the artifact is `artifact`, and other files that it
        names stay. Asked for where a case has failed."""


class Device(Protocol):
    """One or several opened devices. Lives in a device worker, open for as long as it."""

    @property
    def infos(self) -> Sequence[DeviceInfo]:
        """What was opened, in order."""

    def load(self, artifact: bytes) -> Program:
        """Load an artifact and run its initialisers. Raises `DriverError` for one it cannot take."""

    def close(self) -> None:
        """Release the devices."""


@runtime_checkable
class LoadsParameters(Protocol):
    """What a device may implement in addition to `Device`: artifacts that take their parameters from files."""

    def load_with_parameters(self, artifact: bytes, parameters: Sequence[tuple[str, Path]]) -> Program:
        """Do what `Device.load` does, with (scope, parameter archive) pairs. Raises `DriverError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """How a run target is reproduced or run out of process: argument list, and what must be in its environment.

    `cwd` is the folder to run it in, None for any: paths in `argv` that are relative start there. `stdin` is what it
    reads, if anything: a file. `telling` says how to
    read what a failing tool prints: the stage that a line speaks of, and a regular expression of the line whose first
    group is what it says; the most informative first. Without it the first line counts, and all fails at `run`.
    """

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path | None = None
    telling: tuple[tuple[Stage, str], ...] = ()
    stdin: Path | None = None


@runtime_checkable
class Driver(Protocol):
    """A HAL driver. `name` is what `runtime_config.driver` says."""

    name: str

    def probe(self) -> Sequence[DeviceInfo]:
        """List the devices here, in ordinal order. Runs in a device worker. Raises `UnavailableError`."""

    def open(self, config: RuntimeConfig) -> Device:
        """Open the config's devices. Runs in a device worker with the config's environment. Raises
        `UnavailableError` if a device is not there, `DriverError` if it cannot be opened."""

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        """List what `Program.functions` would, without a device: what `run_under` is to run out of process may be built
        for another machine. Runs in a device worker. Raises `DriverError` for bytes that are no artifact."""

    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        """Words derived from the config for `-m`. Pure; runs in pytest's process."""

    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        """The command that runs one function of an artifact by hand, without `run_under`; with it where it is to run on
        a host. None if there is no tool for it. Exit status 0 must mean passed. Pure; runs in pytest's process."""


@runtime_checkable
class RunsByTool(Protocol):
    """What a driver may implement in addition to `Driver`: programs that a tool runs, a process for each call."""

    def runs_by_tool(self, config: RuntimeConfig) -> bool:
        """Whether `open` gives a device for this config whose programs are run by a tool; it must where the config has
        `run_under`, which then prefixes the tool. Such programs cannot check anything while they run: see
        `ReturnsChecks`. Pure; runs in pytest's process as well as in device workers."""


@runtime_checkable
class RunsOnHosts(Protocol):
    """What a driver whose tool runs programs (`RunsByTool`) may implement in addition: it runs them on hosts.

    `open` connects to the `host` of a config, with `retarget.worker.hosts`, and `runs_by_tool` is true for it. The
    `physical_id` of a device there says of which host it is.
    """

    def probe_on_host(self, config: RuntimeConfig) -> Sequence[DeviceInfo]:
        """List the devices of the config's driver on its host, in ordinal order. Runs in a device worker. Raises
        `UnavailableError`."""


@runtime_checkable
class LoadsArtifacts(Protocol):
    """What a driver may implement in addition to `Driver`: which artifacts it loads.

    A target config that ties it to a compiler with another `Compiler.artifact_suffix` is an error of the declarations,
    whose message names the compilers that fit.
    """

    artifact_suffixes: Sequence[str]


@runtime_checkable
class MapsArtifacts(Protocol):
    """What a driver may implement in addition to `Driver`: it leaves artifacts in their files, however large they are.

    Where `maps_artifacts` is true, `needs`, `Device.load` and `load_with_parameters` get a read-only `memoryview` of
    the mapped file in place of `bytes`. Its content was compared with its digest, and stays while it is loaded.
    """

    maps_artifacts: bool


@runtime_checkable
class Sanitizes(Protocol):
    """What a driver may implement in addition to `Driver`: it takes runtime configs with `sanitize = true`.

    `open` then gives a device that checks accesses to memory, and what it finds is a `DriverError` of the call.
    `sanitizers` names what checks. Declared with another driver, `sanitize` is an error of the declarations.
    """

    sanitizers: Sequence[str]


@runtime_checkable
class ReadsNeeds(Protocol):
    """What a driver may implement in addition to `Driver`: what an artifact needs of a device, before it is loaded."""

    def needs(self, artifact: bytes) -> Sequence[str]:
        """Return the requirements that an artifact states, as `requires` in declarations has them; none for bytes that
        are no artifact. Runs in a device worker. A device that has another value than it needs is a skip."""


@runtime_checkable
class ImportsAhead(Protocol):
    """What a driver may implement in addition to `Driver`: what takes long to import is there before it is needed."""

    def import_ahead(self) -> None:
        """Import what `open` and runs need. Called in a worker that is started before it is known what it is to run;
        what it raises is ignored, and raised again by what needs it."""


@runtime_checkable
class OpensTogether(Protocol):
    """What a driver may implement in addition to `Driver`: it opens devices of several drivers for one program.

    `opens_with` are the names of the drivers whose devices `open` takes beside its own.
    """

    opens_with: Sequence[str]
