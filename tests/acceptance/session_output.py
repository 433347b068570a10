"""What a session of pytest reported: its blocks, sections, commands and junit files."""

from __future__ import annotations

import os
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest
from acceptance_support import Project


def junit(project: Project, name: str = "junit.xml") -> dict[str, ET.Element]:
    """The targets of a junit file, by their names."""
    cases = ET.parse(project.path / name).iter("testcase")  # noqa: S314
    return {case.attrib["name"]: case for case in cases}


def properties(case: ET.Element) -> dict[str, str]:
    """The properties of a target in a junit file."""
    return {found.attrib["name"]: found.attrib["value"] for found in case.iter("property")}


def ids(result: pytest.RunResult) -> list[str]:
    """The node ids that `--collect-only -q` printed."""
    return [line for line in result.outlines if "::" in line]


def block(result: pytest.RunResult, title: str) -> list[str]:
    """The lines of one failure or error, without those that frame it and the one that names a worker of xdist."""
    starts = [at for at, line in enumerate(result.outlines) if line.strip("_ ") == title and line.startswith("_")]
    assert starts, f"no failure titled {title!r}"
    lines: list[str] = []
    for line in result.outlines[starts[0] + 1 :]:
        if line.startswith(("____", "====")):
            break
        lines.append(line)
    return lines[1:] if lines and lines[0].startswith("[gw") else lines


def section(result: pytest.RunResult, title: str) -> list[str]:
    """The lines below `=== title ===` up to the next such line."""
    starts = [at for at, line in enumerate(result.outlines) if line.strip("= ") == title and line.startswith("=")]
    assert starts, f"no section titled {title!r}"
    lines: list[str] = []
    for line in result.outlines[starts[0] + 1 :]:
        if line.startswith("====="):
            break
        lines.append(line)
    return lines


def commands(lines: Sequence[str]) -> list[str]:
    """The commands with which a failure ends."""
    found: list[str] = []
    for line in lines[lines.index("to reproduce this by hand:") + 1 :]:
        if line.startswith("-----"):  # what the others did
            break
        if line.strip():
            found.append(line.strip())
    return found


def shell(lines: list[str], *, strict: bool = True, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """Paste lines into a fresh shell: of another folder, with nothing set up. It ends where one fails, if `strict`."""
    argv = ["bash", "--norc", "--noprofile", *(["-e"] if strict else [])]
    home = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return subprocess.run(
        argv,
        input="\n".join(lines) + "\n",
        cwd="/",
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **home},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
