"""Declarations and outcomes: what makes them equal, and what they are where nobody says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from retarget.model import CompilerConfig, Origin, RuntimeConfig, Toolchain
from retarget.model.declared import Host, Requirement
from retarget.model.outcomes import CompileOutcome, DeviceInfo, RunOutcome


@pytest.mark.parametrize(
    "make",
    [
        partial(Requirement, text="x"),
        partial(Toolchain, name="t", path=None),
        partial(Host, name="h", kind="ssh"),
        partial(CompilerConfig, name="c", compiler="iree"),
        partial(RuntimeConfig, name="r", driver="d"),
    ],
)
def test_where_it_is_declared_makes_no_other_declaration(make: Callable[..., Any]) -> None:
    here, there = (Origin(file=Path(name), key_path="") for name in ("here", "there"))
    assert make(origin=here) == make(origin=there)
    assert hash(make(origin=here)) == hash(make(origin=there))


def test_what_is_not_said_did_not_happen() -> None:
    compiled, ran = CompileOutcome(key="", seconds=0.0, reused=True), RunOutcome(devices=())
    assert compiled.started == compiled.worker == ran.started == ran.wait_seconds == 0
    assert not any((compiled.artifact, compiled.failure, ran.failure, ran.loaded, ran.suspect))


def test_a_device_is_used_by_one_at_a_time_unless_its_driver_says_otherwise() -> None:
    assert DeviceInfo(driver="d", uri="d://", ordinal=0, name="n", physical_id="p").exclusive
