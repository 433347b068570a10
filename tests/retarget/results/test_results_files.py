"""Files of results and plans: what is written is read back, and what is damaged is refused with its place."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from data_errors import error_of
from msgspec.structs import replace
from retarget.cli import main
from retarget.model.outcomes import DeviceInfo
from retarget.results.files import Attribution, ResultsWriter, Sessions, SessionStart, json_schema, new_session
from retarget.results.plan import Leg, Plan, digest_of_ids
from retarget.results.record import CaseRecord, DeviceRecord, GoldenRecord, Outcome, Result, TargetRecord
from retarget.support.errors import RetargetError
from sample_results import compiled, failed, passed, session


def start(**known: object) -> SessionStart:
    return new_session(selected=2, digest=digest_of_ids(["a", "b"]), **known)


def record(session: SessionStart, nodeid: str = "s.toml::s::a", **known: object) -> TargetRecord:
    return TargetRecord(nodeid=nodeid, session=session.session, **known)  # type: ignore[arg-type]


def written(folder: Path, *, status: int | None = 0) -> Path:
    session = start(leg="build 0/x")
    with ResultsWriter(folder, session) as writer:
        writer.write(record(session, outcome=Outcome.FAILED, text="a\nb\0"))
        writer.write(record(session, attempt=2, outcome=Outcome.FLAKY))
        writer.write(Attribution(session=session.session, nodeid="s.toml::s::a", sentence="It.", section="It is."))
        if status is not None:
            writer.end(status)
    return writer.path


@pytest.mark.parametrize("order", [(Outcome.PASSED, Outcome.ERROR), (Outcome.ERROR, Outcome.PASSED)])
def test_the_error_of_an_attempt_is_its_result_whatever_comes_first(tmp_path: Path, order: tuple[Outcome, ...]) -> None:
    session = start()
    with ResultsWriter(tmp_path, session) as writer:
        for outcome in order:
            writer.write(record(session, outcome=outcome))
        writer.end(1)
    sessions = Sessions.read([tmp_path])
    for results in (Sessions(sessions).results, sessions[0].latest):
        assert results["s.toml::s::a"].outcome is Outcome.ERROR


@pytest.mark.parametrize("lost", range(1, 300, 7))
def test_a_file_that_was_cut_anywhere_is_incomplete(tmp_path: Path, lost: int) -> None:
    path = written(tmp_path)
    os.truncate(path, path.stat().st_size - lost)
    (session,) = Sessions.read([path])
    assert not session.is_complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [lines[0], "{", *lines[1:]], ":2: found a damaged line, expected a record of results: "),
        (lambda lines: [lines[0], '{"type":"target","color":1}'], ":2: found a damaged line, expected a record of "),
        (lambda lines: [lines[0].replace('"version":1', '"version":2')], ":1: found results of version 2, exp"),
        (lambda lines: [lines[0].replace('"version":1', '"version":2,"new":1')], ":1: found results of version 2, exp"),
        (lambda lines: lines[1:], ": found records of the session "),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(
    tmp_path: Path, change: Callable[[list[str]], list[str]], message: str
) -> None:
    path = written(tmp_path)
    path.write_text("\n".join([*change(path.read_text().splitlines()), ""]))
    assert error_of(Sessions.read, [path]).startswith(f"{path}{message}")


def test_each_line_is_what_the_schema_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--for", "results"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema == json.loads(json.dumps(json_schema()))
    assert [one["description"] for one in schema["$defs"].values() if "\n    " in one["description"]] == []
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    lines = [json.loads(line) for line in written(tmp_path).read_text().splitlines()]
    for line in lines:
        validator.validate(line)
        for wrong in (line | {"color": 1}, line | {"session": 1}, line | {"type": "other"}):
            assert not validator.is_valid(wrong)
    assert not validator.is_valid(lines[1] | {"outcome": "well"})


def test_a_disk_that_takes_a_part_of_a_line_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        def __init__(self, file: object) -> None:
            self.file = file

        def write(self, data: bytes) -> int:
            return self.file.write(data[:7])  # type: ignore[attr-defined, no-any-return]

        def close(self) -> None:
            self.file.close()  # type: ignore[attr-defined]

    monkeypatch.setattr(Path, "open", lambda *words, open=Path.open, **named: Slow(open(*words, **named)))  # noqa: A006
    path = written(tmp_path)
    monkeypatch.undo()
    assert Sessions.read([path])[0].is_complete


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    ids = ("s.toml::s::a", "s.toml::s::b")
    leg = Leg(name="build-0", kind="build", runner="linux", ids=ids, digest=digest_of_ids(reversed(ids)))
    plan = Plan(event="pr", paths=("suites",), legs=(leg,))
    (tmp_path / "plan.json").write_bytes(plan.text)
    found = Plan.read(tmp_path / "plan.json")
    assert found == plan
    assert found.digest == plan.digest
    assert found.leg("build-0") == leg
    assert found.leg("run-0") is None


DEEP_LINE = '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (DEEP_LINE, "maximum recursion depth exceeded"),
        ('{"type": "end", "session": "s", "ended": 1e300, "status": 0, "records": 0}', "at `$.ended`"),
        ('{"type": "target", "started": -1.0}', "at `$.started`"),
        (
            '{"type": "target", "cases": [{"name": "c", "outcome": "passed", "seconds": 1e300}]}',
            "at `$.cases[0].seconds`",
        ),
    ],
    ids=["deep", "no date", "before 1970", "longer than a run can be"],
)
def test_a_line_that_nothing_could_show_is_damaged(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(RetargetError) as caught:
        Sessions.read([path])
    message = str(caught.value)
    assert message.startswith(f"{path}:1: found a damaged line, expected a record of results: ")
    assert why in message


DEEP = '{"version": 2, "x": ' + "[" * 100_000


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": "1"}', '{"version": 2, "event": "pr"}', "\xff", DEEP])
def test_another_file_is_no_plan(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(RetargetError) as caught:
        Plan.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: expected a plan, found other content: ")
    assert message.endswith("; write it again with `retarget ci plan`")


def test_a_plan_that_is_no_regular_file_is_an_error_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "plan.json")
    with pytest.raises(RetargetError, match=r"cannot read the plan .*: found a named pipe; write it again"):
        Plan.read(tmp_path / "plan.json")


@pytest.mark.parametrize("text", ["", "{", '{"type": "start"'])
def test_a_file_without_a_whole_line_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(RetargetError, match="found no whole line, expected results; its session was killed at once"):
        Sessions.read([tmp_path / "r.jsonl"])


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RetargetError, match=r"^cannot write results to .*file/.*: (Not a directory|File exists)$"):
        ResultsWriter(tmp_path / "file", new_session(selected=0, digest=""))

    def refuse(*_: object, **_named: object) -> None:
        msg = "no words of the system"
        raise OSError(msg)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(RetargetError, match=r": no words of the system$"):
        ResultsWriter(tmp_path, new_session(selected=0, digest=""))


@pytest.mark.parametrize(
    ("known", "result"),
    [
        ({"unavailable": True}, Outcome.FAILED),
        ({}, Outcome.FAILED),
        ({"excused": True}, Outcome.SKIPPED),
        ({"unavailable": True, "unsuitable": True}, Outcome.SKIPPED),
        ({"outcome": Outcome.BLOCKED, "blocked_by": "c"}, Outcome.FAILED),
    ],
)
def test_a_skip_mends_a_failure_only_where_it_is_declared(
    tmp_path: Path, known: dict[str, Any], result: Outcome
) -> None:
    results: list[dict[str, Any]] = [{"outcome": Outcome.FAILED}, {"outcome": Outcome.SKIPPED, **known}]
    for number, fields in enumerate(results):
        began = replace(start(), started=1e9 + number)
        with ResultsWriter(tmp_path, began) as writer:
            writer.write(record(began, **fields))
            writer.end(0)
    (found,) = Sessions.read([tmp_path]).results.values()
    assert found.outcome is result


_A, _B = (DeviceRecord(driver="vulkan", uri="vulkan://0", name=name, physical_id=name) for name in ("A", "B"))
_NEWER = replace(_A, driver_version="2")


@pytest.mark.parametrize(
    ("seen", "result"),
    [
        ([(_A, Outcome.FAILED), (_B, Outcome.PASSED)], "0"),
        ([(_A, Outcome.FAILED), (_B, Outcome.FAILED), (_B, Outcome.PASSED)], "0"),
        ([(_A, Outcome.FAILED), (_B, Outcome.PASSED), (_A, Outcome.FAILED)], "2"),
        ([(_A, Outcome.FAILED), (_B, Outcome.PASSED), (_NEWER, Outcome.PASSED)], "2"),
        ([(_A, Outcome.PASSED), (_B, Outcome.FAILED)], "1"),
        ([(_A, Outcome.PASSED), (_B, Outcome.PASSED)], "1"),
        ([(_A, Outcome.FAILED), (None, Outcome.FAILED), (_B, Outcome.PASSED)], "0"),
        ([(None, Outcome.FAILED), (_B, Outcome.PASSED)], "1"),
        ([(_A, Outcome.FAILED), (None, Outcome.XFAILED)], "1"),
    ],
)
def test_a_failure_on_a_device_stands_until_the_target_is_as_expected_there(
    seen: list[tuple[DeviceRecord | None, Outcome]], result: str
) -> None:
    records = [passed("t", outcome=outcome, devices=(device,) if device else ()) for device, outcome in seen]
    sessions = [session(str(number), record, day=number) for number, record in enumerate(records)]
    assert Sessions(sessions).results["t"].session == result


@pytest.mark.parametrize(
    ("others", "machine", "device", "stands"),
    [
        ((), {"cpu": "other"}, _B, True),  # nothing tells where it was
        ((), {"cpu": "this", "host": "another-runner"}, _B, False),
        ((_A,), {"cpu": "this"}, _B, True),
        ((_A,), {"cpu": "other"}, _A, False),  # where the others of its runtime config ran
        ((_A, _B), {"cpu": "other"}, _B, True),
    ],
)
def test_a_failure_without_devices_is_not_mended_just_anywhere(
    others: Sequence[DeviceRecord], machine: dict[str, Any], device: DeviceRecord, stands: bool
) -> None:
    beside = [passed(f"u{number}", devices=(one,)) for number, one in enumerate(others)]
    before = session("0", passed("t", outcome=Outcome.ERROR), *beside, cpu="this", host="here")
    after = session("1", passed("t", devices=(device,)), day=1, **machine)
    assert Sessions([before, after]).results["t"].session == ("0" if stands else "1")


@pytest.mark.parametrize("kind", ["compile", "run"])
@pytest.mark.parametrize(
    ("was", "now", "stands"),
    [
        ({"cpu": "x86"}, {"cpu": "arm"}, True),
        ({"cpu": "x86", "host": "a"}, {"cpu": "x86", "host": "b"}, False),
        ({"host": "a"}, {"cpu": "x86", "host": "a"}, False),  # older results know no kinds of hosts
        ({"host": "a"}, {"cpu": "x86", "host": "b"}, True),
    ],
)
def test_a_failure_to_compile_stands_until_it_compiles_on_that_kind_of_host(
    kind: str, was: dict[str, Any], now: dict[str, Any], stands: bool
) -> None:
    known = {"runtime": ""} if kind == "compile" else {"devices": (_A,)}
    before = session("0", failed("t", stage="compile", **known), **was)
    after = session("1", compiled("t") if kind == "compile" else passed("t", **known), day=1, **now)
    assert Sessions([before, after]).results["t"].session == ("0" if stands else "1")


@pytest.mark.parametrize("kind", ["compile", "run"])
@pytest.mark.parametrize(
    ("was", "now", "stands"), [((), ("t=/x",), True), (("t=/x",), (), True), (("t=/x",), ("t=/x",), False)]
)
def test_a_failure_with_a_toolchain_stands_until_it_is_as_expected_with_that(
    kind: str, was: tuple[str, ...], now: tuple[str, ...], stands: bool
) -> None:
    known = {"runtime": ""} if kind == "compile" else {"devices": (_A,)}
    before, after = failed("t", **known, toolchains=was), passed("t", **known, toolchains=now)
    assert Sessions([session("0", before), session("1", after, day=1)]).results["t"].session == ("0" if stands else "1")


def test_a_failure_on_several_devices_at_once_is_not_mended_on_others() -> None:
    before, after = failed("t", devices=(_A, _A)), passed("t", devices=(_A, _B))
    assert Sessions([session("0", before), session("1", after, day=1)]).results["t"].session == "0"


def test_another_failure_in_a_benchmark_is_no_judgement_of_a_broken_golden_rule() -> None:
    broken = failed("t", devices=(_A,), goldens=(GoldenRecord(rule="r", verdict="broken", text=""),))
    kept = passed("u", goldens=(GoldenRecord(rule="r", verdict="kept", text=""),))
    later = [session("1", failed("t", devices=(_A,)), kept, day=1), session("2", passed("t", devices=(_A,)), day=2)]
    assert Sessions([session("0", broken), *later]).results["t"].session == "0"


@pytest.mark.parametrize(
    ("last", "excused", "by"), [("not run", False, "0"), ("not run", True, "2"), ("passed", None, "2")]
)
def test_a_failure_of_a_case_stands_where_another_one_keeps_it_from_running(
    last: str, excused: bool | None, by: str
) -> None:
    def cases(first: str, second: str, excused: bool | None = None) -> tuple[CaseRecord, ...]:
        return (
            CaseRecord(name="f", outcome=Outcome(first)),
            CaseRecord(name="g", outcome=Outcome(second), excused=excused),
        )

    sessions = [
        session("0", failed("t", cases=cases("passed", "failed"))),
        session("1", failed("t", cases=cases("failed", "not run", excused=False)), day=1),
        session(
            "2",
            passed("t", outcome=Outcome.XFAILED, result=Result.FAILED, cases=cases("xfailed", last, excused)),
            day=2,
        ),
    ]
    assert Sessions([sessions[0], sessions[2]]).results["t"].session == by
    assert Sessions(sessions).results["t"].session == ("1" if by == "0" else by)


@pytest.mark.parametrize(("now", "stands"), [("x86", False), ("arm", True)])
def test_a_failure_on_the_cores_of_one_kind_of_cpu_stands_until_it_passes_on_that_kind(now: str, stands: bool) -> None:
    info = DeviceInfo(driver="local-sync", uri="local-sync://", ordinal=0, name="host CPU", physical_id="cpu")
    first, second, older = (DeviceRecord.of(dataclasses.replace(info, host=host)) for host in ("x86", now, ""))
    after = session("1", passed("t", devices=(second,)), day=1)
    assert Sessions([session("0", failed("t", devices=(first,))), after]).results["t"].session == (
        "0" if stands else "1"
    )
    assert Sessions([session("0", failed("t", devices=(older,))), after]).results["t"].session == "1"
    card = DeviceRecord.of(dataclasses.replace(info, physical_id="gpu-1", host="x86"))
    assert not card.host


@pytest.mark.parametrize("make", [passed, compiled])
def test_a_broken_golden_rule_is_mended_by_a_benchmark_alone(make: Callable[..., TargetRecord]) -> None:
    broken, kept = (GoldenRecord(rule="r", verdict=verdict, text="") for verdict in ("broken", "kept"))
    devices = {"devices": (_A,)} if make is passed else {}
    before = session("0", make("t", outcome=Outcome.FAILED, goldens=(broken,), **devices))
    plain = session("1", make("t", **devices), day=1)
    assert Sessions([before, plain]).results["t"].session == "0"
    measured = session("2", make("t", goldens=(kept,), **devices), day=2)
    assert Sessions([before, plain, measured]).results["t"].session == "2"
    other = session("2", make("t", **devices), make("u", goldens=(kept,)), day=2)  # the rule is gone
    assert Sessions([before, plain, other]).results["t"].session == "2"


@pytest.mark.parametrize(("rule", "case", "by"), [("r", "", "0"), ("r", "c", "0"), ("r", "d", "1"), ("other", "", "1")])
def test_a_golden_rule_that_a_benchmark_does_not_judge_stays_broken(rule: str, case: str, by: str) -> None:
    broken = GoldenRecord(rule="r", verdict="broken", text="", case="c")
    unjudged = GoldenRecord(rule=rule, verdict="not judged", text="", case=case)
    before = session("0", passed("t", outcome=Outcome.FAILED, goldens=(broken,)))
    assert Sessions([before, session("1", passed("t", goldens=(unjudged,)), day=1)]).results["t"].session == by


@pytest.mark.parametrize(("device", "result"), [(_A, Outcome.SKIPPED), (_B, Outcome.FAILED)])
def test_a_device_that_lacks_what_is_required_mends_no_failure_on_another(
    device: DeviceRecord, result: Outcome
) -> None:
    skipped = passed("t", outcome=Outcome.SKIPPED, unavailable=True, unsuitable=True, devices=(device,))
    sessions = [session("a", failed("t", devices=(_A,))), session("b", skipped, day=1)]
    assert Sessions(sessions).results["t"].outcome is result


@pytest.mark.parametrize(
    ("before", "later", "stands"),
    [
        ("", "", False),
        ("", "s", True),
        ("s", "", False),
        ("s t -k a", "", False),
        ("s -x", "s -n 2 -vv --tb short", False),
        ("s --maxfail=1", "s -nauto --color yes", False),
        ("s", "t", True),
        ("s t", "s", True),  # t was not collected
        ("", "2", True),  # a folder
        ("2", "2", False),
        ("s", "s -k a", True),
        ("s -k a --deselect s::b", "s", False),
        ("-k a", "-k 2", True),
        ("-m run", "-m compile", True),
        ("-m run -k a", "-m a -k run", True),
        ("-o a=b", "-o a=c", True),
        ("-p x s", "-p x s", False),
        ("-p x s", "s", True),
        ("--retarget-require vulkan", "", True),
        ("--run-slow s", "s", True),
    ],
)
def test_what_else_failed_counts_until_a_session_that_runs_as_much_ends_well(
    before: str, later: str, stands: bool
) -> None:
    failed = session("a", passed("t"), status=2, arguments=tuple(before.split()))
    known: dict[str, Any] = {"day": 1, "arguments": tuple(later.split())}
    assert (failed in Sessions([failed, session("b", passed("t"), **known)]).faulty) is stands
    fails_too = session("b", passed("t"), **known, status=1)
    assert failed in Sessions([failed, fails_too]).faulty


@pytest.mark.parametrize(
    ("before", "later", "stands"), [("", "a", True), ("a", "", False), ("a", "a", False), ("a", "b", True)]
)
def test_a_session_in_a_folder_of_the_project_runs_what_is_there(before: str, later: str, stands: bool) -> None:
    failed = session("a", passed("t"), status=2, cwd=before)
    assert (failed in Sessions([failed, session("b", passed("t"), day=1, cwd=later)]).faulty) is stands
