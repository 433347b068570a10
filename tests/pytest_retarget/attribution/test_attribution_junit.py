"""What is added to a junit file, and what is left as it is."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pytest_retarget.attribution.reports import Conclusion, complete

FILE = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" tests="3">\
<testcase classname="suite.toml.s" name="m_a_x"><properties><property name="retarget.nodeid" \
value="suite.toml::s::m_a_x" /></properties><failure message="compare: 1 &#10;é">compare: 1 of 2\n</failure></testcase>\
<testcase classname="suite.toml.s" name="m_a_y"><properties><property name="retarget.nodeid" \
value="suite.toml::s::m_a_y" /></properties></testcase><testcase classname="test_it" name="m_a_x">\
<failure message="no">no</failure></testcase></testsuite></testsuites>"""

SAID = {
    nodeid: Conclusion(
        sentence="This points to a\x1b.", title="others", section="This points to a\x1b.\n\n  m_a_y  passed"
    )
    for nodeid in ("suite.toml::s::m_a_x", "suite.toml::s::m_a_y", "suite.toml::s::gone")
}


def test_a_failure_gets_the_section_and_a_property_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(FILE)
    complete(path, SAID)
    head = f"{' others ':-^80}"
    section = f"compare: 1 of 2\n\n{head}\nThis points to a#x1B.\n\n  m_a_y  passed</failure>"
    expected = FILE.replace("compare: 1 of 2\n</failure>", section).replace(
        'm_a_x" /></properties>',
        'm_a_x" /><property name="retarget.attribution" value="This points to a#x1B." /></properties>',
    )
    assert ET.canonicalize(path.read_text(encoding="utf-8")) == ET.canonicalize(expected)
    assert list(tmp_path.iterdir()) == [path]


def test_without_failures_the_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(FILE)
    complete(path, {})
    assert path.read_text() == FILE


def test_what_is_no_such_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    complete(path, SAID)
    assert not path.exists()
    path.write_text("<testsuites>")
    complete(path, SAID)
    assert path.read_text() == "<testsuites>"


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    path = tmp_path / "report.xml"
    path.symlink_to(tmp_path / "kept" / "1.xml")
    path.write_text(FILE)
    complete(path, SAID)
    assert path.is_symlink()
    assert "retarget.attribution" in (tmp_path / "kept" / "1.xml").read_text()
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["1.xml", "kept", "report.xml"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_read_from(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    complete(path, SAID)  # reading would wait for ever
    assert path.is_fifo()
