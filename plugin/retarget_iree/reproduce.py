"""Commands that do by hand what the compiler and the drivers did, as argument lists for `shlex.join`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retarget.model import CompileTarget, RuntimeConfig
from retarget.model.outcomes import Stage

from retarget_iree.compiler.flags import phase_of, with_devices, with_one_phase
from retarget_iree.toolchain import command

__all__ = ["RUN_CHECK_TELLS", "compile_command", "flagfile_command", "run_command"]

_END = r" \(\d+ checks?, [\d.]+ s\)$"
RUN_CHECK_TELLS = (
    (Stage.RUN, rf"FAIL \S+ at run: (.*){_END}"),
    (Stage.COMPARE, rf"FAIL \S+: (.*){_END}"),
    (Stage.LOAD, r"error: (.*)"),
)
"""What `python -m retarget_iree.run_check` prints of a failure, as `RunPlan.telling` has it."""


def compile_command(target: CompileTarget, flags: Sequence[str], output: Path) -> tuple[str, ...]:
    """Return the command that compiles a target to `output`.

    `iree-compile` for what it reads; an ONNX model goes through `python -m retarget_iree.compile_onnx`, which imports
    it with the importer of IREE's package first. Where the flags name a phase to compile to, the output is text and has
    the suffix of a program instead of an artifact's.
    """
    tool: tuple[str, ...] = (command("iree-compile"),)
    if target.module.path.suffix == ".onnx":
        tool = (command("python"), "-m", "retarget_iree.compile_onnx")
    complete = with_one_phase(with_devices(target.compiler, flags))
    if phase_of(complete):
        output = output.with_suffix(".mlir")
    return (*tool, str(target.module.path), *complete, "-o", str(output))


def run_command(config: RuntimeConfig, artifact: Path, function: str, kind: str) -> tuple[str, ...] | None:
    """Return the command that runs one function of an artifact without `run_under`; None if no tool can.

    An empty `function` stands for all of a check module, or for loading what is no check module.

    Check modules need `python -m retarget_iree.run_check`, since IREE's packages hold no tool that knows the check
    module. Others go to `iree-run-module`, which takes device URIs only.
    """
    what = (f"--module={artifact}", *((f"--function={function}",) if function else ()), *config.flags)
    if kind == "check":
        devices = [f"--device={uri}" for uri in _check_uris(config)]
        tool = (command("python"), "-m", "retarget_iree.run_check")
        return (*tool, *devices, *what)
    devices_of_tool = _device_flags(config)
    return None if devices_of_tool is None else (command("iree-run-module"), *devices_of_tool, *what)


def flagfile_command(config: RuntimeConfig, artifact: Path, flagfile: Path, folder: Path) -> tuple[str, ...] | None:
    """Return the command that runs and judges what a flagfile says, in the flagfile's folder; None if no tool can.

    A flagfile that names its module does so by its source, which the tool cannot load: its other flags are written out.
    `folder` is the suite's.
    """
    from retarget_iree.flagfile.lines import flags_of, read_text  # for suites that have flagfiles only

    devices = _device_flags(config)
    if devices is None:
        return None
    flags, _ = flags_of(flagfile, read_text(flagfile), folder)
    said: tuple[str, ...] = (f"--flagfile={flagfile.name}",)
    if any(flag.name == "module" for flag in flags):
        others = (flag for flag in flags if flag.name != "module")
        said = tuple(f"--{flag.name}={flag.value.text}" if flag.value else f"--{flag.name}" for flag in others)
    return (command("iree-run-module"), *devices, f"--module={artifact}", *said, *config.flags)


def _device_flags(config: RuntimeConfig) -> tuple[str, ...] | None:
    uris = [_tool_uri(config.driver, device) for device in config.devices] or [config.driver]
    return None if None in uris else tuple(f"--device={uri}" for uri in uris)


def _check_uris(config: RuntimeConfig) -> list[str]:
    """Return what `run_check` takes: like the config's devices, with the driver before what is no URI."""
    if not config.devices:
        return [config.driver]
    return [device if "://" in device else f"{config.driver}://{device}" for device in config.devices]


def _tool_uri(driver: str, device: str) -> str | None:
    """Return a device as IREE's own tools take it: a URI with a path of the driver's, not an ordinal or a name."""
    if "://" not in device:
        return None
    path = device.partition("://")[2]
    if not path:
        return driver
    return None if path.isdigit() else device
