"""All non-public parts of pytest and xdist that the plugin uses. Checked with pytest 9.0.0 and 9.2.0, by the tests."""

from __future__ import annotations

from functools import cache
from subprocess import Popen
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import ExceptionRepr as ExceptionRepr
from _pytest._code.code import ReprEntryNative as ReprEntryNative
from _pytest._code.code import ReprExceptionInfo as ReprExceptionInfo
from _pytest._code.code import ReprFileLocation as ReprFileLocation
from _pytest._code.code import ReprTraceback as ReprTraceback
from _pytest._code.code import TerminalRepr as TerminalRepr
from _pytest._code.code import TracebackStyle as TracebackStyle
from _pytest._io import TerminalWriter as TerminalWriter
from _pytest._io.wcwidth import wcwidth as wcwidth
from _pytest.config.findpaths import determine_setup as determine_setup
from _pytest.config.findpaths import parse_override_ini as parse_override_ini
from _pytest.mark import KeywordMatcher as KeywordMatcher
from _pytest.mark import MarkMatcher as MarkMatcher
from _pytest.mark.expression import Expression as Expression
from _pytest.outcomes import Skipped as Skipped
from _pytest.outcomes import XFailed as XFailed
from _pytest.subtests import SubtestContext as SubtestContext

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@cache
def _compiled(expression: str) -> Expression:
    return Expression.compile(expression)


def is_selected(item: pytest.Item, expression: str) -> bool:
    """Return whether `-m` would select an item."""
    return _compiled(expression).evaluate(MarkMatcher.from_markers(item.iter_markers()))


def terminal_writer(reporter: Any) -> Any:
    """Return what the reporter writes with: it alone knows what is on the current line."""
    return reporter._tw


def terminal_file(reporter: Any) -> Any:
    """Return the file behind it."""
    return reporter._tw._file


def say(config: pytest.Config, line: str, *, red: bool = False) -> None:
    """Write a line of its own, where there is a terminal."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.ensure_newline()
        reporter.write_line(line, red=red)


def count_collected(reporter: Any, count: int) -> None:
    """Let the reporter count items that were not made."""
    reporter._numcollected += count


def junit_log(config: pytest.Config) -> Any:
    """Return what writes the junit file, None where none is written."""
    from _pytest.junitxml import xml_key

    return config.stash.get(xml_key, None)


def junit_testcases(config: pytest.Config) -> list[Element]:
    """Return the tests that the junit file is going to have; none where none is written."""
    log = junit_log(config)
    return [one.to_xml() for one in log.node_reporters_ordered] if log is not None else []


def bin_xml_escape(text: str) -> str:
    """Write what XML cannot hold as pytest does: `#x1B`."""
    from _pytest.junitxml import bin_xml_escape as escape

    return escape(text)


def local_workers(config: pytest.Config) -> list[Popen[bytes]]:
    """Return the processes of xdist's workers on this machine."""
    manager: Any = getattr(config.pluginmanager.getplugin("dsession"), "nodemanager", None)
    return [one._io.popen for one in (manager.group if manager is not None else ()) if one.spec.popen]
