"""Tags as marks of pytest."""

from __future__ import annotations

import pytest
from model_targets import compile_target
from pytest_retarget.session.declared import Marks


def test_a_device_with_a_colon_is_a_mark_that_pytest_does_not_warn_of(pytestconfig: pytest.Config) -> None:
    target = compile_target(tags=("vulkan://0", "vulkan"))
    marks = Marks(pytestconfig)
    marks.register([target])
    assert [mark.name for mark in marks.of(target)][:2] == ["vulkan://0", "vulkan"]
    assert not any(line.startswith("vulkan://0") for line in pytestconfig.getini("markers"))
