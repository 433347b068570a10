"""Named compile devices: fallbacks and their order."""

from __future__ import annotations

import pytest
from retarget_iree.compiler.flags import device_order, device_problems, full_specification


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("vulkan,local", "vulkan,local"),
        ("#hal.device.fallback<@cpu>", "#hal.device.fallback<@cpu> : !hal.device"),
        ("#hal.device.fallback<@cpu> : !hal.device", "#hal.device.fallback<@cpu> : !hal.device"),
        ("vulkan,#hal.device.fallback<@cpu>", "vulkan,#hal.device.fallback<@cpu> : !hal.device"),
    ],
)
def test_a_fallback_gets_the_type_that_the_compiler_wants(written: str, full: str) -> None:
    assert full_specification(written) == full


def test_devices_are_counted_by_their_ordinals_and_else_as_declared() -> None:
    assert list(device_order({"b": "local[1]", "v": "vulkan", "a": "local[0]"})) == ["v", "a", "b"]
    target = '#hal.device.target<"local", {ordinal = 1 : index}, []> : !hal.device'
    assert list(device_order({"b": target, "a": "local"})) == ["a", "b"]


def test_a_device_with_a_fallback_may_be_missing() -> None:
    assert device_order({"accel": "hip,#hal.device.fallback<@cpu>", "cpu": "local"}) == {"accel": False, "cpu": True}


def test_a_fallback_to_no_device_is_named_with_the_nearest() -> None:
    assert device_problems({"accel": "#hal.device.fallback<@cpus>", "cpu": "local"}) == [
        ("accel", "found a fallback to 'cpus', expected one of 'accel', 'cpu'; did you mean 'cpu'?")
    ]


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a-b", "a,b", "é", "a\n"])
def test_a_name_that_the_compiler_takes_for_a_part_of_the_value_is_refused(name: str) -> None:
    expected = "expected ASCII letters, digits and _, such as 'device_a'"
    assert device_problems({"device_0": "local", name: "local"}) == [(name, f"found the name {name!r}, {expected}")]


def test_a_device_of_no_kind_is_refused() -> None:
    assert device_problems({"a": " "}) == [("a", "found an empty text, expected what to compile for, such as 'vulkan'")]
