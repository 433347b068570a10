"""The features of a live device, as a device profile has them: from the API of its driver, by its UUID;
and why a driver's library does not load."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib.util
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from retarget.model import FeatureValue, vendor_name

from retarget_iree.runtime.apis.cuda import cuda_features
from retarget_iree.runtime.apis.vulkan import vulkan_features
from retarget_iree.runtime.devices.hal import HAL_DRIVERS, HOST_DRIVERS

_HOST = (
    "-",
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--compile-to=preprocessing",
)
_EMPTY = "util.func public @probe() {\n  util.return\n}\n"
_TARGET = re.compile(r'\{cpu = "(?P<cpu>[^"]*)", cpu_features = "(?P<features>[^"]*)"')
_CPU_LINE = re.compile(r"(?m)^(?P<name>\S+) +(?P<has>[01])$")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_SYSTEMS = {"Linux": "unknown-linux-gnu", "Darwin": "apple-darwin", "Windows": "pc-windows-msvc"}


def live_features(driver: str, path: str, dump: str, *, complete: bool) -> tuple[tuple[str, FeatureValue], ...]:
    """Return the features of a device that IREE's runtime knows by `path` (`GPU-` and its UUID) and describes in
    `dump`; none for a driver of which nothing is known.

    Those of the CPU are what `iree-cpuinfo` reports; `complete` ones are also all that LLVM knows, which takes IREE's
    compiler a quarter of a second.
    """
    if driver in HOST_DRIVERS:
        return _cpu_features(complete=complete)
    uuid = _UUID.search(path)
    key = uuid[0].replace("-", "").lower() if uuid is not None else ""
    found: Mapping[str, FeatureValue] = {}
    if driver == "vulkan":
        found = vulkan_features().get(key, {})
    elif driver == "cuda":
        found = cuda_features().get(key, {})
    elif driver in HAL_DRIVERS and (architecture := re.search(r"\bgfx[0-9a-f]+\b", dump)):
        found = {"device_type": "gpu", HAL_DRIVERS[driver].chip: architecture[0]}
    return tuple(sorted(found.items()))


@functools.cache
def host_vendor() -> str:
    """Return the vendor of the host's CPU; empty where the system does not say."""
    with contextlib.suppress(OSError):
        named = re.search(r"(?m)^vendor_id\s*: *(\S+)", Path("/proc/cpuinfo").read_text(errors="replace"))
        return vendor_name(named[1]) if named is not None else ""
    return "Apple" if platform.system() == "Darwin" and platform.machine() == "arm64" else ""


def host_triple() -> str:
    """Return the target triple of this host, as LLVM writes it."""
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return f"{machine}-{_SYSTEMS.get(platform.system(), 'unknown')}"


def host_memory() -> int:
    """Return this machine's memory in bytes, 0 where the system does not say. It is less by up to an eighth: systems
    keep a part for themselves, which differs from one start to the next."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    step = 1 << max(size.bit_length() - 4, 0)
    return size // step * step


@functools.cache
def _cpu_features(*, complete: bool) -> tuple[tuple[str, FeatureValue], ...]:
    found: dict[str, FeatureValue] = {"device_type": "cpu", "cpu.triple": host_triple()}
    if memory := host_memory():
        found["memory"] = memory
    reported = _output("iree._runtime_libs", "iree-cpuinfo")
    found |= {f"cpu.{line['name']}": line["has"] == "1" for line in _CPU_LINE.finditer(reported)}
    if complete and (
        target := _TARGET.search(_output("iree.compiler", "_mlir_libs/iree-compile", *_HOST, input=_EMPTY))
    ):
        found["cpu.name"] = target["cpu"]
        for feature in filter(None, target["features"].split(",")):  # later ones win, as in LLVM
            found[f"cpu.{feature[1:]}"] = feature[0] == "+"
    return tuple(sorted(found.items()))


def _output(package: str, tool: str, *arguments: str, input: str = "") -> str:  # noqa: A002 - as subprocess has it
    """Return what a tool in a package's folder prints; nothing where there is none."""
    with contextlib.suppress(OSError, subprocess.SubprocessError, ModuleNotFoundError):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            argv = [str(Path(folder) / tool), *arguments]
            return subprocess.run(argv, input=input, capture_output=True, text=True, check=True, timeout=60).stdout
    return ""


_CREATE_INSTANCE = "from retarget_iree.runtime.apis.vulkan import vulkan_features; vulkan_features()"
_SAID = re.compile(r"(?m)^(?:\[Vulkan Loader\] )?(?:ERROR|WARNING)[^:]*: *(.*)$")
_SECONDS = 60


def library_complaints(name: str) -> tuple[str, ...]:
    """Return why a library is there and does not load; none if it loads, or is not there."""
    try:
        ctypes.CDLL(name)
    except OSError as error:
        if not str(error).startswith(f"{name}: cannot open shared object file: No such file"):
            return (str(error),)
    return ()


def vulkan_complaints() -> tuple[str, ...]:
    """Return what the Vulkan loader says of the drivers (ICDs) that it does not start, each once.

    It reads once in a process what it is to say, so another one asks it.
    """
    if found := library_complaints("libvulkan.so.1"):
        return found
    environment = os.environ | {"VK_LOADER_DEBUG": "error,warn", "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", _CREATE_INSTANCE]
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return ()
    said = dict.fromkeys(match[1].strip() for match in _SAID.finditer(done.stderr))
    return tuple(line for line in said if "Found no drivers" not in line)
