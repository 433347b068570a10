"""What is selected before it is an item is what pytest selects of items: the same targets, counts and messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from _pytest.mark import KeywordMatcher, MarkMatcher
from _pytest.mark.expression import Expression
from declaration_texts import VMVX_FLAGS, compiler, declarations, runtime, suite, table, target
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_retarget.collect.preselection import Preselection
from pytest_retarget.collect.suite_files import SuiteCollector
from pytest_retarget.items.targets import MatrixItem
from pytest_retarget.session.declared import declared

MODULES = ("one", "two", "Three.x", "deep/four")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What came of a session: its exit status, its items with all that is theirs, what was printed, what was made."""

    status: int
    items: list[tuple[object, ...]]
    printed: str
    made: int


class Items:
    """Keeps the selected items."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = list(session.items)


class EveryItem(Items):
    """Looks at each item that is collected, so that all are made."""

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self.count = getattr(self, "count", 0) + 1


Collect = Callable[..., Session]


@pytest.fixture
def collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Collect:
    """Collect two suites and a Python test in this process, by some arguments."""
    configs = [compiler(name, flags=VMVX_FLAGS, tags=[name.upper()]) for name in ("vmvx", "vmvx-2")]
    runtimes = [runtime(name) for name in ("sync", "sync-2")]
    rule = table("expectation", match=["two"], when="run", stage="run", signature="known", reason="known")
    texts = {
        ".git/HEAD": "",
        "pytest.ini": "[pytest]\n",
        "matrix.toml": declarations(*configs, *runtimes, target("all", ["vmvx", "vmvx-2"], ["sync", "sync-2"]), rule),
        "test_python.py": "import pytest\n\n@pytest.mark.parametrize('one', [1, 2])\ndef test_one(one): pass\n",
    }
    for name in ("first", "second"):
        texts[f"{name}/suite.toml"] = suite(name, "**/*.mlir", tags=[f"of-{name}"])
        texts |= {f"{name}/{module}.mlir": "" for module in MODULES}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    made: list[object] = []
    init = MatrixItem.__init__

    def counted(self: MatrixItem, **arguments: object) -> None:
        made.append(self)
        init(self, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(MatrixItem, "__init__", counted)

    def session(arguments: Sequence[str], plugin: Items) -> Session:
        made.clear()
        capsys.readouterr()
        always = ["--collect-only", "--assert=plain", "--import-mode=importlib"]
        cache = [] if "--stepwise" in arguments else ["-p", "no:cacheprovider"]
        status = pytest.main([*always, *cache, *arguments], plugins=[plugin])
        items = [(one.nodeid, [mark.name for mark in one.iter_markers()], *_ours(one)) for one in plugin.items]
        printed = re.sub(r" in \d.*", "", capsys.readouterr().out)
        return Session(status=status, items=items, printed=printed, made=len(made))

    return session


def _ours(item: pytest.Item) -> tuple[object, ...]:
    return (item.position, item.in_force, item.target) if isinstance(item, MatrixItem) else ()


ID = "first/suite.toml::first::{}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("arguments", "count", "made"),
    [
        (["-m", "of-first and VMVX and sync-2"], 4, 5 + 1),
        (["-m", "compiler(name='vmvx-2') and compile", "-k", "not ONE"], 6, 6 + 2),
        (["-m", "nonsense"], 0, 2),
        (["-k", "two(a=1)"], 50, 48),
        (["-m", "of-first", "--deselect", "first/suite.toml::first::one"], 18, 24 + 1),
        (["first", "-k", "four", "--ignore", "first/one.mlir"], 6, 6 + 1),
        ([ID.format("two_vmvx"), ID.format("one_vmvx_sync")], 2, 2),
        ([ID.format("two_vmvx"), "second", "-m", "compile"], 9, 9),
        ([ID.format("two_vmvx"), "first/suite.toml::first"], 24, 24),
        (["second", "first/deep", "-k", "sync-2"], 10, 24 + 6),
    ],
)
def test_the_items_and_all_that_is_printed_are_those_of_pytest(
    arguments: list[str], count: int, made: int, collect: Collect
) -> None:
    found, whole = collect(arguments, Items()), collect(arguments, EveryItem())

    assert (found.status, found.items, found.printed) == (whole.status, whole.items, whole.printed)
    assert (len(found.items), found.made) == (count, made)


def test_a_conftest_that_looks_at_items_sees_all_of_them_in_order(collect: Collect) -> None:
    """That of a folder becomes known only when the suites before it are collected."""
    plain = collect([], Items())
    Path("second/conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n    print('seen:', *(item.nodeid for item in items))\n"
    )

    found = collect(["-k", "two_vmvx_sync", "-s"], Items())

    assert found.made == 48
    line = next(line for line in found.printed.splitlines() if line.startswith("seen:"))
    assert line.split()[1:] == [item[0] for item in plain.items]
    assert "collected 50 items / 46 deselected / 4 selected" in found.printed


@pytest.mark.parametrize("option", ["--stepwise", "--retarget-require=vmvx"])
def test_what_judges_items_that_are_deselected_gets_them(option: str, collect: Collect) -> None:
    assert collect([option, "-k", "two_vmvx_sync"], Items()).made == 48


WORDS = (
    "one",
    "TWO",
    "three.x",
    "deep/",
    "_vmvx",
    "vmvx-2",
    "sync",
    "sync-2",
    "of-first",
    "VMVX",
    "compile",
    "run",
    "e",
)
EXPRESSIONS = st.recursive(
    st.sampled_from(WORDS),
    lambda inner: st.one_of(
        inner.map(lambda one: f"not {one}"),
        st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
    max_leaves=5,
)


def test_any_expression_chooses_what_pytests_matchers_choose_of_items(collect: Collect) -> None:
    everything = EveryItem()
    collect([], everything)
    items = [item for item in everything.items if isinstance(item, MatrixItem)]
    homes = list(dict.fromkeys(item.parent for item in items))
    marks = declared(items[0].config).marks

    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(keyword=st.one_of(st.just(""), EXPRESSIONS), mark=st.one_of(st.just(""), EXPRESSIONS))
    def holds(keyword: str, mark: str) -> None:
        option = SimpleNamespace(markexpr=mark, keyword=keyword, pyargs=False)
        config = SimpleNamespace(
            option=option, args=[], hook=_NoHooks(), pluginmanager=_NoHooks(), getoption=lambda _: False
        )
        chooser = Preselection(config)  # type: ignore[arg-type]  what it reads of a config
        for home in homes:
            assert isinstance(home, SuiteCollector)
            mine = [item for item in items if item.parent is home]
            chosen = chooser.choose(
                home, [item.target for item in mine], range(len(mine)), marks=marks.of, complete=home.complete
            )
            assert list(chosen) == [
                at for at, item in enumerate(mine) if not at or _is_selected(item, keyword, mark)
            ] or (not keyword and not mark and len(chosen) == len(mine))

    holds()


class _NoHooks:
    """No plugin looks at items."""

    def __getattr__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(get_hookimpls=list)

    def get_plugin(self, name: str) -> None:
        return None


def _is_selected(item: MatrixItem, keyword: str, mark: str) -> bool:
    by_keyword = not keyword or Expression.compile(keyword).evaluate(KeywordMatcher.from_item(item))
    return by_keyword and (not mark or Expression.compile(mark).evaluate(MarkMatcher.from_markers(item.iter_markers())))
