"""Sessions that compile and run nothing: what they print, their exit status, and the results that they write."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from pytest_retarget.attribution.reports import AttributionHooks
from retarget.results import Outcome, Sessions

Session = Callable[..., tuple[int, list[str]]]


class SkipsTargets:
    """A plugin that is not ours."""

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if "suite.toml" in item.nodeid:
            pytest.skip("no")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Session:
    """Run pytest in this process and return its status and all lines that it printed.

    In a project with two targets, which another plugin skips, and a test that fails.
    """
    configs = compiler("vmvx", flags=VMVX_FLAGS), runtime("sync")
    texts = {
        ".git/HEAD": "",
        "pytest.ini": "[pytest]\n",
        "matrix.toml": declarations(*configs, target("all", "vmvx", ["sync"])),
        "suites/suite.toml": suite("only"),
        "suites/one.mlir": "",
        "test_that_fails.py": "def test_it(): assert False\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    # The device worker that is started ahead has nothing to do, and ends later than all the rest.
    monkeypatch.setattr("pytest_retarget.plugin._spare_worker", lambda config: None)

    def run(*arguments: str, plugins: Sequence[object] = ()) -> tuple[int, list[str]]:
        always = ["--assert=plain", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
        status = pytest.main([*always, *arguments], plugins=[SkipsTargets(), *plugins])
        printed = capsys.readouterr()
        return int(status), (printed.out + printed.err).splitlines()

    return run


def results(folder: str) -> dict[str, tuple[Outcome, str]]:
    (found,) = Sessions.read([Path(folder)])
    return {record.target: (record.outcome, record.reason) for record in found.records}


def test_what_a_session_did_not_come_to_is_in_its_results_with_the_reason(session: Session) -> None:
    status, _ = session("-x", "--retarget-results", "out", "test_that_fails.py", "suites")
    assert status == pytest.ExitCode.TESTS_FAILED
    end = Outcome.NOT_RUN, "the session ended before it: stopping after 1 failures"
    assert results("out") == {"one_vmvx": end, "one_vmvx_sync": end}


def test_a_target_that_another_plugin_skips_is_at_its_suite_with_that_plugins_reason(session: Session) -> None:
    status, printed = session("-rs", "--retarget-results", "out", "suites")
    assert status == pytest.ExitCode.OK
    assert "SKIPPED [2] suites/suite.toml:1: no" in printed
    assert results("out") == dict.fromkeys(("one_vmvx", "one_vmvx_sync"), (Outcome.SKIPPED, "no"))


def test_a_session_says_what_was_declared_and_in_which_files(session: Session) -> None:
    _, printed = session("--collect-only", "suites")
    counts = "1 suite, 1 compile target, 1 run target"
    assert f"retarget: {counts}, declared in matrix.toml, suites/suite.toml" in printed


def test_a_session_says_which_extension_could_not_be_imported(session: Session, tmp_path: Path) -> None:
    status, printed = session("--retarget-extension", "not_there", "suites")
    assert status == pytest.ExitCode.INTERRUPTED
    why = "ModuleNotFoundError: No module named 'not_there'; it is neither on sys.path nor in"
    assert f"extension 'not_there' cannot be imported: {why} {tmp_path}" in printed


@pytest.mark.parametrize(("verbose", "named"), [((), 1), (("-v",), 1), (("-vv",), 9)])
def test_errors_that_are_alike_are_one_line_up_to_vv(session: Session, verbose: tuple[str, ...], named: int) -> None:
    rules = "".join(f'unknown{at} = "x"\n' for at in range(9))
    Path("suites/suite.toml").write_text(suite("only") + rules)
    _, printed = session(*verbose, "suites")
    assert len([line for line in printed if line.startswith("suites/suite.toml:") and "unknown" in line]) == named


@pytest.mark.parametrize("beside", ["", '[[expectation]]\nmatch = "one"\noutcome = "skip"\nreason = "r"\n'])
def test_golden_rules_are_errors_as_other_rules_are_and_for_nothing_else(session: Session, beside: str) -> None:
    golden = f'{beside}[[golden]]\nmatch = "{{}}"\nmetric = "latency"\nmax = "1 s"\nreason = "r"\n'
    rules = Path("suites/expectations.toml")

    rules.write_text(golden.format("one"))
    assert not [line for line in session("suites")[1] if "golden[" in line]

    rules.write_text(golden.format("on"))
    status, lines = session("suites")
    (error,) = [line for line in lines if "golden[" in line]
    assert (status, error.partition(": ")[2]) == (
        1,
        "golden[0].match: found 'on', which names no module that this rule serves; did you mean 'one'?",
    )

    rules.write_text(golden.format("one") + "until = 2001-01-31\n")
    status, lines = session("suites")
    (error,) = [line for line in lines if "golden[" in line]
    assert (status, "golden[0].until: found 2001-01-31, which is past" in error) == (1, True)


class FailsReports:
    """A plugin that makes a failure of what is none, as those do that look for leaks."""

    def __init__(self, when: str) -> None:
        self._when = when

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == self._when:
            report.outcome, report.longrepr = "failed", "a leak\nof a file"
        return report


NOWHERE = '[[expectation]]\nmatch = "nowhere"\nstage = "compare"\nreason = "r"\n'


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({}, ["suites"], ""),
        ({}, ["suites", "test_that_fails.py"], "1, not for its targets alone"),
        ({"suites/expectations.toml": NOWHERE}, ["suites"], "1, not for its targets alone"),
        (
            {"more/suite.toml": "unknown = 1\n"},
            ["suites", "more", "--continue-on-collection-errors"],
            "1, not for its targets alone",
        ),
    ],
)
def test_a_session_whose_targets_fail_says_whether_something_else_failed_too(
    session: Session, files: dict[str, str], arguments: list[str], said: str
) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    status, _ = session(*arguments, "--retarget-results", "results", plugins=[FailsReports("setup")])
    (found,) = Sessions.read([Path("results")])
    assert (status, found.fault) == (1, f"it ended with pytest's exit status {said}" if said else "")


@pytest.mark.parametrize("when", ["setup", "teardown"])
def test_a_failure_that_another_plugin_makes_is_one_in_the_results(session: Session, when: str) -> None:
    status, _ = session("suites", "--retarget-results", "results", plugins=[FailsReports(when)])
    (found,) = Sessions.read([Path("results")])
    assert status == 1
    assert [(one.target, one.outcome, one.message, one.attempt) for one in found.latest.values()] == [
        ("one_vmvx", Outcome.ERROR, "a leak", 1),
        ("one_vmvx_sync", Outcome.ERROR, "a leak", 1),
    ]


def test_what_a_failure_points_to_is_in_the_junit_file(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    test = "def test_it(request):\n    request.node.user_properties.append(('retarget.nodeid', 'n'))\n    assert 0\n"
    Path("test_with_id.py").write_text(test)
    found = ("It.", "It.")
    monkeypatch.setattr(AttributionHooks, "_conclude_all", lambda hooks: hooks.conclusions.update(n=found))
    session("--junitxml=report.xml", "test_with_id.py", "suites")
    assert '<property name="retarget.attribution" value="It."' in Path("report.xml").read_text()


def test_a_session_ends_with_the_address_of_its_page_or_with_what_keeps_it_from_being_written(session: Session) -> None:
    status, printed = session("suites", "--retarget-report", "site")
    assert (status, printed[-1]) == (0, f"page: {Path('site/index.html').absolute().as_uri()}")

    class Fills:
        def pytest_sessionfinish(self) -> None:
            Path("other").mkdir()
            Path("other/notes.txt").touch()

    status, printed = session("suites", "--retarget-report", "other", plugins=[Fills()])
    assert status == pytest.ExitCode.USAGE_ERROR
    assert printed[-1].startswith("ERROR: --retarget-report: ")
    assert "found something that is no page" in printed[-1]


@pytest.mark.parametrize(("arguments", "frozen"), [(["suites"], 1), ([], 0)])
def test_what_is_collected_is_frozen_where_nothing_but_targets_is(
    session: Session, monkeypatch: pytest.MonkeyPatch, arguments: list[str], frozen: int
) -> None:
    calls: list[None] = []
    monkeypatch.setattr("gc.freeze", lambda: calls.append(None))
    monkeypatch.setattr("gc.get_freeze_count", lambda: 0)
    session(*arguments)
    assert len(calls) == frozen
