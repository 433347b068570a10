"""Key paths as people write them, and back."""

from __future__ import annotations

import pytest
from retarget.support.toml import KeyPath, format_key_path, parse_key_path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("target_config", 2, "runtimes", 0), "target_config[2].runtimes[0]"),
        (("env", "A B"), 'env."A B"'),
        (("a.b", 'c"\\d', 10), '"a.b"."c\\"\\\\d"[10]'),
        (("",), '""'),
    ],
)
def test_a_key_path_is_written_and_read_back(path: KeyPath, text: str) -> None:
    assert format_key_path(path) == text
    assert parse_key_path(text) == path
