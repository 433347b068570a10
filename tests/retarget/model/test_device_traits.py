"""What rules and requirements may say of a device, and whether it holds."""

from __future__ import annotations

import pytest
from retarget.model.devices import DeviceTraits, has_traits, trait_error, vendor_name, version_in

LAVAPIPE = DeviceTraits(
    driver="llvmpipe", vendor="Mesa", name="llvmpipe (LLVM 15.0.6, 256 bits)", version="22.3.6", type="cpu"
)
H200 = DeviceTraits(driver="NVIDIA", vendor="NVIDIA", name="NVIDIA H200", version="580.95.5", type="gpu")
UNNAMED = DeviceTraits(type="gpu")


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({"vendor": "NVIDIA"}, (False, True, False)),
        ({"vendor": "nvidia"}, (False, True, False)),
        ({"vendor": "N*A"}, (False, True, False)),
        ({"vendor": "*"}, (True, True, False)),
        ({"driver": "llvmpipe"}, (True, False, False)),
        ({"name": "*h200*"}, (False, True, False)),
        ({"name": "llvmpipe (LLVM 15.0.6, 256 bits)"}, (True, False, False)),
        ({"type": "gpu"}, (False, True, True)),
        ({"version": ">=580"}, (False, True, False)),
        ({"version": ">=22.3, <23"}, (True, False, False)),
        ({"version": "=22.3.6.0"}, (True, False, False)),
        ({"version": "!=22.3.6"}, (False, True, False)),
        ({"version": "<100"}, (True, False, False)),
        ({"version": "<=580.95"}, (True, False, False)),
        ({"version": ">580.95"}, (False, True, False)),
        ({"version": "22.*"}, (True, False, False)),
        ({"vendor": "NVIDIA", "version": "<500"}, (False, False, False)),
        ({"vendor": "NVIDIA", "type": "gpu", "driver": "NV*"}, (False, True, False)),
    ],
)
def test_a_device_has_traits_or_has_not(wanted: dict[str, str], holds: tuple[bool, bool, bool]) -> None:
    assert tuple(has_traits(device, wanted.items()) for device in (LAVAPIPE, H200, UNNAMED)) == holds


@pytest.mark.parametrize(
    ("trait", "wanted", "message"),
    [
        ("vendr", "x", "found 'vendr', expected one of driver, vendor, name, version, type; did you mean 'vendor'?"),
        ("os", "x", "found 'os', expected one of driver, vendor, name, version, type"),
        ("name", 5, "found 5 as the name of a device, expected a text in quotes, such as a glob"),
        ("name", " ", "found ' ' as the name of a device, expected a text in quotes, such as a glob"),
        ("type", "gpuu", "found the type 'gpuu', expected gpu or cpu or accelerator; did you mean 'gpu'?"),
        ("vendor", "NVDIA", "found the vendor 'NVDIA', expected NVIDIA; did you mean 'NVIDIA'?"),
        ("vendor", "Advanced Micro Devices, Inc.", "found the vendor 'Advanced Micro Devices, Inc.', expected AMD"),
        ("version", ">=x", "found the version '>=x', expected a glob, or comparisons such as '>=3.0' or '>=580, <590'"),
        (
            "version",
            ">=1,",
            "found the version '>=1,', expected a glob, or comparisons such as '>=3.0' or '>=580, <590'",
        ),
        ("driver", "llvmpip", "found the driver 'llvmpip', expected llvmpipe; did you mean 'llvmpipe'?"),
        ("driver", "NVIDA", "found the driver 'NVIDA', expected NVIDIA; did you mean 'NVIDIA'?"),
        *(("driver", text, None) for text in ("llvmpip*", "pocl", "NVIDIA Tegra", "Intel(R) OpenCL Graphics", "NVK")),
        ("vendor", "Acme", None),
        ("vendor", "nvidia", None),
        ("type", "GPU", None),
        ("version", "580.*", None),
        ("version", ">=1, <2", None),
    ],
)
def test_what_cannot_be_meant_is_named_with_the_nearest_that_can(
    trait: str, wanted: object, message: str | None
) -> None:
    assert trait_error(trait, wanted) == message


@pytest.mark.parametrize(
    ("text", "number", "name"),
    [
        ("NVIDIA Corporation", 0, "NVIDIA"),
        ("", 0x10DE, "NVIDIA"),
        ("Intel(R) Corporation", 0, "Intel"),
        ("GenuineIntel", 0, "Intel"),
        ("AuthenticAMD", 0, "AMD"),
        ("Advanced Micro Devices, Inc.", 0, "AMD"),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", 0x10005, "Mesa"),
        ("QUALCOMM", 0, "Qualcomm"),
        ("ARM", 0, "ARM"),
        ("Armadillo", 0, "Armadillo"),
        (" Acme ", 7, "Acme"),
    ],
)
def test_a_vendor_has_one_name_whichever_driver_reports_it(text: str, number: int, name: str) -> None:
    assert vendor_name(text, number) == name


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "22.3.6"),
        ("NVIDIA 580.95.05", "580.95.05"),
        ("3.0-rc2", "3.0"),
        ("V3DV Mesa 24.1", "24.1"),
        ("CUDA 12.8", "12.8"),
        ("none", ""),
    ],
)
def test_the_version_of_a_driver_is_the_first_one_in_what_it_reports(text: str, version: str) -> None:
    assert version_in(text) == version


@pytest.mark.parametrize(
    ("number", "vendor"),
    [
        (0x1002, "AMD"),
        (0x1022, "AMD"),
        (0x106B, "Apple"),
        (0x13B5, "ARM"),
        (0x14E4, "Broadcom"),
        (0x1010, "Imagination"),
        (0x8086, "Intel"),
        (0x10005, "Mesa"),
        (0x1414, "Microsoft"),
        (0x10DE, "NVIDIA"),
        (0x5143, "Qualcomm"),
        (1, "of the text"),
    ],
)
def test_a_vendor_is_known_by_its_number(number: int, vendor: str) -> None:
    assert vendor_name(" of the text ", number) == vendor
