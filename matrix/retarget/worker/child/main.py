"""The worker process: `python3 -m retarget.worker.child SOCKET LIFELINE PROGRESS PARENT [AHEAD] [EXTENSION ...]`.

Started by `retarget.worker.process` only. The arguments are three inherited descriptors and the parent's process id (0:
ask the kernel for no parent-death signal); with a word for AHEAD, one that is started ahead of need imports what a
device worker needs before the first message tells it so; and the entry points of extensions, which are not looked for
again. It loads the extensions and answers the requests one by one until its socket ends. The
packages of compilers and drivers are imported by the first request that needs them.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from retarget.extension import BufferRange, CompilerError, DriverError, ExtensionError, UnavailableError
from retarget.support.dependencies import Dependency, machine_folders, opened, recording
from retarget.support.errors import RetargetError
from retarget.support.text import clip, first_line, join_output
from retarget.worker.artifact import CACHE_DIR_VARIABLE, KeptFiles, read_artifact
from retarget.worker.messages import (
    AskFingerprint,
    CheckArtifact,
    CheckDriver,
    CheckedArtifact,
    CheckedDriver,
    CompareOutputs,
    CompiledModule,
    CompileModule,
    DescribeBuild,
    Devices,
    Done,
    DriverChecks,
    ExportCases,
    GenerateModules,
    KeepOpen,
    ListDriverChecks,
    MoveBytes,
    Named,
    OpenDevices,
    ProbeDriver,
    Progress,
    Refusal,
    Refused,
    ResolvedFlags,
    ResolveFlags,
    RunModule,
    Setup,
    check_artifact,
)

if TYPE_CHECKING:
    from retarget.extension import Device
    from retarget.extension.registry import Registry
    from retarget.model import RuntimeConfig
    from retarget.model.outcomes import RunOutcome

_PR_SET_PDEATHSIG = 1
"""From Linux's <sys/prctl.h>."""

_CAPTURE_LIMIT = 4 * 1024 * 1024
"""Bytes of one request's output that are kept; the middle of more is left out."""


_PROBE_BYTES = 64
_PROBE_SECONDS = 10.0


class _Output:
    """The log that descriptors 1 and 2 are: emptied before each request, read after it.

    The log is open for appending, so what is written after `start` begins at offset 0 again.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None)

    def start(self) -> None:
        os.ftruncate(1, 0)

    def read(self) -> str:
        """Return what was written since `start`, what C's stdio still holds included."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        self._libc.fflush(None)
        size = os.fstat(1).st_size
        return clip(os.pread(1, size, 0), _CAPTURE_LIMIT) if size else ""


class _Server:
    """Answers requests. Keeps the opened devices of a device worker."""

    def __init__(
        self, registry: Registry, send: Callable[[Progress], None], of_import: tuple[Dependency, ...] = ()
    ) -> None:
        """`send` hands progress on, which the parent reads where this process does not answer. `of_import` is what the
        import of extensions depended on."""
        self._registry = registry
        self._send = send
        self._output = _Output()
        self._device: Device | None = None
        self._of_import = of_import
        self._of_device: tuple[Dependency, ...] = ()
        """What opening it depended on."""

    def answer(self, message: object) -> object:
        """Return the answer to one request. Never raises `Exception`: what goes wrong is a `Refused`."""
        self._output.start()
        start, in_front_half = time.perf_counter(), False
        try:
            return self._dispatch(message)
        except UnavailableError as error:
            kind, text, hint = Refusal.UNAVAILABLE, "", error.hint
            summary = str(error)
        except CompilerError as error:
            kind, text, hint = Refusal.COMPILER if error.verdict else Refusal.TOOL, error.diagnostics, ""
            in_front_half = error.in_front_half
            summary = first_line(str(error)) or first_line(error.diagnostics, "the compiler refused it without a word")
        except DriverError as error:
            kind, text, hint = Refusal.DRIVER, str(error), error.hint
            summary = first_line(str(error), "the driver failed without a word")
        except ExtensionError as error:  # says all there is to say: a traceback of the core would not help
            kind, text, hint = Refusal.INTERNAL, "", "report this to the authors of the extension"
            summary = str(error)
        except RetargetError as error:
            kind, text, hint = Refusal.INPUT, "", ""
            summary = str(error)
        except Exception as error:  # an extension's bug must cost one target, not the worker's state machine
            kind, text, hint = Refusal.INTERNAL, _traceback(error), "this is an error in the extension"
            summary = f"{type(error).__name__}: {first_line(str(error), 'no message')}"
        return Refused(
            refusal=kind,
            summary=summary,
            text=join_output(text, self._output.read()),
            hint=hint,
            seconds=time.perf_counter() - start,
            resident=_resident_bytes(),
            in_front_half=in_front_half,
        )

    def close(self) -> None:
        """Release the devices."""
        if self._device is not None:
            self._device.close()

    def _dispatch(self, message: object) -> object:  # noqa: PLR0911, PLR0912  one for each request
        match message:
            case ResolveFlags(config=config, flags=flags):
                resolved = self._registry.resolve(config, flags)
                return ResolvedFlags(resolved=resolved, fingerprint=self._registry.fingerprint(config))
            case AskFingerprint(config=config):
                return Named(text=self._registry.fingerprint(config))
            case DescribeBuild(compiler=name, driver=driver, toolchain=toolchain):
                return Named(text=self._registry.describe_build(compiler=name, driver=driver, toolchain=toolchain))
            case CompileModule():
                return self._compile(message)
            case ProbeDriver(driver=name, config=config):
                probed = self._registry.driver(name)
                if config is not None and probed.overrides("probe_on_host"):
                    return Devices(infos=tuple(probed.probe_on_host(config)))
                return Devices(infos=tuple(probed.probe()))
            case OpenDevices(config=config, cache=cache):
                if cache is not None:
                    os.environ[CACHE_DIR_VARIABLE] = str(cache)
                if self._registry.gives_no_outputs(config):
                    return Devices(infos=())
                return Devices(infos=tuple(self._open(config).infos))
            case MoveBytes():
                _move_bytes(self._device)
                return Done()
            case RunModule():
                return self._run(message)
            case ExportCases():
                from retarget.worker.child.outputs import export_cases  # imports NumPy

                with recording():
                    return export_cases(self._registry, message)
            case GenerateModules(kind=kind, description=description, folder=folder):
                self._registry.case_loader(kind).make(description, folder)
                return Done()
            case CheckArtifact(target=target):
                checker = self._registry.case_loader(target.kind)
                artifact = read_artifact(message.artifact, message.digest)
                return CheckedArtifact(cases=check_artifact(checker, target, artifact))
            case ListDriverChecks():
                from retarget.worker.child.conformance.checks import driver_checks

                return DriverChecks(checks=tuple(driver_checks()))
            case CheckDriver():
                return self._check_driver(message)
            case CompareOutputs(folders=folders, sides=sides, tolerance=tolerance):
                from retarget.worker.child.outputs import compare_outputs  # imports NumPy

                return compare_outputs(folders, sides, tolerance)
        msg = f"a worker does not know the request {type(message).__name__}"
        raise TypeError(msg)

    def _compile(self, message: CompileModule) -> CompiledModule:
        compiler, request = self._registry.compiler(message.compiler), message.request
        self._registry.expect_code(compiler, request.resolved)
        start = time.perf_counter()
        if (rewriter := self._registry.check_rewriter(message.rewriting)) is not None:
            name = Path(request.source_name)
            rewritten = rewriter.return_checks(request.source, str(name))
            if rewritten != request.source:  # by another name: its locations are of the file, its lines are not
                request = replace(request, source=rewritten, source_name=f"{name.stem}.returned{name.suffix}")
        compiled = compiler.run_front_end(request) if message.front_end else compiler.compile(request)
        seconds = time.perf_counter() - start
        artifact = bytes(compiled.artifact)
        diagnostics = join_output(compiled.diagnostics, self._output.read())
        if not artifact:  # a command around the compiler may hide that it fails
            msg = "the compiler ended without an error, and its output is empty"
            raise CompilerError(msg, diagnostics)
        then = None
        if (following := message.then) is not None:
            made = replace(following.request, source=message.request.source, front_end=artifact)
            then = self.answer(replace(following, request=made))
        return CompiledModule(
            artifact=artifact,
            diagnostics=diagnostics,
            seconds=seconds,
            front_half=compiled.front_half,
            resident=_resident_bytes(),
            then=then,  # type: ignore[arg-type]  # the answer to a CompileModule
        )

    def _open(self, config: RuntimeConfig) -> Device:
        with recording() as recorder, opened([KeptFiles().folder, *machine_folders(config.origin.file)]):
            self._device = self._registry.driver(config.driver).open(config)
        self._of_device = recorder.dependencies
        return self._device

    def _run(self, message: RunModule) -> RunOutcome:
        config = message.target.runtime
        device = None if self._registry.gives_no_outputs(config) else self._device or self._open(config)
        with recording() as recorder:
            outcome = self._run_cases(message, device)
        dependencies = tuple(sorted({*recorder.dependencies, *self._of_device, *self._of_import}))
        return dataclasses.replace(outcome, dependencies=dependencies)

    def _run_cases(self, message: RunModule, device: Device | None) -> RunOutcome:
        driver = self._registry.driver(message.target.runtime.driver)
        loader = self._registry.case_loader(message.target.compile.kind)
        if device is None:
            from retarget.worker.child.run_external import run_external

            return run_external(driver, loader, message, self._send)
        from retarget.worker.child.run_in_process import run_in_process

        return run_in_process(driver, device, loader, message, self._send, read_output=self._output.read)

    def _check_driver(self, message: CheckDriver) -> CheckedDriver:
        from retarget.worker.child.conformance.checks import run_check

        start = time.perf_counter()
        checked = run_check(self._device, message.config.driver, message.check)
        text = self._output.read() if checked.detail else ""
        return msgspec.structs.replace(checked, text=text, seconds=time.perf_counter() - start)


def _move_bytes(device: Device | None) -> None:
    """Move some bytes to a device and back, by its queue. Raises `DriverError` if they do not come back."""
    transfers = None if device is None else device.transfers()
    if transfers is None:
        return
    data = bytes(range(_PROBE_BYTES))
    target = BufferRange(transfers.allocate(_PROBE_BYTES, mappable=False), 0, _PROBE_BYTES)
    if not transfers.wait(transfers.update(target, data, ()), _PROBE_SECONDS):
        msg = f"a transfer of {_PROBE_BYTES} bytes was not complete after {_PROBE_SECONDS:g} s"
        raise DriverError(msg)
    if transfers.read(target) != data:
        msg = f"a transfer of {_PROBE_BYTES} bytes gave others back"
        raise DriverError(msg)
    transfers.free(target.buffer)


def _traceback(error: Exception) -> str:
    """Return the traceback of what an extension raised, without the frames of the core before it."""
    here = Path(__file__).parents[2]
    first = error.__traceback__
    while first is not None and Path(first.tb_frame.f_code.co_filename).is_relative_to(here):
        first = first.tb_next
    return "".join(traceback.format_exception(error.with_traceback(first or error.__traceback__)))


def _resident_bytes() -> int:
    """Return this process's resident set size in bytes; its peak where the system does not report the present one."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (an import less in every worker)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _end_with_parent(lifeline: int, parent: int) -> None:
    """See to it that neither this process nor what it starts outlives the parent."""

    def watch() -> None:
        while os.read(lifeline, 1):
            pass
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, name="retarget-lifeline", daemon=True).start()
    if parent and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)


def main(argv: Sequence[str]) -> None:
    """Serve until the parent closes the socket. Does not return."""
    socket, lifeline, progress, parent = (int(argument) for argument in argv[:4])
    for descriptor in (socket, lifeline, progress):
        os.set_inheritable(descriptor, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, ValueError):  # crashes are expected here; their cores would fill the disk
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    _end_with_parent(lifeline, parent)
    connection = Connection(socket)
    ahead, *points = argv[4:]
    installed = [(name, value) for name, _, value in (point.partition("=") for point in points)]
    with recording() as recorder, opened(machine_folders()):
        loaded = _loaded_ahead(installed) if ahead else None
    server = _set_up(connection, progress, installed, loaded, recorder.dependencies)
    if server is not None:
        _serve(server, connection)
        server.close()
    sys.stdout.flush()
    os._exit(0)  # the libraries loaded here cannot be unloaded safely


def _loaded_ahead(installed: Sequence[tuple[str, str]]) -> Registry | None:
    """Import what a device worker is going to need, and return what is installed. A failed import is repeated when it
    is needed, and reported then."""
    registry = None
    with contextlib.suppress(Exception):
        from retarget.extension.registry import load_extensions

        registry = load_extensions(checked=True, installed=installed)
        importlib.import_module("retarget.worker.child.run_in_process")
        for driver in registry.drivers.values():
            with contextlib.suppress(Exception):
                driver.import_ahead()
    return registry


def _set_up(
    connection: Connection,
    progress: int,
    installed: Sequence[tuple[str, str]],
    registry: Registry | None,
    of_import: tuple[Dependency, ...],
) -> _Server | None:
    """Load the extensions that the first message names, and answer whether they load. None if they do not.

    A `registry` is of what is installed, loaded ahead, which depended on `of_import`.
    """
    setup: Setup = connection.recv()
    sys.path.extend(entry for entry in setup.sys_path if entry not in sys.path)
    try:
        from retarget.extension import registry as extensions

        with recording() as recorder, opened(machine_folders()):
            if registry is None or setup.extensions:
                registry = extensions.load_extensions(setup.extensions, checked=True, installed=installed)
    except RetargetError as error:
        connection.send(Refused(refusal=Refusal.INPUT, summary=str(error)))
        return None
    extensions.pass_on(setup.extensions)
    gc.freeze()
    gc.enable()
    connection.send(Done())

    def note(where: Progress) -> None:
        with contextlib.suppress(OSError):  # the file is full
            os.write(progress, pickle.dumps(where))

    return _Server(registry, note, (*of_import, *recorder.dependencies))


def _descriptors(connection: Connection, count: int) -> list[int]:
    with socket.socket(fileno=os.dup(connection.fileno())) as receiving:
        return socket.recv_fds(receiving, 1, count)[1]


def _serve(server: _Server, connection: Connection) -> None:
    """Answer requests until the socket ends."""
    kept: list[int] = []
    while True:
        try:
            request = connection.recv()
            if isinstance(request, KeepOpen):
                kept += _descriptors(connection, request.count)
                continue
        except (EOFError, OSError):
            return
        answer = server.answer(request)
        while kept:
            os.close(kept.pop())
        try:
            connection.send_bytes(pickle.dumps(answer))
        except OSError:
            return
