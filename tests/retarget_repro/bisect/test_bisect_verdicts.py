"""What a bisection makes of what a target does with each version: verdicts, lines, JSON, and which parts move."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_targets import ORIGIN, compile_target, run_target
from msgspec.structs import replace
from retarget.extension import Driver, UnavailableError
from retarget.model import CompilerConfig, Failure, RunTarget, Stage, Suite, Toolchain
from retarget.session import load_extensions
from retarget.support import RetargetError
from retarget_repro import bisect
from retarget_repro.attempt import Attempt, Chosen
from retarget_repro.bisect import Bisection, Releases, Tried, Verdict

NO_OP = Failure(stage=Stage.COMPILE, summary="error: no such op")
GONE = Failure(stage=Stage.RUN, summary="INTERNAL; gone")
IREE = {"compiler": ("iree-base-compiler",), "runtime": ("iree-base-runtime",)}

installed = cache(load_extensions)


def attempted(word: str) -> Attempt:
    """Return what a word stands for: `passes`, `no-op`, `gone`, else why it cannot be tried."""
    failure = {"no-op": NO_OP, "gone": GONE}.get(word)
    if failure is not None:
        return Attempt(failure=failure, observation=failure.observed_in(()), builds=(word,), seconds=1.23456)
    return Attempt(builds=(word,)) if word == "passes" else Attempt(unavailable=word)


def chosen(*, runs: bool = True) -> Chosen:
    suite = Suite(name="s", folder=Path(), modules=(), kind="check", targets=(), origin=ORIGIN)
    compiled = compile_target()
    return Chosen(registry=installed(), suite=suite, target=run_target(compiled) if runs else compiled)


class Bench:
    """Versions that do what they say, in turn; the last of it again and again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.does: dict[str, list[str]] = {}
        self.engines: list[dict[str, Any]] = []
        self.tried: list[Chosen] = []
        self.asked_pre: list[bool] = []
        monkeypatch.setattr(bisect, "Engine", self._engine)
        monkeypatch.setattr(bisect, "attempt", self._attempt)
        monkeypatch.setattr(bisect, "by_hand", lambda _, of, *__: ("cd .", of.compiled.compiler.toolchain.name))
        monkeypatch.setattr(Releases, "versions", self._versions)
        monkeypatch.setattr(Releases, "installed", self._installed)

    def _engine(self, **given: Any) -> Any:
        self.engines.append(given)
        return nullcontext("open")

    def _attempt(self, engine: Any, of: Chosen) -> Attempt:
        assert engine == "open"
        self.tried.append(of)
        toolchain = of.compiled.compiler.toolchain
        if toolchain is None and isinstance(of.target, RunTarget):
            toolchain = of.target.runtime.toolchain
        assert toolchain is not None
        does = self.does[toolchain.name]
        return attempted(does.pop(0) if len(does) > 1 else does[0])

    def _versions(self, *, pre: bool) -> tuple[str, ...]:
        self.asked_pre.append(pre)
        return tuple(self.does)

    def _installed(self, version: str) -> Path:
        if self.does[version] == ["none"]:
            msg = "does not install: no wheel"
            raise UnavailableError(msg)
        return Path("releases", version)

    def bisection(self, *words: str, of: Chosen | None = None, parts: Any = None) -> Bisection:
        store = Releases(packages=("p",), folder=Path("releases"), note=print)
        return Bisection(arguments=options(*words), chosen=of or chosen(), parts=parts or IREE, releases=store)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--retarget-extension", action="append", default=[])
    bisect.add_arguments(parser)
    words = words if "--good" in words else (*words, "--good", "1")
    return parser.parse_args(["m_c_r", *words])


# ---------------------------------------------------------------- one version


def test_what_was_tried_is_a_line(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.does = {"1": ["passes"], "2": ["no-op"], "3": ["none"]}
    bisection = bench.bisection()
    for version in bench.does:
        bisection.judge(version)
    assert capsys.readouterr() == (
        "1  good  passes\n2  bad   compile: error: no such op\n3  skip  does not install: no wheel\n",
        "",
    )
    assert [one.commands for one in bisection.tried.values()] == [(), ("cd .", "2"), ()]


@pytest.mark.parametrize(
    ("does", "words", "target_runs", "verdict", "tries"),
    [
        (["passes"], ["--runs", "3"], True, Verdict.GOOD, 3),
        (["passes", "no-op", "passes"], ["--runs", "3"], True, Verdict.BAD, 2),
        (["no-op"], ["--runs", "3"], True, Verdict.BAD, 1),
        (["passes", "no-op"], [], True, Verdict.GOOD, 1),
        (["passes", "no-op"], ["--runs", "3"], False, Verdict.GOOD, 1),
    ],
)
def test_a_version_is_good_if_it_passes_as_often_as_wanted_and_compiles_are_not_repeated(
    bench: Bench, *, does: list[str], words: list[str], target_runs: bool, verdict: Verdict, tries: int
) -> None:
    bench.does = {"1": does}
    assert bench.bisection(*words, of=chosen(runs=target_runs)).judge("1") is verdict
    assert len(bench.tried) == tries


def test_what_cases_agree_with_moves_too_where_its_builds_are_the_same(bench: Bench) -> None:
    bench.does = {"2": ["passes"]}
    compilers = [CompilerConfig(name=name, compiler=name, origin=ORIGIN) for name in ("iree", "other")]
    release = Toolchain(name="release", path=Path("pinned"), origin=ORIGIN)
    compilers.append(replace(compilers[0], name="pinned", toolchain=release))
    others = [run_target(compile_target(config=one.name, compiler=one)) for one in compilers]
    others.append(run_target(compile_target(config="iree", compiler=compilers[0]), toolchain=release))
    bench.bisection(of=replace(chosen(), others=others)).judge("2")
    (tried,) = bench.tried
    moved = [(one.compile.compiler.toolchain, one.runtime.toolchain) for one in tried.others if one.runtime is not None]
    names = [[one and one.name for one in both] for both in moved]
    assert names == [["2", "2"], [None, None], ["release", None], [None, "release"]]


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("passes", "passes", "--bad: with 9 the target passes; expected a version with which it fails"),
        (
            "passes",
            "no device",
            "--bad: with 9 the target cannot be tried (no device); expected a version with which it fails",
        ),
        (
            "no-op",
            "no-op",
            "--good: with 1 the target fails (compile: error: no such op) as with the bad one; "
            "expected a version with which it passes",
        ),
        (
            "gone",
            "no-op",
            "--good: with 1 the target fails (run: INTERNAL; gone); expected a version with which it passes",
        ),
        (
            "none",
            "no-op",
            "--good: with 1 the target cannot be tried (does not install: no wheel); "
            "expected a version with which it passes",
        ),
    ],
)
def test_the_good_version_must_be_good_and_the_bad_one_bad(good: str, bad: str, said: str, bench: Bench) -> None:
    bench.does = {"1": [good], "9": [bad]}
    with pytest.raises(RetargetError) as error:
        bench.bisection().verify("1", "9")
    assert str(error.value) == said


# ---------------------------------------------------------------- what is searched


def test_what_has_no_releases_is_named() -> None:
    product = type("Product", (Driver,), {"probe": None, "open": None})()
    bare: Any = SimpleNamespace(compiler=lambda _: product, driver=lambda _: product)
    of = Chosen(registry=bare, suite=chosen().suite, target=chosen().target)
    for only, what in ((None, "compiler 'iree' and the driver 'local-sync'"), ("runtime", "driver 'local-sync'")):
        with pytest.raises(
            RetargetError, match=f"^the {what} has no releases to try; expected one with `release_packages` "
        ):
            bisect._parts(of, only)
    with pytest.raises(RetargetError, match=r"^the compile target 'm_c' has no releases to try"):
        bisect._parts(Chosen(registry=bare, suite=of.suite, target=of.compiled), "runtime")


@pytest.mark.parametrize("lacking", ["release_packages", "toolchain_environment"])
def test_releases_are_of_what_names_packages_and_uses_toolchains(lacking: str) -> None:
    methods = {"release_packages": lambda _: ("p",), "toolchain_environment": lambda *_: ()}
    users = [type("User", (Driver,), {**methods, "probe": None, "open": None})]
    users += [type("User", (users[0],), {lacking: getattr(Driver, lacking)})]
    registry: Any = SimpleNamespace(compiler=lambda _: users.pop(0)())
    of = Chosen(registry=registry, suite=chosen().suite, target=compile_target())
    assert bisect._parts(of, None) == {"compiler": ("p",)}
    with pytest.raises(RetargetError, match="has no releases to try"):
        bisect._parts(of, None)


def test_versions_are_those_from_the_good_to_the_bad_one() -> None:
    known = ("1.1", "1.2", "1.3", "1.4", "1.5")
    assert bisect._between(known, "1.2", "1.4") == ("1.2", "1.3", "1.4")
    assert bisect._between(known, "1.4", "1.2") == ("1.4", "1.3", "1.2")
    assert bisect._between(known, "1.1", "1.5") == known
    there_are = "there are 1.1, 1.2, 1.3, 1.4, 1.5"
    for good, bad, said in (
        ("1.1.0", "1.2", rf"--good: found '1.1.0', expected a release; did you mean '1.1'\?; {there_are}"),
        ("1.2", "6", f"--bad: found '6', expected a release; {there_are}"),
        ("1.2", "1.2", "found 1.2 for --good and for --bad, expected two versions"),
    ):
        with pytest.raises(argparse.ArgumentError, match=f"^{said}$"):
            bisect._between(known, good, bad)


# ---------------------------------------------------------------- the whole


def _bisected(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(bisect, "chosen_target", lambda _: chosen())
    return bisect.run(options(*words))


def test_the_first_bad_version_is_found_and_printed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.does = {"0": ["none"], "1": ["passes"], "2": ["passes"], "3": ["no-op"], "4": ["no-op"]}
    assert _bisected(monkeypatch) == 0
    assert capsys.readouterr().out.splitlines() == [
        "suite.toml::s::m_c_r",
        "4 releases of iree-base-compiler (compiler) and iree-base-runtime (runtime) from 1 to 4",
        "4  bad   compile: error: no such op",
        "1  good  passes",
        "2  good  passes",
        "3  bad   compile: error: no such op",
        "the first bad version is 3",
        "  2: passes",
        "    passes",
        "  3: compile: error: no such op",
        "    no-op",
        "to reproduce this by hand:",
        "  cd .",
        "  3",
    ]
    assert bench.asked_pre == [False]


def test_where_it_cannot_be_told_the_versions_between_are_named_and_the_status_is_1(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.does = {"1": ["passes"], "2": ["none"], "3": ["gone"], "4": ["no-op"], "5": ["no-op"]}
    assert _bisected(monkeypatch, "--pre", "--bad", "5") == 1
    assert "the first bad version is 2 or 3 or 4: of the others it cannot be told\n" in capsys.readouterr().out
    assert bench.asked_pre == [True]


def test_where_the_bad_version_is_older_the_first_good_one_is_sought(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.does = {"1": ["no-op"], "2": ["no-op"], "3": ["gone"], "4": ["none"], "5": ["passes"]}
    assert _bisected(monkeypatch, "--good", "5", "--bad", "1") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-8:] == [
        "the first good version is 3 or 4 or 5: of the others it cannot be told",
        "  2: compile: error: no such op",
        "    no-op",
        "  5: passes",
        "    passes",
        "to reproduce this by hand:",
        "  cd .",
        "  2",
    ]
    bench.does = {"1": ["no-op"], "2": ["passes"]}
    assert _bisected(monkeypatch, "--good", "2", "--bad", "1") == 0
    assert "the first good version is 2\n" in capsys.readouterr().out


def test_results_are_whole_without_commands() -> None:
    one = Tried(version="1", verdict=Verdict.GOOD, attempt=Attempt())
    two = Tried(version="2", verdict=Verdict.BAD, attempt=attempted("no-op"))
    assert list(bisect._text(one, two, (), is_newer=True))[-1] == "to reproduce this by hand:"


# ---------------------------------------------------------------- releases, with a pip that says what it is to say


class Pip:
    """What pip is asked, and what it answers to `index versions` and to `install`."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.answers: dict[str, tuple[int, str, str]] = {}

    def run(self, argv: Sequence[str], **how: Any) -> subprocess.CompletedProcess[str]:
        assert how == {"capture_output": True, "text": True, "errors": "replace", "check": False}
        head = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
        assert list(argv[:5]) == head
        words = list(argv[5:])
        self.asked.append(words)
        status, printed, errors = self.answers.get(words[0], (0, "", ""))
        if words[0] == "install" and not status:
            assert Path(words[words.index("--target") + 1]).is_dir()
        return subprocess.CompletedProcess(argv, status, printed, errors)


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip()
    monkeypatch.setattr(bisect.subprocess, "run", made.run)
    return made


def kept(folder: Path, notes: list[str] | None = None, *packages: str) -> Releases:
    note: Callable[[str], None] = (notes if notes is not None else []).append
    return Releases(packages=packages or ("a", "b"), folder=folder / "releases", note=note)


def test_versions_are_those_of_all_packages_oldest_first(pip: Pip, tmp_path: Path) -> None:
    pip.answers["index"] = (0, "a (3)\nAvailable versions: 3, 2, 1\n  INSTALLED: 1\n", "")
    assert kept(tmp_path).versions() == ("1", "2", "3")
    assert kept(tmp_path).versions(pre=True) == ("1", "2", "3")
    assert pip.asked == [
        ["index", "versions", "a"],
        ["index", "versions", "b"],
        ["index", "versions", "a", "--pre"],
        ["index", "versions", "b", "--pre"],
    ]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((1, "Available versions: 1\n", "WARNING: x\nERROR: no such package\n"), "no such package"),
        ((0, "a (3)\n", ""), "exit status 0"),
        ((2, "", "broken\n"), "broken"),
    ],
)
def test_an_index_that_names_no_versions_is_an_error_with_the_command_that_asks_it(
    answer: tuple[int, str, str], why: str, pip: Pip, tmp_path: Path
) -> None:
    pip.answers["index"] = answer
    with pytest.raises(RetargetError) as error:
        kept(tmp_path).versions()
    assert str(error.value) == (
        f"pip names no versions of a: {why}; expected an index that has it, as in `python3 -m pip index versions a`"
    )


def test_a_release_is_installed_beside_its_folder_once(pip: Pip, tmp_path: Path) -> None:
    notes: list[str] = []
    store = kept(tmp_path, notes)
    beside = store.path("1.0").with_name(f".new-{store.path('1.0').name}")
    beside.mkdir(parents=True)
    (beside / "left").touch()
    assert store.installed("1.0") == store.installed("1.0") == store.path("1.0")
    assert store.path("1.0").name.startswith("a+b-1.0-")
    assert store.path("1.0").is_dir()
    assert not any(store.path("1.0").iterdir())  # what was left is not taken
    assert not beside.exists()
    assert notes == ["installing 1.0"]
    words = ["install", "--no-deps", "--only-binary", ":all:", "--no-compile", "--target", str(beside)]
    assert pip.asked == [[*words, "a==1.0", "b==1.0", "--quiet"]]


def test_a_release_that_does_not_install_leaves_nothing(pip: Pip, tmp_path: Path) -> None:
    pip.answers["install"] = (1, "", "ERROR: no matching distribution\n")
    store = kept(tmp_path)
    with pytest.raises(UnavailableError, match=r"^does not install: no matching distribution$"):
        store.installed("1.0")
    assert [path.name for path in store.folder.iterdir() if path.is_dir()] == []


def test_a_release_that_another_process_installed_meanwhile_is_taken(
    pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = kept(tmp_path)
    monkeypatch.setattr(  # no lock: the folder cannot be locked
        "retarget.support.scratch.hold_lock", lambda _: store.path("1.0").mkdir()
    )
    assert store.installed("1.0").is_dir()
    assert pip.asked == []


def test_a_cache_that_cannot_be_used_is_named(pip: Pip, tmp_path: Path) -> None:
    (tmp_path / "releases").touch()
    with pytest.raises(RetargetError, match=f"^releases cannot be kept in {tmp_path}/releases: File exists$"):
        kept(tmp_path).installed("1.0")
    assert pip.asked == []
