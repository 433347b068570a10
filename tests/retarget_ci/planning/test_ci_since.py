"""`--since REV`: what is left out, found by content."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePath

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from retarget.cli import main
from retarget.results import Plan
from retarget.support import RetargetError
from retarget_ci.planning import fingerprints
from retarget_ci.planning.fingerprints import Fingerprints, changes_since

MODULE = """\
func.func @f() {
  %%x = util.unfoldable_constant dense<[1.0, %s]> : tensor<2xf32>
  %%y = arith.addf %%x, %%x : tensor<2xf32>
  check.expect_eq_const(%%y, dense<[2.0, 4.0]> : tensor<2xf32>) : tensor<2xf32>
  return
}
"""

CI = """\
paths = ["%s"]
labels = ["x"]

[[runner]]
name = "linux"
labels = ["x"]
builds = true
drivers = ["local-sync"]

[[event]]
name = "pr"
on = ["pull_request"]
budget = "20 min"
"""


def _git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def _commit(folder: Path) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "more")


def _configs(runtime_name: str) -> str:
    configs = (compiler("vmvx", flags=VMVX_FLAGS), runtime(runtime_name), target("all", "vmvx", [runtime_name]))
    return declarations(*configs)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three modules, committed."""
    folder = tmp_path / "checkout"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "suite.toml").write_text(declarations(_configs("cpu"), suite("s")))
    (folder / "ci.toml").write_text(CI % "old")
    for number, name in enumerate(("same", "moved", "edited")):
        (folder / "old" / f"{name}.mlir").write_text(MODULE % f"2.{number}")
    _git(folder, "init", "-q")
    _commit(folder)
    monkeypatch.chdir(folder)
    return folder


def _plan(*arguments: str) -> Plan:
    assert main(["ci", "plan", "--event", "pr", *arguments, "-o", "plan.json"]) == 0
    return Plan.read(Path("plan.json"))


@pytest.mark.slow
def test_what_moved_or_has_another_name_is_unchanged_and_what_was_edited_or_added_is_planned(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = checkout / "old" / "inner"
    inner.mkdir()
    (inner / "suite.toml").write_text(declarations(suite("inner")))
    (checkout / "old" / "moved.mlir").rename(inner / "moved.mlir")
    (checkout / "old" / "edited.mlir").write_text(MODULE % "3.0")
    (checkout / "old" / "added.mlir").write_text(MODULE % "4.0")
    (checkout / "old" / "matrix.toml").write_text(_configs("processor"))
    (checkout / "old" / "suite.toml").write_text(declarations(suite("renamed")))
    plan = _plan("--since", "HEAD")
    home = "old/suite.toml::renamed::"
    assert [leg.ids for leg in plan.legs] == [
        (f"{home}added_vmvx", f"{home}edited_vmvx"),
        (f"{home}added_vmvx_processor", f"{home}edited_vmvx_processor"),
    ]
    assert (plan.since, plan.unchanged) == ("HEAD", 4)
    assert "4 targets left out: the same in HEAD\n" in capsys.readouterr().out
    listed = subprocess.run(["git", "worktree", "list"], check=True, capture_output=True, text=True)
    assert len(listed.stdout.splitlines()) == 1


def test_an_unknown_revision_and_a_folder_or_a_machine_without_git_are_errors(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RetargetError) as raised:
        changes_since("HEAB", checkout, ["old"])
    assert str(raised.value) == (
        "--since: found the unknown revision 'HEAB', expected a branch, a tag or a commit that this checkout has; "
        "a shallow one is deepened by `git fetch`"
    )
    with pytest.raises(
        RetargetError, match=r"^--since HEAD: fatal: not a git repository .*; expected .* in a git check"
    ):
        changes_since("HEAD", tmp_path, ["old"])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RetargetError, match=r"^--since HEAD: git cannot be run: No such file or directory; expected"):
        changes_since("HEAD", checkout, ["old"])


@pytest.mark.slow
def test_a_target_whose_kind_is_made_by_other_code_of_the_checkout_has_changed(checkout: Path) -> None:
    code = """\
from retarget.extension import hookimpl
from retarget_iree.checks import CheckCaseLoader

class Mine(CheckCaseLoader):
    kind = "mine"

@hookimpl
def retarget_case_loaders():
    return (Mine(),)
"""
    (checkout / "mine.py").write_text(code)
    text = (checkout / "old" / "suite.toml").read_text()
    (checkout / "old" / "suite.toml").write_text(text.replace('kind = "check"', 'kind = "mine"'))
    _commit(checkout)
    assert len(changes_since("HEAD", checkout, ["old"], ["mine"]).unchanged) == 6
    (checkout / "mine.py").write_text(f"{code}# edited\n")
    assert not changes_since("HEAD", checkout, ["old"], ["mine"]).unchanged


@pytest.mark.parametrize("file", ["ci.toml", "tool.sh"])
def test_where_ci_toml_or_a_file_that_nothing_covers_is_another_all_have_changed(checkout: Path, file: str) -> None:
    assert len(changes_since("HEAD", checkout, ["old"]).unchanged) == 6
    with (checkout / file).open("a") as edited:
        edited.write("# edited\n")
    found = changes_since("HEAD", checkout, ["old"])
    assert not found.unchanged
    assert found.warnings == (
        f"{file} changed since HEAD, so that all count as changed; "
        "paths_ignore in ci.toml can name files that no target depends on",
    )


def others(checkout: Path, *ignored: str, here: str = ".") -> set[str]:
    covered = {f"old/{name}.mlir" for name in ("same", "moved", "edited")}
    return fingerprints._others(checkout / here, PurePath(here), "HEAD", ignored) - covered


def test_declarations_and_what_git_ignores_are_no_other_files_and_paths_are_relative_to_the_folder(
    checkout: Path,
) -> None:
    (checkout / ".gitignore").write_text("build\n")
    _git(checkout, "add", "-A")
    _git(checkout, "commit", "-q", "-m", "ignored")
    (checkout / "build").write_text("")
    (checkout / "runs").mkdir()
    run = "runs/20260722T101816Z-48fc488f33d3e5c1.history.json.gz"  # the workflow brings them before it plans
    for name in ("matrix.toml", "old/suite.toml", "old/expectations.toml", "ci.lock", run):
        (checkout / name).write_text("# 1\n")
    assert others(checkout) == set()
    (checkout / "readme.md").write_text("")
    (checkout / "old" / "ü.py").write_text("")
    assert others(checkout, here="old") == {"../readme.md", "ü.py"}
    assert others(checkout, "../readme.md", here="old") == {"ü.py"}
    with pytest.raises(RetargetError, match="outside repository"):
        others(checkout, "../readme.md")


@pytest.mark.parametrize("ignore", ["all", "dirty", "untracked"])
def test_changes_of_a_submodule_count_whatever_git_is_to_ignore_of_it(checkout: Path, ignore: str) -> None:
    (sub := checkout / "third_party").mkdir()
    _git(sub, "init", "-q")
    (sub / "code.c").write_text("1")
    _commit(sub)
    url = '[submodule "t"]\npath = third_party\nurl = ../t\nignore = '
    (checkout / ".gitmodules").write_text(f"{url}{ignore}\n")
    _git(checkout, "add", "-A", "-f")
    _commit(checkout)
    assert others(checkout) == set()
    (sub / "code.c").write_text("2")
    assert others(checkout) == {"third_party"}
    _git(sub, "checkout", "code.c")
    (sub / "new.c").write_text("1")
    assert others(checkout) == {"third_party"}
    _commit(sub)
    assert others(checkout) == {"third_party"}


@pytest.mark.parametrize("how", ["GLOB", "ICASE", "LITERAL", "NOGLOB"])
def test_pathspecs_are_read_as_ever_in_a_hook_of_a_git_that_reads_them_in_another_way(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv(f"GIT_{how}_PATHSPECS", "1")
    (checkout / "old" / "tool.sh").write_text("")
    (checkout / "readme.md").write_text("")
    assert others(checkout, "*.md") == {"old/tool.sh"}


@pytest.mark.slow
def test_files_that_no_fingerprint_covers_are_named_unless_ci_toml_says_that_no_target_depends_on_them(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "old" / "edited.mlir").write_text(MODULE % "3.0")
    (checkout / "readme.md").write_text("no target depends on it\n")
    assert _plan("--since", "HEAD").unchanged == 4
    capsys.readouterr()
    (checkout / "tool.sh").write_text("exit 1\n")
    assert _plan("--since", "HEAD").unchanged == 0
    assert capsys.readouterr().err == (
        "warning: plan.json and 1 further file changed since HEAD, so that all count as changed; "
        "paths_ignore in ci.toml can name files that no target depends on\n"
    )
    ignored = 'paths_ignore = ["*.sh", "plan.json"]'
    (checkout / "ci.toml").write_text(CI.replace("labels", f"{ignored}\nlabels", 1) % "old")
    _git(checkout, "commit", "-q", "-m", "ci", "ci.toml")
    (checkout / "readme.md").unlink()
    assert _plan("--since", "HEAD").unchanged == 4


@pytest.mark.slow
def test_a_target_that_the_event_did_not_select_before_has_changed(checkout: Path) -> None:
    file = checkout / "old" / "suite.toml"
    assert len(changes_since("HEAD", checkout, ["old"], select="local-sync").unchanged) == 3
    file.write_text(file.read_text().replace('name = "s"', 'name = "s"\ntags = ["quick"]'))
    assert not changes_since("HEAD", checkout, ["old"], select="quick").unchanged
    assert len(changes_since("HEAD", checkout, ["old"]).unchanged) == 6


def fingerprints_of(monkeypatch: pytest.MonkeyPatch, before: object, now: Fingerprints) -> list[Path]:
    """Let the checkout of a revision have these fingerprints (or fail so), and today's folder those; return where."""
    folders: list[Path] = []

    def found(folder: Path, paths: Sequence[str], extensions: Sequence[str], select: str) -> Fingerprints:
        assert ([*extensions], select) == (["e"], "")
        folders.append(folder)
        if folder.name == "tree":
            assert [*paths] == ["old"]
            assert (folder / "old" / "same.mlir").is_file()
            if isinstance(before, str):
                raise RetargetError(before.format(tree=folder))
            assert isinstance(before, Fingerprints)
            return before
        return now

    monkeypatch.setattr(fingerprints, "_fingerprints", found)
    return folders


NOW = Fingerprints(of={"a": "1", "b": "2", "c": "3"}, unknown={"gone": 2})
GONE = "2 without a fingerprint, which count as changed: gone"


@pytest.mark.parametrize(
    ("before", "unchanged", "warnings"),
    [
        (Fingerprints(of={"x": "1", "c": "9", "y": "3"}, unknown={"z": 1}), {"a", "c"}, (GONE,)),
        (Fingerprints(of={}, unknown={}), set(), (GONE,)),
        (
            "{tree}/old/suite.toml: found x",
            set(),
            (GONE, "the declarations of HEAD cannot be read, so that all count as changed: old/suite.toml: found x"),
        ),
    ],
)
def test_what_has_a_fingerprint_that_the_revision_had_is_unchanged_and_its_checkout_is_removed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, before: object, unchanged: set[str], warnings: tuple[str, ...]
) -> None:
    folders = fingerprints_of(monkeypatch, before, NOW)
    found = changes_since("HEAD", checkout, ["old"], ["e"])
    assert (found.unchanged, found.warnings) == (unchanged, warnings)
    assert sorted(folder.name for folder in folders) == ["checkout", "tree"]
    assert not any(folder.exists() for folder in folders if folder.name == "tree")
    listed = subprocess.run(["git", "worktree", "list"], cwd=checkout, check=True, capture_output=True, text=True)
    assert len(listed.stdout.splitlines()) == 1


def test_of_a_revision_without_the_paths_nothing_is_unchanged(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "new").mkdir()
    folders = fingerprints_of(monkeypatch, "never asked", NOW)
    monkeypatch.setenv("GIT_DIR", "/of a hook")
    assert changes_since("HEAD", checkout, ["new"], ["e"]).unchanged == frozenset()
    assert [folder.name for folder in folders] == ["checkout"]


class Ran:
    """In place of `subprocess.run`: what it is asked, and what it gives."""

    def __init__(self, status: int, out: bytes = b"", err: bytes = b"") -> None:
        self.returncode, self.stdout, self.stderr = status, out, err

    def __call__(self, command: list[str], **known: object) -> Ran:
        assert known["capture_output"]
        self.command, self.folder = command, known["cwd"]
        return self


def test_fingerprints_come_from_a_process_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process = Ran(0, b'{"of":{"a":"1"},"unknown":{}}')
    monkeypatch.setattr(fingerprints.subprocess, "run", process)
    assert fingerprints._fingerprints(tmp_path, ["x", "y"], ["e"], "a or b") == Fingerprints(of={"a": "1"}, unknown={})
    assert process.folder == tmp_path
    assert process.command[1:] == [
        *("-P", "-m", "retarget.cli", "ci", "--retarget-extension=e", "fingerprints", "--format=json"),
        *("--select=a or b", "--", "x", "y"),
    ]


@pytest.mark.parametrize(
    ("process", "message"),
    [
        (Ran(1, err=b" a.toml: found x\n"), "a.toml: found x"),
        (Ran(-9), "exit status -9"),
        (
            Ran(0, b"hello"),
            "`retarget.cli ci fingerprints --format=json --select= -- x` printed something else than fingerprints; ",
        ),
    ],
)
def test_a_process_that_gives_no_fingerprints_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, process: Ran, message: str
) -> None:
    monkeypatch.setattr(fingerprints.subprocess, "run", process)
    with pytest.raises(RetargetError) as caught:
        fingerprints._fingerprints(tmp_path, ["x"], [], "")
    assert str(caught.value).startswith(message)
