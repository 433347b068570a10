"""Requests to a shared store cost a bounded time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from retarget.session.cache import remote_objects as module
from retarget.session.cache.remote_objects import Guard, LeftOutError


class Clock:
    """The clock of the guard, which only requests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def request(self, seconds: float, error: Exception | None = None) -> Callable[[], str]:
        def run() -> str:
            self.now += seconds
            if error is not None:
                raise error
            return "answer"

        return run


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def guard(clock: Clock) -> Guard:
    return Guard(10)


def fail(guard: Guard, request: Callable[[], str]) -> str:
    with pytest.raises(LeftOutError) as raised:
        guard.call(request)
    return str(raised.value)


def refuse(guard: Guard) -> None:
    """The guard makes no request now."""
    assert guard.is_open
    assert fail(guard, lambda: pytest.fail("it was made")) == ""


def test_an_answer_in_between_forgets_failures_and_so_does_what_is_not_there(guard: Guard, clock: Clock) -> None:
    for answer in (clock.request(0.1), clock.request(0.1, FileNotFoundError())) * 3:
        fail(guard, clock.request(0.1, OSError("refused")))
        fail(guard, clock.request(0.1, OSError("refused")))
        try:
            guard.call(answer)
        except FileNotFoundError:
            continue

    assert not guard.is_open
    assert guard.note == ""


def test_after_three_failures_in_succession_no_more_requests_are_made(guard: Guard, clock: Clock) -> None:
    for _ in range(3):
        fail(guard, clock.request(0, OSError("refused")))
    clock.now += 100000

    refuse(guard)
    assert guard.note == "refused"


def test_slow_answers_are_used_but_the_time_that_they_lose_is_bounded(guard: Guard, clock: Clock) -> None:
    for _ in range(7):
        assert guard.call(clock.request(4.5)) == "answer"
    assert not guard.is_open
    assert guard.call(clock.request(4.5)) == "answer"

    refuse(guard)
    assert guard.note == "its answers took 32 s longer than they should"


def test_large_content_may_take_longer(guard: Guard, clock: Clock) -> None:
    for _ in range(20):
        guard.call(clock.request(100), size=100 << 20)

    assert not guard.is_open


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_request_that_hangs_is_left_behind(never: threading.Event) -> None:
    guard = Guard(0.01)
    for _ in range(3):
        message = fail(guard, lambda: str(never.wait()))
        assert message.startswith("no good answer came within 0.0 s; check network and server, or set RETARGET_REM")

    refuse(guard)


def test_closing_lets_go_who_waits(never: threading.Event) -> None:
    guard = Guard(600)
    began = threading.Event()

    def request() -> str:
        began.set()
        return str(never.wait())

    threading.Thread(target=lambda: began.wait() and guard.close(), daemon=True).start()
    assert fail(guard, request) == ""
    refuse(guard)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError("Forbidden"), "Forbidden; check the credentials (they must allow to list, too: if not, what "),
        (OSError(f"no v1/entries/ab/{'ab' * 32}\nsecond line"), "no v1/entries/ab/abababab…"),
        (OSError("at https://me:secret@host/a?sig=secret"), "at https://***@host/a?***"),
        (KeyError(), "KeyError"),
    ],
)
def test_a_message_says_what_to_check_in_one_line_and_no_secret(guard: Guard, error: Exception, message: str) -> None:
    def request() -> str:
        raise error

    assert fail(guard, request).startswith(message)
