"""Whether a session reuses results: the option, the variable, the ini key, and what contradicts them."""

from __future__ import annotations

import pytest

NO_CACHE = "--retarget-no-cache"
UPDATE = "--retarget-update-expectations"
REUSE = "--retarget-reuse-results"


def settings(pytester: pytest.Pytester, *arguments: str, ini: str = "") -> tuple[bool, bool]:
    from pytest_retarget.options import SETTINGS

    if ini:
        pytester.makeini(f"[pytest]\nretarget_reuse_results = {ini}\n")
    found = pytester.parseconfigure(*arguments).stash[SETTINGS]
    return found.reuses, found.changed


@pytest.mark.parametrize(
    ("given", "reuses"),
    [
        (((), "", ""), False),
        (((REUSE,), "0", "false"), True),
        (((), "1", "false"), True),
        (((), "0", "true"), False),
        (((), "", "true"), True),
        (((NO_CACHE,), "1", "true"), False),
        (((UPDATE,), "1", "true"), False),
    ],
)
def test_the_option_goes_before_the_variable_which_goes_before_the_ini_key(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, given: tuple[tuple[str, ...], str, str], reuses: bool
) -> None:
    arguments, variable, ini = given
    monkeypatch.setenv("RETARGET_REUSE_RESULTS", variable)
    assert settings(pytester, *arguments, ini=ini) == (reuses, False)


def test_changed_reuses_results_too(pytester: pytest.Pytester) -> None:
    assert settings(pytester, "--retarget-changed", "-p", "no:cacheprovider") == (True, True)


@pytest.mark.parametrize("option", [REUSE, "--retarget-changed"])
@pytest.mark.parametrize(
    ("other", "why"), [(NO_CACHE, "results are kept in the cache"), (UPDATE, "expectations are made from what runs")]
)
def test_what_cannot_be_together_is_a_usage_error(pytester: pytest.Pytester, option: str, other: str, why: str) -> None:
    with pytest.raises(pytest.UsageError) as caught:
        settings(pytester, option, other)
    assert str(caught.value) == f"{option} and {other} were both given; expected one of them: {why}"


def test_another_value_of_the_variable_is_a_usage_error(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RETARGET_REUSE_RESULTS", "yes")
    with pytest.raises(pytest.UsageError) as caught:
        settings(pytester)
    expected = "found RETARGET_REUSE_RESULTS='yes', expected 1 to reuse results of earlier runs, or 0"
    assert str(caught.value) == expected
