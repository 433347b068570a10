"""The language of `-m` as a table: pytest, the command line and the page agree on it."""

from __future__ import annotations

from model_targets import compile_target, run_target

__all__ = ["COMPILED", "ERRORS", "RUN", "SELECTED"]

COMPILED = compile_target(config="cc", tags=("compile", "linalg", "cc", "llvm-cpu"), backends=("llvm-cpu",))
TAGS = ("run", "linalg", "cc", "llvm-cpu", "rt", "vulkan", "linux", "x86_64")
RUN = run_target(COMPILED, "rt", "vulkan", host_os=("linux",), host_arch=("x86_64",), tags=TAGS)

SELECTED = [
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
]
"""An expression, and whether it selects `COMPILED` and `RUN`."""

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
"""An expression, the column of its error, and what the error says."""
