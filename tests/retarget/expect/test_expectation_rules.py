"""Rules: how they are declared, which one is in force, what it makes of an outcome, which ones are errors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, load_all, runtime, suite, target
from msgspec.structs import replace
from retarget.cli import main
from retarget.expect.diagnostics import RuleUsage
from retarget.expect.matching import Assignment, RuleSet
from retarget.expect.verdict import Ruling, judge
from retarget.extension.registry import Registry, load_extensions
from retarget.model import Expectation, Origin, Suite, Target
from retarget.model.outcomes import Observation
from retarget.results.rule_update import served_suites
from retarget.support.errors import DiagnosticsError
from retarget.targets.expansion import expand_suite

CONFIGS = declarations(
    "root = true\n",
    compiler("c1", tags=["fast"]),
    compiler("c2"),
    runtime("sync"),
    runtime("task", "local-task"),
    target("all", ["c1", "c2"], ["sync", "task"]),
)

SUITE = suite("linalg", "**/*.mlir")

MODULES = ("add", "add_f16", "sub", "deep/add")

Write = Callable[[Mapping[str, str]], None]


def rule(text: str) -> str:
    """A rule that expects a failure at run, but for what `text` says."""
    default = "" if "stage" in text or '"skip"' in text else 'stage = "run"\n'
    return f'[[expectation]]\n{default}reason = "r"\n' + text.replace("; ", "\n") + "\n"


DAY = date(2030, 6, 15)


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retarget.model.declared.today", lambda: DAY)


@pytest.fixture
def write(cwd: Path) -> Write:
    """Write declaration files of a project with one suite in `suites`."""

    def write_files(files: Mapping[str, str]) -> None:
        modules = {f"suites/{name}.mlir": "" for name in MODULES}
        matrix = CONFIGS + files.get("matrix.toml", "")
        suite = SUITE + files.get("suites/suite.toml", "")
        for name, text in {**modules, **files, "matrix.toml": matrix, "suites/suite.toml": suite}.items():
            path = cwd / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write_files


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_extensions()


def assigned(registry: Registry) -> tuple[Suite, tuple[Target, ...], Assignment]:
    (suite,) = load_all([Path()])
    targets = expand_suite(suite, registry)
    return suite, targets, RuleSet(suite.expectations).assign(targets)


def diagnostics(files: Mapping[str, str], write: Write) -> list[str]:
    write(files)
    with pytest.raises(DiagnosticsError) as caught:
        load_all([Path()])
    return str(caught.value).splitlines()


# ---------------------------------------------------------------- declared


def test_a_reason_of_several_lines_is_reported_in_one(write: Write) -> None:
    write({"expectations.toml": '[[expectation]]\nmatch = "a"\nstage = "run"\nreason = """\ntwo\n  lines\n"""\n'})
    (suite,) = load_all([Path()])
    assert suite.expectations[0].reason == "two lines"


def test_a_file_of_expectations_holds_nothing_else(write: Write) -> None:
    text = 'root = true\n[[runtime_config]]\nname = "x"\ndriver = "y"\n'
    expected = "expected it in another file: expectations.toml holds [[expectation]] and [[golden]] only"
    assert diagnostics({"expectations.toml": text}, write) == [
        f"expectations.toml:1: root: found root, {expected}",
        f"expectations.toml:2: runtime_config[0]: found runtime_config, {expected}",
    ]


# ---------------------------------------------------------------- in force


def in_force(files: Mapping[str, str], write: Write, registry: Registry) -> dict[str, str]:
    """The reason of the rule in force for each target that has one."""
    write(files)
    _, _, assignment = assigned(registry)
    assert not assignment.contradictions
    return {name: one.whole.reason for name, one in assignment.rules.items() if one.whole is not None}


def named(name: str, text: str) -> str:
    return rule(text).replace('reason = "r"', f'reason = "{name}"')


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('match = "add"', 'match = "ad[d]"; when = "c1 and sync and run"'),
        ('match = "add*"', 'match = "a*"; when = "c1 and sync"'),
        ('match = "add*"; when = "c1 and sync"', 'match = "add*"; when = "c1"'),
    ],
)
def test_the_more_specific_rule_is_in_force_in_whatever_order(
    write: Write, registry: Registry, first: str, second: str
) -> None:
    for files in (named("first", first) + named("second", second), named("second", second) + named("first", first)):
        assert in_force({"expectations.toml": files}, write, registry)["add_c1_sync"] == "first"


def test_of_equal_rules_the_nearer_is_in_force(write: Write, registry: Registry) -> None:
    files = {"matrix.toml": named("far", 'match = "add"; when = "c1"')}
    files["suites/expectations.toml"] = named("near", 'match = "add"; when = "c2"')
    assert in_force(files, write, registry) == {
        "add_c1_sync": "far",
        "add_c1_task": "far",
        "add_c2_sync": "near",
        "add_c2_task": "near",
    }
    files["suites/expectations.toml"] = named("near", 'match = "add"; when = "fast"')
    assert set(in_force(files, write, registry).values()) == {"near"}


# ---------------------------------------------------------------- what it makes of an outcome

CRASHED = Observation(stage="crash", signature="SIGFPE")
REFUSED = Observation(stage="compile", signature="failed to legalize operation 'x.y'")
HUNG = Observation(stage="timeout", signature="")


def expectation(**values: object) -> Expectation:
    defaults = {"match": ("a",), "stages": ("compile",), "reason": "r", "origin": Origin(file=Path(), key_path="")}
    return Expectation(**{**defaults, **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "observation", "ruling", "headline"),
    [
        (None, CRASHED, Ruling.PLAIN, ""),
        (expectation(), REFUSED, Ruling.EXCUSED, ""),
        (expectation(signature="legalize operation 'x.y'"), REFUSED, Ruling.EXCUSED, ""),
        (expectation(), None, Ruling.PASSED, "expected to fail at compile, but passed"),
        (expectation(), CRASHED, Ruling.OTHERWISE, "expected to fail at compile, but crashed: SIGFPE"),
        (
            expectation(stages=("load", "run", "crash")),
            HUNG,
            Ruling.OTHERWISE,
            "expected to fail at load or run or crash, but timed out",
        ),
        (expectation(signature="other"), REFUSED, Ruling.OTHERWISE, "expected to fail at compile in another way"),
        (
            expectation(stages=("crash", "timeout")),
            REFUSED,
            Ruling.OTHERWISE,
            "expected to crash or time out, but failed at compile",
        ),
        (expectation(outcome="flaky", retries=1), REFUSED, Ruling.AGAIN, ""),
        (expectation(outcome="flaky", retries=1), None, Ruling.PLAIN, ""),
        (expectation(outcome="intermittent", until=DAY), REFUSED, Ruling.CHANCE, ""),
        (expectation(outcome="intermittent", until=DAY), None, Ruling.CHANCE, ""),
        (
            expectation(outcome="intermittent", until=DAY),
            CRASHED,
            Ruling.OTHERWISE,
            "expected to pass or fail at compile, but crashed: SIGFPE",
        ),
        (expectation(outcome="intermittent", until=date(2030, 6, 14)), None, Ruling.PLAIN, ""),
        (expectation(until=DAY), REFUSED, Ruling.EXCUSED, ""),
        (expectation(until=date(2030, 6, 14)), REFUSED, Ruling.EXPIRED, "its expectation expired on 2030-06-14"),
        (expectation(until=date(2030, 6, 14)), None, Ruling.PLAIN, ""),
        (expectation(outcome="skip", stages=()), REFUSED, Ruling.PLAIN, ""),
    ],
)
def test_a_rule_makes_of_an_outcome(
    one: Expectation | None, observation: Observation | None, ruling: Ruling, headline: str
) -> None:
    verdict = judge(one, observation)
    assert verdict.ruling is ruling
    assert verdict.headline == headline


def test_a_verdict_on_an_intermittent_target_sends_nobody_to_the_updater() -> None:
    verdict = judge(expectation(outcome="intermittent", until=DAY), CRASHED)
    assert ("expected", "passed, or compile") in verdict.lines("e.toml:3")
    assert verdict.next_step == "next: if it is so now, change the rule"


WRONG = Observation(stage="compare", signature="values differ", case="known")
LOST = Observation(stage="load", signature="x", case="other")


@pytest.mark.parametrize(
    ("one", "ruling", "headline"),
    [
        (
            expectation(stages=("compare",), signature="values differ"),
            Ruling.OTHERWISE,
            "expected to fail at compare, but case 'other' failed at load",
        ),
        (
            expectation(stages=("load",)),
            Ruling.OTHERWISE,
            "expected to fail at load, but case 'known' failed at compare",
        ),
        (
            expectation(stages=("load", "compare"), signature="values differ"),
            Ruling.OTHERWISE,
            "expected to fail at load or compare, but case 'other' failed in another way",
        ),
        (
            expectation(stages=("compare",), outcome="flaky", retries=1),
            Ruling.OTHERWISE,
            "expected to fail at compare, but case 'other' failed at load",
        ),
        (expectation(stages=("load", "compare")), Ruling.EXCUSED, ""),
        (expectation(stages=("load", "compare"), outcome="flaky", retries=1), Ruling.AGAIN, ""),
    ],
)
def test_a_rule_is_held_against_every_way_in_which_cases_failed(
    one: Expectation, ruling: Ruling, headline: str
) -> None:
    verdict = judge(one, dataclasses.replace(WRONG, also=(LOST,)))
    assert (verdict.ruling, verdict.headline) == (ruling, headline)


# ---------------------------------------------------------------- without effect


def check(capsys: pytest.CaptureFixture[str]) -> list[str]:
    status = main(["check"])
    captured = capsys.readouterr()
    assert status == (1 if captured.err else 0)
    return captured.err.splitlines()


def test_check_shows_rules_entries_and_words_without_effect(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        {
            "expectations.toml": rule('match = ["add", "ad", "z*"]')
            + rule('match = "sub"; when = "cuda or c1"')
            + rule('match = "deep/*"; when = "c1"; stage = "compile"')
            + rule('match = "add_f16"; when = "sync"; stage = "compile"')
            + rule("match = \"sub\"; when = \"device(vendor='NVIDIA') or driver(name='vulkn')\"")
        }
    )
    assert check(capsys) == [
        "expectations.toml:4: expectation[0].match[1]: found 'ad', which names no module that this rule serves;"
        " did you mean 'add'?",
        "expectations.toml:4: expectation[0].match[2]: found 'z*', which names no module that this rule serves;"
        " remove it",
        "expectations.toml:9: expectation[1].when: found the word 'cuda', which no target has as a tag; remove it",
        "expectations.toml:17: expectation[3].match: found 'add_f16', which with 'sync' matches no target that can fail"
        " at compile; remove it",
        "expectations.toml:24: expectation[4].when: found the word \"device(vendor='NVIDIA')\", which no target has"
        " as a tag; did you mean \"on(vendor='NVIDIA')\"? It asks for the device that was opened",
        "expectations.toml:24: expectation[4].when: found the word \"driver(name='vulkn')\", which no target has as a"
        " tag; remove it",
    ]


def test_check_of_a_part_judges_only_rules_all_of_whose_suites_it_saw_and_an_update_reads_all(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        {
            "expectations.toml": rule('match = "far"'),
            "suites/expectations.toml": rule('match = "near"'),
            "others/suite.toml": SUITE.replace("linalg", "other"),
            "others/far.mlir": "",
        }
    )
    served = served_suites([Path.cwd() / "suites" / "suite.toml"], load_extensions())
    assert [one.name for one in served] == ["linalg", "other"]
    assert main(["check", "suites"]) == 1
    assert [line.partition(":")[0] for line in capsys.readouterr().err.splitlines()] == ["suites/expectations.toml"]
    (Path("suites/expectations.toml")).unlink()
    assert main(["check"]) == 0


def test_a_rule_of_a_file_that_serves_no_suite_has_no_effect(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write({"empty/expectations.toml": rule('match = "add"')})
    assert check(capsys) == [
        "empty/expectations.toml:4: expectation[0].match: found 'add', which names no module that this rule serves;"
        " remove it"
    ]


def test_a_rule_for_cases_is_judged_by_the_targets_that_it_is_about(write: Write, registry: Registry) -> None:
    write({"expectations.toml": rule('match = "sub"; case = "x"') + rule('match = "add"; case = "y"')})
    suite, targets, assignment = assigned(registry)
    usage, files = RuleUsage(), {suite.origin.file: (suite,)}
    usage.add(suite, assignment, targets)
    usage.use(suite.expectations[:1])
    assert usage.case_uses(files) == ()  # other suites of the file may have modules of that name
    usage.collected(suite.origin.file, suite)
    ((_, key_path, cases, modules),) = usage.case_uses(files)
    assert (key_path, cases, modules) == ("expectation[0]", ("x",), {(suite.name, "sub")})
    others = (replace(suite, name="other", modules=suite.modules[:1]), replace(suite, name="other"))
    assert [one.name for one in others[0].modules] == ["add"]
    for other, judged in zip(others, (1, 0), strict=True):  # of the suites that were not collected, one has the module
        assert len(usage.case_uses({suite.origin.file: (suite, other)})) == judged


def test_nothing_is_judged_where_less_than_folders_were_requested(write: Write, registry: Registry) -> None:
    write({"expectations.toml": rule('match = "nothing"') + rule('match = "sub"; until = 2020-01-31')})
    suite, targets, assignment = assigned(registry)
    usage = RuleUsage()
    usage.add(suite, assignment, targets)
    usage.collected(suite.origin.file, suite)
    files = {suite.origin.file: (suite,)}
    assert usage.diagnostics(files, whole=False) == ()
    assert len(usage.diagnostics(files, whole=True)) == 2
    usage.use([suite.expectations[1]])
    assert [diagnostic.key_path for diagnostic in usage.diagnostics(files, whole=False)] == ["expectation[1].until"]
