"""Which variants of a module are tried, in what order, and what is kept: with a compiler that is a function here."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import Compiler
from retarget.model import CaseOutcome, CompileTarget, Failure, Module, Observation, RunOutcome, Stage, Suite, Target
from retarget.model.outcomes import TIMEOUT
from retarget.session import TIMEOUTS
from retarget.support import RetargetError
from retarget_repro import reduce
from retarget_repro.attempt import Attempt, Chosen
from retarget_repro.reduce import Reduced, reduce_failure

BAD = Failure(stage=Stage.COMPILE, summary="error: bad")
GONE = Failure(stage=Stage.RUN, summary="INTERNAL; gone")


def failing(failure: Failure = BAD, *cases: CaseOutcome, **fields: Any) -> Attempt:
    ran = RunOutcome(devices=(), cases=cases)
    return Attempt(failure=failure, observation=failure.observed_in(cases), ran=ran, **fields)


class Plain(Compiler):
    """Can make nothing smaller."""

    resolve = compile = reproduce = None


class Words(Plain):
    """Modules are words, of which one can be left out."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, bool]] = []

    def shrink_command(self, source: Path, folder: Path, keep_types: bool) -> Sequence[str]:
        self.calls.append((source.read_text(), keep_types))
        return ("shrink", str(source), str(folder))


def shrink(command: Sequence[str], *, input: str, **_: Any) -> subprocess.CompletedProcess[str]:  # noqa: A002  (as run)
    """Write the variants of a module, and say which, but those refused."""
    words, refused = Path(command[1]).read_text().split(), input.splitlines()
    if "cannot" in words:
        return subprocess.CompletedProcess(command, 1, "", "words: cannot be read")
    edits = {"printed": " ".join(words)}
    edits |= {f"without {one}": " ".join(word for word in words if word != one) for one in words}
    lines = [f"{len(words)} words"]
    for name, text in edits.items():
        if name not in refused:
            path = Path(command[2], f"{name.replace(' ', '-')}.text")
            path.write_text(text)
            lines.append(f"{path}\t{name}")
    return subprocess.CompletedProcess(command, 0, "\n".join(lines), "")


class Bench:
    """What is tried, and when: each attempt takes a second."""

    def __init__(self) -> None:
        self.now = 0.0
        self.engines: list[dict[str, Any]] = []
        self.tried: list[str] = []
        self.notes: list[str] = []
        self.fails: Callable[[Sequence[str]], bool] = {"bad", "worse"}.issubset
        self.compiler: Any = Words()
        self.registry: Any = SimpleNamespace(
            environment=dict,
            worker_environment=lambda _: (("TOOLS", "x"),),
            compilers={"iree": self.compiler},
            module_generator=lambda kind: "it" if kind == "generated" else None,
        )

    def engine(self, **given: Any) -> Any:
        self.engines.append(given)
        return nullcontext(SimpleNamespace(given=given))

    def attempt(self, _: Any, chosen: Chosen) -> Attempt:
        self.now += 1
        words = chosen.compiled.module.path.read_text().split()
        self.tried.append(" ".join(words))
        return failing() if self.fails(words) else Attempt()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench()
    monkeypatch.setattr(reduce, "Engine", made.engine)
    monkeypatch.setattr(reduce, "attempt", made.attempt)
    monkeypatch.setattr(reduce, "time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(reduce, "subprocess", SimpleNamespace(**{**vars(subprocess), "run": shrink}))
    return made


def reduced(
    bench: Bench,
    folder: Path,
    text: str,
    found: Attempt | None = None,
    *,
    seconds: float = 600,
    target: Callable[[CompileTarget], Target] = lambda compiled: compiled,
    **fields: Any,
) -> Reduced:
    (folder / "m.mlir").write_text(text)
    (out := folder / "out").mkdir()
    compiled = replace(compile_target(**fields), module=Module(name="m", path=folder / "m.mlir"))
    suite = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
    chosen = Chosen(registry=bench.registry, suite=suite, target=target(compiled))
    return reduce_failure(chosen, found or failing(), out, cases=("given",), seconds=seconds, note=bench.notes.append)


def text_of(result: Reduced) -> str:
    compiled = result.target if isinstance(result.target, CompileTarget) else result.target.compile
    return compiled.module.path.read_text()


# ---------------------------------------------------------------- variants


def test_each_part_that_is_not_needed_goes_and_what_was_refused_is_tried_once_more(
    bench: Bench, tmp_path: Path
) -> None:
    result = reduced(bench, tmp_path, "a bad b worse c")
    assert bench.tried == [
        "a bad b worse c",
        "bad b worse c",
        "b worse c",
        "bad worse c",
        "bad c",
        "bad worse",
        "worse",
        "bad",
    ]
    assert list(result.text()) == [
        "module: 5 words, 15 bytes → 2 words, 9 bytes",
        "  printed",
        "  without a",
        "  without b",
        "  without c",
        "8 tries in 8 s",
    ]
    assert bench.notes == [
        "printed: fails in the same way (15 bytes)",
        "without a: fails in the same way (13 bytes)",
        "without b: fails in the same way (11 bytes)",
        "without c: fails in the same way (9 bytes)",
    ]
    assert text_of(result) == (tmp_path / "out" / "m.text").read_text() == "bad worse"
    assert (result.target.name, result.cases) == ("m_c", ())


def test_what_could_not_go_before_may_go_without_the_rest(bench: Bench, tmp_path: Path) -> None:
    bench.fails = lambda words: "bad" in words and ("a" in words or "c" not in words)
    result = reduced(bench, tmp_path, "a bad c")
    assert result.steps == ("printed", "without c", "without a")
    assert text_of(result) == "bad"


@pytest.mark.parametrize(
    ("seconds", "tried", "steps"),
    [
        (-1, 0, ()),
        (1, 2, ("printed", "without a")),
        (3, 4, ("printed", "without a", "without b")),
        (7, 8, ("printed", "without a", "without b", "without c")),
    ],
)
def test_it_ends_when_its_time_is_up_and_says_so(
    seconds: int, tried: int, steps: tuple[str, ...], bench: Bench, tmp_path: Path
) -> None:
    result = reduced(bench, tmp_path, "a bad b worse c", seconds=seconds)
    assert (len(bench.tried), result.steps) == (tried, steps)
    assert list(result.text())[-1] == f"{tried} tries in {tried} s; more time might leave less"


def test_a_module_that_a_kind_generates_stays_as_it_is(bench: Bench, tmp_path: Path) -> None:
    result = reduced(bench, tmp_path, "bad worse", kind="generated")
    assert result.why_not == "; its compiler makes no smaller variants of such a module"
    assert bench.compiler.calls == []


def test_a_module_that_its_compiler_cannot_rewrite_stays_as_it_is(bench: Bench, tmp_path: Path) -> None:
    result = reduced(bench, tmp_path, "cannot bad worse")
    assert list(result.text()) == [
        "module: 16 bytes, not reduced",
        "0 tries in 0 s; no smaller variants can be made: words: cannot be read",
    ]


# ---------------------------------------------------------------- cases, targets, limits


def test_a_target_that_does_not_fail_is_an_error(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(RetargetError, match=r"^suite.toml::s::m_c does not fail: passes$"):
        reduced(bench, tmp_path, "bad", Attempt())
    lacking = Attempt(failure=BAD)
    with pytest.raises(RetargetError, match="does not fail"):
        reduced(bench, tmp_path / "out", "bad", lacking)


CASES = tuple(
    CaseOutcome(name=name, seconds=0.1, failure=failure) for name, failure in (("f", None), ("g", BAD), ("h", BAD))
)


@pytest.mark.parametrize(("fails_alone", "used"), [(True, ("g",)), (False, ("given",))])
def test_the_module_is_reduced_with_that_case_or_those_given(
    fails_alone: bool, used: tuple[str, ...], bench: Bench, tmp_path: Path
) -> None:
    answers = iter([fails_alone])
    bench.fails = lambda words: next(answers, words == ["bad"])
    reduced(bench, tmp_path, "bad", failing(BAD, *CASES))
    assert [given["cases"] for given in bench.engines] == [("g",), used]


def test_only_the_first_way_of_a_failure_counts(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (CaseOutcome(name="f", seconds=0.1, failure=GONE), CaseOutcome(name="g", seconds=0.1, failure=BAD))
    monkeypatch.setattr(reduce, "attempt", lambda *_: failing(BAD))
    result = reduced(bench, tmp_path, "bad worse", failing(GONE, *cases), target=run_target)
    assert (result.steps, result.tries) == ((), 2)


def test_of_values_that_differ_it_says_that_the_expected_ones_may_not_belong_to_what_is_left(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs = Failure(stage=Stage.COMPARE, summary="values differ")
    monkeypatch.setattr(reduce, "attempt", lambda *_: failing(differs))
    (*_, last) = reduced(bench, tmp_path, "a b", failing(differs), target=run_target).text()
    assert last.endswith(" s; what is left computes something else: see whether what is expected of it is still right")


@pytest.mark.parametrize(
    ("stage", "took", "limit"), [("compile", 2.0, 30.0), ("compile", 10.0, 50.0), (TIMEOUT, 10.0, TIMEOUTS.compile)]
)
def test_a_candidate_may_take_five_times_as_long_as_the_failure(
    stage: str, took: float, limit: float, bench: Bench, tmp_path: Path
) -> None:
    found = replace(failing(), observation=Observation(stage=stage, signature="bad"), seconds=took)
    reduced(bench, tmp_path, "bad worse", found)
    (given,) = bench.engines
    assert (given["timeouts"].compile, given["timeouts"].run, given["compiles"]) == (limit, limit, 1)
    assert (given["cache"], given["registry"]) == (tmp_path / "out" / "cache", bench.registry)


# ---------------------------------------------------------------- processes


@pytest.mark.parametrize(
    ("printed", "status", "errors", "said"),
    [
        ("", 0, "", "no smaller variants can be made: exit status 0"),
        ("3 words\n", 2, "", "no smaller variants can be made: exit status 2"),
        ("3 words\n", 1, "no such op\nmore\n", "no smaller variants can be made: no such op"),
    ],
)
def test_a_compiler_that_writes_no_variants_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, printed: str, status: int, errors: str, said: str
) -> None:
    done = subprocess.CompletedProcess((), status, printed, errors)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    with pytest.raises(RetargetError, match=f"^{said}$"):
        reduce._smaller_variants(Words(), _source(tmp_path), tmp_path, keep_types=True, env={})


def test_a_compiler_that_does_not_start_or_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (FileNotFoundError("none"), subprocess.TimeoutExpired("shrink", 120)):
        monkeypatch.setattr(subprocess, "run", _raising(error))
        with pytest.raises(RetargetError, match=r"^shrink writes no smaller variants: "):
            reduce._smaller_variants(Words(), _source(tmp_path), tmp_path, keep_types=True, env={})


def _source(folder: Path) -> Path:
    (folder / "source").write_text("words")
    return folder / "source"


def _raising(error: Exception) -> Callable[..., Any]:
    def run(*_: object, **__: object) -> Any:
        raise error

    return run
