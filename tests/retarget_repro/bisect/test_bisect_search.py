"""The search between a good and a bad version."""

from __future__ import annotations

import pytest
from retarget_repro.bisect import Verdict, boundary

VERDICTS = {"g": Verdict.GOOD, "b": Verdict.BAD, "?": Verdict.SKIP}


@pytest.mark.parametrize(
    ("versions", "expected", "tried"),
    [
        ("gb", (0, 1), []),
        ("ggb", (1, 2), [1]),
        ("gbb", (0, 1), [1]),
        ("gggbbbbb", (2, 3), [3, 1, 2]),
        ("ggggggb", (5, 6), [3, 4, 5]),
        ("g?b", (0, 2), [1]),
        ("gg?bb", (1, 3), [2, 1, 3]),
        ("g???b", (0, 4), [2, 1, 3]),
        ("gg???bb", (1, 5), [3, 2, 4, 1, 5]),
    ],
)
def test_it_ends_where_nothing_is_left_to_try_between_good_and_bad(
    versions: str, expected: tuple[int, int], tried: list[int]
) -> None:
    judged = []

    def judge(version: str) -> Verdict:
        judged.append(int(version))
        return VERDICTS[versions[int(version)]]

    assert boundary([str(index) for index in range(len(versions))], judge) == expected
    assert judged == tried


def test_a_hundred_versions_take_seven_tries_at_most() -> None:
    for first in range(1, 100):
        judged: list[str] = []

        def judge(version: str, first: int = first, judged: list[str] = judged) -> Verdict:
            judged.append(version)
            return Verdict.BAD if int(version) >= first else Verdict.GOOD

        assert boundary([str(index) for index in range(100)], judge) == (first - 1, first)
        assert len(judged) <= 7
