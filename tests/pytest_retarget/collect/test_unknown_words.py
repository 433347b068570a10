"""Words of `-m` that no target has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.collect.hooks import unknown_words


@pytest.mark.parametrize(
    ("text", "reported"), [("a and b", []), ("a or c or not d", ["c", "d"]), ("(c or a) and d(name='x')", ["c", "d"])]
)
def test_each_unknown_word_of_an_expression_is_found(text: str, reported: list[str]) -> None:
    assert unknown_words(text, ["a", "b"]) == [f"-m {text!r}: no target has the tag {word!r}" for word in reported]


def test_where_targets_are_left_only_words_that_resemble_a_known_one_are_reported() -> None:
    assert unknown_words("vulkan or opencll or other", ["vulkan", "opencl"], only_near=True) == [
        "-m 'vulkan or opencll or other': no target has the tag 'opencll'; did you mean 'opencl'?"
    ]


def test_arguments_that_no_target_has_are_reported_with_the_nearest_mark() -> None:
    gpu: Any = SimpleNamespace(tags=("gpu",), marks=(("driver", (("name", "vulkan"),)),))
    text = "driver(name='vulkan') or driver(nam='vulkan') or other(name='x')"
    assert unknown_words(text, ["driver", "gpu"], [gpu], only_near=True) == [
        f"-m {text!r}: no target has the tag \"driver(nam='vulkan')\"; did you mean \"driver(name='vulkan')\"?"
    ]
