"""Devices of workers that come and go."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("distributed")
from retarget.extension import UnavailableError
from retarget_cluster.executor import ClusterExecutor
from targets_of_doubles import runtime_config

_ANSWER = ((), frozenset({"worker"}))


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> ClusterExecutor:
    """One whose link has no worker."""
    one = ClusterExecutor.__new__(ClusterExecutor)
    one._link = SimpleNamespace(expect_there=lambda: None, changed=asyncio.Event(), seen={})  # type: ignore[assignment]
    one._had, one._missing = set(), {}
    monkeypatch.setattr("retarget_cluster.executor._NO_WORKER", 0.1)
    return one


def answers(executor: ClusterExecutor, *values: object) -> None:
    left = list(values)

    async def having(runtime: object) -> object:
        value = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(value, Exception):
            raise value
        return value

    executor._having_now = having  # type: ignore[assignment,method-assign]


def test_a_device_that_no_worker_ever_had_is_unavailable(executor: ClusterExecutor) -> None:
    answers(executor, UnavailableError("no worker has it"))
    with pytest.raises(UnavailableError) as raised:
        asyncio.run(executor._having(runtime_config()))
    assert not raised.value.lost


def test_workers_that_are_started_again_are_waited_for(executor: ClusterExecutor) -> None:
    answers(executor, _ANSWER, UnavailableError("no worker has it"), _ANSWER)
    runtime = runtime_config()
    assert asyncio.run(executor._having(runtime)) == asyncio.run(executor._having(runtime)) == _ANSWER
    assert executor._missing == {}
