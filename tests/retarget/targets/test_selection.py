"""The language of `-m`: the same as pytest's own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from _pytest.mark.expression import Expression
from hypothesis import given
from hypothesis import strategies as st
from retarget.model import CompileTarget, RunTarget
from retarget.model.devices import DeviceTraits
from retarget.support.errors import RetargetError
from retarget.targets.selection import ExpressionError, Selector
from selection_table import COMPILED, ERRORS, RUN, SELECTED


@pytest.mark.parametrize(("expression", "compiled", "run"), SELECTED)
def test_what_an_expression_selects(expression: str, compiled: bool, run: bool) -> None:
    selects = Selector(expression)
    assert (selects(COMPILED), selects(RUN)) == (compiled, run)


@pytest.mark.parametrize(("expression", "column", "message"), ERRORS)
def test_an_error_has_a_column(expression: str, column: int, message: str) -> None:
    with pytest.raises(RetargetError) as caught:
        Selector(expression)
    assert str(caught.value) == f"-m {expression!r}: column {column}: {message}"
    with pytest.raises(SyntaxError) as theirs:
        Expression.compile(expression)
    assert theirs.value.offset == column


def pytest_selects(expression: str, target: CompileTarget | RunTarget) -> bool:
    def matches(name: str, /, **arguments: str | int | bool | None) -> bool:
        found = [dict(fields) for mark, fields in target.marks if mark == name]
        found += [{} for tag in target.tags if tag == name]
        return any(all(fields.get(key, ...) == value for key, value in arguments.items()) for fields in found)

    return Expression.compile(expression).evaluate(matches)


WORDS = st.sampled_from(
    [
        "and",
        "or",
        "not",
        "(",
        ")",
        "vulkan",
        "run",
        "compile",
        "driver(name='vulkan')",
        "platform(os='linux')",
        "x=",
        "'",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=9).map(" ".join))
def test_pytest_says_the_same(expression: str) -> None:
    try:
        expected = [pytest_selects(expression, target) for target in (COMPILED, RUN)]
    except SyntaxError:
        with pytest.raises(RetargetError):
            Selector(expression)
    else:
        assert [Selector(expression)(target) for target in (COMPILED, RUN)] == expected


GPU, CPU = DeviceTraits(driver="radv", version="25.1"), DeviceTraits(driver="llvmpipe")


def test_the_terms_of_a_rule_say_which_of_them_are_devices_and_negated() -> None:
    found = Selector.of_rule("vulkan and not on(driver='radv')").terms
    assert [(term.text, term.column, term.negated, term.traits) for term in found] == [
        ("vulkan", 1, False, frozenset()),
        ("on(driver='radv')", 16, True, frozenset({("driver", "radv")})),
    ]


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("on(colour='x')", 4, "found 'colour', expected one of driver, vendor, name, version, type"),
        ("on(driver=1)", 11, "found 1 as the driver of a device, expected a text in quotes, such as a glob"),
        ("on(driver='radv'", 17, "found the end of line, expected ',' or ')'"),
        ("on(if='x')", 4, "found 'if', expected the name of an argument"),
        ("on()", 4, "found ')', expected the name of an argument"),
        ("x and on(name=5)", 15, "found 5 as the name of a device, expected a text in quotes, such as a glob"),
    ],
)
def test_an_error_in_a_device_has_the_column_of_what_is_wrong(expression: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Selector.of_rule(expression)
    assert caught.value.diagnostic == f"column {column}: {message}"


def test_anything_with_tags_can_be_selected() -> None:
    marked = Selector("fast and op(kind='conv')")
    marks_of = (("op", (("kind", "conv"),)),)
    assert marked(SimpleNamespace(tags=("fast",), marks=marks_of))
    assert not marked(SimpleNamespace(tags=(), marks=marks_of))
    assert not marked(SimpleNamespace(tags=("fast",), marks=()))


@pytest.mark.parametrize("expression", ["(" * 20_000 + "run" + ")" * 20_000, "not " * 20_000 + "run"])
def test_an_expression_that_is_nested_too_deeply_is_an_error(expression: str) -> None:
    with pytest.raises(ExpressionError, match="found parentheses or `not` nested too deeply"):
        Selector(expression)
