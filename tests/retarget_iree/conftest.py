"""Modules compiled once per session, by the real compiler, and devices of the real runtime."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from iree_modules import ARITHMETIC, FAILING, SIGNATURES, element_types_module
from iree_support import VMVX, Compile, OpenDevice, compiler_config, driver_named, runtime_config
from retarget.extension import CompileRequest, Device, UnavailableError
from retarget.support.scratch import hold_lock
from retarget_iree.compiler.compiler import IreeCompiler


@pytest.fixture(scope="session")
def iree() -> IreeCompiler:
    return IreeCompiler()


@pytest.fixture(scope="session")
def compile_module(iree: IreeCompiler, shared_folder: Path) -> Compile:
    """Compile MLIR text (or bytes) with the given flags and devices: once, also where several workers of xdist ask."""
    folder = shared_folder / "modules"
    folder.mkdir(exist_ok=True)

    def compile_it(
        source: str | bytes, *flags: str, name: str = "test.mlir", devices: Sequence[tuple[str, str]] = ()
    ) -> bytes:
        content = source.encode() if isinstance(source, str) else source
        kept = folder / hashlib.sha256(repr((content, flags, name, devices)).encode()).hexdigest()
        with hold_lock(kept.with_suffix(".lock")) or pytest.fail("it was waited for"):
            if not kept.exists():
                resolved = iree.resolve(compiler_config(*flags, devices=devices), flags)
                request = CompileRequest(source=content, source_name=name, source_path=Path(name), resolved=resolved)
                kept.write_bytes(iree.compile(request).artifact)
        return kept.read_bytes()

    return compile_it


@pytest.fixture
def open_device() -> Iterator[OpenDevice]:
    """Open devices by driver name and device names; closed after the test."""
    opened: list[Device] = []

    def open_it(driver: str, *devices: str, flags: Sequence[str] = ()) -> Device:
        device = driver_named(driver).open(runtime_config(driver, *devices, flags=flags))
        opened.append(device)
        return device

    yield open_it
    for device in opened:
        device.close()


@pytest.fixture
def vulkan_device() -> Iterator[Device]:
    """A Vulkan device; skips where there is none, unless RETARGET_REQUIRE_VULKAN=1 says that there must be one.

    It is closed after each test: an open device of lavapipe keeps two threads of this process busy, on all cores.
    """
    try:
        device = driver_named("vulkan").open(runtime_config("vulkan"))
    except UnavailableError as error:
        if os.environ.get("RETARGET_REQUIRE_VULKAN") == "1":
            pytest.fail(f"RETARGET_REQUIRE_VULKAN=1, and {error}")
        pytest.skip(str(error))
    yield device
    device.close()


@pytest.fixture(scope="session")
def arithmetic(compile_module: Compile) -> bytes:
    return compile_module(ARITHMETIC, *VMVX)


@pytest.fixture(scope="session")
def failing(compile_module: Compile) -> bytes:
    return compile_module(FAILING, *VMVX)


@pytest.fixture(scope="session")
def signatures(compile_module: Compile) -> bytes:
    return compile_module(SIGNATURES, *VMVX)


@pytest.fixture(scope="session")
def element_types(compile_module: Compile) -> bytes:
    return compile_module(element_types_module(), *VMVX, "--iree-input-demote-f64-to-f32=false")
