"""Lines of keys, also in texts of which the parser knows less than the reader."""

from __future__ import annotations

import pytest
from retarget.support.toml import KeyPath, Locator


def test_keys_after_an_inline_table_of_several_lines_have_their_lines() -> None:
    # TOML 1.1, which tomli reads and the parser does not.
    locator = Locator('[[case]]\na = { "b*" = "c", \r\n"d*" = "." }\n\n[[case]]\nname = "x"\n')

    assert locator.line(("case", 1, "name")) == 6
    assert locator.line(("case", 0, "a", "d*")) == 2


TEXT = """\
version = 1
[[suite]]
name = "a"
sizes = [
    1,
    [2, 3],
]
case = { of = "x", "a.b" = { c = 1 } }
[[suite]]
name = "b"
[suite.needs]
device.memory = 8
[[suite.rule]]
[[suite.rule]]
reason = "r"
[other]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("version",), 1),
        (("suite",), 2),
        (("suite", 0), 2),
        (("suite", 0, "name"), 3),
        (("suite", 0, "sizes"), 4),
        (("suite", 0, "sizes", 0), 5),
        (("suite", 0, "sizes", 1), 6),
        (("suite", 0, "sizes", 1, 1), 6),
        (("suite", 0, "sizes", 1, 2), 6),
        (("suite", 0, "sizes", 2), 4),
        (("suite", 0, "case", "of"), 8),
        (("suite", 0, "case", "a.b", "c"), 8),
        (("suite", 1), 9),
        (("suite", 1, "name"), 10),
        (("suite", 1, "sizes"), 9),
        (("suite", 1, "needs"), 11),
        (("suite", 1, "needs", "device"), 12),
        (("suite", 1, "needs", "device", "memory"), 12),
        (("suite", 1, "rule", 0), 13),
        (("suite", 1, "rule", 1), 14),
        (("suite", 1, "rule", 1, "reason"), 15),
        (("other",), 16),
        (("missing", 0, "name"), 0),
        ((), 0),
    ],
)
def test_a_path_has_the_line_of_its_key_or_of_what_encloses_it(path: KeyPath, line: int) -> None:
    assert Locator(TEXT).line(path) == line


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("suite", 0, "sizes", 1), ("suite", 0, "sizes", 1)),
        (("suite", 0, "name", 0), ("suite", 0, "name")),
        (("suite", 0, "missing"), ("suite", 0, "missing")),
        ((), ()),
    ],
)
def test_a_single_value_in_place_of_a_list_has_no_index(path: KeyPath, shown: KeyPath) -> None:
    assert Locator(TEXT).shown(path) == shown
