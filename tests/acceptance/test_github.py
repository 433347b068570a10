"""Sessions in a job of GitHub Actions."""

from __future__ import annotations

import re

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist, expecting


def commands(lines: list[str]) -> list[str]:
    """The lines that GitHub's runner obeys."""
    found, token = [], ""
    for line in lines:
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::"):
            found.append(line)
    return found


@alone_and_xdist()
def test_each_signature_is_annotated_once_and_long_sections_are_folded(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    project.doubles(a="compile: fail", b="compile: fail", c="f: fail", d="f: pass")
    project.write({"test_it.py": "def test_it():\n    assert 1 == 2, '::error::forged'\n"})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    result = project.run(*DOUBLES, *arguments)
    top = project.path.name
    found = commands(result.outlines)
    assert found[:4] == ["::group::failures: 3 signatures", "::endgroup::", "::group::target matrix", "::endgroup::"]
    annotations = sorted(line for line in found[4:])
    assert annotations[0] == (
        f"::error file={top}/suites/a.mlir,line=1,title=suites/suite.toml%3A%3Atwice%3A%3Aa_dc and 1 more"
        "::compile: error: cannot fold the widget"
        "%0Asuites/suite.toml::twice::a_dc%0Asuites/suite.toml::twice::b_dc"
    )
    assert annotations[1].startswith(f"::error file={top}/suites/c.mlir,line=1,title=suites/suite.toml%3A%3Atwice")
    assert annotations[2] == (
        f"::error file={top}/test_it.py,line=2,title=test_it.py%3A%3Atest_it::AssertionError: ::error::forged%0A"
        "assert 1 == 2"
    )
    assert len(annotations) == 3


@pytest.mark.slow
def test_at_most_ten_are_annotated_and_the_last_counts_the_rest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.doubles(d="f: pass")
    project.write({"test_it.py": "".join(f"def test_{n}():\n    assert {n} < 0\n" for n in range(12))})
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found = [line for line in commands(project.run(*DOUBLES).outlines) if line.startswith("::error")]
    assert len(found) == 10
    assert found[-1] == "::error::3 further signatures failed"


@pytest.mark.slow
def test_errors_of_declarations_and_expectations_are_annotated_at_their_lines(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path))

    def annotations() -> list[str]:
        return [line for line in commands(project.run(*DOUBLES).outlines) if line.startswith("::error")]

    project.doubles(a="f: pass")
    expecting(project, '[[expectation]]\nmatch = "bb"\nstage = "compile"\nreason = "known"\n')
    [of_rule] = annotations()
    assert of_rule.startswith("::error file=suites/expectations.toml,line=2,title=suites/expectations.toml%3A2::")
    assert "found 'bb', which names no module that this rule serves" in of_rule
    project.write({"other/suite.toml": "[[module_test_suite]]\nname = 'a b'\nsrcs = ['*.x']\nkinds = 1\n"})
    found = annotations()
    assert len(found) >= 2
    assert {line.partition(",title=")[0] for line in found} >= {"::error file=other/suite.toml,line=4"}


@pytest.mark.slow
def test_elsewhere_nothing_is_folded_or_annotated(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.doubles(a="compile: fail")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert not re.search(r"^\s*::", project.run(*DOUBLES).stdout.str(), re.MULTILINE)
