"""The language of `-m`: the same as pytest's own."""

from __future__ import annotations

import pytest
from _pytest.mark.expression import Expression
from hypothesis import given
from hypothesis import strategies as st
from model_targets import compile_target, run_target
from retarget.model import CompileTarget, RunTarget
from retarget.support.errors import RetargetError
from retarget.targets.selection import ExpressionError, compile_selector, terms
from retarget.targets.tags import marks

COMPILED = compile_target(config="cc", tags=("compile", "linalg", "cc", "llvm-cpu"), backends=("llvm-cpu",))
TAGS = ("run", "linalg", "cc", "llvm-cpu", "rt", "vulkan", "linux", "x86_64")
RUN = run_target(COMPILED, "rt", "vulkan", host_os=("linux",), host_arch=("x86_64",), tags=TAGS)


@pytest.mark.parametrize(
    ("expression", "compiled", "run"),
    [
        ("", True, True),
        ("  ", True, True),
        ("compile", True, False),
        ("llvm-cpu and not vulkan", True, False),
        ("vulkan or compile", True, True),
        ("not not vulkan", False, True),
        ("not (vulkan or compile)", False, False),
        ("not vulkan or run", True, True),
        ("compile or run and vulkan", True, True),
        ("(compile or run) and vulkan", False, True),
        ("driver(name='vulkan')", False, True),
        ('driver(name="metal")', False, False),
        ("platform(os='linux', arch='x86_64')", False, True),
        ("platform(os='linux',arch='arm64')", False, False),
        ("backend(name='llvm-cpu')", True, True),
        ("driver", False, True),
        ("driver(count=1)", False, False),
        ("driver(name=None)", False, False),
        ("driver(other=None)", False, False),
        ("vulkan(name='x')", False, False),
        ("nothing", False, False),
    ],
)
def test_what_an_expression_selects(expression: str, compiled: bool, run: bool) -> None:
    selects = compile_selector(expression)
    assert (selects(COMPILED), selects(RUN)) == (compiled, run)


ERRORS = [
    ("a b", 3, "found 'b', expected 'and', 'or' or the end of line"),
    ("(a", 3, "found the end of line, expected ')'"),
    ("a)", 2, "found ')', expected 'and', 'or' or the end of line"),
    ("and a", 1, "found 'and', expected a word, 'not' or '('"),
    ("a or", 5, "found the end of line, expected a word, 'not' or '('"),
    ("not", 4, "found the end of line, expected a word, 'not' or '('"),
    ("a & b", 3, "found '&', expected a word, 'and', 'or', 'not' or a parenthesis"),
    ("a()", 3, "found ')', expected the name of an argument"),
    ("a(b)", 4, "found ')', expected '='"),
    ("a(1=2)", 3, "found '1', expected the name of an argument"),
    ("a(class=2)", 3, "found 'class', expected the name of an argument"),
    ("a(b=c)", 5, "found 'c', expected a string in quotes, an integer, True, False or None"),
    ("a(b=)", 5, "found ')', expected a string in quotes, an integer, True, False or None"),
    ("a(b='c'", 8, "found the end of line, expected ',' or ')'"),
    ("a(b='c", 5, "found no closing ', expected one"),
    (r"a(b='\n')", 6, r"found '\' in a string, expected a string without escapes"),
    ("'a'", 1, "found \"'a'\", expected a word, 'not' or '('"),
]


@pytest.mark.parametrize(("expression", "column", "message"), ERRORS)
def test_an_error_has_a_column(expression: str, column: int, message: str) -> None:
    with pytest.raises(RetargetError) as caught:
        compile_selector(expression)
    assert str(caught.value) == f"-m {expression!r}: column {column}: {message}"
    with pytest.raises(SyntaxError) as theirs:
        Expression.compile(expression)
    assert theirs.value.offset == column


def pytest_selects(expression: str, target: CompileTarget | RunTarget) -> bool:
    def matches(name: str, /, **arguments: str | int | bool | None) -> bool:
        found = [dict(fields) for mark, fields in marks(target) if mark == name]
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
            compile_selector(expression)
    else:
        assert [compile_selector(expression)(target) for target in (COMPILED, RUN)] == expected


def test_the_words_of_an_expression_are_reported_with_their_columns_and_what_each_selects() -> None:
    found = terms("llvm-cpu and not (driver(name='vulkan') or x )")
    assert [(term.text, term.column, term.selector(COMPILED), term.selector(RUN)) for term in found] == [
        ("llvm-cpu", 1, True, True),
        ("driver(name='vulkan')", 19, False, True),
        ("x", 44, False, False),
    ]
    assert terms(" ") == ()


def test_an_error_of_an_expression_can_be_reported_without_the_option() -> None:
    with pytest.raises(ExpressionError) as caught:
        terms("a and")
    assert caught.value.diagnostic == "column 6: found the end of line, expected a word, 'not' or '('"
