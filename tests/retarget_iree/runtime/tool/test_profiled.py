"""Device time from the events of `iree-profile`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from retarget_iree.runtime.tool import seconds_of_calls, seconds_on_device


def event(nanoseconds: int, **changed: object) -> str:
    return json.dumps({"type": "dispatch_event", "valid": True, "duration_ns": nanoseconds} | changed).replace(
        ": ", ":"
    )


SUMMARY = '{"type":"dispatch_summary","total_dispatches":4}'


def test_the_dispatches_of_each_call_but_the_first_are_added() -> None:
    lines = [SUMMARY, *map(event, (9_000, 9_000, 100, 20, 200, 30))]
    assert [round(one * 1e9) for one in seconds_of_calls(lines, 3)] == [120, 230]


def test_events_that_do_not_make_whole_calls_or_have_no_time_say_nothing() -> None:
    assert seconds_of_calls([SUMMARY], 3) == ()
    assert seconds_of_calls([event(1), event(2), event(3)], 2) == ()
    assert seconds_of_calls([event(1), event(2, valid=False)], 2) == ()


def test_the_tools_run_one_call_more_and_show_its_dispatches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    events = [event(number) for number in (900, 1, 2, 3)]

    def run(argv: list[str], *, timeout: float, **how: object) -> subprocess.CompletedProcess[str]:
        assert how == {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "check": True}
        asked.append(argv)
        if argv[0] in failing:
            raise subprocess.CalledProcessError(1, argv)
        return subprocess.CompletedProcess(argv, 0, "\n".join(events) if argv[1] == "dispatch" else "", "")

    def seconds(calls: int) -> tuple[float, ...]:
        known = {"artifact": Path("a"), "function": "f", "inputs": lambda folder: [f"--input={folder.name[:17]}"]}
        return seconds_on_device(Path("b"), "d://", calls=calls, **known)  # type: ignore[arg-type]

    failing: list[str] = []
    monkeypatch.setattr(subprocess, "run", run)
    assert [round(one * 1e9) for one in seconds(3)] == [1, 2, 3]
    profile = asked[1][-1]
    words = ["--device=d://", "--module=a", "--function=f", "--input=retarget-profile-", "--benchmark_min_time=4x"]
    words += ["--device_profiling_mode=dispatch-events", f"--device_profiling_output={profile}"]
    assert asked == [
        ["b/iree-benchmark-module", *words],
        ["b/iree-profile", "dispatch", "--format=jsonl", "--dispatch_events", profile],
    ]
    assert seconds(1000) == ()
    assert "--benchmark_min_time=65x" in asked[2]
    for name in ("b/iree-benchmark-module", "b/iree-profile"):
        failing[:] = [name]
        assert seconds(3) == ()
