"""The history of targets: one file per run, read into columns; what many runs say of a target."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import fsspec
import pytest
from data_errors import error_of
from msgspec.structs import replace
from retarget.results.history import (
    HISTORY_SUFFIX,
    History,
    Regression,
    add_run,
    changes_between,
    pack,
    timelines,
    unpack,
)
from retarget.results.overview import Change, State
from retarget.results.record import CaseRecord, DeviceRecord, Outcome, TargetRecord, TimesRecord
from retarget.support.errors import RetargetError
from sample_results import compiled, failed, passed, session

PASSED, FAILED = State(Outcome.PASSED), State(Outcome.FAILED, "compare", "values differ")
FLAKY, SKIPPED = State(Outcome.FLAKY), State(Outcome.SKIPPED, "", "no device")


def history_of(*runs: dict[str, State | None], killed: tuple[int, ...] = ()) -> History:
    """One run per dict, a day apart."""
    packed = []
    for day, states in enumerate(runs):
        records = [
            passed(name, outcome=state.outcome, reason=state.signature)
            if not state.is_bad
            else failed(name, state.signature, state.stage)
            for name, state in states.items()
            if state is not None
        ]
        packed.append(pack([session(f"s{day}", *records, day=day, killed=day in killed)]))
    return unpack([(run.name, run.name, content) for run, content in packed])


def one(*states: State | None) -> History:
    return history_of(*({"t": state, "other": PASSED} for state in states))


# Files


@pytest.mark.parametrize("name", [*"abcdefgh"])
def test_a_run_of_which_a_leg_ran_again_comes_after_it(name: str) -> None:
    leg = session("first", passed("t1"))
    packed = [pack([leg, session(name, passed("t2"))]), pack([leg, session("again", failed("t2"), day=1)])]
    runs = unpack((run.name, run.name, content) for run, content in packed).runs
    assert [run.name for run in runs] == [run.name for run, _ in packed]


def test_a_session_that_went_on_after_it_was_added_counts_once() -> None:
    early = pack([session("a", passed("t1"), killed=True)])
    late = pack([session("a", passed("t1"), passed("t2"))])
    for order in (early, late), (late, early):
        found = unpack([(run.name, "", content) for run, content in order])
        assert [run.name for run in found.runs] == [late[0].name]


@pytest.mark.parametrize("others", [*"abcdefgh"])
@pytest.mark.parametrize("part", [0, 1])
def test_the_last_run_is_the_whole_one_where_a_part_of_it_was_added_before(
    tmp_path: Path, others: str, part: int
) -> None:
    legs = [session(f"{others}0", passed("t0")), session(f"{others}1", failed("t1"), day=0.01)]
    add_run([session("before", passed("t0"), day=-1)], str(tmp_path))
    add_run(legs[part : part + 1], str(tmp_path))
    whole, _ = add_run(legs, str(tmp_path))
    assert History.read(str(tmp_path), last=1).runs == (whole,)
    assert History.read(str(tmp_path), last=2).runs[1:] == (whole,)


def test_a_history_may_be_on_any_file_system_that_fsspec_knows() -> None:
    place = "memory://a-history"
    run, _ = add_run([session("a", passed("t"))], place)
    assert add_run([session("a", passed("t"))], place) == (run, False)
    assert History.read(place).runs == (run,)
    fsspec.filesystem("memory").pipe_file(f"a-history/0{HISTORY_SUFFIX}", b"")
    assert History.read(f"{place}/").damaged[0].startswith(f"{place}/0{HISTORY_SUFFIX}: found a damaged file")


def test_without_fsspec_a_url_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(RetargetError, match=r"^the history s3://b/h needs the package fsspec; install it with `pip "):
        History.read("s3://b/h")


def test_a_history_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    where = f"cannot write the history {tmp_path}/file"
    expected = f"{where}: Not a directory; give a folder that you may write with --to"
    assert error_of(add_run, [session("a", passed("t"))], f"{tmp_path}/file") == expected


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("", "found an empty text, expected the folder or URL of a history"),
        ("~no-such-user/h", "~no-such-user/h: found no history, expected files"),
        ("github://a/b", "cannot open the history github://a/b: "),
    ],
)
def test_a_place_that_is_none_is_named(place: str, message: str) -> None:
    assert error_of(History.read, place).startswith(message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:20], "found a damaged file, expected a run of `retarget history add`: Compressed file"),
        (lambda data: b"", "found a damaged file, expected a run of `retarget history add`: "),
        (
            lambda data: gzip.compress(bytes(1 << 24)) * 5,
            "found a damaged file, expected a run of `retarget history add`: its ",
        ),
        (lambda data: b"{}", "found a damaged file, expected a run of `retarget history add`: Not a gzipped file"),
        (lambda data: edited(data, version=2), "found a run of version 2, expected 1; read it with the retarget that"),
        (lambda data: edited(data, ids="t"), "found a damaged file, expected a run of `retarget history add`: Expect"),
        (lambda data: edited(data, ids=[]), "found a damaged file: its columns do not have one row per target"),
        (
            lambda data: edited(data, ids=["u", "t"], states=[0, 0], milliseconds=[1, 1]),
            "found a damaged file: its targets are not sorted, or not each there once",
        ),
        (lambda data: edited(data, version=2, more=1), "found a run of version 2, expected 1; read it with the ret"),
        (
            lambda data: edited(data, run={"started": 1e300, "ended": 0, "sessions": []}),
            "found a damaged file, expected a run of `retarget history add`: Expected `float` <= 253402300799.0",
        ),
        (
            lambda data: gzip.compress(b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
            "found a damaged file, expected a run of `retarget history add`: ",
        ),
        (lambda data: edited(data, states=[7]), "found a damaged file: it has no such state as a target's"),
        (lambda data: edited(data, states=[1]), "found a damaged file: it has no such state as a target's"),
        (lambda data: edited(data, states=[-1]), "found a damaged file: it has no such state as a target's"),
        (lambda data: edited(data, milliseconds=[-1]), "found a damaged file: a target's duration is impossible"),
        (lambda data: edited(data, milliseconds=[2**32]), "found a damaged file: a target's duration is impossible"),
        (lambda data: edited(data, metrics={"m": [[1, 2.0]]}), "found a damaged file: a metric is of no such target"),
        (lambda data: edited(data, metrics={"m": [[-1, 2.0]]}), "found a damaged file: a metric is of no such target"),
    ],
)
def test_a_damaged_file_is_named_and_the_others_are_read(tmp_path: Path, change: object, message: str) -> None:
    add_run([session("a", passed("t"))], str(tmp_path))
    (file,) = tmp_path.iterdir()
    whole, _ = add_run([session("b", passed("t"), day=1)], str(tmp_path))
    file.write_bytes(change(file.read_bytes()))  # type: ignore[operator]

    found = History.read(str(tmp_path))
    assert found.runs == (whole,)
    assert len(found.damaged) == 1
    assert found.damaged[0].startswith(f"{file}: {message}")


def edited(data: bytes, **changed: object) -> bytes:
    return gzip.compress(json.dumps(json.loads(gzip.decompress(data)) | changed).encode())


# States


# Durations


def test_a_duration_is_the_median_of_the_last_runs_in_which_the_target_ran() -> None:
    times = [100.0, 9.0, 3.0, 0.0, 1.0, 2.0, 8.0]
    packed = [
        pack([session(f"s{day}", passed("t", time), compiled("c", 0.0001), day=day)]) for day, time in enumerate(times)
    ]
    found = unpack([(run.name, "", content) for run, content in packed])
    assert found.durations() == {"c": 0.001, "t": 3.0}


# Timelines


def test_timelines_of_all_targets_are_those_of_each() -> None:
    found = history_of({"b": PASSED, "a": FAILED}, {"b": FAILED})
    assert [line.id for line in timelines(found)] == ["a", "b"]
    assert [*timelines(found)] == [found.timeline("a"), found.timeline("b")]
    assert found.timeline("c") is None
    assert [*timelines(History())] == []


def on(record: TargetRecord, device: str) -> TargetRecord:
    return replace(record, devices=(DeviceRecord(driver="d", uri="d://", name=device, physical_id="p"),))


def on_devices(*records: TargetRecord) -> History:
    packed = [pack([session(f"s{day}", one, day=day)]) for day, one in enumerate(records)]
    return unpack([(run.name, run.name, content) for run, content in packed])


def test_a_pass_on_another_device_mends_nothing() -> None:
    good, bad = passed("t"), failed("t")
    found = on_devices(on(bad, "A"), on(good, "B"), on(bad, "B"), on(good, "A"), on(good, "B"))
    changes = [changes_between(found, run, run + 1) for run in range(4)]
    assert changes == [{"t": Change.OTHER}, {"t": Change.BROKEN}, {"t": Change.OTHER}, {"t": Change.MENDED}]
    line = found.timeline("t")
    assert line is not None
    assert (line.regressions, line.since) == ((Regression(opened=0, closed=4),), 3)


def test_what_fails_on_two_devices_in_one_run_is_mended_on_both() -> None:
    both = [session(f"a{device}", on(failed("t"), device)) for device in "AB"]
    later = [[session(f"b{device}", on(passed("t"), device), day=day)] for day, device in enumerate("BA", 1)]
    packed = [pack(run) for run in (both, *later, [session("c", on(passed("t"), "A"), day=3)])]
    found = unpack([(run.name, run.name, content) for run, content in packed])
    changes = [changes_between(found, run, run + 1) for run in range(3)]
    assert changes == [{"t": Change.STOPPED}, {"t": Change.MENDED}, {}]
    assert [changes_between(found, 0, run) for run in (2, 3)] == [{"t": Change.MENDED}] * 2


def test_a_failure_is_mended_where_it_passes_although_another_device_fails_or_is_gone() -> None:
    good, bad = passed("t"), failed("t")
    a_bad, a_good, b_bad, b_good = on(bad, "A"), on(good, "A"), on(bad, "B"), on(good, "B")
    for runs, closed in (
        ([[a_bad, b_good], [a_good, b_bad], [b_good]], 2),  # A passed beside B's failure, and is not there any more
        ([[a_bad, b_bad], [a_good, b_bad], [a_good], [b_good]], 3),
        ([[a_bad, b_good], [a_bad, b_bad], [b_good], [b_good]], None),  # no run says that A is mended
        ([[replace(a_bad, outcome=Outcome.ERROR), b_good], [b_good]], None),
    ):
        sessions = [[session(f"{day}{at}", one, day=day) for at, one in enumerate(run)] for day, run in enumerate(runs)]
        packed = [pack(one) for one in sessions]
        found = unpack([(run.name, run.name, content) for run, content in packed])
        assert [line.regressions for line in timelines(found)] == [(Regression(opened=0, closed=closed),)]
        open_on = [word for line in timelines(found) for word in line.open_on]
        assert open_on == ([] if closed else ["d A; the declared toolchains"])


def test_a_failure_on_a_device_on_which_it_passed_is_new_although_another_one_failed_before() -> None:
    before, same, worse = ({"A": failed("t"), "B": one} for one in (passed("t"), passed("t"), failed("t")))
    packed = []
    for day, run in enumerate((before, same, worse)):
        packed.append(pack([session(f"{day}{name}", on(one, name), day=day) for name, one in run.items()]))
    found = unpack([(run.name, run.name, content) for run, content in packed])
    assert [changes_between(found, run, run + 1) for run in range(2)] == [{}, {"t": Change.BROKEN}]


def test_mended_is_what_a_run_closes_whatever_came_between() -> None:
    found = one(FAILED, SKIPPED, PASSED, FAILED, PASSED)
    changes = [changes_between(found, run, run + 1).get("t") for run in range(4)]
    assert changes == [Change.STOPPED, Change.MENDED, Change.BROKEN, Change.MENDED]
    assert changes_between(found, 2, 4) == {}


def test_what_says_no_device_mends_and_is_mended_on_any() -> None:
    good, bad = passed("t"), failed("t")
    for records in ([bad, on(good, "A")], [on(bad, "A"), good], [on(bad, "A"), on(good, "A")]):
        found = on_devices(*records)
        assert changes_between(found, 0, 1) == {"t": Change.MENDED}
        assert [line.is_open for line in timelines(found)] == [False]


def test_a_file_without_devices_is_read() -> None:
    run, content = pack([session("a", failed("t"))])
    file = json.loads(gzip.decompress(content))
    file["of"] = [state[:3] for state in file["of"]]
    assert unpack([(run.name, "", gzip.compress(json.dumps(file).encode()))]).at(0) == {"t": FAILED}


def test_a_killed_run_says_nothing_of_the_targets_it_lacks() -> None:
    found = history_of({"a": PASSED, "b": PASSED}, {"a": FAILED}, {"a": FAILED, "b": PASSED}, killed=(1,))
    assert changes_between(found, 0, 1) == {"a": Change.BROKEN}
    assert changes_between(found, 1, 2) == {}


def test_what_a_benchmark_measured_is_kept_for_each_run() -> None:
    times = TimesRecord(first=0.1, median=0.002, spread=0.01, calls=10, samples=(0.002,), device=(0.001,))
    cases = tuple(CaseRecord(name=name, outcome=Outcome.PASSED, times=times) for name in "ab")
    timed = session("s1", passed("t", cases=cases))
    plain = session("s2", passed("t"), day=1.0)
    files = [(run.name, "", content) for run, content in (pack([timed]), pack([plain]))]
    found = unpack(files)
    by_run = dict(zip((run.sessions for run in found.runs), found.metrics, strict=True))
    assert by_run == {
        ("s1",): {"latency": {"t": 0.004}, "device-time": {"t": 0.002}, "first-call": {"t": 0.2}},
        ("s2",): {},
    }


def test_what_another_machine_added_is_read_whatever_the_file_system_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    ended: list[str] = []
    monkeypatch.setattr(type(memory), "invalidate_cache", lambda *_: ended.append("kept names"))
    url = "memory://kept-names"
    add_run([session("a", passed("t"))], url)
    ended.clear()
    History.read(url)
    assert ended == ["kept names"]


def _in_cases(*failing: str, outcome: Outcome = Outcome.XFAILED) -> TargetRecord:
    cases = [CaseRecord(name=name, outcome=outcome if name in failing else Outcome.PASSED) for name in "fgh"]
    return failed("t", outcome=outcome, cases=tuple(cases))


@pytest.mark.parametrize("outcome", [Outcome.XFAILED, Outcome.FAILED])
def test_a_case_that_fails_newly_in_a_target_that_failed_is_no_silence(outcome: Outcome) -> None:
    of = [("f",), ("f",), ("f", "g"), ("g",)]
    packed = [pack([session(f"s{day}", _in_cases(*some, outcome=outcome), day=day)]) for day, some in enumerate(of)]
    history = unpack((run.name, run.name, content) for run, content in packed)
    found = [changes_between(history, number, number + 1) for number in range(3)]
    assert found == [{}, {"t": Change.BROKEN}, {"t": Change.OTHER}]
    line = history.timeline("t")
    assert line is not None
    assert [str(state) for state in line.states[1:3]] == [
        f"{outcome} at compare: values differ in f",
        f"{outcome} at compare: values differ in f, g",
    ]
    assert line.since == 3
