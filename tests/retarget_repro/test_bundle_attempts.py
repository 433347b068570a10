"""How often a bundle shows its failure, and what its runs say otherwise."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from retarget.cli import main
from retarget_repro.bundle import repro
from retarget_repro.bundle.archive import attempt, default_runs, pack, reproduce
from retarget_repro.bundle.format import Bundle, CompileStep, Observed, Reproduced, read_bundle, write_json
from retarget_repro.bundle.write import copy_library, foreign_code

_SAYS = """\
import os, sys
from pathlib import Path
count = Path(__file__).with_name("count")
number = len(count.read_text()) if count.exists() else 0
count.write_text("x" * (number + 1))
said = {said!r}[number]
print("compiling with …")
print(said[1])
sys.exit(said[0])
"""


def bundle(folder: Path, *said: tuple[int, str]) -> Path:
    """A bundle whose `repro.py` says these things, run by run."""
    folder.mkdir()
    (folder / "repro.py").write_text(_SAYS.format(said=said))
    (folder / "m.mlir").write_text("module {}\n")
    made = Bundle(
        target="suite.toml::s::m_vmvx",
        toolchain="iree",
        observed=Observed(at="run", stage="run", signature="INTERNAL"),
        reproduced=Reproduced(runs=0, same=0),
        compile=CompileStep(compiler="iree", source="m.mlir", flags=(), timeout=1.0),
    )
    write_json(made, folder)
    return folder


def test_a_flaky_failure_is_counted_and_what_else_happened_is_said_once(tmp_path: Path) -> None:
    passes = (0, "good: it does not fail; expected: run: INTERNAL")
    folder = bundle(tmp_path / "b", (1, "bad: run: INTERNAL"), passes, (1, "bad: run: INTERNAL"), passes)

    assert reproduce(folder, runs=4) == Reproduced(runs=4, same=2, others=(passes[1],))


def test_an_exit_status_counts_as_the_failure_only_with_its_words(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b", (1, "Traceback"), (125, "cannot tell: no device"), (139, ""))

    found = [attempt(folder) for _ in range(3)]

    assert found == [
        (125, "exit status 125: Traceback"),
        (125, "cannot tell: no device"),
        (125, "exit status 125: compiling with …"),
    ]


@pytest.mark.parametrize(("stage", "runs"), [("crash", 3), ("timeout", 3), ("compile", 1), ("run", 2), ("compare", 2)])
def test_what_may_be_chance_is_tried_more_often(stage: str, runs: int) -> None:
    assert default_runs(stage) == runs


def test_code_that_this_version_does_not_write_is_named(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "b", (0, "good: "))
    copy_library(folder / "lib")
    with (folder / "lib" / "retarget" / "model" / "signatures.py").open("a") as file:
        file.write("import os\n")
    (folder / "cases").mkdir()
    (folder / "cases" / "more.py").touch()
    for name in ("json.abi3.so", "argparse.pyc", "lib/numpy.so", "lib/retarget/any", "artifact.vmfb"):
        (folder / name).touch()

    assert foreign_code(folder) == (
        "argparse.pyc",
        "cases/more.py",
        "json.abi3.so",
        "lib/numpy.so",
        "lib/retarget/any",
        "lib/retarget/model/signatures.py",
        "repro.py",
    )


def test_a_strangers_text_cannot_command_the_terminal_and_its_code_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bundle(tmp_path / "b", (0, "good: "))
    made = read_bundle(folder)
    observed = msgspec.structs.replace(made.observed, summary="\x1b[2J\x1b]0;title\x07over\rwritten\u202e")
    write_json(msgspec.structs.replace(made, observed=observed), folder)
    pack(folder, tmp_path / "b.tar.zst")

    assert main(["repro", "--open", str(tmp_path / "b.tar.zst"), "-o", str(tmp_path / "new")]) == 0

    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/new: suite.toml::s::m_vmvx",
        "  failed at run: over?written?",
        "  not reproduced in 0 runs: ",
        "nothing was executed; read before you run it what is not of this retarget: repro.py",
        f"  python3 {tmp_path}/new/repro.py",
    ]
    assert not (tmp_path / "new" / "count").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--timeout", "0"], "cannot tell: argument --timeout: found '0', expected a number of seconds above 0"),
        (["--timeout", "nan"], "cannot tell: argument --timeout: found 'nan', expected a number of seconds above 0"),
        (["--timeout", "inf"], "cannot tell: argument --timeout: found 'inf', expected a number of seconds above 0"),
        (["--timeout", "x"], "cannot tell: argument --timeout: found 'x', expected a number of seconds above 0"),
        (["--toolchian", "x"], "cannot tell: unrecognized arguments: --toolchian x"),
        ([], "cannot tell: JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_what_goes_wrong_in_a_repro_is_never_taken_for_the_failure(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bundle.json").touch()
    monkeypatch.setattr(repro, "HERE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["repro.py", *options])
    try:
        status: object = repro.main()
    except SystemExit as ended:
        status = ended.code
    assert (status, capsys.readouterr().out.splitlines()) == (125, [said])
