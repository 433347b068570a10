"""`retarget bench compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from retarget.cli import main
from retarget.results import CaseRecord, Outcome, ResultsWriter, TargetRecord, new_session
from retarget.results.record import CompileRecord, TimesRecord

pytestmark = pytest.mark.usefixtures("cwd")


def write(
    place: str, *, scale: dict[str, float], size: int = 100, timed: bool = True, host: str = "h", cpu: str = ""
) -> None:
    """Write results of a session in which each target's calls take `scale` ms."""
    start = new_session(selected=1, digest="", host=host, cpu=cpu)
    with ResultsWriter(Path(place), start) as writer:
        for name, factor in scale.items():
            samples = tuple(factor * (0.001 + 1e-6 * (number % 7)) for number in range(40))
            times = TimesRecord(first=0.01, median=factor * 0.001, spread=0.001, calls=40, samples=samples)
            case = CaseRecord(name="f", outcome=Outcome.PASSED, times=times if timed else None)
            writer.write(
                TargetRecord(
                    nodeid=f"s.toml::s::{name}",
                    target=name,
                    runtime="r",
                    outcome=Outcome.PASSED,
                    cases=(case,),
                    tags=("run", name),
                    session=start.session,
                )
            )
        compiled = CompileRecord(key="k", artifact="a", size=size, dispatches=2 if timed else None)
        record = TargetRecord(nodeid="s.toml::s::c", outcome=Outcome.PASSED, compile=compiled, session=start.session)
        writer.write(record)
        writer.end(0)


def compare(*arguments: str) -> int:
    return main(["bench", "compare", "before", "after", *arguments])


def test_changes_are_listed_by_significance(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0, "slow": 1.0, "fast": 1.0, "old": 1.0})
    write("after", scale={"same": 1.01, "slow": 1.2, "fast": 0.5, "new": 1.0}, size=120)
    assert compare() == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip().split("  ")[:2] for line in lines[:6:2]] == [
        ["+20.0 %", "artifact-size"],
        ["-50.0 %", "latency"],
        ["+20.0 %", "latency"],
    ]
    assert lines[0] == "  +20.0 %  artifact-size  100 B → 120 B  (larger)"
    assert lines[1] == "           s.toml::s::c"
    assert lines[5] == "           s.toml::s::slow case 'f'"
    assert lines[-1] == "bound 5 %, rank test of Mann and Whitney at the level 0.001"
    assert lines[-2] == "latency and device-time: medians of samples, each the shortest of some consecutive calls"
    assert lines[-4] == "not measured any more: s.toml::s::old case 'f'"
    assert lines[-3] == ("8 measurements: 2 larger, 1 smaller, 3 too few to judge, 2 unchanged, 4 in one of them only")


def test_json_has_all_measurements(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0})
    write("after", scale={"same": 1.0})
    assert compare("--format", "json", "--metric", "latency") == 0
    found = json.loads(capsys.readouterr().out)
    [row] = found["measurements"]
    assert (found["within"], found["level"], found["only_in_one"]) == (0.05, 0.001, 0)
    assert row == {
        "target": "s.toml::s::same",
        "metric": "latency",
        "case": "f",
        "finding": "same",
        "before": pytest.approx(0.001003),
        "after": pytest.approx(0.001003),
        "change": 0.0,
        "p": pytest.approx(0.5, abs=0.01),
        "noise": pytest.approx(0.0015, rel=0.1),
        "machine": None,
        "machines": None,
    }


def test_measurements_of_another_machine_are_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0})
    write("after", scale={"same": 1.0}, host="faster")
    assert compare() == 0
    said = "another machine: 2 measurements on h → faster: may differ for that"
    assert [line for line in capsys.readouterr().out.splitlines() if "machine" in line] == [said]
    assert compare("--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)["measurements"]
    assert {row["metric"]: row["machines"] for row in rows} == {
        "latency": ["h", "faster"],
        "first-call": ["h", "faster"],
        "artifact-size": None,
        "dispatches": None,
    }


def test_another_cpu_of_one_name_is_another_machine_also_for_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0}, cpu="A")
    write("after", scale={"same": 1.0}, cpu="B")
    assert compare() == 0
    said = "another machine: 4 measurements on h, the CPU A → h, the CPU B: may differ for that"
    assert [line for line in capsys.readouterr().out.splitlines() if "machine" in line] == [said]
    write("before", scale={"same": 1.0}, host="other", cpu="B", size=90)
    assert compare("--metric", "artifact-size") == 1
    assert "90 B → 100 B  (larger)" in capsys.readouterr().out


def test_a_misspelt_word_of_an_expression_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0, "other": 1.0})
    write("after", scale={"same": 1.0, "other": 2.0})
    assert compare("-m", "same or othr") == 0
    said = "note: -m 'same or othr': no target has the tag 'othr'; did you mean 'other'?\n"
    assert capsys.readouterr().err == said
    assert main(["results", "show", "before", "-m", "same or othr or vulkan"]) == 0
    assert capsys.readouterr().err == said.replace("othr'", "othr or vulkan'", 1)


def test_a_machine_that_both_have_is_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for host, factor in (("h", 1.0), ("slow", 90.0)):
        write("before", scale={"same": factor}, host=host)
        write("after", scale={"same": factor * 1.2}, host=host)
    assert compare("--metric", "latency") == 1
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[1:5:2]] == [
        "s.toml::s::same case 'f' on h",
        "s.toml::s::same case 'f' on slow",
    ]
    write("before", scale={"same": 1.2}, host="left out")
    assert compare("--metric", "latency", "--within", "30 %") == 0
    assert "A alone has 1 measurement on left out" in capsys.readouterr().out


def test_a_target_that_fails_on_one_of_two_hosts_has_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    for host in ("h", "other"):
        write("before", scale={"same": 1.0}, host=host)
    start = new_session(selected=1, digest="", host="other")
    with ResultsWriter(Path("after"), start) as writer:
        nodeid, session = "s.toml::s::same", start.session
        writer.write(TargetRecord(nodeid=nodeid, runtime="r", outcome=Outcome.FAILED, session=session))
        writer.end(1)
    write("after", scale={"same": 1.0})
    assert compare("--metric", "latency") == 1
    assert "not measured any more: s.toml::s::same case 'f'\n" in capsys.readouterr().out
    write("after", scale={"same": 1.0}, host="other")
    assert compare("--metric", "latency") == 0


def test_a_run_that_was_measured_before_alone_has_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"same": 1.0, "old": 1.0})
    write("after", scale={"same": 1.0, "new": 1.0})
    assert compare("--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["lost"] == ["s.toml::s::old case 'f'"]
    assert compare("-m", "same") == 0


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED])
def test_what_fails_in_the_last_session_is_not_measured_any_more(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    write("before", scale={"same": 1.0, "old": 1.0})
    write("after", scale={"same": 1.0, "old": 1.0})
    start = new_session(selected=1, digest="")
    with ResultsWriter(Path("after"), start) as writer:
        writer.write(TargetRecord(nodeid="s.toml::s::old", runtime="r", outcome=outcome, session=start.session))
        writer.end(1)
    assert compare("--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["lost"] == ["s.toml::s::old case 'f'"]


def test_what_compiles_no_more_is_not_measured_any_more(capsys: pytest.CaptureFixture[str]) -> None:
    for place, outcome in (("before", Outcome.PASSED), ("after", Outcome.PASSED), ("after", Outcome.FAILED)):
        write(place, scale={"same": 1.0})
        start = new_session(selected=1, digest="")
        with ResultsWriter(Path(place), start) as writer:
            for name, how in (("c", outcome), ("d", Outcome.PASSED)):
                compiled = CompileRecord(key="k", artifact="a", size=100, seconds=1.0, dispatches=2)
                nodeid = f"s.toml::s::{name}"
                writer.write(TargetRecord(nodeid=nodeid, outcome=how, compile=compiled, session=start.session))
            writer.end(1)
    for words in ((), ("--metric", "compile-time")):
        assert compare("--format", "json", *words) == 1
        assert json.loads(capsys.readouterr().out)["lost"] == ["s.toml::s::c"]


def test_a_compile_target_that_only_the_first_results_have_is_not_measured_any_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("before", scale={"same": 1.0})
    write("after", scale={"same": 1.0})
    start = new_session(selected=1, digest="")
    with ResultsWriter(Path("before"), start) as writer:
        for name, fields in (("gone", {"dispatches": 2}), ("c", {"seconds": 1.0})):  # c comes from the cache later
            compiled = CompileRecord(key="k", artifact="a", size=100, **fields)
            nodeid = f"s.toml::s::{name}"
            writer.write(TargetRecord(nodeid=nodeid, outcome=Outcome.PASSED, compile=compiled, session=start.session))
        writer.end(0)
    assert compare("--format", "json") == 1
    assert json.loads(capsys.readouterr().out)["lost"] == ["s.toml::s::gone"]


def test_a_selection_and_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"a": 1.0, "b": 1.0})
    write("after", scale={"a": 1.2, "b": 1.2})
    assert compare("-m", "a", "--within", "30 %", "--metric", "latency", "--all") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["           s.toml::s::a case 'f'", "1 measurement: 1 unchanged"]


def test_a_misspelt_word_of_a_selection_is_noted_and_one_that_selects_nothing_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("before", scale={"alpha": 1.0, "b": 1.0})
    write("after", scale={"alpha": 1.0, "b": 1.2})
    assert compare("-m", "b or aplha") == 1
    hint = "did you mean 'alpha'?"
    assert capsys.readouterr().err == f"note: -m 'b or aplha': no target has the tag 'aplha'; {hint}\n"
    assert compare("-m", "aplha") == 2
    assert capsys.readouterr().err.endswith(f"-m 'aplha' selects none of 3 targets; {hint}\n")


def test_an_action_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench"])
    assert capsys.readouterr().err.endswith("the following arguments are required: action\n")


def test_all_sessions_before_count(capsys: pytest.CaptureFixture[str]) -> None:
    for place in ("before", "before", "before", "after"):
        write(place, scale={"a": 1.0})
    assert compare("--metric", "first-call", "--all") == 0
    assert capsys.readouterr().out.startswith("   +0.0 %  first-call  10 ms → 10 ms  (unchanged)\n")


def test_noise_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for place, scale in (("before", 1.0), ("before", 17.0), ("after", 9.0)):
        write(place, scale={"a": scale})
    assert compare("--metric", "latency") == 0
    said = "   +0.0 %  latency  9.027 ms → 9.027 ms  (too noisy to judge, noise 89 %, p = "
    assert capsys.readouterr().out.startswith(said)


def test_what_was_nothing_has_no_share(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"a": 0.0})
    write("after", scale={"a": 1.0})
    assert compare("--metric", "latency", "--all") == 0
    assert capsys.readouterr().out.startswith("   from 0  latency  0 ns → 1.003 ms  (unchanged, noise 0.16 %, p = ")
    assert compare("--metric", "latency", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["measurements"][0]["change"] is None


def test_help_says_what_each_exit_status_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    statuses = capsys.readouterr().out.partition("exit status:\n")[2].splitlines()
    assert [line.split()[0] for line in statuses] == ["0", "1", "2"]


def test_results_without_a_benchmark_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"a": 1.0}, timed=False)
    write("after", scale={"a": 1.0})
    assert compare() == 1
    command = "pytest --retarget-benchmark --retarget-results DIR"
    assert capsys.readouterr().err == f"before: found no benchmark in these results; `{command}` writes one\n"


def test_results_with_nothing_in_common_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"a": 1.0})
    write("after", scale={"b": 1.0})
    assert compare("--metric", "latency", "--format", "json") == 1
    assert capsys.readouterr().err == (
        "found no measurement of latency that both before and after have (2 in one of them only); "
        "`retarget results show` lists the targets of each\n"
    )


def test_a_bound_of_another_form_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    write("before", scale={"a": 1.0})
    assert main(["bench", "compare", "before", "before", "--within", "5"]) == 2
    assert (
        capsys.readouterr()
        .err.splitlines()[-1]
        .endswith("--within: found '5', expected a percentage above 0 and at most 1000 %, such as '10 %'")
    )


def test_how_samples_are_taken_is_said_where_something_was_sampled(capsys: pytest.CaptureFixture[str]) -> None:
    said = "latency and device-time: medians of samples, each the shortest of some consecutive calls"
    write("before", scale={"a": 1.0})
    write("after", scale={"a": 1.0})
    for metric, is_said in (("latency", True), ("artifact-size", False)):
        assert compare("--metric", metric) == 0
        assert (said in capsys.readouterr().out) is is_said
