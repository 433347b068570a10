"""Options and marks of the plugin."""

from __future__ import annotations

import pytest
from pytest_retarget.options import MARKERS, parse_seconds
from retarget.model.marks import MARK_FIELDS


def test_seconds_may_be_parts_of_one() -> None:
    assert parse_seconds("0.5") == 0.5


def test_the_fixed_marks_are_those_that_targets_get() -> None:
    printed = {line.partition(":")[0] for line in MARKERS}
    assert printed == {"compile", "run"} | {f"{name}({', '.join(fields)})" for name, fields in MARK_FIELDS}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--retarget-benchmark-baseline", ""),
            "--retarget-benchmark-baseline was given without --retarget-benchmark; expected both",
        ),
        (
            ("--retarget-leg", ""),
            "--retarget-leg was given without --retarget-plan; expected the plan that has the leg, too",
        ),
        (("--retarget-repro", ""), "--retarget-repro: found an empty text, expected a folder"),
    ],
)
def test_an_empty_text_counts_as_given(pytester: pytest.Pytester, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        pytester.parseconfigure(*arguments)
    assert str(caught.value) == message


def test_a_leg_that_would_write_its_own_rules_is_refused(pytester: pytest.Pytester) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        pytester.parseconfigure("--retarget-plan=p", "--retarget-leg=l", "--retarget-update-expectations")
    assert str(caught.value) == (
        "--retarget-update-expectations and --retarget-plan were both given; expected one of them: a leg is judged by "
        "the rules that it was planned with"
    )
