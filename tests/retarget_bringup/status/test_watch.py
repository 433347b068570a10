"""`--watch`: what counts as a change, and what it shows."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from retarget.model import Rung
from retarget.support import RetargetError
from retarget_bringup.ladder.files import Line
from retarget_bringup.ladder.states import TargetState
from retarget_bringup.status import command
from retarget_bringup.status.assemble import Moves, Status, status_of
from retarget_bringup.status.command import changed_files, difference, is_ours, watched
from status_states import failed, matches, node_id


def made(states: Sequence[TargetState]) -> tuple[Status, dict[str, Line]]:
    status = status_of("gpu", states, root=Path(), stable_runs=3, moved=Moves(), is_raised=True)
    lines = {one.id: Line(target=one.id, rung=one.rung, digest="") for one in states if one.rung is not None}
    return status, lines


def test_the_difference_is_what_moved_and_which_signatures_are_new_or_gone() -> None:
    before = made([failed("a", Rung.LOADS, "run", "old error"), matches("b")])
    after = made([matches("a"), failed("b", Rung.COMPLETES, "compare", "values differ")])
    assert [*difference([Path("suites/a.mlir")], before, after)] == [
        "changed: suites/a.mlir",
        f"  down  {node_id('b_gpu_gpu')}  matches → completes",
        f"  up    {node_id('a_gpu_gpu')}  loads → matches",
        "  new signature, of 1: compare: values differ",
        f"        pytest '{node_id('b_gpu_gpu')}'",
        "  gone signature: run: old error",
        "gpu: 50.0 %: 1 of 2 targets match",
    ]


def test_what_moved_nothing_says_so_in_one_line() -> None:
    same = made([matches("a")])
    assert [*difference([], same, same)] == ["gpu: 100.0 %: 1 of 1 target match, nothing moved"]


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("suites/a.mlir", True),
        (".venv/lib/compiler.so", True),
        ("suites/__pycache__/a.py", False),
        ("suites/.pytest_cache/v", False),
        ("suites/a.mlir~", False),
        ("suites/.a.mlir.swp", False),
        ("suites/gpu.ladder", False),
    ],
)
def test_files_that_tools_leave_are_no_change(tmp_path: Path, path: str, counts: bool) -> None:
    assert is_ours(str(tmp_path / path), [tmp_path / "suites", tmp_path / ".venv" / "lib"]) is counts


def test_modules_settings_toolchains_extensions_and_the_environment_are_watched(tmp_path: Path) -> None:
    for name in ("suites/deep", "bringup", "build/iree"):
        (tmp_path / name).mkdir(parents=True)
    from retarget.model import Origin, Toolchain

    toolchain = Toolchain(name="own", path=tmp_path / "build/iree", origin=Origin(file=tmp_path, key_path=""))
    found = watched(tmp_path, ["suites", "suites/deep"], tmp_path / "bringup", [toolchain, None])
    assert found[:3] == (tmp_path / "suites", tmp_path / "bringup", tmp_path / "build/iree")
    import retarget_iree

    assert any(Path(retarget_iree.__file__).is_relative_to(one) for one in found)
    assert any(Path(pytest.__file__).is_relative_to(one) for one in found)


def test_without_the_library_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(RetargetError, match=r"--watch needs the package watchfiles; install it with `pip install"):
        changed_files([])


def test_the_status_comes_first_then_what_is_watched_and_what_a_change_moved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = iter([made([failed("a", Rung.LOADS, "run", "error")]), RetargetError("half a file"), made([matches("a")])])
    file = Path("suites/a.mlir")

    checked: list[object] = []

    def gathered(*_: object, checks_drivers: bool | None = None) -> object:
        checked.append(checks_drivers)
        if isinstance(one := next(found), Exception):
            raise one
        return one

    for name, double in {
        "Declared": SimpleNamespace(collect=lambda *_, **__: SimpleNamespace(targets=())),
        "watched": lambda *_: (),
        "changed_files": lambda _: iter([[Path("a.so"), file], [file]]),
        "read_settings": lambda _: settings,
        "_gathered": gathered,
        "_of": lambda found, _: found,
        "status_lines": lambda status, **_: [f"status of {status.name}"],
    }.items():
        monkeypatch.setattr(command, name, double)
    settings: Any = SimpleNamespace(root=Path(), paths=(), select="", file=file)

    assert command._watch(settings, Namespace(retarget_extension=(), all=False), []) == 0
    assert checked == [None, True, False]

    printed, watching = capsys.readouterr(), "watching modules, extensions and toolchains; Ctrl-C ends"
    assert printed.err.splitlines() == [watching, "half a file", watching, watching]
    assert printed.out.splitlines()[:3] == [
        "status of gpu",
        "changed: suites/a.mlir",
        f"  up    {node_id('a_gpu_gpu')}  loads → matches",
    ]
