"""Device time from the events of `iree-profile`."""

from __future__ import annotations

import json

from retarget_iree.runtime.tool import seconds_of_calls


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
