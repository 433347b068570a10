"""The rungs, their order and their words."""

from __future__ import annotations

from retarget.model.outcomes import Rung


def test_each_rung_is_above_the_one_before() -> None:
    words = ["none", "found", "opens", "transfers", "compiles", "loads", "dispatches", "completes", "matches", "stable"]
    assert [rung.word for rung in sorted(Rung)] == words
    assert [Rung.named(word) for word in words] == sorted(Rung)
    assert Rung.named("") is Rung.named("NONE") is None
