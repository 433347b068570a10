"""Lines of keys, also in texts of which the parser knows less than the reader."""

from __future__ import annotations

from retarget.support.toml import Locator


def test_keys_after_an_inline_table_of_several_lines_have_their_lines() -> None:
    # TOML 1.1, which tomli reads and the parser does not.
    locator = Locator('[[case]]\na = { "b*" = "c", \r\n"d*" = "." }\n\n[[case]]\nname = "x"\n')

    assert locator.line(("case", 1, "name")) == 6
    assert locator.line(("case", 0, "a", "d*")) == 2
