"""What `retarget cluster status` prints."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("distributed")
from retarget_cluster.command import _lines


def _worker(**fields: Any) -> dict[str, Any]:
    device = {"driver": "gpu", "uri": "gpu://0", "name": "GPU", "driver_version": "", "physical_id": "gpu-0"}
    return {
        "name": "rack-1",
        "hostname": "rack",
        "address": "tls://127.0.0.1:4000",
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
        **fields,
    }


@pytest.mark.parametrize(
    ("draining", "probing", "state"),
    [(False, False, "ready"), (False, True, "probing devices"), (True, False, "draining"), (True, True, "draining")],
)
def test_a_worker_has_a_state(draining: bool, probing: bool, state: str) -> None:
    status = {"workers": [_worker(draining=draining, probing=probing)], "sessions": 0, "waiting": 0}
    _, printed, *_ = _lines("tcp://127.0.0.1:8786", status)
    row = printed.splitlines()[-1]
    assert " ".join(row.split()) == f"rack-1 {state} linux x86_64 2 0 + 0"


def test_a_worker_has_compilers_and_devices_and_what_it_runs() -> None:
    worker = _worker(running=[["few/add_vmvx_gpu", 2.04]])
    lines = [*_lines("tcp://127.0.0.1:8786", {"workers": [worker], "sessions": 0, "waiting": 0})]
    assert lines[-4:] == [
        "rack-1 (rack, tls://127.0.0.1:4000)",
        "  compilers: none",
        "  gpu://0  GPU, runs at a time 1",
        "  runs few/add_vmvx_gpu for 2.0 s",
    ]
