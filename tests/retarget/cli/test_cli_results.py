"""`retarget results`: merge, show, diff, export and update, with their texts and exit statuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from retarget.results.files import SessionResults
from retarget.results.merge import file_of
from retarget.results.record import CaseRecord, DeviceRecord, GoldenRecord, Outcome, Result, RunRecord, TargetRecord
from sample_results import compiled, failed, passed, session

Write = Callable[..., Path]
Run = Callable[..., tuple[int, str, str]]


pytestmark = pytest.mark.usefixtures("cwd")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the file of one session, whose start comes a day after the one before."""
    written: list[Path] = []

    def one(name: str, *records: TargetRecord, **known: object) -> Path:
        path = tmp_path / f"{name}.jsonl"
        found: SessionResults = session(name, *records, day=len(written), **known)  # type: ignore[arg-type]
        path.write_bytes(file_of([found]))
        written.append(path)
        return path

    return one


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "results")


CPU = {"compiler": "vmvx", "runtime": "local-sync", "tags": ("run", "cpu")}
GPU = {
    "compiler": "spirv",
    "runtime": "vulkan",
    "tags": ("run", "vulkan", "gpu"),
    "marks": (("runtime", (("name", "vulkan"),)),),
}


# merge


def test_merge_writes_one_file_and_says_what_it_holds(run: Run, write: Write) -> None:
    write("a", passed("t"))
    write("b", passed("u"), killed=True)
    assert run("merge", "a.jsonl", "b.jsonl", "-o", "all.jsonl") == (
        0,
        "all.jsonl: 2 sessions, 2 records, 1 incomplete\n",
        "",
    )
    assert run("merge", "a.jsonl", "-o", "all.jsonl")[1].endswith("2 records, 1 incomplete, nothing new\n")
    assert run("merge", "a.jsonl", "-o", "folder")[1] == "folder/merged.jsonl: 1 session, 1 record\n"


@pytest.mark.parametrize("content", ["", '{"type":"ses'])
@pytest.mark.parametrize("words", [["show"], ["merge", "-o", "all.jsonl"], ["export", "ctrf", "-o", "x"]])
def test_a_session_that_was_killed_before_its_first_line_is_named(
    run: Run, write: Write, tmp_path: Path, content: str, words: list[str]
) -> None:
    write("a", passed("t"))
    (tmp_path / "b.jsonl").write_text(content)
    expected = "b.jsonl: found no whole line, expected results; its session was killed at once: remove it\n"
    assert run(*words, "a.jsonl", "b.jsonl") == (1, "", expected)
    assert not (tmp_path / "all.jsonl").exists()


# show


def test_show_names_sessions_that_did_not_end_and_counts_what_did_not_run(
    run: Run, write: Write, tmp_path: Path
) -> None:
    lines = write("a", passed("t1"), passed("t2"), passed("t3"), leg="gpu").read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:9])
    status, out, _ = run("show", "a.jsonl")
    assert (status, out.splitlines()[0]) == (1, "1 target of 1 session: 1 passed, 2 without a result")
    assert out.splitlines()[-2:] == [
        "incomplete: session a of the leg gpu in a.jsonl: it was killed, or still runs; 2 of 3 targets have no result",
        "  run it again, then remove its file: pytest",
    ]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:-1]))
    incomplete = "incomplete: session a of the leg gpu in a.jsonl: it was killed, or still runs"
    assert run("show", "a.jsonl")[1].splitlines()[-2] == incomplete
    (tmp_path / "a.jsonl").write_bytes(b"".join([lines[0], *lines[2:]]))
    assert "in a.jsonl: lines of it are lost; 1 of 3 targets have no result" in run("show", "a.jsonl")[1]


def test_show_tells_that_a_session_failed_although_no_target_did(run: Run, write: Write) -> None:
    asked = {"arguments": ("s", "-m", "not gpu"), "cwd": "sub folder"}
    write("a", passed("t"), status=1, **asked)
    status, out, _ = run("show", ".")
    assert status == 1
    assert out.splitlines()[-2:] == [
        "failed: session a in a.jsonl: it ended with pytest's exit status 1, although no target failed",
        "  it counts until a later one ends well: pytest s -m 'not gpu' in 'sub folder'",
    ]
    write("b", passed("u"), **asked)
    assert run("show", ".")[0] == 1
    write("c", passed("t"), **asked)
    status, out, _ = run("show", ".")
    assert (status, "although" in out) == (0, False)
    write("d", status=5)
    assert run("show", ".")[0] == 1


def test_show_tells_that_more_failed_than_a_target_that_a_later_session_mends(run: Run, write: Write) -> None:
    write("a", failed("t"), passed("u"), status=1, other_failures=True)
    write("b", passed("t"))
    status, out, _ = run("show", ".")
    assert status == 1
    assert out.splitlines()[-2] == (
        "failed: session a in a.jsonl: it ended with pytest's exit status 1, not for its targets alone"
    )
    write("c", passed("u"))
    assert run("show", ".")[0] == 0


@pytest.mark.parametrize(
    ("digest", "card", "status"), [("d", "A", 1), ("e", "A", 0), ("d", "B", 0)], ids=["same", "rules", "device"]
)
def test_a_case_that_an_old_rule_excuses_newly_is_newly_broken(
    run: Run, write: Write, digest: str, card: str, status: int
) -> None:
    for name, failing, of, on in (("a", "f", "d", "A"), ("b", "fg", digest, card)):
        cases = [CaseRecord(name=one, outcome=Outcome.XFAILED if one in failing else Outcome.PASSED) for one in "fg"]
        devices = (DeviceRecord(driver="d", uri="d://", name=on, physical_id="p"),)
        write(name, failed("t", outcome=Outcome.XFAILED, cases=tuple(cases), case_digest=of, devices=devices))
    found, out, _ = run("diff", "a.jsonl", "b.jsonl")
    assert (found, "newly broken: 1\n  t [g]\n    passed → xfailed" in out) == (status, bool(status))


def test_a_pass_on_another_device_is_not_said_to_mend(run: Run, write: Write) -> None:
    one, other = (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p") for name in "AB")
    write("a", failed("t", devices=(one,)))
    write("b", passed("t", devices=(other,)))
    write("c", passed("t", devices=(one,)))
    said = ["changed otherwise: 1", "  t", "    failed at compare: values differ → passed: not on d A"]
    assert run("diff", "a.jsonl", "b.jsonl")[1].splitlines()[:3] == said
    assert run("diff", "a.jsonl", "c.jsonl")[1].splitlines()[0] == "newly mended: 1"
    write("d", passed("t", outcome=Outcome.SKIPPED, reason="no device"))
    said = "    failed at compare: values differ → skipped: no device"
    assert run("diff", "a.jsonl", "d.jsonl")[1].splitlines()[2] == said


def test_a_device_whose_session_is_missing_now_is_named(run: Run, write: Write) -> None:
    here, there = (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p") for name in "AB")
    for folder, on in {"two": (here, there), "one": (here,), "two again": (there, here), "other": (there,)}.items():
        Path(folder).mkdir()
        for number, device in enumerate(on):
            write(f"{folder}/{number}", passed("t", devices=(device,)), passed("u"))
    said = ["no longer run: 1", "  t", "    passed → passed: not on d B", "", "1 no longer run, 1 target unchanged"]
    assert run("diff", "two", "one") == (1, "".join(f"{line}\n" for line in said), "")
    for before, after in (("two", "two again"), ("one", "two"), ("one", "other")):
        assert run("diff", before, after) == (0, "2 targets unchanged\n", "")


@pytest.mark.parametrize("mended", [False, True], ids=["failed", "mended"])
def test_a_device_that_is_missing_is_named_of_a_target_that_failed_on_another(
    run: Run, write: Write, mended: bool
) -> None:
    here, there = (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p") for name in "AB")
    Path("two").mkdir()
    write("two/0", passed("t", devices=(here,)))
    write("two/1", failed("t", devices=(there,)))
    write("one", (passed if mended else failed)("t", devices=(there,)))
    said = "passed: not on d A" if mended else "failed at compare: values differ; not on d A"
    lines = ["no longer run: 1", "  t", f"    failed at compare: values differ → {said}", "", "1 no longer run"]
    assert run("diff", "two", "one.jsonl") == (1, "\n".join([*lines[:-1], f"{lines[-1]}, 0 targets unchanged\n"]), "")


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.XFAILED])
def test_a_case_that_is_worse_on_one_device_alone_is_named(run: Run, write: Write, outcome: Outcome) -> None:
    for folder, failing in {"a": {"A": "f", "B": "f"}, "b": {"A": "fg", "B": "f"}}.items():
        Path(folder).mkdir()
        for name, bad in failing.items():
            cases = [CaseRecord(name=one, outcome=outcome if one in bad else Outcome.PASSED) for one in "fg"]
            devices = (DeviceRecord(driver="d", uri="d://", name=name, physical_id="p"),)
            known = {"outcome": outcome, "case_digest": "d", "devices": devices}
            write(f"{folder}/{name}", failed("t", cases=tuple(cases), **known))
    status, out, _ = run("diff", "a", "b")
    assert (status, out.splitlines()[:2]) == (1, ["newly broken: 1", "  t [g]"])
    assert run("diff", "a", "a")[0] == 0
    skipped = (CaseRecord(name="f", outcome=outcome), CaseRecord(name="g", outcome=Outcome.NOT_RUN, excused=True))
    added = (DeviceRecord(driver="d", uri="d://", name="C", physical_id="p"),)
    write("a/C", failed("t", outcome=Outcome.XFAILED, cases=skipped, devices=added))
    Path("before").mkdir()
    for name in "AB":
        Path(f"before/{name}.jsonl").write_bytes(Path(f"a/{name}.jsonl").read_bytes())
    assert run("diff", "before", "a")[0] == 0


def test_a_pass_before_a_failure_is_not_beside_it(run: Run, write: Write) -> None:
    write("a", compiled("t"), host="h", cpu="c")
    write("b", failed("t", stage="compile", runtime=""), host="h", cpu="c")
    assert run("diff", ".", ".") == (0, "1 target unchanged\n", "")
    assert run("diff", "a.jsonl", ".")[1].splitlines()[0] == "newly broken: 1"


def test_what_by_chance_was_not_compiled_mends_no_run(run: Run, write: Write) -> None:
    device = (DeviceRecord(driver="d", uri="d://", name="A", physical_id="p"),)
    write("a", failed("t", devices=device))
    chance = {"outcome": Outcome.INTERMITTENT, "stage": "compile", "devices": device}
    write("b", passed("t", **chance))
    assert run("show", ".")[0] == 1
    assert run("diff", "a.jsonl", "b.jsonl")[1].splitlines()[0] == "changed otherwise: 1"
    write("b", passed("t", result=Result.PASSED, **chance | {"stage": "compare"}))
    assert run("show", ".")[0] == 0


def test_a_session_that_measures_nothing_does_not_mend_a_golden_rule(run: Run, write: Write) -> None:
    broken = GoldenRecord(rule="r", verdict="broken", text="")
    write("a", failed("t", "golden rule broken", goldens=(broken,)))
    write("b", passed("t"))
    status, out, _ = run("diff", "a.jsonl", "b.jsonl")
    assert (status, out.splitlines()[2]) == (
        1,
        "    failed at compare: golden rule broken → partial: its golden rule was not judged",
    )
    write("c", passed("t", goldens=(GoldenRecord(rule="r", verdict="not judged", text="too noisy"),)))
    assert run("diff", "a.jsonl", "c.jsonl") == (status, out, "")
    Path("c.jsonl").unlink()
    status, out, _ = run("show", ".")
    said = "1 failure of earlier sessions still counted, such as t: no later session has it as expected in a benchmark"
    assert (status, out.splitlines()[-1]) == (1, said)
    write("b", passed("t", goldens=(GoldenRecord(rule="r", verdict="kept", text=""),)))
    assert run("diff", "a.jsonl", "b.jsonl")[0] == 0


def test_a_session_without_the_device_does_not_mend_a_failure(run: Run, write: Write) -> None:
    write("gpu", failed("t"), failed("u"), failed("v"), failed("w"), passed("x"))
    gone = {"outcome": Outcome.SKIPPED, "reason": "no device"}
    write(
        "laptop",
        passed("t", unavailable=True, **gone),
        passed("u", unavailable=True, unsuitable=True, **gone),
        passed("v", excused=True, **gone),
        passed("w"),
        passed("x", unavailable=True, **gone),
    )
    status, out, _ = run("show", ".", "--outcome", "failed")
    assert (status, out.splitlines()[0]) == (1, "5 targets of 2 sessions: 1 passed, 1 failed, 3 skipped")
    kept = "1 failure of earlier sessions still counted, such as t: no later session has it as expected "
    kept += "in each case that failed, on that device, host and toolchain"
    assert out.splitlines()[-1] == kept
    assert out.splitlines()[-5] == "t: failed at compare: values differ"


def test_a_failure_by_chance_mends_no_other_failure(run: Run, write: Write) -> None:
    device = (DeviceRecord(driver="d", uri="d://", name="A", physical_id="p"),)
    chance = {"outcome": Outcome.INTERMITTENT, "result": Result.FAILED, "devices": device}
    write("a", failed("t", devices=device))
    write("b", failed("t", "", "timeout", **chance))
    assert run("show", ".")[0] == 1
    assert run("diff", ".", ".") == (0, "1 target unchanged\n", "")
    said = "    failed at compare: values differ → intermittent at timeout: by chance it failed in another way"
    assert run("diff", "a.jsonl", "b.jsonl")[1].splitlines()[2] == said
    write("c", failed("t", **chance))
    assert run("show", ".")[0] == 0
    assert run("diff", "b.jsonl", "c.jsonl") == (0, "1 target unchanged\n", "")


def test_what_nothing_shown_blocks_counts_as_a_failure(run: Run, write: Write) -> None:
    blocked = {"outcome": Outcome.BLOCKED, "blocked_by": "m", "tags": ("run",), "reason": "blocked by m"}
    write("none", passed("t"))
    write("bad", passed("t"), failed("m", stage="compile", runtime=""), passed("n", **blocked))
    assert run("show", "bad.jsonl")[0] == 1
    status, out, _ = run("show", "bad.jsonl", "-m", "run")
    assert (status, out.splitlines()[-2:]) == (1, ["    1  blocked by m", "       n"])
    assert run("diff", "none.jsonl", "bad.jsonl", "-m", "run")[0] == 1
    assert run("diff", "bad.jsonl", "bad.jsonl", "-m", "run")[0] == 0
    write("mended", compiled("m"))
    assert run("show", "bad.jsonl", "mended.jsonl")[0] == 1
    Path("both").mkdir()
    for name in ("bad", "mended"):
        Path(f"{name}.jsonl").rename(f"both/{name}.jsonl")
    status, out, _ = run("diff", "both/bad.jsonl", "both")
    assert (status, out.splitlines()[6]) == (1, "    blocked: blocked by m → blocked: blocked by m, which did not fail")
    assert run("diff", "both", "both")[0] == 0
    write("circle", passed("m", **blocked | {"blocked_by": "n"}), passed("n", **blocked))
    assert run("show", "circle.jsonl")[0] == 1
    write("skipped", passed("t"), compiled("m", outcome=Outcome.SKIPPED), passed("n", **blocked))
    assert run("show", "skipped.jsonl")[0] == 0
    assert run("diff", "none.jsonl", "skipped.jsonl")[0] == 0


def test_show_names_targets_whose_device_was_lost_and_came_back(run: Run, write: Write) -> None:
    ran = RunRecord(load_seconds=0.0, run_seconds=0.0, compare_seconds=0.0, notes=("GPU was lost; it came back",))
    write("a", replace(passed("t"), run=ran), passed("u"))
    status, out, _ = run("show", "a.jsonl")
    assert status == 0
    assert out.endswith("\n\ndevices that were lost or gone, and came back:\n  t: GPU was lost; it came back\n")


def test_an_expression_that_is_none_is_wrong_usage(run: Run, write: Write) -> None:
    write("a", passed("t"))
    status, _, err = run("show", "a.jsonl", "-m", "cpu and")
    assert (status, err) == (
        2,
        "retarget: -m 'cpu and': column 8: found the end of line, expected a word, 'not' or '('\n",
    )


# diff


def test_diff_says_which_cases_are_worse_of_a_target_that_failed_before(run: Run, write: Write) -> None:
    def case(name: str, outcome: Outcome, **known: Any) -> CaseRecord:
        seen = ("compare", "values differ") if outcome is Outcome.FAILED else ("", "")
        return CaseRecord(name=name, outcome=outcome, stage=seen[0], signature=seen[1], **known)

    bad, good, left = Outcome.FAILED, Outcome.PASSED, Outcome.NOT_RUN
    write("a", failed("t", cases=(case("x", bad), case("y", good), case("gone", good), case("skipped", good))))
    cases = (case("x", good), case("y", bad), case("skipped", left, excused=True), case("new", bad))
    write("b", failed("t", cases=cases))
    assert run("diff", "a.jsonl", "b.jsonl") == (
        1,
        """\
newly broken: 1
  t [y]
    passed → failed at compare: values differ

no longer run: 1
  t [skipped]
    passed → not run

gone: 1
  t [gone]
    passed

new: 1
  t [new]
    failed at compare: values differ

1 newly broken, 1 no longer run, 1 gone, 1 new, 0 targets unchanged
""",
        "",
    )
    write("c", failed("t", cases=(case("x", bad), case("y", good)), unselected_cases=("gone", "skipped")))
    assert run("diff", "a.jsonl", "c.jsonl") == (0, "1 target unchanged\n", "")
    write("d", failed("t", "crash", stage="load"))  # before its cases were known
    assert run("diff", "a.jsonl", "d.jsonl")[0] == 0


def test_diff_of_what_is_only_better_has_status_0(run: Run, write: Write) -> None:
    write("a", failed("m"))
    write("b", passed("m"), passed("n"))
    assert run("diff", "a.jsonl", "b.jsonl")[0] == 0
    assert run("diff", "a.jsonl", "a.jsonl") == (0, "1 target unchanged\n", "")


def test_diff_says_that_a_session_failed_although_no_target_did(run: Run, write: Write) -> None:
    write("a", passed("t"))
    file = write("b", passed("t"))
    file.write_text(file.read_text().replace('"status":0', '"status":2'))
    said = "b.jsonl: it ended with pytest's exit status 2, although no target failed\n"
    assert run("diff", "a.jsonl", "b.jsonl") == (1, "1 target unchanged\n", said)
    assert run("diff", "b.jsonl", "b.jsonl")[0] == 0
    assert run("diff", "b.jsonl", "a.jsonl")[0] == 0


@pytest.mark.parametrize(
    ("killed", "change", "states"), [(True, "no longer run", "passed → not run"), (False, "gone", "passed")]
)
def test_diff_calls_nothing_gone_that_a_killed_session_lacks(
    run: Run, write: Write, killed: bool, change: str, states: str
) -> None:
    write("a", passed("t"), passed("u"))
    write("b", passed("t"), killed=killed)
    status, out, _ = run("diff", "a.jsonl", "b.jsonl")
    assert (status, out) == (1, f"{change}: 1\n  u\n    {states}\n\n1 {change}, 1 target unchanged\n")


def test_an_expression_that_selects_nothing_is_an_error(run: Run, write: Write) -> None:
    write("a", passed("t", **CPU), failed("u", **GPU))
    for words in (["show", "a.jsonl"], ["diff", "a.jsonl", "a.jsonl"]):
        status, out, err = run(*words, "-m", "vulcan")
        assert (status, out) == (2, "")
        assert err.endswith("-m 'vulcan' selects none of 2 targets; did you mean 'vulkan'?\n")
        status, _, err = run(*words, "-m", "vulkan or vulcan or xyz")
        assert status == (1 if words[0] == "show" else 0)
        said = "no target has the tag 'vulcan'; did you mean 'vulkan'?"
        assert err == f"note: -m 'vulkan or vulcan or xyz': {said}\n"
    write("b")
    assert run("show", "b.jsonl", "-m", "vulcan")[0] == 0  # there is nothing to select
    said = "found no target in b.jsonl and b.jsonl, expected results to compare\n"
    assert run("diff", "b.jsonl", "b.jsonl") == (1, "", said)


def test_diff_as_json(run: Run, write: Write) -> None:
    write("a", passed("t", **CPU), passed("gpu", **GPU))
    write("b", failed("t", **CPU))
    status, out, _ = run("diff", "a.jsonl", "b.jsonl", "--format", "json", "-m", "cpu")
    found = json.loads(out)
    assert status == 1
    assert found["counts"]["newly broken"] == 1
    assert found["changes"] == [
        {
            "target": "t",
            "change": "newly broken",
            "before": {"outcome": "passed", "stage": "", "signature": ""},
            "after": {"outcome": "failed", "stage": "compare", "signature": "values differ"},
        }
    ]


# export


def test_export_refuses_sessions_that_disagree(run: Run, write: Write, tmp_path: Path) -> None:
    write("a", passed("t"))
    write("b", failed("t"))
    status, _, err = run("export", "ctrf", ".", "-o", "out.json")
    assert (status, err.splitlines()[1]) == (1, "  t: passed and failed at compare: values differ")
    assert not (tmp_path / "out.json").exists()


def test_a_file_that_cannot_be_written_is_named(run: Run, write: Write) -> None:
    write("a", passed("t"))
    assert run("export", "ctrf", "a.jsonl", "-o", "a.jsonl/x")[::2] == (
        1,
        "cannot write a.jsonl/x: Not a directory; nothing was written\n",
    )


def test_what_a_killed_session_lacks_is_not_new(run: Run, write: Write, tmp_path: Path) -> None:
    lines = write("a", passed("t"), passed("u")).read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:2]))
    write("b", passed("t"), failed("u"))
    status, out, _ = run("diff", "a.jsonl", "b.jsonl")
    assert (status, out.splitlines()[-1]) == (1, "1 newly broken, 1 target unchanged")
    assert "    not run → failed at compare: values differ" in out.splitlines()


@pytest.mark.parametrize("as_format", ["junit", "ctrf"])
def test_export_says_that_a_session_is_not_whole(run: Run, write: Write, as_format: str) -> None:
    write("a", passed("t"), killed=True)
    status, _, err = run("export", as_format, "a.jsonl", "-o", "out")
    assert (status, err) == (0, "a.jsonl: it was killed, or still runs\n")


# update


@pytest.mark.parametrize("left_over", [False, True])
def test_update_takes_the_last_result_of_each_target_and_exits_with_1_where_something_is_left(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, left_over: bool
) -> None:
    added = []

    class Update:
        def __init__(self) -> None:
            self.left_over = False

        def add(self, record: TargetRecord, _: str) -> None:
            added.append((record.session, record.nodeid, record.outcome))

        def write(self, _: object) -> list[tuple[str, str]]:
            self.left_over = left_over
            return [("what was written", "red")]

    monkeypatch.setattr("retarget.results.rule_update.RuleUpdate", Update)
    write("z", passed("u"), failed("t"), passed("t", attempt=2))
    write("a", failed("u"))
    assert run("update", "a.jsonl", "z.jsonl") == (int(left_over), "what was written\n", "")
    assert added == [("z", "t", Outcome.PASSED), ("z", "u", Outcome.PASSED), ("a", "u", Outcome.FAILED)]


def test_update_refuses_a_session_that_may_say_too_little(run: Run, write: Write) -> None:
    write("a", passed("t"), killed=True)
    assert run("update", "a.jsonl") == (
        1,
        "",
        "a.jsonl: found a session that did not end, which may say too little: run it again, or leave it out\n",
    )
