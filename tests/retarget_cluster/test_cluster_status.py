"""What `retarget cluster status` prints."""

from __future__ import annotations

import pytest

pytest.importorskip("distributed")
from retarget_cluster.command import _lines


def test_a_quarantine_comes_with_what_ends_it() -> None:
    device = {"driver": "gpu", "uri": "gpu://0", "name": "GPU", "driver_version": "", "physical_id": "gpu-0"}
    worker = {
        "name": "rack-1",
        "hostname": "rack",
        "address": "tcp+token://127.0.0.1:4000",
        "cores": 2,
        "queued": 0,
        "draining": False,
        "probing": False,
        "running": [],
        "compilers": [],
        "system": "linux",
        "architecture": "x86_64",
        "devices": [device],
        "resources": {"driver:gpu": 1},
        "quarantined": {"gpu-0": "gpu-0 is quarantined after 2 failures: it was gone"},
    }
    lines = [*_lines("tcp://127.0.0.1:8786", {"workers": [worker], "sessions": 0, "waiting": 0})]
    assert lines[-5:] == [
        "rack-1 (rack, tcp://127.0.0.1:4000)",
        "  compilers: none",
        "  gpu://0  GPU, quarantined",
        "  gpu-0 is quarantined after 2 failures: it was gone",
        "  to end a quarantine, start this worker again: SIGTERM lets it finish what runs",
    ]
