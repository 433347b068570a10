"""The scheduler's plugin: an attempt is granted once, its result is kept, and what is lost is said."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget_cluster import relay as relay_module
from retarget_cluster.relay import VERSION, Relay

INFO = {"id": "one", "name": "gpu-1"}


async def started() -> Relay:
    """A plugin that a scheduler with the worker gpu-1 and the session s has started."""
    state = SimpleNamespace(resources={}, used_resources={}, processing=())
    scheduler = SimpleNamespace(handlers={}, workers={"tcp://1": state}, resources={}, unrunnable=(1, 2), queued=(3,))
    relay = Relay()
    await relay.start(scheduler)
    await relay.events("s", 0, 0)
    relay.advertise("tcp://1", INFO, {"driver:x": 2})
    return relay


def told(relay: Relay) -> list[tuple[Any, ...]]:
    return [event for _, event in relay.sessions["s"].events if event[0] not in {"workers", "begun"}]


async def test_who_connects_is_told_the_version() -> None:
    relay = await started()
    assert relay.scheduler.handlers["retarget_hello"]() == relay.status()["version"] == VERSION
    assert relay.status()["waiting"] == 3
    assert relay.scheduler.workers["tcp://1"].used_resources == {"driver:x": 0}


async def test_an_attempt_is_granted_to_one_worker() -> None:
    relay = await started()
    assert relay.claim("a", "s", "one", "t") is True
    assert relay.claim("a", "s", "other", "t") is False
    assert relay.claim("a", "s", "one", "t") is True  # the same one asks again, after a lost connection
    begun = [event for _, event in relay.sessions["s"].events if event[0] == "begun"]
    assert begun == [("begun", "a", "one", "t")]
    for name in ("a", "new"):
        relay.decline(name, "s", "one", "full")
    assert told(relay) == [("declined", "new", "one", "full")]


async def test_a_repeated_dispatch_gets_the_stored_result() -> None:
    relay = await started()
    relay.claim("a", "s", "one", "t")
    relay.deliver("a", "s", b"result")
    assert relay.claim("a", "s", "other", "t") is False
    assert told(relay) == [("done", "a", b"result"), ("done", "a", b"result")]
    assert relay.take("a") == b"result"
    last = relay.sessions["s"].last
    assert await relay.events("s", last - 1, 0, ["a"]) == [(last, ("done", "a", b"result"))]
    assert relay.kept == 0
    assert relay.claim("a", "s", "other", "t") is False


async def test_a_large_result_is_kept_until_its_session_asks_for_it() -> None:
    relay = await started()
    relay.claim("a", "s", "one", "t")
    relay.deliver("a", "s", bytes(100_000))
    assert told(relay) == [("done", "a", None)]
    assert relay.take("a") == bytes(100_000)


async def test_what_a_worker_held_is_lost_when_it_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "_GRACE", 0.0)
    relay = await started()
    relay.claim("a", "s", "one", "t")
    relay.claim("b", "s", "two", "t")
    relay.remove_worker(None, "tcp://1", stimulus_id="")
    await asyncio.sleep(0.01)
    assert told(relay) == [("lost", "a", "gpu-1")]
    relay.deliver("a", "s", b"late")
    assert told(relay) == [("lost", "a", "gpu-1")]


async def test_a_worker_that_reconnects_delivers_as_if_nothing_had_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "_GRACE", 0.0)
    relay = await started()
    relay.claim("a", "s", "one", "t")
    relay.remove_worker(None, "tcp://1", stimulus_id="")
    relay.scheduler.workers["tcp://2"] = relay.scheduler.workers["tcp://1"]
    relay.advertise("tcp://2", INFO, {})
    await asyncio.sleep(0.01)
    relay.deliver("a", "s", b"result")
    assert told(relay) == [("done", "a", b"result")]


async def test_results_are_bounded_and_what_goes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "_KEPT_BYTES", 10)
    relay = await started()
    for name in ("a", "b"):
        relay.claim(name, "s", "one", "t")
        relay.deliver(name, "s", b"12345678")
    assert [event[:2] for event in told(relay)] == [("done", "a"), ("done", "b"), ("lost", "a")]
    assert relay.take("a") is None
    assert relay.kept == 8


async def test_an_attempt_that_runs_longer_than_many_others_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "_KEPT_ATTEMPTS", 2)
    relay = await started()
    relay.claim("long", "s", "one", "t")
    for name in "abcd":
        relay.claim(name, "s", "one", "t")
        relay.deliver(name, "s", b"result")
        await relay.events("s", relay.sessions["s"].last - 1, 0, [name])
    assert list(relay.attempts) == ["long", "d"]
    relay.deliver("long", "s", b"late")
    assert relay.take("long") == b"late"


async def test_as_many_ended_attempts_are_kept_as_the_bound_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "_KEPT_ATTEMPTS", 2)
    relay = await started()
    for name in ("a", "b", "c"):
        relay.claim(name, "s", "one", "t")
        relay.deliver(name, "s", b"result")
        await relay.events("s", relay.sessions["s"].last - 1, 0, [name])
    assert list(relay.attempts) == ["b", "c"]


async def test_a_session_that_waits_gets_an_event_when_there_is_one() -> None:
    relay = await started()
    last = relay.sessions["s"].last
    waiting = asyncio.ensure_future(relay.events("s", last, 5))
    await asyncio.sleep(0)
    relay.claim("a", "s", "one", "t")
    assert await waiting == [(last + 1, ("begun", "a", "one", "t"))]


async def test_content_goes_from_the_session_to_the_worker_that_asks() -> None:
    relay = await started()
    asked = asyncio.ensure_future(relay.fetch("s", "digest", 0))
    await asyncio.sleep(0)
    assert told(relay) == [("want", "digest", 0)]
    relay.give("s", "digest", 0, b"bytes")
    assert await asked == b"bytes"
    assert relay.wanted == {}


async def test_a_session_that_leaves_leaves_nothing() -> None:
    relay = await started()
    relay.claim("a", "s", "one", "t")
    relay.deliver("a", "s", b"result")
    relay.leave("s")
    assert (relay.kept, len(relay.attempts), relay.sessions) == (0, 0, {})
    assert await relay.fetch("s", "digest", 0) is None
    assert relay.claim("b", "s", "one", "t") is False
