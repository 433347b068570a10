"""A worker ends when the process that started it does."""

from __future__ import annotations

import os
import threading

import pytest
from retarget.worker.child import main


def test_the_process_group_is_killed_when_the_lifeline_closes_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    killed = threading.Event()
    monkeypatch.setattr(main.os, "killpg", lambda *_: killed.set())
    reads, writes = os.pipe()
    main._end_with_parent(reads, 0)
    (thread,) = (one for one in threading.enumerate() if one.name == "retarget-lifeline")
    os.write(writes, b"..")
    assert not killed.wait(0.05)
    os.close(writes)
    thread.join(10)
    assert killed.is_set()
    os.close(reads)
