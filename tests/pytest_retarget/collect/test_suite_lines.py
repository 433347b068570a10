"""Where the tables of suites start in their files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_retarget.collect.suite_files import suite_line
from retarget.model import Origin

TEXT = """\
[[module_test_suite]]
name = "a"
  [[ "module_test_suite" ]]
name = "b"
"""


@pytest.mark.parametrize(
    ("key_path", "line"),
    [("module_test_suite[0]", 0), ("module_test_suite[1]", 2), ("module_test_suite[2]", None), ("other[0]", None)],
)
def test_suites_have_lines_without_a_parser(cwd: Path, key_path: str, line: int | None) -> None:
    file = cwd / "suite.toml"
    file.write_text(TEXT)
    assert suite_line(Origin(file=file, key_path=key_path)) == line
    assert suite_line(Origin(file=file.with_name("absent"), key_path=key_path)) is None
