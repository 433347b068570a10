"""Lines of keys in TOML text, and key paths as text."""

from __future__ import annotations

import pytest
from retarget.support.toml.keypaths import KeyPath, format_key_path, parse_key_path
from retarget.support.toml.locate import Locator

TEXT = """\
# a comment
root = true

[[config]]
name = "a"
flags = [
    "-x",  # the first

    "-y",
]
env = { A = "1", "B C" = ["2"] }
deep.er = 3

[[config]]
name = "b"

[config.env]
X = "1"

[[config.module]]
match = '''
lines
'''

[[config.module]]
match = [{ a = 1 },
  { a = 2 }]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("root",), 2),
        (("config",), 4),
        (("config", 0), 4),
        (("config", 0, "name"), 5),
        (("config", 0, "flags"), 6),
        (("config", 0, "flags", 0), 7),
        (("config", 0, "flags", 1), 9),
        (("config", 0, "env", "A"), 11),
        (("config", 0, "env", "B C", 0), 11),
        (("config", 0, "deep", "er"), 12),
        (("config", 1), 14),
        (("config", 1, "env"), 17),
        (("config", 1, "env", "X"), 18),
        (("config", 1, "module", 0), 20),
        (("config", 1, "module", 0, "match"), 21),
        (("config", 1, "module", 1, "match", 1, "a"), 27),
        (("config", 1, "missing"), 14),
        (("elsewhere",), 0),
        ((), 0),
    ],
)
def test_the_line_of_a_key_or_of_what_encloses_it(path: KeyPath, line: int) -> None:
    assert Locator(TEXT).line(path) == line


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("target_config", 2, "runtimes", 0), "target_config[2].runtimes[0]"),
        (("env", 'A "B" \\', "c-d"), 'env."A \\"B\\" \\\\".c-d'),
        (("", 0), '""[0]'),
        ((), ""),
    ],
)
def test_key_paths_are_written_and_read_back(path: KeyPath, text: str) -> None:
    assert format_key_path(path) == text
    assert parse_key_path(text) == path
