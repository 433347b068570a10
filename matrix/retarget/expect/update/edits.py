"""Carries out edits of expectations: files are read, rewritten, shown as a diff, and put in place all together."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import tomli
from msgspec import Struct

from retarget.declare.load import DeclarationLoader
from retarget.declare.sources import discover_suites
from retarget.expect.update.edited_rules import SuiteTargets
from retarget.expect.update.plan import FileEdit
from retarget.expect.update.text import rewrite
from retarget.extension.registry import Registry
from retarget.model import Suite
from retarget.support.errors import RetargetError, display_path
from retarget.support.files import replacing
from retarget.targets.expansion import expand_suite


class Rewritten(Struct, frozen=True, kw_only=True):
    """One file before and after; before is empty where there was none."""

    edit: FileEdit
    before: str
    after: str


def rewritten(edits: Iterable[FileEdit]) -> tuple[Rewritten, ...]:
    """Read the files and apply the edits. Raises `RetargetError` for a file that cannot be read or rewritten."""
    return tuple(_rewritten(edit) for edit in edits)


def _rewritten(edit: FileEdit) -> Rewritten:
    where = display_path(edit.file)
    try:
        before = edit.file.read_bytes().decode() if edit.file.exists() else ""
        mark = "\ufeff" if before.startswith("\ufeff") else ""
        after = mark + rewrite(before.removeprefix(mark), edit.changes, edit.new)
        tomli.loads(after.removeprefix(mark))
    except OSError as error:
        msg = f"{where}: cannot be read: {error.strerror or error}; no expectations were written"
        raise RetargetError(msg) from error
    except (RetargetError, ValueError) as error:
        msg = f"{where}: {error}; no expectations were written"
        raise RetargetError(msg) from error
    return Rewritten(edit=edit, before=before, after=after)


def diff(file: Rewritten) -> list[str]:
    """Return the lines of a unified diff, without line ends."""
    name = display_path(file.edit.file)
    lines = difflib.unified_diff(
        file.before.splitlines(), file.after.splitlines(), name if file.before else os.devnull, name, lineterm=""
    )
    return list(lines)


def put_in_place(files: Sequence[Rewritten]) -> None:
    """Write each file beside its place and rename it into it, once all are written.

    Raises `RetargetError` if one cannot be written; then all are as they were, unless a rename itself failed.
    """
    for file in files:
        _check_writable(file.edit.file)
    with ExitStack() as written:
        for file in files:
            written.enter_context(_put_in_place(file))


@contextmanager
def _put_in_place(file: Rewritten) -> Iterator[None]:
    path = file.edit.file.resolve()
    try:
        with replacing(path) as beside:
            beside.write_bytes(file.after.encode())
            if path.exists():
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
            yield
    except OSError as error:
        raise _not_written(file.edit.file, error.strerror or str(error)) from error


def _check_writable(file: Path) -> None:
    """A rename would replace a read-only file as well, which is not what its owner wants."""
    if file.exists() and not (file.stat().st_mode & stat.S_IWUSR and os.access(file, os.W_OK)):
        raise _not_written(file, "it is read-only")


def _not_written(file: Path, why: str) -> RetargetError:
    return RetargetError(f"{display_path(file)}: cannot be written: {why}; no expectations were written")


def served_suites(files: Iterable[Path], registry: Registry) -> list[Suite]:
    """Read the suites of files as they are declared now, and all others that their rules serve.

    Raises `DiagnosticsError` for a file that has errors: its suites' expectations are not known.
    """
    loader = DeclarationLoader(registry)
    suites: dict[Path, tuple[Suite, ...]] = {file: loader.load_suite_file(file) for file in sorted(files)}
    folders = {file.parent for file in suites}
    folders |= {rule.origin.file.parent for some in suites.values() for one in some for rule in one.expectations}
    for file in discover_suites(sorted(folders)):
        if file not in suites:
            suites[file] = loader.load_suite_file(file)
    return [suite for some in suites.values() for suite in some]


def expanded(suite: Suite, registry: Registry) -> SuiteTargets:
    """Return a suite with its targets."""
    checks = registry.artifact_checker(suite.kind) is not None
    return SuiteTargets(suite=suite, targets=expand_suite(suite, registry), checks_artifacts=checks)
