"""What the others did, in the file that `--junitxml` writes.

Pytest takes a test's text down when that test ends, before the others of its module ran. What they did is therefore
added to the file when it is there: below the text of a failure, and as a property, for those who count. For the other
properties of targets, see `retarget.results.export.properties`.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from retarget.support.files import replacing, user_path

__all__ = ["NODEID", "PROPERTY", "Conclusion", "complete", "junit_file"]

NODEID = "retarget.nodeid"
"""The property by which a target is found in the file: pytest writes no node ids there."""

PROPERTY = "retarget.attribution"
"""The property that says what a failure points to."""

_WIDTH = 80
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 allows no document to hold: section 2.2, Char."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What one failure points to: the sentence that concludes, and the whole section with its title."""

    sentence: str
    title: str
    section: str


def junit_file(config: pytest.Config) -> Path | None:
    """Return the file that pytest is to write, as it finds it itself; None if it is to write none."""
    name: str | None = config.getoption("xmlpath", None)  # there is none without pytest's junitxml plugin
    return user_path(os.path.expandvars(name)).absolute() if name else None


def complete(path: Path, conclusions: Mapping[str, Conclusion]) -> None:
    """Add to the file what the failures point to, by their node ids.

    A file of another kind (a pipe, the output of another plugin) is not changed.
    """
    if not conclusions or not path.is_file():
        return
    try:
        tree = ET.parse(path)  # noqa: S314 - pytest wrote it a moment ago
    except (OSError, ET.ParseError):
        return
    for case in tree.iter("testcase"):
        properties = case.find("properties")
        if properties is None:
            continue
        nodeid = next((one.get("value", "") for one in properties if one.get("name") == NODEID), "")
        failure = case.find("failure")
        if failure is None or (one := conclusions.get(nodeid)) is None:
            continue
        ET.SubElement(properties, "property", name=PROPERTY, value=_legal(one.sentence))
        head = f" {one.title} ".center(_WIDTH, "-")
        failure.text = f"{failure.text or ''}\n{head}\n{_legal(one.section)}"
    with suppress(OSError), replacing(path.resolve()) as beside:  # a link stays one
        tree.write(beside, encoding="utf-8", xml_declaration=True)


def _legal(text: str) -> str:
    """Write what XML cannot hold as pytest does: `#x1B`."""
    return _ILLEGAL.sub(lambda found: f"#x{ord(found[0]):02X}", text)
