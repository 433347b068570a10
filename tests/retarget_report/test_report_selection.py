"""The language of `-m` in the browser is that of the command line: the same table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from report_results import record, write_results
from retarget.session import Selector
from retarget_report.command import write_site
from retarget_report.read import read_report
from selection_table import COMPILED, ERRORS, RUN, SELECTED

if TYPE_CHECKING:
    from conftest import Open

ASK = """([expressions, targets]) => expressions.map(expression => {
    try {
        const {terms, test} = Retarget.selection(expression);
        return targets.map(words => test(term => words.some(word => Retarget.isNamed(word, terms[term]))));
    } catch (error) { return error.message; }
})"""

MORE_ERRORS = [
    "a & é",
    "ü(",
    "\U0001d518 \U0001d518",
    "a\n",
    'a("',
    "a(b=\u2028)",
    "a(b=1, c=x)",
    "'it''s'",
    "not not",
    "a(é=1",
    "\x07",
]


@pytest.mark.slow
def test_the_browser_selects_what_the_command_line_selects(show: Open, tmp_path: Path) -> None:
    from retarget.session import ExpressionError

    write_results(tmp_path / "results", [record("add")])
    write_site(read_report([tmp_path / "results"]), tmp_path / "site")
    page = show(tmp_path / "site")
    words = [json.loads(json.dumps([*target.tags, *target.marks])) for target in (COMPILED, RUN)]
    selected = page.evaluate(ASK, [[expression for expression, _, _ in SELECTED], words])
    assert selected == [[compiled, run] for _, compiled, run in SELECTED]
    errors = page.evaluate(ASK, [[expression for expression, _, _ in ERRORS], words])
    assert errors == [f"column {column}: {message}" for _, column, message in ERRORS]

    def in_python(expression: str) -> object:
        try:
            selector = Selector(expression)
        except ExpressionError as error:
            return error.diagnostic
        return [selector(COMPILED), selector(RUN)]

    assert page.evaluate(ASK, [MORE_ERRORS, words]) == [in_python(expression) for expression in MORE_ERRORS]
