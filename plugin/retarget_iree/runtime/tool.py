"""Runs artifacts with `iree-run-module`, a process for each call: behind `run_under`, or the tool of a toolchain.

The tool may be of another architecture, and needs no Python on its side. Its arguments and results go through files;
the caller compares results. Lives in device workers.

Where the tool runs: on this machine, or on a host.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from retarget.arrays import Elements
from retarget.extension import Check, CheckSink, Device, DriverError, Program, UnavailableError
from retarget.model import DeclaredType, DeviceInfo, RuntimeConfig, Stage
from retarget.session import Platform
from retarget.support import RetargetError, ScratchFolder, cut_stacks, first_line, write_atomically
from retarget.worker import RemoteCalls

from retarget_iree.builds import RuntimeBuild
from retarget_iree.checks import ReturnedCheck, checks_in
from retarget_iree.noise import clean_status
from retarget_iree.runtime.apis import host_vendor, live_features
from retarget_iree.runtime.devices import describe_device, driver_of, select_device
from retarget_iree.runtime.elements import (
    as_declared,
    element_type_name,
    element_type_of,
    scalar_argument,
    scalar_result,
)
from retarget_iree.runtime.exports import Signature, function_info, module_signatures, naming, unknown_function
from retarget_iree.toolchain import find_tool

if TYPE_CHECKING:
    from retarget.extension import Array


_SHELL = 128
"""The offset that shells, and wrappers like them, add to the number of the signal that ended their child."""
_CRASHES = (signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV)
_LISTED = re.compile(r"(?m)^# --device=[\w-]+://(?P<path>\S*)\n#   (?P<name>.*)\n# ===.*\n(?P<dump>(?:(?!# =).*\n)*)")
_TAIL = re.compile(
    r"(?:; *)+(?:(?:invoking|looking up) function '|creating (?:VM|run) context|`\w+ func @|processing function ).*",
    re.DOTALL,
)
"""The tool's suffix to a status, which the runtime in a process lacks."""
_HEADER = "# Enumerated devices for driver '"
"""What the tool says before it lists the devices of a driver, or why there are none."""

_ERROR = re.compile(r"(?m)^\S+:\d+: [A-Z_]+; ")


def open_tool(config: RuntimeConfig) -> ToolDevice:
    """Ask the tool for the devices of the config's drivers, where and behind what it runs, and return the config's.

    Raises `UnavailableError` with what the tool, or what was to run it, said.
    """
    place = open_place(config)
    try:
        infos: dict[str, Sequence[DeviceInfo]] = {}
        wanted = config.devices or ("0",)
        for name in (driver_of(one, config) for one in wanted):
            infos[name] = infos.get(name) or listed_devices(name, config, place)
        chosen = [select_device(one, infos[driver_of(one, config)], driver=driver_of(one, config)) for one in wanted]
    except BaseException:
        place.close()
        raise
    uris = [info.uri + "".join(one.partition("?")[1:]) for info, one in zip(chosen, wanted, strict=True)]
    command = (*config.run_under, place.tool, *(f"--device={uri}" for uri in uris))
    recorder = None
    if any(one is not None for one in config.used):  # what runs elsewhere records for the environment's own
        own = find_tool(None if config.run_under or config.host else config.toolchain).tool
        recorder = None if own is None else own.with_name("iree-dump-replay")
    return ToolDevice(place, command, config.flags, chosen, recorder)


def listed_devices(driver: str, config: RuntimeConfig, place: Place) -> Sequence[DeviceInfo]:
    """Return the devices that the tool lists for a driver. Raises `UnavailableError`, and `RetargetError` where the
    command of `run_under` is there and does not run the tool."""
    host = config.host
    what = f"{place.tool} behind {config.run_under[0]}" if config.run_under else place.tool
    what += f" on host {host.name!r}" if host is not None else ""
    try:
        done = place.run([*config.run_under, place.tool, f"--dump_devices={driver}"])
    except OSError as error:
        msg = f"{what} does not start: {error.strerror or error}"
        if config.run_under:
            raise _no_wrapper(config, msg) from error
        hint = f"run_under of runtime config {config.name!r} names what runs a tool of another machine, such as QEMU"
        raise UnavailableError(msg, hint) from error
    found = [match.groupdict() for match in _LISTED.finditer(done.stdout)]
    if done.returncode or not found:
        said = _status(done) if done.returncode else f"it lists no device of driver {driver}"
        msg = f"{what} does not run{'' if host is not None else ' here'}: {said}"
        if config.run_under and _HEADER not in done.stdout and not _lacks_files(config, place):
            raise _no_wrapper(config, msg)
        raise UnavailableError(msg)
    infos = [describe_device(driver, number, record, record["dump"]) for number, record in enumerate(found)]
    infos = [replace(info, runtime=place.build, host=place.cpu) for info in infos]
    if host is not None:  # one run at a time, also on its CPU: it may be small, and others use it too
        return [replace(one, physical_id=f"{host.identity} {one.physical_id}", exclusive=True) for one in infos]
    if config.run_under:  # it may be another machine, of which the APIs of this one know nothing
        return infos
    features = [live_features(driver, record["path"], record["dump"], complete=False) for record in found]
    pairs = zip(infos, features, strict=True)
    return [replace(info, features=one, vendor=info.vendor or host_vendor()) for info, one in pairs]


def _lacks_files(config: RuntimeConfig, place: Place) -> bool:
    """Return whether the command of `run_under`, or a file or folder that it names in full, is not where it runs.
    Text for a shell begins with such a file."""
    command, *words = config.run_under
    test = 'command -v -- "$0" && for one; do test -e "$one" || test -e "${one%% *}" || exit 1; done'
    return bool(place.run(["sh", "-c", test, command, *(one for one in words if one.startswith("/"))]).returncode)


def _no_wrapper(config: RuntimeConfig, why: str) -> RetargetError:
    return RetargetError(f"run_under of runtime config {config.name!r} does not run programs: {why}")


class ToolDevice(Device):
    """The devices that a tool opens again for each call, with `command` and `flags` at `place`.

    `recorder` is the tool that reads recordings; without it, calls are not recorded.
    """

    def __init__(
        self,
        place: Place,
        command: Sequence[str],
        flags: Sequence[str],
        infos: Sequence[DeviceInfo],
        recorder: Path | None,
    ) -> None:
        self.place, self.command, self.flags, self.recorder = place, command, flags, recorder
        self.infos = tuple(infos)
        self._scratch = ScratchFolder("calls")

    def load(self, artifact: bytes, parameters: Sequence[tuple[str, Path]] = ()) -> ToolProgram:
        """Read the functions of a `.vmfb` whose parameters lie in (scope, file) pairs. Raises `DriverError`."""
        signatures = module_signatures(artifact)
        folder = self._scratch.subfolder()
        (folder / "module.vmfb").write_bytes(artifact)
        return ToolProgram(self, folder, signatures, parameters)

    load_with_parameters = load

    def close(self) -> None:
        """Remove the files, and end the connection to a host."""
        self.place.close()
        self._scratch.close()


class ToolProgram(Program):
    """An artifact that the tool loads anew for each call."""

    def __init__(
        self,
        device: ToolDevice,
        folder: Path,
        signatures: Mapping[str, tuple[Signature, Mapping[str, str]]],
        parameters: Sequence[tuple[str, Path]],
    ) -> None:
        named = (f"--parameters={f'{scope}=' if scope else ''}{path}" for scope, path in parameters)
        self._device = device
        self._files = (folder / "module.vmfb", *(path for _, path in parameters))
        self._inputs: tuple[Path, ...] = ()
        self._recording = folder / "call.ireereplay"
        self._flags = (*named, *device.flags)
        self._folder = folder
        self._entries = {name: (one, checks_in(reflection)) for name, (one, reflection) in signatures.items()}
        # The values of checks are not among the results.
        self.functions = [function_info(name, _own(*entry)) for name, entry in self._entries.items()]
        self._called: tuple[str, ...] = ()

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Run the tool for one call and return the results. Raises `DriverError` with what the tool says."""
        if function not in self._entries:
            raise unknown_function(function, self._entries)
        signature, checks = self._entries[function]
        flags = [f"--function={function}"]
        for index, (array, kind) in enumerate(zip(inputs, signature.passed(function, len(inputs)), strict=True)):
            with naming(f"argument {index} of {function}"):
                flags.append(input_flag(np.asarray(array), *kind, self._folder / f"input{index}.bin"))
        results = signature.returned()
        outputs = [output_flag(*kind, self._folder / f"output{at}") for at, kind in enumerate(results)]
        self._called = (*flags, *self._flags)
        files = (self._folder / f"input{index}.bin" for index in range(len(inputs)))
        self._inputs = tuple(file for file in files if any(flag.endswith(f"=@{file}") for flag in flags))
        recording = (
            {f"{RECORDING_FLAG}={self._recording}": self._recording} if self._device.recorder is not None else {}
        )
        self._run(recording | dict(outputs))
        arrays = []
        for index, ((_, file), kind) in enumerate(zip(outputs, results, strict=True)):
            with naming(f"result {index} of {function}"):
                arrays.append(read_output(file, *kind))
        values = iter(arrays[len(_own(signature, checks).results or "") :])
        for check in checks:
            actual = next(values)
            if check.kind in {"true", "false"}:
                actual = np.asarray(actual != 0)
            expected = next(values) if check.values > 1 else None
            on_check(Check(kind=check.kind, actual=actual, expected=expected, atol=check.atol, rtol=check.rtol))
        return arrays[: len(arrays) - sum(check.values for check in checks)]

    def last_work(self) -> Sequence[int]:
        """Return how many dispatches the last call executed on each device; none where it was not recorded."""
        return () if self._device.recorder is None else recorded_dispatches(self._recording, self._device.recorder)

    def last_command(self, artifact: Path) -> Sequence[str]:
        """Return the command of the last call, without its `--output` flags, so that it prints what it returns.

        The files of its inputs are copied to where they stay; on a host they are.
        """
        words = [*self._device.command, f"--module={self._files[0]}", *self._called]
        if self._device.recorder is not None:
            words.append(f"{RECORDING_FLAG}={Path(tempfile.gettempdir()) / self._recording.name}")
        module, *parameters = self._files
        return self._device.place.by_hand(
            words, {module: artifact, **{path: path for path in parameters}, **dict.fromkeys(self._inputs)}
        )

    def _run(self, outputs: Mapping[str, Path]) -> None:
        argv = [*self._device.command, f"--module={self._files[0]}", *self._called, *outputs]
        for path in outputs.values():
            path.unlink(missing_ok=True)  # of the call before: what runs the tool may hide that it fails
        try:
            done = self._device.place.run(argv, inputs=(*self._files, *self._inputs), outputs=tuple(outputs.values()))
        except UnavailableError as error:  # the host was lost
            raise DriverError(str(error), hint=error.hint) from error
        except OSError as error:
            msg = f"cannot start {self._device.command[0]!r}: {error.strerror or error}"
            raise DriverError(msg, stage=Stage.LOAD, no_verdict=True) from error
        is_called = any(line.startswith("EXEC @") for line in done.stdout.splitlines())
        said = f"{done.stdout}{done.stderr}"
        has_error = _ERROR.search(said) is not None
        is_run = is_called or has_error  # otherwise no word is the tool's
        if not done.returncode:
            missing = [f"not written {path.name}" for path in outputs.values() if not path.is_file()]
            has_results = any(path != self._recording for path in outputs.values())
            if not (missing or has_results) and (has_error or not is_called):  # the status may be another program's
                missing = ["printed one" if has_error else "not called the function"]
            if missing:
                msg = f"the tool ended without an error and has {', '.join(missing)}"
                raise DriverError(f"{msg}\n{cut_stacks(said)}".rstrip(), no_verdict=not is_run)
            return
        if crash := _crash(done.returncode):
            msg = f"{Path(self._device.command[0]).name} crashed: {crash}\n{cut_stacks(done.stderr)}".rstrip()
            raise DriverError(msg, signal=crash)
        said = _status(done) if is_run else f"{self._device.command[0]} did not run the program: {_status(done)}"
        raise DriverError(said, stage=None if is_called else Stage.LOAD, no_verdict=not is_run)


def _own(signature: Signature, checks: Sequence[ReturnedCheck]) -> Signature:
    """Return a signature without the results that are values of checks."""
    letters = signature.results or ""
    own = len(letters) - sum(check.values for check in checks)
    return replace(signature, results=letters[:own], result_types=signature.result_types[:own])


def _crash(status: int) -> str:
    """Return the name of the signal that ended the tool; empty where it ended by itself."""
    number = -status if status < 0 else status - _SHELL
    if status < 0 or number in _CRASHES:
        try:
            return signal.Signals(number).name
        except ValueError:
            return f"signal {number}"
    return ""


def _status(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a tool, or what ran it, said of its failure, as the runtime words it in a process."""
    lines = [line for line in done.stderr.splitlines() if "FLAGS ERROR" not in line]
    said = _TAIL.sub("", clean_status("\n".join(lines)))
    return said or first_line(done.stdout) or f"exit status {done.returncode}"


_NAMES = {"complex<f32>": "cf64", "complex<f64>": "cf128"}
"""Element types that the tool calls otherwise than MLIR."""


def input_flag(array: Array, letter: str, declared: str, file: Path) -> str:
    """Return the flag of an argument, whose letter is as in `Signature`; what is no number is written to `file`.

    Raises `DriverError` for an array that cannot be passed.
    """
    if letter != "r":
        return f"--input={scalar_argument(array, letter, declared)}"
    element = element_type_name(element_type_of(array.dtype))
    file.write_bytes(Elements.pack(array).tobytes())
    of_buffer = "&" if declared == "!hal.buffer" else ""
    return f"--input={of_buffer}{'x'.join([*map(str, array.shape), _NAMES.get(element, element)])}=@{file}"


def output_flag(letter: str, declared: str, stem: Path) -> tuple[str, Path]:
    """Return the flag of a result and the file that it names: `.npy`, which has the shape, where the tool writes it."""
    element = DeclaredType.parse(declared).element or ""
    has_npy = letter != "r" or not element.startswith(("bf", "f8"))
    file = stem.with_suffix(".npy" if has_npy else ".bin")
    return f"--output=@{file}", file


def read_output(file: Path, letter: str, declared: str) -> Array:
    """Return the result in a file that the tool has written. Raises `DriverError`."""
    elements = Elements.declared(DeclaredType.parse(declared))
    if file.suffix == ".npy":
        with file.open("rb") as stream:
            np.lib.format.read_magic(stream)
            shape, _, stored = np.lib.format.read_array_header_1_0(stream)
            content = np.frombuffer(stream.read(), np.uint8)
        if letter != "r":
            return scalar_result(content.view(stored)[0], letter, declared)
        kept = elements if elements is not None and elements.is_packed else Elements.of(stored)
        return as_declared(kept.unpack(content, shape), declared)
    sizes = DeclaredType.parse(declared).shape
    if elements is None or sizes is None or sizes.count(None) > 1:
        msg = f"a {declared} comes back without its shape: iree-run-module writes its elements to files without one"
        hint = "let the module return a type with at most one dynamic size, or extend its elements (`arith.extf`)"
        raise DriverError(msg, hint=hint)
    content = np.frombuffer(file.read_bytes(), elements.dtype)
    known = math.prod(size for size in sizes if size is not None)
    return content.reshape([content.size // known if size is None else size for size in sizes])


RECORDING_FLAG = "--device_replay_output"
"""The flag of `iree-run-module` that names the file to record to."""

_COUNTED = ('"kind":"object"', ".dispatch", ".queue_dispatch", ".queue_execute")


def recorded_dispatches(recording: Path, tool: Path) -> tuple[int, ...]:
    """Return the number of dispatches executed on each device, in the order of the devices. `tool` is
    `iree-dump-replay`. Raises `DriverError` for a recording that it cannot read."""
    argv = [str(tool), "--format=jsonl", str(recording)]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        msg = f"what was executed on which device cannot be read: {tool} does not start: {error.strerror or error}"
        raise DriverError(msg) from error
    if done.returncode:
        msg = f"what was executed on which device cannot be read: {first_line(done.stderr, 'no message')}"
        raise DriverError(msg)
    return count_dispatches(done.stdout.splitlines())


def count_dispatches(lines: Iterable[str]) -> tuple[int, ...]:
    """Count the dispatches that each device executed, from the JSON lines of a recording.

    What is recorded into a command buffer counts once for each time that the device's queue executes it.
    """
    executed: Counter[int] = Counter()
    in_buffer: Counter[int] = Counter()
    devices: list[int] = []
    for line in lines:
        if not any(word in line for word in _COUNTED):
            continue
        record = json.loads(line)
        operation, device = record.get("operation"), record.get("device_id")
        if record["kind"] == "object" and record.get("object_type") == "device":
            devices.append(record["object_id"])
        elif operation == "command_buffer.dispatch":
            in_buffer[record["object_id"]] += 1
        elif operation == "device.queue_execute":
            executed[device] += in_buffer[record["payload"]["command_buffer_id"]]
        elif operation == "device.queue_dispatch":
            executed[device] += 1
    return tuple(executed[device] for device in devices)


_TIMEOUT = 60.0
_CALLS = 64
"""Calls at most: the tool keeps all dispatches of all calls in memory."""


def seconds_on_device(
    folder: Path, device: str, *, artifact: Path, function: str, inputs: Callable[[Path], Sequence[str]], calls: int
) -> tuple[float, ...]:
    """Return the seconds that the dispatches of each call took, of `calls` at most; none where the tools, which lie in
    `folder`, or the driver cannot say. `inputs` writes files to a folder and returns the flags of the arguments."""
    calls = min(calls, _CALLS)
    with tempfile.TemporaryDirectory(prefix="retarget-profile-") as place:
        profile = Path(place) / "calls.ireeprof"
        run = [str(folder / "iree-benchmark-module"), f"--device={device}", f"--module={artifact}"]
        run += [f"--function={function}", *inputs(Path(place)), f"--benchmark_min_time={calls + 1}x"]
        run += ["--device_profiling_mode=dispatch-events", f"--device_profiling_output={profile}"]
        show = [str(folder / "iree-profile"), "dispatch", "--format=jsonl", "--dispatch_events", str(profile)]
        try:
            for argv in (run, show):
                done = subprocess.run(
                    argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=_TIMEOUT
                )
        except (OSError, subprocess.SubprocessError):
            return ()
        return seconds_of_calls(done.stdout.splitlines(), calls + 1)


def seconds_of_calls(lines: Iterable[str], calls: int) -> tuple[float, ...]:
    """Return the seconds of each of so many calls but the first, from the events of all their dispatches, in order;
    nothing where events are missing or have no time."""
    events = [json.loads(line) for line in lines if '"dispatch_event"' in line]
    if not events or len(events) % calls or not all(one.get("valid") and "duration_ns" in one for one in events):
        return ()
    each = len(events) // calls
    times = [float(one["duration_ns"]) * 1e-9 for one in events]
    return tuple(sum(times[start : start + each]) for start in range(each, len(times), each))


_MACHINES = {
    3: "x86",
    8: "mips",
    21: "ppc64le",
    40: "arm",
    62: "x86_64",
    183: "arm64",
    243: "riscv64",
    258: "loongarch64",
}
"""The machine numbers of ELF files, in the words of `host_arch`."""
_ALSO = {"arm64": ("arm",), "x86_64": ("x86",)}
"""Other architectures that a machine runs."""
_LIBRARIES = ("lib*.so*", "../lib/lib*.so*", "lib*.dylib", "../lib/lib*.dylib")
"""The libraries of a build, relative to its tool."""


class Place:
    """Where a tool runs: this machine. `tool` is its command there, `build` names it for people, `cpu` the kind of CPU
    of another machine."""

    cpu = ""

    def __init__(self, config: RuntimeConfig) -> None:
        build = find_tool(config.toolchain)
        self.tool, self.build = str(build.tool), build.describe(runs_tool=True)

    def run(
        self, argv: Sequence[str], *, inputs: Sequence[Path] = (), outputs: Sequence[Path] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run the tool, whose arguments name the files that it reads and writes by their paths on this machine. Raises
        `OSError` where it does not start, `UnavailableError` where its host fails."""
        del inputs, outputs  # they are here
        return subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )

    def by_hand(self, argv: Sequence[str], files: Mapping[Path, Path | None]) -> Sequence[str]:
        """Return a command for people. `files` are those that it names, with the permanent path of each on this
        machine; files without one are copied."""
        kept = {str(path): str(stays or keep_input(path.read_bytes())) for path, stays in files.items()}
        return RemoteCalls.with_paths(argv, kept)

    def close(self) -> None:
        """End the connection, if there is one."""


class HostPlace(Place):
    """A host, to which the tool is pushed unless it has its own."""

    def __init__(self, config: RuntimeConfig, calls: RemoteCalls) -> None:
        """Raises `UnavailableError` where the host, to which the `calls` go, cannot run the config."""
        self._needs: dict[str, Path] = {}
        self._calls, host = calls, calls.host
        self._env = (*host.env, *config.env)
        with ExitStack() as connected:
            connected.callback(calls.close)
            build = None if host.run_with else find_tool(config.toolchain)
            self.tool, self.build = self._chosen(config, build)
            self.cpu = calls.platform.cpu
            connected.pop_all()

    def _chosen(self, config: RuntimeConfig, build: RuntimeBuild | None) -> tuple[str, str]:
        """Return the tool on the host and its name for people: the host's own, or that of a build, which is to be
        pushed.

        Raises `UnavailableError` where it cannot run there.
        """
        host, found = self._calls.host, self._calls.platform
        where = f"host {host.name!r}"
        platform = Platform.here(found.system, found.machine)
        if mismatch := config.mismatch([platform], f"{where} is"):
            raise UnavailableError(mismatch)
        if build is None or build.tool is None:
            digest = self._calls.digest(host.run_with)
            return host.run_with, f"{host.run_with} of {where} (SHA-256 {digest[:12]})"
        machine, needed = platform[1], _machine(build.tool)
        if not config.run_under and needed not in {"", machine, *_ALSO.get(machine, ())}:
            msg = f"{build.tool.name} ({build.describe()}) is built for {needed}; {where} is {machine}"
            hint = "`toolchain` of the runtime config names another build, `run_with` of the [[host]] its own tool"
            raise UnavailableError(msg, hint)
        self._needs, tool = _pushed(build.tool)
        return tool, build.describe(runs_tool=True)

    def run(
        self, argv: Sequence[str], *, inputs: Sequence[Path] = (), outputs: Sequence[Path] = ()
    ) -> subprocess.CompletedProcess[str]:
        needs = self._needs | {RemoteCalls.pushed_name(path): path for path in inputs}
        return self._calls.run(argv, env=self._env, needs=needs, outputs=outputs)

    def by_hand(self, argv: Sequence[str], files: Mapping[Path, Path | None]) -> Sequence[str]:
        return self._calls.by_hand(argv, env=self._env, needs={RemoteCalls.pushed_name(path): path for path in files})

    def close(self) -> None:
        self._calls.close()


def _pushed(tool: Path) -> tuple[dict[str, Path], str]:
    """Return the files of a tool by their names on hosts, and its own: one folder, named by the content of all."""
    files = {f"./{tool.name}": tool}
    for pattern in _LIBRARIES:
        files |= {f"{Path(pattern).parent / path.name}": path for path in sorted(tool.parent.glob(pattern))}
    digests = "".join(f"{name}\0{RemoteCalls.pushed_name(path)}\n" for name, path in files.items())
    folder = f"store/{hashlib.sha256(digests.encode()).hexdigest()}.tool/bin"
    names = {name: os.path.normpath(f"{folder}/{name}") for name in files}
    return {names[name]: path for name, path in files.items()}, names[f"./{tool.name}"]


def _machine(tool: Path) -> str:
    """Return an ELF file's architecture; empty for other files and unknown machines."""
    with tool.open("rb") as stream:
        head = stream.read(20)
    return _MACHINES.get(head[18] | head[19] << 8, "") if head[:4] == b"\x7fELF" else ""


def open_place(config: RuntimeConfig) -> Place:
    """Return where a config's tool runs. Raises `UnavailableError`."""
    return Place(config) if config.host is None else HostPlace(config, RemoteCalls(config.host))


_KEPT_SECONDS = 7 * 24 * 3600


def keep_input(content: bytes) -> Path:
    """Write a file for commands that people paste later; return its path. It stays for a week after its last use.

    Users have their own. Raises `OSError`.
    """
    folder = Path(tempfile.gettempdir()) / f"retarget-inputs-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{hashlib.sha256(content).hexdigest()[:16]}.bin"
    write_atomically(path, content)
    _remove_old(folder)
    return path


@functools.cache
def _remove_old(folder: Path) -> None:
    """Remove what was kept long enough: once in a process."""
    oldest = time.time() - _KEPT_SECONDS
    for path in folder.iterdir():
        with suppress(OSError):
            if path.lstat().st_mtime < oldest:
                path.unlink()
