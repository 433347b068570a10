"""The session of `retarget run`: its options, which targets names mean, and what it says at its end."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_retarget.attribution.reports import _to_run
from pytest_retarget.run import _arguments, _counts, _Session, _with_front, run
from retarget.results import Outcome, TargetRecord
from retarget.session import SelectionRequest
from retarget.support import RetargetError

pytestmark = pytest.mark.usefixtures("cwd")


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ("add_c", ["add_c"]),
        ("add_c_", ["add_c_r"]),
        ("add_v", ["add_v_r"]),
        ("none", []),
        ("a", "found 3 targets whose names begin with 'a': add_c, add_c_r, add_v_r; expected one, or 'a*'"),
        ("", "found 6 targets whose names begin with '': add_c, add_c_r, add_v_r, mul, neg, …; expected one, or '*'"),
    ],
)
def test_a_name_or_the_front_of_one_means_a_target(front: str, found: object) -> None:
    known = ["sub", "add_c", "add_c_r", "add_v_r", "add_c", "mul", "neg"]
    if isinstance(found, list):
        assert _with_front(known, front) == found
    else:
        with pytest.raises(pytest.UsageError) as caught:
            _with_front(known, front)
        assert str(caught.value) == found
    assert _with_front(["a1", "a2", "a3", "a4", "b"], "b") == ["b"]


def test_five_of_many_targets_are_named() -> None:
    with pytest.raises(pytest.UsageError, match=r"begin with 'a': a1, a2, a3, a4, a5; expected"):
        _with_front([f"a{number}" for number in range(1, 6)], "a")


def test_outcomes_are_counted_by_their_words_in_the_order_they_came() -> None:
    outcomes = [Outcome.PASSED, Outcome.XPASSED, Outcome.PASSED, Outcome.FAILED, Outcome.XFAILED, Outcome.NOT_RUN]
    assert _counts(outcomes) == "2 passed, 2 failed, 1 xfail, 1 not run"


def session(**known: Any) -> _Session:
    return _Session(SelectionRequest(paths=("s",), **known))


def items(*names: str) -> list[Any]:
    return [SimpleNamespace(name=name) for name in names]


@pytest.mark.parametrize(
    ("names", "left"),
    [
        ((), ["a_c", "a_c_r", "b_c"]),
        (("a_c",), ["a_c"]),
        (("a_*", "b"), ["a_c", "a_c_r", "b_c"]),
        (("*_r",), ["a_c_r"]),
    ],
)
def test_what_no_name_is_about_is_deselected(names: tuple[str, ...], left: list[str]) -> None:
    gone: list[str] = []
    hook = SimpleNamespace(pytest_deselected=lambda items: gone.extend(item.name for item in items))
    found = items("a_c", "a_c_r", "b_c")
    config: Any = SimpleNamespace(hook=hook)
    session(names=names).pytest_collection_modifyitems(config, found)
    assert [item.name for item in found] == left
    assert gone == [name for name in ("a_c", "a_c_r", "b_c") if name not in left]


@pytest.mark.parametrize(
    ("known", "notes"),
    [
        ({}, ["note: new", "old", "terminal error", "required", "unselected"]),
        ({"requirements": False}, ["note: new", "old", "terminal error", "unselected"]),
        ({"collection": None}, []),
        ({"terminal": None}, []),
        ({"config": None}, []),
    ],
)
def test_what_there_is_to_say_besides_targets(known: dict[str, Any], notes: list[str]) -> None:
    plugins = {
        "retarget-matrix": SimpleNamespace(notes=["new"]),
        "retarget-matrix-terminal": SimpleNamespace(
            notes=["new", "old"], errors=["terminal error"], unselected=["unselected"]
        ),
    }
    if "collection" in known:
        del plugins["retarget-matrix"]
    if "terminal" in known:
        del plugins["retarget-matrix-terminal"]
    made = session()
    made.config = None if "config" in known else SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin=plugins.get))  # type: ignore[assignment]
    made._requirements = SimpleNamespace(errors=["required"]) if known.get("requirements", True) else None  # type: ignore[assignment]
    assert list(made.notes()) == notes


def test_errors_of_a_session_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest, "main", lambda _, plugins: plugins[0].errors.update({"it broke": None}))
    with pytest.raises(RetargetError, match=r"^it broke$"):
        run(SelectionRequest(paths=(".",)))


def test_the_options_of_a_session_are_what_was_asked_for(cwd: Path) -> None:
    (cwd / "pytest.ini").write_text("[pytest]\naddopts = -p mine --retarget-jobs=3 --runxfail -v\n")
    words = list(_arguments(SelectionRequest(paths=(".",))))
    assert words[:4] == ["--assert=plain", "-p", "retarget", "--capture=no"]
    kept = ["--retarget-jobs=3", "--runxfail"]
    assert words[-10:] == ["-o", "addopts=", "-p", "mine", *kept, "-m", "", "-k", ""]
    assert not {"no:python", "--noconftest", "-vv", "--retarget-ignore-expectations"} & {*words}
    request = SelectionRequest(paths=("s.toml::s::t",), is_ids=True, requires=("vulkan",), options=("-vv",))
    words = list(_arguments(request))
    assert words[1:8] == [
        *("-p", "pytest_retarget.plugin", "--disable-plugin-autoload", "--noconftest"),
        *("-o", "required_plugins=", "-o"),
    ]
    assert {"no:cacheprovider", "no:python", "no:unittest"} <= {*words}
    assert words[-10:] == ["-o", "addopts=", *kept, "-m", "", "-k", "", "--retarget-require=vulkan", "-vv"]


@pytest.mark.parametrize(
    ("module_file", "left", "words", "whole"),
    [
        ("ops/m.mlir", ["m_a", "m_b", "m_c"], ["s.toml::s::m_a", "s.toml::s::m_b", "s.toml::s::m_c"], False),
        ("ops/m.mlir", ["m_a", "m_b", "m_c", "m_d"], ["ops/m.mlir"], True),
        ("", ["m_a", "m_b", "m_c", "m_d"], ["s.toml::s", "-k", "m_"], True),
    ],
)
def test_what_has_not_run_of_a_module_is_named_or_all_of_it(
    module_file: str, left: list[str], words: list[str], whole: bool
) -> None:
    failed = TargetRecord(nodeid="s.toml::s::m_x", file="s.toml", suite="s", module="m", module_file=module_file)
    assert _to_run(("s.toml::s", "m"), failed, left) == (words, whole)
