"""Opened devices and loaded modules of the IREE runtime. Lives in device workers only."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import iree.runtime as rt
import numpy as np
from retarget.arrays import Elements
from retarget.extension import Check, CheckSink, Device, DriverError, Program
from retarget.model import DeviceInfo

from retarget_iree.noise import RUNTIME_ERRORS, clean_status
from retarget_iree.runtime.elements import as_declared, dtype_of_code, element_type_of, scalar_argument, scalar_result
from retarget_iree.runtime.exports import (
    Signature,
    exported,
    function_info,
    load_module,
    naming,
    parameter_indices,
    parameters_hint,
    signature_of,
    unknown_function,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from retarget.extension import Array

    from retarget_iree.runtime.transfers import IreeTransfers


_CHECKS = {"eq": "0rrr_v", "almost_eq": "0rrrff_v", "all_true": "0rr_v", "true": "0i_v", "false": "0i_v"}
"""The functions of the `check` module, with their calling conventions."""


class _CheckRecorder:
    """Receives the calls of the `check` module and hands them to the sink of the call in progress.

    An error inside a check is kept and raised after the call: an exception may not cross the VM.
    """

    def __init__(self, fetch: Callable[[Any], Array]) -> None:
        self._fetch = fetch
        self.sink: CheckSink | None = None
        self.diagnostic: Exception | None = None

    def record(self, kind: str, *arguments: Any) -> None:
        """Hand one call on. Its arguments are a device, unless it is about a number, the values, and tolerances."""
        if self.sink is None or self.diagnostic is not None:
            return
        *values, atol, rtol = arguments if kind == "almost_eq" else (*arguments, 0.0, 0.0)
        try:
            actual, expected, *_ = (*map(self._array, values[kind not in {"true", "false"} :]), None)
            self.sink(Check(kind=kind, actual=actual, expected=expected, atol=atol, rtol=rtol))
        except Exception as error:
            self.diagnostic = error

    def _array(self, value: Any) -> Array:
        return np.asarray(value != 0) if isinstance(value, int) else self._fetch(value.deref(rt.HalBufferView))


def _check_module(recorder: _CheckRecorder) -> tuple[Any, Any]:
    """Return the `check` module and the interface that must live as long as it."""
    interface = rt.PyModuleInterface("check", lambda _: recorder)
    for kind, convention in _CHECKS.items():
        interface.export(f"expect_{kind}", convention, lambda own, *values, kind=kind: own.record(kind, *values))
    return interface, interface.create()


class IreeDevice(Device):
    """One or several HAL devices behind one HAL module."""

    def __init__(self, devices: Sequence[Any], infos: Sequence[DeviceInfo]) -> None:
        self.infos = tuple(infos)
        self._devices = list(devices)
        self._programs: weakref.WeakSet[IreeProgram] = weakref.WeakSet()
        self._instance = rt.VmInstance()
        try:
            self._hal = rt.create_hal_module(self._instance, devices=self._devices)
        except RUNTIME_ERRORS as error:
            names = ", ".join(info.uri for info in infos)
            msg = f"the devices {names} cannot be used together: {clean_status(str(error))}"
            raise DriverError(msg, hint="name each device once, unless its driver can open it several times") from error
        self.recorder = _CheckRecorder(self.fetch)
        self._interface, self._check = _check_module(self.recorder)

    def load(self, artifact: bytes, parameters: Sequence[tuple[str, Path]] = ()) -> IreeProgram:
        """Load a `.vmfb`, whose parameters lie in (scope, file) pairs, and run its initialisers: `.irpa`, `.gguf` or
        `.safetensors`. The files are mapped. Raises `DriverError` for what this device cannot take."""
        if self._instance is None:
            msg = "the device is closed"
            raise DriverError(msg)
        module = load_module(self._instance, artifact)
        indices = parameter_indices(parameters)
        try:
            providers = [index.create_provider(scope) for scope, index in indices.items()]
            served = [rt.create_io_parameters_module(self._instance, *providers)] if providers else []
            context = rt.VmContext(self._instance, [self._hal, *served, self._check, module])
        except RUNTIME_ERRORS as error:
            raise DriverError(clean_status(str(error)), hint=_load_hint(str(error), indices)) from error
        program = IreeProgram(self, context, module, has_parameters=bool(indices))
        self._programs.add(program)
        return program

    load_with_parameters = load

    def transfers(self) -> IreeTransfers:
        """Return memory and queue of the first device."""
        from retarget_iree.runtime.transfers import IreeTransfers  # here: copies in bundles do without

        return IreeTransfers(self._devices[0], self.infos[0].driver)

    def fetch(self, view: Any) -> Array:
        """Copy a buffer view to a host array of its own. Raises `DriverError` for element types NumPy cannot hold."""
        dtype: np.dtype[Any] = dtype_of_code(int(view.element_type))
        shape = tuple(view.shape)
        size = int(view.byte_length)
        if size == 0:
            return np.empty(shape, dtype)
        return Elements.of(dtype).unpack(self._content(view.get_buffer())[:size].copy(), shape)

    def _content(self, buffer: Any) -> npt.NDArray[np.uint8]:
        """Return a buffer's bytes where they are mapped, valid for as long as the array is held."""
        visible, mappable = int(rt.MemoryType.HOST_VISIBLE), int(rt.BufferUsage.MAPPING_SCOPED)
        if buffer.memory_type() & visible and buffer.allowed_usage() & mappable:
            return np.asarray(buffer.map())
        diagnostics: list[str] = []
        for device in self._devices:  # with several, only the one that owns the buffer can copy it
            try:
                return _staged(device, buffer)
            except RUNTIME_ERRORS as error:
                diagnostics.append(clean_status(str(error)))
        msg = f"reading a buffer back from the device failed: {'; '.join(diagnostics)}"
        raise DriverError(msg)

    def place(self, array: Array) -> Any:
        """Copy a host array to the first device and return its buffer view."""
        code = element_type_of(array.dtype)
        device = self._devices[0]
        copy = partial(
            device.allocator.allocate_buffer_copy,
            memory_type=rt.MemoryType.DEVICE_LOCAL,
            device=device,
            buffer=Elements.pack(array),
        )
        try:
            buffer = copy(allowed_usage=rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING)
        except RUNTIME_ERRORS:
            buffer = copy(allowed_usage=rt.BufferUsage.DEFAULT)
        return rt.HalBufferView(buffer=buffer, shape=array.shape, element_type=code)

    def close(self) -> None:
        """Release programs, modules, devices and the VM, in this order: each references the next."""
        for program in list(self._programs):
            program.close()
        self.recorder.sink = None
        self._check = self._interface = None
        self._hal = None
        self._devices.clear()
        self._instance = None


def _staged(device: Any, buffer: Any) -> npt.NDArray[np.uint8]:
    """Copy a device-local buffer through one that the host can map."""
    size = buffer.byte_length()
    staging = device.allocator.allocate_buffer(
        memory_type=int(rt.MemoryType.HOST_LOCAL) | int(rt.MemoryType.DEVICE_VISIBLE),
        allowed_usage=int(rt.BufferUsage.TRANSFER_TARGET) | int(rt.BufferUsage.MAPPING_SCOPED),
        allocation_size=size,
    )
    semaphore = device.create_semaphore(0)
    device.queue_copy(
        buffer,
        staging,
        wait_semaphores=rt.HalFence.create_at(semaphore, 0),
        signal_semaphores=rt.HalFence.create_at(semaphore, 1),
    )
    rt.HalFence.create_at(semaphore, 1).wait()
    return np.asarray(staging.map())


def _load_hint(message: str, parameters: Mapping[str, Any]) -> str:
    if "io_parameters" in message or "parameters/" in message:
        return parameters_hint(parameters)
    if "required module" in message:
        return "the module imports a module that this runtime does not have; it has only `hal` and `check`"
    if "executable" in message or "NOT_FOUND" in message or "UNAVAILABLE" in message or "INCOMPATIBLE" in message:
        return "the module holds no code for this device; compare the compiler config's target with the device"
    return ""


class IreeProgram(Program):
    """A loaded module, whose `functions` are without initialisers and the `$async` variants of others."""

    def __init__(self, device: IreeDevice, context: Any, module: Any, *, has_parameters: bool = False) -> None:
        self._device = device
        self._has_parameters = has_parameters
        self._context = context
        self._entries = exported(module)
        self._signatures = {name: signature_of(function) for name, function in self._entries.items()}
        self.functions = [function_info(name, signature) for name, signature in self._signatures.items()]
        self._started: Callable[[], None] | None = None

    def report_work(self, started: Callable[[], None]) -> None:
        """Keep the callback for before each function is entered; its dispatches are not visible."""
        self._started = started

    def call(self, function: str, inputs: Sequence[Array], on_check: CheckSink) -> Sequence[Array]:
        """Call a function and return its results on the host. Raises `DriverError` with the runtime's own message."""
        entry = self._entries.get(function)
        if entry is None:
            raise unknown_function(function, self._entries)
        signature = self._signatures[function]
        arguments = self._pack(function, signature, inputs)
        results = rt.VmVariantList(len(signature.results or ""))
        recorder = self._device.recorder
        recorder.sink, recorder.diagnostic = on_check, None
        if self._started is not None:
            self._started()
        try:
            self._context.invoke(entry, arguments, results)
        except RUNTIME_ERRORS as error:
            if recorder.diagnostic is None:
                raise DriverError(clean_status(str(error))) from error
        finally:
            recorder.sink = None
        if recorder.diagnostic is not None:
            diagnostic, recorder.diagnostic = recorder.diagnostic, None
            raise diagnostic
        return self._unpack(function, signature, results)

    def bind_call(self, function: str, inputs: Sequence[Array]) -> Callable[[], None]:
        """Return a call on arguments that are on the device."""
        if function not in self._entries:
            raise unknown_function(function, self._entries)
        entry, signature = self._entries[function], self._signatures[function]
        arguments, count = self._pack(function, signature, inputs), len(signature.results or "")

        def call() -> None:
            try:
                self._context.invoke(entry, arguments, rt.VmVariantList(count))
            except RUNTIME_ERRORS as error:
                raise DriverError(clean_status(str(error))) from error

        return call

    def device_seconds(self, function: str, inputs: Sequence[Array], calls: int, artifact: Path) -> Sequence[float]:
        """Return the seconds of each call's dispatches, by IREE's own tools: the runtime cannot profile in this
        process."""
        from retarget_iree.runtime.tool import (
            input_flag,
            seconds_on_device,  # needed by benchmarks only
        )
        from retarget_iree.toolchain import find_runtime

        [info, *others] = self._device.infos
        tool, is_host = find_runtime().tool, not info.exclusive  # the host's cores have no clock of their own
        if others or self._has_parameters or is_host or tool is None:
            return ()
        kinds = self._signatures[function].passed(function, len(inputs))

        def flags(folder: Path) -> Sequence[str]:
            pairs = enumerate(zip(inputs, kinds, strict=True))
            return [input_flag(np.asarray(one), *kind, folder / f"input{index}") for index, (one, kind) in pairs]

        return seconds_on_device(tool.parent, info.uri, artifact=artifact, function=function, inputs=flags, calls=calls)

    def _pack(self, function: str, signature: Signature, inputs: Sequence[Array]) -> Any:
        packed = rt.VmVariantList(len(inputs))
        for index, (array, kind) in enumerate(zip(inputs, signature.passed(function, len(inputs)), strict=True)):
            with naming(f"argument {index} of {function}"):
                self._push(packed, *kind, np.asarray(array))
        return packed

    def _push(self, packed: Any, letter: str, declared: str, array: Array) -> None:
        if letter == "r":
            view = self._device.place(array)
            packed.push_ref(view.get_buffer() if declared == "!hal.buffer" else view)
            return
        number = scalar_argument(array, letter, declared)
        packed.push_int(number) if letter in "iI" else packed.push_float(number)

    def _unpack(self, function: str, signature: Signature, results: Any) -> list[Array]:
        unpacked: list[Array] = []
        for index, (letter, declared) in enumerate(signature.returned(len(results))):
            with naming(f"result {index} of {function}"):
                if letter == "r":
                    array = self._device.fetch(results.get_as_object(index, rt.HalBufferView))
                    unpacked.append(as_declared(array, declared))
                else:
                    unpacked.append(scalar_result(results.get_variant(index), letter, declared))
        return unpacked

    def close(self) -> None:
        """Drop functions and state, so that the device can be released."""
        self._entries.clear()
        self._context = None
