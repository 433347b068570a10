"""Drivers: what they find here, which device a config means, what they say where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from types import SimpleNamespace

import pytest
from iree_support import OpenDevice, driver_named, runtime_config
from msgspec.structs import replace
from retarget.extension import Device, DriverError, UnavailableError
from retarget.model import DeviceInfo
from retarget_iree.runtime.devices import describe_device, select_device
from retarget_iree.runtime.drivers import IreeDriver
from retarget_iree.toolchain import command, select_runtime

CUDA_DUMP = "- gpu-compute-capability: 9.0\n- driver-max-cuda-version: 13.0\n\n- gpu-warp-size: 32\n"
VULKAN_DUMP = (
    "name: NVIDIA H200\npath: GPU-30b4c0307952c98898aa650e0160eb76\napi: 1.4.312\ntype: discrete-gpu\ndriver: NVIDIA\n"
    f"driver_info: 580.159.04\nfeatures: {'shaderInt8=yes ' * 40}\nqueue_families: 5\n  [0] count=16 flags=compute\n"
)


def gpu(ordinal: int, name: str) -> DeviceInfo:
    return DeviceInfo(
        driver="vulkan", uri=f"vulkan://GPU-{ordinal:02}", ordinal=ordinal, name=name, physical_id=str(ordinal)
    )


GPUS = (gpu(0, "NVIDIA H200"), gpu(1, "AMD Radeon"), gpu(2, "NVIDIA L4"))


@pytest.mark.parametrize(
    ("wanted", "ordinal"),
    [
        ("0", 0),
        ("2", 2),
        ("vulkan://1", 1),
        ("vulkan://", 0),
        ("vulkan", 0),
        ("vulkan://GPU-01", 1),
        ("vulkan://GPU-01?queues=2", 1),
        ("GPU-02", 2),
        ("radeon", 1),
        ("h200", 0),
    ],
)
def test_a_device_is_meant_by_ordinal_uri_path_or_part_of_its_name(wanted: str, ordinal: int) -> None:
    assert select_device(wanted, GPUS, driver="vulkan").ordinal == ordinal


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ("3", UnavailableError, "the driver vulkan has no device '3'; it has: 0 = vulkan://GPU-00 (NVIDIA H200), "),
        ("vulkan://GPU-07", UnavailableError, "the driver vulkan has no device 'vulkan://GPU-07'; it has: "),
        ("intel", UnavailableError, "the driver vulkan has no device 'intel'; it has: "),
        (
            "nvidia",
            DriverError,
            "the name 'nvidia' fits 2 devices: 0 = vulkan://GPU-00 (NVIDIA H200), 2 = vulkan://GPU-02 (NVIDIA L4); "
            "name one by its URI or ordinal",
        ),
        (
            "cuda://0",
            DriverError,
            "the device 'cuda://0' belongs to the driver 'cuda'; the config's driver is 'vulkan'",
        ),
    ],
)
def test_a_device_that_is_not_there_or_not_clear_is_reported(wanted: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        select_device(wanted, GPUS, driver="vulkan")
    assert str(caught.value).startswith(message)


def test_one_card_has_one_physical_id_under_cuda_and_vulkan() -> None:
    cuda = describe_device(
        "cuda", 0, {"path": "GPU-30b4c030-7952-c988-98aa-650e0160eb76", "name": "NVIDIA H200"}, CUDA_DUMP
    )
    vulkan = describe_device(
        "vulkan", 0, {"path": "GPU-30b4c0307952c98898aa650e0160eb76", "name": "NVIDIA H200 (NVIDIA)"}, VULKAN_DUMP
    )
    assert cuda.physical_id == vulkan.physical_id == "gpu-30b4c0307952c98898aa650e0160eb76"
    assert (cuda.driver_version, vulkan.driver_version) == ("CUDA 13.0", "NVIDIA 580.159.04")
    assert (cuda.traits.driver, cuda.traits.vendor, cuda.traits.version) == ("CUDA", "NVIDIA", "13.0")
    assert (vulkan.traits.driver, vulkan.traits.vendor, vulkan.traits.version) == ("NVIDIA", "NVIDIA", "580.159.04")
    assert cuda.traits.type == vulkan.traits.type == "gpu"
    assert cuda.capabilities == (("gpu-compute-capability", "9.0"), ("gpu-warp-size", "32"))
    assert [name for name, _ in vulkan.capabilities] == ["api", "type", "features", "queue_families"]
    assert len(dict(vulkan.capabilities)["features"]) < 330


def test_a_software_device_and_a_device_without_uuid_are_distinguished() -> None:
    software = describe_device(
        "vulkan", 0, {"path": "GPU-6d65736132322e332e36000000000000"}, "type: cpu\nname: llvmpipe\n"
    )
    assert (software.physical_id, software.name, software.type) == ("cpu", "llvmpipe", "cpu")
    unknown = describe_device("hip", 1, {"path": "", "name": ""}, "")
    assert (unknown.physical_id, unknown.name, unknown.uri) == ("hip-1", "hip device 1", "hip://")
    assert (unknown.driver_name, unknown.vendor, unknown.type) == ("HIP", "AMD", "gpu")


def test_a_driver_that_a_fork_registers_has_its_words_opens_beside_irees_own_and_is_missing_elsewhere() -> None:
    driver = IreeDriver(name="mychip", words=("npu",))
    config = runtime_config("mychip", "mychip://", "local-task://")
    assert driver.tags(config) == ("mychip", "npu", "local-task")
    assert "local-task" in driver.opens_with
    for one in (runtime_config("mychip"), config):
        with pytest.raises(UnavailableError, match=r"^this IREE runtime was built without the driver mychip$"):
            driver.open(one)


@pytest.mark.parametrize(
    ("name", "complaint", "reason", "hint"),
    [
        (
            "cuda",
            "UNAVAILABLE; CUDA driver library 'libcuda.so'/'nvcuda.dll' not available",
            "libcuda.so",
            "NVIDIA driver",
        ),
        ("hip", "UNAVAILABLE; HIP runtime library 'libamdhip64.so' not available", "libamdhip64.so", "ROCm"),
        (
            "vulkan",
            "x.c:1: UNAVAILABLE; [vkCreateInstance] VK_ERROR_INCOMPATIBLE_DRIVER",
            "no Vulkan driver (ICD)",
            "apt-get",
        ),
        ("vulkan", "UNAVAILABLE; libvulkan.so.1: cannot open shared object file", "no Vulkan loader", "apt-get"),
        ("vulkan", "no devices", "offer no device", "apt-get"),
        (
            "local-task",
            "runtime/src/iree/x.c:1: INTERNAL; broken",
            "the driver local-task does not start: INTERNAL; broken",
            "",
        ),
    ],
)
def test_a_driver_that_does_not_start_says_why_and_what_mends_it(
    name: str, complaint: str, reason: str, hint: str
) -> None:
    error = driver_named(name)._unavailable(complaint)
    assert reason in str(error)
    assert hint in error.hint
    assert "\n" not in str(error)


BROKEN_ICD = '{"file_format_version": "1.0.0", "ICD": {"library_path": "/nowhere/libx.so", "api_version": "1.3.0"}}'


@pytest.mark.needs_vulkan
@pytest.mark.parametrize(
    "is_broken", [pytest.param(False, marks=pytest.mark.slow), True], ids=["no ICD", "an ICD without its library"]
)
def test_vulkan_without_an_icd_that_loads_is_unavailable(
    vulkan_device: Device, tmp_path: Path, is_broken: bool
) -> None:
    icd = tmp_path / "x.json"
    icd.write_text(BROKEN_ICD if is_broken else "")
    code = (
        "from retarget.extension import UnavailableError\nfrom retarget_iree.runtime.drivers import DRIVERS\n"
        "try:\n    DRIVERS[2].probe()\nexcept UnavailableError as error:\n    print(error)\n"
    )
    files = str(icd) if is_broken else os.devnull
    env = {**os.environ, "VK_DRIVER_FILES": files, "VK_ICD_FILENAMES": files}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    if is_broken:
        usable = "no Vulkan driver (ICD) of this machine is usable; the loader says: "
        assert done.stdout.startswith(f"{usable}/nowhere/libx.so: cannot open shared object file")
    else:
        assert done.stdout == "there is no Vulkan driver (ICD) on this machine\n"


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "--task_topology_grup_count=2",
            "the IREE runtime refuses --task_topology_grup_count=2: INVALID_ARGUMENT; "
            "flag 'task_topology_grup_count' not recognized",
        ),
        ("--help", "'--help' is no runtime flag; expected --name=value"),
        ("two", "'two' is no runtime flag; expected --name=value"),
    ],
)
def test_a_runtime_flag_that_is_unknown_is_reported_with_its_config(flag: str, message: str) -> None:
    with pytest.raises(DriverError) as caught:
        driver_named("local-sync").open(runtime_config("local-sync", flags=[flag]))
    assert str(caught.value) == message


@pytest.mark.parametrize(("device", "asked"), [("?queues=2", "vulkan://GPU-01?queues=2"), ("", "the second")])
def test_parameters_of_a_device_reach_the_runtime(monkeypatch: pytest.MonkeyPatch, device: str, asked: str) -> None:
    def refuse(what: str) -> None:
        raise RuntimeError(what)

    driver = SimpleNamespace(create_device_by_uri=refuse, create_device=refuse)
    monkeypatch.setattr(IreeDriver, "records", lambda _: (driver, GPUS, ["the first", "the second"]))
    with pytest.raises(DriverError) as caught:
        driver_named("vulkan").open(runtime_config("vulkan", f"vulkan://GPU-01{device}"))
    assert str(caught.value) == f"vulkan://GPU-01 (AMD Radeon) does not open: {asked}"


def test_a_missing_runtime_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget_iree.builds.locate", lambda _: None)
    select_runtime.cache_clear()
    with pytest.raises(UnavailableError, match=r"^the IREE runtime is not installed") as caught:
        driver_named("local-sync").probe()
    assert "[iree]" in caught.value.hint


def test_devices_close_without_complaints_of_the_runtime(arithmetic: bytes, tmp_path: Path) -> None:
    module = tmp_path / "a.vmfb"
    module.write_bytes(arithmetic)
    code = (
        "import sys\nfrom pathlib import Path\nfrom iree_support import driver_named, runtime_config\n"
        "device = driver_named('local-task').open(runtime_config('local-task'))\n"
        "program = device.load(Path(sys.argv[1]).read_bytes())\n"
        "program.call('passes', (), lambda check: None)\ndevice.close()\n"
    )
    folders = filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(module)], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("devices", "used", "by_tool"),
    [
        (("local-task://", "local-sync://"), (), False),
        (("local-task://", "local-sync://"), (None, True), True),
        (("vulkan://", "local-sync://"), (), True),
        (("vulkan://",), (), False),
        (("vulkan://",), (False,), True),
    ],
)
def test_the_tool_runs_what_is_counted_and_groups_that_python_cannot_open(
    devices: tuple[str, ...], used: tuple[bool | None, ...], by_tool: bool
) -> None:
    driver = driver_named(devices[0].partition("://")[0])
    config = replace(runtime_config(driver.name, *devices), used=used)
    assert driver.runs_by_tool(config) is by_tool
    assert bool(driver.toolchain_environment(config)) is not by_tool


@pytest.mark.skipif(bool(find_library("cuda")), reason="this machine has CUDA")
def test_devices_that_the_tool_would_open_are_missing_for_the_same_reason_as_others() -> None:
    config = replace(runtime_config("cuda", "cuda://0", "cuda://1"), used=(True, True))
    with pytest.raises(UnavailableError, match=r"^there is no CUDA driver library \(libcuda\.so\) on this machine$"):
        driver_named("cuda").open(config)


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        ((), ["--device=vulkan"]),
        (("vulkan://",), ["--device=vulkan"]),
        (("vulkan://GPU-01",), ["--device=vulkan://GPU-01"]),
        (("0",), None),
        (("vulkan://1",), None),
        (("radeon",), None),
    ],
)
def test_other_modules_are_run_by_hand_with_irees_tool_where_it_takes_the_devices(
    devices: tuple[str, ...], expected: list[str] | None
) -> None:
    plan = driver_named("vulkan").run_outside(runtime_config("vulkan", *devices), Path("a.vmfb"), "f", "call")
    if expected is None:
        assert plan is None
    else:
        assert plan is not None
        assert plan.argv == (command("iree-run-module"), *expected, "--module=a.vmfb", "--function=f")


def test_a_device_that_is_named_twice_opens_twice_on_the_cpu(open_device: OpenDevice) -> None:
    assert [info.ordinal for info in open_device("local-sync", "local-sync://", "0").infos] == [0, 0]
