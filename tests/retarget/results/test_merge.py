"""Merging results: a union of sessions, refused where two sessions disagree."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from data_errors import error_of
from hypothesis import given
from hypothesis import strategies as st
from retarget.model.outcomes import Observation
from retarget.results.files import Attribution, SessionResults, Sessions
from retarget.results.merge import check_agreement, file_of, merge_into
from retarget.results.record import CompileRecord, Outcome, TargetRecord
from retarget.support.errors import RetargetError
from sample_results import failed, passed, session

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, *sessions: SessionResults) -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(file_of(sessions))
        return path

    return written


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


# A union: Hypothesis


@st.composite
def files(draw: st.DrawFn) -> list[bytes]:
    """Files that hold parts of a few sessions, in any order; each line is in one of them or in several."""
    sessions = [
        session(
            f"s{number}",
            *(
                passed(f"t{number}-{target}", attempt=attempt, ended=float(target))
                for target in range(draw(st.integers(0, 3)))
                for attempt in (1, 2)
            ),
            day=draw(st.integers(0, 2)),
            killed=draw(st.booleans()),
        )
        for number in range(draw(st.integers(1, 3)))
    ]
    parts: list[bytes] = []
    for _ in range(draw(st.integers(1, 3))):
        rows: list[bytes] = []
        for one in draw(st.lists(st.sampled_from(sessions), max_size=4)):
            start, *rest = file_of([one]).splitlines(keepends=True)
            rows += [start, *draw(st.permutations(rest))[: draw(st.integers(0, len(rest)))]]
        if rows:
            parts.append(b"".join(rows))
    return parts or [file_of(sessions)]


@given(files(), st.randoms(use_true_random=False))
def test_merging_is_idempotent_commutative_and_associative(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], order: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    paths = [folder / f"{number}.jsonl" for number in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        path.write_bytes(part)
    at_once = merge_into(paths, folder / "at-once.jsonl").path.read_bytes()

    shuffled = order.sample(paths, len(paths))
    assert merge_into(shuffled, folder / "shuffled.jsonl").path.read_bytes() == at_once
    for path in shuffled:
        merge_into([path], folder / "one-by-one.jsonl")
    assert (folder / "one-by-one.jsonl").read_bytes() == at_once
    left = merge_into(paths[:1], folder / "left.jsonl").path
    right = merge_into(paths[1:] or paths, folder / "right.jsonl").path
    assert merge_into([right, left], folder / "grouped.jsonl").path.read_bytes() == at_once
    assert not merge_into([folder], folder / "at-once.jsonl").changed


# Files


def test_many_writers_at_once_lose_nothing(tmp_path: Path, write: Write) -> None:
    out = tmp_path / "all.jsonl"
    legs = [write(f"leg{n}", session(f"s{n}", passed(f"t{n}"), day=n)) for n in range(8)]
    threads = [threading.Thread(target=merge_into, args=([leg], out)) for leg in legs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.start.session for one in Sessions.read([out])] == [f"s{n}" for n in range(8)]
    assert {path.name for path in tmp_path.iterdir()} == {out.name, *(leg.name for leg in legs)}


def test_a_killed_session_stays_incomplete_until_its_rest_is_there(tmp_path: Path, write: Write) -> None:
    whole = session("s1", passed("t1"), passed("t2"))
    path = write("leg", whole)
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(b"".join(lines(path)[:2]) + lines(path)[2][:40])
    (found,) = merge_into([cut], tmp_path / "all.jsonl").sessions
    assert (found.is_complete, [record.nodeid for record in found.records]) == (False, ["t1"])
    (found,) = merge_into([path], tmp_path / "all.jsonl").sessions
    assert found.is_complete
    assert (tmp_path / "all.jsonl").read_bytes() == path.read_bytes()


def test_attributions_are_kept(tmp_path: Path, write: Write) -> None:
    one = session("s1", failed("t"))
    said = Attribution(session="s1", nodeid="t", sentence="fails everywhere", section="…")
    path = tmp_path / "leg.jsonl"
    path.write_bytes(file_of([SessionResults(start=one.start, records=one.records, attributions=(said,), end=one.end)]))
    assert merge_into([path], tmp_path / "all.jsonl").sessions[0].attributions == (said,)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, write: Write) -> None:
    (tmp_path / "taken").touch()
    expected = f"cannot write results to {tmp_path / 'taken' / 'all.jsonl'}: File exists"
    assert error_of(merge_into, [write("a", session("s1", passed("t")))], tmp_path / "taken" / "all.jsonl") == expected


def test_a_changed_copy_of_a_session_is_refused(tmp_path: Path, write: Write) -> None:
    path = write("leg", session("s1", passed("t"), leg="cpu"))
    copy = write("copy", session("s1", passed("t"), leg="gpu"))
    assert error_of(merge_into, [path, copy], tmp_path / "all.jsonl") == (
        f"{path} and {copy}: found two of the first line of the session 's1', which differ; "
        "expected one: leave the copy out that was changed"
    )
    assert not (tmp_path / "all.jsonl").exists()


# Sessions that disagree


def claim(sessions: Sequence[SessionResults]) -> str:
    with pytest.raises(RetargetError) as caught:
        check_agreement(sessions)
    return str(caught.value)


def test_two_sessions_that_say_different_things_of_a_target_are_refused(tmp_path: Path, write: Write) -> None:
    a = write("a", session("s1", passed("t"), leg="cpu"))
    b = write("b", session("s2", failed("t"), passed("u"), leg="gpu", day=1))
    assert error_of(merge_into, [a, b], tmp_path / "all.jsonl") == (
        "found 1 target of which sessions say different things, expected one result of each:\n"
        "  t: passed and failed at compare: values differ\n"
        f"    session s1 of the leg cpu in {a}\n"
        f"    session s2 of the leg gpu in {b}\n"
        "keep the results of one of these sessions, or compare them with `retarget results diff`"
    )


def test_a_session_that_ended_before_a_target_contradicts_no_result() -> None:
    ended = TargetRecord(nodeid="t")
    for first, last in ((ended, passed("t")), (passed("t"), ended)):
        sessions = [session("s1", first), session("s2", last, day=1)]
        check_agreement(sessions)
        assert Sessions(sessions).results["t"].outcome is Outcome.PASSED
    assert Sessions([session("s1", ended)]).results["t"].outcome is Outcome.NOT_RUN


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"case_digest": "1" * 64}, "case digest none and 111111111111"),
        ({"compile": CompileRecord(key="k", artifact="b" * 64)}, "artifact aaaaaaaaaaaa and bbbbbbbbbbbb"),
        ({"compile": CompileRecord(key="j", artifact="a" * 64)}, "compile key k and j"),
        ({"outcome": Outcome.FLAKY}, "passed and flaky"),
        (
            {"outcome": Outcome.XFAILED, "observation": Observation(stage="load", signature="no")},
            "passed and xfailed at load: no",
        ),
    ],
)
def test_whatever_differs_is_said(changed: dict[str, object], difference: str) -> None:
    common: dict[str, object] = {"compile": CompileRecord(key="k", artifact="a" * 64)}
    message = claim([session("s1", target(**common)), session("s2", target(**(common | changed)), day=1)])
    assert message.splitlines()[1] == f"  t: {difference}"


def target(**known: object) -> TargetRecord:
    return passed("t", **known)


def test_an_attempt_that_is_not_the_last_disagrees_with_nobody() -> None:
    check_agreement([session("s1", failed("t"), passed("t", attempt=2)), session("s2", passed("t"), day=1)])
