"""`retarget history`: runs are added, listed, and shown for one target."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from retarget.results.merge import file_of
from retarget.results.record import CompileRecord, DeviceRecord, Outcome
from sample_results import compiled, failed, passed, session

Run = Callable[..., tuple[int, str, str]]

T = "suites/a/suite.toml::a::m_c_r"


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "history")


@pytest.fixture
def history(cwd: Path, run: Run) -> list[str]:
    """The names of four runs, in the folder `history`."""
    results = [passed(T), failed(T), passed(T, outcome=Outcome.FLAKY), failed(T, "SIGFPE", "crash")]
    names = []
    for day, record in enumerate(results):
        one = session(f"s{day}", record, passed("other"), day=day, killed=day == 3, revision=f"{day}" * 40)
        (cwd / f"{day}.jsonl").write_bytes(file_of([one]))
        status, out, _ = run("add", f"{day}.jsonl", "--to", "history")
        assert status == 0
        names.append(out.split(": ")[1])
    return names


def test_add_refuses_legs_that_disagree(run: Run, history: list[str]) -> None:
    status, _, err = run("add", "0.jsonl", "1.jsonl", "--to", "history")
    assert (status, err.splitlines()[1]) == (1, f"  {T}: passed and failed at compare: values differ")


def test_a_history_that_cannot_be_written_is_named(run: Run, history: list[str]) -> None:
    Path("taken").touch()
    expected = "cannot write the history taken: Not a directory; give a folder that you may write with --to\n"
    assert run("add", "0.jsonl", "--to", "taken") == (1, "", expected)


def test_list_shows_what_each_run_broke_and_mended(run: Run, history: list[str]) -> None:
    first, second, third, last = history
    assert run("list", "--from", "history") == (
        0,
        f"""\
RUN{" " * 32}STARTED           GOOD  BAD  NO VERDICT  BROKEN  MENDED  REVISION      COMPLETE
{first}  2025-06-15 15:06  2     0    0           0       0       000000000000  yes
{second}  2025-06-16 15:06  1     1    0           1       0       111111111111  yes
{third}  2025-06-17 15:06  2     0    0           0       1       222222222222  yes
{last}  2025-06-18 15:06  1     1    0           1       0       333333333333  no

open regressions: 1
  {T}: failed at crash: SIGFPE, since {last}
""",
        "",
    )


def test_show_says_since_when_a_target_is_as_it_is(run: Run, history: list[str]) -> None:
    first, second, third, last = history
    expected = f"""\
{T}
  now      failed at crash: SIGFPE
  since    {last} (2025-06-18 15:06, 1 run)
  ran      in 4 of 4 runs
  flaky    in 1 of 4
  broken   {second}, closed {third}
  broken   {last}, open

RUN{" " * 32}SECONDS  STATE
{first}  1.000    passed
{second}  1.000    failed at compare: values differ
{third}  1.000    flaky
{last}  1.000    failed at crash: SIGFPE
"""
    assert run("show", T, "--from", "history") == (0, expected, "")
    assert run("show", "m_c_r", "--from", "history") == (0, expected, "")


def test_show_has_what_a_benchmark_measured_beside_the_runs_that_measured_it(
    run: Run, history: list[str], tmp_path: Path
) -> None:
    for day, dispatches in ((4, 3), (5, None)):  # only a benchmark counts dispatches
        measured = compiled("m_c")
        record = replace(measured, compile=CompileRecord(key="k", artifact="a", size=2048, dispatches=dispatches))
        (tmp_path / f"{day}.jsonl").write_bytes(file_of([session(f"s{day}", record, day=day)]))
        run("add", f"{day}.jsonl", "--to", "history")
    *_, heading, _, _, _, _, benchmark, last = run("show", "m_c", "--from", "history")[1].splitlines()
    assert heading.split()[1:] == ["SECONDS", "STATE", "ARTIFACT-SIZE", "DISPATCHES"]
    assert benchmark.split()[-4:] == ["passed", "2", "KiB", "3"]
    assert last.split()[-3:] == ["passed", "-", "-"]


def test_an_unknown_target_has_the_nearest_name(run: Run, history: list[str]) -> None:
    expected = "found no target 'm_c_s' in the 4 runs of history; did you mean 'm_c_r'?\n"
    assert run("show", "m_c_s", "--from", "history") == (1, "", expected)


def test_a_damaged_file_is_named_and_the_others_are_shown(run: Run, history: list[str]) -> None:
    Path(f"history/{history[0]}.history.json.gz").write_bytes(b"")
    for words in (["list"], ["show", "m_c_r"]):
        status, out, err = run(*words, "--from", "history")
        assert status == 1
        assert err.startswith(f"history/{history[0]}.history.json.gz: found a damaged file, expected a run of ")
        assert history[0] not in out
        assert history[1] in out


def test_last_must_be_a_number_of_runs(run: Run, history: list[str]) -> None:
    assert run("list", "--from", "history", "--last", "-1") == (
        2,
        "",
        "retarget: --last -1: expected a number of runs, 0 for all\n",
    )


def test_a_regression_is_open_that_only_another_device_passes(cwd: Path, run: Run) -> None:
    for day, (record, name) in enumerate(((failed(T), "A"), (passed(T), "B"))):
        device = DeviceRecord(driver="d", uri="d://", name=name, physical_id="p")
        (cwd / f"{day}.jsonl").write_bytes(file_of([session(f"s{day}", replace(record, devices=(device,)), day=day)]))
        run("add", f"{day}.jsonl", "--to", "history")
    out = run("list", "--from", "history")[1]
    assert (
        f"open regressions: 1\n  {T}: passed, which does not mend it on d A; the declared toolchains, since 20250615T"
        in out
    )
    assert (
        "  now      passed, which does not mend it on d A; the declared toolchains\n"
        in run("show", T, "--from", "history")[1]
    )
    Path("2.jsonl").write_bytes(file_of([session("s2", day=2, killed=True)]))
    run("add", "2.jsonl", "--to", "history")
    assert f"{T}: no result in the last run, since 20250615T" in run("list", "--from", "history")[1]
    assert "  now      no result in the last run\n  ran " in run("show", T, "--from", "history")[1]
