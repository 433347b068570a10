"""The build service: each key compiled once, in order, ahead of need, and every crash and hang costs one target."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec.structs
import pytest
from data_errors import error_of
from msgspec.structs import replace
from retarget.extension import Resolved, UnavailableError
from retarget.extension.registry import load_extensions
from retarget.model.outcomes import CompileOutcome, Stage
from retarget.session.cache.store import Store, StoreError
from retarget.session.compile.pool import compile_failure
from retarget.session.compile.service import BuildService
from retarget.support.errors import RetargetError
from retarget.worker.messages import Refusal, Refused
from targets_of_doubles import EXTENSIONS, compile_target, has_ended, lines_of, toolchain

Make = Callable[..., BuildService]

DOUBLES = Path(__file__).parents[2]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DOUBLE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


@pytest.fixture
def fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOUBLE_FINGERPRINT", "double 1")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[BuildService] = []

    def build_service(folder: Path | None = None, *, workers: int = 1, timeout: float = 30) -> BuildService:
        store = Store(folder or tmp_path / "cache")
        made.append(
            BuildService(
                store=store,
                registry=load_extensions(EXTENSIONS),
                extensions=EXTENSIONS,
                workers=workers,
                default_timeout=timeout,
            )
        )
        return made[-1]

    yield build_service
    for service in made:
        service.close()


def compiles(log: Path) -> list[str]:
    return [line.split()[1] for line in lines_of(log) if line.startswith("compile")]


def test_a_target_is_compiled_once_and_reused_afterwards(make: Make, tmp_path: Path, log: Path) -> None:
    target = compile_target(tmp_path, "a", "pass a")
    first = make()
    cold = first.result(target)
    assert first.result(target) is cold
    second = make()
    warm = second.result(target)
    assert cold.artifact is not None
    assert Path(cold.artifact.path).read_bytes() == b"PASS A"
    assert (cold.reused, warm.reused, warm.artifact, warm.key) == (False, True, cold.artifact, cold.key)
    assert compiles(log) == ["a.txt"]
    assert (first.statistics.compiled, first.statistics.reused) == (1, 0)
    assert (second.statistics.compiled, second.statistics.reused, second.statistics.seconds) == (0, 1, 0.0)


def test_a_key_is_given_without_compiling_and_is_empty_for_what_has_none(make: Make, tmp_path: Path, log: Path) -> None:
    service, target = make(), compile_target(tmp_path, "a", "pass a")
    key = service.key(target)
    assert compiles(log) == []
    assert service.result(target).key == key
    assert service.key(compile_target(tmp_path, "b", "pass b")) not in {"", key}
    refused = compile_target(tmp_path, "c", "pass c", flags=("--wrong",))
    assert (service.key(refused), service.devices(refused), service.devices(target)) == ("", (), ())
    target.module.path.unlink()
    assert service.key(target) == ""
    with pytest.raises(UnavailableError, match=r"^compiler double is not installed$"):
        service.key(compile_target(tmp_path, "d", "pass d", flags=("--absent",)))


def test_targets_are_compiled_in_the_order_they_were_submitted(make: Make, tmp_path: Path, log: Path) -> None:
    targets = [compile_target(tmp_path, name, f"pass {name}") for name in "cabd"]
    service = make()
    service.submit(targets)
    for target in targets:
        service.result(target)
    assert compiles(log) == ["c.txt", "a.txt", "b.txt", "d.txt"]


def test_one_worker_serves_many_compiles(make: Make, tmp_path: Path, log: Path) -> None:
    service = make()
    for name in "abc":
        service.result(compile_target(tmp_path, name, f"pass {name}"))
    assert len({line.split()[-1] for line in lines_of(log) if line.startswith("compile")}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["_RECYCLE_COMPILES", "_RECYCLE_RESIDENT"])
def test_a_worker_that_has_done_or_grown_enough_is_replaced(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(f"retarget.session.compile.pool.{limit}", 1)
    service = make()
    for name in "ab":
        service.result(compile_target(tmp_path, name, f"pass {name}"))
    pids = [int(line.split()[-1]) for line in lines_of(log) if line.startswith("compile")]
    assert len(set(pids)) == 2
    assert all(has_ended(pid) for pid in pids)


def test_targets_with_one_key_are_compiled_once(make: Make, tmp_path: Path, log: Path) -> None:
    one = compile_target(tmp_path / "one", "a", "@sleep 0.2\npass a")
    two = compile_target(tmp_path / "two", "a", "@sleep 0.2\npass a")
    service = make(workers=2)
    service.submit([one, two])
    assert service.result(one).artifact == service.result(two).artifact
    assert compiles(log) == ["a.txt"]


def test_a_diagnosed_failure_is_stored_with_its_colour(make: Make, tmp_path: Path, log: Path) -> None:
    target = compile_target(tmp_path, "a", "@print chatter\n@refuse it is wrong")
    first, second = make(), make()
    cold, warm = first.result(target), second.result(target)
    assert cold.failure is not None
    assert (cold.failure.stage, cold.failure.summary) == (Stage.COMPILE, "it is wrong")
    assert cold.failure.text == ("\x1b[31merror:\x1b[0m it is wrong\nchatter to 1\nchatter to 2\nchatter by stdio\n")
    assert (warm.failure, warm.reused) == (cold.failure, True)
    assert compiles(log) == ["a.txt"]


def test_a_crash_names_its_signal_costs_one_target_and_is_tried_again(make: Make, tmp_path: Path, log: Path) -> None:
    crash = compile_target(tmp_path, "a", "@crash SIGFPE")
    other = compile_target(tmp_path, "b", "pass b")
    service = make()
    service.submit([crash, other])
    failure = service.result(crash).failure
    assert failure is not None
    assert failure.summary == "compiler crashed: SIGFPE"
    assert (failure.stage, failure.signal, failure.text) == (Stage.COMPILE, "SIGFPE", "last words\n")
    assert service.result(other).failure is None
    again = make().result(crash)
    assert not again.reused
    assert compiles(log) == ["a.txt", "b.txt", "a.txt"]


def test_a_further_fact_is_one_of_all_steps() -> None:
    half = Resolved(build_id="1", flags=(), facts=(("a", "1"),))
    found = replace(half, front_end=half).with_facts(("b", "2"))
    facts = (("a", "1"), ("b", "2"))
    assert found == replace(half, facts=facts, front_end=replace(half, facts=facts))


def test_a_compiler_that_exits_with_an_error_says_which() -> None:
    output = "Unknown CPU.\nLLVM ERROR: no such subtarget\n"
    ended = Refused(refusal=Refusal.ENDED, summary="worker ended: exit status 1", cause="exit status 1", text=output)
    failure = compile_failure(ended)
    assert failure.summary == "compiler ended: exit status 1: LLVM ERROR: no such subtarget"
    assert (failure.text, failure.no_verdict) == (output, True)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("@empty", {"summary": "the compiler ended without an error, and its output is empty", "text": "last words\n"}),
        ("@exit 7", {"summary": "compiler ended: exit status 7", "transient": True}),
        (
            "@trouble the linker is missing",
            {
                "summary": "the linker is missing",
                "no_verdict": True,
                "hint": "the compiler gave no verdict on the module: this is not stored, and no expectation applies to "
                "it",
            },
        ),
        (
            "@raise by zero",
            {"summary": "the compiler's extension failed: ZeroDivisionError: by zero", "transient": True},
        ),
        pytest.param(
            "@hang native",
            {"summary": "compile timed out after 0.3 s", "timed_out": True, "text": "before the hang\n"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_is_no_verdict_on_a_module_is_said_costs_one_target_and_is_tried_again(
    make: Make, tmp_path: Path, log: Path, text: str, known: dict[str, object]
) -> None:
    target = compile_target(tmp_path, "a", text, timeout=0.3 if "hang" in text else None)
    service = make()
    failure = service.result(target).failure
    assert failure is not None
    assert {name: getattr(failure, name) for name in known} == known
    assert ("Traceback" in failure.text) is ("raise" in text)
    assert service.result(compile_target(tmp_path, "b", "pass b")).failure is None
    assert make().result(target).reused is False
    assert compiles(log) == ["a.txt", "b.txt", "a.txt"]


def test_a_failure_is_forgotten_here_and_in_the_store_when_it_is_to_be_tried_again(
    make: Make, tmp_path: Path, log: Path
) -> None:
    failing, passing = compile_target(tmp_path, "bad", "@refuse bad"), compile_target(tmp_path, "good", "pass good")
    service = make()
    assert service.result(failing).failure is not None
    service.result(passing)
    count = len(compiles(log))
    for target in (failing, passing):
        service.retry(target)
        service.result(target)
    assert len(compiles(log)) == count + 1
    service.retry(compile_target(tmp_path, "never", "asked"))


def steps(log: Path) -> list[str]:
    return [line.split()[0] for line in lines_of(log) if line.split()[0] in {"front", "compile"}]


def test_what_a_front_end_gave_is_kept_for_other_builds_of_what_comes_after_it(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = compile_target(tmp_path, "a", "@@print seen\npass a", flags=("--front-end",))
    first = make().result(target)
    assert first.artifact is not None
    assert Path(first.artifact.path).read_bytes() == b"PASS A"
    assert first.diagnostics.splitlines() == ["front end", "seen to 1", "seen to 2", "seen by stdio"]
    monkeypatch.setenv("DOUBLE_BUILD", "double 2")
    second = make().result(target)
    assert (second.key != first.key, second.artifact, second.diagnostics) == (True, first.artifact, first.diagnostics)
    assert steps(log) == ["front", "compile", "compile"]
    (tmp_path / "a.txt").write_text("pass b")
    assert make().result(target).key not in {first.key, second.key}
    assert steps(log)[3:] == ["front", "compile"]


HALVES = [("--half",), ("--half", "--small"), ("--half", "--fast")]


def halves(log: Path) -> list[str]:
    """What each compile had to do with a front half."""
    compiles = (line.split() for line in lines_of(log) if line.split()[0] in {"front", "compile"})
    return [next((word for word in line if word.endswith("-half")), "in one step") for line in compiles]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("more", [(), ("--front-end",)])
def test_the_first_compile_of_a_module_keeps_the_front_half_for_the_others(
    make: Make, tmp_path: Path, log: Path, more: tuple[str, ...]
) -> None:
    flags = [(*HALVES[0], *more), *HALVES[1:]]
    targets = [compile_target(tmp_path, "a", "@sleep 0.1\npass a", flags=one) for one in flags]
    service = make(workers=2)
    service.submit(targets)
    outcomes = [service.result(target) for target in targets]
    expected = ["keeps-half", "begins-with-half", "begins-with-half", *(["in one step"] if more else [])]
    assert sorted(halves(log)) == sorted(expected)  # what goes on from the front end needs no half
    assert {one.diagnostics for one in outcomes} == {""}
    assert len({one.key for one in outcomes}) == 3
    assert len([*(tmp_path / "cache").rglob("*.front")]) == 1 + len(more)


def test_a_front_half_is_kept_only_for_targets_that_are_selected_and_not_cached(
    make: Make, tmp_path: Path, log: Path
) -> None:
    targets = [compile_target(tmp_path, "a", "pass a", flags=one) for one in HALVES]
    make().result(targets[0])
    service = make(workers=1)
    service.submit(targets[:2])  # the first one is cached: nobody shares it with the second
    service.result(targets[1])
    service = make(workers=1)
    service.submit([*targets, compile_target(tmp_path, "b", "pass b", flags=HALVES[0])])  # another module
    service.finish()
    service = make(workers=1)
    service.submit([compile_target(tmp_path, "c", "pass c", flags=one) for one in (HALVES[0], (), ("--absent",))])
    service.finish()
    assert halves(log) == ["in one step"] * 6


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", ["@print seen", "@refuse no such op", "@crash SIGSEGV", "@trouble no linker"])
def test_a_module_whose_first_compile_fails_or_prints_is_compiled_in_one_step(
    make: Make, tmp_path: Path, log: Path, first: str
) -> None:
    targets = [compile_target(tmp_path, "a", f"{first}\npass a", flags=one) for one in HALVES]
    service = make(workers=1)
    service.submit(targets)
    outcomes = [service.result(target) for target in targets]
    assert halves(log) == ["keeps-half", "in one step", "in one step"]
    assert len({(one.diagnostics, one.failure) for one in outcomes}) == 1
    assert not [*(tmp_path / "cache").rglob("*.front")]


def test_a_failure_in_the_front_half_is_one_of_all_targets_that_share_it(make: Make, tmp_path: Path, log: Path) -> None:
    targets = [compile_target(tmp_path, "a", "@reject", flags=one) for one in HALVES]
    service = make(workers=1)
    service.submit(targets)
    outcomes = [service.result(target) for target in targets]
    assert halves(log) == ["keeps-half"]
    assert [(one.failure and one.failure.summary, one.diagnostics) for one in outcomes] == [
        ("rejected", "error: rejected\n")
    ] * 3
    assert [one.reused for one in outcomes] == [False, True, True]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("damage", [b"", b"pass c"])
def test_a_damaged_output_of_a_front_end_is_made_again(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    target = compile_target(tmp_path, "a", "pass a", flags=("--front-end",))
    artifact = make().result(target).artifact
    (kept,) = (tmp_path / "cache").rglob("*.front")
    kept.write_bytes(damage)
    monkeypatch.setenv("DOUBLE_BUILD", "double 2")
    service = make()
    assert service.result(target).artifact == artifact
    assert steps(log) == ["front", "compile", "front", "compile"]
    assert len(service.notes) == 1
    assert "is damaged: its content has SHA-256" in service.notes[0]


@pytest.mark.parametrize(
    ("flag", "summary"), [("--wrong", "unknown flag --wrong"), ("--do=crash:SIGSEGV", "compiler crashed: SIGSEGV")]
)
def test_flags_that_are_refused_or_crash_the_compiler_fail_every_target_and_are_asked_once(
    make: Make, tmp_path: Path, log: Path, flag: str, summary: str
) -> None:
    service = make()
    failures = [service.result(compile_target(tmp_path, name, "pass a", flags=(flag,))).failure for name in "ab"]
    assert failures[0] is not None
    assert failures[0].summary == summary
    assert failures[0] == failures[1]
    assert lines_of(log) == ["resolve double"]


def test_an_unknown_compiler_names_the_registered_ones(make: Make, tmp_path: Path) -> None:
    target = compile_target(tmp_path, "a", "pass a")
    target = msgspec.structs.replace(target, compiler=msgspec.structs.replace(target.compiler, compiler="dubble"))
    with pytest.raises(RetargetError, match=r"found the compiler 'dubble', expected a registered one: double, .*iree"):
        make().result(target)


def test_a_module_that_cannot_be_read_fails_at_compile(make: Make, tmp_path: Path) -> None:
    target = compile_target(tmp_path, "a", "pass a")
    target.module.path.unlink()
    failure = make().result(target).failure
    assert failure is not None
    assert failure.summary == f"module {target.module.path} cannot be read: No such file or directory"
    assert failure.no_verdict


@pytest.mark.slow
@pytest.mark.usefixtures("fingerprint")
def test_a_warm_session_starts_no_compiler_where_the_fingerprint_holds(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = compile_target(tmp_path, "a", "pass a")
    make().result(target)
    make().result(target)
    assert lines_of(log)[0] == "resolve double"
    assert len(lines_of(log)) == 2
    monkeypatch.setenv("DOUBLE_FINGERPRINT", "double 2")
    monkeypatch.setenv("DOUBLE_BUILD", "double 2")
    assert make().result(target).reused is False
    assert len(lines_of(log)) == 4


@pytest.mark.slow
def test_what_this_process_would_import_in_place_of_the_workers_compiler_shows_nothing(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, ours = tmp_path / "installed" / "double_build.py", tmp_path / "ours" / "double_build.py"
    for file in (installed, ours):
        file.parent.mkdir()
        file.write_text(f"# {file.parent.name}")
    monkeypatch.setenv("PYTHONPATH", f"{installed.parent}:{DOUBLES}")
    monkeypatch.setattr(sys, "path", [str(ours.parent), *sys.path])  # as the ini key `pythonpath` does
    target = compile_target(tmp_path, "a", "pass a")
    assert make().result(target).build_id == "# installed"
    installed.write_text("# another")
    other = make().result(target)
    assert (other.reused, other.build_id) == (False, "# another")


def test_a_compiler_that_crashes_when_it_is_asked_is_an_error_that_names_the_config(make: Make, tmp_path: Path) -> None:
    target = compile_target(tmp_path, "a", "pass", env=(("DOUBLE_FINGERPRINT", "crash"),))
    assert error_of(make().check, target.compiler) == "compiler config 'double': compiler crashed: SIGSEGV"


@pytest.mark.slow
def test_one_build_at_two_paths_has_one_key_and_another_build_another(make: Make, tmp_path: Path, log: Path) -> None:
    for name, content in (("one", "# 1"), ("copy", "# 1"), ("other", "# 2")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "build").write_text(content)
    target = compile_target(tmp_path, "a", "@env DOUBLE_TOOLCHAIN")

    def compiled(name: str) -> CompileOutcome:
        config = replace(target.compiler, toolchain=toolchain(tmp_path / name))
        return make().result(replace(target, compiler=config))

    first, copy, other = compiled("one"), compiled("copy"), compiled("other")
    assert (first.build_id, first.reused) == ("# 1", False)
    assert (copy.key, copy.reused) == (first.key, True)
    assert (other.build_id, other.reused) == ("# 2", False)
    assert lines_of(log).count("resolve double") == 3
    assert compiled("copy").reused
    assert lines_of(log).count("resolve double") == 3


def test_a_toolchain_that_is_missing_is_unavailable_with_its_place(make: Make, tmp_path: Path, log: Path) -> None:
    target = compile_target(tmp_path, "a", "pass")
    lost = replace(target, compiler=replace(target.compiler, toolchain=toolchain(tmp_path / "biuld")))
    with pytest.raises(UnavailableError) as caught:
        make().result(lost)
    assert str(caught.value) == f"toolchain 'mine' (matrix.toml): {tmp_path / 'biuld'} holds no double"
    assert lines_of(log) == []


@pytest.mark.slow
def test_what_is_compiled_while_an_input_changes_is_used_and_not_stored(make: Make, tmp_path: Path) -> None:
    file = tmp_path / "patterns"
    file.write_text("one")
    target = compile_target(tmp_path, "a", f"@write {file} two\npass a", flags=(f"--file={file}",))
    service = make()
    outcome = service.result(target)
    file.write_text("one")
    assert outcome.artifact is not None
    assert service.notes == (f"{file} changed while a_double was compiled: its outcome is not reused",)
    assert not make().result(target).reused


def test_an_evicted_artifact_is_made_again_in_the_same_session(make: Make, tmp_path: Path) -> None:
    service = make()
    target = compile_target(tmp_path, "a", "pass a")
    first = service.result(target)
    assert first.artifact is not None
    Path(first.artifact.path).unlink()
    second = service.result(target)
    assert second.artifact == first.artifact
    assert Path(first.artifact.path).exists()


@pytest.mark.skipif(sys.platform != "linux", reason="uses /dev/full, the disk that is always full")
def test_a_full_disk_is_an_error_and_stops_further_compiles(
    make: Make, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = compile_target(tmp_path, "kept", "pass kept")
    make().result(kept)
    targets = [compile_target(tmp_path, name, f"pass {name}") for name in "ab"]
    real = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", lambda path, data: real(Path("/dev/full"), data))
    service = make()
    for target in targets:
        with pytest.raises(StoreError, match=r"is full .No space left on device.; free some space"):
            service.result(target)
    assert service.result(kept).reused
    assert compiles(log) == ["kept.txt", "a.txt"]


def test_a_result_asked_of_a_closed_service_is_an_error(make: Make, tmp_path: Path) -> None:
    service = make()
    service.close()
    with pytest.raises(RetargetError, match="the build service was closed before a_double was compiled"):
        service.result(compile_target(tmp_path, "a", "pass a"))


def test_the_parent_imports_nothing_heavy() -> None:
    code = (
        "import sys, retarget.session.compile.service, retarget.session.run.service, retarget.session.cache.transfer\n"
        "import retarget.cli.artifacts.cache, retarget.cli.devices\n"
        "print([name for name in ('numpy', 'ml_dtypes', 'iree', 'jinja2', 'pyopencl', 'pytest', 'pydantic')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
