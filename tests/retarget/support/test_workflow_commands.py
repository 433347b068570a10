"""Lines that GitHub's runner obeys, and text that it must not obey."""

from __future__ import annotations

import pytest
from retarget.support.github import log_group, workflow_command


@pytest.mark.parametrize(
    ("message", "properties", "line"),
    [
        ("all is lost", {}, "::error::all is lost"),
        ("a", {"file": "a,b:c.mlir", "line": 3}, "::error file=a%2Cb%3Ac.mlir,line=3::a"),
        ("a", {"file": "", "title": "t"}, "::error title=t::a"),
        ("100 %\r\nof\nit", {"title": "50 %\n"}, "::error title=50 %25%0A::100 %25%0Aof%0Ait"),
        ("%0A", {}, "::error::%250A"),
        ("\x1b[31mred\x1b[0m \x00\u202e\ud800<script>", {}, "::error::red  <script>"),
        ("::stop-commands::x", {}, "::error::::stop-commands::x"),
        ("x" * 10**6, {}, f"::error::{'x' * 4000}…"),
    ],
)
def test_a_command_is_one_line_whatever_its_texts_are(
    message: str, properties: dict[str, str | int], line: str
) -> None:
    assert workflow_command("error", message, **properties) == line
    line.encode()


def test_what_is_folded_is_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines: list[str] = []
    with log_group("matrix: 1", lines.append):
        lines.append("::error::forged")
    start, stop, forged, go_on, end = lines
    assert (start, forged, end) == ("::group::matrix: 1", "::error::forged", "::endgroup::")
    token = stop.removeprefix("::stop-commands::")
    assert len(token) == 32
    assert go_on == f"::{token}::"
