"""What a run showed becomes rules: minimal, true, and the same again when nothing has changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis.strategies as st
import pytest
import tomli
from data_errors import error_of
from hypothesis import HealthCheck, assume, given, settings
from msgspec.structs import replace
from retarget.expect.matching import COMPILE_STAGES, Assignment, Effect, RuleSet
from retarget.expect.update.edited_rules import Key, key_of
from retarget.expect.update.plan import FileEdit, SuiteTargets, Update, plan_update
from retarget.expect.update.text import RuleChange, rewrite, rule_text
from retarget.expect.verdict import Ruling, Verdict, judge
from retarget.extension.registry import Registry
from retarget.model import (
    CompilerConfig,
    CompileTarget,
    Expectation,
    Module,
    Origin,
    RunTarget,
    RuntimeConfig,
    Suite,
    TargetConfig,
)
from retarget.model.outcomes import Observation
from retarget.results.rule_update import diff, expanded, put_in_place, rewritten
from retarget.support.errors import RetargetError
from retarget.targets.expansion import expand_suite

FOLDER = Path("/project/suites")
RULES = FOLDER / "expectations.toml"
ORIGIN = Origin(file=FOLDER / "suite.toml", key_path="module_test_suite[0]")

COMPILERS = {"llvm-cpu": ("cpu",), "vmvx": ("cpu",), "vulkan": (), "opencl": ()}
RUNTIMES = {
    "sync": ("local-sync", ("llvm-cpu", "vmvx")),
    "task": ("local-task", ("llvm-cpu", "vmvx")),
    "gpu": ("vulkan", ("vulkan",)),
    "pocl": ("opencl", ("opencl",)),
}


def suite(
    modules: Sequence[str] = ("a", "b", "c"),
    *,
    name: str = "ops",
    folder: Path = FOLDER,
    compilers: Sequence[str] = tuple(COMPILERS),
    flags: tuple[str, ...] = (),
    rules: Sequence[Expectation] = (),
    tags: Mapping[str, tuple[str, ...]] | None = None,
) -> SuiteTargets:
    """A suite on some of four compiler configs; the first two run on two runtimes each."""
    targets = []
    for compiler in compilers:
        config = CompilerConfig(name=compiler, compiler="iree", tags=COMPILERS[compiler], origin=ORIGIN)
        runtimes = tuple(
            RuntimeConfig(name=runtime, driver=driver, host_os=("linux",), origin=ORIGIN)
            for runtime, (driver, serves) in RUNTIMES.items()
            if compiler in serves
        )
        targets.append(TargetConfig(name=f"on-{compiler}", compilers=(config,), runtimes=runtimes, origin=ORIGIN))
    made = Suite(
        name=name,
        folder=folder,
        modules=tuple(
            Module(name=module, path=folder / f"{module}.mlir", tags=(tags or {}).get(module, ())) for module in modules
        ),
        kind="check",
        targets=tuple(targets),
        compiler_flags=flags,
        expectations=tuple(rules),
        origin=ORIGIN,
    )
    return SuiteTargets(
        suite=made, targets=expand_suite(made, Registry(compilers={}, drivers={}, case_loaders={}, origins={}))
    )


def rule(index: int, match: str | Sequence[str], when: str = "", **fields: object) -> Expectation:
    values: dict[str, object] = {"stages": ("compile",), "reason": f"reason {index}", **fields}
    names = (match,) if isinstance(match, str) else tuple(match)
    origin = Origin(file=RULES, key_path=f"expectation[{index}]")
    return Expectation(match=names, when=when, origin=origin, **values)  # type: ignore[arg-type]


def observe(one: SuiteTargets, failures: Mapping[str, Observation]) -> dict[Key, Observation | None]:
    """Everything passed but for these targets; what needs an artifact that is not there was not observed."""
    name = one.suite.name
    seen: dict[Key, Observation | None] = {}
    for target in one.targets:
        if isinstance(target, RunTarget) and target.compile.name in failures:
            continue
        seen[name, target.name] = failures.get(target.name)
    assert failures.keys() <= {target.name for target in one.targets}
    return seen


def update(*suites: SuiteTargets, seen: Mapping[Key, Observation | None]) -> Update:
    return plan_update(suites, seen)


def written(found: Update) -> list[tuple[tuple[str, ...], str, tuple[str, ...], str]]:
    return [(new.match, new.when, new.stages, new.signature) for edit in found.edits for _, new in edit.new]


def changed(found: Update) -> list[tuple[int, tuple[str, ...], str]]:
    return [(change.index, change.match, change.when) for edit in found.edits for change in edit.changes]


REFUSED = Observation(stage="compile", signature="failed to legalize operation 'torch.aten.x'")
OTHER = Observation(stage="compile", signature="failed to legalize operation 'torch.aten.y'")
WRONG = Observation(stage="compare", signature="values differ")
CRASHED = Observation(stage="crash", signature="SIGSEGV")


def everywhere(module: str, seen: Observation, compilers: Sequence[str] = tuple(COMPILERS)) -> dict[str, Observation]:
    return {f"{module}_{compiler}": seen for compiler in compilers}


# ------------------------------------------------------------ new rules are minimal


@pytest.mark.parametrize(
    ("compilers", "when"),
    [
        (["vulkan"], "vulkan"),
        (["llvm-cpu", "vmvx"], "cpu"),
        (["llvm-cpu", "vmvx", "vulkan"], "not opencl"),
        (["llvm-cpu", "vulkan"], "llvm-cpu or vulkan"),
    ],
)
def test_failures_that_share_a_tag_become_one_rule_with_it(compilers: list[str], when: str) -> None:
    one = suite()
    found = update(one, seen=observe(one, everywhere("a", REFUSED, compilers)))
    assert written(found) == [(("a",), when, ("compile",), REFUSED.signature)]


def test_what_another_suite_makes_in_just_the_same_way_is_taken_for_observed() -> None:
    one, other = suite(), suite(("a", "b"), name="fast", compilers=("vulkan",))
    seen = observe(one, everywhere("a", REFUSED, ["vulkan"]) | everywhere("c", REFUSED, ["vulkan"]))
    found = update(one, other, seen=seen)
    assert written(found) == [(("a", "c"), "vulkan", ("compile",), REFUSED.signature)]
    assert found.edits[0].targets == 2
    again = update(*applied([one, other], {}, found), seen=seen)
    assert again.edits == ()


def test_a_module_of_the_same_name_in_a_suite_below_is_not_covered() -> None:
    below = suite(("a",), name="below", folder=FOLDER / "below", compilers=("vulkan",))
    found = update(suite(), below, seen=observe(suite(), everywhere("a", REFUSED)))
    assert written(found) == [(("a",), "ops", ("compile",), REFUSED.signature)]


# ------------------------------------------------------------ cases that fail in different ways

LOST = Observation(stage="load", signature="no such file")
BOTH = dataclasses.replace(WRONG, also=(LOST,))
ALSO_BOTH = dataclasses.replace(LOST, also=(WRONG,))
WAYS = "its cases fail in different ways: load: no such file; compare: values differ"


def test_cases_that_fail_in_different_ways_become_one_rule_with_all_stages_and_no_signature() -> None:
    one = suite()
    seen = observe(one, {"a_vulkan_gpu": BOTH, "b_vulkan_gpu": ALSO_BOTH, "c_vulkan_gpu": WRONG})
    found = update(one, seen=seen)
    assert sorted(written(found)) == [
        (("a", "b"), "vulkan", ("load", "compare"), ""),
        (("c",), "vulkan", ("compare",), "values differ"),
    ]
    assert WAYS in {new.reason for edit in found.edits for _, new in edit.new}
    assert update(*applied([one], {}, found), seen=seen).edits == ()


@pytest.mark.parametrize("there", [WRONG, LOST])
def test_a_rule_that_allows_only_one_of_the_ways_goes(there: Observation) -> None:
    one = suite(rules=[rule(0, "a", stages=(there.stage,), signature=there.signature)])
    found = update(one, seen=observe(one, {"a_vulkan_gpu": BOTH}))
    assert changed(found) == [(0, (), "")]
    assert written(found) == [(("a",), "vulkan", ("load", "compare"), "")]


def test_a_rule_that_allows_all_ways_stays_and_what_fails_besides_gets_its_own() -> None:
    one = suite(rules=[rule(0, "a", "gpu", stages=("compare", "load"), reason=WAYS)])
    assert update(one, seen=observe(one, {"a_vulkan_gpu": BOTH})).edits == ()
    more = update(one, seen=observe(one, {"a_vulkan_gpu": BOTH, "a_opencl_pocl": ALSO_BOTH}))
    assert changed(more) == []
    assert written(more) == [(("a",), "opencl", ("load", "compare"), "")]


# ------------------------------------------------------------ rules that are there


@pytest.mark.parametrize(("when", "left"), [("", []), ("vulkan", [(("a2",), "not vulkan")])])
def test_a_name_in_place_of_a_glob_does_not_take_what_a_longer_glob_has(when: str, left: list[object]) -> None:
    one = suite(("a1", "a2", "a3"), rules=[rule(0, "a*"), rule(1, "a2*", when)])
    found = update(one, seen=observe(one, everywhere("a2", REFUSED) | everywhere("a3", REFUSED)))
    assert changed(found) == [(0, ("a3",), "")]
    assert [(new.match, new.when) for edit in found.edits for _, new in edit.new] == left


def test_a_compile_that_passes_leaves_a_rule_of_compiles_and_runs_to_its_runs() -> None:
    one = suite(rules=[rule(0, "a", stages=("compile", "compare"))])
    failing = {f"a_{target}": WRONG for target in ("llvm-cpu_sync", "llvm-cpu_task", "vulkan_gpu")}
    assert changed(update(one, seen=observe(one, failing))) == [(0, ("a",), "llvm-cpu or vulkan")]


def test_a_module_joins_the_rule_that_says_the_same_of_others() -> None:
    one = suite(rules=[rule(0, ["a", "c"], "vulkan", signature=REFUSED.signature)])
    seen = observe(one, {f"{module}_vulkan": REFUSED for module in "abc"})
    found = update(one, seen=seen)
    assert changed(found) == [(0, ("a", "b", "c"), "vulkan")]
    assert written(found) == []


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (WRONG, "the results are not those expected: values differ"),
        (CRASHED, "the run crashes: SIGSEGV"),
        (Observation(stage="timeout", signature=""), "the run takes longer than it may"),
    ],
)
def test_a_reason_that_a_person_wrote_is_not_claimed_of_what_may_have_another_cause(
    seen: Observation, reason: str
) -> None:
    def after(**fields: object) -> Update:
        one = suite(rules=[rule(0, "a", "gpu", stages=(seen.stage,), signature=seen.signature, **fields)])
        return update(one, seen=observe(one, {f"{module}_vulkan_gpu": seen for module in "ab"}))

    same = after(reason=reason)
    assert [(index, match) for index, match, _ in changed(same)] == [(0, ("a", "b"))]
    assert written(same) == []
    for fields in ({"reason": "exp is imprecise"}, {"reason": reason, "issue": "x/1"}):
        found = after(**fields)
        assert changed(found) == []
        assert [match for match, _, _, _ in written(found)] == [("b",)]


def test_a_compile_that_crashed_and_now_fails_with_a_diagnostic_leaves_no_rule_for_its_runs() -> None:
    one = suite(rules=[rule(0, ["a", "b"], stages=("crash",), signature="SIGSEGV")])
    seen = observe(one, everywhere("a", REFUSED) | everywhere("b", CRASHED))
    found = update(one, seen=seen)
    assert changed(found) == [(0, ("b",), "")]
    assert written(found) == [(("a",), "", ("compile",), REFUSED.signature)]


def test_entries_that_match_nothing_stay_also_where_the_rest_of_their_rule_changes() -> None:
    there = [rule(0, "gone"), rule(1, ["gone", "a"]), rule(2, ["b", "gone"], "cpu"), rule(3, "c")]
    one = suite(rules=there)
    found = update(one, seen=observe(one, everywhere("a", REFUSED, ["vulkan"]) | everywhere("b", REFUSED)))
    assert changed(found) == [(1, ("gone",), ""), (3, (), "")]
    assert [(after, new.match, new.when) for after, new in found.edits[0].new] == [
        (1, ("a",), "vulkan"),
        (None, ("b",), "not cpu"),
    ]


NEAR = Origin(file=FOLDER / "below" / "expectations.toml", key_path="expectation[1]")


@pytest.mark.parametrize(
    ("other", "when"),
    [
        (rule(1, "a", "run and cpu", stages=(), outcome="skip"), "(llvm-cpu or opencl) and sync"),
        (replace(rule(1, "a", "run", stages=(), outcome="skip"), origin=NEAR), "(llvm-cpu or opencl) and sync"),
        (rule(1, "a", "run", stages=(), outcome="skip"), "sync"),
        (rule(1, "*", "run and cpu", stages=(), outcome="skip"), "sync"),
        (rule(1, "a", "run and task", stages=(), outcome="skip"), "sync"),
        (rule(1, "b", "run and cpu", stages=(), outcome="skip"), "sync"),
    ],
)
def test_what_is_left_of_a_rule_keeps_its_words_where_another_would_come_into_force(
    other: Expectation, when: str
) -> None:
    narrowed = replace(NEAR, key_path="expectation[0]")
    rules = [replace(rule(0, "a", "llvm-cpu or opencl", stages=("compare",)), origin=narrowed), other]
    one = suite(("a", "b"), name="below", folder=NEAR.file.parent, compilers=("llvm-cpu",), rules=rules)
    found = update(one, seen={("below", "a_llvm-cpu_task"): None})
    assert [(edit.file, *change.match, change.when) for edit in found.edits for change in edit.changes] == [
        (narrowed.file, "a", when)
    ]
    (after,) = applied([one], texts([one]), found)
    assert book(after).of("a_llvm-cpu_sync").whole.reason == "reason 0"


def test_a_name_in_place_of_a_glob_is_that_of_a_module_where_the_rule_matches_something() -> None:
    rules = [rule(0, "?", "vulkan")]
    below = suite(("z",), name="below", folder=FOLDER / "below", compilers=("vmvx",), rules=rules)
    one = suite(("a", "b"), rules=rules)
    found = update(one, below, seen=observe(one, everywhere("a", REFUSED, ["vulkan"])))
    assert changed(found) == [(0, ("a",), "vulkan")]


def test_a_module_joins_a_rule_that_names_missing_ones_and_leaves_their_entries_where_they_are() -> None:
    one = suite(rules=[rule(0, ["b", "gone", "a"], signature=REFUSED.signature)])
    failures = everywhere("a", REFUSED) | everywhere("b", REFUSED) | everywhere("c", REFUSED)
    assert changed(update(one, seen=observe(one, failures))) == [(0, ("b", "gone", "a", "c"), "")]


def test_another_failure_of_an_intermittent_target_is_left() -> None:
    one = suite(rules=[rule(0, "a", outcome="intermittent", until=date(2026, 6, 1))])
    found = update(one, seen=observe(one, {"a_vulkan": CRASHED}))
    assert (found.edits, found.left) == ((), (("ops", "a_vulkan"),))


# ------------------------------------------------------------ the text of a file

FILE = """\
# Known failures.

# about a
# and b
[[expectation]]  # first
match = [
    "a",  # the oldest
    "b",
]
stage = 'compile'
# tail

[[compiler_config]]
name = "x"

# about q
[[expectation]]
match = "q"   # why q
when = "z"   # why z
stage = "run"
"""
NEW = Expectation(
    match=("n",), stages=("run",), signature='say "a\\b"', reason="it fails", origin=Origin(file=Path(), key_path="")
)
NEW_TEXT = """\
[[expectation]]
match = "n"
stage = "run"
signature = 'say "a\\b"'
reason = "it fails"
"""


def edit(index: int, match: tuple[str, ...], when: str = "") -> RuleChange:
    return RuleChange(index=index, match=match, when=when)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("changes", "new", "old", "text"),
    [
        ([edit(0, ("a",))], [], '    "b",\n', ""),
        ([edit(0, ("a", "aa", "b"))], [], '    "b",\n', '    "b",\n    "aa",\n'),
        ([edit(0, ("a", "b"), "x or y")], [], "\nstage = 'compile'", "\nwhen = \"x or y\"\nstage = 'compile'"),
        ([edit(1, ("q",), "y")], [], 'when = "z"   # why z', 'when = "y"   # why z'),
        ([edit(1, ("q",))], [], 'when = "z"   # why z\n', ""),
        ([edit(1, ("p", "q"), "z")], [], 'match = "q"   # why q', 'match = ["p", "q"]   # why q'),
        ([edit(0, ())], [], FILE[FILE.index("# about a") : FILE.index("# tail")], ""),
        ([edit(1, ())], [], FILE[FILE.index("\n# about q") :], ""),
        ([], [(0, NEW)], "stage = 'compile'\n", f"stage = 'compile'\n\n{NEW_TEXT}"),
        ([], [(None, NEW)], 'stage = "run"\n', f'stage = "run"\n\n{NEW_TEXT}'),
        ([edit(1, ())], [(1, NEW)], FILE[FILE.index("# about q") :], NEW_TEXT),
    ],
)
def test_an_edit_changes_its_lines_and_no_other(
    changes: list[RuleChange], new: list[tuple[int | None, Expectation]], old: str, text: str, newline: str
) -> None:
    assert old in FILE
    expected = FILE.replace(old, text)
    assert rewrite(FILE.replace("\n", newline), changes, new) == expected.replace("\n", newline)


def test_rules_in_one_value_are_not_rewritten() -> None:
    with pytest.raises(RetargetError, match=r"^found rules written as a value, expected \[\[expectation\]\] tables"):
        rewrite("expectation = [{match = 'a'}]\n", [edit(0, ())], [])


# ------------------------------------------------------------ whatever there is: true afterwards, and the same again

SEEN = (REFUSED, OTHER, CRASHED, Observation(stage="timeout", signature=""))
SEEN_AT_RUN = (
    *(WRONG, CRASHED, Observation(stage="run", signature="out of bounds"), SEEN[3]),
    *(BOTH, ALSO_BOTH, dataclasses.replace(WRONG, also=(CRASHED,))),
)
MATCHES = ("a", "b", "ab", "c", "*", "a*", "?", "[ab]*", "gone")
WHENS = ("", "cpu", "vulkan", "not vmvx", "llvm-cpu or opencl", "run and cpu", "sync", "gone or gpu", "compile")
SIGNATURES = ("", "failed to legalize", REFUSED.signature, OTHER.signature, "values differ", "SIGSEGV")


@st.composite
def rules_of(draw: st.DrawFn, folder: Path) -> list[Expectation]:
    made = []
    for index in range(draw(st.integers(0, 4))):
        outcome = draw(st.sampled_from(["xfail", "xfail", "xfail", "xfail", "skip", "flaky", "intermittent"]))
        stages = draw(
            st.lists(
                st.sampled_from(["compile", "compare", "crash", "run", "timeout"]), min_size=1, max_size=2, unique=True
            )
        )
        made.append(
            Expectation(
                match=tuple(draw(st.lists(st.sampled_from(MATCHES), min_size=1, max_size=3, unique=True))),
                when=draw(st.sampled_from(WHENS)),
                stages=tuple(stages) if outcome != "skip" else (),
                signature=draw(st.sampled_from(SIGNATURES)) if outcome != "skip" else "",
                outcome=outcome,
                retries=1 if outcome == "flaky" else 0,
                reason=f"reason {index}",
                until=draw(
                    st.sampled_from([None, None, None, date(2026, 4, 1), date(2026, 6, 1)])
                    if outcome != "intermittent"
                    else st.sampled_from([date(2026, 4, 1), date(2026, 6, 1)])
                ),
                origin=Origin(file=folder / "expectations.toml", key_path=f"expectation[{index}]"),
            )
        )
    return made


class World:
    """Suites with their rules, and what a run showed of their targets."""

    def __init__(self, suites: list[SuiteTargets], seen: dict[Key, Observation | None]) -> None:
        self.suites, self.seen = suites, seen

    def __repr__(self) -> str:
        rules = {made.origin: made for one in self.suites for made in one.suite.expectations}
        seen = [f"{key}: {value}" for key, value in self.seen.items()]
        printed = [f"{made.origin.file}: {rule_text(made)}" for made in rules.values()]
        compilers = sorted(
            {target.compiler.name for target in self.suites[0].targets if isinstance(target, CompileTarget)}
        )
        return "\n".join([f"compilers: {compilers}", *printed, *seen])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """One suite or two, the second in a folder below; rules that do not contradict each other; and a run."""
    compilers = tuple(name for name in COMPILERS if name == "llvm-cpu" or draw(st.booleans()))
    outer = draw(rules_of(FOLDER))
    tags = {"ab": ("op-Conv",)} if draw(st.booleans()) else {}
    suites = [suite(("a", "b", "ab", "c"), compilers=compilers, rules=outer, tags=tags)]
    if draw(st.booleans()):
        below = FOLDER / "below"
        inner = [*outer, *draw(rules_of(below))]
        suites.append(suite(("a", "z"), name="below", folder=below, compilers=compilers[:2], rules=inner))
    assume(not any(book(one).contradictions for one in suites))
    seen: dict[Key, Observation | None] = {}
    for one in suites:
        in_force = {name: rules.whole for name, rules in book(one).rules.items()}
        for target in one.targets:
            is_compile = isinstance(target, CompileTarget)
            needed = target.name if is_compile else target.compile.name
            failed = isinstance(seen.get((one.suite.name, needed)), Observation)
            ruling = [made for name in (target.name, needed) if (made := in_force.get(name)) is not None]
            is_skipped = any(made.outcome == "skip" for made in ruling)
            if is_skipped or failed or draw(st.integers(0, 5)) == 0:
                continue
            outcomes = SEEN if is_compile else SEEN_AT_RUN
            seen[one.suite.name, target.name] = draw(st.sampled_from([None, None, None, *outcomes]))
    return World(suites, seen)


def book(one: SuiteTargets) -> Assignment:
    return RuleSet(one.suite.expectations).assign(one.targets)


def texts(suites: Sequence[SuiteTargets]) -> dict[Path, str]:
    """The files that hold the rules."""
    rules = {made.origin: made for one in suites for made in one.suite.expectations}
    files: dict[Path, list[str]] = {}
    for made in rules.values():
        files.setdefault(made.origin.file, []).append(f"# about {made.reason}\n{rule_text(made)}")
    return {file: "\n".join(["# Known failures.\n", *parts]) for file, parts in files.items()}


def read(file: Path, text: str) -> list[Expectation]:
    def listed(value: object) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else tuple(value or ())  # type: ignore[arg-type]

    return [
        Expectation(
            match=listed(table["match"]),
            when=table.get("when", ""),
            cases=listed(table.get("case")),
            stages=listed(table.get("stage")),
            signature=table.get("signature", ""),
            outcome=table.get("outcome", "xfail"),
            retries=1 if table.get("outcome") == "flaky" else 0,
            reason=table["reason"],
            until=table.get("until"),
            origin=Origin(file=file, key_path=f"expectation[{index}]"),
        )
        for index, table in enumerate(tomli.loads(text).get("expectation", []))
    ]


def applied(suites: Sequence[SuiteTargets], files: Mapping[Path, str], found: Update) -> list[SuiteTargets]:
    """The suites with the rules of the rewritten files."""
    after = dict(files)
    for edit in found.edits:
        after[edit.file] = rewrite(after.get(edit.file, ""), edit.changes, edit.new)
    rules = {file: read(file, text) for file, text in after.items()}
    return [
        SuiteTargets(
            suite=replace(
                one.suite,
                expectations=tuple(
                    made
                    for file in sorted(rules, key=lambda path: len(path.parts))
                    if one.suite.folder.is_relative_to(file.parent)
                    for made in rules[file]
                ),
            ),
            targets=one.targets,
        )
        for one in suites
    ]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(worlds())
def test_after_an_update_all_is_as_expected_nothing_is_lost_and_a_second_one_changes_nothing(world: World) -> None:
    suites, seen = world.suites, world.seen
    files = texts(suites)
    found = update(*suites, seen=seen)
    after = applied(suites, files, found)
    for before, one in zip(suites, after, strict=True):
        had, has = book(before), book(one)
        assert not has.contradictions
        for target in one.targets:
            key = key_of(target)
            now, then = has.of(target.name).whole, had.of(target.name).whole
            if key not in seen and isinstance(target, RunTarget) and then and COMPILE_STAGES.issuperset(then.stages):
                compiled = seen.get((key[0], target.compile.name))
                if compiled is not None and judge(then, compiled).ruling is Ruling.OTHERWISE:
                    continue  # the rule may be about the compile, which fails otherwise
            if key not in seen:
                runs = [
                    run.name for run in one.targets if isinstance(run, RunTarget) and run.compile.name == target.name
                ]
                has_compiled = any((key[0], name) in seen for name in runs)
                assert has_compiled or lost(then, now) is None
                continue
            ruling = judge(now, seen[key]).ruling
            if seen[key] is None and now is not None and (target.name, now.origin) in has.deferred:
                continue
            if key in found.left:
                assert now is not None
                assert now.outcome in {"flaky", "intermittent"} or now.until == date(2026, 4, 1)
                assert ruling in {Ruling.OTHERWISE, Ruling.EXPIRED, Ruling.AGAIN}
            elif seen[key] is None:
                assert ruling in {Ruling.PLAIN, Ruling.CHANCE}
            else:
                assert ruling in {Ruling.EXCUSED, Ruling.CHANCE} or (now is not None and now.outcome == "skip")
                assert key in found.excused
    assert idle(after) <= idle(suites)
    again = update(*after, seen=seen)
    assert again.edits == ()
    assert (again.excused, again.left) == (found.excused, found.left)


def idle(suites: Sequence[SuiteTargets]) -> set[str]:
    """The entries of rules that match nothing."""
    effects: dict[Origin, Effect] = {}
    for one in suites:
        for origin, effect in book(one).effects.items():
            effects[origin] = effects.get(origin, Effect()) | effect
    rules = {made.origin: made for one in suites for made in one.suite.expectations}
    return {
        f"{origin.file} {made.reason} {entry}"
        for origin, made in rules.items()
        for index, entry in enumerate(made.match)
        if index not in effects[origin].matched
    }


def lost(then: Expectation | None, now: Expectation | None) -> str | None:
    """The rule that is removed from a target that was not observed."""
    if then is None or then.outcome == "skip":
        return None
    if now is None or (set(now.stages), now.signature) != (set(then.stages), then.signature):
        return f"{then} became {now}"
    return None


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "expectations.toml"
    file.write_text("a")
    file.chmod(0o444)
    edit: Any = SimpleNamespace(edit=SimpleNamespace(file=file), before="a", after="b")
    with pytest.raises(RetargetError, match=r"cannot be written: it is read-only; no expectations were written$"):
        put_in_place([edit])
    assert file.read_text() == "a"
    file.chmod(0o640)
    put_in_place([edit])
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b", 0o640)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: Is a directory; no expectations were written"),
        (
            b"\xff",
            "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte; no expectations were written",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "expectations.toml"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    assert error_of(rewritten, [FileEdit(file=file, changes=(), new=(), rules=0, targets=0)]) == f"{file}: {said}"


def test_without_a_rule_there_is_nothing_to_decide() -> None:
    for ruling in Ruling:
        verdict = Verdict(ruling=ruling)
        assert (verdict.headline, verdict.lines("suite.toml:1")) == ("", ())


@pytest.mark.parametrize("checks", [False, True])
def test_the_kind_of_a_suite_says_whether_its_artifacts_are_checked(
    monkeypatch: pytest.MonkeyPatch, checks: bool
) -> None:
    registry = Registry(compilers={}, drivers={}, case_loaders={}, origins={})
    monkeypatch.setattr(Registry, "artifact_checker", lambda _, kind: kind if checks else None)
    one = suite()
    assert expanded(one.suite, registry) == SuiteTargets(suite=one.suite, targets=one.targets, checks_artifacts=checks)


def test_a_byte_order_mark_stays_and_a_new_file_has_none_before(tmp_path: Path) -> None:
    file, other = tmp_path / "expectations.toml", tmp_path / "new.toml"
    file.write_text("\ufeff# ours\n")
    new = ((None, rule(0, "a")),)
    found = rewritten([FileEdit(file=one, changes=(), new=new, rules=1, targets=1) for one in (file, other)])
    assert [one.before for one in found] == ["\ufeff# ours\n", ""]
    assert found[0].after == f"\ufeff# ours\n\n{rule_text(rule(0, 'a'))}"
    assert [diff(one)[:2] for one in found] == [[f"--- {file}", f"+++ {file}"], ["--- /dev/null", f"+++ {other}"]]
