"""What is added to a junit file, and what is left as it is."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from pytest_retarget.attribution.reports import SECTION, complete

FILE = """<testsuite name="pytest" tests="3">\
<testcase classname="suite.toml.s" name="m_a_x"><properties><property name="retarget.nodeid" \
value="suite.toml::s::m_a_x" /></properties><failure message="compare: 1 &#10;é">compare: 1 of 2\n</failure></testcase>\
<testcase classname="suite.toml.s" name="m_a_y"><properties><property name="retarget.nodeid" \
value="suite.toml::s::m_a_y" /></properties></testcase><testcase classname="test_it" name="m_a_x">\
<failure message="no">no</failure></testcase></testsuite>"""

SAID = dict.fromkeys(
    ("suite.toml::s::m_a_x", "suite.toml::s::m_a_y", "suite.toml::s::gone"),
    ("This points to a\x1b.", "This points to a\x1b.\n\n  m_a_y  passed"),
)


def test_a_failure_gets_the_section_and_a_property_and_nothing_else_changes() -> None:
    tests = ET.fromstring(FILE)  # noqa: S314 - it stands above
    complete(tests, SAID)
    section = f"compare: 1 of 2\n\n{f' {SECTION} ':-^80}\nThis points to a#x1B.\n\n  m_a_y  passed</failure>"
    expected = FILE.replace("compare: 1 of 2\n</failure>", section).replace(
        'm_a_x" /></properties>',
        'm_a_x" /><property name="retarget.attribution" value="This points to a#x1B." /></properties>',
    )
    assert ET.canonicalize(ET.tostring(tests)) == ET.canonicalize(expected)
