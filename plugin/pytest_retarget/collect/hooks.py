"""The hooks around collection: each target once, unknown words of `-m`, the line on what was declared."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatch

import pytest
from retarget.model import Target
from retarget.session import ExpressionError, FileName, Selector
from retarget.support import counted, did_you_mean, display_path, listed

from pytest_retarget.collect.preselection import preselection
from pytest_retarget.collect.requirements import Refusing
from pytest_retarget.items.targets import CompileItem, MatrixItem
from pytest_retarget.options import MISNAMED, NOT_ENTERED, SETTINGS
from pytest_retarget.session.declared import declared, is_whole

FILES_NAMED = 4
"""How many declaration files the header names; more are counted, unless -v asks for all."""


class CollectionHooks(Refusing):
    """The hooks of one session. What is wrong with the command line, whoever says it, xdist's controller shows too."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config, "retarget_usage")
        self._collected = 0
        self.notes: list[str] = []
        """Lines for the end of the session."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None, None, None]:
        """Settle what was collected before anything is deselected. Raises `pytest.UsageError`."""
        try:
            self._settle(config, items)
        except pytest.UsageError as error:
            self._refused(error, items)
        try:
            yield
        except pytest.UsageError as error:
            self._refused(error, items)

    def _refused(self, error: pytest.UsageError, items: list[pytest.Item]) -> None:
        if not self._errors:  # the first says it
            self.refuse(error.args, items)

    def _settle(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """A target reached through its suite file and through its module is one item. Nothing is deselected yet."""
        declared(config).check_toolchains()
        preselection(config).complete_items(items, make=declared(config).by_module)
        if declared(config).by_module and not config.getoption("keepduplicates"):
            items[:] = {item.nodeid: item for item in reversed(items)}.values()
            items.reverse()
        self._collected = sum(isinstance(item, MatrixItem) for item in items)
        if self._collected and config.getoption("forked", default=False):
            msg = (
                "--forked: found targets of retarget, which run in workers of their own; expected them without --forked"
            )
            raise pytest.UsageError(msg)
        required = [("--retarget-require", one) for one in config.stash[SETTINGS].require]
        for option, text in [("-m", config.option.markexpr), *required] if self._collected else ():
            try:
                words = _words(text)
                declared(config).marks.register_used(words if option == "-m" else ())
            except ExpressionError as error:
                if ": found on(…)" in error.diagnostic:  # what else is wrong pytest says
                    msg = f"{option} {text!r}: {error.diagnostic}"
                    raise pytest.UsageError(msg) from None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """A word of `-m` that no target has may be why less is left; or else the name of a folder."""
        text = session.config.getoption("markexpr")
        if text and self._collected and not self._errors:
            known = (line.partition(":")[0].partition("(")[0] for line in session.config.getini("markers"))
            with suppress(ExpressionError):  # pytest says what is wrong
                targets = declared(session.config).marks.targets
                self.notes += unknown_words(text, known, targets, only_near=bool(session.items))
        self.notes += _not_entered(session)
        for path, meant in session.config.stash.get(MISNAMED, {}).items():
            sort = f"declarations of its sort are in {meant}"
            self.notes.append(f"{display_path(path)} is not read: {sort}; rename it")

    def pytest_report_collectionfinish(self, config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
        """Report what was declared, and where."""
        mine = [item for item in items if isinstance(item, MatrixItem)]
        if not mine or config.get_verbosity() < 0:
            return []
        compiles = sum(isinstance(item, CompileItem) for item in mine)
        suites = len({item.parent for item in mine})
        files = [display_path(path) for path in declared(config).files]
        shown = ", ".join(files) if len(files) <= FILES_NAMED or config.get_verbosity() > 0 else f"{len(files)} files"
        return [
            f"retarget: {counted(suites, 'suite')}, {counted(compiles, 'compile target')}, "
            f"{counted(len(mine) - compiles, 'run target')}, declared in {shown}"
        ]


_OF_DEFAULT = "{arch}"
"""A pattern of pytest's own `norecursedirs`, which no project writes."""
_OF_OTHERS = frozenset({".*", "node_modules", "venv"})
"""Those of folders in which no suite of a project is looked for."""


def _not_entered(session: pytest.Session) -> Iterator[str]:
    """Yield which suites of the folders that were asked for are not collected for the name of their own, by a default
    of pytest that few know."""
    config = session.config
    patterns = {*config.getini("norecursedirs")} - _OF_OTHERS
    if _OF_DEFAULT not in patterns or not is_whole(config):
        return
    ignored = {config.invocation_params.dir / path for path in config.getoption("ignore") or ()}
    for folder in config.stash.get(NOT_ENTERED, {}):
        is_named = folder not in ignored and any(fnmatch(folder.name, one) for one in patterns)
        is_asked = is_named and any(map(session.isinitpath, folder.parents))
        if is_asked and (files := [*map(display_path, FileName.SUITE.below([folder]))]):
            what = f"{listed(files)} {'is' if len(files) == 1 else 'are'} not collected"
            next_step = "name it among the paths, or set norecursedirs"
            yield f"{what}: pytest enters no folder called {folder.name!r}; {next_step}"


def unknown_words(
    text: str, known: Iterable[str], targets: Sequence[Target] = (), *, only_near: bool = False
) -> list[str]:
    """Say of each word of a mark expression that it is none of `known`, or with its arguments true of none of
    `targets`, with the nearest of those; with `only_near` not of a word that resembles none, which may be one of suites
    that are not collected."""
    names = sorted(set(known))
    hints = {word: did_you_mean(word, names) for word in _words(text) if word not in names}
    for term in Selector(text).terms if targets else ():
        if term.text != term.word in names and not any(map(term.selector, targets)):
            hints[term.text] = did_you_mean(term.text, sorted(term.choices(targets)))
    return [
        f"-m {text!r}: no target has the tag {word!r}{hint}" for word, hint in hints.items() if hint or not only_near
    ]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(term.word for term in Selector(text).terms))
