"""The text of a `CTestTestfile.cmake`: `add_test` and `set_tests_properties` (cmake-properties(7), tests)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from retarget.support.cmake import bracketed, listed

from retarget_ctest.run import SKIPPED

__all__ = ["HEADER", "TestOfTarget", "ctest_file"]

HEADER = "# Written by `retarget emit ctest`: write it again where declarations change."
"""The first line, by which a later `retarget emit` knows its own file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOfTarget:
    """A test of ctest. `timeout` is in seconds. `provides` and `requires` are fixtures, empty for none; `locks` are the
    resources that no other test uses meanwhile."""

    __test__ = False

    name: str
    command: tuple[str, ...]
    labels: tuple[str, ...]
    timeout: float
    provides: str = ""
    requires: str = ""
    locks: tuple[str, ...] = ()


def ctest_file(tests: Iterable[TestOfTarget], root: Path) -> str:
    """Return the file. `root` is the folder that the tests run in."""
    lines = [f"{HEADER}\n"]
    lines += ["\n".join(_test(test, root)) + "\n" for test in tests]
    return "\n".join(lines)


def _test(test: TestOfTarget, root: Path) -> Iterator[str]:
    name = bracketed(test.name)
    yield f"add_test({name} {' '.join(map(bracketed, test.command))})"
    properties = [("WORKING_DIRECTORY", str(root)), ("TIMEOUT", f"{test.timeout:.0f}")]
    properties += [("SKIP_RETURN_CODE", str(SKIPPED)), ("LABELS", listed(test.labels))]
    properties += [("FIXTURES_SETUP", test.provides), ("FIXTURES_REQUIRED", test.requires)]
    properties += [("RESOURCE_LOCK", listed(test.locks))]
    yield f"set_tests_properties({name} PROPERTIES"
    yield from (f"  {key} {bracketed(value)}" for key, value in properties if value)
    yield ")"
