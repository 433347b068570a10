"""`retarget show`: whose artifact is printed, and by which compiler."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from declaration_texts import compiler, declarations, runtime, suite, target
from extension_texts import TINY_COMPILER
from retarget.cli import main
from retarget.cli.artifacts import show
from retarget.extension import UnavailableError
from retarget.model import CompileTarget
from retarget.model.outcomes import Artifact, CompileOutcome, Failure, Stage

EXTENSION = (
    "from retarget.extension import hookimpl\n"
    "from retarget.support.errors import RetargetError\n"
    + TINY_COMPILER
    + """\
    def reproduce(self, target, flags, output): ...
    def show(self, artifact):
        if not artifact:
            raise RetargetError("nothing to show")
        return f"shown {artifact.decode()}\\n"

class Silent(retarget.extension.Compiler):
    name = "silent"
    artifact_suffix = ".silent"
    def fingerprint(self, config): return ""
    def resolve(self, config, flags): ...
    def compile(self, request): ...
    def reproduce(self, target, flags, output): ...

class Driver(retarget.extension.Driver):
    name = "toy"
    def probe(self): return []
    def open(self, config): ...

class Loader(retarget.extension.CaseLoader):
    kind = "lines"
    def load(self, request): return []

@hookimpl
def retarget_compilers(): return [Compiler(), Silent()]
@hookimpl
def retarget_drivers(): return [Driver()]
@hookimpl
def retarget_case_loaders(): return [Loader()]
"""
)
MATRIX = declarations(
    "root = true\n",
    compiler("cc", "tiny"),
    compiler("mute", "silent"),
    runtime("rt", "toy"),
    target("all", "cc", ["rt"]),
    target("mute", "mute", []),
)


class Engine:
    """Compiles without processes: an artifact has the name of its target."""

    def __init__(self, **_: object) -> None:
        pass

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def compile(self, target: CompileTarget) -> CompileOutcome:
        known = {"key": "k", "seconds": 0.0, "reused": False}
        name = target.module.name
        if name == "gone":
            msg = "no compiler"
            raise UnavailableError(msg, "install one")
        if name == "bad":
            return CompileOutcome(failure=Failure(stage=Stage.COMPILE, summary="error: bad"), **known)  # type: ignore[arg-type]
        path = Path("artifact")
        path.write_text(f"{target.suite}::{target.name}")
        return CompileOutcome(artifact=Artifact(digest="d", size=1, path=str(path)), **known)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETARGET_EXTENSIONS", "show_extension")
    monkeypatch.delitem(sys.modules, "show_extension", raising=False)
    monkeypatch.setattr(show, "Engine", Engine)
    for name, text in (
        ("extensions/show_extension.py", EXTENSION),
        ("matrix.toml", MATRIX),
        ("one/suite.toml", suite("one", "*.lines", "lines", targets=["all", "mute"])),
        ("two/suite.toml", suite("two", "*.lines", "lines", targets=["all"])),
        *((f"one/{name}.lines", "") for name in ("both", "foo", "bad", "gone")),
        ("two/both.lines", ""),
        ("file.bin", "bytes"),
        ("empty.bin", ""),
        ("file.silent", "bytes"),
        ("file", "bytes"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "extensions")


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["file.bin"], "shown bytes\n"),
        (["file", "--compiler", "tiny"], "shown bytes\n"),
        (["foo_cc"], "shown one::foo_cc\n"),
        (["foo_cc_rt"], "shown one::foo_cc\n"),
        (["two/suite.toml::two::both_cc"], "shown two::both_cc\n"),
        (["both_cc", "two"], "shown two::both_cc\n"),
    ],
)
def test_a_file_and_the_artifact_of_a_target_are_printed(
    words: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *words]) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["empty.bin"], 1, "empty.bin: nothing to show\n"),
        (["file.silent"], 1, "file.silent cannot be shown as text; compilers whose artifacts can: "),
        (["file"], 1, "file cannot be shown as text; compilers whose artifacts can: "),
        (["file", "--compiler", "silent"], 1, "artifacts of silent cannot be shown as text; compilers whose "),
        (["foo_mute"], 1, "artifacts of silent cannot be shown as text; "),
        (
            ["one"],
            1,
            "one cannot be read: found a folder; expected a file that --retarget-export wrote, or a compiler\n",
        ),
        (
            ["absent.bin"],
            1,
            "absent.bin cannot be read: No such file or directory; expected a file that --retarget-export",
        ),
        (["bad_cc"], 1, "bad_cc does not compile: error: bad\n"),
        (["gone_cc"], 1, "gone_cc cannot be compiled here: no compiler; install one\n"),
        (["fooo_cc"], 2, "retarget: found no file 'fooo_cc' and no target 'fooo_cc' in .; did you mean 'foo_cc'?\n"),
        (["zzzzz"], 2, "and no target 'zzzzz' in .; `retarget list` shows all\n"),
        (
            ["both_cc"],
            2,
            "found 2 targets 'both_cc' in ., expected one of: one/suite.toml::one::both_cc, two/suite.toml::two::",
        ),
    ],
)
def test_what_cannot_be_printed_has_a_reason(
    words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *words]) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
