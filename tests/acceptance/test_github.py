"""Sessions in a job of GitHub Actions."""

from __future__ import annotations

import re

import pytest
from acceptance_support import DOUBLES, Project, alone_and_xdist


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


@alone_and_xdist(in_ci=False)
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
def test_elsewhere_nothing_is_folded_or_annotated(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.doubles(a="compile: fail")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert not re.search(r"^\s*::", project.run(*DOUBLES).stdout.str(), re.MULTILINE)
