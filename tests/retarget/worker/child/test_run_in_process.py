"""How the cases of an artifact run in a worker's own process, on doubles of program and device."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from model_targets import compile_target, run_target
from retarget.extension import (
    Case,
    CaseData,
    CaseLoader,
    CaseRequest,
    Check,
    DriverError,
    ExtensionError,
    FunctionInfo,
    Program,
    Tolerance,
    UnavailableError,
)
from retarget.model.outcomes import CaseOutcome, DeviceInfo, Rung, RunOutcome, Stage
from retarget.support.errors import RetargetError
from retarget.worker.child.outputs import export_cases
from retarget.worker.child.run_external import run_external
from retarget.worker.child.run_in_process import run_in_process
from retarget.worker.messages import OPENED, UNAVAILABLE, ExportCases, Progress, RunModule, Timing, tolerances_of

ONE, TWO = np.ones(2, np.float32), np.full(2, 2, np.float32)

BROKEN = DriverError("it broke\nhere", "mend it")
ERRORS = {
    "fails": BROKEN,
    "fails later": BROKEN,
    "asserts": DriverError("it asserts", harmless=True),
    "refused": DriverError("no such op", stage=Stage.LOAD),
}
NONE = "there are no results of compiler config 'o' to agree with: "
NOT_RUN = f"{NONE}it is not run here; `retarget compare` runs both"
NOT_ENDED = f"{NONE}its own run of case 'f' did not come to its end"


class Doubles(Program):
    """Doubles its inputs; does what a function's name says besides."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    @property
    def functions(self) -> Sequence[FunctionInfo]:  # type: ignore[override]
        return [FunctionInfo(name="f", arguments=1)]

    def call(self, function: str, inputs: Sequence[Any], on_check: Callable[[Any], None]) -> Sequence[Any]:
        self.calls.append(function)
        if function in ERRORS and (function != "fails later" or self.calls.count(function) > 1):
            raise ERRORS[function]
        if function == "checks":
            on_check(Check(kind="eq", actual=ONE, expected=ONE))
            on_check(Check(kind="eq", actual=ONE, expected=TWO))
        if function == "no check":
            on_check(None)
        return [one * 2 for one in inputs]


class Reporting(Doubles):
    def report_work(self, started: Callable[[], None]) -> None:
        self.started = started

    def call(self, function: str, inputs: Sequence[Any], on_check: Callable[[Any], None]) -> Sequence[Any]:
        if function != "refuses arguments":
            self.started()
            self.started()
        return super().call("fails" if function == "refuses arguments" else function, inputs, on_check)


class Counting(Doubles):
    work: Sequence[int] = (3, 0)

    def last_work(self) -> Sequence[int]:
        return self.work


class Commands(Doubles):
    def last_command(self, artifact: Path) -> Sequence[str]:
        return ("tool", artifact.name)


INFOS = tuple(
    DeviceInfo(driver="d", uri=f"d://{at}", ordinal=at, name=f"device {at}", physical_id=str(at)) for at in (0, 1)
)


class _Loader(CaseLoader):
    kind = "double"

    def __init__(self, cases: Sequence[Case], parameters: Any = ()) -> None:
        self._cases, self._parameters = cases, parameters

    def load(self, request: CaseRequest) -> Sequence[Case]:
        return self._cases

    def parameters(self, request: CaseRequest) -> Any:
        return self._parameters


class Ran:
    """A run of cases: its outcome, and what was sent of it."""

    def __init__(
        self,
        folder: Path,
        *cases: Case,
        program: Program | None = None,
        runtime: dict[str, Any] | None = None,
        **known: Any,
    ) -> None:
        artifact = folder / "artifact"
        artifact.write_bytes(b"a")
        self.sent: list[Progress] = []
        self.program = program or Doubles()
        message = RunModule(
            target=run_target(compile_target(config="c"), driver="d", **runtime or {}),
            artifact=artifact,
            digest="",
            **known,
        )
        driver: Any = SimpleNamespace(maps_artifacts=False, needs=lambda _: ())
        device: Any = SimpleNamespace(infos=INFOS, load=lambda _: self.program)
        loader: Any = _Loader(cases)
        self.outcome: RunOutcome = run_in_process(
            driver, device, loader, message, self.sent.append, read_output=lambda: "printed"
        )

    @property
    def case(self) -> CaseOutcome:
        (case,) = self.outcome.cases
        return case

    def said(self) -> list[tuple[str, int, str]]:
        return [(one.stage.name, one.rung, one.case) for one in self.sent]


def case(function: str = "f", **fields: Any) -> Case:
    return Case(**{"name": function, "function": function, "inputs": (ONE,), "expected": (TWO,)} | fields)


def unreadable(error: Exception) -> Callable[[], CaseData]:
    def read() -> CaseData:
        raise error

    return read


@pytest.mark.parametrize(
    ("one", "said", "rung", "suspect"),
    [
        (case("fails"), (Stage.RUN, "it broke"), Rung.DISPATCHES, True),
        (case("asserts"), (Stage.RUN, "it asserts"), Rung.DISPATCHES, False),
        (case("refused"), (Stage.LOAD, "no such op"), Rung.COMPILES, False),
        (
            case(expected=(ONE,)),
            (Stage.COMPARE, "result 0: 2 of 2 elements differ, first at [0]: actual 2.0, expected 1.0"),
            Rung.COMPLETES,
            False,
        ),
        (
            case("checks", expected=None),
            (Stage.COMPARE, "check 2 of 2: 2 of 2 elements differ, first at [0]: actual 1.0, expected 2.0"),
            Rung.COMPLETES,
            False,
        ),
        (case(expected=None), (Stage.COMPARE, "function 'f' made no check"), Rung.COMPLETES, False),
        (
            case(inputs=(), expected=()),
            (Stage.COMPARE, "function 'f': 0 results to compare, expected 1 or more"),
            Rung.COMPLETES,
            False,
        ),
        (
            case(expected=(None,)),
            (Stage.COMPARE, "function 'f': 0 results to compare, expected 1 or more"),
            Rung.COMPLETES,
            False,
        ),
        (case(read=unreadable(RetargetError("no file\nx"))), (Stage.LOAD, "no file"), Rung.LOADS, False),
        (case(agree_with="o"), (Stage.LOAD, NOT_RUN), Rung.COMPLETES, False),
        (case("fails", agree_with="o"), (Stage.RUN, "it broke"), Rung.DISPATCHES, True),
    ],
)
def test_a_case_that_fails_says_where_and_why(
    tmp_path: Path, one: Case, said: tuple[Stage, str], rung: Rung, suspect: bool
) -> None:
    ran = Ran(tmp_path, one, case("g"))
    failed, passed = ran.outcome.cases
    assert passed.failure is None
    assert failed.failure is not None
    assert failed.failure == ran.outcome.failure
    assert (failed.failure.stage, failed.failure.summary) == said
    assert (failed.rung, ran.outcome.suspect) == (rung, suspect)
    assert failed.command == ()


def test_an_error_of_a_call_has_its_text_and_hint_and_a_case_of_a_tool_its_command(tmp_path: Path) -> None:
    failure = Ran(tmp_path, case("fails")).case.failure
    assert failure is not None
    assert (failure.text, failure.hint) == ("it broke\nhere", "mend it")
    assert Ran(tmp_path, case("fails"), program=Commands()).case.command == ("tool", "artifact")
    assert Ran(tmp_path, case(), program=Commands()).case.command == ()


def test_a_case_that_is_read_is_at_load_until_its_values_are_there(tmp_path: Path) -> None:
    data = CaseData(inputs=(ONE,), expected=(TWO,))
    ran = Ran(tmp_path, case(read=lambda: data, inputs=(), expected=None))
    assert ran.case.failure is None
    assert ran.said()[1:] == [
        ("LOAD", Rung.LOADS, "f"),
        ("RUN", Rung.DISPATCHES, "f"),
        ("COMPARE", Rung.COMPLETES, "f"),
    ]


@pytest.mark.parametrize(
    ("function", "rung"), [("f", Rung.MATCHES), ("fails", Rung.DISPATCHES), ("refuses arguments", Rung.LOADS)]
)
def test_a_program_that_reports_its_work_says_when_it_dispatches(tmp_path: Path, function: str, rung: Rung) -> None:
    ran = Ran(tmp_path, case(function), program=Reporting())
    assert ran.case.rung is rung
    work = [("RUN", Rung.DISPATCHES, function)] * (rung > Rung.LOADS)
    end = [("COMPARE", Rung.COMPLETES if rung is Rung.MATCHES else rung, function)]
    assert ran.said()[1:] == [("RUN", Rung.LOADS, function), *work, *end]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (lambda: case("no check"), r"^the device gave a NoneType to on_check while 'no check' ran, expected a Check$"),
        (lambda: case(read=unreadable(ExtensionError("a bug"))), "^a bug$"),
        (lambda: case(tolerances={"": 0.1}), r"^case 'f': tolerances\[''\] is 0\.1 \(float\), expected Tolerance$"),
    ],
)
def test_an_error_of_an_extension_is_no_failure_of_a_case(
    tmp_path: Path, error: Callable[[], Case], message: str
) -> None:
    with pytest.raises(ExtensionError, match=message):
        Ran(tmp_path, error())


@pytest.mark.parametrize(
    ("known", "summary", "lacking"),
    [
        ({}, NOT_RUN, "o"),
        ({"references": "o did not compile\nso"}, f"{NONE}o did not compile", "o"),
        ({"references": "o did not compile", "record": Path("outputs")}, f"{NONE}o did not compile", "o"),
        ({"references": Path("o")}, NOT_ENDED, "o"),
        ({"references": Path("o"), "name": "g"}, "", ""),
        ({"references": Path("o"), "name": "g", "function": "checks"}, "check 2 of 2: 2 of 2 elements differ", ""),
        ({"record": "outputs"}, "", ""),
    ],
)
def test_a_case_agrees_with_the_results_of_another_config(
    tmp_path: Path, known: dict[str, Any], summary: str, lacking: str
) -> None:
    Ran(tmp_path, case(name="g"), record=tmp_path / "o")
    fields = {name: known.pop(name) for name in ("name", "function") if name in known}
    if (found := known.get("references")) is not None:
        known["references"] = (("o", found if isinstance(found, str) else tmp_path / found),)
    if "record" in known:
        known["record"] = tmp_path / "p"
    found = Ran(tmp_path, case(agree_with="o", expected=(ONE,), **fields), **known).case
    failure = found.failure
    assert (failure.summary if failure else "").startswith(summary)
    assert (failure is None) is not summary
    assert ((failure.lacking, failure.no_verdict) if failure else ("", False)) == (lacking, bool(lacking))
    assert found.agree_with == "o"


def test_results_that_differ_from_another_config_name_it(tmp_path: Path) -> None:
    Ran(tmp_path, case(inputs=(TWO,), expected=None), record=tmp_path / "o")
    failure = Ran(tmp_path, case(agree_with="o"), references=(("o", tmp_path / "o"),)).case.failure
    assert failure is not None
    assert (failure.stage, failure.lacking, failure.no_verdict) == (Stage.COMPARE, "", False)
    assert "expected 4.0" in failure.summary


NO_OTHERS = "there are no results of another target to agree with: "


def voting(folder: Path, **recorded: Case | str) -> tuple[tuple[str, Path | str], ...]:
    """What the runs of these cases give, by their targets (`a_r` is `a/r`), or why they give nothing."""
    found: list[tuple[str, Path | str]] = []
    for name, one in recorded.items():
        if isinstance(one, Case):
            Ran(folder, one, record=folder / name)
        found.append((name.replace("_", "/"), folder / name if isinstance(one, Case) else one))
    return tuple(found)


def test_results_that_most_targets_have_pass_and_others_name_them(tmp_path: Path) -> None:
    one, twice = case(agree_with="majority", expected=None), case(inputs=(TWO,), expected=None)
    for others in ({"a_r": one}, {"a_r": one, "b_r": twice}, {"a_r": one, "b_r": "it broke"}):
        assert Ran(tmp_path, one, references=voting(tmp_path, **others)).case.failure is None  # type: ignore[arg-type]
    found = Ran(tmp_path, one, references=(*voting(tmp_path, a_r=twice, b_r=twice), ("o", tmp_path / "a_r"))).case
    assert found.failure is not None
    first = "result 0: 2 of 2 elements differ, first at [0]: c 2.0, a 4.0"
    assert found.failure.summary == f"a and b agree, c differs: {first}"
    assert (found.agree_with, found.agreeing) == ("majority", ("a/r", "b/r"))
    none = case(agree_with="majority", expected=None, inputs=())
    failure = Ran(tmp_path, none, references=voting(tmp_path, a_r=none)).case.failure
    assert failure is not None
    assert failure.summary == "function 'f': 0 results to compare, expected 1 or more"


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({}, f"{NO_OTHERS}it is not run here; `retarget run` runs both"),
        ({"a_r": "no a", "b_r": case("fails")}, f"{NO_OTHERS}no a; b/r: its own run of case 'f' did not come to its"),
        ({"majority": "a rule skips every other target"}, f"{NO_OTHERS}a rule skips every other target"),
    ],
)  # fmt: skip
def test_without_results_of_another_target_there_is_no_verdict(
    tmp_path: Path, others: dict[str, Case | str], why: str
) -> None:
    one = case(agree_with="majority", expected=None)
    failure = Ran(tmp_path, one, references=voting(tmp_path, **others)).case.failure
    assert failure is not None
    assert failure.summary.startswith(why)
    assert (failure.stage, failure.lacking, failure.no_verdict) == (Stage.LOAD, "majority", True)
    assert Ran(tmp_path, one, record=tmp_path / "reference").case.failure is None  # it is run for others


@pytest.mark.parametrize(
    ("used", "roles", "failed"),
    [
        ((True, False), (), ""),
        ((True, None), (), ""),
        ((None, None), (), ""),
        ((True, True), (), "the device d://1 executed no work, expected some; dispatches: d://0 = 3, d://1 = 0"),
        ((False, None), ("a", "b"), "the device a (d://0) executed work, expected none; dispatches: a = 3, b = 0"),
    ],
)
def test_work_on_another_device_than_was_asked_for_is_a_failure(
    tmp_path: Path, used: tuple[bool | None, ...], roles: tuple[str, ...], failed: str
) -> None:
    found = Ran(tmp_path, case(), program=Counting(), runtime={"used": used, "roles": roles}).case
    failure = found.failure
    assert ((failure.stage, failure.summary) if failure else ("", "")) == (Stage.RUN if failed else "", failed)
    names = roles or ("d://0", "d://1")
    assert found.dispatches == (() if used == (None, None) else ((names[0], 3), (names[1], 0)))


def test_a_driver_that_does_not_count_work_cannot_say_where_it_was_done(tmp_path: Path) -> None:
    failure = Ran(tmp_path, case(), runtime={"used": (True, None)}).case.failure
    assert failure is not None
    assert failure.summary == "the driver d does not count what a device executes"
    assert failure.hint == "take `used` out of the devices of runtime config 'r'"


def test_cases_that_pass_are_called_again_where_they_are_timed(tmp_path: Path) -> None:
    timing = Timing(seconds=1e-6)
    ran = Ran(tmp_path, case(), case("g"), timing=timing)
    assert [one.times is not None and one.times.calls > 0 for one in ran.outcome.cases] == [True, True]
    assert ran.said()[-2:] == [("RUN", Rung.DISPATCHES, "f"), ("RUN", Rung.DISPATCHES, "g")]
    for others in ({"program": Commands()}, {"timing": None}):
        assert Ran(tmp_path, case(), **{"timing": timing} | others).case.times is None
    assert [one.times for one in Ran(tmp_path, case(), case("fails"), timing=timing).outcome.cases] == [None, None]


def test_a_further_call_that_fails_is_the_failure_of_its_case(tmp_path: Path) -> None:
    ran = Ran(tmp_path, case("fails later"), case("g"), timing=Timing(seconds=1e-6))
    failed, passed = ran.outcome.cases
    assert (passed.failure, passed.times is None) == (None, False)
    assert failed.failure is not None
    assert failed.failure.summary == "a further call failed: it broke"
    assert (ran.outcome.failure, ran.outcome.suspect) == (failed.failure, True)


def test_a_call_that_only_has_to_complete_passes(tmp_path: Path) -> None:
    assert Ran(tmp_path, case(inputs=(), expected=None, must_check=False)).case.failure is None


def test_two_cases_of_one_name_are_a_failure_of_the_module(tmp_path: Path) -> None:
    failure = Ran(tmp_path, case(), case("g"), case()).outcome.failure
    assert failure is not None
    assert (failure.stage, failure.summary) == (Stage.LOAD, "found two cases named 'f', expected each name once")


def test_a_module_without_cases_or_of_which_none_is_selected(tmp_path: Path) -> None:
    assert Ran(tmp_path).outcome.failure is not None
    found = Ran(tmp_path, case(), case("g"), only=("g",)).outcome
    assert ([one.name for one in found.cases], found.names) == (["g"], ("f", "g"))
    found = Ran(tmp_path, case(), case("g"), skipping=(("*", True),), timing=Timing()).outcome
    assert (found.cases, found.names, found.failure) == ((), ("f", "g"), None)


def test_tolerances_are_the_cases_own_by_type_or_one_for_all() -> None:
    by_type = {"float32": Tolerance(rtol=0.5)}
    assert tolerances_of(case(tolerances=by_type, atol=1.0)) == by_type
    assert tolerances_of(case(atol=1.0, rtol=2.0)) == {"": Tolerance(atol=1.0, rtol=2.0)}


def test_cases_are_written_as_files_for_others(tmp_path: Path) -> None:
    (tmp_path / "artifact").write_bytes(b"a")
    (tmp_path / "p.irpa").write_bytes(b"p")
    Ran(tmp_path, case(name="g"), record=tmp_path / "o")
    functions = [FunctionInfo(name="f", arguments=2, argument_types=("tensor<2xf32>", "f32"))]
    checking = [case(name=name, expected=None, must_check=must) for name, must in (("h", True), ("i", False))]
    cases = (case(inputs=(ONE, ONE[0]), atol=1.0), case(name="g", agree_with="o"), *checking, case(name="j"))
    registry: Any = SimpleNamespace(
        driver=lambda _: SimpleNamespace(functions=lambda _: functions),
        case_loader=lambda _: _Loader(cases, [("s", tmp_path / "p.irpa")]),
    )
    target = run_target(compile_target(config="c"), driver="d")
    run = RunModule(target=target, artifact=tmp_path / "artifact", references=(("o", tmp_path / "o"),), only=("[f-i]",))
    message = ExportCases(run=run, folder=tmp_path / "e")
    assert export_cases(registry, message).names == ("f", "g", "h", "i")

    written = json.loads((tmp_path / "e" / "cases.json").read_text())
    assert (written["parameters"], (tmp_path / "e" / "parameters0.irpa").read_bytes()) == (
        [["s", "parameters0.irpa"]],
        b"p",
    )
    first, second, *_ = written["cases"]
    assert [(one["name"], one["function"], one["must_check"]) for one in written["cases"]] == [
        ("f", "f", False),
        ("g", "f", False),
        ("h", "f", True),
        ("i", "f", False),
    ]
    assert first["inputs"] == [
        {"file": "0-input0.npy", "dtype": "float32"},
        {"file": "0-input1.npy", "dtype": "float32", "number": 1.0},
    ]
    assert (first["tolerances"][""]["atol"], second["expected"]) == (
        1.0,
        [{"file": "1-expected0.npy", "dtype": "float32"}],
    )
    assert np.load(tmp_path / "e" / "1-expected0.npy").tolist() == [2, 2]


# Behind `run_under`, each case in a process of its own.


PASSES = 'echo "said $*"; for word; do case $word in --case=*) echo "${word#--case=}: passed";; esac; done'
"""Says of a case what its own process says."""


def external(
    folder: Path, *cases: Case, argv: Sequence[str] = ("true",), **known: Any
) -> tuple[RunOutcome, list[Progress]]:
    artifact = folder / "artifact"
    artifact.write_bytes(b"a")
    sent: list[Progress] = []
    message = RunModule(
        target=run_target(compile_target(config="c"), driver="d", run_under=tuple(argv)),
        artifact=artifact,
        digest="",
        **known,
    )
    driver: Any = SimpleNamespace(functions=lambda _: [FunctionInfo(name="f", arguments=0)])
    loader: Any = _Loader(cases)
    return run_external(driver, loader, message, sent.append), sent


def test_a_process_that_ends_well_is_a_case_that_passes(tmp_path: Path) -> None:
    data = CaseData(inputs=(), expected=None)
    found, sent = external(tmp_path, case(), case("g", read=lambda: data), argv=("sh", "-c", PASSES, "sh"))
    assert (found.failure, found.names, found.devices) == (None, ("f", "g"), ())
    assert [one.rung for one in found.cases] == [Rung.MATCHES, Rung.MATCHES]
    assert found.run_seconds == sum(one.seconds for one in found.cases) > 0
    first, passed, second, _ = found.output.splitlines()
    assert first.startswith("said ")
    assert passed == "f: passed"
    assert " --case=g " in second
    assert [(one.stage.name, one.case, one.done, one.names, one.rung) for one in sent] == [
        ("LOAD", "", None, (), Rung.COMPILES),
        ("RUN", "f", None, ("f", "g"), Rung.DISPATCHES),
        ("LOAD", "g", found.cases[0], (), Rung.COMPILES),
        ("RUN", "g", None, (), Rung.DISPATCHES),
    ]


@pytest.mark.parametrize(
    ("script", "stage", "summary"),
    [
        ("kill -SEGV $$", Stage.RUN, "sh crashed: SIGSEGV"),
        ("exit 3", Stage.RUN, "sh exited with status 3"),
        ("echo why; exit 3", Stage.RUN, "sh exited with status 3: why"),
        ("exit 0", Stage.RUN, "sh exited with status 0 and without a word that the case has passed"),
        ("echo 'f: failed at compare: two differ' | cat", Stage.COMPARE, "two differ"),
    ],
)
def test_a_process_that_fails_says_how(tmp_path: Path, script: str, stage: Stage, summary: str) -> None:
    (found,) = external(tmp_path, case(), argv=("sh", "-c", f"echo {OPENED}; {script}"))[0].cases
    assert found.failure is not None
    rung = Rung.COMPLETES if stage is Stage.COMPARE else Rung.DISPATCHES
    assert (found.failure.stage, found.failure.summary, found.rung) == (stage, summary, rung)
    assert found.failure.signal == ("SIGSEGV" if "crashed" in summary else "")
    assert OPENED not in found.failure.text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("#!/no/such/interpreter\n", "does not start: No such file or directory"),
        ("no program", "does not start: Exec format error"),
        ("#!/bin/sh\nexit 3\n", "exited with status 3 before the devices were open"),
        ("#!/bin/sh\necho garbage\n", "exited with status 0 before the devices were open: garbage"),
        ("#!/bin/sh\nkill -SEGV $$\n", "crashed: SIGSEGV before the devices were open"),
    ],
)
def test_a_broken_command_is_no_verdict_on_the_module(tmp_path: Path, content: str, why: str) -> None:
    command = tmp_path / "wrap"
    command.write_text(content)
    command.chmod(0o755)
    failure = external(tmp_path, case(), argv=(str(command),))[0].failure
    assert failure is not None
    assert (failure.stage, failure.summary) == (Stage.LOAD, f"run_under: {command} {why}")
    assert (failure.no_verdict, failure.signal) == (True, "")


def test_a_device_that_is_gone_after_a_case_hides_no_failure(tmp_path: Path) -> None:
    """Alone it is a missing device, as before the first case."""
    fails, gone = f"echo {OPENED}; echo 'f: failed at compare: two differ'", f"echo {UNAVAILABLE}: gone"
    command = ("sh", "-c", f"case $* in *--case=f*) {fails};; *) {gone};; esac; exit 1", "sh")
    found = external(tmp_path, case(), case("g"), argv=command)[0]
    assert [one.failure and (one.failure.summary, one.failure.no_verdict) for one in found.cases] == [
        ("two differ", False),
        ("gone", True),
    ]
    assert found.failure == found.cases[0].failure
    with pytest.raises(UnavailableError, match="gone"):
        external(tmp_path, case("g"), argv=command)


@pytest.mark.parametrize(
    ("one", "summary", "lacking"),
    [
        (case(agree_with="o"), f"{NONE}o did not compile", "o"),
        (case(read=unreadable(RetargetError("no file\nx"))), "no file", ""),
    ],
)
def test_a_case_without_its_data_is_not_started(tmp_path: Path, one: Case, summary: str, lacking: str) -> None:
    (found,) = external(tmp_path, one, references=(("o", "o did not compile\nso"),))[0].cases
    assert found.failure is not None
    assert (found.failure.stage, found.failure.summary, found.rung) == (Stage.LOAD, summary, Rung.COMPILES)
    assert (found.failure.lacking, found.failure.no_verdict) == (lacking, bool(lacking))


def test_a_reference_of_a_process_is_given_to_it(tmp_path: Path) -> None:
    found = external(tmp_path, case(agree_with="o"), argv=("echo",), references=(("o", Path("p")),))[0]
    assert found.output.split()[-3:] == ["--compiler=c", "--runtime=r", "--reference=o=p"]
    assert "--reference" not in external(tmp_path, case(), argv=("echo",), references=(("o", Path("p")),))[0].output


def test_a_process_says_who_agrees_and_is_not_started_where_nobody_has_results(tmp_path: Path) -> None:
    one, references = case(agree_with="majority"), (("a/r", Path("p")), ("b/r", "no device"))
    script = f"echo {OPENED}; echo 'f: failed at compare: differs'; echo '    agree with each other: a/r a/s'"
    (found,) = external(tmp_path, one, argv=("sh", "-c", script), references=references)[0].cases
    assert found.agreeing == ("a/r", "a/s")
    assert external(tmp_path, one, argv=("echo",), references=references)[0].output.endswith(" --reference=a/r=p\n")
    (found,) = external(tmp_path, one, references=references[1:])[0].cases
    assert found.failure is not None
    assert (found.failure.summary, found.failure.lacking) == (f"{NO_OTHERS}no device", "majority")


def test_an_artifact_without_functions_has_nothing_to_run(tmp_path: Path) -> None:
    found = external(tmp_path)[0]
    assert found.failure is not None
    assert (found.failure.stage, found.failure.summary) == (Stage.LOAD, "the module has no functions to run")
