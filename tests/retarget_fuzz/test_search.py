"""The search: what is new is reduced and kept once, what is known is counted. Nothing runs the programs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st
from retarget.model import Failure, Observation, Stage
from retarget.support import RetargetError
from retarget_fuzz import targets
from retarget_fuzz.found import Finding, Findings, may_stand_for
from retarget_fuzz.search import Search, Watcher
from retarget_fuzz.targets import Failed

Way = tuple[str, str]
WRONG: Way = ("compare", "values differ")


@dataclass(frozen=True)
class Program:
    """A program in the eyes of the search."""

    ops: tuple[str, ...]
    inputs: tuple[Any, ...] = ()

    def module(self) -> str:
        return "\n".join(self.ops)

    def expected(self) -> tuple[Any, ...]:
        return ()

    @property
    def digest(self) -> str:
        return self.module()

    def smaller(self) -> list[Program]:
        return [Program((op,)) for op in self.ops if len(self.ops) > 1]

    def features(self) -> frozenset[str]:
        return frozenset(f"op:linalg.{op}" for op in self.ops)


PROGRAMS = st.lists(st.sampled_from(["or", "neg", "add", "mul", "max"]), min_size=1, max_size=6).map(tuple).map(Program)


class Config(SimpleNamespace):
    """A config on which a program fails as `fails` says."""

    def __init__(self, name: str, fails: Callable[[Program], Way | None]) -> None:
        super().__init__(
            name=name, compiler=name, runtime=SimpleNamespace(name="r"), fails=fails, excused=(), places={}
        )

    def excuses(self, failed: Failed, _: object) -> bool:
        return failed.way.signature in self.excused


class Runner:
    """Runs nothing."""

    engine = None

    def __init__(self, *configs: Config) -> None:
        self.configs: Any = configs
        self.tried: list[str] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.is_steady = True

    def submit(self, made: Sequence[Program]) -> None:
        pass

    def forget(self) -> None:
        pass

    def failures(self, program: Program, configs: Sequence[Config] = ()) -> tuple[Failed, ...]:
        self.tried.append(program.module())
        found: list[Failed] = []
        for config in configs or self.configs:
            if way := config.fails(program):
                there: Any = config
                observed = Observation(stage=way[0], signature=way[1])
                where = next((at for op, at in config.places.items() if op in program.ops), "")
                found.append(Failed(config=there, way=observed, summary=f"{way[1]} at [0]", place=where))
        return tuple(found)

    def passes(self, program: Program) -> bool:
        return not any(config.fails(program) for config in self.configs)

    def fails_again(self, program: Program, failed: Failed) -> bool:
        return self.is_steady


def searched(
    folder: Path, *configs: Config, seed: int = 3, most: int = 60, steady: bool = True
) -> tuple[Findings, dict[str, Counter[str]], Runner]:
    findings, runner = Findings.read(folder), Runner(*configs)
    runner.is_steady = steady
    there: Any = runner
    search = Search(there, PROGRAMS, findings, seed=seed, most=most)
    search.run(Watcher())
    assert search.programs == most
    did: dict[str, Counter[str]] = defaultdict(Counter)
    for (name, what), count in runner.counts.items():
        did[what][name] = count
    return findings, did, runner


def having(feature: str, way: Way = WRONG) -> Callable[[Program], Way | None]:
    return lambda program: way if feature in program.features() else None


def ops(finding: Finding) -> set[str]:
    return set(finding.features)


def test_what_fails_is_reduced_to_the_operation_that_fails_and_kept_once(tmp_path: Path) -> None:
    findings, did, _ = searched(tmp_path, Config("a", having("op:linalg.mul")), Config("b", having("op:linalg.mul")))
    (found,) = findings.new
    assert (found.name, ops(found)) == ("compare-linalg-mul", {"op:linalg.mul"})
    assert found.configs == did["failed"]
    assert did["failed"]["a"] == did["known findings"]["a"] + 1
    assert (tmp_path / found.name / "module.mlir").is_file()


def test_what_is_left_beside_the_failure_is_cut_when_the_tries_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retarget_fuzz.search._TRIES", 0)
    (found,) = searched(tmp_path, Config("a", having("op:linalg.mul")))[0].new
    assert ops(found) == {"op:linalg.mul"}
    assert (tmp_path / found.name / "module.mlir").read_text() == "mul"


def test_ways_to_fail_are_findings_of_their_own(tmp_path: Path) -> None:
    def fails(program: Program) -> Way | None:
        add = having("op:linalg.add", ("compile", "no add"))(program)
        return add or having("op:linalg.mul", ("crash", "SIGSEGV"))(program)

    findings, _, _ = searched(tmp_path, Config("a", fails))
    assert sorted(one.name for one in findings.new) == ["compile-no-add", "crash-linalg-mul"]


def test_wrong_values_of_another_operation_are_another_finding(tmp_path: Path) -> None:
    def fails(program: Program) -> Way | None:
        return having("op:linalg.add")(program) or having("op:linalg.max")(program)

    findings, _, _ = searched(tmp_path, Config("a", fails))
    assert {frozenset(ops(one)) for one in findings.new} >= {frozenset({"op:linalg.add"}), frozenset({"op:linalg.max"})}


def test_crashes_at_one_place_are_one_finding_whatever_crashes_there(tmp_path: Path) -> None:
    def fails(program: Program) -> Way | None:
        return ("crash", "SIGFPE") if {"mul", "max", "add"} & set(program.ops) else None

    config, other = Config("a", fails), Config("b", fails)
    other.places = config.places = {"add": "0 9f", "mul": "0 1e", "max": "0 1e"}
    first, second = searched(tmp_path, config, other)[0].new
    assert {first.place, second.place} == {"0 1e", "0 9f"}
    config.places = {}
    assert len(searched(tmp_path, config)[0].new) == 1  # of mul or max, which has no place to be known by


def test_a_place_is_relative_to_the_first_address_and_of_its_library() -> None:
    dump = "Stack dump:\n0  a.so   0x00007f10\n1  a.so   0x00007e00\n2  libc.so.6  0x0000ff00\n3  a.so  0x00008f10\n"
    nothing: Any = None
    crash = Failure(stage=Stage.COMPILE, summary="crashed", text=dump, signal="SIGFPE")
    assert Failed.of(nothing, crash, at_compile=True).place == "0 -110 1000"
    assert Failed.of(nothing, replace(crash, signal=""), at_compile=True).place == ""
    assert Failed.of(nothing, replace(crash, text="killed"), at_compile=True).place == ""


def test_what_is_wrong_in_one_dialect_is_known_in_the_others() -> None:
    features = frozenset({"op:linalg.shr_u", "op:linalg.shr_u:i8", "type:i8"})
    finding = Finding(
        name="f", stage="compare", signature=WRONG[1], summary="", configs={"a": 1}, features=features, seed=1
    )
    config: Any = Config("a", having("op:tosa.shr_u"))
    failed = Failed(config=config, way=Observation(stage="compare", signature=WRONG[1]), summary="")
    assert finding.covers(failed, {"op:tosa.shr_u", "op:tosa.shr_u:i8", "type:i8", "op:tosa.add"})
    assert not finding.covers(failed, {"op:tosa.shr", "op:tosa.shr:i8", "type:i8"})
    assert not finding.covers(failed, {"op:tosa.shr_u", "op:tosa.shr_u:i16", "type:i16"})


def test_a_seed_repeats_programs_and_findings(tmp_path: Path) -> None:
    config = Config("a", having("op:linalg.mul"))
    (first, _, one), (second, _, two) = (searched(tmp_path / name, config) for name in "ab")
    assert one.tried == two.tried
    assert [found.features for found in first.new] == [found.features for found in second.new]
    assert (tmp_path / "a/findings.json").read_bytes() == (tmp_path / "b/findings.json").read_bytes()
    assert searched(tmp_path / "c", config, seed=4)[2].tried != one.tried


def test_a_second_run_counts_what_it_knows_until_its_folder_goes(tmp_path: Path) -> None:
    config = Config("a", having("op:linalg.mul"))
    searched(tmp_path, config)
    findings, did, _ = searched(tmp_path, config, seed=9)
    assert (findings.new, did["known findings"]) == ([], did["failed"])
    (tmp_path / "compare-linalg-mul").rename(tmp_path.parent / "mended")
    assert len(searched(tmp_path, config)[0].new) == 1


def test_a_finding_explains_the_program_that_it_is_reduced_of(tmp_path: Path) -> None:
    def fails(program: Program) -> Way | None:
        return having("op:linalg.max")(program) or having("op:linalg.add")(program) or having("op:linalg.or")(program)

    found = searched(tmp_path, Config("a", fails))[0].new
    assert [len(ops(one)) for one in found] == [1, 1, 1]
    assert searched(tmp_path, Config("a", fails))[0].new == []
    both, other = Program(("add", "max")), Program(("or",))
    assert [may_stand_for(one, both, "compare") for one in (both, Program(("max",)), other)] == [True, True, False]
    assert may_stand_for(other, both, "compile")


def test_what_a_rule_excuses_and_what_does_not_fail_again_is_not_found(tmp_path: Path) -> None:
    config = Config("a", having("op:linalg.mul", ("compile", "no mul")))
    findings, did, _ = searched(tmp_path, config, steady=False)
    assert (findings.new, did["not repeated"]) == ([], did["failed"])
    config.excused = ("no mul",)
    findings, did, _ = searched(tmp_path, config)
    assert (findings.new, did["known by rules"]) == ([], did["failed"])


def test_an_interruption_keeps_what_is_reduced_so_far(tmp_path: Path) -> None:
    tries = iter(range(6))

    def fails(program: Program) -> Way | None:
        if "op:linalg.mul" in program.features() and next(tries, None) is None:
            raise KeyboardInterrupt
        return having("op:linalg.mul")(program)

    with pytest.raises(KeyboardInterrupt):
        searched(tmp_path, Config("a", fails))
    assert [one.name for one in Findings.read(tmp_path).known]


def test_a_reduction_ends_with_the_time_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    findings, runner = Findings.read(tmp_path), Runner(Config("a", having("op:linalg.mul")))
    monkeypatch.setattr("retarget_fuzz.search.time.monotonic", lambda: float(len(runner.tried)))  # a second each
    there: Any = runner
    search = Search(there, PROGRAMS, findings, seed=3, seconds=6.0)
    search.run(Watcher())
    assert (len(runner.tried) <= 10, search.reductions > 0, len(findings.new)) == (True, True, 1), runner.tried
    assert findings.new[0].title == "compare: not fully reduced: values differ at [0]"
    assert "not fully reduced: values" in (tmp_path / "findings.md").read_text()
    assert "not fully reduced: values" in (tmp_path / findings.new[0].name / "suite.toml").read_text()


def test_as_many_programs_run_as_were_asked_for_each_once(tmp_path: Path) -> None:
    _, _, runner = searched(tmp_path, Config("a", lambda _: None), most=40)
    assert len(runner.tried) == 40
    assert max(Counter(runner.tried).values()) == 1


def test_a_finding_gets_no_name_of_a_suite(tmp_path: Path) -> None:
    findings, runner = Findings.read(tmp_path, {"compare-linalg-mul"}), Runner(Config("a", having("op:linalg.mul")))
    there: Any = runner
    Search(there, PROGRAMS, findings, seed=3, most=60).run(Watcher())
    assert [one.name for one in findings.new] == ["compare-linalg-mul-2"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(RetargetError, match=r"holds something else: found no findings\.json"):
        Findings.read(tmp_path)
    (tmp_path / "findings.json").write_text("[1]")
    with pytest.raises(RetargetError, match=r"remove it to begin anew"):
        Findings.read(tmp_path)


@pytest.mark.parametrize("stage", ["compare", "crash", "timeout"])
def test_no_rule_explains_wrong_values_or_crashes_of_another_module(stage: str) -> None:
    every = SimpleNamespace(excuses=lambda *_: True)
    failed: Any = SimpleNamespace(way=Observation(stage=stage, signature="values differ"), at_compile=False)
    engine: Any = SimpleNamespace(devices=lambda _: ())
    nothing: Any = None
    config = targets.Config(target=nothing, runtime=nothing, ruled=[(every, nothing)])  # type: ignore[list-item]
    assert not config.excuses(failed, engine)
