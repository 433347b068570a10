"""`retarget bringup NAME --check`, `--raise` and `convert`, on files; what one real session says of a ladder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, target
from mlir_modules import DIFFERS, GOOD, REFUSED
from retarget.cli.main import main
from retarget.model.outcomes import Observation
from retarget.model.rungs import Rung
from retarget.results.files import ResultsWriter, new_session
from retarget.results.record import Outcome, Result, TargetRecord
from retarget_bringup.ladder.files import Line, ladder_text, read_ladder
from retarget_bringup.ladder.states import DRIVER

HOME = "s/suite.toml::s"
RULES = """\
[[expectation]]
match = "refused"
stage = "compile"
reason = "adds floats as integers"

[[expectation]]
match = "wrong"
stage = "compare"
reason = "wrong by one"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with three modules and the settings of a ladder."""
    files = {
        "pytest.ini": "[pytest]\n",
        "s/suite.toml": declarations(
            compiler("vmvx", flags=VMVX_FLAGS),
            runtime("sync"),
            target("t", "vmvx", ["sync"]),
            suite("s", targets=["t"]),
        ),
        "s/good.mlir": GOOD,
        "s/wrong.mlir": DIFFERS,
        "s/refused.mlir": REFUSED,
        "bringup/x.toml": 'paths = ["s"]\nselect = "vmvx"\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return tmp_path


def rungs(project: Path) -> dict[str, str]:
    """The rung of each module in the ladder."""
    lines = [line for line in read_ladder(project / "bringup/x.ladder").lines if not line.target.startswith(DRIVER)]
    return {line.target.rpartition("::")[2].partition("_")[0]: line.rung.word for line in lines}


def digests(project: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The digest of each module, as a ladder that is taken from rules has them."""
    (project / "s/expectations.toml").write_text(
        '[[expectation]]\nmatch = "*"\nstage = "compare"\nreason = "for their digests"\n'
    )
    assert main(["bringup", "convert", "x", "--to", "ladder"]) == 0
    capsys.readouterr()
    lines = read_ladder(project / "bringup/x.ladder").lines
    return {line.target: line.digest for line in lines}


@pytest.mark.slow
def test_a_real_session_raises_a_ladder_that_holds_until_it_is_raised_by_hand(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETARGET_CACHE_DIR", str(project / "cache"))
    assert main(["bringup", "x", "--raise"]) == 0
    said = capfd.readouterr().out
    assert rungs(project) == {"good": "matches", "refused": "none", "wrong": "completes"}
    assert re.fullmatch(
        r"bringup/x.ladder: written: \d+ added\n"
        r"x: 1 of 3 targets match \(33.3 %\); 2 below; (\d+) of \1 checks of its drivers pass\n"
        r"bringup/x.ladder holds\n",
        said,
    )
    by_hand = (project / "bringup/x.ladder").read_text().replace("none", "matches")
    (project / "bringup/x.ladder").write_text(by_hand)
    assert main(["bringup", "x", "--check", "--results", "cache/bringup"]) == 1
    assert re.fullmatch(
        r"lower: 1 target fell to none: compile: .*\n"
        r"  bringup/x.ladder:\d+: s/suite.toml::s::refused_vmvx_sync  matches → none\n"
        r"  run just that: pytest s/suite.toml::s::refused_vmvx_sync\n"
        r"  mend it, or excuse it until a day with \[\[lowered\]\] in bringup/x.toml\n"
        r"x: 1 of 3 targets match \(33.3 %\); 2 below; .* pass\n"
        r"bringup/x.ladder does not hold: 1 problem\n",
        capfd.readouterr().out,
    )
    (project / "bringup/x.ladder").unlink()
    assert main(["bringup", "x", "--check", "--results", "cache/bringup"]) == 1
    assert "bringup/x.ladder: found no line of a target" in capfd.readouterr().out


def test_rules_become_lines_and_lines_become_rules_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "s/expectations.toml").write_text(RULES)
    assert main(["bringup", "convert", "x", "--to", "ladder"]) == 0
    assert capsys.readouterr().out.endswith(
        "2 targets of rules became lines of bringup/x.ladder\n"
        "pytest fails for them from now on: `retarget bringup x --check` holds what they reach\n"
    )
    taken = (project / "bringup/x.ladder").read_text()
    assert rungs(project) == {"refused": "none", "wrong": "completes"}
    assert "expectation" not in (project / "s/expectations.toml").read_text()
    assert main(["bringup", "convert", "x", "--to", "expectations"]) == 0
    assert capsys.readouterr().out.endswith(
        "2 targets of bringup/x.ladder below the top became rules; 2 of them without a signature: give --results that "
        "say how they fail\n"
    )
    rules = (project / "s/expectations.toml").read_text()
    assert [*re.findall(r'^(?:match|stage) = "(\w+)"', rules, re.MULTILINE)] == [
        "refused",
        "compile",
        "wrong",
        "compare",
    ]
    assert main(["bringup", "convert", "x", "--to", "expectations"]) == 0  # what has a rule gets no other
    assert (project / "s/expectations.toml").read_text() == rules
    assert main(["bringup", "convert", "x", "--to", "ladder"]) == 0
    assert (project / "bringup/x.ladder").read_text() == taken


def test_signatures_and_cases_of_rules_come_from_results(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = digests(project, capsys)
    wrong = f"{HOME}::wrong_vmvx_sync"
    start = new_session(selected=1, digest="")
    with ResultsWriter(project / "results", start) as writer:
        writer.write(
            TargetRecord(
                nodeid=wrong,
                runtime="sync",
                session=start.session,
                outcome=Outcome.FAILED,
                result=Result.FAILED,
                stage="compare",
                rung="completes",
                observation=Observation(stage="compare", signature="values differ"),
                trial_digest=of[wrong],
            )
        )
        writer.end(1)
    text = ladder_text("x", [Line(target=wrong, rung=Rung.COMPLETES, digest=of[wrong])])
    (project / "bringup/x.ladder").write_text(text)
    assert main(["bringup", "convert", "x", "--to", "expectations", "--results", "results"]) == 0
    assert capsys.readouterr().out.endswith(
        '+signature = "values differ"\n+reason = "the results are not those expected: values differ"\n'
        "1 target of bringup/x.ladder below the top became rules\n"
    )


def test_what_a_ladder_cannot_say_stays_a_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = RULES.replace("reason", 'outcome = "intermittent"\nreason', 1).replace(
        "reason", "until = 2999-01-01\nreason"
    )
    (project / "s/expectations.toml").write_text(kept)
    assert main(["bringup", "convert", "x", "--to", "ladder"]) == 0
    assert capsys.readouterr().out == "0 targets of rules became lines of bringup/x.ladder\n"
    assert (project / "s/expectations.toml").read_text() == kept
    assert not (project / "bringup/x.ladder").exists()


def test_nothing_is_converted_where_both_disagree(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = digests(project, capsys)
    wrong = f"{HOME}::wrong_vmvx_sync"
    (project / "s/expectations.toml").write_text(RULES)
    text = ladder_text("x", [Line(target=wrong, rung=Rung.LOADS, digest=of[wrong])])
    (project / "bringup/x.ladder").write_text(text)
    assert main(["bringup", "convert", "x", "--to", "ladder"]) == 1
    assert capsys.readouterr().err == (
        f"s/expectations.toml:6: expectation[1]: says that {wrong} fails at compare, which is the rung completes; "
        "bringup/x.ladder:2 says loads: expected that both agree\n"
        "nothing was written: change one of the two first\n"
    )
    assert main(["bringup", "convert", "x", "--to", "ladder", "--results", "r"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = 1\nstabel = 3\n",
         "bringup/x.toml:1: select: found the integer 1, expected a string\n"
         "bringup/x.toml:2: stabel: found the unknown key 'stabel', expected one of drivers, lowered, paths, "
         "reference, select, stable; did you mean 'stable'?\n"),
        ('select = "a and"\npaths = ["../s", "t"]\n',
         "bringup/x.toml:1: select: 'a and': column 6: found the end of line, expected a word, 'not' or '('\n"
         "bringup/x.toml:2: paths[0]: found '../s', expected a path below .\n"
         "bringup/x.toml:2: paths[1]: found no file or folder 't' in .\n"),
        ('select = "vulcan"\n',
         "bringup/x.toml:1: select: found 'vulcan', which selects no target of .\n"),
        ('select = "vmvx"\ndrivers = ["vulcan"]\n',
         "bringup/x.toml:2: drivers[0]: found 'vulcan', which is no driver here; did you mean 'vulkan'?\n"),
        ('select = "vmvx"\n[[lowered]]\ntarget = "x"\nrung = "loads"\nreason = ""\nissue = " "\nuntil = 2031-01-01\n',
         "bringup/x.toml:5: lowered[0].reason: found an empty text, expected the reason\n"
         "bringup/x.toml:6: lowered[0].issue: found an empty text, expected the issue\n"),
        ('select = "vmvx"\n[[lowered]]\ntarget = "x"\nrung = "load"\n',
         "bringup/x.toml:2: lowered[0].issue: found no such key, expected a string\n"
         "bringup/x.toml:2: lowered[0].reason: found no such key, expected a string\n"
         "bringup/x.toml:2: lowered[0].until: found no such key, expected a date without quotes, such as 2031-01-31\n"
         "bringup/x.toml:4: lowered[0].rung: found the string 'load', expected 'none' or 'found' or 'opens' or "
         "'transfers' or 'compiles' or 'loads' or 'dispatches' or 'completes' or 'matches'\n"),
    ],
)  # fmt: skip
def test_errors_of_the_settings_have_their_lines(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    (project / "bringup/x.toml").write_text(text)
    with ResultsWriter(project / "results", new_session(selected=0, digest="")) as writer:
        writer.end(0)
    assert main(["bringup", "x", "--check", "--results", "results"]) == 1
    assert capsys.readouterr().err == message


def test_without_a_name_the_ladders_and_the_next_step_are_listed(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "retarget bringup start NAME  # a new one; retarget bringup --help has examples\n"
    monkeypatch.chdir(project / "s")
    assert main(["bringup"]) == 0
    assert capsys.readouterr().out == f"retarget bringup x\n{start}"
    (project / "bringup/x.toml").unlink()
    assert main(["bringup"]) == 0
    assert capsys.readouterr().out == f"there is no ladder yet\n{start}"


def test_a_name_that_has_no_settings_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".git").mkdir()
    (project / "bringup/x.toml").rename(project / "bringup/vulkan.toml")
    for name, hint in (("vulcan", "; did you mean 'vulkan'?"), ("../x", "; expected one of: vulkan")):
        assert main(["bringup", name, "--check"]) == 1
        assert capsys.readouterr().err == (
            f"found no bringup/{name}.toml in {project} or in the folders above it{hint}\n"
        )
