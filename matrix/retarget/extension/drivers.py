"""The base classes of HAL drivers, of the devices that they open, and of the programs that those load.

The checks of a driver (`retarget bringup driver`) use nothing of a device but its `Transfers`, so that a new driver
passes them before there is a compiler for it. Their shapes are those of a HAL: buffers, submissions that wait for
events, events, maps, limits. A bundle that reproduces a failure holds a copy of this module.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retarget.extension.products import Builds, Product, called_in_process, not_overridden
from retarget.model.calls import CheckSink, DriverError, FunctionInfo
from retarget.model.outcomes import DeviceInfo, Stage

if TYPE_CHECKING:
    from retarget.model import RuntimeConfig
    from retarget.model.calls import Array


class Program(Product, is_base=True):
    """A loaded artifact. Lives in a device worker.

    `functions` are the exported functions a user may call, in the artifact's order; initialisers are not among them.
    """

    functions: Sequence[FunctionInfo]

    @abstractmethod
    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Call a function on host arrays and return its results as host arrays, once the device is done.

        Checks of the module are passed to `on_check` with arrays of their own, to be kept. Raises `DriverError`.
        """

    def report_work(self, started: Callable[[], None]) -> None:
        """Keep `started` and call it in each later call, once its arguments are on the device and before its first
        work (a dispatch) is handed to it; more often does no harm. Called once, after loading.

        It is the evidence for the rung `dispatches` (`retarget.model.Rung`). Where this is not overridden, that is that
        the call was entered."""

    def last_work(self) -> Sequence[int]:
        """Return how much work (dispatches) the last call executed on each device, in the order of the devices. Asked
        for where `RuntimeConfig.used` says something of a device, which is an error where this is not overridden.
        Raises `DriverError`."""
        not_overridden(self, "last_work")

    def last_command(self, artifact: Path) -> Sequence[str]:
        """Return the argument list of the last call, for a shell, of a program that makes each call by a command: the
        artifact is `artifact`, and other files that it names stay. Asked for where a case has failed."""
        return ()

    def bind_call(self, function: str, inputs: Sequence[Array]) -> Callable[[], object]:
        """Copy the arguments to the device, and return what calls the function on them and returns when the device is
        done; results stay on the device, checks are not made. Benchmarks time it: `call`, where it is not overridden.
        Raises `DriverError`, as does what it returns."""
        return lambda: self.call(function, inputs, lambda _: None)

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        """Return for each of some calls, at most so many, after a warm one, the seconds that its kernels executed on
        the device, by the device's own clock, all together; nothing where the device does not say. `artifact` is the
        file that was loaded. Raises `DriverError`."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferLimits:
    """What a device announces of its memory and its queue. The checks hold it to that, and ask for no more.

    `largest_allocation` is the size in bytes of the largest buffer that is promised, None without a promise; a larger
    one is refused, or as good. Offsets and lengths of copies, updates, maps, host reads and host writes are multiples
    of `offset_alignment` bytes, those of fills multiples of `fill_alignment` and of the length of the pattern.

    A device that is not `asynchronous` has finished a submission when the call returns; it refuses one that waits for
    an event which is not complete. With `in_order`, a submission may wait for all before it, which nothing asked for.
    `moves_overlap` says that a copy whose ranges overlap moves the bytes as `memmove` does; otherwise it is refused.
    Without `maps`, no buffer is mappable; without `writes_maps`, maps are for reading only.
    """

    largest_allocation: int | None = None
    offset_alignment: int = 1
    fill_alignment: int = 1
    asynchronous: bool = True
    in_order: bool = False
    moves_overlap: bool = False
    maps: bool = True
    writes_maps: bool = True


@dataclass(frozen=True, slots=True)
class BufferRange:
    """`length` bytes of a buffer from the byte `offset` on."""

    buffer: Any
    offset: int
    length: int


class Transfers(Product, is_base=True):
    """The memory and the queue of one device, whose `limits` it announces. Lives in a device worker, and is used by one
    thread.

    Buffers and events are objects of whatever class the device likes. Sizes, offsets and lengths are in bytes.

    Each method raises `DriverError` for what the device does not do: a range that is not within the buffer, an offset
    that is not aligned, a pattern of another length, a buffer that is too large. Nothing is written then, and the
    device goes on to work. A length of 0 is no error: nothing is written, and the event completes as any other.

    `fill`, `copy` and `update` are submissions. One begins once all events of `after` are complete, and returns the
    event that is complete when its bytes are written. Two submissions of which none waits for the other may be done in
    any order.
    """

    limits: TransferLimits

    @abstractmethod
    def allocate(self, size: int, mappable: bool) -> object:
        """Return a new buffer; its content is undefined. A `mappable` one can be mapped by the host.

        A size of 0 gives a buffer without bytes or a `DriverError`.
        """

    @abstractmethod
    def free(self, buffer: Any) -> None:
        """Release a buffer. All submissions that use it are complete."""

    @abstractmethod
    def write(self, target: BufferRange, data: bytes | bytearray) -> None:
        """Write as many bytes from the host, and return when they are there. Waits for no submission."""

    @abstractmethod
    def read(self, source: BufferRange) -> bytes:
        """Return bytes to the host. Waits for no submission."""

    @abstractmethod
    def map(self, mapped: BufferRange) -> AbstractContextManager[memoryview]:
        """Map a range of a mappable buffer: a memory view of its bytes, to be read and written inside
        of `with`.

        What the host writes is there for submissions that are made after the `with`; what submissions wrote is there
        for a map that is made when they are complete.
        """

    @abstractmethod
    def fill(self, target: BufferRange, pattern: bytes, after: Sequence[Any]) -> object:
        """Submit: repeat a pattern of 1, 2 or 4 bytes over a range."""

    @abstractmethod
    def copy(self, source: BufferRange, target: BufferRange, after: Sequence[Any]) -> object:
        """Submit: copy a range to one of the same length, in another buffer or in the same."""

    @abstractmethod
    def update(self, target: BufferRange, data: bytes | bytearray, after: Sequence[Any]) -> object:
        """Submit: write as many bytes of the host. They are taken by the call: `data` may change afterwards."""

    @abstractmethod
    def host_event(self) -> object:
        """Return an event that is complete once the host signals it."""

    @abstractmethod
    def signal(self, event: Any) -> None:
        """Complete an event that `host_event` returned."""

    @abstractmethod
    def is_complete(self, event: Any) -> bool:
        """Return at once whether an event is complete. Raises `DriverError` if its submission failed."""

    @abstractmethod
    def wait(self, event: Any, seconds: float) -> bool:
        """Wait until an event is complete; False if it is not after `seconds`.

        Raises `DriverError` if its submission failed.
        """


class Device(Product, is_base=True):
    """One or several opened devices: `infos`, in order. Lives in a device worker, open for as long as it."""

    infos: Sequence[DeviceInfo]

    @abstractmethod
    def load(self, artifact: bytes) -> Program:
        """Load an artifact and run its initialisers. Raises `DriverError` for one it cannot take."""

    def load_with_parameters(self, artifact: bytes, parameters: Sequence[tuple[str, Path]]) -> Program:
        """Do what `load` does, with (scope, parameter archive) pairs. Raises `DriverError`."""
        driver = self.infos[0].driver if self.infos else "of this runtime config"
        scopes = ", ".join(scope or "(no name)" for scope, _ in parameters)
        msg = f"the driver {driver} takes no parameter files, and the module wants those of scope {scopes}"
        raise DriverError(msg)

    def transfers(self) -> Transfers | None:
        """Return the memory and the queue of the device, which are used without a program; of several, those of the
        first. None without. Raises `DriverError`."""
        return None

    def close(self) -> None:
        """Release the devices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """How a run target is reproduced or run out of process: argument list, and what must be in its environment.

    `cwd` is the folder to run it in, None for any: paths in `argv` that are relative start there. `stdin` is what it
    reads, if anything: a file. `telling` says how to read what a failing tool prints: the stage that a line speaks of,
    and a regular expression of the line whose first group is what it says; the most informative first. Without it the
    first line counts, and all fails at `run`.
    """

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: Path | None = None
    telling: tuple[tuple[Stage, str], ...] = ()
    stdin: Path | None = None


class Driver(Builds, is_base=True):
    """A HAL driver. `name` is what `runtime_config.driver` says.

    `artifact_suffixes` are those of the artifacts that it loads, all if it names none. A target config that ties it to
    a compiler with another `Compiler.artifact_suffix` is an error of the declarations, whose message names the
    compilers that fit. `opens_with` are the names of the drivers whose devices `open` takes beside its own.

    With `sanitizers`, the names of what checks accesses to memory, it takes runtime configs with `sanitize = true`:
    `open` then gives a device that checks them, and what it finds is a `DriverError` of the call.

    With `maps_artifacts` it leaves artifacts in their files, however large they are: `needs`, `Device.load` and
    `load_with_parameters` get a read-only `memoryview` of the mapped file in place of `bytes`. Its content was compared
    with its digest, and stays while it is loaded.
    """

    name: str
    artifact_suffixes: Sequence[str] = ()
    opens_with: Sequence[str] = ()
    sanitizers: Sequence[str] = ()
    maps_artifacts: bool = False

    @abstractmethod
    def probe(self) -> Sequence[DeviceInfo]:
        """List the devices here, in ordinal order. Runs in a device worker. Raises `UnavailableError`."""

    @abstractmethod
    def open(self, config: RuntimeConfig) -> Device:
        """Open the config's devices. Runs in a device worker with the config's environment. Raises
        `UnavailableError` if a device is not there, `DriverError` if it cannot be opened."""

    def functions(self, artifact: bytes) -> Sequence[FunctionInfo]:
        """List what `Program.functions` would have, without a device: what `run_under` is to run out of process may be
        built for another machine. Runs in a device worker. Raises `DriverError` for bytes that are no artifact."""
        msg = f"the driver {self.name} does not read the functions of an artifact without a device"
        raise DriverError(msg)

    def needs(self, artifact: bytes) -> Sequence[str]:
        """Return the requirements that an artifact states, as `requires` in declarations has them; none for bytes that
        are no artifact. Runs in a device worker. A device that has another value than it needs is a skip."""
        return ()

    @called_in_process
    def tags(self, config: RuntimeConfig) -> Sequence[str]:
        """Words derived from the config for `-m`. Pure; runs in pytest's process."""
        return ()

    @called_in_process
    def run_outside(self, config: RuntimeConfig, artifact: Path, function: str, kind: str) -> RunPlan | None:
        """The command that runs one function of an artifact by hand, without `run_under`; with it where it is to run on
        a host. None if there is no tool for it. Exit status 0 must mean passed. Pure; runs in pytest's process."""
        return None

    @called_in_process
    def runs_by_tool(self, config: RuntimeConfig) -> bool:
        """Whether `open` gives a device for this config whose programs are run by a tool, a process for each call; it
        must where the config has `run_under`, which then prefixes the tool. Such programs cannot check anything while
        they run: see `CaseLoader.return_checks`. Pure; runs in pytest's process as well as in device workers."""
        return False

    def probe_on_host(self, config: RuntimeConfig) -> Sequence[DeviceInfo]:
        """List the devices of the config's driver on its host, in ordinal order. Runs in a device worker. Raises
        `UnavailableError`.

        A driver that overrides this runs programs on hosts: `open` connects to the `host` of a config, with
        `retarget.worker.hosts`, and `runs_by_tool` is true for it. The `physical_id` of a device there says of which
        host it is. For any other, `host` is an error of the declarations."""
        not_overridden(self, "probe_on_host")

    def import_ahead(self) -> None:
        """Import what `open` and runs need and takes long. Called in a worker that is started before it is known what
        it is to run; what it raises is ignored, and raised again by what needs it."""
