"""A worker that is started before it is known for what is used where it is what would be started then."""

from __future__ import annotations

import pytest
from retarget.worker.messages import DriverChecks, ListDriverChecks
from retarget.worker.spare import SpareWorker


def test_a_spare_worker_answers_and_is_taken_once() -> None:
    spare = SpareWorker()
    worker = spare.take()
    assert worker is not None
    assert spare.take() is None
    assert isinstance(worker.ask(ListDriverChecks(), DriverChecks, timeout=60), DriverChecks)
    worker.close()
    spare.close()
    assert not worker.alive


def test_a_spare_worker_is_not_taken_where_the_environment_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    spare = SpareWorker()
    monkeypatch.setenv("RETARGET_TEST_OF_SPARE", "set since")
    assert spare.take() is None
    spare.close()
