"""The tool `iree-compile` where no library compiles: what its output and its end mean. The tool is a script."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.extension import UnavailableError
from retarget_iree.builds import CompilerBuild
from retarget_iree.compiler import tool
from retarget_iree.compiler.tool import compile_with_tool, phases, precompile_with_tool, tool_diagnostics, tool_runs

REQUEST: Any = SimpleNamespace(source_name="m.mlir", resolved=SimpleNamespace(flags=("-x",)))


@pytest.fixture(autouse=True)
def _asked_anew() -> None:
    tool.tool_runs.cache_clear()
    tool.phases.cache_clear()


def build(folder: Path, script: str) -> CompilerBuild:
    path = folder / "iree-compile"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return CompilerBuild(folder=folder, tool=path)


def test_what_the_tool_writes_is_the_artifact(tmp_path: Path) -> None:
    found = compile_with_tool(build(tmp_path, 'cat; echo "$@"; echo "-:3:1: warning: odd" >&2'), b"source ", REQUEST)
    assert found.artifact == b"source -x - -o -\n"
    assert found.diagnostics.startswith("m.mlir:3:1: warning: odd")


def test_a_crash_of_the_tool_is_one_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died: list[Any] = []

    def die(number: int, output: str) -> None:
        died.append((number, output))
        raise KeyboardInterrupt

    monkeypatch.setattr(tool, "_die_of", die)
    with pytest.raises(KeyboardInterrupt):
        compile_with_tool(build(tmp_path, 'echo "-:1:1: x" >&2; kill -SEGV $$'), b"", REQUEST)
    assert died == [(11, "m.mlir:1:1: x\n")]


def test_a_process_dies_of_the_signal_of_its_tool(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps: list[Any] = []
    monkeypatch.setattr(tool.signal, "signal", lambda *known: steps.append(known))
    monkeypatch.setattr(tool.os, "kill", lambda *known: steps.append(known))
    tool._die_of(11, "output")
    assert steps == [(11, tool.signal.SIG_DFL), (tool.os.getpid(), 11)]
    assert capsys.readouterr().err == "output"


def test_a_build_without_a_tool_or_with_one_that_cannot_run_is_not_available(tmp_path: Path) -> None:
    none = CompilerBuild(folder=tmp_path)
    with pytest.raises(UnavailableError, match=rf"^{tmp_path} has no iree-compile, which this needs$") as caught:
        compile_with_tool(none, b"", REQUEST)
    assert caught.value.hint
    broken = build(tmp_path, "")
    (tmp_path / "iree-compile").chmod(0o644)
    with pytest.raises(UnavailableError, match=r"iree-compile cannot be run: Permission denied$") as caught:
        compile_with_tool(broken, b"", REQUEST)
    assert caught.value.hint
    assert (tool_runs(none), tool_runs(broken), phases(none)) == (False, False, ())


@pytest.mark.parametrize(("script", "runs"), [("exit 0", True), ("exit 1", False)])
def test_a_tool_that_gives_its_version_runs(tmp_path: Path, script: str, runs: bool) -> None:
    assert tool_runs(build(tmp_path, script)) is runs


def test_phases_are_those_of_the_help(tmp_path: Path) -> None:
    listed = "  --compile-to=<value>       - Compilation phase\n    =start  - first\n    =end   - last\n"
    (tmp_path / "help").write_text(f"{listed}  --other=<value>\n    =x\n")
    assert phases(build(tmp_path, f"cat {tmp_path / 'help'}")) == ("start", "end")
    tool.phases.cache_clear()
    assert phases(build(tmp_path, "echo nothing")) == ()


FUSSY = """\
status=0
for word in "$@"; do
  case "$word" in
    -bad*) echo "/x/iree-compile: Unknown argument '$word'.  Try: '/x/iree-compile --help'" >&2; status=1;;
    -both*) both=1$both; [ "$both" = 11 ] && { echo "iree-compile: not both" >&2; status=1; };;
  esac
done
exit $status
"""


@pytest.mark.parametrize(
    ("flags", "found"),
    [
        (["-good"], []),
        (["-bad"], ["-bad: Unknown argument '-bad'."]),
        (["-good", "-bad1", "-bad2"], ["-bad1: Unknown argument '-bad1'.", "-bad2: Unknown argument '-bad2'."]),
        (["-both1", "-both2"], ["-both1 -both2: not both"]),
    ],
)
def test_flags_that_the_tool_refuses_are_named_each_or_together(
    tmp_path: Path, flags: list[str], found: list[str]
) -> None:
    assert tool_diagnostics(build(tmp_path, FUSSY), flags) == found


@pytest.mark.parametrize(("script", "text"), [("cat; echo more >&2", "module"), ("echo no >&2; exit 1", "")])
def test_a_module_is_taken_to_where_its_targets_are_known(tmp_path: Path, script: str, text: str) -> None:
    found, diagnostics = precompile_with_tool(build(tmp_path, script), ["-x"], b"module")
    assert (found, bool(diagnostics)) == (text, True)
