"""Reports of other tools → profiles. The files in `data` were written by the tools, and shortened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from retarget.cli import main
from retarget.profiles import Profile
from retarget.support import RetargetError
from retarget_profiles.importers import frozen_list, import_profile

DATA = Path(__file__).parent / "data"
NEW, OLD = DATA / "VP_VULKANINFO_llvmpipe.json", DATA / "vulkaninfo-1.2-llvmpipe.json"
CLINFO, CPUINFO = DATA / "clinfo-pocl.json", DATA / "iree-cpuinfo.txt"
CLANG, IREE = DATA / "clang.txt", DATA / "iree-compile.mlir"
TOOLS = (
    "expected the output of vulkaninfo --json, clinfo --json, iree-cpuinfo, clang -### or "
    "iree-compile --iree-llvmcpu-target-cpu=host --compile-to=flow"
)


@pytest.mark.parametrize(
    ("file", "driver", "name", "expected"),
    [
        (
            NEW,
            "vulkan",
            "llvmpipe (LLVM 15.0.6, 256 bits)",
            {
                "device_type": "cpu",
                "vulkan.apiVersion": "1.3.230",
                "vulkan.maxComputeWorkGroupSize": (1024, 1024, 1024),
                "vulkan.shaderFloat16": True,
                "vulkan.storageInputOutput16": False,
                "vulkan.subgroupSize": 8,
                "vulkan.vendorID": 0x10005,
            },
        ),
        (
            OLD,
            "vulkan",
            "llvmpipe (LLVM 15.0.6, 256 bits)",
            {
                "device_type": "cpu",
                "memory": 2**31,
                "vulkan.apiVersion": "1.3.230",
                "vulkan.maxComputeSharedMemorySize": 32768,
                "vulkan.shaderFloat64": True,
            },
        ),
        (
            CLINFO,
            "opencl",
            "pthread-Intel(R) Xeon(R) Processor",
            {
                "device_type": "cpu",
                "memory": 12442611712,
                "opencl.fp16": False,
                "opencl.fp64": True,
                "opencl.correctlyRoundedDivideSqrt": True,
                "opencl.maxWorkItemSizes": (4096, 4096, 4096),
                "opencl.platform": "Portable Computing Language",
                "opencl.version": "3.0",
            },
        ),
        (CPUINFO, "local-task", None, {"device_type": "cpu", "cpu.sse4.1": True, "cpu.sse4a": False}),
        (
            CLANG,
            "local-task",
            None,
            {"cpu.name": "rocketlake", "cpu.triple": "x86_64-pc-linux-gnu", "cpu.avx512f": True, "cpu.xop": False},
        ),
        (IREE, "local-task", None, {"cpu.name": "rocketlake", "cpu.amx-tile": True, "cpu.avx10.1": False}),
    ],
)
def test_a_report_gives_the_capabilities_of_its_device(
    file: Path, driver: str, name: str | None, expected: dict[str, object]
) -> None:
    profile = import_profile([file], name="p")
    assert profile.driver == driver
    assert dict(profile.identity).get("name") == name
    assert {key: profile.get(key) for key in expected} == expected
    (source,) = {one.source for one in profile.capabilities}
    assert source.endswith(f": {file.name}")


@pytest.mark.parametrize(
    ("written", "value"), [("VK_TRUE", True), ("VK_FALSE", False), (True, True), (False, False), (1, True), (0, False)]
)
def test_yes_and_no_are_written_in_three_ways(tmp_path: Path, written: object, value: bool) -> None:
    data = json.loads(NEW.read_text())
    data["capabilities"]["device"]["features"]["VkPhysicalDeviceFeatures"]["shaderInt64"] = written
    (tmp_path / "new.json").write_text(json.dumps(data))
    assert import_profile([tmp_path / "new.json"], name="p").get("vulkan.shaderInt64") is value


def test_the_memory_is_the_largest_heap_of_the_device(tmp_path: Path) -> None:
    data = json.loads(OLD.read_text())
    heaps = [{"flags": 1, "size": 0}, {"flags": 3, "size": 2**20}, {"flags": 2, "size": 2**40}]
    data["VkPhysicalDeviceMemoryProperties"]["memoryHeaps"] = heaps
    (tmp_path / "old.json").write_text(json.dumps(data))
    assert import_profile([tmp_path / "old.json"], name="p").get("memory") == 2**20


def test_the_command_writes_a_file_that_is_read_as_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "phone.toml"
    status = main(["profile", "import", str(NEW), str(OLD), "-o", str(file), "--description", "a phone"])
    assert (status, capsys.readouterr().out) == (0, f"{file}: 42 capabilities, driver vulkan\n")
    profile = Profile.read(file)
    assert (profile.name, profile.description, profile.get("memory")) == ("phone", "a phone", 2**31)
    assert main(["profile", "import", str(NEW), str(OLD), "--description", "a phone"]) == 0
    assert capsys.readouterr().out == file.read_text()


def _changed(path: list[Any], value: object) -> Callable[[Any], None]:
    def change(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return change


_DEVICE = ["capabilities", "device"]
_LIMITS = [*_DEVICE, "properties", "VkPhysicalDeviceProperties", "limits"]
_SUBGROUP = [*_DEVICE, "properties", "VkPhysicalDeviceSubgroupProperties"]
_CL = ["devices", 0, "online", 0]


@pytest.mark.parametrize(
    ("file", "change", "error"),
    [
        (
            NEW,
            _changed([*_SUBGROUP, "subgroupSize"], 0),
            "capabilities.device.properties.VkPhysicalDeviceSubgroupProperties.subgroupSize: found vulkan.subgroupSize "
            "= 0, expected a power of two (work-items)",
        ),
        (
            NEW,
            _changed([*_LIMITS, "maxComputeWorkGroupSize"], [128, 0, 64]),
            "capabilities.device.properties.VkPhysicalDeviceProperties.limits.maxComputeWorkGroupSize: found "
            "vulkan.maxComputeWorkGroupSize = (128, 0, 64), expected a whole number above 0",
        ),
        (
            NEW,
            _changed([*_SUBGROUP, "subgroupSize"], 16),
            "capabilities.device.properties.VkPhysicalDeviceVulkan11Properties.subgroupSize: found vulkan.subgroupSize "
            "= 8, expected 16 as in capabilities.device.properties.VkPhysicalDeviceSubgroupProperties.subgroupSize",
        ),
        (
            NEW,
            _changed([*_DEVICE, "features", "VkPhysicalDeviceFeatures", "shaderInt64"], "often"),
            "capabilities.device.features.VkPhysicalDeviceFeatures.shaderInt64: found vulkan.shaderInt64 = 'often', "
            "expected true or false",
        ),
        (
            NEW,
            _changed([*_DEVICE, "features", "VkPhysicalDeviceFeatures", "shaderInt64"], {"VK": "TRUE"}),
            "capabilities.device.features.VkPhysicalDeviceFeatures.shaderInt64: found {'VK': 'TRUE'}, expected true or "
            "false, a number, a text, or a list of one of them",
        ),
        (
            NEW,
            _changed(["profiles", "VP_VULKANINFO_llvmpipe_(LLVM_15_0_6,_256_bits)_0_0_1", "api-version"], "new"),
            'profiles."VP_VULKANINFO_llvmpipe_(LLVM_15_0_6,_256_bits)_0_0_1".api-version: found vulkan.apiVersion = '
            "'new', expected a version in quotes, such as \"1.3\"",
        ),
        (
            NEW,
            _changed(["profiles", "VP_VULKANINFO_llvmpipe_(LLVM_15_0_6,_256_bits)_0_0_1", "profiles"], ["VP_A"]),
            'profiles."VP_VULKANINFO_llvmpipe_(LLVM_15_0_6,_256_bits)_0_0_1".profiles: found a profile that builds on '
            "['VP_A'], expected that of a device",
        ),
        (
            NEW,
            _changed(["profiles", "VP_OTHER"], {}),
            "found several profiles, expected --device with one of "
            "VP_VULKANINFO_llvmpipe_(LLVM_15_0_6,_256_bits)_0_0_1, VP_OTHER",
        ),
        (
            OLD,
            _changed(["VkPhysicalDeviceMemoryProperties", "memoryHeaps", 0, "size"], -5),
            "VkPhysicalDeviceMemoryProperties.memoryHeaps: found memory = -5, expected a whole number above 0",
        ),
        (
            OLD,
            _changed(["VkPhysicalDeviceMemoryProperties", "memoryHeaps", 0, "flags"], float("inf")),
            "VkPhysicalDeviceMemoryProperties.memoryHeaps: expected a list of heaps, each with its size and its flags",
        ),
        (
            OLD,
            _changed(["VkPhysicalDeviceProperties", "deviceType"], 9),
            "VkPhysicalDeviceProperties.deviceType: found 9, expected one of VkPhysicalDeviceType",
        ),
        (
            CLINFO,
            _changed([*_CL, "CL_DEVICE_MAX_WORK_GROUP_SIZE"], 0),
            "devices[0].online[0].CL_DEVICE_MAX_WORK_GROUP_SIZE: found opencl.maxWorkGroupSize = 0, expected a whole "
            "number above 0",
        ),
        (
            CLINFO,
            _changed(["devices", 0, "online"], [{"CL_DEVICE_NAME": "A"}, {"CL_DEVICE_NAME": "B"}]),
            "found several devices, expected --device: 0 is A; 1 is B",
        ),
        (CLINFO, _changed(["devices"], []), "found a report without devices, expected one with a device: it has none"),
    ],
)
def test_what_cannot_be_is_an_error_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path, change: Callable[[Any], None], error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    data = json.loads(file.read_text())
    change(data)
    Path("r.json").write_text(json.dumps(data))
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("r.json")], name="p")
    assert str(caught.value).splitlines()[0] == f"r.json: {error}"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"a": 1,\n}', "r:2:1: found damaged JSON: Expecting property name enclosed in double quotes"),
        (
            rb'{"name": "\ud800"}',
            "r: found an escape \\ud800 to \\udfff that is half a character, expected whole characters",
        ),
        (b'{"a": ' + b"9" * 5000 + b"}", f"r: found a number of more than 4,300 digits, {TOOLS}"),
        (b"[1, 2]", f"r: found JSON of no known tool, {TOOLS}"),
        (b'{"a": 1}', f"r: found JSON of no known tool, {TOOLS}"),
        (b"VULKANINFO\n==========\n", f"r: found text of no known tool, {TOOLS}"),
        (b"", f"r: found text of no known tool, {TOOLS}"),
        (b"\x89PNG", f"r: found the byte 0x89, {TOOLS}"),
        (
            b'{"VkPhysicalDeviceProperties": {}}',
            "r: found no features, properties or limits of a device, expected those ",
        ),
    ],
)
def test_damaged_and_foreign_files_say_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r").write_bytes(content)
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("r")], name="p")
    assert str(caught.value).startswith(error)


def test_a_device_of_several_is_chosen_by_number_or_name_and_utf_16_is_read(tmp_path: Path) -> None:
    data = json.loads(CLINFO.read_text())
    other = {**data["devices"][0]["online"][0], "CL_DEVICE_NAME": "Other GPU", "CL_DEVICE_WARP_SIZE_NV": 32}
    other |= {"CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV": "9.0", "CL_DEVICE_TYPE": {"type": ["CL_DEVICE_TYPE_GPU"]}}
    data["devices"][0]["online"].append(other)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(data), encoding="utf-16")
    for wanted in ("1", "other"):
        profile = import_profile([file], name="p", device=wanted)
        assert dict(profile.identity)["name"] == "Other GPU"
        assert profile.get("opencl.subgroupSizes") == (32,)
        assert profile.get("opencl.computeCapabilityNV") == "9.0"
        assert profile.get("device_type") == "gpu"


@pytest.mark.parametrize(
    ("profile", "extensions", "has_it"),
    [
        ("FULL_PROFILE", "", True),
        ("EMBEDDED_PROFILE", "cl_khr_fp16 cles_khr_int64", True),
        ("EMBEDDED_PROFILE", "cl_khr_fp16 cl_nv_device_attribute_query", False),
    ],
)
def test_an_embedded_device_has_integers_of_64_bits_where_its_extension_says_so(
    tmp_path: Path, profile: str, extensions: str, has_it: bool
) -> None:
    data = json.loads(CLINFO.read_text())
    data["devices"][0]["online"][0] |= {"CL_DEVICE_PROFILE": profile, "CL_DEVICE_EXTENSIONS": extensions}
    file = tmp_path / "r.json"
    file.write_text(json.dumps(data))
    found = import_profile([file], name="p")
    assert found.get("opencl.int64") is has_it
    assert found.get("opencl.fp16") is ("cl_khr_fp16" in extensions)
    assert found.get("opencl.fp64") is False
    assert found.get("opencl.cl_nv_device_attribute_query") is ("cl_nv" in extensions)


@pytest.mark.parametrize(
    ("type_", "found"),
    [
        *((number, "gpu") for number in (1, 2, 3)),
        *((f"VK_PHYSICAL_DEVICE_TYPE_{name}_GPU", "gpu") for name in ("INTEGRATED", "DISCRETE", "VIRTUAL")),
        *((one, "cpu") for one in (4, "VK_PHYSICAL_DEVICE_TYPE_CPU")),
        *((one, "accelerator") for one in (0, "VK_PHYSICAL_DEVICE_TYPE_OTHER")),
    ],
)
def test_the_type_of_a_device_is_written_as_a_number_or_a_word(tmp_path: Path, type_: object, found: str) -> None:
    data = json.loads(OLD.read_text())
    data["VkPhysicalDeviceProperties"]["deviceType"] = type_
    (tmp_path / "r.json").write_text(json.dumps(data))
    assert import_profile([tmp_path / "r.json"], name="p").get("device_type") == found


def test_reports_of_two_devices_or_drivers_are_an_error_that_names_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = json.loads(NEW.read_text())
    data["capabilities"]["device"]["features"]["VkPhysicalDeviceFeatures"]["shaderInt64"] = False
    Path("a.json").write_text(json.dumps(data))
    Path("b.json").write_text(OLD.read_text())
    Path("c.json").write_text(CLINFO.read_text())
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("a.json"), Path("b.json")], name="p")
    assert str(caught.value) == (
        "b.json: found vulkan.shaderInt64 = True, and a.json has False; expected files of one device"
    )
    data = json.loads(OLD.read_text())
    data["VkPhysicalDeviceProperties"]["deviceName"] = "other"
    Path("d.json").write_text(json.dumps(data))
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("d.json"), Path("b.json")], name="p")
    assert str(caught.value) == (
        "b.json: found name = 'llvmpipe (LLVM 15.0.6, 256 bits)', and d.json has 'other'; expected files of one device"
    )
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("b.json"), Path("c.json")], name="p")
    assert str(caught.value) == (
        "c.json: found a device of the driver opencl, expected vulkan as in b.json; a profile is of one driver"
    )


def _paths(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, inner in steps:
        yield (*path, step)
        yield from _paths(inner, (*path, step))


@pytest.mark.parametrize("file", [NEW, OLD, CLINFO])
def test_no_damage_to_a_report_is_an_error_of_ours(tmp_path: Path, file: Path) -> None:
    text = file.read_text()
    damaged, outcomes = tmp_path / "r.json", set()
    values = cycle((None, -1, [{}], {}))
    for path, value in zip(_paths(json.loads(text)), values, strict=False):
        data = json.loads(text)
        _changed(list(path), value)(data)
        damaged.write_text(json.dumps(data))
        try:
            import_profile([damaged], name="p")
            outcomes.add("read")
        except RetargetError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_a_report_of_features_that_stops_being_one_is_refused_however_long_it_is(tmp_path: Path) -> None:
    report = tmp_path / "cpu.txt"
    report.write_text("avx 1" * 5000 + "!")  # an expression that tries each way to divide it does not end

    with pytest.raises(RetargetError, match="found text of no known tool"):
        import_profile([report], name="p")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RetargetError) as caught:
        import_profile([Path("r.json")], name="p")
    assert str(caught.value) == "r.json: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1.5, 1.5),
        ([8, 16], (8, 16)),
        (["a", "b"], ("a", "b")),
        ([], ()),
        ([1.5], None),
        ([1, True], None),
        ([1, "a"], None),
        ({}, None),
        (None, None),
    ],
)
def test_lists_of_whole_numbers_or_of_texts_can_be_capabilities(value: object, kept: object) -> None:
    assert frozen_list(value) == kept
